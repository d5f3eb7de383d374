"""Mariti's study over the tolerance of SIMMC's sweeps and the speed of the hand, at the paper's step.

Ten pendula hang at rest; the hand takes the tip at 0.2 s, moves it to (0.10, 0.25, -0.25) at a speed, and lets go half
a second later; the run ends half a second after that.
"""

import math
from typing import Any

import numpy as np

from ...author.errors import StepError
from ...author.profiles import Ramp
from ...edits import Grab, Move, Release
from ...engine.methods import Simmc
from ...results import new_figure
from ...scenes import scene
from ...scenes.parts import LENGTH
from ...world.world import World
from .page import Found, Say, number, picture

H, START, HELD = 0.01, 0.2, 0.5  # [s]
TARGET = (0.10, 0.25, -0.25)
WAY = math.dist(TARGET, (0.0, 0.0, -10 * LENGTH))  # of the hand [m]
ENERGY = 2.4525  # that the imbalance is measured by [J]
PAPER = 1e-6  # norm that the paper states
APART = 1.0


def measure(quick: bool, say: Say) -> Found:
    """Median norm of the joints' errors and largest imbalance over tolerance and speed."""
    speeds = (0.2, 0.8) if quick else (0.1, 0.2, 0.4, 0.8, 1.6)
    tolerances = (1e-4, 1e-6) if quick else (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
    data = []
    for tolerance in tolerances:
        data += [_run(tolerance, speed) for speed in speeds]
        say(f"    tolerance {tolerance:g} N s")
    norms, per_cents, sweeps = (
        np.array([row[key] for row in data]).reshape(len(tolerances), len(speeds))
        for key in ("norm", "per_cent", "sweeps")
    )
    whole = [row for row in data if not row["note"]]
    said = f"{len(data) - len(whole)} of {len(data)} runs come apart."
    if whole:
        best, worst = min(whole, key=lambda r: r["norm"]), max(whole, key=lambda r: r["norm"])
        below = sum(row["norm"] <= PAPER for row in data)
        said = (
            f"The median norm goes from {_at(worst)} to {_at(best)}; {below} of {len(data)} runs are "
            f"below the paper's {PAPER:g}; the books are within {number(max(r['per_cent'] for r in whole))} %. " + said
        )
        slow, fast = (np.median([r["norm"] for r in whole if r["speed"] == v]) for v in (speeds[0], speeds[-1]))
        said += f" From {speeds[0]:g} to {speeds[-1]:g} m/s the norm changes by a factor of {number(fast / slow)}."
    figure = new_figure(11.0, 3.8)
    for ax, values, title in zip(
        figure.subplots(1, 3), (np.log10(norms), np.log10(per_cents), np.log10(sweeps)),
        ("log₁₀ median norm [m, rad]", "log₁₀ imbalance [% of 2.45 J]", "log₁₀ sweeps a step"), strict=True,
    ):  # fmt: skip
        shown = ax.imshow(values, origin="lower", aspect="auto", cmap="viridis")
        ax.set_xticks(range(len(speeds)), [f"{v:g}" for v in speeds])
        ax.set_yticks(range(len(tolerances)), [f"{e:.0e}" for e in tolerances])
        ax.set_xlabel("speed of the hand [m/s]")
        ax.set_ylabel("tolerance ε [N s]")
        ax.set_title(title, loc="left", fontsize=9)
        figure.colorbar(shown, ax=ax)
    return Found([said], data, [(said, picture(figure))])


def _at(row: dict[str, Any]) -> str:
    return f"{number(row['norm'])} (ε = {row['epsilon']:g} N s, {row['speed']:g} m/s)"


def _run(tolerance: float, speed: float) -> dict[str, Any]:
    """One run; a state that comes apart ends it."""
    model = scene("ten-pendula", start="hanging")
    end = START + WAY / speed
    model.at(START, Grab("hand", "link10", (0.0, 0.0, -LENGTH / 2), stiffness=1000.0, damping=1.0))
    model.at(START, Move("hand", Ramp(None, TARGET, START, end)))
    model.at(end + HELD, Release("hand"))
    world = World(model, Simmc(epsilon=tolerance, iterations=2000), dt=H)
    norms, off, sweeps, note = [], 0.0, 0, ""
    for _ in range(round((end + 2 * HELD) / H)):
        try:
            report = world.step()
        except StepError:
            note = f"ends at {world.time:.2f} s"
            break
        norms.append(float(world.constraint_error()))
        off = max(off, abs(world.energy().imbalance))
        sweeps += int(report.iterations)
        if not norms[-1] < APART:
            note = f"comes apart at {world.time:.2f} s"
            break
    norm = float(np.median(norms)) if norms and not note else math.nan
    return {
        "epsilon": tolerance, "speed": speed, "norm": norm, "peak": max(norms, default=math.nan),
        "per_cent": 100 * off / ENERGY, "sweeps": sweeps / max(1, len(norms)), "note": note,
    }  # fmt: skip
