"""stewart-platform: a plate on six legs that a motor each makes longer and shorter; the dimensions are ours.

Feet a_k on a circle of 0.50 m at -10, 10, 110, ... °, heads b_k of the plate on one of 0.30 m at -50, 50, 70, ... °,
in the same order; the plate at 0.45 m: all legs are 0.559184 m. With the plate at p and R (Stewart 1965)

    length of leg k = |p + R b_k - a_k|
"""

import math

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import Motor
from ..author.profiles import Harmonic
from ..author.rotations import frame_from_axes
from ..author.shapes import Capsule, Cylinder
from .parts import above

BASE, PLATE, HEIGHT = 0.50, 0.30, 0.45  # radii of feet and heads, height of the plate [m]
FEET = tuple(math.radians(angle) for angle in (-10, 10, 110, 130, 230, 250))
HEADS = tuple(math.radians(angle) for angle in (-50, 50, 70, 170, 190, 290))
MASS, TUBE, PISTON, G = 6.0, 0.6, 0.4, 9.81  # of the plate and of a leg's parts [kg]
MOTIONS = ("circle", "heave", "twist")


def build(motion: str = "circle", amplitude: float = 0.03, omega: float = 2.0) -> Model:
    """Stewart platform: six legs of changing length move a plate in all six ways.

    Each leg's length goes by `amplitude` [m] to and fro with `omega` [rad/s]: all together ("heave"), in turn
    against together ("twist"), or one after the other around ("circle").
    """
    if motion not in MOTIONS:
        raise ModelError(f"scene 'stewart-platform': motion is {motion!r}, expected one of: {', '.join(MOTIONS)}")
    above("stewart-platform", -1e-300, amplitude=amplitude)
    above("stewart-platform", omega=omega)
    model = Model("Stewart platform")
    model.body("plate", mass=MASS, position=(0, 0, HEIGHT), shape=Cylinder(1.08 * PLATE, 0.025))
    up = np.array([0.0, 0.0, HEIGHT])
    for k, (a, b) in enumerate(zip(feet(), heads(), strict=True)):
        _add_leg(model, k + 1, a, b + up, _drive(motion, k, amplitude, omega))
    model.probe("centre", "plate", at=(0, 0, HEIGHT))
    model.dt, model.duration = 0.005, 2 * math.pi / omega
    model.reference_energy = MASS * G * HEIGHT
    return model


def feet() -> np.ndarray:
    """Points of the legs on the ground [6, 3]."""
    return np.array([[BASE * math.cos(angle), BASE * math.sin(angle), 0.0] for angle in FEET])


def heads() -> np.ndarray:
    """Points of the legs on the plate, from its centre [6, 3]."""
    return np.array([[PLATE * math.cos(angle), PLATE * math.sin(angle), 0.0] for angle in HEADS])


def _drive(motion: str, k: int, amplitude: float, omega: float) -> Motor:
    """Of leg k, without a jump at the start: every motion begins at the authored lengths."""
    phase = {"circle": FEET[k], "heave": 0.0, "twist": math.pi * (k % 2)}[motion]
    return Motor(position=Harmonic(amplitude, omega, phase, -amplitude * math.sin(phase)))


def _add_leg(model: Model, number: int, a: np.ndarray, b: np.ndarray, drive: Motor) -> None:
    """A tube on a universal joint at a, in it a piston to a ball at b."""
    along = (b - a) / np.linalg.norm(b - a)
    side = np.cross(along, (0, 0, 1))
    side /= np.linalg.norm(side)
    q, length = frame_from_axes(f"leg {number}", along, None), float(np.linalg.norm(b - a))
    half = 0.55 * length
    for name, mass, radius, near in (("tube", TUBE, 0.018, 0.0), ("piston", PISTON, 0.010, length - half)):
        model.body(
            f"{name}{number}",
            mass=mass,
            position=a + (near + half / 2) * along,
            orientation=q,
            shape=Cylinder(radius, half) if name == "tube" else Capsule(radius, half),
        )
    tube, piston = f"tube{number}", f"piston{number}"
    model.joint(f"foot{number}", "universal", model.ground, tube, at=a, axis=side, axis2=np.cross(along, side))
    model.joint(f"leg{number}", "prismatic", tube, piston, at=(a + b) / 2, axis=along, motor=drive)
    model.joint(f"ball{number}", "spherical", piston, "plate", at=b)
