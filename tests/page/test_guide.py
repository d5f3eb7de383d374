"""The first minute: what a browser that comes here for the first time is led through."""

from collections.abc import Callable

from .browser import Server, Studio

NEW = "localStorage.removeItem('impulsar.guide');"


def at(studio: Studio, step: int) -> None:
    studio.until("(step) => impulsar.guide() === step", step)


def test_each_step_goes_on_when_it_is_done(open_scene: Callable[..., Studio]) -> None:
    """Pull, stop, drag, undo, pick; then it is done for good. The ring is about the body that it asks to pull."""
    studio = open_scene(script=NEW)
    at(studio, 1)
    box = studio.until("() => document.querySelector('#guide-ring').getBoundingClientRect().toJSON()")
    grip = studio.get("pixel", "link10")
    assert abs(box["x"] + box["width"] / 2 - grip["x"]) < 4 and abs(box["y"] + box["height"] / 2 - grip["y"]) < 4
    aside = {"x": grip["x"] + 60, "y": grip["y"] - 20}
    studio.drag(grip, aside, release=False)
    at(studio, 2)
    studio.page.mouse.up()
    studio.page.keyboard.press("Space")
    at(studio, 3)
    studio.pause()
    grip = studio.get("pixel", "link10")
    studio.drag(grip, {"x": grip["x"] - 60, "y": grip["y"] - 20})
    at(studio, 4)
    studio.settle()
    studio.page.keyboard.press("Control+z")
    at(studio, 5)
    studio.pick("joint", "hinge5")
    at(studio, 6)
    studio.page.click("#guide button")
    at(studio, 0)
    assert studio.ask("() => localStorage.getItem('impulsar.guide')") == '"done"'


def test_it_is_skipped_and_comes_again_by_the_help(open_scene: Callable[..., Studio]) -> None:
    """It covers nothing that is pressed, but for its own button, which a finger finds."""
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    studio = open_scene(script=NEW, **phone)
    at(studio, 1)
    assert studio.ask("() => document.querySelector('#guide button').getBoundingClientRect().height") >= 44
    under = studio.ask(
        "() => { const box = document.querySelector('#guide b').getBoundingClientRect();"
        " return document.elementFromPoint(box.x + 2, box.y + 2).id; }"
    )
    assert under == "canvas"
    studio.page.click("#guide button")
    at(studio, 0)
    studio.page.click("#help")
    studio.page.click("dialog button:text('The first minute')")
    at(studio, 1)


def test_nothing_is_asked_of_an_empty_scene(nothing: Server, open_page: Callable[..., Studio]) -> None:
    """There is nothing to pull."""
    studio = open_page(nothing.begin("empty", runs=False), script=NEW)
    studio.until("() => impulsar.settled() && impulsar.tool() === 'link'")
    assert studio.get("guide") == 0
