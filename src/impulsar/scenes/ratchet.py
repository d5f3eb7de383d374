"""ratchet: a pawl lets a wheel turn one way.

The pawl is drawn in where the normal of the tooth's face passes between the pivots of wheel and pawl, at more than
atan µ to the line from the contact to the pawl's pivot.
"""

import math

from ..author.model import Model
from ..author.parts import Body
from ..author.profiles import Table
from ..author.rotations import frame_from_axes
from ..author.shapes import Capsule, Cylinder
from .parts import above, at_least, prism

TIP, ROOT, THICK = 0.1, 0.085, 0.02  # radii of the teeth, thickness [m]
NOSE, ARM, RISE = 0.004, 0.08, 0.025  # radius of the pawl's nose; its pivot beside and above the nose [m]
TURNED = 2.0  # when the torque changes its sign [s]


def build(teeth: int = 16, forward: float = 0.3, backward: float = 0.5, friction: float = 0.15) -> Model:
    """A torque turns a ratchet wheel for 2 s, then the other way: a pawl with a spring holds it.

    `forward` and `backward` [N m] are the torques. What to look at: the pawl clicks over the teeth; afterwards the
    wheel goes back by less than a tooth, 2π / teeth, and is held without creep.
    """
    at_least("ratchet", "teeth", teeth, 6)
    above("ratchet", -1e-300, forward=forward, backward=backward, friction=friction)
    model = Model(f"ratchet of {teeth}", gravity=(0.0, -9.81, 0.0))
    model.material("hardened", friction=friction)
    wheel = _add_wheel(model, teeth)
    model.joint("axle", "revolute", model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), viscous=0.05)
    # the nose starts in the corner between a face and the next slope, both just clear of it
    nose, pivot = (0.0, ROOT + 2.5 * NOSE, 0.0), (ARM, ROOT + 2.5 * NOSE + RISE, 0.0)
    middle = tuple((a + b) / 2 for a, b in zip(nose, pivot, strict=True))
    along = tuple(b - a for a, b in zip(nose, pivot, strict=True))
    model.body(
        "pawl",
        mass=0.05,
        shape=Capsule(NOSE, math.dist(nose, pivot)),
        position=middle,
        orientation=frame_from_axes("pawl", along, None),
        material="hardened",
    )
    model.joint(
        "pivot", "revolute", model.ground, "pawl", at=pivot, axis=(0, 0, 1), stiffness=0.2, rest=0.5, damping=1e-3
    )
    model.load("torque", wheel, torque=(0, 0, Table((TURNED, TURNED), (forward, -backward))))
    model.probe("nose", "pawl", at=nose)
    model.dt, model.duration = 0.002, 4.0
    model.reference_energy = forward * 2 * math.pi / teeth  # work of a tooth
    return model


def _add_wheel(model: Model, teeth: int) -> Body:
    """A tooth has its face along a radius and its back down to the foot of the next one, which it touches."""
    pitch = 2 * math.pi / teeth
    mass = 0.8
    saws = []
    for k in range(teeth):
        at = math.pi / 2 + (k + 0.35) * pitch
        face, back = (math.cos(at), math.sin(at)), (math.cos(at + pitch), math.sin(at + pitch))
        foot = 0.7 * ROOT
        outline = [(r * x, r * y) for r, (x, y) in ((foot, face), (TIP, face), (ROOT, back), (foot, back))]
        saws.append(prism(outline, THICK, "hardened"))
    disc = Cylinder(0.75 * ROOT, THICK)
    across = mass * TIP**2 / 4
    return model.body("wheel", mass=mass, inertia=(across, across, 2 * across), shape=[disc, *saws])
