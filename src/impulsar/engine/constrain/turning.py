"""How a wrench pair changes as its bodies move.

Along twists V of the bodies, velocities or small displacements, the point of a pair goes with the second body, axes of
F turn with the first, a, and axes of M with the second, b. The line n between two points and the axes of a ball's twist
and swing (freedoms.py) turn with both:

    n       ṅ = (1 - n nᵀ) ḋ / |d|                      d from the one point to the other
    twist   turn = (z_F + z_M) / c                      c = 1 + z_F · z_M
    swing   turn = e / |e|                              e = z_F × z_M
"""

import warp as wp

from ...author.joints import CROSS, LENGTH, SWING, TWIST
from ..freedoms import turns_with_second
from ..spatial import ONE, angular, axis_of, f64, linear, vec3, vec6, zero3
from ..state import WorkArrays
from ..system import SystemArrays
from .frames import Pair, body_position, joint_frames

NO_LINE = wp.constant(wp.float64(1e-12))  # a line so short has no direction [m, 1]


@wp.func
def twist_of(twist: wp.array2d(dtype=vec6), body: int, w: int) -> vec6:
    """Of a body, of ground none."""
    if body < 0:
        return vec6()
    return twist[body, w]


@wp.func
def point_rate(x: wp.ref[WorkArrays], twist: wp.array2d(dtype=vec6), body: int, point: vec3, w: int) -> vec3:
    """Velocity of a body at a point of the world."""
    V = twist_of(twist, body, w)
    return linear(V) + wp.cross(angular(V), point - body_position(x, body, w))


@wp.func
def line_rate(d: vec3, d_rate: vec3) -> vec3:
    """Rate of d / |d|."""
    far = wp.max(wp.length(d), NO_LINE)
    n = d / far
    return (d_rate - wp.dot(n, d_rate) * n) / far


@wp.func
def ball_rate(code: int, turn: vec3, z_F: vec3, z_M: vec3, z_F_rate: vec3, z_M_rate: vec3) -> vec3:
    """Rate of the axis of a ball's twist or swing; an upper limit's `turn` is against it."""
    rate = zero3()
    along = z_F
    if code == TWIST:
        c = wp.max(ONE + wp.dot(z_F, z_M), f64(1e-9))
        rate = (z_F_rate + z_M_rate - (z_F + z_M) * ((wp.dot(z_F_rate, z_M) + wp.dot(z_F, z_M_rate)) / c)) / c
    else:
        along = wp.cross(z_F, z_M)
        rate = line_rate(along, wp.cross(z_F_rate, z_M) + wp.cross(z_F, z_M_rate))
    return wp.sign(wp.dot(along, turn)) * rate


@wp.func
def axis_rates(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    j: int,
    code: int,
    pair: Pair,
    twist: wp.array2d(dtype=vec6),
    w: int,
):
    """Rates of turn and slide of the pair of a lock or freedom of joint j."""
    w_a = angular(twist_of(twist, pair.first, w))
    w_b = angular(twist_of(twist, pair.second, w))
    turn_rate = wp.cross(w_a, pair.turn)
    slide_rate = wp.cross(w_a, pair.slide)
    if turns_with_second(code):
        turn_rate = wp.cross(w_b, pair.turn)
    elif code == CROSS:  # x_M × z_F
        f = joint_frames(m, x, j, w)
        x_M = wp.quat_rotate(f.q_WM, axis_of(0))
        z_F = wp.quat_rotate(f.q_WF, axis_of(2))
        turn_rate = wp.cross(wp.cross(w_b, x_M), z_F) + wp.cross(x_M, wp.cross(w_a, z_F))
    elif code == LENGTH:
        f = joint_frames(m, x, j, w)
        ends = point_rate(x, twist, pair.second, f.p_WM, w) - point_rate(x, twist, pair.first, f.p_WF, w)
        slide_rate = line_rate(f.p_WM - f.p_WF, ends)
    elif code == TWIST or code == SWING:
        f = joint_frames(m, x, j, w)
        z_F = wp.quat_rotate(f.q_WF, axis_of(2))
        z_M = wp.quat_rotate(f.q_WM, axis_of(2))
        turn_rate = ball_rate(code, pair.turn, z_F, z_M, wp.cross(w_a, z_F), wp.cross(w_b, z_M))
    return turn_rate, slide_rate


@wp.func
def carried_pair(x: wp.ref[WorkArrays], pair: Pair, twist: wp.array2d(dtype=vec6), w: int) -> Pair:
    """Rate of a pair whose axes stay as they are in the world."""
    rate = Pair()
    rate.first = pair.first
    rate.second = pair.second
    rate.turn = zero3()
    rate.slide = zero3()
    rate.point = point_rate(x, twist, pair.second, pair.point, w)
    return rate


@wp.func(inline=False)
def joint_pair_rate(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    j: int,
    code: int,
    pair: Pair,
    twist: wp.array2d(dtype=vec6),
    w: int,
) -> Pair:
    """Rate of the pair of a lock or freedom of joint j."""
    rate = carried_pair(x, pair, twist, w)
    turn_rate, slide_rate = axis_rates(m, x, j, code, pair, twist, w)
    rate.turn = turn_rate
    rate.slide = slide_rate
    return rate
