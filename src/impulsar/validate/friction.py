"""Coulomb friction in joints: it holds at rest, and never exceeds its bound."""

import numpy as np

from ..engine.system.slots import FRICTION
from ..scenes import scene
from ..world.world import World
from .case import Case
from .variants import general

METHODS = (("simgc", "generalized"), ("direct", "generalized"), ("direct", "maximal"))  # SIMMC's sweeps creep
FRICTION_BOUND = 0.02  # [N m]


def five_link_rest(device: str) -> float:
    """Largest joint speed of five-link from t = 10 s to 20 s at h = 0.01 [rad/s]."""
    worst = 0.0
    for method, coordinates in METHODS:
        world = World(scene("five-link", friction=FRICTION_BOUND), method, coordinates, dt=0.01, device=device)
        world.step(1000)
        for _ in range(1000):
            world.step()
            worst = max(worst, float(np.abs(world.readout.freedoms()[1]).max()))
    return worst


def five_link_bound(device: str) -> float:
    """Largest friction torque over its bound, over the 20 s: the worst method."""
    worst = 0.0
    for _, method, coordinates in general():
        world = World(scene("five-link", friction=FRICTION_BOUND), method, coordinates, dt=0.01, device=device)
        slots = [r for r, slot in enumerate(world.system.slots) if slot.kind == FRICTION]
        for _ in range(2000):
            world.step()
            h = world.state.read("last_h")[0, 0] or world.dt  # 0: forces of an instant, over the nominal step
            torque = np.abs(world.state.read("impulse")[slots]).max() / h
            worst = max(worst, float(torque) / FRICTION_BOUND)
    return worst


CASES = [
    Case("five-link-rest", "five-link with friction rests from t = 10 s on", 1e-9, "rad/s", five_link_rest),
    Case(
        "five-link-bound",
        "friction torque / its bound, never above 1 (one rounding of h · bound allowed)",
        1.0 + 4e-16,
        "1",
        five_link_bound,
    ),
]
