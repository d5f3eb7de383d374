"""What the studio tells of sensors: parts that can be set, values by now, points, pictures, and no fix in words."""

import base64
import json

import numpy as np
import pytest

import impulsar as im
from impulsar.studio import sensing
from impulsar.studio.wire import to_text

S = im.sensors


def robot(**gps) -> im.World:
    """A lidar and a camera half a metre above a robot's middle, turned to its left, where a wall is 2 m away."""
    model = im.Model("robot", gravity=(0, 0, 0))
    model.body("robot", mass=1.0, inertia=(1, 1, 1))
    model.obstacle("wall", im.Box((8.0, 0.2, 8.0)), position=(0.0, 2.1, 0.0))
    left = {"at": (0.0, 0.0, 0.5), "orientation": (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))}
    model.sensor("scan", S.Lidar("robot", azimuths=(-0.3, 0.0, 0.3, 3.0), **left))
    model.sensor("eye", S.Camera("robot", width=8, height=6, latency=0.05, rate=20.0, **left))
    model.sensor("gps", S.Gps("robot", **gps))
    return im.World(model, dt=0.01)


def test_a_sensor_is_a_part_with_channels_and_what_can_be_set():
    world = robot()
    part = sensing.element(world, "scan")
    assert (part.kind, part.refers, len(part.channels)) == ("sensor", {"body": "robot"}, 4)
    told = {one.name: one for one in part.parameters}
    assert told["reach"].unit == "m" and told["rate"].unit == "Hz" and "limit" not in told  # which is infinite
    for one in part.parameters:
        world.apply(im.edits.SetParameter(one.path, one.value))  # every path leads somewhere
    assert {one.name: one.unit for one in sensing.element(world, "eye").parameters}["height"] == "px"
    assert len(sensing.element(world, "eye").channels) == sensing.LISTED < 2 * 48


def test_points_are_where_rays_ended():
    """In the body's frame: the wall's plane y = 2, along the rays; the ray that strikes nothing has none."""
    scan = sensing.sensors(robot()).sensors[0]
    expected = [[2.0 * np.tan(-a), 2.0, 0.5] for a in (-0.3, 0.0, 0.3)]
    assert np.array(scan.points) == pytest.approx(np.array(expected), abs=1e-12)
    assert scan.values[3] == np.inf and json.loads(to_text(scan))["values"][3] is None


def test_pictures_come_with_their_latency():
    world = robot()
    assert sensing.sensors(world).sensors[1].picture is None  # on its way
    world.step(5)
    picture = sensing.sensors(world).sensors[1].picture
    colours = np.frombuffer(base64.b64decode(picture.colour), np.uint8).reshape(6, 8, 3)
    assert np.array_equal(colours, world.sensor("eye").colour)
    depth = np.frombuffer(base64.b64decode(picture.depth), np.uint8)
    assert picture.near == pytest.approx(2.0) == picture.far and (depth > 0).all()


def test_no_fix_is_said_in_words():
    assert sensing.sensors(robot()).sensors[2].said.endswith(" satellites")
    blind = sensing.sensors(robot(mask=60.0)).sensors[2]
    assert blind.said.endswith(" satellites, no fix") and not blind.valid and np.isnan(blind.values[0])
    assert sensing.sensors(robot(latency=1.0)).sensors[2].said == "nothing has come yet"
    assert sensing.sensors(im.World(im.scene("four-bar"))).sensors == []
