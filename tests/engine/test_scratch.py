"""Work arrays hold nothing from one launch to the next: all of it follows from the state and the system."""

from collections.abc import Callable

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.engine.state import WorkArrays
from impulsar.scenes import scene
from impulsar.validate.determinism import METHODS, SCENES
from impulsar.validate.poison import poison

MEASURED = ("reaction", "a_WB", "energy", "report", "p_WB", "q_WB", "twist")
STEPS = 25


def take_steps(world: im.World, poisoned: bool) -> list[np.ndarray]:
    """State and measures after each of some steps, with all else lost between them."""
    kept = []
    for _ in range(STEPS):
        if poisoned:
            poison(world.runner.work)
            world.runner.refresh()
        world.step()
        kept.append(world.state.numpy().copy())
        kept += [getattr(world.runner.work, name).numpy().copy() for name in MEASURED]
    return kept


def compare(model: im.Model, method: str, coordinates: str, hold: bool) -> None:
    """The bits of a run whose work arrays are poisoned before every launch are those of one where they are not."""
    runs = []
    for poisoned in (False, True):
        world = im.World(model, method, coordinates, worlds=2)
        if hold:
            name = list(model.bodies)[-1]
            world.grab(name, at=(0.05, 0.0, 0.05), stiffness=50.0, damping=1.0, name="mine").move((0.5, 0.2, 0.3))
        runs.append(take_steps(world, poisoned))
        if hold:
            world.apply(edits.Release("mine"))
            runs[-1] += take_steps(world, poisoned)
    names = ("state", *MEASURED)
    for k, (clean, poisoned) in enumerate(zip(*runs, strict=True)):
        assert np.array_equal(clean, poisoned), f"{names[k % len(names)]} in launch {k // len(names)}"


def test_poison_reaches_every_array():
    """No array is left out, and nothing of it is left by a step that computes it."""
    work = im.World(scene("four-bar")).runner.work
    poison(work)
    for name in WorkArrays.vars:
        data = getattr(work, name).numpy()
        assert np.isnan(data).all() if data.dtype.kind == "f" else (data == 1).all()


@pytest.mark.filterwarnings("ignore:model 'balls'")  # start velocities are made to fit
@pytest.mark.parametrize(("method", "coordinates"), METHODS)
@pytest.mark.parametrize("hold", [False, True], ids=["alone", "with a hand"])
def test_rows_of_every_kind(mechanism, method, coordinates, hold):
    compare(mechanism, method, coordinates, hold)


@pytest.mark.parametrize(("method", "coordinates"), METHODS)
@pytest.mark.parametrize(("name", "parameters"), SCENES, ids=[name for name, _ in SCENES])
def test_scenes(name, parameters, method, coordinates):
    compare(scene(name, **parameters), method, coordinates, False)


SMOOTH = {
    "four-bar": {},
    "peaucellier": {},
    "cross-lift": {"case": "load"},
    "ten-pendula": {"start": "30deg"},
}


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
@pytest.mark.parametrize("name", SMOOTH)
def test_variational(name, coordinates):
    """Which refuses mechanisms with rows of every kind; a damper of 1 N s/m is stiff on the light links of the last."""
    compare(scene(name, **SMOOTH[name]), "variational", coordinates, name in ("four-bar", "cross-lift"))


@pytest.mark.filterwarnings("ignore:model 'balls'")
@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
@pytest.mark.parametrize("options", [{"pair": "implicit"}, {"pair": "explicit"}, {"substeps": 4}], ids=str)
def test_ways_of_direct(mechanism, coordinates, options):
    method = im.Direct(**options)
    compare(mechanism, method, coordinates, True)


def test_a_body_that_a_hand_let_go():
    """No row counts then, and yet the hand's slots are asked for their stiffness where sub-steps are small."""
    model = im.Model("top")
    model.body("top", mass=1.0, inertia=(0.01, 0.02, 0.025), angular_velocity=(40.0, 30.0, 1.0))
    compare(model, "direct", "generalized", True)


def test_slots_are_listed_anew_when_hands_did_something():
    """Where no slot is live a launch leaves its list to the next; what hands do and snapshots undo asks for another."""
    world = im.World(scene("chain", n=3), "simgc", worlds=2)
    system, work, before = world.system, world.runner.work, world.snapshot()

    def listed_after(change: Callable[[], object]) -> bool:
        work.row_kind.fill_(77)
        work.row_trees.fill_(77)
        change()
        world.step()
        kinds, trees = system.arrays.slot_kind.numpy(), system.arrays.slot_trees.numpy()
        return all(
            np.array_equal(work.row_kind.numpy()[:, w], kinds)
            and np.array_equal(work.row_trees.numpy()[:, w].reshape(-1, 4), trees)
            for w in range(2)
        )

    assert not listed_after(lambda: None)  # nobody reads it, and nobody writes it
    assert listed_after(lambda: world.grab("link2", name="mine"))
    assert listed_after(lambda: world.apply(edits.Release("mine")))
    assert not listed_after(lambda: None)
    assert listed_after(lambda: world.restore(before))
    assert not listed_after(lambda: world.step(3))
