"""newtons-cradle: equal balls in a row pass a blow on."""

import math

from ..author.errors import ModelError
from ..author.model import Model
from ..author.shapes import Sphere
from .parts import above, at_least

RADIUS, MASS, G = 0.025, 0.5, 9.81  # [m], [kg]
STRING, SPREAD = 0.3, 0.1  # of the centre below the beams; of the beams, to either side [m]
KINDS = ("rail", "strings")


def build(kind: str = "strings", n: int = 5, gap: float = 1e-4, speed: float = 1.0, restitution: float = 1.0) -> Model:
    """Newton's cradle: n equal balls with gaps, on a rail or hung on two strings each; the first one strikes.

    `gap` [m] between them; `speed` [m/s] at which the first one strikes: it has it on a rail, and on strings it is let
    go so much higher. What to look at: with `restitution` 1 the last ball flies off at that speed and all others rest,
    since gaps make of the blow a row of impacts of two.
    """
    if kind not in KINDS:
        raise ModelError(f"scene 'newtons-cradle': kind is {kind!r}, expected one of: {', '.join(KINDS)}")
    at_least("newtons-cradle", "n", n, 2)
    above("newtons-cradle", gap=gap, speed=speed)
    if kind == "strings" and not speed**2 < 2 * G * STRING:
        raise ModelError(f"scene 'newtons-cradle': speed is {speed!r}, expected < {math.sqrt(2 * G * STRING):.4g} m/s")
    model = Model(f"Newton's cradle of {n}")
    model.material("polished steel", friction=0.0, restitution=restitution)
    for k in range(n):
        x = k * (2 * RADIUS + gap)
        ball = f"ball{k + 1}"
        swing = math.acos(1 - speed**2 / (2 * G * STRING)) if kind == "strings" and k == 0 else 0.0
        place = (x - STRING * math.sin(swing), 0.0, -STRING * math.cos(swing))
        start = (speed, 0.0, 0.0) if kind == "rail" and k == 0 else (0.0, 0.0, 0.0)
        model.body(ball, mass=MASS, shape=Sphere(RADIUS), position=place, velocity=start, material="polished steel")
        if kind == "rail":
            model.joint(f"rail{k + 1}", "prismatic", model.ground, ball, at=place, axis=(1, 0, 0))
        else:
            for side, y in (("a", SPREAD), ("b", -SPREAD)):
                model.joint(f"string{k + 1}{side}", "distance", model.ground, ball, at=(x, y, 0.0), at_b=place)
    model.probe("last", f"ball{n}", at=((n - 1) * (2 * RADIUS + gap), 0.0, -STRING))
    model.dt, model.duration = 0.01, 5.0
    model.reference_energy = MASS * speed**2 / 2
    return model
