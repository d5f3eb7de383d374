"""Wang 2011 fig. 2 and on: time per step of a chain by its number of bodies, with the constraint error of each point.

    python -m impulsar.bench.figure2 --most 1000000 --device cpu --device cuda --out docs/images/chain-steps.png

Times are of the processor on a CPU, of the wall on a GPU. `World` is of maximal coordinates (`projected`, Wang's
coordinate projection) and of generalized ones (`direct`), each of which has a thread for all of the chain.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..scale.large import LargeWorld, chain
from ..scenes import scene
from ..world.world import World

DT = 2e-4  # [s]
SMALL = (10, 25, 50, 100, 150, 200, 250)  # Wang's
LARGE = (10, 50, 250, 1_000, 10_000, 100_000, 1_000_000, 4_000_000)
SECONDS = 2.0  # of each measurement, about


def measure(world: Any, device: str) -> tuple[float, int]:
    """Seconds a step after the first ones, and of how many steps."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    world.step(2)
    began = clock()
    world.step(1)
    steps = max(2, min(1000, int(SECONDS / max(clock() - began, 1e-6))))
    began = clock()
    world.step(steps)
    return (clock() - began) / steps, steps


def points(device: str, most: int) -> Iterator[dict]:
    """One after the other, the smallest first."""
    for n in SMALL if device == "cpu" else ():
        for method, coordinates in (("projected", "maximal"), ("direct", "generalized")):
            world = World(scene("chain", n=n), method, coordinates=coordinates, dt=DT)
            seconds, steps = measure(world, device)
            told = {"what": f"World, {method}", "bodies": n, "steps": steps, "ms": 1e3 * seconds}
            yield {**told, "gap": float(world.constraint_error())}
    for n in LARGE:
        if n <= most:
            large = LargeWorld(chain(n), dt=DT, rounds=2, device=device)
            seconds, steps = measure(large, device)
            gap = large.errors()[0]
            yield {"what": f"LargeWorld, {device}", "bodies": n, "steps": steps, "ms": 1e3 * seconds, "gap": gap}


def draw(rows: list[dict], path: Path) -> None:
    """Time per step above, the largest gap below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 7), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for what in dict.fromkeys(row["what"] for row in rows):
        own = [row for row in rows if row["what"] == what]
        n = [row["bodies"] for row in own]
        above.loglog(n, [row["ms"] for row in own], "o-", label=what)
        below.loglog(n, [max(row["gap"], 1e-17) for row in own], "o-", label=what)
    above.axvspan(10, 250, alpha=0.1, label="Wang 2011 fig. 2")
    above.set_ylabel("a step [ms]")
    below.set_ylabel("constraint error [m]")
    below.set_xlabel("bodies of a chain")
    above.legend()
    for one in (above, below):
        one.grid(alpha=0.3)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=1_000_000, metavar="N", help="bodies of the longest chain")
    parser.add_argument("--device", action="append", metavar="D", help="cpu, cuda; may be given twice")
    parser.add_argument("--out", type=Path, metavar="FILE", help="picture")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="points as JSON, those of before among them")
    args = parser.parse_args()
    rows: list[dict] = json.loads(args.keep.read_text()) if args.keep and args.keep.exists() else []
    for device in args.device or ["cpu"]:
        for row in points(device, args.most):
            rows = [old for old in rows if (old["what"], old["bodies"]) != (row["what"], row["bodies"])] + [row]
            print(f"{row['what']:<24}{row['bodies']:>9}{row['ms']:>12.4g} ms{row['gap']:>10.1e} m", flush=True)
            if args.keep:
                args.keep.write_text(json.dumps(rows, indent=1))
    if args.out:
        draw(rows, args.out)


if __name__ == "__main__":
    main()
