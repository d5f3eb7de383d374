"""Benchmarks: speed beside a peer, in one run on one machine."""

import json as js
import sys
from collections.abc import Callable

from ..author.errors import ModelError

SUITES: dict[str, str] = {
    "chain": "time per step of a chain of hinged links, beside MuJoCo",
    "loops": "closed loops at fixed steps, beside MuJoCo's Newton solver",
    "drag": "ten pendula dragged and released by `direct`",
    "batch": "world-steps per second of many copies of one mechanism",
    "host": "what a person waits for: import, first steps, edits",
    "session": "the studio on loopback: from a pointer event to the frame that contains its effect",
}


def suite_names() -> list[str]:
    """Names of the suites."""
    return list(SUITES)


def run_suite(name: str) -> list[dict]:
    """Measure one suite: rows of figures."""
    from . import batch, chain, drag, host, loops, session

    run: dict[str, Callable[[], list[dict]]] = {
        "chain": chain.run,
        "loops": loops.run,
        "drag": drag.run,
        "batch": batch.run,
        "host": host.run,
        "session": session.run,
    }
    try:
        return run[name]()
    except ModuleNotFoundError as error:
        raise ModelError(f"suite '{name}' needs {error.name}: pip install {error.name}") from error


def run_suites(names: list[str] | None, json: bool = False) -> int:
    """Run suites and print a table of each, or one JSON object. Returns the exit status."""
    for name in names or []:
        if name not in SUITES:
            raise ModelError(f"no suite {name!r}; suites are: {', '.join(SUITES)}")
    results = {}
    for name in names or SUITES:
        if not json:
            print(f"{name}: {SUITES[name]}", file=sys.stderr)
        results[name] = run_suite(name)
        if not json:
            print_table(results[name])
    if json:
        print(js.dumps(results))
    met = all(row.get("holds", True) for rows in results.values() for row in rows)
    return 0 if met else 1


def print_table(rows: list[dict]) -> None:
    """Rows of equal keys as aligned columns."""
    titles = list(rows[0])
    cells = [[_text(row[title]) for title in titles] for row in rows]
    widths = [max(len(title), *(len(row[k]) for row in cells)) for k, title in enumerate(titles)]
    for line in (titles, *cells):
        print("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
