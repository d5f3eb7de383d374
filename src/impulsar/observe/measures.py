"""Distances and angles that a model names, of the present pose, on the host."""

import numpy as np

from ..author.rotations import rotate_all
from .bench import Bench


def distances(bench: Bench) -> np.ndarray:
    """Lengths of all distances [distance, world] [m]."""
    a = _places(bench, "distances", "first", "p_PQ")
    b = _places(bench, "distances", "second", "p_CQ")
    return np.linalg.norm(b - a, axis=-1)


def angles(bench: Bench) -> np.ndarray:
    """All angles between lines, 0 to π [angle, world] [rad]: atan2(|a × b|, a · b), good near 0 and π too."""
    a, b = (
        _places(bench, "angles", body, end) - _places(bench, "angles", body, start)
        for body, start, end in (("first", "p_PA", "p_PB"), ("second", "p_CA", "p_CB"))
    )
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1))


def probes(bench: Bench) -> np.ndarray:
    """World places of the probes [probe, world, 3] [m]; by the kernel where all worlds have the same points."""
    if not bench.system.each:
        return bench.readout.points()
    return _places(bench, "probes", "body", "p_BQ")


def parameters(bench: Bench) -> np.ndarray:
    """Values of the model's parameters [parameter, world], each in its own unit."""
    models, worlds = bench.system.each or (bench.system.model,), bench.system.counts.worlds
    values = np.array([[model.parameters[name].value for model in models] for name in bench.system.model.parameters])
    return np.broadcast_to(values.astype(float).reshape(-1, len(models)), (len(values), worlds)).copy()


def _places(bench: Bench, kind: str, body: str, point: str) -> np.ndarray:
    """World places of points of parts, by the fields that name their body and the point [part, world, 3] [m]."""
    p_WB, q_WB, system = bench.read("p_WB"), bench.read("q_WB"), bench.system
    models, worlds = system.each or (system.model,), system.counts.worlds
    found = []
    for name, part in getattr(system.model, kind).items():
        p_BQ = np.array([getattr(getattr(model, kind)[name], point) for model in models])  # [1 or world, 3]
        i = system.body_index.get(getattr(part, body))
        at = p_BQ if i is None else p_WB[i] + rotate_all(q_WB[i], p_BQ)
        found.append(np.broadcast_to(at, (worlds, 3)))
    return np.array(found).reshape(-1, worlds, 3)
