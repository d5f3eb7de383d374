"""Clamps: explicit, told when they act, with books that close."""

import numpy as np
import pytest

import impulsar as im
from impulsar import edits


def stone() -> im.Model:
    model = im.Model("stone", gravity=(0, 0, -10.0))
    model.body("stone", mass=2.0, inertia=(1, 1, 1))
    return model


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_speed_is_clamped_and_told(coordinates):
    """A falling stone reaches the clamp at t = v/g and keeps it; what it loses is booked."""
    world = im.World(stone(), coordinates=coordinates, dt=0.01, max_speed=1.0)
    assert world.step(9).clamped == ()
    report = world.step(11)
    assert report.clamped == ("speed of body 'stone'",)
    assert world.body("stone").velocity == pytest.approx((0, 0, -1.0), abs=1e-12)
    books = world.energy()
    assert books.losses["clamps"] > 0.5
    assert books.imbalance == pytest.approx(0.0, abs=1e-9)


def test_a_clamped_mechanism_keeps_its_joints():
    world = im.World(im.scene("four-bar"), dt=0.005, max_speed=0.3)
    for _ in range(100):
        world.step()
    speeds = [np.linalg.norm(world.body(name).velocity) for name in world.model.bodies]
    assert max(speeds) <= 0.3 * (1 + 1e-12)
    assert world.constraint_error() < 1e-9
    assert abs(world.energy().imbalance) < 1e-6


@pytest.mark.parametrize("target", [(100.0, 0, 0), im.Ramp(None, (100.0, 0, 0), 0.0, 0.1)])
def test_force_of_a_hand_is_clamped_and_told(target):
    """However far the target, a stone at rest is pulled by no more than the clamp: v = F t / m at most."""
    model = im.Model("ice", gravity=(0, 0, 0))
    model.body("stone", mass=2.0, inertia=(1, 1, 1))
    world = im.World(model, dt=0.001, max_hand_force=5.0)
    hand = world.grab("stone", stiffness=1000.0, damping=1.0)
    hand.move(target)
    reports = [world.step() for _ in range(100)]
    assert reports[-1].clamped == ("hand 'hand 1'",)
    assert 0.0 < world.body("stone").velocity[0] <= 5.0 * 0.1 / 2.0 * 1.01
    assert np.linalg.norm(hand.force) <= 5.0 * 1.01
    assert world.energy().imbalance == pytest.approx(0.0, abs=1e-4)


def test_clamps_are_off_by_default():
    world = im.World(stone(), dt=0.01)
    world.step(1000)
    assert world.body("stone").velocity[2] == pytest.approx(-100.0, rel=1e-9)
    assert "clamps" not in world.energy().losses


@pytest.mark.parametrize("options", [{"max_speed": -1.0}, {"max_hand_force": "weak"}, {"max_speed": True}])
def test_wrong_clamps_are_named(options):
    with pytest.raises(im.ModelError, match=next(iter(options))):
        im.World(stone(), **options)


def test_clamps_survive_edits():
    world = im.World(stone(), dt=0.01, max_speed=1.0)
    world.step(20)
    world.apply(edits.Add("body", "other", {"mass": 1.0, "inertia": (1, 1, 1)}))
    world.step(20)
    assert abs(world.body("other").velocity[2]) <= 1.0 + 1e-12
    assert world.energy().imbalance == pytest.approx(0.0, abs=1e-9)
