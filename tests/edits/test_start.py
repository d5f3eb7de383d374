"""The present pose as the start of a model."""

import numpy as np
import pytest

import impulsar as im
from impulsar import edits

SCENES = ("four-bar", "ten-pendula", "slider-crank", "five-link", "manipulator")


def places(world: im.World) -> np.ndarray:
    return np.array([[*world.body(name).position, *world.body(name).orientation] for name in world.model.bodies])


def speeds(world: im.World) -> np.ndarray:
    return np.array([[*world.body(name).velocity, *world.body(name).angular_velocity] for name in world.model.bodies])


@pytest.mark.filterwarnings("ignore:.*start velocities changed")
@pytest.mark.parametrize("scene", SCENES)
def test_reset_comes_back_to_where_the_start_was_set(scene: str, tmp_path) -> None:
    """Nothing moves by it, no energy is booked, coordinates keep their zero; a file begins there too."""
    world = im.World(im.scene(scene))
    world.step(30)
    then, moving, energy = places(world), speeds(world), world.energy().total
    coordinates = {name: world.joint(name).position for name in world.model.joints}
    answer = world.apply(edits.SetStart())
    assert answer.text == "the start is now this pose and velocities of all bodies"
    assert places(world) == pytest.approx(then, abs=1e-14)
    assert world.energy().total == pytest.approx(energy, abs=1e-12)
    world.step(10)
    im.save_model(world.model, tmp_path / "scene.json")
    im.save_model(world.shown_model(velocities=False), tmp_path / "shown.json")
    shown = places(world)
    world.apply(edits.Reset())
    again = im.World(im.load_model(tmp_path / "scene.json"))
    for found in (world, again):
        assert places(found) == pytest.approx(then, abs=1e-12)
        assert speeds(found) == pytest.approx(moving, abs=1e-10)
        for name, value in coordinates.items():
            assert found.joint(name).position == pytest.approx(value, abs=1e-12)
    at_rest = im.World(im.load_model(tmp_path / "shown.json"))
    assert places(at_rest) == pytest.approx(shown, abs=1e-12)


def test_the_start_at_rest_and_its_undo() -> None:
    world = im.World(im.scene("slider-crank"))
    history = im.History(world)
    history.step(40)
    then, before = places(world), world.hash()
    history.apply(edits.SetStart(velocities=False))
    history.undo()
    assert world.hash() == before
    history.redo()
    history.apply(edits.Reset())
    assert places(world) == pytest.approx(then, abs=1e-12)
    assert speeds(world) == pytest.approx(0.0)
    with pytest.raises(edits.EditError, match="velocities is 3, expected True or False"):
        world_of_one = im.World(im.scene("slider-crank"))
        world_of_one.apply(edits.SetStart(velocities=3))  # type: ignore[arg-type]


def test_a_state_that_the_joints_do_not_allow_says_what_it_became() -> None:
    world = im.World(im.scene("four-bar"))
    answer = world.apply(edits.SetState({"coupler": {"position": (0.1, 0.2, 0.3)}}))
    x, y, z = world.body("coupler").position
    assert f"the joints leave 'coupler' position ({x:.4g}, {y:.4g}, {z:.4g}) m, off by 0.3" in answer.text
    answer = world.apply(edits.SetState({"crank": {"angular_velocity": (0.0, 0.0, 1.0)}}))
    assert "the joints leave" not in answer.text or abs(world.body("crank").angular_velocity[2] - 1.0) > 1e-9
