"""geneva: a steady crank turns a wheel by one slot a turn.

n slots, C between the axes, β = π/n, λ = sin β: crank C sin β, wheel C cos β, so that the pin enters along the slot.
While it is in, |α| ≤ π/2 - β from the line of the axes, the wheel is turned by

    tan φ = λ sin α / (1 - λ cos α),   φ'max = λ / (1 - λ)
"""

import math

from ..author.model import Model
from ..author.parts import Motor
from ..author.shapes import Box, Cylinder
from .parts import above, at_least, prism

APART, PIN, THICK = 0.1, 0.005, 0.012  # between the axes, radius of the pin, thickness of the wheel [m]
START = -0.75 * math.pi  # of the crank, from the line of the axes


def build(
    slots: int = 4, speed: float = 3.0, clearance: float = 1e-4, friction: float = 0.1, brake: float = 0.02
) -> Model:
    """Geneva drive: a crank with a pin turns a slotted wheel by one slot a turn; a brake holds it between.

    `speed` [rad/s] of the crank, `clearance` [m] between pin and slot on each side, `friction` there, `brake` [N m] on
    the wheel's axle in place of a locking disc. What to look at: the wheel's angle over the crank's is the closed
    form's to the clearance over the radius at which the pin is.
    """
    at_least("geneva", "slots", slots, 3)
    above("geneva", speed=speed, clearance=clearance, brake=brake)
    above("geneva", -1e-300, friction=friction)
    model = Model(f"Geneva drive of {slots}", gravity=(0.0, -9.81, 0.0))
    model.material("oiled", friction=friction)
    half = math.pi / slots
    crank, rim, wide = APART * math.sin(half), APART * math.cos(half), PIN + clearance
    # the crank's arm is a picture: it turns in front of the wheel
    x, y = crank * math.cos(START), crank * math.sin(START)
    turned = (0, 0, math.sin(START / 2), math.cos(START / 2))
    model.body(
        "crank",
        mass=0.3,
        inertia=(1e-4, 2e-4, 2e-4),
        orientation=turned,
        angular_velocity=(0, 0, speed),
        shape=[
            Cylinder(PIN, 2 * THICK, offset=(crank, 0, 0), material="oiled"),
            Box((crank + 2 * PIN, 3 * PIN, 0.5 * THICK), offset=(crank / 2, 0, 1.25 * THICK)),
        ],
    )
    model.joint("shaft", "revolute", model.ground, "crank", at=(0, 0, 0), axis=(0, 0, 1), motor=Motor(speed=speed))
    # between two slots a triangle: its tip near the axle, its sides the walls of both, a slot's middle at 180° + 2 k β
    sectors = []
    for k in range(slots):
        low, high = math.pi + 2 * k * half, math.pi + 2 * (k + 1) * half
        tip = (wide / math.sin(half) * math.cos(low + half), wide / math.sin(half) * math.sin(low + half))
        first = (rim * math.cos(low) - wide * math.sin(low), rim * math.sin(low) + wide * math.cos(low))
        last = (rim * math.cos(high) + wide * math.sin(high), rim * math.sin(high) - wide * math.cos(high))
        sectors.append(prism([tip, first, last], THICK, "oiled"))
    across = 0.25 * 0.2 * rim**2
    model.body(
        "wheel",
        mass=0.2,
        inertia=(across, across, 2 * across),
        # it turns the other way than the crank, and waits with a slot where the pin comes in: at φ = -β
        orientation=(0, 0, math.sin(half / 2), math.cos(half / 2)),
        position=(APART, 0, 0),
        shape=[*sectors, Cylinder(2 * PIN, 0.3 * THICK, offset=(0, 0, -0.7 * THICK))],
    )
    model.joint("axle", "revolute", model.ground, "wheel", at=(APART, 0, 0), axis=(0, 0, 1), friction=brake)
    model.probe("pin", "crank", at=(x, y, 0))
    model.dt, model.duration = 0.002, 2 * 2 * math.pi / speed
    # the wheel at its fastest
    model.reference_energy = across * (speed * math.sin(half) / (1 - math.sin(half))) ** 2
    return model
