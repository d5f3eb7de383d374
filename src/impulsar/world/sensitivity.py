"""Sensitivities: how outcomes of a trajectory change with parameters, motors and the start."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.checks import positive, show
from ..author.errors import ModelError
from ..engine.methods.base import refuse_compiling
from .causes import Cause, find_cause
from .elements import by_rows
from .linear import PER_NUMBER, PER_OPERATION, Linear
from .linear_device import DeviceLinear
from .outcomes import Outcome, find_outcomes
from .steering import refuse_controllers

if TYPE_CHECKING:
    from .world import World

MODES = ("auto", "forward", "reverse")


@dataclass(frozen=True)
class ModeChange:
    """Where friction or a limit changes its mode along the way, and how the time of it changes with causes."""

    time: float  # [s]
    joint: str
    what: str  # "friction", "lower limit", ...
    world: int
    derivatives: np.ndarray  # of the time [to]


@dataclass(frozen=True)
class Sensitivity:
    """Outcomes of a trajectory and their derivatives with respect to causes.

    In a batch all arrays have one more axis, of the worlds.
    """

    of: tuple[str, ...]
    to: tuple[str, ...]
    times: np.ndarray  # [sample] [s]
    values: np.ndarray  # [sample, of]
    derivatives: np.ndarray  # [sample, of, to]
    mode: str  # "forward" or "reverse"
    ways: int  # through the step, that the trajectory goes
    changes: tuple[ModeChange, ...] = ()  # of modes that `direct` found inside steps, in the order of time

    def __getitem__(self, key: tuple[str, str]) -> "float | np.ndarray":
        """The derivative of one with respect to the other: of one sample a number, else [sample]."""
        if not (isinstance(key, tuple) and len(key) == 2):
            raise KeyError(f"{key!r}; expected one of `of` and one of `to`: {self.of[0]!r}, {self.to[0]!r}")
        of, to = key
        for name, known in ((of, self.of), (to, self.to)):
            if name not in known:
                raise KeyError(f"{name!r}; there are: {', '.join(known)}")
        found = self.derivatives[:, self.of.index(of), self.to.index(to)]
        return found[0].item() if found.shape == (1,) else found[0] if len(found) == 1 else found


def sensitivity(
    world: "World",
    of: str | Sequence[str],
    to: str | Sequence[str],
    duration: float,
    every: float | None = None,
    mode: str = "auto",
) -> Sensitivity:
    """See `World.sensitivity`."""
    if mode not in MODES:
        raise ModelError(f"sensitivity: mode is {show(mode)}, expected one of: {', '.join(MODES)}")
    linear, samples = linearise(world, of, to, duration, every)
    if isinstance(linear, DeviceLinear):
        mode, (values, derivatives, of_times) = "reverse", linear.forward_all()
    else:
        mode, values, derivatives, of_times = _derivatives(linear, mode)
    times = world.time + world.dt * np.array(samples, float)
    if world.worlds == 1:
        values, derivatives = values[..., 0], derivatives[..., 0]
    paths = tuple(outcome.path for outcome in linear.outcomes)
    causes = tuple(cause.path for cause in linear.causes)
    slots = world.system.slots
    changes = tuple(
        ModeChange(each.time, slots[each.row].name, slots[each.row].role or "", each.world, slopes)
        for each, slopes in zip(linear.changes, of_times, strict=True)
    )
    return Sensitivity(paths, causes, times, values, derivatives, mode, len(linear.ways), changes)


def _derivatives(linear: Linear, mode: str) -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
    """The mode; outcomes [sample, outcome, world], their derivatives, and those of the times of changes."""
    views = linear.views_at()
    values = views[0]
    count = values.shape[0] * values.shape[1]
    if mode == "forward" or (mode == "auto" and not _reverse_is_less(linear, count)):
        return "forward", *linear.forward_all()
    linear.compile_adjoints(count)
    derivatives = by_rows(lambda given: linear.pull(given, views), values, len(linear.causes))
    return "reverse", values, derivatives, np.array([linear.pull_time(change) for change in linear.changes])


def linearise(
    world: "World", of: str | Sequence[str], to: str | Sequence[str], duration: float, every: float | None
) -> "tuple[Linear | DeviceLinear, list[int]]":
    """A trajectory with what derivatives of it need, and the steps after which it is sampled."""
    steps, samples = samples_of(world, duration, every)
    causes: list[Cause] = [find_cause(world, path) for path in paths_of(to)]
    return linear_of(world, steps, samples, find_outcomes(world, of), causes), samples


def linear_of(
    world: "World",
    steps: int,
    samples: Sequence[int],
    outcomes: Sequence[Outcome],
    causes: Sequence[Cause],
    before: "Linear | DeviceLinear | None" = None,
) -> "Linear | DeviceLinear":
    """A trajectory where its worlds are."""
    kind: Any = Linear if world.device == "cpu" else DeviceLinear
    return kind(world, steps, samples, outcomes, causes, before)


def paths_of(to: object) -> tuple[str, ...]:
    """What is given as `to`, as several."""
    given = (to,) if isinstance(to, str) else to
    if not isinstance(given, Iterable) or not (found := tuple(given)):
        raise ModelError(f"sensitivity: to is {show(to)}, expected texts such as 'arm.mass'")
    return found


def samples_of(world: "World", duration: float, every: float | None) -> tuple[int, list[int]]:
    """How many steps a duration [s] is, and after which it is sampled; refuses a world that cannot be followed."""
    _refuse(world)
    steps = round(positive("sensitivity", "duration", duration, "s") / world.dt)
    if steps < 1:
        raise ModelError(f"sensitivity: duration {duration:g} s is less than a step of {world.dt:g} s")
    samples = [steps]
    if every is not None:
        part = max(1, round(positive("sensitivity", "every", every, "s") / world.dt))
        samples = sorted({*range(0, steps + 1, part), steps})
    return steps, samples


def _refuse(world: "World") -> None:
    """Refuse what a step is not a function of state and parameters with."""
    if world.system.counts.contacts:
        raise ModelError(
            "sensitivity: derivatives through contacts are not taken; take it of a model without obstacles and "
            "materials of bodies that may touch, or have a joint's limit stand for the contact"
        )
    refuse_compiling(world.method, world.system)
    runner = world.runner
    if runner.script[runner.script_position :]:
        raise ModelError("sensitivity: edits of the script are still due; take it of a model without a script")
    refuse_controllers(world)
    if runner.clamps or runner.system.channels.callables:
        what = "clamps" if runner.clamps else "inputs that are callables"
        raise ModelError(f"sensitivity: {what} are no part of a traced step; take it without them")


def _reverse_is_less(linear: Linear, passes: int) -> bool:
    """Whether compiled adjoints are less work than Jacobians, compiling included."""
    n = len(linear.rows) + len(linear.causes)
    operations = [way.step.operations for way in linear.ways]
    lanes = np.bincount(linear.which.ravel(), minlength=len(operations))
    by_arrays = PER_NUMBER * (1 + n) * float(np.dot(operations, lanes))
    return passes <= n and by_arrays > 3 * PER_OPERATION * sum(operations)
