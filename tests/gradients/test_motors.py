"""Motors for motions: loads beside closed forms, choices by rms, peak and speed, springs that balance."""

import math
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar.author.errors import ModelError
from impulsar.optimise import (
    MotorType,
    balance,
    choose_motor,
    load_of,
    matched_ratio,
    read_motors,
    torque_speed_picture,
)

MASS, ARM, SPIN = 2.0, 0.5, 0.01
INERTIA = SPIN + MASS * ARM**2
SWING, OMEGA = 0.8, 3.0


def arm() -> im.Model:
    """A weight on an arm that hangs down, and a spring across to a point above the hinge."""
    model = im.Model("arm", gravity=(0, 0, -9.81))
    body = model.body("weight", MASS, inertia=(SPIN, SPIN, SPIN), position=(0, 0, -ARM))
    model.joint("hinge", "revolute", "ground", body, at=(0, 0, 0), axis=(0, 1, 0))
    return model


def motion(t: float) -> tuple[float, float, float]:
    return (
        SWING * math.sin(OMEGA * t),
        SWING * OMEGA * math.cos(OMEGA * t),
        -SWING * OMEGA**2 * math.sin(OMEGA * t),
    )


def test_the_load_of_a_pendulum_is_that_of_the_closed_form() -> None:
    """τ = J q̈ + m g l sin q; the inertia that the drive feels is J, whatever the weight does."""
    period = 2.0 * math.pi / OMEGA
    load = load_of(arm(), "hinge", motion, period, samples=21)
    q, _, change = np.array([motion(t) for t in load.times]).T
    expected = INERTIA * change + MASS * 9.81 * ARM * np.sin(q)
    assert load.torque == pytest.approx(expected, abs=1e-9)
    assert load.inertias == pytest.approx(np.full(21, INERTIA), abs=1e-9)
    assert load.peak == pytest.approx(np.abs(expected).max(), abs=1e-9)
    mean = np.trapezoid(expected**2, load.times) / period
    assert load.rms == pytest.approx(math.sqrt(mean), abs=1e-9)


def test_a_motor_is_chosen_by_warmth_peak_and_speed(tmp_path: Path) -> None:
    """With inertia alone the ratio of least torque is sqrt(J_load / J), where the motor gives 2 n J α."""
    model = arm()
    model.gravity = np.zeros(3)
    load = load_of(model, "hinge", motion, 2.0 * math.pi / OMEGA, samples=21)
    small = MotorType("small", 0.05, 0.2, 400.0, 1e-5)
    large = MotorType("large", 5.0, 20.0, 300.0, 1e-3)
    slow = MotorType("slow", 50.0, 90.0, 0.05, 1e-2)
    best, second, third = choose_motor(load, [slow, large, small])
    assert [best.motor.name, second.motor.name, third.motor.name] == ["small", "large", "slow"]
    assert best.ok and second.ok and "speed" in third.why
    n = matched_ratio(load, large)
    assert n == pytest.approx(math.sqrt(INERTIA / 1e-3), rel=1e-9)
    torque = load.motor_torque(large, n)
    assert np.abs(torque) == pytest.approx(2.0 * n * 1e-3 * np.abs(load.acceleration), rel=1e-9, abs=1e-9)
    assert choose_motor(load, [large], ratios=[2.0, 50.0])[0].ratio in (2.0, 50.0)
    file = tmp_path / "motors.csv"
    file.write_text("name,rated_torque,peak_torque,speed,rotor_inertia\nsmall,0.05,0.2,400,1e-5\n")
    assert read_motors(file) == [small]
    torque_speed_picture(str(tmp_path / "plane.png"), load, best)
    assert (tmp_path / "plane.png").stat().st_size > 10_000
    file.write_text("name,rated_torque\nx,fast\n")
    with pytest.raises(ModelError, match="there is no column peak_torque, speed, rotor_inertia"):
        read_motors(file)
    file.write_text("rotor_inertia;name;rated_torque;peak_torque;speed;price\n1e-5;small;0,05;0,2;400;12\n")
    assert read_motors(file) == [small]
    file.write_text("name,rated_torque,peak_torque,speed,rotor_inertia\nx,0.05,,400,1e-5\n")
    with pytest.raises(ModelError, match="line 2 has no peak_torque"):
        read_motors(file)
    with pytest.raises(ModelError, match=r"peak_torque 0\.01 is below"):
        MotorType("odd", 0.05, 0.01, 1.0, 1.0)


def test_a_counterweight_takes_the_weight_off_the_drive() -> None:
    """A mass on the other side at 0.2 m: τ is linear in it, and at the least rms ∫ τ dτ/dm dt is 0."""
    model = arm()
    other = model.body("counter", 0.5, inertia=(1e-4,) * 3, position=(0, 0, 0.2))
    model.joint("weld", "fixed", "weight", other, at=(0, 0, 0.2))
    period = 2.0 * math.pi / OMEGA
    found = balance(model, "hinge", motion, period, {"counter.mass": (0.01, 20.0)}, samples=13)
    q, _, change = np.array([motion(t) for t in found.load.times]).T
    fixed = (INERTIA + 1e-4) * change + MASS * 9.81 * ARM * np.sin(q)
    by_mass = 0.2**2 * change - 9.81 * 0.2 * np.sin(q)
    t = found.load.times
    mass = -np.trapezoid(fixed * by_mass, t) / np.trapezoid(by_mass**2, t)
    assert found.values["counter.mass"] == pytest.approx(mass, rel=1e-6)
    assert found.load.rms < 0.5 * found.before.rms
    with pytest.raises(ModelError, match="expected ranges"):
        balance(model, "hinge", motion, period, {})
