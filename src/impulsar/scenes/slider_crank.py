"""slider-crank (Wang 2011 fig. 1)."""

import math

from ..author.model import Model
from ..author.parts import Motor
from ..author.rotations import frame_from_axes
from ..author.shapes import Box, Capsule

CRANK, ROD = 0.15, 0.3  # [m]


def build(angle_deg: float = 60.0, speed: float = 0.0) -> Model:
    """Slider-crank released at rest with the crank at 60°, the loop cut at the slider (Wang 2011).

    speed: of a motor that drives the crank instead [rad/s], 0: none.
    """
    model = Model("slider-crank", gravity=(0.0, -9.81, 0.0))
    angle = math.radians(angle_deg)
    pin = (CRANK * math.cos(angle), CRANK * math.sin(angle), 0.0)
    end = (pin[0] + math.sqrt(ROD**2 - pin[1] ** 2), 0.0, 0.0)
    crank = _link(model, "crank", (0.0, 0.0, 0.0), pin, 0.36, 7.02e-4)
    rod = _link(model, "rod", pin, end, 0.151104, 1.1340859e-3)
    slider = model.body("slider", mass=0.075552, position=end, shape=Box((0.05, 0.03, 0.03)))
    motor = Motor(speed=speed) if speed else None
    model.joint("bearing", "revolute", model.ground, crank, at=(0, 0, 0), axis=(0, 0, 1), motor=motor)
    model.joint("pin", "revolute", crank, rod, at=pin, axis=(0, 0, 1))
    model.joint("wrist", "revolute", rod, slider, at=end, axis=(0, 0, 1))
    model.joint("guide", "prismatic", model.ground, slider, at=end, axis=(1, 0, 0), loop=True)
    model.dt, model.duration = 0.001, 10.0
    # the links' centres fall from their start to as far below the guide
    model.reference_energy = 2 * 9.81 * (0.36 + 0.151104) * pin[1] / 2
    return model


def _link(model: Model, name: str, a: tuple, b: tuple, mass: float, across: float):
    middle = tuple((p + q) / 2 for p, q in zip(a, b, strict=True))
    along = tuple(q - p for p, q in zip(a, b, strict=True))
    return model.body(
        name,
        mass=mass,
        inertia=(across, across, 0.01 * across),
        position=middle,
        orientation=frame_from_axes(name, along, None),
        shape=Capsule(radius=0.01, length=math.dist(a, b)),
    )
