"""The mechanism over a camera's picture: by the pose of that very picture, through the calibrated lens."""

import time as wall
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

import impulsar as im
from impulsar.ar.camera import Camera
from impulsar.ar.eye import Eye
from impulsar.ar.markers import single
from impulsar.ar.optics import Intrinsics
from impulsar.ar.patterns import Marker
from impulsar.ar.show import PageCamera, Place, Show
from impulsar.ar.synthetic import Renderer, SyntheticCamera, printed
from impulsar.history import History
from impulsar.studio.server import Place as Address
from impulsar.studio.server import Studio as Server
from impulsar.studio.session import Session

from .browser import FLAGS, Studio, find_chromium

LENS = Intrinsics(640, 480, 800.0, 795.0, 330.0, 236.0, (-0.25, 0.06, 0.0, 0.0, 0.0))
MARKER = Marker(7, size=0.08)
RATE = 8.0  # pictures a second
PLACE = Place(np.array([0.0, 0.0, 0.30]))  # the pendula hang above the marker


def path(t: float) -> np.ndarray:
    """A camera that goes around the marker: X_KR."""
    angle, height = 0.4 * np.sin(0.8 * t), 0.45 + 0.05 * np.cos(t)
    eye = np.array([0.55 * np.sin(angle), -0.55 * np.cos(angle), height])
    ahead = np.array([0.0, 0.0, 0.12]) - eye
    z = ahead / np.linalg.norm(ahead)
    x = np.cross(z, [0.0, 0.0, 1.0])
    x /= np.linalg.norm(x)
    R_KR = np.array([x, np.cross(z, x), z])
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R_KR, -R_KR @ eye
    return X


class Seen:
    """A studio with an eye, and what the eye saw."""

    def __init__(self, camera: Camera) -> None:
        self.eye = Eye(camera, single(MARKER))
        self.show = Show(self.eye, PLACE)
        world = im.World(im.scene("ten-pendula", start="30deg"))
        session = Session(History(world), im.World, History, "ten-pendula")
        address = Address(lends_camera=isinstance(camera, PageCamera))
        self.server = Server(session, address, more=self.show.routes())

    take_away: Callable[[], None]  # the marker

    def start(self) -> None:
        self.eye.start()
        self.server.start()

    def stop(self) -> None:
        self.eye.stop()
        self.server.stop()


def corners_at(X_KR: np.ndarray) -> np.ndarray:
    """Where the marker's corners are in a picture whose lens does not bend [4, 2]."""
    corners = MARKER.corners @ X_KR[:3, :3].T + X_KR[:3, 3]
    return corners[:, :2] / corners[:, 2:] * (LENS.fx, LENS.fy) + (LENS.cx, LENS.cy)


def wait_for(what: Callable[[], bool], patience: float = 20.0) -> None:
    end = wall.monotonic() + patience
    while not what():
        assert wall.monotonic() < end, f"waited {patience:g} s for what did not come"
        wall.sleep(0.02)


@pytest.fixture
def seen() -> Iterator[Seen]:
    on_table = [printed(MARKER)]
    seen = Seen(SyntheticCamera(Renderer(LENS), lambda t: on_table, path, rate=RATE))
    seen.take_away = on_table.clear
    seen.start()
    yield seen
    seen.stop()


def shown_corners(page: Studio) -> tuple[int, np.ndarray]:
    """Number of the picture that is shown, and the marker's corners in it as the page draws them [px]."""
    corners_W = (MARKER.corners - PLACE.position).tolist()
    number, pixels, box = page.ask(
        """(corners) => {
            const box = document.querySelector("#canvas").getBoundingClientRect();
            return [impulsar.overlay().shown.number, corners.map((at) => impulsar.worldPixel(at)),
                    [box.left, box.top, box.width, box.height]];
        }""",
        corners_W,
    )
    left, top, width, height = box
    scale = min(width / LENS.width, height / LENS.height)
    origin = np.array([left + (width - scale * LENS.width) / 2, top + (height - scale * LENS.height) / 2])
    found = np.array([[p["x"], p["y"]] for p in pixels])
    return number, (found - origin) / scale - 0.5


def test_bodies_lie_where_the_marker_is_in_the_picture_that_is_shown(seen: Seen, open_page: Callable) -> None:
    page: Studio = open_page(seen.server.url)
    page.until("() => impulsar.overlay().shown")
    worst, found = 0.0, set()
    while len(found) < 9:
        before = page.get("overlay")["shown"]["number"]
        page.until("(before) => impulsar.overlay().shown.number > before", before)
        number, corners = shown_corners(page)
        found.add(number)
        worst = max(worst, float(np.abs(corners - corners_at(path(number / RATE))).max()))
    assert worst < 0.5, f"{worst:.3f} px"
    seen.take_away()
    page.until("() => impulsar.overlay().told.marker.state === 'lost'")  # and then nothing is drawn at a wrong place
    assert "not in the picture" in page.page.inner_text("#ar-words")
    page.page.click("#ar")
    page.until("() => !impulsar.overlay().on && impulsar.overlay().shown === null")


def y4m(path: Path, image: np.ndarray, frames: int = 10) -> None:
    """A video file of one grey picture, as Chromium's fake camera takes it."""
    height, width = image.shape
    flat = np.full(width * height // 2, 128, np.uint8).tobytes()
    luma = np.rint(16 + image / 255 * 219).astype(np.uint8).tobytes()  # of the range that video has
    head = f"YUV4MPEG2 W{width} H{height} F10:1 Ip A1:1 C420mpeg2\n".encode()
    path.write_bytes(head + (b"FRAME\n" + luma + flat) * frames)


def test_a_page_lends_its_camera(tmp_path: Path, browser: Browser) -> None:
    """The page's pictures go to the studio, and each is drawn with the pose that comes back for it."""
    film = tmp_path / "camera.y4m"
    y4m(film, Renderer(LENS, seed=1).render([printed(MARKER)], path(0.7)))
    seen = Seen(PageCamera(LENS))
    seen.start()
    flags = ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"]
    with_camera = browser.browser_type.launch(
        executable_path=find_chromium(), args=[*FLAGS, *flags, f"--use-file-for-fake-video-capture={film}"]
    )
    try:
        page = Studio(with_camera.new_page()).open(seen.server.url)
        page.until("() => impulsar.overlay().shown?.number > 3")
        _, corners = shown_corners(page)
        assert np.abs(corners - corners_at(path(0.7))).max() < 0.5
        assert page.get("overlay")["told"]["camera"]["state"] == "ok"
        assert page.problems == []
        page.page.close()  # the camera goes with its page
        wait_for(lambda: seen.eye.statuses[0].state == "lost")
    finally:
        with_camera.close()
        seen.stop()


def test_what_no_camera_sends_is_told_and_harms_nobody() -> None:
    camera = PageCamera(LENS)
    huge = b"\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03" + b"\0" * 20  # claims 65535 x 65535
    for junk in (b"", b"\xff\xd8", b"\xff\xd8\xff\xe0\x00\x10", huge, b"GIF89a" + b"\0" * 100):
        camera.offer(camera, 1, junk)
        assert camera.read() is None
        assert "expected 640 x 480" in camera.status.why
