"""Arrays of collision detection from authored shapes, on the host."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import warp as wp

from ...author import shapes as authored
from .arrays import (
    BOX,
    CANDIDATES,
    CAPSULE,
    CONE,
    CYLINDER,
    EPA_FACES,
    EPA_POINTS,
    FIELD,
    HULL,
    MESH,
    OUT,
    PLANE,
    RING,
    SPHERE,
    CollideScratch,
    ShapeArrays,
)

COPLANAR = 1e-9  # of a hull's size: triangles are one face
LEAF = 4  # triangles of a node that has none below it
INFINITE = 1e9  # half extents of a plane's bounds [m]


@dataclass
class Solid:
    """One shape as the arrays hold it."""

    kind: int
    size: np.ndarray
    radius: float = 0.0
    middle: np.ndarray = field(default_factory=lambda: np.zeros(3))
    half: np.ndarray = field(default_factory=lambda: np.zeros(3))
    vertices: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    faces: list[list[int]] = field(default_factory=list)
    normals: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    triangles: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), int))
    opposite: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), int))
    nodes: list[tuple] = field(default_factory=list)  # low, high, next, first triangle, how many
    heights: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))


def solid(shape: authored.Shape) -> Solid:
    """A shape's kind, sizes and features."""
    if isinstance(shape, authored.Box):
        half = np.asarray(shape.size) / 2
        return Solid(BOX, half, half=half)
    if isinstance(shape, authored.Sphere):
        return Solid(SPHERE, np.zeros(3), shape.radius)
    if isinstance(shape, authored.Capsule):
        size = np.array([0.0, 0.0, shape.length / 2])
        return Solid(CAPSULE, size, shape.radius, half=size)
    if isinstance(shape, authored.Cylinder):
        size = np.array([shape.radius, 0.0, shape.length / 2])
        return Solid(CYLINDER, size, half=np.array([shape.radius, shape.radius, shape.length / 2]))
    if isinstance(shape, authored.Cone):
        size = np.array([shape.radius, 0.0, shape.length / 2])
        return Solid(CONE, size, half=np.array([shape.radius, shape.radius, shape.length / 2]))
    if isinstance(shape, authored.ConvexHull):
        return _hull(np.asarray(shape.points))
    if isinstance(shape, authored.Plane):
        return Solid(PLANE, np.zeros(3), half=np.full(3, INFINITE))
    if isinstance(shape, authored.Mesh):
        return _mesh(np.asarray(shape.vertices), np.asarray(shape.triangles))
    if isinstance(shape, authored.HeightField):
        return _field(np.asarray(shape.heights), np.asarray(shape.size))
    raise TypeError(f"shape {type(shape).__name__} cannot touch")


def _hull(points: np.ndarray) -> Solid:
    """Corners and faces of a hull; triangles in one plane are one face."""
    from scipy.spatial import ConvexHull as Hull

    found = Hull(points)
    corners = points[found.vertices]
    number = np.full(len(points), -1)
    number[found.vertices] = np.arange(len(corners))
    low, high = corners.min(axis=0), corners.max(axis=0)
    size = float(np.linalg.norm(high - low))
    faces, normals = [], []
    left, triangles = np.ones(len(found.simplices), bool), number[found.simplices]
    while left.any():
        first = int(np.argmax(left))
        normal, offset = found.equations[first, :3], found.equations[first, 3]
        is_on = np.abs(corners @ normal + offset) <= COPLANAR * size
        on = np.flatnonzero(is_on)
        left &= ~is_on[triangles].all(axis=1)
        left[first] = False
        e = corners[on[1]] - corners[on[0]]
        e = e / np.linalg.norm(e)
        f = np.cross(normal, e)
        rim = corners[on] - corners[on].mean(axis=0)
        faces.append(on[np.argsort(np.arctan2(rim @ f, rim @ e))].tolist())
        normals.append(normal)
    return Solid(
        HULL,
        np.zeros(3),
        middle=(low + high) / 2,
        half=(high - low) / 2,
        vertices=corners,
        faces=faces,
        normals=np.array(normals),
    )


def _mesh(vertices: np.ndarray, triangles: np.ndarray) -> Solid:
    """Triangles in the order of a tree of boxes over them, and the far corner across each edge."""
    corners = vertices[triangles]
    low, high = corners.min(axis=1), corners.max(axis=1)
    nodes: list[tuple] = []
    order: list[int] = []

    def grow(some: np.ndarray) -> None:
        """A node of some triangles, and those below it, in the order of a walk."""
        here = len(nodes)
        bounds = low[some].min(axis=0), high[some].max(axis=0)
        if len(some) <= LEAF:
            nodes.append((*bounds, here + 1, len(order), len(some)))
            order.extend(some.tolist())
            return
        nodes.append(())
        middles = (low[some] + high[some]) / 2
        axis = int(np.ptp(middles, axis=0).argmax())
        by = some[np.argsort(middles[:, axis], kind="stable")]
        grow(by[: len(by) // 2])
        grow(by[len(by) // 2 :])
        nodes[here] = (*bounds, len(nodes), 0, 0)

    grow(np.arange(len(triangles)))
    triangles = triangles[order]
    across = {(int(t[k]), int(t[(k + 1) % 3])): int(t[(k + 2) % 3]) for t in triangles for k in range(3)}
    opposite = [[across.get((int(t[(k + 1) % 3]), int(t[k])), -1) for k in range(3)] for t in triangles]
    least, most = vertices.min(axis=0), vertices.max(axis=0)
    return Solid(
        MESH,
        np.zeros(3),
        middle=(least + most) / 2,
        half=(most - least) / 2,
        vertices=vertices,
        triangles=triangles,
        opposite=np.array(opposite),
        nodes=nodes,
    )


def _field(heights: np.ndarray, size: np.ndarray) -> Solid:
    """A grid that is solid below, as deep as it is wide."""
    low, high = float(heights.min()) - float(size.max()), float(heights.max())
    half = np.array([*(size / 2), (high - low) / 2])
    return Solid(
        FIELD, np.array([*(size / 2), 0.0]), middle=np.array([0, 0, (low + high) / 2]), half=half, heights=heights
    )


def _set_terrains(m: ShapeArrays, solids: Sequence[Solid], starts: np.ndarray, device: str) -> None:
    """Triangles, trees and grids; a mesh's nodes are its parts, and a field's heights begin at its start."""
    integers: dict[str, Any] = {"dtype": wp.int32, "device": device}
    vectors: dict[str, Any] = {"dtype": wp.vec3d, "device": device}
    corners: list[np.ndarray] = [np.zeros(0, int)]
    opposite: list[np.ndarray] = [np.zeros(0, int)]
    nodes: list[tuple] = []
    heights: list[np.ndarray] = [np.zeros(0)]
    grid = np.zeros((len(solids), 2), int)
    part_start, part_count, start = m.part_start.numpy(), m.part_count.numpy(), m.start.numpy()
    triangles = points = 0
    for k, s in enumerate(solids):
        if s.kind == MESH:
            part_start[k], part_count[k], first = len(nodes), len(s.nodes), len(nodes)
            nodes += [(low, high, skip + first, at + triangles, n) for low, high, skip, at, n in s.nodes]
            corners.append(s.triangles.ravel() + starts[k])
            opposite.append(np.where(s.opposite < 0, -1, s.opposite + starts[k]).ravel())
            triangles += len(s.triangles)
        if s.kind == FIELD:
            start[k], grid[k] = points, s.heights.shape
            heights.append(s.heights.ravel())
            points += s.heights.size
    m.part_start, m.part_count, m.start = (wp.array(each, **integers) for each in (part_start, part_count, start))
    m.grid = wp.array(grid.ravel(), **integers)
    m.triangle_corner = wp.array(np.concatenate(corners), **integers)
    m.triangle_opposite = wp.array(np.concatenate(opposite), **integers)
    m.node_low = wp.array(_rows([node[0] for node in nodes], 3), **vectors)
    m.node_high = wp.array(_rows([node[1] for node in nodes], 3), **vectors)
    m.node_next = wp.array([node[2] for node in nodes], **integers)
    m.node_triangle = wp.array([node[3] for node in nodes], **integers)
    m.node_count = wp.array([node[4] for node in nodes], **integers)
    m.heights = wp.array(np.concatenate(heights), dtype=wp.float64, device=device)


def shape_arrays(
    placed: Sequence[tuple[int, authored.Shape]],
    excluded: Iterable[tuple[int, int]] = (),
    device: str = "cpu",
) -> ShapeArrays:
    """Arrays of shapes given with their bodies (-1: the ground), without the pairs of shapes that are excluded."""
    solids = [solid(shape) for _, shape in placed]
    m = ShapeArrays()
    integers: dict[str, Any] = {"dtype": wp.int32, "device": device}
    numbers: dict[str, Any] = {"dtype": wp.float64, "device": device}
    vectors: dict[str, Any] = {"dtype": wp.vec3d, "device": device}
    m.kind = wp.array([s.kind for s in solids], **integers)
    m.body = wp.array([body for body, _ in placed], **integers)
    m.p_BS = wp.array(_rows([shape.offset for _, shape in placed], 3), **vectors)
    m.q_BS = wp.array(_rows([shape.orientation for _, shape in placed], 4), dtype=wp.quatd, device=device)
    m.size = wp.array(_rows([s.size for s in solids], 3), **vectors)
    m.radius = wp.array([s.radius for s in solids], **numbers)
    m.middle = wp.array(_rows([s.middle for s in solids], 3), **vectors)
    m.half = wp.array(_rows([s.half for s in solids], 3), **vectors)
    m.reach = wp.array([float(np.linalg.norm(s.half)) + s.radius for s in solids], **numbers)
    starts = np.cumsum([0, *(len(s.vertices) for s in solids)])
    m.start = wp.array(starts[:-1], **integers)
    m.count = wp.array([len(s.vertices) for s in solids], **integers)
    m.vertices = wp.array(_rows([v for s in solids for v in s.vertices], 3), **vectors)
    faces = [[int(v) + int(start) for v in face] for s, start in zip(solids, starts, strict=False) for face in s.faces]
    m.part_start = wp.array(np.cumsum([0, *(len(s.faces) for s in solids)])[:-1], **integers)
    m.part_count = wp.array([len(s.faces) for s in solids], **integers)
    m.face_normal = wp.array(_rows([n for s in solids for n in s.normals], 3), **vectors)
    m.face_start = wp.array(np.cumsum([0, *map(len, faces)]), **integers)
    m.face_corner = wp.array([v for face in faces for v in face], **integers)
    about: list[list[int]] = [[] for _ in range(int(starts[-1]))]
    for k, face in enumerate(faces):
        for v in face:
            about[v].append(k)
    for s, start in zip(solids, starts, strict=False):
        for i, j in sorted({(int(t[k]), int(t[n])) for t in s.triangles for k in range(3) for n in range(3) if n != k}):
            about[int(start) + i].append(int(start) + j)
    m.fan_start = wp.array(np.cumsum([0, *map(len, about)]), **integers)
    m.fan_face = wp.array([k for fan in about for k in fan], **integers)
    _set_terrains(m, solids, starts, device)
    pairs = sorted(min(a, b) * len(placed) + max(a, b) for a, b in excluded)
    m.excluded = wp.array(np.array(pairs, np.int64), dtype=wp.int64, device=device)
    m.sweep_axis = wp.array([0], **integers)
    return m


def _rows(vectors: Sequence, width: int) -> np.ndarray:
    return np.array(vectors, float).reshape(-1, width)


def largest_face(m: ShapeArrays) -> int:
    """Corners of the largest face, or of a circle's polygon."""
    starts = m.face_start.numpy()
    return max(RING, int(np.diff(starts).max(initial=0)))


def collide_scratch(m: ShapeArrays, worlds: int, pairs: int, contacts: int, device: str = "cpu") -> CollideScratch:
    """Room for so many pairs and contacts in each world."""
    shapes = len(m.kind)
    room = 2 * largest_face(m) + 4
    most = max(room, CANDIDATES if len(m.node_count) or len(m.heights) else 0)
    sizes = {
        **dict.fromkeys(("p_WS", "R_WS", "low", "high", "order", "sorted_low", "sorted_high", "travel"), shapes),
        **dict.fromkeys(("pair_first", "pair_second", "swept_first", "swept_second"), pairs),
        **dict.fromkeys(("pair_count", "pairs_missed", "count", "missed", "old_count", "beyond"), 1),
        **dict.fromkeys(("out_point", "out_normal", "out_gap", "out_side"), OUT),
        **dict.fromkeys(("candidate", "candidate_normal", "candidate_gap", "candidate_side"), most),
        "candidate_group": most,
        **dict.fromkeys(("difference", "on_first"), EPA_POINTS),
        "pairs_of": shapes + 1,
        "polygon": 3 * room,
        "weight": 8,
        "epa_corner": 3 * EPA_FACES,
        "epa_normal": EPA_FACES,
        "epa_distance": EPA_FACES,
        "epa_seen": EPA_FACES,
        "epa_edge": 2 * EPA_FACES,
    }
    x = CollideScratch()
    for name, kind in CollideScratch.vars.items():  # type: ignore[attr-defined]
        setattr(x, name, wp.zeros((sizes.get(name, contacts), worlds), dtype=kind.type.dtype, device=device))
    x.order = wp.array(np.tile(np.arange(shapes, dtype=np.int32)[:, None], worlds), dtype=wp.int32, device=device)
    return x
