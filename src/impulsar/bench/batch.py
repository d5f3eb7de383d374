"""Many copies of one mechanism in one launch: world-steps per second."""

import time

import numpy as np
import warp as wp

from ..scenes import scene
from ..world.world import World

STEPS = 20


def run() -> list[dict]:
    """Chain of ten links, on the CPU and, where there is one, on a CUDA device."""
    cases = (
        [("cpu", n, how) for n in (1, 1024) for how in ("off", "now")] if "cpu" in map(str, wp.get_devices()) else []
    )
    if wp.is_cuda_available():
        cases += [("cuda:0", n, "off") for n in (1024, 16384, 131072)]
    rows = []
    for device, worlds, how in cases:
        world = World(scene("chain", n=10), method="simgc", dt=1e-4, worlds=worlds, device=device, compile=how)
        masses = 0.1 * (1.0 + 0.1 * np.random.default_rng(0).uniform(-1, 1, worlds))
        world.set("link10.mass", masses if worlds > 1 else masses[0])
        world.step(STEPS)
        wp.synchronize_device(device)
        spent = []
        for _ in range(5):
            start = time.perf_counter()
            world.step(STEPS)
            wp.synchronize_device(device)
            spent.append(time.perf_counter() - start)
        rows.append(
            {
                "device": device,
                "compile": how,
                "worlds": worlds,
                "world-steps/s": worlds * STEPS / float(np.median(spent)),
                "apart from one world [rad]": _apart(world, masses),
            }
        )
    return rows


def _apart(world: World, masses: np.ndarray) -> float:
    """How far the first and the last world are from one of their own that took the same steps [rad]."""
    q, worst = world.runner.state.read("q"), 0.0
    for k in (0, len(masses) - 1):
        alone = World(scene("chain", n=10), method="simgc", dt=1e-4)
        alone.set("link10.mass", float(masses[k]))
        alone.step(world.runner.count)
        worst = max(worst, float(np.abs(alone.runner.state.read("q")[:, 0] - q[:, k]).max()))
    return worst
