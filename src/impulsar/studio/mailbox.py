"""What waits to be sent to one client: the newest of everything that has a newest, and all replies."""

import threading
from collections import deque
from collections.abc import Callable

MOST_REPLIES = 512


class Mailbox:
    """Filled by the session, emptied by the client's sender; neither waits for the other."""

    def __init__(self, wake: Callable[[], None]):
        self._wake = wake  # tells the sender, from any thread
        self._lock = threading.Lock()
        self._newest: dict[str, str] = {}  # scene, live, status, books
        self._replies: deque[str] = deque()
        self._frame: bytes | None = None
        self.is_overfull = False  # a client that sends but does not read
        self.frames_missed = 0

    def put(self, newest: dict[str, str], replies: list[str], frame: bytes | None) -> None:
        """Leave all that one turn of the session has for this client."""
        if not (newest or replies or frame):
            return
        with self._lock:
            for kind, text in newest.items():
                self._newest.pop(kind, None)
                self._newest[kind] = text
            if "scene" in newest or "live" in newest:
                self._frame = None  # it belongs to the Scene or Live before
            self._replies += replies
            if frame is not None:
                self.frames_missed += self._frame is not None
                self._frame = frame
            if len(self._replies) > MOST_REPLIES:
                self.is_overfull = True
                self._replies.clear()
        self._wake()

    def take(self) -> list[str | bytes]:
        """Everything that waits, in the order in which it is to be sent."""
        with self._lock:
            waiting: list[str | bytes] = [
                self._newest[k] for k in ("scene", "live", "status", "books") if k in self._newest
            ]
            waiting += self._replies
            if self._frame is not None:
                waiting.append(self._frame)
            self._newest, self._replies, self._frame = {}, deque(), None
        return waiting
