"""Cost of a chain's step over its length: linear in every method (Mikhaylyuk 2017 §1) but those with a full matrix.

Newton's method of `generalized_alpha` solves for all unknowns at once: 250 ms an iteration at 160 links in maximal
coordinates, hours at 1,000.
"""

import time

import numpy as np

from ..engine.methods import METHODS, Method, Simmc
from ..scenes import scene
from ..world.world import World

SIZES = {"generalized": (10, 100, 1000, 10_000), "maximal": (10, 100, 1000)}  # links
MOST = 1.1  # log-log slope
ROUNDS = 15
SWEEPS = 10  # of SIMMC in a step


def run() -> list[dict]:
    """Time of a sweep or evaluation of a hanging chain, the best of several rounds; a row for each method."""
    rows: list[dict] = []
    for name, method in METHODS.items():
        if method.unknowns is not Method.unknowns:  # a full matrix
            continue
        for coordinates in method.coordinates:
            times = {n: unit_time(name, coordinates, n) for n in SIZES[coordinates]}
            slope = float(np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0])
            row: dict = {"method": f"{name}, {coordinates}"}
            row |= {f"{n} links [us]": 1e6 * times[n] if n in times else "-" for n in SIZES["generalized"]}
            rows.append(row | {"slope": slope, "at most": MOST, "holds": slope <= MOST})
    return rows


def unit_time(name: str, coordinates: str, n: int) -> float:
    """Time of one sweep or evaluation of a chain of n links, of a step where it has neither [s]."""
    method = Simmc(epsilon=0.0, iterations=SWEEPS) if name == "simmc" else name
    world = World(scene("chain", n=n, start="hanging"), method, coordinates, dt=1e-4)
    steps = max(1, 2000 // n)
    world.step(steps)
    spent = []
    for _ in range(ROUNDS):
        begin = time.thread_time()  # of this core: a long launch shares it with whoever is there
        report = world.step(steps)
        took = time.thread_time() - begin
        spent.append(took / max(steps, int(report.iterations)))
    return min(spent)
