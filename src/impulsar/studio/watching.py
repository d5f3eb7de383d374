"""Users' events in a session: found inside its steps as a run finds them, and kept with a sample of each.

A terminal event stops time there. The world goes back to the start of the step, takes a step that ends at the event and
has its step size back: two SetStep edits, in the history as anything else that was done, and one to undo.
"""

import time as wall
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .. import edits
from ..author.checks import show
from ..author.errors import ModelError
from ..author.events import Event
from ..engine.state import no_trace
from ..history.history import History
from ..world.watch import Found, Watch
from ..world.within import Within, within
from ..world.world import World
from . import messages as ms
from .gestures import Gestures
from .recording import Recording, Sample

MOST = 32  # events that are watched
MOST_FOUND = 10_000  # that are kept, and
MOST_TOLD = 300  # that clients are told, the newest
NEAR = 1e-6  # parts of a step: an event so near to a step's end is at it, and one so near behind a stop is the same
FIELDS = ("signal", "level", "direction", "terminal")


@dataclass(frozen=True)
class Occurred:
    """An event that took place, and the world there."""

    name: str
    time: float  # [s]
    sample: Sample


class Watching:
    """The events of a session."""

    def __init__(self) -> None:
        self.events: dict[str, Event] = {}
        self.found: list[Occurred] = []
        self.is_told = True
        self._watch: Watch | None = None
        self._within: Within | None = None
        self._of: tuple = ()  # what the watch was made for
        self._is_stale = False  # the world came to where it is by other than steps
        self._step = (0.0, 0.0)  # start and end of the last step [s]
        self._reached: Occurred | None = None
        self._stopped: tuple[str, float] | None = None

    # what clients ask for -------------------------------------------------------------------------

    def add(self, world: World, name: str | None, given: Mapping[str, Any]) -> None:
        """Watch a signal; in the place of an event of the same name."""
        wrong = next((key for key in given if key not in FIELDS), None)
        if wrong is not None:
            raise ModelError(f"watch: '{wrong}' is not known, expected {', '.join(FIELDS)}")
        if not isinstance(given.get("signal"), str):
            raise ModelError(f"watch: signal is {show(given.get('signal'))}, expected its name")
        event = Event(name or "", given["signal"], **{key: given[key] for key in FIELDS[1:] if key in given})
        events = self.events | {event.name: event}
        if len(events) > MOST:
            raise ModelError(f"watch: {len(self.events)} events are watched already; remove some")
        self._bind(world, events)
        self.events, self.is_told = events, False

    def remove(self, world: World, name: str | None) -> None:
        """Watch an event no longer."""
        if name not in self.events:
            raise ModelError(f"unwatch: there is no event {show(name)}")
        events = {known: event for known, event in self.events.items() if known != name}
        self._bind(world, events)
        self.found = [one for one in self.found if one.name != name]
        self.events, self.is_told = events, False

    def message(self) -> ms.Events:
        """What clients are told."""
        self.is_told = True
        return ms.Events(
            watched=[
                ms.Watched(name=name, signal=str(event.function), level=event.level, direction=event.direction,
                           terminal=event.terminal) for name, event in self.events.items()
            ],
            found=[ms.Occurred(name=one.name, time=one.time) for one in self.found[-MOST_TOLD:]],
        )  # fmt: skip

    def samples(self) -> list[tuple[str, Sample]] | None:
        """What took place, by name; None where nothing is watched."""
        return [(one.name, one.sample) for one in self.found] if self.events else None

    # the world's way ------------------------------------------------------------------------------

    def leap(self) -> None:
        """The world came to where it is by other than a step: what changed its sign thereby is no event."""
        self._is_stale = True

    def cut(self, time: float) -> None:
        """Forget what lies after a time [s]: the session went back."""
        kept = [one for one in self.found if one.time <= time]
        self.is_told = self.is_told and len(kept) == len(self.found)
        self.found = kept

    def forget(self) -> None:
        """Begin the list anew."""
        self.is_told = self.is_told and not self.found
        self.found = []

    def before_steps(self, world: World) -> None:
        """Have everything ready for the next steps."""
        if self.events and (self._is_stale or self._of != self._now(world)):
            self._bind(world, self.events)

    def look(self, world: World, recording: Recording) -> None:
        """Find the events of the step just taken; the world is left at its end, to the bit."""
        if self._watch is None or self._reached is not None or self._of != self._now(world):
            return
        assert self._within is not None
        end, names = world.time, list(self.events)

        def keep(found: Found) -> None:
            name = names[found.index]
            if self._stopped is not None and self._stopped[0] == name:
                if found.time - self._stopped[1] < NEAR * world.dt:
                    return
            one = Occurred(name, found.time, recording.sample(world, found.time))
            self.found.append(one)
            self.is_told = False
            if self.events[name].terminal and self._reached is None:
                self._reached = one

        self._watch.look(keep)
        self._step = self._within.start_time, end
        del self.found[:-MOST_FOUND]

    def stop(self, history: History, gestures: Gestures) -> str | None:
        """Stop time at the terminal event that the last steps came to, if they did; what is to be said of it."""
        one, self._reached = self._reached, None
        if one is None:
            return None
        self._stopped = one.name, one.time
        if not history.is_replaying:
            _come_to(history, gestures, one.time, *self._step)
        history.apply(edits.Pause(True))
        self.found = [each for each in self.found if each.time <= one.time]
        return f"event '{one.name}' at t = {one.time:.9g} s: time stands still there; run on, or undo to before it"

    def _bind(self, world: World, events: Mapping[str, Event]) -> None:
        """Watch events of a world as it is now."""
        runner = world.runner
        if events:
            inside = within(runner)
            plain = [replace(event, terminal=False) for event in events.values()]
            self._watch, self._within, self._of = Watch(world, plain, inside), inside, self._now(world)
            runner.about_to = self._about_to
        else:
            self._watch, self._within, self._of, runner.about_to = None, None, (), None
            if no_trace(runner.work):
                runner.record_later()
        self._is_stale = False
        runner.forget()

    def _about_to(self) -> None:
        assert self._within is not None
        self._within.begin()
        self._within.make_room()

    @staticmethod
    def _now(world: World) -> tuple:
        return id(world.runner), id(world.system), id(world.method)


def _come_to(history: History, gestures: Gestures, time: float, start: float, end: float) -> None:
    """Bring a history to a time inside a step that was taken from start to end [s]."""
    dt = history.world.dt
    if end - time < NEAR * dt:
        history.seek(end)
        return
    history.seek(start)
    if time - start < NEAR * dt:
        return
    shorter = edits.SetStep(time - start)
    gestures.note(history.position, shorter, wall.monotonic())  # the edit behind it belongs to it
    history.apply(shorter)
    history.step(1)
    history.apply(edits.SetStep(dt))
