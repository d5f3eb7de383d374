"""Spheres of a large world: laws of contact and friction, rest, momentum, bits."""

import numpy as np
import pytest

from impulsar.author.errors import ModelError
from impulsar.scale.large import Bulk, LargeWorld, chain, spheres

FLOOR = np.array([[0.0, 0.0, 1.0, 0.0]])


def balls(positions, velocities=None, friction=0.5, planes=FLOOR, gravity=(0.0, 0.0, -9.81)) -> Bulk:
    """Balls of 10 g and 1 cm."""
    n, mass, radius = len(positions), 0.01, 0.01
    twist = np.zeros((n, 6))
    if velocities is not None:
        twist[:, 3:] = velocities
    return Bulk(
        np.array(positions, float),
        np.tile([0.0, 0.0, 0.0, 1.0], (n, 1)),
        np.zeros(n, np.int64),
        np.array([mass]),
        0.4 * mass * radius**2 * np.eye(3)[None],
        twist=twist,
        radius=np.array([radius]),
        planes=planes,
        friction=friction,
        gravity=gravity,
    )


def test_ball_rolls_after_sliding():
    """Without slip at the end v = 5/7 v₀, whatever the friction: sliding takes 2 v₀ / (7 μ g)."""
    world = LargeWorld(balls([(0, 0, 0.01)], [(0.7, 0, 0)]), dt=1e-3)
    world.step(100)  # slides for 41 ms
    wx, wy, wz, vx, vy, vz = world.velocities[0]
    assert vx == pytest.approx(0.5, abs=1e-9)
    assert wy == pytest.approx(vx / 0.01, abs=1e-7)
    assert np.abs([wx, wz, vy, vz]).max() < 1e-9


@pytest.mark.parametrize(("slope", "rolls"), [(0.3, True), (2.5, False)])
def test_ball_on_a_slope(slope, rolls):
    """It rolls with 5/7 g sin α up to tan α = 7/2 μ, and beyond slides with g (sin α - μ cos α)."""
    c, s = 1.0 / np.hypot(1.0, slope), slope / np.hypot(1.0, slope)
    plane = np.array([[s, 0.0, c, 0.0]])
    world = LargeWorld(balls([(0.01 * s, 0, 0.01 * c)], planes=plane, friction=0.5), dt=1e-3)
    world.step(100)
    along = world.velocities[0, 3:] @ np.array([c, 0.0, -s])
    expected = 9.81 * (5.0 / 7.0 * s if rolls else s - 0.5 * c) * 0.1
    assert along == pytest.approx(expected, rel=1e-6)


def test_balls_meet_and_stay_together():
    """Without restitution two equal balls go on at the mean speed, in the step in which they touch."""
    world = LargeWorld(balls([(0, 0, 0), (0.03, 0, 0)], [(1, 0, 0), (0, 0, 0)], planes=FLOOR[:0], gravity=(0, 0, 0)))
    world.step(20)
    assert world.velocities[:, 3] == pytest.approx([0.5, 0.5], abs=1e-12)
    assert world.positions[1, 0] - world.positions[0, 0] == pytest.approx(0.02, abs=1e-12)


def test_balls_in_one_place_part():
    """Two centres in one point have no normal; they are moved apart all the same, to the slop."""
    world = LargeWorld(balls([(0, 0, 0.1), (0, 0, 0.1)], planes=FLOOR[:0], gravity=(0, 0, 0)), dt=1e-3)
    world.step(50)
    assert np.linalg.norm(world.positions[1] - world.positions[0]) == pytest.approx(0.02, rel=1e-3)
    assert np.abs(world.momentum()).max() < 1e-15


def test_free_cluster_keeps_its_momentum():
    """Σ m v of balls that collide without gravity stays, to rounding of Σ m |v|."""
    rng = np.random.default_rng(2)
    places = 0.021 * np.stack(np.meshgrid(*[np.arange(6)] * 3), -1).reshape(-1, 3)
    world = LargeWorld(balls(places, rng.normal(size=(216, 3)), planes=FLOOR[:0], gravity=(0, 0, 0)), dt=1e-3)
    size = 0.01 * np.abs(world.velocities[:, 3:]).sum()
    before = world.momentum()
    report = world.step(40)
    assert report.contacts > 50
    assert np.abs(world.momentum() - before).max() < 1e-14 * size


def test_pile_comes_to_rest():
    """Overlap at most 2 % of the radius, at most 1e-8 J a body of 10 g (the issue's bounds), and nothing leaks out."""
    world = LargeWorld(spheres(1000), dt=1.0 / 240.0)  # of few, one that spins on a point has more than all may
    report = world.step(480)
    assert report.overlap < 0.02 * 0.01
    assert world.energy()["kinetic"] < 1e-8 * 1000
    assert world.positions.min() > 0.009


@pytest.mark.parametrize("gaps", [(0.003, 0.003), (0.009, 0.003), (0.014, 0.003)])
def test_fast_balls_are_seen_before_they_meet(gaps):
    """A ball that goes 1.7 radii a step stops at the next, which goes on to the third: none is in another after a step.

    A sweep takes contacts one after the other: the third slows the second to v/4 when the first goes on with v/2, so
    that they overlap by v h / 4 at most, h an eighth of a step."""
    x = np.cumsum([0.0, 0.02 + gaps[0], 0.02 + gaps[1]])
    places = np.stack([x, 0.0 * x, 0.0 * x], 1)
    speeds = np.array([[4.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    world = LargeWorld(balls(places, speeds, planes=FLOOR[:0], gravity=(0, 0, 0)), dt=1.0 / 240.0)
    for _ in range(4):
        world.step(1)
        assert np.diff(world.positions[:, 0]).min() > 0.02 - 4.0 / 4.0 / (8 * 240)
    assert world.velocities[2, 3] > 0.0


def test_same_bits_with_contacts():
    """Two runs, and one that goes on from a snapshot, have the same bits."""
    one, two = (LargeWorld(spheres(64), dt=1.0 / 240.0) for _ in range(2))
    one.step(80)
    two.step(50)
    kept = two.snapshot()
    two.step(30)
    again = two.positions
    two.restore(kept)
    two.step(30)
    assert np.array_equal(one.positions, again)
    assert np.array_equal(two.positions, again)


def test_chain_of_balls_on_a_floor():
    """Joints hold while their bodies lie on a floor: a chain of balls falls flat and stays."""
    links = chain(12, bend=0.0, planar=True)
    bulk = balls(links.position + np.array([0.0, 0.0, 1.0]))
    bulk.position[:, 0], bulk.position[:, 2] = 0.05 * np.arange(12), 0.03
    middle = (bulk.position[1:] + bulk.position[:-1]) / 2.0
    bulk.join("spherical", np.arange(11), np.arange(1, 12), middle)
    world = LargeWorld(bulk, dt=1.0 / 240.0)
    report = world.step(240)
    assert report.position_error < 1e-6
    assert world.positions[:, 2] == pytest.approx(0.01, abs=1e-4)
    assert np.abs(world.velocities).max() < 1e-2


def test_refusals():
    """What cannot be is told."""
    bulk = balls([(0, 0, 0.01)])
    with pytest.raises(ModelError, match="pair"):
        LargeWorld(bulk, method="pair")
    bulk.inertia = np.diag([1e-6, 2e-6, 2e-6])[None]
    with pytest.raises(ModelError, match="sphere"):
        LargeWorld(bulk)
    with pytest.raises(ModelError, match="friction"):
        LargeWorld(balls([(0, 0, 0.01)], friction=-1.0))
