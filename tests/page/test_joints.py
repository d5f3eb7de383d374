"""What the page tells and does of a joint: its pose as numbers, its axis by two points."""

import math
from typing import Any

import pytest

from .browser import Studio


def table(studio: Studio, label: str) -> list[list[str]]:
    """The cells of a table of the inspector."""
    script = """(label) => [...document.querySelectorAll(`#joint-pose table[aria-label='${label}'] tr`)]
        .map((row) => [...row.children].map((cell) => cell.textContent))"""
    return studio.ask(script, label)


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def joint(studio: Studio, name: str) -> dict[str, Any]:
    return next(one for one in studio.get("scene")["joints"] if one["name"] == name)


@pytest.mark.scene("manipulator")
def test_the_pose_of_a_joint_in_numbers(studio: Studio) -> None:
    """Matrix and angles are those of the coordinate, live; parameters are those of the arm: 0.4 m, parallel axes."""
    studio.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    studio.pick("joint", "shoulder")
    studio.wait_time(0.3)
    studio.pause()
    studio.settle()
    studio.until("() => Number.isFinite(impulsar.signal('coordinate.shoulder.position'))")
    angle = studio.get("signal", "coordinate.shoulder.position")
    assert abs(angle) > 0.01
    c, s = math.cos(angle), math.sin(angle)
    first = "document.querySelector(`#joint-pose table[aria-label='matrix of M in F'] td`)?.textContent"
    studio.until(f"(c) => Math.abs(Number({first}.replace('−', '-')) - c) < 2e-4", c)
    rows = [[number(cell) for cell in row] for row in table(studio, "matrix of M in F")]
    wanted = [[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    for row, right in zip(rows, wanted, strict=True):
        assert row == pytest.approx(right, abs=2e-4)  # four digits are shown
    studio.page.select_option("#joint-pose [data-row='Euler angles'] select", "zxz")
    studio.page.select_option("#joint-pose [data-row='Euler angles'] select", "xyz")
    angles = studio.page.locator("#joint-pose [data-row='angles'] output span").all_inner_texts()
    assert [number(one) for one in angles] == pytest.approx([0, 0, math.degrees(angle)], abs=1e-2)

    head, standard, modified = table(studio, "Denavit-Hartenberg parameters")
    assert head == ["", "θ °", "d m", "a m", "α °"]
    assert [number(cell) for cell in standard[3:]] == [0.4, 0.0]  # to the elbow, whose axis is parallel
    assert [abs(number(cell)) for cell in modified[3:]] == [0.0, 90.0]  # from the yaw, which it crosses
    studio.page.click("#joint-pose button:has-text('Copy standard')")
    studio.until(
        "() => [...document.querySelectorAll('.toast')].some((toast) => toast.textContent.includes('clipboard'))"
    )
    lines = studio.ask("() => navigator.clipboard.readText()").split("\n")
    assert lines[0].split("\t") == ["joint", "theta_deg", "d_m", "a_m", "alpha_deg"]
    assert [line.split("\t")[0] for line in lines[1:]] == ["yaw", "shoulder", "elbow"]


def test_an_axis_by_two_points(studio: Studio) -> None:
    """Two clicks on ends of a link: the hinge turns about that line, nothing moves, and undo brings the bits back."""
    studio.pause()
    studio.settle()
    before, was = studio.get("hash"), joint(studio, "hinge5")
    poses = studio.frame()["poses"]
    studio.pick("joint", "hinge5")
    studio.page.click("#inspector-body button:has-text('Axis by two points')")
    for name in ("hinge7", "hinge10"):
        pixel = studio.get("jointPixel", name)
        studio.page.mouse.click(pixel["x"], pixel["y"])
    studio.until("() => impulsar.settled() && impulsar.status().undo === 'ChangeJoint'")
    x, y, z, w = joint(studio, "hinge5")["q_PF"]  # the links hang along z, and so does the axis now
    assert abs(2 * (x * z + y * w)) < 1e-9 and abs(2 * (y * z - x * w)) < 1e-9
    for name, pose in studio.frame()["poses"].items():
        assert pose == pytest.approx(poses[name], abs=1e-6)
    studio.page.click("#undo")
    studio.until("() => impulsar.settled() && impulsar.status().undo !== 'ChangeJoint'")
    assert joint(studio, "hinge5")["q_PF"] == was["q_PF"] and studio.get("hash") == before


@pytest.mark.scene("four-bar")
def test_parts_alone_and_a_loop_that_is_cut_and_closed(studio: Studio) -> None:
    """The coupler alone by its recorded reactions, and back. Cut, a joint says what it carried, comes apart, and the
    picture says by how much; closed, it meets; undo as ever."""
    studio.wait_time(0.2)
    studio.pause()
    studio.settle()
    studio.pick("body", "coupler")
    studio.page.click("#inspector-body button:has-text('Alone…')")
    studio.page.click("dialog button[data-instead='reactions']")
    studio.until(
        "() => impulsar.settled() && impulsar.scene().bodies.length === 1 && impulsar.live().loads.length === 2"
    )
    assert studio.get("status")["paused"] and studio.page.locator("dialog").count() == 0
    studio.page.click("#undo")
    studio.until("() => impulsar.settled() && impulsar.scene().bodies.length === 3")
    name = next(one["name"] for one in studio.get("scene")["joints"] if "ground" not in (one["first"], one["second"]))
    studio.pick("joint", name)
    studio.page.click("#inspector-body button:has-text('Cut here')")
    studio.until("(name) => impulsar.settled() && impulsar.label(`cut ${name}`) !== null", name)
    studio.until(
        "() => [...document.querySelectorAll('.toast')].some((one) => /is cut; it carried/.test(one.textContent))"
    )
    assert joint(studio, name)["joint_type"] == "free" and joint(studio, name)["closed"] == "revolute"
    assert studio.get("label", f"cut {name}") == f"{name}, cut: 0 m apart"
    studio.run()
    studio.until("(name) => !/: 0 m|·10/.test(impulsar.label(`cut ${name}`))", name)  # a millimetre at least
    studio.pause()
    studio.settle()
    before = studio.get("hash")
    studio.page.click("#inspector-body button:has-text('Close (revolute)')")
    studio.until("(name) => impulsar.settled() && impulsar.label(`cut ${name}`) === null", name)
    assert joint(studio, name)["joint_type"] == "revolute" and joint(studio, name)["closed"] is None
    assert studio.frame()["books"]["constraint_error"] < 1e-8
    studio.page.click("#undo")
    studio.until("() => impulsar.settled() && impulsar.status().undo !== 'Close'")
    assert studio.get("hash") == before
