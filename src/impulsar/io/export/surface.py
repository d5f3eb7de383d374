"""Shapes as triangles, for formats that draw."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...author.model import Model
from ...author.parts import Body
from ...author.rotations import rotation_matrix
from ...author.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, HeightField, Mesh, Plane, Shape, Sphere
from ...author.surfaces import Obstacle
from ...render import body_outlines, field_triangles

if TYPE_CHECKING:
    import xarray as xr

Surface = tuple[np.ndarray, np.ndarray]  # vertices (n, 3) [m], triangles (m, 3), anticlockwise seen from outside
AROUND = 32  # corners of a circle
COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f", "#ff9da7", "#86bcb6")
STILL = "#9aa0a6"  # of what stands on the ground
FARTHEST = 2.0  # turns between samples that are sure to be told right, half a turn being the end of it [rad]
WIDE = 4.0  # of a plane, times the mechanism's size


def colours(model: Model) -> dict[str, str]:
    """Of the bodies: their own, or one by their place in the list."""
    return {body.name: body.colour or COLOURS[k % len(COLOURS)] for k, body in enumerate(model.bodies.values())}


def surfaces(model: Model) -> Iterator[tuple[str | None, str, list[Surface]]]:
    """Body (None: the ground), colour "#rrggbb", and surfaces in the body's frame, or in the world's; a body comes with
    each colour of its visuals."""
    for body, usual in zip(model.bodies.values(), colours(model).values(), strict=True):
        found: dict[str, list[Surface]] = {}
        for one in body.visuals:
            found.setdefault(one.colour or usual, []).append(shape_surface(one.shape))
        for colour, own in (found or {usual: body_surfaces(model, body)}).items():
            yield body.name, colour, own
    still: dict[str, list[Surface]] = {}
    size = _size(model)
    owners: list[Body | Obstacle] = [model.ground, *model.obstacles.values()]
    for owner in owners:
        R, colour = rotation_matrix(owner.orientation), getattr(owner, "colour", None) or STILL
        for shape in owner.shapes:
            vertices, triangles = shape_surface(shape, size)
            still.setdefault(colour, []).append((np.asarray(owner.position) + vertices @ R.T, triangles))
    for colour, standing in still.items():
        yield None, colour, standing


def body_surfaces(model: Model, body: Body) -> list[Surface]:
    """Of what is drawn of a body; without shapes, a thin solid through its joints."""
    if body.drawn:
        return [shape_surface(shape) for shape, _ in body.drawn]
    return [
        _hull((one.points[:, None] + one.radius * _ball(8)[None]).reshape(-1, 3)) for one in body_outlines(model, body)
    ]


def shape_surface(shape: Shape, wide: float = 1.0) -> Surface:
    """Of a shape in its owner's frame; wide: half the side of a plane [m]."""
    if isinstance(shape, Mesh):
        vertices, triangles = np.asarray(shape.vertices, float), np.asarray(shape.triangles)
    elif isinstance(shape, HeightField):
        vertices, triangles = field_triangles(shape)
    elif isinstance(shape, Plane):
        vertices = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * float(wide)
        triangles = np.array([[0, 1, 2], [0, 2, 3]])
    else:
        vertices, triangles = _hull(_corners(shape))
    return shape.offset + vertices @ rotation_matrix(shape.orientation).T, triangles


def _corners(shape: Shape) -> np.ndarray:
    """Points whose hull is a convex shape."""
    ring = np.array([(math.cos(a), math.sin(a), 0.0) for a in np.arange(AROUND) * 2 * math.pi / AROUND])
    up = np.array([0.0, 0.0, 0.5])
    if isinstance(shape, Box):
        return np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * shape.size
    if isinstance(shape, Sphere):
        return shape.radius * _ball(AROUND)
    if isinstance(shape, Capsule):
        ball = shape.radius * _ball(AROUND)
        return np.vstack(
            [ball[ball[:, 2] >= -1e-12] + up * shape.length, ball[ball[:, 2] <= 1e-12] - up * shape.length]
        )
    if isinstance(shape, Cylinder):
        return np.vstack([shape.radius * ring + up * shape.length, shape.radius * ring - up * shape.length])
    if isinstance(shape, Cone):
        return np.vstack([shape.radius * ring - up * shape.length, up[None] * shape.length])
    assert isinstance(shape, ConvexHull)
    return np.asarray(shape.points, float)


def _ball(around: int) -> np.ndarray:
    """Points of the unit sphere on circles of latitude, the equator among them."""
    angles, heights = np.arange(around) * 2 * math.pi / around, np.linspace(-0.5, 0.5, around // 2 + 1) * math.pi
    rings = [np.column_stack([np.cos(h) * np.cos(angles), np.cos(h) * np.sin(angles), np.full(around, np.sin(h))])
             for h in heights[1:-1]]  # fmt: skip
    return np.vstack([*rings, [[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]])


def _hull(points: np.ndarray) -> Surface:
    """The convex hull of points."""
    from scipy.spatial import ConvexHull as Hull

    found = Hull(points)
    used, corners = np.unique(found.simplices, return_inverse=True)
    triangles = corners.reshape(-1, 3)
    a, b, c = (points[used][triangles[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return points[used], triangles


def _size(model: Model) -> float:
    """Half the side of a plane that is seen around all of a model [m]."""
    points = np.array([body.position for body in model.bodies.values()] or [np.zeros(3)])
    reach = [np.abs(v).max() for body in model.bodies.values() for v, _ in body_surfaces(model, body)]
    return WIDE * (float(np.abs(points).max()) + max(reach, default=0.5))


def upward(model: Model) -> np.ndarray:
    """The direction against gravity; +z where there is none."""
    gravity = np.asarray(model.gravity, float)
    length = np.linalg.norm(gravity)
    return -gravity / length if length > 0 else np.array([0.0, 0.0, 1.0])


def poses(dataset: "xr.Dataset", names: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, positions (time, body, 3) and orientations (time, body, 4), which do not change sides of the sphere."""
    one = dataset.sel(body=names)
    orientations = one["orientation"].values.copy()
    for k in range(1, len(orientations)):
        flips = np.einsum("bi,bi->b", orientations[k], orientations[k - 1]) < 0
        orientations[k, flips] *= -1.0
    return one["time"].values, one["position"].values, orientations


def largest_turn(orientations: np.ndarray) -> float:
    """The largest angle that a body turns by between samples, as far as they can tell it [rad]."""
    if len(orientations) < 2:
        return 0.0
    dots = np.abs(np.einsum("tbi,tbi->tb", orientations[1:], orientations[:-1]))
    return float(2 * np.arccos(np.clip(dots, 0.0, 1.0)).max(initial=0.0))
