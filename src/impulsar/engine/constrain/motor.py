"""Motors in a freedom: a speed or a position that follows a channel, within ± max torque; or a torque.

    row of a step   bias -speed, or -(target - q) / h         |impulse| ≤ h · max torque
    of an instant   u̇ = rate of the channel, or its acceleration

Behind a gear, slot_d where that is not 0, the motor moves by gear times the joint, which has gear times its torque.
A motor with a given torque is a force and never a row (forces/motor_torques.py); its slot keeps its books.
"""

import warp as wp

from ..coordinates.tree import row_velocity
from ..spatial import HALF, ONE, UNLIMITED, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.channels import channel, channel_acceleration, channel_mean, channel_rate, just_before
from ..system.slots import MOTOR_POSITION, MOTOR_SPEED, MOTOR_TORQUE
from .accelerations import joint_acceleration
from .frames import Pair, pair_velocity
from .rows import own_coordinate, own_jacobian, own_pair, set_bounded

OFF_TARGET = wp.constant(wp.float64(1e-6))  # a motor further off is not on its target [m, rad and per second; of 1]
GENTLE = wp.constant(wp.float64(0.4))  # rate of a position motor's way back to its target, per impulse step


@wp.func
def is_drive(kind: int) -> bool:
    """Whether a slot is a motor that is a row."""
    return kind == MOTOR_SPEED or kind == MOTOR_POSITION


@wp.func
def is_torque(kind: int) -> bool:
    """Whether a slot is a motor that is a force."""
    return kind == MOTOR_TORQUE


@wp.func
def is_motor(x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a slot is a motor of any sort."""
    return is_drive(x.row_kind[r, w]) or is_torque(x.row_kind[r, w])


@wp.func
def is_servo(x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a slot is a motor of prescribed position."""
    return x.row_kind[r, w] == MOTOR_POSITION


@wp.func
def geared(m: wp.ref[SystemArrays], r: int, value: f64, w: int) -> f64:
    """A torque of the motor on the joint's side of its gear; 0 stands for none."""
    if m.slot_d[r, w] == ZERO:
        return value
    return m.slot_d[r, w] * value


@wp.func
def ungeared(m: wp.ref[SystemArrays], r: int, value: f64, w: int) -> f64:
    """A motion of the motor on the joint's side of its gear."""
    if m.slot_d[r, w] == ZERO:
        return value
    return value / m.slot_d[r, w]


@wp.func
def max_torque(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    """On the joint's side [N, N m]."""
    if m.slot_a[r, w] >= UNLIMITED:
        return m.slot_a[r, w]
    return wp.abs(geared(m, r, m.slot_a[r, w], w))


@wp.func
def is_bounded(m: wp.ref[SystemArrays], r: int, w: int) -> bool:
    return max_torque(m, r, w) < UNLIMITED


@wp.func
def target(m: wp.ref[SystemArrays], r: int, t: f64, w: int) -> f64:
    """What a motor's channel says at time t, of a position or speed on the joint's side."""
    return ungeared(m, r, channel(m, m.slot_channel[r], t, w), w)


@wp.func
def servo_rate(m: wp.ref[SystemArrays], r: int, of_speed: bool, t: f64, w: int) -> f64:
    """How fast the target of a servo moves at time t."""
    if of_speed:
        return target(m, r, t, w)
    return ungeared(m, r, channel_rate(m, m.slot_channel[r], t, w), w)


@wp.func
def target_rate(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int) -> f64:
    """What the row's velocity should be at time t."""
    if is_servo(x, r, w):
        return ungeared(m, r, channel_rate(m, m.slot_channel[r], t, w), w)
    return target(m, r, t, w)


@wp.func
def target_acceleration(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int) -> f64:
    """What the row's acceleration should be at time t."""
    if is_servo(x, r, w):
        return ungeared(m, r, channel_acceleration(m, m.slot_channel[r], t, w), w)
    return ungeared(m, r, channel_rate(m, m.slot_channel[r], t, w), w)


@wp.func
def fill(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int) -> int:
    own_jacobian(m, x, r, ONE, w)
    speed = target(m, r, t + h, w)
    if is_servo(x, r, w):
        speed = (speed - own_coordinate(m, s, x, r, w)) / h
    set_bounded(x, r, -speed, h * max_torque(m, r, w), w)
    return 1


@wp.func
def error(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int) -> f64:
    """How far a position is off its target; a speed has no place to be."""
    if is_servo(x, r, w):
        return own_coordinate(m, s, x, r, w) - target(m, r, t, w)
    return ZERO


@wp.func
def due(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int) -> f64:
    """Where its coordinate, which is that of time t now, should be at t + h; h may be negative [m, rad]."""
    if is_servo(x, r, w):
        return target(m, r, t + h, w)
    travel = h * ungeared(m, r, channel_mean(m, m.slot_channel[r], wp.min(t, t + h), wp.abs(h), w), w)
    return own_coordinate(m, s, x, r, w) + travel


@wp.func
def acceleration(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, along: Pair, t: f64, w: int) -> f64:
    """Less what it should be at time t."""
    a = joint_acceleration(m, x, x.row_part[r, w], m.slot_code[r], along, w)
    return a - target_acceleration(m, x, r, t, w)


@wp.func(inline=False)
def miss(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int):
    """How far a motor is from its target at time t, and how much faster than it, at the present twists."""
    u = pair_velocity(x, own_pair(m, x, r, w), w)
    return error(m, s, x, r, t, w), u - target_rate(m, x, r, t, w)


@wp.func(inline=False)
def is_off_target(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int
) -> bool:
    """Whether a motor is not where it should be."""
    off, _ = miss(m, s, x, r, t, w)
    return wp.abs(off) > OFF_TARGET * (ONE + wp.abs(target(m, r, t, w)))


@wp.func
def jump(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int) -> f64:
    """How much faster a motor without bound has to be from time t on; one with a bound gives no impulse."""
    if not is_motor(x, r, w) or is_bounded(m, r, w) or is_off_target(m, s, x, r, t, w):
        return ZERO
    _, faster = miss(m, s, x, r, t, w)
    return -faster


@wp.func
def midway(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, beat: f64, w: int
):
    """u = speed at the end; or by the trapezoidal rule from  ë = -2 α ė - α² e."""
    end = just_before(t + h)
    if not is_servo(x, r, w):
        x.row_bias[r, w] = -target(m, r, end, w)
        return
    rate = target_rate(m, x, r, t, w)
    faster = row_velocity(m, x, x.v_old, r, w) - rate
    off = own_coordinate(m, s, x, r, w) - target(m, r, t, w) - HALF * h * rate
    part = HALF * GENTLE * h / wp.max(h, beat)  # α h / 2
    slow = (ONE - part) * (ONE - part) * faster - f64(4.0) * part * part / h * off
    x.row_bias[r, w] = -(target_rate(m, x, r, end, w) + slow / ((ONE + part) * (ONE + part)))
