"""Large worlds on a GPU: every speed that is asked of one, each beside its errors, in one run.

    python -m impulsar_verification.gpu_large [--device cuda:0] [--share 1.0] [--only chain ...] [--lock FILE] [--json]

Steps per second are of wall time over many steps in a call, with the device waited for at both ends. `gap` and `J v`
are the largest of all joints' rows after those steps, `overlap` over the radius or the edge, `rest` the kinetic energy
a body [J]. `--share 0.01` takes so much of the bodies, `--lock` has several of these runs take turns at what they
measure, while others build and compile.

Exit status 1: something falls short of what is wanted; 2: there is no such device.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp

from impulsar.bench.tables import markdown
from impulsar.engine.large.cudss import find_cudss
from impulsar.engine.large.net import Net
from impulsar.scale.flow import Coupled, Lattice
from impulsar.scale.large import LargeWorld, boxes, chain, net, settling, spheres, tree

from .turns import alone

JOINTS = 2e-4  # steps of scenes of joints, and of those that touch [s]
TOUCHING = 1.0 / 240.0


class Run:
    """What all measurements share."""

    def __init__(self, device: str, share: float, hurry: float, lock: Path | None):
        """hurry: of the time until piles rest, how much is taken."""
        self.device, self.share, self.hurry, self.lock = device, share, hurry, lock

    def count(self, n: int) -> int:
        return max(10, round(n * self.share))

    def seconds(self, whole: float) -> float:
        return max(0.3, whole * self.hurry)

    def alone(self) -> AbstractContextManager[None]:
        return alone(self.lock)

    def rate(self, world: LargeWorld, steps: int) -> float:
        """Steps per second; the first ones, which compile and record, are not in it."""
        wp.synchronize_device(self.device)
        began = time.perf_counter()
        world.step(steps)
        wp.synchronize_device(self.device)
        return steps / (time.perf_counter() - began)


def jointed(run: Run, world: LargeWorld, steps: int) -> dict:
    world.step(10)
    with run.alone():
        rate = run.rate(world, steps)
    report = world.step(1)
    return {
        "bodies": world.bodies,
        "steps": world.count,
        "steps/s": rate,
        "gap [m]": report.position_error,
        "J v [m/s]": report.velocity_error,
        "bytes a body": world.bytes_per_body(),
        "parts": report.parts,
    }


def chains(run: Run) -> Iterator[dict]:
    for n, steps, wanted in ((1_000_000, 300, 250.0), (4_000_000, 60, 100.0)):
        world = LargeWorld(chain(run.count(n)), dt=JOINTS, device=run.device)
        for rounds in (2, 3):
            world.rounds = rounds
            row = jointed(run, world, steps)
            extent = float(np.ptp(world.positions, axis=0).max())
            holds = row["steps/s"] >= wanted and row["gap [m]"] <= 1e-12 and row["J v [m/s]"] <= 1e-13
            small = row["bytes a body"] <= 1500.0
            yield {"case": "chain", "rounds": rounds, **row, "extent [m]": extent, "holds": holds and small}


def long_chain(run: Run) -> Iterator[dict]:
    world = LargeWorld(chain(run.count(1_000_000)), dt=JOINTS, rounds=2, device=run.device)
    before, parts, steps = sum(world.energy().values()), 0, 0
    with run.alone():
        began = time.perf_counter()
        while steps < 10_000:
            report = world.step(500)
            parts, steps = parts + report.parts, steps + 500
        seconds = time.perf_counter() - began
    energy = world.energy()
    extent = float(np.ptp(world.positions, axis=0).max())
    yield {
        "case": "chain, 10,000 steps",
        "bodies": world.bodies,
        "steps/s": steps / seconds,
        "parts": parts,
        "gap [m]": report.position_error,
        "J v [m/s]": report.velocity_error,
        "kinetic [J]": energy["kinetic"],
        "books [J]": sum(energy.values()) - before,
        "extent [m]": extent,
        "holds": report.position_error <= max(1e-12, 1e-15 * extent),
    }


def pair(run: Run) -> Iterator[dict]:
    world = LargeWorld(chain(run.count(1_000_000)), dt=1e-3, method="pair", rtol=1e-6, atol=1e-6, device=run.device)
    world.step(1)
    with run.alone():
        wp.synchronize_device(run.device)
        began = time.perf_counter()
        report = world.step(10)
        wp.synchronize_device(run.device)
        seconds = time.perf_counter() - began
    yield {
        "case": "chain, pair",
        "bodies": world.bodies,
        "evaluations/s": report.evaluations / seconds,
        "steps/s": 10 / seconds,
        "parts": report.parts,
        "rejected": report.rejected,
        "gap [m]": report.position_error,
        "J v [m/s]": report.velocity_error,
        "holds": report.evaluations / seconds >= 500.0,
    }


def trees(run: Run) -> Iterator[dict]:
    row = jointed(run, LargeWorld(tree(run.count(1_000_000)), dt=JOINTS, rounds=2, device=run.device), 200)
    yield {"case": "tree", **row, "holds": row["steps/s"] >= 100.0 and row["gap [m]"] <= 1e-12}


def nets(run: Run) -> Iterator[dict]:
    sizes = ((100, 50), (316, 20), (1000, 10)) if find_cudss() else ((100, 50),)  # SuperLU takes hours for larger ones
    for n, steps in sizes:
        n = max(5, round(n * np.sqrt(run.share)))
        world = LargeWorld(net(n), dt=1e-3, device=run.device)
        began = time.perf_counter()
        world.step(2)
        first = time.perf_counter() - began
        with run.alone():
            rate = run.rate(world, steps)
        report = world.step(1)
        core = world.bench.factor.core
        solver = type(core._solver).__name__ if isinstance(core, Net) else "levels alone"
        row = {"case": f"net {n} x {n}, {solver}", "bodies": world.bodies, "first two steps [s]": first}
        figures = {"steps/s": rate, "gap [m]": report.position_error, "J v [m/s]": report.velocity_error}
        holds = report.residual <= 1e-12 and (n < 1000 or rate >= 3.0)
        yield {**row, **figures, "residual": report.residual, "holds": holds}


def pile(run: Run, name: str, bulk: Any, size: float, seconds: float, wanted: float) -> dict:
    """Until bodies lie still."""
    world = LargeWorld(bulk, dt=TOUCHING, device=run.device)
    world.step(2)
    steps = round(seconds / TOUCHING)
    with run.alone():
        began = time.perf_counter()
        falls = world.step(max(1, steps - 60))
        fall = (steps - 60) / (time.perf_counter() - began)
        rate = run.rate(world, 60)
    report = world.step(1)
    rest = world.energy()["kinetic"] / world.bodies
    row = {"case": name, "bodies": world.bodies, "steps": world.count, "steps/s": rate, "steps/s before": fall}
    figures = {"contacts": report.contacts, "overlap": report.overlap / size, "overlap before": falls.overlap / size}
    holds = rate >= wanted and report.overlap <= 0.02 * size
    return {**row, **figures, "rest [J]": rest, "bytes a body": world.bytes_per_body(), "holds": holds}


def piles(run: Run) -> Iterator[dict]:
    row = pile(run, "spheres", spheres(run.count(1_000_000)), 0.01, run.seconds(8.3), 40.0)
    yield {**row, "holds": row["holds"] and row["rest [J]"] <= 1e-8}
    first, second = (LargeWorld(spheres(run.count(100_000)), dt=TOUCHING, device=run.device) for _ in range(2))
    for world in (first, second):
        world.step(120)
    same = all(np.array_equal(getattr(first, name), getattr(second, name)) for name in ("positions", "velocities"))
    yield {"case": "spheres twice", "bodies": first.bodies, "steps": 120, "same bits": same, "holds": same}


def collision(run: Run) -> Iterator[dict]:
    """Momentum of a cluster that meets itself, without gravity and walls."""
    bulk = spheres(run.count(100_000))
    bulk.planes, bulk.gravity = np.zeros((0, 4)), (0.0, 0.0, 0.0)
    away = bulk.position - bulk.position.mean(0)
    bulk.twist[:, 3:] = -2.0 * away / np.abs(away).max() + np.random.default_rng(1).normal(0.0, 0.3, away.shape)
    world = LargeWorld(bulk, dt=TOUCHING, device=run.device)
    before = world.momentum()
    contacts = max(world.step(20).contacts for _ in range(10))
    size = float((bulk.mass[bulk.kind] * np.linalg.norm(world.velocities[:, 3:], axis=1)).sum())
    off = float(np.abs(world.momentum() - before).max()) / size
    yield {"case": "momentum", "bodies": world.bodies, "contacts": contacts, "off": off, "holds": off <= 1e-14}


def many_boxes(run: Run) -> Iterator[dict]:
    yield pile(run, "boxes", boxes(run.count(100_000)), 0.02, run.seconds(6.0), 20.0)


def sinking(run: Run) -> Iterator[dict]:
    yield pile(run, "settling", settling(run.count(1_000_000)), 0.005, run.seconds(1.0), 30.0)


def flowing(run: Run) -> Iterator[dict]:
    """Bodies as points in the lattice's fluid."""
    n, radius, cell = run.count(10_000), 0.0005, 0.002
    bulk, mass = spheres(n, radius, gap=2.0), 2500.0 * 4.0 / 3.0 * np.pi * radius**3
    bulk.mass, bulk.inertia = np.array([mass]), 0.4 * mass * radius**2 * np.eye(3)[None]
    bulk.fluid("water", surface=None, drag=False)
    wide = np.ptp(bulk.position, axis=0).max() + 8.0 * cell
    cells = tuple(int(np.ceil(wide / cell)) for _ in range(3))
    bulk.position += 0.5 * wide - bulk.position.mean(0)
    bulk.planes = np.zeros((0, 4))
    field = Lattice(cells, cell=cell, dt=1e-4, density=1000.0, viscosity=0.01, device=run.device)
    world = LargeWorld(bulk, dt=1e-4, device=run.device)
    coupled = Coupled(world, "water", field)
    coupled.step(10)
    with run.alone():
        wp.synchronize_device(run.device)
        began = time.perf_counter()
        coupled.step(200)
        wp.synchronize_device(run.device)
        rate = 200 / (time.perf_counter() - began)
    finite = bool(np.isfinite(world.velocities).all())
    total = int(np.prod(cells))
    row = {"case": "points in a lattice", "bodies": n, "cells": total, "steps/s": rate, "cells/s": rate * total}
    yield {**row, "holds": finite}


CASES: dict[str, Callable[[Run], Iterator[dict]]] = {
    "chain": chains,
    "long": long_chain,
    "pair": pair,
    "tree": trees,
    "net": nets,
    "spheres": piles,
    "momentum": collision,
    "boxes": many_boxes,
    "settling": sinking,
    "flow": flowing,
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="impulsar_verification.gpu_large", description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--share", type=float, default=1.0, help="of the bodies")
    parser.add_argument("--hurry", type=float, default=1.0, help="of the time until piles rest")
    parser.add_argument("--only", nargs="*", default=[], choices=CASES)
    parser.add_argument("--lock", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    if given.device not in {str(device) for device in wp.get_devices()}:
        print(f"gpu_large: there is no device {given.device}; --device cpu --share 0.001 goes through", file=sys.stderr)
        return 2
    run, rows = Run(given.device, given.share, given.hurry, given.lock), []
    for name in given.only or CASES:
        for row in CASES[name](run):
            rows.append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)
    print(json.dumps(rows) if given.json else markdown(rows))
    return 0 if all(row["holds"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
