"""Compliant rows: a spring and damper between two points, or in a freedom of a joint.

    force of an instant   f = -k d - c u            d the stretch, in a joint q - rest, with viscous friction in c
    row of a step         softness 1 / (h (c + h k)), bias k d / (c + h k)

The row is Mariti 2012 eq. 10 with the spring's force taken at the end of the step:
impulse = -h k (d + h u) - h c u, so that it is stable at any stiffness.
"""

import warp as wp

from ..coordinates.tree import row_velocity
from ..spatial import HALF, INFINITY, ONE, ZERO, f64, vec6, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.slots import COMPLIANCE, SPRING
from .frames import Pair, pair_velocity, point_of
from .rows import add_force, add_pair, clear_row, own_coordinate, own_jacobian, own_pair, push_pair, set_row
from .turning import carried_pair, line_rate, point_rate

NO_LENGTH = wp.constant(wp.float64(1e-12))  # a spring so short has no direction [m]


@wp.func
def is_compliant(kind: int) -> bool:
    return kind == COMPLIANCE or kind == SPRING


@wp.func
def is_row(x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a row is one of a spring or damper."""
    return is_compliant(x.row_kind[r, w])


@wp.func
def is_line(kind: int) -> bool:
    """Whether a slot is a spring between two points."""
    return kind == SPRING


@wp.func
def stiffness(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    """[N/m, N m/rad]"""
    return m.slot_a[r, w]


@wp.func
def damper(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    """[N s/m, N m s/rad]"""
    return m.slot_b[r, w]


@wp.func
def rest(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    """Length or coordinate at which there is no force [m, rad]."""
    return m.slot_c[r, w]


@wp.func
def viscous(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    """Coefficient of a joint's viscous friction, 0 of a spring [N s/m, N m s/rad]."""
    return m.slot_d[r, w]


@wp.func
def damping(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Of damper and viscous friction together [N s/m, N m s/rad]."""
    if x.row_kind[r, w] == SPRING:
        return damper(m, r, w)
    return damper(m, r, w) + viscous(m, r, w)


@wp.func
def spring_pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], k: int, w: int):
    """Pair along a spring, pulling its ends apart, and its length [m]."""
    a = point_of(x, m.spring_first[k], m.spring_p_first[k, w], w)
    b = point_of(x, m.spring_second[k], m.spring_p_second[k, w], w)
    far = wp.length(b - a)
    line = Pair()
    line.first = m.spring_first[k]
    line.second = m.spring_second[k]
    line.point = b
    line.turn = zero3()
    line.slide = (b - a) / wp.max(far, NO_LENGTH)
    return line, far


@wp.func
def stretch(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """[m, rad]"""
    if x.row_kind[r, w] == SPRING:
        _, far = spring_pair(m, x, x.row_part[r, w], w)
        return far - rest(m, r, w)
    return own_coordinate(m, s, x, r, w) - rest(m, r, w)


@wp.func
def soften(x: wp.ref[WorkArrays], r: int, d: f64, speed: f64, k: f64, c: f64, h: f64, w: int) -> int:
    """Compliant row: spring k, damper c, stretched now by d; its other end moves at `speed`."""
    stiff = c + h * k
    if stiff <= ZERO:
        return 0
    set_row(x, r, k * d / stiff - speed, ONE / (h * stiff), -INFINITY, INFINITY, ZERO, w)
    x.row_late[r, w] = ONE
    return 1


@wp.func
def fill(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int) -> int:
    if x.row_kind[r, w] == SPRING:
        line, far = spring_pair(m, x, x.row_part[r, w], w)
        clear_row(x, r, w)
        add_pair(m, x, r, line, ONE, w)
        is_row = soften(x, r, far - rest(m, r, w), ZERO, stiffness(m, r, w), damper(m, r, w), h, w)
        if far < NO_LENGTH:
            is_row = int(0)
        return is_row
    own_jacobian(m, x, r, ONE, w)
    return soften(x, r, stretch(m, s, x, r, w), ZERO, stiffness(m, r, w), damping(m, x, r, w), h, w)


@wp.func
def soften_midway(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, d: f64, speed: f64, k: f64, c: f64, h: f64, w: int
):
    """A compliant row of the middle: p = -h k (d + a u₋ + b u) - h c (a' u₋ + b' u), later where it is fast."""
    own = ONE / x.row_mass[r, w] - x.row_softness[r, w]
    fast = wp.max(h * wp.sqrt(k * own), h * c * own)
    late = wp.clamp(fast - ONE, ZERO, ONE)
    of_new = h * (HALF * c * (ONE + late) + f64(0.25) * h * k * (ONE + f64(3.0) * late))
    of_old = h * (ONE - late) * (HALF * c - f64(0.25) * h * k)
    u_old = row_velocity(m, x, x.v_old, r, w) - speed
    x.row_bias[r, w] = (h * k * d + of_old * u_old) / of_new - speed
    x.row_softness[r, w] = ONE / of_new
    x.row_mass[r, w] = ONE / (own + ONE / of_new)
    x.row_late[r, w] = late


@wp.func
def midway(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, h: f64, w: int):
    if x.row_mass[r, w] != ZERO:
        d = stretch(m, s, x, r, w)
        soften_midway(m, x, r, d, ZERO, stiffness(m, r, w), damping(m, x, r, w), h, w)


@wp.func
def pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> Pair:
    if x.row_kind[r, w] == SPRING:
        line, _ = spring_pair(m, x, x.row_part[r, w], w)
        return line
    return own_pair(m, x, r, w)


@wp.func
def spring_rate(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], k: int, line: Pair, twist: wp.array2d(dtype=vec6), w: int
) -> Pair:
    """How a spring's pair changes where its bodies move at the given twists."""
    start = point_of(x, line.first, m.spring_p_first[k, w], w)
    rate = carried_pair(x, line, twist, w)
    rate.slide = line_rate(line.point - start, rate.point - point_rate(x, twist, line.first, start, w))
    return rate


@wp.func
def damped_speed(x: wp.ref[WorkArrays], r: int, u: f64, u_old: f64, w: int) -> f64:
    """The velocity that a damper felt in a step."""
    return u - HALF * (ONE - x.row_late[r, w]) * (u - u_old)


@wp.func
def book(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, h: f64, w: int):
    """What damper and viscous friction take over a step h, before positions move."""
    u = row_velocity(m, x, s.v, r, w)
    u_old = row_velocity(m, x, x.v_old, r, w)
    mean = HALF * (u + u_old)
    damped = damped_speed(x, r, u, u_old, w)
    s.loss[r, w] = s.loss[r, w] + h * damper(m, r, w) * damped * mean
    if x.row_kind[r, w] == COMPLIANCE:
        s.viscous_loss[r, w] = s.viscous_loss[r, w] + h * viscous(m, r, w) * damped * mean


@wp.func
def act(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int):
    """Add the force of an instant to wrenches or joint forces; returns it, and what its dampers take [W]."""
    if x.row_kind[r, w] == SPRING:
        line, far = spring_pair(m, x, x.row_part[r, w], w)
        u = pair_velocity(x, line, w)
        force = -stiffness(m, r, w) * (far - rest(m, r, w)) - damper(m, r, w) * u
        push_pair(x, line, force, w)
        return force, damper(m, r, w) * u * u, ZERO
    own_jacobian(m, x, r, ONE, w)
    u = row_velocity(m, x, s.v, r, w)
    force = -stiffness(m, r, w) * stretch(m, s, x, r, w) - damping(m, x, r, w) * u
    add_force(m, x, r, force, w)
    return force, damper(m, r, w) * u * u, viscous(m, r, w) * u * u
