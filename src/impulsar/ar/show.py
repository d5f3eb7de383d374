"""Render: the camera's pictures on the studio's pages, each with the pose that was found in it; docs/ar.md.

    GET /api/ar      {"eyes": true, "result": whether there is one}
    GET /api/ar/result    a result's motion, to be shown instead of the session; studio/player.py
    WebSocket /ar    Seeing as JSON and sights as binary messages; from a page that lends its camera, pictures

The messages are in studio/ar_messages.py. A page that reads slowly misses pictures and holds nobody up.
"""

import asyncio
import contextlib
import struct
import threading
import time as wall
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from ..author.rotations import quaternion
from ..studio.ar_messages import (
    DEPTH_UNIT,
    PICTURE_HEADER,
    PICTURE_MAGIC,
    SIGHT_HEADER,
    SIGHT_MAGIC,
    Device,
    Lens,
    Occluder,
    Seeing,
)
from ..studio.wire import to_text
from .camera import Frame
from .eye import Eye, Sight
from .jpeg import unpack
from .optics import Intrinsics
from .status import Status, Told, opencv

QUALITY = 85  # of JPEG
MOST_DEPTHS = 320 * 240  # that are sent of a picture
LOOKS = 0.1  # between two looks whether something but the picture has changed [s]
_SIGHT = struct.Struct("<" + "".join(code for _, code in SIGHT_HEADER))
_PICTURE = struct.Struct("<" + "".join(code for _, code in PICTURE_HEADER))


@dataclass
class Place:
    """Where the mechanism stands in the room: p_R = p_RW + scale R_RW p_W."""

    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    orientation: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 0.0, 1.0]))
    scale: float = 1.0


class PageCamera(Told):
    """The camera of a page's browser, of one page at a time: the first that sends, until it is silent for a while."""

    SILENT = 2.0  # [s]

    def __init__(self, intrinsics: Intrinsics):
        super().__init__("no page has sent a picture yet; open the studio's page and allow its camera")
        self.intrinsics: Intrinsics | None = intrinsics
        self._lens, self._lock = intrinsics, threading.Lock()
        self._newest: tuple[int, float, bytes] | None = None
        self._owner: object = None
        self._last = -np.inf

    def offer(self, page: object, number: int, jpeg: bytes) -> None:
        """A picture of a page."""
        now = wall.monotonic()
        with self._lock:
            if page is not self._owner and now - self._last < self.SILENT:
                return
            self._owner, self._last, self._newest = page, now, (number, now, jpeg)

    def is_of(self, page: object) -> bool:
        """Whether what is seen is this page's own picture."""
        return page is self._owner

    def read(self) -> Frame | None:
        """The newest picture; of one that cannot be read, None and why."""
        with self._lock:
            newest, self._newest = self._newest, None
        now = wall.monotonic()
        if newest is None:
            if self.status.is_ok and now - self._last > self.SILENT:
                self.set_status("lost", "the page sends no pictures any more", now)
            return None
        number, time, jpeg = newest
        wanted = self._lens.width, self._lens.height
        image = unpack(jpeg, wanted)
        if isinstance(image, str):
            why = "the page's picture is {}, expected {} x {} as calibrated".format(image, *wanted)
            self.set_status("lost", why, now)
            return None
        self.set_status("ok", time=time)
        return Frame(time, number, image)

    def close(self) -> None:
        """Nothing to give back."""
        self.set_status("ended", "closed", wall.monotonic())


class Show:
    """What an eye sees and a tracker does, for pages."""

    def __init__(
        self,
        eye: Eye,
        place: Place,
        occluders: Callable[[], Sequence[Occluder]] = lambda: (),
        tracked: Callable[[], tuple[Device | None, str | None, Sequence[float]]] = lambda: (None, None, ()),
        motion: Mapping[str, object] | None = None,
    ):
        self.eye, self.place, self._occluders, self._tracked = eye, place, occluders, tracked
        self._motion = motion
        self._pages: set[_Page] = set()
        self._lock = threading.Lock()
        eye.watch(self._pass_on)

    def routes(self) -> list[BaseRoute]:
        """For the studio's server."""
        pages = [Route("/api/ar", self._offer), Route("/api/ar/result", self._result)]
        return [*pages, WebSocketRoute("/ar", self._serve)]

    def seeing(self) -> Seeing:
        """All but the pictures."""
        lens, place = self.eye.lens, self.place
        camera, marker = self.eye.statuses
        tracker, holds, tip = self._tracked()
        return Seeing(
            lens=Lens(
                width=lens.width, height=lens.height, fx=lens.fx, fy=lens.fy, cx=lens.cx, cy=lens.cy,
                distortion=list(lens.distortion),
            ),
            pose=[*place.position.tolist(), *place.orientation.tolist()],
            scale=place.scale,
            camera=_device("camera", camera),
            marker=_device("marker", marker),
            own=isinstance(self.eye.camera, PageCamera),
            tracker=tracker,
            holds=holds,
            tip=list(tip),
            occluders=list(self._occluders()),
        )  # fmt: skip

    async def _offer(self, request: Request) -> Response:
        return JSONResponse({"eyes": True, "result": self._motion is not None})

    async def _result(self, request: Request) -> Response:
        if self._motion is None:
            return JSONResponse({"ok": False, "text": "no result is shown; start with --result FILE.nc"}, 422)
        return JSONResponse(self._motion)

    def _pass_on(self, sight: Sight) -> None:
        """In the eye's thread: the newest to every page."""
        with self._lock:
            pages = list(self._pages)
        if not pages:
            return
        camera = self.eye.camera
        jpeg = b""
        for page in pages:
            own = isinstance(camera, PageCamera) and camera.is_of(page)
            if not own and not jpeg:
                jpeg = _jpeg(sight.frame.image)
            page.put(packed(sight, own) + (b"" if own else jpeg))

    async def _serve(self, websocket: WebSocket) -> None:
        await websocket.accept()
        page = _Page(asyncio.get_running_loop())
        with self._lock:
            self._pages.add(page)
        jobs = [asyncio.create_task(job) for job in (self._send(websocket, page), self._receive(websocket, page))]
        try:
            await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
        finally:
            with self._lock:
                self._pages.discard(page)
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)

    async def _send(self, websocket: WebSocket, page: "_Page") -> None:
        told = ""
        while True:
            if (text := to_text(self.seeing())) != told:
                await websocket.send_text(text)
                told = text
            try:
                async with asyncio.timeout(LOOKS):
                    newest = await page.take()
            except TimeoutError:
                continue
            await websocket.send_bytes(newest)

    async def _receive(self, websocket: WebSocket, page: "_Page") -> None:
        camera = self.eye.camera
        while True:
            try:
                data = await websocket.receive_bytes()
            except (WebSocketDisconnect, KeyError):  # KeyError: a text, which nobody sends
                return
            if not isinstance(camera, PageCamera) or len(data) < _PICTURE.size:
                return
            magic, number, _ = _PICTURE.unpack_from(data)
            if magic != PICTURE_MAGIC:
                return
            camera.offer(page, number, data[_PICTURE.size :])


class _Page:
    """The newest message for one page, from the eye's thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop, self._something = loop, asyncio.Event()
        self._newest: bytes | None = None

    def put(self, data: bytes) -> None:
        """From any thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to send to
            self._loop.call_soon_threadsafe(self._set, data)

    def _set(self, data: bytes) -> None:
        self._newest = data
        self._something.set()

    async def take(self) -> bytes:
        """Wait for one that was not taken."""
        await self._something.wait()
        self._something.clear()
        assert self._newest is not None
        return self._newest


def _device(name: str, status: Status) -> Device:
    return Device(name=name, state=status.state, why=status.why)


def _jpeg(image: np.ndarray) -> bytes:
    cv2 = opencv("camera")
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])[1].tobytes()


def packed(sight: Sight, own: bool) -> bytes:
    """Header and depths of a sight. Time is sent as that of the wall's clock, which the page has, too."""
    frame, X = sight.frame, sight.X_KR
    time = wall.time() - (wall.monotonic() - frame.time)
    pose = (0.0,) * 7 if X is None else (*X[:3, 3], *quaternion(X[:3, :3]))
    rows, columns, depth = 0, 0, b""
    if frame.depth is not None and not own:
        coarse = coarser(frame.depth)
        rows, columns = coarse.shape
        known = np.nan_to_num(coarse, nan=0.0, posinf=0.0, neginf=0.0)
        depth = np.clip(np.rint(known / DEPTH_UNIT), 0, 0xFFFF).astype("<u2").tobytes()
    return _SIGHT.pack(SIGHT_MAGIC, frame.number & 0xFFFFFFFF, time, X is not None, own, columns, rows, *pose) + depth


def coarser(depth: np.ndarray) -> np.ndarray:
    """So many depths, evenly spread, that a line takes them: none is a mean, which would lie between near and far."""
    share = min(1.0, np.sqrt(MOST_DEPTHS / depth.size))
    counts = [max(1, round(share * count)) for count in depth.shape]
    rows, columns = (
        ((np.arange(n) + 0.5) * count / n).astype(int) for n, count in zip(counts, depth.shape, strict=True)
    )
    return depth[np.ix_(rows, columns)]
