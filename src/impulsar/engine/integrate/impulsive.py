"""An impulsive sub-step: bilateral rows solved directly, the others by sweeps around them.

Taken by `direct` where friction, limits or contacts act, and for its fixed sub-steps. As in SIMGC, but
the equations of the mechanism hold to round-off after every sweep, and positions are projected:

    v ← v + M⁻¹ Jᵀ p of impacts
    q ← q ⊕ h/2 v
    twice, the second time with forces at the mean velocity that the first has found:
        v ← v + h M⁻¹ f, warm start
        repeat   sweep over the bounded and compliant rows,   v ← v + M⁻¹ Jᵀ λ of the bilateral ones
    q ← q ⊕ h/2 v, project

Half of the drift comes first: forces and rows are those of the middle, a constant force is exact, and what
depends on positions keeps its energy. Inputs are their means over the sub-step. In its geometry, with u₋ and
u the row's velocities before and after, and d, gap and e those of the middle,

    compliant   p = -h k (d + h (u - u₋) / 4) - h c (u₋ + u) / 2       which keeps a spring's energy
    limit       gap + h u / 2 ≥ 0
    motor       u = speed at the end; or by the trapezoidal rule from  ë = -2 α ė - α² e
    closure     J v = -h/2 J̇ v, so that v fits the joints at the end and not in the middle; but no more than -J v₋,
                which is as much in small steps: with it impulses do no work, beyond it they would feed energy

A compliant row that is too fast to be followed, ω h > 1 or c h / m > 1 by its own effective mass, is taken
later, up to p = -h k (d + h u) - h c u, which has it at rest after two sub-steps at any stiffness.

Impacts act at the start: a limit that would be passed within the sub-step sends the row back at u = -e u₋, or,
where the forces undo that within a sub-step, lets it come to the limit. `direct` ends sub-steps just short of
limits, so that little is left to be passed.

Fixed sub-steps are plain: forces and rows of the start (see engine/constrain/assemble.py), once, then the whole drift.
"""

import warp as wp

from ..constrain import kinds, limit, motor
from ..constrain.assemble import assemble, assemble_bilateral
from ..constrain.frames import follow_loops, measure_loops, place_loops
from ..constrain.limit import CONTACT_GAP
from ..constrain.locks import reads_turns
from ..constrain.reactions import collect_reactions, finish_reactions, start_reactions
from ..coordinates.tree import (
    accelerate,
    apply_impulse,
    articulate,
    articulate_with,
    drift,
    kick,
    kinematics,
    row_velocity,
)
from ..forces.total import total_over
from ..solve.cones import share_cone_mass
from ..solve.direct import factor_bilateral, solve_bilateral
from ..solve.project import project_positions
from ..solve.sticking import clip_sticking, collect_sticking
from ..solve.sweep import start_pseudo, sweep_once, warm_start
from ..spatial import HALF, INFINITY, ONE, UNLIMITED, ZERO, f64, linear, matters, spatial, vec6, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .books import book_forces, book_rows
from .stiff_joints import IN_INERTIA, book_struck, kick_softly, mark_soft, note_soft, soften_tree

STILL = wp.constant(wp.float64(1e-9))  # slower than this is at rest on a limit [m/s, rad/s]
LEFT_ERROR = wp.constant(wp.float64(1e-10))  # position error left by an impulsive sub-step [m, rad]
SHORT = wp.constant(wp.float64(0.9))  # of the way to a limit is gone in a sub-step
KINK = wp.constant(wp.float64(1e-3))  # a jump of a motor's velocity that is an impulse [m/s, rad/s; of 1]
TOUCH = wp.constant(wp.float64(0.01))  # of an impulse step: a limit reached in less is struck at once


@wp.func
def mark_solved(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], rows: int, w: int):
    """The active rows that a direct solve takes: equations, not motors that may be too weak."""
    for a in range(rows):
        r = x.active[a, w]
        if x.row_softness[r, w] == ZERO and x.row_high[r, w] >= UNLIMITED and x.row_low[r, w] <= -UNLIMITED:
            x.solved[r, w] = int(1)


@wp.func(inline=False)
def solve_equations(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], total: wp.array2d(dtype=f64), w: int
):
    """Impulses of the marked rows, together, added to `total`."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        x.multiplier[i, w] = ZERO
        if x.solved[r, w] != 0:
            x.multiplier[i, w] = -(row_velocity(m, x, s.v, r, w) + x.row_bias[r, w])
    solve_bilateral(m, x, w)
    for i in range(m.bilateral.shape[0]):
        p = x.multiplier[i, w]
        if matters(p):
            r = m.bilateral[i]
            total[r, w] = total[r, w] + p
            apply_impulse(m, x, s.v, r, p, w)


@wp.func
def mark_sticking(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, w: int) -> int:
    """Put the friction rows that stick into the direct solve, and those that slide out; returns how many stick."""
    n = collect_sticking(m, s, x, rows, w)
    for a in range(rows):
        r = x.active[a, w]
        if kinds.can_stick(x, r, w):
            x.solved[r, w] = int(0)
    for k in range(n):
        x.solved[x.sticking[k, w], w] = int(1)
    return n


@wp.func
def bounded_rows(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], rows: int, w: int) -> int:
    """Active rows that are left to the sweep."""
    count = int(0)
    for a in range(rows):
        if x.solved[x.active[a, w], w] == 0:
            count += 1
    return count


@wp.func(inline=False)
def push_rows(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    rows: int,
    h: f64,
    epsilon: f64,
    limit: int,
    w: int,
) -> int:
    """Impulses of all rows, by sweeps over the bounded and compliant ones around the direct solve of the others."""
    bounded = bounded_rows(m, x, rows, w)
    iterations = int(0)
    worst = INFINITY
    if bounded > 0 and m.bilateral.shape[0] > 0:  # the first sweep should see what the equations ask of it
        solve_equations(m, s, x, s.impulse, w)
    while iterations < limit and worst > epsilon:
        worst = ZERO
        if bounded > 0:
            worst = sweep_once(m, s, x, rows, h, 0, 0, w)
        if m.bilateral.shape[0] > 0:
            solve_equations(m, s, x, s.impulse, w)
        iterations += 1
    return iterations


@wp.func(inline=False)
def hold_sticking(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    rows: int,
    h: f64,
    epsilon: f64,
    limit: int,
    w: int,
) -> int:
    """Solve sticking friction together with the equations: a sweep alone would creep. Returns iterations.

    A row that cannot hold slides, and the rest is solved again.
    """
    rounds = m.bilateral.shape[0]
    stuck = mark_sticking(m, s, x, rows, w)
    slid = int(0)
    n = stuck
    while n > 0 and rounds > 0:
        factor_bilateral(m, x, w)
        solve_equations(m, s, x, s.impulse, w)
        rounds -= 1
        slid = clip_sticking(m, s, x, rows, w)
        if slid == 0:
            rounds = int(0)
        else:
            n = mark_sticking(m, s, x, rows, w)
    if stuck == 0:
        return 0
    for a in range(rows):  # friction does not move positions
        r = x.active[a, w]
        if kinds.can_stick(x, r, w):
            x.solved[r, w] = int(0)
    factor_bilateral(m, x, w)
    if slid > 0:  # what was taken back moved the other rows
        return push_rows(m, s, x, rows, h, epsilon, limit, w)
    return 0


@wp.func
def strikes(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, h: f64, w: int) -> bool:
    """Whether a limit would be passed within h at the present speed, or a motor's velocity jumps at t."""
    for r in range(x.row_count[0, w]):
        if kinds.is_limit(x, r, w):
            u = limit.speed(m, x, r, w)
            if u < -STILL and limit.gap(m, s, x, r, w) + h * u < ZERO:
                return True
        elif kinds.is_drive(x, r, w):
            if wp.abs(motor.jump(m, s, x, r, t, w)) > KINK * (ONE + wp.abs(motor.target_rate(m, x, r, t, w))):
                return True
    return False


@wp.func
def rebound(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, h: f64, beat: f64, w: int
) -> f64:
    """Least velocity of a limit's row after an impact: -e u, or none where x.qdd undoes it within a beat."""
    u = row_velocity(m, x, s.v, r, w)
    back = -limit.restitution(m, r, w) * u
    if back > -beat * row_velocity(m, x, x.qdd, r, w) and back > ZERO:
        return back
    return -wp.max(limit.gap(m, s, x, r, w), ZERO) / h


@wp.func
def sweep_limits(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, w: int) -> f64:
    """Push every limit once, by impulses into x.strike; returns the largest increment."""
    worst = ZERO
    for a in range(rows):
        r = x.active[a, w]
        if kinds.is_limit(x, r, w):
            p = x.strike[r, w]
            new = wp.max(p - (row_velocity(m, x, s.v, r, w) + x.row_bias[r, w]) * x.row_mass[r, w], ZERO)
            x.strike[r, w] = new
            apply_impulse(m, x, s.v, r, new - p, w)
            worst = wp.max(worst, wp.abs(new - p))
    return worst


@wp.func(inline=False)
def strike(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    t: f64,
    h: f64,
    beat: f64,
    epsilon: f64,
    limit: int,
    w: int,
):
    """Impacts on limits and jumps of motors at the start of the sub-step; rows with a bound give no impulse."""
    for k in range(s.v.shape[0]):
        x.v_old[k, w] = s.v[k, w]
    total_over(m, s, x, t, h, h, w)
    articulate(m, x, w)
    soft = int(0)
    if m.solvable.shape[0] > m.bilateral.shape[0] and soften_tree(m, s, x, beat, w) > 0:
        soft = int(1)
        articulate_with(m, x, 1, w)
    accelerate(m, x, spatial(zero3(), -m.gravity[0, w]), 0, w)
    rows = assemble(m, s, x, t, h, w)
    mark_solved(m, x, rows, w)
    for a in range(rows):
        r = x.active[a, w]
        x.row_bias[r, w] = -row_velocity(m, x, s.v, r, w)  # equations keep their velocities
        if kinds.is_limit(x, r, w):
            x.row_bias[r, w] = -rebound(m, s, x, r, h, beat, w)
        elif kinds.is_drive(x, r, w):
            x.row_bias[r, w] = x.row_bias[r, w] - motor.jump(m, s, x, r, t, w)
    factor_bilateral(m, x, w)
    iterations = int(0)
    worst = INFINITY
    while iterations < limit and worst > epsilon:
        worst = sweep_limits(m, s, x, rows, w)
        solve_equations(m, s, x, x.strike, w)
        iterations += 1
    for r in range(x.row_count[0, w]):
        p = x.strike[r, w]
        if p != ZERO and not kinds.is_equation(x, r, w):
            mean = HALF * (row_velocity(m, x, x.v_old, r, w) + row_velocity(m, x, s.v, r, w))
            s.work[r, w] = s.work[r, w] + p * mean
    if soft != 0:
        book_struck(m, s, x, w)
    kinematics(m, s, x, ZERO, w)


@wp.func(inline=False)
def take_midway(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, t: f64, h: f64, beat: f64, w: int
):
    """Make the rows those of a sub-step whose middle the geometry is; see the head of this file."""
    if m.bilateral.shape[0] > 0:  # with the gyroscopic torque of free bodies, which their drift makes
        accelerate(m, x, spatial(zero3(), -m.gravity[0, w]), 1, w)
    for a in range(rows):
        r = x.active[a, w]
        if x.solved[r, w] != IN_INERTIA:
            kinds.midway(m, s, x, r, t, h, beat, w)


@wp.func
def start_books(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], h: f64, w: int):
    """Before the last sub-step of a launch: what reactions and accelerations are measured from."""
    for i in range(m.parent.shape[0]):
        x.wrench[i, w] = vec6()
        x.a_WB[i, w] = linear(x.twist[i, w])
    start_reactions(m, x, h, w)


@wp.func
def collect_forces(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, h: f64, w: int):
    """Loads, rows and impacts of the last sub-step into its reactions."""
    for i in range(m.parent.shape[0]):
        x.transmitted[i, w] = x.transmitted[i, w] - x.wrench[i, w]
    for r in range(x.row_count[0, w]):
        s.impulse[r, w] = s.impulse[r, w] + x.strike[r, w]
    collect_reactions(m, s, x, rows, h, w)
    for r in range(x.row_count[0, w]):
        s.impulse[r, w] = s.impulse[r, w] - x.strike[r, w]


@wp.func
def finish_books(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], h: f64, w: int):
    for i in range(m.parent.shape[0]):
        x.a_WB[i, w] = (linear(x.twist[i, w]) - x.a_WB[i, w]) / h
    finish_reactions(m, x, h, w)


@wp.func
def kick_again(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], h: f64, soft: int, w: int):
    """The kick once more, with forces that depend on velocities at the mean velocity that all rows have left.

    Centrifugal and gyroscopic forces at the old velocity feed energy to a body that spins by more than a
    fraction of a radian in h. Twists stay those of the mean.
    """
    for k in range(s.v.shape[0]):
        s.v[k, w] = HALF * (x.v_old[k, w] + s.v[k, w])
    kinematics(m, s, x, ZERO, w)
    articulate_with(m, x, soft, w)
    accelerate(m, x, spatial(zero3(), -m.gravity[0, w]), 0, w)
    for k in range(s.v.shape[0]):
        s.v[k, w] = x.v_old[k, w] + h * x.qdd[k, w]


@wp.func
def strike_first(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    t: f64,
    h: f64,
    beat: f64,
    epsilon: f64,
    limit: int,
    w: int,
):
    """The impacts of a sub-step, before all else that it does."""
    if m.live_slots[0] > 0:
        for r in range(x.row_count[0, w]):
            x.strike[r, w] = ZERO
        if strikes(m, s, x, t, h, w):
            strike(m, s, x, t, h, beat, epsilon, limit, w)


@wp.func(inline=False)
def impulsive_step(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    t: f64,
    h: f64,
    beat: f64,
    epsilon: f64,
    limit: int,
    midway: bool,
    is_last: bool,
    w: int,
) -> int:
    """One impulsive sub-step of size h, of at most a beat, from time t; returns iterations.

    midway: half of the drift comes first; else forces and rows of the start, for half the work.
    """
    iterations = int(0)
    rows = int(0)
    soft = int(0)
    after = h  # part of the drift that comes last
    start_pseudo(x, w)
    if is_last:
        start_books(m, x, h, w)
    strike_first(m, s, x, t, h, beat, epsilon, limit, w)
    book_forces(m, s, x, t, h, h, w)
    if midway:
        after = HALF * h
        drift(m, s, x, h - after, w)
        kinematics(m, s, x, ZERO, w)
        follow_loops(m, s, x, w)
    total_over(m, s, x, t, h, h, w)
    kick(m, s, x, h, w)
    if midway and m.solvable.shape[0] > m.bilateral.shape[0] and soften_tree(m, s, x, h, w) > 0:
        soft = int(1)
        kick_softly(m, s, x, h, w)
    if m.live_slots[0] > 0:
        rows = assemble(m, s, x, t, h, w)
        mark_solved(m, x, rows, w)
        if soft != 0:
            mark_soft(m, s, x, w)
        factor_bilateral(m, x, w)
        share_cone_mass(x, rows, w)
        if midway:
            take_midway(m, s, x, rows, t, h, beat, w)
        warm_start(m, s, x, rows, h, ONE, w)
        iterations = push_rows(m, s, x, rows, h, epsilon, limit, w)
    if midway:
        kick_again(m, s, x, h, soft, w)
        if m.live_slots[0] > 0:
            take_midway(m, s, x, rows, t, h, beat, w)
            warm_start(m, s, x, rows, h, ONE, w)
            iterations += push_rows(m, s, x, rows, h, epsilon, limit, w)
    if m.live_slots[0] > 0:
        if x.sticking.shape[0] > 0:
            iterations += hold_sticking(m, s, x, rows, h, epsilon, limit, w)
        if soft != 0:
            note_soft(m, s, x, w)
        book_rows(m, s, x, rows, t, h, w)
    if is_last:
        collect_forces(m, s, x, rows, h, w)
    drift(m, s, x, after, w)
    kinematics(m, s, x, ZERO, w)
    place_loops(m, x, w)
    if m.bilateral.shape[0] > 0:
        if reads_turns(m):
            measure_loops(m, s, x, w)
        if not project_positions(m, s, x, t + h, LEFT_ERROR, w):
            # the factor of the step did not do: near a singular position, say
            articulate(m, x, w)
            assemble_bilateral(m, x, t + h, 0, w)
            factor_bilateral(m, x, w)
            project_positions(m, s, x, t + h, LEFT_ERROR, w)
    measure_loops(m, s, x, w)
    if is_last:
        finish_books(m, x, h, w)
    book_forces(m, s, x, t, h, h, w)
    return iterations


@wp.func
def short_of_limits(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], size: f64, least: f64, w: int
) -> f64:
    """A sub-step of at most `size` that ends short of every limit ahead, unless it is closer than `least` [s]."""
    shorter = size
    for r in range(x.row_count[0, w]):
        if kinds.is_limit(x, r, w):
            u = limit.speed(m, x, r, w)
            gap = limit.gap(m, s, x, r, w)
            if gap > -least * u and u < -STILL:
                shorter = wp.min(shorter, wp.max(-SHORT * gap / u, least))
    return shorter


@wp.func
def limits_passed(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int) -> bool:
    """Whether a limit is passed."""
    for r in range(x.row_count[0, w]):
        if kinds.is_limit(x, r, w):
            if limit.gap(m, s, x, r, w) < -CONTACT_GAP:
                return True
    return False


@wp.func(inline=False)
def needs_impulses(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, h: f64, w: int
) -> bool:
    """Whether friction acts, a limit may be reached within h, or a motor without bound is not where it should be."""
    for r in range(x.row_count[0, w]):
        if kinds.needs_impulses(m, s, x, r, h, w):
            return True
    return False
