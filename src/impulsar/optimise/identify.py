"""Identification: parameters for which a world's trajectory is the one that was measured, by gradients of the steps."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from ..author.errors import ModelError
from ..world.rollout import Rollout
from ..world.world import World


@dataclass(frozen=True)
class Identified:
    """Parameters that fit measurements best, in the sense of least squares."""

    values: dict[str, float]
    errors: dict[str, float]  # standard deviation of each, from the scatter that is left
    rms: float  # of what is left [as measured]
    before: float  # of what there was at the start
    evaluations: int


def read_samples(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and measurements [sample, column] of a CSV file with one line of names, the time first."""
    with Path(path).open(newline="", encoding="utf-8") as file:
        _, *lines = csv.reader(file)
    try:
        numbers = np.array([[float(cell) for cell in line] for line in lines if line])
    except ValueError as error:
        raise ModelError(f"{path}: {error}; expected a line of names, then numbers") from error
    if numbers.ndim != 2 or numbers.shape[1] < 2 or not np.isfinite(numbers).all():
        raise ModelError(f"{path}: expected columns of finite numbers, the time first")
    return numbers[:, 0], numbers[:, 1:]


def identify(
    world: World,
    of: str | Sequence[str],
    to: str | Sequence[str],
    times: Any,
    measured: Any,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    rounds: int = 50,
) -> Identified:
    """Values of parameters, or of the start, for which outcomes at times [s] are as measured [sample, of].

    of, to: as of `World.sensitivity`; the world is at the start of the measurements, with a guess of the parameters.
    times: evenly apart, from the world's time on, by a whole multiple of its step. bounds: by path; 0 and more
    otherwise, but of the start any. Take a method whose steps have gradients everywhere: `simgc`, or `direct` with
    substeps=1.
    """
    at, samples = np.asarray(times, float), np.asarray(measured, float)
    samples = samples[:, None] if samples.ndim == 1 else samples
    every = float(at[1] - at[0]) if len(at) > 1 else 0.0
    if world.worlds != 1 or len(at) < 2 or len(samples) != len(at) or np.abs(np.diff(at) - every).max() > 1e-6 * every:
        raise ModelError("identify: expected one world, and times evenly apart with a measurement for each")
    if abs(every / world.dt - round(every / world.dt)) > 1e-6:
        raise ModelError(f"identify: times are {every:g} s apart, no whole multiple of the step {world.dt:g} s")
    first = round((at[0] - world.time) / every)
    if first < 0 or abs(first * every + world.time - at[0]) > 1e-6 * every:
        raise ModelError(f"identify: the first time {at[0]:g} s is no sample from the world's time {world.time:g} s on")
    rollout = Rollout(world, of, to, float(at[-1] - world.time), every)
    keep = slice(first, first + len(at))
    start = rollout.values()[0]
    if samples.shape[1] != len(rollout.of):
        raise ModelError(f"identify: {samples.shape[1]} columns are measured, of has {len(rollout.of)}")
    ends = np.array([(bounds or {}).get(path, _range(path)) for path in rollout.to], float).T
    kept: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}
    count = 0

    def both(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nonlocal count
        key = p.tobytes()
        if key not in kept:
            count += 1
            y, slopes = rollout.jacobian(p[None])
            kept.clear()
            kept[key] = (y[0, keep] - samples).ravel(), slopes[0, keep].reshape(samples.size, len(p))
        return kept[key]

    scale = np.where(start != 0.0, np.abs(start), 1.0)
    told = least_squares(
        lambda p: both(p)[0],
        np.clip(start, ends[0] + 1e-12, ends[1] - 1e-12),
        lambda p: both(p)[1],
        bounds=tuple(ends),
        x_scale=scale,
        max_nfev=rounds,
    )
    before = both(start)[0]
    left = told.fun
    variance = (left**2).sum() / max(len(left) - len(start), 1)
    spread = np.sqrt(np.diag(np.linalg.pinv(told.jac.T @ told.jac)) * variance)
    return Identified(
        dict(zip(rollout.to, map(float, told.x), strict=True)),
        dict(zip(rollout.to, map(float, spread), strict=True)),
        float(np.sqrt((left**2).mean())),
        float(np.sqrt((before**2).mean())),
        count,
    )


def _range(path: str) -> tuple[float, float]:
    return (-np.inf, np.inf) if path.endswith((".position", ".velocity", ".motor", ".x", ".y", ".z")) else (0.0, np.inf)
