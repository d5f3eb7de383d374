"""Loops that are nearly redundant, positions that are singular, masses and lengths of any size; quick versions
of `validate/singular_cases.py`, and what its mechanisms and its oracle are worth by themselves."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar import analysis
from impulsar.validate import linkages, singular_cases
from impulsar.validate.oracle import Oracle

COORDINATES = singular_cases.COORDINATES


@pytest.fixture(params=COORDINATES)
def coordinates(request: pytest.FixtureRequest) -> str:
    return request.param


# the mechanisms and the oracle --------------------------------------------------------------------------


@pytest.mark.parametrize("name", linkages.LINKAGES)
def test_linkage_turns_right_round(name):
    """Closed to 1e-12 as authored, one freedom by rank all the way round, and back where it was after a turn,
    though Grübler's count says -2, 0, 0 and -1."""
    oracle = Oracle(linkages.LINKAGES[name]())
    assert np.abs(oracle.rows(oracle.start)[0]).max() < 1e-12
    poses = oracle.trace("hinge1", 2 * math.pi * np.arange(1, 21) / 20, 0.16)
    assert {oracle.freedoms(pose) for pose in poses} == {1}
    assert np.abs(poses[-1].p - oracle.start.p).max() < 1e-12
    assert max(np.abs(pose.p - oracle.start.p).max() for pose in poses) > 0.1


@pytest.mark.parametrize("name", linkages.LINKAGES)
def test_oracle_is_inverse_dynamics(name):
    """m' ω²/2 + U' of the oracle = the driven row's force of `analysis.inverse`, to its differences' 1e-8."""
    oracle = Oracle(linkages.LINKAGES[name]())
    angles = np.array([0.4, 1.5, 3.0])
    exact = [oracle.drive_torque("hinge1", pose, 6.0) for pose in oracle.trace("hinge1", angles)]
    found = analysis.inverse(linkages.LINKAGES[name](), {"hinge1": lambda t: (6.0 * t, 6.0, 0.0)}, angles / 6.0)
    assert found["motor_torque"].values[:, 0] == pytest.approx(exact, rel=1e-8, abs=1e-8 * np.abs(exact).max())


def test_oracle_swings_as_a_pendulum():
    """A level rod on a hinge starts with m g (l/2) / I about it; a block on a rail falls by g t²/2."""
    model = im.Model("rod", gravity=(0, 0, -9.81))
    rod = model.body("rod", mass=2.0, inertia=(2 / 12, 2 / 12, 1e-3), position=(0.5, 0, 0))
    model.joint("hinge", "revolute", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0))
    oracle = Oracle(model)
    rate = oracle.acceleration(oracle.start, np.zeros(6))[4]
    assert rate == pytest.approx(9.81 * 0.5 * 2.0 / (2 / 12 + 0.5), rel=1e-13)
    drop = im.Model("drop", gravity=(0, 0, -9.81))
    block = drop.body("block", mass=1.0, inertia=(1, 1, 1))
    drop.joint("rail", "prismatic", drop.ground, block, at=(0, 0, 0), axis=(0, 0, 1))
    (pose, _), *_ = Oracle(drop).run([0.5], np.zeros(6))
    assert pose.p[0, 2] == pytest.approx(-9.81 * 0.125, rel=1e-12)


def test_parallelogram_is_one_pendulum():
    """The closed form's inertia and torque are those of the oracle, which knows no parallelograms."""
    for seed in range(3):
        mechanism = linkages.Parallelogram(seed, is_driven=True)
        oracle = Oracle(mechanism.model)
        assert oracle.reduced("A", oracle.start)[0] == pytest.approx(mechanism.inertia, rel=1e-12)
        (pose,) = oracle.trace("A", [0.3])
        assert oracle.drive_torque("A", pose, mechanism.rate) == pytest.approx(mechanism.motor_torque(0.3), rel=1e-9)


def test_tilt_turns_axes_and_leaves_joints_closed():
    """Every axis is ε away from where it was, in both bodies alike; at ε = 0 the model is the same to the bit."""
    model = im.scene("four-bar")
    tilted, same = linkages.tilt(model, 1e-3), linkages.tilt(model, 0.0)
    tilted.check()
    for name, joint in model.joints.items():
        before, after = (rotated.joints[name].q_PF for rotated in (model, tilted))
        assert 2 * math.acos(min(1.0, abs(float(before @ after)))) == pytest.approx(1e-3, rel=1e-6)
        assert (same.joints[name].q_CM == joint.q_CM).all()
    assert np.abs(Oracle(tilted).rows(Oracle(tilted).start)[0]).max() < 1e-15


def hold(figure: float, bound: float, so_far: float) -> None:
    """A bound that is not reached yet: no worse than it was measured, and an expected failure until it is reached."""
    assert figure < so_far
    if figure >= bound:
        pytest.xfail(f"{figure:.2g}, wanted {bound:g}")


# nearly redundant ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", linkages.TILTED)
@pytest.mark.parametrize("epsilon", singular_cases.TILTS[1:])
def test_tilted_axes_do_not_lock(name, epsilon, coordinates):
    """Axes tilted by ε ≤ 1e-4: speed after 0.2 s within 1e-3 of ε = 0, the same freedoms, joints open by ≤ 3 ε.

    The lift's rods may spin; on hinges that are tilted they swing like pendula, and shake it by ε².
    """
    speed, freedoms, opening = singular_cases.tilt_misses("cpu", (name,), (epsilon,), (coordinates,))
    assert freedoms == 0
    assert opening <= 3.0
    hold(speed, 1e-3, 4e-3 if (name, epsilon) == ("cross-lift", 1e-4) else 1e-3)


@pytest.mark.parametrize("name", linkages.LINKAGES)
@pytest.mark.parametrize("rate", [1.0, 6.0])
def test_linkage_motor_is_inverse_dynamics(name, rate, coordinates):
    """Over-constrained and driven: torque and work within 1e-4 of inverse dynamics, imbalance 1e-6 of the work."""
    torque, work, imbalance = singular_cases.linkage_miss(name, rate, coordinates, "cpu")
    assert max(torque, work) < 1e-4
    assert imbalance < 1e-6


# singular positions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "dt", "rtol", "end"),
    [(2, 0.01, 1e-7, 10.0), (2, 0.001, 1e-9, 3.0), (2, 0.01, 1e-12, 10.0), (5, 0.01, 1e-9, 3.0)],
)
def test_a02_is_one_pendulum(n, dt, rtol, end, coordinates):
    """θ̈ ((n+1)/3 + n) = g ((n+1)/2 + n) sin θ through every flat position: within 1e-5 m.

    The case `a02` takes all of these, and more, through 10 s.
    """
    assert singular_cases.a02_miss(n, dt, rtol, coordinates, "cpu", end) < 1e-5


@pytest.mark.parametrize("is_driven", [False, True], ids=["free", "driven"])
def test_parallelogram_keeps_its_branch(is_driven, coordinates):
    """Momentum goes on through the flat position: the coupler does not turn, energy is kept to 1e-6, and a motor
    gives K cos(φ + ψ) to 1 % away from it. Of the driven ones, number 0 ends a step 6e-5 rad from it."""
    (runs,) = singular_cases.parallelograms("cpu", is_driven, range(3), (coordinates,)).values()
    assert sum(run.flat for run in runs) > 10
    assert max(run.turn for run in runs) < 1e-3
    assert max(run.torque for run in runs) < 0.01
    hold(max(run.energy for run in runs), 1e-6, 3e-5 if is_driven else 1e-6)  # so much in 200 of the driven ones


@pytest.mark.parametrize("rtol", [1e-7, 1e-9])
def test_free_peaucellier_keeps_its_energy(rtol, coordinates):
    """Nothing acts but gravity: of the 1.86 J that it releases less than 1e-4 is lost in 10 s.

    The case `peaucellier-free` goes on to 1e-12.
    """
    assert singular_cases.peaucellier_loss(rtol, coordinates, "cpu") < 1e-4


# masses and lengths -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [1e6, 1e-6])
def test_loop_with_one_bar_of_another_mass(ratio):
    """The coupler 1e±6 times as heavy: both coordinates within 1e-7 m of the oracle at rtol 1e-9 and of each other."""
    assert max(singular_cases.mass_ratio_miss("coupler", ratio, "cpu", end=0.3)) < 1e-7


@pytest.mark.parametrize("amplitude", singular_cases.AMPLITUDES)
@pytest.mark.parametrize("size", [None, 0.01], ids=["as large", "1 cm"])
def test_slide_of_any_amplitude(amplitude, size, coordinates):
    """x = A cos ωt for 100 periods: rtol 1e-7 keeps A to 1e-4, be it 1 m or 10 nm, whatever the cube's size."""
    assert singular_cases.amplitude_miss(amplitude, size or amplitude, coordinates, "cpu") < 1e-4


@pytest.mark.parametrize("build", ["four-bar", "slider-crank"])
def test_scaled_mechanisms_have_the_same_digits(build, coordinates):
    """Lengths and gravity times s leave all angles in time as they are; errors differ by a factor of at most 10."""
    off = [singular_cases.scaled_miss(build, scale, coordinates, "cpu") for scale in (1e-4, 1.0, 1e4)]
    assert max(off) < 1e-5
    assert max(off) < 10.0 * off[1] + 1e-9
