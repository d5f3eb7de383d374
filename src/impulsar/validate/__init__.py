"""The verification cases behind `impulsar validate` and the tests: each states a law and a bound."""

import json as js
import sys
import time
from pathlib import Path
from typing import Any

from ..author.errors import ModelError
from ..plugins import load_group
from .case import Case, Outcome


def cases() -> dict[str, Case]:
    """All cases by name."""
    return {case.name: case for case in every_case()}


def every_case() -> list[Case]:
    """All cases, in the order in which they are listed: laws, then those of installed packages.

    Packages add theirs by entry points of the group `impulsar.cases`, each a list of `Case`.
    """
    from . import (
        analysis_cases,
        conservation,
        convergence,
        determinism,
        digitizer_cases,
        direct_cases,
        drag_cases,
        friction,
        grabbed_point_cases,
        identities,
        joint_matrix,
        marker_cases,
        reactions,
        simmc_study,
        singular_cases,
        stiff_cases,
        stimulus,
        table1,
        template_cases,
        trajectory,
    )

    modules = (
        identities,
        joint_matrix,
        convergence,
        trajectory,
        conservation,
        reactions,
        friction,
        table1,
        simmc_study,
        analysis_cases,
        determinism,
        direct_cases,
        singular_cases,
        stiff_cases,
        drag_cases,
        template_cases,
        marker_cases,
        digitizer_cases,
        stimulus,
        grabbed_point_cases,
    )
    found = [case for module in modules for case in module.CASES]
    for _, cases in load_group("impulsar.cases", _check_cases):
        found += cases
    return found


def _check_cases(name: str, thing: Any) -> list[Case]:
    if not isinstance(thing, list | tuple) or not all(isinstance(case, Case) for case in thing):
        raise TypeError(f"is {thing!r:.80}, expected a list of Case")
    return list(thing)


def case_names() -> list[str]:
    """Names of the cases."""
    return list(cases())


def run_case(case: Case, device: str = "cpu", report: Path | None = None) -> Outcome:
    """Measure one case."""
    start = time.perf_counter()
    figure = float(case.measure(device))
    artefact = case.draw(report) if report is not None and case.draw is not None else None
    return Outcome(case, figure, bool(figure <= case.bound), time.perf_counter() - start, artefact)


def run_cases(names: list[str] | None, json: bool = False, report: Path | None = None, device: str = "cpu") -> int:
    """Run cases (all that are not slow by default), print them, and return the exit status."""
    known = cases()
    for name in names or []:
        if name not in known:
            raise ModelError(f"no case {name!r}; `impulsar validate --list` names them")
    if report is not None:
        report.mkdir(parents=True, exist_ok=True)
    chosen = [known[name] for name in names] if names else [case for case in known.values() if not case.slow]
    outcomes = []
    for case in chosen:
        if not json:
            print(f"{case.name}: {case.law}", flush=True)
        outcome = run_case(case, device, report)
        outcomes.append(outcome)
        if not json:
            if case.show is not None:
                case.show()
            print(f"    {outcome.line}", flush=True)
    if json:
        print(js.dumps({"cases": [outcome.data() for outcome in outcomes]}))
    else:
        failed = sum(not outcome.holds for outcome in outcomes)
        print(f"{len(outcomes) - failed} hold, {failed} fell short", file=sys.stderr)
    return 0 if all(outcome.holds for outcome in outcomes) else 1
