"""Taking hold of a mechanism by mouse, touch and keyboard."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from .browser import Studio
from .test_manipulators import labelled

LINK = "link10"


def tip_pixel(studio: Studio) -> dict[str, float]:
    return studio.get("pixel", LINK, [0, 0, -0.01])


def only_hand(studio: Studio) -> dict[str, Any]:
    studio.until("() => impulsar.live().hands.length === 1 && impulsar.frame().revision === impulsar.live().revision")
    (hand,) = studio.frame()["hands"]
    return hand


def target_leaves(studio: Studio, before: np.ndarray) -> None:
    """Wait until the hand's target is 1 cm from where it was."""
    studio.until(
        "(p) => Math.hypot(...p.map((x, k) => impulsar.frame().hands[0].values[3 + k] - x)) > 0.01", before.tolist()
    )


def body_leaves(studio: Studio, place: list[float], distance: float) -> None:
    """Wait until the link is so far from a place [m]."""
    far = "Math.hypot(...place.map((x, k) => impulsar.frame().poses[name][k] - x)) > distance"
    studio.until(f"([name, place, distance]) => {far}", [LINK, place, distance])


def target_arrives(studio: Studio) -> None:
    """Wait until the hand's target has gone where it was sent: it takes up to 0.05 s of wall time."""
    studio.settle()
    studio.wait_time(0.1)


def test_mouse_pulls_the_last_pendulum(studio: Studio) -> None:
    """The body follows the pointer; the drawn force is k·d + c·ḋ of the positions in the stream to 1 %;
    let go, it swings, and the books close within 1 %."""
    start = studio.position(LINK)
    grip = tip_pixel(studio)
    aim = {"x": grip["x"] + 120, "y": grip["y"] - 60}
    studio.drag(grip, aim, release=False)
    hand = only_hand(studio)
    assert hand["body"] == LINK
    studio.wait_time(1.5)
    held = studio.get("pixel", LINK, hand["at"])
    assert math.hypot(held["x"] - aim["x"], held["y"] - aim["y"]) < 15  # pixels: the spring gives way a little

    studio.page.keyboard.press(" ")  # stop, and step singly while the hand holds on
    studio.until("() => (impulsar.frame().flags & 1) === 1")
    studio.type("step", "0.001")  # fine enough to take rates from differences
    studio.until("() => impulsar.status().dt === 0.001")
    studio.page.locator("#canvas").focus()
    dt, rows = 0.001, []
    for _ in range(8):
        step = studio.frame()["step"]
        studio.page.keyboard.press(".")
        studio.until("(step) => impulsar.frame().step === step + 1", step)
        rows.append(np.array(studio.frame()["hands"][0]["values"]).reshape(3, 3))
    d = [target - point for point, target, _ in rows]
    for k in range(1, len(rows) - 1):
        law = hand["stiffness"] * d[k] + hand["damping"] * (d[k + 1] - d[k - 1]) / (2 * dt)
        assert np.linalg.norm(rows[k][2] - law) <= 0.01 * np.linalg.norm(law)
    labelled(studio, f"hand {hand['name']}", f"{np.linalg.norm(rows[-1][2]):.4g} N")

    studio.page.keyboard.press(" ")
    studio.until("() => !impulsar.status().paused")
    held = studio.position(LINK)
    assert math.dist(held, start) > 0.02
    studio.page.mouse.up()
    studio.until("() => impulsar.live().hands.length === 0")
    body_leaves(studio, held, 0.02)
    assert studio.get("percent") < 1.0


def test_wheel_moves_the_hand_in_depth(studio: Studio) -> None:
    """While a body is held the wheel moves the target along the line of sight and nothing across it."""
    grip = tip_pixel(studio)
    studio.drag(grip, {"x": grip["x"] + 40, "y": grip["y"] - 20}, release=False)
    target_arrives(studio)
    before = np.array(only_hand(studio)["values"][3:6])
    pixel_before = studio.get("pixel", "ground", before.tolist())
    studio.page.mouse.wheel(0, -240)
    target_leaves(studio, before)
    target_arrives(studio)
    after = np.array(only_hand(studio)["values"][3:6])
    pixel_after = studio.get("pixel", "ground", after.tolist())
    assert math.dist(pixel_before.values(), pixel_after.values()) < 1.5
    studio.page.mouse.up()


def test_drag_with_time_stopped(studio: Studio) -> None:
    """With time stopped the same gesture moves the body kinematically: no hand, no time, joints closed."""
    studio.pause()
    time = studio.frame()["time"]
    grip = tip_pixel(studio)
    aim = {"x": grip["x"] + 90, "y": grip["y"] - 70}
    studio.drag(grip, aim)
    studio.until(
        "([x, y]) => { const p = impulsar.pixel('link10', [0, 0, -0.01]); return Math.hypot(p.x - x, p.y - y) < 8; }",
        [aim["x"], aim["y"]],
    )
    assert studio.frame()["time"] == time
    assert studio.get("live")["hands"] == []
    assert studio.frame()["books"]["constraint_error"] < 1e-8


def test_touch_pulls(open_scene: Callable[..., Studio]) -> None:
    """A finger on a body pulls it, one beside it turns the view."""
    studio = open_scene(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    send = studio.finger
    grip, start = tip_pixel(studio), studio.position(LINK)
    send("touchStart", grip)
    for k in range(1, 7):
        send("touchMove", {"x": grip["x"] + 8 * k, "y": grip["y"] - 6 * k})
    hand = only_hand(studio)
    assert hand["body"] == LINK
    body_leaves(studio, start, 0.005)
    target_arrives(studio)
    before = np.array(only_hand(studio)["values"][3:6])
    second = {"x": 60, "y": 500}
    held = {"x": grip["x"] + 48, "y": grip["y"] - 36}
    send("touchStart", held, second)
    send("touchMove", held, {"x": 60, "y": 420})  # the second finger moves in depth
    target_leaves(studio, before)
    send("touchEnd")
    studio.until("() => impulsar.live().hands.length === 0")
    pivot = studio.get("jointPixel", "pivot")
    send("touchStart", {"x": 40, "y": 300})
    for k in range(1, 6):
        send("touchMove", {"x": 40 + 15 * k, "y": 300 + 10 * k})
    send("touchEnd")
    studio.until(
        "(p) => Math.hypot(impulsar.jointPixel('pivot').x - p.x, impulsar.jointPixel('pivot').y - p.y) > 5", pivot
    )
    assert studio.get("live")["hands"] == []


def test_keyboard_pulls(studio: Studio) -> None:
    """Pick by keys, take hold, move by arrows, let go: the body follows as it does the mouse."""
    page = studio.page
    page.locator("#canvas").focus()
    for _ in range(10):
        page.keyboard.press("]")
    assert studio.get("pick")["name"] == LINK
    start = studio.get("pixel", LINK)
    page.keyboard.press("g")
    only_hand(studio)
    for _ in range(4):
        page.keyboard.press("Shift+ArrowRight")
    studio.until("(x) => impulsar.pixel('link10').x > x + 60", start["x"])
    page.keyboard.press("g")
    studio.until("() => impulsar.live().hands.length === 0")
    assert studio.get("percent") < 1.0


@pytest.mark.parametrize("key, control", [(" ", "paused"), (".", "step")])
def test_keys_rule_time(studio: Studio, key: str, control: str) -> None:
    """Space stops and runs time; a full stop makes one step."""
    studio.page.locator("#canvas").focus()
    studio.page.keyboard.press(key)
    studio.until("() => impulsar.status().paused")
    if control == "step":
        studio.settle()  # stopped, and the one step made
        step = studio.frame()["step"]
        studio.page.keyboard.press(".")
        studio.until("(step) => impulsar.frame().step === step + 1", step)
    else:
        studio.page.keyboard.press(key)
        studio.until("() => !impulsar.status().paused")
