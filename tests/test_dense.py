"""Results at any times: `run(at=times)` reads the motion between steps and changes nothing of it."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.validate.variants import variants

G = 9.81
TIMES = np.sort(np.random.default_rng(3).uniform(0.0, 0.5, 23))
VARIANTS = [(method, coordinates) for _, method, coordinates in variants()]
NAMES = [label for label, _, _ in variants()]


def stone(**start) -> im.Model:
    model = im.Model("stone")
    model.body("stone", 2.0, (1.0, 2.0, 1.5), **start)
    return model


def driven() -> im.Model:
    """Everything that a step depends on beside the state: a script, a callable, a hand that comes."""
    model = im.scene("slider-crank")
    first = next(iter(model.bodies))
    model.load("wind", first, force=lambda t: (0.0, 0.0, math.sin(9.0 * t)))
    model.at(0.2, im.Grab("hand", first, (0.0, 0.0, 0.0)))
    return model


SCENES = {
    "ten-pendula": lambda: im.scene("ten-pendula", start="30deg"),
    "five-link": lambda: im.scene("five-link", friction=0.02),
    "slider-crank": driven,
    "cradle": lambda: im.scene("newtons-cradle"),
}


def world_of(model: im.Model, method, coordinates: str) -> im.World:
    """A world; what a method has no law for is skipped."""
    try:
        return im.World(model, method, coordinates)
    except im.ModelError as error:
        if "has no law" not in str(error) and "has no contact" not in str(error):
            raise
        pytest.skip(str(error))


def values_of(result) -> dict:
    return {name: result[name].values for name in result.data_vars if name != "iterations"}


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize(("method", "coordinates"), VARIANTS, ids=NAMES)
def test_looking_changes_no_bit(method, coordinates, scene) -> None:
    """A run that is sampled between its steps ends with the bits of one that is not, and so do all its samples, however
    many are asked for."""
    plain, few, many = (world_of(SCENES[scene](), method, coordinates) for _ in range(3))
    plain.run(0.5)
    some, all_of_them = few.run(0.5, at=TIMES[::3]), many.run(0.5, at=TIMES)
    assert few.hash() == many.hash() == plain.hash()
    np.testing.assert_array_equal(all_of_them["time"], TIMES)
    found = values_of(all_of_them)
    for name, values in values_of(some).items():
        np.testing.assert_array_equal(values, found[name][::3], name)
    assert found["position"].std(axis=0).max() > 0
    np.testing.assert_array_equal(many.reactions()[0], plain.reactions()[0])


@pytest.mark.parametrize("dt", [0.003, 0.01, 0.25])
@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_samples_between_steps_are_as_good_as_steps(coordinates, dt) -> None:
    """x = v t, z = w t - g t² / 2, and the turn of a symmetric body is precession and spin: whatever the step."""
    model = im.Model("top")
    spin = np.array([0.3, -0.2, 2.0])
    model.body("top", 1.0, (1.0, 1.0, 0.5), velocity=(1.0, 0.0, 3.0), angular_velocity=spin)
    world = im.World(model, coordinates=coordinates, dt=dt, rtol=1e-12, atol=1e-12)
    result = world.run(0.5, at=TIMES)
    exact = np.stack([TIMES, 0 * TIMES, 3.0 * TIMES - 0.5 * G * TIMES**2], axis=1)
    np.testing.assert_allclose(result["position"][:, 0], exact, rtol=0, atol=1e-11)
    momentum = np.array([1.0, 1.0, 0.5]) * spin
    rate, own = np.linalg.norm(momentum) / 1.0, spin[2] * (1.0 - 0.5 / 1.0)
    for time, found in zip(TIMES, result["orientation"].values[:, 0], strict=True):
        turned = _turn(momentum / np.linalg.norm(momentum), rate * time)
        spun = _turn(np.array([0.0, 0.0, 1.0]), own * time)
        exact = _times(turned, spun)
        assert min(np.abs(found - exact).max(), np.abs(found + exact).max()) < 1e-10


def _turn(axis: np.ndarray, angle: float) -> np.ndarray:
    return np.append(math.sin(0.5 * angle) * axis, math.cos(0.5 * angle))


def _times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.append(a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3]), a[3] * b[3] - a[:3] @ b[:3])


@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_a_first_order_method_is_read_on_its_curve(method) -> None:
    """A falling body's steps are zₙ = -g h² n (n + 1) / 2 and vₙ = -g h n: between them the same with any n."""
    h = 0.01
    result = im.World(stone(), method, dt=h).run(0.5, at=TIMES)
    n = TIMES / h
    np.testing.assert_allclose(result["position"][:, 0, 2], -0.5 * G * h * h * n * (n + 1.0), rtol=0, atol=1e-12)
    np.testing.assert_allclose(result["velocity"][:, 0, 2], -G * h * n, rtol=0, atol=1e-12)


def test_what_is_read_on_a_curve_is_on_the_joints() -> None:
    """Steps of SIMMC leave joints open; what is read between them is projected onto them (Wang 2011 §3)."""
    model = im.scene("slider-crank")
    steps = im.World(model, "simmc", dt=0.01).run(0.5)
    between = im.World(model, "simmc", dt=0.01).run(0.5, at=0.0037 + 0.01 * np.arange(49))
    assert float(steps["constraint_error"].max()) > 1e-6
    assert float(between["constraint_error"].max()) < 1e-9


def test_books_balance_between_steps() -> None:
    """At any time the energy is what came in less what was lost: to the tolerance, with friction and a hand."""
    for scene in ("ten-pendula", "five-link", "slider-crank"):
        result = im.World(SCENES[scene](), rtol=1e-9, atol=1e-9).run(0.5, at=TIMES)
        turned_over = float(np.abs(result["energy"].sel(kind=["kinetic", "work", "loss"])).max())
        assert float(np.abs(result["energy"].sel(kind="imbalance")).max()) < 1e-5 * turned_over


def test_times_at_steps_are_the_steps() -> None:
    """A time that is a step's, or off it by rounding, is read there: the sample is that of a plain run."""
    plain = im.World(driven()).run(0.3, every=0.01)
    asked = im.World(driven()).run(0.3, at=np.linspace(0.0, 0.3, 31))
    for name, values in values_of(plain).items():
        np.testing.assert_allclose(asked[name].values, values, rtol=0, atol=1e-9 * (1 + np.nanmax(np.abs(values))))


def test_a_duration_between_steps_is_sampled_to_its_end() -> None:
    """A run lasts to the nearest step; times up to its duration are there all the same, and the world is left alone."""
    world, other = im.World(stone(), dt=0.1), im.World(stone(), dt=0.1)
    result = world.run(0.54, at=[0.0, 0.2, 0.53, 0.54])
    other.run(0.54)
    np.testing.assert_allclose(
        result["position"][:, 0, 2], -0.5 * G * np.array([0.0, 0.2, 0.53, 0.54]) ** 2, atol=1e-12
    )
    assert world.time == pytest.approx(0.5) and world.hash() == other.hash()


def test_a_batch_is_read_in_all_its_worlds() -> None:
    """Each world of a batch has its own motion at the times asked for."""
    world = im.World(stone(), worlds=3)
    world.apply(im.ApplyLoad("push", "stone", force=(1.0, 0.0, 0.0)))
    world.set("stone.mass", np.array([1.0, 2.0, 4.0]))
    result = world.run(0.5, at=TIMES, variables=["position"])
    for k, mass in enumerate((1.0, 2.0, 4.0)):
        np.testing.assert_allclose(result["position"][k, :, 0, 0], 0.5 * TIMES**2 / mass, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("at", "told"),
    [
        (0.3, "expected a list of times"),
        ([], "at has 0 times"),
        ([0.1, math.nan], "expected a list of times"),
        ([0.1, "0.2"], "expected a list of times"),
        ([[0.1]], "expected a list of times"),
        ([0.2, 0.1], "at has 0.1 after 0.2 s"),
        ([0.1, 0.1], "let times ascend"),
        ([0.1, 0.6], "at has 0.6 s, not from 0 to 0.5 s"),
        ([-0.1, 0.1], "at has -0.1 s, not from 0"),
    ],
)
def test_times_that_make_no_sense_are_refused(at, told) -> None:
    world = im.World(stone())
    with pytest.raises(im.ModelError, match=told):
        world.run(0.5, at=at)
    assert world.time == 0.0


def test_times_and_an_interval_are_refused() -> None:
    with pytest.raises(im.ModelError, match=r"every is 0\.1 s and at is given too"):
        im.World(stone()).run(0.5, every=0.1, at=[0.1])
