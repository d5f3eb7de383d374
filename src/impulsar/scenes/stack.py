"""stack: boxes one on another, placed or dropped."""

import math

import numpy as np

from ..author.model import Model
from ..author.shapes import Box
from .parts import above, at_least, floor

SIZE, MASS, G = 0.1, 1.0, 9.81  # of a box [m, kg]


def build(
    n: int = 20,
    gap: float = 0.0,
    offset: float = 0.0,
    yaw: float = 0.0,
    ratio: float = 1.0,
    friction: float = 0.5,
) -> Model:
    """n boxes of 0.1 m and 1 kg one on another; the top one `ratio` times as heavy.

    `gap` [m] between them at the start, each displaced along x and y by up to `offset` [m] and turned by up to `yaw`
    [rad], by chance but always alike. What to look at: they stand, without sinking into each other and without creep,
    which a solver by sweeps fails at from some ten boxes on, or where the top is heavy.
    """
    at_least("stack", "n", n)
    above("stack", ratio=ratio)
    above("stack", -1e-300, gap=gap, offset=offset, yaw=yaw, friction=friction)
    model = Model(f"stack of {n}")
    model.material("box", friction=friction)
    floor(model, "box")
    chance = np.random.default_rng(0)
    for k in range(n):
        x, y, turn = chance.uniform(-1.0, 1.0, 3) * (offset, offset, yaw)
        model.body(
            f"box{k + 1}",
            mass=MASS * (ratio if k == n - 1 else 1.0),
            shape=Box((SIZE, SIZE, SIZE)),
            position=(x, y, (k + 0.5) * SIZE + (k + 1) * gap),
            orientation=(0.0, 0.0, math.sin(turn / 2), math.cos(turn / 2)),
            material="box",
        )
    model.probe("top", f"box{n}", at=(0.0, 0.0, n * (SIZE + gap)))
    model.dt, model.duration = 0.01, 5.0
    # every box lifted from the floor
    model.reference_energy = sum(body.mass * G * body.position[2] for body in model.bodies.values())
    return model
