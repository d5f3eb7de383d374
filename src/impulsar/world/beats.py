"""Beats: what happens at times of its own, whatever the step is: sensors that sample, controllers that act.

Each beat has a start and a period, and is due at start + k · period. A nominal step in which one is due is taken in
pieces that end there; where all periods are whole multiples of dt no step is split. A sensor samples at the end of the
piece that arrives at its time, a controller acts at the beginning of the one that leaves: what it reads at a time was
measured at that time or before, and what it writes holds from there on.

The clock is a sum of steps, which rounds: a time is met where the clock is off it by no more than MET of the shorter
of step and period, and what a sum of so many steps may be off by.
"""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..observe.moment import Moment
from ..observe.sensing import Device
from .control import Controller
from .inside import MOST_ROUNDS, Inside

if TYPE_CHECKING:
    from .runner import Runner

MET = 1e-6
ROUNDED = 1.2e-16  # half a last place: what each addition may be off by, in parts of the sum
LATEST = 0.01  # of the shorter of step and period: never off by more


class Beats:
    """The beats of a runner."""

    def __init__(self, runner: "Runner"):
        self._runner = runner
        self.controllers: dict[str, Controller] = {}
        self.faults: dict[str, str] = {}  # of controllers, since the call of `step` began
        self.acted = 0  # calls of controllers so far: what they wrote is of now
        self.inside: Inside | None = None  # controllers that the next launch calls
        self._called = False  # whether those that are due now were called by the host
        self._sampled = False  # whether the launch has sampled the sensors inside that are due now

    def __bool__(self) -> bool:
        return bool(self.controllers) or bool(self._runner.system.model.sensors)

    def _periods(self, inside: bool) -> Iterable[tuple[float, float]]:
        """Start and period of all that beats [s], with those that the next launch calls or without."""
        called = self.inside.controllers if self.inside is not None and not inside else []
        found = [(one.start, one.period) for one in self.controllers.values() if one not in called]
        if self._runner.system.model.sensors:
            sampled = self.inside.devices if self.inside is not None and not inside else []
            found += dict.fromkeys((0.0, device.period) for device in self._devices() if device not in sampled)
        return found

    def put(self, controllers: Iterable[tuple[Any, float]]) -> None:
        """Have these controllers and no others; one that stays goes on counting its faults."""
        old = self.controllers
        self.controllers = {}
        for edit, start in controllers:
            one = old.get(edit.name)
            stays = one is not None and (one.edit, one.start) == (edit, start)
            self.controllers[edit.name] = one if stays else Controller(edit, start)  # type: ignore[assignment]

    def remember(self, memories: Sequence[np.ndarray | None]) -> None:
        """Give Warp functions the numbers that they kept at a time; none: they begin anew."""
        for k, one in enumerate(self.controllers.values()):
            memory = memories[k] if k < len(memories) else None
            if one.edit.memory and one.prepare(self._runner) and one.program is not None:
                one.program.z.assign(np.zeros(one.program.z.shape) if memory is None else memory)

    def _reach(self, t: float, period: float) -> float:
        """By how much a time may be missed [s]."""
        shorter = min(self._runner.dt, period)
        return min(MET * shorter + ROUNDED * t * t / self._runner.dt, LATEST * shorter)

    def _is_due(self, t: float, start: float, period: float) -> bool:
        k = round((t - start) / period)
        return k >= 0 and abs(t - (start + k * period)) <= self._reach(t, period)

    def is_due(self, one: Controller, t: float) -> bool:
        """Whether a controller is due at a time [s]."""
        return self._is_due(t, one.start, one.period)

    def next_in(self, t: float) -> float:
        """Time until something is due after this moment [s]; infinite where nothing is."""
        least = math.inf
        for start, period in self._periods(inside=False):
            k = math.floor((t + self._reach(t, period) - start) / period) + 1
            least = min(least, start + max(k, 0) * period - t)
        return least

    def whole_steps(self) -> float:
        """Nominal steps that can be taken before something is due; 0: it is inside the next one."""
        t, dt = self._runner.time, self._runner.dt
        wait = self.next_in(t)
        return math.floor((wait + self._reach(t + wait, dt)) / dt) if math.isfinite(wait) else math.inf

    @property
    def splits(self) -> bool:
        """Whether steps from here on are split: a period is no multiple of dt, or its times are not those of steps."""
        return any(self._splits(start, period) for start, period in self._periods(inside=True))

    def _splits(self, start: float, period: float) -> bool:
        t, dt = self._runner.time, self._runner.dt
        near = self._reach(t, dt) / dt
        return round(period / dt) < 1 or _off_whole(period / dt) > near or _off_whole((t - start) / dt) > near

    def restart(self) -> None:
        """Begin anew with the clock."""
        for one in self.controllers.values():
            one.start = 0.0
            if one.program is not None:
                one.program.z.zero_()

    # inside a launch ------------------------------------------------------------------------------

    def enter(self, can: bool) -> None:
        """Find which controllers the next launch calls and which sensors it samples, where a launch can at all."""
        found = [one for one in self.controllers.values() if can and self._can_enter(one)]
        devices = [one for one in self._devices() if can and one.truth and not self._splits(0.0, one.period)]
        if not found and not devices:
            self.inside = None
        elif self.inside is None or not self.inside.is_of(found, devices):
            self.inside = Inside(self._runner, found, devices)

    def _devices(self) -> Iterable[Device]:
        return self._runner.bench.sensors.devices.values() if self._runner.system.model.sensors else ()

    def leave(self) -> None:
        """Have the host call them after all: the next step is split."""
        if self.inside is not None:
            self.inside = None
            if not self._called:
                self.depart()

    def _can_enter(self, one: Controller) -> bool:
        """Whether a launch can call a controller: its times are those of steps, and no record has what it wrote."""
        if not (one.edit_is_warp and one.prepare(self._runner) and one.inside):
            return False
        known = getattr(one.edit.controller, "knows", None)
        return not self._splits(one.start, one.period) and not (known is not None and known(self._runner.time))

    def most_inside(self, part: int) -> int:
        """How many of so many steps the next launch can take."""
        kept = any(hasattr(one.edit.controller, "kept") for one in self.inside.controllers) if self.inside else False
        return 1 if kept else min(part, MOST_ROUNDS)

    def run(self, steps: int) -> None:
        """Take nominal steps in one launch that calls the controllers inside, and samples the sensors inside."""
        assert self.inside is not None
        t, dt = self._runner.time, self._runner.dt
        timings = []
        for one in self.inside.controllers:
            every, since = round(one.period / dt), round((t - one.start) / dt)
            first = -since % every
            timings.append((first + (every if self._called and first == 0 else 0), every))
        samples = []
        for device in self.inside.devices:
            every = round(device.period / dt)
            samples.append((every - round(t / dt) % every, every))
        self.faults |= self.inside.run(steps, timings, samples)
        self.acted += bool(timings)
        self._sampled = True

    # on the host ----------------------------------------------------------------------------------

    def depart(self) -> None:
        """Let the controllers act that are due now, in the order in which they were attached.

        Those inside are left to the launch where no other is due.
        """
        runner = self._runner
        t = runner.time
        due = [one for one in self.controllers.values() if self._is_due(t, one.start, one.period)]
        self._called = self.inside is None or any(one not in self.inside.controllers for one in due)
        if not due or not self._called:
            return
        now, edition = Moment(runner.bench), runner.edition
        for one in due:
            if runner.edition != edition:  # one before it has set a parameter
                now, edition = Moment(runner.bench), runner.edition
            told = one.act(runner, now)
            self.acted += 1
            if told is not None:
                self.faults[one.name] = told

    def arrive(self) -> None:
        """Let the sensors sample that are due now."""
        if not self._runner.system.model.sensors:
            return
        t, sensors = self._runner.time, self._runner.bench.sensors
        done = self.inside.devices if self.inside is not None and self._sampled else []
        self._sampled = False
        due = [one for one in self._devices() if one not in done and self._is_due(t, 0.0, one.period)]
        if due:
            sensors.sample(due, t)


def _off_whole(x: float) -> float:
    return abs(x - round(x))
