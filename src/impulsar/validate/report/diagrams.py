"""Work-precision diagrams: every method of Impulsar beside peers, and who is fastest at which error."""

from collections.abc import Callable, Sequence
from typing import Any

from ...results import COLOURS, INK, legend, new_figure, style
from .page import Found, Say, listed, number, picture
from .work import FINE, JUDGED, OURS, PROBLEMS, Contender, Curve, Problem, costs, hull, judgement, ours, reference
from .work import measure as measure_one

QUICK = ("four-bar", "slider-crank")
JUDGED_ON = ("four-bar", "slider-crank", "peaucellier", "cross-lift", "ten-pendula")
MARKS = {OURS: "o-", "Exudyn": "s--", "MuJoCo": "^:", "Pinocchio + SciPy": "D-."}
STRICT = tuple(10.0 ** (-k / 2) for k in range(10, 19))  # errors from 1e-5 to 1e-9 at which the aim is judged [m]
THIRD = 1 / 3  # of Exudyn's cost, the aim


def measure(
    peers: Callable[[Problem], list[Contender]], quick: bool, say: Say, problems: Sequence[Problem] | None = None
) -> Found:
    """All problems, a quick report two; a figure and a sentence for each, and one on all."""
    problems = problems or [problem for problem in PROBLEMS if not quick or problem.name in QUICK]
    patience = 0.05 if quick else 1.0
    data: dict[str, Any] = {}
    figures, sentences, rows = [], [], []
    settings: dict[str, str] = {}
    for problem in problems:
        truth = reference(problem)
        curves = []
        everyone: list[Contender] = [*ours(), *peers(problem)]
        for contender in everyone:
            curve = measure_one(problem, contender, truth, patience)
            say(f"    {problem.name}: {curve.title}, {len(curve.points)} settings, to {number(curve.floor)} m")
            curves.append(curve)
            settings[curve.title] = curve.settings
        verdict = judgement(curves)
        data[problem.name] = {
            "duration": problem.duration,
            "doubt": truth.doubt,
            "curves": [curve.data() for curve in curves],
            "judgement": verdict,
            "aim": aim(curves),
        }
        sentence = f"{problem.name}, {problem.duration:g} s: {told(verdict, curves)}"
        sentences.append(sentence)
        figures.append((sentence, picture(_draw(problem, curves, truth.doubt))))
        rows += [_row(problem.name, one) for one in verdict]
    summary = overall(data)
    notes = [f"{title}: {text}" for title, text in settings.items()]
    return Found([*summary, HOW], data | {"summary": summary}, figures, rows, [], notes)


HOW = (
    "Error: largest distance of a body from the reference (direct at rtol 1e-13, confirmed in maximal coordinates). "
    "Time: of the steps alone, compiled, best of a few, one thread. Peers get the mechanism in its plane, without "
    "redundant equations; Impulsar computes in space, with all of them."
)


def aim(curves: list[Curve]) -> dict[str, Any]:
    """Below FINE: whether Impulsar is the fastest at every error that anyone reaches, and its cost over Exudyn's."""
    fastest, ratios = True, []
    for error in STRICT:
        found = costs(curves, error)
        if not found:
            continue
        mine = found.get(OURS, (float("inf"), ""))[0]
        fastest = fastest and mine <= min(cost for cost, _ in found.values())
        if "Exudyn" in found:
            ratios.append(mine / found["Exudyn"][0])
    return {"fastest": fastest, "of_exudyn": max(ratios) if ratios else None}


def told(verdict: list[dict], curves: list[Curve]) -> str:
    """Who is fastest at which error, and who does not come near."""
    parts = []
    for row in verdict:
        ratio = row.get("ratio", {})
        against = [f"{number(1 / value)} times as long by {name}" for name, value in ratio.items() if value < 1]
        ahead = [f"{name} needs {number(1 / value)} of it" for name, value in ratio.items() if value >= 1]
        text = f"at {row['error']:.0e} m {row['fastest']} ({row['by']}) is fastest"
        if row["fastest"] == OURS:
            text += f" with {number(1e3 * row['costs'][OURS])} ms" + (f", {listed(against)}" if against else "")
        elif OURS in row["costs"]:
            text += f"; Impulsar needs {number(1e3 * row['costs'][OURS])} ms, {listed(ahead)}"
        parts.append(text)
    floors = [f"{curve.title} {curve.note}" for curve in curves if curve.note.startswith("does not come nearer")]
    missing = [curve.title for curve in curves if not curve.points]
    parts += floors + ([f"{listed(missing)} did not follow the motion at any setting"] if missing else [])
    return "; ".join(parts) + "."


def overall(data: dict[str, Any]) -> list[str]:
    """How often Impulsar is the fastest below FINE, how it stands to Exudyn, and where peers are ahead."""
    judged = [name for name in data if name in JUDGED_ON] or list(data)
    first = [name for name in judged if data[name]["aim"]["fastest"]]
    said = [
        f"Impulsar needs the least time at every error from {FINE:g} to {STRICT[-1]:g} m on {len(first)} of "
        f"{len(judged)} mechanisms ({listed(first)})."
    ]
    ratios = {name: data[name]["aim"]["of_exudyn"] for name in judged if data[name]["aim"]["of_exudyn"] is not None}
    if ratios:
        within = [name for name, ratio in ratios.items() if ratio <= THIRD]
        worst = max(ratios, key=lambda name: ratios[name])
        said.append(
            f"There it needs at most a third of Exudyn's time on {len(within)} of {len(ratios)}; at worst "
            f"{number(ratios[worst])} of it, on {worst}."
        )
    ahead = [
        f"{row['fastest']} at {row['error']:.0e} m on {name}"
        for name in data
        for row in data[name]["judgement"]
        if row["fastest"] != OURS
    ]
    said.append(f"Ahead of Impulsar: {listed(ahead)}." if ahead else "No peer is ahead at any error judged.")
    return said


def _row(name: str, verdict: dict) -> dict[str, Any]:
    row: dict[str, Any] = {"mechanism": name, "error [m]": verdict["error"], "fastest": verdict["fastest"]}
    row |= {f"{program} [ms]": 1e3 * cost for program, cost in verdict["costs"].items()}
    exudyn = verdict.get("ratio", {}).get("Exudyn")
    return row | ({"Impulsar over Exudyn": exudyn} if exudyn is not None else {})


def _draw(problem: Problem, curves: list[Curve], doubt: float):
    """Cost over error, every method and peer."""
    figure = new_figure(9.0, 6.0)
    ax = figure.subplots()
    own = 0
    for curve in curves:
        if not curve.points:
            continue
        front = sorted(curve.points, key=lambda point: point.error)
        colour = COLOURS[own % len(COLOURS)] if curve.name == OURS else _SHADES[curve.name]
        own += curve.name == OURS
        width = 1.8 if curve.name == OURS else 1.2
        shade = 1.0 if curve.name == OURS else _fade(curve, curves)
        ax.plot(
            [p.error for p in front], [p.seconds for p in front], MARKS.get(curve.name, "x-"), color=colour, ms=4,
            linewidth=width, alpha=shade, label=curve.title,
        )  # fmt: skip
    ax.axvspan(1e-16, 3 * doubt, color="#eceff1", zorder=0)
    ax.set_xscale("log")
    ax.set_yscale("log")
    least = min((p.error for c in curves for p in c.points), default=1e-12)
    ax.set_xlim(1.0, least / 3)
    for error in JUDGED:
        ax.axvline(error, color="#c3ccd3", linewidth=0.8, zorder=0)
    style(ax, "time of the steps [s]")
    ax.set_xlabel("largest error of a body's place [m]; grey: within the reference's doubt")
    legend(ax, 3)
    figure.suptitle(f"{problem.name}, {problem.duration:g} s", color=INK, x=0.01, ha="left")
    return figure


_SHADES = {"Exudyn": "#333333", "MuJoCo": "#7a5c00", "Pinocchio + SciPy": "#8a2be2"}


def _fade(curve: Curve, curves: list[Curve]) -> float:
    """Integrators of one peer are told apart by their strength."""
    same = [other.variant for other in curves if other.name == curve.name]
    return 1.0 - 0.55 * same.index(curve.variant) / max(1, len(same) - 1)


__all__ = ["aim", "hull", "measure", "overall", "told"]
