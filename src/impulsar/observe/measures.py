"""Distances and angles that a model names, of the present pose, on the host."""

from collections.abc import Iterable

import numpy as np

from ..author.rotations import rotate_all
from .bench import Bench


def distances(bench: Bench) -> np.ndarray:
    """Lengths of all distances [distance, world] [m]."""
    parts = bench.system.model.distances.values()
    a = _places(bench, ((part.first, part.p_PQ) for part in parts))
    b = _places(bench, ((part.second, part.p_CQ) for part in parts))
    return np.linalg.norm(b - a, axis=-1)


def angles(bench: Bench) -> np.ndarray:
    """All angles between lines, 0 to π [angle, world] [rad]: atan2(|a × b|, a · b), good near 0 and π too."""
    parts = bench.system.model.angles.values()
    a, b = (
        _places(bench, ((getattr(part, body), getattr(part, end)) for part in parts))
        - _places(bench, ((getattr(part, body), getattr(part, start)) for part in parts))
        for body, start, end in (("first", "p_PA", "p_PB"), ("second", "p_CA", "p_CB"))
    )
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1))


def parameters(bench: Bench) -> np.ndarray:
    """Values of the model's parameters [parameter, world], each in its own unit."""
    values = [part.value for part in bench.system.model.parameters.values()]
    return np.repeat(np.array(values, float)[:, None], bench.system.counts.worlds, axis=1)


def _places(bench: Bench, points: Iterable[tuple[str, np.ndarray]]) -> np.ndarray:
    """World places of points of bodies [point, world, 3] [m]."""
    p_WB, q_WB, index = bench.read("p_WB"), bench.read("q_WB"), bench.system.body_index
    worlds = bench.system.counts.worlds
    found = [
        p_WB[index[body]] + rotate_all(q_WB[index[body]], p_BQ) if body in index else np.tile(p_BQ, (worlds, 1))
        for body, p_BQ in points
    ]
    return np.array(found).reshape(-1, worlds, 3)
