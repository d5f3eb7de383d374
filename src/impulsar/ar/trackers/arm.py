"""A five-joint digitizer arm on a serial port (its lines: `lines.py`, its kinematics: `kinematics.py`).

It is lost, with the reason, when nothing comes, when a joint is beyond its limits, when the tip moves faster than a
hand, when the arm's clock or its count of samples jumps, and when the port is gone; and it is back after `STEADY`
samples that fit each other. No tip is given meanwhile.
"""

import time as wall
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...author.errors import ModelError
from ...author.rotations import quaternion
from ..status import Told, need
from . import Link, Tip
from .kinematics import EXAMPLE, ArmTable, bones, link_poses, load_table
from .lines import CLOCK, SEQUENCE, Identity, LineReader, Sample

BAUD = 115_200
SILENCE = 0.25  # without a good line before it is lost [s]
RETRY = 1.0  # between attempts to open a port that is gone [s]
SLACK = np.radians(1.0)  # beyond a limit that is still a reading [rad]
MOST_SPEED = 10.0  # of the tip [m/s]
NOISE = 2e-3  # by which the tip may seem to jump besides [m]
JUMP = 0.25  # between the arm's clock and the host's that is no delay [s]
CATCH_UP = 2.0  # of samples that are late; then the arm's clock must have stood still [s]
DRIFT = 1e-3  # of the arm's clock against the host's
STEADY = 3  # samples that fit each other before it is trusted again
MOST_BYTES = 65_536  # of one poll


class Arm(Told):
    """Tips of an arm; `port` opens a device with `read(n)`, `in_waiting`, `write` and `close`, as pyserial's."""

    def __init__(self, port: Callable[[], Any], table: ArmTable = EXAMPLE, clock: Callable[[], float] = wall.monotonic):
        super().__init__("the arm has sent nothing yet")
        self.table, self._clock, self._open = table, clock, port
        self.serial = table.serial  # of the arm that is connected
        self._device: Any = None
        self._tried = -np.inf
        self._begin()
        self._heard = clock()

    def _begin(self) -> None:
        self.reader = LineReader()
        self._last: tuple[Sample, float, np.ndarray] | None = None
        self._device_time = 0.0
        self._offset: float | None = None  # of the host's clock from the arm's [s]
        self._in_time = 0.0
        self._steady = 0
        self._bones: np.ndarray | None = None

    def links(self) -> list[Link]:
        """Where its links are, as long as it is trusted."""
        ends = self._bones
        if ends is None or not self.status.is_ok:
            return []
        pairs = zip(ends, self.table.radii, strict=True)
        return [Link(start, end, radius) for (start, end), radius in pairs if np.linalg.norm(end - start) > radius]

    def poll(self) -> list[Tip]:
        """Tips since the last call."""
        if self.status.state == "ended":
            return []
        now = self._clock()
        if now < self._heard:  # the host's clock was set back
            self._lose("this computer's clock was set back", now)
        data = self._read(now)
        found = []
        for record in self.reader.feed(data):
            self._heard = now
            if isinstance(record, Identity):
                self._meet(record, now)
            elif (tip := self._take(record, now)) is not None:
                found.append(tip)
        if now - self._heard > SILENCE and self._device is not None:
            bad = f"; {self.reader.bad} lines were garbled" if self.reader.bad else ""
            self._lose(f"the arm has been silent for {SILENCE:g} s{bad}; check its plug and power", now)
        return found

    def close(self) -> None:
        """Give the port back."""
        if self._device is not None:
            self._device.close()
        self._device = None
        self.set_status("ended", "closed", self._clock())

    def _read(self, now: float) -> bytes:
        """What has come; a port that is gone is opened again."""
        try:
            if self._device is None:
                if now - self._tried < RETRY:
                    return b""
                self._tried = now
                self._device = self._open()
                self._begin()
                self._heard = now
                self._device.write(b"?\n")
            return self._device.read(min(self._device.in_waiting, MOST_BYTES))
        except OSError as error:  # pyserial's SerialException is one
            if self._device is not None:
                self._device.close()
            self._device = None
            self._lose(f"the arm's port is gone: {error}", now)
            return b""

    def _meet(self, identity: Identity, now: float) -> None:
        self.serial = identity.serial
        if identity.counts != self.table.counts:
            self.table = replace(self.table, counts=identity.counts)
            self._steady = 0
        if self.table.serial and identity.serial != self.table.serial:
            told = f"arm {identity.serial} is connected, the table is of {self.table.serial}; calibrate it"
            self._lose(told, now)

    def _take(self, sample: Sample, now: float) -> Tip | None:
        """A sample's tip, if it and those before fit."""
        before = self._last
        if before is not None and sample.sequence == before[0].sequence:
            return None  # sent twice
        angles = self.table.angles(np.array(sample.counts))
        frames = link_poses(self.table.array, angles)
        X_TS = frames[-1]
        self._last = (sample, now, X_TS[:3, 3])
        why = self._wrong(sample, angles, X_TS[:3, 3], before, now)
        if why is not None:
            self._lose(why, now)
            return None
        self._steady += 1
        if self._steady < STEADY:
            return None
        assert self._offset is not None
        self._bones = bones(frames)
        self.set_status("ok", time=now)
        buttons = tuple(bool(sample.buttons >> k & 1) for k in range(2))
        return Tip(self._device_time + self._offset, X_TS[:3, 3], quaternion(X_TS[:3, :3]), buttons, angles)

    def _wrong(self, sample, angles, tip, before, now) -> str | None:
        """What does not fit, in words; and the arm's clock brought forward."""
        passed = 0.0
        if before is None or self._offset is None:
            self._device_time, self._offset, self._in_time = 0.0, now, now
        else:
            last, heard, _ = before
            passed = (sample.microseconds - last.microseconds) % CLOCK * 1e-6
            if (sample.sequence - last.sequence) % SEQUENCE > SEQUENCE // 2:
                self._offset = None
                return "the arm's count of samples went back: it was started anew"
            if passed > now - heard + JUMP:  # one that went back has passed nearly 2³² µs
                self._offset = None
                return f"the arm's clock jumped by {passed:.3g} s in {now - heard:.3g} s"
            if passed == 0.0:
                return "the arm's clock stands still"
            self._device_time += passed
            # the least delay seen is nearest to the truth; the clocks may drift apart
            self._offset = min(self._offset + DRIFT * passed, now - self._device_time)
            late = now - (self._device_time + self._offset)
            if late <= JUMP:
                self._in_time = now
            else:
                if now - self._in_time > CATCH_UP:
                    self._offset = None
                return f"the arm's samples are {late:.3g} s late: the line was held up, or its clock stood still"
        for k, (angle, (low, high)) in enumerate(zip(angles, self.table.limits, strict=True)):
            if not low - SLACK <= angle <= high + SLACK:
                shown = ", ".join(f"{np.degrees(value):.0f}°" for value in (low, high))
                return f"joint {k + 1} is at {np.degrees(angle):.1f}°, its range is {shown}: home the arm"
        if before is not None and (jump := float(np.linalg.norm(tip - before[2]))) > MOST_SPEED * passed + NOISE:
            return f"the tip jumped by {jump:.3g} m"
        return None

    def _lose(self, why: str, now: float) -> None:
        self._steady = 0
        self.set_status("lost", why, now)


def open_arm(where: str) -> Arm:
    """An arm from PORT or PORT,TABLE.json; without a table it is taken to be the example."""
    port, _, file = where.partition(",")
    if not port:
        raise ModelError("tracker 'arm': name its port, as in arm:/dev/ttyUSB0 or arm:/dev/ttyUSB0,arm.json")
    serial = need("serial", "pyserial", f"arm at '{port}'")
    table = load_table(Path(file)) if file else EXAMPLE
    return Arm(lambda: serial.Serial(port, BAUD, timeout=0, write_timeout=0.5), table)


def ports() -> list[str]:
    """Serial ports of this machine, with what is plugged in."""
    listed = need("serial.tools.list_ports", "pyserial", "serial ports").comports()
    return [f"{port.device} ({port.description})" for port in listed]
