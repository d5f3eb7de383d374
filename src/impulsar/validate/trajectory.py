"""One trajectory: all methods, in all their coordinates, tend to the same motion of every scene as h → 0.

A method of order 1 gives x(h) = x* + a h + b h² + ..., so 2 x(h/2) - x(h) = x* - b h²/2 + ... is nearer to
the trajectory by a factor of order h. The extrapolated positions of two methods then differ by O(h²),
their plain ones by O(h): the figure is the first difference over the larger of the two methods' own
differences, which is O(h) for one trajectory and about 1 for two: 0.1 tells them apart. Observed orders
come from three runs: log₂ |x(h) - x(h/2)| / |x(h/2) - x(h/4)|.

A method with error control is at x* as it is, also where friction acts: there its sub-steps are impulsive, of
length h, of order 2 but where friction turns, and so near to x* at h that no order 1 is seen.

x is position and time times velocity of every body: positions alone are of order 2 where a motor
prescribes them, and on n-four-bar.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..scenes import scene
from ..world.world import World
from .case import Case, print_table
from .variants import general

# scene, parameters, step and time [s]: within the horizon of each, at steps where the next term is small
RUNS: list[tuple[str, dict[str, Any], float, float]] = [
    ("ten-pendula", {"start": "30deg"}, 1e-3, 0.5),
    ("cross-lift", {}, 5e-5, 0.02),
    ("five-link", {"friction": 0.0}, 2e-4, 0.3),
    ("five-link", {"friction": 0.02}, 2.5e-4, 0.3),
    ("peaucellier", {}, 2e-3, 0.5),
    ("slider-crank", {}, 1e-4, 0.5),
    ("four-bar", {}, 1e-4, 0.3),
    ("n-four-bar", {}, 5e-4, 0.5),
    ("manipulator", {}, 2e-3, 0.5),
    ("chain", {"n": 5}, 1e-3, 0.3),
]
# the solver's error stays far below that of the step
SOLVED = {"epsilon": 1e-9, "iterations": 20_000, "rtol": 1e-10, "atol": 1e-10}
_rows: list[dict] = []
_device: list[str] = []  # of the rows


def motion(run: int, method: Any, coordinates: str, h: float, device: str) -> np.ndarray:
    """Place and t · velocity of all centres of mass at the end of a run [body, 6], in the model's order."""
    name, parameters, _, until = RUNS[run]
    if method.order > 1:
        method, h = replace(method, impulse_step=h), max(h, 0.01)
    world = World(scene(name, **parameters), method, coordinates, dt=h, device=device)
    world.step(round(until / h))
    bodies = [world.body(body) for body in world.model.bodies]
    return np.array([np.concatenate([body.position, until * body.velocity]) for body in bodies])


def measure(device: str) -> list[dict]:
    """A row for each run: differences of first order, what is left when extrapolated, orders; once per device."""
    if _device == [device]:
        return _rows
    _rows.clear()
    for run, (name, parameters, h, until) in enumerate(RUNS):
        limits, steps = [], []
        orders: dict[str, object] = {}
        for label, method, coordinates in general(**SOLVED):
            if method.order > 1:
                limits.append(motion(run, method, coordinates, h, device))
                continue
            coarse, middle, fine = (motion(run, method, coordinates, h / k, device) for k in (1, 2, 4))
            limits.append(2 * fine - middle)
            steps.append(float(np.linalg.norm(middle - fine)))
            orders[f"order {label}"] = math.log2(float(np.linalg.norm(coarse - middle)) / steps[-1])
        apart = max(float(np.linalg.norm(limit - limits[0])) for limit in limits[1:])
        row = {"scene": " ".join([name, *(f"{key}={value}" for key, value in parameters.items())]), "t [s]": until}
        row |= {"h [s]": h, "x(h/2) - x(h/4)": max(steps), "apart": apart, "ratio": apart / max(steps)}
        _rows.append(row | orders)
    _device[:] = [device]
    return _rows


def one_trajectory(device: str) -> float:
    """Distance of the extrapolated motions of all methods, over their first-order differences."""
    return max(row["ratio"] for row in measure(device))


def trajectory_order(device: str) -> float:
    """How far the observed order is from 1: the worst scene and method of a fixed step."""
    return max(abs(value - 1.0) for row in measure(device) for key, value in row.items() if key.startswith("order"))


def show() -> None:
    """Print the table of the last run."""
    titles = dict.fromkeys(key for row in _rows for key in row)
    print_table([{title: row.get(title, "") for title in titles} for row in _rows])


CASES = [
    Case(
        "one-trajectory",
        "all methods tend to one trajectory on every scene: extrapolated distance / first-order difference",
        0.1,
        "1",
        one_trajectory,
        show=show,
    ),
    Case(
        "trajectory-order",
        "the observed order of every method of a fixed step on every scene is 1",
        0.1,
        "1",
        trajectory_order,
    ),
]
