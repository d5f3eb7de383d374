"""What a person waits for: import, first steps, edits, drags. It depends on the machine, so it is no law."""

import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import edits
from ..scenes import scene
from ..validate.drag_cases import PULLS
from ..world.world import World


def run() -> list[dict]:
    """Every wait with its bound."""
    rows = [
        ("import impulsar in a fresh process", import_time(), "s", 1.0),
        ("first step of ten-pendula, empty kernel cache", first_step(True), "s", 20.0),
        ("first step of ten-pendula, kernels cached", first_step(False), "s", 2.0),
        ("parameter edit of ten-pendula, in its steps", parameter_time(), "1", 2.0),
        *((f"chain of 100, {what}", found, "s", 0.020) for what, found in topology_times().items()),
        *((f"drag of {what}", found, "s", 0.010) for what, found in drag_times().items()),
    ]
    return [
        {"wait": what, "figure": found, "unit": unit, "bound": bound, "holds": found <= bound}
        for what, found, unit, bound in rows
    ]


def import_time() -> float:
    """Median time of `import impulsar` in a fresh process, less that of starting Python [s]."""

    def fresh(code: str) -> float:
        return median_time(lambda _: subprocess.run([sys.executable, "-c", code], check=True, capture_output=True), 5)

    return fresh("import impulsar") - fresh("pass")


def first_step(empty_cache: bool) -> float:
    """Time of a fresh process to import, build ten-pendula and take its first step [s]."""
    command = [sys.executable, "-c", "import impulsar as im\nim.World(im.scene('ten-pendula')).step()\n"]
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | ({"WARP_CACHE_PATH": cache} if empty_cache else {})

        def start(_: int) -> None:
            subprocess.run(command, check=True, env=environment, capture_output=True)

        if not empty_cache:
            start(0)
        return median_time(start, 1)


def median_time(call: Callable[[int], Any], repeats: int) -> float:
    """Median time of a call [s]."""
    spent = []
    gc.collect()
    gc.disable()
    try:
        for k in range(repeats):
            start = time.perf_counter()
            call(k)
            spent.append(time.perf_counter() - start)
    finally:
        gc.enable()
    return float(np.median(spent))


def parameter_time() -> float:
    """Time of a parameter edit of ten pendula in motion, in steps of theirs."""
    world = World(scene("ten-pendula", start="30deg"), dt=0.01)
    world.step(100)
    masses = [edits.SetParameter("link3.mass", 0.1 + 0.001 * k) for k in range(2)]
    steps, edited = [], []
    for _ in range(20):  # in turns, so that both see the same machine
        steps.append(median_time(lambda _: world.step(), 50))
        edited.append(median_time(lambda k: world.apply(masses[k % 2]), 50))
    return float(np.median(edited)) / float(np.median(steps))


def topology_times() -> dict[str, float]:
    """Times of topological edits of a chain of 100 bodies in motion [s]."""
    found = {}
    for coordinates in ("generalized", "maximal"):
        world = World(scene("chain", n=100), coordinates=coordinates, dt=0.001)
        world.step(3)
        joint, body = list(world.model.joints)[50], list(world.model.bodies)[70]

        def change(k: int, world: World = world, joint: str = joint) -> None:
            world.change(joint, type=("spherical", "revolute")[k % 2])

        def weld(k: int, world: World = world, body: str = body) -> None:
            if k % 2:
                world.remove("joint", "weld")
            else:
                world.add("joint", "weld", type="spherical", first="ground", second=body, at=world.point(body))

        found[f"{coordinates}: change of type"] = median_time(change, 10)
        found[f"{coordinates}: close or cut a loop"] = median_time(weld, 10)
    return found


def drag_times() -> dict[str, float]:
    """Median time of a drag on the way, by path, in generalized coordinates [s]."""
    found = {}
    for pull in PULLS:
        world = World(pull.model())
        way, spent = pull.drag(world), []
        while True:
            start = time.perf_counter()
            if next(way, None) is None:
                break
            spent.append(time.perf_counter() - start)
        found[pull.name] = float(np.median(spent))
    return found
