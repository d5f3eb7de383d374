"""A linearly implicit sub-step for stiff springs, dampers and hands (Rang and Angermann 2005, order 3).

With F = (v, v̇) of the present state, and A that of the compliant rows C alone, held by the joints' rows,

    k_i = F(y₀ + h Σ a_ij k_j) + h A Σ_{j ≤ i} γ_ij k_j,      A_q = -M⁻¹ Cᵀ k C      A_v = -M⁻¹ Cᵀ c C

A stage is its explicit accelerations v̇ plus what the compliant rows add by moving along, by impulses μ:

    kq = bq + γ h kv        bq = v_i + h wv        w = Σ_{j < i} γ_ij k_j
    kv = v̇ + M⁻¹ (Jᵀ λ + Cᵀ μ)      J (kv - v̇) = 0      C kv + σ μ = -h σ (k C (γ bq + wq) + c C wv)
    σ = 1 / (γ h (γ h k + c))

so one factor of the joints' and compliant rows together, made at the start of the step and frozen for its
stages, does all four solves. The pair keeps its order with any A: geometric stiffness is left to F.
Stages are stored along velocities: k_q holds kq, and positions move by q₀ ⊕ h Σ a kq.
"""

import warp as wp

from ..coordinates.retract import move_coordinates
from ..coordinates.tree import apply_impulse, row_velocity
from ..freedoms import coordinates_of, is_slide
from ..solve.direct import solve_rows
from ..spatial import ONE, ZERO, f64, matters
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .inner import inner_error, set_inner_stage
from .pairs import E_AT, GAMMA, GAMMA_AT, IMPLICIT, SOLVES, STAGES
from .tangent import factor_tangent, row_answer

G = wp.constant(wp.float64(GAMMA))


@wp.func
def factor_soft(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], h: f64, w: int) -> f64:
    """The factor of bilateral and compliant rows for a step h; returns the fastest rate of these [1/s]."""
    return factor_tangent(m, x, G * h, G * h, w)


@wp.func
def freeze(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """Keep J, Y and the factor of the start of the step."""
    n = x.J.shape[0]
    for k in range(n):
        x.frozen[k, w] = x.J[k, w]
        x.frozen[n + k, w] = x.Y[k, w]
    for k in range(x.factor.shape[0]):
        x.frozen[2 * n + k, w] = x.factor[k, w]


@wp.func
def thaw(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """Put them back, after the accelerations of another stage."""
    n = x.J.shape[0]
    for k in range(n):
        x.J[k, w] = x.frozen[k, w]
        x.Y[k, w] = x.frozen[n + k, w]
    for k in range(x.factor.shape[0]):
        x.factor[k, w] = x.frozen[2 * n + k, w]


@wp.func(inline=False)
def finish_stage(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], stage: int, h: f64, w: int
) -> f64:
    """Turn the accelerations of a stage into its kv, kq; at stage 0 also returns the fastest rate [1/s].

    x.qdd, x.lag_v and x.lag_q hold v̇, wv and γ bq + wq meanwhile.
    """
    n_q = s.q.shape[0]
    n_v = s.v.shape[0]
    rate = ZERO
    if stage == 0:
        rate = factor_soft(m, x, h, w)
        freeze(m, x, w)
    else:
        thaw(m, x, w)
    for k in range(n_v):
        wq = ZERO
        wv = ZERO
        for j in range(stage):
            g = m.tableau[GAMMA_AT + SOLVES * stage + j]
            wq += g * x.k_q[j * n_q + k, w]
            wv += g * x.k_v[j * n_v + k, w]
        x.qdd[k, w] = x.k_v[stage * n_v + k, w]
        x.lag_v[k, w] = wv
        x.lag_q[k, w] = G * (s.v[k, w] + h * wv) + wq
    for i in range(m.solvable.shape[0]):
        x.multiplier[i, w] = ZERO
        if i >= m.bilateral.shape[0]:
            r = m.solvable[i]
            if x.solved[r, w] != 0:
                push = row_answer(m, x, r, x.lag_q, x.lag_v, w)
                u = row_velocity(m, x, x.qdd, r, w)
                x.multiplier[i, w] = -u - h * x.row_softness[r, w] * push
    solve_rows(m, x, m.solvable.shape[0], w)
    for i in range(m.solvable.shape[0]):
        mu = x.multiplier[i, w]
        if matters(mu):
            apply_impulse(m, x, x.qdd, m.solvable[i], mu, w)
    for k in range(n_v):
        x.k_v[stage * n_v + k, w] = x.qdd[k, w]
        x.k_q[stage * n_q + k, w] = s.v[k, w] + h * (x.lag_v[k, w] + G * x.qdd[k, w])
    return rate


@wp.func
def set_implicit_stage(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], stage: int, h: f64, w: int
):
    """Put the state of a stage in place, or that of the end after the last."""
    n_q = s.q.shape[0]
    n_v = s.v.shape[0]
    for k in range(n_q):
        s.q[k, w] = x.q_start[k, w]
    for k in range(n_v):
        move = ZERO
        gain = ZERO
        for j in range(stage):
            a = m.tableau[IMPLICIT + stage * STAGES + j]
            move += a * x.k_q[j * n_q + k, w]
            gain += a * x.k_v[j * n_v + k, w]
        x.shift[k, w] = h * move
        s.v[k, w] = x.v_start[k, w] + h * gain
    set_inner_stage(m, s, x, IMPLICIT + stage * STAGES, stage, h, w)
    move_coordinates(m, s, x.shift, w)


@wp.func
def implicit_error(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], h: f64, rtol: f64, atol: f64, w: int
) -> f64:
    """Error of the step in units of its tolerance, root mean square; a ball's turn is measured against 1 rad."""
    n_q = s.q.shape[0]
    n_v = s.v.shape[0]
    total = ZERO
    slide = m.size[0]  # what is stiff moves little, and by rounding too
    for i in range(m.parent.shape[0]):
        c = m.coordinate_start[i]
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            e_q = ZERO
            e_v = ZERO
            for j in range(SOLVES):
                e = m.tableau[IMPLICIT + E_AT + j]
                e_q += e * x.k_q[j * n_q + k, w]
                e_v += e * x.k_v[j * n_v + k, w]
            size = ONE
            if coordinates_of(m.dof_kind[k]) == 1:
                size = wp.max(wp.abs(x.q_start[c, w]), wp.abs(s.q[c, w]))
                c += 1
            least = atol
            if is_slide(m.dof_kind[k]):
                least = atol * slide
            e_q = h * e_q / (least + rtol * size)
            e_v = h * e_v / (least + rtol * wp.max(wp.abs(x.v_start[k, w]), wp.abs(s.v[k, w])))
            total += e_q * e_q + e_v * e_v
    total += inner_error(m, s, x, IMPLICIT, h, rtol, atol * slide, w)
    return wp.sqrt(total / f64(2 * n_v + s.inner.shape[0]))
