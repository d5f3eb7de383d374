"""The papers' own drag and release by `direct`: times real time, and the longest nominal step."""

import time

import numpy as np

from ..scenes import scene
from ..world.world import World

BOUNDS = {"generalized": (30.0, 2.0), "maximal": (5.0, None)}  # times real time, longest step [ms]


def run() -> list[dict]:
    """Ten pendula from both starts in both coordinates, one call per nominal step of 0.01 s."""
    rows = []
    for coordinates, (speed, longest) in BOUNDS.items():
        for start in ("30deg", "horizontal"):
            world = World(scene("ten-pendula", start=start, hand=True), "direct", coordinates, dt=0.01)
            world.step()
            spent = []
            for _ in range(999):
                begin = time.perf_counter()
                world.step()
                spent.append(time.perf_counter() - begin)
            times = 9.99 / sum(spent)
            most = 1e3 * float(np.max(spent))
            rows.append(
                {
                    "coordinates": coordinates,
                    "start": start,
                    "times real time": times,
                    "at least": speed,
                    "longest step [ms]": most,
                    "at most [ms]": longest if longest else "-",
                    "imbalance [%]": 100 * abs(world.energy().imbalance) / 2.4525,
                    "holds": bool(times >= speed and (longest is None or most <= longest)),
                }
            )
    return rows
