"""A stick with a marker: the camera sees the marker, the tip is at a known place in its frame.

Tips are in the frame of the room's marker, so that the camera may move, or without one in the camera's. The wand is
lost as soon as either marker is not seen for `PATIENCE`, and no tip is given for a picture that lacks one.
"""

from collections.abc import Callable
from itertools import chain

import numpy as np

from ...author.errors import ModelError
from ...author.rotations import quaternion
from ..camera import Camera
from ..markers import PATIENCE, Follower, MarkerFinder, Target
from ..status import Status, Told
from . import Tip


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
