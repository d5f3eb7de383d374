"""Manipulators and inspector by fingers alone, on a phone: what is shown is what the world gets."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from .browser import Studio
from .test_inspector import feature, joint, stiffness
from .test_manipulators import BODY, labelled, load, settled, shown

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def phone(open_scene: Callable[..., Studio]) -> Studio:
    """A phone that shows the ten pendula with time stopped."""
    studio = open_scene(**PHONE)
    studio.page.tap("#play")
    studio.until("() => impulsar.status().paused")
    return studio


def sheet(phone: Studio, title: str) -> None:
    """Open a sheet. A busy machine may hold a finger so long that the browser takes a tap for a long press."""
    tab = phone.page.locator(f"#tabs button:has-text('{title}')")
    for _ in range(5):
        tab.tap()
        if tab.get_attribute("aria-pressed") == "true":
            return
    raise AssertionError(f"five taps did not open {title}")


def write(phone: Studio, row: str, text: str, index: int = 0) -> None:
    """Tap a field and type into it; the screen's own keyboard ends with Enter."""
    phone.field(row, index).tap()
    phone.type(row, text, index)


def choose(phone: Studio, kind: str, name: str) -> None:
    phone.page.tap(f"#parts-list [data-kind='{kind}'][data-name='{name}']")
    phone.until("(name) => impulsar.pick()?.name === name", name)


def test_force_arrow(phone: Studio) -> None:
    """Pulled out of a body, made twice as long, then typed."""
    phone.page.tap("#tools button[data-tool=force]")
    grip = phone.get("pixel", BODY)
    phone.slide(grip, {"x": grip["x"] + 70, "y": grip["y"] + 30})
    phone.until("() => impulsar.pick()?.kind === 'load'")
    name = phone.get("pick")["name"]
    first = settled(phone, name, "force")
    assert first["body"] == BODY
    assert first["force"] == shown(phone, "force")
    np.testing.assert_array_equal(np.float32(first["force"]), np.float32(first["values"][:3]))
    labelled(phone, f"load {name} f", f"{math.hypot(*first['force']):.4g} N")

    handle, foot = phone.get("handles", name)["force"], phone.get("pixel", BODY, first["at"])
    phone.slide(handle, {axis: 2 * handle[axis] - foot[axis] for axis in ("x", "y")})
    second = settled(phone, name, "force")
    assert second["force"] == shown(phone, "force")
    assert math.hypot(*second["force"]) == pytest.approx(2 * math.hypot(*first["force"]), rel=0.03)  # pixels are whole
    assert np.dot(second["force"], first["force"]) > 0.99 * math.hypot(*second["force"]) * math.hypot(*first["force"])

    sheet(phone, "Inspector")
    for index, text in enumerate(("0.1234567", "-0.25", "1e-3")):
        write(phone, "force", text, index)
    phone.settle()
    assert load(phone, name)["force"] == [0.1234567, -0.25, 0.001]
    phone.page.tap("#inspector-body button:has-text('Switch off')")
    phone.until("() => impulsar.live().loads.length === 0")
    phone.page.tap("#inspector-body button:has-text('Switch on')")
    phone.settle()
    assert load(phone, name)["force"] == [0.1234567, -0.25, 0.001]


def test_torque_arc(phone: Studio) -> None:
    """Pulled wide, wider, tilted and typed."""
    phone.page.tap("#tools button[data-tool=torque]")
    grip = phone.get("pixel", BODY)
    phone.slide(grip, {"x": grip["x"] + 50, "y": grip["y"]})
    phone.until("() => impulsar.pick()?.kind === 'load'")
    name = phone.get("pick")["name"]
    first = settled(phone, name, "torque")
    assert first["torque"] == shown(phone, "torque")
    rim, foot = phone.get("handles", name)["rim"], phone.get("pixel", BODY, first["at"])
    phone.slide(rim, {axis: 1.5 * rim[axis] - 0.5 * foot[axis] for axis in ("x", "y")})
    second = settled(phone, name, "torque")
    assert math.hypot(*second["torque"]) == pytest.approx(1.5 * math.hypot(*first["torque"]), rel=0.05)
    axis = phone.get("handles", name)["axis"]
    phone.slide(axis, {"x": axis["x"] + 60, "y": axis["y"] + 40})
    third = settled(phone, name, "torque")
    assert math.hypot(*third["torque"]) == pytest.approx(math.hypot(*second["torque"]), rel=1e-3)
    assert np.count_nonzero(third["torque"]) > 1
    np.testing.assert_array_equal(np.float32(third["torque"]), np.float32(third["values"][3:]))
    sheet(phone, "Inspector")
    write(phone, "|torque|", "0.02")
    phone.settle()
    assert math.hypot(*load(phone, name)["torque"]) == pytest.approx(0.02, rel=1e-12)


def test_motion_sphere(phone: Studio) -> None:
    """Put at a hinge, turned, typed; the hinge has the speed that is shown."""
    phone.page.tap("#tools button[data-tool=motion]")
    pixel = phone.get("jointPixel", "hinge5")
    phone.finger("touchStart", pixel)
    phone.finger("touchEnd")
    phone.until("() => impulsar.live().motors.length === 1 && impulsar.motionPixel('hinge5') !== null")
    ball, foot = phone.get("motionPixel", "hinge5"), phone.get("jointPixel", "hinge5")
    arm = (ball["x"] - foot["x"], ball["y"] - foot["y"])
    phone.slide(ball, {"x": foot["x"] + arm[0] - 1.6 * arm[1], "y": foot["y"] + arm[1] + 1.6 * arm[0]})
    phone.until("() => Math.abs(impulsar.live().motors[0].value) > 0.5")
    phone.settle()
    (motor,) = phone.get("live")["motors"]
    assert shown(phone, "value") == [motor["value"]]
    sheet(phone, "Inspector")
    write(phone, "value", "0.75")
    phone.until("() => impulsar.live().motors[0].value === 0.75")
    phone.until("() => impulsar.label('motion hinge5 angle') === '0.75 rad/s'")
    phone.page.tap("#play")
    phone.until("() => Math.abs(impulsar.signal('coordinate.hinge5.velocity') - 0.75) < 1e-3")


def test_joint_type_friction_and_undo(phone: Studio) -> None:
    before = phone.get("hash")
    sheet(phone, "Inspector")
    choose(phone, "joint", "hinge5")
    write(phone, "friction", "0.02")
    phone.until("() => impulsar.settled()")
    assert feature(phone, "hinge5", "friction") == 0.02
    phone.page.locator("#inspector-body [data-row='type'] select").tap()
    phone.page.select_option("#inspector-body [data-row='type'] select", "spherical")
    phone.settle()
    assert joint(phone, "hinge5")["joint_type"] == "spherical"
    for _ in range(2):
        phone.page.tap("#undo")
        phone.settle()
    assert joint(phone, "hinge5")["joint_type"] == "revolute"
    assert feature(phone, "hinge5", "friction") == 0
    assert phone.get("hash") == before


def test_stiffness_of_a_spring(phone: Studio) -> None:
    phone.fresh("cross-lift")
    phone.page.tap("#play")
    phone.until("() => impulsar.status().paused")
    before = stiffness(phone)
    sheet(phone, "Inspector")
    choose(phone, "spring", phone.get("scene")["springs"][0]["name"])
    write(phone, "stiffness", "432.1")
    phone.settle()
    assert stiffness(phone) == [432.1, *before[1:]]
    phone.page.tap("#undo")
    phone.settle()
    assert stiffness(phone) == before


def test_messages_cover_neither_the_tools_nor_much_of_the_picture(phone: Studio) -> None:
    """A message stands where the hint was; the one who opened a scene is not told that it is open."""
    assert phone.page.locator(".toast").count() == 0
    phone.page.tap("#follow")  # with nothing picked: says what to do
    toast = phone.page.locator(".toast")
    toast.wait_for(state="visible")
    box, stage = toast.bounding_box(), phone.page.locator("#stage").bounding_box()
    assert box is not None
    assert stage is not None
    assert stage["y"] <= box["y"]
    assert box["y"] + box["height"] < stage["y"] + 0.12 * stage["height"]
    assert not phone.page.locator("#hint").is_visible()
    toast.locator("button").tap()
    phone.page.locator("#hint").wait_for(state="visible")
