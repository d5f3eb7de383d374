"""The laws of `impulsar validate`: each figure over its bound."""

import base64
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...results import COLOURS, INK, new_figure, style
from ..case import Case
from .page import Found, Say, listed, number, picture

LEAST = 1e-8  # of a bound that the picture shows


def measure(names: Sequence[str] | None, folder: Path, quick: bool, say: Say) -> Found:
    """Every case, or those named; pictures of cases that draw one, into the folder and the page."""
    from .. import cases, run_case

    known = cases()
    chosen: list[Case] = [known[name] for name in names] if names else [c for c in known.values() if not c.slow]
    if quick and not names:
        chosen = [case for case in chosen if case.name in QUICK]
    outcomes, drawn = [], []
    for k, case in enumerate(chosen, 1):
        outcome = run_case(case, "cpu", folder)
        outcomes.append(outcome)
        say(f"    {k}/{len(chosen)} {case.name}: {outcome.line}")
        if outcome.artefact is not None:
            encoded = base64.b64encode(outcome.artefact.read_bytes()).decode()
            drawn.append((case.law, f"data:image/png;base64,{encoded}"))
    held = [o for o in outcomes if o.holds]
    short = [o.case.name for o in outcomes if not o.holds]
    said = f"{len(held)} of {len(outcomes)} laws hold"
    said += f"; {listed(short)} fell short." if short else "."
    scaled = [(o.figure / o.case.bound, o.case.name) for o in held if o.case.bound > 0]
    if scaled:
        share, name = max(scaled)
        said += f" Of those that hold the nearest to its bound is {name}, at {number(share)} of it."
    rows: list[dict] = [
        {"case": o.case.name, "law": o.case.law, "figure": o.figure, "bound": o.case.bound, "unit": o.case.unit}
        | {"": o.holds}
        for o in outcomes
    ]
    data = [{k: v for k, v in o.data().items() if k not in ("artefact", "seconds")} for o in outcomes]
    figures = [("How far each figure is from its bound: 1 is the bound.", picture(_draw(outcomes))), *drawn]
    return Found([said], data, figures, rows)


QUICK = (
    "aba-inverts-rnea", "crba-is-rnea", "power", "freedoms", "pendulum-period", "free-momentum", "lift-mobility",
    "lift-heights", "dead-centre", "door", "five-link-rest", "pair-order",
)  # fmt: skip


def _draw(outcomes: list):
    """Figure over bound, a bar for each case."""
    count = len(outcomes)
    figure = new_figure(9.0, 1.2 + 0.16 * count)
    ax = figure.subplots()
    share = [max(LEAST, o.figure / o.case.bound if o.case.bound else (1.0 if o.holds else 10.0)) for o in outcomes]
    colours = [COLOURS[0] if o.holds else COLOURS[1] for o in outcomes]
    places = np.arange(count)
    ax.hlines(places, LEAST, share, color=colours, linewidth=1.4)
    ax.scatter(share, places, color=colours, s=14)
    ax.axvline(1.0, color=INK, linewidth=1.0)
    ax.set_xscale("log")
    ax.set_xlim(LEAST, 20.0)
    ax.set_yticks(places, [o.case.name for o in outcomes], fontsize=7)
    ax.set_ylim(count - 0.5, -0.5)
    ax.set_xlabel("figure over bound")
    style(ax, "")
    return figure
