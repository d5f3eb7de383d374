"""Trajectories: the goal is met by the world itself; least effort and least time beside closed forms; why not."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.author.errors import ModelError
from impulsar.optimise import trajectory

STEP = im.Direct(substeps=1)
INERTIA = 0.1


def rotor() -> im.Model:
    model = im.Model("rotor", gravity=(0, 0, 0))
    body = model.body("rotor", 1.0, inertia=(INERTIA,) * 3)
    model.joint("axle", "revolute", "ground", body, at=(0, 0, 0), axis=(0, 0, 1))
    return model


def cart_pole() -> im.Model:
    model = im.Model("cart-pole", gravity=(0, 0, -9.81))
    cart = model.body("cart", 1.0, inertia=(1e-2,) * 3)
    pole = model.body("pole", 0.2, inertia=(1e-3, 1e-3, 1e-4), position=(0, 0, -0.25))
    model.joint("rail", "prismatic", "ground", cart, at=(0, 0, 0), axis=(1, 0, 0))
    model.joint("hinge", "revolute", cart, pole, at=(0, 0, 0), axis=(0, 1, 0))
    return model


def ends(model: im.Model, found, dt: float) -> im.World:
    """The model with the torques that were found, run for their time."""
    for name in found.torques:
        group = next(iter(model.joints[name].features))
        model.joints[name].features[group].motor = found.motor(name)
    world = im.World(model, method=STEP, dt=dt)
    world.step(round(found.duration / dt))
    return world


def test_least_effort_from_rest_to_rest_is_linear_in_time() -> None:
    """A free rotor by φ in T: u = (6 J φ / T²) (1 - 2 t / T), which knots have exactly, but for the step's
    own error, of second order in dt."""
    found = trajectory(
        rotor(), {"axle": 2.0}, {"axle.position": 1.0, "axle.velocity": 0.0}, 1.0, dt=0.02, knots=5, method=STEP
    )
    assert found.met and found.why == ""
    expected = 6.0 * INERTIA * (1.0 - 2.0 * np.linspace(0.0, 1.0, 5))
    assert found.torques["axle"].values == pytest.approx(expected, abs=2e-3)
    world = ends(rotor(), found, 0.02)
    assert world.joint("axle").position == pytest.approx(1.0, abs=2e-4)
    assert found.profile("axle.position")(1.0) == pytest.approx(1.0, abs=2e-4)


@pytest.mark.study
def test_least_time_is_that_of_full_torque_both_ways() -> None:
    """T = 2 sqrt(φ J / U) at u = ±U, somewhat more where the torque takes a knot to change over."""
    goal = {"axle.position": 1.0, "axle.velocity": 0.0}
    found = trajectory(rotor(), {"axle": 1.0}, goal, (0.5, 1.2), dt=0.02, knots=9, method=STEP, rounds=12)
    bound = 2.0 * math.sqrt(INERTIA)
    assert found.met and bound < found.duration < 1.15 * bound


def test_what_is_too_short_says_why() -> None:
    """Less than 2 sqrt(φ J / U) is not enough, whatever the torque."""
    goal = {"axle.position": 1.0, "axle.velocity": 0.0}
    bound = 2.0 * math.sqrt(INERTIA)
    short = trajectory(rotor(), {"axle": 1.0}, goal, 0.9 * bound, dt=0.05, knots=5, method=STEP, rounds=5)
    assert not short.met and "is off by" in short.why and "axle gives all it can" in short.why


def test_nonsense_is_refused() -> None:
    goal = {"axle.position": 1.0}
    for torques, wanted, duration, why in (
        ({"no": 1.0}, goal, 1.0, "no joint 'no'"),
        ({"axle": -1.0}, goal, 1.0, "the most torque of 'axle'"),
        ({"axle": 1.0}, {}, 1.0, "nothing is driven or wanted"),
        ({"axle": 1.0}, goal, (2.0, 1.0), "duration is"),
    ):
        with pytest.raises(ModelError, match=why):
            trajectory(rotor(), torques, wanted, duration)


@pytest.mark.study
def test_a_cart_swings_its_pole_up_within_its_rail(tmp_path) -> None:
    """One force, two freedoms: the pole stands at the end and the cart is where it began, never beyond its rail."""
    goal = {"rail.position": 0.0, "rail.velocity": 0.0, "hinge.position": math.pi, "hinge.velocity": 0.0}
    found = trajectory(cart_pole(), {"rail": 15.0}, goal, 2.0, {"rail.position": (-0.6, 0.6)}, dt=0.02, method=STEP)
    assert found.met and np.abs(found.outcomes["rail.position"]).max() <= 0.6 * (1 + 1e-4)
    world = ends(cart_pole(), found, 0.02)
    assert world.joint("hinge").position == pytest.approx(math.pi, abs=1e-3)
    assert world.joint("rail").position == pytest.approx(0.0, abs=1e-3)
    found.picture(str(tmp_path / "swing.png"))
    assert (tmp_path / "swing.png").stat().st_size > 10_000


def test_a_joint_that_is_to_stay_is_no_reason_to_lose_the_way() -> None:
    """A double pendulum by two motors to its upper place: the elbow is to end as it begins."""
    model, before = im.Model("double pendulum"), "ground"
    for k in range(2):
        link = model.body(f"link{k}", 1.0, inertia=(0.01, 0.01, 0.001), position=(0, 0, -0.15 - 0.3 * k))
        model.joint(f"joint{k}", "revolute", before, link, at=(0, 0, -0.3 * k), axis=(0, 1, 0), viscous=0.01)
        before = link.name
    goal = {"joint0.position": math.pi, "joint1.position": 0.0, "joint0.velocity": 0.0, "joint1.velocity": 0.0}
    found = trajectory(model, {"joint0": 8.0, "joint1": 4.0}, goal, 2.5, dt=0.02, rounds=6, method=STEP)
    assert found.met, found.why
    with pytest.raises(ModelError, match=r"goal of 'joint0\.position' is 'up', expected"):
        trajectory(model, {"joint0": 8.0}, {"joint0.position": "up"}, 1.0)
