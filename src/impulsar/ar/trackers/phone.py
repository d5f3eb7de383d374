"""A phone in the hand: its camera sees the room's marker, and its tip is a place before the camera.

    X_RP = X_PR⁻¹,   p_RS = X_RP (0, 0, ahead),   q_RS = q_RP

P is the phone's camera (x right, y down, z ahead), S its tip. Pictures and buttons come from a page (`phone_line.py`),
the marker is found here. A phone whose lens nobody knows is shown the ChArUco board first: views of it are taken until
the lens is found, which is kept in the file that was named.

It is lost when it leaves the page, sends nothing for `SILENT`, sends pictures of another size, does not see the marker,
or its tip jumps: a marker that is seen flat on from afar has two poses, and the hand must not be thrown to the other.
"""

import threading
import time as wall
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...author.errors import ModelError
from ...author.rotations import quaternion
from ..jpeg import jpeg_size, unpack
from ..lens import LEAST_CORNERS, calibrate
from ..markers import CharucoFinder, Follower, MarkerFinder, Target, single
from ..optics import Intrinsics, load_intrinsics
from ..patterns import Charuco, Marker
from ..status import Status, Told
from . import Tip

AHEAD = 0.10  # of the camera [m]
FARTHEST = 1.0  # that a tip may be ahead of it [m]
SILENT = 0.5  # without a picture before it is lost [s]
FASTEST = 5.0  # that a hand moves [m/s]
MOST_PRESSES = 64  # that wait
SIZE = (640, 480)  # of pictures that are asked for while the lens is not known [px]
LARGEST = 2_100_000  # of a picture [px]
VIEWS, MORE, BETWEEN = 15, 5, 0.7  # of the board: at first, after what did not suffice, and apart [s]
MOST_VIEWS = 40
GAMMA = 2.2  # of the pictures of all phones


class Learning:
    """Finds the lens of a phone from views of the board."""

    def __init__(self, board: Charuco):
        self.board, self._finder = board, CharucoFinder(None, board)
        self._views: list[np.ndarray] = []
        self._wanted, self._last = VIEWS, -np.inf
        self._missing = ""

    @property
    def told(self) -> str:
        """What to do, for the person."""
        size = f"{self.board.columns} x {self.board.rows} squares of {1e3 * self.board.square:g} mm"
        task = f"show it the calibration board ({size}) near, far, in the corners and tilted to all sides"
        return f"{self._missing}{task}: {len(self._views)} of {self._wanted} views"

    def take(self, time: float, grey: np.ndarray) -> Intrinsics | None:
        """The lens, once there are views enough."""
        if self._views and self._views[0].shape != grey.shape:
            self._views.clear()  # the phone was turned
        if time - self._last < BETWEEN or len(self._finder.corners(grey)[0]) < LEAST_CORNERS:
            return None
        self._views, self._last = [*self._views, grey][-MOST_VIEWS:], time
        if len(self._views) < self._wanted:
            return None
        try:
            return calibrate(self._views, self.board)
        except ModelError as error:
            self._missing = f"{error}. "
            self._wanted = min(len(self._views) + MORE, MOST_VIEWS)
            self._views = self._views[-(MOST_VIEWS - MORE) :]
            return None


class Phone(Told):
    """Tips of a phone, in the room's frame. `offer`, `press` and `leave` are called from any thread."""

    is_in_room = True

    def __init__(
        self,
        lens_file: str | Path,
        ahead: float = AHEAD,  # where the tip is before the camera [m]
        clock: Callable[[], float] = wall.monotonic,
        board: Charuco | None = None,
    ):
        super().__init__("no phone has opened its page yet")
        self.file, self.ahead, self._clock = Path(lens_file), ahead, clock
        self.lens = load_intrinsics(self.file) if self.file.exists() else None
        self._learning = None if self.lens is not None else Learning(board or Charuco(7, 5, 0.03))
        self._size = SIZE  # of what is asked for
        self._lock = threading.Lock()
        self._owner: object = None
        self._newest: tuple[int, float, bytes] | None = None
        self._presses: deque[tuple[float, tuple[bool, ...]]] = deque(maxlen=MOST_PRESSES)
        self._down: tuple[bool, ...] = ()
        self._last = -np.inf  # when something came
        self._has_left = False
        self._before: Tip | None = None  # the last tip of this hold of the marker
        self.taken = 0
        self._target, self._dictionary, self._gamma = single(Marker(0, 0.08)), "4x4_50", GAMMA
        self._begin()

    def look_for(self, target: Target, dictionary: str, gamma: float | None = None) -> None:
        """The marker that stands for the room, and the gamma of the phone's pictures."""
        self._target, self._dictionary, self._gamma = target, dictionary, gamma or GAMMA
        self._begin()

    def _begin(self) -> None:
        self._follower = Follower(self._target)
        self._finder = None if self.lens is None else MarkerFinder(self.lens, self._dictionary, gamma=self._gamma)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the pictures that are wanted [px]."""
        return self._size if self.lens is None else (self.lens.width, self.lens.height)

    @property
    def pixel(self) -> list[float]:
        """Where the tip is in the phone's pictures [px]; nowhere while its lens is not known."""
        return [] if self.lens is None else self.lens.project(np.array([0.0, 0.0, self.ahead])).tolist()

    @property
    def why(self) -> str:
        """What is amiss or to be done, in words."""
        return self._learning.told if self._learning is not None else self.status.why

    # from the page's line ---------------------------------------------------------------------------------------------

    def join(self, page: object) -> bool:
        """Whether a page has the hand: the first, until it leaves or is silent."""
        with self._lock:
            if self._owner is None or (page is not self._owner and self._clock() - self._last > SILENT):
                self._owner, self._last = page, self._clock()
            return page is self._owner

    def offer(self, page: object, number: int, jpeg: bytes, down: tuple[bool, ...]) -> None:
        """A picture, or nothing but the buttons that are down."""
        if not self.join(page):
            return
        with self._lock:
            now = self._clock()
            if down != self._down:
                self._presses.append((now, down))
            self._down = down
            if jpeg:
                self._last, self._newest = now, (number, now, jpeg)

    def leave(self, page: object) -> None:
        """A page has gone."""
        with self._lock:
            if page is self._owner:
                self._owner, self._newest, self._has_left, self._down = None, None, True, ()
                self._presses.clear()

    # for whoever follows it -------------------------------------------------------------------------------------------

    def poll(self) -> list[Tip]:
        """What was pressed where the tip was last, then the tip of the newest picture."""
        with self._lock:
            newest, self._newest = self._newest, None
            presses = list(self._presses)
            self._presses.clear()
            has_left, self._has_left = self._has_left, False
            down, silent = self._down, self._clock() - self._last > SILENT
        now = self._clock()
        if has_left:
            self._lose("the phone has left its page", now)
        elif newest is None and silent and self.status.is_ok:
            self._lose("the phone sends no pictures any more", now)
        tips = [] if self._before is None else [replace(self._before, time=t, buttons=each) for t, each in presses]
        if newest is not None and (tip := self._look(*newest, down)) is not None:
            tips.append(tip)
        return tips

    def close(self) -> None:
        """End it."""
        self._before = None
        self.set_status("ended", "closed", self._clock())

    def _lose(self, why: str, time: float) -> None:
        self._before = None
        if self.status.state == "lost":
            self.status = Status("lost", why, self.status.since)  # the newest reason is what the person can act on
        self.set_status("lost", why, time)

    def _look(self, number: int, time: float, jpeg: bytes, down: tuple[bool, ...]) -> Tip | None:
        """The tip of a picture."""
        self.taken = number
        if self.status.state == "ended":
            return None
        if self._learning is not None:
            self._learn(time, jpeg)
            return None
        assert self._finder is not None
        image = unpack(jpeg, self.size)
        if isinstance(image, str):
            wanted = "{} x {}".format(*self.size)
            self._lose(f"the phone's picture is {image}, expected {wanted} as calibrated; turn it the other way", time)
            return None
        found = self._finder.find(_grey(image), self._target.corners)
        X_PR = self._follower.update(time, found).X_KM
        if X_PR is None:
            if not self._follower.status.is_ok:
                self._lose(self._follower.status.why, time)
            return None
        R_RP = X_PR[:3, :3].T
        position = R_RP @ (np.array([0.0, 0.0, self.ahead]) - X_PR[:3, 3])
        tip, before = Tip(time, position, quaternion(R_RP), down), self._before
        if before is not None and np.linalg.norm(position - before.position) > FASTEST * max(time - before.time, 1e-3):
            self._lose("the tip jumped; hold the phone nearer to the marker, and not straight above it", time)
            return None
        self.set_status("ok", time=time)
        self._before = tip
        return tip

    def _learn(self, time: float, jpeg: bytes) -> None:
        """Take a view of the board; at the end keep the lens, and follow from then on."""
        assert self._learning is not None
        size = jpeg_size(jpeg)
        if size is None or size[0] * size[1] > LARGEST:
            return
        self._size = size  # whatever the phone has
        image = unpack(jpeg, size)
        if isinstance(image, str) or (lens := self._learning.take(time, _grey(image))) is None:
            return
        lens.save(self.file)
        self.lens, self._learning = lens, None
        self._begin()


def _grey(image: np.ndarray) -> np.ndarray:
    return np.rint(image @ np.array([0.114, 0.587, 0.299])).astype(np.uint8)


def open_phone(where: str) -> Phone:
    """A phone from LENS.json or LENS.json,MILLIMETRES."""
    file, _, ahead = where.partition(",")
    try:
        distance = 1e-3 * float(ahead) if ahead else AHEAD
    except ValueError:
        distance = float("nan")
    if not file or not 0 <= distance <= FARTHEST:
        told = f"tracker 'phone:{where}': expected phone:LENS.json or phone:LENS.json,MILLIMETRES, 0 to 1000"
        raise ModelError(f"{told}; a lens file that is not there is made by showing the phone the calibration board")
    return Phone(file, distance)
