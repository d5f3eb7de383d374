"""Bodies without mass between joints: several joints on one body."""

from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import analysis
from impulsar_verification.import_oracles import against_mujoco

DATA = Path(__file__).parents[1] / "data" / "imports"
AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
SPIN = (0.4, -0.7, 0.5)


def top(kind: str, tip: bool = False) -> im.Model:
    """A body on a ball, or on three hinges that meet in a point, with nothing that weighs between them."""
    model = im.Model(kind)
    place = np.array([0.1, 0.05, -0.4])
    model.body(
        "top", mass=1.3, inertia=(0.03, 0.05, 0.04), position=place,
        angular_velocity=SPIN, velocity=np.cross(SPIN, place),
    )  # fmt: skip
    if kind == "ball":
        model.joint("ball", "spherical", "ground", "top", at=(0, 0, 0))
    else:
        names = ("ground", "ring", "fork", "top")
        for name in names[1:3]:
            model.body(name, mass=0)
        for k, axis in enumerate(AXES):
            model.joint(f"h{k}", "revolute", names[k], names[k + 1], at=(0, 0, 0), axis=axis)
    if tip:  # a loop
        model.joint("rod", "distance", "ground", "top", at=(0.5, 0, -0.4), at_b=(0.1, 0.05, -0.4))
    return model


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
@pytest.mark.parametrize("tip", [False, True])
def test_three_hinges_that_meet_are_a_ball(coordinates: str, tip: bool) -> None:
    """The same motion and the same reaction, away from where two of the hinges are parallel; books hold."""
    ends = []
    for kind in ("ball", "hinges"):
        world = im.World(top(kind, tip), coordinates=coordinates, dt=0.005, rtol=1e-10, atol=1e-11)
        world.run(0.5)
        joint = "ball" if kind == "ball" else "h2"
        ends.append(np.concatenate([world.body("top").position, world.joint(joint).reaction.force]))
        assert abs(world.energy().imbalance) < 1e-8
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


@pytest.mark.parametrize("method", ["simgc", "projected", "generalized_alpha"])
def test_methods_take_them(method: str) -> None:
    exact = im.World(top("ball"), dt=0.005)
    exact.run(0.2)
    world = im.World(top("hinges"), method=method, dt=5e-4)
    world.run(0.2)
    np.testing.assert_allclose(world.body("top").position, exact.body("top").position, atol=2e-3)


@pytest.mark.parametrize("seed", range(3))
def test_hinge_triples_are_those_of_mujoco(seed: int) -> None:
    """Joints of one body, in a row, with armature, springs and offsets: to rounding."""
    assert against_mujoco(DATA / "triples.xml", seed) < 1e-12


def test_analyses_take_them() -> None:
    """Modes of the hinged pendulum are those of the ball's."""
    found = [analysis.modes(top(kind)).frequency for kind in ("ball", "hinges")]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6, atol=1e-4)


def test_what_nothing_moves_is_refused() -> None:
    model = top("hinges")
    model.body("leaf", mass=0)
    with pytest.raises(im.ModelError, match="body 'leaf': weighs nothing and carries nothing that weighs"):
        im.World(model)
    lone = im.Model("lone")
    lone.body("a", mass=0)
    lone.body("b", mass=1, inertia=(1, 1, 1))
    lone.joint("j", "revolute", "a", "b", at=(0, 0, 0), axis=(1, 0, 0))
    with pytest.raises(im.ModelError, match="body 'a': weighs nothing and hangs on nothing"):
        im.World(lone)
    world = im.World(top("hinges"))
    with pytest.raises(im.EditError, match="weighs nothing"):
        world.remove("body", "top")
    with pytest.raises(im.EditError):
        world.set("ring.mass", 1.0)


def test_files_keep_them(tmp_path: Path) -> None:
    im.save_model(top("hinges"), tmp_path / "top.json")
    again = im.load(tmp_path / "top.json")
    assert again.bodies["ring"].is_carrier
    runs = []
    for model in (top("hinges"), again):
        world = im.World(model, dt=0.005)
        world.run(0.1)
        runs.append(world.state.numpy().copy())
    np.testing.assert_array_equal(runs[0], runs[1])
