"""Tips in files, one JSON object a line: a head, tips, and where the tracker was lost.

    {"kind": "impulsar tips", "version": 1}
    {"time": 12.5, "position": [x, y, z], "orientation": [x, y, z, w], "buttons": [false]}
    {"time": 13.0, "lost": "the arm has been silent for 0.25 s"}

Times are the host's; a replay begins with the first one now.
"""

import json
import math
import time as wall
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...author.errors import FileError
from ..status import Status, Told
from . import Tip, Tracker

KIND, VERSION = "impulsar tips", 1


class Recorder:
    """A tracker that writes down what another one gives."""

    def __init__(self, tracker: Tracker, path: str | Path):
        self.tracker = tracker
        self.watch: Callable[[Status], None] | None = None
        self._was = tracker.status
        try:
            self._file = Path(path).open("w", encoding="utf-8")  # noqa: SIM115 - closed by `close`
        except OSError as error:
            raise FileError(f"'{path}': cannot be written: {error.strerror or error}") from error
        self._write({"kind": KIND, "version": VERSION})

    @property
    def status(self) -> Status:
        """The tracker's."""
        return self.tracker.status

    def poll(self) -> list[Tip]:
        """The tracker's tips."""
        found = self.tracker.poll()
        for tip in found:
            self._write(tip.data())
        if self.status != self._was:
            self._was = self.status
            if self.status.state == "lost":
                self._write({"time": self.status.since, "lost": self.status.why})
            if self.watch is not None:
                self.watch(self.status)
        return found

    def close(self) -> None:
        """Close the file and the tracker."""
        self._file.close()
        self.tracker.close()

    def _write(self, data: dict) -> None:
        self._file.write(json.dumps(data) + "\n")


def read_tips(path: str | Path) -> list[Tip | tuple[float, str]]:
    """Tips of a file, and pairs of time and reason where it was lost."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"'{path}': cannot be read: {error}") from error
    found: list[Tip | tuple[float, str]] = []
    for k, line in enumerate(lines):
        try:
            found += _read(json.loads(line), k == 0)
        except (ValueError, KeyError, TypeError) as error:
            if k == len(lines) - 1 and k > 0:
                break  # cut off while it was written
            raise FileError(f"'{path}' line {k + 1}: {error}") from error
    if not lines:
        raise FileError(f"'{path}': is empty, expected a recording of tips")
    return found


def _read(data: Any, is_head: bool) -> list[Tip | tuple[float, str]]:
    if is_head:
        if data.get("kind") != KIND or data.get("version") != VERSION:
            raise ValueError(f"its kind is {data.get('kind')!r:.40}, expected {KIND!r}, version {VERSION}")
        return []
    time = float(data["time"])
    if "lost" in data:
        return [(time, str(data["lost"]))]
    position = np.array([float(value) for value in data["position"]])
    orientation = np.array([float(value) for value in data["orientation"]])
    if position.shape != (3,) or orientation.shape != (4,):
        raise ValueError("expected a position of three numbers and an orientation of four")
    norm = float(np.linalg.norm(orientation))
    if not (math.isfinite(time) and np.isfinite(position).all() and abs(norm - 1) < 1e-6):
        raise ValueError("expected finite numbers and a unit quaternion")
    angles = np.array([float(value) for value in data["angles"]]) if "angles" in data else None
    if angles is not None and not np.isfinite(angles).all():
        raise ValueError("expected finite angles")
    return [Tip(time, position, orientation, tuple(bool(value) for value in data["buttons"]), angles)]


class Replay(Told):
    """A recording, as it came; `pace=False` gives all at once."""

    def __init__(self, path: str | Path, pace: bool = True, clock: Callable[[], float] = wall.monotonic):
        super().__init__("the recording has not begun")
        self._items = read_tips(path)
        self.path, self._pace, self._clock = path, pace, clock
        self._next = 0
        first = _time(self._items[0]) if self._items else 0.0
        self._shift = clock() - first if pace else 0.0

    def poll(self) -> list[Tip]:
        """Tips that are due; those before a loss or the end are given before its status is told."""
        found: list[Tip] = []
        if self.status.state == "ended":
            return found
        now = self._clock()
        while self._next < len(self._items):
            item = self._items[self._next]
            time = _time(item) + self._shift
            if self._pace and time > now:
                return found
            if isinstance(item, tuple):
                if not found:
                    self._next += 1
                    self.set_status("lost", item[1], time)
                return found
            self._next += 1
            self.set_status("ok", time=time)
            found.append(Tip(time, item.position, item.orientation, item.buttons))
        if not found:
            self.set_status("ended", f"recording '{self.path}': its end", now)
        return found

    def close(self) -> None:
        """End it."""
        self.set_status("ended", "closed", self._clock())


def _time(item: Tip | tuple[float, str]) -> float:
    return item.time if isinstance(item, Tip) else item[0]
