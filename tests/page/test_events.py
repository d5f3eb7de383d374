"""Events in a real browser: watched by a dialog, marked on the timeline and in plots; time stops at a terminal one."""

from collections.abc import Callable

import pytest

import impulsar as im

from .browser import Studio

SIGNAL, LEVEL = "joint.O.position", -0.3


def first_crossing() -> float:
    event = im.Event("passes", SIGNAL, level=LEVEL, terminal=True)
    return im.World(im.scene("four-bar")).run(1.0, events=[event], progress=False).event_time.values[0].item()


def test_time_stops_at_what_is_watched(open_scene: Callable[..., Studio]) -> None:
    studio = open_scene("four-bar")
    studio.pause()
    studio.page.click("#reset")
    studio.until("() => impulsar.frame().time === 0 && impulsar.settled()")
    studio.page.click("#events")
    dialog = studio.page.locator("dialog[aria-label='Events']")
    dialog.locator("input[name=signal]").fill(SIGNAL)
    dialog.locator("input[name=level]").fill(str(LEVEL))
    dialog.locator("input[name=terminal]").check()
    dialog.locator("input[name=name]").fill("half way")
    dialog.locator("button[type=submit]").click()
    dialog.locator("li b:text('half way')").wait_for()
    studio.page.keyboard.press("Escape")
    studio.until("() => document.querySelector('dialog') === null")
    studio.page.click("#play")
    studio.until("() => impulsar.events().found.length === 1 && impulsar.status().paused && impulsar.settled()")
    true = first_crossing()
    assert studio.get("events")["found"][0]["time"] == pytest.approx(true, abs=1e-12)
    assert studio.frame()["time"] == pytest.approx(true, abs=1e-10)
    studio.until("() => document.querySelectorAll('#event-marks i').length === 1")
    assert studio.get("marks") == [{"label": "half way", "time": pytest.approx(true, abs=1e-12)}]
    studio.page.click("#undo")
    studio.until("(then) => impulsar.frame().time < then && impulsar.settled()", true)
    studio.until("() => impulsar.events().found.length === 0")
    studio.page.click("#events")
    studio.page.click("button[aria-label='Watch half way no longer']")
    studio.until("() => impulsar.events().watched.length === 0")
    studio.page.keyboard.press("Escape")
