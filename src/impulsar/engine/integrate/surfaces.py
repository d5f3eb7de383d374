"""Where the surface of a fluid passes a shape: smooth sub-steps end there.

Volume, added mass and drag are smooth functions of the pose while the surface passes none of these points of a piece:

    ball        its lowest and highest point           cylinder    those of its two rims
    capsule     its own, and those of its two seams    solid       its corners; of many faces the lowest and highest

so a sub-step keeps its order and a true error estimate if it passes none of them. How far it is from that is the
height of the nearest point, negative once fewer or more of them are under than at its start. In waves a piece is
watched at both surfaces: added mass is that below the surface at rest.
"""

import warp as wp

from ..coordinates.added_mass import piece_axes, three, up_of
from ..forces.waves import has_waves, surface_near
from ..options import Option
from ..spatial import INFINITY, ONE, ZERO, f64, rotation_matrix, vec3
from ..state import WorkArrays
from ..system import SystemArrays
from ..system.fluids import BALL, CAPSULE, TUBE, Wet, WetInt

MANY = 32  # faces of a solid: a corner among so many bends forces too little to stop for
BY_A_RIM = wp.constant(wp.float64(0.25))  # of a cylinder's reach, distance of a rim's lowest or highest point


@wp.struct
class Level:
    """Of the points of a piece."""

    below: wp.int32  # how many are under
    near: f64  # distance of the nearest from the surface [m]


@wp.func
def with_point(level: Level, height: f64) -> Level:
    """With one more, so high above the surface."""
    out = level
    if height <= ZERO:
        out.below += 1
    out.near = wp.min(out.near, wp.abs(height))
    return out


@wp.func
def solid_level(m: wp.ref[SystemArrays], piece: int, n: vec3, d: f64) -> Level:
    """Of a solid and the plane n · x = d in its frame."""
    out = Level()
    out.near = INFINITY
    lowest = INFINITY
    highest = -INFINITY
    first = 3 * m.wet_int[piece, WetInt.first]
    last = 3 * m.wet_int[piece, WetInt.last]
    for k in range(first, last):
        height = wp.dot(n, m.wet_corner[k]) - d
        lowest = wp.min(lowest, height)
        highest = wp.max(highest, height)
        if last - first <= 3 * MANY:
            out = with_point(out, height)
    if last - first > 3 * MANY:
        out = with_point(with_point(out, lowest), highest)
    return out


@wp.func
def round_level(m: wp.ref[SystemArrays], piece: int, n: vec3, d: f64) -> Level:
    """Of a ball, cylinder or capsule along z."""
    out = Level()
    out.near = INFINITY
    kind = m.wet_int[piece, WetInt.kind]
    R = m.wet[piece, Wet.radius]
    H = m.wet[piece, Wet.half] * wp.abs(n[2])
    if kind != TUBE:
        out = with_point(with_point(out, H + R - d), -H - R - d)
    if kind != BALL:
        rim = R * wp.sqrt(n[0] * n[0] + n[1] * n[1])
        out = with_point(with_point(out, H + rim - d), H - rim - d)
        out = with_point(with_point(out, -H + rim - d), -H - rim - d)
    return out


@wp.func(inline=False)
def level_at(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], k: int, t: f64, w: int) -> Level:
    """Of piece k, and of piece k - pieces at the waves; at the present poses."""
    pieces = m.wet_int.shape[0]
    piece = k
    n = up_of(m, w)
    if k >= pieces:
        piece = k - pieces
    f = m.wet_int[piece, WetInt.fluid]
    i = m.wet_int[piece, WetInt.body]
    R_WB = rotation_matrix(x.q_WB[i, w])
    p = x.p_WB[i, w] + R_WB * three(m, piece, Wet.offset)
    height = m.fluid_surface[f, w]
    if k >= pieces and has_waves(m, f, w):
        waves = surface_near(m, f, p, t, w)
        n = waves.n
        height = waves.height
    n_P = wp.transpose(piece_axes(m, piece, R_WB)) * n
    kind = m.wet_int[piece, WetInt.kind]
    if kind == BALL or kind == TUBE or kind == CAPSULE:
        return round_level(m, piece, n_P, height - wp.dot(n, p))
    return solid_level(m, piece, n_P, height - wp.dot(n, p))


@wp.func
def has_surfaces(m: wp.ref[SystemArrays]) -> bool:
    """Whether sub-steps end where a surface is passed: not those of methods whose steps are all alike."""
    return m.wet_start.shape[0] > 0 and m.options[Option.steady] == ZERO


@wp.func(inline=False)
def is_rough(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int) -> bool:
    """Whether a surface is where error estimates are too small.

    Among the corners of a solid with many, which it passes one by one, and by a rim: behind its lowest point the area
    of the cut grows as the power 3/2.
    """
    for piece in range(x.wet_volume.shape[0]):
        if x.wet_volume[piece, w] > ZERO and x.wet_volume[piece, w] < m.wet[piece, Wet.volume]:
            if m.wet_int[piece, WetInt.last] - m.wet_int[piece, WetInt.first] > MANY:
                return True
            if m.wet_int[piece, WetInt.kind] == TUBE:
                if level_at(m, x, piece, ZERO, w).near < BY_A_RIM * m.wet[piece, Wet.reach]:
                    return True
    return False


@wp.func(inline=False)
def start_levels(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], first: int, t: f64, w: int):
    """What is under at the start of a sub-step; the first of them has a place behind the rows."""
    pieces = m.wet_int.shape[0]
    for k in range(x.wet_under.shape[0]):
        x.crossing[first + k, w] = int(0)
        x.wet_under[k, w] = int(-1)
        if k < pieces or has_waves(m, m.wet_int[k - pieces, WetInt.fluid], w):
            x.wet_under[k, w] = level_at(m, x, k, t, w).below


@wp.func(inline=False)
def surface_distance(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], k: int, t: f64, w: int) -> f64:
    """How far a piece is from passing a surface [m]; see the head of this file."""
    if x.wet_under[k, w] < 0:
        return INFINITY
    level = level_at(m, x, k, t, w)
    return wp.where(level.below == x.wet_under[k, w], ONE, -ONE) * level.near
