"""Paths by speed, whole turns, and what a scene is about."""

import numpy as np
import pytest

from .browser import Studio


@pytest.mark.scene("peaucellier")
def test_peaucelliers_line_is_drawn_and_its_deviation_told(studio: Studio) -> None:
    studio.until("() => impulsar.about().text.includes('nm') && impulsar.about().drawn === 1")
    text = studio.get("about")["text"]
    assert "x = 0.2625 m" in text and "off by" in text
    studio.wait_time(0.6)
    studio.pause()
    studio.settle()
    key = "probe path D"
    found, path = studio.get("traceSpeeds", key), np.reshape(studio.get("tracePath", key), (-1, 2, 3))
    lengths = np.linalg.norm(path[:, 1] - path[:, 0], axis=1)
    dt = studio.get("status")["dt"]
    np.testing.assert_allclose(found["speeds"], lengths / dt, rtol=1e-3, atol=1e-6)
    assert max(found["speeds"]) <= found["fastest"] <= 5 * max(found["speeds"])
    assert studio.page.is_visible("#speeds")

    studio.page.click("#show-button")
    studio.page.click("text=Whole turn of the paths")
    turn = studio.until("() => impulsar.turn()")
    whole = np.reshape(turn["paths"][0], (-1, 3))
    np.testing.assert_allclose(whole[:, 0], 0.2625, atol=1e-8)
    assert whole[:, 1].min() < path[..., 1].min() and whole[:, 1].max() > path[..., 1].max()

    studio.page.click("#show-button")
    studio.page.click("text=What it is about")
    studio.until("() => document.querySelector('#about').hidden")
    studio.page.click("text=What it is about")
    studio.until("() => !document.querySelector('#about').hidden")
    studio.page.keyboard.press("Escape")

    studio.fresh("slider-crank")
    studio.until("() => impulsar.about().drawn === 2")  # piston and cylinder
    assert not studio.page.is_visible("#speeds")
    studio.fresh("ten-pendula")
    studio.until("() => document.querySelector('#about').hidden && impulsar.about().drawn === 0")
