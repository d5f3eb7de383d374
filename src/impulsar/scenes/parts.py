"""Parts that several scenes are made of."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import Body
from ..author.rotations import frame_from_axes
from ..author.shapes import Capsule, ConvexHull, Plane

LENGTH = 0.05  # of a pendulum link [m]
STARTS = {"hanging": 0.0, "30deg": math.radians(30.0), "horizontal": math.radians(90.0)}


def pendulum_link(model: Model, name: str, top: np.ndarray, angle: float) -> tuple[Body, np.ndarray]:
    """A link of Mariti 2012 table 1 that hangs from `top`, turned about x by `angle` towards +y.

    Returns the body, its z along the link, and the place of its lower end.
    """
    down = np.array([0.0, math.sin(angle), -math.cos(angle)])
    body = model.body(
        name,
        mass=0.1,
        inertia=(21e-6, 21e-6, 0.5e-6),
        position=top + 0.5 * LENGTH * down,
        orientation=(math.sin(angle / 2), 0.0, 0.0, math.cos(angle / 2)),
        shape=Capsule(radius=0.004, length=LENGTH),
    )
    return body, top + LENGTH * down


def start_angle(scene: str, start: str) -> float:
    """Angle off the vertical of a named start [rad]."""
    if start not in STARTS:
        raise ModelError(f"scene '{scene}': start is {start!r}, expected one of: {', '.join(STARTS)}")
    return STARTS[start]


def rod(model: Model, name: str, a, b, mass: float, radius: float = 0.005, velocity=(0, 0, 0), spin=(0, 0, 0)) -> Body:
    """A thin uniform rod from point a to point b, its z along it: inertia m l²/12 across, m r²/2 along."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    length = float(np.linalg.norm(b - a))
    across, along = mass * length**2 / 12.0, mass * radius**2 / 2.0
    return model.body(
        name,
        mass=mass,
        inertia=(across, across, along),
        position=(a + b) / 2.0,
        orientation=frame_from_axes(name, b - a, None),
        velocity=velocity,
        angular_velocity=spin,
        shape=Capsule(radius=radius, length=length),
    )


def meet(a: np.ndarray, ra: float, b: np.ndarray, rb: float, side: int) -> np.ndarray:
    """Where two circles meet; side 1: to the left on the way from a to b."""
    d = b - a
    far = float(np.linalg.norm(d))
    along = (far**2 + ra**2 - rb**2) / (2 * far)
    return a + (along * d + side * math.sqrt(ra**2 - along**2) * np.array([-d[1], d[0]])) / far


def at_least(scene: str, what: str, value: object, least: int = 1) -> None:
    """Raise `ModelError` unless a parameter is an integer of at least so much."""
    if not (isinstance(value, int) and value >= least):
        raise ModelError(f"scene '{scene}': {what} is {value!r}, expected an integer >= {least}")


def above(scene: str, least: float = 0.0, **values: float) -> None:
    """Raise `ModelError` at the first parameter that is not above `least`."""
    for what, value in values.items():
        if not value > least:
            raise ModelError(f"scene '{scene}': {what} is {value!r}, expected a number > {least:g}")


def floor(model: Model, material: str, height: float = 0.0, name: str = "floor") -> None:
    """A level plane of the ground."""
    model.obstacle(name, Plane(), position=(0.0, 0.0, height), material=material)


def prism(outline: Sequence[Sequence[float]], thickness: float, material: str | None = None) -> ConvexHull:
    """The convex hull of an outline in the x-y plane, so thick along z, half to either side [m]."""
    points = [(x, y, z) for x, y in outline for z in (-thickness / 2, thickness / 2)]
    return ConvexHull(points, material=material)


def stone(model: Model, name: str, hull: ConvexHull, density: float, **options: Any) -> Body:
    """A uniform body [kg/m³] that is a hull of points of the world; the centre of mass is its position."""
    centred = replace(hull, points=np.asarray(hull.points) - hull.center)
    inertia = density * centred.volume * centred.unit_inertia()
    tensor = (inertia + inertia.T) / 2  # to the last bit
    return model.body(
        name, mass=density * centred.volume, inertia=tensor, shape=centred, position=hull.center, **options
    )
