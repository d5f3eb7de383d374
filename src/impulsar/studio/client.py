"""A client of the studio in Python: what the page does, for scripts, tests and benchmarks."""

import http.client
import json
import ssl
import struct
import time as wall
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from websockets.sync.client import connect
from websockets.typing import Origin

from ..author.errors import ModelError
from ..edits import Edit
from ..io import edit_to_json
from .messages import BLOCKS, BOOKS, FLAGS, HEADER, KINDS, MAGIC, ROWS_HEADER, ROWS_MAGIC

_HEADER = struct.Struct("<" + "".join(code for _, code in HEADER))
_ROWS = struct.Struct("<" + "".join(code for _, code in ROWS_HEADER))


@dataclass(frozen=True)
class Frame:
    """A binary frame, read."""

    header: dict[str, Any]
    books: dict[str, float]
    poses: np.ndarray  # [body, 7]
    twists: np.ndarray  # [body, angular velocity and velocity]
    hands: np.ndarray  # [hand, point, target, force, torque and orientation]
    loads: np.ndarray  # [load, force and torque]
    contacts: np.ndarray  # [contact, point, force, 1 where it slides]
    reactions: np.ndarray  # [joint, torque and force]
    motors: np.ndarray  # [coordinate]
    accelerations: np.ndarray  # [body, turn and shift]
    signals: np.ndarray
    marks: np.ndarray
    arrived: float  # wall time, monotonic [s]

    @property
    def time(self) -> float:
        return self.header["time"]

    def has(self, flag: str) -> bool:
        """Whether a flag is set."""
        return bool(self.header["flags"] & FLAGS[flag])


def decode(data: bytes) -> Frame:
    """Read a binary frame."""
    header = dict(zip((name for name, _ in HEADER), _HEADER.unpack_from(data), strict=True))
    if header["magic"] != MAGIC:
        raise ModelError("frame: is not one of this protocol")
    at = _HEADER.size
    blocks: dict[str, Any] = {}
    for name, counted, size in BLOCKS:
        block = np.frombuffer(data, "<f4", size * header[counted], at)
        blocks[name] = block.reshape(-1, size) if size > 1 else block
        at += 4 * size * header[counted]
    blocks["books"] = dict(zip((name for name, _ in BOOKS), blocks["books"].tolist(), strict=True))
    marks = np.frombuffer(data, np.uint8, header["signals"], at)
    return Frame(header=header, marks=marks, arrived=wall.monotonic(), **blocks)


@dataclass(frozen=True)
class Rows:
    """What was read step by step, between two frames."""

    header: dict[str, int]
    times: np.ndarray  # [s]
    values: np.ndarray  # [row, column]: signals, then x, y, z of points


def decode_rows(data: bytes) -> Rows:
    """Read a binary message of rows."""
    header = dict(zip((name for name, _ in ROWS_HEADER), _ROWS.unpack_from(data), strict=True))
    rows, columns = header["rows"], header["columns"]
    times = np.frombuffer(data, "<f8", rows, _ROWS.size)
    values = np.frombuffer(data, "<f8", rows * columns, _ROWS.size + 8 * rows)
    return Rows(header, times, values.reshape(rows, columns))


def patched(scene: dict, patch: dict) -> dict:
    """A Scene after a Patch."""
    whole = ("generation", "topology", "size", "gravity", "parameters", "variables", "expressions")
    found = scene | {name: patch[name] for name in whole}
    for kind in KINDS:
        parts = {part["name"]: part for part in (*scene[kind], *patch[kind])}
        found[kind] = [parts[name] for name in patch["order"].get(kind, parts)]
    return found


class StudioClient:
    """A connection to a running studio by its link. Newest Scene, Live, Status and Books are kept as read."""

    def __init__(self, url: str, timeout: float = 20.0, context: ssl.SSLContext | None = None):
        self.timeout, self._context = timeout, context
        self._parts = urlsplit(url)
        self.origin = f"{self._parts.scheme}://{self._parts.netloc}"
        answer = self.request("GET", f"/?{self._parts.query}")
        if answer.status not in (200, 303) or "set-cookie" not in answer.headers:
            raise ModelError(f"studio: refused the link ({answer.status}); open the whole link that was printed")
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        self.newest: dict[str, dict] = {}
        self.notices: list[dict] = []
        self.rows: list[Rows] = []  # of what was subscribed to last
        self._replies: dict[int, dict] = {}
        self._id = 0
        self.newest_frame: Frame | None = None
        self._stack = ExitStack()
        self._socket = self._stack.enter_context(
            connect(
                f"{'wss' if self._parts.scheme == 'https' else 'ws'}://{self._parts.netloc}/ws",
                origin=Origin(self.origin),
                additional_headers={"Cookie": self.cookie},
                compression=None,
                ssl=context,
                max_size=2**26,
                max_queue=None,  # what is not read waits here, so that closing need not wait
            )
        )

    def __enter__(self) -> "StudioClient":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Leave."""
        self._stack.close()

    def request(self, method: str, path: str, body: bytes | None = None) -> "Answer":
        """An HTTP request with the cookie."""
        if self._parts.scheme == "https":
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                self._parts.netloc, timeout=self.timeout, context=self._context
            )
        else:
            connection = http.client.HTTPConnection(self._parts.netloc, timeout=self.timeout)
        headers = {"Origin": self.origin, "Cookie": getattr(self, "cookie", "")}
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    # sending ------------------------------------------------------------------------------------------------

    def send(self, **message: Any) -> int:
        """Send a message, with the next id unless it has one; its id."""
        self._id += 1
        message = {"id": self._id} | message
        self._socket.send(json.dumps(message))
        return message["id"]

    def send_edit(self, edit: Edit) -> int:
        """Send an edit and do not wait."""
        return self.send(type="edit", edit=edit_to_json(edit))

    def edit(self, edit: Edit) -> dict:
        """Make an edit; the Reply."""
        return self.reply(self.send_edit(edit))

    def control(self, action: str, value: float | None = None, **more: Any) -> dict:
        """Run, pause, seek and so on; the Reply."""
        return self.reply(self.send(type="control", action=action, value=value, **more))

    def subscribe(self, *signals: str, points: Sequence[tuple[str, Sequence[float]]] = ()) -> dict:
        """Have signals in the frames, and step by step in `rows`, with points of bodies; the Reply."""
        places = [{"body": body, "at": list(at)} for body, at in points]
        self.rows.clear()
        return self.reply(self.send(type="subscribe", signals=list(signals), points=places))

    def series(self, *signals: str, points: Sequence[tuple[str, Sequence[float]]] = (), since: float = 0.0):
        """Signals and points at every step of the recording: an array [step, time and columns]."""
        places = [{"body": body, "at": list(at)} for body, at in points]
        wanted = json.dumps({"signals": list(signals), "points": places, "since": since})
        answer = self.request("POST", "/api/series", wanted.encode())
        if answer.status != 200:
            raise ModelError(json.loads(answer.body)["text"])
        return np.frombuffer(answer.body, "<f8").reshape(-1, 1 + len(signals) + 3 * len(places))

    # receiving ----------------------------------------------------------------------------------------------

    def reply(self, id: int) -> dict:
        """The Reply to a message."""
        self._until(lambda: id in self._replies, f"a reply to {id}")
        return self._replies.pop(id)

    def frame(self, fits: Callable[[Frame], bool] = lambda frame: True) -> Frame:
        """The next frame that fits."""
        self.newest_frame = None

        def arrived() -> bool:
            return self.newest_frame is not None and fits(self.newest_frame)

        self._until(arrived, "a frame")
        assert self.newest_frame is not None
        return self.newest_frame

    def wait(self, kind: str, fits: Callable[[dict], bool] = lambda message: True) -> dict:
        """The newest Scene, Live, Status or Books, once it fits."""
        self._until(lambda: kind in self.newest and fits(self.newest[kind]), f"a {kind}")
        return self.newest[kind]

    def drain(self, seconds: float) -> int:
        """Read for a while; how many frames came."""
        end, frames = wall.monotonic() + seconds, 0
        while (left := end - wall.monotonic()) > 0:
            try:
                frames += self._take(self._socket.recv(timeout=left))
            except TimeoutError:
                break
        return frames

    def _until(self, is_done: Callable[[], bool], what: str) -> None:
        end = wall.monotonic() + self.timeout
        while not is_done():
            try:
                self._take(self._socket.recv(timeout=max(0.0, end - wall.monotonic())))
            except TimeoutError:
                raise ModelError(f"studio: {what} did not come within {self.timeout:g} s") from None

    def _take(self, data: str | bytes) -> bool:
        """Keep a message; whether it was a frame."""
        if isinstance(data, bytes) and data[:4] == ROWS_MAGIC.to_bytes(4, "little"):
            self.rows.append(decode_rows(data))
            return False
        if isinstance(data, bytes):
            self.newest_frame = decode(data)
            return True
        message = json.loads(data)
        if message["type"] == "reply":
            self._replies[message["id"]] = message
        elif message["type"] == "notice":
            self.notices.append(message)
        elif message["type"] == "patch":
            self.newest["scene"] = patched(self.newest["scene"], message)
        else:
            self.newest[message["type"]] = message
        return False


@dataclass(frozen=True)
class Answer:
    """What a request brought."""

    status: int
    headers: dict[str, str]
    body: bytes
