"""Contacts of a world: shapes placed, pairs that may touch, their contacts, matched to those before."""

import warp as wp

from ..spatial import f64, quat, rotation_matrix, vec3, zero3
from .arrays import CollideScratch, ShapeArrays
from .cores import core_of
from .pairs import Separation, collide_convex, separate


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
    beyond = m.radius[shape] + margin / f64(2.0)
    middle = p_WS + R * m.middle[shape]
    reach = zero3()
    for k in range(3):
        reach[k] = wp.abs(R[k, 0]) * half[0] + wp.abs(R[k, 1]) * half[1] + wp.abs(R[k, 2]) * half[2] + beyond
    x.low[shape, w] = middle - reach
    x.high[shape, w] = middle + reach


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
