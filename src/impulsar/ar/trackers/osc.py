"""Tips by UDP: messages of Open Sound Control 1.0, which phones, game engines and motion trackers send.

    /impulsar/tip  x y z [qx qy qz qw] [buttons]      metres, a unit quaternion, a sum of 1, 2, 4, ...

Numbers are f, d or i. Bundles are opened. What is no such message is left out and counted.
"""

import socket
import struct
import time as wall
from collections.abc import Callable

import numpy as np

from ...author.errors import ModelError
from ..status import Told
from . import Tip

ADDRESS = "/impulsar/tip"
SILENCE = 0.5  # without a tip before it is lost [s]
FARTHEST = 100.0  # of a position that is a place in a room [m]
MOST = 1000  # messages of one poll
SIZES = {"f": ">f", "d": ">d", "i": ">i"}


def read_messages(data: bytes, depth: int = 0) -> list[tuple[str, list[float]]]:
    """Addresses and numbers of a packet; raises ValueError where it is none of OSC."""
    if data.startswith(b"#bundle\0"):
        found: list[tuple[str, list[float]]] = []
        at = 16
        while at < len(data) and depth < 4:
            (size,) = struct.unpack_from(">i", data, at)
            if not 0 < size <= len(data) - at - 4:
                raise ValueError(f"a bundle's part of {size} bytes")
            found += read_messages(data[at + 4 : at + 4 + size], depth + 1)
            at += 4 + size
        return found
    address, at = _text(data, 0)
    types, at = _text(data, at)
    if not address.startswith("/") or not types.startswith(","):
        raise ValueError("no address or no types")
    numbers = []
    for kind in types[1:]:
        if kind not in SIZES:
            raise ValueError(f"a value of type {kind!r}")
        (value,) = struct.unpack_from(SIZES[kind], data, at)
        numbers.append(float(value))
        at += struct.calcsize(SIZES[kind])
    return [(address, numbers)]


def _text(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(b"\0", at)
    return data[at:end].decode("ascii"), end + 4 - end % 4


def write_message(address: str, numbers: list[float], buttons: int | None = None) -> bytes:
    """A packet of doubles, and of the buttons as an integer."""
    types = "," + "d" * len(numbers) + ("" if buttons is None else "i")
    texts = b"".join(text.encode() + b"\0" * (4 - len(text) % 4) for text in (address, types))
    return texts + struct.pack(f">{len(numbers)}d", *numbers) + (b"" if buttons is None else struct.pack(">i", buttons))


class Osc(Told):
    """Tips that come to a UDP port."""

    def __init__(self, port: int, host: str = "127.0.0.1", clock: Callable[[], float] = wall.monotonic):
        super().__init__(f"no message has come to UDP port {port} yet")
        self._clock = clock
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind((host, port))
        except (OSError, OverflowError) as error:
            self._socket.close()
            raise ModelError(f"tracker 'osc': cannot listen at {host}:{port}: {error}; take another port") from error
        self._socket.setblocking(False)
        self.port = self._socket.getsockname()[1]
        self.bad = 0
        self._heard = clock()

    def poll(self) -> list[Tip]:
        """Tips since the last call."""
        found: list[Tip] = []
        if self.status.state == "ended":
            return found
        now = self._clock()
        for _ in range(MOST):
            try:
                data = self._socket.recv(65_536)
            except BlockingIOError:
                break
            try:
                tips = [_tip(numbers, now) for address, numbers in read_messages(data) if address == ADDRESS]
            except (ValueError, struct.error):
                self.bad += 1
                continue
            found += tips
        if found:
            self._heard = now
            self.set_status("ok", time=now)
        elif self.status.is_ok and now - self._heard > SILENCE:
            self.set_status("lost", f"no tip has come to UDP port {self.port} for {SILENCE:g} s", now)
        return found

    def close(self) -> None:
        """Close the port."""
        self._socket.close()
        self.set_status("ended", "closed", self._clock())


def _tip(numbers: list[float], now: float) -> Tip:
    if len(numbers) not in (3, 4, 7, 8) or not np.isfinite(numbers).all():
        raise ValueError("expected x y z [qx qy qz qw] [buttons]")
    position, rest = np.array(numbers[:3]), numbers[3:]
    if np.abs(position).max() > FARTHEST:
        raise ValueError("farther than a room")
    orientation = np.array(rest[:4]) if len(rest) >= 4 else np.array([0.0, 0.0, 0.0, 1.0])
    norm = float(np.linalg.norm(orientation))
    if abs(norm - 1) > 1e-3:
        raise ValueError("no unit quaternion")
    mask = int(rest[-1]) if len(rest) in (1, 5) else 0
    return Tip(now, position, orientation / norm, tuple(bool(mask >> k & 1) for k in range(2)))


def open_osc(where: str) -> Osc:
    """From PORT or ADDRESS:PORT."""
    host, _, port = where.rpartition(":")
    if not port.isdecimal() or not 0 <= int(port) <= 65_535:
        raise ModelError(f"tracker 'osc:{where}': expected a UDP port, as in osc:9000 or osc:0.0.0.0:9000")
    return Osc(int(port), host or "127.0.0.1")
