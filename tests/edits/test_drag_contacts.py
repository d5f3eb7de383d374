"""Kinematic dragging among shapes that touch: what is dragged stops at them, slides along them, never passes them."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar import analysis

BOTH = ("generalized", "maximal")
DEEPEST = 1e-9  # [m]


def least_gap(world: im.World) -> float:
    """Of all pairs of shapes that may touch, measured apart from the drag [m]."""
    return min((pair.gap for pair in analysis.clearance(world).pairs), default=math.inf)


def on_floor(shape, **options) -> im.Model:
    """A free body of 1 kg half a metre above a plane."""
    model = im.Model("free")
    model.body("body", mass=1.0, inertia=(0.01, 0.01, 0.01), shape=shape, position=(0, 0, 0.5), material="steel")
    model.obstacle("floor", im.Plane(), material="wood", **options)
    return model


@pytest.mark.parametrize("coordinates", BOTH)
def test_a_ball_stops_at_a_floor_and_slides_on(coordinates, device):
    """Nearest to a target below the floor is the point above it, a radius up; it goes on as the hand does."""
    world = im.World(on_floor(im.Sphere(0.1)), coordinates=coordinates, device=device)
    for x, y, z in ((0, 0, -0.5), (0.4, 0.1, -0.5), (3.0, -1.0, -2.0), (3.0, -1.0, 0.05), (2.0, 0.0, -9.0)):
        answer = world.drag("body", (x, y, z))
        assert "as near as it goes" in answer.text and "'body' and 'floor' touch" in answer.text
        assert world.body("body").position == pytest.approx((x, y, 0.1), abs=2e-6)
        assert abs(world.body("body").position[2] - 0.1) < DEEPEST
    answer = world.drag("body", (2.0, 0.0, 0.7))  # and up again
    assert answer.energy == pytest.approx(9.81 * 0.6, abs=1e-8)
    assert world.energy().work["edits"] == pytest.approx(9.81 * 0.2, abs=1e-8)  # from 0.5 m to 0.7 m, all in all
    assert world.body("body").position == pytest.approx((2.0, 0.0, 0.7), abs=1e-10)


@pytest.mark.parametrize("coordinates", BOTH)
def test_a_box_comes_to_lie_on_its_face(coordinates):
    """The middle of a turned box is nearest to the floor where a largest face lies on it."""
    model = on_floor(im.Box((0.3, 0.2, 0.1)))
    model.bodies["body"].orientation = np.array([0.1, 0.2, 0.05, math.sqrt(1 - 0.0525)])
    world = im.World(model, coordinates=coordinates)
    for _ in range(3):
        world.drag("body", (0.0, 0.0, -1.0))
        assert least_gap(world) > -DEEPEST
    assert world.body("body").position[2] == pytest.approx(0.05, abs=1e-8)
    assert len(world.contacts()) == 4


@pytest.mark.parametrize("coordinates", BOTH)
def test_an_arm_stops_where_its_end_touches(coordinates):
    """A capsule on a hinge at height a, its end at l: the end's centre comes down to r, sin θ = (a - r) / l."""
    height, length, radius = 0.3, 0.5, 0.02
    model = im.Model("arm")
    model.body(
        "arm",
        mass=1.0,
        inertia=(0.02, 0.02, 0.001),
        position=(length / 2, 0, height),
        orientation=(0, math.sqrt(0.5), 0, math.sqrt(0.5)),
        shape=im.Capsule(radius=radius, length=length, material="steel"),
    )
    model.joint("hinge", "revolute", "ground", "arm", at=(0, 0, height), axis=(0, 1, 0))
    model.obstacle("floor", im.Plane(), material="steel")
    world = im.World(model, coordinates=coordinates)
    stop = math.asin((height - radius) / length)
    for angle in (0.2, 1.2, stop + 0.01, 0.3, 1.5, 0.0):
        tip = (0.8 * math.cos(angle), 0.0, height - 0.8 * math.sin(angle))
        world.drag("arm", tip, (0, 0, length / 2))
        assert world.joint("hinge").position == pytest.approx(min(angle, stop), abs=2e-6)
        if angle > stop:
            assert abs(world.joint("hinge").position - stop) < DEEPEST / length * 2
        assert world.constraint_error() < 1e-9


@pytest.mark.parametrize("coordinates", BOTH)
def test_a_four_bar_stops_at_a_stop(coordinates):
    """The crank is turned round and round; its loop stays closed, nothing overlaps, and it meets the stop both ways."""
    model = im.scene("four-bar")
    for body in model.bodies.values():
        body.material = "steel"
    model.obstacle("stop", im.Sphere(0.03), position=(0.31, 0.15, 0.0), material="steel")
    world = im.World(model, coordinates=coordinates)
    gaps = []
    for angle in [*np.linspace(1.0, 8.0, 50), *np.linspace(8.0, -6.0, 80)]:
        world.drag("crank", (0.15 * math.cos(angle), 0.15 * math.sin(angle), 0.0), (0, 0, 0.05))
        gaps.append(least_gap(world))
        assert gaps[-1] > -DEEPEST
        assert world.constraint_error() < 1e-9
    assert min(gaps) < DEEPEST and max(gaps) > 0.01  # it did come to the stop, and away from it


def test_a_chain_is_drawn_along_a_floor_to_the_nearest_point():
    """The tip of ten links, pulled below a floor, comes to lie above the target in one drag."""
    model = im.scene("ten-pendula", start="30deg")
    model.bodies["link10"].material = "steel"
    model.obstacle("floor", im.Plane(), position=(0, 0, -0.45), material="wood")
    world = im.World(model)
    for y in (0.05, 0.1, -0.05):
        answer = world.drag("link10", (0.0, y, -0.6), (0, 0, -0.025))
        assert "as near as it goes" in answer.text
        assert world.point("link10", (0, 0, -0.025)) == pytest.approx((0.0, y, -0.446), abs=2e-6)


@pytest.mark.parametrize("far", (0.02, 10.0))
def test_a_thin_plate_is_not_passed(far):
    """A ball of 5 mm over a plate of 1 mm, dragged straight through it in one go, stops on it."""
    model = on_floor(im.Sphere(0.005), position=(0, 0, -50))
    model.obstacle("plate", im.Box((0.4, 0.4, 0.001)), material="steel")
    world = im.World(model)
    world.drag("body", (0.0, 0.0, -far))
    assert world.body("body").position == pytest.approx((0, 0, 0.0055), abs=DEEPEST)
    world.drag("body", (0.05, 0.02, -far))
    assert world.body("body").position == pytest.approx((0.05, 0.02, 0.0055), abs=2e-6)


def test_round_the_edge_of_a_plate():
    """A target beside and below: along the plate, round its edge, and there."""
    model = on_floor(im.Sphere(0.005), position=(0, 0, -50))
    model.obstacle("plate", im.Box((0.4, 0.4, 0.001)), material="steel")
    world = im.World(model)
    target = np.array([0.5, 0.0, -0.1])
    for _ in range(4):
        world.drag("body", target)
        assert least_gap(world) > -DEEPEST
    assert world.body("body").position == pytest.approx(target, abs=1e-9)


def test_what_is_in_the_way_is_pushed():
    """A ball on a rail against a block of 5 kg on the same: the block is as far as the ball pushes it, and stays."""
    model = im.Model("rail")
    model.body("ball", mass=1.0, shape=im.Sphere(0.1), material="steel")
    model.body("block", mass=5.0, shape=im.Box((0.2, 0.2, 0.2)), position=(1.0, 0, 0), material="steel")
    model.joint("left", "prismatic", "ground", "ball", at=(0, 0, 0), axis=(1, 0, 0))
    model.joint("right", "prismatic", "ground", "block", at=(1, 0, 0), axis=(1, 0, 0), limits=(-1.0, 0.5))
    world = im.World(model)
    for x, block in ((0.5, 1.0), (0.9, 1.1), (1.1, 1.3), (0.2, 1.3), (5.0, 1.5)):
        world.drag("ball", (x, 0, 0))
        assert world.body("block").position[0] == pytest.approx(block, abs=DEEPEST)
        assert world.body("ball").position[0] == pytest.approx(min(x, 1.3), abs=2 * DEEPEST)


def test_a_picture_is_passed():
    """Without a material a shape is a picture."""
    model = on_floor(im.Sphere(0.1))
    model.bodies["body"].material = None
    world = im.World(model)
    world.drag("body", (0, 0, -1.0))
    assert world.body("body").position == pytest.approx((0, 0, -1.0), abs=1e-10)


def test_hand_where_it_was_changes_no_bit():
    world = im.World(on_floor(im.Box((0.3, 0.2, 0.1))))
    for _ in range(3):
        world.drag("body", (0.1, 0.0, -1.0))
    before = world.hash()
    world.drag("body", (0.1, 0.0, -1.0))
    assert world.hash() == before


def test_same_hand_same_bits():
    """Whatever was dragged before in the same world, and in a new one."""
    way = [(0.1, 0.0, -1.0), (0.3, 0.1, -0.2), (0.2, -0.4, 0.3), (-0.5, 0.0, -0.7)]
    first, second = (im.World(on_floor(im.Box((0.3, 0.2, 0.1)))) for _ in range(2))
    for target in way[:2]:
        first.drag("body", target, (0.1, 0.1, 0.05))
    second.restore(first.snapshot())
    for target in way[2:]:
        for world in (first, second):
            world.drag("body", target, (0.1, 0.1, 0.05))
    assert first.hash() == second.hash()


@pytest.mark.parametrize("method", [name for name, own in im.METHODS.items() if hasattr(own, "touching_kernel")])
def test_steps_go_on_from_a_contact(method):
    """A block dragged onto the floor rests there, its weight on it, from the first step on."""
    world = im.World(on_floor(im.Box((0.3, 0.2, 0.1))), method=method)
    world.step(3)
    for _ in range(3):
        world.drag("body", (0.1, 0.0, -1.0))
    world.apply(im.edits.SetState({"body": {"velocity": (0, 0, 0), "angular_velocity": (0, 0, 0)}}))
    start = world.body("body").position.copy()
    world.step(5)
    assert world.body("body").position == pytest.approx(start, abs=1e-8 if method == "direct" else 1e-4)
    force = sum(one.force for one in world.contacts())
    assert abs(force[2]) == pytest.approx(9.81, rel=1e-6 if method == "direct" else 0.05)


def test_an_overlap_of_before_grows_no_deeper():
    """A ball between plates nearer than its size, which cannot be pushed out: along them, not farther into one."""
    model = on_floor(im.Sphere(0.1))
    model.obstacle("roof", im.Plane(), position=(0, 0, 0.18), orientation=(1, 0, 0, 0), material="wood")
    model.bodies["body"].position = np.array([0.0, 0.0, 0.09])
    with pytest.warns(UserWarning, match="are left"):
        world = im.World(model)
    height = world.body("body").position[2]
    world.drag("body", (0.3, 0.0, -1.0))
    assert world.body("body").position[2] > height - 2 * DEEPEST
    world.drag("body", (0.3, 0.0, height))
    assert world.body("body").position[0] == pytest.approx(0.3, abs=1e-6)


SOLIDS = {
    "ball": im.Sphere(0.06),
    "box": im.Box((0.2, 0.1, 0.06)),
    "plate": im.Box((0.2, 0.2, 0.002)),
    "capsule": im.Capsule(radius=0.01, length=0.2),
    "cylinder": im.Cylinder(radius=0.06, length=0.1),
    "cone": im.Cone(radius=0.06, length=0.12),
    "hull": im.ConvexHull(np.random.default_rng(3).normal(size=(20, 3)) * 0.05),
}


@pytest.mark.parametrize("shape", SOLIDS)
def test_a_room_of_thin_walls_is_not_left(shape):
    """Six walls of 1 mm about a metre; pulled by any point to anywhere, 10 m away and more, it stays inside."""
    model = im.Model("room")
    model.body("body", mass=1.0, inertia=(0.002, 0.002, 0.002), shape=SOLIDS[shape], material="steel")
    for axis in range(3):
        for sign in (-1.0, 1.0):
            size, at = np.full(3, 1.002), np.zeros(3)
            size[axis], at[axis] = 0.001, 0.5005 * sign
            model.obstacle(f"wall {axis} {sign:+.0f}", im.Box(tuple(size)), position=tuple(at), material="steel")
    world = im.World(model)
    random = np.random.default_rng(7)
    for _ in range(25):
        at = tuple(random.normal(scale=0.05, size=3))
        target = random.normal(size=3) * 10.0 ** random.uniform(-1, 1.3)
        before = np.linalg.norm(world.point("body", at) - target)
        world.drag("body", target, at)
        assert np.linalg.norm(world.point("body", at) - target) <= before
        assert (np.abs(world.body("body").position) < 0.5).all()
        assert least_gap(world) > -DEEPEST


def hills() -> np.ndarray:
    x, y = np.meshgrid(np.linspace(-1, 1, 15), np.linspace(-1, 1, 15), indexing="ij")
    return 0.15 * np.sin(4 * x) * np.cos(3 * y)


@pytest.mark.parametrize("shape", ("ball", "box", "capsule", "hull"))
def test_over_hills(shape):
    """Along a height field, pulled down all the way: a ball gets to the other side, others at least when lifted."""
    model = im.Model("hills")
    model.body("body", mass=1.0, inertia=(0.002, 0.002, 0.002), shape=SOLIDS[shape], position=(-0.7, 0, 0.6))
    model.bodies["body"].material = "steel"
    model.obstacle("hills", im.HeightField(hills(), (2.0, 2.0)), material="wood")
    world = im.World(model)
    for x in np.linspace(-0.7, 0.7, 15):
        world.drag("body", (x, 0.1, -0.5))
        assert least_gap(world) > -DEEPEST
        assert world.body("body").position[2] > -0.2
    assert world.body("body").position[0] > 0.4 or shape != "ball"
    world.drag("body", (0.7, 0.1, 0.6))
    assert world.body("body").position == pytest.approx((0.7, 0.1, 0.6), abs=1e-9)
