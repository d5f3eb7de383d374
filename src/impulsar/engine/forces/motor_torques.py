"""Motors with a given torque: forces in the joints, limited by the motor's maximum."""

import warp as wp

from ...author.joints import BALL_X, BALL_Z
from ..constrain import kinds, motor
from ..constrain.rows import add_force, own_jacobian
from ..spatial import ONE, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.channels import channel_mean


@wp.func
def motor_torque(m: wp.ref[SystemArrays], r: int, t: f64, w: int) -> f64:
    """Torque of a motor's slot at time t."""
    return mean_torque(m, r, t, ZERO, w)


@wp.func
def mean_torque(m: wp.ref[SystemArrays], r: int, t: f64, span: f64, w: int) -> f64:
    """Torque of a motor's slot over t .. t + span, the mean bounded; the vector of a ball's three together."""
    torque = channel_mean(m, m.slot_channel[r], t, span, w)
    bound = motor.max_torque(m, r, w)
    code = m.slot_code[r]
    if code < BALL_X or code > BALL_Z:
        return wp.clamp(torque, -bound, bound)
    first = r - (code - BALL_X)
    square = ZERO
    for k in range(3):
        part = channel_mean(m, m.slot_channel[first + k], t, span, w)
        square += part * part
    if square > bound * bound:
        torque = torque * (bound / wp.sqrt(square))
    return torque


@wp.func
def apply_motor_torques(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, h: f64, w: int):
    """The joint forces: the motors' torques at the start of the step."""
    apply_mean_torques(m, s, x, t, h, ZERO, w)


@wp.func
def apply_mean_torques(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, h: f64, span: f64, w: int
):
    """The joint forces: the motors' torques over t .. t + span; the slot keeps the impulse over h and its row J."""
    for k in range(x.tau.shape[0]):
        x.tau[k, w] = ZERO
    for r in range(x.row_count[0, w]):
        if kinds.is_force(x, r, w):
            apply_mean_torque(m, s, x, r, t, h, span, w)


@wp.func(inline=False)
def apply_mean_torque(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, span: f64, w: int
):
    """Add the mean torque of one motor to the joint forces."""
    torque = mean_torque(m, r, t, span, w)
    own_jacobian(m, x, r, ONE, w)
    add_force(m, x, r, torque, w)
    s.impulse[r, w] = h * torque
