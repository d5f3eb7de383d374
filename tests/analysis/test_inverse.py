"""Inverse dynamics: what is refused, and how torques are shared."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.analysis import AssemblyError, inverse


def wheels(ratio: float = -2.0) -> im.Model:
    """Two geared wheels of 1 and 2 kg m²."""
    model = im.Model("wheels")
    for k in range(2):
        wheel = model.body(f"wheel{k}", mass=1.0, inertia=(1.0, 1.0, 1.0 + k), position=(k, 0, 0))
        model.joint(f"axle{k}", "revolute", model.ground, wheel, at=(k, 0, 0), axis=(0, 0, 1))
    model.coupling("gear", "axle0", "axle1", ratio=ratio)
    return model


def test_a_gear_adds_inertia():
    """τ = (I₀ + ratio² I₁) q̈."""
    found = inverse(wheels(), {"axle0": im.Harmonic(0.5, 3.0)}, np.linspace(0, 2, 9))
    exact = (1 + 4 * 2) * found["joint_acceleration"].values
    assert found["motor_torque"].values == pytest.approx(exact, abs=1e-10)
    assert found["determinate"].values.all()


def test_drives_that_agree_share_the_torque():
    """Both wheels driven as the gear has it: any split will do, so it is marked; its power is that of one motor."""
    motions = {"axle0": im.Harmonic(0.5, 3.0), "axle1": im.Harmonic(-1.0, 3.0)}
    both = inverse(wheels(), motions, [0.3, 0.6])
    one = inverse(wheels(), {"axle0": motions["axle0"]}, [0.3, 0.6])
    assert not both["determinate"].values.any()
    power = (both["motor_torque"] * both["joint_velocity"]).sum("coordinate").values
    assert power == pytest.approx((one["motor_torque"] * one["joint_velocity"]).sum("coordinate").values, abs=1e-9)


def test_drives_that_disagree_are_named():
    with pytest.raises(AssemblyError, match=r"cannot follow.*'(axle0|axle1|gear)'"):
        inverse(wheels(), {"axle0": im.Harmonic(0.5, 3.0), "axle1": im.Harmonic(0.5, 3.0)}, [0.3])


def test_a_far_start_is_reached_on_its_branch():
    """The crank of a four-bar taken from 60° to 200° at once is where small steps bring it."""
    model = im.scene("four-bar")
    goal = math.radians(140.0)
    at_once = inverse(model, {"O": goal}, [0.0])
    in_steps = inverse(model, {"O": im.Ramp(0.0, goal, 0.0, 1.0)}, np.linspace(0, 1, 200))
    assert at_once["position"].values[0] == pytest.approx(in_steps["position"].values[-1], abs=1e-10)


def test_power_is_the_rate_of_energy():
    """Work of the motor over a turn of the four-bar at even speed: none, the energy is as before."""
    turn = 2 * math.pi
    times = np.linspace(0.0, 1.0, 201)
    found = inverse(im.scene("four-bar"), {"O": lambda t: (turn * t, turn, 0.0)}, times)
    power = (found["motor_torque"] * found["joint_velocity"]).values[:, 0]
    # the trapezoid rule converges faster than any power on a periodic function
    assert np.abs(power).max() > 1.0
    assert abs(power[:-1].mean()) < 1e-8 * np.abs(power).max()
    assert found["position"].values[-1] == pytest.approx(found["position"].values[0], abs=1e-10)


def test_a_freedom_that_nothing_drives_is_named():
    with pytest.raises(im.ModelError, match=r"freedoms are not driven.*link"):
        inverse(im.scene("chain", n=3), {"hinge1": im.Harmonic(0.1, 1.0)}, [0.0])


def test_free_spin_does_not_matter():
    """The rods of the cross-lift spin free; no force turns them, so the lift can be driven alone, and their inertia
    about anything does not show: they do not turn with it."""
    torques = []
    for times in (1.0, 10.0):
        model = im.scene("cross-lift")
        rods = [body for name, body in model.bodies.items() if name.startswith("rod")]
        for rod in rods:
            rod.inertia = times * rod.inertia
        found = inverse(model, {"baseA": im.Harmonic(0.02, 5.0)}, [0.0, 0.1, 0.2])
        torques.append(found["motor_torque"].values[:, 0])
    assert len(rods) == 2
    assert np.abs(torques[0]).max() > 10.0
    assert torques[1] == pytest.approx(torques[0], rel=1e-9)


@pytest.mark.parametrize(
    ("motions", "times", "says"),
    [
        ({"axel0": 0.0}, [0.0], "no coordinate named 'axel0'"),
        ({"axle0": lambda t: t}, [0.0], "expected \\(q, q̇, q̈\\)"),
        ({"axle0": lambda t: (math.nan, 0, 0)}, [0.0], "not finite"),
        ({"axle0": 0.0}, [1.0, 0.0], "rising order"),
        ({"axle0": 0.0}, [math.inf], "finite times"),
        (None, [0.0], "no joint is driven"),
    ],
)
def test_bad_input(motions, times, says):
    with pytest.raises(im.ModelError, match=says):
        inverse(wheels(), motions, times)


def test_a_speed_motor_is_no_motion():
    model = im.Model("fan")
    wheel = model.body("wheel", mass=1.0, inertia=(1, 1, 1))
    motor = im.Motor(speed=1.0)
    model.joint("axle", "revolute", model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), motor=motor)
    with pytest.raises(im.ModelError, match="joint 'axle': its motor gives a speed"):
        inverse(model)
    inverse(model, {"axle": lambda t: (t, 1.0, 0.0)}, [0.0, 1.0])
    assert model.joints["axle"].features["angle"].motor is motor
