"""rolling-disc: a coin that rolls in a circle, and Euler's disc.

Steady motion of a disc whose plane is tilted by α to the ground: n up, e3 along its axis, ω = Ω n + s e3, contact at ρ
from the centre of mass, v = -ω × ρ, and

    ρ × m (Ω n × v + g n) = Ω n × L,   L = I_t ω + (I_s - I_t) (ω · e3) e3

which is one equation along the horizontal line in the disc's plane. For a thin disc it reads, with ω3 = ω · e3,
(I_s + m a²) ω3 Ω sin α - I_t Ω² sin α cos α + m g a cos α = 0; without ω3, Ω² = 4 g / (a sin α) (Moffatt 2000).
"""

import math

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..author.shapes import Cylinder
from .parts import above, floor

RADIUS, DENSITY, G = 0.05, 7800.0, 9.81  # [m], [kg/m³]
MOTIONS = ("rolling", "euler")


def build(
    motion: str = "rolling",
    tilt_deg: float = 70.0,
    precession: float = 4.0,
    thickness: float = 0.004,
    friction: float = 0.6,
) -> Model:
    """A disc of 0.05 m rolls in a circle, its plane tilted by 70° to the ground, or spins as Euler's disc.

    motion "rolling": it goes round at `precession` [rad/s]; "euler": its centre stays, and it goes round as fast as
    that takes. What to look at: tilt and circle stay as they are, of a thin disc at 70° and 4 rad/s one of 0.146 m.
    """
    if motion not in MOTIONS:
        raise ModelError(f"scene 'rolling-disc': motion is {motion!r}, expected one of: {', '.join(MOTIONS)}")
    above("rolling-disc", tilt_deg=tilt_deg, thickness=thickness, friction=friction)
    if not tilt_deg < 90:
        raise ModelError(f"scene 'rolling-disc': tilt_deg is {tilt_deg!r}, expected < 90")
    model = Model("rolling disc" if motion == "rolling" else "Euler's disc")
    model.material("steel on glass", friction=friction)
    floor(model, "steel on glass")
    tilt = math.radians(tilt_deg)
    turn, spin = steady(motion, tilt, precession, thickness)
    velocity = -np.cross(spin, contact(tilt, thickness))
    model.body(
        "disc",
        density=DENSITY,
        shape=Cylinder(RADIUS, thickness),
        position=-contact(tilt, thickness),
        orientation=(math.sin(tilt / 2), 0.0, 0.0, math.cos(tilt / 2)),
        velocity=velocity,
        angular_velocity=spin,
        material="steel on glass",
    )
    model.probe("rim", "disc", at=-2 * contact(tilt, thickness))
    model.dt, model.duration = 0.002, 2 * math.pi / abs(turn)
    body = model.bodies["disc"]
    model.reference_energy = body.mass * (G * RADIUS * math.sin(tilt) + float(velocity @ velocity) / 2)
    return model


def contact(tilt: float, thickness: float) -> np.ndarray:
    """From the centre of mass to the lowest point [m]; the disc's plane is tilted about x."""
    down, axis = np.array([0.0, -math.cos(tilt), -math.sin(tilt)]), np.array([0.0, -math.sin(tilt), math.cos(tilt)])
    return RADIUS * down - thickness / 2 * axis


def steady(motion: str, tilt: float, precession: float, thickness: float) -> tuple[float, np.ndarray]:
    """How fast it goes round, and its angular velocity at the start [rad/s]."""
    up, axis = np.array([0.0, 0.0, 1.0]), np.array([0.0, -math.sin(tilt), math.cos(tilt)])
    rho = contact(tilt, thickness)
    along, across = RADIUS**2 / 2, RADIUS**2 / 4 + thickness**2 / 12  # of unit mass

    def missing(turn: float, about: float) -> float:
        """What the equation above misses at ω = turn · n + s e3 with ω · e3 = about."""
        omega = turn * up + (about - turn * axis[2]) * axis
        momentum = across * omega + (along - across) * about * axis
        force = turn * np.cross(up, -np.cross(omega, rho)) + G * up
        return float((np.cross(rho, force) - turn * np.cross(up, momentum))[0])

    if motion == "rolling":  # linear in ω3
        turn = precession
        at_rest = missing(turn, 0.0)
        about = -at_rest / (missing(turn, 1.0) - at_rest)
    else:  # Ω² alone
        about, at_rest = 0.0, missing(0.0, 0.0)
        turn = math.sqrt(-at_rest / (missing(1.0, 0.0) - at_rest))
    return turn, turn * up + (about - turn * axis[2]) * axis
