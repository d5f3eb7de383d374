"""Rollout: outcomes of the trajectories of a batch as a function of numbers that each world has of its own.

    y [world, sample, of] = f(p [world, to])         p̄ = (∂y/∂p)ᵀ ȳ

What bridges to other libraries and optimisers call. Ways through the step and compiled adjoints are kept from call to
call.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.checks import show
from ..author.errors import ModelError
from ..edits import Drive, SetParameter
from ..engine.compile.step import PARAMETER
from .causes import find_cause
from .outcomes import find_outcomes
from .sensitivity import linear_of, paths_of, samples_of

if TYPE_CHECKING:
    from .linear import Linear
    from .linear_device import DeviceLinear
    from .world import World


def _is_shared(name: tuple) -> bool:
    """Whether an element is of an input or of a controller: an edit sets these in all worlds."""
    return name[0] != PARAMETER or name[1].startswith(("channel_", "table_"))


class Rollout:
    """Trajectories of a world, or of a batch of them, from the state it is in now.

    of, to, duration [s], every [s]: as of `World.sensitivity`; no parameters of the model, which would be other
    systems. From then on the world is the rollout's: a call sets its parameters and leaves them.
    """

    def __init__(
        self,
        world: "World",
        of: str | Sequence[str],
        to: str | Sequence[str],
        duration: float,
        every: float | None = None,
    ):
        self.world = world
        self.to = paths_of(to)
        for path in self.to:
            if path in world.model.parameters:
                raise ModelError(f"rollout: '{path}' is a parameter of the model; give numbers of parts")
        self._steps, self._samples = samples_of(world, duration, every)
        self._outcomes = find_outcomes(world, of)
        self._causes = [find_cause(world, path) for path in self.to]
        for cause in self._causes:
            if any(_is_shared(name) for name in cause.elements) and not cause.path.endswith(".motor"):
                raise ModelError(f"rollout: '{cause.path}' cannot be set in each world; take World.sensitivity")
        self._start = world.state.numpy().copy()
        self._linear: Linear | DeviceLinear | None = None
        self._last: tuple[bytes, Linear | DeviceLinear] | None = None
        self._pulls = 0

    @property
    def of(self) -> tuple[str, ...]:
        """Outcomes, in their order."""
        return tuple(outcome.path for outcome in self._outcomes)

    @property
    def times(self) -> np.ndarray:
        """Of the samples [s]."""
        return self.world.time + self.world.dt * np.array(self._samples, float)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Worlds, samples, outcomes."""
        return self.world.worlds, len(self._samples), len(self._outcomes)

    def values(self) -> np.ndarray:
        """The numbers as they are now [world, to]."""
        linear = self._linear or self._made()
        out = np.zeros((self.world.worlds, len(self.to)))
        for j, cause in enumerate(self._causes):
            for row in cause.start:
                out[:, j] = self._start[row]
            for name in list(cause.elements)[:1]:
                out[:, j] = linear.value(name)
        return out

    def __call__(self, values: Any) -> np.ndarray:
        """Outcomes [world, sample, of] for numbers [world, to]."""
        return self._at(values).sampled().transpose(2, 0, 1)

    def pull(self, values: Any, given: Any) -> np.ndarray:
        """Gradients [world, to] of Σ given · outcome, given [world, sample, of], at numbers [world, to].

        Adjoints are compiled once the calls so far would have been worth it.
        """
        linear, weights = self._at(values), np.asarray(given, float)
        if weights.shape != self.shape:
            raise ModelError(f"rollout: weights are {weights.shape} numbers, expected {self.shape}")
        self._pulls += 1
        linear.compile_adjoints(self._pulls)
        return linear.pull(weights.transpose(1, 2, 0)).T

    def jacobian(self, values: Any) -> tuple[np.ndarray, np.ndarray]:
        """Outcomes [world, sample, of] and their derivatives [world, sample, of, to] at numbers [world, to]."""
        found, slopes = self._at(values).forward()
        return found.transpose(2, 0, 1), slopes.transpose(3, 0, 1, 2)

    def _at(self, values: Any) -> "Linear | DeviceLinear":
        try:
            numbers = np.asarray(values, float)
        except (TypeError, ValueError):
            numbers = np.empty(0)
        if numbers.shape != (self.world.worlds, len(self.to)) or not np.isfinite(numbers).all():
            raise ModelError(
                f"rollout: values are {show(values)}, expected finite numbers [{self.world.worlds}, {len(self.to)}]"
            )
        key = numbers.tobytes()
        if self._last is None or self._last[0] != key:
            self._set(numbers)
            self._linear = self._made()
            self._last = key, self._linear
        return self._last[1]

    def _made(self) -> "Linear | DeviceLinear":
        return linear_of(self.world, self._steps, self._samples, self._outcomes, self._causes, self._linear)

    def _set(self, numbers: np.ndarray) -> None:
        world, start = self.world, self._start.copy()
        for j, (path, cause) in enumerate(zip(self.to, self._causes, strict=True)):
            column: Any = numbers[:, j] if world.worlds > 1 else float(numbers[0, j])
            if cause.start:
                for row in cause.start:
                    start[row] = column
            elif path.endswith(".motor"):
                world.apply(Drive(path.rpartition(".")[0], column))
            else:
                self._write(path, cause.elements, numbers[:, j])
        world.state.put(start)
        world.runner.refresh()

    def _write(self, path: str, elements: dict[tuple, float], column: np.ndarray) -> None:
        """Set a number of a part, or one of several of it, in every world."""
        world = self.world
        (_, array, _, _), components = next(iter(elements)), sorted({name[3] for name in elements})
        width = world.system.width(array) if array in world.system.parameters else ()
        if not width:
            world._apply(SetParameter(path, column if world.worlds > 1 else float(column[0])), weighs=False)
            return
        # past the checks of an edit: on the way of an optimiser an inertia may break the triangle inequality
        _, _, row, _ = next(iter(elements))
        now = np.broadcast_to(world.system.parameter(array)[row], (world.worlds, *width)).copy()
        now.reshape(world.worlds, -1)[:, components] = column[:, None]
        if world.system.set_parameter(array, row, now if world.worlds > 1 else now[0]):
            world.runner.record_later()
        world.runner.forget()
