"""The last minutes of a session: its state after every step, kept small and made a result when asked for."""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..engine.system import measured
from ..history.replay import empty_world
from ..history.vetting import read_options
from ..results import Samples, with_events
from ..world.signals import signal_or_nothing
from ..world.world import Snapshot, World
from .points import Points

if TYPE_CHECKING:
    import xarray as xr

ROOM = 256 * 2**20  # bytes of samples
OVERHEAD = 250  # bytes of a sample's objects


@dataclass(frozen=True, slots=True)
class Sample:
    """One moment: what a step changes, beside the snapshot that has all the rest."""

    base: Snapshot
    data: np.ndarray  # state, reactions and report of the first world, one behind the other
    clock: float
    steps: int

    @property
    def size(self) -> int:
        """Without the base, which it shares with those beside it [bytes]."""
        return self.data.nbytes + OVERHEAD

    def size_beside(self, other: "Sample | None") -> int:
        """What it adds to the ring beside another sample there [bytes]."""
        return self.size if other is not None and other.base is self.base else self.size + _base_size(self.base)


@dataclass(frozen=True)
class Effort:
    """What a sample tells of its step."""

    iterations: float


class Recording:
    """A ring of samples of one topology, one for every step; the oldest go when ROOM is full."""

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

    def sample(self, world: World, clock: float) -> Sample:
        """The world as it is now: 4 us, where a step of a four-bar takes 19. clock: its time [s]."""
        runner = world.runner
        if self._base is None:
            self._base = world.snapshot()
        arrays = runner.state.numpy(), runner.bench.read("reaction"), runner.report
        return Sample(self._base, np.concatenate([each.ravel() for each in arrays]), clock, runner.count)

    def take(self, world: World) -> None:
        """Keep the world as it is now."""
        sample = self.sample(world, world.runner.clock)
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


def second_world(now: Snapshot, make: Callable[[Model], World], options: dict[str, Any]) -> World:
    """A second world of the model of a moment, at its authored pose, or as it is then where it does not close there.

    A joint whose type was changed in motion holds what it found, not what the author placed.
    """
    try:
        return make(now.model)
    except ModelError:
        world = empty_world(read_options(options, World), [])
        world.restore(now)
        return world


def visit(samples: Sequence[Sample], scratch: World) -> Iterator[Effort]:
    """Bring a world of the same model, that nobody else uses, to one sample after another."""
    base: Any = None
    for sample in samples:
        runner, there = scratch.runner, sample.base.reaction
        assert there is not None
        state, reaction, report = np.split(sample.data, np.cumsum([sample.base.state.size, there.size]))
        state = state.reshape(sample.base.state.shape)
        if sample.base is not base:
            base = sample.base
            scratch.restore(replace(base, state=state, clock=sample.clock, steps=sample.steps))
        runner.state.array.assign(state)
        runner.refresh()
        runner.clock, runner.count = sample.clock, sample.steps
        runner.work.reaction.assign(reaction.reshape(there.shape))
        runner.work.report.assign(report.reshape(runner.work.report.shape))
        yield Effort(float(runner.work.report.numpy()[measured.TOTAL_ITERATIONS, 0]))


def dataset(
    samples: Sequence[Sample], scratch: World, events: Sequence[tuple[str, Sample]] | None = None
) -> "xr.Dataset":
    """The samples as a result, read from a world of the same model that nobody else uses; with events, by name."""
    result = _read(samples, scratch).dataset({})
    if events is None:
        return result
    return with_events(result, _read([sample for _, sample in events], scratch), [name for name, _ in events])


def _read(samples: Sequence[Sample], scratch: World) -> Samples:
    found: Samples | None = None
    for effort, sample in zip(visit(samples, scratch), samples, strict=True):
        if found is None:
            found = Samples(scratch, len(samples))
        found.take(effort, sample.clock)
    return found or Samples(scratch, 1)


def series(samples: Sequence[Sample], scratch: World, names: Sequence[str], points: Points) -> np.ndarray:
    """Times, signals and places of points at the samples [sample, 1 + signals + 3 · points], read likewise."""
    found = np.full((len(samples), 1 + len(names) + 3 * len(points.named)), np.nan)
    bench: Any = None
    for k, effort in enumerate(visit(samples, scratch)):
        if scratch.runner.bench is not bench:
            bench = scratch.runner.bench
            signals = [signal_or_nothing(scratch, name) for name in names]
            points.find(bench)
        now = scratch.moment(effort.iterations)
        found[k] = [scratch.time, *(one.read(now)[0] for one in signals), *points.places(bench)]
    return found
