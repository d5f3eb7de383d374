"""five-link (Mikhaylyuk 2017 fig. 4)."""

import numpy as np

from ..author.model import Model
from .parts import pendulum_link, start_angle


def build(friction: float = 0.02, start: str = "horizontal") -> Model:
    """Five hinged links with Coulomb friction [N m], released horizontal; come to rest and stay there."""
    model = Model("five-link chain")
    before, end = model.ground, np.zeros(3)
    for k in range(1, 6):
        top = end
        link, end = pendulum_link(model, f"link{k}", top, start_angle("five-link", start))
        model.joint(f"hinge{k}", "revolute", before, link, at=top, axis=(1, 0, 0), friction=friction)
        before = link
    model.probe("tip", before, at=end)
    model.dt, model.duration = 0.01, 20.0
    # from horizontal to hanging: Σ m g l (k - 1/2) = 25/2 m g l
    model.reference_energy = 12.5 * 0.1 * 9.81 * 0.05
    return model
