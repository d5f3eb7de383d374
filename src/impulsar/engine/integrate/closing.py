"""How joints are closed at the end of a smooth sub-step. Option.closing says which way:

    BY_MASS    positions and velocities are projected in the norm of the mass matrix, which does least work
    FEEDBACK   not at all: Baumgarte's terms in the accelerations are all that holds them (evaluate.py)
    BY_ERROR   projected in the norm of the error control's weights (Wang 2011 eq. 2-5, corrected)

With e_k the tolerance of coordinate k, atol + rtol |q_k|, the nearest state in units of its tolerance is

    q ← q ⊕ E Jᵀ λ      J E Jᵀ λ = -Φ(q)      E = diag(e_k²)        repeated by the same factor until Φ is round-off
    v ← v + E Jᵀ λ      J E Jᵀ λ = -(J v - target)                  at the positions so found

so E Jᵀ takes the place of the response M⁻¹ Jᵀ, and all else is what the projection by mass does.
"""

import warp as wp

from ..constrain import kinds, motor
from ..constrain.assemble import assemble_bilateral
from ..constrain.frames import measure_loops
from ..coordinates.tree import next_tree, row_velocity
from ..freedoms import coordinates_of, is_slide
from ..options import Option
from ..solve.direct import factor_bilateral, factor_rows, fill_products
from ..solve.project import UNBOOKED, project_velocities, remove_errors
from ..spatial import ONE, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.channels import just_before, snap_to_knot
from .control import slide_scale
from .evaluate import CLOSE, FEEDBACK

BY_ERROR = wp.constant(wp.float64(2.0))  # Option.closing
SMOOTH_ERROR = wp.constant(wp.float64(1e-13))  # error left after a smooth sub-step [m, rad and per second]
WAS_TORN = wp.constant(wp.float64(1e-5))  # position error before a projection that no sub-step makes [m, rad]
OPEN = wp.constant(wp.float64(1e-9))  # position error that may be left by a projection [m, rad]
SNAP = wp.constant(wp.float64(1e-9))  # of a nominal step: so near to a kink the clock is there
KINK = wp.constant(wp.float64(1e-3))  # a motor so much off its velocity is met by an impulse [m/s, rad/s; of 1]


@wp.func
def close_joints(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, weakest: f64, w: int):
    """After a smooth sub-step: project. Returns how far the state was off, and what of that is left [m, rad]."""
    off = ZERO
    left = ZERO
    if m.bilateral.shape[0] == 0 or m.options[Option.closing] == FEEDBACK:
        return off, left
    enough = SMOOTH_ERROR
    if weakest < m.weak[0, w]:
        enough = CLOSE
    by_error = m.options[Option.closing] == BY_ERROR
    if by_error:
        weigh(m, s, x, False, w)
    off, left = remove_errors(m, s, x, t, enough, w)
    if off > enough:
        measure_loops(m, s, x, w)
    if off > WAS_TORN:  # joints that were open before take several sub-steps to close, and are reported
        left = ZERO
    end = just_before(snap_to_knot(m, t, SNAP * m.nominal_h[0], w))
    if left <= OPEN:
        jump = int(0)
        if by_error:
            jump = UNBOOKED
            assemble_bilateral(m, x, t, 0, w)
            weigh(m, s, x, True, w)
        off = wp.max(off, project_velocities(m, s, x, end, jump, w))
    return off, left


@wp.func
def tolerance(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], k: int, value: f64, w: int) -> f64:
    """Of freedom k, whose coordinate or velocity has the given value [m, rad and per second]."""
    least = m.options[Option.atol]
    if is_slide(m.dof_kind[k]):
        least *= slide_scale(m, s, w)
    return least + m.options[Option.rtol] * wp.abs(value)


@wp.func(inline=False)
def weigh(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], by_speed: bool, w: int):
    """E Jᵀ into x.Y, and the factor of J E Jᵀ; E by the tolerances of velocities, or of coordinates."""
    for i in range(m.parent.shape[0]):
        c = m.coordinate_start[i]
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            value = ONE  # a ball's turn is measured against 1 rad
            if by_speed:
                value = s.v[k, w]
            elif coordinates_of(m.dof_kind[k]) == 1:
                value = s.q[c, w]
                c += 1
            e = tolerance(m, s, k, value, w)
            x.shift[k, w] = e * e
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if x.solved[r, w] == 0:
            continue
        entry = x.row_start[r, w]
        n = int(0)
        tree = x.row_trees[4 * r, w]
        while tree >= 0:
            for k in range(m.tree_dof[tree], m.tree_dof[tree + 1]):
                x.Y[entry, w] = x.shift[k, w] * x.J[entry, w]
                entry += 1
            n += 1
            tree = next_tree(m, x, r, n, w)
    fill_products(m, x, m.bilateral.shape[0], w)
    factor_rows(m, x, m.bilateral.shape[0], False, w)


@wp.func
def may_jump(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int) -> bool:
    """Whether a solved row may be met by an impulse: an equation, or a motor without bound that is where it should."""
    if not motor.is_motor(x, r, w):
        return True
    return not motor.is_bounded(m, r, w) and not motor.is_off_target(m, s, x, r, t, w)


@wp.func
def follow_jumps(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int) -> int:
    """Where nothing but feedback closes joints: an impulse all the same where a motor's target jumps; 1 if one did."""
    jumps = bool(False)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if x.solved[r, w] != 0 and motor.is_motor(x, r, w) and may_jump(m, s, x, r, t, w):
            rate = kinds.target_rate(m, x, r, t, w)
            if wp.abs(row_velocity(m, x, s.v, r, w) - rate) > KINK * (ONE + wp.abs(rate)):
                jumps = True
    if not jumps:
        return 0
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if not may_jump(m, s, x, r, t, w):
            x.solved[r, w] = int(0)
    factor_bilateral(m, x, w)
    project_velocities(m, s, x, t, 1, w)
    return 1
