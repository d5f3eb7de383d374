"""chain (Wang 2011 fig. 2)."""

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from .parts import LENGTH, pendulum_link, start_angle


def build(n: int = 10, start: str = "30deg") -> Model:
    """A chain of n hinged links, all axes along x (start: hanging, 30deg, horizontal)."""
    if not (isinstance(n, int) and n >= 1):
        raise ModelError(f"scene 'chain': n is {n!r}, expected an integer >= 1")
    model = Model(f"chain of {n}")
    before, end = model.ground, np.zeros(3)
    for k in range(1, n + 1):
        top = end
        link, end = pendulum_link(model, f"link{k}", top, start_angle("chain", start))
        model.joint(f"hinge{k}", "revolute", before, link, at=top, axis=(1, 0, 0))
        before = link
    model.probe("tip", before, at=end)
    model.dt, model.duration = 0.001, 1.0
    model.reference_energy = 0.1 * 9.81 * LENGTH * n * n / 2.0
    return model
