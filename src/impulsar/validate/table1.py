"""Mikhaylyuk 2017 table 1, SIMGC column: iterations and time per step, and what a budget leaves."""

import time

import numpy as np

from ..methods import Simgc
from ..reports import StepError
from ..scenes import scene
from ..scenes.peaucellier import LINE
from ..world import World
from .case import Case

PAPER = {"five-link": (6, 0.1), "peaucellier": (40, 1.2), "manipulator": (10, 0.6)}  # iterations, ms
DURATION = {"five-link": 1.0, "peaucellier": 2 * np.pi, "manipulator": 5.0}  # [s]
_rows: list[dict] = []


def measure(device: str) -> float:
    """Worst factor between our mean iterations and the paper's on five-link and peaucellier."""
    _rows.clear()
    for name in PAPER:
        _rows.append(run(name, Simgc(epsilon=1e-6), None, device))
        _rows.append(run(name, Simgc(epsilon=1e-6, warm_start=False), None, device))
    _rows.append(run("peaucellier", Simgc(epsilon=1e-6), 0.005, device))
    for iterations in (40, 20, 10, 5):  # what a budget that bites would allow
        _rows.append(run("peaucellier", Simgc(epsilon=1e-6, iterations=iterations), None, device))
    worst = 1.0
    for row in _rows[:4:2]:
        factor = row["iterations"] / PAPER[row["scene"]][0]
        worst = max(worst, factor, 1.0 / factor)
    return worst


def run(name: str, method: Simgc, budget: float | None, device: str) -> dict:
    """Mean iterations, time and accuracy of a scene at h = 0.01."""
    world = World(scene(name), method=method, dt=0.01, budget=budget, device=device)
    counts, gap, line, spent = [], 0.0, 0.0, 0.0
    ended, note = 0, ""
    for _ in range(round(DURATION[name] / world.dt)):
        start = time.perf_counter()
        try:
            report = world.step()
        except StepError:
            note = f"diverges at {world.time:.2f} s"
            break
        spent += time.perf_counter() - start
        counts.append(report.iterations)
        ended += report.ended_by != "tolerance"
        gap = max(gap, float(world.constraint_error()))
        if name == "peaucellier":
            probe = world.model.probes["D"]
            line = max(line, abs(world.point(probe.body, probe.p_BQ)[0] - LINE))
    limit = f"{budget * 1e3:g} ms = {world.work_limit}" if budget else str(method.iterations)
    return {
        "scene": name,
        "warm start": "yes" if method.warm_start else "no",
        "limit": limit,
        "iterations": float(np.mean(counts)),
        "most": int(max(counts)),
        "paper": PAPER[name][0],
        "ms/step": 1e3 * spent / len(counts),
        "paper ms": PAPER[name][1],
        "steps cut": ended,
        "constraint error": gap,
        "off the line [m]": line,
        "note": note,
    }


def show() -> None:
    """Print the table of the last run."""
    from ..bench import print_table

    print_table(_rows)


CASES = [
    Case(
        "table1",
        "SIMGC's iterations at h = 0.01, ε = 1e-6 N s within a factor 2 of the paper's on five-link and peaucellier",
        2.0,
        "1",
        measure,
        show=show,
    )
]
