"""Rows that are redundant by construction, in batches too, and what steps report when they are not right."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.analysis import mobility
from impulsar.validate.linkages import tilt

COORDINATES = ("generalized", "maximal")


def rssr() -> im.Model:
    """Two cranks on skew axes, joined by a rod with a ball at each end."""
    model = im.Model("RSSR")
    ends = np.array([(0.0, 0.1, 0.0), (0.3, 0.05, 0.15)])
    first = model.body("first", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=(0, 0.05, 0))
    rod = model.body("rod", mass=1.0, inertia=(2e-3, 2e-3, 1e-3), position=ends.mean(axis=0))
    second = model.body("second", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=(0.3, 0.0, 0.1))
    model.joint("A", "revolute", model.ground, first, at=(0, 0, 0), axis=(0, 0, 1))
    model.joint("B", "spherical", first, rod, at=ends[0])
    model.joint("C", "spherical", rod, second, at=ends[1])
    model.joint("D", "revolute", model.ground, second, at=(0.3, -0.05, 0.05), axis=(1, 0, 0))
    return model


def spin(world: im.World, rates: list[float]) -> None:
    """Turn the first crank of each world at its own rate, for a while, so that the worlds' poses part."""
    values = np.array([(0.0, 0.0, rate) for rate in rates])
    given = values if len(rates) > 1 else values[0]
    world.apply(im.edits.SetState({"first": {"angular_velocity": given}}))
    world.step(20)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_world_of_a_batch_is_held_as_it_is_alone(coordinates: str) -> None:
    """Both balls made hinges at poses that differ from world to world: each world has the bits of it alone."""
    rates = [0.0, 6.0, -3.0]
    batch = im.World(rssr(), coordinates=coordinates, worlds=len(rates))
    spin(batch, rates)
    for joint in ("B", "C"):
        batch.change(joint, type="revolute", axis=(0.3, 0.5, 0.8))
    batch.step(10)
    for k, rate in enumerate(rates):
        alone = im.World(rssr(), coordinates=coordinates)
        spin(alone, [rate])
        for joint in ("B", "C"):
            alone.change(joint, type="revolute", axis=(0.3, 0.5, 0.8))
        alone.step(10)
        assert alone.constraint_error() < 1e-9
        np.testing.assert_array_equal(batch.body("rod").position[k], alone.body("rod").position)
        np.testing.assert_array_equal(batch.joint("A").velocity[k], alone.joint("A").velocity)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_tilted_axes_are_named_with_their_opening(coordinates: str) -> None:
    """Hinges of a four-bar tilted by 1e-5 rad: three rows are no rows, open by no more than 3e-5 after a while."""
    world = im.World(tilt(im.scene("four-bar"), 1e-5, 0), coordinates=coordinates)
    world.step(20)
    openings = world.openings()
    assert len(openings) == 3
    assert all(name.startswith("joint '") for name in openings)
    assert 1e-7 < max(openings.values()) < 3e-5
    assert world.step().openings.keys() == openings.keys()
    assert mobility(world).freedoms == 1


def test_what_the_author_says_is_redundant() -> None:
    """An axis tilted by 1e-3 rad locks a four-bar at the default, and not where the play is said to be 1e-2."""
    model = tilt(im.scene("four-bar"), 1e-3, 0)
    assert mobility(im.World(model)).freedoms == 0
    world = im.World(model, redundancy=1e-2)
    world.step(10)
    assert abs(float(world.joint("O").velocity)) > 0.1


def test_redundancy_is_checked_and_kept_by_the_method() -> None:
    with pytest.raises(im.ModelError, match="redundancy"):
        im.World(im.scene("four-bar"), redundancy=1.0)
    world = im.World(im.scene("four-bar"), redundancy=1e-3)
    assert world.method.redundancy == world.redundancy == 1e-3


# reports ----------------------------------------------------------------------------------------------


def test_a_budget_that_does_is_not_in_the_way() -> None:
    """A step takes the work it needs within its budget: nothing is cut, nothing is coarse (the lift: 0.4 ms)."""
    world = im.World(im.scene("cross-lift"), budget=0.5)
    report = world.step(20)
    assert report.ended_by == "tolerance" and report.trouble == () and report.coarsest == 0.0


def test_beyond_the_budget_the_tolerance_is_coarser_and_said() -> None:
    """Few evaluations a step: what is left of it is taken at a coarser tolerance, not by impulses."""
    world = im.World(im.scene("ten-pendula", start="horizontal"), im.Direct(iterations=200), dt=0.05)
    report = world.step(10)
    assert report.ended_by == "iterations"
    assert 0.0 < report.coarsest <= 1e-2
    assert [one.cause for one in report.trouble][:1] == ["iterations"]
    strict = im.World(im.scene("ten-pendula", start="horizontal"), im.Direct(iterations=200), dt=0.05, strict=True)
    with pytest.raises(im.StepError, match="tolerance of"):
        strict.step(10)


@pytest.mark.parametrize("rtol", [1e-7, 1e-9, 1e-11])
def test_precision_does_not_turn_into_noise(rtol: float) -> None:
    """A free rotor at 1e4 rad/s keeps its energy at every tolerance."""
    model = im.Model("rotor", gravity=(0, 0, 0))
    model.body("rotor", mass=1.0, inertia=(1e-3, 2e-3, 2.5e-3), angular_velocity=(1e4, 10.0, 5.0))
    world = im.World(model, rtol=rtol, atol=rtol)
    start = world.energy().kinetic
    report = world.step(5)
    assert report.ended_by == "tolerance"
    assert abs(world.energy().kinetic / start - 1.0) < 1e3 * rtol


@pytest.mark.parametrize("method", ["direct", "simgc", "simmc"])
def test_the_worst_joint_is_the_one_that_is_open(method: str) -> None:
    """After a step the residuals are numbers of the rows that were solved, and a joint is named."""
    world = im.World(im.scene("peaucellier"), method)
    report = world.step(5)
    assert report.worst_joint in world.model.joints
    assert 0.0 <= report.velocity_residual < (1e-9 if method == "direct" else 1e-3)
    assert math.isfinite(report.position_residual)


def test_a_runaway_is_told() -> None:
    """SIMGC at 0.05 s on a stiff undamped spring: the books show that the vibration is lost."""
    model = im.Model("spring", gravity=(0, 0, 0))
    body = model.body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.1, 0, 0))
    model.joint("j", "prismatic", model.ground, body, at=(0, 0, 0), axis=(1, 0, 0), stiffness=1e6, rest=-0.05)
    report = im.World(model, "simgc").step(100)
    assert "energy" in [one.cause for one in report.trouble]
