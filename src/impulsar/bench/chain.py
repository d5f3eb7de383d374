"""Chain of hinged links beside MuJoCo: many steps per call, and one call per step from Python."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..scenes import scene
from ..world.world import World
from . import peer_mujoco

DT = 1e-4  # small enough for both to stay on the trajectory while measured [s]
QUICK = 0.05
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
        found = compare(ours_call, peer_call, per_call, repeats)
        ours, theirs = found.ours, found.theirs
        # both have taken the same steps: the tip tells that they did the same work
        tip = world.model.probes["tip"]
        apart = np.linalg.norm(world.point(tip.body, tip.p_BQ) - mujoco_tip(data, world))
        rows.append(
            {
                "links": n,
                "steps per call": per_call,
                "impulsar [us/step]": ours * 1e6,
                "mujoco [us/step]": theirs * 1e6,
                **found.figures,
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


@dataclass(frozen=True)
class Comparison:
    """Times per step of two that were measured in turns [s]."""

    ours: float
    theirs: float
    low: float  # of their ratio, over the rounds: the first quartile
    high: float  # and the third
    quick: float  # ratio of the quickest twentieths of both, which others on the machine disturb least

    @property
    def figures(self) -> dict[str, Any]:
        """The ratio and its spread, as columns."""
        return {"ratio": self.ours / self.theirs, "spread": f"{self.low:.3g} - {self.high:.3g}", "quick": self.quick}


def compare(ours: Callable, theirs: Callable, per_call: int, repeats: int) -> Comparison:
    """Median times per step of two callables, in turns, by the thread's own clock; and how their ratio varies."""
    times: tuple[list, list] = ([], [])
    ours(), theirs()
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeats):
            for call, spent in zip((ours, theirs), times, strict=True):
                start = time.thread_time()
                call()
                spent.append(time.thread_time() - start)
    finally:
        gc.enable()
    of_each = np.array(times) / per_call
    low, high = np.quantile(of_each[0] / of_each[1], (0.25, 0.75))
    mine, other = np.median(of_each, axis=1)
    best, theirs_best = np.quantile(of_each, QUICK, axis=1)
    return Comparison(float(mine), float(other), float(low), float(high), float(best / theirs_best))


def measure(ours: Callable, theirs: Callable, per_call: int, repeats: int) -> tuple[float, float]:
    """Median time per step of two callables, measured in turns [s]."""
    found = compare(ours, theirs, per_call, repeats)
    return found.ours, found.theirs
