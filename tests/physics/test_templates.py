"""Templates: figures that docs/scenes.md states of them; their laws are cases of `impulsar validate`."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.scenes import SCENES, five_bar, gear_train, jansen_leg, six_bar, stewart_platform, walker
from impulsar.scenes.suspension_corner import POINTS
from impulsar.validate.template_cases import camber, corner


def test_camber_and_track_of_the_corner():
    """-2.2° and +1.1°, +5 and -30 mm at ± 0.10 m."""
    half = POINTS["wheel"][1]
    for travel, degrees, millimetres in ((0.1, -2.2, 5), (-0.1, 1.1, -30)):
        hub, axis = corner(travel)
        assert math.degrees(camber(axis)) == pytest.approx(degrees, abs=0.06)
        assert 1000 * (hub[1] - half) == pytest.approx(millimetres, abs=1)


def test_roll_centre_of_the_corner():
    """The line from the wheel's foot to where the arms meet, at the middle of the car, at 0.177 m.

    Against the running model: the foot moves across that line.
    """
    (y1, z1), (y2, z2) = POINTS["lower fore"][1:], POINTS["lower ball"][1:]
    (y3, z3), (y4, z4) = POINTS["upper fore"][1:], POINTS["upper ball"][1:]
    slopes = (z2 - z1) / (y2 - y1), (z4 - z3) / (y4 - y3)
    y = (z3 - z1 + slopes[0] * y1 - slopes[1] * y3) / (slopes[0] - slopes[1])
    z, half = z1 + slopes[0] * (y - y1), POINTS["wheel"][1]
    height = z / (half - y) * half
    assert height == pytest.approx(0.177, abs=0.0006)
    world = im.World(im.scene("suspension-corner", rig="travel"), dt=1e-4)
    world.step(1)
    knuckle = world.body("knuckle")
    arm = np.array([0.0, half, 0.0]) - knuckle.position
    _, vy, vz = knuckle.velocity + np.cross(knuckle.angular_velocity, arm)
    assert half * vy / vz == pytest.approx(height, abs=1e-3)  # bump steer turns the foot a little, too


def test_the_ram_goes_back_in_half_the_time():
    angles = np.linspace(0, 2 * math.pi, 36001)
    moves = np.diff([six_bar.ram(angle)[0] for angle in angles])
    assert (moves < 0).mean() == pytest.approx(2 / 3, abs=1e-4)


def test_figures_of_the_robots():
    assert five_bar.tip(math.pi / 2, math.pi / 2) == pytest.approx((0, 0.157963), abs=1e-6)
    up = np.array([0, 0, stewart_platform.HEIGHT])
    lengths = np.linalg.norm(stewart_platform.heads() + up - stewart_platform.feet(), axis=1)
    assert lengths == pytest.approx(0.559184, abs=1e-6)


def test_a_toe_is_flat_for_two_fifths_of_a_turn():
    heights = np.array([walker.plan(angle)["F"][1] for angle in np.linspace(0, 2 * math.pi, 2000, endpoint=False)])
    assert (heights < heights.min() + 1).mean() == pytest.approx(0.43, abs=0.01)
    assert set(jansen_leg.build().bodies) == set(jansen_leg.PARTS)


@pytest.mark.parametrize("teeth", [8, 15, 45])
def test_teeth_are_as_thick_as_gaps_on_the_pitch_circle(teeth):
    """Where a pinion has a tooth its wheel has a gap: sides of a tooth are half a pitch apart there."""
    vertices, _ = gear_train.gear(teeth, 0.004, 0.01, 0.0)
    r, angle = np.hypot(*vertices[:, :2].T), np.arctan2(vertices[:, 1], vertices[:, 0])
    side = (vertices[:, 2] > 0) & (angle > 0) & (angle < math.pi / teeth) & (r > 1e-9)
    order = np.argsort(r[side])
    half = np.interp(0.002 * teeth, r[side][order], angle[side][order])
    assert half == pytest.approx(math.pi / (2 * teeth), rel=0.02)  # between points of the flank
    assert r.max() == pytest.approx(0.002 * teeth + 0.004)


def test_every_scene_invites_and_its_choices_are_taken():
    for name, scene in SCENES.items():
        assert scene.invite.endswith(".") and len(scene.invite) < 80, name
        for parameter, choices in scene.choices.items():
            assert scene.parameters[parameter] in choices
            for choice in choices:
                assert im.scene(name, **{parameter: choice}).bodies
        texts = {key for key, default in scene.parameters.items() if isinstance(default, str)}
        assert texts == set(scene.choices), name
