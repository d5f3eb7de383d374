"""Driving a mechanism by gamepad or joystick: its axes are motors' speeds, its button a hand."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from .browser import Studio

DEAD = 0.12  # dead zone of a gamepad that nobody has mapped

PAD = """
window.pad = { id: "stick", index: 0, connected: true, mapping: "standard", timestamp: 0, axes: [0, 0, 0, 0],
  buttons: Array.from({ length: 4 }, () => ({ pressed: false, touched: false, value: 0 })) };
window.plug = (on) => {
  pad.connected = on;
  const event = new Event(on ? "gamepadconnected" : "gamepaddisconnected");
  event.gamepad = pad;
  dispatchEvent(event);
};
navigator.getGamepads = () => [pad.connected ? pad : null];
pad.connected = false;
window.goal = (motor) => motor.value?.values?.at(-1); // the speed that it is brought to
Document.prototype.hasFocus = () => true; // of several pages that tests have open one has it
"""


def plugged(studio: Studio) -> Studio:
    """The page with a gamepad plugged in, which it did not know of before."""
    assert studio.get("pad") is None
    studio.ask("() => plug(true)")
    studio.until("() => impulsar.pad() !== null")
    return studio


@pytest.fixture
def manipulator(open_scene: Callable[..., Studio]) -> Studio:
    return plugged(open_scene("manipulator", script=PAD))


@pytest.fixture
def four_bar(open_scene: Callable[..., Studio]) -> Studio:
    return plugged(open_scene("four-bar", script=PAD))


def steer(studio: Studio, *axes: float) -> None:
    studio.ask("(axes) => axes.forEach((value, k) => { pad.axes[k] = value; })", list(axes))


def motor(studio: Studio, joint: str) -> dict[str, Any]:
    return next(one for one in studio.get("live")["motors"] if one["joint"] == joint)


def test_axes_drive_motors(manipulator: Studio) -> None:
    """At its stop an axis gives the joint the speed it is mapped to; within the dead zone it stands still."""
    studio = manipulator
    choice = studio.page.locator("#pads [data-axis='0'] select")
    choice.select_option(label="yaw")
    speed = studio.page.locator("#pads [data-axis='0'] input")
    speed.fill("0.5")
    speed.press("Enter")
    assert motor(studio, "yaw")["quantity"] == "position"  # an axis at rest leaves motors alone
    steer(studio, 1.0)
    studio.until(
        "() => impulsar.live().motors.some((m) => m.joint === 'yaw' && m.quantity === 'speed' && goal(m) === 0.5)"
    )
    studio.wait_time(0.2)
    turn = "() => (({ time, poses }) => [time, 2 * Math.atan2(poses.base[5], poses.base[6])])(impulsar.frame())"
    time, angle = studio.ask(turn)
    studio.wait_time(0.3)
    later, turned = studio.ask(turn)
    assert turned - angle == pytest.approx(0.5 * (later - time), rel=1e-3)
    steer(studio, 0.1)
    studio.until("() => impulsar.live().motors.some((m) => m.joint === 'yaw' && goal(m) === 0)")
    studio.page.click("#pads [data-axis='0'] button")
    steer(studio, 1.0)
    studio.until("() => impulsar.live().motors.some((m) => m.joint === 'yaw' && goal(m) === -0.5)")


LOSSES = {
    "unplugged": "() => plug(false)",
    "gone without a word": "() => { pad.connected = false; }",
    "page left": "() => { Document.prototype.hasFocus = () => false; dispatchEvent(new Event('blur')); }",
}


@pytest.mark.parametrize("loss", LOSSES)
def test_what_it_drives_stands_still_when_it_goes(four_bar: Studio, loss: str) -> None:
    """In mid-drive and mid-pull: motors stop, the hand lets go, and time runs on."""
    studio = four_bar
    studio.page.click("#pads .rest button")  # all axes, in order
    studio.pick("body", "rocker")
    steer(studio, -1.0)
    studio.ask("() => { pad.buttons[0].pressed = true; }")
    studio.until("() => impulsar.live().motors.some((m) => m.joint === 'O' && goal(m) === -1)")
    studio.until("() => impulsar.live().hands.length === 1 && impulsar.live().hands[0].body === 'rocker'")
    studio.ask(LOSSES[loss])
    studio.until("() => impulsar.live().hands.length === 0")
    studio.until("() => impulsar.live().motors.some((m) => m.joint === 'O' && goal(m) === 0)")
    studio.wait_time(0.1)
    if loss != "page left":
        studio.until("() => impulsar.pad() === null")
        assert not studio.page.locator("#pads").is_visible()


def test_axes_move_the_hand(four_bar: Studio) -> None:
    """The button holds what is picked; an axis moves its target at the speed it is mapped to."""
    studio = four_bar
    studio.page.locator("#pads [data-axis='1'] select").select_option(label="hand up")
    speed = studio.page.locator("#pads [data-axis='1'] input")
    speed.fill("0.1")
    speed.press("Enter")
    studio.pick("body", "rocker")
    studio.ask("() => { pad.buttons[0].pressed = true; }")
    studio.until("() => impulsar.live().hands.length === 1 && impulsar.frame().revision === impulsar.live().revision")
    before = studio.frame()["hands"][0]["values"][3:6]
    steer(studio, 0.0, 1.0)
    studio.until("(p) => Math.hypot(...p.map((x, k) => impulsar.frame().hands[0].values[3 + k] - x)) > 0.05", before)
    studio.ask("() => { pad.buttons[0].pressed = false; }")
    studio.until("() => impulsar.live().hands.length === 0")


def test_operator_drives_the_arm_up_to_its_limit(manipulator: Studio) -> None:
    """To and fro at full deflection time goes on; kept there, the joint stands before its limit of 2.8 rad."""
    studio = manipulator
    studio.page.select_option("#speed", "0.5")  # the page brakes, in 0.4 s: no frame may come later
    studio.page.click("#pads .rest button")
    for value in (-1.0, 1.0, -0.5, 1.0):
        steer(studio, 0.0, value)
        speed = math.copysign(((abs(value) - DEAD) / (1 - DEAD)) ** 2, value)
        studio.until(
            "(v) => impulsar.live().motors.some((m) => m.joint === 'shoulder' && Math.abs(goal(m) - v) < 1e-3)", speed
        )
        studio.wait_time(0.2)
    angle = """() => {
      const [base, arm] = ["base", "upper arm"].map((name) => impulsar.frame().poses[name].slice(3));
      return 2 * Math.acos(Math.abs(base.reduce((sum, x, k) => sum + x * arm[k], 0)));
    }"""
    seen = [studio.ask(angle), 0.0]
    while abs(seen[-1] - seen[-2]) > 1e-3 and len(seen) < 100:  # until it stands
        studio.wait_time(0.1)
        seen.append(studio.ask(angle))
    assert 2.6 < seen[-1] < 2.8, seen
