"""Resolved bodies on a lattice: which cells they cover, and what those give back to them.

A cell is of the first solid that its middle is in. A thread goes over one plane of one solid's box of cells; whole
numbers alone meet in atomics, of which the least stays. A cell that a body comes over gives it its momentum, one that
it leaves takes that of its surface along.
"""

import math
from dataclasses import dataclass

import numpy as np
import warp as wp

from ...author.errors import ModelError
from ...author.shapes import Box, Capsule, Cone, Cylinder, Shape, Sphere
from ..collide.nearest import point_box, point_cone, point_cylinder
from ..spatial import HALF, ONE, TWO, ZERO, angular, f64, linear, quat, spatial, vec3, vec6
from .arrays import (
    BALL,
    BOX,
    CAPSULE,
    CONE,
    CYLINDER,
    FLUID,
    PERIODIC,
    LatticeArrays,
    SolidArrays,
    cell_at,
    momentum_of,
    populations,
)


@wp.func
def nearest_image(d: f64, size: int, side: int) -> f64:
    """An offset along an axis by the image that is nearest, where the box repeats itself."""
    if side != PERIODIC:
        return d
    return d - f64(size) * wp.round(d / f64(size))


@wp.func
def middle_of(S: wp.ref[SolidArrays], k: int) -> vec3:
    """Of a solid's shape, in cells from the corner of the box."""
    return (S.p_WB[k] + wp.quat_rotate(S.q_WB[k], S.offset[k]) - S.corner) / S.cell


@wp.func
def off_middle(L: wp.ref[LatticeArrays], S: wp.ref[SolidArrays], k: int, x: int, y: int, z: int) -> vec3:
    """From the middle of a solid to that of a cell, x a plane here [cells]."""
    c = middle_of(S, k)
    d = vec3(f64(L.first + x - 1) + HALF, f64(y) + HALF, f64(z) + HALF) - c
    return vec3(
        nearest_image(d[0], L.size[0], L.side[0]),
        nearest_image(d[1], L.size[1], L.side[2]),
        nearest_image(d[2], L.size[2], L.side[4]),
    )


@wp.func
def distance_of(kind: int, size: vec3, u: vec3) -> f64:
    """Signed, of a point along the axes of a shape [m]."""
    if kind == BALL:
        return wp.length(u) - size[0]
    if kind == CAPSULE:
        return wp.length(u - vec3(ZERO, ZERO, wp.clamp(u[2], -size[2], size[2]))) - size[0]
    if kind == BOX:
        far, _n, _p = point_box(size, u)
        return far
    if kind == CYLINDER:
        far, _n, _p = point_cylinder(size[0], size[2], u)
        return far
    far, _n, _p = point_cone(size[0], size[2], u)
    return far


@wp.func
def gap_of(S: wp.ref[SolidArrays], k: int, off: vec3) -> f64:
    """Distance from the surface of solid k of a point that is `off` its middle, both in cells."""
    u = wp.quat_rotate_inv(S.turn[k], wp.quat_rotate_inv(S.q_WB[k], S.cell * off))
    return distance_of(S.kind[k], S.size[k], u) / S.cell


@wp.func
def way_of(L: wp.ref[LatticeArrays], i: int) -> vec3:
    e = L.way[i]
    return vec3(f64(e[0]), f64(e[1]), f64(e[2]))


@wp.func
def cut_of(S: wp.ref[SolidArrays], k: int, off: vec3, e: vec3) -> f64:
    """Share of the way from a cell, against e, at which the surface of solid k is."""
    low = ZERO
    high = ONE
    near = wp.max(gap_of(S, k, off), ZERO)
    far = wp.min(gap_of(S, k, off - e), ZERO)
    q = HALF
    for _ in range(3):
        if near - far > ZERO:
            q = low + (high - low) * near / (near - far)
        gap = gap_of(S, k, off - q * e)
        if gap > ZERO:
            low = q
            near = gap
        else:
            high = q
            far = gap
    return wp.clamp(q, f64(1e-3), ONE)


@wp.func
def arm_of(L: wp.ref[LatticeArrays], S: wp.ref[SolidArrays], k: int, x: int, y: int, z: int, q: f64, i: int) -> vec3:
    """From the centre of mass of a solid's body to the share q of the way from a cell against e_i [m]."""
    off = off_middle(L, S, k, x, y, z) - q * way_of(L, i)
    return S.cell * off + wp.quat_rotate(S.q_WB[k], S.offset[k])


@wp.func
def velocity_of(
    L: wp.ref[LatticeArrays], S: wp.ref[SolidArrays], k: int, x: int, y: int, z: int, q: f64, i: int
) -> vec3:
    """Of a solid there, in cells a step."""
    V = S.twist[k]
    return S.pace * (linear(V) + wp.cross(angular(V), arm_of(L, S, k, x, y, z, q, i)))


@wp.func
def opposite(i: int) -> int:
    if i % 2 == 0:
        return i - 1
    return i + 1


@wp.func(inline=False)
def bounce(
    L: wp.ref[LatticeArrays], S: wp.ref[SolidArrays], g: wp.ref[populations], k: int, i: int, x: int, y: int, z: int
) -> f64:
    """What comes to a cell of the fluid along e_i off the surface of solid k."""
    own = cell_at(L, x, y, z)
    e = L.way[i]
    q = cut_of(S, k, off_middle(L, S, k, x, y, z), way_of(L, i))
    back = opposite(i)
    push = f64(6.0) * L.weight[i] * wp.dot(way_of(L, i), velocity_of(L, S, k, x, y, z, q, i))
    at_x = x + e[0]
    at_y = wrapped(y + e[1], L.size[1], L.side[2])
    at_z = wrapped(z + e[2], L.size[2], L.side[4])
    plane = wrapped(L.first + at_x - 1, L.size[0], L.side[0])
    if plane >= 0 and at_y >= 0 and at_z >= 0:
        behind = cell_at(L, at_x, at_y, at_z)
        if L.solid[behind] == FLUID:
            kappa = (ONE - TWO * q) / (ONE + TWO * q)
            return g[back, own] + kappa * (g[back, behind] - g[i, own]) + (TWO / (ONE + TWO * q)) * push
    return g[back, own] + push  # no room between two surfaces: half-way


@wp.func
def wrapped(at: int, size: int, side: int) -> int:
    """A row of cells, counted on where the box repeats itself; -1 where there is none."""
    if side == PERIODIC:
        return ((at % size) + size) % size
    if at < 0 or at >= size:
        return -1
    return at


@wp.func
def first_row(S: wp.ref[SolidArrays], k: int, axis: int) -> int:
    """Of the box of cells about a solid: one more than it may be in, where it was a step ago too."""
    c = middle_of(S, k)
    return int(wp.floor(c[axis] - S.reach[k] / S.cell - TWO))


@wp.kernel(enable_backward=False)
def cover(L: LatticeArrays, S: SolidArrays, wide: int):
    """Enter solids into the cells that they are in, copies too; wide: cells of the widest box."""
    k, i = wp.tid()
    plane = wrapped(first_row(S, k, 0) + i, L.size[0], L.side[0])
    if plane < 0:
        return
    for copy in range(3):  # a plane may be here and beside both ends
        x = plane - L.first + 1 + (copy - 1) * L.size[0]
        if x < 0 or x > L.planes + 1 or (copy != 1 and L.side[0] != PERIODIC):
            continue
        for j in range(wide):
            y = wrapped(first_row(S, k, 1) + j, L.size[1], L.side[2])
            for h in range(wide):
                z = wrapped(first_row(S, k, 2) + h, L.size[2], L.side[4])
                if y >= 0 and z >= 0 and gap_of(S, k, off_middle(L, S, k, x, y, z)) < ZERO:
                    wp.atomic_min(L.solid, cell_at(L, x, y, z), k)


@wp.func
def changed(L: wp.ref[LatticeArrays], g: wp.ref[populations], old: wp.ref[wp.array(dtype=wp.int32)], k: int, c: int):
    """What solid k gets for coming over a cell, or pays for leaving it."""
    was = old[c]
    now = L.solid[c]
    if was == FLUID and now == k:
        return momentum_of(L, g, c)
    if was == k and now == FLUID:
        return -momentum_of(L, g, c)
    return vec3()


@wp.kernel(enable_backward=False)
def collect(
    L: LatticeArrays,
    S: SolidArrays,
    g: populations,
    old: wp.array(dtype=wp.int32),
    moved: int,
    wide: int,
    wrench: wp.array2d(dtype=vec6),
):
    """What solids get in the step from g, a plane of each: about centres of mass, arms in metres.

    moved: also for the cells that they have come over and left since `old`.
    """
    k, p = wp.tid()
    torque = vec3()
    force = vec3()
    x = wrapped(first_row(S, k, 0) + p, L.size[0], L.side[0]) - L.first + 1
    if x >= 1 and x <= L.planes:
        for j in range(wide):
            y = wrapped(first_row(S, k, 1) + j, L.size[1], L.side[2])
            for h in range(wide):
                z = wrapped(first_row(S, k, 2) + h, L.size[2], L.side[4])
                if y < 0 or z < 0:
                    continue
                own = cell_at(L, x, y, z)
                if moved != 0:
                    f = changed(L, g, old, k, own)
                    force += f
                    torque += wp.cross(arm_of(L, S, k, x, y, z, ZERO, 0), f)
                if L.solid[own] != FLUID:
                    continue
                for i in range(1, g.shape[0]):
                    e = L.way[i]
                    at_y = wrapped(y - e[1], L.size[1], L.side[2])
                    at_z = wrapped(z - e[2], L.size[2], L.side[4])
                    plane = wrapped(L.first + x - e[0] - 1, L.size[0], L.side[0])
                    if plane >= 0 and at_y >= 0 and at_z >= 0 and L.solid[cell_at(L, x - e[0], at_y, at_z)] == k:
                        size = g[opposite(i), own] + bounce(L, S, g, k, i, x, y, z)
                        f = -size * way_of(L, i)
                        q = cut_of(S, k, off_middle(L, S, k, x, y, z), way_of(L, i))
                        force += f
                        torque += wp.cross(arm_of(L, S, k, x, y, z, q, i), f)
    wrench[k, p] = spatial(torque, force)


@wp.kernel(enable_backward=False)
def add_collected(wrench: wp.array2d(dtype=vec6), scale: f64, total: wp.array(dtype=vec6)):
    """Planes of each solid in order, added to its sum."""
    k = wp.tid()
    found = vec6()
    for i in range(wrench.shape[1]):
        found += wrench[k, i]
    total[k] = total[k] + scale * found


@wp.kernel(enable_backward=False)
def take_poses(
    S: SolidArrays,
    p: wp.array2d(dtype=vec3),
    q: wp.array2d(dtype=quat),
    V: wp.array2d(dtype=vec6),
):
    """Poses and twists of the solids' bodies."""
    k = wp.tid()
    i = S.body[k]
    S.p_WB[k] = p[i, 0]
    S.q_WB[k] = q[i, 0]
    S.twist[k] = V[i, 0]


@dataclass
class Shaped:
    """A shape that a lattice resolves [m]."""

    kind: int
    size: tuple[float, float, float]
    offset: np.ndarray
    turn: np.ndarray
    reach: float
    volume: float
    inertia: np.ndarray  # of its volume about its own middle, its own axes [m⁵]


def shaped(owner: str, shape: Shape) -> Shaped:
    """A shape of the author's; ModelError at one that has no closed form of distance."""
    kinds: dict[type, int] = {Sphere: BALL, Capsule: CAPSULE, Box: BOX, Cylinder: CYLINDER, Cone: CONE}
    kind = kinds.get(type(shape))
    if kind is None:
        known = ", ".join(one.__name__ for one in kinds)
        raise ModelError(f"{owner}: a {type(shape).__name__} is not resolved by a lattice; known are: {known}")
    if isinstance(shape, Box):
        size = tuple(0.5 * float(edge) for edge in shape.size)
        reach = math.hypot(*size)
    else:
        half = 0.5 * float(getattr(shape, "length", 0.0))
        size = (shape.radius, 0.0, half)  # type: ignore[attr-defined]
        round_ = isinstance(shape, Sphere | Capsule)
        reach = size[0] + half if round_ else math.hypot(size[0], half)
    inertia = shape.volume * np.asarray(shape.unit_inertia())
    offset, turn = np.asarray(shape.offset, float), np.asarray(shape.orientation, float)
    return Shaped(kind, size, offset, turn, reach, float(shape.volume), inertia)  # type: ignore[arg-type]
