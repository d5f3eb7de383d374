"""Trackers: streams of stamped tips, whatever holds them.

A tracker is polled and never waits. It gives tips only while what it reads can be trusted; otherwise its status says
lost and why, and whoever holds something by it lets go. Names lead to a function that opens one from a text, such as a
port or a file: `open_tracker("arm:/dev/ttyUSB0")`. Other packages add theirs by entry points of the group
`impulsar.trackers`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ...author.errors import ModelError
from ...author.rotations import multiply, quaternion, rotation_matrix
from ...plugins import Registry
from ..status import Status


@dataclass(frozen=True)
class Tip:
    """Where a stylus is, in its tracker's frame T, and which buttons are down."""

    time: float  # when it was there [s, host's clock]
    position: np.ndarray  # p_TS [3] [m]
    orientation: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 0.0, 1.0]))  # q_TS, xyzw
    buttons: tuple[bool, ...] = ()
    angles: np.ndarray | None = None  # of the joints, of a tracker that has some [rad]

    def data(self) -> dict:
        """For JSON."""
        joints = {} if self.angles is None else {"angles": [float(value) for value in self.angles]}
        return {
            "time": self.time,
            "position": [float(value) for value in self.position],
            "orientation": [float(value) for value in self.orientation],
            "buttons": [bool(value) for value in self.buttons],
            **joints,
        }


class Tracker(Protocol):
    """What gives tips."""

    status: Status
    watch: Callable[[Status], None] | None  # called at each change of status

    def poll(self) -> list[Tip]:
        """Tips since the last call, oldest first; none while it is lost. Does not wait."""

    def close(self) -> None:
        """Give the device back."""


@dataclass(frozen=True)
class Link:
    """A part of a tracker that hides what is behind it: round, from one end to the other, in its frame T [m]."""

    start: np.ndarray
    end: np.ndarray
    radius: float


@runtime_checkable
class Linked(Protocol):
    """A tracker that knows where its own links are."""

    def links(self) -> list[Link]:
        """As they are now; none while it is lost."""


class Collimated:
    """A tracker in the world's frame: X_WT as a calibration found it."""

    def __init__(self, tracker: Tracker, X_WT: np.ndarray):
        self.tracker, self.X_WT = tracker, X_WT
        self._q_WT = quaternion(X_WT[:3, :3])

    @property
    def status(self) -> Status:
        """The tracker's."""
        return self.tracker.status

    @property
    def watch(self) -> Callable[[Status], None] | None:
        """The tracker's."""
        return self.tracker.watch

    @watch.setter
    def watch(self, function: Callable[[Status], None] | None) -> None:
        self.tracker.watch = function

    def poll(self) -> list[Tip]:
        """The tracker's tips, in the world."""
        R, p = self.X_WT[:3, :3], self.X_WT[:3, 3]
        return [
            Tip(tip.time, R @ tip.position + p, multiply(self._q_WT, tip.orientation), tip.buttons, tip.angles)
            for tip in self.tracker.poll()
        ]

    def close(self) -> None:
        """Close the tracker."""
        self.tracker.close()


def matrix(tip: Tip) -> np.ndarray:
    """X_TS of a tip."""
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = rotation_matrix(tip.orientation), tip.position
    return X


Opener = Callable[[str], Tracker]


def _arm(where: str) -> Tracker:
    """Digitizer arm at a serial port, PORT or PORT,TABLE.json."""
    from .arm import open_arm

    return open_arm(where)


def _osc(where: str) -> Tracker:
    """OSC messages by UDP at PORT or ADDRESS:PORT."""
    from .osc import open_osc

    return open_osc(where)


def _file(where: str) -> Tracker:
    """A recording of tips, FILE.jsonl."""
    from .recorded import Replay

    return Replay(where)


def _spacemouse(where: str) -> Tracker:
    """A SpaceMouse, its tip beginning at X,Y,Z of the room."""
    from .spacemouse import open_spacemouse

    return open_spacemouse(where)


def _phone(where: str) -> Tracker:
    """A phone's browser, by its camera's LENS.json or LENS.json,MILLIMETRES from the camera to the tip."""
    from .phone import open_phone

    return open_phone(where)


def _wand(where: str) -> Tracker:
    """A stick with marker NUMBER[,MM[,X,Y,Z]], seen by the session's own camera; its button is the next marker."""
    from .wand import open_wand

    return open_wand(where)


def check_tracker(name: str, thing: Any) -> Opener:
    """A function of a text, or TypeError."""
    if not callable(thing):
        raise TypeError(f"is {thing!r:.80}, expected a function of a text that returns a tracker")
    return thing


TRACKERS: Registry[Opener] = Registry(
    "impulsar.trackers",
    {"arm": _arm, "osc": _osc, "file": _file, "spacemouse": _spacemouse, "phone": _phone, "wand": _wand},
    check_tracker,
)


def open_tracker(text: str) -> Tracker:
    """A tracker from KIND:WHERE."""
    kind, _, where = text.partition(":")
    if kind not in TRACKERS:
        close = get_close_matches(kind, list(TRACKERS), n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known are: {', '.join(TRACKERS)}"
        raise ModelError(f"tracker '{text}': no kind named '{kind}'; {hint}")
    return TRACKERS[kind](where)
