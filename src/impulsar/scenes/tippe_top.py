"""tippe-top: spins, and turns over (Rauch-Wojciechowski and Rutstam 2014).

A ball of radius R whose centre of mass is α R below its middle; I₃ about its axis, γ = I₁/I₃. Sliding friction at the
contact turns it over if 1 - α < γ < 1 + α and Jellett's λ = -L · a, with a from the centre of mass to the contact, is
more than √(m g R³ I₃ α) (1 + α)² / √(1 + α - γ). No force at the contact changes λ.

It starts spinning about the vertical, so that its contact slides round and round. About its own tilted axis friction
would soon make it roll, and what rolls does not turn over.
"""

import math

import numpy as np

from ..author.model import Model
from ..author.shapes import Sphere
from .parts import above, floor

MASS, RADIUS, OFF, ALONG, RATIO, G = 0.02, 0.02, 0.3, 3.2e-6, 131 / 140, 9.81  # m, R, α, I₃, γ


def build(spin: float = 150.0, tilt_deg: float = 10.0, friction: float = 0.3) -> Model:
    """A tippe top of 40 mm is set spinning and turns over.

    `spin` [rad/s] about the vertical, its axis tilted by `tilt_deg`; it takes 76.7 rad/s to turn over. What to look at:
    the centre of mass rises by 2 α R = 12 mm, while Jellett's λ = R (L_z - α L₃) stays. The knob marks its axis.
    """
    above("tippe-top", -1e-300, spin=spin, tilt_deg=tilt_deg, friction=friction)
    model = Model("tippe top")
    model.material("wood on wood", friction=friction)
    floor(model, "wood on wood")
    tilt = math.radians(tilt_deg)
    axis = np.array([math.sin(tilt), 0.0, math.cos(tilt)])
    model.body(
        "top",
        mass=MASS,
        inertia=(RATIO * ALONG, RATIO * ALONG, ALONG),
        shape=[
            Sphere(RADIUS, offset=(0, 0, OFF * RADIUS), material="wood on wood"),
            Sphere(0.3 * RADIUS, offset=(0, 0, (OFF + 0.8) * RADIUS)),
        ],
        position=(0.0, 0.0, RADIUS) - OFF * RADIUS * axis,
        orientation=(0.0, math.sin(tilt / 2), 0.0, math.cos(tilt / 2)),
        angular_velocity=(0.0, 0.0, spin),
    )
    model.probe("axis", "top", at=(0.0, 0.0, RADIUS) + RADIUS * axis)
    model.dt, model.duration = 0.002, 3.0
    model.reference_energy = MASS * G * 2 * OFF * RADIUS  # turned over
    return model
