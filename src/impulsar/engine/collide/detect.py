"""Contacts of a world: shapes placed, pairs that may touch, their contacts, matched to those before."""

import warp as wp

from ..spatial import ONE, ZERO, f64, quat, rotation_matrix, vec3, zero3
from .arrays import CollideScratch, ShapeArrays
from .broad import find_pairs, is_surface
from .cores import core_of
from .matching import in_shape, keep_contacts, match_contacts
from .pairs import Separation, collide_convex, separate
from .terrain import collide_terrain, terrain_distance


@wp.func
def place_shape(
    m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], shape: int, p_WB: vec3, q_WB: quat, margin: f64, w: int
):
    """A shape's pose and bounds from its body's pose."""
    q_WS = q_WB * m.q_BS[shape]
    p_WS = p_WB + wp.quat_rotate(q_WB, m.p_BS[shape])
    R = rotation_matrix(q_WS)
    x.p_WS[shape, w] = p_WS
    x.R_WS[shape, w] = R
    half = m.half[shape]
    beyond = m.radius[shape] + margin / f64(2.0) + x.travel[shape, w]
    middle = p_WS + R * m.middle[shape]
    reach = zero3()
    for k in range(3):
        reach[k] = wp.abs(R[k, 0]) * half[0] + wp.abs(R[k, 1]) * half[1] + wp.abs(R[k, 2]) * half[2] + beyond
    x.low[shape, w] = middle - reach
    x.high[shape, w] = middle + reach


@wp.func
def place_shapes(
    m: wp.ref[ShapeArrays],
    x: wp.ref[CollideScratch],
    p_WB: wp.array2d(dtype=vec3),
    q_WB: wp.array2d(dtype=quat),
    margin: f64,
    w: int,
):
    """Poses and bounds of all shapes from the poses of the bodies [body, world]."""
    for shape in range(m.kind.shape[0]):
        body = m.body[shape]
        if body >= 0:
            place_shape(m, x, shape, p_WB[body, w], q_WB[body, w], margin, w)
        else:
            place_shape(m, x, shape, zero3(), quat(ZERO, ZERO, ZERO, ONE), margin, w)
    x.beyond[0, w] = margin / f64(2.0)


@wp.func
def pair_size(m: wp.ref[ShapeArrays], a: int, b: int) -> f64:
    """The length that tolerances of a pair are of [m]: the reach of the smaller shape."""
    return wp.min(m.reach[a], m.reach[b])


@wp.func
def is_after(m: wp.ref[ShapeArrays], a: int, b: int) -> bool:
    """Whether the pair's functions want b first: the lower kind, of equals the lower number."""
    return m.kind[a] > m.kind[b] or (m.kind[a] == m.kind[b] and a > b)


@wp.func(inline=False)
def collide_pair(
    m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], first: int, second: int, margin: f64, w: int
) -> int:
    """Contacts with gaps below the margin [m] into `out_*`, normals from first to second; their number."""
    a = first
    b = second
    swapped = is_after(m, first, second)
    if swapped:
        a = second
        b = first
    origin = x.p_WS[b, w]
    found = int(0)
    if is_surface(m.kind[b]):
        origin = x.p_WS[a, w]
        found = collide_terrain(m, x, a, b, origin, margin, w)
    else:
        A = core_of(m, x, a, origin, w)
        B = core_of(m, x, b, origin, w)
        found = collide_convex(m, x, A, B, margin, pair_size(m, a, b), w)
    for k in range(found):
        x.out_point[k, w] = x.out_point[k, w] + origin
        if swapped:
            x.out_normal[k, w] = -x.out_normal[k, w]
            x.out_side[k, w] = 1 - x.out_side[k, w]
    return found


@wp.func(inline=False)
def pair_distance(m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], first: int, second: int, w: int) -> Separation:
    """Gap, normal and nearest points of two shapes."""
    a = first
    b = second
    swapped = is_after(m, first, second)
    if swapped:
        a = second
        b = first
    origin = x.p_WS[b, w]
    s = Separation()
    if is_surface(m.kind[b]):
        origin = x.p_WS[a, w]
        s = terrain_distance(m, x, a, b, origin, w)
    else:
        A = core_of(m, x, a, origin, w)
        B = core_of(m, x, b, origin, w)
        s = separate(m, x, A, B, pair_size(m, a, b), w)
    if swapped:
        p = s.on_first
        s.on_first = s.on_second
        s.on_second = p
        s.normal = -s.normal
    s.on_first += origin
    s.on_second += origin
    return s


@wp.func
def put_contact(x: wp.ref[CollideScratch], at: int, a: int, b: int, k: int, w: int):
    """Contact k of a pair into place `at`."""
    p = x.out_point[k, w]
    x.first[at, w] = a
    x.second[at, w] = b
    x.feature[at, w] = k
    x.point[at, w] = p
    x.side[at, w] = x.out_side[k, w]
    x.normal[at, w] = x.out_normal[k, w]
    x.gap[at, w] = x.out_gap[k, w]
    x.in_first[at, w] = in_shape(x, a, p, w)
    x.in_second[at, w] = in_shape(x, b, p, w)


@wp.func
def move_contact(x: wp.ref[CollideScratch], source: int, to: int, w: int):
    x.first[to, w] = x.first[source, w]
    x.second[to, w] = x.second[source, w]
    x.feature[to, w] = x.feature[source, w]
    x.point[to, w] = x.point[source, w]
    x.side[to, w] = x.side[source, w]
    x.normal[to, w] = x.normal[source, w]
    x.gap[to, w] = x.gap[source, w]
    x.in_first[to, w] = x.in_first[source, w]
    x.in_second[to, w] = x.in_second[source, w]


@wp.func(inline=False)
def make_room(x: wp.ref[CollideScratch], gap: f64, w: int) -> int:
    """Where a contact goes that finds no room: the end, after the shallowest has gone; -1 where it is that itself."""
    x.missed[0, w] = x.missed[0, w] + 1
    last = x.gap.shape[0] - 1
    if last < 0:
        return -1
    worst = int(0)
    for i in range(1, last + 1):
        if x.gap[i, w] > x.gap[worst, w]:
            worst = i
    if x.gap[worst, w] <= gap:
        return -1
    for i in range(worst, last):
        move_contact(x, i + 1, i, w)
    return last


@wp.func(inline=False)
def find_contacts(m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], margin: f64, w: int):
    """All contacts of shapes that are placed, with gaps below the margin and what both travel [m], matched to those
    before.

    They are in the order of pairs, and in a pair of features. Where there is no room the deepest stay, and `missed`
    counts the others.
    """
    keep_contacts(x, w)
    find_pairs(m, x, w)
    x.missed[0, w] = 0
    count = int(0)
    for i in range(x.pair_count[0, w]):
        a = x.pair_first[i, w]
        b = x.pair_second[i, w]
        found = collide_pair(m, x, a, b, margin + x.travel[a, w] + x.travel[b, w], w)
        for k in range(found):
            at = count
            if count < x.gap.shape[0]:
                count += 1
            else:
                at = make_room(x, x.out_gap[k, w], w)
            if at >= 0:
                put_contact(x, at, a, b, k, w)
    x.count[0, w] = count
    match_contacts(m, x, w)
