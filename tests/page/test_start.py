"""The first minute: a studio without a scene shows all of them; what joints and motors carry is seen from the front."""

from collections.abc import Callable

import numpy as np

from .browser import Server, Studio

DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def test_a_studio_without_a_scene_begins_with_all_of_them(open_page: Callable[..., Studio]) -> None:
    server = Server()
    try:
        studio = open_page(server.link)
        studio.until("() => document.querySelector('dialog .gallery') && impulsar.status().choosing")
        assert studio.page.locator("dialog .gallery form").first.locator("button").text_content() == "New"
        studio.page.click("button[aria-label='Open jansen-leg']")
        studio.until("() => impulsar.status().scene === 'jansen-leg' && !impulsar.status().choosing")
        studio.until("() => document.querySelector('dialog') === null && impulsar.settled()")
        again = open_page(server.link)  # who comes later sees what was chosen
        again.until("() => impulsar.status().scene === 'jansen-leg' && impulsar.drawn() > 2")
        assert again.page.locator("dialog").count() == 0
        forces_from_the_front(studio)
    finally:
        server.stop()


def forces_from_the_front(studio: Studio) -> None:
    """The motor's torque is an arc of its own size; a joint under the pointer tells force and moment."""
    studio.page.click("#forces")
    studio.until("() => impulsar.arrows('motors').length === 1")
    studio.pause()
    studio.settle()
    torque = np.array(studio.get("arrows", "motors")[0]["vector"])
    assert np.abs(torque[[0, 2]]).max() < 1e-6 * abs(torque[1])  # about the axis that one looks along
    assert "arc of" in studio.page.locator("#scale .torque").text_content()
    joint = studio.get("scene")["joints"][2]["name"]
    pixel = studio.get("jointPixel", joint)
    studio.page.mouse.move(pixel["x"] - 3, pixel["y"])
    studio.page.mouse.move(pixel["x"], pixel["y"])
    text = studio.until("() => /F ≈? ?[0-9]/.test(impulsar.label('hovering')) && impulsar.label('hovering')")
    named = text.split(": ")[0]
    k = [entry["name"] for entry in studio.get("scene")["joints"]].index(named)  # two hinges may share the place
    force = studio.get("arrows", "reactions")[k]["vector"]
    told = float(text.split("F ")[1].removeprefix("≈ ").split(" N")[0].replace("·10⁻", "e-").translate(DIGITS))
    np.testing.assert_allclose(told, np.linalg.norm(force), rtol=1e-3)
    studio.page.mouse.move(pixel["x"] + 200, pixel["y"] + 150)
    studio.until("() => impulsar.label('hovering') === null")
