"""A floor below any scene: `im.scene(name, floor=True)`.

A plane across gravity, a little below the lowest point of the mechanism as it starts, which its bodies touch. They do
not touch each other by that: the bars of a linkage are drawn in one plane and would.
"""

from dataclasses import replace
from itertools import product

import numpy as np

from ..author.errors import ModelError
from ..author.materials import material_of
from ..author.model import Model
from ..author.rotations import frame_from_axes, rotation_matrix
from ..author.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, Mesh, Plane, Shape, Sphere
from ..author.touching import owners, touching_pairs

FLOOR, MATERIAL = "floor", "wood"
BELOW = 0.05  # the floor under the lowest point, of the mechanism's size
MOST = 100  # bodies: each two of them need a part that says that they do not touch


def add_floor(model: Model, below: float = BELOW) -> None:
    """Put a floor under a model that has none; what has no material becomes wood."""
    if FLOOR in model.obstacles:
        return
    if len(model.bodies) > MOST:
        raise ModelError(f"model '{model.name}': floor is for {MOST} bodies at most, it has {len(model.bodies)}")
    fall = np.asarray(model.gravity, float)
    up = -fall / np.linalg.norm(fall) if fall.any() else np.array([0.0, 0.0, 1.0])
    orientation = frame_from_axes(FLOOR, up, None)
    spans = [span(model, axis) for axis in rotation_matrix(orientation).T]
    low, size = spans[2][0], max(high - low for low, high in spans)
    made = [body for body in model.bodies.values() if not any(material_of(shape, body) for shape in body.shapes)]
    for body in made:
        if any(isinstance(shape, Mesh) for shape in body.shapes):  # which is a picture: the others touch
            solid = {k: replace(s, material=MATERIAL) for k, s in enumerate(body.shapes) if not isinstance(s, Mesh)}
            body.shapes = [solid.get(k, shape) for k, shape in enumerate(body.shapes)]
        else:
            body.material = MATERIAL
    for a, b in {tuple(sorted((one.owner, other.owner))): None for one, other in touching_pairs(model)}:
        if model.bodies.get(a) in made or model.bodies.get(b) in made:
            model.no_contact(a, b)
    model.obstacle(
        FLOOR,
        Plane(),
        position=(low - below * size) * up,
        orientation=orientation,
        material=MATERIAL,
    )


def span(model: Model, axis: np.ndarray) -> tuple[float, float]:
    """From where to where the shapes of a model reach along a unit vector [m]."""
    reached = []
    for owner in owners(model).values():
        R_WO, p_WO = rotation_matrix(owner.orientation), np.asarray(owner.position)
        for shape in owner.shapes:
            R_WS, p_WS = R_WO @ rotation_matrix(shape.orientation), p_WO + R_WO @ shape.offset
            points, radius = _points(shape, R_WS.T @ axis)
            along = [float(axis @ (p_WS + R_WS @ point)) for point in points]
            reached += [part for at in along for part in (at - radius, at + radius)]
    if not reached:
        raise ModelError(f"model '{model.name}': a floor is asked for, but no body has a shape")
    return min(reached), max(reached)


def _points(shape: Shape, axis: np.ndarray) -> tuple[np.ndarray, float]:
    """Points and a radius about them that bound a shape along a direction of its frame [m]."""
    if isinstance(shape, Box):
        return np.array(list(product((-0.5, 0.5), repeat=3))) * shape.size, 0.0
    if isinstance(shape, Sphere):
        return np.zeros((1, 3)), shape.radius
    if isinstance(shape, ConvexHull):
        return np.asarray(shape.points), 0.0
    if isinstance(shape, Mesh):
        return np.asarray(shape.vertices), 0.0
    if isinstance(shape, Capsule | Cylinder | Cone):
        ends = np.array([(0.0, 0.0, -shape.length / 2), (0.0, 0.0, shape.length / 2)])
        if isinstance(shape, Capsule):
            return ends, shape.radius
        across = np.array([axis[0], axis[1], 0.0])  # to the rims' lowest and highest points
        rim = shape.radius * across / (np.linalg.norm(across) or 1.0)
        rims = [ends[0] - rim, ends[0] + rim]
        return np.array([*rims, ends[1]] if isinstance(shape, Cone) else [*rims, ends[1] - rim, ends[1] + rim]), 0.0
    return np.zeros((0, 3)), 0.0  # planes and terrains lie below
