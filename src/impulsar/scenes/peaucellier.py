"""peaucellier (Mikhaylyuk 2017 fig. 5)."""

import math

import numpy as np

from ..author.model import Model
from ..author.parts import Motor
from ..author.profiles import Harmonic
from .parts import rod

ARM, SIDE, CRANK = 0.25, 0.10, 0.10  # OA = OC, sides of the rhombus, QB [m]
LINE = (ARM**2 - SIDE**2) / (2 * CRANK)  # the output point's x [m]
MASS_PER_LENGTH = 1.0  # [kg/m]


def build(omega: float = 1.0, amplitude: float = 1.1, motor: bool = True) -> Model:
    """Peaucellier-Lipkin linkage: the crank swings by a motor, the output point runs on x = 0.2625 m.

    The crank's angle is amplitude · sin(omega t); motor=False leaves it to gravity.
    """
    model = Model("Peaucellier-Lipkin linkage", gravity=(0.0, -9.81, 0.0))
    O, Q, B, D = (np.array(p) for p in ((0.0, 0, 0), (CRANK, 0, 0), (2 * CRANK, 0, 0), (LINE, 0, 0)))
    middle = (B + D) / 2
    rise = math.sqrt(SIDE**2 - (middle[0] - B[0]) ** 2)
    up = np.array([0.0, rise, 0.0])
    A, C = middle + up, middle - up

    def bar(name: str, a: np.ndarray, b: np.ndarray):
        return rod(model, name, a, b, mass=MASS_PER_LENGTH * float(np.linalg.norm(b - a)))

    crank, OA, OC = bar("QB", Q, B), bar("OA", O, A), bar("OC", O, C)
    AB, BC, CD, DA = bar("AB", A, B), bar("BC", B, C), bar("CD", C, D), bar("DA", D, A)
    drive = Motor(position=Harmonic(amplitude, omega)) if motor else None
    model.joint("crank", "revolute", model.ground, crank, at=Q, axis=(0, 0, 1), motor=drive)
    for name, first, second, at in (
        ("O-A", model.ground, OA, O),
        ("O-C", model.ground, OC, O),
        ("A-B", OA, AB, A),
        ("A-D", OA, DA, A),
        ("C-B", OC, BC, C),
        ("C-D", OC, CD, C),
        ("B-A", crank, AB, B),
        ("B-C", crank, BC, B),
        ("D", CD, DA, D),
    ):
        model.joint(name, "revolute", first, second, at=at, axis=(0, 0, 1))
    model.probe("path D", CD, at=D)
    model.dt, model.duration = 0.01, 2 * math.pi
    # all bars dropped through the height of the linkage
    model.reference_energy = sum(body.mass for body in model.bodies.values()) * 9.81 * 2 * rise
    return model
