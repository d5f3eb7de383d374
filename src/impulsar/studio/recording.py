"""The last minutes of a session, kept small while it runs and made a result when asked for."""

import sys
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..results import Samples
from ..world.world import Snapshot, World

if TYPE_CHECKING:
    import xarray as xr

ROOM = 64 * 2**20  # bytes of samples


@dataclass(frozen=True)
class Sample:
    """One moment: what a step changes, beside the snapshot that has all the rest."""

    base: Snapshot
    state: np.ndarray
    reaction: np.ndarray
    report: np.ndarray
    clock: float
    steps: int

    @property
    def size(self) -> int:
        """Without the base, which it shares with those beside it [bytes]."""
        return self.state.nbytes + self.reaction.nbytes + self.report.nbytes

    def size_beside(self, other: "Sample | None") -> int:
        """What it adds to the ring beside another sample there [bytes]."""
        return self.size if other is not None and other.base is self.base else self.size + _base_size(self.base)


class Recording:
    """A ring of samples of one topology; the oldest go when ROOM is full."""

    def __init__(self, world: World, room: int = ROOM):
        self.room = room
        self.samples: deque[Sample] = deque()
        self.bytes = 0
        self._base: Snapshot | None = None

    def rebase(self, world: World, is_same_topology: bool = True) -> None:
        """Take note of changed parameters, which the next sample copies; of changed parts, by starting anew."""
        if not is_same_topology:
            self.clear()
        self._base = None

    def clear(self) -> None:
        """Begin anew."""
        self.samples.clear()
        self.bytes = 0

    def since(self, world: World) -> float:
        """Time of the first sample, or of the next if there is none [s]."""
        return self.samples[0].clock if self.samples else world.time

    def cut(self, time: float) -> None:
        """Forget what lies after a time [s]: the session went back."""
        while self.samples and self.samples[-1].clock > time:
            sample = self.samples.pop()
            self.bytes -= sample.size_beside(self.samples[-1] if self.samples else None)

    def take(self, world: World) -> None:
        """Sample the world as it is now."""
        work = world.runner.work
        if self._base is None:
            self._base = world.snapshot()
        sample = Sample(
            self._base,
            world.state.numpy().copy(),
            work.reaction.numpy().copy(),
            work.report.numpy().copy(),
            world.runner.clock,
            world.runner.count,
        )
        self.bytes += sample.size_beside(self.samples[-1] if self.samples else None)
        self.samples.append(sample)
        while self.bytes > self.room:
            oldest = self.samples.popleft()
            self.bytes -= oldest.size_beside(self.samples[0] if self.samples else None)

    def copy(self) -> list[Sample]:
        """The samples, for another thread to work on."""
        return list(self.samples)


def _base_size(base: Snapshot) -> int:
    """Bytes of a snapshot, without its model, which others share."""
    items = [*vars(base).values(), *base.parameters.values(), *base.topology.values()]
    return sum(sys.getsizeof(item) for item in items if isinstance(item, np.ndarray))


def dataset(samples: list[Sample], scratch: World) -> "xr.Dataset":
    """The samples as a result, read from a world of the same model that nobody else uses."""
    found = Samples(scratch, len(samples))
    base: Any = None
    for sample in samples:
        if sample.base is not base:
            base = sample.base
            scratch.restore(replace(base, state=sample.state, clock=sample.clock, steps=sample.steps))
            found.world = scratch
        runner = scratch.runner
        runner.state.array.assign(sample.state)
        runner.refresh()
        runner.clock, runner.count = sample.clock, sample.steps
        runner.work.reaction.assign(sample.reaction)
        runner.work.report.assign(sample.report)
        found.take(None)
    return found.dataset({})
