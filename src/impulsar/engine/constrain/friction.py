"""Coulomb friction in a freedom; the rows of a ball are bounded together.

    row of a step   no bias, |impulse| ≤ h · bound
    of an instant   sticks: a row that holds, up to the static bound; slides: a force of the bound against the slip

StateArrays.mode has the unit vector along which it slides, 0 where it sticks.
"""

import warp as wp

from ..coordinates.tree import row_velocity
from ..spatial import HALF, ONE, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.slots import FRICTION
from .frames import pair_velocity
from .rows import add_force, own_jacobian, own_pair, set_bounded


@wp.func
def is_friction(kind: int) -> bool:
    return kind == FRICTION


@wp.func
def bound(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    """Largest force or torque [N, N m]."""
    return m.slot_a[r, w]


@wp.func
def static_bound(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    """The same while it sticks [N, N m]."""
    return wp.max(m.slot_b[r, w], m.slot_a[r, w])


@wp.func
def fill(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int) -> int:
    own_jacobian(m, x, r, ONE, w)
    set_bounded(x, r, ZERO, h * bound(m, r, w), w)
    return 1


@wp.func
def first_of(x: wp.ref[WorkArrays], r: int, w: int) -> int:
    """The first of the rows that are bounded together with r."""
    first = r
    while x.row_group[first, w] == 0:
        first -= 1
    return first


@wp.func
def slides(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], first: int, w: int) -> bool:
    """Whether the rows that begin at `first` slide."""
    for k in range(x.row_group[first, w]):
        if s.mode[first + k, w] != ZERO:
            return True
    return False


@wp.func(inline=False)
def slip(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Velocity of a row at the present twists [m/s, rad/s]."""
    return pair_velocity(x, own_pair(m, x, r, w), w)


@wp.func
def speed(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], first: int, w: int) -> f64:
    """Size of the slip of the rows that begin at `first` [m/s, rad/s]."""
    square = ZERO
    for k in range(x.row_group[first, w]):
        u = slip(m, x, first + k, w)
        square += u * u
    return wp.sqrt(square)


@wp.func
def advance(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], first: int, w: int) -> f64:
    """Slip along the direction in which it slid at the start of the sub-step [m/s, rad/s]."""
    along = ZERO
    for k in range(x.row_group[first, w]):
        along += slip(m, x, first + k, w) * s.mode[first + k, w]
    return along


@wp.func
def direction(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Component of the direction in which it slides: of a ball that of its slip, while it goes on at all."""
    first = first_of(x, r, w)
    if x.row_group[first, w] > 1:
        size = speed(m, x, first, w)
        if advance(m, s, x, first, w) > HALF * size:
            return slip(m, x, r, w) / size
    return s.mode[r, w]


@wp.func
def act(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int):
    """Add the force of an instant where it slides; returns it and its power [W]."""
    if s.mode[r, w] == ZERO and x.row_group[r, w] == 1:
        return ZERO, ZERO
    force = -bound(m, r, w) * direction(m, s, x, r, w)
    if force == ZERO:
        return ZERO, ZERO
    own_jacobian(m, x, r, ONE, w)
    add_force(m, x, r, force, w)
    return force, force * row_velocity(m, x, s.v, r, w)
