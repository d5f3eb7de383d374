"""A SpaceMouse by hidapi: its cap moves a tip, as a speed, and turns it; its buttons are the tip's.

Reports, by their first byte, numbers signed and of 16 bits, the low byte first, full deflection about ±350:

    1   x, y, z; newer devices send rx, ry, rz behind them in the same report
    2   rx, ry, rz
    3   buttons, a bit each

The device's axes are x to the right, y towards the person and z down; the tip's are x to the right, y away from the
person and z up, in the room. Deflections are speeds: within `DEAD` none, at the stop `SPEED` and `RATE`. The device
sends while the cap is deflected and falls silent at rest, so what was heard last holds for `FRESH` at most.
"""

import struct
import time as wall
from collections.abc import Callable
from typing import Any

import numpy as np

from ...author.errors import ModelError
from ...author.rotations import multiply, quaternions
from ..status import Told, need
from . import Tip

VENDOR, LOGITECH = 0x256F, 0x046D
OLDER = (0xC603, 0xC605, 0xC606, 0xC621, 0xC623, 0xC625, 0xC626, 0xC627, 0xC628, 0xC629, 0xC62B)  # by Logitech
FULL = 350.0  # of a deflection
DEAD = 0.05  # of it
SPEED, RATE = 0.2, 1.5  # at the stop [m/s, rad/s]
FRESH = 0.1  # for which a deflection holds without another report [s]
LONGEST = 0.1  # that one poll moves the tip for [s]
RETRY = 1.0  # between attempts to open one that is gone [s]
MOST = 256  # reports of one poll
TO_ROOM = np.array([1.0, -1.0, -1.0])  # signs of the axes


class Deflection:
    """What the reports say: six axes from -1 to 1 along the room's axes, and the buttons."""

    def __init__(self) -> None:
        self.move, self.turn = np.zeros(3), np.zeros(3)
        self.buttons: tuple[bool, ...] = (False, False)

    def hear(self, report: bytes) -> bool:
        """One report; False where it is none of a SpaceMouse."""
        kind, data = report[:1], report[1:]
        if kind == b"\x01" and len(data) >= 6:
            self.move = _axes(data[:6])
            if len(data) >= 12:
                self.turn = _axes(data[6:12])
        elif kind == b"\x02" and len(data) >= 6:
            self.turn = _axes(data[:6])
        elif kind == b"\x03" and len(data) >= 1:
            bits = int.from_bytes(data[:4], "little")
            self.buttons = (bool(bits & 1), bool(bits & 2))
        else:
            return False
        return True

    def rest(self) -> None:
        """The cap is let go."""
        self.move, self.turn = np.zeros(3), np.zeros(3)


def _axes(data: bytes) -> np.ndarray:
    share = np.clip(np.array(struct.unpack("<3h", data)) / FULL, -1.0, 1.0)
    beyond = np.maximum(np.abs(share) - DEAD, 0.0) / (1.0 - DEAD)
    return TO_ROOM * np.sign(share) * beyond


class SpaceMouse(Told):
    """Tips of a SpaceMouse, in the room; `port` opens a device with `read(n)` that does not wait, and `close`."""

    is_in_room = True  # no collimation is needed: its tip is where it was moved to

    def __init__(self, port: Callable[[], Any], start: np.ndarray, clock: Callable[[], float] = wall.monotonic):
        super().__init__("the SpaceMouse is not open yet")
        self._open, self._clock = port, clock
        self._device: Any = None
        self._tried = self._heard = -np.inf
        self._last: float | None = None
        self._at, self._q = np.array(start, float), np.array([0.0, 0.0, 0.0, 1.0])
        self.deflection = Deflection()

    def poll(self) -> list[Tip]:
        """Where the tip is now."""
        now = self._clock()
        if self.status.state == "ended" or not self._read(now):
            return []
        if now - self._heard > FRESH:
            self.deflection.rest()
        last = now if self._last is None else self._last
        passed, self._last = min(max(now - last, 0.0), LONGEST), now  # a clock set back moves nothing
        self._at = self._at + SPEED * passed * self.deflection.move
        self._q = multiply(quaternions(RATE * passed * self.deflection.turn), self._q)
        self._q = self._q / np.linalg.norm(self._q)
        self.set_status("ok", time=now)
        return [Tip(now, self._at, self._q, self.deflection.buttons)]

    def _read(self, now: float) -> bool:
        """Hear all reports that wait; a device that is gone is opened again."""
        try:
            if self._device is None:
                if now - self._tried < RETRY:
                    return False
                self._tried = now
                self._device, self._last = self._open(), None
                self.deflection = Deflection()
            for _ in range(MOST):
                if not (report := bytes(self._device.read(64))):
                    return True
                if self.deflection.hear(report):
                    self._heard = now
        except OSError as error:  # hidapi raises it, also where none is plugged in
            if self._device is not None:
                self._device.close()
            self._device = None
            self.deflection = Deflection()
            self.set_status("lost", f"the SpaceMouse is gone: {error}; plug it in", now)
            return False
        return True

    def close(self) -> None:
        """Give the device back."""
        if self._device is not None:
            self._device.close()
        self._device = None
        self.set_status("ended", "closed", self._clock())


def found(hid: Any) -> list[dict]:
    """SpaceMice that are plugged in."""
    return [
        each
        for each in hid.enumerate()
        if each["vendor_id"] == VENDOR or (each["vendor_id"] == LOGITECH and each["product_id"] in OLDER)
    ]


def open_spacemouse(where: str) -> SpaceMouse:
    """The first that is plugged in, its tip at X,Y,Z of the room or 0.2 m above the marker."""
    hid = need("hid", "hidapi", "SpaceMouse", "spacemouse")
    try:
        start = np.array([float(value) for value in where.split(",")]) if where else np.array([0.0, 0.0, 0.2])
    except ValueError:
        start = np.zeros(0)
    if start.shape != (3,) or not np.isfinite(start).all():
        raise ModelError(f"tracker 'spacemouse:{where}': expected where its tip begins, as in spacemouse:0,0,0.2 [m]")

    def port() -> Any:
        listed = found(hid)
        if not listed:
            raise OSError("none is plugged in")
        device = hid.device()
        device.open_path(listed[0]["path"])
        device.set_nonblocking(True)
        return device

    return SpaceMouse(port, start)
