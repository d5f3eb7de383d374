"""Effects: gravity, water and wind as icons; a prescribed motion with the torque that it needs."""

import math

import numpy as np
import pytest

from .browser import Studio

GRAVITY = [0, 0, -9.81]


def value(studio: Studio, fluid: str, name: str):
    """A parameter of a fluid, as the session has it."""
    own = next(one for one in studio.get("scene")["elements"] if one["name"] == fluid)
    return next(one["value"] for one in own["parameters"] if one["name"] == name)


def add(studio: Studio, effect: str) -> str:
    """Put an effect into the world by its icon."""
    studio.page.click(f"#hint [data-effect={effect}]")
    studio.until("(stem) => impulsar.pick()?.kind === 'element' && impulsar.pick().name.startsWith(stem)", effect)
    studio.settle()
    return studio.get("pick")["name"]


def gravity(studio: Studio) -> np.ndarray:
    return np.array(studio.get("scene")["gravity"])


def test_gravity_is_pulled_by_its_arrow(studio: Studio) -> None:
    """The session has what the label says; undo brings it back, in one gesture or, of a slow machine, in several."""
    studio.pause()
    studio.tool("effect")
    path = studio.get("scene")["parameters"][0]["path"]
    studio.until("(path) => impulsar.label(`effect ${path}`) === 'gravity 9.81 m/s²'", path)
    head = studio.get("effectPixel", path)
    studio.drag(head, {"x": head["x"] + 60, "y": head["y"]})
    studio.until("() => Math.abs(impulsar.scene().gravity[0]) + Math.abs(impulsar.scene().gravity[1]) > 1")
    studio.settle()
    turned = gravity(studio)
    studio.until(
        "([path, text]) => impulsar.label(`effect ${path}`) === text",
        [path, f"gravity {float(f'{math.hypot(*turned):.4g}'):g} m/s²"],
    )
    for _ in range(12):
        if gravity(studio).tolist() == GRAVITY:
            break
        before = gravity(studio).tolist()
        studio.page.keyboard.press("Control+z")
        studio.until("(before) => impulsar.scene().gravity.some((x, k) => x !== before[k])", before)
    assert gravity(studio).tolist() == GRAVITY


def test_water_lifts_what_is_in_it(studio: Studio) -> None:
    """Water much denser than the links, up to the middle, in a current: they come up; its height is live."""
    studio.tool("effect")
    water = add(studio, "water")
    assert value(studio, water, "surface") == pytest.approx(-0.25, abs=0.03)  # of 0.5 m that hang
    studio.type("density", "20000")
    studio.type("current", "0.5")
    studio.until("() => impulsar.frame().poses['link10'][2] > -0.45")
    studio.type("surface", "-2")
    studio.settle()
    assert value(studio, water, "surface") == -2
    books = studio.frame()["books"]
    assert abs(books["imbalance"]) < 0.01 * (abs(books["work"]) + abs(books["loss"]))  # beyond it books are trouble


def test_wind_blows_where_its_arrow_points(studio: Studio) -> None:
    """Air everywhere: a breeze, then a storm by keys and by the arrow, carries the chain along."""
    studio.tool("effect")
    wind = add(studio, "wind")
    assert value(studio, wind, "density") == 1.204 and value(studio, wind, "surface") in (None, math.inf, "inf")
    start = np.array(value(studio, wind, "current"))
    assert np.linalg.norm(start) == pytest.approx(5.0, rel=1e-3) and start[2] == 0.0
    studio.page.focus("canvas")
    for _ in range(12):
        studio.page.keyboard.press("+")
    studio.settle()
    storm = np.array(value(studio, wind, "current"))
    assert np.allclose(storm, 1.1**12 * start, rtol=1e-2)
    studio.until(
        "([x, y]) => { const [a, b] = impulsar.frame().poses['link10']; return x * a + y * b > 1e-3 }",
        storm[:2].tolist(),
    )
    head = studio.get("effectPixel", f"{wind}.current")
    studio.drag(head, {"x": head["x"] - 150, "y": head["y"]})
    studio.settle()
    assert np.dot(value(studio, wind, "current"), storm) < np.dot(storm, storm)
    studio.page.keyboard.press("Delete")
    studio.until("() => impulsar.scene().elements.every(({ kind }) => kind !== 'fluid')")


def test_stimulus_shows_the_torque_it_needs(studio: Studio) -> None:
    """A link pressed with the motion tool is driven at its joint; what it needs is that of the motor, live."""
    studio.pause()
    studio.tool("motion")
    grip = studio.get("pixel", "link5")
    studio.page.mouse.click(grip["x"], grip["y"])
    studio.until("() => impulsar.live().motors.length === 1")
    motor = studio.get("live")["motors"][0]
    assert motor["joint"] == "hinge5" and motor["quantity"] == "speed"
    studio.run()
    studio.until("() => impulsar.label('need hinge5 angle') !== null")
    studio.wait_time(0.3)
    studio.pause()
    studio.settle()
    shown = studio.until("() => impulsar.label('need hinge5 angle')").replace("−", "-")
    told = next(one for one in studio.get("scene")["joints"] if one["name"] == "hinge5")["groups"][0]["coordinates"][0]
    studio.pick("joint", "hinge5")
    row = studio.until("() => [...document.querySelectorAll('#inspector-body [data-row]')].map((r) => r.textContent)")
    assert told == "hinge5" and shown.startswith("needs ") and shown.endswith(" N m"), row
    assert abs(float(shown.split()[1])) > 1e-6
