"""quarter-car: a quarter of a car on its wheel's suspension, over a rough road; stiff by its defaults."""

import math

from ..author.model import Model
from ..author.parts import Motor
from ..author.profiles import Harmonic
from ..author.shapes import Box, Cylinder

TRAVEL = 0.3  # from the road to the wheel, from the wheel to the car [m]
ACROSS = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))  # an axle along y


def build(
    sprung: float = 250.0,
    unsprung: float = 40.0,
    stiffness: float = 1e6,
    damping: float = 1e4,
    tyre: float = 2e5,
    bump: float = 0.02,
    wave: float = 5.0,
    speed: float = 10.0,
) -> Model:
    """A car's quarter of 250 kg on a stiff suspension, its wheel of 40 kg on a tyre that rolls over a wavy road.

    stiffness, damping of the suspension and stiffness of the tyre [N/m, N s/m]; bump, wave: height and length of the
    road's waves [m], passed at `speed` [m/s].
    """
    model = Model("quarter-car", gravity=(0.0, 0.0, -9.81))
    road = model.body("road", mass=1000.0, position=(0, 0, 0), shape=Box((0.4, 0.4, 0.02)))
    disc = Cylinder(radius=0.2, length=0.15, orientation=ACROSS)
    wheel = model.body("wheel", mass=unsprung, position=(0, 0, TRAVEL), shape=disc)
    car = model.body("car", mass=sprung, position=(0, 0, 2 * TRAVEL), shape=Box((0.5, 0.4, 0.2)))
    omega = 2 * math.pi * speed / wave
    profile = Harmonic(bump / 2, omega, -math.pi / 2, bump / 2)
    model.joint("shaker", "prismatic", model.ground, road, at=(0, 0, 0), axis=(0, 0, 1), motor=Motor(position=profile))
    model.joint("stub", "prismatic", model.ground, wheel, at=(0, 0, TRAVEL), axis=(0, 0, 1))
    model.joint("strut", "prismatic", model.ground, car, at=(0, 0, 2 * TRAVEL), axis=(0, 0, 1))
    squeezed, pressed = sprung * 9.81 / stiffness, (sprung + unsprung) * 9.81 / tyre  # at rest [m]
    model.spring("suspension", wheel, car, (0, 0, TRAVEL), (0, 0, 2 * TRAVEL), stiffness, damping, TRAVEL + squeezed)
    model.spring("tyre", road, wheel, (0, 0, 0), (0, 0, TRAVEL), tyre, 0.0, TRAVEL + pressed)
    model.dt, model.duration, model.reference_energy = 0.01, 2.0, sprung * 9.81 * max(bump, 1e-3)
    return model
