"""Pins of a linkage that was authored by numbers, as parameters: the same linkage, other dimensions, one edit."""

import json

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.errors import ModelError
from impulsar.optimise import Linkage, fit_curve, pivots
from impulsar.scenes import scene
from impulsar.studio import analysis_messages as ms
from impulsar.studio import curve_worker
from impulsar.studio.curve_worker import crank, fit_drawn

PEN = ("pen.position.x", "pen.position.y")


def four_bar() -> im.Model:
    model = scene("four-bar")
    model.probe("pen", "coupler", at=(0.15, 0.25, 0))
    return model


def test_pins_are_parameters_and_links_reach_from_one_to_the_other() -> None:
    """A world that is given other pins stands at its new pose: rods are as long as pins are apart, joints close, the
    coupler curve is that of the model that was fitted."""
    model = four_bar()
    found = pivots(model, "O", "pen")
    assert found.axes == "xy" and set(found.names) == {
        f"{name}_{axis}" for name in ("O", "A", "B", "C", "pen") for axis in "xy"
    }
    values = {name: found.model.parameters[name].value for name in found.names}
    values |= {"A_x": 0.03, "B_y": values["B_y"] + 0.04, "C_x": 0.27, "pen_x": 0.2}
    world = im.World(model)
    world.run(0.2)
    answer = world.apply(found.edit(values))
    assert answer.text.startswith("13 parameters are set, 13 of them new")  # with three turns of links
    new = world.model
    for body, a, b in (("crank", "O", "A"), ("coupler", "A", "B"), ("rocker", "C", "B")):
        apart = np.hypot(values[f"{b}_x"] - values[f"{a}_x"], values[f"{b}_y"] - values[f"{a}_y"])
        assert new.bodies[body].shapes[0].length == pytest.approx(apart, abs=1e-12)
        assert np.linalg.norm(new.bodies[body].orientation) == pytest.approx(1.0, abs=1e-14)
    assert world.body("coupler").position[:2] == pytest.approx(
        [(values[f"A_{axis}"] + values[f"B_{axis}"]) / 2 for axis in "xy"], abs=1e-10
    )
    assert world.step(1).position_residual < 1e-9
    angles = np.linspace(0.0, 6.0, 7)
    moved = found.model.with_parameters(**values)
    expected = Linkage(moved, "O", PEN, found.names).outcomes(angles)
    turn = new.parameters["crank_turn"].value  # what the crank's own coordinate begins at
    assert Linkage(new, "O", PEN, found.names).outcomes(angles + turn) == pytest.approx(expected, abs=1e-9)


def test_several_parameters_are_one_edit_which_goes_back() -> None:
    model = four_bar()
    world = im.World(pivots(model, "O", "pen").model)
    before = dict(world.model.parameters)
    answer = world.apply(edits.SetParameters({"A_x": 0.04, "B_x": 0.3}))
    assert world.model.parameters["B_x"].value == 0.3 and world.model.expressions["A.at.x"] == "A_x"
    world.apply(answer.inverse)
    assert {name: own.value for name, own in world.model.parameters.items()} == {
        n: own.value for n, own in before.items()
    }
    with pytest.raises(edits.EditError, match="expected them by name"):
        world.apply(edits.SetParameters({}))
    with pytest.raises(ModelError, match="no parameter named"):
        world.apply(edits.SetParameters({"A_x": "2*nothing"}))


def test_a_fit_shows_every_better_design_and_ends_when_told() -> None:
    """What watch sees is better each time; where it has seen enough, the best so far is the result."""
    found = pivots(four_bar(), "O", "pen")
    linkage = Linkage(found.model, "O", PEN, found.names)
    angles = np.linspace(0.0, 1.5, 6)
    targets = linkage.outcomes(angles) * [1.1, 0.95]
    seen = []

    def watch(design) -> bool:
        seen.append(design)
        return len(seen) == 2

    fit = fit_curve(linkage, "pen", targets, "O", at=angles, watch=watch)
    assert [one.error for one in seen] == sorted((one.error for one in seen), reverse=True)
    assert len(seen) == 2 and fit.values == seen[-1].values and fit.rms == pytest.approx(seen[-1].rms, rel=1e-6)


def test_a_drawn_curve_is_told_design_by_design(monkeypatch: pytest.MonkeyPatch) -> None:
    """An open curve near the linkage's own: each line has the edit that makes the linkage the one shown."""
    monkeypatch.setattr(curve_worker, "DESIGNS", 0)
    monkeypatch.setattr(curve_worker, "ROUNDS", 6)
    monkeypatch.setattr(curve_worker, "GOOD", 0.02)
    model = four_bar()
    linkage = Linkage(pivots(model, "O", "pen").model, "O", PEN)
    drawn = linkage.outcomes(np.linspace(0.2, 1.8, 6)) * 1.02
    wanted = ms.CurveRequest(
        drive="O", body="coupler", at=[0.01, 0.02, 0.03], points=[[*point, 0.0] for point in drawn], ground=False
    )
    lines: list[ms.CurveDesign] = []
    with pytest.raises(ModelError, match="no body"):
        fit_drawn(model, ms.CurveRequest(drive="O", body="lever", at=[0, 0, 0], points=wanted.points), lines.append)
    at = model.probes["pen"].p_BQ.tolist()
    fit_drawn(model, ms.CurveRequest(**{**vars(wanted), "at": at}), lines.append)
    last = lines[-1]
    assert lines[0].evaluations == 0 and last.done and last.error < 0.02
    assert (
        set(json.loads(json.dumps(last.edit))["values"]) >= {"A_x", "B_y", "pen_x"} and "O_x" not in last.edit["values"]
    )
    assert crank(model, "O") == ("O", "A", "B", "C") and crank(scene("five-bar"), "left motor") is None


@pytest.mark.parametrize(
    "name, drive, why", [("five-bar", "left motor", "1 freedom besides"), ("four-bar", "no", "expected a hinge")]
)
def test_what_cannot_be_fitted_says_why(name: str, drive: str, why: str) -> None:
    model = scene(name)
    probe = next(iter(model.probes))
    with pytest.raises(ModelError, match=why):
        found = pivots(model, drive, probe)
        Linkage(found.model, drive, f"{probe}.position.x", found.names)
