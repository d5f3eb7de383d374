"""A phone's page in a browser with a fake camera: it is a hand in the session, and lets go when it is lost."""

import ssl
import time as wall
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import impulsar as im
from impulsar.ar import phone_line
from impulsar.ar.markers import single
from impulsar.ar.reach import Reach
from impulsar.ar.show import Place
from impulsar.ar.synthetic import Renderer, printed
from impulsar.ar.trackers.phone import Phone
from impulsar.history import History
from impulsar.studio.server import Place as Address
from impulsar.studio.server import Studio as Server
from impulsar.studio.session import Session
from impulsar.studio.tls import make_certificate

from .browser import FLAGS, find_chromium
from .test_overlay import LENS, MARKER, path, wait_for

X_PR = path(0.7)  # where the phone is
SEEN, GONE = 40, 25  # pictures of the film, ten a second: with the marker, without


def film(path: Path) -> None:
    """The marker for four seconds, a bare table for two and a half, and again."""
    height, width, flat = LENS.height, LENS.width, np.full(LENS.width * LENS.height // 2, 128, np.uint8).tobytes()
    renderer = Renderer(LENS, seed=1)
    with path.open("wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F10:1 Ip A1:1 C420mpeg2\n".encode())
        for sheets, count in (([printed(MARKER)], SEEN), ([], GONE)):
            image = renderer.render(sheets, X_PR)
            luma = np.rint(16 + image / 255 * 219).astype(np.uint8).tobytes()
            file.write((b"FRAME\n" + luma + flat) * count)


class Table:
    """A studio over TLS whose last pendulum hangs at the phone's tip."""

    def __init__(self, folder: Path) -> None:
        LENS.save(folder / "phone.json")
        self.phone = Phone(folder / "phone.json", 0.1)
        self.phone.look_for(single(MARKER), MARKER.dictionary, 1.0)
        tip_R = (np.linalg.inv(X_PR) @ (0.0, 0.0, 0.1, 1.0))[:3]
        self.world = im.World(im.scene("ten-pendula", start="hanging"))
        self.session = Session(History(self.world), im.World, History, "ten-pendula")
        self.reach = Reach(self.session, self.phone, np.eye(4), Place(tip_R - (0.0, 0.0, -0.5)))
        certificate, key, _ = make_certificate(folder, ["localhost", "127.0.0.1"])
        lines = phone_line.routes(self.phone, lambda: (self.reach.holds, self.reach.told))
        self.server = Server(self.session, Address(certificate=certificate, key=key, lends_camera=True), more=lines)

    def __enter__(self) -> "Table":
        self.reach.warm_up()
        self.server.start()
        self.reach.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.reach.stop()
        self.server.stop()

    def hands(self) -> list[str]:
        return self.session.call(lambda: [name for name in self.world.system.hand_names if name]).result()


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with Table(tmp_path) as table:
        yield table


@pytest.fixture
def phone_page(browser: Browser, tmp_path: Path) -> Iterator[Callable[[str], Page]]:
    film(tmp_path / "camera.y4m")
    flags = ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"]
    name = f"--use-file-for-fake-video-capture={tmp_path / 'camera.y4m'}"
    with_camera = browser.browser_type.launch(executable_path=find_chromium(), args=[*FLAGS, *flags, name])

    def open_phone(link: str) -> Page:
        context = with_camera.new_context(
            ignore_https_errors=True, viewport={"width": 780, "height": 360}, has_touch=True
        )
        page = context.new_page()
        page.goto(link)
        return page

    yield open_phone
    with_camera.close()


def state(page: Page) -> dict[str, Any]:
    return page.evaluate("() => phone()")


def held(table: Table, page: Page, take: Callable[[], None]) -> None:
    """Take hold, as often as it needs: the film goes on, and the marker may just have gone from it."""

    def is_held() -> bool:
        if table.hands() == ["tracker"]:
            return True
        if page.evaluate("() => document.body.dataset.state === 'ok'"):
            take()
            wall.sleep(0.5)
        return False

    wait_for(is_held, 30.0)


def test_a_phone_is_a_hand_and_lets_go_when_it_is_lost(table: Table, phone_page: Callable[[str], Page]) -> None:
    """Over TLS, by the studio's link: the marker is found in its pictures, Clip clips what is at the tip, Hold holds
    while it is pressed; without the marker the hand lets go, the person is told, and takes nothing by itself again."""
    page = phone_page(table.server.link_to("/phone"))
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    assert page.url == f"{table.server.origin}/phone"  # without the token
    page.wait_for_function("() => document.body.dataset.state === 'ok'", timeout=20000)
    tip_W = table.reach.tip_W
    assert tip_W is not None
    assert np.linalg.norm(tip_W - (0.0, 0.0, -0.5)) < 2e-3

    box = page.locator("#hold").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + 20)

    def press() -> None:
        page.mouse.up()
        page.mouse.down()

    held(table, page, press)
    page.wait_for_function("() => document.body.dataset.state === 'held' && words.innerText === 'Holds link10.'")
    page.mouse.up()
    wait_for(lambda: table.hands() == [])

    held(table, page, lambda: page.click("#keep"))
    assert page.inner_text("#keep") == "Release"
    page.wait_for_function("() => document.body.dataset.state === 'lost'", timeout=20000)
    wait_for(lambda: table.hands() == [])
    page.wait_for_function("() => words.innerText === 'marker 7 is not in the picture'", timeout=20000)
    before = table.session.call(lambda: table.world.time).result()
    page.wait_for_function("() => document.body.dataset.state === 'ok'", timeout=20000)
    assert table.session.call(lambda: table.world.time).result() > before  # the simulation went on
    assert state(page)["buttons"] == 0
    assert table.hands() == []

    held(table, page, lambda: page.click("#keep"))
    page.close()  # the phone is put away in mid-pull
    wait_for(lambda: table.hands() == [])
    wait_for(lambda: table.reach.device.why == "the phone has left its page")
    assert wrong == []


def test_without_the_token_there_is_no_phone(table: Table, phone_page: Callable[[str], Page]) -> None:
    page = phone_page(f"{table.server.origin}/phone")
    assert "token" in page.inner_text("body")
    assert not page.evaluate("() => 'phone' in window")
    with (
        pytest.raises(InvalidStatus),
        connect(
            table.server.origin.replace("https", "wss") + "/phone-line", origin=table.server.origin, ssl=trusting()
        ),
    ):
        pass


def trusting() -> ssl.SSLContext:
    """Of a certificate that the studio made itself."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
