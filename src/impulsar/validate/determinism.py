"""Same inputs, same bits: batches, launches, snapshots."""

import numpy as np

from ..scenes import scene
from ..world import World
from .case import Case

WORLDS = 1024
SCENES: tuple[tuple[str, dict], ...] = (
    ("ten-pendula", {"start": "30deg"}),
    ("five-link", {}),
    ("peaucellier", {}),
    ("manipulator", {}),
)
METHODS = (("simgc", "generalized"), ("simmc", "maximal"), ("direct", "generalized"), ("direct", "maximal"))


def batch_bits(device: str) -> float:
    """Worlds of ten-pendula in a batch of 1,024 whose bits differ from the same world stepped alone."""
    model = scene("ten-pendula", start="30deg")
    masses = 0.1 * (1.0 + 0.5 * np.random.default_rng(0).uniform(-1, 1, WORLDS))
    batch = World(model, "simgc", dt=0.001, worlds=WORLDS, device=device)
    batch.set("link10.mass", masses)
    batch.step(200)
    together = batch.state.numpy()
    alone = World(model, "simgc", dt=0.001, device=device)
    start = alone.snapshot()
    differ = 0
    for k in range(WORLDS):
        alone.restore(start)
        alone.set("link10.mass", masses[k])
        alone.step(200)
        differ += not np.array_equal(alone.state.numpy()[:, 0], together[:, k])
    return float(differ)


def step_bits(device: str) -> float:
    """Scenes on which step(n) and n times step give different bits."""
    differ = 0
    for method, coordinates in METHODS:
        for name, parameters in SCENES:
            worlds = [World(scene(name, **parameters), method, coordinates, device=device) for _ in range(2)]
            worlds[0].step(50)
            for _ in range(50):
                worlds[1].step()
            differ += worlds[0].hash() != worlds[1].hash()
    return float(differ)


def snapshot_bits(device: str) -> float:
    """Scenes on which going back to a snapshot and on again gives different bits; the hand is holding."""
    differ = 0
    for method, coordinates in METHODS:
        for name, parameters in SCENES:
            world = World(scene(name, **parameters), method, coordinates, dt=0.001, device=device)
            world.step(50)
            hand = world.grab(next(reversed(world.model.bodies)), stiffness=50.0)
            hand.move((0.1, 0.1, -0.1))
            world.step(20)
            middle = world.snapshot()
            world.step(50)
            end = world.hash()
            hand.release()
            world.step(30)
            world.restore(middle)
            world.step(50)
            differ += world.hash() != end
    return float(differ)


CASES = [
    Case("batch-bits", "1,024 worlds in one launch = the same worlds alone, bit for bit", 0.0, "worlds", batch_bits),
    Case("step-bits", "step(n) = n times step, bit for bit", 0.0, "scenes", step_bits),
    Case("snapshot-bits", "snapshot, restore, continue = continue, bit for bit", 0.0, "scenes", snapshot_bits),
]
