"""cam: lifts a follower, flat or with a roller.

The lift s(θ) of a flat follower is that of the cam's support function, r + s: the outline touched in direction φ is
(r + s) (cos φ, sin φ) + s' (-sin φ, cos φ), convex where r + s + s'' > 0.

    eccentric    s = e (1 - cos θ), a disc off its axis by e; the centre of a roller of radius ρ on it is at height
                 -e cos θ + √((R + ρ)² - e² sin² θ), R = r + e
    cycloidal    rise h (θ/β - sin(2πθ/β) / 2π) over β, dwell, the same back, dwell; a_max = 2π h ω²/β²
"""

import math

import numpy as np

from ..author.cams import FOLLOWERS, Lift
from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import Motor
from ..author.shapes import Box, Capsule, Cylinder
from .parts import above, prism, stone

BASE, LIFT, ROLLER, THICK = 0.03, 0.012, 0.01, 0.012  # base circle, lift, roller's radius, thickness [m]
RISE, DWELL = math.radians(120), math.radians(60)  # of the cycloidal cam
CORNERS = 360  # of its outline
PROFILE = Lift(LIFT, RISE, DWELL, RISE)
DENSITY = 7800.0  # [kg/m³]
PROFILES = ("eccentric", "cycloidal")


def build(
    follower: str = "flat",
    profile: str = "eccentric",
    speed: float = 10.0,
    stiffness: float = 0.0,
    friction: float = 0.1,
) -> Model:
    """A cam on a motor lifts a flat or a roller follower by 12 mm; too fast, it throws it off.

    `speed` [rad/s] of the cam; `stiffness` [N/m] of a spring on the follower, which is free at the start. What to look
    at: the follower's height over the cam's angle is the closed form's. Without a spring the flat follower on the
    eccentric leaves it beyond √(g / e) = 40.4 rad/s, e = 6 mm.
    """
    for what, value, known in (("follower", follower, FOLLOWERS), ("profile", profile, PROFILES)):
        if value not in known:
            raise ModelError(f"scene 'cam': {what} is {value!r}, expected one of: {', '.join(known)}")
    above("cam", -1e-300, speed=speed, stiffness=stiffness, friction=friction)
    model = Model(f"{profile} cam, {follower} follower", gravity=(0.0, -9.81, 0.0))
    model.material("oiled", friction=friction)
    _add_cam(model, profile, speed)
    y = BASE if follower == "flat" else BASE + ROLLER  # of the flat face, or of the roller's centre
    stem = Capsule(0.004, 0.06, offset=(0, 0.045, 0), orientation=(math.sqrt(0.5), 0, 0, math.sqrt(0.5)))
    plate = Box((0.06, 0.006, THICK), offset=(0, 0.003, 0), material="oiled" if follower == "flat" else None)
    fork = Box((0.006, 0.02, THICK / 2), offset=(0, 0.012, 0))
    model.body(
        "follower",
        mass=0.2,
        inertia=(1e-4, 2e-5, 1e-4),
        position=(0, y, 0),
        shape=[plate, stem] if follower == "flat" else [fork, stem],
    )
    model.joint("guide", "prismatic", model.ground, "follower", at=(0, y, 0), axis=(0, 1, 0), stiffness=stiffness)
    if follower == "roller":
        model.body(
            "roller", mass=0.03, shape=Cylinder(ROLLER, THICK), position=(0, y, 0), material="oiled",
        )  # fmt: skip
        model.joint("pin", "revolute", "follower", "roller", at=(0, y, 0), axis=(0, 0, 1))
    model.probe("lift", "follower", at=(0, y, 0))
    model.dt, model.duration = 0.001, 2 * math.pi / speed if speed > 0 else 1.0
    model.reference_energy = 0.2 * 9.81 * LIFT
    return model


def _add_cam(model: Model, profile: str, speed: float) -> None:
    """The cam at its lowest, turning about z."""
    if profile == "eccentric":
        half = LIFT / 2
        model.body(
            "cam", density=DENSITY, shape=Cylinder(BASE + half, THICK), position=(0, -half, 0),
            velocity=(speed * half, 0, 0), angular_velocity=(0, 0, speed), material="oiled",
        )  # fmt: skip
    else:
        # it turns by +θ: what is above after that is the outline's direction 90° - θ
        angles = np.arange(CORNERS) * 2 * math.pi / CORNERS
        s, rate = (np.array([part(angle) for angle in angles]) for part in (PROFILE.value, PROFILE.slope))
        around = math.pi / 2 - angles
        outline = np.stack(
            [(BASE + s) * np.cos(around) + rate * np.sin(around), (BASE + s) * np.sin(around) - rate * np.cos(around)],
            1,
        )
        hull = prism(outline.tolist(), THICK, "oiled")
        center = hull.center
        start = (-speed * center[1], speed * center[0], 0)
        stone(model, "cam", hull, DENSITY, velocity=start, angular_velocity=(0, 0, speed))
    model.joint("shaft", "revolute", model.ground, "cam", at=(0, 0, 0), axis=(0, 0, 1), motor=Motor(speed=speed))


def lift(angle: float) -> float:
    """Of a flat follower on the cycloidal cam that has turned by `angle` [rad, m]."""
    return PROFILE.value(angle)
