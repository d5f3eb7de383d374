"""suspension-corner: double wishbones of the front left wheel of a Mini Baja; the hard points are ours.

Origin on the ground under the front axle, x forward, y left, z up [m]. At rest the kingpin leans by 9.9° and has 8.9°
of caster; camber at +0.10 and -0.10 m of travel is -2.2° and +1.1°; the roll centre is at 0.177 m.
"""

import math

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import Motor
from ..author.profiles import Harmonic
from ..author.shapes import Box, Cylinder
from .parts import above, rod
from .walker import bars

POINTS = {
    "lower fore": (0.150, 0.180, 0.300),
    "lower aft": (-0.150, 0.180, 0.300),
    "lower ball": (0.010, 0.618, 0.215),
    "upper fore": (0.110, 0.215, 0.430),
    "upper aft": (-0.150, 0.215, 0.430),
    "upper ball": (-0.015, 0.590, 0.375),
    "wheel": (0.0, 0.6985, 0.283),
    "rod inner": (-0.075, 0.156, 0.331),
    "rod outer": (-0.085, 0.570, 0.255),
    "spring low": (0.0, 0.435, 0.251),
    "spring high": (0.0, 0.300, 0.640),
}
SPRUNG, WHEEL, KNUCKLE, ARM, TIE = 55.8, 12.0, 3.0, 1.5, 0.5  # masses [kg]; the corner carries 694 N
STIFFNESS, DAMPING, RATIO = 17500.0, 1380.0, 0.50  # of the spring [N/m], [N s/m]; its motion over the wheel's
TYRE, TYRE_DAMPING, G = 80e3, 500.0, 9.81  # [N/m], [N s/m]
RADIUS, WIDTH = 0.283, 0.18  # of the tyre under its load [m]
RIGS = ("road", "travel")
LONG = (1, 0, 0)


def build(rig: str = "road", bump: float = 0.05, omega: float = 4.0) -> Model:
    """Double wishbone corner of a small car: a post under the wheel goes up and down.

    `rig` = "road": the chassis is on a vertical guide, the wheel stands by its tyre on a post that moves by
    bump · sin(omega t) [m, rad/s]. "travel": the chassis is held, and the lower arm moves the wheel so far.
    """
    if rig not in RIGS:
        raise ModelError(f"scene 'suspension-corner': rig is {rig!r}, expected one of: {', '.join(RIGS)}")
    above("suspension-corner", -1e-300, bump=bump)
    above("suspension-corner", omega=omega)
    model = Model("suspension corner")
    at = {name: np.array(point) for name, point in POINTS.items()}
    frame = [Box((0.42, 0.05, 0.20), offset=(0, -0.045, 0.0)), Box((0.06, 0.30, 0.04), offset=(0, 0.05, 0.285))]
    if rig == "road":
        chassis = model.body("chassis", mass=SPRUNG, inertia=(2, 2, 2), position=(0, 0.175, 0.365), shape=frame)
        model.joint("guide", "prismatic", model.ground, chassis, at=chassis.position, axis=(0, 0, 1))
    else:
        chassis = model.ground
        for name, box in zip(("frame", "tower"), frame, strict=True):
            model.obstacle(name, Box(box.size), position=np.array([0, 0.175, 0.365]) + box.offset)
    _add_arms(model, chassis, at, rig, bump, omega)
    hub = at["wheel"]
    knuckle = bars(model, "knuckle", [(at["lower ball"], at["upper ball"]), (at["lower ball"], at["rod outer"]),
                                      ((at["lower ball"] + at["upper ball"]) / 2, hub)], mass=KNUCKLE)  # fmt: skip
    tie = rod(model, "tie rod", at["rod inner"], at["rod outer"], TIE, radius=0.008)
    tilt = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))  # the cylinder's z to -y
    rim = Cylinder(0.6 * RADIUS, 1.02 * WIDTH)
    model.body("wheel", mass=WHEEL, inertia=(0.22, 0.22, 0.36), position=hub, orientation=tilt, shape=[
        Cylinder(RADIUS, WIDTH), rim])  # fmt: skip
    model.joint("lower ball", "spherical", "lower arm", knuckle, at=at["lower ball"])
    model.joint("upper ball", "spherical", "upper arm", knuckle, at=at["upper ball"])
    # a universal joint keeps the rod from spinning about itself
    model.joint("rod inner", "universal", chassis, tie, at=at["rod inner"], axis=(0, 0, 1), axis2=LONG)
    model.joint("rod outer", "spherical", tie, knuckle, at=at["rod outer"])
    model.joint("bearing", "revolute", knuckle, "wheel", at=hub, axis=(0, 1, 0))
    low, high = at["spring low"], at["spring high"]
    length = float(np.linalg.norm(high - low))
    pressed = SPRUNG * G / RATIO / STIFFNESS if rig == "road" else 0.0
    model.spring("coil", "lower arm", chassis, low, high, STIFFNESS, DAMPING, length + pressed)
    if rig == "road":
        _add_post(model, hub, bump, omega)
    model.probe("hub", "wheel", at=hub)
    model.dt, model.duration = 0.005, 4 * math.pi / omega
    model.reference_energy = SPRUNG * G * 0.1
    return model


def _add_arms(model: Model, chassis, at: dict[str, np.ndarray], rig: str, bump: float, omega: float) -> None:
    """Both wishbones on their hinges; the lower one with a motor where it moves the wheel."""
    for arm in ("lower", "upper"):
        fore, aft, ball = (at[f"{arm} {end}"] for end in ("fore", "aft", "ball"))
        body = bars(model, f"{arm} arm", [(fore, ball), (aft, ball), (fore, aft)], mass=ARM)
        motor = None
        if arm == "lower" and rig == "travel":
            reach = math.hypot(*(ball - fore)[1:])
            motor = Motor(position=Harmonic(math.asin(min(bump / reach, 1.0)), omega))
        model.joint(f"{arm} hinge", "revolute", chassis, body, at=(fore + aft) / 2, axis=LONG, motor=motor)


def _add_post(model: Model, hub: np.ndarray, bump: float, omega: float) -> None:
    """A post under the wheel, and the tyre between them as a spring that carries the corner at the start."""
    load = (SPRUNG + WHEEL + KNUCKLE + ARM) * G
    foot = hub - (0, 0, RADIUS)
    model.body("post", mass=20.0, position=foot - (0, 0, 0.03), shape=Box((0.34, 0.26, 0.05)))
    drive = Motor(position=Harmonic(bump, omega))
    model.joint("lift", "prismatic", model.ground, "post", at=foot, axis=(0, 0, 1), motor=drive)
    model.spring("tyre", "post", "wheel", foot, hub, TYRE, TYRE_DAMPING, RADIUS + load / TYRE)
