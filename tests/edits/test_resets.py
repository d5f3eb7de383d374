"""Worlds of a batch put at joint coordinates."""

from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.history.replay import replay

BOTH = ["generalized", "maximal"]


def chain() -> im.Model:
    """A ball, a hinge and a slide, one after the other."""
    model = im.Model("chain")
    for k, (x, z) in enumerate(((0.2, 0.0), (0.5, 0.1), (0.7, 0.1))):
        model.body(f"b{k}", mass=1.0, inertia=(0.02, 0.03, 0.025), position=(x, 0, z), angular_velocity=(0, 0.5, 0))
    model.joint("ball", "spherical", "ground", "b0", at=(0, 0, 0))
    model.joint("hinge", "revolute", "b1", "b0", at=(0.35, 0, 0), axis=(0, 1, 0.2))
    model.joint("rail", "cylindrical", "b1", "b2", at=(0.6, 0, 0.1), axis=(1, 0, 0))
    return model


def world_of(model: im.Model, coordinates: str, worlds: int = 3) -> im.World:
    with pytest.warns(UserWarning, match="start velocities"):
        return im.World(model, coordinates=coordinates, worlds=worlds, dt=0.005)


@pytest.mark.parametrize("coordinates", BOTH)
def test_it_is_where_it_was_told(coordinates: str) -> None:
    """What is put is read back, turns and all; other worlds keep their bits, and books hold."""
    world = world_of(chain(), coordinates)
    names = world.coordinate_names
    assert names[3:] == ["hinge", "rail.slide", "rail.angle"]
    world.step(5)
    kept = world.state.numpy()[:, 1].copy()
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(2, 6)) * 0.4, rng.normal(size=(2, 6))
    q[:, 3] += 4 * np.pi
    world.reset([True, False, True], q=q, v=v)
    np.testing.assert_allclose(world.joint_positions()[[0, 2]], q, atol=1e-9)
    np.testing.assert_allclose(world.joint_velocities()[[0, 2]], v, atol=1e-9)
    np.testing.assert_array_equal(world.state.numpy()[:, 1], kept)
    world.step(10)
    assert np.abs(world.energy().imbalance).max() < 1e-8


@pytest.mark.parametrize("coordinates", BOTH)
def test_a_world_put_anew_goes_on_as_a_new_one(coordinates: str) -> None:
    """Back at the start, after whatever happened, the trajectory is that from the start: to the bit in a tree."""
    world, fresh = world_of(chain(), coordinates), world_of(chain(), coordinates)
    world.step(20)
    world.reset([False, True, False])
    fresh.step(10)
    world.step(10)
    exact = coordinates == "generalized"
    np.testing.assert_allclose(world.joint_positions()[1], fresh.joint_positions()[1], atol=0.0 if exact else 1e-10)
    assert np.abs(world.joint_positions()[0] - fresh.joint_positions()[0]).max() > 1e-3


@pytest.mark.parametrize("coordinates", BOTH)
def test_loops_are_closed_and_it_is_told(coordinates: str) -> None:
    """A four-bar put at a crank angle alone: its loop is closed, and the answer says where the crank came to be."""
    world = im.World(im.scene("four-bar"), coordinates=coordinates, worlds=2, dt=0.002)
    crank = world.coordinate_names[0]
    answer = world.reset([False, True], q={crank: 0.2})
    assert np.abs(world.constraint_error()).max() < 1e-9
    assert f"the joints leave '{crank}' at" in answer.text
    assert abs(world.joint_positions()[1, 0]) > 1e-3
    again = world.reset(q=world.joint_positions())
    assert "leave" not in again.text
    world.step(10)
    assert np.abs(world.energy().imbalance).max() < 1e-6


def test_one_world_names_and_arrays_of_the_device() -> None:
    """By name and without a batch; zero copies speak DLPack."""
    world = world_of(chain(), "generalized", 1)
    world.reset(q={"hinge": 0.3}, v={"rail.slide": -0.2})
    assert world.joint("hinge").position == 0.3
    assert world.joint("rail").velocity == pytest.approx((-0.2, 0.0))
    lent = world.joint_positions(copy=False)
    np.testing.assert_array_equal(np.from_dlpack(lent), world.joint_positions()[None])


def test_it_is_in_the_journal(tmp_path: Path) -> None:
    """A history replays it to the same bits, and undo goes back before it."""
    world = world_of(chain(), "generalized", 2)
    history = im.History(world, tmp_path / "run.journal")
    history.step(5)
    before = world.hash()
    history.apply(edits.PutWorlds((1,), q=np.arange(6) * 0.1))
    history.step(5)
    after = world.hash()
    history.undo()
    assert world.hash() == before
    history.redo()
    assert world.hash() == after
    history.close()
    again = im.History.open(tmp_path / "run.journal")
    assert again.world.hash() == after
    again.close()
    assert not replay(tmp_path / "run.journal", verify=True).wrong


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"mask": [True]}, "mask is"),
        ({"q": [1.0, 2.0]}, r"q has shape \(2,\)"),
        ({"q": {"hing": 1.0}}, "hinge"),
        ({"v": {"hinge": np.nan}}, "v is nan"),
        ({"v": {"hinge": "fast"}}, "expected a finite number"),
    ],
)
def test_what_is_wrong_is_told(given: dict, told: str) -> None:
    world = world_of(chain(), "generalized", 2)
    with pytest.raises(im.EditError, match=told):
        world.reset(**given)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_tensors_of_others_are_the_same_memory(library: str) -> None:
    """PyTorch and JAX take a batch's coordinates by DLPack where they lie: no copy, and the next reading is seen."""
    given = pytest.importorskip(library)
    if library == "jax":
        given.config.update("jax_enable_x64", True)
    world = world_of(chain(), "generalized", 5)
    lent = world.joint_positions(copy=False)
    tensor = given.from_dlpack(lent) if library == "torch" else given.dlpack.from_dlpack(lent)
    where = tensor.data_ptr() if library == "torch" else tensor.unsafe_buffer_pointer()
    assert where == lent.ptr and tuple(tensor.shape) == lent.shape
    world.step(5)
    now = world.joint_positions(copy=False)
    assert now.ptr == lent.ptr and (np.from_dlpack(tensor) == world.joint_positions()).all()
