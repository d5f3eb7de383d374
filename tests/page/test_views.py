"""How the mechanism is seen: views, framing, what is shown, forces as arrows, and what a picture costs."""

import statistics
from collections.abc import Callable

import numpy as np
import pytest

from .browser import Server, Studio


def sight(studio: Studio) -> np.ndarray:
    return np.array(studio.get("view")["sight"])


def test_a_planar_mechanism_opens_from_the_front_and_turns_by_keys_and_cube(studio: Studio) -> None:
    assert not studio.get("view")["planar"]  # ten pendula hang from a ball
    studio.fresh("four-bar")
    studio.pause()
    view = studio.get("view")
    assert view["planar"] and view["orthographic"]
    np.testing.assert_allclose(view["sight"], (0, 0, -1), atol=1e-6)
    studio.page.focus("#canvas")
    for key, direction in (("3", (0, -1, 0)), ("2", (-1, 0, 0)), ("1", (0, 0, -1))):
        studio.page.keyboard.press(key)
        np.testing.assert_allclose(sight(studio), direction, atol=2e-4)
    studio.page.keyboard.press("ArrowRight")
    turned = sight(studio)
    assert 0.05 < np.linalg.norm(turned - (0, 0, -1)) < 0.2
    studio.page.keyboard.press("5")
    assert not studio.get("view")["orthographic"]
    np.testing.assert_allclose(sight(studio), turned, atol=1e-6)
    studio.page.click("#view-cube button[data-view=isometric]")
    assert np.abs(sight(studio)).min() > 0.2
    studio.page.click("#view-cube button[data-view=top]")
    np.testing.assert_allclose(sight(studio), (0, -1, 0), atol=2e-4)


def test_the_whole_sweep_is_in_the_first_picture(studio: Studio) -> None:
    """Five links fall from the horizontal: their tip is never outside of what is seen first."""
    studio.fresh("five-link", keep_view=False)
    studio.until("() => impulsar.sweep()?.topology === impulsar.scene().topology")
    box = studio.page.locator("#canvas").bounding_box()
    assert box is not None
    for _ in range(8):
        studio.wait_time(0.1)
        tip = studio.get("pixel", "link5", [0, 0, -0.025])
        assert box["x"] < tip["x"] < box["x"] + box["width"]
        assert box["y"] < tip["y"] < box["y"] + box["height"]


def test_a_car_is_followed_until_another_scene_comes(studio: Studio) -> None:
    """It drives 8 m and stays in the middle of the picture; the button tells it."""
    studio.fresh("bicycle-model", keep_view=False)
    studio.until("() => impulsar.sweep()?.topology === impulsar.scene().topology")
    button = studio.page.locator("#follow")
    assert studio.get("sweep")["follow"] == "chassis" and button.get_attribute("aria-pressed") == "true"
    studio.until("() => impulsar.frame().poses.chassis[0] > 8")
    studio.pause()
    box = studio.page.locator("#canvas").bounding_box()
    assert box is not None
    middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, 0.25 * box["height"]]
    near = "([x, y, most]) => { const p = impulsar.pixel('chassis'); return Math.hypot(p.x - x, p.y - y) < most; }"
    studio.until(near, middle)  # when it is drawn where it stopped
    studio.fresh("four-bar", keep_view=False)
    studio.until("() => impulsar.sweep()?.topology === impulsar.scene().topology")
    assert button.get_attribute("aria-pressed") == "false"


@pytest.mark.scene("four-bar")
def test_forces_are_drawn_as_the_session_has_them(studio: Studio) -> None:
    studio.wait_time(0.2)
    studio.pause()
    studio.page.click("#forces")
    studio.until("() => impulsar.arrows('reactions').length === 4")
    weights = studio.get("arrows", "weights")
    masses = {body["name"]: body["mass"] for body in studio.get("scene")["bodies"]}
    for body, arrow in zip(masses, weights, strict=True):
        np.testing.assert_allclose(arrow["vector"], (0, -9.81 * masses[body], 0), rtol=1e-6)
        np.testing.assert_allclose(arrow["at"], studio.position(body), atol=1e-6)
    # Newton's law of the crank: its weight, what the ground does to it, and less what it does to the coupler
    ground, pin = (np.array(arrow["vector"]) for arrow in studio.get("arrows", "reactions")[:2])
    studio.page.click("#show-button")
    studio.page.click("text=Accelerations")
    studio.until("() => impulsar.arrows('accelerations').length === 3")
    acceleration = np.array(studio.get("arrows", "accelerations")[0]["vector"])
    total = ground - pin + np.array(weights[0]["vector"])
    np.testing.assert_allclose(total, masses["crank"] * acceleration, rtol=0.05, atol=0.05 * np.abs(total).max())
    assert studio.page.locator("#scale span").count() == 2  # forces and accelerations, each with its scale
    studio.page.keyboard.press("Escape")
    studio.page.click("#forces")
    studio.until("() => impulsar.arrows('reactions').length === 0")


def test_pins_are_those_of_the_scene_that_is_there(open_scene: Callable[..., Studio]) -> None:
    """Motors are drawn before the mechanism is: after a scene of 3 m, pins of one of 0.5 m were as thick as of that."""
    studio = open_scene("n-four-bar")
    large = studio.get("scene")["size"]
    studio.fresh("six-bar")
    size = studio.get("scene")["size"]
    assert size < 0.5 * large
    assert studio.get("view")["pin"] == pytest.approx(0.016 * size)


@pytest.mark.scene("slider-crank")
def test_onion_skin_and_hidden_parts(studio: Studio) -> None:
    studio.page.click("#show-button")
    studio.page.click("text=Onion skin")
    studio.page.click("text=Names")
    studio.page.keyboard.press("Escape")
    studio.until("() => impulsar.ghosts() > 3")
    studio.until("() => impulsar.label('name body rod') === 'rod'")
    studio.pause()
    studio.pick("body", "rod")
    studio.page.focus("#canvas")
    studio.page.keyboard.press("h")
    pixel = studio.get("pixel", "rod")
    studio.page.mouse.click(pixel["x"], pixel["y"])
    studio.until("() => impulsar.pick()?.name !== 'rod'")
    studio.page.focus("#canvas")
    studio.page.keyboard.press("Shift+H")
    studio.page.mouse.click(pixel["x"], pixel["y"])
    studio.until("() => impulsar.pick()?.name === 'rod'")


@pytest.mark.timed
def test_a_picture_of_500_bodies_takes_the_page_at_most_four_milliseconds(
    open_page: Callable[..., Studio], capsys: pytest.CaptureFixture
) -> None:
    """Of its own script, from the poses to the last call of WebGL; the drawing itself is the graphics processor's."""
    server = Server("chain", "--set", "n=500", "--dt", "0.01")
    try:
        studio = open_page(server.link)
        times = []
        for _ in range(60):
            studio.until("(before) => impulsar.drawn() > before", studio.get("drawn"))
            times.append(studio.get("scripted"))
    finally:
        server.stop()
    with capsys.disabled():
        print(f"script of a picture of 500 bodies: median {statistics.median(times):.1f} ms")
    assert statistics.median(times) <= 4.0
