"""`impulsar run SCENE --domains`: one large world over the ranks of a job; rank 0 tells.

Under mpiexec this is a rank among others. `--domains N` starts so many ranks on this machine.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time as wall
import traceback
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

from ...author.errors import ModelError, StepError
from ...author.model import Model
from ...engine.large.bulk import Bulk
from ..large.command import gap_of, what_of, write_state
from ..large.world import LargeReport
from .checkpoints import full_sets
from .ranks import job
from .world import DomainWorld

GOOD, FELL_SHORT, BAD_INPUT = 0, 1, 2
NOT_FOR_DOMAINS = ("coordinates", "every", "plot")
A_CORE, LEAST_MOST = 4, 16  # ranks that may be started here: so many a core, and so many in any case
TELLS = 10  # lines of progress, and checkpoints


def run(args: argparse.Namespace, scene: Callable[[dict[str, Any]], Model], settings: dict[str, Any]) -> int:
    """One rank's share of a run, or the start of all of them."""
    for name in NOT_FOR_DOMAINS:
        if getattr(args, name) is not None:
            raise ModelError(f"--{name}: not with --domains; take it away, or run the scene without domains")
    if args.out and args.out.suffix.lower() != ".nc":
        raise ModelError(f"--out '{args.out}': the last state is NetCDF; name it '{args.out.with_suffix('.nc')}'")
    if (args.resume or args.checkpoint_every) and not args.checkpoint:
        raise ModelError("--resume and --checkpoint-every want the folder, --checkpoint DIR")
    if args.domains is not False:  # what it is without a number: under mpiexec
        return start(args)
    comm = job()
    is_first = comm.Get_rank() == 0
    watch(comm, args.checkpoint)
    try:
        return _run(comm, args, *what_of(args, scene, settings))
    except (ModelError, StepError) as error:  # the same on all ranks
        if is_first:
            print(f"impulsar: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
        comm.Barrier()  # a rank that ends with a status ends the job
        return FELL_SHORT if isinstance(error, StepError) else BAD_INPUT
    except Exception:  # of this rank alone: the others wait for it in vain
        traceback.print_exc()
        print(f"impulsar: rank {comm.Get_rank()} has failed, and ends the job", file=sys.stderr, flush=True)
        comm.Abort(FELL_SHORT)
        raise


def start(args: argparse.Namespace) -> int:
    """Ranks on this machine by mpiexec, in whose place this process waits."""
    most = max(LEAST_MOST, A_CORE * (os.cpu_count() or 1))
    if not 1 <= args.domains <= most:
        raise ModelError(
            f"--domains {args.domains}: expected how many ranks, 1 to {most} on this machine; "
            f"over several, mpiexec -n {max(args.domains, 4)} impulsar run {args.scene} --domains"
        )
    job()
    here = [str(Path(sys.executable).parent), *os.environ.get("PATH", os.defpath).split(os.pathsep)]
    mpiexec = shutil.which("mpiexec", path=os.pathsep.join(here))
    if mpiexec is None:
        raise ModelError("--domains: there is no mpiexec; pip install 'impulsar[mpi]'")
    command = [mpiexec, "-n", str(args.domains), sys.executable, "-m", "impulsar", "run", args.scene, "--domains"]
    for pair in args.set:
        command += ["--set", pair]
    for name in ("method", "device", "dt", "duration", "out", "checkpoint", "checkpoint_every"):
        if (value := getattr(args, name)) is not None:
            command += [f"--{name.replace('_', '-')}", str(value)]
    command += [f"--{name}" for name in ("resume", "json") if getattr(args, name)]
    return subprocess.run(command, env=os.environ | for_mpiexec(), check=False).returncode


def for_mpiexec() -> dict[str, str]:
    """What Open MPI has to be told to start more ranks than cores, and to let them wait without spinning."""
    told = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_mpi_yield_when_idle": "1"}
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # in a container, most often
        told |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return told


def _run(comm: Any, args: argparse.Namespace, what: Bulk | Model, dt: float, duration: float) -> int:
    chosen = {name: getattr(args, name) for name in ("method", "device") if getattr(args, name)}
    began, processor = wall.perf_counter(), wall.process_time()
    world = DomainWorld(what, dt, comm=comm, **chosen)
    is_first, steps = world.ranks.rank == 0, max(1, round(duration / dt))
    if args.resume:
        world.resume(args.checkpoint)
        _tell(is_first, f"goes on from {world.time:.6g} s, step {world.count}")
    stride = max(1, steps // TELLS)
    every = max(1, round(args.checkpoint_every / dt)) if args.checkpoint_every else stride
    _tell(is_first, f"{world.bulk.name}: {world.bodies} bodies, {world.joints} joints over {world.ranks.size} ranks")
    report = None
    while world.count < steps:
        ends = [steps, (world.count // stride + 1) * stride]
        ends += [(world.count // every + 1) * every] if args.checkpoint else []
        report = world.step(min(ends) - world.count)
        if args.checkpoint and (world.count % every == 0 or world.count == steps):
            world.save(args.checkpoint)
        if world.count % stride == 0:
            _tell(is_first, f"{world.time:.6g} of {steps * dt:.6g} s, {gap_of(world, report)}")
    _finish(world, report, args, wall.perf_counter() - began, wall.process_time() - processor)
    return GOOD


def _tell(is_first: bool, line: str) -> None:
    if is_first:
        print(f"impulsar: {line}", file=sys.stderr, flush=True)


def _finish(
    world: DomainWorld, report: LargeReport | None, args: argparse.Namespace, seconds: float, processor: float
) -> None:
    """Sums of all ranks; rank 0 tells them, and writes the last state."""
    energy, momentum = world.energy(), world.momentum()
    processors = world.ranks.comm.gather((len(world.numbers), processor, world.exchanges()))
    state = world.gather() if args.out else None
    trouble = ""
    if state is not None:
        try:
            write_state(args.out, world, state, ranks=world.ranks.size)
        except (ModelError, OSError) as error:
            trouble = str(error)
    if processors is not None:
        own = [one[0] for one in processors]
        summary = {
            "model": world.bulk.name, "ranks": world.ranks.size, "bodies": world.bodies, "joints": world.joints,
            "bodies_of_ranks": own, "dt": world.dt, "steps": world.count, "simulated": world.time, "seconds": seconds,
            "processor_seconds": [one[1] for one in processors], "energy": energy, "momentum": momentum.tolist(),
            "position_error": report.position_error if report else None,
            "velocity_error": report.velocity_error if report else None,
            "contacts": report.contacts if report else 0, "overlap": report.overlap if report else 0.0,
            "exchanges": {kind: _mean([one[2][kind] for one in processors]) for kind in processors[0][2]},
        }  # fmt: skip
        print(json.dumps(summary) if args.json else _shown(summary, report, world), flush=True)
    world.ranks.agree(trouble, ModelError)


def _mean(tallies: list[dict[str, float]]) -> dict[str, float]:
    return {name: sum(one[name] for one in tallies) / len(tallies) for name in tallies[0]}


def _shown(summary: dict[str, Any], report: LargeReport | None, world: DomainWorld) -> str:
    s, own = summary, summary["bodies_of_ranks"]
    lines = [
        f"{s['model']}: {s['simulated']:g} s in {s['steps']} steps over {s['ranks']} ranks, dt = {s['dt']:g} s",
        f"{s['seconds']:.3g} s of wall time, {sum(s['processor_seconds']):.3g} s of processor time",
        f"  bodies of a rank {min(own)} to {max(own)}, of all {s['bodies']}; joints {s['joints']}",
        *(f"  {name} {value:.9g} J" for name, value in s["energy"].items()),
        f"  momentum {', '.join(f'{value:.6g}' for value in s['momentum'])} kg m/s",
    ]
    if report:
        lines.append(f"  {gap_of(world, report)}")
    for kind, tally in s["exchanges"].items():
        mean = tally["sent"] / max(1, tally["calls"])
        lines.append(f"  exchange of {kind}: {tally['calls']:.0f} of {mean:.0f} B a rank, {tally['seconds']:.3g} s")
    return "\n".join(lines)


# the end of a job ---------------------------------------------------------------------------------


def watch(comm: Any, folder: Path | None) -> None:
    """Where mpiexec ends the job, because a rank has died for one, the lowest rank left on each machine says so."""
    ranks = comm.allgather((socket.gethostname(), os.getpid()))
    here = [pid for host, pid in ranks[: comm.Get_rank()] if host == socket.gethostname()]
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.signal(signal.SIGTERM, lambda *_: None)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)

    def wait() -> None:
        while os.read(read, 1)[0] != signal.SIGTERM:
            pass
        if not any(_lives(pid) for pid in here):
            cure = "give --checkpoint DIR to go on from there the next time"
            if folder is not None:
                found = full_sets(folder)
                last = f"the last full checkpoint is '{found[-1].name}'" if found else "there is no full checkpoint"
                cure = f"{last}; start it again with --resume" if found else f"{last} yet; start it again"
            print(f"impulsar: a rank has died, or the job was ended; {cure}", file=sys.stderr, flush=True)
        os._exit(128 + signal.SIGTERM)

    Thread(target=wait, daemon=True, name="end of the job").start()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
