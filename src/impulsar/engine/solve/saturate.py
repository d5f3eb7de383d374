"""Motors at their bounds: rows of the direct solve that would ask for more give just that."""

import warp as wp

from ...author.joints import BALL_X
from ..coordinates.tree import apply_impulse, row_response
from ..freedoms import is_ball
from ..spatial import ZERO, f64
from ..state import WorkArrays
from ..system import SystemArrays
from ..system.slots import MOTOR_SPEED


@wp.func
def is_ball_motor(m: wp.ref[SystemArrays], r: int) -> bool:
    return m.slot_kind[r] == MOTOR_SPEED and is_ball(m.slot_code[r])


@wp.func
def torque_wanted(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, w: int) -> f64:
    """Size of the torque that the motor of bilateral row i would need: of a ball, of the vector of its three."""
    r = m.bilateral[i]
    if not is_ball_motor(m, r):
        return wp.abs(x.multiplier[i, w])
    first = i - (m.slot_code[r] - BALL_X)
    square = ZERO
    for k in range(3):
        square += x.multiplier[first + k, w] * x.multiplier[first + k, w]
    return wp.sqrt(square)


@wp.func
def saturate_motors(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int) -> int:
    """Motors that would need more than they have get what they have, as a force; returns how many.

    x.row_bias keeps the right-hand sides, x.row_pseudo the torque of a saturated motor.
    """
    count = int(0)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if m.slot_channel[r] >= 0 and x.solved[r, w] != 0:
            most = m.slot_a[r, w]
            wanted = torque_wanted(m, x, i, w)
            if wanted > most:
                x.row_pseudo[r, w] = x.multiplier[i, w] * (most / wanted)
                x.solved[r, w] = int(0)
                apply_impulse(m, x, x.qdd, r, x.row_pseudo[r, w], w)
                count += 1
    if count > 0:
        for i in range(m.bilateral.shape[0]):
            r = m.bilateral[i]
            b = x.row_bias[r, w]
            for j in range(m.bilateral.shape[0]):
                motor = m.bilateral[j]
                if x.row_pseudo[motor, w] != ZERO:
                    b -= row_response(m, x, r, motor, w) * x.row_pseudo[motor, w]
            x.multiplier[i, w] = b
            if x.solved[r, w] == 0:
                x.multiplier[i, w] = ZERO
    return count


@wp.func
def ball_is_weak(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int) -> bool:
    """Whether a ball's motor needs more than it has: which way it then turns is for impulses to say."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if is_ball_motor(m, r) and x.row_pseudo[r, w] != ZERO:
            return True
    return False
