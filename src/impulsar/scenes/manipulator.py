"""manipulator (Mikhaylyuk 2017 fig. 6, without the object)."""

from ..author.model import Model
from ..author.parts import Motor
from ..author.profiles import Harmonic, Table
from ..author.shapes import Box, Cylinder
from .parts import rod

UP, ACROSS = (0, 0, 1), (0, 1, 0)


def build(speed: float = 1.0) -> Model:
    """A six-joint arm with a gripper whose two fingers one motor drives through a repeater.

    The joints swing at about `speed` rad/s; the gripper closes and opens within the first 4 s.
    """
    model = Model("manipulator")
    base = model.body("base", mass=4.0, position=(0, 0, 0.1), shape=Cylinder(radius=0.09, length=0.2))
    upper = rod(model, "upper arm", (0, 0, 0.2), (0, 0, 0.6), mass=3.0, radius=0.04)
    fore = rod(model, "forearm", (0, 0, 0.6), (0.35, 0, 0.6), mass=2.0, radius=0.035)
    roll = rod(model, "wrist roll", (0.35, 0, 0.6), (0.43, 0, 0.6), mass=0.6, radius=0.03)
    pitch = rod(model, "wrist pitch", (0.43, 0, 0.6), (0.51, 0, 0.6), mass=0.5, radius=0.03)
    palm = model.body("palm", mass=0.4, position=(0.525, 0, 0.6), shape=Box((0.03, 0.12, 0.05)))
    joints = (
        ("yaw", model.ground, base, (0, 0, 0), UP, 0.8, 0.5, 200.0),
        ("shoulder", base, upper, (0, 0, 0.2), ACROSS, 0.4, 0.7, 200.0),
        ("elbow", upper, fore, (0, 0, 0.6), ACROSS, 0.5, 0.9, 150.0),
        ("roll", fore, roll, (0.35, 0, 0.6), (1, 0, 0), 0.9, 1.1, 40.0),
        ("pitch", roll, pitch, (0.43, 0, 0.6), ACROSS, 0.6, 1.3, 40.0),
        ("turn", pitch, palm, (0.51, 0, 0.6), (1, 0, 0), 0.7, 0.8, 20.0),
    )
    for name, first, second, at, axis, swing, rate, torque in joints:
        motor = Motor(position=Harmonic(swing, rate * speed), max_torque=torque)
        model.joint(name, "revolute", first, second, at=at, axis=axis, motor=motor, limits=(-2.8, 2.8))
    grip = Table((0.0, 1.0, 2.0, 3.0, 4.0), (0.0, 0.02, 0.02, 0.0, 0.0))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        finger = model.body(
            f"{side} finger", mass=0.08, position=(0.575, 0.05 * sign, 0.6), shape=Box((0.07, 0.015, 0.03))
        )
        drive = Motor(position=grip, max_torque=60.0) if side == "left" else None
        model.joint(
            f"{side} slide",
            "prismatic",
            palm,
            finger,
            at=(0.54, 0.05 * sign, 0.6),
            axis=(0, -sign, 0),
            motor=drive,
            limits=(-0.01, 0.04),
        )
    model.coupling("repeater", "left slide", "right slide", ratio=1.0)
    model.probe("grip", palm, at=(0.6, 0, 0.6))
    model.dt, model.duration = 0.01, 5.0
    # every body dropped from its height
    model.reference_energy = sum(body.mass * 9.81 * body.position[2] for body in model.bodies.values())
    return model
