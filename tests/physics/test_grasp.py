"""The scene `grasp`: a grip of a little more than statics asks for holds; one of a little less lets go."""

import numpy as np
import pytest

import impulsar as im
from impulsar.author.rotations import rotation_matrix
from impulsar.scenes import grasp

GRIPPED, END = 1.5, 11.0  # [s]
CORNERS = np.array([(x, y, z) for x in (-0.015, 0.015) for y in (-0.03, 0.03) for z in (-0.02, 0.02)])


def in_gripper(world: im.World) -> np.ndarray:
    """Points of the thing's surface under the pads, in the palm's frame [m]."""
    palm, thing = world.body("palm"), world.body("thing")
    places = thing.position + CORNERS @ rotation_matrix(thing.orientation).T
    return (places - palm.position) @ rotation_matrix(palm.orientation)


def carried(thing: str, dt: float, method="direct", **parameters) -> tuple[im.World, float, float]:
    """The world at the end, and the most that the thing slipped and that the fingers differed on the way [m]."""
    world = im.World(im.scene("grasp", thing=thing, **parameters), method, dt=dt)
    world.step(round(GRIPPED / dt))
    start, slip, apart = in_gripper(world), 0.0, 0.0
    for _ in range(19):
        world.step(round(0.5 / dt))
        slip = max(slip, np.linalg.norm(in_gripper(world) - start, axis=1).max())
        apart = max(apart, abs(world.joint("left slide").position - world.joint("right slide").position))
    assert world.time == pytest.approx(END)
    return world, slip, apart


@pytest.mark.parametrize("dt", [0.01, 0.002])
@pytest.mark.parametrize(("thing", "modes"), [("box", False), ("box", True), ("ball", False), ("ball", True)])
def test_a_gripped_thing_is_carried_and_does_not_slip(thing: str, modes: bool, dt: float):
    world, slip, apart = carried(thing, dt, im.Direct(modes=modes))
    assert slip < (1e-12 if modes else 1e-7)
    assert apart < 1e-9
    place = (np.cos(1.0) * 0.5, np.sin(1.0) * 0.5, 0.43)
    assert world.body("thing").position == pytest.approx(place, abs=2e-7)
    # statics at the end: the repeater shares the motor's force between the fingers, friction carries the weight
    across = np.array([-np.sin(1.0), np.cos(1.0), 0.0])
    force = {side: sum(c.force for c in world.contacts() if side in c.second) for side in ("left", "right")}
    half = 1.05 * grasp.least_grip(0.6) / 2
    assert force["left"] @ across == pytest.approx(half, rel=1e-6)
    assert force["right"] @ across == pytest.approx(-half, rel=1e-6)
    assert force["left"] + force["right"] == pytest.approx([0, 0, -grasp.MASS * grasp.G], abs=2e-6)


@pytest.mark.parametrize("thing", grasp.THINGS)
def test_a_grip_below_the_least_lets_go(thing: str):
    world, slip, _ = carried(thing, 0.01, grip=0.98)
    assert slip > 0.1
    assert world.body("thing").position[2] < grasp.TABLE + grasp.SIZE


def test_wrong_parameters_are_named():
    with pytest.raises(im.ModelError, match="thing is 'cup', expected one of: box, ball"):
        im.scene("grasp", thing="cup")
    with pytest.raises(im.ModelError, match="grip is 0"):
        im.scene("grasp", grip=0)


def test_a_rough_table_does_not_take_the_box_from_the_grip():
    """Of the forces that fit Coulomb's law the least are found: fingers do not press the box onto the table."""
    _, slip, _ = carried("box", 0.01, im.Direct(), table_friction=0.6)
    assert slip < 1e-9


def test_no_friction_of_many_lets_a_corner_slip_at_lift_off():
    """Pressure may stand on two corners about which the box would turn: a solution, and not the one it comes from."""
    world = im.World(im.scene("grasp"), worlds=32)
    friction = np.random.default_rng(0).uniform(0.6, 0.9, 256)
    world.set("pad.friction", friction[friction < 0.65][:32])

    def held() -> np.ndarray:
        palm, thing = world.body("palm"), world.body("thing")
        turns = [rotation_matrix(q).T for q in palm.orientation]
        return np.array([turn @ away for turn, away in zip(turns, thing.position - palm.position, strict=True)])

    world.step(149)
    start = held()
    world.step(20)
    assert np.abs(held() - start).max() < 1e-12
