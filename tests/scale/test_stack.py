"""Batches of models that differ: a world of a batch is what a world of its own is."""

import numpy as np
import pytest

import impulsar as im
from impulsar.analysis import with_parameters
from impulsar.world.stack import Stack

LENGTHS = ((0.1, 0.25, 0.2), (0.11, 0.24, 0.21), (0.09, 0.26, 0.19), (0.105, 0.255, 0.195))


def four_bar() -> im.Model:
    model = im.scene("four-bar")
    for name, part, value in (("a", "crank", 0.1), ("b", "coupler", 0.25), ("c", "rocker", 0.2)):
        model.parameter(name, value, unit="m")
        model.expression(f"{part}.length", name)
    return model


def cases(model: im.Model) -> list[im.Model]:
    return [model.with_parameters(a=a, b=b, c=c) for a, b, c in LENGTHS]


def pendulum(mass=1.0, length=1.0, angle=0.5, stiffness=3.0, speed=0.0) -> im.Model:
    """A rod with a spring and a weight on it, of any numbers."""
    model = im.Model("pendulum")
    tip = length * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    across = mass * length**2 / 12
    turn = (0.0, np.sin(-angle / 2), 0.0, np.cos(-angle / 2))
    rod = model.body(
        "rod",
        mass=mass,
        inertia=(across, across, 1e-4),
        position=tip / 2,
        orientation=turn,
        angular_velocity=(0.0, speed, 0.0),
        velocity=np.cross((0.0, speed, 0.0), tip / 2),
    )
    model.joint("pivot", "revolute", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), friction=0.01 * mass)
    model.spring("pull", rod, model.ground, at_a=tip, at_b=(1, 0, 0), stiffness=stiffness, damping=0.1, free_length=0.2)
    model.load("push", rod, force=(0.1 * mass, 0, 0), at=tip)
    model.probe("tip", rod, at=tip)
    return model


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_a_world_of_a_batch_is_what_one_of_its_own_is(coordinates):
    """From the pose that the batch has closed, a build of its own moves alike, to rounding."""
    model = four_bar()
    models = cases(model)
    batch = im.World(model, worlds=models, coordinates=coordinates)
    assert batch.constraint_error().max() < 1e-9
    places = {name: (batch.body(name).position.copy(), batch.body(name).orientation.copy()) for name in model.bodies}
    batch.step(200)
    for k, own in enumerate(models):
        own = own.copy(parts=True).without_expressions(list(own.expressions))
        for name, (p_WB, q_WB) in places.items():
            own.bodies[name].position, own.bodies[name].orientation = p_WB[k], q_WB[k]
        alone = im.World(own, coordinates=coordinates)
        alone.step(200)
        for name in model.bodies:
            assert alone.body(name).position == pytest.approx(batch.body(name).position[k], abs=1e-10)


def test_loops_are_closed_on_the_way_that_assembly_takes():
    """Both find a pose near the authored one: on the same branch, apart by less than the lengths have changed."""
    model = four_bar()
    batch = im.World(model, worlds=cases(model))
    for k, (a, b, c) in enumerate(LENGTHS):
        own = with_parameters(model, a=a, b=b, c=c)
        for name, body in own.bodies.items():
            assert np.linalg.norm(batch.body(name).position[k] - body.position) < 0.02


def test_lengths_are_those_asked_for():
    """|A B| of the coupler's pins is b in each world, and the probe is at its end."""
    model = four_bar()
    world = im.World(model, worlds=cases(model))
    world.step(50)
    result = world.run(0.01, variables=["probe", "parameter.value"], progress=False)
    B = result["probe"].sel(name="path B").values[:, -1]
    for w, (a, b, c) in enumerate(LENGTHS):
        C = np.array([0.25, 0.0, 0.0])
        assert np.linalg.norm(B[w] - C) == pytest.approx(c, abs=1e-9)
        assert result["parameter_value"].values[w, -1].tolist() == [a, b, c]


def test_bits_do_not_depend_on_the_others():
    model = four_bar()
    models = cases(model)
    batch = im.World(model, worlds=models)
    batch.step(100)
    for k in (0, 2):
        alone = im.World(model, worlds=[models[k]])
        alone.step(100)
        assert np.array_equal(alone.state.numpy()[:, 0], batch.state.numpy()[:, k])


def test_any_number_may_differ():
    """Mass, length, start, velocity, spring, friction and load by world, each as in a world of its own."""
    given = [{}, {"mass": 2.0, "length": 0.8}, {"angle": -0.4, "stiffness": 9.0}, {"speed": 1.5, "length": 1.2}]
    models = [pendulum(**own) for own in given]
    batch = im.World(models[0], worlds=models)
    batch.step(100)
    tips = batch.run(0.01, variables=["probe"], progress=False)["probe"].values[:, 0, 0]
    for k, model in enumerate(models):
        alone = im.World(model)
        alone.step(100)
        there = alone.run(0.01, variables=["probe"], progress=False)["probe"].values[0, 0]
        assert tips[k] == pytest.approx(there, abs=1e-8)  # tolerances are by the nominal model's size


def test_a_snapshot_brings_it_back():
    model = four_bar()
    world = im.World(model, worlds=cases(model))
    world.step(20)
    kept = world.snapshot()
    world.step(30)
    end = world.state.numpy().copy()
    other = im.World(model, worlds=cases(model))
    for each in (world, other):
        each.restore(kept)
        each.step(30)
        assert np.array_equal(each.state.numpy(), end)


def test_what_does_not_fit_is_named():
    model = four_bar()
    more = model.copy(parts=True)
    more.body("extra", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(im.ModelError, match=r"model 1 cannot be in a batch .* other parts"):
        im.World(model, worlds=[model, more])
    with pytest.raises(im.ModelError, match="joints do not close"):
        im.World(model, worlds=[model.with_parameters(a=0.1, b=0.9, c=0.2)])
    with pytest.raises(im.ModelError, match="expected an integer >= 1"):
        im.World(model, worlds="3")
    with pytest.raises(im.ModelError, match="list of models"):
        im.World(model, worlds=[1, 2])


def test_rows_that_do_not_hold_are_found():
    """A four-bar whose hinges lean is held by rows that a planar one has no use for."""
    model = four_bar()
    leaning = model.copy(parts=True)
    tilt = np.array([np.sin(0.05), 0.0, 0.0, np.cos(0.05)])
    for name in ("A", "O"):
        joint = leaning.joints[name]
        joint.q_PF, joint.q_CM = tilt.copy(), tilt.copy()
    stack = Stack(model, [model, leaning], "generalized", 1e-4)
    assert stack.index == [0] and list(stack.apart) == [1]


def test_it_is_not_built_anew():
    model = four_bar()
    world = im.World(model, worlds=cases(model))
    world.set("crank.mass", np.array([0.1, 0.2, 0.3, 0.4]))  # what arrays hold may be set
    with pytest.raises(im.EditError, match="models of their own"):
        world.change("O", type="spherical")
    with pytest.raises(im.EditError, match="models of their own"):
        world.apply(im.edits.Reset())
