"""`tune` on a fluid, a road and a controller: what is found is what closed forms say is best."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import impulsar as im
from impulsar.edits import Drive
from impulsar.optimise import tune

G = 9.81


def test_a_fluid_in_which_a_ball_sinks_at_a_wanted_speed() -> None:
    """ρ C_D A v²/2 = (m - ρ V) g, so ρ = m g / (C_D A v²/2 + V g); added mass delays it, no more."""
    mass, radius, drag, speed = 0.1, 0.02, 0.47, 0.6
    model = im.Model("ball", gravity=(0, 0, -G))
    model.body("ball", mass, shape=im.Sphere(radius))
    model.fluid("water", density=1000.0, viscosity=1e-12, surface=None, drag=drag)

    def measure(world: im.World, values: dict[str, np.ndarray]) -> np.ndarray:
        world.step(200)  # 2 s, some 30 times that of the approach
        return (np.reshape(world.body("ball").velocity, (-1, 3))[:, 2] + speed) ** 2

    found = tune(model, {"water.density": (500.0, 4000.0)}, measure, designs=8, generations=5, dt=0.01)
    area, volume = math.pi * radius**2, 4.0 / 3.0 * math.pi * radius**3
    assert found.failed == 0
    assert found.values["water.density"] == pytest.approx(
        mass * G / (0.5 * drag * area * speed**2 + volume * G), rel=1e-3
    )


def test_a_damper_for_comfort_on_two_roads() -> None:
    """The quarter-car is linear. With car and wheel Re(Z e^{iωt}), Re(W e^{iωt}) over a road b/2 cos ωt

        -ω² m Z = -(k + iωc) (Z - W)      -ω² u W = (k + iωc) (Z - W) - k_t (W - R)

    Long waves at its resonance want more damping, short ones less; how much is best for both follows from Z."""
    m, u, k, tyre, bump, dt = 250.0, 40.0, 2e4, 2e5, 0.02, 0.01
    periods = (70, 25)  # steps of the road's waves: 7 m and 2.5 m at 10 m/s

    def discomfort(c: float) -> float:
        total = 0.0
        for steps in periods:
            omega = 2.0 * math.pi / (steps * dt)
            s = k + 1j * omega * c
            A = np.array([[s - omega**2 * m, -s], [-s, s + tyre - omega**2 * u]])
            total += 0.5 * abs(omega**2 * np.linalg.solve(A, [0.0, tyre * bump / 2.0])[0]) ** 2
        return total

    def measure(world: im.World, values: dict[str, np.ndarray]) -> np.ndarray:
        total: np.ndarray | float = 0.0
        for steps in periods:
            omega = 2.0 * math.pi / (steps * dt)
            world.apply(Drive("shaker", im.Harmonic(bump / 2, omega, -math.pi / 2, bump / 2)))
            world.step(6 * periods[0])  # 4 s, after which exp(-1.6 · 4) of other swings are left, and their squares
            speeds = [np.ravel(world.joint("strut").velocity).copy()]
            for _ in range(steps):
                world.step()
                speeds.append(np.ravel(world.joint("strut").velocity).copy())
            total = total + (np.diff(speeds, axis=0) ** 2).mean(axis=0) / dt**2
        return np.asarray(total)

    model = im.scene("quarter-car", stiffness=k, damping=1e3, bump=bump)
    found = tune(model, {"suspension.damping": (800.0, 4000.0)}, measure, designs=8, generations=3, polish=4, dt=dt)
    best = minimize_scalar(discomfort, bounds=(800.0, 4000.0), method="bounded")
    assert 850.0 < best.x < 3900.0  # not at an end
    # differences of velocities over dt weigh an acceleration by sinc²(ω dt / 2), up to 0.5 % less
    assert found.loss == pytest.approx(best.fun, rel=0.01)
    assert discomfort(found.values["suspension.damping"]) == pytest.approx(best.fun, rel=3e-3)


def test_gains_of_an_attached_controller_for_a_wanted_step() -> None:
    """A rotor whose torque is held between calls: θ, ω go over exactly by [[1, T], [0, 1]] and [T²/2, T] u / J. The
    step that gains of 0.9 and 0.12 give is wanted, and they are found."""
    inertia, rate, steps, wanted = 0.02, 50.0, 40, (0.9, 0.12)
    T = 1.0 / rate

    def step_of(kp: np.ndarray, kd: np.ndarray) -> np.ndarray:
        angle, speed, way = np.zeros(np.shape(kp)), np.zeros(np.shape(kp)), []
        for _ in range(steps):
            u = (kp * (1.0 - angle) - kd * speed) / inertia
            angle, speed = angle + T * speed + 0.5 * T * T * u, speed + T * u
            way.append(angle)
        return np.array(way)

    aim = step_of(*map(np.array, wanted))
    model = im.Model("rotor", gravity=(0, 0, 0))
    rotor = model.body("rotor", 1.0, inertia=(inertia,) * 3)
    model.joint("axle", "revolute", "ground", rotor, at=(0, 0, 0), axis=(0, 0, 1), motor=im.Motor(torque=0.0))
    ways = []

    def measure(world: im.World, values: dict[str, np.ndarray]) -> np.ndarray:
        def act(time: float, y: np.ndarray) -> np.ndarray:
            angle, speed = np.reshape(y, (-1, 2)).T
            u = values["kp"] * (1.0 - angle) - values["kd"] * speed
            return u[:, None] if world.worlds > 1 else u

        world.attach("pd", act, rate, ("axle.position", "axle.velocity"), ("axle.torque",))
        way = []
        for _ in range(steps):
            world.step()
            way.append(np.ravel(world.joint("axle").position).copy())
        ways.append((values, np.array(way)))
        return ((np.array(way) - aim[:, None]) ** 2).sum(axis=0)

    found = tune(model, {"kp": (0.1, 3.0), "kd": (0.01, 0.5)}, measure, designs=16, generations=8, polish=15, dt=T)
    values, way = ways[0]
    assert way == pytest.approx(step_of(values["kp"], values["kd"]), rel=1e-6, abs=1e-6)
    assert found.values == {"kp": pytest.approx(wanted[0], rel=2e-3), "kd": pytest.approx(wanted[1], rel=2e-3)}
