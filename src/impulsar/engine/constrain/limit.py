"""Limits of a freedom. J points away from the limit, and the impulse is ≥ 0.

bias   gap / h, or -e u where it bounces; the overshoot is removed
"""

import warp as wp

from ..coordinates.tree import row_velocity
from ..spatial import INFINITY, ONE, TWO, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.slots import LIMIT_HIGH, LIMIT_LOW
from .frames import Pair, pair_velocity
from .rows import own_coordinate, own_jacobian, own_pair, set_row

CONTACT_GAP = wp.constant(wp.float64(1e-9))  # a limit so near is reached [m, rad]


@wp.func
def is_limit(kind: int) -> bool:
    return kind == LIMIT_LOW or kind == LIMIT_HIGH


@wp.func
def bound(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    """Where the limit is [m, rad]."""
    return m.slot_a[r, w]


@wp.func
def restitution(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    return m.slot_b[r, w]


@wp.func
def away(x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Which way along the freedom leads away from the limit."""
    if x.row_kind[r, w] == LIMIT_HIGH:
        return -ONE
    return ONE


@wp.func(inline=False)
def gap(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """How far the limit is [m, rad]; negative where it is passed."""
    return away(x, r, w) * (own_coordinate(m, s, x, r, w) - bound(m, r, w))


@wp.func
def fill(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int) -> int:
    """Not a row while the limit is far."""
    jacobian(m, x, r, w)
    far = gap(m, s, x, r, w)
    u = row_velocity(m, x, s.v, r, w)
    u_old = row_velocity(m, x, x.v_old, r, w)
    near = TWO * h * (wp.abs(u) + wp.abs(u_old)) + CONTACT_GAP
    if far > near and s.impulse[r, w] == ZERO:
        return 0
    bias = wp.max(far, ZERO) / h
    bounce = -restitution(m, r, w) * u_old
    if bounce > ZERO and far + h * u < CONTACT_GAP:
        bias = -bounce
    set_row(x, r, bias, ZERO, ZERO, INFINITY, wp.min(far, ZERO), w)
    return 1


@wp.func
def midway(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, h: f64, w: int):
    """gap + h u / 2 ≥ 0."""
    x.row_bias[r, w] = TWO / h * wp.max(gap(m, s, x, r, w), ZERO)


@wp.func
def jacobian(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int):
    own_jacobian(m, x, r, away(x, r, w), w)


@wp.func
def pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> Pair:
    freedom = own_pair(m, x, r, w)
    if x.row_kind[r, w] == LIMIT_HIGH:
        freedom.turn = -freedom.turn
        freedom.slide = -freedom.slide
    return freedom


@wp.func(inline=False)
def speed(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """How fast the freedom goes away from the limit, at the present twists."""
    return pair_velocity(x, pair(m, x, r, w), w)


@wp.func
def is_near(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, h: f64, w: int) -> bool:
    """Whether the limit is reached, or would be within twice the step at the present speed."""
    u = speed(m, x, r, w)
    return gap(m, s, x, r, w) <= TWO * h * wp.max(-u, ZERO) + CONTACT_GAP
