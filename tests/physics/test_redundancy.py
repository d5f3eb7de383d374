"""Rows that are redundant by construction, in batches too, and what steps report when they are not right."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.analysis import assemble, inverse, mobility, statics
from impulsar.engine.system import build
from impulsar.engine.system.rank import independent, null_space
from impulsar.validate.drag_cases import CROSSING, PULLS
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


TILTS = {1e-9: 1e-4, 1e-7: 1e-4, 1e-5: 1e-4, 1e-4: 3e-4}  # and the play that is stated
LOOPS = ("four-bar", "peaucellier", "n-four-bar", "cross-lift")


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("pull", [pull for pull in PULLS if pull.freedoms == 1], ids=lambda pull: pull.name)
def test_a_drag_takes_tilted_axes_along(pull, coordinates: str) -> None:
    """The point goes where that of exact axes goes, but for the tilt; such a mechanism stood still."""
    exact = im.World(pull.model(), coordinates=coordinates)
    worlds = {
        tilt_: im.World(tilt(pull.model(), tilt_), coordinates=coordinates, redundancy=play)
        for tilt_, play in TILTS.items()
    }
    for target in pull.path()[::3]:
        exact.drag(pull.body, target, pull.at)
        for epsilon, world in worlds.items():
            world.drag(pull.body, target, pull.at)
            if pull.distance is not None:
                left = [np.linalg.norm(one.point(pull.body, pull.at) - target) for one in (exact, world)]
                assert left[1] == pytest.approx(left[0], abs=CROSSING + 3 * epsilon * world.system.size)


@pytest.mark.filterwarnings("ignore:.*start velocities changed")
@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("name", LOOPS)
def test_reactions_of_tilted_axes_are_those_of_exact_ones(name: str, coordinates: str) -> None:
    """From the first step on, where nothing is open yet, but for the tilt; and as indeterminate."""
    forces = {}
    for epsilon, play in {0.0: 1e-4, **TILTS}.items():
        world = im.World(tilt(im.scene(name), epsilon), coordinates=coordinates, redundancy=play)
        world.step()
        forces[epsilon] = world.reactions()
        assert (forces[epsilon][1] == forces[0.0][1]).all()
        off = np.abs(forces[epsilon][0] - forces[0.0][0]).max() / np.abs(forces[0.0][0]).max()
        assert off < 1e-8 + 3 * epsilon


def test_statics_leave_out_what_the_author_says_is_redundant() -> None:
    """A four-bar on a spring, hinges tilted: it hangs where that of exact axes does."""
    angles = []
    for epsilon, play in {0.0: 1e-4, 1e-5: 1e-4, 1e-4: 3e-4, 1e-3: 1e-2}.items():
        model = tilt(im.scene("four-bar"), epsilon)
        at = model.bodies["coupler"].position
        model.spring("s", model.ground, "coupler", at_a=(0.3, 0.4, 0.0), at_b=at, stiffness=100.0, free_length=0.1)
        angles.append(statics(im.World(model, redundancy=play)).joint_position["O"])
        assert angles[-1] == pytest.approx(angles[0], abs=1e-12 + 5 * epsilon**2)


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 1e-7, 1e-5])
def test_tilted_axes_are_assembled_and_driven(epsilon: float) -> None:
    """A four-bar whose coupler lies beside its place: closed but for the play, and its crank is driven all round."""
    model = tilt(im.scene("four-bar"), epsilon)
    driven = {"O": lambda t: (0.5 + 6.0 * t, 6.0, 0.0)}
    torque = inverse(model, driven, np.linspace(0.0, 1.0, 9))["motor_torque"].values.ravel()
    exact = inverse(im.scene("four-bar"), driven, np.linspace(0.0, 1.0, 9))["motor_torque"].values.ravel()
    assert np.abs(torque - exact).max() < (1e-9 + 10 * epsilon) * np.abs(exact).max()
    model.bodies["coupler"].position += np.array([0.01, -0.02, 0.005])
    found = assemble(model)
    assert found.closed and found.residual < 1e-10 + 3 * epsilon
    assert im.World(found.model).constraint_error() < 1e-10 + 3 * epsilon


def test_rows_are_left_out_also_where_there_is_no_room_to_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in batches of thousands of worlds: tilted axes lock nothing, to the bits of a world alone."""
    model = tilt(im.scene("four-bar"), 1e-5)
    alone = im.World(model, coordinates="maximal")
    alone.step(20)
    monkeypatch.setattr(build, "GRAM_CAPACITY", 0)
    batch = im.World(model, coordinates="maximal", worlds=2)
    batch.step(20)
    assert abs(float(alone.joint("O").velocity)) > 0.1
    np.testing.assert_array_equal(batch.joint("O").velocity, np.repeat(alone.joint("O").velocity, 2))


def test_rank_is_by_pivots() -> None:
    """Rows that others imply but for ε are dependent below the tolerance; what they are made of comes along."""
    rng = np.random.default_rng(3)
    J = rng.normal(size=(6, 8))
    J[4] = 0.5 * J[0] - 2.0 * J[2] + 3e-6 * rng.normal(size=8)
    J[5] = 1e-7 * rng.normal(size=8)  # vanishes
    assert len(independent(J)[0]) == 4
    assert len(independent(J, 3e-7)[0]) == 5
    kept, parts = independent(J)
    others = np.setdiff1d(np.arange(6), kept)
    assert np.abs(parts @ J[kept] - J[others]).max() < 3e-5
    assert np.abs(J @ null_space(J)).max() < 3e-5
    assert independent(np.zeros((3, 4)))[0] == [] and null_space(np.zeros((3, 4))).shape == (4, 4)
    J[3] *= 1e6  # a coupling of great ratio hides no other
    assert len(independent(J)[0]) == 4


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
