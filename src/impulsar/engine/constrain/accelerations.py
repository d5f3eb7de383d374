"""Rows in joints at the level of accelerations: J v̇ + J̇ v.

With the bodies' accelerations A of some joint accelerations v̇ the row's acceleration is, for the wrench
pair (turn, slide) at M's origin o of body b, relative to body a,

    turn · (α_b - α_a) + slide · (a_b(o) - a_a(o)) + d(turn)/dt · (w_b - w_a) + d(slide)/dt · v_rel
    a_b(o) = a_b + α_b × r_b + w_b × (w_b × r_b)               r_b = o - p_b
    a_a(o) = a_a + α_a × r_a + w_a × (v_b(o) - v_a)            the point of a that o passes

How the axes turn has its own file, turning.py.
"""

import warp as wp

from ..spatial import angular, f64, linear, spatial, vec3, vec6, zero3
from ..state import WorkArrays
from ..system import SystemArrays
from .frames import Pair, body_position
from .turning import axis_rates, twist_of


@wp.func
def body_twist(x: wp.ref[WorkArrays], body: int, w: int) -> vec6:
    """The present one, of ground none."""
    return twist_of(x.twist, body, w)


@wp.func
def body_acceleration(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], body: int, w: int) -> vec6:
    """Acceleration with gravity taken off, as the tree's outward pass leaves it."""
    if body < 0:
        return spatial(zero3(), -m.gravity[0, w])
    return x.acceleration[body, w]


@wp.func
def pair_acceleration(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], pair: Pair, turn_rate: vec3, slide_rate: vec3, w: int
) -> f64:
    """Acceleration of a pair whose axes change at the given rates, at the bodies' present accelerations."""
    V_a = body_twist(x, pair.first, w)
    V_b = body_twist(x, pair.second, w)
    A_a = body_acceleration(m, x, pair.first, w)
    A_b = body_acceleration(m, x, pair.second, w)
    w_a = angular(V_a)
    w_b = angular(V_b)
    r_a = pair.point - body_position(x, pair.first, w)
    r_b = pair.point - body_position(x, pair.second, w)
    v_b = linear(V_b) + wp.cross(w_b, r_b)
    v_rel = v_b - linear(V_a) - wp.cross(w_a, r_a)
    a_b = linear(A_b) + wp.cross(angular(A_b), r_b) + wp.cross(w_b, wp.cross(w_b, r_b))
    a_a = linear(A_a) + wp.cross(angular(A_a), r_a) + wp.cross(w_a, v_b - linear(V_a))
    return (
        wp.dot(pair.turn, angular(A_b) - angular(A_a))
        + wp.dot(pair.slide, a_b - a_a)
        + wp.dot(turn_rate, w_b - w_a)
        + wp.dot(slide_rate, v_rel)
    )


@wp.func(inline=False)
def joint_acceleration(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], j: int, code: int, pair: Pair, w: int) -> f64:
    """Acceleration of a lock or freedom of joint j."""
    return acceleration_along(m, x, j, code, pair, w)


@wp.func(inline=True)
def acceleration_along(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], j: int, code: int, pair: Pair, w: int) -> f64:
    """The same where it is called, for all rows of a joint."""
    turn_rate, slide_rate = axis_rates(m, x, j, code, pair, x.twist, w)
    return pair_acceleration(m, x, pair, turn_rate, slide_rate, w)
