"""Shapes of a large world that touch, on a device: boxes, balls, capsules, cylinders, cones, hulls and the ground's."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import warp as wp

from ...author.errors import ModelError
from ...author.shapes import Plane, Shape
from ..collide.arrays import FIELD, MESH, PLANE, ShapeArrays
from ..collide.shapes import collide_scratch, shape_arrays
from ..spatial import f64, vec3
from . import manifold, solids, touch
from .bench import LargeBench
from .bulk import Bulk, frames_along, rotate
from .contacts import LISTED, SHARE, SLOP, Touching, give_room

LANES = 16_384  # of scratch on a GPU; a CPU has one
MOST_LEVELS = 12  # of sizes, each twice the one before
BOUNCES = 4  # sweeps that send impacts back
PAIRED = ("first", "second", "colour")
POINTS = {
    "on_first": vec3,
    "on_second": vec3,
    "normal": vec3,
    "side": wp.int32,
    "shapes": wp.vec2i,
    "push": f64,
    "slip": vec3,
    "before": f64,
}


def ground_shapes(bulk: Bulk) -> list[Shape]:
    """Planes and other shapes of the ground."""
    turned = frames_along(bulk.planes[:, :3]) if len(bulk.planes) else np.zeros((0, 4))
    planes: list[Shape] = [
        Plane(offset=offset * normal, orientation=q)
        for normal, offset, q in zip(bulk.planes[:, :3], bulk.planes[:, 3], turned, strict=True)
    ]
    return planes + list(bulk.obstacles)


def solid_arrays(bulk: Bulk, device: str, used: np.ndarray | None = None) -> tuple[solids.SolidArrays, float, float]:
    """Shapes on a device, the largest radius of a body of the lowest level, and the least half size of a shape [m].

    used: kinds that bodies have; by default those of this bulk's.
    """
    own = [shape for kind in bulk.shapes for shape in kind]
    ground = ground_shapes(bulk)
    s = solids.SolidArrays()
    s.shapes = shape_arrays([(0, shape) for shape in own] + [(-1, shape) for shape in ground], device=device)
    kinds = s.shapes.kind.numpy()
    for k, shape in enumerate([*own, *ground]):
        if kinds[k] in (MESH, FIELD) or (kinds[k] == PLANE and k < len(own)):
            raise ModelError(f"{bulk.name}: large worlds have no contact of a {type(shape).__name__}; take im.World")
    sizes = [len(kind) for kind in bulk.shapes]
    begin = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    middle = np.linalg.norm(s.shapes.p_BS.numpy() + rotate(s.shapes.q_BS.numpy(), s.shapes.middle.numpy()), axis=1)
    about = middle + s.shapes.reach.numpy()
    reach = np.array([about[a:b].max(initial=0.0) for a, b in pairwise(begin)])
    used = np.unique(bulk.kind) if used is None else used
    least = float(reach[used][reach[used] > 0.0].min())
    level = np.where(reach > 0.0, np.ceil(np.log2(np.maximum(reach, least) / least) - 1e-9), 0.0).astype(int)
    if level[used].max() >= MOST_LEVELS:
        raise ModelError(
            f"{bulk.name}: bodies of {least:.3g} m and of {reach[used].max():.3g} m: sizes may differ by"
            f" 2^{MOST_LEVELS - 1} in a large world; make what is large an obstacle, or take im.World"
        )
    integers: dict[str, Any] = {"dtype": wp.int32, "device": device}
    s.begin, s.level = wp.array(begin, **integers), wp.array(level, **integers)
    s.ground, s.obstacles = len(own), len(ground)
    s.reach = wp.array(reach, dtype=f64, device=device)
    s.used = wp.array(np.isin(np.arange(level[used].max() + 1), level[used]).astype(int), **integers)
    names = list(bulk.materials)
    s.material = wp.array([_material(names, shape) for shape in [*own, *ground]], **integers)
    for name in ("friction", "holding", "restitution"):
        setattr(s, name, wp.array(_surface(bulk, name), dtype=f64, device=device))
    s.excluded = wp.array(_excluded(bulk, len(ground)), dtype=wp.int64, device=device)
    size = s.shapes.half.numpy() + s.shapes.radius.numpy()[:, None]
    thin = [size[k][size[k] > 0.0].min() for k in range(len(own))]
    return s, least, float(min(thin))


def _material(names: list[str], shape: Shape) -> int:
    """0: that of the bulk itself."""
    return 1 + names.index(shape.material) if shape.material in names else 0


def _surface(bulk: Bulk, name: str) -> np.ndarray:
    """[material, material]; the first is the bulk's own, met by others at √(μ μ'), without bouncing."""
    if name in bulk.surfaces:
        given = np.asarray(bulk.surfaces[name], float)
    else:
        given = np.zeros((0, 0))
    own = 0.0 if name == "restitution" else bulk.friction
    out = np.full((1 + len(bulk.materials),) * 2, own)
    out[1:, 1:] = given
    mixed = np.sqrt(own * np.diag(given)) if name != "restitution" else np.zeros(len(given))
    out[0, 1:] = out[1:, 0] = mixed
    return out


def _excluded(bulk: Bulk, obstacles: int) -> np.ndarray:
    """Pairs that never touch: bodies that a joint joins, and those that the bulk names (an obstacle: -1 - obstacle)."""
    joined = np.stack([bulk.first, bulk.second], 1)
    joined = joined[(joined >= 0).all(1)]
    given = np.asarray(bulk.no_contact, np.int64).reshape(-1, 2)
    planes = len(bulk.planes)
    given = np.where(given < 0, bulk.bodies + planes - 1 - given, given)
    pairs = np.sort(np.concatenate([joined, given]), 1) if bulk.joined_apart else np.sort(given, 1)
    return np.unique(pairs[:, 0] * (bulk.bodies + obstacles) + pairs[:, 1])


class Pile(Touching):
    """Bodies with shapes of a bench that touch each other and the ground."""

    LISTED: ClassVar[dict[str, Any]] = {name: LISTED[name] for name in PAIRED}  # impulses are those of points

    def __init__(self, bench: LargeBench, kinds: np.ndarray | None = None):
        """kinds: of all bodies of the world, where the bench has a part of them."""
        self.solid, reach, self.least = solid_arrays(bench.bulk, bench.device, kinds)
        super().__init__(bench, 2.0 * reach)
        self.margin = touch.Margin()
        self._lanes = 1 if bench.device == "cpu" else LANES
        self.scratch = _scratch(self.solid.shapes, self._lanes, bench.device)
        self.near = self._new_list(6 * bench.bodies)
        self._near_points, self._place = (wp.zeros(6 * bench.bodies, wp.int32, device=bench.device) for _ in range(2))
        self.points, self._old_points = (self._point_room(4 * bench.bodies, 8 * bench.bodies) for _ in range(2))
        self._bounces = bool((self.solid.restitution.numpy() > 0.0).any())
        self._span = 0.0

    def _point_room(self, pairs: int, most: int) -> solids.Points:
        made = solids.Points()
        made.begin = wp.zeros(pairs + 1, wp.int32, device=self.bench.device)
        give_room(made, POINTS, most, self.bench.device)
        return made

    # detection ------------------------------------------------------------------------------------

    def find(self, h: float) -> None:
        """Pairs that touch or may in a step h [s], their points, what they inherit, and their colours."""
        bench = self.bench
        x, a, s = bench.x, bench.a, self.solid
        self._launch(solids.fastest_solid, bench.shares, x, a, s, bench.sums[0])
        self._expect(float(bench.sums[0].numpy().max()), h)
        self._span = h
        self._sort_cells(solids.number_solid_cells, x, a, s, self.grid)
        near = self._find_near()
        given = (x, a, s, self.scratch)
        self._launch(
            solids.list_points, self._lanes, *given, self.near, near, self.margin, 0, self._near_points, self.points
        )
        self.list, self._old = self._old, self.list
        self.points, self._old_points = self._old_points, self.points
        self._keep_touching(near)
        self._launch(
            solids.list_points, self._lanes, *given, self.list, self.count, self.margin, 1, self._place, self.points
        )
        self._launch(solids.inherit_points, self.count, s, self.list, self.points, self._old, self._old_points)
        self._launch(manifold.measure_before, self.count, x, self.a, self.list, self.points)
        self._colour()

    def _expect(self, fastest: float, h: float) -> None:
        """Gaps that a step may close, and cells so wide that such pairs are in neighbouring ones."""
        m, way = self.margin, self._way(fastest, h)
        m.span, m.rest = h, min(2.0 * way + SLOP * self.least, 0.1 * self.widest)
        m.most = min(max(m.rest, way), 0.5 * self.widest)
        self.grid.edge = self.widest + m.most

    def _find_near(self) -> int:
        """Pairs of bodies that are near, into `near`; their number."""
        bench, n = self.bench, self.bench.bodies
        given = (bench.x, bench.a, self.solid, self.grid, self.margin)
        self._launch(solids.list_near, n, *given, 0, self._counts, self.near)
        if n:
            wp.utils.array_scan(self._counts, self.near.begin[1:], inclusive=True)
        near = int(self.near.begin[n : n + 1].numpy()[0])
        if near > self.near.first.size:
            self._widen(self.near, 2 * near)
            self._near_points, self._place = (wp.zeros(2 * near, wp.int32, device=bench.device) for _ in range(2))
        self._launch(solids.list_near, n, *given, 1, self._counts, self.near)
        return near

    def _keep_touching(self, near: int) -> None:
        """Of the pairs that are near those that have points, and room for these."""
        n, device = self.bench.bodies, self.bench.device
        self.count = 0
        if near:
            self._launch(solids.flag_touching, near, self._near_points, self._place)
            wp.utils.array_scan(self._place[:near], self._place[:near], inclusive=True)
            self.count = int(self._place[near - 1 : near].numpy()[0])
        self._make_room()
        if self.count + 2 > self.points.begin.size:
            self.points.begin = wp.zeros(2 * self.count + 2, wp.int32, device=device)
        counts = self.points.begin[1 : self.count + 1]
        self._launch(solids.keep_touching, near, self.near, self._near_points, self._place, self.list, counts)
        self._launch(solids.keep_begins, n + 1, self.near, self._place, self.list)
        if not self.count:
            return
        wp.utils.array_scan(counts, counts, inclusive=True)
        points = int(self.points.begin[self.count : self.count + 1].numpy()[0])
        if points > self.points.push.size:
            give_room(self.points, POINTS, points + points // 4, device)

    def _left_over(self, many: int) -> None:
        self._launch(touch.give_last_colour, self.count, self.list)

    # steps ----------------------------------------------------------------------------------------

    def _give_again(self) -> None:
        given = (self.bench.x, self.a, self.list, self.points, self.queue)
        for colour, threads in self._colours():
            self._launch(manifold.give_again, threads, *given, colour, threads)

    def _sweep(self, slow: float = -1.0) -> None:
        """There and back."""
        bench, colours = self.bench, self._colours()
        given = (bench.x, self.a, self.solid, self.list, self.points, self.queue)
        for back, those in enumerate((colours, colours[::-1])):
            for colour, threads in those:
                self._launch(manifold.sweep_points, threads, *given, colour, threads, bench.h, slow, back)

    def _separate(self) -> None:
        given = (self.bench.x, self.a, self.list, self.points, self.queue)
        for colour, threads in self._colours():
            self._launch(manifold.separate_points, threads, *given, colour, threads, SHARE, SLOP * self.least)

    def finish(self) -> None:
        """Send impacts back."""
        if not self._bounces:
            return
        slow = 2.0 * self._span * float(np.linalg.norm(self.bench.bulk.gravity))
        for _ in range(BOUNCES):
            self._sweep(slow)
            if self.jointed:
                self.with_joints(self.bench.project_velocities)

    def overlap(self) -> float:
        """The largest [m]."""
        worst, x, a = self.bench.sums[0], self.bench.x, self.a
        self._launch(manifold.deepest_point, worst.size, x, a, self.list, self.points, self.count, worst)
        return float(worst.numpy().max())

    # snapshots ------------------------------------------------------------------------------------

    def snapshot(self) -> tuple:
        """What contacts leave for the next step."""
        c, n = self.list, max(self.count, 1)
        many = max(int(self.points.begin.numpy()[self.count]), 1) if self.count else 1
        pairs = [wp.clone(c.begin), *(wp.clone(getattr(c, name)[:n]) for name in PAIRED)]
        points = [wp.clone(self.points.begin[: n + 1])]
        points += [wp.clone(getattr(self.points, name)[:many]) for name in POINTS]
        return self.count, many, pairs, points

    def restore(self, kept: tuple) -> None:
        """Go back to a snapshot."""
        self.count, many, pairs, points = kept
        if self.list.first.size < max(self.count, 1):  # a part of a world may have had no bodies yet
            self._widen(self.list, 2 * max(self.count, 1))
        if self.points.push.size < many or self.points.begin.size < self.count + 1:
            self.points.begin = wp.zeros(2 * self.count + 1, wp.int32, device=self.bench.device)
            give_room(self.points, POINTS, 2 * many, self.bench.device)
        _take(self.list, ("begin", *PAIRED), pairs)
        _take(self.points, ("begin", *POINTS), points)


def _take(struct: Any, names: Sequence[str], arrays: Sequence[wp.array]) -> None:
    for name, values in zip(names, arrays, strict=True):
        wp.copy(getattr(struct, name), values, count=values.size)


def _scratch(shapes: ShapeArrays, lanes: int, device: str) -> Any:
    """Scratch for pairs of shapes, without room for a world's shapes and contacts."""
    nothing = ShapeArrays()
    for name in ("kind", "node_count"):
        setattr(nothing, name, wp.zeros(0, wp.int32, device=device))
    nothing.heights = wp.zeros(0, f64, device=device)
    nothing.face_start = shapes.face_start
    return collide_scratch(nothing, lanes, 0, 0, device)
