"""Rows of a contact: along its normal, against slip, and against spinning and rolling where its surfaces have that.

    normal      gap + h u ≥ 0, impulse p ≥ 0                    on the second body, along the normal from the first
    slip        two rows, |impulse| ≤ µ p                       Coulomb's cone
    spin        |impulse| ≤ spinning · p                        about the normal, lever arms [m]
    roll        two rows, |impulse| ≤ rolling · p               about the tangents

They come and go: each is appended with its wrench pair (topology.py), and all of one contact act at one point.
"""

import warp as wp

from ..collide.arrays import CollideScratch, ShapeArrays
from ..coordinates.tree import row_velocity
from ..spatial import INFINITY, ONE, ZERO, f64, vec3, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.contacts import MOST_ROWS
from .frames import Pair
from .rows import add_pair, clear_row, respond, set_row
from .topology import append_row, bind_cone

NORMAL, SLIP, SPIN, ROLL = -1, -2, -3, -4  # kinds of rows; those of slots are ≥ 0
OPEN, SLIDES, STICKS = 0, 1, 2  # modes
DEAD = wp.constant(wp.float64(1e-9))  # a gap so small is none: corners of one face never agree to rounding [m]


@wp.struct
class Surface:
    """What two shapes are like against each other."""

    friction: f64
    holding: f64  # static friction
    restitution: f64
    rolling: f64  # [m]
    spinning: f64  # [m]


@wp.func
def mean_or_own(own: f64, a: f64, b: f64) -> f64:
    """A pair's own value, or the geometric mean of both where it has none."""
    if own >= ZERO:
        return own
    return wp.sqrt(a * b)


@wp.func(inline=False)
def surface_between(m: wp.ref[SystemArrays], a: int, b: int, pair: int, w: int) -> Surface:
    """Of materials a and b, whose pair in the model, if they have one, is `pair`, else -1 (author/materials.py)."""
    found = Surface()
    friction = -ONE
    static = -ONE
    restitution = -ONE
    rolling = -ONE
    spinning = -ONE
    if pair >= 0:
        friction = m.pair_friction[pair, w]
        static = m.pair_static[pair, w]
        restitution = m.pair_restitution[pair, w]
        rolling = m.pair_rolling[pair, w]
        spinning = m.pair_spinning[pair, w]
    found.friction = mean_or_own(friction, m.material_friction[a, w], m.material_friction[b, w])
    if friction >= ZERO and static < ZERO:
        static = friction
    first = m.material_static[a, w]
    if first < ZERO:
        first = m.material_friction[a, w]
    second = m.material_static[b, w]
    if second < ZERO:
        second = m.material_friction[b, w]
    found.holding = wp.max(mean_or_own(static, first, second), found.friction)
    found.rolling = mean_or_own(rolling, m.material_rolling[a, w], m.material_rolling[b, w])
    found.spinning = mean_or_own(spinning, m.material_spinning[a, w], m.material_spinning[b, w])
    found.restitution = restitution
    if restitution < ZERO:
        found.restitution = wp.min(m.material_restitution[a, w], m.material_restitution[b, w])
    return found


@wp.func
def tangent(n: vec3) -> vec3:
    """A unit vector across n, always the same."""
    e = vec3(ONE, ZERO, ZERO)
    if wp.abs(n[0]) > wp.abs(n[1]):
        e = vec3(ZERO, ONE, ZERO)
    return wp.normalize(e - wp.dot(e, n) * n)


@wp.func
def is_normal(x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    return x.row_kind[r, w] == NORMAL


@wp.func
def slip_speed(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], normal: int, w: int) -> f64:
    """How fast a contact slips, by the rows that follow its normal's; without friction infinitely fast [m/s]."""
    first = wp.min(normal + 1, x.row_kind.shape[0] - 2)
    if x.row_kind[first, w] != SLIP or x.row_bound_of[first, w] != normal:
        return INFINITY
    u = row_velocity(m, x, s.v, first, w)
    v = row_velocity(m, x, s.v, first + 1, w)
    return wp.sqrt(u * u + v * v)


@wp.func
def pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> Pair:
    k = r - m.slot_kind.shape[0]
    own = Pair()
    own.first = x.pair_first[k, w]
    own.second = x.pair_second[k, w]
    own.turn = x.pair_turn[k, w]
    own.slide = x.pair_slide[k, w]
    own.point = x.pair_point[k, w]
    return own


@wp.func
def has_room(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int) -> bool:
    return x.row_count[0, w] + MOST_ROWS <= x.row_kind.shape[0]


@wp.func(inline=False)
def append_pair(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], kind: int, contact: int, own: Pair, weight: f64, w: int
) -> int:
    """A row that acts by a pair, with its Jacobian."""
    r = append_row(m, x, kind, contact, own.first, own.second, weight, w)
    k = r - m.slot_kind.shape[0]
    x.pair_first[k, w] = own.first
    x.pair_second[k, w] = own.second
    x.pair_turn[k, w] = own.turn
    x.pair_slide[k, w] = own.slide
    x.pair_point[k, w] = own.point
    clear_row(x, r, w)
    add_pair(m, x, r, own, ONE, w)
    x.row_pseudo[r, w] = ZERO
    x.solved[r, w] = int(0)
    return r


@wp.func
def answer(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int):
    """Response and effective mass of a row; none where nothing that the joints allow moves it."""
    if not respond(m, x, r, ZERO, w):
        for entry in range(x.row_start[r, w], x.row_start[r + 1, w]):
            x.Y[entry, w] = ZERO


@wp.func
def along(first: int, second: int, point: vec3, slide: vec3, turn: vec3) -> Pair:
    own = Pair()
    own.first = first
    own.second = second
    own.point = point
    own.slide = slide
    own.turn = turn
    return own


@wp.func(inline=False)
def append_across(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    normal: int,
    turns: bool,
    high: f64,
    bias: vec3,
    impulse: vec3,
    w: int,
) -> int:
    """Two rows across a normal's row, bounded together by it: of slip, or of rolling; returns the first."""
    k = normal - m.slot_kind.shape[0]
    n = x.pair_slide[k, w]
    t = tangent(n)
    first = int(-1)
    for i in range(2):
        own = along(x.pair_first[k, w], x.pair_second[k, w], x.pair_point[k, w], t, zero3())
        kind = int(SLIP)
        weight = x.row_weight[normal, w]
        if turns:
            own = along(x.pair_first[k, w], x.pair_second[k, w], x.pair_point[k, w], zero3(), t)
            kind = int(ROLL)
            weight = ONE
        r = append_pair(m, x, kind, x.row_part[normal, w], own, weight, w)
        set_row(x, r, wp.dot(bias, t), ZERO, -high, high, ZERO, w)
        answer(m, x, r, w)
        s.impulse[r, w] = wp.dot(impulse, t)
        if i == 0:
            first = r
        t = wp.cross(n, t)
    bind_cone(x, first, 2, normal, w)
    return first


@wp.func(inline=False)
def append_normal(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    shapes: wp.ref[ShapeArrays],
    found: wp.ref[CollideScratch],
    i: int,
    bias: f64,
    low: f64,
    w: int,
) -> int:
    """The row along the normal of contact i."""
    first = shapes.body[found.first[i, w]]
    second = shapes.body[found.second[i, w]]
    n = found.normal[i, w]
    own = along(first, second, found.point[i, w], n, zero3())
    r = append_pair(m, x, NORMAL, i, own, ONE / (m.size[0] * m.size[0]), w)
    set_row(x, r, bias, ZERO, low, INFINITY, ZERO, w)
    answer(m, x, r, w)
    return r


@wp.func(inline=False)
def append_contact(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    shapes: wp.ref[ShapeArrays],
    found: wp.ref[CollideScratch],
    i: int,
    own: Surface,
    h: f64,
    scale: f64,
    w: int,
):
    """The rows of contact i for a step h; scale: of its last impulses, to begin with."""
    gap = found.gap[i, w]
    if wp.abs(gap) <= DEAD:
        gap = ZERO
    n = found.normal[i, w]
    impulse = scale * found.impulse[i, w]
    r = append_normal(m, s, x, shapes, found, i, wp.max(gap, ZERO) / h, ZERO, w)
    s.impulse[r, w] = wp.max(wp.dot(impulse, n), ZERO)
    friction = own.friction
    if found.mode[i, w] == STICKS:
        friction = own.holding
    if friction > ZERO:
        append_across(m, s, x, r, False, friction, zero3(), impulse, w)
    if own.spinning > ZERO:
        k = r - m.slot_kind.shape[0]
        about = along(x.pair_first[k, w], x.pair_second[k, w], x.pair_point[k, w], zero3(), n)
        spin = append_pair(m, x, SPIN, i, about, ONE, w)
        set_row(x, spin, ZERO, ZERO, -own.spinning, own.spinning, ZERO, w)
        answer(m, x, spin, w)
        s.impulse[spin, w] = ZERO
        x.row_bound_of[spin, w] = r
    if own.rolling > ZERO:
        append_across(m, s, x, r, True, own.rolling, zero3(), zero3(), w)
