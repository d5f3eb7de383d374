"""Changing a running mechanism by the inspector, and taking it back."""

import math
from collections.abc import Callable

import pytest

from .browser import Server, Studio


def joint(studio: Studio, name: str) -> dict:
    return next(entry for entry in studio.get("scene")["joints"] if entry["name"] == name)


def feature(studio: Studio, name: str, what: str) -> float:
    (group,) = joint(studio, name)["groups"]
    return next(entry["value"] for entry in group["features"] if entry["name"] == what)


def test_hinge_becomes_a_ball_and_undo_brings_the_bits_back(studio: Studio) -> None:
    """Hinge 5 made spherical lets the chain leave its plane; undo gives the state's bits as before."""
    studio.pause()
    before = studio.get("hash")
    poses = studio.frame()["poses"]
    studio.pick("joint", "hinge5")
    studio.page.select_option("#inspector-body [data-row='type'] select", "spherical")
    studio.until("() => impulsar.scene().joints.find((joint) => joint.name === 'hinge5').joint_type === 'spherical'")
    assert joint(studio, "hinge5")["groups"][0]["kind"] == "ball"
    studio.until("() => impulsar.frame().generation === impulsar.scene().generation")
    after = studio.frame()["poses"]
    assert max(math.dist(after[name][:3], poses[name][:3]) for name in poses) < 1e-6  # the state was carried over

    studio.pick("body", "link10")
    studio.page.click("#inspector-body .actions button:has-text('Force')")
    studio.until("() => impulsar.pick()?.kind === 'load'")
    studio.type("force", "0.4", 0)
    studio.until("() => impulsar.live().loads[0].force[0] === 0.4")
    studio.run()
    studio.until("() => Math.abs(impulsar.frame().poses.link10[0] - 2 * impulsar.frame().poses.link4[0]) > 0.01")
    studio.pause()
    while not studio.get("status")["undo"].startswith("Open"):  # which would bring the scene before back
        undone = studio.get("status")["undo"]
        studio.page.click("#undo")
        studio.until("(text) => impulsar.status().undo !== text", undone)
    studio.until("() => impulsar.scene().joints.find((joint) => joint.name === 'hinge5').joint_type === 'revolute'")
    studio.pause()
    assert studio.get("live")["loads"] == []
    assert studio.get("hash") == before
    assert studio.frame()["poses"] == poses


def test_friction_of_a_hinge(studio: Studio) -> None:
    """A hinge given friction while it runs takes energy out of the swing, and its loss is booked by its name."""
    studio.pick("joint", "hinge5")
    studio.type("friction", "0.02")
    studio.until(
        "() => impulsar.scene().joints.find((joint) => joint.name === 'hinge5')"
        ".groups[0].features.find((item) => item.name === 'friction').value === 0.02"
    )
    assert feature(studio, "hinge5", "friction") == 0.02
    grip = studio.get("pixel", "link10")
    studio.drag(grip, {"x": grip["x"] + 90, "y": grip["y"] - 60})
    studio.until("() => impulsar.live().hands.length === 0")
    studio.wait_time(0.5)
    assert studio.frame()["books"]["loss"] > 0
    losses = studio.until("() => impulsar.books().losses")
    assert any("hinge5" in name for name in losses)


REFUSED = (
    (("body", "link3"), "mass", "-1", "mass"),
    (("body", "link3"), "mass", "heavy", "is not a number"),
    (("joint", "hinge5"), "friction", "-0.5", "friction"),
)


def test_refusals_stand_beside_the_field(studio: Studio) -> None:
    """A wrong value is refused in words beside its field, and the world keeps what it had."""
    studio.pause()
    before = studio.get("hash")
    for part, row, text, words in REFUSED:
        studio.pick("body", "link1")
        studio.pick(*part)
        studio.type(row, text)
        error = studio.page.locator(f"#inspector-body [data-row='{row}'] .error")
        error.wait_for(state="visible")
        assert words in error.inner_text()
        assert studio.field(row).get_attribute("aria-invalid") == "true"
    assert studio.get("hash") == before


def stiffness(studio: Studio) -> list[float]:
    springs = studio.get("scene")["springs"]
    return [entry["value"] for spring in springs for entry in spring["parameters"] if entry["name"] == "stiffness"]


@pytest.mark.scene("cross-lift")
def test_stiffness_of_a_spring(studio: Studio) -> None:
    """The cross-lift sinks on softer springs; one undo for each change brings the stiffness back."""
    springs = [spring["name"] for spring in studio.get("scene")["springs"]]
    before = stiffness(studio)
    plate = max(studio.get("scene")["bodies"], key=lambda body: studio.position(body["name"])[2])["name"]
    studio.wait_time(0.2)
    high = studio.position(plate)[2]
    for name in springs:
        studio.pick("spring", name)
        studio.type("stiffness", "400")
        studio.settle()
    assert stiffness(studio) == [400.0] * len(springs)
    studio.until("([plate, low]) => impulsar.frame().poses[plate][2] < low", [plate, high - 0.01])

    assert studio.get("books")["indeterminate"]  # and the redundant reactions are marked
    assert "≈" in studio.page.locator("#books [data-book='reactions']").inner_text()
    studio.pick("joint", studio.get("books")["indeterminate"][0])
    studio.page.locator("#inspector-body .note").wait_for(state="visible")

    studio.pause()
    studio.page.click("#undo")
    studio.settle()
    assert stiffness(studio) == [400.0] * (len(springs) - 1) + before[-1:]
    for _ in springs[1:]:
        studio.page.click("#undo")
        studio.settle()
    assert stiffness(studio) == before
    assert studio.position(plate)[2] > high - 0.001


def test_bodies_joints_and_springs_are_added_with_the_mouse(studio: Studio) -> None:
    """A link drawn beside the chain, hinged to it and tied to the ground, hangs on."""
    studio.pause()
    studio.tool("body")
    top = studio.get("pixel", "link6")
    start, end = {"x": top["x"] + 70, "y": top["y"]}, {"x": top["x"] + 70, "y": top["y"] + 60}
    studio.drag(start, end)
    studio.until("() => impulsar.pick()?.kind === 'body'")
    name = studio.get("pick")["name"]
    studio.tool("joint")
    studio.drag({"x": start["x"], "y": start["y"] + 6}, top)
    studio.until("() => impulsar.pick()?.kind === 'joint'")
    made = joint(studio, studio.get("pick")["name"])
    assert {made["first"], made["second"]} == {name, "link6"}
    assert made["joint_type"] == "revolute"
    studio.tool("spring")
    box = studio.page.locator("#canvas").bounding_box()
    studio.drag({"x": end["x"], "y": end["y"] - 6}, {"x": box["x"] + box["width"] - 60, "y": box["y"] + 60})
    studio.until("() => impulsar.pick()?.kind === 'spring'")
    (spring,) = studio.get("scene")["springs"]
    assert {spring["first"], spring["second"]} == {name, "ground"}
    studio.run()
    studio.wait_time(0.5)
    assert studio.frame()["books"]["constraint_error"] < 1e-6
    assert studio.get("percent") < 1.0


def test_a_field_being_typed_in_is_left_alone(
    server: Server, open_page: Callable[..., Studio], open_scene: Callable[..., Studio]
) -> None:
    """Another page sets the value: the field, its half of a number and the caret stay; Escape shows what is set."""
    one, two = open_scene(), open_page(server.link)
    one.pick("body", "link3")
    field = one.field("mass")
    field.evaluate("(input) => { window.input = input; }")
    field.fill("0.37")
    one.page.keyboard.press("ArrowLeft")
    two.pick("body", "link3")
    two.type("mass", "0.2")
    note = "#parts-list [data-name='link3'] span:last-child"
    one.until("(note) => document.querySelector(note).textContent === '0.2 kg'", note)
    state = "() => [document.activeElement === input, input.isConnected, input.value, input.selectionStart]"
    assert one.ask(state) == [True, True, "0.37", 3]
    one.page.keyboard.type("5")
    one.page.keyboard.press("Enter")
    one.until("(note) => document.querySelector(note).textContent === '0.357 kg'", note)
    two.until("() => document.querySelector('[data-row=mass] input').value === '0.357'")
    one.page.keyboard.type("9")
    one.page.keyboard.press("Escape")
    assert one.ask("() => input.isConnected && input.value") == "0.357"
    one.settle()
    assert one.page.locator(note).inner_text() == "0.357 kg"


def test_floors_and_materials_are_added_and_set(studio: Studio) -> None:
    """By buttons of the model's inspector; an obstacle is picked in the picture, moved, and given a material."""
    studio.pause()
    studio.page.click("#inspector-body button:has-text('Add material')")
    studio.until("() => impulsar.pick()?.name === 'material 1'")
    studio.page.keyboard.press("Escape")
    studio.page.mouse.click(500, 60)  # nothing is there
    studio.until("() => impulsar.pick() === null")
    studio.page.click("#inspector-body button:has-text('Add floor')")
    studio.until("() => impulsar.pick()?.name === 'floor 1'")
    (floor,) = studio.get("scene")["obstacles"]
    assert floor["material"] == "material 1"
    assert floor["position"][2] < min(pose[2] for pose in studio.frame()["poses"].values())  # they hang above it
    studio.page.select_option("#inspector-body [data-row='material'] select", "ice")
    studio.until("() => impulsar.scene().obstacles[0].material === 'ice'")
    studio.type("position", "-0.7", 2)
    studio.until("() => impulsar.scene().obstacles[0].position[2] === -0.7")
    studio.page.select_option("#inspector-body [data-row='material'] select", "(none)")
    studio.until("() => impulsar.scene().obstacles[0].material === null")
    studio.pick("body", "link3")
    studio.page.select_option("#inspector-body [data-row='material'] select", "steel")
    studio.until("() => impulsar.scene().bodies[2].material === 'steel'")
    at = studio.get("pixel", "ground", [-0.4, -0.4, -0.7])
    studio.page.mouse.click(at["x"], at["y"])
    studio.until("() => impulsar.pick()?.kind === 'obstacle'")
