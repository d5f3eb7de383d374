"""Modes of friction and limits: locked inside a smooth sub-step, changed where an instant asks for it.

    friction    sticks: holds, while its force is inside the static bound    slides: a force of the bound against it
    limit       closed: holds, while its force pushes                        open: no force, gap > 0

In its mode every row is smooth, so sub-steps keep their order. How far a row is from a change of its mode is a number
that falls through 0 there,

    sticks   1 - force / bound      slides   slip along the direction it had      open   gap      closed   force / mass

and which is looked at in every stage; the first that falls through 0 is located on the sub-step's dense output, and the
sub-step is taken again as far as there. At that instant, and at the start of every step,

    impacts   of limits that are met at a speed: impulses ≥ 0 that leave u₊ ≥ -e u₋, with the equations holding. Where
              forces would bring it back within 1e-4 s it does not bounce: bounces without end come to rest
    modes     of the rows that are at rest: one that cannot hold lets go, one that would go the wrong way holds, one at
              a time, the first in the order of rows (Murty's rule), until accelerations fit the modes of all

A change that goes round in circles, and more than MOST_EVENTS in a nominal step, are left to impulsive sub-steps.
"""

import warp as wp

from ..constrain import friction, kinds, limit
from ..coordinates.retract import move_coordinates
from ..coordinates.tree import kinematics, row_velocity
from ..options import Option
from ..solve.direct import factor_bilateral
from ..spatial import HALF, INFINITY, ONE, TWO, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .locked import factor_locked, list_locked, push_locked, solve_locked
from .surfaces import start_levels, surface_distance

STILL = wp.constant(wp.float64(1e-9))  # slower than this is at rest [m/s, rad/s]
TOUCH = wp.constant(wp.float64(1e-9))  # a limit so near is reached [m, rad]
PASSED = wp.constant(wp.float64(1e-6))  # one so far behind is left to impulsive sub-steps [m, rad]
NOISE = wp.constant(wp.float64(1e-12))  # below 0, of a distance from a change of mode, that is rounding
WRONG_WAY = wp.constant(wp.float64(1e-9))  # acceleration against a mode that is rounding [m/s², rad/s²]
ZENO = wp.constant(wp.float64(1e-4))  # bounces shorter than this are none [s]
MOST_EVENTS = 12
STRIKES = 1000  # sweeps of an impact, at most


@wp.func
def has_modes(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays]) -> bool:
    return x.locked.shape[0] > 0 and m.options[Option.modes] != ZERO


@wp.func
def is_first(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a row is of friction that acts, the first of those bounded together."""
    return kinds.can_stick(x, r, w) and x.row_group[r, w] > 0 and friction.bound(m, r, w) > ZERO


@wp.func(inline=False)
def group_force(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], first: int, w: int) -> f64:
    """Size of the force of the rows that begin at `first`, of the last evaluation [N, N m]."""
    square = ZERO
    for k in range(x.row_group[first, w]):
        f = s.impulse[first + k, w] / m.nominal_h[0]
        square += f * f
    return wp.sqrt(square)


@wp.func(inline=False)
def set_direction(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], first: int, speed: f64, w: int
):
    """It slides the way it slips, or, at speed 0, against the force that held it."""
    size = speed
    if speed == ZERO:
        size = group_force(m, s, x, first, w)
    for k in range(x.row_group[first, w]):
        if speed == ZERO:
            s.mode[first + k, w] = -s.impulse[first + k, w] / m.nominal_h[0] / size
        else:
            s.mode[first + k, w] = friction.slip(m, x, first + k, w) / size


@wp.func
def forget_rest(x: wp.ref[WorkArrays], w: int):
    """No row is to be decided about."""
    for r in range(x.row_count[0, w]):
        x.at_rest[r, w] = int(0)


@wp.func(inline=False)
def find_rest(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int) -> bool:
    """Modes that the present state decides; marks the rows at rest, whose modes are for forces to decide.

    False where a limit is so far behind that it has to be left to impulses.
    """
    forget_rest(x, w)
    for r in range(x.row_count[0, w]):
        if is_first(m, x, r, w):
            speed = friction.speed(m, x, r, w)
            if speed > STILL:
                set_direction(m, s, x, r, speed, w)
            else:
                for k in range(x.row_group[r, w]):
                    x.at_rest[r + k, w] = int(1)
        elif kinds.is_limit(x, r, w):
            gap = limit.gap(m, s, x, r, w)
            u = limit.speed(m, x, r, w)
            if gap < -PASSED:
                return False
            if gap > TOUCH or u > STILL:
                s.mode[r, w] = ZERO
            elif u < -STILL:
                s.mode[r, w] = ZERO
                x.at_rest[r, w] = int(2)
            else:
                x.at_rest[r, w] = int(1)
    list_locked(m, s, x, w)
    return True


@wp.func(inline=False)
def row_acceleration(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Of a row that is locked or at rest, at the accelerations of the last evaluation [m/s², rad/s²]."""
    return row_velocity(m, x, x.qdd, r, w) + x.row_bias[r, w]


@wp.func
def friction_fits(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], first: int, w: int) -> bool:
    """Whether friction at rest holds what it has to, or goes the way it should; if not its mode is changed."""
    if friction.slides(s, x, first, w):
        along = ZERO
        for k in range(x.row_group[first, w]):
            along += row_acceleration(m, x, first + k, w) * s.mode[first + k, w]
        if along >= -WRONG_WAY:
            return True
        for k in range(x.row_group[first, w]):
            s.mode[first + k, w] = ZERO
        return False
    if group_force(m, s, x, first, w) <= (ONE + NOISE) * friction.static_bound(m, first, w):
        return True
    set_direction(m, s, x, first, ZERO, w)
    return False


@wp.func
def limit_fits(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a limit that is touched pushes, or is left; if not its mode is changed."""
    if s.mode[r, w] != ZERO:
        if pressure(m, s, x, r, w) >= -WRONG_WAY:
            return True
        s.mode[r, w] = ZERO
        return False
    if row_acceleration(m, x, r, w) >= -WRONG_WAY:
        return True
    s.mode[r, w] = ONE
    return False


@wp.func
def pressure(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Force of a closed limit over its effective mass [m/s², rad/s²]."""
    return s.impulse[r, w] / m.nominal_h[0] / wp.max(x.row_mass[r, w], f64(1e-300))


@wp.func(inline=False)
def settle_modes(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int) -> bool:
    """After an evaluation: whether the modes of all rows at rest fit; else one was changed, or limits were struck."""
    for r in range(x.row_count[0, w]):
        if x.at_rest[r, w] == 2:
            strike_limits(m, s, x, w)
            return False
    for r in range(x.row_count[0, w]):
        if x.at_rest[r, w] != 0:
            fits = bool(True)
            if kinds.is_limit(x, r, w):
                fits = limit_fits(m, s, x, r, w)
            elif x.row_group[r, w] > 0:
                fits = friction_fits(m, s, x, r, w)
            if not fits:
                list_locked(m, s, x, w)
                return False
    forget_rest(x, w)
    return True


@wp.func
def most_tries(x: wp.ref[WorkArrays]) -> int:
    """Changes at one instant beyond which they go round in circles."""
    return 4 * x.locked.shape[0] + 8


@wp.func(inline=False)
def push_out(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Bring the locked limits to gap 0, as far as they are closed or passed; what sticks beside them stays."""
    worst = ZERO
    for k in range(x.lock_count[0, w]):
        r = x.locked[k, w]
        x.lock_rhs[k, w] = ZERO
        if kinds.is_limit(x, r, w):
            gap = limit.gap(m, s, x, r, w)
            if gap < ZERO or s.mode[r, w] != ZERO:
                x.lock_rhs[k, w] = -gap
                worst = wp.max(worst, wp.abs(gap))
    if worst > ZERO:
        solve_locked(x, w)
        for k in range(s.v.shape[0]):
            x.shift[k, w] = ZERO
        push_locked(m, x, x.shift, w)
        move_coordinates(m, s, x.shift, w)


# impacts


@wp.func
def rebound(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Least velocity of a limit's row after an impact [m/s, rad/s]."""
    back = -limit.restitution(m, r, w) * row_velocity(m, x, s.v, r, w)
    if back <= ZERO or TWO * back < -ZENO * row_acceleration(m, x, r, w):
        return ZERO
    return back


@wp.func(inline=False)
def strike_limits(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Impulses of the limits that are touched, with the equations holding; motors with a bound give none."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if kinds.is_drive(x, r, w) and not kinds.holds(m, x, r, w):
            x.solved[r, w] = int(0)
    factor_bilateral(m, x, w)
    n = int(0)
    for r in range(x.row_count[0, w]):
        if kinds.is_limit(x, r, w) and (x.at_rest[r, w] != 0 or s.mode[r, w] != ZERO):
            x.locked[n, w] = r
            n += 1
    x.lock_count[0, w] = n
    factor_locked(m, x, w)
    push_out(m, s, x, w)
    size = x.locked.shape[0]
    for k in range(n):
        x.lock_rhs[k, w] = rebound(m, s, x, x.locked[k, w], w)
        x.lock_step[k, w] = row_velocity(m, x, s.v, x.locked[k, w], w)
        x.lock_force[k, w] = ZERO
    sweeps = int(0)
    while sweeps < STRIKES:
        worst = ZERO
        largest = ZERO
        for k in range(n):
            own = x.lock_matrix[k * size + k, w]
            if own > ZERO:
                u = x.lock_step[k, w] - x.lock_rhs[k, w]
                for j in range(n):
                    u += x.lock_matrix[k * size + j, w] * x.lock_force[j, w]
                p = wp.max(x.lock_force[k, w] - u / own, ZERO)
                worst = wp.max(worst, wp.abs(p - x.lock_force[k, w]))
                largest = wp.max(largest, p)
                x.lock_force[k, w] = p
        sweeps += 1
        if worst <= f64(1e-15) * largest:
            sweeps = STRIKES
    push_locked(m, x, s.v, w)
    for k in range(n):
        r = x.locked[k, w]
        mean = HALF * (x.lock_step[k, w] + row_velocity(m, x, s.v, r, w))
        s.work[r, w] = s.work[r, w] + x.lock_force[k, w] * mean
    kinematics(m, s, x, ZERO, w)


@wp.func
def follow_slip(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Balls that slide do so from now on as they slip now."""
    for r in range(x.row_count[0, w]):
        if is_first(m, x, r, w) and x.row_group[r, w] > 1 and friction.slides(s, x, r, w):
            speed = friction.speed(m, x, r, w)
            if speed > STILL:
                set_direction(m, s, x, r, speed, w)


# how far a change of mode is


@wp.func
def distance(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """How far a row is from a change of its mode, after an evaluation; see the head of this file."""
    if is_first(m, x, r, w):
        if friction.slides(s, x, r, w):
            return friction.advance(m, s, x, r, w)
        return ONE - group_force(m, s, x, r, w) / friction.static_bound(m, r, w)
    if kinds.is_limit(x, r, w):
        if s.mode[r, w] != ZERO:
            return pressure(m, s, x, r, w)
        return limit.gap(m, s, x, r, w)
    return INFINITY


@wp.func(inline=False)
def watch(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    found: wp.array2d(dtype=f64),
    t: f64,
    modal: bool,
    w: int,
) -> bool:
    """The distances of all rows, if they have modes now, and surfaces; True where one has fallen through 0.

    That is more than rounding the first time, from then on at 0 itself: marked in x.crossing.
    """
    passed = bool(False)
    rows = x.row_count[0, w]
    for r in range(watched(x, w)):
        if r >= rows:
            found[r, w] = surface_distance(m, x, r - rows, t, w)
        elif modal:
            found[r, w] = distance(m, s, x, r, w)
        else:
            found[r, w] = INFINITY
        if found[r, w] < -NOISE:
            x.crossing[r, w] = int(1)
        if found[r, w] < ZERO and x.crossing[r, w] != 0:
            passed = True
    return passed


@wp.func
def watched(x: wp.ref[WorkArrays], w: int) -> int:
    """How many distances there are: of the rows, behind them of the surfaces."""
    return x.row_count[0, w] + x.wet_under.shape[0]


@wp.func
def start_watch(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """Nothing changes yet."""
    for r in range(x.row_count[0, w]):
        x.crossing[r, w] = int(0)
    if x.wet_under.shape[0] > 0:
        start_levels(m, x, x.row_count[0, w], t, w)


@wp.func
def first_crossing(x: wp.ref[WorkArrays], near: f64, far: f64, w: int) -> f64:
    """Where the first of those that have changed at `far` but not at `near` is at 0, if all go straight."""
    first = far
    for r in range(watched(x, w)):
        end = x.watch_end[r, w]
        if end < ZERO and x.crossing[r, w] != 0:
            start = wp.max(x.watch_start[r, w], ZERO)
            first = wp.min(first, near + (far - near) * start / (start - end))
    return first


@wp.func
def is_surface(x: wp.ref[WorkArrays], w: int) -> bool:
    """Whether no row changes at the end of a search, but a surface is passed."""
    for r in range(x.row_count[0, w]):
        if x.watch_end[r, w] < ZERO and x.crossing[r, w] != 0:
            return False
    return True


@wp.func(inline=False)
def let_go(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int) -> int:
    """At the end of a sub-step: rows that cannot hold beyond it, as x.watch_end has it, do not hold any longer.

    Returns how many rows change there: none where a surface ended it.
    """
    changed = int(0)
    for r in range(x.row_count[0, w]):
        if x.watch_end[r, w] < ZERO and x.crossing[r, w] != 0:
            changed += 1
            if is_first(m, x, r, w):
                if not friction.slides(s, x, r, w):
                    set_direction(m, s, x, r, ZERO, w)
            elif kinds.is_limit(x, r, w):
                s.mode[r, w] = ZERO
    return changed


# projection


@wp.func(inline=False)
def close_locked(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """After a smooth sub-step: closed limits at gap 0, and no velocity in any locked row."""
    n = x.lock_count[0, w]
    if n == 0:
        return
    factor_locked(m, x, w)
    push_out(m, s, x, w)
    for k in range(n):
        x.lock_rhs[k, w] = -row_velocity(m, x, s.v, x.locked[k, w], w)
    solve_locked(x, w)
    push_locked(m, x, s.v, w)
