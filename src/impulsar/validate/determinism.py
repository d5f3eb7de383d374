"""Same inputs, same bits: batches, launches, snapshots, processes, kernel caches.

    python -m impulsar.validate.determinism

writes this machine's ends into golden.json; bits depend on the processor and on Warp's version.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from ..engine.compile.recipe import Sample
from ..engine.machine import machine_key
from ..engine.methods.direct import Direct
from ..scenes import scene
from ..world.background import edit_of
from ..world.world import World
from .case import Case

WORLDS, FEWER_WORLDS = 1024, 64  # of SIMGC, and of the methods whose steps cost more
SCENES: tuple[tuple[str, dict], ...] = (
    ("ten-pendula", {"start": "30deg"}),
    ("five-link", {}),
    ("peaucellier", {}),
    ("manipulator", {}),
)
GOLDEN = Path(__file__).with_name("golden.json")
GOLDEN_STEPS = 300
GOLDEN_SCENES: dict[str, tuple[str, dict]] = {
    "ten-pendula from 30deg": ("ten-pendula", {"start": "30deg"}),
    "ten-pendula with the hand": ("ten-pendula", {"hand": True}),
    "cross-lift under load": ("cross-lift", {"case": "load"}),
    "five-link": ("five-link", {}),
    "peaucellier": ("peaucellier", {}),
    "slider-crank": ("slider-crank", {}),
    "four-bar": ("four-bar", {}),
    "n-four-bar": ("n-four-bar", {}),
    "manipulator": ("manipulator", {}),
    "chain of 25": ("chain", {"n": 25}),
}
COMPILED_SCENES: tuple[tuple[str, dict], ...] = (("four-bar", {}), ("chain", {"n": 5}))
METHODS = (("simgc", "generalized"), ("simmc", "maximal"), ("direct", "generalized"), ("direct", "maximal"))


def batch_bits(device: str) -> float:
    """Worlds of ten-pendula in a batch whose bits differ from the same world stepped alone; every method."""
    model = scene("ten-pendula", start="30deg")
    differ = 0
    for method, coordinates in METHODS:
        count, steps = (WORLDS, 200) if method == "simgc" else (FEWER_WORLDS, 50)
        masses = 0.1 * (1.0 + 0.5 * np.random.default_rng(0).uniform(-1, 1, count))
        batch = World(model, method, coordinates, dt=0.001, worlds=count, device=device, compile="off")
        batch.set("link10.mass", masses)
        batch.step(steps)
        together = batch.state.numpy()
        alone = World(model, method, coordinates, dt=0.001, device=device)
        start = alone.snapshot()
        for k in range(count):
            alone.restore(start)
            alone.set("link10.mass", masses[k])
            alone.step(steps)
            differ += not np.array_equal(alone.state.numpy()[:, 0], together[:, k])
    return float(differ)


def step_bits(device: str) -> float:
    """Scenes on which step(n) and n times step give different bits."""
    differ = 0
    for method, coordinates in METHODS:
        for name, parameters in SCENES:
            worlds = [World(scene(name, **parameters), method, coordinates, device=device) for _ in range(2)]
            worlds[0].step(50)
            for _ in range(50):
                worlds[1].step()
            differ += worlds[0].hash() != worlds[1].hash()
    return float(differ)


def snapshot_bits(device: str) -> float:
    """Scenes on which going back to a snapshot and on again gives different bits; the hand is holding."""
    differ = 0
    for method, coordinates in METHODS:
        for name, parameters in SCENES:
            world = World(scene(name, **parameters), method, coordinates, dt=0.001, device=device)
            world.step(50)
            hand = world.grab(next(reversed(world.model.bodies)), stiffness=50.0)
            hand.move((0.1, 0.1, -0.1))
            world.step(20)
            middle = world.snapshot()
            world.step(50)
            end = world.hash()
            hand.release()
            world.step(30)
            world.restore(middle)
            world.step(50)
            differ += world.hash() != end
    return float(differ)


def golden_ends(device: str = "cpu") -> dict[str, dict]:
    """Hash and coordinates of every golden scene by every method after 300 steps."""
    ends = {}
    for title, (name, parameters) in GOLDEN_SCENES.items():
        for method, coordinates in METHODS:
            world = World(scene(name, **parameters), method, coordinates, device=device)
            world.step(GOLDEN_STEPS)
            q = [float(value) for value in world.state.read("q")[:, 0]]
            ends[f"{title}, {method}, {coordinates}"] = {"hash": world.state.hash(), "q": q}
    return ends


def ends_of_process(code: str, cache: str | None = None) -> dict:
    """What a fresh process prints as JSON, with its own kernel cache if one is given."""
    environment = os.environ | ({"WARP_CACHE_PATH": cache} if cache else {})
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def known_ends(device: str = "cpu") -> dict[str, dict] | None:
    """The golden ends of this processor and Warp version, if they are kept; none are of other devices."""
    return json.loads(GOLDEN.read_text(encoding="utf-8")).get(machine_key()) if device == "cpu" else None


def golden_bits(device: str) -> float:
    """Golden runs with other bits than in another process, or than are kept for this machine, or not kept at all."""
    code = f"import json, impulsar.validate.determinism as d; print(json.dumps(d.golden_ends({device!r})))"
    here, there, kept = golden_ends(device), ends_of_process(code), known_ends(device)
    _far.clear()
    _compared[:] = [] if kept else [f"no ends are kept for {machine_key()} on {device}: two processes were compared"]
    for title, end in here.items() if kept else ():
        known = (kept or {}).get(title)
        if known is None:
            _far.append(f"{title}: not kept")
        elif end["hash"] != known["hash"]:
            apart = np.abs(np.subtract(end["q"], known["q"])).max() if len(end["q"]) == len(known["q"]) else np.inf
            _far.append(f"{title}: {apart:.1e} from what is kept [m, rad]")
    return float(len(_far) + sum(here[title] != there[title] for title in here))


_far: list[str] = []  # golden runs that end elsewhere, in words
_compared: list[str] = []  # what else than kept ends they were compared with


def show_golden() -> None:
    """Say whether ends were kept for this machine, and how far from them the runs ended."""
    for line in [*_compared, *_far]:
        print(f"    {line}")


def cold_bits(device: str) -> float:
    """1 if a process that compiles its kernels anew gets other bits than one that finds them compiled."""
    code = (
        "import json, impulsar as im; world = im.World(im.scene('ten-pendula', start='30deg')); "
        "world.step(1000); print(json.dumps({'hash': world.state.hash()}))"
    )
    with tempfile.TemporaryDirectory() as cache:
        return float(ends_of_process(code, cache) != ends_of_process(code))


def batch_sizes(device: str) -> float:
    """Scenes and batch sizes in which a world by itself has other bits than the first and last of the batch."""
    differ = 0
    for method, coordinates in METHODS:
        for name, parameters in SCENES[:2]:
            alone = World(scene(name, **parameters), method, coordinates, dt=0.001, device=device)
            alone.step(100)
            for size in (2, 33):
                batch = World(scene(name, **parameters), method, coordinates, dt=0.001, worlds=size, device=device)
                batch.step(100)
                states = batch.state.numpy()
                differ += not all(np.array_equal(alone.state.numpy()[:, 0], states[:, k]) for k in (0, size - 1))
    return float(differ)


def compiled_ends(device: str = "cpu") -> dict[str, list[str]]:
    """Hashes of compiled runs, each taken in several ways: step by step, at once, from snapshots, by edits."""
    ends = {}
    for name, parameters in COMPILED_SCENES:

        def make(compile: str, name=name, parameters=parameters) -> World:
            return World(scene(name, **parameters), Direct(substeps=1), dt=0.001, device=device, compile=compile)

        one, many = make("now"), make("now")
        for _ in range(90):
            one.step()
        many.step(40)
        moment = many.snapshot()
        many.step(50)
        found = [one.hash(), many.hash()]
        for world in (many, make("now")):
            world.restore(moment)
            world.step(50)
            found.append(world.hash())
        ends[f"{name}, learning"] = found
        by_edit, again = make("off"), make("off")
        by_edit.step(5)
        by_edit.apply(edit_of([Sample.of(by_edit.state.numpy(), 0)]))
        moment = by_edit.snapshot()
        by_edit.step(60)
        again.restore(moment)
        for _ in range(60):
            again.step()
        ends[f"{name}, by an edit"] = [by_edit.hash(), again.hash()]
    return ends


def compiled_bits(device: str) -> float:
    """Compiled runs whose bits depend on launches, on snapshots, or on the process."""
    code = "import json, impulsar.validate.determinism as d; print(json.dumps(d.compiled_ends()))"
    here, there = compiled_ends(), ends_of_process(code)
    return float(sum(len(set(found)) > 1 or there[title] != found for title, found in here.items()))


CASES = [
    Case("batch-sizes", "a world has the same bits in a batch of any size", 0.0, "batches", batch_sizes),
    Case(
        "golden-bits",
        "ten scenes by every method after 300 steps have the same bits in every process",
        0.0,
        "runs",
        golden_bits,
        show=show_golden,
    ),
    Case("cold-bits", "kernels compiled anew give the same bits", 0.0, "processes", cold_bits, slow=True),
    Case(
        "batch-bits",
        "many worlds in one launch = the same worlds alone, bit for bit, by every method",
        0.0,
        "worlds",
        batch_bits,
    ),
    Case(
        "compiled-bits",
        "compiled steps have the same bits at once, one by one, from snapshots and in another process",
        0.0,
        "runs",
        compiled_bits,
    ),
    Case("step-bits", "step(n) = n times step, bit for bit", 0.0, "scenes", step_bits),
    Case("snapshot-bits", "snapshot, restore, continue = continue, bit for bit", 0.0, "scenes", snapshot_bits),
]


def main() -> None:
    """Keep the golden ends of this machine."""
    kept = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
    kept[machine_key()] = golden_ends()
    GOLDEN.write_text(json.dumps(kept) + "\n", encoding="utf-8")
    print(f"kept {len(kept[machine_key()])} ends for {machine_key()} in {GOLDEN}")


if __name__ == "__main__":
    main()
