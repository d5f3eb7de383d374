"""An impulsive sub-step: order 1, bilateral rows solved directly, the others by sweeps around them.

Taken by `direct` where friction, limits or contacts act, and for its fixed sub-steps. As in SIMGC, but
the equations of the mechanism hold to round-off after every sweep, and positions are projected:

    v ← v + h M⁻¹ f, warm start
    repeat   sweep over the bounded and compliant rows,   v ← v + M⁻¹ Jᵀ λ of the bilateral ones
    q ← q ⊕ h v, project
"""

import warp as wp

from ..constrain.accelerations import assemble_bilateral, row_position_error, row_target_rate
from ..constrain.frames import coordinate, follow_loops, pair_velocity
from ..constrain.reactions import collect_reactions, finish_reactions, start_reactions
from ..constrain.rows import assemble, slot_pair
from ..coordinates.generalized import apply_impulse, articulate, drift, kick, kick_midway, kinematics, row_velocity
from ..forces.loads import apply_loads, book_loads
from ..forces.motor_torques import apply_motor_torques
from ..measure import book_rows
from ..solve.bilateral import factor_bilateral, solve_bilateral
from ..solve.direct import clip_sticking, collect_sticking
from ..solve.project import project_positions
from ..solve.sweep import share_ball_mass, start_pseudo, sweep_once, warm_start
from ..spatial import INFINITY, ONE, TWO, UNLIMITED, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.slots import FRICTION, LIMIT_HIGH, LIMIT_LOW, MOTOR_POSITION

NEAR = wp.constant(wp.float64(1e-9))  # a limit so near is reached [m, rad]
LEFT_ERROR = wp.constant(wp.float64(1e-10))  # position error left by an impulsive sub-step [m, rad]
OFF_TARGET = wp.constant(wp.float64(1e-6))  # a motor further off has to move there first [m, rad]


@wp.func
def mark_solved(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], rows: int, w: int):
    """The active rows that a direct solve takes: equations, not motors that may be too weak."""
    for a in range(rows):
        r = x.active[a, w]
        if x.row_softness[r, w] == ZERO and x.row_high[r, w] >= UNLIMITED and x.row_low[r, w] <= -UNLIMITED:
            x.solved[r, w] = int(1)


@wp.func
def solve_equations(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int) -> f64:
    """Impulses of the marked rows, together; returns the largest velocity error found."""
    worst = ZERO
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        x.multiplier[i, w] = ZERO
        if x.solved[r, w] != 0:
            u = row_velocity(m, x, s.v, r, w) + x.row_bias[r, w]
            x.multiplier[i, w] = -u
            worst = wp.max(worst, wp.abs(u))
    solve_bilateral(m, x, w)
    for i in range(m.bilateral.shape[0]):
        p = x.multiplier[i, w]
        if p != ZERO:
            r = m.bilateral[i]
            s.impulse[r, w] = s.impulse[r, w] + p
            apply_impulse(m, x, s.v, r, p, w)
    return worst


@wp.func
def mark_sticking(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, w: int) -> int:
    """Put the friction rows that stick into the direct solve, and those that slide out; returns how many stick."""
    n = collect_sticking(m, s, x, rows, w)
    for a in range(rows):
        r = x.active[a, w]
        if m.slot_kind[r] == FRICTION:
            x.solved[r, w] = int(0)
    for k in range(n):
        x.solved[x.sticking[k, w], w] = int(1)
    return n


@wp.func(inline=False)
def hold_sticking(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, w: int):
    """Solve sticking friction together with the equations: a sweep alone would creep.

    A row that cannot hold slides, and the rest is solved again.
    """
    rounds = m.bilateral.shape[0]
    n = mark_sticking(m, s, x, rows, w)
    while n > 0 and rounds > 0:
        factor_bilateral(m, x, w)
        solve_equations(m, s, x, w)
        rounds -= 1
        if clip_sticking(m, s, x, rows, w) == 0:
            rounds = int(0)
        else:
            n = mark_sticking(m, s, x, rows, w)
    for a in range(rows):  # friction does not move positions
        r = x.active[a, w]
        if m.slot_kind[r] == FRICTION and x.solved[r, w] != 0:
            x.solved[r, w] = int(0)
            rounds = int(-1)
    if rounds < 0 and m.bilateral.shape[0] > 0:
        factor_bilateral(m, x, w)


@wp.func
def bounded_rows(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], rows: int, w: int) -> int:
    """Active rows that are left to the sweep."""
    count = int(0)
    for a in range(rows):
        if x.solved[x.active[a, w], w] == 0:
            count += 1
    return count


@wp.func(inline=False)
def impulsive_step(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    t: f64,
    h: f64,
    epsilon: f64,
    limit: int,
    midway: bool,
    is_last: bool,
    w: int,
) -> int:
    """One impulsive sub-step of size h from time t; returns iterations.

    midway: forces that depend on velocities are taken in the middle of the step, for twice the work of a kick.
    """
    iterations = int(0)
    rows = int(0)
    apply_loads(m, x, t, w)
    apply_motor_torques(m, s, x, t, h, w)
    book_loads(m, s, x, t, h, w)
    if is_last:
        start_reactions(m, x, h, w)
    kick(m, s, x, h, w)
    if midway:
        kick_midway(m, s, x, h, w)
    if m.live_slots[0] > 0:
        rows = assemble(m, s, x, t, h, w)
        mark_solved(m, x, rows, w)
        if m.bilateral.shape[0] > 0:
            factor_bilateral(m, x, w)
        share_ball_mass(m, x, rows, w)
        warm_start(m, s, x, rows, h, ONE, w)
        start_pseudo(x, w)
        bounded = bounded_rows(m, x, rows, w)
        worst = INFINITY
        while iterations < limit and worst > epsilon:
            worst = ZERO
            if bounded > 0:
                worst = sweep_once(m, s, x, rows, h, 0, 0, w)
            if m.bilateral.shape[0] > 0:
                solve_equations(m, s, x, w)
            iterations += 1
        if x.sticking.shape[0] > 0:
            hold_sticking(m, s, x, rows, w)
        book_rows(m, s, x, rows, t, h, w)
    if is_last:
        collect_reactions(m, s, x, rows, h, w)
    drift(m, s, x, h, w)
    kinematics(m, s, x, ONE / h, w)
    follow_loops(m, s, x, w)
    if m.bilateral.shape[0] > 0:
        if not project_positions(m, s, x, t + h, LEFT_ERROR, w):
            # the factor of the start of the step did not do: near a singular position, say
            articulate(m, x, w)
            assemble_bilateral(m, x, t + h, 0, w)
            factor_bilateral(m, x, w)
            project_positions(m, s, x, t + h, LEFT_ERROR, w)
    if is_last:
        finish_reactions(m, x, h, w)
    book_loads(m, s, x, t, h, w)
    return iterations


@wp.func
def limit_gap(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """How far a limit is [m, rad]; negative where it is passed."""
    q = coordinate(m, s, x, m.slot_part[r], m.slot_code[r], m.slot_q[r], w)
    if m.slot_kind[r] == LIMIT_HIGH:
        return m.slot_a[r, w] - q
    return q - m.slot_a[r, w]


@wp.func
def limit_is_near(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, h: f64, w: int
) -> bool:
    """Whether a limit is reached, or would be within twice the step at the present speed."""
    u = pair_velocity(x, slot_pair(m, x, r, w), w)  # away from the limit
    return limit_gap(m, s, x, r, w) <= TWO * h * wp.max(-u, ZERO) + NEAR


@wp.func
def limits_passed(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int) -> bool:
    """Whether a limit is passed."""
    for r in range(m.slot_kind.shape[0]):
        if m.slot_kind[r] == LIMIT_LOW or m.slot_kind[r] == LIMIT_HIGH:
            if limit_gap(m, s, x, r, w) < -NEAR:
                return True
    return False


@wp.func
def motors_too_weak(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, h: f64, w: int
) -> bool:
    """Whether a motor would need more than its torque over h to be as fast as it should."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if m.slot_channel[r] >= 0 and x.solved[r, w] != 0:
            miss = wp.abs(row_velocity(m, x, s.v, r, w) - row_target_rate(m, r, t, w))
            if miss * x.row_mass[r, w] > h * m.slot_a[r, w]:
                return True
    return False


@wp.func(inline=False)
def needs_impulses(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, h: f64, w: int
) -> bool:
    """Whether friction acts, a limit may be reached within h, or a motor is not where it should be."""
    for r in range(m.slot_kind.shape[0]):
        kind = m.slot_kind[r]
        if kind == FRICTION and m.slot_a[r, w] > ZERO:
            return True
        if kind == LIMIT_LOW or kind == LIMIT_HIGH:
            if limit_is_near(m, s, x, r, h, w):
                return True
        if kind == MOTOR_POSITION:
            if wp.abs(row_position_error(m, s, x, r, t, w)) > OFF_TARGET:
                return True
    return False
