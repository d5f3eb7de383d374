"""Compiled steps on a GPU: every speed that is asked of one, each beside its error, in one run.

    python -m impulsar_verification.gpu [--device cuda:0] [--worlds 131072] [--only chain ...] [--rounds 5] [--json]

Worlds are in different states: those of one world along its way, one after the other. Speeds are world-steps per second
of wall time, medians of several rounds from the same states, with the device waited for at both ends: many steps in a
launch, and one launch for each. Errors are of the last of these rounds: `apart` is how far the first worlds are from
the generic kernel on the CPU after the same steps, of the size of a number where that is above 1; `gap` the worst
opening of joints in any world; `error` of a derivative how far it is from 4th-order differences. `fell back` is the
share of steps that the generic kernel took. Rows come with and without products and sums fused.

Exit status 1: something falls short of what is wanted; 2: there is no such device. `--device cpu --worlds 64` goes
through all of it on a CPU, where the same kernels run one thread after the other, and speeds say nothing.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp

import impulsar as im
from impulsar.bench import peer_mujoco
from impulsar.bench.tables import honest, markdown
from impulsar.engine.compile.adjoint import Adjoint, Places
from impulsar.engine.compile.emit_cuda import back_text, rows_of, run_text
from impulsar.engine.compile.launch_cuda import DeviceLaunch
from impulsar.engine.compile.nvrtc import CudaKernel, kernel_on
from impulsar.engine.compile.recipe import MOST_VARIANTS, Recipe, Sample
from impulsar.engine.compile.step import TracedStep

from .turns import alone

LOCK: Path | None = None  # of `--lock`
STATES = 64  # different ones
APART = 8  # worlds that are compared with the CPU's
PEER_STEPS = 200  # of mujoco_warp in a graph, at most
WARM = 6  # rounds in which variants are found
SPEED, EACH = "world-steps/s", "one launch each: world-steps/s"
NEAR = 1e-12  # what `apart` may be after some hundred steps
SLOPE = 1e-9  # what derivatives may be off, of themselves


@dataclass(frozen=True)
class Case:
    """Steps of a scene, and the speeds that are wanted of an H200 [world-steps/s]."""

    name: str
    scene: str
    parameters: dict
    options: dict
    wanted: float
    each: float = 0.0
    steps: int = 200
    near: float = NEAR


SIMGC, FIXED, EXACT = {"method": "simgc", "dt": 1e-4}, {"dt": 1e-3, "substeps": 1}, {"dt": 1e-3, "rtol": 1e-7}
FALLING = {"motor": False}
LOOP = 60  # steps of linkages: up to a dead centre, beyond which a rounding grows
CASES = [
    Case("chain(10)", "chain", {"n": 10}, SIMGC, 8e9, 5e9, steps=1000),
    Case("ten-pendula", "ten-pendula", {"start": "30deg"}, SIMGC, 1e9),
    Case("four-bar", "four-bar", {}, FIXED, 4e9, steps=LOOP),
    Case("peaucellier", "peaucellier", {}, FIXED, 2e9, steps=LOOP),
    Case("peaucellier falling", "peaucellier", FALLING, FIXED, 2e9, steps=LOOP),
    Case("chain(50)", "chain", {"n": 50}, SIMGC, 5e8),
    Case("chain(10) direct", "chain", {"n": 10}, EXACT, 3e8, steps=50),
    Case("peaucellier direct", "peaucellier", FALLING, EXACT, 2e8, steps=LOOP),
]
GENERIC = [
    Case("chain(10) generic", "chain", {"n": 10}, SIMGC, 1.5e8, steps=20),
    Case("chain(10) direct generic", "chain", {"n": 10}, EXACT, 2e7, steps=20),
    Case("peaucellier generic", "peaucellier", {}, FIXED, 4e7, steps=20),
]
BACKWARD = [
    Case("chain(10) there and back", "chain", {"n": 10}, SIMGC, 5e8, near=SLOPE),
    Case("four-bar there and back", "four-bar", {}, FIXED, 5e8, steps=LOOP, near=SLOPE),
]
BESIDE = {"chain(10)": 100.0, "four-bar": 30.0, "peaucellier falling": 30.0}  # times mujoco_warp, that are wanted
GAPS = 1e6  # times smaller than mujoco_warp's


class Bench:
    """Worlds of a case on a device, at their different states."""

    def __init__(self, case: Case, device: str, worlds: int, fuse: bool | None):
        """fuse: products and sums; None: nothing is compiled."""
        self.case, self.device, self.worlds = case, device, worlds
        model = im.scene(case.scene, **case.parameters)
        self.start = along(case, STATES)
        self.world = im.World(model, worlds=worlds, device=device, compile="off", **case.options)
        self.runner = self.world.runner
        if fuse is not None:
            self.runner._compiled = self.runner._compiled_for_device  # type: ignore[method-assign]  # on the CPU, too
            self.runner.compile_by(Recipe(learns=True))
            self.launch.fuse = fuse
        self.put_back()

    @property
    def launch(self) -> DeviceLaunch:
        return self.runner.launch

    def put_back(self) -> None:
        """All worlds at their starts."""
        self.runner.settle()
        self.runner.state.put(self.start[:, np.arange(self.worlds) % STATES])
        self.runner.refresh()

    def go(self, launches: int = 1) -> None:
        """The steps of the case."""
        self.runner.set_steps(self.case.steps // launches)
        for _ in range(launches):
            self.runner.launch()

    def time(self, call: Callable[[], None], rounds: int) -> float:
        """World-steps per second of a call that takes the steps of the case."""
        spent = []
        for _ in range(rounds):
            self.put_back()
            spent.append(timed(self.device, call))
        return self.worlds * self.case.steps / float(np.median(spent))

    def errors(self) -> dict[str, float]:
        """Of the state after the steps of the case."""
        some = min(APART, self.worlds)
        model = im.scene(self.case.scene, **self.case.parameters)
        alone = im.World(model, worlds=some, compile="off", **self.case.options)
        alone.runner.state.put(self.start[:, np.arange(some) % STATES])
        alone.runner.refresh()
        alone.step(self.case.steps)
        theirs, ours = alone.runner.state.numpy(), self.runner.state.numpy()[:, :some]
        rows = np.r_[alone.runner.state.rows["q"], alone.runner.state.rows["v"]]
        apart = np.abs(ours - theirs)[rows] / np.maximum(1.0, np.abs(theirs[rows]))
        return {"apart": float(apart.max()), "gap [m, rad]": float(np.max(self.world.constraint_error()))}


def timed(device: str, call: Callable[[], None]) -> float:
    """Seconds until a device has done what a call asks of it."""
    with alone(LOCK):
        wp.synchronize_device(device)
        began = time.perf_counter()
        call()
        wp.synchronize_device(device)
        return time.perf_counter() - began


def along(case: Case, count: int) -> np.ndarray:
    """States of one world along its way [row, count], on the CPU by the generic kernel."""
    world = im.World(im.scene(case.scene, **case.parameters), **case.options)
    found = []
    for _ in range(count):
        world.step(1)
        found.append(world.runner.state.numpy()[:, 0].copy())
    return np.array(found).T


def row_of(case: Case, bench: Bench, **figures: Any) -> dict:
    return {"case": case.name, "worlds": bench.worlds, "steps": case.steps, **figures}


def judged(row: dict, case: Case) -> dict:
    """Whether it is as fast and as exact as is wanted."""
    fast = row[SPEED] >= case.wanted and row.get(EACH, case.each) >= case.each
    exact = max(row.get("apart", 0.0), row.get("error", 0.0)) <= case.near
    return {**row, "wanted": case.wanted, "holds": bool(fast and exact)}


def compiled(case: Case, device: str, worlds: int, fuse: bool, rounds: int) -> dict:
    """Compiled steps."""
    bench = Bench(case, device, worlds, fuse)
    for _ in range(WARM):
        bench.put_back()
        bench.go()
    if bench.launch.refused:
        return row_of(case, bench, fused=fuse, refused=bench.launch.refused, holds=False)
    each = bench.time(lambda: bench.go(case.steps), rounds)
    fallen = bench.launch.fallbacks
    speed = bench.time(bench.go, rounds)
    share = (bench.launch.fallbacks - fallen) / (rounds * worlds * case.steps)
    told = bench.launch.told()
    size = {"operations": told.operations, "guards": told.guards, "variants": told.variants}
    row = row_of(case, bench, fused=fuse, **{SPEED: speed, EACH: each}, **bench.errors(), **size)
    return judged({**row, "fell back": share, **properties(bench.launch)}, case)


def properties(launch: DeviceLaunch) -> dict[str, int]:
    """What a kernel takes of a GPU."""
    return launch._kernel.properties() if isinstance(launch._kernel, CudaKernel) else {}


def generic(case: Case, device: str, worlds: int, rounds: int) -> dict:
    """The generic kernel."""
    bench = Bench(case, device, worlds, None)
    bench.go()
    return judged(row_of(case, bench, **{SPEED: bench.time(bench.go, rounds)}, **bench.errors()), case)


class Backward:
    """Forward steps that are kept, and their adjoints: kernels and arrays for so many worlds."""

    def __init__(self, bench: Bench):
        self.launch, self.device, self.steps = bench.launch, bench.device, bench.case.steps
        self.ways: list[TracedStep] = []
        self._find_ways(bench.start)
        rows = rows_of(self.ways)[1]
        adjoints = [Adjoint(way, rows, []) for way in self.ways]
        self.places = Places(sorted(set().union(*(one.read for one in adjoints))), [], rows)
        self._write(self.places.read)
        text = back_text([one.placed(self.places) for one in adjoints], self.places)
        self.backward = kernel_on(self.device, text, "back", self.launch.fuse)

    def _write(self, taped: Sequence[int]) -> None:
        """The forward kernel."""
        text = run_text(self.ways, self.launch._places, taped)
        self.forward = kernel_on(self.device, text, "run", self.launch.fuse)

    def _find_ways(self, start: np.ndarray) -> None:
        """Ways without loops by which worlds come through from all their starts, or as many as there may be."""
        self.places = Places([], [], [])
        sample = Sample.of(start, 0)
        while len(self.ways) < MOST_VARIANTS:
            self.ways.append(self.launch.trace(sample, keep_loops=False))
            self._write([])
            room = self.room(start)
            self.go(room)
            done = room["done"].numpy()
            if (done == self.steps).all():
                return
            sample = Sample.of(room["state"].numpy()[:, [int(np.argmin(done))]], 0)

    def room(self, state: np.ndarray) -> dict[str, wp.array]:
        """Arrays for the worlds of a state."""
        worlds, ways = state.shape[1], len(self.ways)
        shapes = {"done": worlds, "used": (3 + ways, worlds), "missing": 1, "which": (self.steps, worlds)}
        found = {name: wp.zeros(shape, dtype=wp.int32, device=self.device) for name, shape in shapes.items()}
        found["which"].fill_(-1)
        found["state"] = wp.array(state, dtype=wp.float64, device=self.device)
        found["tape"] = wp.zeros((self.steps, len(self.places.read), worlds), dtype=wp.float64, device=self.device)
        found["numbers"] = wp.zeros((self.places.size, worlds), dtype=wp.float64, device=self.device)
        return found

    def go(self, room: dict[str, wp.array]) -> None:
        """There; what its steps were is on the tape."""
        worlds = room["state"].shape[1]
        given = room["state"], self.launch._starts, self.launch._pitches, room["done"], room["used"], room["missing"]
        addresses = [one.ptr for one in given]
        self.forward.launch(worlds, *addresses, 0, room["tape"].ptr, room["which"].ptr, worlds, self.steps, 1)

    def come_back(self, room: dict[str, wp.array]) -> None:
        worlds = room["state"].shape[1]
        given = [room[name].ptr for name in ("tape", "which", "numbers")]
        self.backward.launch(worlds, *given, worlds, self.steps)


def there_and_back(case: Case, device: str, worlds: int, fuse: bool, rounds: int) -> dict:
    """Forward and backward: the derivative of the last state's first coordinate by the first state's rows."""
    bench = Bench(case, device, worlds, fuse)
    for _ in range(WARM):
        bench.put_back()
        bench.go()
    if bench.launch.refused:
        return row_of(case, bench, fused=fuse, refused=bench.launch.refused, holds=False)
    kernels = Backward(bench)
    room = kernels.room(bench.start[:, np.arange(worlds) % STATES])
    start, first = wp.clone(room["state"]), bench.runner.state.rows["q"].start
    spent = []
    for _ in range(rounds):
        wp.copy(room["state"], start)
        seeds = np.zeros((kernels.places.size, worlds))
        seeds[kernels.places.of_adjoint[first]] = 1.0
        room["numbers"].assign(seeds)

        def both() -> None:
            kernels.go(room)
            kernels.come_back(room)

        spent.append(timed(device, both))
    whole = room["done"].numpy() == case.steps  # the others broke a guard
    speed = float(whole.sum() * case.steps / np.median(spent))
    figures = {SPEED: speed, "worlds that came through": int(whole.sum()), "variants": len(kernels.ways)}
    row = row_of(case, bench, fused=fuse, **figures)
    error = error_of(kernels, bench, room["numbers"].numpy(), int(np.argmax(whole)), first) if whole.any() else np.inf
    return judged({**row, "error": error}, case)


def error_of(kernels: Backward, bench: Bench, numbers: np.ndarray, world: int, first: int) -> float:
    """How far a world's largest derivative by a velocity is from 4th-order differences, of itself."""
    rows = bench.runner.state.rows["v"]
    row = max(range(rows.start, rows.stop), key=lambda k: abs(numbers[kernels.places.of_adjoint[k], world]))
    at = bench.start[:, world % STATES]
    size = 1e-3 * max(1.0, abs(at[row]))
    states = np.repeat(at[:, None], 4, axis=1)
    states[row] += size * np.array([-2.0, -1.0, 1.0, 2.0])
    room = kernels.room(states)
    kernels.go(room)
    if (room["done"].numpy() < bench.case.steps).any():
        return np.inf
    ends = room["state"].numpy()[first]
    slope = (ends[0] - 8.0 * ends[1] + 8.0 * ends[2] - ends[3]) / (12.0 * size)
    found = numbers[kernels.places.of_adjoint[row], world]
    return float(abs(found - slope) / max(abs(slope), 1e-12))


def mujoco_warp(case: Case, device: str, worlds: int, rounds: int) -> dict:
    """The same scene by mujoco_warp, in float32 with its defaults, from its own start; one launch of a graph."""
    import mujoco_warp as peer

    model, data = peer_mujoco.build(im.scene(case.scene, **case.parameters), case.options["dt"])
    steps = min(case.steps, PEER_STEPS)
    with wp.ScopedDevice(device):
        m, d = peer.put_model(model), peer.put_data(model, data, nworld=worlds)
        peer.step(m, d)

        def call() -> None:
            for _ in range(steps):
                peer.step(m, d)

        if wp.get_device(device).is_cuda:
            with wp.ScopedCapture() as capture:
                call()
            call = partial(wp.capture_launch, capture.graph)
        spent = [timed(device, call) for _ in range(rounds)]
        peer.get_data_into(data, model, d)
    world = im.scene(case.scene, **case.parameters)
    gap = peer_mujoco.gap(world, model, data) if im.World(world, **case.options).system.tree.loops else 0.0
    speed = worlds * steps / float(np.median(spent))
    return {
        "case": f"{case.name} mujoco_warp",
        "worlds": worlds,
        "steps": steps,
        SPEED: speed,
        "gap [m, rad]": gap,
    }


def beside(ours: list[dict], theirs: dict, name: str) -> dict:
    """How many times as fast, and how much smaller gaps are."""
    best = max((row[SPEED] for row in ours if row["case"] == name and SPEED in row), default=0.0)
    gap = max((row["gap [m, rad]"] for row in ours if row["case"] == name and SPEED in row), default=np.inf)
    times, smaller = best / theirs[SPEED], theirs["gap [m, rad]"] / max(gap, 1e-16)
    holds = times >= BESIDE[name] and (theirs["gap [m, rad]"] == 0.0 or smaller >= GAPS)
    return {**theirs, "times as fast": times, "gaps smaller by": smaller, "holds": bool(holds)}


def run(device: str, worlds: int, rounds: int, only: list[str], tell: Callable[[dict], None]) -> list[dict]:
    """All rows; tell: called with each as it comes."""
    rows: list[dict] = []

    def add(case: Case, measure: Callable[..., dict], *given: Any) -> None:
        if only and not any(word in case.name for word in only):
            return
        row = honest([measure(case, device, worlds, *given)])[0]
        rows.append(row)
        tell(row)

    for fuse in (True, False):
        for case in CASES:
            add(case, compiled, fuse, rounds)
        for case in BACKWARD:
            add(case, there_and_back, fuse, rounds)
    for case in GENERIC:
        add(case, generic, rounds)
    try:
        import mujoco_warp as _peer  # noqa: F401
    except ImportError:
        tell({"case": "mujoco_warp is not installed: pip install mujoco-warp"})
        return rows
    for case in CASES:
        if case.name in BESIDE:
            add(case, lambda *given: beside(rows, mujoco_warp(*given), given[0].name), rounds)
    return rows


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="impulsar_verification.gpu", description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--worlds", type=int, default=131_072)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=[], help="words of cases")
    parser.add_argument("--lock", type=Path, help="several of these runs take turns at what they measure")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    global LOCK
    LOCK = given.lock
    if given.device not in {str(device) for device in wp.get_devices()}:
        print(f"gpu: there is no device {given.device}; --device cpu --worlds 64 goes through it", file=sys.stderr)
        return 2
    if given.worlds < 1 or given.rounds < 1:
        print("gpu: --worlds and --rounds are at least 1", file=sys.stderr)
        return 2
    tell = (lambda row: None) if given.json else (lambda row: print(row, file=sys.stderr, flush=True))
    rows = run(given.device, given.worlds, given.rounds, given.only, tell)
    print(json.dumps(rows) if given.json else markdown(rows))
    return 0 if all(row.get("holds", False) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
