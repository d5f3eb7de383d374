"""Analyses against closed forms: mobility, statics, modes and inverse dynamics.

The cross-lift has one freedom but for the spin of its rods, the angle θ of its links to the horizontal.
With links of length l and mass m, springs k from l cos θ₀ on two sides, and a load F on the plate:

    V  = (6 m g + F) 2 l sin θ + k l² (cos θ - cos θ₀)²
    T  = ½ J(θ) θ̇²,   J = m l² (1 + sin² θ + 9 cos² θ) + m l² (1 + cos² θ) + 4 m l² cos² θ + 8 I
                          low and high links             rods                 plate          turning
    V' = 0,  ω² = V'' / J,  ζ = 2 c l² sin² θ / 2 J ω
"""

import math
from functools import cache

import numpy as np

from ..analysis import inverse, mobility, modes, statics
from ..analysis.statics import Statics
from ..author.model import Model
from ..scenes import scene
from ..scenes.cross_lift import ANGLE, LENGTH, LINK, STIFFNESS
from ..scenes.parts import rod
from ..world.world import World
from .case import Case
from .convergence import G, pendulum

MASS, LOAD = 0.1, 100.0  # of each body of the cross-lift, on its plate [kg, N]
COUNTS = {"equations": 96, "rank": 63, "redundant": 33, "freedoms": 3}
HEIGHTS = {"free": 0.38525342, "load": 0.37774964}  # as published, rounded to 1e-8 [m]


def lift_equilibrium(load: float, damping: float = 20.0) -> tuple[float, float, float]:
    """Height [m], frequency [rad/s] and damping ratio of the cross-lift under a load [N]."""
    from scipy.optimize import brentq

    l, k, rest = LENGTH, STIFFNESS, math.cos(ANGLE)
    push = 2 * l * (6 * MASS * G + load)

    def slope(angle: float) -> float:
        return push * math.cos(angle) - 2 * k * l**2 * (math.cos(angle) - rest) * math.sin(angle)

    angle = brentq(slope, 0.8 * ANGLE, 1.1 * ANGLE, xtol=1e-16, rtol=1e-15)
    s, c = math.sin(angle), math.cos(angle)
    curvature = -push * s - 2 * k * l**2 * (c**2 - s**2 - rest * c)
    inertia = MASS * l**2 * ((1 + s**2 + 9 * c**2) + (1 + c**2) + 4 * c**2) + 8 * LINK[0]
    omega = math.sqrt(curvature / inertia)
    return 2 * l * s, omega, 2 * damping * l**2 * s**2 / (2 * inertia * omega)


def lift_mobility(device: str) -> float:
    """How many of the four counts are wrong, from the model and from worlds in both coordinates."""
    model = scene("cross-lift")
    worlds = [World(model, coordinates=coordinates, device=device) for coordinates in ("generalized", "maximal")]
    for world in worlds:
        world.step(5)
    found = [mobility(model, device=device), *map(mobility, worlds)]
    return sum(getattr(count, name) != value for count in found for name, value in COUNTS.items())


def lift_statics(device: str) -> float:
    """Heights, free and under 100 N, against the published ones, which are rounded at 5e-9 m."""
    return max(abs(_height(case, device) - height) for case, height in HEIGHTS.items())


def lift_statics_exact(device: str) -> float:
    """The same against the root of V'."""
    return max(abs(_height(case, device) - lift_equilibrium(load)[0]) for case, load in _loads().items())


def _loads() -> dict[str, float]:
    return {"free": 0.0, "load": LOAD}


@cache
def _at_rest(case: str, device: str) -> Statics:
    """The lift in equilibrium, for all cases that look at it."""
    return statics(scene("cross-lift", case=case), time=3.0, device=device)


def _height(case: str, device: str) -> float:
    return float(_at_rest(case, device).position["plate"][2])


def lift_sides(device: str) -> float:
    """Largest difference of the reactions of sides A and B under the load, of the largest reaction."""
    found = _at_rest("load", device).reaction
    forces = {name: reaction.force for name, reaction in found.items()}
    largest = max(float(np.linalg.norm(force)) for force in forces.values())
    across = [np.linalg.norm((forces[name] - forces[f"{name[:-1]}B"])[[0, 2]]) for name in forces if name.endswith("A")]
    return float(max(across)) / largest


def lift_modes(device: str) -> float:
    """Frequency and damping ratio, free and loaded; the rods' spins have no frequency."""
    worst = 0.0
    for case, load in _loads().items():
        found = modes(scene("cross-lift", case=case), time=3.0, device=device)
        _, omega, ratio = lift_equilibrium(load)
        off = (found.frequency[-1] / omega - 1, found.damping_ratio[-1] / ratio - 1, *found.frequency[:-1])
        worst = max(worst, *map(abs, off))
    return float(worst)


def pendulum_mode(device: str) -> float:
    """ω² = 3 g / 2 l of a uniform rod, found from 1 rad off the vertical."""
    return float(abs(modes(pendulum(), device=device).frequency[0] / math.sqrt(1.5 * G) - 1))


def spring_chain(n: int = 5, mass: float = 0.3, stiffness: float = 200.0) -> Model:
    """n equal masses on a straight guide, joined by equal springs, the first to ground."""
    model = Model("spring chain")
    before, at = model.ground, (0.0, 0.0, 0.0)
    for k in range(1, n + 1):
        here = (0.1 * k, 0.0, 0.0)
        body = model.body(f"mass{k}", mass=mass, inertia=(1e-4,) * 3, position=here)
        model.joint(f"guide{k}", "prismatic", model.ground, body, at=here, axis=(1, 0, 0))
        model.spring(f"spring{k}", before, body, at, here, stiffness)
        before, at = body, here
    return model


def spring_chain_modes(device: str) -> float:
    """ω_j = 2 √(k/m) sin((2j - 1) π / 2 (2n + 1))."""
    n, mass, stiffness = 5, 0.3, 200.0
    j = np.arange(1, n + 1)
    exact = 2 * math.sqrt(stiffness / mass) * np.sin((2 * j - 1) * math.pi / (2 * (2 * n + 1)))
    return float(np.abs(modes(spring_chain(n, mass, stiffness), device=device).frequency / exact - 1).max())


def peaucellier_inverse(device: str) -> float:
    """Torque of the running motor at the end of each step less that of inverse dynamics, of its peak."""
    worst = 0.0
    for omega in (1.0, 10.0):
        model = scene("peaucellier", omega=omega)
        steps = round(2 * math.pi / omega / 0.01 / 40)
        times = 0.01 * steps * np.arange(1, 41)
        needed = inverse(model, None, times, device=device)["motor_torque"].values[:, 0]
        for coordinates in ("generalized", "maximal"):
            world = World(model, "direct", coordinates, dt=0.01, device=device)
            torques = []
            for _ in times:
                world.step(steps)
                torques.append(world.joint("crank").motor_torque)
            worst = max(worst, float(np.abs(needed - torques).max() / np.abs(needed).max()))
    return worst


def rod_inverse(device: str) -> float:
    """A driven uniform rod: torque = m l²/3 q̈ + m g l/2 cos q, reaction from the centre's acceleration."""
    model = Model("driven rod")
    bar = rod(model, "rod", (0, 0, 0), (1, 0, 0), 1.0)
    model.joint("hinge", "revolute", model.ground, bar, at=(0, 0, 0), axis=(0, -1, 0))

    def motion(t: float) -> tuple[float, float, float]:
        return math.sin(3 * t), 3 * math.cos(3 * t), -9 * math.sin(3 * t)

    times = np.linspace(0.0, 2.0, 21)
    found = inverse(model, {"hinge": motion}, times, device=device)
    worst = 0.0
    for k, t in enumerate(times):
        q, rate, change = motion(t)
        torque = change / 3 + G / 2 * math.cos(q)
        out, up = np.array([math.cos(q), 0, math.sin(q)]), np.array([-math.sin(q), 0, math.cos(q)])
        force = 0.5 * (change * up - rate**2 * out) + (0, 0, G)
        worst = max(worst, abs(found["motor_torque"].values[k, 0] - torque) / G)
        worst = max(worst, float(np.abs(found["reaction_force"].values[k, 0] - force).max()) / G)
    return worst


CASES = [
    Case("lift-mobility", "cross-lift: 96 equations, rank 63, 33 redundant, 3 freedoms", 0, "1", lift_mobility),
    Case("lift-statics", "cross-lift rests at 0.38525342 m, under 100 N at 0.37774964 m", 1e-8, "m", lift_statics),
    Case("lift-statics-exact", "cross-lift rests where V' = 0", 1e-12, "m", lift_statics_exact),
    Case("lift-sides", "cross-lift: sides A and B carry the same under a centred load", 1e-8, "1", lift_sides),
    Case("lift-modes", "cross-lift vibrates at √(V''/J) = 170.63 rad/s, 162.99 loaded", 1e-8, "1", lift_modes),
    Case("pendulum-mode", "a rod's small swing has ω² = 3 g / 2 l", 1e-9, "1", pendulum_mode),
    Case("spring-chain-modes", "ω_j = 2 √(k/m) sin((2j-1) π / (4n+2))", 1e-9, "1", spring_chain_modes),
    Case("rod-inverse", "a driven rod needs m l²/3 q̈ + m g l/2 cos q", 1e-12, "1", rod_inverse),
    Case("peaucellier-inverse", "inverse dynamics gives the running motor's torque", 1e-6, "1", peaucellier_inverse),
]
