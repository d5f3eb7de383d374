"""The scene `stone`: two hands take a stone from a table, and it does not move between their finger tips."""

import numpy as np
import pytest

import impulsar as im
from impulsar.analysis import clearance
from impulsar.author.rotations import rotation_matrix
from impulsar.scenes import stone
from impulsar.scenes.upper_body import CURL, FINGERS, SIDES

TIPS = [f"{side} {finger} tip" for side in SIDES for finger in FINGERS]


def within(world: im.World, body: str, place: np.ndarray) -> np.ndarray:
    """A place of the world in a body's frame [m]."""
    own = world.body(body)
    return rotation_matrix(own.orientation).T @ (place - own.position)


def touched(world: im.World) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By tip, where it touches the stone: the point of the tip and that of the stone, in their frames [m]."""
    pairs = {next(name for name in (c.first, c.second) if name in TIPS): c for c in world.contacts() if "table" not in
             (c.first, c.second)}  # fmt: skip
    return {tip: (within(world, tip, c.point), within(world, "stone", c.point)) for tip, c in pairs.items()}


def slip(world: im.World, start: dict) -> float:
    """How far points that touched have gone from each other since [m]."""
    return max(float(np.linalg.norm(world.point(tip, a) - world.point("stone", b))) for tip, (a, b) in start.items())


def carried(world: im.World) -> np.ndarray:
    """What finger tips give the stone [N]."""
    return sum((c.force if c.second == "stone" else -c.force for c in world.contacts()), np.zeros(3))


@pytest.mark.parametrize(
    ("dt", "modes"),
    [(0.01, True), (0.01, False), pytest.param(0.002, True, marks=pytest.mark.slow), (0.002, False)],
)
def test_the_stone_is_lifted_and_held_without_slip(dt: float, modes: bool):
    world = im.World(im.scene("stone"), im.Direct(modes=modes), dt=dt)
    weight = world.model.bodies["stone"].mass * stone.G
    world.step(round(stone.LIFT / dt))
    start, height, most = touched(world), world.body("stone").position[2], 0.0
    assert list(start) == TIPS and height == pytest.approx(stone.TABLE + 0.0675, abs=1e-3)
    while world.time < stone.END - dt / 2:
        report = world.step(round(0.1 / dt))
        most = max(most, slip(world, start))
        assert report.trouble == ()
        if world.time > stone.LIFTED + dt:
            assert len(world.contacts()) == len(TIPS)  # the table is left
            assert all(contact.mode == "sticks" for contact in world.contacts())
            assert carried(world) == pytest.approx([0, 0, weight], abs=1e-6 * weight)
    assert most < (1e-9 if modes else 1e-7)
    assert world.body("stone").position[2] - height == pytest.approx(0.2, abs=1e-7)
    for name in TIPS:
        finger = name.removesuffix(" tip")
        assert world.joint(f"{finger} bend").position == pytest.approx(
            CURL * world.joint(f"{finger} knuckle").position, abs=1e-9
        )
    # impulses are of order 1
    assert abs(world.energy().imbalance) < (1e-4 if modes else 1e-2) * world.model.reference_energy


def test_nothing_but_finger_tips_touches_it():
    """Forearms, palms and fingers, which are pictures, stay off table, stone and torso on the whole way."""
    world = im.World(im.scene("stone"))
    names = [name for name in world.model.bodies if name != "stone"]
    pairs = [(name, other) for name in names for other in ("stone", "table")]
    pairs += [("torso", name) for name in names if "forearm" in name or "palm" in name]
    found = clearance(world, stone.LIFTED, 0.05, pairs=pairs)
    assert not found.overlapping
    near = {found.pair.first for found in found.pairs if found.gap < 1e-3}
    assert near == set(TIPS)


def test_a_grip_that_is_too_weak_leaves_it_there():
    """Friction of six tips of 8 N carries 38 N of its 72 N; it slips out of them before it is high."""
    world = im.World(im.scene("stone", grip=8.0))
    assert world.model.bodies["stone"].mass * stone.G > 6 * 8.0 * 0.8
    world.step(round(stone.LIFTED / world.dt))
    assert world.body("stone").position[2] < stone.TABLE + 0.07


def test_wrong_parameters_are_named():
    with pytest.raises(im.ModelError, match="grip is 0"):
        im.scene("stone", grip=0.0)
    with pytest.raises(im.ModelError, match="left hand does not reach"):
        im.scene("stone", lift=2.0)
