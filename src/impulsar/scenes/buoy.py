"""buoy: a spar on a mooring, in waves and a current."""

import math

from ..author.model import Model
from ..author.shapes import Box, Cylinder, Sphere

WATER = 1025.0  # [kg/m³]


def build(amplitude: float = 0.1, period: float = 2.5, current: float = 0.2, depth: float = 4.0) -> Model:
    """A buoy with ballast on a soft mooring, and a raft beside it, in waves that run along x with the current.

    amplitude [m] and period [s] of the waves in water of a depth [m]; current [m/s].
    """
    model = Model("buoy")
    spar = Cylinder(0.15, 1.0, offset=(0, 0, 0.3))
    lead = Sphere(0.1, offset=(0, 0, -0.3))
    model.body(
        "buoy",
        mass=50.0,
        inertia=(7.0, 7.0, 0.6),
        position=(0, 0, -0.45),
        shape=[spar, lead],
        colour="#d8572a",
    )
    model.spring("mooring", model.ground, "buoy", (0, 0, -depth), (0, 0, -0.85), 40.0, 5.0, depth - 0.85)
    model.body("raft", shape=Box((1.2, 0.8, 0.2)), density=500.0, position=(2.5, 0, 0), colour="#b98b5a")
    model.fluid(
        "sea",
        density=WATER,
        current=(current, 0.0, 0.0),
        wave_amplitude=amplitude,
        wave_period=period,
        depth=depth,
    )
    model.probe("lamp", "buoy", at=(0, 0, 0.35))
    model.dt, model.duration = 0.01, 10.0
    # heave of the buoy by the amplitude, and what every scene needs where there are no waves
    model.reference_energy = WATER * 9.81 * math.pi * spar.radius**2 * max(amplitude, 0.01) ** 2 / 2
    return model
