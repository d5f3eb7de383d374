"""six-bar: the crank-shaper, a slotted lever that drives a ram; the dimensions are ours.

In the plane x, y; crank r about O = (0, 0), lever l about P = (0, -h), rod c from its tip B to the ram on y = g:

    φ = atan2(r cos θ, h + r sin θ)        of the lever off the vertical, θ of the crank from x
    B = P + l (sin φ, cos φ),              x = B_x + √(c² - (g - B_y)²)

The lever turns back at cos θ = ± √(1 - r²/h²), where it touches the crank's circle: forth takes π + 2 asin(r/h) of
the crank's turn, back π - 2 asin(r/h), two to one where h = 2 r.
"""

import math

import numpy as np

from ..author.model import Model
from ..author.parts import Motor
from ..author.shapes import Box
from .parts import above, rod

CRANK, PIVOT, LEVER, ROD, GUIDE = 0.08, 0.16, 0.36, 0.15, 0.18  # r, h, l, c, g [m]
MASS_PER_LENGTH, BLOCK, RAM = 1.0, 0.1, 0.5  # of the links [kg/m]; [kg]
OUT = (0, 0, 1)


def build(speed: float = 3.0) -> Model:
    """Crank-shaper: a slotted lever moves a ram, back in half the time it takes forth.

    `speed` [rad/s] of the crank, by a motor. What to look at: the ram's speed, and the force of the motor.
    """
    above("six-bar", speed=speed)
    model = Model("six-bar", gravity=(0.0, -9.81, 0.0))
    O, P, A = np.zeros(3), np.array([0.0, -PIVOT, 0.0]), np.array([CRANK, 0.0, 0.0])
    x, lean = ram(0.0)
    B, D = P + LEVER * np.array([math.sin(lean), math.cos(lean), 0.0]), np.array([x, GUIDE, 0.0])
    crank, lever, link = (
        rod(model, name, a, b, mass=MASS_PER_LENGTH * float(np.linalg.norm(b - a)), radius=0.008)
        for name, a, b in (("crank", O, A), ("lever", P, B), ("rod", B, D))
    )
    turn = (0.0, 0.0, math.sin(-lean / 2), math.cos(lean / 2))
    block = model.body("block", mass=BLOCK, position=A, orientation=turn, shape=Box((0.03, 0.04, 0.03)))
    tool = Box((0.015, 0.05, 0.03), offset=(0.07, -0.04, 0))
    slide = model.body("ram", mass=RAM, inertia=(2e-4, 1e-3, 1e-3), position=D, shape=[Box((0.16, 0.035, 0.035)), tool])
    model.joint("shaft", "revolute", model.ground, crank, at=O, axis=OUT, motor=Motor(speed=speed))
    model.joint("pin", "revolute", crank, block, at=A, axis=OUT)
    model.joint("pivot", "revolute", model.ground, lever, at=P, axis=OUT)
    model.joint("slot", "prismatic", lever, block, at=A, axis=B - P)
    model.joint("tip", "revolute", lever, link, at=B, axis=OUT)
    model.joint("wrist", "revolute", link, slide, at=D, axis=OUT)
    model.joint("guide", "prismatic", model.ground, slide, at=D, axis=(1, 0, 0))
    model.probe("path B", lever, at=B)
    model.dt, model.duration = 0.005, 4 * math.pi / speed
    # the ram at the crank's speed times the lever's largest ratio, r / (h - r) l
    model.reference_energy = 0.5 * RAM * (speed * LEVER * CRANK / (PIVOT - CRANK)) ** 2
    return model


def ram(angle: float) -> tuple[float, float]:
    """Place of the ram [m] and lean of the lever [rad] where the crank is at an angle [rad]."""
    lean = math.atan2(CRANK * math.cos(angle), PIVOT + CRANK * math.sin(angle))
    x, y = LEVER * math.sin(lean), LEVER * math.cos(lean) - PIVOT
    return x + math.sqrt(ROD**2 - (GUIDE - y) ** 2), lean
