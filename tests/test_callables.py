"""Python callables of time: what they give is checked, and one that fails names its part and can be taken away."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.engine.methods import METHODS
from impulsar.history.history import History

PAIRS = [(name, kind) for name, method in METHODS.items() for kind in method.coordinates]
FROM = 0.095  # [s]: between two steps, so that rounding of the clock does not decide


def fails_from(value, before, start=FROM):
    """A callable that goes wrong at a time: gives `value`, or raises it."""

    def function(t):
        if t < start:
            return before
        if isinstance(value, Exception):
            raise value
        return value

    return function


def cart() -> im.Model:
    model = im.Model("cart")
    model.body("cart", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    model.joint("rail", "prismatic", "ground", "cart", at=(0, 0, 0), axis=(1, 0, 0))
    model.joint("pin", "revolute", "cart", "arm", at=(0, 0, 0), axis=(0, 1, 0))
    return model


def with_motor(function, kind: str):
    model = cart()
    model.joints["pin"].features["angle"].motor = im.Motor(**{kind: function})
    return model


def with_load(function, what: str):
    model = cart()
    model.load("wind", "arm", **{what: function})
    return model


# what has the callable: the model, an edit that brings it, its name in errors, edits that take it away or replace it
ZERO = (0.0, 0.0, 0.0)
OWNERS = {
    "load": (lambda f: with_load(f, "force"), (), "load 'wind' force", edits.RemoveLoad("wind")),
    "torque": (lambda f: with_load(f, "torque"), (), "load 'wind' torque", edits.RemoveLoad("wind")),
    "replaced load": (lambda f: with_load(f, "force"), (), "load 'wind' force", edits.ApplyLoad("wind", "arm", ZERO)),
    "removed load": (lambda f: with_load(f, "force"), (), "load 'wind' force", edits.Remove("load", "wind")),
    "removed body": (lambda f: with_load(f, "force"), (), "load 'wind' force", edits.Remove("body", "arm")),
    "live load": (
        lambda f: cart(),
        lambda f: (edits.ApplyLoad("gust", "arm", force=f),),
        "load 'gust' force",
        edits.RemoveLoad("gust"),
    ),
    "hand": (
        lambda f: cart(),
        lambda f: (edits.Grab("mine", "arm"), edits.Move("mine", f)),
        "hand 'mine'",
        edits.Release("mine"),
    ),
    "moved hand": (
        lambda f: cart(),
        lambda f: (edits.Grab("mine", "arm"), edits.Move("mine", f)),
        "hand 'mine'",
        edits.Move("mine", ZERO),
    ),
    **{
        f"motor {kind}": (
            lambda f, kind=kind: with_motor(f, kind),
            (),
            "motor of joint 'pin'",
            edits.SetMotor("pin", None),
        )
        for kind in ("speed", "position", "torque")
    },
    "driven motor": (lambda f: with_motor(f, "torque"), (), "motor of joint 'pin'", edits.Drive("pin", 0.0)),
}
VECTORS = ("load", "torque", "replaced load", "removed load", "removed body", "live load", "hand", "moved hand")


def started(owner: str, value, method: str, coordinates: str, **options) -> im.World:
    build, bring, _, _ = OWNERS[owner]
    function = fails_from(value, ZERO if owner in VECTORS else 0.0)
    world = im.World(build(function), method, coordinates, dt=0.01, **options)
    for edit in bring(function) if bring else ():
        world.apply(edit)
    return world


WRONG = {
    "raises": (ZeroDivisionError("by me"), r"raised ZeroDivisionError: by me"),
    "raises a ValueError": (ValueError("gave up"), r"raised ValueError: gave up"),
    "raises IndexError": (IndexError("far"), r"raised IndexError: far"),
    "nan": ((math.nan, 0.0, 0.0), r"gave \(nan, 0\.0, 0\.0\), expected 3 finite numbers"),
    "inf": ((0.0, math.inf, 0.0), r"gave \(0\.0, inf, 0\.0\), expected 3 finite numbers"),
    "huge": ((0.0, 1e21, 0.0), r"gave .*expected 3 finite numbers of at most 1e\+20"),
    "two": ((1.0, 2.0), r"gave \(1\.0, 2\.0\), expected 3 finite numbers"),
    "four": (np.zeros(4), r"gave array.*expected 3 finite numbers"),
    "a number": (1.0, r"gave 1\.0, expected 3 finite numbers"),
    "none": (None, r"gave None, expected 3 finite numbers"),
    "empty": ((), r"gave \(\), expected 3 finite numbers"),
    "text": ("up", r"gave 'up', expected 3 finite numbers"),
    "texts": (("1", "2", "3"), r"gave .*expected 3 finite numbers"),
    "ragged": ([1, [2, 3], 4], r"gave .*expected 3 finite numbers"),
    "complex": ((1j, 0, 0), r"gave .*expected 3 finite numbers"),
    "bools": ((True, False, True), r"gave .*expected 3 finite numbers"),
    "integers": ((10**400, 0, 0), r"gave .*expected 3 finite numbers"),
    "dict": ({"x": 1}, r"gave .*expected 3 finite numbers"),
}
SCALARS = {
    "raises": WRONG["raises"],
    "nan": (math.nan, r"gave nan, expected 1 finite number of"),
    "inf": (-math.inf, r"gave -inf, expected 1 finite number of"),
    "three": (ZERO, r"gave \(0\.0, 0\.0, 0\.0\), expected 1 finite number of"),
    "none": (None, r"gave None, expected 1 finite number of"),
    "text": ("up", r"gave 'up', expected 1 finite number of"),
}


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
@pytest.mark.parametrize("owner", OWNERS)
def test_one_that_raises_can_be_taken_away(owner, method, coordinates):
    """It names its part and the time; after the edit that takes it away or replaces it, stepping goes on and it is
    not called again."""
    world = started(owner, RuntimeError("mine"), method, coordinates)
    with pytest.raises(im.StepError, match=f"{OWNERS[owner][2]}: its callable raised RuntimeError: mine at t = 0.1"):
        for _ in range(30):
            world.step()
    assert world.time == pytest.approx(0.09)
    assert np.isfinite(world.state.numpy()).all()
    world.apply(OWNERS[owner][3])
    report = world.step(20)
    assert world.time == pytest.approx(0.29)
    assert np.isfinite(world.state.numpy()).all() and report.steps >= 20
    assert not world.system.channels.callables


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
@pytest.mark.parametrize("wrong", WRONG)
def test_what_a_callable_of_three_numbers_may_not_give(wrong, method, coordinates):
    """Of whatever shape and type: part, value and time, never a step with it. An error that is told once is told again
    as long as nobody changes it."""
    value, text = WRONG[wrong]
    for owner in ("load", "hand"):
        world = started(owner, value, method, coordinates)
        for _ in range(2):
            with pytest.raises(im.StepError, match=f"{OWNERS[owner][2]}: its callable {text}.* at t = 0.1"):
                for _ in range(30):
                    world.step()
            assert world.time == pytest.approx(0.09)


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
@pytest.mark.parametrize("wrong", SCALARS)
def test_what_a_callable_of_one_number_may_not_give(wrong, method, coordinates):
    """The same for motors of every kind, and for one component of a force."""
    value, text = SCALARS[wrong]
    for kind in ("speed", "position", "torque"):
        world = started(f"motor {kind}", value, method, coordinates)
        with pytest.raises(im.StepError, match=f"motor of joint 'pin': its callable {text}.* at t = 0.1"):
            world.step(30)
    model = cart()
    model.load("wind", "arm", force=(0.0, fails_from(value, 0.0), 0.0))
    with pytest.raises(im.StepError, match=f"load 'wind' force: its callable {text}"):
        im.World(model, method, coordinates, dt=0.01).step(30)


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
def test_numbers_of_any_kind_are_taken(method, coordinates):
    """Lists, tuples, arrays of floats and integers, NumPy scalars: 1 N on 1 kg for 1 s is 1 m/s on a free body;
    a first-order method is exact for a constant force."""
    for push in ([1, 0, 0], (1.0, 0, np.float32(0)), np.array([1, 0, 0]), np.array([[1.0], [0.0], [0.0]])):
        model = im.Model("stone", gravity=(0, 0, 0))
        model.body("stone", mass=1.0, inertia=(0.1, 0.1, 0.1))
        model.load("push", "stone", force=lambda t, push=push: push)
        world = im.World(model, method, coordinates, dt=0.01)
        world.step(100)
        assert world.body("stone").velocity == pytest.approx(np.array([1.0, 0, 0]), abs=1e-12)


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("value", (RuntimeError("mine"), math.nan, None), ids=repr)
def test_in_a_history(owner, value):
    """Undo brings it back and it is told again; the history goes on after the edit that takes it away."""
    if not isinstance(value, Exception) and owner in VECTORS:
        value = (value, 0.0, 0.0)
    build, bring, name, cure = OWNERS[owner]
    function = fails_from(value, ZERO if owner in VECTORS else 0.0)
    history = History(im.World(build(function), dt=0.01))
    for edit in bring(function) if bring else ():
        history.apply(edit)
    with pytest.raises(im.StepError, match=f"{name}: its callable"):
        history.step(30)
    history.apply(cure)
    history.step(20)
    history.undo()
    with pytest.raises(im.StepError, match=f"{name}: its callable"):
        history.step(30)
    history.apply(cure)
    history.step(20)


def test_a_hand_that_is_clamped_names_itself():
    """The clamp looks where the hand will be before the step does."""
    world = started("hand", RuntimeError("mine"), "direct", "generalized", max_hand_force=5.0)
    with pytest.raises(im.StepError, match="hand 'mine': its callable raised RuntimeError: mine"):
        for _ in range(30):
            world.step()


def test_run_raises_what_a_callable_raised():
    """A mistake in a script is no end of a run: it is not turned into a warning."""
    world = started("load", RuntimeError("mine"), "direct", "generalized")
    with pytest.raises(im.StepError, match="load 'wind' force: its callable raised RuntimeError"):
        world.run(1.0, progress=False)


@pytest.mark.parametrize("method", ("simgc", "simmc"))
def test_a_step_of_very_many_parts(method):
    """A nominal step of more sub-steps than a callable is sampled for ahead: its samples are spread over it.
    A torque t on inertia I for 5 s turns it at 12.5/I rad/s; samples are linear between, so order 1 in max_step."""
    model = im.Model("wheel", gravity=(0, 0, 0))
    model.body("wheel", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.joint("axle", "revolute", "ground", "wheel", at=(0, 0, 0), axis=(0, 0, 1), motor=im.Motor(torque=lambda t: t))
    world = im.World(model, method, dt=5.0)
    world.step()
    assert world.runner.substeps > 256
    assert world.joint("axle").velocity == pytest.approx(12.5, abs=5.0 * 0.01)
