"""Servos in a freedom: motors that are a force, and follow as well as it lets them.

    force of an instant   f = kp (target - q) + kv (target's rate - u), or of a speed kv (speed - u);  |f| ≤ max torque
    row of a step         of a spring and damper whose other end is moved (compliant.py), |impulse| ≤ h · max torque

All that it gives is work of the motor. Where it is at its bound its force does not answer to displacements:
x.row_late is 1 there, as the last evaluation found it, and methods that are implicit in it take no stiffness.
"""

import warp as wp

from ..coordinates.tree import row_velocity
from ..spatial import HALF, INFINITY, ONE, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.slots import SERVO, SPEED_SERVO
from .compliant import soften_midway
from .motor import geared, max_torque, servo_rate, target
from .rows import add_force, own_coordinate, own_jacobian, set_row


@wp.func
def is_servo(kind: int) -> bool:
    """Whether a slot is a motor that is a force of its coordinate and rate."""
    return kind == SERVO or kind == SPEED_SERVO


@wp.func
def of_speed(m: wp.ref[SystemArrays], r: int) -> bool:
    return m.slot_kind[r] == SPEED_SERVO


@wp.func
def is_weak(x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether it was at its bound where forces were evaluated last."""
    return x.row_late[r, w] == ONE


@wp.func
def proportional(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    """kp on the joint's side, whether or not it is at its bound [N/m, N m/rad]."""
    return geared(m, r, geared(m, r, m.slot_b[r, w], w), w)


@wp.func
def derivative(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    """kv likewise [N s/m, N m s/rad]."""
    return geared(m, r, geared(m, r, m.slot_c[r, w], w), w)


@wp.func
def stiffness(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """How its force answers to a displacement [N/m, N m/rad]."""
    if is_weak(x, r, w):
        return ZERO
    return proportional(m, r, w)


@wp.func
def damping(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """And to a velocity [N s/m, N m s/rad]."""
    if is_weak(x, r, w):
        return ZERO
    return derivative(m, r, w)


@wp.func
def off_target(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int) -> f64:
    """How far it is from its target; a speed has no place to be [m, rad]."""
    if of_speed(m, r):
        return ZERO
    return own_coordinate(m, s, x, r, w) - target(m, r, t, w)


@wp.func
def mean_rate(m: wp.ref[SystemArrays], r: int, t: f64, h: f64, w: int) -> f64:
    """How fast its target moves over a step [m/s, rad/s]."""
    if of_speed(m, r):
        return target(m, r, t + h, w)
    return (target(m, r, t + h, w) - target(m, r, t, w)) / h


@wp.func
def fill(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int) -> int:
    own_jacobian(m, x, r, ONE, w)
    k = proportional(m, r, w)
    stiff = derivative(m, r, w) + h * k
    if stiff <= ZERO:
        return 0
    bias = k * off_target(m, s, x, r, t, w) / stiff - mean_rate(m, r, t, h, w)
    most = wp.min(h * max_torque(m, r, w), INFINITY)
    set_row(x, r, bias, ONE / (h * stiff), -most, most, ZERO, w)
    x.row_late[r, w] = ZERO
    return 1


@wp.func
def midway(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int):
    if x.row_mass[r, w] == ZERO:
        return
    rate = mean_rate(m, r, t, h, w)
    d = off_target(m, s, x, r, t, w)
    if not of_speed(m, r):
        d -= HALF * h * rate
    soften_midway(m, x, r, d, rate, proportional(m, r, w), derivative(m, r, w), h, w)
    x.row_late[r, w] = ZERO


@wp.func
def act(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int):
    """Add the force of an instant to the joint forces; returns it and its power [W]."""
    own_jacobian(m, x, r, ONE, w)
    u = row_velocity(m, x, s.v, r, w)
    asked = -proportional(m, r, w) * off_target(m, s, x, r, t, w)
    asked += derivative(m, r, w) * (servo_rate(m, r, of_speed(m, r), t, w) - u)
    bound = max_torque(m, r, w)
    force = wp.clamp(asked, -bound, bound)
    x.row_late[r, w] = ZERO
    if force != asked:
        x.row_late[r, w] = ONE
    add_force(m, x, r, force, w)
    return force, force * u
