"""Cost: linear in the number of bodies; quick to start."""

import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from ..scenes import scene
from ..world import World
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


def first_step(empty_cache: bool):
    """Time of a fresh process to import, build ten-pendula and take its first step [s]."""

    def measure(device: str) -> float:
        code = f"import impulsar as im\nworld = im.World(im.scene('ten-pendula'), device={device!r})\nworld.step()\n"
        with tempfile.TemporaryDirectory() as cache:
            environment = os.environ | ({"WARP_CACHE_PATH": cache} if empty_cache else {})
            command = [sys.executable, "-c", code]
            if not empty_cache:
                subprocess.run(command, check=True, env=environment, capture_output=True)
            start = time.perf_counter()
            subprocess.run(command, check=True, env=environment, capture_output=True)
            return time.perf_counter() - start

    return measure


def import_time(device: str) -> float:
    """Median time of `import impulsar` in a fresh process, less that of starting Python [s]."""

    def fresh(code: str) -> float:
        spent = []
        for _ in range(5):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
            spent.append(time.perf_counter() - start)
        return float(np.median(spent))

    return fresh("import impulsar") - fresh("pass")


CASES = [
    Case(
        "linear-cost",
        "time per step of a chain of 10 to 10,000 links: log-log slope",
        1.1,
        "1",
        linear_cost,
        show=show_cost,
    ),
    Case("import-time", "`import impulsar` in a fresh process", 1.0, "s", import_time),
    Case(
        "first-step-cold",
        "first step of ten-pendula with an empty kernel cache",
        20.0,
        "s",
        first_step(True),
    ),
    Case("first-step-cached", "first step of ten-pendula with a warm kernel cache", 2.0, "s", first_step(False)),
]
