"""Real time: steps by the clock on the wall, and how often they were late."""

import time as wall
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..author.checks import positive, show
from ..author.errors import ModelError

if TYPE_CHECKING:
    from .world import World

SPIN = 0.0005  # the last of a wait is not slept, since sleep may be so much late [s]


@dataclass(frozen=True)
class Timing:
    """How steps kept up with the clock on the wall."""

    steps: int
    misses: int  # steps that were not done when the next was due
    worst: float  # by which one was late [s]
    worst_at: float | None  # simulated time at its end [s]
    busy: float  # share of the time that steps took, 1: all of it

    def __str__(self) -> str:
        late = f", the worst by {1e3 * self.worst:.3g} ms at t = {self.worst_at:.6g} s" if self.misses else ""
        return f"{self.misses} of {self.steps} steps missed their time{late}; {self.busy:.0%} busy"


def pace(world: "World", duration: float, speed: float) -> Timing:
    """See `World.pace`."""
    duration, speed = positive("pace", "duration", duration, "s"), positive("pace", "speed", speed, "1")
    steps = round(duration / world.dt)
    if steps < 1:
        raise ModelError(f"pace: duration is {show(duration)} s, less than a step of {world.dt:g} s; shorten dt")
    each, misses, worst, worst_at, busy = world.dt / speed, 0, 0.0, None, 0.0
    began = wall.perf_counter()
    for k in range(1, steps + 1):
        start = wall.perf_counter()
        world.check(world.step())
        end = wall.perf_counter()
        busy += end - start
        late = end - (began + k * each)
        if late > 0.0:
            misses += 1
            if late > worst:
                worst, worst_at = late, world.time
        else:
            _wait_until(began + k * each)
    return Timing(steps, misses, worst, worst_at, busy / (wall.perf_counter() - began))


def _wait_until(due: float) -> None:
    while (left := due - wall.perf_counter()) > 0.0:
        if left > SPIN:
            wall.sleep(left - SPIN)
