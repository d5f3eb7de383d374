"""arch: voussoirs without mortar (Heyman 1969: the thinnest semicircular arch)."""

import math

from ..author.model import Model
from ..author.shapes import ConvexHull
from .parts import above, at_least, floor, stone

RADIUS, DEPTH, DENSITY, G = 1.0, 0.3, 2000.0, 9.81  # mean radius, along the vault [m]; [kg/m³]


def build(n: int = 15, thickness: float = 0.2, friction: float = 0.7) -> Model:
    """A semicircular arch of n loose voussoirs, mean radius 1 m, held by its weight and friction alone.

    What to look at: it stands for good if it is thick enough. Of `thickness` [m] below 0.1075 of the radius no line of
    thrust lies within it (Heyman 1969, of Couplet 1730): then it opens at five joints and falls.
    """
    at_least("arch", "n", n, 3)
    above("arch", thickness=thickness, friction=friction)
    model = Model(f"arch of {n}")
    model.material("stone", friction=friction)
    floor(model, "stone")
    radii = (RADIUS - thickness / 2, RADIUS + thickness / 2)
    for k in range(n):
        angles = (math.pi * (1 - k / n), math.pi * (1 - (k + 1) / n))
        corners = [
            (r * math.cos(a), y, r * math.sin(a)) for r in radii for a in angles for y in (-DEPTH / 2, DEPTH / 2)
        ]
        stone(model, f"voussoir{k + 1}", ConvexHull(corners), DENSITY, material="stone")
    model.probe("crown", f"voussoir{n // 2 + 1}", at=(0.0, 0.0, radii[1]))
    model.dt, model.duration = 0.01, 5.0
    # every stone dropped onto the floor
    model.reference_energy = sum(body.mass * G * body.position[2] for body in model.bodies.values())
    return model
