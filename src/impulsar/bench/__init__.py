"""Benchmarks: speed beside a peer, in one run on one machine."""

import json as js
import sys
from importlib import import_module
from pathlib import Path

from ..author.errors import ModelError
from ..validate.case import print_table
from .tables import honest, write_report

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
    try:
        return import_module(f".{name}", __name__).run()
    except ModuleNotFoundError as error:
        raise ModelError(f"suite '{name}' needs {error.name}: pip install {error.name}") from error


def run_suites(names: list[str] | None, json: bool = False, report: Path | None = None) -> int:
    """Run suites and print a table of each, or one JSON object; report: a folder for a page with pictures.

    A speed that has no error beside it is not printed. Returns the exit status.
    """
    for name in names or []:
        if name not in SUITES:
            raise ModelError(f"no suite {name!r}; suites are: {', '.join(SUITES)}")
    results = {}
    for name in names or SUITES:
        if not json:
            print(f"{name}: {SUITES[name]}", file=sys.stderr)
        results[name] = honest(run_suite(name))
        if not json:
            print_table(results[name])
    if report is not None:
        for path in write_report(results, SUITES, report):
            print(f"wrote {path}", file=sys.stderr)
    if json:
        print(js.dumps(results))
    met = all(row.get("holds", True) for rows in results.values() for row in rows)
    return 0 if met else 1
