"""scissor: a lift of crossed links on a screw; the dimensions are ours.

In the plane x, z; n stages of two links of length l that cross in their middles. With the foot at x the links are at
the angle of cos α = x / l, and

    height          z = n l sin α = n √(l² - x²)
    potential       V = g (n M + n² m) l sin α,     M of the plate, m of a link: the centres are at k - 1/2 stages
    force at rest   F = -dV/dx = g (n M + n² m) cot α, that the screw pulls the foot inwards by
"""

import math

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import Motor
from ..author.profiles import Harmonic
from ..author.shapes import Box
from .parts import at_least, rod

LENGTH, START = 0.4, math.radians(25.0)  # of a link [m], its angle to the level at the start
LINK, PLATE, NUT, G = 0.2, 2.0, 0.2, 9.81  # masses [kg]
PIN, ALONG = (0, 1, 0), (1, 0, 0)
REACH = LENGTH * math.cos(START)  # of the foot at the start [m]


def build(stages: int = 3, stroke: float = 0.12, omega: float = 1.5) -> Model:
    """Scissor lift on a screw: the foot goes in by a stroke, the plate up by the stages.

    The foot goes in and out again by `stroke` [m], as stroke (1 - cos(omega t)) / 2.
    """
    at_least("scissor", "stages", stages)
    if not 0 <= stroke <= 0.9 * REACH:
        raise ModelError(f"scene 'scissor': stroke is {stroke!r}, expected 0 to {0.9 * REACH:.3f} m")
    model = Model("scissor lift")
    rise = LENGTH * math.sin(START)
    model.body("nut", mass=NUT, position=(REACH, 0, 0), shape=Box((0.05, 0.05, 0.03)))
    # foot from the start: -stroke/2 + stroke/2 cos(ωt), which is 0 at first
    drive = Motor(position=Harmonic(stroke / 2, omega, math.pi / 2, -stroke / 2))
    model.joint("screw", "prismatic", model.ground, "nut", at=(REACH, 0, 0), axis=ALONG, motor=drive)
    left, right = np.array([0.0, 0, 0]), np.array([REACH, 0, 0])
    up, feet = np.array([0, 0, rise]), ["ground", "nut"]
    for k in range(1, stages + 1):
        # what stands on the left foot ends on the right, and is the right foot of the next stage
        names = [f"link{k}a", f"link{k}b"]
        rod(model, names[0], left, right + up, mass=LINK, radius=0.009)
        rod(model, names[1], right, left + up, mass=LINK, radius=0.009)
        for side, foot, name, at in (("left", feet[0], names[0], left), ("right", feet[1], names[1], right)):
            model.joint(f"{side}{k}", "revolute", foot, name, at=at, axis=PIN)
        model.joint(f"cross{k}", "revolute", names[0], names[1], at=(left + right + up) / 2, axis=PIN)
        feet, left, right = [names[1], names[0]], left + up, right + up
    tray = Box((LENGTH + 0.08, 0.16, 0.02), offset=((LENGTH - REACH) / 2, 0, 0.02))
    middle = (left + right) / 2
    model.body("plate", mass=PLATE, inertia=(5e-3, 3e-2, 3e-2), position=middle, shape=tray)
    model.joint("top", "revolute", "plate", feet[0], at=left, axis=PIN)
    model.joint("top slot", "pin-slot", "plate", feet[1], at=right, axis=PIN, axis2=ALONG)
    model.probe("top middle", "plate", at=middle)
    model.dt, model.duration = 0.01, 2 * math.pi / omega if omega > 0 else 2.0
    model.reference_energy = G * (stages * PLATE + stages**2 * LINK) * rise
    return model
