"""Points in a lattice: the velocity of the fluid at them, and momentum that they give to it.

Both by the same weights, linear between the middles of cells: what points give is spread exactly, Σ of the cells is Σ
of the points. Beside a wall the last cell has what would be outside. To spread, points are sorted by the cell whose
middle is before them, and a cell gathers from the eight that touch it, points in their order: no atomics.
"""

from functools import cache

import numpy as np
import warp as wp

from ..spatial import HALF, ONE, ZERO, f64, vec3
from .arrays import PERIODIC, LatticeArrays, cell_at


@cache
def _fading() -> tuple[np.ndarray, np.ndarray]:
    k = np.linspace(0.005, 12.0, 1200)[:, None]
    c = (np.arange(400) + 0.5)[None] / 400
    weight = np.exp(-k * k / 6.0) * (1.0 - c * c)  # spread over cells: a hat has the variance 1/6 of a cell
    speeds = np.concatenate([[0.0], np.geomspace(1e-2, 1e4, 61)])
    return speeds, np.array([(weight / (1.0 + (P * c / k) ** 2)).sum() / weight.sum() for P in speeds])


def left_behind(speed: np.ndarray) -> np.ndarray:
    """Of the velocity that a steady force makes where it acts, what remains if it goes on through the fluid by `speed`
    cells in the time in which momentum spreads over one: Oseen's flow, ∫ (1 - c²) W² / (1 + (P c / k)²) dk dc."""
    return np.interp(speed, *_fading())


@wp.func
def before(at: f64) -> int:
    """Row of cells whose middle is before a place [cells]."""
    return int(wp.floor(at - HALF))


@wp.func
def row(at: int, size: int, side: int) -> int:
    """A row that there is: counted on where the box repeats itself, else the last."""
    if side == PERIODIC:
        return ((at % size) + size) % size
    return wp.clamp(at, 0, size - 1)


@wp.func
def first_row(at: int, size: int, side: int) -> int:
    """The row before a point, -1 before the first where the box does not repeat itself."""
    if side == PERIODIC:
        return row(at, size, side)
    return wp.clamp(at, -1, size - 1)


@wp.func
def rows_of(size: int, side: int) -> int:
    """How many rows a cell gathers from: of one that is its own neighbour, itself."""
    if side == PERIODIC and size == 1:
        return 1
    return 2


@wp.func
def part(share: f64, far: int) -> f64:
    """Weight of the nearer or the farther of two rows."""
    if far == 1:
        return share
    return ONE - share


@wp.kernel(enable_backward=False)
def sample(L: LatticeArrays, at: wp.array(dtype=vec3), scale: f64, u: wp.array(dtype=vec3)):
    """Velocities at points [cells], those whose plane before them is here; else zero."""
    k = wp.tid()
    p = at[k]
    x0 = before(p[0])
    y0 = before(p[1])
    z0 = before(p[2])
    found = vec3()
    here = row(x0, L.size[0], L.side[0]) - L.first + 1
    if here >= 1 and here <= L.planes:
        for i in range(2):
            x = here + i
            if L.side[0] != PERIODIC:
                x = row(x0 + i, L.size[0], L.side[0]) - L.first + 1
            for j in range(2):
                y = row(y0 + j, L.size[1], L.side[2])
                for h in range(2):
                    z = row(z0 + h, L.size[2], L.side[4])
                    weight = part(p[0] - HALF - f64(x0), i) * part(p[1] - HALF - f64(y0), j)
                    weight *= part(p[2] - HALF - f64(z0), h)
                    found += weight * L.u[cell_at(L, x, y, z)]
    u[k] = scale * found


@wp.kernel(enable_backward=False)
def number(L: LatticeArrays, at: wp.array(dtype=vec3), cell: wp.array(dtype=wp.int32), point: wp.array(dtype=wp.int32)):
    """Cells before points, one more in each direction than there are: those before the first."""
    k = wp.tid()
    p = at[k]
    x = first_row(before(p[0]), L.size[0], L.side[0]) + 1
    y = first_row(before(p[1]), L.size[1], L.side[2]) + 1
    z = first_row(before(p[2]), L.size[2], L.side[4]) + 1
    cell[k] = (x * (L.size[1] + 1) + y) * (L.size[2] + 1) + z
    point[k] = k


@wp.kernel(enable_backward=False)
def find_cells(cell: wp.array(dtype=wp.int32), n: int, begin: wp.array(dtype=wp.int32), end: wp.array(dtype=wp.int32)):
    """Where the points of each cell begin and end in the sorted list."""
    k = wp.tid()
    c = cell[k]
    if k == 0 or cell[k - 1] != c:
        begin[c] = k
    if k == n - 1 or cell[k + 1] != c:
        end[c] = k + 1


@wp.func
def of_row(before_: int, own: int, share: f64, size: int, side: int) -> f64:
    """What a row has of a point whose row before it is `before_`."""
    found = ZERO
    for i in range(2):
        if row(before_ + i, size, side) == own:
            found += part(share, i)
    return found


@wp.kernel(enable_backward=False)
def spread(
    L: LatticeArrays,
    at: wp.array(dtype=vec3),
    given: wp.array(dtype=vec3),
    point: wp.array(dtype=wp.int32),
    begin: wp.array(dtype=wp.int32),
    end: wp.array(dtype=wp.int32),
    scale: f64,
):
    """What points give to the cells here."""
    x, y, z = wp.tid()
    plane = L.first + x
    total = vec3()
    for i in range(rows_of(L.size[0], L.side[0])):
        at_x = plane - i
        if at_x < 0 and L.side[0] == PERIODIC:
            at_x += L.size[0]
        for j in range(rows_of(L.size[1], L.side[2])):
            at_y = y - j
            if at_y < 0 and L.side[2] == PERIODIC:
                at_y += L.size[1]
            for h in range(rows_of(L.size[2], L.side[4])):
                at_z = z - h
                if at_z < 0 and L.side[4] == PERIODIC:
                    at_z += L.size[2]
                c = ((at_x + 1) * (L.size[1] + 1) + at_y + 1) * (L.size[2] + 1) + at_z + 1
                for k in range(begin[c], end[c]):
                    p = at[point[k]]
                    x0 = before(p[0])
                    y0 = before(p[1])
                    z0 = before(p[2])
                    weight = of_row(x0, plane, p[0] - HALF - f64(x0), L.size[0], L.side[0])
                    weight *= of_row(y0, y, p[1] - HALF - f64(y0), L.size[1], L.side[2])
                    weight *= of_row(z0, z, p[2] - HALF - f64(z0), L.size[2], L.side[4])
                    total += weight * given[point[k]]
    L.push[cell_at(L, x + 1, y, z)] = scale * total
