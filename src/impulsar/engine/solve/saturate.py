"""Motors at their bounds: rows of the direct solve that would ask for more give just that."""

import warp as wp

from ..constrain import kinds, motor
from ..coordinates.tree import apply_impulse, row_response
from ..spatial import ONE, ZERO, f64
from ..state import WorkArrays
from ..system import SystemArrays

SATURATIONS = 40  # rounds of a solve, at most
AT_ONCE = 6  # of them, that may change several rows
TOO_FAST = wp.constant(wp.float64(1e-9))  # acceleration beyond what a motor should have that is rounding, of it


@wp.func
def in_cone(x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a motor's row is bounded together with others."""
    return kinds.is_drive(x, r, w) and x.row_group[r, w] != 1


@wp.func
def torque_wanted(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, w: int) -> f64:
    """Size of the torque that the motor of bilateral row i would need: of the vector of all rows of a ball."""
    r = m.bilateral[i]
    if not in_cone(x, r, w):
        return wp.abs(x.multiplier[i, w])
    back = int(0)
    while x.row_group[r - back, w] == 0:
        back += 1
    square = ZERO
    for k in range(x.row_group[r - back, w]):
        square += x.multiplier[i - back + k, w] * x.multiplier[i - back + k, w]
    return wp.sqrt(square)


@wp.func(inline=False)
def lacking(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, rows: int, w: int) -> f64:
    """How much less than it should the motor of row i accelerates, by the forces of the last solve, of `rows` rows."""
    r = m.bilateral[i]
    left = x.rhs[i, w]
    for j in range(rows):
        other = m.solvable[j]
        force = x.multiplier[j, w] + x.row_torque[other, w]  # one of them is 0
        if force != ZERO:
            left -= row_response(m, x, r, other, w) * force
    if x.locked.shape[0] > 0:
        for k in range(x.lock_count[0, w]):
            left -= row_response(m, x, r, x.locked[k, w], w) * x.lock_force[k, w]
    return left


@wp.func(inline=False)
def find_changes(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], rows: int, one: bool, w: int) -> int:
    """Have motors that need more than they have give that, as a force; else the first of those that do, and
    accelerate more than they should, hold again. Only the first of either where it is to be `one`; returns how many.
    """
    count = int(0)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if motor.is_motor(x, r, w) and x.solved[r, w] != 0 and (count == 0 or not one):
            most = motor.max_torque(m, r, w)
            wanted = torque_wanted(m, x, i, w)
            if wanted > most:
                x.row_torque[r, w] = x.multiplier[i, w] * (most / wanted)
                x.solved[r, w] = int(0)
                apply_impulse(m, x, x.qdd, r, x.row_torque[r, w], w)
                count += 1
        elif x.row_torque[r, w] != ZERO and not in_cone(x, r, w) and count == 0 and one:
            count += hold_again(m, x, i, rows, w)
    for i in range(m.bilateral.shape[0]):
        if count == 0 and x.row_torque[m.bilateral[i], w] != ZERO and not in_cone(x, m.bilateral[i], w):
            count += hold_again(m, x, i, rows, w)
    return count


@wp.func(inline=False)
def hold_again(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, rows: int, w: int) -> int:
    """1 where the motor of bilateral row i, at its bound, does more than it has to: it is no longer at its bound."""
    r = m.bilateral[i]
    torque = x.row_torque[r, w]
    if lacking(m, x, i, rows, w) * wp.sign(torque) >= -TOO_FAST * (ONE + wp.abs(x.rhs[i, w])):
        return 0
    apply_impulse(m, x, x.qdd, r, -torque, w)
    x.row_torque[r, w] = ZERO
    x.solved[r, w] = int(1)
    return 1


@wp.func
def saturate_motors(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], rows: int, rounds: int, w: int) -> int:
    """Which motors are at their bounds, after so many rounds of a solve of so many rows; returns how many changed.

    A motor holds with a torque inside its bound, or gives its bound and accelerates less than it should: a linear
    complementarity problem, whose answer is one and goes smoothly with the state. One that was too weak beside another
    that was taken to hold need not be so any more. After a few rounds one row changes at a time, the first (Murty's
    rule), which ends. x.rhs keeps the right-hand sides, x.row_torque the torque of a saturated motor.
    """
    count = find_changes(m, x, rows, rounds > AT_ONCE, w)
    if count > 0:
        for i in range(m.bilateral.shape[0]):
            r = m.bilateral[i]
            b = x.rhs[i, w]
            for j in range(m.bilateral.shape[0]):
                other = m.bilateral[j]
                if x.row_torque[other, w] != ZERO:
                    b -= row_response(m, x, r, other, w) * x.row_torque[other, w]
            x.multiplier[i, w] = b
            if x.solved[r, w] == 0:
                x.multiplier[i, w] = ZERO
    return count


@wp.func
def ball_is_weak(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int) -> bool:
    """Whether a ball's motor needs more than it has: which way it then turns is for impulses to say."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if in_cone(x, r, w) and x.row_torque[r, w] != ZERO:
            return True
    return False
