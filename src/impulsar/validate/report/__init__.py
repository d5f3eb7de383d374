"""The report behind `impulsar validate --report`: figures computed anew, on one page that needs nothing else."""

import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from ...author.errors import ModelError
from ...author.files import write_file
from ...author.names import closest
from ...engine.machine import cpu_name
from ...version import __version__
from . import curves, diagrams, laws, mariti, projection, stabilisation
from .page import Found, Say, Section, render
from .work import Contender, Problem

NAMES = ("drift", "curves", "laws", "work-precision", "stabilisation", "projection", "mariti")


def sections(folder: Path, cases: Sequence[str] | None, peers: Callable[[Problem], list[Contender]]) -> list[Section]:
    """All sections. `folder`: of pictures that cases draw; `cases`: names of laws, by default all that are not slow;
    `peers`: of a problem."""
    return [
        Section("drift", "Drift of a driven slider-crank (Wang 2011 fig. 1)", stabilisation.drift),
        Section("curves", "Energy and drift of every method", curves.measure),
        Section("laws", "Laws", lambda quick, say: laws.measure(cases, folder, quick, say)),
        Section("work-precision", "Work and precision", lambda quick, say: diagrams.measure(peers, quick, say)),
        Section("stabilisation", "Error over α and β", stabilisation.error_map),
        Section("projection", "What projection costs, and what it does to steps", projection.measure),
        Section("mariti", "SIMMC over tolerance and speed of the hand", mariti.measure),
    ]


def write(
    folder: Path,
    quick: bool = False,
    names: Sequence[str] | None = None,
    cases: Sequence[str] | None = None,
    peers: Callable[[Problem], list[Contender]] = lambda problem: [],
    versions: dict[str, str] | None = None,
    say: Say = lambda line: None,
) -> dict[str, Any]:
    """Measure sections, write report.html and report.json into a folder, and return the numbers."""
    for name in names or ():
        if name not in NAMES:
            raise ModelError(f"no section {name!r} of the report; {closest(name, NAMES)}")
    chosen = [section for section in sections(folder, cases, peers) if names is None or section.name in names]
    folder.mkdir(parents=True, exist_ok=True)
    found: list[tuple[Section, Found]] = []
    begin = time.perf_counter()
    for k, section in enumerate(chosen, 1):
        say(f"[{k}/{len(chosen)}] {section.title}")
        found.append((section, section.measure(quick, say)))
    about = _about(quick, names, cases, versions or {}) | {"took": f"{time.perf_counter() - begin:.0f} s"}
    data = {
        "about": about,
        "sections": {
            section.name: {"sentences": what.sentences, "missing": what.missing, "settings": what.notes}
            | {"data": what.data}
            for section, what in found
        },
    }
    write_file(folder / "report.html", render(about, found).encode())
    write_file(folder / "report.json", (json.dumps(data, indent=1, ensure_ascii=False, default=float) + "\n").encode())
    return data


def _about(
    quick: bool, names: Sequence[str] | None, cases: Sequence[str] | None, versions: dict[str, str]
) -> dict[str, str]:
    """Versions, machine, settings, and the command that makes the page again; no name of a machine or a person."""
    words = ["impulsar", "validate", *(cases or ()), "--report", "DIR", *(["--quick"] if quick else [])]
    for name in names or ():
        words += ["--section", name]
    libraries = ("warp-lang", "numpy", "scipy", "matplotlib")
    return {
        "command": " ".join(words),
        "impulsar": __version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "libraries": ", ".join(f"{name} {metadata.version(name)}" for name in libraries),
        "peers": ", ".join(f"{name} {version}" for name, version in versions.items()) or "none installed",
        "processor": f"{cpu_name()}, {os.cpu_count()} cores",
        "load": f"{os.getloadavg()[0]:.1f}; times count where it is below the number of cores"
        if hasattr(os, "getloadavg")
        else "not known",
        "settings": "quick: short runs, few settings" if quick else "full",
    }


def command(args: Any, peers: Callable[[Problem], list[Contender]], versions: dict[str, str]) -> int:
    """`impulsar validate --report`: status 1 where a law fell short. Cases that are named are the only section."""

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    names = args.section or (["laws"] if args.cases else None)
    data = write(args.report, args.quick, names, args.cases or None, peers, versions, say)
    measured = data["sections"].get("laws", {}).get("data", [])
    if args.json:
        print(json.dumps({"cases": measured, "report": str(args.report / "report.html")}))
    else:
        for case in measured:
            told = "holds" if case["holds"] else "FALLS SHORT"
            print(f"{case['name']}: {case['law']}\n    {case['figure']:.3g} (bound {case['bound']:g}): {told}")
        for section in data["sections"].values():
            for line in [*section["sentences"], *(f"not available: {what}" for what in section["missing"])]:
                print(f"    {line}")
        failed = sum(not case["holds"] for case in measured)
        say(f"{len(measured) - failed} hold, {failed} fell short; wrote {args.report / 'report.html'} and report.json")
    return 0 if all(case["holds"] for case in measured) else 1
