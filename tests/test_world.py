"""World: what it promises about steps, options, batches and reading."""

import math

import numpy as np
import pytest

import impulsar as im


def test_free_fall_errs_by_half_a_step(device):
    """z(t) = z0 - g t²/2; semi-implicit Euler errs by exactly g h t / 2."""
    model = im.Model("stone")
    model.body("stone", mass=2.0, shape=im.Sphere(0.1), position=(0, 0, 10))
    world = im.World(model, method="simgc", dt=0.01, device=device)
    world.step(100)
    assert world.body("stone").position[2] == pytest.approx(10 - 9.81 / 2 - 9.81 * 0.01 / 2, abs=1e-12)
    assert world.body("stone").acceleration[2] == pytest.approx(-9.81, abs=1e-9)


def test_long_step_is_divided(device):
    """SIMGC's step is limited to 10 ms: 1/30 s makes four sub-steps."""
    model = im.scene("ten-pendula", start="30deg")
    whole = im.World(model, method="simgc", dt=1 / 30, device=device)
    parts = im.World(model, method="simgc", dt=1 / 120, device=device)
    assert whole.step(3).steps == 12
    parts.step(12)
    assert np.array_equal(whole.state.numpy(), parts.state.numpy())


def test_step_changes_while_running():
    """A changed step scales the warm start and stays on the trajectory of the loop."""
    world = im.World(im.scene("peaucellier"), method="simgc", dt=0.01)
    for dt in (0.01, 0.002, 0.007, 0.001, 0.01):
        world.apply(im.SetStep(dt))
        world.step(50)
        assert world.constraint_error() < 1e-5
    with pytest.raises(im.EditError, match="dt is -1"):
        world.apply(im.SetStep(-1))


def test_reports_name_the_worst_joint():
    world = im.World(im.scene("peaucellier"), method="simgc", dt=0.01)
    report = world.step(10)
    assert report.steps == 10
    assert report.iterations >= report.most_iterations > 0
    assert report.worst_joint in world.model.joints
    assert report.ended_by == "tolerance"
    assert math.isfinite(report.energy.imbalance)


def test_limit_of_iterations_is_reported():
    world = im.World(im.scene("peaucellier"), method=im.Simgc(iterations=3), dt=0.01)
    world.step(5)
    assert world.step().ended_by == "iterations"
    with pytest.raises(im.StepError, match="iterations limit"):
        im.World(im.scene("peaucellier"), method=im.Simgc(iterations=3), dt=0.01, strict=True).step(5)


def test_budget_becomes_a_limit_of_iterations():
    """A budget shorter than one sweep leaves one; a generous one leaves the method's own limit."""
    model = im.scene("peaucellier")
    assert im.World(model, method="simgc", budget=1e-7).work_limit == 1
    assert im.World(model, method="simgc", budget=1.0).work_limit == im.Simgc().iterations
    assert im.World(model, method="simgc", budget=1e-7).step(3).ended_by == "budget"


@pytest.mark.parametrize("method", im.METHODS)
def test_a_broken_state_raises(method):
    """A velocity that is no number ends the step, whatever the method, with the model's name and the cause."""
    world = im.World(im.scene("chain", n=5, start="horizontal"), method=method, dt=0.01)
    world.step(3)
    broken = world.state.read("v").copy()
    broken[2] = np.nan
    world.state.write("v", broken)
    with pytest.raises(im.StepError, match=r"chain of 5.*no longer finite"):
        world.step(2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "magic"}, "methods are"),
        ({"method": im.Simgc(epsilon=-1)}, "epsilon is -1"),
        ({"coordinates": "spherical"}, "works in: generalized, maximal"),
        ({"method": "simgc", "coordinates": "maximal"}, "works in: generalized"),
        ({"method": "simgc", "rtol": 1e-6}, "has no rtol"),
        ({"rtol": -1.0}, "rtol is -1.0"),
        ({"device": "tpu"}, "devices are"),
        ({"worlds": 0}, "expected an integer >= 1"),
        ({"dt": 0.0}, "dt is 0.0"),
        ({"budget": -1.0}, "budget is -1.0"),
    ],
)
def test_wrong_options_are_named(options, words):
    with pytest.raises(im.ModelError, match=words):
        im.World(im.scene("chain", n=2), **options)


def test_unknown_keyword_is_an_error():
    with pytest.raises(TypeError):
        im.World(im.scene("chain", n=2), speed=3)


def test_batch_with_its_own_parameters(device):
    """A pendulum's swing does not depend on its mass, its inertia growing with it; under gravity g/k it is that under g
    at a time √k as short. Both to the tolerance of `direct`, 1e-7 of angles of order 1, with room for 100 steps."""
    model = im.scene("chain", n=1, start="30deg")
    world = im.World(model, dt=0.001, worlds=3, device=device)
    link = model.bodies["link1"]
    world.set("link1.mass", link.mass * np.array([1.0, 1.0, 4.0]))
    world.set("link1.inertia", link.inertia * np.array([1.0, 1.0, 4.0])[:, None, None])
    world.set("model.gravity", [[0, 0, -9.81], [0, 0, -1.6], [0, 0, -9.81]])
    start = world.joint("hinge1").position.copy()
    world.step(100)
    angles = world.joint("hinge1").position
    slow = im.World(model, dt=0.001 * np.sqrt(1.6 / 9.81), device=device)
    slow.step(100)
    assert angles.shape == (3,)
    assert angles[2] == pytest.approx(angles[0], abs=1e-6)
    assert angles[1] == pytest.approx(slow.joint("hinge1").position, abs=1e-6)
    assert abs(angles[0] - start[0]) > 4 * abs(angles[1] - start[1]) > 0.01
    assert world.energy().kinetic.shape == (3,)
    assert world.body("link1").position.shape == (3, 3)


def test_start_velocities_are_made_to_fit():
    """Two equal discs on one shaft, one spinning: joined, both turn at half the speed."""
    model = im.Model("discs", gravity=(0, 0, 0))
    a = model.body("a", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 4.0), velocity=(0, 0, 1.0))
    b = model.body("b", mass=1.0, inertia=(1, 1, 1))
    model.joint("shaft", "revolute", model.ground, a, at=(0, 0, 0), axis=(0, 0, 1))
    model.joint("weld", "fixed", a, b, at=(0, 0, 0))
    with pytest.warns(UserWarning, match="a by 1 m/s"):
        world = im.World(model)
    assert world.joint("shaft").velocity == pytest.approx(2.0, rel=1e-14)
    assert world.start_change == {"a": pytest.approx(1.0)}


def test_callable_motor_follows_time():
    """A callable of time is sampled ahead, in launches of many steps as in single ones."""
    model = im.Model("wheel", gravity=(0, 0, 0))
    wheel = model.body("wheel", mass=1.0, inertia=(1, 1, 1))
    drive = im.Motor(speed=lambda t: math.sin(t))
    model.joint("axle", "revolute", model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), motor=drive)
    many, single = (im.World(model, method="simgc", dt=0.01) for _ in range(2))
    many.step(1000)
    for _ in range(1000):
        single.step()
    assert many.joint("axle").velocity == pytest.approx(math.sin(10.0), abs=1e-12)
    assert many.hash() == single.hash()


def test_limit_bounces():
    """Restitution e: the speed after a limit is -e times the speed before."""
    model = im.Model("slider", gravity=(0, 0, 0))
    body = model.body("block", mass=1.0, inertia=(1, 1, 1), velocity=(0, 0, -1.0))
    model.joint(
        "rail", "prismatic", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1), limits=(-0.5, 0.5), limit_restitution=0.6
    )
    world = im.World(model, dt=0.01)
    world.step(60)
    assert world.joint("rail").velocity == pytest.approx(0.6, rel=1e-12)
    books = world.energy()
    assert books.losses["rail limit"] == pytest.approx(0.5 * (1 - 0.6**2), rel=1e-12)
    assert abs(books.imbalance) < 1e-12


def test_scenes_build_and_run():
    for name, scene in im.SCENES.items():
        assert scene.description
        world = im.World(scene.build())
        world.step(5)
        assert world.constraint_error() < 1e-12, name
        assert world.model.reference_energy > 0


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("ten-pendulum", {}, "did you mean 'ten-pendula'"),
        ("chain", {"m": 3}, "no parameter 'm'"),
        ("chain", {"n": -3}, "n is -3"),
        ("chain", {"start": "up"}, "hanging, 30deg, horizontal"),
    ],
)
def test_wrong_scenes_are_named(name, parameters, words):
    with pytest.raises(im.ModelError, match=words):
        im.scene(name, **parameters)
