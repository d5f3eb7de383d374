"""`world.view()` as a widget: the page in a host of anywidget's kind, over its messages alone."""

import base64
import json
import queue
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import impulsar as im
from impulsar.edits.hands import hands_of
from impulsar.studio import widget as widgets

from .browser import SEASONED

URL = "http://notebook.test/"
# As much of a notebook as a widget sees: a model with traits, messages and buffers.
HOST = """
<!doctype html><meta charset="utf-8"><title>host</title><link rel="icon" href="data:,">
<body><div id="cell"></div><script type="module">
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const listeners = new Map();
const on = (name, act) => listeners.set(name, [...(listeners.get(name) ?? []), act]);
const tell = (name, ...values) => (listeners.get(name) ?? []).forEach((act) => act(...values));
const text = (buffer) => btoa([...new Uint8Array(buffer)].map((one) => String.fromCharCode(one)).join(""));
const state = STATE;
const model = {
  get: (name) => state[name], on, off: () => {},
  send: (content, _, buffers) => void window.toKernel(JSON.stringify(content), (buffers ?? []).map(text)),
};
window.fromKernel = (content, buffers) =>
  tell("msg:custom", JSON.parse(content), buffers.map((one) => new DataView(bytes(one).buffer)));
window.setState = (name, value) => { state[name] = value; tell(`change:${name}`); };
const module = await import(URL.createObjectURL(new Blob([ESM], { type: "text/javascript" })));
window.end = module.default.render({ model, el: document.getElementById("cell") });
</script>
"""


class Notebook:
    """A page that shows a widget, and the line between the two."""

    def __init__(self, page: Page, widget: Any):
        self.page, self.widget = page, widget
        self.problems: list[str] = []
        self.asked: list[str] = []
        self.sent: queue.Queue = queue.Queue()
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.expose_function("toKernel", self._to_kernel)
        widget.send = lambda content, buffers=None: self.sent.put((content, buffers or []))
        state = {name: getattr(widget, name) for name in ("width", "height", "still", "words", "stopped")}
        esm = Path(widgets.__file__).with_name("widget.mjs").read_text(encoding="utf-8")
        text = HOST.replace("STATE", json.dumps(state)).replace("ESM", json.dumps(esm))
        page.route(URL, lambda route: route.fulfill(body=text, content_type="text/html"))
        page.goto(URL)

    def _to_kernel(self, content: str, buffers: list[str]) -> None:
        self.widget._take(self.widget, json.loads(content), [base64.b64decode(one) for one in buffers])

    def deliver(self) -> None:
        """Hand what the kernel has sent to the page."""
        while not self.sent.empty():
            content, buffers = self.sent.get()
            texts = [base64.b64encode(one).decode() for one in buffers]
            self.page.evaluate("([c, b]) => window.fromKernel(c, b)", [json.dumps(content), texts])

    def until(self, script: str, argument: Any = None) -> Any:
        """Wait for a script inside the frame."""
        for _ in range(1500):
            self.deliver()
            frames = self.page.frames[1:]
            if frames and (value := frames[0].evaluate(f"window.impulsar && ({script})", argument)):
                return value
            self.page.wait_for_timeout(20)
        raise AssertionError(f"waited 30 s for {script}; {self.problems}")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 900, "height": 700})
    context.add_init_script(SEASONED)
    yield context.new_page()
    context.close()


def test_a_widget_shows_runs_and_gives_hold(page: Page) -> None:
    """Drawn, moving, paused, dragged; over messages only: the browser asks no host for anything."""
    world = im.World(im.scene("ten-pendula"))
    shown = world.view(height=600)
    try:
        assert type(shown).__name__ == "WorldWidget" and world.view() is shown
        notebook = Notebook(page, shown)
        notebook.until("impulsar.frames() > 3 && impulsar.drawn() > 1 && impulsar.frame().time > 0.1")
        shown.pause()
        notebook.until("impulsar.status().paused && impulsar.settled()")
        time = shown.ask(lambda world: world.time)
        shown.step(5)
        notebook.until("(time) => impulsar.frame().time >= time", time + 5 * world.dt - 1e-9)
        frame = page.frames[1]
        frame.click("#play")
        notebook.until("!impulsar.status().paused && impulsar.keepView()")
        at = frame.evaluate("impulsar.pixel('link10')")
        box = page.locator("iframe").bounding_box()
        page.mouse.move(box["x"] + at["x"], box["y"] + at["y"])
        page.mouse.down()
        for k in range(1, 7):
            page.mouse.move(box["x"] + at["x"] + 15 * k, box["y"] + at["y"] - 10 * k)
            notebook.deliver()
        notebook.until("impulsar.frame().poses.link10[0] !== 0")
        notebook.until("impulsar.settled()")
        assert shown.ask(lambda world: len(hands_of(world.system))) == 1
        page.mouse.up()
        notebook.until("impulsar.settled()")
        assert shown.ask(lambda world: len(hands_of(world.system))) == 0
        with pytest.raises(im.ModelError, match="nobody"):
            shown.edit(im.Grab("hand", "nobody"))
        shown.stop()
        page.evaluate("([a, b]) => { setState('still', a); setState('stopped', b); }", [shown.still, True])
        assert page.locator("#cell img").get_attribute("src").startswith("data:image/png;base64,iVBOR")
        assert page.locator("iframe").count() == 0
        assert notebook.problems == []
        assert [url for url in notebook.asked if not url.startswith(("about:", "blob:", "data:"))] == [URL]
    finally:
        shown.stop()
    assert world.paused or world.step()


def test_without_a_kernel_there_is_a_picture(page: Page) -> None:
    """A saved notebook opened again: nobody answers, and the picture that was kept is shown."""
    shown = im.World(im.scene("four-bar")).view()
    shown.stop()
    shown.stopped = False  # as in a notebook whose kernel was killed
    page.add_init_script("const later = setTimeout; window.setTimeout = (act, wait) => later(act, wait / 50);")
    shown._take = lambda *what: None
    Notebook(page, shown)
    page.wait_for_selector("#cell img")
    picture = page.evaluate("() => { const one = document.querySelector('img'); return [one.naturalWidth, one.alt]; }")
    assert picture == [800, "'four-bar' in the studio"]
    shown.stopped = True


def test_a_recorded_result_plays_below_the_cell(page: Page) -> None:
    """As a saved notebook has it: HTML alone, no kernel, no other host."""
    result = im.World(im.scene("four-bar")).run(0.3, progress=False)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    text = f"<!doctype html><link rel=icon href='data:,'><body>{result.impulsar.view()._repr_html_()}"
    page.route(URL, lambda route: route.fulfill(body=text, content_type="text/html"))
    page.goto(URL)
    frame = page.frames[1]
    frame.wait_for_function("() => window.player && player.state().time > 0")
    frame.evaluate("() => player.go(0.3)")
    there = frame.evaluate("() => player.state().poses.rocker")[:3]
    assert there == pytest.approx(result["position"].sel(body="rocker").values[-1], abs=1e-5)
    assert [url for url in asked if not url.startswith(("about:", "blob:", "data:"))] == [URL]
