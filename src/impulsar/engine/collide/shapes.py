"""Arrays of collision detection from authored shapes, on the host."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import warp as wp

from ...author import shapes as authored
from .arrays import (
    BOX,
    CAPSULE,
    CONE,
    CYLINDER,
    EPA_FACES,
    EPA_POINTS,
    HULL,
    OUT,
    PLANE,
    RING,
    SPHERE,
    CollideScratch,
    ShapeArrays,
)

COPLANAR = 1e-9  # of a hull's size: triangles are one face
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
    left = set(range(len(found.simplices)))
    while left:
        normal, offset = found.equations[min(left), :3], found.equations[min(left), 3]
        off = corners @ normal + offset
        on = np.flatnonzero(np.abs(off) <= COPLANAR * size)
        flat = [k for k in left if set(number[found.simplices[k]]) <= set(on.tolist())]
        left -= {*flat, min(left)}
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


def shape_arrays(
    placed: Sequence[tuple[int, authored.Shape]],
    excluded: Iterable[tuple[int, int]] = (),
    device: str = "cpu",
) -> ShapeArrays:
    """Arrays of shapes given with their bodies (-1: the ground), without the pairs of shapes that are excluded."""
    solids = [solid(shape) for _, shape in placed]
    m = ShapeArrays()
    integers = dict(dtype=wp.int32, device=device)
    numbers = dict(dtype=wp.float64, device=device)
    vectors = dict(dtype=wp.vec3d, device=device)
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
    m.fan_start = wp.array(np.cumsum([0, *map(len, about)]), **integers)
    m.fan_face = wp.array([k for fan in about for k in fan], **integers)
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
    sizes = {
        **dict.fromkeys(("p_WS", "R_WS", "low", "high", "order"), shapes),
        **dict.fromkeys(("pair_first", "pair_second", "swept_first", "swept_second"), pairs),
        **dict.fromkeys(("pair_count", "pairs_missed", "count", "missed", "old_count", "beyond"), 1),
        **dict.fromkeys(("out_point", "out_normal", "out_gap", "out_side"), OUT),
        **dict.fromkeys(("candidate", "candidate_normal", "candidate_gap", "candidate_side"), room),
        **dict.fromkeys(("difference", "on_first"), EPA_POINTS),
        "pairs_of": shapes + 1,
        "polygon": 3 * room,
        "weight": 8,
        "epa_corner": 3 * EPA_FACES,
        "epa_normal": EPA_FACES,
        "epa_distance": EPA_FACES,
        "epa_edge": 2 * EPA_FACES,
    }
    x = CollideScratch()
    for name, kind in CollideScratch.vars.items():  # type: ignore[attr-defined]
        setattr(x, name, wp.zeros((sizes.get(name, contacts), worlds), dtype=kind.type.dtype, device=device))
    x.order = wp.array(np.tile(np.arange(shapes, dtype=np.int32)[:, None], worlds), dtype=wp.int32, device=device)
    return x
