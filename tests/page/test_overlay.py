"""The mechanism over a camera's picture: by the pose of that very picture, through the calibrated lens."""

import base64
import io
import time as wall
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser

import impulsar as im
from impulsar.ar.camera import Camera
from impulsar.ar.eye import Eye
from impulsar.ar.markers import single
from impulsar.ar.optics import Intrinsics
from impulsar.ar.patterns import Marker
from impulsar.ar.run import motion_for
from impulsar.ar.show import PageCamera, Place, Show
from impulsar.ar.synthetic import Renderer, SyntheticCamera, box, printed
from impulsar.author.errors import ModelError
from impulsar.history import History
from impulsar.studio.ar_messages import Occluder
from impulsar.studio.server import Place as Address
from impulsar.studio.server import Studio as Server
from impulsar.studio.session import Session

from .browser import FLAGS, Studio, find_chromium
from .test_video import DECODE

LENS = Intrinsics(640, 480, 800.0, 795.0, 330.0, 236.0, (-0.25, 0.06, 0.0, 0.0, 0.0))
MARKER = Marker(7, size=0.08)
RATE = 8.0  # pictures a second
GREY, COLOURED = 6, 12  # levels between the channels of what the camera sees, at most, and of bodies, at least
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

    def __init__(self, camera: Camera, start: str = "30deg", motion: dict | None = None) -> None:
        self.eye = Eye(camera, single(MARKER))
        self.in_room: list[Occluder] = []
        self.show = Show(self.eye, PLACE, lambda: self.in_room, motion=motion)
        world = im.World(im.scene("ten-pendula", start=start))
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


def told_latency(page: Studio) -> str:
    """From a camera's frame to the frame composed of it and the bodies, as the page has it, and the button's title."""
    latency = page.get("overlay")["latency"]
    assert latency > 0
    page.until("() => /drawn \\d+ ms after it is taken/.test(document.querySelector('#ar').title)")
    return f"{latency:.0f} ms from the camera's frame to the composed one"


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
    print(f"corners within {worst:.3f} px over {len(found)} pictures, {told_latency(page)}")
    assert worst < 0.5, f"{worst:.3f} px"
    seen.take_away()
    page.until("() => impulsar.overlay().told.marker.state === 'lost'")  # and then nothing is drawn at a wrong place
    page.until("() => document.querySelector('#ar-words').innerText.includes('not in the picture')")
    page.page.click("#ar")
    page.until("() => !impulsar.overlay().on && impulsar.overlay().shown === null")


@pytest.fixture
def still() -> Iterator[Seen]:
    """Hanging pendula before a camera that stands still."""
    seen = Seen(SyntheticCamera(Renderer(LENS), [printed(MARKER)], lambda t: path(0.0), rate=RATE), "hanging")
    seen.start()
    yield seen
    seen.stop()


def on_canvas(page: Studio, body: str) -> tuple[float, float]:
    """Where a body's middle is on the canvas, as shares of its width and height."""
    x, y = page.ask(
        """(body) => {
            const box = document.querySelector("#canvas").getBoundingClientRect();
            const { x, y } = impulsar.pixel(body);
            return [(x - box.left) / box.width, (y - box.top) / box.height];
        }""",
        body,
    )
    return x, y


def colourfulness(picture: np.ndarray, at: tuple[float, float]) -> float:
    """How far from grey a picture is about a place: the camera sees grey only, bodies have colours."""
    height, width, _ = picture.shape
    x, y = round(at[0] * width), round(at[1] * height)
    near = picture[y - 1 : y + 2, x - 1 : x + 2, :3].reshape(-1, 3)
    return float((near.max(axis=1) - near.min(axis=1)).mean())


def canvas(page: Studio) -> np.ndarray:
    text = page.ask("() => document.getElementById('canvas').toDataURL()")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(text.split(",")[1]))).convert("RGB"), float)


def shows_another(page: Studio) -> None:
    """Let a picture come that was made after all that is known."""
    before = page.get("overlay")["shown"]["number"]
    page.until("(before) => impulsar.overlay().shown.number > before + 1", before)
    drawn = page.get("drawn")
    page.until("(drawn) => impulsar.drawn() > drawn", drawn)


def test_what_is_real_hides_what_is_behind_it(still: Seen, open_page: Callable) -> None:
    """A capsule around a link, as of a tracker's arm, leaves the camera's grey there; once it has gone aside, and when
    it is behind, the link is seen."""
    page: Studio = open_page(still.server.url)
    page.until("() => impulsar.overlay().shown")
    at = on_canvas(page, "link5")
    shows_another(page)
    assert colourfulness(canvas(page), at) > COLOURED
    p_R = PLACE.position + page.position("link5")
    for shift, is_hidden in (((0.0, 0.0, 0.0), True), ((0.2, 0.0, 0.0), False), ((0.0, 0.1, 0.0), False)):
        pose = [*(p_R + shift).tolist(), 0.0, 0.0, 0.0, 1.0]
        still.in_room = [Occluder(name="arm", kind="capsule", size=[0.03, 0.05], pose=pose)]
        page.until("(pose) => String(impulsar.overlay().told.occluders[0]?.pose) === String(pose)", pose)
        shows_another(page)
        found = colourfulness(canvas(page), at)
        assert (found < GREY) if is_hidden else (found > COLOURED), (shift, found)


def hand_at(y: float) -> tuple[np.ndarray, list]:
    """A hand in the room, 60 mm wide and high, with its front at y [m] where link 3 is seen; the marker is seen below.
    The middle of its front, and its sides."""
    eye, link = np.linalg.inv(path(0.0))[:3, 3], PLACE.position - np.array([0.0, 0.0, 0.125])
    front, X_RB = link + (eye - link) * y / eye[1], np.eye(4)
    X_RB[:3, 3] = front + np.array([0.0, 0.002, 0.0])
    return front, box((0.06, 0.004, 0.06), X_RB, 140.0)


def test_a_hand_that_the_camera_measures_hides_what_is_behind_it(open_page: Callable) -> None:
    """By depth alone: nobody says that a hand is there. Before the links it leaves the camera's grey, to within 3 px of
    its outline; behind them, and before them by less than the margin of 10 mm, they are seen."""
    table = [printed(MARKER)]
    camera = SyntheticCamera(Renderer(LENS), lambda t: list(table), lambda t: path(0.0), rate=RATE, depth=True)
    seen = Seen(camera, "hanging")
    seen.start()
    try:
        page: Studio = open_page(seen.server.url)
        page.until("() => impulsar.overlay().shown")
        at = on_canvas(page, "link3")
        shows_another(page)
        bare = canvas(page)
        assert colourfulness(bare, at) > COLOURED
        for y, is_hidden in ((-0.08, True), (0.08, False), (-0.02, True), (-0.006, False)):
            table[1:] = hand_at(y)[1]
            shows_another(page)
            shows_another(page)
            found = colourfulness(canvas(page), at)
            assert page.get("overlay")["told"]["marker"]["state"] == "ok"
            assert (found < GREY) if is_hidden else (found > COLOURED), (y, found)
        front, table[1:] = hand_at(-0.08)
        shows_another(page)
        shows_another(page)
        picture, X_KR = canvas(page), path(0.0)
        eye, looked = np.linalg.inv(X_KR)[:3, 3], 0
        for name in page.ask("() => Object.keys(impulsar.frame().poses)"):
            if colourfulness(bare, on_canvas(page, name)) < COLOURED:
                continue  # out of the picture
            way = PLACE.position + page.position(name) - eye
            crossed = eye + way * (-0.08 - eye[1]) / way[1]  # where the sight line passes the hand's front
            outside = np.abs(crossed - front).max() - 0.03  # of its outline [m]
            if abs(outside) * LENS.fx / np.linalg.norm(crossed - eye) > 3:
                looked += 1
                found = colourfulness(picture, on_canvas(page, name))
                assert (found < GREY) if outside < 0 else (found > COLOURED), (name, outside, found)
        assert looked >= 4
    finally:
        seen.stop()


def test_what_is_seen_is_recorded(still: Seen, open_page: Callable) -> None:
    """The recorder's video has the mechanism over the camera's picture: the marker is black on white paper there, and
    the link coloured, each at its place."""
    page: Studio = open_page(still.server.url)
    page.until("() => impulsar.overlay().shown")
    page.page.click("#video")
    for _ in range(4):
        shows_another(page)
    with page.page.expect_download() as saved:
        page.page.click("#video")
    page.ask(DECODE, [base64.b64encode(Path(saved.value.path()).read_bytes()).decode(), [0.2]])
    told = page.until("() => window.seen")
    assert "error" not in told, told
    data = base64.b64decode(told["pictures"][0])
    picture = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), float)
    assert colourfulness(picture, on_canvas(page, "link5")) > COLOURED
    seen = canvas(page)
    assert picture.shape == seen.shape
    assert np.abs(picture - seen).mean() < 10  # grey levels, of a codec's loss
    assert np.ptp(picture.mean(axis=2)) > 120  # black marker, white paper


def test_a_result_is_played_over_the_picture(open_page: Callable) -> None:
    """What was computed before is shown in the room while pictures come: stopped and sought, bodies are where the
    result has them, to a float's digits; then the session is shown again."""
    model = im.scene("ten-pendula", start="30deg")
    result = im.World(model).run(1.0, every=0.02, progress=False)
    with pytest.raises(ModelError, match="has no body 'crank'"):
        motion_for(im.scene("four-bar"), result, Path("r.nc"))
    camera = SyntheticCamera(Renderer(LENS), [printed(MARKER)], path, rate=RATE)
    seen = Seen(camera, "hanging", motion_for(model, result, Path("r.nc")))
    seen.start()
    try:
        page: Studio = open_page(seen.server.url)
        page.until("() => impulsar.overlay().shown && impulsar.overlay().replay?.running")
        page.page.click("#replay-play")
        page.until("() => !impulsar.overlay().replay.running")
        seek = page.page.get_by_label("Seek in the result")
        for time in (0.8, 0.4):
            seek.evaluate("(e, time) => { e.value = time; e.dispatchEvent(new Event('input')); }", time)
            shows_another(page)
            frame = page.frame()
            assert frame["time"] == pytest.approx(time)
            truth = result["position"].sel(body="link10").sel(time=time, method="nearest").values
            np.testing.assert_allclose(frame["poses"]["link10"][:3], truth, atol=1e-6)
        page.page.click("#replay-live")
        page.until("() => !impulsar.overlay().replay.shown && Math.abs(impulsar.frame().poses.link10[1]) < 0.01")
    finally:
        seen.stop()


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
        worst = np.abs(corners - corners_at(path(0.7))).max()
        print(f"corners within {worst:.3f} px, {told_latency(page)}")
        assert worst < 0.5
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
