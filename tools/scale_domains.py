"""Scaling of domains over the ranks of this job, as the table of docs/scale.md has it.

    mpiexec -n 4 python tools/scale_domains.py

Strong: the same world on 1, 2, 4, ... ranks. Weak: as many bodies for each rank. Times are processor time of the
slowest rank outside exchanges, so that they do not depend on what else runs here; messages are counted, and latencies
are the least of many calls.
"""

import json
import sys
import time

import numpy as np
from mpi4py import MPI

from impulsar.scale.domains import DomainWorld
from impulsar.scale.domains.ranks import Neighbours, Ranks
from impulsar.scale.large import chain, spheres, tree

SCENES = {
    "chain": (chain, {"dt": 2e-4, "rounds": 2}, 10),
    "tree": (tree, {"dt": 2e-4, "rounds": 2}, 10),
    "spheres": (spheres, {"dt": 1 / 240}, 24),
}


def measure(comm, scene: str, bodies: int) -> dict:
    build, options, steps = SCENES[scene]
    world = DomainWorld(build(bodies), comm=comm, **options)
    world.step(2 if scene != "spheres" else 48)  # kernels loaded; spheres have fallen onto each other
    before = world.exchanges()
    began = time.process_time()
    world.step(steps)
    taken = time.process_time() - began
    kinds = {}
    for kind, tally in world.exchanges().items():
        calls, sent, processor = (tally[k] - before.get(kind, {}).get(k, 0.0) for k in ("calls", "sent", "processor"))
        taken -= processor
        kinds[kind] = {"calls": calls / steps, "bytes": comm.allreduce(sent, MPI.MAX) / steps}
    slowest = comm.allreduce(taken, MPI.MAX) / steps
    copies = comm.allreduce(world.bench.bodies - world.bench.own, MPI.MAX)
    row = {"scene": scene, "bodies": bodies, "ranks": comm.Get_size(), "ms": 1e3 * slowest, "copies": copies}
    return row | {"exchanges": kinds}


def latencies(comm) -> list[dict]:
    """Of one exchange, and of one to all: the least of many calls [us]."""
    ranks = Ranks(comm)
    ring = Neighbours(ranks)
    ring.reach({(ranks.rank + 1) % ranks.size})
    found = []
    for size in (8, 1024, 8192, 65_536):
        part = np.zeros((size // 8, 1))
        least = {"ring": np.inf, "all": np.inf}
        for _ in range(400):
            began = time.perf_counter()
            ring.swap("ring", [part] * len(ring.others), [len(part)] * len(ring.others))
            least["ring"] = min(least["ring"], time.perf_counter() - began)
            began = time.perf_counter()
            ranks.every(part.ravel(), np.full(ranks.size, len(part)), "all")
            least["all"] = min(least["all"], time.perf_counter() - began)
        slowest = {name: 1e6 * comm.allreduce(value, MPI.MAX) for name, value in least.items()}
        found.append({"bytes": size, "ranks": ranks.size} | slowest)
    return found


def main() -> None:
    world = MPI.COMM_WORLD
    jobs = json.loads(sys.argv[1]) if len(sys.argv) > 1 else [["chain", 20_000, 0], ["spheres", 4_000, 0]]
    sizes = [size for size in (1, 2, 4, 8, 16) if size <= world.Get_size()]
    for size in sizes:
        comm = world.Split(0 if world.Get_rank() < size else 1, world.Get_rank())
        if world.Get_rank() < size:
            rows = [measure(comm, scene, total or each * size) for scene, total, each in jobs]
            rows += latencies(comm) if size > 1 else []
            if world.Get_rank() == 0:
                print("\n".join(json.dumps(row) for row in rows), flush=True)
        done = world.Ibarrier()
        while not done.Test():  # the others wait without spinning
            time.sleep(0.02)


if __name__ == "__main__":
    main()
