"""dominoes: a row in which each fells the next."""

import math

from ..author.model import Model
from ..author.shapes import Box
from .parts import above, at_least, floor

G = 9.81


def build(n: int = 15, spacing: float = 0.5, height: float = 0.048, push: float = 1.0, friction: float = 0.3) -> Model:
    """A row of n dominoes, the first one pushed, each felling the next.

    A domino is `height` [m] high, half as wide and a sixth as thick, 1000 kg/m³; from face to next face `spacing`
    heights. The first starts to turn about its lower edge by `push` times √(g / height) [rad/s]. What to look at: after
    some dominoes the wave runs at a constant speed, which grows with √(g height): four times as high, twice as fast.
    """
    at_least("dominoes", "n", n)
    above("dominoes", spacing=spacing, height=height, push=push)
    above("dominoes", -1e-300, friction=friction)
    model = Model(f"{n} dominoes")
    model.material("tile", friction=friction)
    model.material("cloth", friction=1.0)
    model.material_pair("tile", "cloth", friction=0.8)
    floor(model, "cloth")
    thick, wide = height / 6, height / 2
    spin = push * math.sqrt(G / height)
    for k in range(n):
        model.body(
            f"domino{k + 1}",
            density=1000.0,
            shape=Box((thick, wide, height)),
            position=(k * (thick + spacing * height), 0.0, height / 2),
            # v = ω × r from the edge at the foot of the front face
            velocity=(spin * height / 2, 0.0, spin * thick / 2) if k == 0 else (0.0, 0.0, 0.0),
            angular_velocity=(0.0, spin, 0.0) if k == 0 else (0.0, 0.0, 0.0),
            material="tile",
        )
    model.probe("last", f"domino{n}", at=((n - 1) * (thick + spacing * height), 0.0, height))
    model.dt, model.duration = 0.002, 2.0
    model.reference_energy = n * model.bodies["domino1"].mass * G * height / 2  # all of them lying down
    return model
