"""A browser, a studio in a process of its own, and the page as a test sees it."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Locator, Page

from impulsar.studio.client import StudioClient

FLAGS = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",  # by the processor: SwiftShader took 4 times as long to put a picture into its page
    "--hide-scrollbars",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
GUIDED = """localStorage.setItem("impulsar.guide", '"done"');"""  # no first minute; before the page's own script
SEASONED = f"""
{GUIDED}
localStorage.setItem("impulsar.rest", "4"); // few pictures: software draws them, on the cores that do all else
"""
PATIENCE = 30.0  # [s], on a loaded machine with two cores


def find_chromium() -> str:
    """Path of a Chromium; installs Debian's where we may; there is no test of the page without one."""
    named = os.environ.get("CHROMIUM")
    if named:
        assert Path(named).is_file(), f"CHROMIUM is {named!r}, which is no file; give the path of a Chromium"
        return named
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found:
        return found
    assert shutil.which("apt-get") and os.geteuid() == 0, (
        "the page's tests need a browser and found none; install Chromium or set CHROMIUM to its path"
    )
    with (Path(tempfile.gettempdir()) / "impulsar-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes come here at once
        if not shutil.which("chromium"):
            for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]):
                done = subprocess.run(command, capture_output=True, text=True)
                problem = f"{' '.join(command)} failed, so there is no browser:\n{done.stderr[-2000:]}"
                assert done.returncode == 0, problem
    path = shutil.which("chromium")
    assert path, "apt-get installed Chromium, but it is not on the PATH; set CHROMIUM to its path"
    return path


class Server:
    """`impulsar studio` as a user starts it."""

    def __init__(
        self,
        *arguments: str,
        program: tuple[str, ...] = (sys.executable, "-m", "impulsar"),
        browser: bool = False,
    ) -> None:
        command = [*program, "studio", *arguments, *([] if browser else ["--no-browser"])]
        state = os.environ.get("IMPULSAR_TEST_STATE") or tempfile.mkdtemp(prefix="impulsar-state-")
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "XDG_STATE_HOME": state}
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            link = re.search(r"https?://\S+", line)
            if link:
                self.link = link.group(0)
                return
        raise AssertionError(f"{' '.join(command)} ended without a link:\n{''.join(lines)}")

    def begin(self, scene: str = "ten-pendula", runs: bool = True) -> str:
        """Open a built-in scene at its start, with time running as fast as the clock, or standing; the link."""
        with StudioClient(self.link, timeout=PATIENCE) as client:
            told = [
                client.control("scene", name=scene, parameters={}),
                client.control("speed", 1.0),
                client.control("run" if runs else "pause"),
            ]
        assert all(reply["ok"] for reply in told), told
        return self.link

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=20)


class Studio:
    """The page in a browser, and what it says of itself by `window.impulsar`."""

    def __init__(self, page: Page, patience: float = PATIENCE) -> None:
        self.page = page
        self.patience = patience
        self.problems: list[str] = []
        self._line: CDPSession | None = None
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("console", lambda line: self.problems.append(line.text) if line.type == "error" else None)

    def open(self, link: str) -> "Studio":
        self.page.goto(link)
        self.page.wait_for_url(re.compile(r"^https?://[^?]*$"))  # a link leads on, to an address without a token
        self.until("() => window.impulsar && impulsar.frames() > 1 && impulsar.drawn() > 1")
        return self

    def ask(self, script: str, argument: Any = None) -> Any:
        """Value of a function of the page."""
        return self.page.evaluate(script, argument)

    def get(self, name: str, *arguments: Any) -> Any:
        """What `impulsar.NAME(...)` says."""
        return self.ask("([name, list]) => impulsar[name](...list)", [name, list(arguments)])

    def until(self, script: str, argument: Any = None, patience: float | None = None) -> Any:
        """Wait for a function of the page to be true. (Playwright's own waiting needs eval, which the page forbids.)"""
        patience = self.patience if patience is None else patience
        end = time.perf_counter() + patience
        pause = 0.01
        while True:
            value = self.ask(script, argument)
            if value:
                return value
            assert time.perf_counter() < end, f"waited {patience:g} s for {script}; {self.said()}"
            time.sleep(pause)
            pause = min(1.5 * pause, 0.1)  # to ask costs the page time, too

    def said(self) -> str:
        toasts = self.ask("() => [...document.querySelectorAll('.toast')].map((toast) => toast.textContent)")
        return f"toasts {toasts}, problems {self.problems}, {self.get('summary')}"

    def frame(self) -> dict[str, Any]:
        return self.get("frame")

    def position(self, body: str) -> list[float]:
        return self.frame()["poses"][body][:3]

    def fresh(self, scene: str = "ten-pendula", keep_view: bool = True) -> "Studio":
        """Open a built-in scene by the picker, with time running and nothing picked."""
        before = self.get("scene")["topology"]
        self.page.click("#scene-button")
        asks = self.get("status")["changed"]
        self.page.click(f"button[aria-label='Open {scene}']")
        if asks:
            self.page.click("dialog[aria-label='Not saved'] button:text('Open without saving')")
        self.until("(before) => impulsar.scene().topology !== before", before)
        self.until("() => document.querySelector('dialog') === null")
        if self.get("status")["paused"]:
            self.page.click("#play")
        return self.ready(keep_view)

    def ready(self, keep_view: bool = True) -> "Studio":
        """Wait until the scene is shown and its time runs.

        With `keep_view` pixels stay where they are: the view is not framed again when the sweep is known.
        """
        self.until("() => !impulsar.status().paused && impulsar.frame().generation === impulsar.scene().generation")
        if keep_view:
            self.until("() => impulsar.keepView()")
        return self

    def settle(self) -> None:
        """Wait until the session has answered everything and the page shows what came of it."""
        self.until("() => impulsar.settled()")
        drawn = self.get("drawn")  # handles are pressed where they were drawn
        self.until("(drawn) => impulsar.drawn() > drawn || impulsar.isDrawn()", drawn)

    def tool(self, name: str) -> None:
        self.page.click(f"#tools button[data-tool={name}]")

    def pause(self) -> None:
        """Stop time, and have the frame at which it stands."""
        if not self.get("status")["paused"]:
            self.page.click("#play")
        self.until("() => impulsar.status().paused && (impulsar.frame().flags & 1) === 1 && impulsar.settled()")

    def run(self) -> None:
        if self.get("status")["paused"]:
            self.page.click("#play")
        self.until("() => !impulsar.status().paused")

    def wait_time(self, seconds: float) -> None:
        """Let simulated time pass."""
        end = self.frame()["time"] + seconds
        self.until("(end) => impulsar.frame().time >= end", end)

    def pick(self, kind: str, name: str) -> None:
        self.page.click(f"#parts-list [data-kind='{kind}'][data-name='{name}']")
        self.until("(name) => impulsar.pick()?.name === name", name)

    def drag(self, start: dict[str, float], end: dict[str, float], steps: int = 8, release: bool = True) -> None:
        mouse = self.page.mouse
        mouse.move(start["x"], start["y"])
        mouse.down()
        for k in range(1, steps + 1):
            s = k / steps
            mouse.move(start["x"] + s * (end["x"] - start["x"]), start["y"] + s * (end["y"] - start["y"]))
        if release:
            mouse.up()

    def finger(self, kind: str, *points: dict[str, float], **more: float) -> None:
        """A touch event: touchStart, touchMove or touchEnd, with the fingers that are down."""
        self._send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points), **more})

    def twice(self, at: dict[str, float], touch: bool = False) -> None:
        """A double click, 0.1 s long by the events' own stamps, however long a busy machine takes for them."""
        began = time.time()
        for stamp in (began, began + 0.1):
            if touch:
                self.finger("touchStart", at, timestamp=stamp)
                self.finger("touchEnd", timestamp=stamp)
                continue
            for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
                button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
                self._send("Input.dispatchMouseEvent", {"type": kind, **at, **button, "timestamp": stamp})

    def _send(self, event: str, parameters: dict[str, Any]) -> None:
        """By the browser's own protocol, where Playwright has no word for it."""
        if self._line is None:
            self._line = self.page.context.new_cdp_session(self.page)
        self._line.send(event, parameters)

    def slide(self, start: dict[str, float], end: dict[str, float], steps: int = 6) -> None:
        """Drag with a finger."""
        self.finger("touchStart", start)
        for k in range(1, steps + 1):
            s = k / steps
            self.finger("touchMove", {name: start[name] + s * (end[name] - start[name]) for name in ("x", "y")})
        self.finger("touchEnd")

    def field(self, row: str, index: int = 0, within: str = "#inspector-body") -> Locator:
        return self.page.locator(f"{within} [data-row='{row}'] input").nth(index)

    def type(self, row: str, text: str, index: int = 0) -> None:
        """Type into a field of the inspector as a user does."""
        field = self.field(row, index)
        field.fill(text)
        field.press("Enter")
