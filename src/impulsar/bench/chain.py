"""Chain of hinged links beside MuJoCo: many steps per call, and one call per step from Python."""

import gc
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from ..scenes import scene
from ..world.world import World
from . import peer_mujoco

DT = 1e-4  # small enough for both to stay on the trajectory while measured [s]
BOUNDS = {(10, "many"): 0.8, (50, "many"): 0.8, (250, "many"): 0.1, (10, "one"): 1.5}


def run() -> list[dict]:
    """Time per step of both, alternating, and their ratio; medians of many short measurements."""
    import mujoco

    rows = []
    for n, mode in BOUNDS:
        world = World(scene("chain", n=n), method="simgc", dt=DT)
        model, data = peer_mujoco.build(world.model, DT)
        steps = max(20, 2000 // n)
        if mode == "many":
            per_call, repeats = steps, 60
            ours_call, peer_call = partial(world.step, steps), partial(mujoco.mj_step, model, data, steps)
        else:
            per_call, repeats = 1, 2000
            ours_call, peer_call = partial(world.step), partial(mujoco.mj_step, model, data)
        ours, theirs = measure(ours_call, peer_call, per_call, repeats)
        # both have taken the same steps: the tip tells that they did the same work
        tip = world.model.probes["tip"]
        apart = np.linalg.norm(world.point(tip.body, tip.p_BQ) - mujoco_tip(data, world))
        rows.append(
            {
                "links": n,
                "steps per call": per_call,
                "impulsar [us/step]": ours * 1e6,
                "mujoco [us/step]": theirs * 1e6,
                "ratio": ours / theirs,
                "bound": BOUNDS[n, mode],
                "holds": bool(ours / theirs <= BOUNDS[n, mode]),
                "tips apart [m]": float(apart),
            }
        )
    return rows


def mujoco_tip(data, world: World) -> np.ndarray:
    """Where MuJoCo's chain ends."""
    import mujoco

    mujoco.mj_forward(data.model, data)
    R = data.ximat[-1].reshape(3, 3)
    return data.xipos[-1] + R @ world.model.probes["tip"].p_BQ


def measure(ours: Callable, theirs: Callable, per_call: int, repeats: int) -> tuple[float, float]:
    """Median time per step of two callables, measured in turns [s]."""
    times: tuple[list, list] = ([], [])
    ours(), theirs()
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeats):
            for call, spent in zip((ours, theirs), times, strict=True):
                start = time.perf_counter()
                call()
                spent.append(time.perf_counter() - start)
    finally:
        gc.enable()
    return float(np.median(times[0])) / per_call, float(np.median(times[1])) / per_call
