"""walker: Jansen's linkage, "Strandbeest" (Jansen 2007), on the ground.

A leg in units of its plan, in the plane x, z: crank m about O = (0, 0) to the pin Z, fixed pivot P = (-a, -l);

    X   |XZ| = j, |XP| = b, above          W   |WX| = e, |WP| = d, outside: PXW is rigid
    Y   |YZ| = k, |YP| = c, below          V   |VW| = f, |VY| = g
    F   |FY| = i, |FV| = h, the foot: YVF is rigid

Its foot is within 1 of the ground for 43 % of a turn, so three legs at 120° keep one down; beside each stands its
mirror image on the same pin.
"""

import math
from itertools import combinations

import numpy as np

from ..author.model import Model
from ..author.parts import Body, Motor
from ..author.profiles import Smooth
from ..author.rotations import frame_from_axes
from ..author.shapes import Box, Capsule, Shape, compose
from .parts import above, floor, meet

UNIT, THIN, WIDE, G = 0.002, 0.004, 0.3, 9.81  # of the plan, radius of bars and feet, width of a foot [m]
A, B, C, D, E, F, GG, H, I, J, K, L, M = 38.0, 41.5, 39.3, 40.1, 55.8, 39.4, 36.7, 65.7, 49.0, 50.0, 61.9, 7.8, 15.0
DENSITY, CHASSIS = 1000.0, 1.0  # of bars [kg/m³], mass of the chassis [kg]
PLANES = (-0.05, 0.0, 0.05)  # of the three cranks, along y [m]
ACROSS = (0, 1, 0)


def build(speed: float = 6.0, friction: float = 0.8) -> Model:
    """Six Jansen legs on one crankshaft walk over the ground.

    `speed` [rad/s] of the crank, reached after half a second. What to look at: it walks 0.28 m a turn, nearly
    its length; the 18 loops stay closed.
    """
    above("walker", friction=friction)
    model = Model("walker")
    model.material("rubber foot", friction=friction)
    floor(model, "rubber foot")
    start = [2 * math.pi * k / 3 for k in range(3)]
    plans = [plan(angle if side > 0 else math.pi - angle) for angle in start for side in (1, -1)]
    height = THIN - UNIT * min(points["F"][1] for points in plans)  # of the crankshaft, a foot on the ground
    deck = Box((2 * UNIT * A, 0.16, 0.012), offset=(0, 0, UNIT * L))
    model.body("chassis", mass=CHASSIS, inertia=(4e-3, 4e-3, 6e-3), position=(0, 0, height), shape=deck)
    axle = _Place(height, 1, 0.0)
    pins = [_Place(height, 1, y).point(points["Z"]) for y, points in zip(PLANES, plans[::2], strict=True)]
    throws = [(axle.at(y), pin) for y, pin in zip(PLANES, pins, strict=True)]
    bars(model, "crank", [(axle.at(PLANES[0]), axle.at(PLANES[2])), *throws])
    turn = Motor(speed=Smooth(0.0, speed, 0.0, 0.5))
    model.joint("shaft", "revolute", "chassis", "crank", at=(0, 0, height), axis=ACROSS, motor=turn)
    for k, y in enumerate(PLANES):
        for side, name in ((1, f"rear{k + 1}"), (-1, f"front{k + 1}")):
            _add_leg(model, name, _Place(height, side, y), plans[2 * k + (side < 0)])
    feet = [name for name in model.bodies if name.endswith("foot")]
    for a, b in combinations(feet, 2):
        model.no_contact(a, b)
    model.probe("axle", "chassis", at=(0, 0, height))
    model.dt, model.duration = 0.01, 10.0
    model.reference_energy = sum(body.mass * G * body.position[2] for body in model.bodies.values())
    return model


def plan(angle: float) -> dict[str, np.ndarray]:
    """Points of a leg whose crank has the angle [rad], in units of the plan."""
    Z, P = M * np.array([math.cos(angle), math.sin(angle)]), np.array([-A, -L])
    X, Y = meet(P, B, Z, J, 1), meet(P, C, Z, K, -1)
    W = meet(P, D, X, E, 1)
    V = meet(Y, GG, W, F, 1)
    foot = meet(Y, I, V, H, 1)
    return {"Z": Z, "P": P, "X": X, "Y": Y, "W": W, "V": V, "F": foot}


class _Place:
    """Where a leg's plan lies in the world: the crankshaft's height, mirrored or not, the plane y."""

    def __init__(self, height: float, side: int, y: float):
        self.height, self.side, self.y = height, side, y

    def at(self, y: float) -> np.ndarray:
        """The crankshaft at y."""
        return np.array([0.0, y, self.height])

    def point(self, p: np.ndarray) -> np.ndarray:
        """A point of the plan."""
        return np.array([self.side * UNIT * p[0], self.y, self.height + UNIT * p[1]])


def _add_leg(model: Model, name: str, place: _Place, points: dict[str, np.ndarray]) -> None:
    """The six bodies of a leg and their nine hinges."""
    at = {key: place.point(p) for key, p in points.items()}
    for part, segments in (
        ("upper bar", ["XZ"]),
        ("lower bar", ["YZ"]),
        ("triangle", ["PX", "XW", "WP"]),
        ("rocker", ["PY"]),
        ("link", ["WV"]),
        ("foot", ["YV", "VF", "FY"]),
    ):
        sole = (at["F"] - (0, place.y + WIDE / 2, 0), at["F"] + (0, WIDE / 2 - place.y, 0))
        pairs = [(at[pair[0]], at[pair[1]]) for pair in segments]
        bars(model, f"{name} {part}", pairs, sole if part == "foot" else None)
    for key, first, second in (
        ("Z", "crank", "upper bar"),
        ("Z", "crank", "lower bar"),
        ("P", "chassis", "triangle"),
        ("P", "chassis", "rocker"),
        ("X", "upper bar", "triangle"),
        ("W", "triangle", "link"),
        ("Y", "rocker", "lower bar"),
        ("Y", "rocker", "foot"),
        ("V", "link", "foot"),
    ):
        parent = first if first in ("crank", "chassis") else f"{name} {first}"
        model.joint(f"{name} {key} {second}", "revolute", parent, f"{name} {second}", at=at[key], axis=ACROSS)


def bars(model: Model, name: str, segments: list, sole: tuple | None = None, mass: float | None = None) -> Body:
    """A body of round bars between points of the world, and a sole that touches; of their density, or a mass [kg]."""
    shapes: list[Shape] = [_bar(a, b) for a, b in segments]
    if sole is not None:
        shapes.append(_bar(sole[0], sole[1], material="rubber foot"))
    volume, inertia, centred = compose(shapes)
    mass = DENSITY * volume if mass is None else mass
    tensor = mass * (inertia + inertia.T) / 2
    position = np.asarray(shapes[0].offset) - np.asarray(centred[0].offset)
    return model.body(name, mass=mass, inertia=tensor, position=position, shape=centred)


def _bar(a: np.ndarray, b: np.ndarray, material: str | None = None) -> Capsule:
    return Capsule(
        THIN,
        float(np.linalg.norm(b - a)),
        offset=(a + b) / 2,
        orientation=frame_from_axes("bar", b - a, None),
        material=material,
    )
