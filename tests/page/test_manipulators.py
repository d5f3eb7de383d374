"""Force, torque and motion as icons: what the icon says is what the world gets (Wang 2011 §5.1)."""

import math
from typing import Any

import numpy as np
import pytest

from .browser import Studio

BODY = "link5"


def shown(studio: Studio, row: str) -> list[float]:
    """The numbers that stand in a row of the inspector."""
    return [
        float(text)
        for text in studio.page.locator(f"#inspector-body [data-row='{row}'] input").evaluate_all(
            "(inputs) => inputs.map((input) => input.value)"
        )
    ]


def load(studio: Studio, name: str) -> dict[str, Any]:
    """The load as the session has it, and its values now in the frame."""
    studio.until(
        "(name) => impulsar.live().loads.some((load) => load.name === name)"
        " && impulsar.frame().revision === impulsar.live().revision",
        name,
    )
    return next(entry for entry in studio.frame()["loads"] if entry["name"] == name)


def settled(studio: Studio, name: str, row: str) -> dict[str, Any]:
    """The load once the session has all that the icon said; the inspector shows the same."""
    studio.settle()
    found = load(studio, name)
    studio.until(
        "([row, values]) => [...document.querySelectorAll(`#inspector-body [data-row='${row}'] input`)]"
        ".every((input, k) => Number(input.value) === values[k])",
        [row, found[row]],
    )
    return found


def labelled(studio: Studio, key: str, text: str) -> None:
    """Wait for a label of the picture, which comes with the next one."""
    studio.until("([key, text]) => impulsar.label(key) === text", [key, text])


@pytest.fixture(params=["push", "drag"])
def force(request: pytest.FixtureRequest, studio: Studio) -> tuple[Studio, str]:
    """A force placed with the mouse, its head or its tail on the body."""
    studio.pause()
    studio.tool("force")
    studio.page.select_option("#hint select", request.param)
    grip = studio.get("pixel", BODY)
    studio.drag(grip, {"x": grip["x"] + 70, "y": grip["y"] + 30})
    studio.until("() => impulsar.pick()?.kind === 'load'")
    return studio, request.param


def test_force_arrow(force: tuple[Studio, str]) -> None:
    """Place, aim, scale: the world has exactly the shown numbers, along the arrow, in proportion to its length."""
    studio, mode = force
    name = studio.get("pick")["name"]
    first = settled(studio, name, "force")
    assert first["body"] == BODY
    assert first["force"] == shown(studio, "force")
    np.testing.assert_array_equal(np.float32(first["force"]), np.float32(first["values"][:3]))
    labelled(studio, f"load {name} f", f"{math.hypot(*first['force']):.4g} N")

    handle, foot = studio.get("handles", name)["force"], studio.get("pixel", BODY, first["at"])
    arm = np.array([handle["x"] - foot["x"], handle["y"] - foot["y"]])
    studio.drag(handle, {"x": foot["x"] + 2 * arm[0], "y": foot["y"] + 2 * arm[1]})  # twice as long
    studio.until(
        "([name, x]) => impulsar.live().loads.find((load) => load.name === name).force[1] !== x",
        [name, first["force"][1]],
    )
    second = settled(studio, name, "force")
    assert math.hypot(*second["force"]) == pytest.approx(2 * math.hypot(*first["force"]), rel=0.03)  # pixels are whole
    assert np.dot(second["force"], first["force"]) > 0

    # the arrow's free end is where the pointer left it; the force points to it (drag) or away from it (push)
    unit = np.array(second["force"]) / math.hypot(*second["force"])
    ahead = studio.get("pixel", "ground", (np.array(studio.position(BODY)) + 0.05 * unit).tolist())
    middle = studio.get("pixel", BODY)
    along = np.array([ahead["x"] - middle["x"], ahead["y"] - middle["y"]])
    assert np.dot(along, arm) * (1 if mode == "drag" else -1) > 0.99 * np.linalg.norm(along) * np.linalg.norm(arm)


def test_force_typed_switched_and_removed(studio: Studio) -> None:
    """Exact values may be typed; off takes the force away and on brings the same back; the law is m·a = f."""
    studio.pick("body", BODY)
    studio.page.click("#inspector-body .actions button:has-text('Force')")
    studio.until("() => impulsar.pick()?.kind === 'load'")
    name = studio.get("pick")["name"]
    for index, value in enumerate(("0.1234567", "-0.25", "1e-3")):
        studio.type("force", value, index)
    exact = [0.1234567, -0.25, 0.001]
    studio.until(
        "([name, exact]) => impulsar.live().loads.find((load) => load.name === name)"
        "?.force.every((value, k) => value === exact[k])",
        [name, exact],
    )
    assert load(studio, name)["force"] == exact

    studio.page.click("#inspector-body button:has-text('Switch off')")
    studio.until("() => impulsar.live().loads.length === 0")
    assert shown(studio, "force") == exact
    studio.page.click("#inspector-body button:has-text('Switch on')")
    assert load(studio, name)["force"] == exact
    studio.page.click("#inspector-body button:has-text('Remove')")
    studio.until("() => impulsar.live().loads.length === 0 && impulsar.pick() === null")


def test_torque_arc(studio: Studio) -> None:
    """Its radius is the torque: twice as wide is twice as strong; its axis is the torque's axis."""
    studio.pause()
    studio.tool("torque")
    grip = studio.get("pixel", BODY)
    studio.drag(grip, {"x": grip["x"] + 45, "y": grip["y"]})
    studio.until("() => impulsar.pick()?.kind === 'load'")
    name = studio.get("pick")["name"]
    first = settled(studio, name, "torque")
    assert np.count_nonzero(first["torque"]) == 1  # about the world axis that faces the viewer
    assert first["force"] == [0, 0, 0]
    np.testing.assert_array_equal(np.float32(first["torque"]), np.float32(first["values"][3:]))
    labelled(studio, f"load {name} t", f"{math.hypot(*first['torque']):.4g} N m")

    rim, foot = studio.get("handles", name)["rim"], studio.get("pixel", BODY, first["at"])
    studio.drag(rim, {"x": 2 * rim["x"] - foot["x"], "y": 2 * rim["y"] - foot["y"]})
    studio.until(
        "([name, size]) => Math.hypot(...impulsar.live().loads.find((load) => load.name === name).torque) > 1.5 * size",
        [name, math.hypot(*first["torque"])],
    )
    second = settled(studio, name, "torque")
    assert math.hypot(*second["torque"]) == pytest.approx(2 * math.hypot(*first["torque"]), rel=0.05)

    axis = studio.get("handles", name)["axis"]
    studio.drag(axis, {"x": axis["x"] + 60, "y": axis["y"] + 40})
    studio.until(
        "(name) => impulsar.live().loads.find((load) => load.name === name)"
        ".torque.filter((item) => item !== 0).length > 1",
        name,
    )
    third = settled(studio, name, "torque")
    assert math.hypot(*third["torque"]) == pytest.approx(math.hypot(*second["torque"]), rel=1e-3)


def test_motion_sphere_drives_a_joint(studio: Studio) -> None:
    """The sphere at a hinge sets the motor's speed, which the joint then has; by position likewise."""
    studio.page.select_option("#speed", "0.1")
    studio.tool("motion")
    joint = "hinge5"
    pixel = studio.get("jointPixel", joint)
    studio.page.mouse.click(pixel["x"], pixel["y"])
    studio.until("(name) => impulsar.live().motors.some((motor) => motor.joint === name)", joint)
    studio.until("(name) => impulsar.motionPixel(name) !== null", joint)
    ball, foot = studio.get("motionPixel", joint), studio.get("jointPixel", joint)
    arm = (ball["x"] - foot["x"], ball["y"] - foot["y"])
    turn = 0.5
    aim = {
        "x": foot["x"] + arm[0] * math.cos(turn) - arm[1] * math.sin(turn),
        "y": foot["y"] + arm[0] * math.sin(turn) + arm[1] * math.cos(turn),
    }
    studio.drag(ball, aim)
    studio.until("(name) => Math.abs(impulsar.live().motors.find((motor) => motor.joint === name).value) > 0.5", joint)
    studio.settle()
    motor = next(entry for entry in studio.get("live")["motors"] if entry["joint"] == joint)
    assert motor["quantity"] == "speed"
    labelled(studio, f"motion {joint} angle", f"{motor['value']:.4g} rad/s".replace("-", "−"))
    assert float(studio.field("value").input_value()) == motor["value"]
    studio.until(
        "([name, value]) => Math.abs(impulsar.signal(`coordinate.${name}.velocity`) - value) < 1e-3 * Math.abs(value)",
        [joint, motor["value"]],
    )

    studio.page.select_option("#inspector-body [data-row='drives'] select", "position")
    studio.until(
        "(name) => impulsar.live().motors.find((motor) => motor.joint === name).quantity === 'position'", joint
    )
    held = next(entry for entry in studio.get("live")["motors"] if entry["joint"] == joint)["value"]
    studio.type("value", str(held + 0.05))
    studio.until(
        "([name, value]) => Math.abs(impulsar.signal(`coordinate.${name}.position`) - value) < 1e-4",
        [joint, held + 0.05],
    )
    studio.page.click("#inspector-body fieldset button:has-text('Remove')")
    studio.until("() => impulsar.live().motors.length === 0")
    studio.page.select_option("#speed", "1")
