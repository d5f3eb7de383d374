"""The reachable region of a point (the working space of Mariti 2012 §2): where it can be brought, by batch.

Driven coordinates are sampled, on a grid or at random, and the mechanism is brought to each sample with its loops
closed (`poses`). The region of the points is the union of their Delaunay simplices that are no larger than the
samples are apart: holes and dents stay open. With s the distance of a sample from its neighbours, on a grid the
diagonal of its cell's image, else that of its k-th nearest,

    simplex ⊂ region  ⟺  circumradius ≤ max of s at its corners
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..author.checks import Vector, number, show, vector, whole
from ..author.errors import ModelError
from ..author.model import Model
from ..author.rotations import rotation_matrices, rotation_matrix
from ..engine.device import check_device
from ..render import Pose, draw_points
from ..world.world import World
from .bodies import Mechanism
from .gaps import Gaps, find_pairs
from .poses import coordinates_of_joints, drive_all

MOST = 1_000_000  # samples
FLAT = 1e-6  # of the largest extent: points this near to a plane or a line are in it
NEIGHBOURS = {2: 12, 3: 24}  # whose distance is that of random samples from each other, by dimension
TOUCHING = 1e-9  # shapes that overlap deeper interfere [m]
BEYOND = 1e-9  # a coordinate this far beyond its limit is beyond it [m, rad]


@dataclass(frozen=True)
class Reachable:
    """Where a point can be brought."""

    model: Model
    point: str
    names: tuple[str, ...]  # of the coordinates that were sampled
    points: np.ndarray  # [sample, 3] places reached [m]
    coordinates: np.ndarray  # [sample, coordinate] of each [m, rad]
    tried: int  # samples
    open: int  # of them: loops do not close there
    beyond: int  # another joint is beyond its limits
    interfering: int  # shapes overlap
    spacing: np.ndarray = field(repr=False)  # [sample] distance from its neighbours [m]
    _pose: Pose = field(repr=False)

    @cached_property
    def _frame(self) -> tuple[int, np.ndarray, np.ndarray]:
        """Dimension of the region, its middle, and principal axes as rows."""
        if len(self.points) < 2:
            return 0, self.points.mean(axis=0) if len(self.points) else np.zeros(3), np.eye(3)
        middle = self.points.mean(axis=0)
        _, widths, axes = np.linalg.svd(self.points - middle, full_matrices=False)
        spread = int((widths > FLAT * widths[0]).sum()) if widths[0] > 0 else 0
        return min(spread, len(self.names)) if len(self.names) < 3 else spread, middle, axes

    @property
    def dimension(self) -> int:
        """1: a curve, 2: a surface, 3: a solid."""
        return self._frame[0]

    @property
    def is_flat(self) -> bool:
        """Whether all points lie in a plane."""
        _, middle, axes = self._frame
        extent = float(np.ptp(self.points, axis=0).max(initial=0.0)) if len(self.points) else 0.0
        return len(self.points) < 3 or float(np.abs((self.points - middle) @ axes[-1]).max()) <= FLAT * extent

    @cached_property
    def length(self) -> float | None:
        """Of a curve that one coordinate draws, straight between samples [m]; else None."""
        if len(self.names) != 1 or len(self.points) < 2:
            return None
        along = self.points[np.argsort(self.coordinates[:, 0], kind="stable")]
        return float(np.linalg.norm(np.diff(along, axis=0), axis=1).sum())

    @cached_property
    def area(self) -> float | None:
        """Of a region in a plane, without its holes [m²]; else None."""
        if len(self.names) < 2 or not self.is_flat:
            return None
        return float(self._sizes(2).sum())

    @cached_property
    def volume(self) -> float | None:
        """Of a region in space, without its hollows [m³]; else None."""
        if len(self.names) < 3 or self.is_flat:
            return None
        return float(self._sizes(3).sum())

    @cached_property
    def hull(self) -> np.ndarray:
        """Points on the convex hull [m]."""
        from scipy.spatial import ConvexHull, QhullError

        size = 2 if self.is_flat else 3
        if len(self.points) <= size:
            return self.points
        try:
            return self.points[ConvexHull(self._local(size)).vertices]
        except QhullError:  # all on a line
            return self.points

    def _local(self, size: int) -> np.ndarray:
        """Points along the principal axes."""
        _, middle, axes = self._frame
        return (self.points - middle) @ axes[:size].T

    def simplices(self, size: int) -> np.ndarray:
        """Triangles (2) or tetrahedra (3) of the region, by samples."""
        from scipy.spatial import Delaunay, QhullError

        at = self._local(size)
        if len(at) <= size:
            return np.zeros((0, size + 1), int)
        try:
            found = Delaunay(at).simplices
        except QhullError:
            return np.zeros((0, size + 1), int)
        edges = at[found[:, 1:]] - at[found[:, :1]]
        whole_ones = np.abs(np.linalg.det(edges)) > 1e-12 * np.prod(np.linalg.norm(edges, axis=2), axis=1)
        found, edges = found[whole_ones], edges[whole_ones]
        centres = np.linalg.solve(2 * edges, (edges**2).sum(axis=2)[..., None])[..., 0]
        return found[np.linalg.norm(centres, axis=1) <= self.spacing[found].max(axis=1)]

    def _sizes(self, size: int) -> np.ndarray:
        found = self.simplices(size)
        at = self._local(size)
        edges = at[found[:, 1:]] - at[found[:, :1]]
        return np.abs(np.linalg.det(edges)) / math.factorial(size)

    def __str__(self) -> str:
        lost = {"loops do not close": self.open, "beyond limits": self.beyond, "shapes overlap": self.interfering}
        told = "".join(f", {count} {why}" for why, count in lost.items() if count)
        lines = [f"{self.model.name}: '{self.point}' over {', '.join(self.names)}"]
        lines += [f"  {len(self.points)} of {self.tried} samples reached{told}"]
        for what, unit in (("length", "m"), ("area", "m²"), ("volume", "m³")):
            if (value := getattr(self, what)) is not None:
                lines.append(f"  {what} {value:.6g} {unit}")
        if len(self.points):
            low, high = self.points.min(axis=0), self.points.max(axis=0)
            lines += [f"  {axis} from {low[k]:.6g} to {high[k]:.6g} m" for k, axis in enumerate("xyz")]
        return "\n".join(lines)

    def data(self) -> dict:
        """For JSON."""
        told = {what: getattr(self, what) for what in ("tried", "open", "beyond", "interfering")}
        sizes = {what: getattr(self, what) for what in ("length", "area", "volume")}
        points = {"points": self.points.tolist(), "coordinates": self.coordinates.tolist()}
        return {"model": self.model.name, "point": self.point, "names": list(self.names), **told, **sizes, **points}

    def plot(self, path: str | Path, title: str | None = None) -> None:
        """The points, in a plane with their region, and the mechanism at its start into a file."""
        simplices = self.simplices(2) if len(self.names) > 1 and self.is_flat else None
        told = title or f"{self.model.name}: '{self.point}'"
        draw_points(self.model, self._pose, self.points, path, simplices, len(self.names) == 1, told)


def reachable(
    source: Model | World,
    point: str,
    at: Vector | None = None,
    *,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    samples: int = 2_000,
    how: str | None = None,
    seed: int = 0,
    interference: bool | Sequence[tuple[str, str]] = False,
    device: str = "cpu",
) -> Reachable:
    """Where a point of a mechanism can be brought: a model from its authored pose, a world from where it is.

    point: a probe, or a body with the point `at` in its frame [m] (default: its centre of mass).
    ranges: lower and upper bound of each coordinate that is sampled [m, rad], by joint, or joint.group where it has
    several; by default the limits of the joints, and a turn of a motor's hinge without.
    how: "grid" (the default of up to three coordinates), as many along each so that all are at most `samples`, ends
    included; or "random", evenly from a `seed`.
    interference: True leaves out poses at which shapes of bodies or obstacles that no joint joins overlap; or the
    pairs that must not.
    """
    model = source if isinstance(source, Model) else Mechanism(source).posed_model()  # refuses what is neither
    body, p_BQ, told = _point_of(model, point, at)
    bounds = _ranges(model, ranges)
    values, shape = _samples(bounds, samples, how, seed)
    poses = drive_all(model, dict(zip(bounds, values.T, strict=True)), check_device(device))
    is_closed = poses.closed
    is_within = is_closed & (poses.beyond <= BEYOND)
    is_clear = np.ones(len(values), bool)
    if interference is not False:
        pairs, _ = find_pairs("reachable", model, None if interference is True else interference)
        gaps = Gaps(model, pairs, device)
        kept = np.flatnonzero(is_within)
        is_clear[kept] = (gaps.measure_all(poses.position[kept], poses.orientation[kept]) >= -TOUCHING).all(axis=1)
    k = list(model.bodies).index(body)
    places = poses.position[:, k] + rotation_matrices(poses.orientation[:, k]) @ p_BQ
    good = is_within & is_clear
    spacing = _spacing(places, good, shape, len(bounds))
    R_WB = {name: rotation_matrix(each.orientation) for name, each in model.bodies.items()} | {"ground": np.eye(3)}
    p_WB = {name: each.position for name, each in model.bodies.items()} | {"ground": np.zeros(3)}
    return Reachable(
        model,
        told,
        tuple(bounds),
        places[good],
        values[good],
        len(values),
        int((~is_closed).sum()),
        int((is_closed & ~is_within).sum()),
        int((is_within & ~is_clear).sum()),
        spacing[good],
        Pose(0.0, p_WB, R_WB),
    )


def _point_of(model: Model, point: object, at: Vector | None) -> tuple[str, np.ndarray, str]:
    """Body, the point in its frame, and what it is called."""
    if isinstance(point, str) and point in model.probes:
        if at is not None:
            raise ModelError(f"reachable: '{point}' is a probe and has its place; leave at= out")
        probe = model.probes[point]
        if probe.body not in model.bodies:
            raise ModelError(f"reachable: probe '{point}' is of the ground, which stays where it is")
        return probe.body, np.asarray(probe.p_BQ), point
    if not isinstance(point, str) or point not in model.bodies:
        known = ", ".join([*model.probes, *model.bodies])
        raise ModelError(f"reachable: no probe or body named {show(point)}; known are: {known}")
    return point, np.zeros(3) if at is None else vector("reachable", "at", at, "m"), point


def _ranges(model: Model, given: Mapping[str, tuple[float, float]] | None) -> dict[str, tuple[float, float]]:
    """Bounds of the coordinates that are sampled."""
    names = coordinates_of_joints(model)
    if given is not None:
        if not isinstance(given, Mapping) or not given:
            raise ModelError(f"reachable: ranges is {show(given)}, expected (lower, upper) by the names of coordinates")
        return {name: _range(names, name, pair) for name, pair in given.items()}
    found = {}
    for name, (joint, group) in names.items():
        features, kind = model.joints[joint].features[group], model.joints[joint].kind.group(group)
        if features.limits is not None and all(map(math.isfinite, features.limits)):
            found[name] = (float(features.limits[0]), float(features.limits[1]))
        elif features.motor is not None and not kind.is_slide:
            found[name] = (-math.pi, math.pi)
    if not found:
        told = ", ".join(names) or "none"
        raise ModelError(f"reachable: no joint has limits or a motor; give ranges={{name: (lower, upper)}} of: {told}")
    return found


def _range(names: Mapping[str, Any], name: object, pair: Any) -> tuple[float, float]:
    if name not in names:
        raise ModelError(f"reachable: no coordinate named {show(name)}; known are: {', '.join(names)}")
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ModelError(f"reachable: range of '{name}' is {show(pair)}, expected (lower, upper)")
    low, high = (number("reachable", f"range of '{name}'", value, "finite numbers [m, rad]") for value in pair)
    if not low < high:
        raise ModelError(f"reachable: range of '{name}' is {show(pair)}, expected lower < upper")
    return low, high


def _samples(
    bounds: Mapping[str, tuple[float, float]], samples: int, how: object, seed: int
) -> tuple[np.ndarray, tuple[int, ...] | None]:
    """Values [sample, coordinate] within bounds; the shape of their grid, None where they are random."""
    count = whole("reachable", "samples", samples, 2, MOST)
    low, high = np.array(list(bounds.values())).T
    if how is not None and (not isinstance(how, str) or how not in ("grid", "random")):
        raise ModelError(f"reachable: how is {show(how)}, expected 'grid' or 'random'")
    if how == "random" or (how is None and len(bounds) > 3):
        rng = np.random.default_rng(whole("reachable", "seed", seed, 0, 2**63 - 1))
        return low + (high - low) * rng.random((count, len(bounds))), None
    each = int(count ** (1 / len(bounds)) * (1 + 1e-12))
    if each < 2:
        raise ModelError(f"reachable: {count} samples are less than 2 along each of {len(bounds)}; give more")
    axes = [np.linspace(a, b, each) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(bounds)), (each,) * len(bounds)


def _spacing(places: np.ndarray, good: np.ndarray, shape: tuple[int, ...] | None, size: int) -> np.ndarray:
    """How far a sample is from its neighbours [m]."""
    if shape is None:
        from scipy.spatial import cKDTree

        found = np.zeros(len(places))
        k = min(NEIGHBOURS.get(size, 24), max(int(good.sum()) - 1, 1))
        if good.sum() > 1:
            found[good] = cKDTree(places[good]).query(places[good], k + 1)[0][:, -1]
        return found
    grid = np.where(good[:, None], places, np.nan).reshape(*shape, 3)
    squares = np.zeros(shape)
    for axis in range(len(shape)):
        steps = np.linalg.norm(np.diff(grid, axis=axis), axis=-1)
        steps = np.nan_to_num(np.moveaxis(steps, axis, 0))
        longest = np.maximum(
            np.pad(steps, [(1, 0)] + [(0, 0)] * (len(shape) - 1)), np.pad(steps, [(0, 1)] + [(0, 0)] * (len(shape) - 1))
        )
        squares += np.moveaxis(longest, 0, axis) ** 2
    return np.sqrt(squares).ravel()
