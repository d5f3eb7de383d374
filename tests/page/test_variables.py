"""Parameters of the model in the page: added, typed, slid while time runs and stands, and followed by values."""

import pytest

from .browser import Studio

LENGTH = "() => impulsar.scene().bodies.find((body) => body.name === 'crank').shapes[0].length"
VARIABLE = "() => impulsar.scene().variables.find((own) => own.name === 'r')?.value"


def typed(studio: Studio, row: str, text: str) -> None:
    """Into a row of the open parameter."""
    field = studio.page.locator(f"#variables [data-row='{row}'] input").first
    field.fill(text)
    field.press("Enter")
    studio.settle()


@pytest.mark.scene("four-bar")
def test_a_crank_follows_a_slider(studio: Studio) -> None:
    """A parameter is added, named, given a range; the crank's length is bound to it and follows, while time runs and
    while it stands; undo takes all of a slide back; a number typed in its place ends it."""
    studio.pause()
    studio.page.click("#add-variable")
    studio.until("() => impulsar.scene().variables.length === 1 && impulsar.settled()")
    typed(studio, "name", "r")
    studio.until(f"{VARIABLE[:-7]} !== undefined && impulsar.settled()")
    typed(studio, "r", "0.1")
    for row, text in (("minimum", "0.05"), ("maximum", "0.15")):
        typed(studio, row, text)
    studio.until("() => impulsar.scene().variables[0].maximum === 0.15 && impulsar.settled()")

    studio.pick("body", "crank")
    studio.type("length", "=r")
    studio.until("() => impulsar.scene().expressions['crank.length'] === 'r' && impulsar.settled()")
    assert studio.field("length").input_value() == "=r"
    assert "bound" in (studio.field("length").get_attribute("class") or "")

    slider = studio.page.locator("#variables input[type=range]")
    slider.focus()
    for _ in range(20):
        slider.press("ArrowRight")
    studio.settle()
    studio.until(f"() => Math.abs(({VARIABLE})() - 0.102) < 1e-9 && impulsar.settled()")  # 20 of 1000 steps
    assert studio.ask(LENGTH) == studio.ask(VARIABLE)
    studio.run()
    slider.press("Home")
    studio.until(f"() => ({LENGTH})() === 0.05 && impulsar.settled()")
    studio.wait_time(0.2)
    studio.pause()
    studio.settle()
    while (slid := studio.ask(VARIABLE)) != 0.1:  # a run of time parts one slide from the next
        studio.page.click("#undo")
        studio.until(f"(slid) => ({VARIABLE})() !== slid && impulsar.settled()", slid)
    assert studio.ask(LENGTH) == 0.1

    typed(studio, "r", "0.3")
    assert "expected one from 0.05 to 0.15" in studio.page.inner_text("#variables .error:not([hidden])")
    studio.page.locator("#variables [data-row='r'] input").press("Escape")
    studio.type("length", "0.12")
    studio.until(f"() => ({LENGTH})() === 0.12 && impulsar.settled()")
    assert studio.ask("() => impulsar.scene().expressions") == {}
    studio.page.click("#variables .details button:has-text('Remove')")
    studio.until("() => impulsar.scene().variables.length === 0 && impulsar.settled()")
