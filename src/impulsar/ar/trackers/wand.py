"""A stick with a marker: the camera sees the marker, the tip is at a known place in its frame.

Tips are in the frame of the room's marker, so that the camera may move, or without one in the camera's. The wand is
lost as soon as either marker is not seen for `PATIENCE`, and no tip is given for a picture that lacks one.

`MarkerWand` has a camera of its own; `EyeWand` is seen by the eye of a session, and its button is a second marker that
a finger covers:

    p_RS = X_RM p_MS,   X_RM = X_KR⁻¹ X_KM;   down: M is seen, its button has not been for `COVERED`
"""

import threading
from collections import deque
from collections.abc import Callable
from itertools import chain

import numpy as np

from ...author.errors import ModelError
from ...author.rotations import quaternion
from ..camera import Camera
from ..eye import Eye, Sight
from ..markers import PATIENCE, Follower, MarkerFinder, Target, single
from ..patterns import Marker
from ..status import Status, Told
from . import Tip

COVERED = 0.15  # without being seen before a button is down [s]: longer than a marker is missed for in noise
MOST_TIPS = 64  # that wait
SIZE, TIP = 40.0, (0.0, -100.0, 0.0)  # of a wand by its number alone: side of its marker, tip in its frame [mm]
FARTHEST = 1.0  # that a tip may be from its marker [m]


class MarkerWand(Told):
    """Tips of a wand; `p_MS` is its tip in the marker's frame (`calibration.tip_offset` finds it)."""

    def __init__(
        self,
        camera: Camera,
        wand: Target,
        p_MS: np.ndarray,
        room: Target | None = None,  # None: tips are in the camera's frame
        dictionary_name: str = "4x4_50",
        buttons: Callable[[], tuple[bool, ...]] = tuple,
        gamma: float = 1.0,  # of the camera, see MarkerFinder
    ):
        super().__init__(f"{wand.name} has not been seen yet")
        if camera.intrinsics is None:
            raise ModelError("wand: the camera's intrinsics are needed; run `impulsar ar calibrate-camera`")
        self.camera, self._p_MS, self._buttons = camera, np.asarray(p_MS, float), buttons
        self._finder = MarkerFinder(camera.intrinsics, dictionary_name, gamma=gamma)
        self._wand, self._room = Follower(wand), None if room is None else Follower(room)
        targets = [wand] if room is None else [wand, room]
        self._wanted = set(chain.from_iterable(target.corners for target in targets))
        self._seen = -np.inf

    def poll(self) -> list[Tip]:
        """The tip of the camera's newest picture, if there is one and it shows what is needed."""
        frame = self.camera.read()
        if frame is None:
            if self.camera.status.state in ("lost", "ended"):
                self._pass_on(self.camera.status)
            return []
        found = self._finder.find(frame.grey, self._wanted)
        X_KM = self._wand.update(frame.time, found).X_KM
        X_KR = np.eye(4) if self._room is None else self._room.update(frame.time, found).X_KM
        if X_KM is None or X_KR is None:
            missing = self._wand if X_KM is None or self._room is None else self._room
            if frame.time - self._seen > PATIENCE:
                self.set_status("lost", f"{missing.target.name} is not in the picture", frame.time)
            return []
        self._seen = frame.time
        self.set_status("ok", time=frame.time)
        X_RM = np.linalg.inv(X_KR) @ X_KM
        position = X_RM[:3, :3] @ self._p_MS + X_RM[:3, 3]
        return [Tip(frame.time, position, quaternion(X_RM[:3, :3]), self._buttons())]

    def close(self) -> None:
        """Close the camera."""
        self.camera.close()
        self._pass_on(self.camera.status)

    def _pass_on(self, status: Status) -> None:
        self.set_status(status.state, status.why, status.since)


class EyeWand(Told):
    """Tips of a wand in the room's frame, as the eye of a session sees it; its button is the marker of the next number.

    Sights come in the eye's thread, tips are polled in another.
    """

    is_in_room = True

    def __init__(self, marker: Marker, p_MS: np.ndarray):
        super().__init__("its camera does not look yet")
        self._marker, self._p_MS = marker, np.asarray(p_MS, float)
        self._follower = Follower(single(marker))
        self._button = Marker(marker.number + 1, marker.size, marker.dictionary).number
        self._tips: deque[Tip] = deque(maxlen=MOST_TIPS)
        self._lock = threading.Lock()
        self._eye: Eye | None = None
        self._seen = self._uncovered = -np.inf

    def look_through(self, eye: Eye) -> None:
        """Be seen by this eye, which has not started yet."""
        if set(eye.follower.target.corners) & {self._marker.number, self._button}:
            numbers = f"{self._marker.number} and {self._button}"
            raise ModelError(f"wand: markers {numbers} are its own and its button; give the room's another number")
        self._eye = eye
        eye.wanted.add(self._marker.number)
        eye.watch(self._see)

    def _see(self, sight: Sight) -> None:
        time = sight.frame.time
        X_KM = self._follower.update(time, sight.found).X_KM
        if any(each.number == self._button for each in sight.found):
            self._uncovered = time
        if X_KM is None or sight.X_KR is None:
            missing = self._follower.target.name if X_KM is None else "the room's marker"
            if time - self._seen > PATIENCE:
                self.set_status("lost", f"{missing} is not in the picture", time)
            return
        if not self._seen <= time <= self._seen + PATIENCE:
            self._uncovered = time  # what is found anew, or whose clock was set back, holds nothing
        self._seen = time
        self.set_status("ok", time=time)
        X_RM = np.linalg.inv(sight.X_KR) @ X_KM
        position = X_RM[:3, :3] @ self._p_MS + X_RM[:3, 3]
        is_down = time - self._uncovered > COVERED
        with self._lock:
            self._tips.append(Tip(time, position, quaternion(X_RM[:3, :3]), (is_down,)))

    def poll(self) -> list[Tip]:
        """Tips of the pictures since the last call."""
        camera = None if self._eye is None else self._eye.statuses[0]
        with self._lock:
            found = list(self._tips)
            self._tips.clear()
        if camera is not None and camera.state in ("lost", "ended"):
            self.set_status(camera.state, camera.why, camera.since)
            return []
        return found if self.status.is_ok else []

    def close(self) -> None:
        """The camera is the eye's; nothing is to be given back."""
        self.set_status("ended", "the wand was put away")


def open_wand(where: str) -> EyeWand:
    """A wand from NUMBER, NUMBER,MM or NUMBER,MM,X,Y,Z with the tip in the marker's frame [mm]."""
    given = where.split(",")
    try:
        number = int(given[0])
        size, *tip = [float(part) for part in given[1:]] or [SIZE]
        p_MS = 1e-3 * np.array(tip or TIP)
    except ValueError:
        number, size, p_MS = -1, SIZE, np.zeros(0)
    if number < 0 or p_MS.shape != (3,) or not np.linalg.norm(p_MS) <= FARTHEST:
        told = f"tracker 'wand:{where}': expected wand:NUMBER, wand:NUMBER,MM or wand:NUMBER,MM,X,Y,Z"
        raise ModelError(f"{told}: its marker, the side of that, and the tip in the marker's frame [mm], within 1 m")
    return EyeWand(Marker(number, 1e-3 * size), p_MS)
