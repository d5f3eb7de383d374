"""Cams from a lift curve: the follower goes as the curve says.

An outline is a polygon of n = 360 corners on the curve: a side is ρ (2π/n)²/8 from it, ρ the radius of curvature; with
ρ below 0.09 m here that is 3.5e-6 m, and a follower is off by no more (over cos α on a flank of pressure angle α).
"""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.cams import LAWS, Lift, outline
from impulsar.edits.cams import CORNERS, pieces
from impulsar.edits.polygons import area_of
from impulsar.io import model_from_json, model_to_json

OFF = 3.5e-6  # [m]


@pytest.mark.parametrize("law", LAWS)
def test_a_lift_is_smooth_and_its_rates_are_its_derivatives(law: str) -> None:
    """From 0 to h and back; slope and bend by central differences, which err by ε/d + d² y'''."""
    lift = Lift(0.01, 1.9, 0.8, 2.3, law)
    lift.check("test")
    assert lift.value(0.0) == 0.0 and lift.value(lift.rest / 2 + 1.9 + 0.4) == pytest.approx(0.01, rel=1e-15)
    d = 1e-5
    for angle in np.linspace(0.01, 6.27, 200):
        slope = (lift.value(angle + d) - lift.value(angle - d)) / (2 * d)
        assert lift.slope(angle) == pytest.approx(slope, abs=1e-6 if law == "harmonic" else 1e-9)
    inside = [lift.rest / 2 + share * 1.9 for share in (0.1, 0.35, 0.7)]
    inside += [lift.rest / 2 + 1.9 + 0.8 + share * 2.3 for share in (0.2, 0.6, 0.9)]
    for angle in inside:
        bend = (lift.slope(angle + d) - lift.slope(angle - d)) / (2 * d)
        assert lift.bend(angle) == pytest.approx(bend, rel=1e-6)


@pytest.mark.parametrize(
    "edit",
    [
        edits.Cam("cam", base=0.04, follower="flat", speed=2 * math.pi),
        edits.Cam("cam", law="3-4-5", speed=-2 * math.pi, angle=0.3, at=(0.2, -0.1)),
        edits.Cam("cam", law="harmonic", rise=1.6, dwell=0.5, fall=2.4, speed=2 * math.pi, u=(0, 1, 0), v=(1, 0, 0)),
        edits.Cam("cam", base=0.02, lift=0.02, roller=0.004, rise=1.2, fall=1.5, speed=2 * math.pi, stiffness=2000.0),
    ],
    ids=["flat", "roller aslant, backwards", "roller in another plane", "roller on a hollow flank"],
)
def test_a_follower_goes_as_the_lift_says(edit: edits.Cam) -> None:
    """Over a whole turn. A roller leaves the polygon's corners by micrometres within a step, so that not every moment
    that is looked at has a force."""
    world = im.World(im.scene("empty"), dt=0.001)
    answer = world.apply(edit)
    assert answer.moved < 1e-15 and not answer.overlaps
    lift = Lift(edit.lift, edit.rise, edit.dwell, edit.fall, edit.law)
    steepest = max(abs(lift.slope(a)) / (edit.base + edit.roller + lift.value(a)) for a in np.linspace(0, 6.28, 500))
    highest, pressed = 0.0, 0
    for _ in range(100):
        world.step(10)
        turned, lifted = world.joint("shaft of cam").position, world.joint("guide of cam").position
        assert lifted == pytest.approx(lift.value(turned % (2 * math.pi)), abs=OFF * math.hypot(1, steepest))
        highest = max(highest, lifted)
        pressed += any(contact.force.any() for contact in world.contacts())
    assert abs(turned) == pytest.approx(2 * math.pi, abs=2 * math.pi * 0.001)  # up to speed within a step
    assert highest == pytest.approx(edit.lift, abs=OFF)
    assert pressed > 50


def test_a_cam_is_kept_in_files_and_undone() -> None:
    """It comes back from a file and from Python to the same bits, and its inverse takes all of it away."""
    world = im.World(im.scene("empty"), dt=0.001)
    answer = world.apply(edits.Cam("cam", speed=5.0, base=0.02, lift=0.02, roller=0.004, rise=1.2, fall=1.5))
    assert len(world.model.bodies["cam"].shapes) > 1
    again = model_from_json(model_to_json(world.model))
    assert model_to_json(again) == model_to_json(world.model)
    names: dict = {}
    exec(im.to_python(world.model), names)
    assert model_to_json(names["model"]) == model_to_json(world.model)
    world.apply(answer.inverse)
    assert not world.model.bodies and not world.model.joints


def test_pieces_of_a_hollow_cam_fill_it() -> None:
    """Their areas are that of the outline, and each is convex: it is its own hull."""
    ring = outline("test", Lift(0.02, 1.2, 0.8, 1.5), 0.02, 0.004, CORNERS)
    found = pieces(ring)
    assert 2 < len(found) < CORNERS / 2
    assert sum(map(area_of, found)) == pytest.approx(area_of(ring), rel=1e-12)
    for piece in found:
        hull = im.ConvexHull([(*corner, z) for corner in piece for z in (0.0, 1.0)])
        assert hull.volume == pytest.approx(area_of(piece), rel=1e-9)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (edits.Cam("cam", base=0.01, lift=0.03, follower="flat"), "not convex; give a base radius above 0.0"),
        (
            edits.Cam("cam", base=0.005, lift=0.03, rise=0.9, roller=0.03),
            "roller is 0.03 m, but its centre's path turns by",
        ),
        (edits.Cam("cam", rise=4.0), "expected at most 360°"),
        (edits.Cam("cam", rise=0.0), "rise is 0, expected an angle > 0"),
        (edits.Cam("cam", lift=-1.0), "lift is -1"),
        (edits.Cam("cam", law="parabolic"), "expected one of: cycloidal"),
        (edits.Cam("cam", follower="knife"), "expected one of: flat, roller"),
        (edits.Cam("cam", at=(1, 2, 3)), "two numbers"),  # type: ignore[arg-type]
    ],
)
def test_cams_that_cannot_be_are_refused(edit: edits.Cam, words: str) -> None:
    world = im.World(im.scene("empty"))
    with pytest.raises(edits.EditError, match=words):
        world.apply(edit)
    assert not world.model.bodies and not world.model.materials
