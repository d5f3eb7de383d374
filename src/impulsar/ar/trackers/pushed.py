"""Tips that a program hands over: a pointer on a page, a controller of a headset, a test."""

import threading
import time as wall
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from ...author.checks import vector
from ...author.rotations import unit_quaternion
from ..status import Told
from . import Tip

MOST = 10_000  # tips that wait


class Pointer(Told):
    """A tip that is put somewhere, from any thread. A pointer at rest says nothing, so silence is no loss."""

    def __init__(self, name: str = "pointer", clock: Callable[[], float] = wall.monotonic):
        super().__init__(f"{name} has not been moved yet")
        self.name, self._clock = name, clock
        self._lock = threading.Lock()
        self._waiting: deque[Tip] = deque(maxlen=MOST)

    def put(
        self,
        position: Sequence[float],
        orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
        buttons: Sequence[bool] = (),
        time: float | None = None,
    ) -> None:
        """The tip is here now; also ends a loss."""
        tip = Tip(
            self._clock() if time is None else time,
            np.array(vector(self.name, "position", position, "m")),
            unit_quaternion(self.name, "orientation", orientation),
            tuple(bool(each) for each in buttons),
        )
        with self._lock:
            if self.status.state != "ended":
                self._waiting.append(tip)
                self.set_status("ok", time=tip.time)

    def lose(self, why: str) -> None:
        """It left the page, the headset was taken off, the line broke: what waits is no longer true."""
        with self._lock:
            self._waiting.clear()
            if self.status.state != "ended":
                self.set_status("lost", why, self._clock())

    def poll(self) -> list[Tip]:
        """Tips since the last call."""
        with self._lock:
            found = list(self._waiting)
            self._waiting.clear()
        return found

    def close(self) -> None:
        """End it."""
        self.lose("closed")
        self.set_status("ended", "closed", self._clock())
