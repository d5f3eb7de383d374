"""What a timeline is made of: events, marks with snapshots, and how they are written to a journal."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..author.errors import FileError
from ..edits import data as edits
from ..io.codec import edit_to_json
from .callables import Samples
from .journal import Entry, Record

MOST_MARKS = 64
RECENT_MARKS = 16  # of these, the last ones, which stay close together


@dataclass(frozen=True)
class Limit:
    """A new limit of work, which the timeline holds beside the edits."""

    limit: int


@dataclass
class Event:
    """An edit on the timeline."""

    step: int
    edit: edits.Edit | Limit
    limit: int  # of work, in force after it
    clock: float  # after it [s]
    dt: float  # after it [s]
    inverse: edits.Edit | None = None
    reverts: int | None = None  # position of the edit that this one takes back

    @property
    def is_of_a_person(self) -> bool:
        """Whether somebody made it, who may want it undone: limits of work and switches to compiled steps are not."""
        return isinstance(self.edit, edits.Edit) and not isinstance(self.edit, edits.Compile)


@dataclass
class Mark:
    """A snapshot at a place of the timeline: in memory, in the journal, or in both."""

    step: int
    position: int
    lag: int  # steps of the session less those of the world, which a reset may set back
    size: int = 0  # of the journal when it was made [bytes]
    snapshot: Any = None
    entry: Entry | None = None  # of a journal that is being read
    offset: int | None = None  # of its record in the journal that is kept [bytes]

    @property
    def along(self) -> int:
        """How far along the timeline: steps and edits."""
        return self.step + self.position

    def is_before(self, step: int, position: int) -> bool:
        """Whether this place comes before another, or is it."""
        return self.step <= step and self.position <= position


@dataclass
class Undone:
    """An edit that was undone, and the place where that was, while the timeline still leads there."""

    edit: edits.Edit
    place: tuple[int, int] | None


def add_mark(marks: list[Mark], mark: Mark) -> None:
    """Put a mark at its place among others; where there are too many, those of old are thinned."""
    at = len(marks)
    while at and not marks[at - 1].is_before(mark.step, mark.position):
        at -= 1
    if at and mark.is_before(marks[at - 1].step, marks[at - 1].position):
        mark.offset = marks[at - 1].offset
        marks[at - 1].snapshot, marks[at - 1] = None, mark
        return
    marks.insert(at, mark)
    if len(marks) > MOST_MARKS:
        thin(marks)


def thin(marks: list[Mark]) -> None:
    """Drop the mark whose neighbours are nearest to each other, but none of the last: so the others stay
    evenly spread, and no gap is larger than a 20th of the timeline."""
    among = range(1, len(marks) - RECENT_MARKS)
    k = min(among, key=lambda k: marks[k + 1].along - marks[k - 1].along)
    marks.pop(k).snapshot = None


def event_record(event: Event, callables: Any, written: dict[str, Any] | None = None) -> Record:
    """An event as a record; its edit may be written already."""
    if isinstance(event.edit, Limit):
        return {"record": "limit", "step": event.step, "limit": event.limit}, b""
    data = {"record": "edit", "step": event.step, "limit": event.limit, "clock": event.clock, "dt": event.dt}
    data["edit"] = written or edit_to_json(event.edit, callables)
    if event.inverse is not None:
        with suppress(FileError):  # torques of which some worlds have no bound
            data["inverse"] = edit_to_json(event.inverse, callables)
    if event.reverts is not None:
        data["reverts"] = event.reverts
    return data, b""


def goes_on(event: Event, before: Event) -> bool:
    """Whether an event drags on what the one before it dragged, with no time between them."""
    now, was = event.edit, before.edit
    return (
        isinstance(now, edits.DragTo)
        and isinstance(was, edits.DragTo)
        and (now.body, tuple(now.at), event.step) == (was.body, tuple(was.at), before.step)
    )


def samples_record(step: int, number: int, samples: Samples) -> Record:
    """What a callable returned in a step."""
    return {"record": "samples", "step": step, "number": number, "samples": list(samples.items())}, b""


class JournalWarning(UserWarning):
    """The journal could not be written and is no longer kept; or not all of an old one could be read."""
