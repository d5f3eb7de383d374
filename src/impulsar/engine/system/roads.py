"""What tyres roll on: the obstacles of a model as shapes in the world, and the coefficients of its tyres."""

from functools import cache

import numpy as np
import warp as wp

from ...author.errors import ModelError
from ...author.materials import material_of
from ...author.model import Model
from ...author.rotations import multiply, rotate
from ...author.shapes import ConvexHull
from ...author.tyres import BRUSH, SETS
from ..collide.arrays import ShapeArrays
from ..collide.shapes import shape_arrays
from ..options import places
from ..spatial import f64

NAMES = tuple(dict.fromkeys(name for law in SETS.values() for name in law))
Coefficient = places(law=0, **{name: k for k, name in enumerate(NAMES, 1)})  # columns of SystemArrays.tyre_set


def set_rows(model: Model) -> np.ndarray:
    """Law (1: brush) and coefficients of every tyre [tyre, column]."""
    rows = np.zeros((len(model.tyres), 1 + len(NAMES)))
    for row, tyre in zip(rows, model.tyres.values(), strict=True):
        row[0] = float(tyre.law == BRUSH)
        for name, value in tyre.all_coefficients.items():
            row[1 + NAMES.index(name)] = value
    return rows


@cache
def no_roads(device: str) -> ShapeArrays:
    """Of models without tyres: nobody asks."""
    return shape_arrays([], device=device)


def roads_of(model: Model, material_index: dict[str, int], device: str) -> tuple[ShapeArrays, list[int]]:
    """The obstacles as shapes with poses in the world, and the rows of their materials, -1: none."""
    if not model.tyres:
        return no_roads(device), []
    obstacles = list(model.obstacles.values())
    for obstacle in obstacles:
        if isinstance(obstacle.shape, ConvexHull):
            told = f"obstacle '{obstacle.name}': is a convex hull, on which tyres have no law"
            raise ModelError(f"{told}; make it a Mesh of the same faces")
    roads = shape_arrays([(-1, obstacle.shape) for obstacle in obstacles], device=device)
    p = [o.position + rotate(o.orientation, np.asarray(o.shape.offset, float)) for o in obstacles]
    q = [multiply(o.orientation, np.asarray(o.shape.orientation, float)) for o in obstacles]
    roads.p_BS = wp.array(np.reshape(p, (-1, 3)).astype(float), dtype=wp.vec3d, device=device)
    roads.q_BS = wp.array(np.reshape(q, (-1, 4)).astype(float), dtype=wp.quatd, device=device)
    names = [material_of(obstacle.shape, obstacle) for obstacle in obstacles]
    return roads, [-1 if name is None else material_index[name] for name in names]


def tyre_sets(model: Model, device: str) -> wp.array:
    """`set_rows` on the device."""
    rows = set_rows(model)
    return wp.array(rows, dtype=f64, device=device, shape=rows.shape)
