"""Benchmarks: speed beside a peer, in one run on one machine."""

import json as js
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from ..author.errors import ModelError
from ..validate.case import print_table
from . import record
from .tables import honest, machine, write_report

STOPPED = 130  # exit status where Ctrl-C ended it

SUITES: dict[str, str] = {
    "chain": "time per step of a chain of hinged links, beside MuJoCo",
    "loops": "closed loops at fixed steps, beside MuJoCo's Newton solver",
    "compiled": "steps compiled for one mechanism, beside MuJoCo: one world, and a batch on one core",
    "contact": "a stack, a pit of balls and a grasp, beside MuJoCo and PyBullet: time, overlap and creep",
    "modes": "closed forms of contact: evaluations per second and errors, by modes and by impulses",
    "drag": "ten pendula dragged and released by `direct`",
    "cost": "time of a chain's step over its length, by every method without a full matrix",
    "table1": "Mikhaylyuk 2017 table 1: time of a step by SIMMC and SIMGC",
    "batch": "world-steps per second of many copies of one mechanism",
    "envs": "environments in a batch, beside Gymnasium's vectors of MuJoCo's: steps per second and errors",
    "gradient": "exact gradients: error beside differences, and the adjoint's time beside a compiled step's",
    "markers": "time to find a marker and its pose in a picture, beside OpenCV's own corners",
    "start": "from nothing to the first frame, kernels cached or not, and to compiled steps of 30 bodies",
    "host": "what a person waits for: import, first steps, edits, drags",
    "control": "a step with a controller in the loop, called by Python and inside the launch",
    "session": "the studio on loopback: from a pointer event to the frame that contains its effect",
}


def suite_names() -> list[str]:
    """Names of the suites."""
    return list(SUITES)


def run_suite(name: str) -> list[dict]:
    """Measure one suite, the module of that name: rows of figures."""
    return list(measured(name))


def measured(name: str) -> Iterator[dict]:
    """The rows of a suite, as they come."""
    try:
        yield from import_module(f".{name}", __name__).run()
    except ModuleNotFoundError as error:
        raise ModelError(f"suite '{name}' needs {error.name}: pip install {error.name}") from error


def run_suites(
    names: list[str] | None, json: bool = False, report: Path | None = None, keep: Path | None = None
) -> int:
    """Run suites and print a table of each, or one JSON object; report: a folder for a page with pictures; keep: a
    file to put the figures behind those of other commits.

    A speed that has no error beside it is not printed. Ctrl-C ends it with the rows that are there. Returns the exit
    status.
    """
    for name in names or []:
        if name not in SUITES:
            raise ModelError(f"no suite {name!r}; suites are: {', '.join(SUITES)}")
    if keep is not None:
        record.check(keep)
    print(machine(), file=sys.stderr)
    results: dict[str, list[dict]] = {}
    stopped = False
    for number, name in enumerate(chosen := list(names or SUITES), 1):
        print(f"{name} ({number} of {len(chosen)}): {SUITES[name]}", file=sys.stderr)
        rows, stopped = _collect(name)
        if rows:
            results[name] = honest(rows)
        if rows and not json:
            print_table(results[name])
        if stopped:
            break
    if report is not None and results:
        for path in write_report(results, SUITES, report):
            print(f"wrote {path}", file=sys.stderr)
    if keep is not None and results and not stopped:
        record.keep(results, keep)
        print(f"put the figures behind those in {keep}", file=sys.stderr)
    if json:
        print(js.dumps(results))
    met = all(row.get("holds", True) for rows in results.values() for row in rows)
    return STOPPED if stopped else 0 if met else 1


def _collect(name: str) -> tuple[list[dict], bool]:
    """The rows of a suite, and whether somebody stopped it; how many there are is told on a terminal."""
    rows: list[dict] = []
    tells, began = sys.stderr.isatty(), time.perf_counter()
    try:
        for row in measured(name):
            rows.append(row)
            if tells:
                print(f"\r{name}: {len(rows)} rows, {time.perf_counter() - began:.0f} s ", end="", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"\nstopped in suite '{name}' after {len(rows)} rows", file=sys.stderr)
        return rows, True
    if tells:
        print(file=sys.stderr)
    return rows, False


def show_history(path: Path) -> int:
    """Print how ratios went from commit to commit, by a file that `keep` wrote, and draw them beside it."""
    runs = record.read(path)
    print(record.table(runs))
    print(f"wrote {record.draw(runs, path.with_suffix('.png'))}", file=sys.stderr)
    return 0
