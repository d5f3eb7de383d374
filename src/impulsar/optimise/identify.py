"""Identification: parameters for which a world's trajectory is the one that was measured, by gradients of the steps."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from ..author.checks import show
from ..author.errors import ModelError
from ..author.names import closest
from ..world.rollout import Rollout
from ..world.world import World
from .tables import rows_of

NEAR = 1e-6  # of a step: a time so near to one is there


@dataclass(frozen=True)
class Identified:
    """Parameters that fit measurements best, in the sense of least squares."""

    values: dict[str, float]
    errors: dict[str, float]  # standard deviation of each, from the scatter that is left
    rms: float  # of what is left [as measured]
    before: float  # of what there was at the start
    evaluations: int


def read_samples(path: str | Path, columns: Sequence[str] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and measurements [sample, column] of a CSV file with one line of names, the time first.

    columns: those that are taken, by name, in their order; None: all. What is missing, an empty cell or nan, is NaN.
    """
    (_, names), *lines = [*rows_of(path)] or [(0, [])]
    if not lines or len(names) < 2 or _is_number(names[0]):
        raise ModelError(f"{path}: expected a line of names, the time first, then lines of numbers")
    chosen = list(names[1:]) if columns is None else [columns] if isinstance(columns, str) else list(columns)
    for name in chosen:
        if name not in names[1:]:
            raise ModelError(f"{path}: there is no column {show(name)}; {closest(str(name), names[1:])}")
    at = [0, *(names.index(name, 1) for name in chosen)] if columns is not None else list(range(len(names)))
    numbers = np.empty((len(lines), len(at)))
    for i, (line, cells) in enumerate(lines):
        if len(cells) != len(names):
            raise ModelError(f"{path}: line {line} has {len(cells)} cells, expected {len(names)} as there are names")
        for j, k in enumerate(at):
            try:
                numbers[i, j] = float(cells[k] or "nan")
            except ValueError:
                raise ModelError(f"{path}: line {line}: '{names[k]}' is {show(cells[k])}, expected a number") from None
    if not np.isfinite(numbers[:, 0]).all():
        raise ModelError(f"{path}: line {lines[int(np.argmin(np.isfinite(numbers[:, 0])))][0]} has no time")
    return numbers[:, 0], numbers[:, 1:]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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
    times: from the world's time on; between its steps outcomes are those of a cubic through the four steps around.
    What was not measured is NaN. bounds: by path; 0 and more otherwise, but of the start any. Take a method whose steps
    have gradients everywhere: `simgc`, or `direct` with substeps=1.
    """
    at, samples = _measurements(times, measured)
    if world.worlds != 1:
        raise ModelError(f"identify: the world is a batch of {world.worlds}, expected one")
    steps = (at - world.time) / world.dt
    if steps[0] < -NEAR or steps[-1] < NEAR:
        raise ModelError(f"identify: times are from {at[0]:g} to {at[-1]:g} s, expected such from {world.time:g} s on")
    rollout = Rollout(world, of, to, max(3, math.ceil(steps[-1] - NEAR)) * world.dt, world.dt)
    weights = _weights(steps, len(rollout.times))
    start = rollout.values()[0]
    if samples.shape[1] != len(rollout.of):
        raise ModelError(
            f"identify: {samples.shape[1]} columns are measured, of has {len(rollout.of)}; see read_samples(columns=)"
        )
    ends = _ends(rollout.to, bounds or {})
    there = np.isfinite(samples)
    kept: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}
    count = 0

    def both(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nonlocal count
        key = p.tobytes()
        if key not in kept:
            count += 1
            y, slopes = rollout.jacobian(p[None])
            kept.clear()
            kept[key] = (weights @ y[0] - samples)[there], np.einsum("st,top->sop", weights, slopes[0])[there]
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


def _measurements(times: Any, measured: Any) -> tuple[np.ndarray, np.ndarray]:
    """Times and measurements [sample, of] as arrays; refuses what belongs to no trajectory."""
    try:
        at, samples = np.asarray(times, float), np.asarray(measured, float)
    except (TypeError, ValueError):
        raise ModelError("identify: times and measured are no numbers, expected [sample] and [sample, of]") from None
    samples = samples[:, None] if samples.ndim == 1 else samples
    if at.ndim != 1 or samples.ndim != 2 or len(at) < 2 or len(samples) != len(at):
        raise ModelError(
            f"identify: times are {at.shape} and measured {samples.shape} numbers, expected [sample] and [sample, of]"
        )
    if not np.isfinite(at).all() or (np.diff(at) <= 0.0).any():
        k = int(np.argmax(~np.isfinite(at) | np.append(False, np.diff(at) <= 0.0)))
        raise ModelError(f"identify: times have to grow; number {k + 1} is {at[k]:g} s")
    if not np.isfinite(samples).any() or np.isinf(samples).any():
        raise ModelError("identify: measured has no finite number, or one that is infinite")
    return at, samples


def _ends(paths: Sequence[str], bounds: Mapping[str, Any]) -> np.ndarray:
    """Lower and upper bounds [2, path]."""
    if unknown := [path for path in bounds if path not in paths]:
        raise ModelError(f"identify: bounds are of {show(unknown[0])}; {closest(str(unknown[0]), paths)}")
    try:
        ends = np.array([bounds.get(path, _range(path)) for path in paths], float).T
    except (TypeError, ValueError):
        ends = np.empty(0)
    if ends.shape != (2, len(paths)) or not (ends[0] < ends[1]).all():
        raise ModelError(f"identify: bounds are {show(bounds)}, expected (lower, upper) by path")
    return ends


def _weights(steps: np.ndarray, count: int) -> np.ndarray:
    """Of outcomes after whole steps in those between [sample, step], by Lagrange's cubics."""
    near = np.round(steps)
    first = np.clip(np.floor(steps).astype(int) - 1, 0, count - 4)
    weights = np.zeros((len(steps), count))
    for i, (step, start) in enumerate(zip(steps, first, strict=True)):
        if abs(step - near[i]) <= NEAR:
            weights[i, int(near[i])] = 1.0
            continue
        for j in range(4):
            others = [k for k in range(4) if k != j]
            weights[i, start + j] = np.prod([(step - start - k) / (j - k) for k in others])
    return weights


def _range(path: str) -> tuple[float, float]:
    return (-np.inf, np.inf) if path.endswith((".position", ".velocity", ".motor", ".x", ".y", ".z")) else (0.0, np.inf)
