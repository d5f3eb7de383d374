"""One parameter from value to value: copies of the model run from their start beside the session, and are measured."""

import math
import time as wall
from collections.abc import Callable, Iterator

import numpy as np

from .. import edits
from ..author.errors import ModelError, StepError
from ..world.signals import signal
from ..world.world import World
from . import analysis_messages as ms

MOST_VALUES = 200
MOST_STEPS = 1_000_000  # of all runs together
SLICE = 0.02  # wall time of steps before others have their turn [s]
MEASURES: dict[str, Callable[[np.ndarray], float]] = {
    "largest": lambda x: float(x.max()),
    "least": lambda x: float(x.min()),
    "mean": lambda x: float(x.mean()),
    "rms": lambda x: float(np.sqrt(np.mean(x * x))),
    "last": lambda x: float(x[-1]),
    "range": lambda x: float(np.ptp(x)),
}


class Left(Exception):
    """Nobody waits for it any more."""


def check(wanted: ms.SweepRequest) -> None:
    """Refuse what makes no sense, or no end."""
    if not 1 <= len(wanted.values) <= MOST_VALUES:
        raise ModelError(f"sweep: {len(wanted.values)} values, expected 1 to {MOST_VALUES}")
    if not (wanted.duration > 0.0 and math.isfinite(wanted.duration)):
        raise ModelError(f"sweep: duration is {wanted.duration:g} s, expected more than 0")


def sweep(
    wanted: ms.SweepRequest, make_world: Callable[[], World], has_left: Callable[[], bool]
) -> Iterator[ms.SweepPoint]:
    """A point for every value; of a value that the model does not take, or with which it breaks, why."""
    world = make_world()
    signal(world, wanted.signal)  # refused here, before anything runs
    steps = max(1, round(wanted.duration / world.dt))
    if steps * len(wanted.values) > MOST_STEPS:
        told = f"{len(wanted.values)} runs of {steps} steps, expected {MOST_STEPS} steps in all"
        raise ModelError(f"sweep: {told}; take a shorter duration, fewer values or a larger dt")
    start = world.snapshot()
    for value in wanted.values:
        world.restore(start)
        world.paused = False
        try:
            world.apply(_edit(wanted, value))
            measured = _run(world, wanted.signal, steps, has_left)
        except Left:
            return
        except (ModelError, StepError) as error:
            yield ms.SweepPoint(value=value, result=None, unit="", text=str(error))
            continue
        yield ms.SweepPoint(
            value=value, result=MEASURES[wanted.measure](measured), unit=signal(world, wanted.signal).unit
        )


def _edit(wanted: ms.SweepRequest, value: float) -> edits.Edit:
    if wanted.of == "motor":
        return edits.Drive(wanted.path, value, wanted.group)
    return edits.SetParameter(wanted.path, value)


def _run(world: World, name: str, steps: int, has_left: Callable[[], bool]) -> np.ndarray:
    """The signal after every step; half as long as it works it lets others work."""
    found, reader = np.empty(steps + 1), signal(world, name)
    found[0] = reader.read(world.moment())[0]
    began = wall.monotonic()
    for k in range(steps):
        world.step()
        found[k + 1] = reader.read(world.moment())[0]
        took = wall.monotonic() - began
        if took > SLICE:
            if has_left():
                raise Left
            wall.sleep(took / 2)
            began = wall.monotonic()
    return found
