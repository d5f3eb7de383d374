"""Energy and momentum: what must stay, stays, as far as the order of the method says."""

from typing import Any

import numpy as np

from ..author.model import Model
from ..author.profiles import Ramp
from ..scenes import scene
from ..scenes.parts import LENGTH
from ..world.world import World
from .case import Case
from .convergence import G, observed_order
from .variants import EXACT, fixed, general, variants

REFERENCE = 2.4525  # energy of the ten pendula, hanging to horizontal [J]


def free_momentum(device: str) -> float:
    """Change of momentum of a tumbling free body over 1,000 steps, over rounding or the tolerance: the worst method."""
    J = np.diag([3.0, 2.0, 1.2])
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    model = Model("free body", gravity=(0, 0, 0))
    model.body("body", mass=2.0, inertia=turn @ J @ turn.T, velocity=(1, 2, 3), angular_velocity=(1.0, -2.0, 1.5))
    worst = 0.0
    for _, method, coordinates in variants(**EXACT):
        world = World(model, method, coordinates, dt=0.01, device=device)
        start = momentum(world, "body")
        scale = np.repeat(np.linalg.norm(start.reshape(2, 3), axis=1), 3)
        allowed = getattr(method, "rtol", 1e-12)
        for _ in range(100):
            world.step(10)
            worst = max(worst, float(np.abs((momentum(world, "body") - start) / scale).max()) / allowed)
    return worst


def momentum(world: World, name: str) -> np.ndarray:
    """Linear momentum and angular momentum about the centre of mass, world axes."""
    index = world.system.body_index[name]
    body = world.body(name)
    I_W = world.runner.work.I_W.numpy()[index, 0]
    return np.concatenate([world.model.bodies[name].mass * body.velocity, I_W @ body.angular_velocity])


def spherical_attitudes(device: str) -> float:
    """A ball-jointed rod swung through full circles in 26 planes moves as on a hinge, whatever the attitude."""
    planes = [np.array(p, float) for p in np.ndindex(3, 3, 3) if p != (1, 1, 1)]
    return max(
        _ball_off_hinge((plane - 1.0) / np.linalg.norm(plane - 1.0), method, coordinates, device)
        for plane in planes
        for _, method, coordinates in variants(epsilon=1e-12, iterations=100_000, rtol=1e-12, atol=1e-12)
    )


def _ball_off_hinge(axis: np.ndarray, method: Any, coordinates: str, device: str) -> float:
    """How far a rod on a ball is from one on a hinge over 2 s in the plane across an axis [m]."""
    heights, down = [], _across(axis)
    arm, spin = -0.5 * down, 9.0 * axis
    for kind in ("spherical", "revolute"):
        model = Model("rod", gravity=tuple(9.81 * down))
        rod = model.body("rod", 1.0, (0.1, 0.1, 0.1), position=arm, velocity=np.cross(spin, arm), angular_velocity=spin)
        model.joint("pivot", kind, model.ground, rod, at=(0, 0, 0), axis=None if kind == "spherical" else axis)
        world = World(model, method, coordinates, dt=0.001 if method.order == 1 else 0.01, device=device)
        path = []
        for _ in range(20):
            world.step(round(0.1 / world.dt))
            path.append(world.body("rod").position @ down)
        heights.append(np.array(path))
    return float(np.abs(heights[0] - heights[1]).max())


def _across(axis: np.ndarray) -> np.ndarray:
    """A unit vector perpendicular to an axis."""
    other = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    return other / np.linalg.norm(other)


def ten_pendula_drift(device: str) -> float:
    """max |E - E₀| of ten pendula from 30deg over h/2 max |power of the weights|, less 1: the worst method.

    A kick by the weights followed by a drift keeps T + V + h/2 · power, exactly where variables are canonical
    (SIMGC, 10 s) and to first order in h otherwise (SIMMC, 0.5 s); the power is 0 at the start.
    """
    worst = 0.0
    for label, method, coordinates in fixed(epsilon=1e-9):
        h, until = (1e-4, 10.0) if coordinates == "generalized" else (2.5e-4, 0.5)
        world = World(scene("ten-pendula", start="30deg"), method, coordinates, dt=h, device=device)
        energy = power = 0.0
        for _ in range(round(until / 0.005)):
            world.step(round(0.005 / h))
            energy = max(energy, abs(world.energy().imbalance))
            bodies = world.model.bodies
            power = max(power, abs(sum(body.mass * G * world.body(name).velocity[2] for name, body in bodies.items())))
        _drifts[label] = 100.0 * energy / REFERENCE
        worst = max(worst, abs(energy / (0.5 * h * power) - 1.0))
    return worst


_drifts: dict[str, float] = {}


def show_drifts() -> None:
    """Print the energies of the last run."""
    for label, percent in _drifts.items():
        print(f"    {label}: {percent:.2g} % of {REFERENCE} J")


def books_order(device: str) -> float:
    """Order of the books' imbalance while a stiff hand lifts the hanging ten pendula: how far below the stated one.

    Methods of a fixed step 1. Sub-steps of `direct` 5, at tolerances so loose that a nominal step is one of them.
    """
    worst = 0.0
    for label, method, coordinates in general(epsilon=1e-9, rtol=1.0, atol=1.0, pair="explicit"):
        steps = (2e-4, 1e-4) if method.order == 1 else (0.01, 0.005, 0.0025)
        found = [_hand_imbalance(method, coordinates, h, device) for h in steps]
        order = observed_order(found, steps)
        _orders[label] = (found, order)
        worst = max(worst, method.order - order)
    return worst


_orders: dict[str, tuple[list[float], float]] = {}


def show_orders() -> None:
    """Print imbalances and orders of the last run."""
    for label, (found, order) in _orders.items():
        print(f"    {label}: {', '.join(f'{value:.2g}' for value in found)} J, order {order:.2f}")


def _hand_imbalance(method: Any, coordinates: str, h: float, device: str) -> float:
    """Largest imbalance in 0.25 s of the scene's own pull, which begins at once here [J]."""
    world = World(scene("ten-pendula", start="hanging"), method, coordinates, dt=h, device=device)
    hand = world.grab("link10", at=(0, 0, -LENGTH / 2), stiffness=1000.0, damping=1.0)
    hand.move(Ramp(None, (0.10, 0.25, -0.25), t0=0.0, t1=1.0))
    worst = 0.0
    for _ in range(5):
        world.step(round(0.05 / h))
        worst = max(worst, abs(world.energy().imbalance))
    return worst


CASES = [
    Case(
        "free-momentum",
        "a free body keeps its momentum over 1,000 steps to rounding, 1e-12, by direct to its tolerance, 1e-10",
        1.0,
        "1",
        free_momentum,
    ),
    Case(
        "spherical-attitudes",
        "a spherical pendulum passes every attitude as a hinge would, by every method",
        1e-9,
        "m",
        spherical_attitudes,
    ),
    Case(
        "ten-pendula-drift",
        "ten pendula from 30deg: max |E - E₀| = h/2 max |power of the weights| by SIMGC and SIMMC",
        0.02,
        "1",
        ten_pendula_drift,
        show=show_drifts,
    ),
    Case(
        "ten-pendula-hand",
        "the books' imbalance falls with the stated order while a stiff hand pulls ten pendula, by every method",
        0.15,
        "1",
        books_order,
        show=show_orders,
    ),
]
