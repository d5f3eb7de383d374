"""Users' events: where inside a step the functions of a world pass their levels.

Functions are read at the ends of all sub-steps, so that no change of sign that lasts longer than one is missed, and
between two readings of different sign a root is closed in by the rule of false position, the end that stays weighed
less and less (Illinois), every fourth time by halves; a jump is so bisected. An event's time is the far end of the last
bracket: the sign has just changed there, so that a run that goes on from it does not find it again. A reading of
exactly zero counts as changed, once.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..author.checks import is_number, show
from ..author.errors import ModelError, StepError
from ..author.events import Event
from .signals import signal
from .within import Within

if TYPE_CHECKING:
    from .world import World

SHARP = 1e-13  # how exactly an event is located [s],
OF_STEP = 1e-10  # or so much of a nominal step, where that is less,
ULPS = 4.0  # and never finer than so many last places of the clock
TRIES = 200
HALVES = 4  # every so many tries the bracket is halved


@dataclass(frozen=True)
class Found:
    """An event that took place."""

    time: float  # [s]
    index: int  # of its event, in the order given


def check_events(events: object, worlds: int) -> tuple[Event, ...]:
    """The events of a run, or a ModelError that says what is wrong with them."""
    if events is None:
        return ()
    if not isinstance(events, Sequence) or not all(isinstance(event, Event) for event in events):
        raise ModelError(f"run: events is {show(events)}, expected a list of im.Event")
    names = [event.name for event in events]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ModelError(f"run: two events are called '{twice}'; give each a name of its own")
    if events and worlds > 1:
        raise ModelError(f"run: events in a batch of {worlds} worlds; they are of one world, give each a World")
    return tuple(events)


class Watch:
    """Finds the events of a world in the steps that it takes."""

    def __init__(self, world: "World", events: Sequence[Event], within: Within):
        self.world, self.events, self._within = world, events, within
        self._readers = [self._reader(event) for event in events]
        self._values = self._read()

    def _reader(self, event: Event) -> Callable[[], float]:
        if not isinstance(event.function, str):
            function = event.function
            return lambda: function(self.world)
        try:
            found = signal(self.world, event.function)
        except ModelError as error:
            raise ModelError(f"event '{event.name}': {error}") from error
        return lambda: found.read(self.world.moment())[0]

    def _value(self, k: int) -> float:
        """How far an event's function is from its level now."""
        event, when = self.events[k], self.world.time
        try:
            given = self._readers[k]()
        except Exception as error:
            told = f"raised {type(error).__name__}: {error}"
            raise ModelError(f"event '{event.name}': its function {told} (at t = {when:.9g} s); correct it") from error
        if not is_number(given) or not math.isfinite(given):
            told = f"gave {show(given)} at t = {when:.9g} s"
            raise ModelError(f"event '{event.name}': its function {told}, expected a finite number")
        return float(given) - event.level

    def _read(self) -> list[float]:
        with self.world.at_work("an edit in an event's function"):
            return [self._value(k) for k in range(len(self.events))]

    def look(self, keep: Callable[[Found], None]) -> Event | None:
        """Find the events of the step just taken, in order of time, and `keep` each with the world there.

        Returns the terminal one that the world is left at; else the world is at the end of the step, to the bit.
        """
        within, last = self._within, self._read()
        ends = within.trace_ends()
        watched = len(ends) > 1
        start, before = within.start_time, self._values
        try:
            for end in ends:
                now = last
                if end != ends[-1]:
                    if not self._goes_to(end):
                        within.leave_out(end)
                        continue
                    now = self._read()
                crossings = [k for k in range(len(self.events)) if self._crosses(k, before[k], now[k])]
                watched = watched or bool(crossings)
                for group in self._groups([self._locate(k, start, end, before[k], now[k]) for k in crossings]):
                    inside = self._goes_to(group[0].time)
                    if not inside:
                        within.take_again()
                    for found in group:
                        keep(found if inside else Found(ends[-1], found.index))
                    for found in group:
                        if self.events[found.index].terminal:
                            watched = False
                            if inside:
                                within.stay()
                            return self.events[found.index]
                start, before = end, now
            self._values = last
        finally:
            if watched:
                within.take_again()
        return None

    def _goes_to(self, time: float) -> bool:
        """Bring the world to a time inside the step; False where no shorter step could be taken."""
        try:
            self._within.go_to(time)
        except StepError:
            return False
        return True

    def _crosses(self, k: int, before: float, now: float) -> bool:
        """Whether a function changes its sign the way its event asks for; zero belongs to the side it comes to."""
        rises, falls = before < 0.0 <= now, before > 0.0 >= now
        return {1: rises, -1: falls, 0: rises or falls}[self.events[k].direction]

    def _locate(self, k: int, near: float, far: float, low: float, high: float) -> Found:
        """Where a function changes its sign between two times [s]."""
        sharp = self._sharp(far)
        side = math.copysign(1.0, low)
        stays = tries = 0
        while far - near > sharp and tries < TRIES:
            time = near + (far - near) * (low / (low - high))
            if tries % HALVES == HALVES - 1:
                time = 0.5 * (near + far)
            time = min(max(time, near + 0.5 * sharp), far - 0.5 * sharp)
            if not self._goes_to(time):
                break
            with self.world.at_work("an edit in an event's function"):
                value = self._value(k)
            if side * value <= 0.0:
                far, high = time, value
                low *= 0.5 if stays > 0 else 1.0
                stays = 1
            else:
                near, low = time, value
                high *= 0.5 if stays < 0 else 1.0
                stays = -1
            tries += 1
        return Found(far, k)

    def _sharp(self, time: float) -> float:
        """How exactly an event at a time is located [s]."""
        return max(ULPS * math.ulp(time), min(SHARP, OF_STEP * self.world.dt))

    def _groups(self, found: list[Found]) -> list[list[Found]]:
        """Events in order of time; those that cannot be told apart together, in the order given, at one time."""
        groups: list[list[Found]] = []
        for each in sorted(found, key=lambda one: one.time):
            if groups and each.time - groups[-1][0].time <= 2.0 * self._sharp(each.time):
                groups[-1].append(each)
            else:
                groups.append([each])
        return [[Found(group[-1].time, k) for k in sorted(one.index for one in group)] for group in groups]
