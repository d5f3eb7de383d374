"""Manipulators and inspector by the keyboard alone: what is shown is what the world gets."""

import math
import time

import numpy as np
import pytest

from impulsar.studio.gestures import TOGETHER

from .browser import Studio
from .test_inspector import feature, joint, stiffness
from .test_manipulators import BODY, load, settled, shown


@pytest.fixture
def keys(studio: Studio) -> Studio:
    """The ten pendula with time stopped, and the focus on the picture."""
    studio.page.locator("#canvas").focus()
    studio.page.keyboard.press(" ")
    studio.until("() => impulsar.status().paused")
    return studio


def press(studio: Studio, *names: str) -> None:
    for name in names:
        studio.page.keyboard.press(name)


def walk_to(studio: Studio, kind: str, name: str) -> None:
    """Pick a part by going through the list."""
    for _ in range(60):
        press(studio, "]")
        pick = studio.get("pick")
        if (pick["kind"], pick["name"]) == (kind, name):
            return
    raise AssertionError(f"no {kind} {name!r} comes up")


def tab_to(studio: Studio, label: str) -> None:
    """Go on by Tab to the control of a label."""
    for _ in range(60):
        found = studio.ask("() => document.activeElement.ariaLabel ?? document.activeElement.textContent")
        if found == label:
            return
        press(studio, "Tab")
    raise AssertionError(f"Tab never comes to {label!r}")


def write(studio: Studio, label: str, text: str) -> None:
    press(studio, "Enter")
    tab_to(studio, label)
    press(studio, "Control+a")
    studio.page.keyboard.type(text)
    press(studio, "Enter", "Escape")  # send, and back to the picture
    studio.settle()


def undo_all(studio: Studio) -> None:
    """Every edit, but not the opening of the scene."""
    while not studio.get("status")["undo"].startswith("Open "):
        press(studio, "Control+z")
        studio.settle()


def test_force_arrow(keys: Studio) -> None:
    """Put on the picked body, aimed by arrows, scaled by +, typed from field to field without waiting, undone."""
    before = keys.get("hash")
    walk_to(keys, "body", BODY)
    press(keys, "f", "Enter")
    keys.until("() => impulsar.pick()?.kind === 'load'")
    name = keys.get("pick")["name"]
    first = settled(keys, name, "force")
    assert first["body"] == BODY
    assert first["force"] == shown(keys, "force")
    handle = keys.get("handles", name)["force"]
    press(keys, "Shift+ArrowRight", "Shift+ArrowRight", "ArrowUp")  # 120 pixels and 12
    second = settled(keys, name, "force")
    keys.until("([name, x]) => Math.abs(impulsar.handles(name).force.x - x - 120) < 6", [name, handle["x"]])
    assert second["force"] == shown(keys, "force")
    np.testing.assert_array_equal(np.float32(second["force"]), np.float32(second["values"][:3]))
    press(keys, "+", "+")
    third = settled(keys, name, "force")
    size = math.hypot(*third["force"])
    assert third["force"] == pytest.approx(list(1.21 * np.array(second["force"])), abs=1e-3 * size)  # shown to 4 digits

    press(keys, "Enter", "Control+a")
    for text, key in (("0.1234567", "Tab"), ("-0.25", "Tab"), ("1e-3", "Enter")):
        keys.page.keyboard.type(text)
        press(keys, key)
    keys.settle()
    assert load(keys, name)["force"] == [0.1234567, -0.25, 0.001]
    press(keys, "Escape")
    undo_all(keys)
    assert keys.get("live")["loads"] == []
    assert keys.get("hash") == before


def test_torque_arc(keys: Studio) -> None:
    """Put on the picked body, tilted by arrows at the same size, scaled by −, typed."""
    walk_to(keys, "body", BODY)
    press(keys, "t", "Enter")
    keys.until("() => impulsar.pick()?.kind === 'load'")
    name = keys.get("pick")["name"]
    first = settled(keys, name, "torque")
    assert np.count_nonzero(first["torque"]) == 1  # about the world axis that faces the viewer
    press(keys, "Shift+ArrowUp", "ArrowRight")
    second = settled(keys, name, "torque")
    assert np.count_nonzero(second["torque"]) > 1
    assert math.hypot(*second["torque"]) == pytest.approx(math.hypot(*first["torque"]), rel=1e-3)
    press(keys, "-")
    third = settled(keys, name, "torque")
    assert third["torque"] == shown(keys, "torque")
    size = math.hypot(*third["torque"])
    assert third["torque"] == pytest.approx(list(np.array(second["torque"]) / 1.1), abs=1e-3 * size)
    np.testing.assert_array_equal(np.float32(third["torque"]), np.float32(third["values"][3:]))
    time.sleep(1.1 * TOGETHER)  # so that typing is a gesture of its own
    write(keys, "torque y in N m", "0.0123456")
    assert load(keys, name)["torque"] == [third["torque"][0], 0.0123456, third["torque"][2]]
    press(keys, "Control+z")
    keys.settle()
    assert load(keys, name)["torque"] == third["torque"]


def test_motion_sphere(keys: Studio) -> None:
    """Put at the picked hinge, turned by arrows, typed, switched off and on; the hinge has the speed that is shown."""
    walk_to(keys, "joint", "hinge5")
    press(keys, "m", "Enter")
    keys.until("() => impulsar.live().motors.length === 1")
    keys.settle()
    for key, sign in (("ArrowUp", 1), ("Shift+ArrowLeft", -1), ("+", 1)):
        (before,) = keys.get("live")["motors"]
        aim = before["value"]["end"] if isinstance(before["value"], dict) else before["value"]  # a soft start
        press(keys, key)
        keys.settle()
        (motor,) = keys.get("live")["motors"]
        assert (motor["value"] - aim) * sign > 0.1
        shows = "(value) => Number(document.querySelector('[data-row=value] input').value) === value"
        keys.until(shows, motor["value"])
    write(keys, "value in rad/s", "0.75")
    (motor,) = keys.get("live")["motors"]
    assert motor["value"] == 0.75
    keys.until("() => impulsar.label('motion hinge5 angle') === '0.75 rad/s'")
    press(keys, "Enter")
    tab_to(keys, "Switch off")
    press(keys, " ")
    keys.until("() => impulsar.live().motors.length === 0 && impulsar.live().off.length === 1")
    tab_to(keys, "Switch on")
    press(keys, " ")
    keys.until("() => impulsar.live().motors[0]?.value === 0.75")
    keys.page.locator("#canvas").focus()
    press(keys, " ")
    keys.until("() => Math.abs(impulsar.signal('coordinate.hinge5.velocity') - 0.75) < 1e-3")


def test_joint_type_friction_and_undo(keys: Studio) -> None:
    """A closed list walked by keys makes one change, at Enter; undo gives the bits as before."""
    before = keys.get("hash")
    walk_to(keys, "joint", "hinge5")
    press(keys, "Enter")
    tab_to(keys, "type")
    press(keys, "ArrowDown", "ArrowDown")
    on_the_way = keys.ask("() => document.activeElement.value")
    assert on_the_way != "revolute"
    keys.settle()
    assert joint(keys, "hinge5")["joint_type"] == "revolute"
    keys.page.keyboard.type("sph")
    press(keys, "Enter")
    keys.settle()
    assert joint(keys, "hinge5")["joint_type"] == "spherical"
    assert keys.ask("() => document.activeElement.ariaLabel") == "type"  # the focus stays where it was
    press(keys, "Escape", "Control+z")
    keys.settle()
    assert joint(keys, "hinge5")["joint_type"] == "revolute"
    write(keys, "friction in N m", "0.02")
    assert feature(keys, "hinge5", "friction") == 0.02
    press(keys, "Control+z")
    keys.settle()
    assert feature(keys, "hinge5", "friction") == 0
    assert keys.get("hash") == before


@pytest.mark.scene("cross-lift")
def test_stiffness_of_a_spring(studio: Studio) -> None:
    studio.pause()
    studio.page.locator("#canvas").focus()
    before = stiffness(studio)
    walk_to(studio, "spring", studio.get("scene")["springs"][0]["name"])
    write(studio, "stiffness in N/m", "432.1")
    assert stiffness(studio) == [432.1, *before[1:]]
    press(studio, "Control+z")
    studio.settle()
    assert stiffness(studio) == before
