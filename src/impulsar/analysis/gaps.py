"""Gaps of pairs of shapes at many poses, on the device: what clearance and reachable regions ask.

Every shape counts, with a material or without. A shape is that of a body or of the ground (its own, an obstacle's).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import warp as wp

from ..author.checks import sequence, show
from ..author.errors import ModelError
from ..author.model import Model
from ..author.rotations import multiply, rotation_matrix
from ..author.shapes import HeightField, Mesh, Plane, Shape
from ..author.surfaces import Obstacle
from ..author.touching import GROUND, Exclusions, owners
from ..engine.collide.arrays import CollideScratch, ShapeArrays
from ..engine.collide.detect import pair_distance, place_shape
from ..engine.collide.shapes import collide_scratch, shape_arrays
from ..engine.device import check_device
from ..engine.launch import launch
from ..engine.spatial import ZERO, f64, quat, vec3

LANES = {
    True: 16,
    False: 2048,
}  # threads, on the CPU and elsewhere: each takes every so manieth pair, in scratch of its own
AT_ONCE = 500_000  # pairs and poses in one launch


@dataclass(frozen=True)
class Pair:
    """Two shapes, by their owners (bodies, obstacles, "ground") and their numbers among the owners' shapes."""

    first: str
    second: str
    first_shape: int = 0
    second_shape: int = 0

    def __str__(self) -> str:
        return f"{_told(self.first, self.first_shape)} - {_told(self.second, self.second_shape)}"


def _told(owner: str, shape: int) -> str:
    return owner if shape == 0 else f"{owner}[{shape}]"


@wp.kernel(enable_backward=False)
def gap_kernel(
    # shapes
    m: ShapeArrays,
    x: CollideScratch,
    # pairs and the poses of their bodies
    first: wp.array(dtype=wp.int32),
    second: wp.array(dtype=wp.int32),
    p_WB: wp.array2d(dtype=vec3),
    q_WB: wp.array2d(dtype=quat),
    lanes: int,
    # out
    gap: wp.array(dtype=f64),
    point: wp.array2d(dtype=vec3),
):
    """Gap and nearest points of pairs, each at poses of its own."""
    w = wp.tid()
    i = int(w)
    while i < first.shape[0]:
        place_shape(m, x, first[i], p_WB[i, 0], q_WB[i, 0], ZERO, w)
        place_shape(m, x, second[i], p_WB[i, 1], q_WB[i, 1], ZERO, w)
        s = pair_distance(m, x, first[i], second[i], w)
        gap[i] = s.gap
        point[i, 0] = s.on_first
        point[i, 1] = s.on_second
        i += lanes


class Gaps:
    """Pairs of shapes of a model, ready to be measured."""

    def __init__(self, model: Model, pairs: Sequence[Pair], device: str = "cpu"):
        self.pairs = list(pairs)
        self.device = check_device(device)
        known, number = owners(model), {name: k for k, name in enumerate(model.bodies)}
        shapes: list[tuple[int, Shape]] = []
        places: dict[tuple[str, int, bool], int] = {}
        ends = np.zeros((len(self.pairs), 2), np.int32)
        bodies = np.full((len(self.pairs), 2), -1)
        for i, pair in enumerate(self.pairs):
            two = (pair.first, pair.first_shape), (pair.second, pair.second_shape)
            kinds = [known[name].shapes[k] for name, k in two]
            for end, (name, k) in enumerate(two):
                is_hull = isinstance(kinds[end], Mesh) and isinstance(kinds[1 - end], Plane)  # as near to a plane
                if (name, k, is_hull) not in places:
                    places[name, k, is_hull] = len(shapes)
                    shape = kinds[end].hull() if is_hull else kinds[end]
                    shapes.append((number.get(name, -1), _placed(known[name], shape)))
                ends[i, end], bodies[i, end] = places[name, k, is_hull], number.get(name, -1)
        self.bodies = bodies  # [pair, end] by the order of the model's bodies, -1: the ground
        self._ends = ends
        self._lanes = LANES[wp.get_device(self.device).is_cpu]
        if shapes:
            self._shapes = shape_arrays(shapes, device=self.device)
            self._scratch = collide_scratch(self._shapes, self._lanes, 1, 1, self.device)

    def measure(self, pair: np.ndarray, p_WB: np.ndarray, q_WB: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gaps [n] and nearest points [n, end, axis] of pairs [n], their bodies at p [n, end, 3], q [n, end, 4]."""
        gaps, points = np.zeros(len(pair)), np.zeros((len(pair), 2, 3))
        for start in range(0, len(pair), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            ends = self._ends[pair[part]]
            count, device = len(ends), self.device
            gap = wp.zeros(count, dtype=f64, device=device)
            point = wp.zeros((count, 2), dtype=vec3, device=device)
            inputs: list[Any] = [self._shapes, self._scratch]
            inputs += [wp.array(np.ascontiguousarray(ends[:, k]), dtype=wp.int32, device=device) for k in range(2)]
            inputs += [wp.array(np.ascontiguousarray(p_WB[part]), dtype=vec3, device=device)]
            inputs += [wp.array(np.ascontiguousarray(q_WB[part]), dtype=quat, device=device)]
            launch(gap_kernel, self._lanes, [*inputs, self._lanes, gap, point], device)
            gaps[part], points[part] = gap.numpy(), point.numpy()
        return gaps, points

    def measure_all(self, p_WB: np.ndarray, q_WB: np.ndarray) -> np.ndarray:
        """Gaps [pose, pair] of all pairs at poses of all bodies, p [pose, body, 3], q [pose, body, 4]."""
        poses, count = len(p_WB), len(self.pairs)
        found = np.zeros((poses, count))
        stride = max(1, AT_ONCE // max(count, 1))
        for start in range(0, poses if count else 0, stride):
            p, q = with_ground(p_WB[start : start + stride], q_WB[start : start + stride])
            pair = np.tile(np.arange(count), len(p))
            gaps, _ = self.measure(pair, p[:, self.bodies].reshape(-1, 2, 3), q[:, self.bodies].reshape(-1, 2, 4))
            found[start : start + stride] = gaps.reshape(-1, count)
        return found


def with_ground(p_WB: np.ndarray, q_WB: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Poses [pose, body, ..] with that of the ground behind them, where index -1 finds it."""
    still = np.tile([0.0, 0.0, 0.0, 1.0], (len(q_WB), 1, 1))
    return np.concatenate([p_WB, np.zeros((len(p_WB), 1, 3))], axis=1), np.concatenate([q_WB, still], axis=1)


def _placed(owner: Any, shape: Shape) -> Shape:
    """A shape in its body's frame; of an obstacle in the world."""
    if not isinstance(owner, Obstacle):
        return shape
    offset = owner.position + rotation_matrix(owner.orientation) @ shape.offset
    q = multiply(np.asarray(owner.orientation), np.asarray(shape.orientation))
    return replace(shape, offset=offset, orientation=q / np.linalg.norm(q))


def find_pairs(
    owner: str, model: Model, pairs: Sequence[tuple[str, str]] | None
) -> tuple[list[Pair], list[tuple[Pair, str]]]:
    """Pairs of shapes to be measured, and those that cannot be, with the reason.

    By default of all bodies and obstacles that move against each other and that no joint joins, unless it asks for
    contact; else of those that are named, joined or not.
    """
    known = owners(model)
    if pairs is None:
        plain = model.copy()
        plain.no_contacts = {}
        excluded = Exclusions(plain)
        chosen = [two for two in combinations(known, 2) if excluded.why(*two) is None]
    else:
        chosen = [_named(owner, known, two) for two in sequence(owner, "pairs", pairs)]
    found, left_out = [], []
    for a, b in dict.fromkeys(chosen):
        for i, first in enumerate(known[a].shapes):
            for j, second in enumerate(known[b].shapes):
                pair = Pair(a, b, i, j)
                if isinstance(first, Mesh | HeightField) and isinstance(second, Mesh | HeightField):
                    left_out.append((pair, "both are surfaces; give one as its hull or convex parts"))
                else:
                    found.append(pair)
    if pairs is not None and left_out:
        raise ModelError(f"{owner}: {left_out[0][0]}: {left_out[0][1]}")
    return found, left_out


def _named(owner: str, known: dict[str, Any], two: Any) -> tuple[str, str]:
    if not isinstance(two, tuple | list) or len(two) != 2:
        raise ModelError(f"{owner}: a pair is {show(two)}, expected two names of bodies or obstacles")
    for name in two:
        if not isinstance(name, str) or name not in known:
            raise ModelError(f"{owner}: no body or obstacle named {show(name)}; known are: {', '.join(known)}")
        if not known[name].shapes:
            raise ModelError(f"{owner}: {'ground' if name == GROUND else repr(name)} has no shape; give it one")
    if two[0] == two[1]:
        raise ModelError(f"{owner}: a pair is {show(two)}, expected two different ones")
    return two[0], two[1]
