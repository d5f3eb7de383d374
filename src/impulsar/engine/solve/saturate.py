"""Motors at their bounds: rows of the direct solve that would ask for more give just that."""

import warp as wp

from ..constrain import kinds, motor
from ..coordinates.tree import apply_impulse, row_response
from ..spatial import ZERO, f64
from ..state import WorkArrays
from ..system import SystemArrays


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


@wp.func
def saturate_motors(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int) -> int:
    """Motors that would need more than they have get what they have, as a force; returns how many.

    x.rhs keeps the right-hand sides, x.row_torque the torque of a saturated motor.
    """
    count = int(0)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if motor.is_motor(x, r, w) and x.solved[r, w] != 0:
            most = motor.max_torque(m, r, w)
            wanted = torque_wanted(m, x, i, w)
            if wanted > most:
                x.row_torque[r, w] = x.multiplier[i, w] * (most / wanted)
                x.solved[r, w] = int(0)
                apply_impulse(m, x, x.qdd, r, x.row_torque[r, w], w)
                count += 1
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
