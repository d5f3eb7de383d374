"""A linkage that is fitted to a drawn curve, in a process of its own: `python -m impulsar.studio.curve_worker`.

Reads {"model": ..., "wanted": CurveRequest} and writes a CurveDesign a line. Who has seen enough ends the process.
"""

import json
import sys
import time as wall
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import edits
from ..author.errors import ModelError
from ..author.model import Model
from ..io import edit_to_json, model_from_json
from ..optimise import Design, fit_curve
from ..optimise.linkage import Linkage
from ..optimise.pivots import pivots
from . import analysis_messages as ms
from .wire import read_request, to_text

BETWEEN = 0.15  # wall time of designs that are shown [s]
GOOD = 1e-3  # a drawn curve is not more exact
DESIGNS = 72  # that are tried at first
ROUNDS = 80  # evaluations of each that is improved
TURN = 36  # positions of a turn
Tell = Callable[[ms.CurveDesign], None]


def fit_drawn(model: Model, wanted: ms.CurveRequest, tell: Tell) -> None:
    """Fit a model to a curve, and tell of every better one, but of no more than can be seen."""
    model, probe, added = with_probe(model, wanted)
    points = np.array(wanted.points)
    found = pivots(model, wanted.drive, probe, wanted.ground)
    columns = ["xyz".index(axis) for axis in found.axes]
    flat = points[:, columns]
    found = pivots(model, wanted.drive, probe, wanted.ground, around=flat)
    depth = float(model.bodies[wanted.body].world_point(model.probes[probe].p_BQ)[({0, 1, 2} - set(columns)).pop()])
    last = [0.0]

    def shown(design: Design, done: bool, text: str) -> ms.CurveDesign:
        curve = np.full((len(design.curve), 3), depth)
        curve[:, columns] = design.curve
        edit: edits.Edit = found.edit(design.values)
        edit = edits.Several((*added, edit)) if added else edit
        return ms.CurveDesign(
            error=design.error,
            evaluations=design.evaluations,
            curve=curve[np.isfinite(curve).all(axis=1)].ravel().tolist(),
            edit=edit_to_json(edit),
            done=done,
            text=text,
        )

    def watch(design: Design) -> bool:
        if wall.monotonic() > last[0] + BETWEEN:
            tell(shown(design, False, ""))
            last[0] = wall.monotonic()
        return design.error < GOOD

    of = tuple(f"{probe}.position.{axis}" for axis in found.axes)
    linkage = Linkage(found.model, wanted.drive, of, found.names)
    start = linkage.start[linkage.driven]
    curve = linkage.outcomes(start + np.linspace(0.0, 2.0 * np.pi, TURN, endpoint=False))
    own = np.full((len(curve), 3), depth)
    own[:, columns] = curve
    tell(ms.CurveDesign(error=None, evaluations=0, curve=own.ravel().tolist(), text="trying designs"))
    done = fit_curve(
        *(linkage, probe, flat, wanted.drive),
        axes=found.axes,
        grashof=crank(model, wanted.drive) if wanted.whole else None,
        starts=found.designs(curve, flat, DESIGNS) if found.pins else DESIGNS,
        rounds=ROUNDS,
        watch=watch,
    )
    best = Design(done.values, done.rms, done.error, done.evaluations, done.curve)
    open_at = "" if done.closed else "; it cannot be assembled at all points"
    tell(shown(best, True, f"{100.0 * done.error:.2g} % of the curve's size off, {done.evaluations} designs{open_at}"))


def with_probe(model: Model, wanted: ms.CurveRequest) -> tuple[Model, str, tuple[edits.Edit, ...]]:
    """The model with a probe where the point is, its name, and the edit that adds it where there was none."""
    if wanted.body not in model.bodies:
        raise ModelError(f"curve: no body '{wanted.body}'")
    near = 1e-9 * (1.0 + float(np.abs(wanted.at).max()))
    for name, probe in model.probes.items():
        if probe.body == wanted.body and np.abs(probe.p_BQ - wanted.at).max() <= near:
            return model, name, ()
    name = next(name for k in range(1, len(model.probes) + 2) if (name := f"pen {k}") not in model.probes)
    at = (wanted.body, tuple(wanted.at))
    new = model.copy()
    new.probe(name, wanted.body, at=at)
    return new, name, (edits.Add("probe", name, {"body": wanted.body, "at": at}),)


def crank(model: Model, drive: str) -> tuple[str, ...] | None:
    """The hinges O, A, B, C of a four-bar from its crank on; None where the model is none."""
    hinges = [joint for joint in model.joints.values() if joint.type == "revolute"]
    if len(hinges) != 4 or len(model.joints) != 4 or len(model.bodies) != 3:
        return None
    found, body = [drive], next(b for b in (model.joints[drive].first, model.joints[drive].second) if b != "ground")
    while body != "ground" and len(found) < 4:
        ways = [joint for joint in hinges if joint.name not in found and body in (joint.first, joint.second)]
        if len(ways) != 1:
            return None
        found.append(ways[0].name)
        body = ways[0].second if ways[0].first == body else ways[0].first
    return tuple(found) if len(found) == 4 and body == "ground" else None


def main() -> None:
    """One curve."""
    lines, sys.stdout = sys.stdout, sys.stderr  # whatever prints, prints elsewhere
    given: dict[str, Any] = json.load(sys.stdin)

    def tell(design: ms.CurveDesign) -> None:
        lines.write(f"{to_text(design)}\n")
        lines.flush()

    try:
        wanted = read_request(ms.CurveRequest, "curve", json.dumps(given["wanted"]).encode())
        fit_drawn(model_from_json(given["model"]), wanted, tell)
    except ModelError as error:
        tell(ms.CurveDesign(error=None, evaluations=0, done=True, text=str(error)))


if __name__ == "__main__":
    main()
