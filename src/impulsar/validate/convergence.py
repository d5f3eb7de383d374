"""Order of convergence: the error against a closed form, halving the step.

The figure of each case is how far the observed order is from the stated one. The observed order is the
slope of log error over log step; a method of order p has slope p + O(h).
"""

import math

import numpy as np

from ..author.model import Model
from ..scenes import scene
from ..world.world import World
from .case import Case

G = 9.81
STEPS = (4e-4, 2e-4, 1e-4, 5e-5)  # small enough that the next term of the error is below 1 % of the first [s]


def observed_order(errors: list[float]) -> float:
    """Slope of log error over log step."""
    return float(np.polyfit(np.log(STEPS), np.log(errors), 1)[0])


def pendulum(length: float = 1.0, angle: float = 1.0) -> Model:
    """A rod on a hinge along y, released at rest at an angle off the vertical [rad] (IFToMM A01)."""
    model = Model("pendulum")
    place = 0.5 * length * np.array([math.sin(-angle), 0.0, -math.cos(angle)])
    rod = model.body(
        "rod",
        mass=1.0,
        inertia=(length**2 / 12, length**2 / 12, 1e-4),
        position=place,
        orientation=(0.0, math.sin(angle / 2), 0.0, math.cos(angle / 2)),
    )
    model.joint("hinge", "revolute", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0))
    return model


def swing(t: float, angle: float, omega: float) -> float:
    """Angle of a pendulum released at rest: 2 asin(k sn(K - ω t)), period 4 K / ω."""
    from scipy.special import ellipj, ellipk

    k = math.sin(angle / 2)
    sn = ellipj(ellipk(k**2) - omega * t, k**2)[0]
    return 2 * math.asin(k * sn)


def pendulum_order(device: str) -> float:
    """Over one period 4 K(sin θ₀/2) / ω of a uniform rod, ω² = 3 g / 2 l."""
    from scipy.special import ellipk

    angle, omega = 1.0, math.sqrt(1.5 * G)
    period = 4 * ellipk(math.sin(angle / 2) ** 2) / omega
    errors = []
    for h in STEPS:
        world = World(pendulum(angle=angle), method="simgc", dt=h, device=device)
        per_sample = round(period / 40 / h)
        error = 0.0
        for _ in range(40):
            world.step(per_sample)
            error = max(error, abs(world.joint("hinge").position + angle - swing(world.time, angle, omega)))
        errors.append(error)
    return abs(observed_order(errors) - 1.0)


def pendulum_period(device: str) -> float:
    """Relative error of the period between two passages through the vertical, at h = 1e-4 s."""
    from scipy.special import ellipk

    angle, omega, h = 1.0, math.sqrt(1.5 * G), 1e-4
    period = 4 * ellipk(math.sin(angle / 2) ** 2) / omega
    world = World(pendulum(angle=angle), method="simgc", dt=h, device=device)
    passages = []
    for start in (period / 4, 5 * period / 4):  # where it crosses the vertical, one period apart
        world.step(round((start - 0.002 - world.time) / h))
        before = world.joint("hinge").position + angle
        while True:
            world.step()
            now = world.joint("hinge").position + angle
            if before * now <= 0.0:
                passages.append(world.time - h * now / (now - before))
                break
            before = now
    return abs((passages[1] - passages[0]) / period - 1.0)


def torque_free_order(device: str) -> float:
    """Body rates of a free body with J₁ > J₂ > J₃, against Jacobi's elliptic functions; midpoint, order 2."""
    from scipy.special import ellipj

    J = np.array([3.0, 2.0, 1.2])
    start = np.array([0.4, 0.0, 2.0])
    # Euler's equations from w₂ = 0, turning about the axis of least inertia: w = (a cn, -b sn, c dn)
    energy2, momentum2 = (J * start**2).sum(), ((J * start) ** 2).sum()
    a = math.sqrt((momentum2 - energy2 * J[2]) / (J[0] * (J[0] - J[2])))
    b = math.sqrt((momentum2 - energy2 * J[2]) / (J[1] * (J[1] - J[2])))
    c = math.sqrt((energy2 * J[0] - momentum2) / (J[2] * (J[0] - J[2])))
    rate = math.sqrt((J[1] - J[2]) * (energy2 * J[0] - momentum2) / J.prod())
    k2 = (J[0] - J[1]) * (momentum2 - energy2 * J[2]) / ((J[1] - J[2]) * (energy2 * J[0] - momentum2))
    errors = []
    for h in STEPS:
        model = Model("free body", gravity=(0, 0, 0))
        model.body("body", mass=1.0, inertia=J, angular_velocity=start)
        world = World(model, method="simgc", dt=h, device=device)
        error = 0.0
        for _ in range(20):
            world.step(round(0.1 / h))
            q = world.body("body").orientation
            w_B = _rotate_back(q, world.body("body").angular_velocity)
            sn, cn, dn, _ = ellipj(rate * world.time, k2)
            error = max(error, np.abs(w_B - (a * cn, -b * sn, c * dn)).max())
        errors.append(error)
    return abs(observed_order(errors) - 2.0)


def _rotate_back(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    u, s = -q[:3], q[3]
    return v + 2.0 * np.cross(u, np.cross(u, v) + s * v)


def four_bars(n: int, times: np.ndarray) -> np.ndarray:
    """Angle and rate of n-four-bar's uprights [time, 2]: θ̈ ((n+1)/3 + n) = g ((n+1)/2 + n) sin θ."""
    from scipy.integrate import solve_ivp

    ratio = G * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    solution = solve_ivp(
        lambda t, y: (y[1], ratio * math.sin(y[0])), (0, times[-1]), (0.0, 1.0), "DOP853", times, rtol=1e-12, atol=1e-13
    )
    return solution.y.T


def n_four_bar_order(device: str) -> float:
    """n = 1, 2, 3 up to 0.9 s, before the first flat position; angle and rate (the angle alone is of order 2)."""
    times = 0.1 * np.arange(1, 10)
    worst = 0.0
    for n in (1, 2, 3):
        exact = four_bars(n, times)
        errors = []
        for h in STEPS:
            world = World(scene("n-four-bar", n=n), method="simgc", dt=h, device=device)
            error = 0.0
            for angle, rate in exact:
                world.step(round(0.1 / h))
                base = world.joint("base0")
                error = max(error, abs(-base.position - angle), abs(-base.velocity - rate))
            errors.append(error)
        worst = max(worst, abs(observed_order(errors) - 1.0))
    return worst


CASES = [
    Case(
        "pendulum-order", "SIMGC converges with order 1 to the pendulum's elliptic functions", 0.05, "1", pendulum_order
    ),
    Case("pendulum-period", "period = 4 K(sin θ₀/2) √(2l/3g), at h = 1e-4 s", 1e-6, "1", pendulum_period),
    Case("torque-free-order", "SIMGC converges with order 2 to the torque-free body", 0.05, "1", torque_free_order),
    Case("n-four-bar-order", "SIMGC converges with order 1 on n-four-bar up to 0.9 s", 0.05, "1", n_four_bar_order),
]
