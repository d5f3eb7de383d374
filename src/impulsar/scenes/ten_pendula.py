"""ten-pendula (Mariti 2012 §5.1, table 1)."""

import numpy as np

from ..author.model import Model
from ..author.profiles import Ramp
from ..edits import Grab, Move, Release
from .parts import LENGTH, pendulum_link, start_angle


def build(start: str = "hanging", hand: bool = False) -> Model:
    """Ten pendula on a ball joint, pulled by the hand and let go (start: hanging, 30deg, horizontal).

    With the hand: at t = 3 s it takes the free tip, its target moves linearly in 1 s to
    (0.10, 0.25, -0.25), holds to t = 5 s and releases.
    """
    angle = start_angle("ten-pendula", start)
    model = Model("ten pendula")
    before, end = model.ground, np.zeros(3)
    for k in range(1, 11):
        top = end
        link, end = pendulum_link(model, f"link{k}", top, angle)
        if k == 1:
            model.joint("pivot", "spherical", before, link, at=top)
        else:
            model.joint(f"hinge{k}", "revolute", before, link, at=top, axis=(1, 0, 0))
        before = link
    model.probe("tip", before, at=end)
    if hand:
        model.at(3.0, Grab("hand", "link10", (0.0, 0.0, -LENGTH / 2), stiffness=1000.0, damping=1.0))
        model.at(3.0, Move("hand", Ramp(None, (0.10, 0.25, -0.25), 3.0, 4.0)))
        model.at(5.0, Release("hand"))
    model.dt, model.duration, model.reference_energy = 0.01, 10.0, 2.4525
    return model
