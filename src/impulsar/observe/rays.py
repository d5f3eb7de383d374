"""Rays against shapes: the nearest point at which each strikes, and the normal there, by closed forms in float64.

In a shape's frame a ray is p + s d. Boxes are cut by slabs; balls, tubes and cones by quadratic equations; hulls,
meshes and height fields triangle by triangle (Möller, Trumbore 1997) of the boxes of a tree that it passes (`trees`); a
plane is z = 0. A shape that a ray begins in is left from inside: the point where it comes out counts.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import warp as wp

from ..author.rotations import multiply_all, rotate_all
from ..author.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, HeightField, Mesh, Plane, Shape, Sphere
from ..engine.launch import launch
from ..engine.spatial import ONE, ZERO, f64, quat, vec3
from ..engine.state import WorkArrays
from .reading import Reading
from .trees import Tree, tree_of

if TYPE_CHECKING:
    from .bench import Bench

BOX, SPHERE, CYLINDER, CAPSULE, CONE, PLANE, TRIANGLES = range(7)
CODES: dict[type, int] = {Box: BOX, Sphere: SPHERE, Cylinder: CYLINDER, Capsule: CAPSULE, Cone: CONE, Plane: PLANE}
_TREES: WeakKeyDictionary[Shape, Tree] = WeakKeyDictionary()
FAR = 1e300  # where a ray strikes nothing
FAR_ = wp.constant(wp.float64(1e300))
HALF = wp.constant(wp.float64(0.5))
OUT = wp.constant(wp.float64(1e-12))  # of a direction that is along a slab, and of a point that is ahead


@wp.struct
class Hit:
    """Where a ray strikes."""

    s: f64
    n: vec3
    shape: wp.int32  # -1: nothing


@wp.struct
class Shapes:
    """All shapes of a bench, as rays see them."""

    code: wp.array(dtype=wp.int32)
    owner: wp.array(dtype=wp.int32)  # body, -1: the ground
    size: wp.array(dtype=vec3)
    node: wp.array2d(dtype=wp.int32)  # [shape, first and end] of the tree
    low: wp.array(dtype=vec3)  # [node] its box in the shape's frame [m]
    high: wp.array(dtype=vec3)
    skip: wp.array(dtype=wp.int32)  # [node] the next one of those outside it
    corners: wp.array2d(dtype=wp.int32)  # [node, first and end] triangles, none of an inner one
    corner: wp.array2d(dtype=vec3)  # [triangle, 3] in the shape's frame
    p_WS: wp.array2d(dtype=vec3)  # [shape, world]
    q_WS: wp.array2d(dtype=quat)


@wp.func
def keep(h: Hit, s: f64, n: vec3) -> Hit:
    """The nearer of two."""
    r = h
    if s > OUT and s < h.s:
        r.s = s
        r.n = n
    return r


@wp.func
def hit_box(h: Hit, p: vec3, d: vec3, size: vec3) -> Hit:
    """Slabs: in where the last is entered, out where the first is left."""
    enter = -FAR_
    leave = FAR_
    n_in = vec3(ZERO, ZERO, ZERO)
    n_out = vec3(ZERO, ZERO, ZERO)
    for k in range(3):
        half = HALF * size[k]
        if wp.abs(d[k]) < OUT:
            if wp.abs(p[k]) > half:
                return h
        else:
            side = wp.sign(d[k])
            near = (-side * half - p[k]) / d[k]
            far = (side * half - p[k]) / d[k]
            if near > enter:
                enter = near
                n_in = vec3(ZERO, ZERO, ZERO)
                n_in[k] = -side
            if far < leave:
                leave = far
                n_out = vec3(ZERO, ZERO, ZERO)
                n_out[k] = side
    if enter > leave:
        return h
    if enter > OUT:
        return keep(h, enter, n_in)
    return keep(h, leave, n_out)


@wp.func
def hit_ball(h: Hit, p: vec3, d: vec3, z: f64, radius: f64, side: f64) -> Hit:
    """A ball about (0, 0, z), of which with side ±1 only the half beyond its middle counts."""
    r = h
    q = p - vec3(ZERO, ZERO, z)
    b = wp.dot(q, d)
    disc = b * b - wp.dot(q, q) + radius * radius
    if disc >= ZERO:
        for k in range(2):
            s = -b + (f64(2.0) * f64(k) - ONE) * wp.sqrt(disc)
            at = q + s * d
            if side * at[2] >= ZERO:
                r = keep(r, s, at / radius)
    return r


@wp.func
def hit_tube(h: Hit, p: vec3, d: vec3, radius: f64, length: f64) -> Hit:
    """The wall of a cylinder along z."""
    r = h
    a = d[0] * d[0] + d[1] * d[1]
    if a > OUT * OUT:
        b = p[0] * d[0] + p[1] * d[1]
        disc = b * b - a * (p[0] * p[0] + p[1] * p[1] - radius * radius)
        if disc >= ZERO:
            for k in range(2):
                s = (-b + (f64(2.0) * f64(k) - ONE) * wp.sqrt(disc)) / a
                at = p + s * d
                if wp.abs(at[2]) <= HALF * length:
                    r = keep(r, s, vec3(at[0] / radius, at[1] / radius, ZERO))
    return r


@wp.func
def hit_disc(h: Hit, p: vec3, d: vec3, z: f64, radius: f64) -> Hit:
    """A disc across z."""
    if wp.abs(d[2]) < OUT:
        return h
    s = (z - p[2]) / d[2]
    at = p + s * d
    if at[0] * at[0] + at[1] * at[1] > radius * radius:
        return h
    return keep(h, s, vec3(ZERO, ZERO, wp.sign(z)))


@wp.func
def hit_cone(h: Hit, p: vec3, d: vec3, radius: f64, length: f64) -> Hit:
    """Base disc at z = -length / 2, tip at length / 2: x² + y² = (radius / length)² (length / 2 - z)²."""
    r = hit_disc(h, p, d, -HALF * length, radius)
    k = radius / length
    u = HALF * length - p[2]
    a = d[0] * d[0] + d[1] * d[1] - k * k * d[2] * d[2]
    b = p[0] * d[0] + p[1] * d[1] + k * k * u * d[2]
    c = p[0] * p[0] + p[1] * p[1] - k * k * u * u
    disc = b * b - a * c
    if disc >= ZERO and wp.abs(a) > OUT * OUT:
        for i in range(2):
            s = (-b + (f64(2.0) * f64(i) - ONE) * wp.sqrt(disc)) / a
            at = p + s * d
            if wp.abs(at[2]) <= HALF * length:
                r = keep(r, s, wp.normalize(vec3(at[0], at[1], k * k * (HALF * length - at[2]))))
    return r


@wp.func
def hit_triangle(h: Hit, p: vec3, d: vec3, a: vec3, b: vec3, c: vec3) -> Hit:
    """Barycentric coordinates by Cramer's rule; seen from both sides."""
    e = b - a
    f = c - a
    across = wp.cross(d, f)
    det = wp.dot(e, across)
    if det == ZERO:
        return h
    q = p - a
    u = wp.dot(q, across) / det
    if u < ZERO or u > ONE:
        return h
    other = wp.cross(q, e)
    v = wp.dot(d, other) / det
    if v < ZERO or u + v > ONE:
        return h
    return keep(h, wp.dot(f, other) / det, wp.normalize(wp.cross(e, f)))


@wp.func
def passes(p: vec3, d: vec3, low: vec3, high: vec3, best: f64) -> bool:
    """Whether a ray comes into a box before it has gone so far."""
    enter = ZERO
    leave = best
    for k in range(3):
        if wp.abs(d[k]) < OUT:
            if p[k] < low[k] or p[k] > high[k]:
                return False
        else:
            a = (low[k] - p[k]) / d[k]
            b = (high[k] - p[k]) / d[k]
            enter = wp.max(enter, wp.min(a, b))
            leave = wp.min(leave, wp.max(a, b))
    return enter <= leave


@wp.func
def hit_triangles(h: Hit, g: Shapes, p: vec3, d: vec3, k: int) -> Hit:
    """Depth first through the tree of a shape, past what the ray does not come into."""
    r = h
    i = g.node[k, 0]
    while i < g.node[k, 1]:
        if passes(p, d, g.low[i], g.high[i], r.s):
            for t in range(g.corners[i, 0], g.corners[i, 1]):
                r = hit_triangle(r, p, d, g.corner[t, 0], g.corner[t, 1], g.corner[t, 2])
            i += 1
        else:
            i = g.skip[i]
    return r


@wp.func
def strike(g: Shapes, own: int, p: vec3, d: vec3, w: int) -> Hit:
    """The nearest hit of a ray; n is in the world, towards where the ray comes from. own: a body that is not seen."""
    best = Hit()
    best.s = FAR_
    best.n = vec3(ZERO, ZERO, ZERO)
    best.shape = int(-1)
    for k in range(g.code.shape[0]):
        if own >= 0 and g.owner[k] == own:
            continue
        q = g.q_WS[k, w]
        ps = wp.quat_rotate_inv(q, p - g.p_WS[k, w])
        ds = wp.quat_rotate_inv(q, d)
        h = best
        kind = g.code[k]
        a = g.size[k]
        if kind == BOX:
            h = hit_box(h, ps, ds, a)
        elif kind == SPHERE:
            h = hit_ball(h, ps, ds, ZERO, a[0], ZERO)
        elif kind == CYLINDER:
            h = hit_tube(h, ps, ds, a[0], a[1])
            h = hit_disc(h, ps, ds, HALF * a[1], a[0])
            h = hit_disc(h, ps, ds, -HALF * a[1], a[0])
        elif kind == CAPSULE:
            h = hit_tube(h, ps, ds, a[0], a[1])
            h = hit_ball(h, ps, ds, HALF * a[1], a[0], ONE)
            h = hit_ball(h, ps, ds, -HALF * a[1], a[0], -ONE)
        elif kind == CONE:
            h = hit_cone(h, ps, ds, a[0], a[1])
        elif kind == PLANE:
            if wp.abs(ds[2]) > OUT:
                h = keep(h, -ps[2] / ds[2], vec3(ZERO, ZERO, ONE))
        else:
            h = hit_triangles(h, g, ps, ds, k)
        if h.s < best.s:
            best.s = h.s
            best.n = wp.quat_rotate(q, h.n)
            best.shape = k
    if wp.dot(best.n, d) > ZERO:
        best.n = -best.n
    return best


@wp.kernel(enable_backward=False)
def cast_kernel(
    # model
    g: Shapes,
    own: wp.int32,  # body that is not seen, -1: all are
    # rays, in the world
    p: wp.array2d(dtype=vec3),  # [ray, world]
    d: wp.array2d(dtype=vec3),
    # out
    distance: wp.array2d(dtype=f64),
    normal: wp.array2d(dtype=vec3),  # in the world, towards where the ray comes from
):
    """The nearest hit of each ray."""
    i, w = wp.tid()
    h = strike(g, own, p[i, w], d[i, w], w)
    distance[i, w] = h.s
    normal[i, w] = h.n


def triangles_of(shape: Shape) -> np.ndarray:
    """Corners of a hull's, mesh's or height field's triangles in its frame [triangle, 3, axis] [m]."""
    if isinstance(shape, ConvexHull):
        from scipy.spatial import ConvexHull as Hull

        points = np.asarray(shape.points, float)
        return points[Hull(points).simplices]
    if isinstance(shape, HeightField):
        heights = np.asarray(shape.heights, float)
        x, y = (np.linspace(-0.5, 0.5, n) * side for n, side in zip(heights.shape, shape.size, strict=True))
        grid = np.stack([*np.meshgrid(x, y, indexing="ij"), heights], axis=-1)
        a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[:-1, 1:], grid[1:, 1:]
        both = np.stack([np.stack([a, b, d], axis=2), np.stack([a, d, c], axis=2)], axis=2)
        return both.reshape(-1, 3, 3)
    assert isinstance(shape, Mesh)
    return np.asarray(shape.vertices, float)[np.asarray(shape.triangles, int)]


def _tree(shape: Shape) -> Tree:
    """The tree of a shape's triangles, made once: systems are built anew by edits, shapes are not."""
    if shape not in _TREES:
        _TREES[shape] = tree_of(triangles_of(shape))
    return _TREES[shape]


def size_of(shape: Shape) -> tuple[float, float, float]:
    """Numbers of a shape that has a code."""
    if isinstance(shape, Box):
        return tuple(map(float, shape.size))  # type: ignore[return-value]
    radius, length = getattr(shape, "radius", 0.0), getattr(shape, "length", 0.0)
    return float(radius), float(length), 0.0


@wp.kernel(enable_backward=False)
def place_kernel(
    # model
    g: Shapes,
    p: wp.array(dtype=vec3),  # [shape] in its body, or in the world
    q: wp.array(dtype=quat),
    # state in
    x: WorkArrays,
    # out
    p_WS: wp.array2d(dtype=vec3),
    q_WS: wp.array2d(dtype=quat),
):
    """Where the shapes are."""
    k, w = wp.tid()
    i = g.owner[k]
    p_WS[k, w] = p[k]
    q_WS[k, w] = q[k]
    if i >= 0:
        p_WS[k, w] = x.p_WB[i, w] + wp.quat_rotate(x.q_WB[i, w], p[k])
        q_WS[k, w] = x.q_WB[i, w] * q[k]


class Rays:
    """Casts rays in a bench's worlds, against all its shapes."""

    def __init__(self, bench: "Bench"):
        self._bench, system = bench, bench.system
        model = system.model
        found = [(-1, shape, np.zeros(3), np.array([0.0, 0, 0, 1])) for shape in model.ground.shapes]
        found += [(-1, part.shape, part.position, part.orientation) for part in model.obstacles.values()]
        still, upright = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
        found += [
            (system.body_index[body.name], shape, still, upright)
            for body in model.bodies.values()
            for shape, _ in body.drawn
        ]
        self.shapes = [shape for _, shape, _, _ in found]
        self.owners = np.array([owner for owner, *_ in found], np.int32)
        self._p = np.array([p + rotate_all(q, np.asarray(s.offset, float)) for _, s, p, q in found]).reshape(-1, 3)
        turns = [multiply_all(q, np.asarray(s.orientation, float)) for _, s, _, q in found]
        self._q = np.array(turns).reshape(-1, 4)
        self._device = system.device
        self.shapes_there = self._arrays()  # where they were when a reading was last launched
        self._placing = self._places(bench)

    def _places(self, bench: "Bench") -> Reading | None:
        """What finds where the shapes are; None: there are none."""
        size = (len(self.shapes), bench.system.counts.worlds)
        there, device = self.shapes_there, self._device
        there.p_WS, there.q_WS = (wp.zeros(size, dtype=kind, device=device) for kind in (vec3, quat))
        if not self.shapes:
            return None
        own = [wp.array(x, dtype=kind, device=device) for x, kind in ((self._p, vec3), (self._q, quat))]
        return Reading(place_kernel, size, [there, *own, bench.work], [there.p_WS, there.q_WS])

    def readings(self) -> list[Reading]:
        """What is launched before the shapes are where they are now, for who goes on with them on the device."""
        return [] if self._placing is None else [self._placing]

    def _arrays(self) -> Shapes:
        """What of the shapes stays."""
        trees = [_tree(shape) if type(shape) not in CODES else Tree.empty() for shape in self.shapes]
        nodes, corners = (
            np.cumsum([0, *counts]) for counts in ([len(t.skip) for t in trees], [len(t.corner) for t in trees])
        )
        made = {
            "code": np.array([CODES.get(type(shape), TRIANGLES) for shape in self.shapes], np.int32),
            "owner": self.owners,
            "size": np.array([self._size(shape) for shape in self.shapes]).reshape(-1, 3),
            "node": np.stack([nodes[:-1], nodes[1:]], axis=1).astype(np.int32),
            "low": np.concatenate([np.zeros((0, 3)), *(tree.low for tree in trees)]),
            "high": np.concatenate([np.zeros((0, 3)), *(tree.high for tree in trees)]),
            "skip": np.concatenate([[], *(t.skip + n for t, n in zip(trees, nodes, strict=False))]).astype(np.int32),
            "corners": np.concatenate(
                [np.zeros((0, 2)), *(t.span + n for t, n in zip(trees, corners, strict=False))]
            ).astype(np.int32),
            "corner": np.concatenate([np.zeros((0, 3, 3)), *(tree.corner for tree in trees)]),
        }
        found = Shapes()
        for name, values in made.items():
            dtype = wp.int32 if values.dtype == np.int32 else vec3
            setattr(found, name, wp.array(np.ascontiguousarray(values), dtype=dtype, device=self._device))
        return found

    @staticmethod
    def _size(shape: Shape) -> tuple[float, float, float]:
        return size_of(shape) if type(shape) in CODES else (0.0, 0.0, 0.0)

    def cast(self, p: np.ndarray, d: np.ndarray, own: int = -1) -> tuple[np.ndarray, np.ndarray]:
        """Distances [ray, world] [m], infinite where nothing is struck, and normals there; p and d [ray, world, 3]."""
        shape = p.shape[:2]
        if not self.shapes or not p.size:
            return np.full(shape, np.inf), np.zeros((*shape, 3))
        device = self._device
        rays = [wp.array(np.ascontiguousarray(x, float), dtype=vec3, device=device) for x in (p, d)]
        out = [wp.zeros(shape, dtype=f64, device=device), wp.zeros(shape, dtype=vec3, device=device)]
        launch(cast_kernel, shape, [self.now(), own, *rays, *out], device)
        distance = out[0].numpy().copy()
        distance[distance >= FAR] = np.inf
        return distance, out[1].numpy().copy()

    def now(self) -> Shapes:
        """The shapes where they are."""
        for reading in self.readings():
            reading.launch()
        return self.shapes_there

    def walls(self, most: int = 64) -> np.ndarray:
        """Normals of the flat faces of boxes that stand on the ground or are of it, each once [face, 3]."""
        found: Iterable[np.ndarray] = (
            rotate_all(q, sign * axis)
            for k, shape in enumerate(self.shapes)
            if isinstance(shape, Box) and self.owners[k] < 0
            for q in (self._q[k],)
            for axis in np.eye(3)
            for sign in (1.0, -1.0)
        )
        once = {tuple(np.round(n, 9) + 0.0): n for n in found}
        return np.array(list(once.values())[:most]).reshape(-1, 3)
