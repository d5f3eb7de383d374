"""bicycle-model: a car in the plane, one wheel for each axle; what textbooks linearise (Pacejka 2012 ch. 1).

    m (v̇ + V r) = F_f + F_r        I_z ṙ = (a - t_f) F_f - (b + t_r) F_r        t: pneumatic trails
    F_f = C_f (δ - (v + a r) / V)    F_r = -C_r (v - b r) / V
    r / δ = V / (L + K V²)           K = m / (L - t_f + t_r) · ((b + t_r) / C_f - (a - t_f) / C_r)

Mass, axles and tyres are those of minibaja. The chassis slides on a plane, so that its axles' loads do not change.
"""

import math

from ..author.model import Model
from ..author.parts import Motor
from ..author.profiles import Smooth
from ..author.shapes import Box, Cylinder, Plane
from .minibaja import BEHIND, INERTIA, LOAD, MASS, RADIUS, TYRE, WHEELBASE, WIDTH, G
from .parts import above

WHEEL, FORK, SPIN = 1e-5, 1e-5, 0.72  # small masses [kg], so that the whole is the chassis; of two wheels [kg m²]
LIGHT = (1e-6, 1e-6, 1e-6)


def build(speed: float = 10.0, steer: float = 0.02, at: float = 0.5, within: float = 0.2) -> Model:
    """A bicycle model of a car: two tyres, steered in front.

    speed [m/s]; steer [rad], begun at a time `at` and done `within` so much [s].
    """
    above("bicycle-model", speed=speed, within=within)
    model = Model("bicycle model")
    model.obstacle("road", Plane())
    ahead = (speed, 0, 0)
    frame = Box((WHEELBASE, 0.3, 0.1), offset=(BEHIND - WHEELBASE / 2, 0, 0))
    model.body("chassis", mass=MASS, inertia=INERTIA, position=(0, 0, 0.5), velocity=ahead, shape=frame)
    model.joint("plane", "planar", model.ground, "chassis", at=(0, 0, 0.5), axis=(0, 0, 1))
    tilt = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))  # the cylinder's z to -y
    for name, x, share in (("front", BEHIND, 1 - BEHIND / WHEELBASE), ("rear", BEHIND - WHEELBASE, BEHIND / WHEELBASE)):
        deep = MASS * G * share / (2 * TYRE)  # what two tyres carry
        hub = (x, 0, RADIUS - deep)
        model.body(f"{name} wheel", mass=WHEEL, inertia=(SPIN / 2, SPIN / 2, SPIN), position=hub, orientation=tilt,
                   velocity=ahead, angular_velocity=(0, speed / hub[2], 0), shape=Cylinder(RADIUS, WIDTH))  # fmt: skip
        holder = "chassis"
        if name == "front":
            holder = "fork"
            model.body("fork", mass=FORK, inertia=LIGHT, position=hub, velocity=ahead, shape=Box((0.04, 0.3, 0.04)))
            turn = Motor(position=Smooth(0.0, steer, at, at + within))
            model.joint("steering", "revolute", "chassis", "fork", at=hub, axis=(0, 0, 1), motor=turn)
        model.joint(f"{name} axle", "revolute", holder, f"{name} wheel", at=hub, axis=(0, 1, 0))
        model.tyre(f"{name} tyre", f"{name} wheel", radius=RADIUS, width=WIDTH, stiffness=2 * TYRE, damping=0.0,
                   load=2 * LOAD, rolling=0.0)  # fmt: skip
    model.probe("path", "chassis", at=(0, 0, 0.5))
    model.dt, model.duration, model.reference_energy = 0.01, 10.0, MASS * speed**2 / 2
    return model
