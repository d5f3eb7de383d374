"""Cameras: stamped frames from a webcam, a video file or, in `synthetic.py`, from a computed scene.

A camera that is unplugged is no error: `read` gives None, `status` says lost and why, and a webcam is opened again as
soon as it is back.
"""

import threading
import time as wall
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..author.errors import FileError
from ..plugins import Registry
from .optics import Intrinsics
from .status import Status, Told, opencv

RETRY = 1.0  # between attempts to open a camera that is gone [s]
PATIENCE = 1.0  # without a picture before a webcam counts as lost [s]


@dataclass(frozen=True)
class Frame:
    """A picture [height, width] or [height, width, 3] (BGR), 8 bits, and when it was taken [s, host's clock].

    depth [rows, columns]: how far what is seen is, along the camera's z [m], 0 where nobody knows. It is of the same
    instant and seen through the same lens as the picture, bent as it is, and may be coarser: its element (i, j) is at
    the pixel ((j + 1/2) width / columns - 1/2, (i + 1/2) height / rows - 1/2).
    """

    time: float
    number: int  # pictures since the camera was opened; a gap is a picture that was missed
    image: np.ndarray
    depth: np.ndarray | None = None

    @property
    def grey(self) -> np.ndarray:
        """In one channel, by ITU-R BT.601."""
        if self.image.ndim == 2:
            return self.image
        return np.rint(self.image @ np.array([0.114, 0.587, 0.299])).astype(np.uint8)


class Camera(Protocol):
    """What gives frames. `read` does not wait for longer than a frame takes; None: there is no new one."""

    intrinsics: Intrinsics | None
    status: Status
    watch: Callable[[Status], None] | None

    def read(self) -> Frame | None:
        """The newest frame that was not read before."""

    def close(self) -> None:
        """Give the device back."""


def check_camera(name: str, thing: Any) -> "CameraOpener":
    """A function of a text and a lens, or TypeError."""
    if not callable(thing):
        raise TypeError(f"is {thing!r:.80}, expected a function of a text and a lens that returns a camera")
    return thing


CameraOpener = Callable[[str, Intrinsics | None], Camera]
OTHER_CAMERAS: Registry[CameraOpener] = Registry("impulsar.cameras", {}, check_camera)


class Webcam(Told):
    """A camera of this machine, by OpenCV; read by a thread of its own, so that a slow one stops nobody."""

    def __init__(
        self,
        index: int = 0,
        intrinsics: Intrinsics | None = None,
        size: tuple[int, int] | None = None,
        capture: Callable[[int], Any] | None = None,  # opens the device; cv2.VideoCapture by default
    ):
        super().__init__("no picture has come yet")
        cv2 = opencv(f"camera {index}")
        self._cv2, self._capture = cv2, capture or cv2.VideoCapture
        self.index, self.intrinsics = index, intrinsics
        self._size = size or ((intrinsics.width, intrinsics.height) if intrinsics else None)
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._newest: Frame | None = None
        self._count = 0
        self._thread = threading.Thread(target=self._run, name=f"camera {index}", daemon=True)
        self._thread.start()

    def read(self) -> Frame | None:
        """The newest frame that was not read before."""
        with self._lock:
            frame, self._newest = self._newest, None
        last = self.status.since if frame is None else frame.time
        if frame is None and self.status.is_ok and wall.monotonic() - max(last, self._seen) > PATIENCE:
            self.set_status("lost", f"camera {self.index}: no picture for {PATIENCE:g} s", wall.monotonic())
        return frame

    def close(self) -> None:
        """Give the device back."""
        self._stop.set()
        self._thread.join(timeout=5.0)
        self.set_status("ended", "closed", wall.monotonic())

    _seen = 0.0

    def _run(self) -> None:
        while not self._stop.is_set():
            device = self._capture(self.index)
            try:
                if not device.isOpened():
                    cure = "plug it in, close other programs that use it, or name another"
                    self.set_status("lost", f"camera {self.index}: cannot be opened; {cure}", wall.monotonic())
                else:
                    self._take(device)
            finally:
                device.release()
            self._stop.wait(RETRY)

    def _take(self, device: Any) -> None:
        """Pictures until none comes."""
        if self._size is not None:
            device.set(self._cv2.CAP_PROP_FRAME_WIDTH, self._size[0])
            device.set(self._cv2.CAP_PROP_FRAME_HEIGHT, self._size[1])
        while not self._stop.is_set():
            good, image = device.read()
            now = wall.monotonic()
            if not good or image is None:
                self.set_status("lost", f"camera {self.index}: gives no more pictures; is it unplugged?", now)
                return
            if self._size is not None and image.shape[1::-1] != self._size:
                found = f"{image.shape[1]} x {image.shape[0]}"
                asked = f"{self._size[0]} x {self._size[1]}"
                self.set_status("lost", f"camera {self.index}: gives {found}, expected {asked}; calibrate it", now)
                return
            with self._lock:
                self._newest = Frame(now, self._count, image)
            self._seen = now
            self._count += 1
            self.set_status("ok", time=now)


class VideoFile(Told):
    """Frames of a video file, each once, stamped by the file's own times."""

    def __init__(self, path: str | Path, intrinsics: Intrinsics | None = None):
        super().__init__("no picture has been read yet")
        self._cv2 = opencv(f"video '{path}'")
        if not Path(path).is_file():
            raise FileError(f"video '{path}': no such file")
        self.path, self.intrinsics = path, intrinsics
        self._device = self._cv2.VideoCapture(str(path))
        if not self._device.isOpened():
            raise FileError(f"video '{path}': cannot be read as a video")
        self._rate = self._device.get(self._cv2.CAP_PROP_FPS) or 30.0
        self._count = 0

    def read(self) -> Frame | None:
        """The next frame."""
        if self.status.state == "ended":
            return None
        good, image = self._device.read()
        time = self._count / self._rate
        if not good or image is None:
            self.set_status("ended", f"video '{self.path}': its end", time)
            return None
        frame = Frame(time, self._count, image)
        self._count += 1
        self.set_status("ok", time=time)
        return frame

    def close(self) -> None:
        """Close the file."""
        self._device.release()
        self.set_status("ended", "closed", self._count / self._rate)
