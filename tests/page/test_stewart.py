"""A Stewart platform by gestures from the empty scene: two plates by keyboard, six legs in work planes by three points,
saved, reopened to the same bits, and copied as Python that rebuilds it."""

import json
import math
from collections.abc import Callable

import numpy as np
import pytest

from impulsar.analysis import mobility
from impulsar.io import model_from_json, model_to_json

from .browser import Studio
from .test_build import choose, joint_places, reopened, saved

FEET, HEADS = (-10, 10, 110, 130, 230, 250), (-50, 50, 70, 170, 190, 290)  # [°], leg by leg
BASE, PLATE, HEIGHT = 0.5, 0.3, 0.45  # [m]
HALF = 0.28  # of a leg, which is 0.559 m [m]


@pytest.fixture
def page(open_empty: Callable[..., Studio]) -> Studio:
    return open_empty(viewport={"width": 1300, "height": 900})


def corner(radius: float, degrees: float, height: float) -> np.ndarray:
    way = math.radians(degrees)
    return np.array([radius * math.cos(way), radius * math.sin(way), height])


def type_text(page: Studio, text: str) -> None:
    page.page.keyboard.type(text)
    page.page.keyboard.press("Enter")


def draw_plate(page: Studio, radius: float, angles: tuple[int, ...], height: float) -> None:
    """By keyboard, in the plane that is so high."""
    if height:
        page.page.locator("#plane-offset").focus()
        type_text(page, str(height))
    page.page.locator("#canvas").focus()
    count = len(page.get("scene")["bodies"])
    for angle in sorted(angles):
        x, y, _ = corner(radius, angle, 0.0)
        type_text(page, f"{x!r}, {y!r}".replace("np.float64(", "").replace(")", ""))
    type_text(page, "plate")
    page.until("(count) => impulsar.scene().bodies.length > count && impulsar.settled()", count)


def click_at(page: Studio, point: np.ndarray) -> None:
    pixel = page.get("worldPixel", point.tolist())
    page.page.mouse.move(pixel["x"], pixel["y"])
    page.page.mouse.down()
    page.page.mouse.up()


def set_type(page: Studio, joint: str, kind: str) -> None:
    page.pick("joint", joint)
    page.page.select_option("#inspector-body [data-row='type'] select", kind)
    found = "impulsar.scene().joints.find((one) => one.name === name).joint_type === kind"
    page.until(f"([name, kind]) => impulsar.settled() && {found}", [joint, kind])


def draw_leg(page: Studio, k: int) -> None:
    """Two links from foot to head in a plane through both; balls at its ends, a slide along it between them."""
    foot, head = corner(BASE, FEET[k], 0.0), corner(PLATE, HEADS[k], HEIGHT)
    known = {one["name"] for one in page.get("scene")["joints"]}
    page.tool("link")
    page.page.select_option("#work-plane", "points")
    for point in (foot, head, corner(BASE, FEET[k + 1 if k % 2 == 0 else k - 1], 0.0)):
        click_at(page, point)
    page.until("() => document.querySelector('#work-plane').value === 'there'")
    page.page.locator("#canvas").focus()
    click_at(page, foot)
    type_text(page, f"{HALF} < 0")  # u goes from foot to head
    click_at(page, head)
    page.until("(count) => impulsar.scene().joints.length === count && impulsar.settled()", len(known) + 3)
    new = [one for one in page.get("scene")["joints"] if one["name"] not in known]
    plates = ("plate 1", "plate 2")
    (slide,) = [one["name"] for one in new if one["first"] not in plates and one["second"] not in plates]
    page.page.keyboard.press("Escape")
    for one in new:
        if one["name"] != slide:
            set_type(page, one["name"], "spherical")
    set_type(page, slide, "prismatic")
    page.page.click("#inspector-body button:has-text('Axis by two points')")
    count = page.get("scene")["generation"]
    for point in (foot, head):
        click_at(page, point)
    page.until("(count) => impulsar.scene().generation > count && impulsar.settled()", count)


def test_a_stewart_platform_by_gestures(page: Studio) -> None:
    """Six freedoms of the plate and the spin of each leg; every ball where its corners are, a slide in every leg."""
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("3")  # from the top: the work plane is x-y
    page.until("() => impulsar.view().sight[2] < -0.99")
    page.tool("link")
    draw_plate(page, BASE, FEET, 0.0)
    draw_plate(page, PLATE, HEADS, HEIGHT)
    page.tool("joint")
    choose(page, "fixed")
    click_at(page, corner(0.4, 0, 0.0))
    click_at(page, corner(0.5, 180, 0.0))
    page.until("() => impulsar.scene().joints.length === 1 && impulsar.settled()")
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("4")  # from aside
    page.page.keyboard.press("0")
    for k in range(6):
        draw_leg(page, k)
    scene = saved(page)
    model = model_from_json(scene)
    assert len(model.bodies) == 14 and mobility(model).freedoms == 12
    found = joint_places(scene)
    for k in range(6):
        foot, head = corner(BASE, FEET[k], 0.0), corner(PLATE, HEADS[k], HEIGHT)
        for plate, point in (("plate 1", foot), ("plate 2", head)):
            near = [sides for pair, sides in found.items() if plate in pair and np.linalg.norm(sides[0] - point) < 1e-6]
            assert len(near) == 1 and np.linalg.norm(near[0][0] - near[0][1]) < 1e-12
    assert sum(joint["type"] == "prismatic" for joint in scene["joints"]) == 6
    reopened(page)
    python = page.ask("async () => (await fetch('api/model.py')).text()")
    told: dict = {}
    exec(python.split("if __name__")[0], told)
    shown = json.loads(page.ask("async () => (await fetch('api/scene.json?pose=start')).text()"))
    assert model_to_json(told["model"]) == model_to_json(model_from_json(shown))
