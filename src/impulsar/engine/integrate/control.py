"""Sub-steps: a Runge-Kutta step over the stages' derivatives, its error, and the next size.

State y = (q, v, books). A ball's quaternion is integrated as four numbers, q̇ = ½ (w, 0) ⊗ q, and made
unit where it is used, so the pair keeps its order.

    y_i = y₀ + h Σ a_ij k_j        y₁ = y₀ + h Σ b_j k_j        error = h Σ e_j k_j

The error is measured against atol + rtol · max(|y₀|, |y₁|), root mean square over q and v; books are
carried along and do not choose the step. Of a slide, atol is by its scale: the farthest that any slide has moved
so far, between 1e-4 of the mechanism's size and all of it. So a watch and a bridge get the same digits.
"""

import warp as wp

from ..constrain.motor import is_motor
from ..coordinates.inertia import twice_kinetic, twice_rotors
from ..forces.total import elements_elastic
from ..freedoms import coordinates_of, is_slide, quaternion_rate
from ..ledger import ledger_size, work_entry
from ..spatial import ONE, ZERO, f64, normalize_rotation, quat, vec3
from ..state import OF_SYSTEM, TILL_STIFFER, Block, StateArrays, WorkArrays, rows_of
from ..system import SystemArrays
from .inner import (
    add_inner,
    copy_inner_stage,
    inner_error,
    keep_inner_rates,
    return_inner,
    save_inner,
    set_inner_stage,
)
from .pairs import B_AT, D_AT, E_AT, EXPLICIT, STAGES

KEPT = (  # between nominal steps
    Block("pair", 3),  # 1: the implicit pair is in use; evaluations of the other; steps until it may be tried
    Block("next_h", 1, lasts=TILL_STIFFER),  # sub-step to begin with, 0: none yet, < 0: too small to be taken [s]
    Block("crowded", 1),  # nominal steps that friction and limits are still left to impulses
    Block("reach", 1, lasts=OF_SYSTEM),  # farthest that a slide has been from home [m]
)
Kept = rows_of(KEPT)
SAFETY = wp.constant(wp.float64(0.9))
SHRINK = wp.constant(wp.float64(0.2))
GROW = wp.constant(wp.float64(5.0))
LEAST_SCALE = wp.constant(wp.float64(1e-4))  # of slides, of the mechanism's size
TINY_ENERGY = wp.constant(wp.float64(1e-300))
TINY_ERROR = wp.constant(wp.float64(1e-12))


@wp.func
def save_start(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    for k in range(s.q.shape[0]):
        x.q_start[k, w] = s.q[k, w]
    for k in range(s.v.shape[0]):
        x.v_start[k, w] = s.v[k, w]
    for k in range(s.loop_q.shape[0]):
        x.loop_start[k, w] = s.loop_q[k, w]
    save_inner(s, x, w)


@wp.func
def return_to_start(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    for k in range(s.q.shape[0]):
        s.q[k, w] = x.q_start[k, w]
    for k in range(s.v.shape[0]):
        s.v[k, w] = x.v_start[k, w]
    for k in range(s.loop_q.shape[0]):  # a wild stage may have counted a turn
        s.loop_q[k, w] = x.loop_start[k, w]
    return_inner(s, x, w)


@wp.func(inline=False)
def keep_derivatives(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], stage: int, w: int):
    """Put q̇ and v̇ of the present state into a stage."""
    keep_inner_rates(s, x, stage, w)
    at_q = stage * s.q.shape[0]
    at_v = stage * s.v.shape[0]
    for k in range(s.v.shape[0]):
        x.k_v[at_v + k, w] = x.qdd[k, w]
    for i in range(m.parent.shape[0]):
        c = m.coordinate_start[i]
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            size = coordinates_of(m.dof_kind[k])
            if size == 1:
                x.k_q[at_q + c, w] = s.v[k, w]
            elif size == 4:
                q = quat(s.q[c, w], s.q[c + 1, w], s.q[c + 2, w], s.q[c + 3, w])
                rate = quaternion_rate(q, vec3(s.v[k, w], s.v[k + 1, w], s.v[k + 2, w]))
                for j in range(4):
                    x.k_q[at_q + c + j, w] = rate[j]
            c += size


@wp.func
def reuse_last_stage(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], last: int, w: int):
    """The last stage was evaluated at the end of the step: it is the first of the next."""
    n_q = s.q.shape[0]
    n_v = s.v.shape[0]
    n_book = ledger_size(m.slot_kind.shape[0], m.load_body.shape[0], m.fluid_channel.shape[0])
    for k in range(n_q):
        x.k_q[k, w] = x.k_q[last * n_q + k, w]
    for k in range(n_v):
        x.k_v[k, w] = x.k_v[last * n_v + k, w]
    for k in range(n_book):
        x.k_book[k, w] = x.k_book[last * n_book + k, w]
    copy_inner_stage(s, x, last, w)


@wp.func(inline=False)
def set_stage(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], stage: int, h: f64, w: int):
    """Put the state of a stage in place, from the derivatives of those before it."""
    n_q = s.q.shape[0]
    n_v = s.v.shape[0]
    for k in range(n_q):
        sum_q = ZERO
        for j in range(stage):
            sum_q += m.tableau[stage * STAGES + j] * x.k_q[j * n_q + k, w]
        s.q[k, w] = x.q_start[k, w] + h * sum_q
    for k in range(n_v):
        sum_v = ZERO
        for j in range(stage):
            sum_v += m.tableau[stage * STAGES + j] * x.k_v[j * n_v + k, w]
        s.v[k, w] = x.v_start[k, w] + h * sum_v
    set_inner_stage(m, s, x, stage * STAGES, stage, h, w)
    make_unit(m, s, w)


@wp.func
def dense_weight(m: wp.ref[SystemArrays], j: int, part: f64) -> f64:
    """Of stage j in the state after a part of an explicit sub-step: b where the part is all of it."""
    b = m.tableau[B_AT + j]
    left = ONE - part
    first = ZERO
    if j == 0:
        first = ONE
    last = ZERO
    if j == STAGES - 1:
        last = ONE
    curve = left * (first - b) + part * left * (b + b - first - last) + part * left * left * m.tableau[D_AT + j]
    return part * (b + curve)


@wp.func(inline=False)
def set_within(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], part: f64, h: f64, w: int):
    """Put the state after a part of an explicit sub-step h in place, from the derivatives of all its stages."""
    n_q = s.q.shape[0]
    n_v = s.v.shape[0]
    for k in range(n_q):
        s.q[k, w] = x.q_start[k, w]
    for k in range(n_v):
        s.v[k, w] = x.v_start[k, w]
    return_inner(s, x, w)
    for j in range(STAGES):
        step = h * dense_weight(m, j, part)
        for k in range(n_q):
            s.q[k, w] = s.q[k, w] + step * x.k_q[j * n_q + k, w]
        for k in range(n_v):
            s.v[k, w] = s.v[k, w] + step * x.k_v[j * n_v + k, w]
        add_inner(s, x, j, step, w)
    make_unit(m, s, w)


@wp.func
def make_unit(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], w: int):
    """Normalize the quaternions of balls."""
    for i in range(m.parent.shape[0]):
        c = m.coordinate_start[i]
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            size = coordinates_of(m.dof_kind[k])
            if size == 4:
                q = normalize_rotation(quat(s.q[c, w], s.q[c + 1, w], s.q[c + 2, w], s.q[c + 3, w]))
                for j in range(4):
                    s.q[c + j, w] = q[j]
            c += size


@wp.func
def slide_scale(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], w: int) -> f64:
    """Length by which errors of slides are measured [m]."""
    return wp.clamp(s.method[Kept.reach, w], LEAST_SCALE * m.size[0], m.size[0])


@wp.func
def keep_reach(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], w: int):
    """Remember how far slides have moved."""
    for k in range(s.q.shape[0]):
        if m.coordinate_slides[k] != 0:
            s.method[Kept.reach, w] = wp.max(s.method[Kept.reach, w], wp.abs(s.q[k, w] - m.home[k]))


@wp.func(inline=False)
def step_error(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], h: f64, rtol: f64, atol: f64, w: int
) -> f64:
    """Error of the step in units of its tolerance, root mean square."""
    total = ZERO
    n_q = s.q.shape[0]
    n_v = s.v.shape[0]
    slide = slide_scale(m, s, w) * atol
    for k in range(n_q):
        e = ZERO
        for j in range(STAGES):
            e += m.tableau[E_AT + j] * x.k_q[j * n_q + k, w]
        least = atol
        if m.coordinate_slides[k] != 0:
            least = slide
        ratio = h * e / (least + rtol * wp.max(wp.abs(x.q_start[k, w]), wp.abs(s.q[k, w])))
        total += ratio * ratio
    for k in range(n_v):
        e = ZERO
        for j in range(STAGES):
            e += m.tableau[E_AT + j] * x.k_v[j * n_v + k, w]
        least = atol
        if is_slide(m.dof_kind[k]):
            least = slide
        ratio = h * e / (least + rtol * wp.max(wp.abs(x.v_start[k, w]), wp.abs(s.v[k, w])))
        total += ratio * ratio
    total += inner_error(m, s, x, EXPLICIT, h, rtol, slide, w)
    return wp.sqrt(total / f64(wp.max(n_q + n_v + s.inner.shape[0], 1)))  # what cannot move has no error


@wp.func(inline=False)
def work_error(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], h: f64, rtol: f64, w: int
) -> f64:
    """Error of the motors' work in units of its tolerance, of the energy there is.

    A motor that prescribes the motion leaves no error in it, and near a singular position its torque is not smooth.
    """
    slots = m.slot_kind.shape[0]
    size = ledger_size(slots, m.load_body.shape[0], m.fluid_channel.shape[0])
    energy = elements_elastic(m, s, x, w)  # a car that is parked has no other
    for i in range(m.parent.shape[0]):
        energy += twice_kinetic(m, x, i, x.twist[i, w], w) + twice_rotors(m, s.v, i, w)
    error = ZERO
    for r in range(slots):
        if is_motor(x, r, w):
            e = ZERO
            for j in range(STAGES):
                e += m.tableau[E_AT + j] * x.k_book[work_entry(j * size, slots, r), w]
            error += wp.abs(h * e)
    return error / (rtol * energy + TINY_ENERGY)


@wp.func
def next_size(h: f64, error: f64, order: f64) -> f64:
    """The step that would just keep the tolerance, within bounds of change; `order` of the error in h."""
    return h * wp.clamp(SAFETY * wp.pow(wp.max(error, TINY_ERROR), -ONE / order), SHRINK, GROW)
