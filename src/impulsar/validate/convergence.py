"""Order of convergence: the error against a closed form, halving the step.

The figure of each case is how far the observed order is from the stated one. The observed order is the
slope of log error over log step; a method of order p has slope p + O(h).
"""

import math
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np

from ..author.errors import StepError
from ..author.model import Model
from ..engine.methods import Baumgarte, GeneralizedAlpha, LinearImplicit, Projected, Variational
from ..scenes import scene
from ..world.world import World
from .case import Case
from .variants import EXACT, controlled, fixed, variants

G = 9.81
STEPS = (4e-4, 2e-4, 1e-4, 5e-5)  # small enough that the next term of the error is below 1 % of the first [s]


def observed_order(errors: list[float], steps: tuple[float, ...] = STEPS) -> float:
    """Slope of log error over log step."""
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


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


def pendulum_error(method: Any, coordinates: str, h: float, device: str) -> float:
    """Largest error of the angle over one period 4 K(sin θ₀/2) / ω of a uniform rod, ω² = 3 g / 2 l [rad]."""
    from scipy.special import ellipk

    angle, omega = 1.0, math.sqrt(1.5 * G)
    period = 4 * ellipk(math.sin(angle / 2) ** 2) / omega
    world = World(pendulum(angle=angle), method, coordinates, dt=h, device=device)
    error = 0.0
    for _ in range(40):
        step(world, round(period / 40 / h))
        error = max(error, abs(world.joint("hinge").position + angle - swing(world.time, angle, omega)))
    return error


def step(world: World, n: int) -> None:
    """n nominal steps, each of which error control takes as one; but the very first, into which it feels its way."""
    is_first = world.time == 0.0
    report = world.step(n)
    if hasattr(world.method, "rtol") and report.substeps != n and not is_first:
        raise StepError(f"{report.substeps} sub-steps in {n} nominal steps: no order is seen")


def pendulum_period(device: str) -> float:
    """How far the period's error is from what the method makes it, in (ω h)² / 24, at h = 5e-5: the worst method.

    A kick and a drift of canonical variables make the period of a pendulum released at rest shorter by
    (ω h)² / 24 · cos θ₀, error control leaves nothing, and SIMMC errs by a multiple of h², so that its errors at
    h and 2 h extrapolate to none.
    """
    omega, h = math.sqrt(1.5 * G), 5e-5
    unit, worst = (omega * h) ** 2 / 24, 0.0
    for _, method, coordinates in variants(**EXACT):
        off = _period_error(method, coordinates, h, device) / unit
        if method.name == "simgc":
            off += math.cos(1.0)
        elif method.order == 1:
            off = (4 * off - _period_error(method, coordinates, 2 * h, device) / unit) / 3
        worst = max(worst, abs(off))
    return worst


def _period_error(method: Any, coordinates: str, h: float, device: str) -> float:
    """Relative error of the time between two passages through the vertical, one period apart."""
    from scipy.special import ellipk

    angle, omega = 1.0, math.sqrt(1.5 * G)
    period = 4 * ellipk(math.sin(angle / 2) ** 2) / omega
    world = World(pendulum(angle=angle), method, coordinates, dt=h, device=device)
    first, second = (_passage(world, turn * period, angle) for turn in (0.25, 1.25))
    return (second - first) / period - 1.0


def _passage(world: World, about: float, angle: float) -> float:
    """When the pendulum crosses the vertical, where it hardly accelerates, at about that time [s]."""
    world.step(round((about - 0.002 - world.time) / world.dt))
    before = world.joint("hinge").position + angle
    while True:
        world.step()
        now = world.joint("hinge").position + angle
        if before * now <= 0.0:
            return world.time - world.dt * now / (now - before)
        before = now


def torque_free_error(
    method: Any, coordinates: str, h: float, device: str, duration: float = 2.0, take: Callable = step
) -> float:
    """Largest error over a duration [s] of the rates of a free body with J₁ > J₂ > J₃, against Jacobi's elliptic
    functions; `take` steps the world."""
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
    model = Model("free body", gravity=(0, 0, 0))
    model.body("body", mass=1.0, inertia=J, angular_velocity=start)
    world = World(model, method, coordinates, dt=h, device=device)
    error = 0.0
    for _ in range(round(duration / 0.1)):
        take(world, round(0.1 / h))
        w_B = _rotate_back(world.body("body").orientation, world.body("body").angular_velocity)
        sn, cn, dn, _ = ellipj(rate * world.time, k2)
        error = max(error, np.abs(w_B - (a * cn, -b * sn, c * dn)).max())
    return error


def _rotate_back(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    u, s = -q[:3], q[3]
    return v + 2.0 * np.cross(u, np.cross(u, v) + s * v)


def four_bars(n: int, times: np.ndarray) -> np.ndarray:
    """Angle and rate of n-four-bar's uprights [time, 2]: θ̈ ((n+1)/3 + n) = g ((n+1)/2 + n) sin θ."""
    from scipy.integrate import solve_ivp

    ratio = G * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    solution = solve_ivp(
        lambda t, y: (y[1], ratio * math.sin(y[0])), (0, times[-1]), (0.0, 1.0), "DOP853", times, rtol=1e-13, atol=1e-15
    )
    return solution.y.T


def n_four_bar_error(method: Any, coordinates: str, h: float, device: str, n: int = 1, until: float = 0.9) -> float:
    """Largest error of angle and rate (the angle alone is of order 2) before the first flat position, at 0.9 s."""
    exact = four_bars(n, 0.1 * np.arange(1, round(until / 0.1) + 1))
    world = World(scene("n-four-bar", n=n), method, coordinates, dt=h, device=device)
    error = 0.0
    for angle, rate in exact:
        step(world, round(0.1 / h))
        base = world.joint("base0")
        error = max(error, abs(-base.position - angle), abs(-base.velocity - rate))
    return error


def orders_of(error: Callable[..., float], stated: float, device: str, methods: Iterable, **given: Any) -> float:
    """How far the observed orders are from the stated one: the worst of the methods."""
    return max(
        abs(observed_order([error(method, coordinates, h, device, **given) for h in STEPS]) - stated)
        for _, method, coordinates in methods
    )


def pendulum_order(device: str) -> float:
    """Methods of a fixed step, 1."""
    return orders_of(pendulum_error, 1.0, device, fixed(**EXACT))


def torque_free_order(device: str) -> float:
    """Methods of a fixed step turn free bodies by the midpoint rule, 2."""
    return orders_of(torque_free_error, 2.0, device, fixed(**EXACT))


def n_four_bar_order(device: str) -> float:
    """n = 1, 2, 3 by SIMGC; n = 1 by SIMMC, whose sweeps end at 1e-8 N s, far below the error of its steps."""
    methods = {coordinates: (label, method, coordinates) for label, method, coordinates in fixed(epsilon=1e-8)}
    worst = max(orders_of(n_four_bar_error, 1.0, device, fixed_tree(), n=n) for n in (1, 2, 3))
    return max(worst, orders_of(n_four_bar_error, 1.0, device, [methods["maximal"]]))


def fixed_tree() -> list:
    """Methods of a fixed step in generalized coordinates."""
    return [variant for variant in fixed(**EXACT) if variant[2] == "generalized"]


def pair_order(device: str) -> float:
    """Order of the explicit pair of `direct`, 5: tolerances so loose that a nominal step is one sub-step.

    Up to 0.6 s on n-four-bar: near the flat position stages are brought onto the joints.
    """
    from scipy.special import ellipk

    part = 4 * ellipk(math.sin(0.5) ** 2) / math.sqrt(1.5 * G) / 40  # of the pendulum's period, between samples [s]
    worst = 0.0
    for _, method, coordinates in controlled(rtol=1.0, atol=1.0, pair="explicit"):
        if method.name != "direct":  # of which this is a law; others are in `method_order`
            continue
        for error, steps, given in (
            (pendulum_error, (part, part / 2, part / 4, part / 8), {}),
            (torque_free_error, (0.025, 0.02, 0.0125, 0.01), {}),
            (n_four_bar_error, (0.05, 0.025, 0.0125, 0.00625), {"n": 2, "until": 0.6}),
        ):
            errors = [error(method, coordinates, h, device, **given) for h in steps]
            worst = max(worst, method.order - observed_order(errors, steps))  # higher is no fault
    return worst


def ordered() -> list[tuple[Any, float, float]]:
    """Methods with the order that is stated of them and the largest of three steps that show it [s].

    Feedback of 10 / s is slow against these steps: faster, and its own error is seen. Weights of a projection are those
    of atol: with rtol as large, as they are in use, two errors of n-four-bar in maximal coordinates nearly cancel; what
    is left, a tenth of it, passes through 0 between two of these steps, and a slope of it says nothing.
    """
    found: list[tuple[Any, float, float]] = []
    for integrator, order, h in (("euler", 1, 1e-3), ("heun", 2, 5e-3), ("rk4", 4, 0.01), ("pair", 5, 0.025)):
        found.append((Projected(integrator=integrator, rtol=1e-6, atol=1.0), order, h))
        found.append((Baumgarte(integrator=integrator, rtol=1.0, atol=1.0, alpha=10.0, beta=10.0), order, h))
    found += [(Variational(composition=p, max_step=1.0), p, h) for p, h in ((2, 0.01), (4, 0.02), (6, 0.1))]
    return [*found, (LinearImplicit(), 1, 1e-3), (GeneralizedAlpha(substepping=False), 2, 5e-3)]


def method_order(device: str) -> float:
    """On n-four-bar up to 0.6 s, in both coordinates."""
    worst = 0.0
    for (method, stated, h), coordinates in product(ordered(), ("generalized", "maximal")):
        steps = (h, h / 2, h / 4)
        errors = [n_four_bar_error(method, coordinates, size, device, n=2, until=0.6) for size in steps]
        worst = max(worst, abs(observed_order(errors, steps) - stated))
    return worst


CASES = [
    Case(
        "pendulum-order",
        "SIMGC and SIMMC converge with order 1 to the pendulum's elliptic functions",
        0.05,
        "1",
        pendulum_order,
    ),
    Case(
        "pendulum-period",
        "period = 4 K(sin θ₀/2) √(2l/3g) less (ω h)²/24 cos θ₀ of it where steps are canonical, in (ω h)²/24",
        0.1,
        "1",
        pendulum_period,
    ),
    Case(
        "torque-free-order",
        "SIMGC and SIMMC converge with order 2 to the torque-free body",
        0.05,
        "1",
        torque_free_order,
    ),
    Case(
        "n-four-bar-order",
        "SIMGC and SIMMC converge with order 1 on n-four-bar up to 0.9 s",
        0.05,
        "1",
        n_four_bar_order,
    ),
    Case(
        "pair-order",
        "smooth sub-steps of direct are of order 5 on pendulum, torque-free body and n-four-bar, in both coordinates",
        0.15,
        "1",
        pair_order,
    ),
    Case(
        "method-order",
        "projected, baumgarte, linear_implicit, generalized_alpha and variational have their orders on n-four-bar, in "
        "both coordinates, over every formula and composition up to 6",
        0.15,
        "1",
        method_order,
    ),
]
