"""Which edits belong to one gesture, so that a person undoes what was done and not one of its hundred parts."""

from collections import deque
from collections.abc import Sequence

from .. import edits

POINTER = (1 / 60, 0.05)  # least and most wall time between a hand's moves that its target takes to follow one [s]
MOST_STARTS = 10_000  # of gestures that are kept
TOGETHER = 0.7  # wall time between edits of one thing that make one gesture [s]


def overridden(subjects: Sequence[tuple | None]) -> dict[int, int]:
    """Of edits that wait for one step: those that a newer one of the same thing overrides, and by which.

    An edit of no such thing (None) stands between what comes before and after it.
    """
    found: dict[int, int] = {}
    newer: dict[tuple, int] = {}
    for k in reversed(range(len(subjects))):
        thing = subjects[k]
        if thing is None:
            newer.clear()
        elif thing in newer:
            found[k] = newer[thing]
        else:
            newer[thing] = k
    return found


class Pace:
    """How often every hand is moved, so that its target can go on evenly until the next move."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def span(self, hand: str, now: float) -> float:
        """Wall time that the target may take to where the hand is sent now [s]."""
        least, most = POINTER
        self._last = {name: last for name, last in self._last.items() if now - last < 1.0}
        span = min(max(now - self._last.get(hand, now), least), most)
        self._last[hand] = now
        return span


class Gestures:
    """Positions in a history at which gestures began."""

    def __init__(self) -> None:
        self._starts: deque[int] = deque(maxlen=MOST_STARTS)  # ascending
        self._held: dict[str, int] = {}  # start of the gesture of every hand that holds
        self._last: tuple[tuple | None, float] = (None, 0.0)

    def note(self, position: int, edit: edits.Edit, now: float) -> None:
        """An edit that was made at a position of the history, at a wall time."""
        while self._starts and self._starts[-1] >= position:
            self._starts.pop()
        thing = edits.subject(edit)
        goes_on = thing is not None and thing == self._last[0] and now - self._last[1] < TOGETHER
        self._last = thing, now
        if isinstance(edit, edits.Grab):
            self._held[edit.hand] = position
        elif isinstance(edit, edits.Move) and edit.hand in self._held:
            goes_on = True
        elif isinstance(edit, edits.Release):
            goes_on = self._held.pop(edit.hand, position) < position
        if not goes_on:
            self._starts.append(position)

    def start(self, position: int) -> int:
        """Where the gesture began whose edits are the last before a position."""
        return next((start for start in reversed(self._starts) if start < position), position - 1)
