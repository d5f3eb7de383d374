"""Sensors in the page: listed, read, plotted, set; points of a lidar, a camera's picture, a receiver's satellites."""

import json
import math

import numpy as np
import pytest

import impulsar as im
from impulsar.io.codec import model_to_json

from .browser import Studio

S = im.sensors
POST = "async (text) => (await fetch('api/scene-file?name=robot.json', {method: 'POST', body: text})).json()"
PIXELS = """(what) => {
  const canvas = document.querySelector(`#sensing canvas[aria-label='${what}']`);
  const [width, height] = [canvas.width, canvas.height];
  return [width, height, [...canvas.getContext('2d').getImageData(0, 0, width, height).data]];
}"""


def robot() -> im.Model:
    """A robot at rest before a wall at x = 3 m, with one of each sensor that looks, between two balls."""
    model = im.Model("robot", gravity=(0, 0, 0))
    model.body("robot", mass=1.0, inertia=(1, 1, 1), shape=im.Box((0.6, 0.4, 0.3)), colour="#4477aa")
    model.body("red", mass=1.0, inertia=(1, 1, 1), shape=im.Sphere(0.3), position=(2, 0.7, 0), colour="#ff0000")
    model.body("blue", mass=1.0, inertia=(1, 1, 1), shape=im.Sphere(0.3), position=(2, -0.7, 0), colour="#0000ff")
    model.obstacle("wall", im.Box((0.2, 6.0, 2.0)), position=(3.1, 0.0, 0.0))
    angles = tuple(np.linspace(-0.6, 0.6, 25).tolist())
    model.sensor("scan", S.Lidar("robot", (0.3, 0, 0), azimuths=angles, reach=20.0, rate=20.0))
    model.sensor("eye", S.Camera("robot", (0.3, 0, 0), width=32, height=24, rate=5.0))
    model.sensor("gps", S.Gps("robot", rate=10.0))
    model.sensor("imu", S.Imu("robot", rate=20.0, bias=(0.5, 0.25)))
    model.dt = 0.01
    return model


@pytest.fixture
def opened(studio: Studio) -> Studio:
    before = studio.get("scene")["topology"]
    assert studio.ask(POST, json.dumps(model_to_json(robot())))["ok"]
    studio.until("(before) => impulsar.scene().topology !== before && impulsar.settled()", before)
    studio.run()
    studio.until(
        "() => impulsar.sensing().sensors.length === 4 && impulsar.sensing().sensors.every((one) => one.valid)"
    )
    return studio


def test_sensors_are_shown(opened: Studio) -> None:
    """All four are listed; the lidar's points are where the wall and the balls are; the picture has them in place."""
    for name in ("scan", "eye", "gps", "imu"):
        assert opened.page.locator(f"#parts-list [data-kind='element'][data-name='{name}']").count() == 1
    found = {one["name"]: one for one in opened.get("sensing")["sensors"]}
    points = np.array(found["scan"]["points"])
    assert opened.get("sensing")["drawn"] == len(points) == 25
    on_wall = np.abs(points[:, 0] - 3.0) < 1e-9
    centres = np.array([[2.0, 0.7, 0.0], [2.0, -0.7, 0.0]])
    on_ball = np.abs(np.linalg.norm(points[:, None] - centres, axis=-1) - 0.3).min(axis=1) < 1e-9
    assert on_wall.sum() > 5 and on_ball.sum() > 3 and (on_wall | on_ball).all()
    width, height, data = opened.ask(PIXELS, "picture of eye")
    picture = np.array(data).reshape(24, 32, 4)
    assert (width, height) == (32, 24)
    row = picture[12]
    red, blue = (np.flatnonzero(row[:, k] > row[:, :3].sum(axis=1) - row[:, k]) for k in (0, 2))
    assert len(red) and len(blue) and red.max() < 16 <= blue.min()
    depth = np.array(opened.ask(PIXELS, "depth of eye")[2]).reshape(24, 32, 4)[12, :, 0]
    assert depth[red].min() > depth[16]  # a ball is nearer than the wall
    said = opened.page.locator("#sensing").text_content() or ""
    count = im.World(robot()).sensor("gps").value[4]  # the sky is the same for minutes
    assert f"gps: {count:.0f} satellites" in said and "no fix" not in said


def test_a_sensor_is_read_plotted_and_set(opened: Studio) -> None:
    """Its channels are in the inspector and in a plot with their units; a bias that is typed is in the values."""
    opened.pick("element", "imu")
    value = "document.querySelector(\"#inspector-body [data-row='force'] output\")?.textContent"
    opened.until(f"() => ({value} ?? '').includes('0.5')")
    units = {pane["unit"] for pane in opened.get("plots")}
    assert units & {"m/s²", "rad/s"}
    names = [series["name"] for pane in opened.get("plots") for series in pane["series"]]
    assert any(name.startswith("sensor.imu.") and name.endswith(".value") for name in names)
    opened.pick("element", "scan")
    opened.type("bias", "0.25")
    opened.until("() => impulsar.settled()")
    opened.until("(d) => Math.abs(impulsar.sensing().sensors[0].values[12] - d) < 1e-9", 2.7 + 0.25)
    opened.page.keyboard.press("Escape")
    opened.page.click("#undo")
    opened.until("(d) => Math.abs(impulsar.sensing().sensors[0].values[12] - d) < 1e-9", 2.7)


def test_what_sensors_see_can_be_hidden_and_goes_with_them(opened: Studio) -> None:
    opened.pick("element", "scan")
    opened.page.click("#inspector-body button:has-text('Remove')")
    opened.until("() => impulsar.sensing().sensors.length === 3 && impulsar.sensing().drawn === 0")
    assert opened.page.locator("#sensing > div").count() == 2
    opened.fresh("four-bar")
    opened.until("() => impulsar.sensing().sensors.length === 0")
    opened.until("() => document.querySelectorAll('#sensing > div').length === 0")


def test_a_receiver_without_a_fix_says_so(studio: Studio) -> None:
    """Under a roof: no satellites, and no values that look like a place."""
    model = robot()
    model.obstacle("roof", im.Box((400.0, 400.0, 0.1)), position=(0, 0, 2.0))
    before = studio.get("scene")["topology"]
    assert studio.ask(POST, json.dumps(model_to_json(model)))["ok"]
    studio.until("(before) => impulsar.scene().topology !== before && impulsar.settled()", before)
    studio.run()
    studio.until("() => (document.querySelector('#sensing')?.textContent ?? '').includes('satellites, no fix')")
    gps = next(one for one in studio.get("sensing")["sensors"] if one["name"] == "gps")
    assert not gps["valid"] and gps["values"][0] is None and gps["values"][4] < 4 and math.isfinite(gps["time"])
