"""Key frames: named joint coordinates that a world is put at."""

from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import edits

DATA = Path(__file__).parents[1] / "data" / "imports"


def arm() -> im.Model:
    model = im.Model("arm")
    model.body("upper", mass=1.0, inertia=(0.02, 0.02, 0.01), position=(0.2, 0, 0))
    model.body("lower", mass=0.5, inertia=(0.01, 0.01, 0.005), position=(0.5, 0, 0))
    model.joint("shoulder", "spherical", "ground", "upper", at=(0, 0, 0))
    model.joint("elbow", "cylindrical", "upper", "lower", at=(0.4, 0, 0), axis=(0, 1, 0))
    model.keyframe("home", {"shoulder.y": 0.4, "elbow.angle": -0.7}, {"elbow.slide": 0.2})
    return model


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_a_world_goes_to_it(coordinates: str) -> None:
    """What it names is read back, the rest is at the start and at rest; of a batch only those asked for."""
    world = im.World(arm(), coordinates=coordinates, worlds=2, dt=0.005)
    world.step(10)
    before = world.joint_positions()[0].copy()
    world.go_to("home", mask=[False, True])
    np.testing.assert_allclose(world.joint_positions()[1], [0, 0.4, 0, 0, -0.7], atol=1e-10)
    np.testing.assert_allclose(world.joint_velocities()[1], [0, 0, 0, 0.2, 0], atol=1e-10)
    np.testing.assert_array_equal(world.joint_positions()[0], before)


def test_files_and_scripts_keep_them(tmp_path: Path) -> None:
    im.save_model(arm(), tmp_path / "arm.json")
    scope: dict = {}
    exec(im.to_python(arm()), scope)
    made = next(value for value in scope.values() if isinstance(value, im.Model))
    for model in (im.load(tmp_path / "arm.json"), made):
        assert vars(model.keyframes["home"]) == vars(arm().keyframes["home"])


def test_they_come_and_go() -> None:
    """Added to a running world, and taken back."""
    world = im.World(arm())
    answer = world.add("keyframe", "folded", positions={"elbow.angle": 2.0})
    world.go_to("folded")
    assert world.joint("elbow").position == pytest.approx((0.0, 2.0))
    world.apply(answer.inverse)
    with pytest.raises(im.EditError, match="no keyframe named 'folded'"):
        world.go_to("folded")


def test_a_joint_that_is_renamed_is_so_in_them() -> None:
    world = im.World(arm())
    world.apply(edits.Rename("elbow", "joint 2"))
    assert world.model.keyframes["home"].positions == {"shoulder.y": 0.4, "joint 2.angle": -0.7}
    world.go_to("home")
    assert world.joint("joint 2").position == pytest.approx((0.0, -0.7))


def test_mjcf_key_frames_are_taken() -> None:
    """qpos and qvel by the file's own names."""
    world = im.World(im.load(DATA / "servos.xml"))
    world.go_to("driven")
    np.testing.assert_allclose(world.joint_positions(), [0.3, -0.2, 0.05], atol=1e-12)
    np.testing.assert_allclose(world.joint_velocities(), [0.1, 0.2, -0.3], atol=1e-12)


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(im.ModelError, match="no coordinate named 'elbow'; did you mean"):
        arm().keyframe("other", {"elbow": 1.0})
    with pytest.raises(im.ModelError, match=r"'elbow\.angle' is inf"):
        arm().keyframe("other", {"elbow.angle": np.inf})
