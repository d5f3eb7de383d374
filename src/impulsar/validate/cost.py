"""Cost: linear in the number of bodies."""

import time

import numpy as np

from ..scenes import scene
from ..world.world import World
from .case import Case

SIZES = (10, 100, 1000, 10_000)
_times: dict[int, float] = {}


def linear_cost(device: str) -> float:
    """Log-log slope of the time per step over the length of a chain; the best of several measurements."""
    for n in SIZES:
        world = World(scene("chain", n=n, start="hanging"), method="simgc", dt=1e-4, device=device)
        steps = max(1, 20_000 // n)
        world.step(steps)
        spent = []
        for _ in range(15):
            start = time.perf_counter()
            world.step(steps)
            world.time  # waits for the device  # noqa: B018
            spent.append((time.perf_counter() - start) / steps)
        _times[n] = min(spent)
    return float(np.polyfit(np.log(list(_times)), np.log(list(_times.values())), 1)[0])


def show_cost() -> None:
    """Print the times of the last run."""
    for n, seconds in _times.items():
        print(f"    {n:>6} links {seconds * 1e6:10.2f} us/step")


CASES = [
    Case(
        "linear-cost",
        "time per step of a chain of 10 to 10,000 links: log-log slope",
        1.1,
        "1",
        linear_cost,
        show=show_cost,
    ),
]
