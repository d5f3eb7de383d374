"""Friction and limits at an instant: forces within bounds that act beside the equations of `evaluate`.

With accelerations a in the place of velocities and forces f in that of impulses the rows are those of a step,

    equation    J a + bias = 0                        closures, couplings, motors
    friction    slides at u ≠ 0: f = -bound u / |u|;   at rest J a + bias = 0 while |f| < bound, else f against it
    limit       touched, not left: f ≥ 0, J a + bias ≥ 0, one of them 0

where bias = J̇ v less what a target asks for. Equations, and with them motors and friction that hold, are solved
directly; what is at a bound is pushed one row at a time, each followed by that solve and with the mass that it leaves
(Gauss-Seidel on the Schur complement, which converges). Rows change sides until all are where they belong.
"""

import warp as wp

from ..constrain import friction, kinds, limit, motor
from ..constrain.accelerations import joint_acceleration
from ..constrain.limit import CONTACT_GAP
from ..constrain.rows import own_jacobian, respond
from ..coordinates.tree import apply_impulse, row_response, row_velocity
from ..solve.direct import factor_bilateral, solve_bilateral
from ..spatial import INFINITY, ONE, ZERO, carry_twist, f64, matters, spatial, vec3, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .impulsive import solve_equations

AT_REST = wp.constant(wp.float64(1e-6))  # slower than this friction holds and limits are not left [m/s, rad/s]
SETTLED = wp.constant(wp.float64(1e-14))  # of the largest force: a change so small ends the sweeps
INSIDE = wp.constant(wp.float64(1e-9))  # of a bound: nearer to it than this a row is not held
HOLDS = wp.constant(wp.float64(1e-12))  # what equations leave of a row that they hold, of its own response
FREE, HELD, PUSHED, SLIDES = 0, 1, 2, 3  # modes of a slot: no row, in the direct solve, left to sweeps, a known force
ROUNDS, SWEEPS = 12, 2000


@wp.func
def outward(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """Accelerations of the bodies, gravity taken off, from those of the joints."""
    for i in range(m.parent.shape[0]):
        A = spatial(zero3(), -m.gravity[0, w])
        if m.parent[i] >= 0:
            A = x.acceleration[m.parent[i], w]
        A = carry_twist(A, x.r[i, w])
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            A += x.qdd[k, w] * x.S[k, w]
        x.acceleration[i, w] = A + x.bias[i, w]


@wp.func(inline=False)
def find_modes(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    mode: wp.array2d(dtype=wp.int32),
    w: int,
) -> int:
    """Mode of every friction and limit of the present state; returns how many there are.

    A limit is touched where it is reached, or pushed in the last step: a step of an impulsive method may end a
    little short of it.
    """
    count = int(0)
    group = int(0)
    new = int(FREE)
    for r in range(m.slot_kind.shape[0]):
        mode[r, w] = FREE
        if kinds.can_stick(x, r, w) and friction.bound(m, r, w) > ZERO:
            if group == 0:
                group = x.row_group[r, w]
                new = HELD
                if friction.speed(m, x, r, w) > AT_REST:
                    new = SLIDES
            group -= 1
            mode[r, w] = new
            count += 1
        elif kinds.is_limit(x, r, w):
            if limit.gap(m, s, x, r, w) <= CONTACT_GAP or s.impulse[r, w] > ZERO:
                if limit.speed(m, x, r, w) <= AT_REST:
                    mode[r, w] = PUSHED
                    count += 1
    return count


@wp.func(inline=False)
def open_row(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int):
    """J, response and bias of a friction or limit, at the accelerations in x; row_size 0 where nothing moves it."""
    x.row_bias[r, w] = ZERO
    if kinds.is_limit(x, r, w):
        limit.jacobian(m, x, r, w)
        x.row_low[r, w] = ZERO
        x.row_high[r, w] = INFINITY
    else:
        own_jacobian(m, x, r, ONE, w)
        x.row_low[r, w] = -friction.bound(m, r, w)
        x.row_high[r, w] = friction.bound(m, r, w)
    if m.slot_dof[r] < 0:
        pair = kinds.pair(m, x, r, w)
        a = joint_acceleration(m, x, x.row_part[r, w], m.slot_code[r], pair, w)
        x.row_bias[r, w] = a - row_velocity(m, x, x.qdd, r, w)
    if not respond(m, x, r, ZERO, w):
        x.row_size[r, w] = ZERO
        for entry in range(x.row_start[r, w], x.row_start[r + 1, w]):
            x.Y[entry, w] = ZERO


@wp.func(inline=False)
def open_equations(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    mode: wp.array2d(dtype=wp.int32),
    w: int,
):
    """The equations of `evaluate` as rows with bounds, and s.v the accelerations without them."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        f = x.multiplier[i, w] + x.row_torque[r, w]
        if f != ZERO and not kinds.can_stick(x, r, w):
            apply_impulse(m, x, s.v, r, -f, w)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        s.impulse[r, w] = ZERO
        if not kinds.can_stick(x, r, w) and (x.solved[r, w] != 0 or x.row_torque[r, w] != ZERO):
            x.row_bias[r, w] = -x.rhs[i, w] - row_velocity(m, x, s.v, r, w)
            x.row_low[r, w] = -INFINITY
            x.row_high[r, w] = INFINITY
            if kinds.is_drive(x, r, w):
                x.row_low[r, w] = -motor.max_torque(m, r, w)
                x.row_high[r, w] = motor.max_torque(m, r, w)
            x.solved[r, w] = int(1)
            mode[r, w] = HELD


@wp.func(inline=False)
def open_rows(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    mode: wp.array2d(dtype=wp.int32),
    w: int,
):
    """All rows of the instant, without forces but for friction that slides."""
    for k in range(s.v.shape[0]):
        s.v[k, w] = x.qdd[k, w]
    open_equations(m, s, x, mode, w)
    speed = ZERO
    group = int(0)
    for r in range(m.slot_kind.shape[0]):
        if not kinds.can_stick(x, r, w) and not kinds.is_limit(x, r, w):
            continue
        x.solved[r, w] = int(0)
        s.impulse[r, w] = ZERO
        if mode[r, w] == FREE:
            continue
        open_row(m, x, r, w)
        if mode[r, w] == SLIDES:
            if group == 0:
                group = x.row_group[r, w]
                speed = friction.speed(m, x, r, w)
            group -= 1
            f = -friction.bound(m, r, w) * friction.slip(m, x, r, w) / speed
            apply_impulse(m, x, s.v, r, f, w)
        elif mode[r, w] == HELD and x.row_size[r, w] > ZERO:
            x.solved[r, w] = int(1)


@wp.func
def group_force(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Size of the force of a row, or of the three of a ball that begin at r."""
    square = ZERO
    for k in range(x.row_group[r, w]):
        square += s.impulse[r + k, w] * s.impulse[r + k, w]
    return wp.sqrt(square)


@wp.func(inline=False)
def mass_left(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """1 / effective mass of a row with the equations holding; 0 where they hold it."""
    own = row_response(m, x, r, r, w)
    left = own
    for i in range(m.bilateral.shape[0]):
        x.multiplier[i, w] = ZERO
        if x.solved[m.bilateral[i], w] != 0:
            x.multiplier[i, w] = row_response(m, x, m.bilateral[i], r, w)
    solve_bilateral(m, x, w)
    for i in range(m.bilateral.shape[0]):
        if matters(x.multiplier[i, w]):
            left -= x.multiplier[i, w] * row_response(m, x, m.bilateral[i], r, w)
    if left > HOLDS * own:
        return left
    return ZERO


@wp.func(inline=False)
def leave_masses(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], mode: wp.array2d(dtype=wp.int32), w: int) -> int:
    """Effective masses of the rows that are pushed, three of a ball with one; returns how many groups they are."""
    count = int(0)
    group = int(0)
    for r in range(m.slot_kind.shape[0]):
        if mode[r, w] == PUSHED:
            if group == 0:
                group = x.row_group[r, w]
                count += 1
                total = ZERO
                for k in range(group):
                    total += mass_left(m, x, r + k, w)
                for k in range(group):
                    x.row_mass[r + k, w] = ZERO
                    if total > ZERO and mass_left(m, x, r + k, w) > ZERO:
                        x.row_mass[r + k, w] = ONE / total
            group -= 1
    return count


@wp.func
def push_group(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Push one row, or the three of a ball together, into its bounds; returns the largest change of a force."""
    wish = vec3()
    n = x.row_group[r, w]
    for k in range(n):
        residual = row_velocity(m, x, s.v, r + k, w) + x.row_bias[r + k, w]
        wish[k] = s.impulse[r + k, w] - residual * x.row_mass[r + k, w]
    if n == 3:
        size = wp.length(wish)
        if size > x.row_high[r, w]:
            wish = wish * (x.row_high[r, w] / size)
    else:
        wish[0] = wp.clamp(wish[0], x.row_low[r, w], x.row_high[r, w])
    worst = ZERO
    for k in range(n):
        change = wish[k] - s.impulse[r + k, w]
        s.impulse[r + k, w] = wish[k]
        apply_impulse(m, x, s.v, r + k, change, w)
        worst = wp.max(worst, wp.abs(change))
    return worst


@wp.func(inline=False)
def sweep_forces(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    mode: wp.array2d(dtype=wp.int32),
    pushed: int,
    w: int,
):
    """Forces of all rows, those not held by pushes; every push is answered by the equations at once."""
    solve_equations(m, s, x, s.impulse, w)
    n = int(0)
    while n < SWEEPS and pushed > 0:
        worst = ZERO
        largest = ZERO
        group = int(0)
        for r in range(m.slot_kind.shape[0]):
            if mode[r, w] == PUSHED:
                if group == 0:
                    group = x.row_group[r, w]
                    worst = wp.max(worst, push_group(m, s, x, r, w))
                    solve_equations(m, s, x, s.impulse, w)
                    largest = wp.max(largest, group_force(s, x, r, w))
                group -= 1
        n += 1
        if worst <= SETTLED * largest:
            n = SWEEPS


@wp.func(inline=False)
def exchange(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    mode: wp.array2d(dtype=wp.int32),
    w: int,
) -> int:
    """Let go what is held beyond its bound, hold what is inside of it; returns how many groups changed sides."""
    changed = int(0)
    group = int(0)
    for r in range(m.slot_kind.shape[0]):
        if group > 0:
            group -= 1
        elif (mode[r, w] == HELD or mode[r, w] == PUSHED) and not kinds.is_limit(x, r, w):
            size = group_force(s, x, r, w)
            bound = x.row_high[r, w]
            most = bound
            if kinds.can_stick(x, r, w):
                most = friction.static_bound(m, r, w)
            new = mode[r, w]
            if new == HELD and size > most * (ONE + INSIDE):
                new = PUSHED
            elif new == PUSHED and size < bound * (ONE - INSIDE):
                new = HELD
            group = x.row_group[r, w]
            if new != mode[r, w]:
                changed += 1
                for k in range(group):
                    mode[r + k, w] = new
                    x.solved[r + k, w] = int(new == HELD and x.row_size[r + k, w] > ZERO)
                    if new == PUSHED:
                        f = s.impulse[r + k, w]
                        s.impulse[r + k, w] = f * (bound / size)
                        apply_impulse(m, x, s.v, r + k, s.impulse[r + k, w] - f, w)
            group -= 1
    return changed


@wp.func(inline=False)
def settle(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    mode: wp.array2d(dtype=wp.int32),
    w: int,
):
    """After `evaluate`: the accelerations x.qdd with friction and limits in `mode`; s.v and s.impulse are spent."""
    outward(m, x, w)
    open_rows(m, s, x, mode, w)
    n = int(0)
    while n < ROUNDS:
        factor_bilateral(m, x, w)
        sweep_forces(m, s, x, mode, leave_masses(m, x, mode, w), w)
        n += 1
        if exchange(m, s, x, mode, w) == 0:
            n = ROUNDS
    for k in range(s.v.shape[0]):
        x.qdd[k, w] = s.v[k, w]
