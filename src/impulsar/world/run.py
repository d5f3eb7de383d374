"""A run: steps of a world for a duration, its samples at steps or at any times, and the events on the way."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..author.checks import as_objects, flag, is_number, show
from ..author.errors import ModelError, StepError
from ..author.events import Event
from ..engine.state import no_trace
from ..results import MOST_SAMPLES, Samples, progress_bar, quantities_of, steps_and_stride, stride_of, with_events
from . import snapshot
from .watch import Found, Watch, check_events
from .within import within

if TYPE_CHECKING:
    import xarray as xr

    from .world import World

SAME = 4.0  # last places of the clock by which a time asked for may be off a step's
BEHIND = 1e-9  # of a duration: a time asked for may lie so far behind the end, and is the end
MARGIN = 1e-6  # of a step: so near to its end a time is looked for inside it


@dataclass
class Effort:
    """What a sample tells of the steps since the one before."""

    iterations: Any = 0


def run(
    world: "World",
    duration: float,
    every: float | None,
    progress: bool | None,
    variables: Sequence[str] | None,
    at: object,
    events: object,
) -> "xr.Dataset":
    """See `World.run`.

    Ctrl-C keeps what was computed and sets the attribute `interrupted`; so does a state that is no longer finite, with
    a warning and `broken_at` [s]. A run that a terminal event ends has its name in `ended_by_event`.
    """
    if progress is not None:
        progress = flag("run", "progress", progress)
    if at is not None and every is not None:
        raise ModelError(f"run: every is {show(every)} s and at is given too; leave one of them out")
    chosen, watched = quantities_of(variables), check_events(events, world.worlds)
    if (at is not None or watched) and world.runner.beats.splits:
        told = f"a sensor or controller is due inside steps of dt = {world.dt:g} s"
        raise ModelError(f"run: {told}, and at or events look inside them too; take a dt that divides their periods")
    steps, stride = steps_and_stride(duration, every, world.dt, sampled=at is None)
    start, end = world.time, world.time + float(duration)
    times = None if at is None else check_times(at, start, end)
    samples = Samples(world, 1 + math.ceil(steps / stride) if times is None else max(1, len(times)), chosen)
    going = Going(world, samples, Samples(world, 8, chosen), watched, times, every)
    ending: dict[str, Any] = {}
    try:
        with progress_bar(world.model.name, start, float(duration), progress) as show_time:
            going.begin()
            while going.ended is None and (left := round((end - world.time) / world.dt)) > 0:
                going.go_on(left)
                show_time(world.time)
            going.finish()
    except KeyboardInterrupt:
        ending["interrupted"] = 1
    except StepError as error:
        if error.time is None:
            raise
        ending["broken_at"] = error.time
        warnings.warn(f"{error}; kept what was computed before", stacklevel=3)
    finally:
        going.close()
    if going.ended is not None:
        ending["ended_by_event"] = going.ended.name
    result = samples.dataset(ending)
    return with_events(result, going.at_events, going.names) if watched else result


def check_times(at: object, start: float, end: float) -> list[float]:
    """Times at which results are wanted, or a ModelError that says what is wrong with them [s]."""
    given = as_objects(at)
    if given.ndim != 1 or not all(is_number(time) and math.isfinite(time) for time in given):
        raise ModelError(f"run: at is {show(at)}, expected a list of times [s]")
    times = [float(time) for time in given]
    if not times or len(times) > MOST_SAMPLES:
        raise ModelError(f"run: at has {len(times)} times, expected 1 to {MOST_SAMPLES:g}")
    unsorted = next((k for k in range(1, len(times)) if not times[k - 1] < times[k]), None)
    if unsorted is not None:
        raise ModelError(f"run: at has {show(times[unsorted])} after {show(times[unsorted - 1])} s; let times ascend")
    behind = BEHIND * (end - start)
    outside = next((time for time in times if not start - behind <= time <= end + behind), None)
    if outside is not None:
        raise ModelError(f"run: at has {show(outside)} s, not from {show(start)} to {show(end)} s, which the run lasts")
    return times


class Going:
    """A run on its way."""

    def __init__(
        self,
        world: "World",
        samples: Samples,
        at_events: Samples,
        events: Sequence[Event],
        times: list[float] | None,
        every: float | None,
    ):
        self.world, self.samples, self.at_events, self.times, self._every = world, samples, at_events, times, every
        self.events = events
        self.names: list[str] = []  # of the events that took place
        self.ended: Event | None = None  # the one that ended the run
        self._effort = Effort()
        self._taken = 0  # of the times
        self._within = within(world.runner) if events or times is not None else None
        self._watch: Watch | None = None

    def begin(self) -> None:
        """Sample the start."""
        if self._within is not None:
            self.world.runner.about_to = self._about_to
            self.world.runner.forget()
        if self.events:
            self._watch = Watch(self.world, self.events, self._within)  # type: ignore[arg-type]
        if self.times is None:
            self._sample()

    def go_on(self, left: int) -> None:
        """Take steps up to the next sample, at most so many, or to an event that ends the run."""
        world, times = self.world, self.times
        if times is None:
            steps = min(left, stride_of(self._every, world.dt))
        else:
            self._take_due()
            wait = times[self._taken] - world.time if self._taken < len(times) else math.inf
            steps = max(1, math.floor(min(left, wait / world.dt - MARGIN)))
        for part in [steps] if self._watch is None else [1] * steps:
            report = world.step(part)
            world.check(report)
            self._effort.iterations = self._effort.iterations + report.iterations
            if self._watch is not None:
                self.ended = self._watch.look(self._keep)
                if self.ended is not None:
                    break
        if times is None:
            self._sample(None if self.ended is None else world.time)
        elif self.ended is not None:
            self.samples.drop_after(world.time)
            self._take_due()

    def finish(self) -> None:
        """Take the samples that are left: at the end, or behind the last whole step."""
        if self.times is None or self.ended is not None:
            return
        self._take_due()
        if self._taken < len(self.times):
            runner = self.world.runner
            end = snapshot.take(runner)
            try:
                self._within.begin()  # type: ignore[union-attr]
                self._take_inside(math.inf)
            finally:
                snapshot.put_back(runner, end)

    def close(self) -> None:
        """Leave the world as it is without a run."""
        runner = self.world.runner
        if self._within is not None:
            runner.about_to = None
            if no_trace(runner.work):
                runner.record_later()
            runner.forget()

    def _about_to(self) -> None:
        """Before a step: sample the times inside it, and have it kept for events."""
        runner, inside = self.world.runner, self._within
        assert inside is not None
        end = runner.time + runner.dt
        due = self.times is not None and self._taken < len(self.times) and self.times[self._taken] < end
        if due or self._watch is not None:
            inside.begin()
        if due:
            try:
                self._take_inside(end)
            finally:
                inside.come_back()
        if self._watch is not None:
            inside.make_room()

    def _take_inside(self, end: float) -> None:
        """Sample the times before an end, inside the step that has begun [s]."""
        assert self.times is not None and self._within is not None
        while self._taken < len(self.times) and self.times[self._taken] < end:
            time = self.times[self._taken]
            self._within.go_to(time)
            self._sample(time)
            self._taken += 1

    def _take_due(self) -> None:
        """Sample the times that have come."""
        now, times = self.world.time, self.times
        assert times is not None
        while self._taken < len(times) and times[self._taken] <= now + SAME * math.ulp(now):
            self._sample(times[self._taken])
            self._taken += 1

    def _sample(self, time: float | None = None) -> None:
        self.samples.take(self._effort, time)
        self._effort = Effort()

    def _keep(self, found: Found) -> None:
        """Sample an event, with the world there."""
        self.at_events.take(None, found.time)
        self.names.append(self.events[found.index].name)
