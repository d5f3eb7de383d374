"""Figures of suites kept by commit, one line of JSON for each run, and how ratios went from commit to commit.

A machine's own speed is in no ratio, since both sides were measured in turns; figures of other machines are told apart
all the same, and drawn with other marks.
"""

import json
import os
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..author.errors import ModelError
from ..version import __version__
from .tables import honest, label_of, machine, markdown, plain_ticks, spread_of

MARKS = "os^Dv*"
MOST = 12  # lines in one picture


def commit() -> str:
    """Of the sources that are running, + where they were changed since; without git the version."""
    here = Path(__file__).parent

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=here, check=True, capture_output=True, text=True).stdout.strip()

    try:
        return git("rev-parse", "--short=10", "HEAD") + ("+" if git("status", "--porcelain", "-uno", ".") else "")
    except (OSError, subprocess.CalledProcessError):
        return __version__


def keep(results: dict[str, list[dict]], path: Path) -> None:
    """Put the figures of a run behind those that a file has."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    told = {"commit": commit(), "time": datetime.now(UTC).isoformat(timespec="seconds"), "load": load}
    line = told | {
        "machine": machine(with_load=False),
        "suites": {name: honest(rows) for name, rows in results.items()},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def check(path: Path) -> None:
    """Refuse to put anything behind what is no history; before hours are spent on it."""
    if path.exists() and path.stat().st_size:
        read(path)


def read(path: Path) -> list[dict[str, Any]]:
    """Runs in the order in which they were taken."""
    runs = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"bench: {path} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        try:
            run = json.loads(line)
            run["commit"], run["time"], run["machine"], run["suites"].items()
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ModelError(f"bench: {path}, line {number} is no run that `bench --keep` wrote") from error
        runs.append(run)
    if not runs:
        raise ModelError(f"bench: {path} has no run; put one there by `impulsar bench SUITE --keep {path}`")
    return runs


def ratios(runs: Sequence[dict]) -> dict[str, list[tuple[int, float, tuple[float, float]]]]:
    """Of every row that has one: the run's number, the ratio and its spread, by suite and row."""
    found: dict[str, list[tuple[int, float, tuple[float, float]]]] = {}
    for k, run in enumerate(runs):
        for suite, rows in run["suites"].items():
            for row in rows:
                if isinstance(row.get("ratio"), float):
                    found.setdefault(f"{suite}: {label_of(row)}", []).append((k, row["ratio"], spread_of(row)))
    return found


def table(runs: Sequence[dict]) -> str:
    """Ratios by commit, a row for each figure, and how the last compares with the one before."""
    rows = []
    for name, points in ratios(runs).items():
        row: dict[str, Any] = {"figure": name}
        row |= {_title(runs, k): ratio for k, ratio, _ in points[-6:]}
        if len(points) > 1:
            row["last / before"] = points[-1][1] / points[-2][1]
        rows.append(row)
    return markdown(rows) if rows else "no run has a ratio"


def _title(runs: Sequence[dict], k: int) -> str:
    return f"{runs[k]['commit']} {runs[k]['time'][5:16]}"


def draw(runs: Sequence[dict], path: Path) -> Path:
    """Ratios with their spreads over the runs; one line a figure, one mark a machine."""
    from matplotlib.figure import Figure

    found = list(ratios(runs).items())
    machines = list(dict.fromkeys(run["machine"] for run in runs))
    figure = Figure(figsize=(max(7.0, 2.5 + 0.5 * len(runs)), 5.0), layout="constrained")
    axes = figure.subplots()
    for name, points in found[:MOST]:
        (line,) = axes.plot([k for k, _, _ in points], [ratio for _, ratio, _ in points], linewidth=1.2, label=name)
        for k, ratio, (low, high) in points:
            mark = MARKS[machines.index(runs[k]["machine"]) % len(MARKS)]
            axes.plot([k], [ratio], mark, color=line.get_color(), markersize=5)
            axes.plot([k, k], [low, high], color=line.get_color(), linewidth=0.8)
    axes.axhline(1.0, color="black", linewidth=0.8)
    names = [f"{run['commit']}\n{run['time'][5:10]}" for run in runs]
    axes.set(yscale="log", ylabel="time over the peer's, or a step's", xticks=range(len(runs)))
    plain_ticks(axes.yaxis)
    axes.set_xticklabels(names, rotation=60, fontsize=7)
    left_out = f"; {len(found) - MOST} more in the file" if len(found) > MOST else ""
    figure.legend(
        loc="outside lower center", fontsize=7, ncols=2, title=f"one mark a machine{left_out}", title_fontsize=7
    )
    figure.savefig(path, dpi=110)
    return path
