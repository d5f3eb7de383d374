"""A loop cut open at a joint and closed again (the joint's modification of Wang 2011 fig. 4, taken to its end)."""

import warnings

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.analysis import mobility
from impulsar.history import History
from impulsar.io import model_from_json, model_to_json
from impulsar_verification.random_edits import COORDINATES, mechanism, moving_world


def world(**options) -> im.World:
    return im.World(im.scene("four-bar"), dt=0.001, **options)


def loop_joint(model: im.Model) -> str:
    """A joint between two moving bodies."""
    return next(name for name, own in model.joints.items() if "ground" not in (own.first, own.second))


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_a_cut_loop_falls_open_and_is_closed_again(coordinates: str) -> None:
    """Cut: two freedoms more, nothing moves. Open: it swings apart by the free joint's coordinates. Closed: one
    freedom, frames that meet to 1e-9, and the joint with its frames and friction as it was."""
    now = world(coordinates=coordinates)
    name = loop_joint(now.model)
    now.change(name, friction=0.01)
    was = now.model.joints[name]
    now.step(50)
    force = np.linalg.norm(now.joint(name).reaction.force)
    poses = {body: now.body(body).position.copy() for body in now.model.bodies}
    answer = now.apply(edits.Cut(name))
    assert f"{force:.4g} N" in answer.text
    assert answer.moved < 1e-14
    assert all(np.linalg.norm(now.body(body).position - at) < 1e-14 for body, at in poses.items())
    assert mobility(now.model).freedoms == mobility(im.scene("four-bar")).freedoms + 2
    assert np.abs(now.joint(name).position[:3]).max() < 1e-9  # the gap
    now.step(100)
    gap = np.linalg.norm(now.joint(name).position[:3])
    assert gap > 1e-3
    answer = now.apply(edits.Close(name))
    assert f"open by {gap:.3g} m" in answer.text and answer.moved > 1e-4
    again = now.model.joints[name]
    assert (again.type, again.first, again.second, again.closed, again.loop) == (
        was.type,
        was.first,
        was.second,
        None,
        was.loop,
    )
    assert again.features["angle"].friction == 0.01
    for frame in ("p_PF", "q_PF", "p_CM", "q_CM"):
        assert (getattr(again, frame) == getattr(was, frame)).all()
    assert now.constraint_error() < 1e-9
    now.step(50)
    assert now.constraint_error() < 1e-9 and mobility(now.model).freedoms == mobility(im.scene("four-bar")).freedoms


def test_cut_and_closed_at_once_it_goes_on_as_it_would_have() -> None:
    """Closing what has not moved is to go on: the same motion to the tolerance of the method."""
    one, other = world(), world()
    for each in (one, other):
        each.step(40)
    name = loop_joint(one.model)
    one.apply(edits.Cut(name))
    one.apply(edits.Close(name))
    for each in (one, other):
        each.step(60)
    for body in one.model.bodies:
        assert np.linalg.norm(one.body(body).position - other.body(body).position) < 1e-8


def test_a_cut_is_kept_in_files_scripts_and_copies_and_undone() -> None:
    """Saved, read and written as Python it is cut as it was, motor and all; undo gives the bits back."""
    now = world()
    name = next(iter(now.model.joints))
    now.change(name, motor=im.Motor(speed=2.0, max_torque=3.0), limits=(-20.0, 20.0))
    history = History(now)
    before = now.hash()
    history.apply(edits.Cut(name))
    model = model_from_json(model_to_json(now.model))
    assert model_to_json(model) == model_to_json(now.model)
    told: dict = {}
    exec(im.to_python(now.model).split("if __name__")[0], told)
    assert model_to_json(told["model"]) == model_to_json(now.model)
    again = im.World(told["model"])
    again.apply(edits.Close(name))
    features = again.model.joints[name].features["angle"]
    assert features.motor is not None and features.motor.speed == 2.0 and features.motor.max_torque == 3.0
    assert features.limits == (-20.0, 20.0)
    history.undo()
    assert now.hash() == before and now.model.joints[name].closed is None


def test_which_joint_closes_the_loop_is_a_choice() -> None:
    """`loop=True` makes a joint rows in generalized coordinates; the motion is the same to the tolerance."""
    one, other = world(), world()
    closing = {own.name for own in one.system.tree.loops}
    name = next(name for name in one.model.joints if name not in closing)
    other.change(name, loop=True)
    assert {own.name for own in other.system.tree.loops} == {name}
    for each in (one, other):
        each.step(100)
    for body in one.model.bodies:
        assert np.linalg.norm(one.body(body).position - other.body(body).position) < 1e-7


def test_what_cannot_be_cut_or_closed_is_refused() -> None:
    now = world()
    name = loop_joint(now.model)
    with pytest.raises(edits.EditError, match="is not cut"):
        now.apply(edits.Close(name))
    with pytest.raises(edits.EditError, match="no joint"):
        now.apply(edits.Cut("nothing"))
    now.apply(edits.Cut(name))
    with pytest.raises(edits.EditError, match="cut already"):
        now.apply(edits.Cut(name))
    with pytest.raises(im.ModelError, match="closed has 'colour'"):
        model = now.model.copy(parts=True)
        model.joints[name].closed = {"type": "revolute", "colour": 1}
        model.check()


@pytest.mark.parametrize("seed", range(12))
def test_any_joint_of_any_mechanism_is_cut_and_closed(seed: int) -> None:
    """In motion, of every type: what the cut lets go is closed at once without moving anything, energy in the books."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        now = moving_world(mechanism(rng), COORDINATES[seed % 2])
        now.step(5)
        for name in [name for name, own in now.model.joints.items() if own.type != "free"]:
            was = now.model.joints[name]
            assert now.apply(edits.Cut(name)).moved < 1e-9
            now.step(1)
            assert now.apply(edits.Close(name)).moved < 1e-2
            assert now.constraint_error() < 1e-8
            again = now.model.joints[name]
            assert (again.type, again.features.keys()) == (was.type, was.features.keys())
        now.step(5)
    energy = now.energy()
    size = abs(energy.kinetic) + abs(energy.potential) + abs(energy.elastic) + 1.0
    assert abs(energy.imbalance) < 1e-5 * size
