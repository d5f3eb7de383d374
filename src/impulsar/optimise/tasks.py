"""Tasks: numbers of a model, or gains of what controls it, for which a measure of its run is least.

Fluids, roads, contacts and controllers have no derivatives, so designs are tried in batches: a generation is one world
per design in one launch. It begins with Sobol's points within the ranges, goes on by differential evolution and ends
with steps along differences, whose designs are one batch as well. A design that the model does not take, or with which
its run breaks, is a bad one, and no error. What ends it early, `watch` or Ctrl-C, keeps the best so far.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import differential_evolution, minimize
from scipy.stats import qmc

from ..author.checks import show
from ..author.errors import ModelError, StepError
from ..author.model import Model
from ..edits.refusal import EditError
from ..world.world import World

NEAR = 1e-4  # of a range: between designs of a difference
Measure = Callable[[World, dict[str, np.ndarray]], Any]


@dataclass(frozen=True)
class Tuned:
    """The best design of a task."""

    values: dict[str, float]
    loss: float
    history: np.ndarray = field(repr=False)  # the least loss after each batch
    evaluations: int  # runs
    failed: int  # of them, that broke
    why: str  # of the last that broke
    ended: str  # how it ended


class _Enough(Exception):
    """The best so far will do."""


def tune(
    model: Model,
    to: Mapping[str, tuple[float, float]],
    measure: Measure,
    *,
    designs: int = 16,
    generations: int = 20,
    polish: int = 10,
    seed: int = 0,
    watch: Callable[[dict[str, float], float], bool | None] | None = None,
    **options: Any,
) -> Tuned:
    """Numbers within ranges for which a measure of a run is least.

    to: ranges by the path of a number of a part ('pool.density', 'hinge.damping'), of a parameter of the model, or by a
    name of your own, such as a gain: the measure is told it. measure(world, values) gets a world with a design in each
    of its worlds, at the start, and the values by name [world]; it attaches what controls, runs it, and returns what is
    to be least [world]. designs: of a generation; polish: steps along differences at the end. watch(values, loss) is
    called at each that is better than those before; where it returns true the task ends. options: as of `World`.
    """
    task = _Task(model, to, measure, watch, options)
    ended = "all generations"
    try:
        first = qmc.scale(qmc.Sobol(len(to), seed=seed).random(_power(max(designs, 5))), task.low, task.high)
        found = differential_evolution(
            lambda x: task.losses(x.T),
            list(zip(task.low, task.high, strict=True)),
            init=first,
            vectorized=True,
            updating="deferred",
            polish=False,
            maxiter=generations,
            seed=seed,
            tol=1e-6,
        )
        ended = "settled" if found.success else ended
        if polish:
            task.polish(polish)
    except (_Enough, KeyboardInterrupt) as error:
        ended = "ended by Ctrl-C" if isinstance(error, KeyboardInterrupt) else "ended by watch"
    if task.best is None:
        raise ModelError(f"tune: no design runs; the last one that broke: {task.why or 'none was tried'}")
    loss, values = task.best
    return Tuned(task.named(values), loss, np.array(task.history), task.evaluations, task.failed, task.why, ended)


def _power(count: int) -> int:
    return 2 ** math.ceil(math.log2(count))


class _Task:
    """Losses of designs, a batch at a time."""

    def __init__(self, model: Model, to: Mapping[str, Any], measure: Measure, watch: Any, options: dict[str, Any]):
        if not isinstance(model, Model) or not to:
            raise ModelError(f"tune: model is {show(model)} and to is {show(to)}, expected a Model and ranges by path")
        for path, ends in to.items():
            if not (isinstance(ends, tuple | list) and len(ends) == 2 and -np.inf < ends[0] < ends[1] < np.inf):
                raise ModelError(f"tune: the range of '{path}' is {show(ends)}, expected (low, high)")
        self.model, self.names, self.measure, self.watch, self.options = model, list(to), measure, watch, options
        self.low, self.high = (np.array([float(ends[k]) for ends in to.values()]) for k in (0, 1))
        self.set_by = [path for path in to if "." in path or path in model.parameters]
        self.best: tuple[float, np.ndarray] | None = None
        self.history: list[float] = []
        self.evaluations, self.failed, self.why = 0, 0, ""

    def named(self, values: np.ndarray) -> dict[str, float]:
        return dict(zip(self.names, map(float, values), strict=True))

    def losses(self, designs: np.ndarray) -> np.ndarray:
        """Of designs [design, number]; infinite where one does not run."""
        designs = np.atleast_2d(designs)
        found = self._run(designs)
        for loss, values in zip(found.tolist(), designs, strict=True):
            if math.isfinite(loss) and (self.best is None or loss < self.best[0]):
                self.best = loss, values.copy()
                if self.watch is not None and self.watch(self.named(values), loss):
                    raise _Enough
        if self.best is not None:
            self.history.append(self.best[0])
        return found

    def _run(self, designs: np.ndarray) -> np.ndarray:
        """One batch; of one that breaks both halves, down to the design that does it."""
        count = len(designs)
        try:
            world = self._world(designs)
            values = {name: designs[:, k].copy() for k, name in enumerate(self.names)}
            found = np.ravel(np.asarray(self.measure(world, values), float))
        except (StepError, EditError, ModelError) as error:
            if count > 1:
                return np.concatenate([self._run(half) for half in np.array_split(designs, 2)])
            self.evaluations, self.failed, self.why = self.evaluations + 1, self.failed + 1, str(error)
            return np.array([np.inf])
        if found.shape != (count,):
            raise TypeError(f"tune: measure gave {show(found)}, expected a number for each of {count} worlds")
        self.evaluations += count
        self.failed += int((~np.isfinite(found)).sum())
        return np.where(np.isfinite(found), found, np.inf)

    def _world(self, designs: np.ndarray) -> World:
        count, model = len(designs), self.model
        shared = [k for k, name in enumerate(self.names) if name in model.parameters]
        if shared:  # of the model: each design is a model of its own
            values = [{self.names[k]: float(row[k]) for k in shared} for row in designs]
            models = [model.with_parameters(**each) for each in values]
            world = World(models[0], worlds=models, **self.options) if count > 1 else World(models[0], **self.options)
        else:
            world = World(model, worlds=count, **self.options)
        for k, name in enumerate(self.names):
            if name in self.set_by and k not in shared:
                world.set(name, designs[:, k].copy() if count > 1 else float(designs[0, k]))
        return world

    def polish(self, rounds: int) -> None:
        """Steps along central differences from the best; numbers over their ranges, the loss over what it is there."""
        if self.best is None:
            return
        wide, size = self.high - self.low, abs(self.best[0]) or 1.0

        def both(z: np.ndarray) -> tuple[float, np.ndarray]:
            n = len(z)
            ends = [np.clip(z + sign * NEAR * np.eye(n), 0.0, 1.0) for sign in (1.0, -1.0)]
            found = self.losses(self.low + wide * np.vstack([z, *ends])) / size
            slope = (found[1 : n + 1] - found[n + 1 :]) / (np.diag(ends[0]) - np.diag(ends[1]))
            return float(min(found[0], 1e300)), np.where(np.isfinite(slope), slope, 0.0)

        minimize(
            both,
            (self.best[1] - self.low) / wide,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, 1.0)] * len(wide),
            options={"maxiter": rounds, "maxfun": 2 * rounds, "gtol": 1e-9, "ftol": 1e-12},
        )
