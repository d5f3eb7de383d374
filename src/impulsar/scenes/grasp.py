"""grasp (Mikhaylyuk 2017 fig. 6: a manipulator whose gripper one motor drives through a repeater takes an object)."""

from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import Motor
from ..author.profiles import Smooth
from ..author.shapes import Box, Cylinder, Sphere
from .parts import above, rod

MASS, SIZE = 0.2, 0.06  # of the thing [kg], its edge or diameter [m]
RADIUS, ANGLE, LIFT = 0.5, 1.0, 0.1  # of the arc [m, rad], and how high it is lifted before [m]
TABLE, OPEN = 0.3, 0.01  # height of the table; between each finger and the thing at the start [m]
GRIPPED, LIFTED, CARRIED, END = 1.5, 3.0, 6.0, 11.0  # [s]
G = 9.81
THINGS = ("box", "ball")
YAW, RISE = Smooth(0.0, ANGLE, LIFTED, CARRIED), Smooth(0.0, LIFT, GRIPPED, LIFTED)  # what the arm is driven by


def least_grip(friction: float) -> float:
    """Force of the motor at which friction just carries the thing [N]: µ (N₁ + N₂) = m g, and N₁ + N₂ = force."""
    return MASS * G / friction


def build(thing: str = "box", grip: float = 1.05, friction: float = 0.6, table_friction: float = 0.0) -> Model:
    """An arm grips a box or a ball, lifts it, carries it along an arc of 0.5 m and 1 rad, and holds it for 5 s.

    One motor drives the left finger, the coupling `repeater` the right one. The motor's force is `grip` times the
    least one that friction carries the thing by, m g / µ. What to look at: the thing does not move in the gripper
    from 1.5 s, when it is gripped, to the end; with `grip` below 1 it stays on the table.

    The table is smooth: on a rough one the forces of the corners are indeterminate before the lift, and Coulomb's law
    of rigid bodies then has solutions besides the one that sticks, by which the box turns while it is lifted.
    """
    if thing not in THINGS:
        raise ModelError(f"scene 'grasp': thing is {thing!r}, expected one of: {', '.join(THINGS)}")
    above("grasp", grip=grip, friction=friction)
    model = Model(f"grasp of a {thing}")
    model.material("pad", friction=friction)
    model.material("table top", friction=0.0)
    model.material_pair("pad", "table top", friction=table_friction)
    z = TABLE + SIZE / 2  # of the thing's centre
    model.obstacle("table", Box((0.2, 0.2, TABLE)), position=(RADIUS, 0, TABLE / 2), material="table top")
    model.body(
        "thing",
        mass=MASS,
        shape=Box((SIZE, SIZE, SIZE)) if thing == "box" else Sphere(SIZE / 2),
        position=(RADIUS, 0, z),
        material="pad",
    )
    column = model.body("column", mass=4.0, position=(0, 0, 0.35), shape=Cylinder(radius=0.05, length=0.7))
    arm = rod(model, "arm", (0, 0, z + 0.12), (RADIUS - 0.04, 0, z + 0.12), mass=1.5, radius=0.025)
    palm = model.body("palm", mass=0.4, position=(RADIUS, 0, z + 0.12), shape=Box((0.08, 0.14, 0.03)))
    model.joint("yaw", "revolute", model.ground, column, at=(0, 0, 0), axis=(0, 0, 1),
                motor=Motor(position=YAW))  # fmt: skip
    model.joint("lift", "prismatic", column, arm, at=(0, 0, z), axis=(0, 0, 1),
                motor=Motor(position=RISE))  # fmt: skip
    model.joint("wrist", "fixed", arm, palm, at=(RADIUS - 0.04, 0, z + 0.12))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        y = sign * (SIZE / 2 + OPEN + 0.005)
        finger = model.body(
            f"{side} finger",
            mass=0.08,
            inertia=(4e-5, 4e-5, 4e-6),
            position=(RADIUS, y, z + 0.03),
            shape=[
                Box((0.03, 0.01, 0.04), offset=(0, 0, -0.03), material="pad"),
                Box((0.02, 0.01, 0.085), offset=(0, 0, 0.0325)),
            ],
        )
        close = Motor(position=Smooth(0.0, 2 * OPEN, 0.2, 1.2), max_torque=grip * least_grip(friction))
        model.joint(f"{side} slide", "prismatic", palm, finger, at=(RADIUS, y, z + 0.1), axis=(0, -sign, 0),
                    motor=close if side == "left" else None)  # fmt: skip
    model.coupling("repeater", "left slide", "right slide", ratio=1.0)
    model.probe("grip", palm, at=(RADIUS, 0, z))
    model.dt, model.duration = 0.01, END
    model.reference_energy = MASS * G * LIFT  # the thing lifted
    return model
