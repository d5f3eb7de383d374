"""Compiled steps on a GPU: every speed that is asked of one, each beside its error, in one run.

    python -m impulsar_verification.gpu [--device cuda:0] [--worlds 131072] [--only chain ...] [--rounds 5] [--json]

Worlds are in different states: those of one world along its way, one after the other. Speeds are world-steps per second
of wall time, medians of several rounds from the same states, with the device waited for at both ends: many steps in a
launch, and one launch for each. Errors are of the last of these rounds: `apart` is how far the first worlds are from
the generic kernel on the CPU after the same steps, of the size of a number where that is above 1; `gap` the worst
opening of joints in any world; `error` of a derivative how far it is from 4th-order differences. `fell back` is the
share of steps that the generic kernel took. Rows come with and without products and sums fused.

Where Warp has no compiler for the CPU, starts and the generic kernel's ends come from elsewhere: `--write-references
FILE` on a machine that has one, `--references FILE` on that with the GPU.

Exit status 1: something falls short of what is wanted; 2: there is no such device, or there are no references.
`--device cpu --worlds 64` goes through all of it on a CPU, where the same kernels run one thread after the other, and
speeds say nothing.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp

import impulsar as im
from impulsar.bench import peer_mujoco
from impulsar.bench.tables import honest, markdown
from impulsar.engine.compile.launch_cuda import DeviceLaunch
from impulsar.engine.compile.nvrtc import CudaKernel
from impulsar.engine.compile.recipe import Recipe
from impulsar.engine.system.tree import span
from impulsar.world.linear_device import DeviceLinear
from impulsar.world.rollout import Rollout

from .turns import alone

LOCK: Path | None = None  # of `--lock`
KNOWN: dict[str, np.ndarray] = {}  # references, those of `--references` among them
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

    @property
    def key(self) -> str:
        """What its references are of."""
        return repr((self.scene, self.parameters, self.options, self.steps))


SIMGC, FIXED, EXACT = {"method": "simgc", "dt": 1e-4}, {"dt": 1e-3, "substeps": 1}, {"dt": 1e-3, "rtol": 1e-7}
FALLING = {"motor": False}
BY = {"chain": ("hinge1", "link1.mass"), "four-bar": ("O", "coupler.mass")}  # outcome and cause of derivatives
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
        self.start = reference(case)[:, :STATES]
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
        if self.runner.steps != self.case.steps // launches:
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
        state, some = self.runner.state, min(APART, self.worlds)
        theirs, ours = reference(self.case)[:, STATES:][:, :some], state.numpy()[:, :some]
        rows = np.r_[state.rows["q"], state.rows["v"]]
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


def reference(case: Case) -> np.ndarray:
    """States [row, STATES + APART]: where worlds start, and where the first of them are after the steps of the case."""
    if case.key not in KNOWN:
        start = along(case, STATES)
        KNOWN[case.key] = np.hstack([start, after(case, start[:, :APART])])
    return KNOWN[case.key]


def along(case: Case, count: int) -> np.ndarray:
    """States of one world along its way [row, count], on the CPU by the generic kernel."""
    world = im.World(im.scene(case.scene, **case.parameters), **case.options)
    found = []
    for _ in range(count):
        world.step(1)
        found.append(world.runner.state.numpy()[:, 0].copy())
    return np.array(found).T


def after(case: Case, start: np.ndarray) -> np.ndarray:
    """States [row, world] after the steps of the case, by the same kernel."""
    model = im.scene(case.scene, **case.parameters)
    world = im.World(model, worlds=start.shape[1], compile="off", **case.options)
    world.runner.state.put(start)
    world.runner.refresh()
    world.step(case.steps)
    return world.runner.state.numpy()


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
    kernel = launch._go.kernel if launch._go else None
    return kernel.properties() if isinstance(kernel, CudaKernel) else {}


def generic(case: Case, device: str, worlds: int, rounds: int) -> dict:
    """The generic kernel."""
    bench = Bench(case, device, worlds, None)
    bench.go()
    return judged(row_of(case, bench, **{SPEED: bench.time(bench.go, rounds)}, **bench.errors()), case)


def there_and_back(case: Case, device: str, worlds: int, fuse: bool, rounds: int) -> dict:
    """Forward and backward: the derivative of a coordinate after the steps by a number that each world has of its own.

    Kernels with outcomes and gradients brought to the host; and calls of a `Rollout`, which set the numbers as well.
    """
    joint, path = BY[case.scene]
    bench = Bench(case, device, worlds, None)
    rollout = Rollout(bench.world, f"{joint}.position", path, case.steps * case.options["dt"])
    values = rollout.values() * (1.0 + 1e-3 * np.linspace(-1.0, 1.0, worlds)[:, None])
    given = np.ones(rollout.shape)
    linear = Linked(rollout, fuse)
    found = rollout.pull(values, given)
    kernels, calls = [], []
    for k in range(rounds):
        kernels.append(timed(device, partial(linear.alone, given.transpose(1, 2, 0))))
        calls.append(timed(device, partial(linear.both, values * (1.0 + 1e-6 * (k + 1)), given)))
    speed, each = (worlds * case.steps / float(np.median(spent)) for spent in (kernels, calls))
    figures = {SPEED: speed, "by calls of a Rollout: world-steps/s": each, "variants": len(linear.made.ways)}
    row = row_of(case, bench, fused=fuse, **figures)
    return judged({**row, "error": error_of(rollout, values, found)}, case)


class Linked:
    """A rollout whose trajectories are those of a GPU, on the CPU, too."""

    def __init__(self, rollout: Rollout, fuse: bool):
        self.rollout, self.fuse = rollout, fuse
        rollout._made = self._make  # type: ignore[method-assign]

    def _make(self) -> Any:
        rollout, before = self.rollout, self.rollout._linear
        given = rollout._steps, rollout._samples, rollout._outcomes, rollout._causes
        self.made = DeviceLinear(rollout.world, *given, before, self.fuse)  # type: ignore[arg-type]
        return self.made

    def alone(self, given: np.ndarray) -> None:
        """Kernels, with outcomes and gradients on the host."""
        self.made.trip.go()
        self.made.pull(given)

    def both(self, values: np.ndarray, given: np.ndarray) -> None:
        """As a user has them."""
        self.rollout(values)
        self.rollout.pull(values, given)


def error_of(rollout: Rollout, values: np.ndarray, found: np.ndarray) -> float:
    """How far a world's derivative is from 4th-order differences, of itself; the worst of some worlds."""
    step = 1e-3 * values
    ends = [rollout(values + k * step)[:APART, -1, 0] for k in (-2.0, -1.0, 1.0, 2.0)]
    slope = (ends[0] - 8.0 * ends[1] + 8.0 * ends[2] - ends[3]) / (12.0 * step[:APART, 0])
    return float((np.abs(found[:APART, 0] - slope) / np.abs(slope).max()).max())


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
    scene = im.scene(case.scene, **case.parameters)
    gap = peer_mujoco.gap(scene, model, data) if span(scene).loops else 0.0
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


def is_asked(case: Case, only: list[str]) -> bool:
    return not only or any(word in case.name for word in only)


def run(device: str, worlds: int, rounds: int, only: list[str], tell: Callable[[dict], None]) -> list[dict]:
    """All rows; tell: called with each as it comes."""
    rows: list[dict] = []

    def add(case: Case, measure: Callable[..., dict], *given: Any) -> None:
        if not is_asked(case, only):
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
    parser.add_argument("--references", type=Path, help="starts and ends from a machine with a compiler for the CPU")
    parser.add_argument("--write-references", type=Path, help="write these, and measure nothing")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    global LOCK
    LOCK = given.lock
    if given.references:
        with np.load(given.references) as kept:
            KNOWN.update(kept)
    asked = [case for case in (*CASES, *BACKWARD, *GENERIC) if is_asked(case, given.only)]
    missing = [case.name for case in asked if case.key not in KNOWN]
    if missing and not wp.is_cpu_available():
        cure = "write them elsewhere (--write-references) and give them here (--references)"
        print(f"gpu: no compiler for the CPU and no references of {', '.join(missing)}: {cure}", file=sys.stderr)
        return 2
    if given.write_references:
        with given.write_references.open("wb") as file:
            np.savez_compressed(file, **{case.key: reference(case) for case in asked})  # type: ignore[arg-type]
        return 0
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
