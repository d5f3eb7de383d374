"""A phone as a tracker: where its tip is by what its camera sees, what it is lost by, and how its lens is found."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from impulsar.ar.markers import single
from impulsar.ar.optics import Intrinsics, load_intrinsics
from impulsar.ar.patterns import Charuco, Marker
from impulsar.ar.phone_line import guide
from impulsar.ar.synthetic import Renderer, printed
from impulsar.ar.trackers import Tip, open_tracker
from impulsar.ar.trackers.phone import BETWEEN, SILENT, Phone
from impulsar.author.errors import ModelError
from impulsar.author.rotations import rotation_matrix
from impulsar.validate.marker_cases import facing

cv2 = pytest.importorskip("cv2")
LENS = Intrinsics(640, 480, 800.0, 795.0, 330.0, 236.0, (-0.25, 0.06, 0.0, 0.0, 0.0))
MARKER = Marker(7, size=0.08)
PAGE = object()


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def jpeg(image: np.ndarray) -> bytes:
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 90])[1].tobytes()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def phone(tmp_path: Path, clock: Clock) -> Phone:
    LENS.save(tmp_path / "phone.json")
    phone = Phone(tmp_path / "phone.json", 0.1, clock)
    phone.look_for(single(MARKER), MARKER.dictionary, 1.0)
    return phone


def shows(phone: Phone, clock: Clock, image: np.ndarray, down: bool = False, page: object = PAGE) -> list[Tip]:
    clock.now += 0.05
    phone.offer(page, 1, jpeg(image), (down, False))
    return phone.poll()


@pytest.fixture(scope="module")
def view() -> Callable[[np.ndarray], np.ndarray]:
    renderer = Renderer(LENS, seed=3)
    return lambda X_PR: renderer.render([printed(MARKER)], X_PR)


def truth(X_PR: np.ndarray, ahead: float = 0.1) -> np.ndarray:
    """Where the tip is in the room: 0.1 m ahead of the camera."""
    return (np.linalg.inv(X_PR) @ (0.0, 0.0, ahead, 1.0))[:3]


def test_tip_is_ahead_of_the_camera(phone: Phone, clock: Clock, view: Callable) -> None:
    """p_RS = X_PR⁻¹ (0, 0, 0.1), through lens, blur, noise and JPEG. The marker's direction in the camera is off by the
    attitude's error times the arm from marker to tip: 0.1° over 0.35 m are 0.6 mm."""
    for k, tilt in enumerate((0.4, 0.7, 0.9)):
        clock.now += 10.0  # each anew, so that nothing is filtered
        X_PR = facing((0.02 * k, -0.01, 0.35 + 0.05 * k), tilt)
        (tip,) = shows(phone, clock, view(X_PR))
        assert phone.status.is_ok
        assert np.linalg.norm(tip.position - truth(X_PR)) < 6e-4
        assert np.abs(rotation_matrix(tip.orientation) - X_PR[:3, :3].T).max() < np.radians(0.1)
        assert tip.time == clock.now


def test_buttons_act_where_the_tip_was_last_and_do_not_wait_for_a_picture(
    phone: Phone, clock: Clock, view: Callable
) -> None:
    picture = view(facing((0.0, 0.0, 0.35), 0.5))
    (up,) = shows(phone, clock, picture)
    assert up.buttons == (False, False)
    phone.offer(PAGE, 1, b"", (True, False))
    clock.now += 0.01
    (down,) = phone.poll()
    assert down.buttons == (True, False)
    np.testing.assert_array_equal(down.position, up.position)
    (held,) = shows(phone, clock, picture, down=True)
    assert held.buttons == (True, False)
    phone.offer(PAGE, 2, b"", (False, False))
    phone.offer(PAGE, 2, b"", (True, False))  # between two polls: neither is swallowed
    assert [tip.buttons[0] for tip in phone.poll()] == [False, True]


def test_what_loses_it(phone: Phone, clock: Clock, view: Callable) -> None:
    """Each is told with its reason, no tip is given, and it is found again."""
    near, bare = view(facing((0.0, 0.0, 0.35), 0.5)), np.full((480, 640), 130, np.uint8)
    small = np.full((640, 480), 130, np.uint8)

    def is_found() -> None:
        clock.now += 1.0
        assert len(shows(phone, clock, near)) == 1
        assert phone.status.is_ok

    is_found()
    clock.now += SILENT + 0.1
    assert phone.poll() == []
    assert (phone.status.state, "no pictures" in phone.status.why) == ("lost", True)
    is_found()
    clock.now += 0.3
    assert shows(phone, clock, bare) == []
    assert phone.status.why == "marker 7 is not in the picture"
    assert shows(phone, clock, small) == []  # the newest reason is told
    assert "480 x 640 pixels, expected 640 x 480" in phone.status.why
    is_found()
    assert shows(phone, clock, small) == []
    assert phone.status.state == "lost"
    is_found()
    phone.leave(PAGE)
    assert phone.poll() == []
    assert phone.status.why == "the phone has left its page"
    phone.offer(PAGE, 1, b"", (True, False))
    assert phone.poll() == []  # nothing is where nobody is
    is_found()
    phone.close()
    assert shows(phone, clock, near) == []
    assert phone.status.state == "ended"


def test_a_tip_that_jumps_is_not_believed(phone: Phone, clock: Clock, view: Callable) -> None:
    """0.9 m in 50 ms is no hand: it is lost for that picture, and follows from the next."""
    here, there = view(facing((0.0, 0.0, 0.3), 0.8)), view(facing((0.0, 0.0, 0.8), -0.8))
    assert len(shows(phone, clock, here)) == 1
    assert shows(phone, clock, there) == []
    assert "jumped" in phone.status.why
    assert len(shows(phone, clock, there)) == 1
    assert phone.status.is_ok


def test_one_phone_at_a_time(phone: Phone, clock: Clock, view: Callable) -> None:
    picture, other = view(facing((0.0, 0.0, 0.35), 0.5)), object()
    assert len(shows(phone, clock, picture)) == 1
    assert shows(phone, clock, picture, True, other) == []
    told = guide(phone, lambda: ("link1", ""), is_mine=phone.join(other))
    assert (told.state, told.why, told.holds) == ("waiting", "another phone is the tracker now", None)
    phone.leave(other)  # which was not the tracker
    assert len(shows(phone, clock, picture)) == 1
    clock.now += SILENT + 0.1
    assert len(shows(phone, clock, picture, page=other)) == 1


def test_junk_says_nothing(phone: Phone) -> None:
    huge = b"\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03" + b"\0" * 20  # claims 65535 x 65535
    for junk in (b"\xff\xd8", b"\xff\xd8\xff\xe0\x00\x10", huge, b"GIF89a" + b"\0" * 100):
        phone.offer(PAGE, 1, junk, (False, False))
        assert phone.poll() == []
        assert "expected 640 x 480" in phone.status.why


def test_a_phone_without_a_lens_learns_it_from_the_board(tmp_path: Path, clock: Clock) -> None:
    """Views that say too little are told and more are asked for; then the lens is kept in the file, the focal length
    within 1 %, and the phone is a tracker."""
    board, file = Charuco(7, 5, 0.03), tmp_path / "new.json"
    phone, renderer = Phone(file, clock=clock), Renderer(LENS, seed=1)
    assert "0 of 15 views" in phone.why
    assert phone.pixel == []
    random = np.random.default_rng(5)
    flat = renderer.render([printed(board)], facing((0.0, 0.0, 0.33), 0.0))
    views = 0
    while phone.lens is None and views < 40:
        tilt, around = random.uniform(0.3, 0.75), random.uniform(0, 2 * np.pi)
        spread = 0.06 * np.array([np.cos(around), np.sin(around)])
        clock.now += BETWEEN
        tilted = facing((*spread, random.uniform(0.24, 0.36)), tilt, random.uniform(-3, 3))
        image = flat if views < 15 else renderer.render([printed(board)], tilted)
        assert shows(phone, clock, image) == []
        views += 1
        if views == 15:
            assert "hold the board nearer" in phone.why
            assert "15 of 20 views" in phone.why
    assert phone.lens is not None
    assert phone.lens.fx == pytest.approx(LENS.fx, rel=0.01)
    assert load_intrinsics(file) == phone.lens
    assert phone.pixel == pytest.approx([LENS.cx, LENS.cy], abs=8.0)


def test_by_name(tmp_path: Path) -> None:
    LENS.save(tmp_path / "phone.json")
    phone = open_tracker(f"phone:{tmp_path / 'phone.json'},80")
    assert isinstance(phone, Phone)
    assert phone.ahead == pytest.approx(0.08)
    for wrong in ("phone:", "phone:lens.json,abc", "phone:lens.json,-3", "phone:lens.json,2000"):
        with pytest.raises(ModelError, match=r"expected phone:LENS.json"):
            open_tracker(wrong)
