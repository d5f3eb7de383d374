"""Rows of figures for people: a speed stands beside its error or not at all; tables and pictures of a run of suites."""

import math
import os
import platform
import re
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

SPEED = re.compile(r"/step\b|/s$|^ratio$|^spread$|^quick$")  # columns that tell how fast something was
ERROR = re.compile(r"\b(apart|gap|overlap|moved|error|imbalance)\b")  # and how far it was off
PEERS = ("mujoco", "pybullet", "exudyn", "pin", "mujoco-warp", "newton")  # distributions
LEFT_OUT = "no error"
REFERENCES = {"gradient": "a step's or the peer's"}  # what times of a suite are over, if not the peer's


def honest(rows: Sequence[dict]) -> list[dict]:
    """The rows, speeds left out where no error that is a number stands beside them."""
    return [row if _has_error(row) else _without_speeds(row) for row in rows]


def _has_error(row: dict) -> bool:
    found = [value for name, value in row.items() if ERROR.search(name) and not SPEED.search(name)]
    return any(isinstance(value, int | float) and math.isfinite(value) for value in found)


def _without_speeds(row: dict) -> dict:
    return {name: LEFT_OUT if SPEED.search(name) else value for name, value in row.items()}


def text_of(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def markdown(rows: Sequence[dict]) -> str:
    """Rows as a table; columns that only some have are empty in the others."""
    titles = list(dict.fromkeys(name for row in rows for name in row))
    lines = [titles, ["---"] * len(titles), *([text_of(row.get(name, "")) for name in titles] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine(with_load: bool = True) -> str:
    """What it was measured on, in words."""
    peers = []
    for name in PEERS:
        try:
            peers.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    beside = f" Beside {', '.join(peers)}." if peers else ""
    told = with_load and hasattr(os, "getloadavg")
    busy = f", on which {os.getloadavg()[1]:.0f} programs wanted to run" if told else ""
    cores = f"{os.cpu_count()} cores{busy}"
    return f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}, {cores}.{beside}"


def write_report(results: dict[str, list[dict]], told: dict[str, str], folder: Path) -> list[Path]:
    """A page of all suites with their tables, and a picture of each that has ratios; what was written."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    page = [
        "# Benchmarks",
        "",
        "Written by `impulsar bench --report DIR`: engines in turns in one process, several rounds, thread time.",
        "A ratio below 1: Impulsar is faster; its spread is that of the middle half of the rounds.",
        "quick: the ratio of the quickest twentieths of both, which other programs on the machine disturb least.",
        f"A speed has its error beside it, or is left out. {machine()}",
    ]
    written = []
    for name, rows in results.items():
        page += ["", f"## {name}", f"{told[name][0].upper()}{told[name][1:]}.", "", markdown(honest(rows))]
        ratios = [row for row in honest(rows) if isinstance(row.get("ratio"), float)]
        if ratios:
            written.append(_draw(name, ratios, folder / "images" / f"bench-{name}.png"))
            page += ["", f"![Time over the peer's, and error: {name}](images/{written[-1].name})"]
    path = folder / "benchmarks.md"
    path.write_text("\n".join(page) + "\n", encoding="utf-8")
    return [path, *written]


def label_of(row: dict) -> str:
    """What a row is of: its words and counts, up to its first figure."""
    words: list[str] = []
    for name, value in row.items():
        if isinstance(value, float):
            break
        words.append(str(value) if isinstance(value, str) else f"{name} {value}")
    return ", ".join(words)


def _draw(name: str, rows: Sequence[dict], path: Path) -> Path:
    """Ratios with their spread on one side, errors on the other, both logarithmic."""
    from matplotlib.figure import Figure

    places, labels = list(range(len(rows)))[::-1], [label_of(row) for row in rows]
    width = 6.0 + 0.08 * max(map(len, labels))
    figure = Figure(figsize=(max(9.0, width), 1.2 + 0.45 * len(rows)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    left.barh(places, [row["ratio"] for row in rows], color="#3b6ea5")
    for place, row in zip(places, rows, strict=True):
        low, high = spread_of(row)
        left.plot([low, high], [place, place], color="black", linewidth=1.2)
    left.axvline(1.0, color="black", linewidth=0.8)
    over = REFERENCES.get(name, "the peer's")
    left.set(xscale="log", xlabel=f"time over {over}", yticks=places, yticklabels=labels, title=name)
    plain_ticks(left.xaxis)
    errors: dict[str, list[tuple[float, int]]] = {}
    for place, row in zip(places, rows, strict=True):
        for title, value in row.items():
            if ERROR.search(title) and not SPEED.search(title) and isinstance(value, float) and value > 0.0:
                errors.setdefault(title, []).append((value, place))
    for title, found in errors.items():
        right.plot(*zip(*found, strict=True), "o", label=title)
    right.set(xscale="log", xlabel="error")
    if errors:
        right.legend(fontsize=7)
    figure.savefig(path, dpi=110)
    return path


def plain_ticks(axis: Any) -> None:
    """Numbers at 1, 2 and 5 of each decade of a logarithmic axis, as one writes them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def spread_of(row: dict[str, Any]) -> tuple[float, float]:
    low, _, high = str(row.get("spread", "")).partition(" - ")
    return (float(low), float(high)) if high else (row["ratio"], row["ratio"])
