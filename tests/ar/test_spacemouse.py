"""A SpaceMouse: reports as bytes, speeds of a tip, and what happens when it goes."""

import sys
import types

import numpy as np
import pytest

from impulsar.ar.command import doctor_lines
from impulsar.ar.trackers import open_tracker
from impulsar.ar.trackers.spacemouse import DEAD, RATE, SPEED, Deflection, SpaceMouse
from impulsar.author.errors import ModelError
from impulsar.author.rotations import rotation_vectors

REST = bytes.fromhex("01 0000 0000 0000")
RIGHT = bytes.fromhex("01 5e01 0000 0000")  # 350 along x
UP = bytes.fromhex("01 0000 0000 a2fe")  # -350 along z, which is down
ALL = bytes.fromhex("01 5e01 a2fe 0000 0000 0000 a2fe")  # a newer one: right, away, turned to the left
TURNED = bytes.fromhex("02 0000 0000 a2fe")
LEFT_BUTTON, NO_BUTTON = bytes.fromhex("03 0100"), bytes.fromhex("03 0000")


class Device:
    """Gives reports; unplugged it raises as hidapi does."""

    def __init__(self) -> None:
        self.reports: list[bytes] = []
        self.is_there = True

    def read(self, size: int) -> list[int]:
        if not self.is_there:
            raise OSError("read error")
        return list(self.reports.pop(0)) if self.reports else []

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("report", "move", "turn"),
    [
        (RIGHT, (1, 0, 0), (0, 0, 0)),
        (UP, (0, 0, 1), (0, 0, 0)),
        (ALL, (1, 1, 0), (0, 0, 1)),
        (TURNED, (0, 0, 0), (0, 0, 1)),
        (bytes.fromhex("01 ff7f 0080 0000"), (1, 1, 0), (0, 0, 0)),  # beyond the stop
        (bytes.fromhex("01 1000 0000 0000"), (0, 0, 0), (0, 0, 0)),  # 16 of 350, within the dead zone
    ],
)
def test_reports(report, move, turn) -> None:
    heard = Deflection()
    assert heard.hear(report)
    np.testing.assert_allclose(heard.move, move)
    np.testing.assert_allclose(heard.turn, turn)


def test_half_a_deflection_is_less_than_half_the_speed() -> None:
    heard = Deflection()
    heard.hear(bytes.fromhex("01 af00 0000 0000"))  # 175 of 350
    assert heard.move[0] == pytest.approx((0.5 - DEAD) / (1 - DEAD))


@pytest.mark.parametrize("junk", [b"", b"\x01", b"\x01\x00\x00", b"\x07\x00\x00\x00\x00\x00\x00", b"\xff" * 64])
def test_other_reports_say_nothing(junk) -> None:
    heard = Deflection()
    assert not heard.hear(junk)
    assert not heard.move.any() and not heard.turn.any() and heard.buttons == (False, False)


def start(device: Device) -> tuple[SpaceMouse, list[float]]:
    clock = [0.0]
    return SpaceMouse(lambda: device, np.array([0.0, 0.0, 0.2]), lambda: clock[0]), clock


def test_tip_moves_at_the_speed_of_its_deflection() -> None:
    """Half a second at the stop: 0.1 m; turned by 0.75 rad; and at rest after the last report has grown old."""
    device = Device()
    mouse, clock = start(device)
    (tip,) = mouse.poll()
    np.testing.assert_allclose(tip.position, (0, 0, 0.2))
    device.reports.append(LEFT_BUTTON)
    for _ in range(50):
        device.reports += [UP, TURNED]
        mouse.poll()
        clock[0] += 0.01
    device.reports += [UP, TURNED]
    (tip,) = mouse.poll()
    assert tip.buttons == (True, False)
    np.testing.assert_allclose(tip.position, (0, 0, 0.2 + 0.5 * SPEED), atol=1e-12)
    np.testing.assert_allclose(rotation_vectors(tip.orientation), (0, 0, 0.5 * RATE), atol=1e-12)
    clock[0] += 0.2
    mouse.poll()
    before = mouse.poll()[0].position
    clock[0] += 1.0
    np.testing.assert_array_equal(mouse.poll()[0].position, before)


def test_a_clock_that_jumps_moves_the_tip_by_no_more_than_a_moment() -> None:
    device = Device()
    mouse, clock = start(device)
    mouse.poll()
    for jump in (-100.0, 1000.0):
        before = mouse.poll()[0].position
        clock[0] += jump
        device.reports.append(RIGHT)
        assert np.linalg.norm(mouse.poll()[0].position - before) <= 0.1 * SPEED


def test_unplugged_it_is_lost_and_back_it_holds_nothing_down() -> None:
    device = Device()
    mouse, clock = start(device)
    device.reports += [LEFT_BUTTON, RIGHT]
    assert mouse.poll()[0].buttons == (True, False)
    device.is_there = False
    assert mouse.poll() == [] and mouse.status.state == "lost" and "plug it in" in mouse.status.why
    device.is_there = True
    assert mouse.poll() == []  # not asked at every poll
    clock[0] += 1.5
    assert mouse.poll()[0].buttons == (False, False) and mouse.status.is_ok
    mouse.close()
    assert mouse.poll() == [] and mouse.status.state == "ended"


def test_by_name_with_and_without_hidapi(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "hid", None)
    with pytest.raises(ModelError, match=r"pip install 'impulsar\[spacemouse\]'"):
        open_tracker("spacemouse")
    device = Device()
    device.open_path, device.set_nonblocking = lambda path: None, lambda on: None  # type: ignore[attr-defined]
    listed = [
        {"vendor_id": 0x256F, "product_id": 0xC635, "path": b"/dev/hidraw0", "product_string": "SpaceMouse Compact"}
    ]
    module = types.ModuleType("hid")
    module.enumerate, module.device = lambda: listed, lambda: device  # type: ignore[attr-defined]
    module.__spec__ = types.SimpleNamespace()  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, "hid", module)
    np.testing.assert_allclose(open_tracker("spacemouse:0.1,0,0").poll()[0].position, (0.1, 0, 0))
    assert any("SpaceMouse Compact" in line for line in doctor_lines())
    listed.clear()
    mouse = open_tracker("spacemouse")
    assert mouse.poll() == [] and "none is plugged in" in mouse.status.why
    with pytest.raises(ModelError, match="expected where its tip begins"):
        open_tracker("spacemouse:here")
