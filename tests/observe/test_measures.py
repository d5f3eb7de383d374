"""Distances and angles that a model names: in results, signals, events, edits, files and Python."""

import json
import math

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.io import model_from_json, model_to_json


def double_pendulum() -> im.Model:
    """Two rods of 1 m on hinges about y; the distance of the tip from the pivot, and the angle at the elbow."""
    model = im.Model("double pendulum")
    for name, x in (("arm", 0.5), ("rod", 1.5)):
        model.body(name, mass=1.0, inertia=(0.01, 0.1, 0.1), position=(x, 0.0, 0.0))
    model.joint("hinge", "revolute", "ground", "arm", at=(0, 0, 0), axis=(0, 1, 0))
    model.joint("elbow", "revolute", "arm", "rod", at=(1, 0, 0), axis=(0, 1, 0))
    model.distance("reach", "ground", "rod", at_a=(0, 0, 0), at_b=("rod", (0.5, 0, 0)))
    model.angle("bend", "arm", "rod", from_a=(0, 0, 0), to_a=(1, 0, 0), from_b=(1, 0, 0), to_b=(2, 0, 0))
    return model


def test_the_law_of_cosines() -> None:
    """reach² = 2 + 2 cos(bend) for two rods of 1 m, and bend = |angle of the elbow|, at every sample."""
    world = im.World(double_pendulum(), dt=0.005)
    found = world.run(1.0, every=0.05)
    reach, bend = found["distance"].sel(span="reach").values, found["angle"].sel(corner="bend").values
    np.testing.assert_allclose(reach**2, 2 + 2 * np.cos(bend), atol=1e-9)
    q = found["joint_position"].sel(coordinate="elbow").values
    np.testing.assert_allclose(bend, np.abs((q + math.pi) % (2 * math.pi) - math.pi), atol=1e-9)
    assert np.ptp(reach) > 0.05
    assert (found["distance"].attrs["units"], found["angle"].attrs["units"]) == ("m", "rad")


def test_events_and_batches() -> None:
    """An event finds where a distance passes a level; in a batch every world has its own."""
    world = im.World(double_pendulum(), dt=0.005)
    found = world.run(1.0, every=0.1, events=[im.Event("short", "distance.reach.length", direction=-1, level=1.9)])
    assert np.isfinite(found["event_time"].values).any()
    many = im.World(double_pendulum(), dt=0.005, worlds=2)
    many.set("rod.mass", [1.0, 4.0])
    values = many.run(0.5, every=0.5)["distance"].values[:, -1, 0]
    assert values[0] != values[1]


def test_edits_files_and_python() -> None:
    world = im.World(double_pendulum())
    world.step(20)
    world.add("distance", "gap", first="arm", second="rod", at_a=("arm", (0, 0, 0)), at_b=("rod", (0, 0, 0)))
    world.apply(edits.Rename("gap", "between"))
    data = json.loads(json.dumps(model_to_json(world.model)))
    assert model_to_json(model_from_json(data)) == data
    names: dict = {"__name__": "script"}
    exec(im.to_python(world.model), names)
    assert model_to_json(names["model"]) == data
    answer = world.remove("distance", "between")
    world.apply(answer.inverse)
    np.testing.assert_allclose(world.model.distances["between"].p_CQ, 0.0, atol=1e-15)
    assert "distance 'reach'" in world.remove("body", "rod").text
    assert not world.model.angles


def test_a_line_has_a_direction() -> None:
    model = double_pendulum()
    with pytest.raises(im.ModelError, match="begins where it ends"):
        model.angle("none", "arm", "rod", (0, 0, 0), (0, 0, 0), (1, 0, 0), (2, 0, 0))
    with pytest.raises(im.ModelError, match="no body named 'fore'"):
        model.distance("none", "arm", "fore", (0, 0, 0), (0, 0, 0))
