"""Collimate real and virtual, by sight: a camera in a thread of its own, and in each picture where the room is.

What looks on gets every picture with the pose that was found in it and in no other, so that what is drawn over it
fits however late both are.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..author.errors import ModelError
from .camera import Camera, Frame
from .markers import Follower, MarkerFinder, Sighting, Target
from .status import Status

PAUSE = 0.002  # between two looks for a new picture [s]


@dataclass(frozen=True)
class Sight:
    """A picture, and the room's frame R in the camera K; None where the marker is not seen."""

    frame: Frame
    X_KR: np.ndarray | None
    found: Sequence[Sighting] = ()  # all markers of the picture, the room's and others


class Eye:
    """A camera that looks for the room's marker; `watch` is called with every Sight, in the eye's thread."""

    def __init__(self, camera: Camera, target: Target, dictionary: str = "4x4_50", gamma: float = 1.0):
        if camera.intrinsics is None:
            raise ModelError("camera: its lens is not known; run `impulsar ar calibrate-camera` and name its file")
        self.camera, self.lens = camera, camera.intrinsics
        self.follower = Follower(target)
        self._finder = MarkerFinder(self.lens, dictionary, gamma=gamma)
        self.wanted = set(target.corners)  # numbers of markers that a picture is searched for until they are found
        self._watch: list[Callable[[Sight], None]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="impulsar eye", daemon=True)
        self.newest: Sight | None = None
        self.trouble = ""  # what ended the eye, where something did

    @property
    def statuses(self) -> tuple[Status, Status]:
        """Of the camera and of the marker."""
        camera = Status("lost", self.trouble) if self.trouble else self.camera.status
        return camera, self.follower.status

    def watch(self, action: Callable[[Sight], None]) -> None:
        """Have an action called with every sight from now on."""
        self._watch.append(action)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more, and give the camera back."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self.camera.close()

    def look(self) -> Sight | None:
        """The newest picture with what is found in it, if there is a new one."""
        frame = self.camera.read()
        if frame is None:
            return None
        found = self._finder.find(frame.grey, self.wanted)
        self.newest = Sight(frame, self.follower.update(frame.time, found).X_KM, found)
        return self.newest

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                sight = self.look()
            except (ModelError, ValueError) as error:  # a picture of another size, or one that cannot be read
                self.trouble = str(error)
                self._stop.wait(1.0)
                continue
            if sight is None:
                self._stop.wait(PAUSE)
                continue
            self.trouble = ""
            for action in self._watch:
                action(sight)
