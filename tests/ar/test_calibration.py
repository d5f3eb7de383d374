"""Collimation and self-calibration: laws, figures, and what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

from impulsar.ar.calibration import (
    Collimation,
    camera_from_tracker,
    collimate,
    cube_corners,
    load_collimation,
    tip_offset,
)
from impulsar.ar.pose import turn
from impulsar.ar.self_calibration import FREE, Touches, self_calibrate
from impulsar.ar.trackers.kinematics import EXAMPLE, tips
from impulsar.author.errors import FileError, ModelError
from impulsar.validate.digitizer_cases import (
    BOUNDS,
    CENTRE,
    CORNER,
    DRAWS,
    attitudes_at,
    calibrated,
    draws,
    first_axis_frame,
    judge,
    touch_cubes,
    with_errors,
)


def somewhere(seed=0):
    random = np.random.default_rng(seed)
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = turn(random.normal(size=3)), random.uniform(-1, 1, 3)
    return X


@pytest.mark.parametrize("method", ["kabsch", "qr"])
@pytest.mark.parametrize("which", [[0, 1, 2, 4], range(8)])
def test_exact_picks_give_the_motion(method, which):
    """Four points that are not in a plane are enough."""
    points, X_TW = cube_corners()[list(which)], somewhere()
    found = collimate(points, points @ X_TW[:3, :3].T + X_TW[:3, 3], method)
    np.testing.assert_allclose(found.X_WT @ X_TW, np.eye(4), atol=1e-13)
    assert found.rms < 1e-14
    X_KW = somewhere(1)
    np.testing.assert_allclose(camera_from_tracker(X_KW, found) @ X_TW, X_KW, atol=1e-13)


def test_kabsch_is_the_least_of_all():
    """No small motion beside it has a smaller sum of squares; the paper's QR has a larger one."""
    random, points = np.random.default_rng(3), cube_corners()
    picks = points + random.normal(0, 0.5e-3, points.shape)
    best, paper = collimate(points, picks), collimate(points, picks, "qr")
    least = np.sum(best.residuals**2)
    assert np.sum(paper.residuals**2) > least
    for _ in range(100):
        X = best.X_WT.copy()
        X[:3, :3] = turn(random.normal(0, 1e-3, 3)) @ X[:3, :3]
        X[:3, 3] += random.normal(0, 1e-4, 3)
        assert np.sum((picks @ X[:3, :3].T + X[:3, 3] - points) ** 2) > least


def test_collimation_by_noisy_picks():
    """Theory: the centre is off by σ √(3/8) = 0.122 mm rms, corners by σ √(6/8) = 0.173 mm."""
    centre, corner = draws("kabsch", DRAWS)
    assert centre < CENTRE and corner < CORNER
    assert centre == pytest.approx(0.2e-3 * np.sqrt(3 / 8), rel=0.05)
    assert corner == pytest.approx(0.2e-3 * np.sqrt(6 / 8), rel=0.05)
    assert draws("qr", DRAWS)[1] > corner


def test_picks_that_say_too_little_are_refused():
    cube = cube_corners()
    for points, told in (
        (cube[:3], "3 picks, expected at least 4"),
        (cube[[0, 1, 2, 3]], "lie in a plane; touch at least one above or below"),
        (np.outer(np.arange(5), (0.01, 0.02, 0.03)), "lie on a line"),
        (cube[[0, 1, 4, 4, 4]], "only 3 of the points differ"),
    ):
        with pytest.raises(ModelError, match=told):
            collimate(points, points)
    with pytest.raises(ModelError, match="only 3 of the picks differ"):
        collimate(cube[[0, 1, 2, 4]], cube[[0, 1, 1, 4]] + 1e-4)
    with pytest.raises(ModelError, match="not finite"):
        collimate(cube, np.full((8, 3), np.nan))
    with pytest.raises(ModelError, match="picks for 8 points"):
        collimate(cube, cube[:7])
    with pytest.raises(ModelError, match="no method named 'svd'"):
        collimate(cube, cube, "svd")


def test_wrong_order_and_mirror_images_are_refused():
    cube = cube_corners()
    with pytest.raises(ModelError, match="were the points touched in their order"):
        collimate(cube, cube[[1, 0, 2, 3, 4, 5, 6, 7]])
    with pytest.raises(ModelError, match="mirror image"):
        collimate(cube, cube * (1, 1, -1), "qr")
    with pytest.raises(ModelError, match="mm from where it should be"):
        collimate(cube, cube * (1, 1, -1))


def test_collimation_is_kept_and_checked(tmp_path):
    """Saved and reused bit for bit; a known point tells whether it still holds."""
    cube, X_TW = cube_corners(), somewhere()
    found = collimate(cube, cube @ X_TW[:3, :3].T + X_TW[:3, 3])
    found.save(tmp_path / "arm.json")
    again = load_collimation(tmp_path / "arm.json")
    np.testing.assert_array_equal(again.X_WT, found.X_WT)
    touched = cube[5] @ X_TW[:3, :3].T + X_TW[:3, 3]
    assert again.check(cube[5], touched) < 1e-12
    with pytest.raises(ModelError, match=r"is 2\.00 mm off, more than 1 mm; tracker or marker were moved"):
        again.check(cube[5], touched + np.array([0, 0.002, 0]))
    data = json.loads((tmp_path / "arm.json").read_text())
    data["X_WT"][0][0] += 1e-3
    (tmp_path / "arm.json").write_text(json.dumps(data))
    with pytest.raises(FileError, match="is no rigid motion"):
        load_collimation(tmp_path / "arm.json")


def test_tip_of_a_wand():
    """Tilted about its tip: the tip's place in the marker's frame; hardly tilted, it is refused."""
    random, p_MS, p_RS = np.random.default_rng(0), np.array([0.01, -0.12, 0.02]), np.array([0.3, 0.1, 0.0])

    def poses(tilt):
        for _ in range(12):
            X = np.eye(4)
            X[:3, :3] = turn(random.uniform(-tilt, tilt, 3))
            X[:3, 3] = p_RS - X[:3, :3] @ p_MS
            yield X

    found, rms = tip_offset(list(poses(0.6)))
    np.testing.assert_allclose(found, p_MS, atol=1e-12)
    assert rms < 1e-12
    with pytest.raises(ModelError, match="hardly tilted"):
        tip_offset(list(poses(0.02)))
    with pytest.raises(ModelError, match="3 poses"):
        tip_offset(list(poses(0.6))[:3])


# the arm itself ---------------------------------------------------------------------------------------


def test_self_calibration_is_exact_without_quantisation():
    """Encoders of a million counts a turn: what the touches tell is the true arm, all over its sphere."""
    random = np.random.default_rng(1)
    true = first_axis_frame(with_errors(random, 10_000_000))
    start = replace(EXAMPLE, counts=true.counts)
    found = self_calibrate(start, touch_cubes(random, true, 5, 3))
    assert judge(start, true, random).rms > 0.2e-3
    assert judge(found.table, true, random).worst < 2e-6
    assert found.after < 1e-6 < found.before


def test_first_row_is_the_choice_of_the_frame():
    """Errors of the base's row move all tips as one rigid body: no touch can tell them."""
    random = np.random.default_rng(2)
    true = with_errors(random, 12_000)
    low, high = np.array(true.limits).T
    angles = random.uniform(low, high, (50, 5))
    ours, theirs = tips(first_axis_frame(true).array, angles), tips(true.array, angles)
    a, b = ours - ours.mean(axis=0), theirs - theirs.mean(axis=0)
    np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-14)
    assert (0, 0) not in FREE and (5, 3) not in FREE


@pytest.mark.parametrize("counts", BOUNDS)
def test_tip_after_self_calibration(counts):
    rms, worst = BOUNDS[counts]
    before, after = calibrated(0, counts)
    assert before.rms > 0.2e-3
    assert after.rms < rms and after.worst < worst


@pytest.mark.study
@pytest.mark.parametrize("counts", BOUNDS)
@pytest.mark.parametrize("seed", range(1, 12))
def test_tip_after_self_calibration_in_full(seed, counts):
    rms, worst = BOUNDS[counts]
    before, after = calibrated(seed, counts)
    assert before.rms > 0.2e-3 and after.rms < rms and after.worst < worst


def test_touches_of_one_point_help_and_do_not_suffice():
    """A point in many attitudes and one cube, which gives the scale; a point alone leaves it open."""
    random = np.random.default_rng(4)
    true = first_axis_frame(with_errors(random, 1_000_000))
    place = np.tile([0.3, 0.1, 0.1], (60, 1))
    other = np.tile([-0.2, 0.3, 0.4], (60, 1))
    points = [Touches(true.angles(true.encode(attitudes_at(random, true, at)))) for at in (place, other)]
    with pytest.raises(ModelError, match="no known distance, so the scale is open"):
        self_calibrate(EXAMPLE, points)
    start = replace(EXAMPLE, counts=true.counts)
    found = self_calibrate(start, [*points, *touch_cubes(random, true, 1, 8)])
    assert judge(found.table, true, random).rms < 0.1 * judge(start, true, random).rms


def test_too_few_touches_are_refused():
    random = np.random.default_rng(5)
    cubes = touch_cubes(random, EXAMPLE, 1, 1)
    with pytest.raises(ModelError, match="8 touches give 24 equations for 25 unknowns"):
        self_calibrate(EXAMPLE, cubes)
    same = Touches(np.repeat(cubes[0].angles[:3], 20, axis=0), np.repeat(cubes[0].points[:3], 20, axis=0))
    with pytest.raises(ModelError, match="fewer than four corners"):
        self_calibrate(EXAMPLE, [same])


def test_what_is_not_told_is_left_alone():
    """With the fifth joint held, its row and the stylus's are one: fewer combinations are changed, and none wildly."""
    random = np.random.default_rng(6)
    true = first_axis_frame(with_errors(random, 12_000))
    low, high = np.array(true.limits).T
    angles = random.uniform(low, high, (200, 5))
    held = angles * (1, 1, 1, 1, 0) + np.array([0, 0, 0, 0, 0.5])
    ranks = []
    for each in (held, angles):
        found = self_calibrate(EXAMPLE, [Touches(true.angles(true.encode(each)), tips(true.array, each))])
        ranks.append(found.rank)
        assert np.abs(found.table.array - EXAMPLE.array)[:, [1, 2]].max() < 3e-3
    assert ranks[0] < ranks[1] < found.parameters


def test_collimation_type():
    assert Collimation(np.eye(4), np.zeros(8), "kabsch").to_world(np.ones(3)) == pytest.approx(np.ones(3))
