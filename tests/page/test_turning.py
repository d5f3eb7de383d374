"""Turning what a hand holds, by mouse and keyboard."""

import math
from typing import Any

import numpy as np

from impulsar.author.rotations import conjugate, multiply, rotation_vectors

from .browser import Studio

LINK = "link10"
PIXELS = 90  # half a degree each
FIRST = 10  # of them


def hand_of(studio: Studio) -> dict[str, Any]:
    studio.until("() => impulsar.live().hands.length === 1 && impulsar.frame().revision === impulsar.live().revision")
    (hand,) = studio.frame()["hands"]
    return hand


def angle(a: list[float], b: list[float]) -> float:
    """Between two orientations [rad]."""
    return float(np.linalg.norm(rotation_vectors(multiply(np.array(a), conjugate(np.array(b))))))


def test_shift_turns_what_the_mouse_pulls(studio: Studio) -> None:
    """A plain pull has no torque. With Shift the hand turns the body by half a degree a pixel and stays where it is;
    without Shift it pulls on, from there; let go, nothing is missing from the books, and one undo undoes it all."""
    mouse, keys = studio.page.mouse, studio.page.keyboard
    grip = studio.get("pixel", LINK, [0, 0, -0.01])
    aim = {"x": grip["x"] + 60, "y": grip["y"] - 40}
    studio.drag(grip, aim, release=False)
    studio.wait_time(1.0)
    plain = hand_of(studio)
    assert plain["angular_stiffness"] == 0 and plain["torque"] == [0, 0, 0]
    keys.down("Shift")
    mouse.move(aim["x"] + FIRST, aim["y"])  # takes the body as it is then, which swings on all the while
    studio.until("() => impulsar.live().hands[0]?.angular_stiffness > 0")
    studio.settle()
    first = hand_of(studio)["aim"]
    for k in range(1, 10):
        mouse.move(aim["x"] + FIRST + (PIXELS - FIRST) / 9 * k, aim["y"])
    studio.settle()
    studio.wait_time(1.0)
    held = hand_of(studio)
    assert math.dist(held["values"][3:6], plain["values"][3:6]) < 1e-6
    assert abs(angle(held["aim"], first) - (PIXELS - FIRST) * math.pi / 360) < 1e-3
    assert np.linalg.norm(held["torque"]) > 0
    studio.until("(key) => impulsar.label(key)?.endsWith('N m')", f"hand {held['name']}")
    body = studio.frame()["poses"][LINK][3:]
    assert angle(body, held["aim"]) < angle(first, held["aim"])
    keys.up("Shift")
    mouse.move(aim["x"] + PIXELS + 30, aim["y"])
    studio.settle()
    studio.wait_time(0.3)
    pulled = hand_of(studio)
    pixel = studio.get("worldPixel", pulled["values"][3:6])
    assert math.hypot(pixel["x"] - aim["x"] - 30, pixel["y"] - aim["y"]) < 2
    assert angle(pulled["aim"], held["aim"]) < 1e-5
    mouse.up()
    studio.until("() => impulsar.live().hands.length === 0")
    assert studio.get("percent") < 1.0
    before = studio.frame()["time"]
    keys.press("Control+z")
    studio.until("(before) => impulsar.frame().time < before - 1.0", before)
    assert studio.get("live")["hands"] == []


def test_keys_turn_what_they_hold(studio: Studio) -> None:
    """Q and E turn the body about the line of sight by 5 degrees each."""
    page = studio.page
    page.locator("#canvas").focus()
    for _ in range(10):
        page.keyboard.press("]")
    page.keyboard.press("g")
    hand_of(studio)
    page.keyboard.press("e")
    studio.until("() => impulsar.live().hands[0]?.angular_stiffness > 0")
    studio.settle()
    studio.wait_time(0.3)
    first = hand_of(studio)["aim"]
    for _ in range(3):
        page.keyboard.press("q")
    studio.settle()
    studio.wait_time(0.3)
    second = hand_of(studio)["aim"]
    assert abs(angle(second, first) - math.radians(15)) < 1e-3
    turn = rotation_vectors(multiply(np.array(second), conjugate(np.array(first))))
    assert turn @ np.array(studio.get("view")["sight"]) < 0  # to the left, as one looks
    page.keyboard.press("g")
    studio.until("() => impulsar.live().hands.length === 0")
