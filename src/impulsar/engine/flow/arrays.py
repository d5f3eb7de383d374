"""Arrays of a lattice and of the bodies in it. Inside lengths are in cells, times in steps, densities in the fluid's.

D3Q19: populations g_i = f_i - w_i go along e_i, those that go opposite ways beside each other, 0 at rest.
Planes of cells are counted along x; a plane of copies is before the first and behind the last.
"""

from itertools import product

import numpy as np
import warp as wp

from ..spatial import f64, quat, vec3, vec6

WAYS = 19
vec19 = wp.types.vector(length=WAYS, dtype=wp.float64)
PERIODIC, WALL, OPEN = 0, 1, 2
KINDS = {"periodic": PERIODIC, "wall": WALL, "open": OPEN}
FLUID = wp.constant(2**30)  # what a cell has that no body is in
BALL, CAPSULE, BOX, CYLINDER, CONE = 0, 1, 2, 3, 4


def directions() -> tuple[np.ndarray, np.ndarray]:
    """e [way, 3] and w [way]; way i is opposite to i + 1 for odd i."""
    half = [e for e in product((1, 0, -1), repeat=3) if 0 < sum(map(abs, e)) < 3 and e > (0, 0, 0)]
    half.sort(key=lambda e: (sum(map(abs, e)), tuple(-k for k in e)))
    e = np.array([(0, 0, 0), *(s for one in half for s in (one, tuple(-k for k in one)))], np.int32)
    return e, np.array([1 / 3, 1 / 18, 1 / 36])[np.abs(e).sum(1)]


@wp.struct
class LatticeArrays:
    """A box of cells, or the planes of it that a rank has."""

    size: wp.vec3i  # cells of the whole box
    first: int  # plane of the box that is the first here
    planes: int  # here
    side: wp.array(dtype=wp.int32)  # [-x, +x, -y, +y, -z, +z] kind
    slip: wp.array(dtype=vec3)  # [side] velocity of a wall
    way: wp.array(dtype=wp.vec3i)  # [way] e
    weight: wp.array(dtype=f64)  # [way] w
    even: f64  # ω+ = 1 / (3 ν + 1/2)
    odd: f64  # ω-, by the magic number of Ginzburg
    drive: wp.array(dtype=vec3)  # [1] force on all cells
    u: wp.array(dtype=vec3)  # [cell, copies among them] velocity
    push: wp.array(dtype=vec3)  # [cell] force of points; empty: none
    solid: wp.array(dtype=wp.int32)  # [cell, copies among them] the first solid that its middle is in; empty: no bodies


@wp.struct
class SolidArrays:
    """Resolved bodies, in the units of the world: a shape each."""

    kind: wp.array(dtype=wp.int32)
    size: wp.array(dtype=vec3)  # radius or half edges; half length along z [m]
    offset: wp.array(dtype=vec3)  # of the shape in the body [m]
    turn: wp.array(dtype=quat)
    reach: wp.array(dtype=f64)  # from the shape's middle [m]
    body: wp.array(dtype=wp.int32)  # [solid] place among the world's bodies
    p_WB: wp.array(dtype=vec3)  # [solid] pose and twist of its body
    q_WB: wp.array(dtype=quat)
    twist: wp.array(dtype=vec6)
    corner: vec3  # of the box [m]
    cell: f64  # edge [m]
    pace: f64  # cells a step, of 1 m/s


populations = wp.array2d(dtype=f64)


@wp.func
def cell_at(L: wp.ref[LatticeArrays], x: int, y: int, z: int) -> int:
    """Place of a cell; x counts planes here, 0 and planes + 1 are copies."""
    return (x * L.size[1] + y) * L.size[2] + z


@wp.func
def even_part(weight: f64, density: f64, along: f64, square: f64) -> f64:
    return weight * (density + f64(4.5) * along * along - f64(1.5) * square)


@wp.func
def momentum_of(L: wp.ref[LatticeArrays], g: wp.ref[populations], c: int) -> vec3:
    """Of a cell."""
    total = vec3()
    for i in range(1, g.shape[0]):
        e = L.way[i]
        total += g[i, c] * vec3(f64(e[0]), f64(e[1]), f64(e[2]))
    return total
