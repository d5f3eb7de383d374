"""What waits to be sent to one client: the newest of everything that has a newest, and all replies."""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .messages import KINDS, Patch
from .wire import Written

MOST_REPLIES = 512
MOST_ROWS = 4 * 2**20  # bytes of rows that wait for a client that reads slowly; older ones go
ORDER = ("scene", "patch", "live", "status", "books")  # and then whatever else there is

Item = str | Written


class Mailbox:
    """Filled by the session, emptied by the client's sender; neither waits for the other.

    Messages become text where they are taken, so that the session's thread has no part in it.
    """

    def __init__(self, wake: Callable[[], None]):
        self._wake = wake  # tells the sender, from any thread
        self._lock = threading.Lock()
        self._newest: dict[str, Item] = {}  # by ORDER
        self._replies: deque[Item] = deque()
        self._rows: deque[bytes] = deque()
        self._rows_size = 0
        self._frame: bytes | None = None
        self.is_overfull = False  # a client that sends but does not read
        self.frames_missed = 0

    def put(
        self, newest: Mapping[str, Item], replies: Sequence[Item], frame: bytes | None, rows: bytes | None = None
    ) -> None:
        """Leave all that one turn of the session has for this client."""
        if not (newest or replies or frame):
            return
        with self._lock:
            if "scene" in newest:
                self._newest.pop("patch", None)
            for kind, item in newest.items():
                before = self._newest.get(kind)
                self._newest[kind] = merged(before, item) if kind == "patch" and before is not None else item
            if not {"scene", "patch", "live"}.isdisjoint(newest):
                self._frame = None  # it belongs to the Scene or Live before
            self._replies += replies
            if rows is not None:
                self._rows.append(rows)
                self._rows_size += len(rows)
                while self._rows_size > MOST_ROWS:
                    self._rows_size -= len(self._rows.popleft())
            if frame is not None:
                self.frames_missed += self._frame is not None
                self._frame = frame
            if len(self._replies) > MOST_REPLIES:
                self.is_overfull = True
                self._replies.clear()
        self._wake()

    def nudge(self) -> None:
        """Have the sender look, though nothing was left here for it."""
        self._wake()

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not (self._newest or self._replies or self._rows or self._frame)

    @property
    def is_large(self) -> bool:
        """Whether what waits takes long to become text."""
        return "scene" in self._newest or "patch" in self._newest or "live" in self._newest

    def take(self) -> list[str | bytes]:
        """Everything that waits, in the order in which it is to be sent."""
        with self._lock:
            kinds = sorted(self._newest, key=lambda kind: ORDER.index(kind) if kind in ORDER else len(ORDER))
            waiting = [self._newest[kind] for kind in kinds]
            waiting += self._replies
            frame, rows = self._frame, self._rows
            self._newest, self._replies, self._frame = {}, deque(), None
            self._rows, self._rows_size = deque(), 0
        texts: list[str | bytes] = [item if isinstance(item, str) else item.text for item in waiting]
        texts += rows
        return texts if frame is None else [*texts, frame]


def merged(before: Item, after: Item) -> Item:
    """Two patches of which the first has not been sent, as one."""
    assert isinstance(before, Written) and isinstance(after, Written)
    old, new = before.message, after.message
    assert isinstance(old, Patch) and isinstance(new, Patch)
    parts: dict[str, Any] = {
        kind: list({part.name: part for part in (*getattr(old, kind), *getattr(new, kind))}.values()) for kind in KINDS
    }
    return Written(replace(new, order=old.order | new.order, **parts))
