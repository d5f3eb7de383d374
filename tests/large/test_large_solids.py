"""Shapes of a large world that touch: boxes and others, by laws, rest, momentum and bits."""

import numpy as np
import pytest

from impulsar.author.errors import ModelError
from impulsar.author.shapes import Box, Capsule, HeightField, Sphere
from impulsar.scale.large import Bulk, LargeWorld, boxes, stack

FLOOR = np.array([[0.0, 0.0, 1.0, 0.0]])
STILL = np.array([0.0, 0.0, 0.0, 1.0])


def solids(shapes, positions, kinds=None, **more) -> Bulk:
    """Bodies of 1 kg, each of one of these shapes."""
    n = len(positions)
    inertia = np.array([np.eye(3) * 0.4 * 0.1**2 if isinstance(s, Sphere) else s.unit_inertia() for s in shapes])
    kind = np.zeros(n, np.int64) if kinds is None else np.array(kinds)
    more = {"planes": FLOOR, **more}
    mass = np.ones(len(shapes))
    return Bulk(
        np.array(positions, float),
        np.tile(STILL, (n, 1)),
        kind,
        mass,
        inertia,
        shapes=tuple((s,) for s in shapes),
        **more,
    )


@pytest.mark.parametrize(("slope", "holds"), [(0.49, True), (0.6, False)])
def test_box_on_a_slope(slope, holds):
    """It sticks up to tan α = μ, and beyond slides with g (sin α - μ cos α)."""
    c, s = 1.0 / np.hypot(1.0, slope), slope / np.hypot(1.0, slope)
    bulk = solids([Box((0.1, 0.1, 0.05))], [(0.025 * s, 0.0, 0.025 * c)], planes=np.array([[s, 0.0, c, 0.0]]))
    angle = np.arctan(slope)
    bulk.orientation[:] = [0.0, np.sin(angle / 2), 0.0, np.cos(angle / 2)]
    world = LargeWorld(bulk, dt=1e-3)
    down, speeds = np.array([c, 0.0, -s]), []
    for _ in range(2):
        world.step(50)
        speeds.append(world.velocities[0, 3:] @ down)
    expected = 0.0 if holds else 9.81 * (s - 0.5 * c)
    assert speeds[1] == pytest.approx(0.1 * expected, abs=2.0 * 9.81 * 1e-3 / 8)  # two sub-steps of landing
    assert (speeds[1] - speeds[0]) / 0.05 == pytest.approx(expected, abs=1e-6)


def test_shapes_of_all_sorts_and_sizes_rest():
    """A ball, a capsule and a box on boxes 16 times as large: heights add up; sizes of five levels share one list."""
    shapes = [
        Box((3.2, 3.2, 0.4)),
        Sphere(0.1),
        Capsule(0.1, 0.3, orientation=(0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5))),
        Box((0.2,) * 3),
    ]
    places = [(0, 0, 0.2), (0, 0, 0.6), (-1, 0, 0.91), (0, 1, 0.91), (1, 0, 0.91)]
    world = LargeWorld(solids(shapes, places, [0, 0, 1, 2, 3]), dt=1.0 / 240.0)
    world.step(240)
    assert world.positions[:, 2] == pytest.approx([0.2, 0.6, 0.9, 0.9, 0.9], abs=2e-4)
    assert np.abs(world.velocities).max() < 1e-3


def test_stack_comes_to_rest():
    """Five cubes stand: what rocks dies away, and nothing sinks by more than 2 % of an edge (the issue's bound)."""
    world = LargeWorld(stack(5), dt=1.0 / 240.0)
    world.step(240)
    middle = world.energy()["kinetic"]
    report = world.step(240)
    assert world.energy()["kinetic"] < max(1e-3 * middle, 1e-9)
    assert report.overlap < 0.02 * 0.1
    assert world.positions[-1] == pytest.approx([0.0, 0.0, 0.45], abs=2e-3)


def test_pile_of_boxes_comes_to_rest():
    """Overlap at most 2 % of the edge, found anew at the last poses; at most 1e-7 J a body of 10 g; same bits twice."""
    one, two = (LargeWorld(boxes(27), dt=1.0 / 240.0) for _ in range(2))
    one.step(360)
    two.step(200)
    kept = two.snapshot()
    two.step(100)
    two.restore(kept)
    two.step(160)
    assert np.array_equal(one.positions, two.positions)
    one.contacts.find(one.dt)
    assert one.contacts.overlap() < 0.02 * 0.02
    assert one.energy()["kinetic"] < 1e-7 * 27
    assert one.positions.min() > 0.009


def test_free_boxes_keep_their_momentum():
    """Σ m v of boxes that collide without gravity stays, to rounding of Σ m |v|."""
    bulk = boxes(125)
    bulk.planes, bulk.gravity = FLOOR[:0], (0.0, 0.0, 0.0)
    bulk.twist = np.random.default_rng(1).normal(size=(125, 6))
    world = LargeWorld(bulk, dt=1e-3)
    size = 0.01 * np.abs(world.velocities[:, 3:]).sum()
    before, contacts = world.momentum(), 0
    for _ in range(10):
        contacts = max(contacts, world.step(5).contacts)
    assert contacts > 20
    assert np.abs(world.momentum() - before).max() < 1e-14 * size


def test_impact_sends_back():
    """u' = -e u: a ball dropped on a floor rises to e² of its height, less what a step's length blurs."""
    ball = Sphere(0.1, material="ball")
    more = {"materials": ("ball",), "surfaces": {"friction": [[0.5]], "holding": [[0.5]], "restitution": [[0.5]]}}
    bulk = solids(
        [ball],
        [(0, 0, 1.1)],
        planes=FLOOR[:0],
        obstacles=(Box((4, 4, 1), offset=(0, 0, -0.5), material="ball"),),
        **more,
    )
    world = LargeWorld(bulk, dt=5e-4)
    heights = []
    for _ in range(170):
        world.step(10)
        heights.append(world.positions[0, 2])
    falls = int(np.argmin(heights))
    assert max(heights[falls:]) - 0.1 == pytest.approx(0.25, abs=0.005)


def test_body_with_more_neighbours_than_colours():
    """A plate with 144 cubes on it carries them all: pairs beyond the colours are swept one after the other."""
    at = 0.25 * (np.arange(12) - 5.5)
    places = [(0, 0, 0.1)] + [(x, y, 0.3) for x in at for y in at]
    bulk = solids([Box((4, 4, 0.2)), Box((0.2,) * 3)], places, [0] + [1] * 144)
    bulk.mass[0], bulk.inertia[0] = 100.0, 100.0 * bulk.inertia[0]
    world = LargeWorld(bulk, dt=1.0 / 240.0)
    report = world.step(30)
    assert report.contacts == 145
    assert world.positions[1:, 2] == pytest.approx(0.3, abs=2e-3)


def test_refused_by_name():
    """Shapes that large worlds do not collide, and sizes too far apart."""
    with pytest.raises(ModelError, match="HeightField"):
        LargeWorld(solids([Sphere(0.1)], [(0, 0, 1)], obstacles=(HeightField(np.zeros((3, 3)), (1.0, 1.0)),)))
    with pytest.raises(ModelError, match="obstacle"):
        LargeWorld(solids([Sphere(1e-4), Box((10.0,) * 3)], [(0, 0, 1), (0, 0, 20)], [0, 1]))
    bulk = solids([Sphere(0.1)], [(0, 0, 1)])
    bulk.radius = np.array([0.1])
    with pytest.raises(ModelError, match="radii and shapes"):
        LargeWorld(bulk)
