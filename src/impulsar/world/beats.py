"""Beats: what happens at times of its own, whatever the step is: sensors that sample, controllers that act.

Each beat has a start and a period, and is due at start + k · period. A nominal step in which one is due is taken in
pieces that end there; where all periods are whole multiples of dt no step is split. A sensor samples at the end of the
piece that arrives at its time, a controller acts at the beginning of the one that leaves: what it reads at a time was
measured at that time or before, and what it writes holds from there on.

The clock is a sum of steps, which rounds: a time is met where the clock is off it by no more than MET of the shorter
of step and period, and what a sum of so many steps may be off by.
"""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..observe.moment import Moment
from .control import Controller

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

    def __bool__(self) -> bool:
        return bool(self.controllers) or bool(self._runner.system.model.sensors)

    def _periods(self) -> Iterable[tuple[float, float]]:
        """Start and period of all that beats [s]."""
        found = [(one.start, one.period) for one in self.controllers.values()]
        if self._runner.system.model.sensors:
            found += dict.fromkeys((0.0, device.period) for device in self._runner.bench.sensors.devices.values())
        return found

    def put(self, controllers: Iterable[tuple[Any, float]]) -> None:
        """Have these controllers and no others; one that stays goes on counting its faults."""
        old = self.controllers
        self.controllers = {}
        for edit, start in controllers:
            one = old.get(edit.name)
            stays = one is not None and (one.edit, one.start) == (edit, start)
            self.controllers[edit.name] = one if stays else Controller(edit, start)  # type: ignore[assignment]

    def _reach(self, t: float, period: float) -> float:
        """By how much a time may be missed [s]."""
        shorter = min(self._runner.dt, period)
        return min(MET * shorter + ROUNDED * t * t / self._runner.dt, LATEST * shorter)

    def _is_due(self, t: float, start: float, period: float) -> bool:
        k = round((t - start) / period)
        return k >= 0 and abs(t - (start + k * period)) <= self._reach(t, period)

    def next_in(self, t: float) -> float:
        """Time until something is due after this moment [s]; infinite where nothing is."""
        least = math.inf
        for start, period in self._periods():
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
        t, dt = self._runner.time, self._runner.dt
        near = self._reach(t, dt) / dt
        return any(
            round(period / dt) < 1 or _off_whole(period / dt) > near or _off_whole((t - start) / dt) > near
            for start, period in self._periods()
        )

    def restart(self) -> None:
        """Begin anew with the clock."""
        for one in self.controllers.values():
            one.start = 0.0

    def depart(self) -> None:
        """Let the controllers act that are due now, in the order in which they were attached."""
        runner = self._runner
        t = runner.time
        due = [one for one in self.controllers.values() if self._is_due(t, one.start, one.period)]
        if not due:
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
        due = [device for device in sensors.devices.values() if self._is_due(t, 0.0, device.period)]
        if due:
            sensors.sample(due, t)


def _off_whole(x: float) -> float:
    return abs(x - round(x))
