"""ball-pit: many balls fall into a pit."""

import math

import numpy as np

from ..author.model import Model
from ..author.shapes import Plane, Sphere
from .parts import above, at_least, floor

RADIUS, DENSITY, G = 0.03, 500.0, 9.81  # [m], [kg/m³]
ACROSS = 6  # balls side by side, as far as the walls are from each other
APART = 2.3  # centres at the start, over the radius


def build(n: int = 200, friction: float = 0.3) -> Model:
    """n balls of 27 to 33 mm radius fall in layers of 25 into a pit of 0.36 by 0.36 m.

    What to look at: they come to rest without sinking into each other; floor and walls carry their weight.
    """
    at_least("ball-pit", "n", n)
    above("ball-pit", -1e-300, friction=friction)
    model = Model(f"pit of {n} balls")
    model.material("ball", friction=friction)
    floor(model, "ball")
    half = ACROSS * RADIUS
    for name, turn in (("east", math.pi), ("north", -math.pi / 2), ("west", 0.0), ("south", math.pi / 2)):
        inward = (math.cos(turn), math.sin(turn), 0.0)  # z of the plane's frame: a turn of 90° about (-sin, cos, 0)
        model.obstacle(
            name,
            Plane(),
            position=tuple(-half * part for part in inward),
            orientation=(-inward[1] * math.sqrt(0.5), inward[0] * math.sqrt(0.5), 0.0, math.sqrt(0.5)),
            material="ball",
        )
    chance = np.random.default_rng(0)
    row = ACROSS - 1
    for k in range(n):
        layer, place = divmod(k, row * row)
        grid = np.array([place % row - row // 2, place // row - row // 2]) * APART * RADIUS
        x, y = grid + chance.uniform(-0.05, 0.05, 2) * RADIUS
        model.body(
            f"ball{k + 1}",
            density=DENSITY,
            shape=Sphere(RADIUS * chance.uniform(0.9, 1.1)),
            position=(x, y, (1.5 + layer * APART) * RADIUS),
            material="ball",
        )
    model.dt, model.duration = 0.01, 3.0
    # every ball dropped to the floor
    model.reference_energy = sum(body.mass * G * body.position[2] for body in model.bodies.values())
    return model
