"""Mikhaylyuk 2017 table 1, its times: a step of SIMMC and of SIMGC on its scenes, and both cut at T = 5 ms."""

import time

import numpy as np

from ..engine.methods import Simgc, Simmc
from ..validate.table1 import DURATION, PAPER, SCENES, model_of
from ..world.world import World

BUDGET = 0.005  # the paper's T [s]


def run() -> list[dict]:
    """A row for each scene, method and start; SIMGC's are to be faster than SIMMC's, warm beside warm."""
    rows = []
    for name in SCENES:
        for warm in (True, False):
            by_simgc = measure(name, Simgc(epsilon=1e-6, warm_start=warm), None)
            by_simmc = measure(name, Simmc(epsilon=1e-6, iterations=5000, warm_start=warm), None)
            by_simgc["holds"] = by_simgc["ms/step"] < by_simmc["ms/step"]
            rows += [by_simgc, by_simmc | {"holds": True}]
    methods: tuple[Simgc | Simmc, ...] = (Simgc(epsilon=1e-6), Simmc(epsilon=1e-6, iterations=5000))
    rows += [measure(name, method, BUDGET) | {"holds": True} for name in SCENES for method in methods]
    return rows


def measure(name: str, method: Simgc | Simmc, budget: float | None) -> dict:
    """Mean time of a step at h = 0.01 [ms]."""
    world = World(model_of(name), method=method, dt=0.01, budget=budget)
    spent, counts, cut = [], [], 0
    for _ in range(round(DURATION[name] / world.dt)):
        begin = time.perf_counter()
        report = world.step()
        spent.append(time.perf_counter() - begin)
        counts.append(report.iterations)
        cut += report.ended_by != "tolerance"
    return {
        "scene": name,
        "method": method.name,
        "warm start": "yes" if method.warm_start else "no",
        "limit": f"{1e3 * budget:g} ms = {world.work_limit}" if budget else str(method.iterations),
        "iterations": float(np.mean(counts)),
        "ms/step": 1e3 * float(np.mean(spent)),
        "paper [ms]": PAPER[method.name, name][1],
        "steps cut": cut,
        "constraint error [m, rad]": float(world.constraint_error()),
    }
