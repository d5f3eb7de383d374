"""Energy and drift over time, by every method in each of its coordinates, on the standard scenes."""

import math
from typing import Any

import numpy as np

from ...author.errors import ModelError, StepError
from ...engine.methods import METHODS
from ...results import COLOURS, new_figure, style
from ...scenes import scene
from ...world.world import World
from ..variants import every
from .page import Found, Say, listed, number, picture

SCENES: list[tuple[str, dict[str, Any], float]] = [  # and the nominal step [s]
    ("four-bar", {}, 0.005),
    ("slider-crank", {}, 0.005),
    ("peaucellier", {}, 0.005),
    ("cross-lift", {}, 0.005),
    ("ten-pendula", {"start": "30deg"}, 0.005),
]
LOST = 1e3  # of the reference energy: nothing is left


def measure(quick: bool, say: Say) -> Found:
    """Imbalance of the books over the reference energy, and the constraint error."""
    duration = 1.0 if quick else 5.0
    figure = new_figure(14.0, 6.6)
    axes = figure.subplots(2, len(SCENES), sharex=True, sharey="row")
    data: dict[str, Any] = {}
    for (name, parameters, h), (top, bottom) in zip(SCENES, axes.T, strict=True):
        for label, method, coordinates in every():
            found = _run(name, parameters, method, coordinates, h, duration)
            data.setdefault(label, {})[name] = found
            times, colour = (
                h * np.arange(1, len(found["imbalance"]) + 1),
                COLOURS[list(METHODS).index(method.name) % len(COLOURS)],
            )
            dashes = "--" if coordinates == "maximal" else "-"
            for ax, values in ((top, found["imbalance"]), (bottom, found["drift"])):
                ax.plot(times, np.maximum(values, 1e-17), dashes, color=colour, linewidth=1.1, label=label)
        for ax, title in ((top, name), (bottom, "")):
            ax.set_yscale("log")
            style(ax, "", title)
        bottom.set_xlabel("time [s]")
        say(f"    {name}")
    axes[0, 0].set_ylabel("imbalance of the books\nover the reference energy")
    axes[1, 0].set_ylabel("constraint error [m, rad]")
    axes[0, 0].set_ylim(1e-17, 1e2)
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=5, frameon=False)
    sentences = []
    for label, runs in data.items():
        whole = {name: run for name, run in runs.items() if not run["note"]}
        broken = [f"{name} ({run['note']})" for name, run in runs.items() if run["note"]]
        said = f"{label}: "
        if whole:
            energy = max(whole, key=lambda name: max(whole[name]["imbalance"]))
            open_ = max(whole, key=lambda name: max(whole[name]["drift"]))
            said += (
                f"books within {number(max(whole[energy]['imbalance']))} of the reference energy ({energy} the worst), "
                f"joints open by at most {number(max(whole[open_]['drift']))} ({open_})"
            )
        sentences.append(said + (f"; does not complete {listed(broken)}" if broken else "") + ".")
    setting = "Every method at its default options, explicit ones over the embedded pair"
    caption = f"{setting}, dt = {SCENES[0][2]:g} s, over {duration:g} s."
    return Found(sentences, _short(data), [(caption, picture(figure))])


def _run(name: str, parameters: dict, method: Any, coordinates: str, h: float, duration: float) -> dict[str, Any]:
    imbalance: list[float] = []
    drift: list[float] = []
    note = ""
    try:
        world = World(scene(name, **parameters), method, coordinates, dt=h)
        scale = world.model.reference_energy or 1.0
        for _ in range(round(duration / h)):
            world.step()
            off = abs(world.energy().imbalance) / scale
            if not off < LOST:
                note = f"lost at {world.time:.2f} s"
                break
            imbalance.append(off)
            drift.append(float(world.constraint_error()))
    except StepError:
        note = f"ends at {world.time:.2f} s"
    except ModelError as error:
        note = f"refused: {str(error)[:80]}"
    return {"imbalance": imbalance, "drift": drift, "note": note, "h": h}


def _short(data: dict[str, Any]) -> dict[str, Any]:
    """The curves with every fifth sample, and their largest values."""
    return {
        label: {
            name: {
                "note": run["note"],
                "h": run["h"],
                "largest_imbalance": max(run["imbalance"], default=math.nan),
                "largest_drift": max(run["drift"], default=math.nan),
                "imbalance": run["imbalance"][4::5],
                "drift": run["drift"][4::5],
            }
            for name, run in runs.items()
        }
        for label, runs in data.items()
    }
