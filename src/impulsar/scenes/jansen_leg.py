"""jansen-leg: one leg of Jansen's walker on a stand; its plan and lengths are those of `walker`."""

import math

import numpy as np

from ..author.model import Model
from ..author.parts import Motor
from .parts import above
from .walker import UNIT, bars, plan

OUT = (0, -1, 0)  # so that the crank turns from x to z
PARTS = {
    "crank": ["OZ"],
    "upper bar": ["XZ"],
    "lower bar": ["YZ"],
    "triangle": ["PX", "XW", "WP"],
    "rocker": ["PY"],
    "link": ["WV"],
    "foot": ["YV", "VF", "FY"],
}
HINGES = (  # point, first body, second body
    ("O", "ground", "crank"),
    ("Z", "crank", "upper bar"),
    ("Z", "crank", "lower bar"),
    ("P", "ground", "triangle"),
    ("P", "ground", "rocker"),
    ("X", "upper bar", "triangle"),
    ("W", "triangle", "link"),
    ("Y", "rocker", "lower bar"),
    ("Y", "rocker", "foot"),
    ("V", "link", "foot"),
)


def build(speed: float = 3.0, angle_deg: float = 0.0) -> Model:
    """One Jansen leg on a stand: a crank makes the foot step.

    `speed` [rad/s] of the crank, `angle_deg` its angle at the start. What to look at: the foot's path, flat below
    for two fifths of a turn.
    """
    above("jansen-leg", speed=speed)
    model = Model("Jansen leg")
    points = {"O": np.zeros(2), **plan(math.radians(angle_deg))}
    at = {key: UNIT * np.array([p[0], 0.0, p[1]]) for key, p in points.items()}
    for name, segments in PARTS.items():
        bars(model, name, [(at[pair[0]], at[pair[1]]) for pair in segments])
    for key, first, second in HINGES:
        motor = Motor(speed=speed) if key == "O" else None
        model.joint(f"{key} {second}", "revolute", first, second, at=at[key], axis=OUT, motor=motor)
    model.probe("toe", "foot", at=at["F"])
    model.dt, model.duration = 0.005, 4 * math.pi / speed
    # every body lifted by the crank
    model.reference_energy = (
        sum(body.mass for body in model.bodies.values()) * 9.81 * 2 * float(np.linalg.norm(at["Z"]))
    )
    return model
