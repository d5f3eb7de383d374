"""Stabilisation: Wang 2011 fig. 1 on the driven slider-crank, and the map of error over Baumgarte's α and β.

Φ̈ + 2 α Φ̇ + β² Φ = 0      (Wang 2011 eq. 7; α = β = 0 is not stabilised)
"""

import math
from typing import Any

import numpy as np

from ...author.errors import ModelError, StepError
from ...author.model import Model
from ...engine.methods import METHODS
from ...results import COLOURS, legend, new_figure, style
from ...scenes import scene
from ...world.world import World
from ..linkages import set_rate
from .page import Found, Say, listed, number, picture

RATE, STEP = 10.0, 1e-3  # of the crank [rad/s], of RK4 [s]
LINES: list[tuple[str, str, dict[str, Any]]] = [  # label, method, options
    ("without stabilisation", "baumgarte", {"alpha": 0.0, "beta": 0.0, "integrator": "rk4"}),
    ("baumgarte", "baumgarte", {"integrator": "rk4"}),
    ("projected", "projected", {"integrator": "rk4"}),
    ("direct", "direct", {}),
]


def driven_slider_crank(rate: float = RATE) -> Model:
    """The slider-crank with its bearing turned at a rate [rad/s], in motion from the start."""
    return set_rate(scene("slider-crank", speed=rate), "bearing", rate)


def made(name: str, options: dict[str, Any]) -> Any:
    """A method with options, or None where it is not there or knows none of these."""
    if name not in METHODS:
        return None
    try:
        method: Any = METHODS[name]
        found = method(**options)
        found.check()
        return found
    except (TypeError, ValueError, ModelError):
        return None


def drift(quick: bool, say: Say) -> Found:
    """Constraint error over time at h = 1e-3 s without stabilisation, by Baumgarte's, by projection."""
    duration, every = (10.0, 0.02) if quick else (100.0, 0.1)
    curves: dict[str, list[float]] = {}
    missing = []
    times = np.arange(1, round(duration / every) + 1) * every
    for label, name, options in LINES:
        method = made(name, options)
        if method is None:
            missing.append(f"method {name} ({label})")
            continue
        world = World(driven_slider_crank(), method, "maximal", dt=STEP)
        errors: list[float] = []
        try:
            for _ in times:
                world.step(round(every / STEP))
                errors.append(float(world.constraint_error()))
        except StepError:
            pass
        curves[label] = errors
        say(f"    {label}: {number(max(errors, default=math.inf))} m after {len(errors) * every:g} s")
    worst = {label: max(errors) for label, errors in curves.items()}
    opened = listed([f"{number(value)} m ({label})" for label, value in worst.items()])
    said = (
        f"Crank driven at {RATE:g} rad/s over {duration:g} s, h = {STEP:g} s, free bodies: the joints are open by at "
        f"most {opened}."
    )
    sentences = [said]
    if "without stabilisation" in curves:
        errors = curves["without stabilisation"]
        half = len(errors) // 2
        power = math.log(max(errors[-1], 1e-300) / max(errors[half - 1], 1e-300)) / math.log(len(errors) / half)
        word = f"grows with t to the power of {number(power)}" if power > 0.5 else "does not grow"
        sentences.append(f"Without stabilisation the error {word} over the second half.")
    figure = new_figure(9.0, 4.6)
    ax = figure.subplots()
    for k, (label, errors) in enumerate(curves.items()):
        ax.plot(times[: len(errors)], np.maximum(errors, 1e-17), color=COLOURS[(k + 1) % 8], linewidth=1.3, label=label)
    ax.set_yscale("log")
    ax.set_xlabel("time [s]")
    style(ax, "constraint error [m, rad]")
    legend(ax, 4)
    data = {"rate": RATE, "step": STEP, "duration": duration, "every": every, "worst": worst, "curves": curves}
    return Found(sentences, data, [(said, picture(figure))], missing=missing)


# the map ----------------------------------------------------------------------------------------------

STEPS, INTEGRATORS = (5e-4, 1e-3, 2e-3), ("rk4", "heun")
APART = 0.1  # error beyond which the motion is lost [m]


def error_map(quick: bool, say: Say) -> Found:
    """Largest place error of a slider-crank released at rest, over α and β, three steps and two integrators [m]."""
    if made("baumgarte", {"alpha": 1.0, "beta": 1.0, "integrator": "rk4"}) is None:
        return Found(["The map needs the method baumgarte."], None, missing=["method baumgarte"])
    duration, count = (0.5, 5) if quick else (2.0, 13)
    rates = np.concatenate([[0.0], 10.0 ** np.linspace(0.0, 3.5, count - 1)])
    samples = np.round(np.arange(1, 11) * duration / 10, 12)
    exact = _places(World(scene("slider-crank"), rtol=1e-12, atol=1e-12, dt=0.01), samples)
    figure = new_figure(11.0, 6.6)
    axes = figure.subplots(len(INTEGRATORS), len(STEPS), sharex=True, sharey=True)
    data: list[dict[str, Any]] = []
    best: list[dict[str, Any]] = []
    missing = []
    for row, integrator in enumerate(INTEGRATORS):
        for column, h in enumerate(STEPS):
            errors = np.full((count, count), np.nan)
            for i, alpha in enumerate(rates):
                for j, beta in enumerate(rates):
                    method = made("baumgarte", {"alpha": alpha, "beta": beta, "integrator": integrator})
                    if method is None:
                        break
                    errors[i, j] = _error(method, h, samples, exact)
            if np.isnan(errors).all():
                missing.append(f"integrator {integrator} of baumgarte, h = {h:g} s")
                continue
            say(f"    {integrator}, h = {h:g} s: best {number(float(np.nanmin(errors)))} m")
            i, j = map(int, np.unravel_index(int(np.nanargmin(errors)), errors.shape))
            found: dict[str, Any] = {
                "integrator": integrator,
                "h": h,
                "best": float(errors[i, j]),
                "alpha": float(rates[i]),
            }
            found |= {"beta": float(rates[j]), "lost": float((errors >= APART).mean()), "none": float(errors[0, 0])}
            best.append(found)
            data.append(found | {"rates": rates.tolist(), "errors": np.minimum(errors, APART).tolist()})
            shown = _draw_map(axes[row, column], rates, errors, f"{integrator}, h = {h:g} s")
    if best:
        figure.colorbar(shown, ax=axes, label="log₁₀ error [m]")
    for ax in axes[-1]:
        ax.set_xlabel("β [1/s]")
    for ax in axes[:, 0]:
        ax.set_ylabel("α [1/s]")
    places = "; ".join(
        f"{one['integrator']} at h = {one['h']:g} s {number(one['best'])} m at α = {number(one['alpha'])}, "
        f"β = {number(one['beta'])} ({number(one['none'])} m at α = β = 0, {100 * one['lost']:.0f} % of the map lost)"
        for one in best
    )
    said = f"The least error over {duration:g} s: {places}."
    return Found([said], data, [(said, picture(figure))], missing=missing)


def _places(world: World, samples: np.ndarray) -> np.ndarray:
    found = []
    for time in samples:
        world.step(max(1, round((time - world.time) / world.dt)))
        found.append([world.body(name).position for name in world.model.bodies])
    return np.array(found)


def _error(method: Any, h: float, samples: np.ndarray, exact: np.ndarray) -> float:
    try:
        places = _places(World(scene("slider-crank"), method, dt=h), samples)
    except (StepError, ModelError):
        return APART
    error = float(np.linalg.norm(places - exact, axis=-1).max())
    return min(error, APART) if math.isfinite(error) else APART


def _draw_map(ax: Any, rates: np.ndarray, errors: np.ndarray, title: str) -> Any:
    shown = ax.imshow(np.log10(errors), origin="lower", aspect="auto", cmap="viridis_r", vmin=-12, vmax=-1)
    ticks = [0, *range(1, len(rates), max(1, (len(rates) - 1) // 4))]
    ax.set_xticks(ticks, [f"{rates[k]:.0f}" for k in ticks], fontsize=8)
    ax.set_yticks(ticks, [f"{rates[k]:.0f}" for k in ticks], fontsize=8)
    ax.set_title(title, loc="left", fontsize=9)
    return shown
