"""Motors and loads over time in the page, what a new motor does, and what an edit cost."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest

from .browser import Server, Studio


@pytest.fixture(scope="module")
def four_bar() -> Iterator[Server]:
    server = Server("four-bar", "--dt", "0.005", "--paused")
    yield server
    server.stop()


def test_motors_and_loads_over_time(four_bar: Server, open_page: Callable[..., Studio]) -> None:
    """A new motor starts softly; its speed follows a formula, a typed table and a drawn curve; a load has a sine."""
    studio = open_page(four_bar.link, viewport={"width": 1280, "height": 900})

    def motor() -> Any:
        (found,) = studio.get("live")["motors"]
        return found["value"]

    def choose(row: str, kind: str) -> None:
        studio.page.select_option(f"#inspector-body select[aria-label='{row}']", kind)

    studio.pick("joint", "O")
    studio.page.click("#inspector-body button:has-text('By speed')")
    studio.until("() => impulsar.live().motors.length === 1 && impulsar.settled()")
    assert motor() == {"profile": "smooth", "start": 0, "end": 3.1416, "t0": 0, "t1": 1}
    studio.until("() => impulsar.label('motion O angle') === '3.142 rad/s'")
    choose("over time", "formula")
    studio.until("() => impulsar.live().motors[0].value.profile === 'formula' && impulsar.settled()")
    studio.type("formula", "3 + sin(5*t)")
    studio.until("() => impulsar.live().motors[0].value.text === '3 + sin(5*t)' && impulsar.settled()")
    studio.until("() => document.querySelector('svg.profile polyline').getAttribute('points').length > 400")
    studio.type("formula", "3 + nonsense")
    studio.until("() => /expected t/.test(document.querySelector('[data-row=formula] .error').textContent)")
    studio.run()
    studio.wait_time(0.5)
    studio.pause()
    studio.settle()
    wanted = "3 + Math.sin(5 * impulsar.frame().time)"
    studio.until(f"() => Math.abs(impulsar.signal('coordinate.O.velocity') - ({wanted})) < 1e-6")

    studio.page.click("#inspector-body button:has-text('Draw…')")
    box = studio.page.locator("canvas.drawing").bounding_box()
    low = {"x": box["x"] + 12, "y": box["y"] + box["height"] - 12}
    studio.drag(low, {"x": box["x"] + box["width"] - 12, "y": box["y"] + 12}, steps=20)
    studio.page.fill("dialog input[aria-label='lowest in rad/s']", "0")
    studio.page.fill("dialog input[aria-label='highest in rad/s']", "4")
    studio.page.click("dialog button:has-text('Use it')")
    studio.until("() => impulsar.live().motors[0].value.profile === 'table' && impulsar.settled()")
    values = motor()["values"]
    assert len(values) == 41 and values[20] == pytest.approx(2.0, abs=0.1)
    assert all(b >= a for a, b in pairwise(values))
    studio.page.keyboard.press("Escape")
    studio.page.click("#undo")
    studio.until("() => impulsar.live().motors[0].value.profile === 'formula' && impulsar.settled()")

    studio.pick("body", "coupler")
    studio.page.click("#inspector-body button:text-is('Force')")
    studio.until("() => impulsar.pick()?.kind === 'load' && impulsar.settled()")
    choose("component", "force x")
    choose("force x", "sine")
    studio.until("() => impulsar.live().loads[0].force[0].profile === 'harmonic' && impulsar.settled()")
    studio.type("frequency", "0.5")
    studio.until("() => Math.abs(impulsar.live().loads[0].force[0].omega - Math.PI) < 1e-9 && impulsar.settled()")
    (load,) = studio.get("live")["loads"]
    assert isinstance(load["force"][1], int | float) and load["force"][1] < 0  # the rest of it stays
    assert studio.field("force", 0).input_value() == "sine"

    studio.pick("body", "coupler")
    studio.type("mass", "0.5")
    toast = "[...document.querySelectorAll('.toast')].map((toast) => toast.textContent)"
    studio.until(f"() => {toast}.some((text) => /(added|took away) [\\d.]+ J/.test(text))")
