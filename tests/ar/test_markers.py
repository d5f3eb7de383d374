"""Markers: found, their edges fitted, the right one of two poses, filtered, lost and found."""

import numpy as np
import pytest

from impulsar.ar.edges import Unbent, fit_corners, fit_line
from impulsar.ar.filters import PoseFilter
from impulsar.ar.markers import CharucoFinder, Follower, MarkerFinder, several, single
from impulsar.ar.optics import Intrinsics
from impulsar.ar.patterns import Charuco, Marker
from impulsar.ar.pose import Guess, angle_between, poses, turn
from impulsar.ar.synthetic import INK, PAPER, Renderer, Sheet, printed
from impulsar.author.errors import ModelError
from impulsar.validate.marker_cases import BOUNDS, FULL, LENS, MOST_MISSED, facing, sample, visible

pytest.importorskip("cv2")
OTHERS = {  # marker, of the picture, of the sheet
    "apriltag": (Marker(30, dictionary="apriltag_36h11"), {}, {}),
    "7x7": (Marker(3, dictionary="7x7_1000"), {}, {}),
    "original": (Marker(100, dictionary="aruco_original"), {}, {}),
    "wide border": (Marker(3, border=2), {}, {}),
    "light": (Marker(7), {"light": (0.25, -0.2)}, {}),
    "dark table": (Marker(7), {"background": 15.0}, {}),
    "white table": (Marker(7), {"background": 240.0}, {}),
    "inverted": (Marker(7), {}, {"ink": 210.0, "paper": 30.0}),
    "sharp": (Marker(7), {"blur": 0.4}, {}),
    "full range": (Marker(7), {}, {"ink": 0.0, "paper": 255.0}),
}


def test_a_line_is_where_it_is():
    """Edge of a half-plane at all slopes: off by its own standard deviation, which is a few thousandths of a pixel."""
    lens = Intrinsics(120, 90, 100.0, 100.0, 60.0, 45.0)
    unbent, off = Unbent(lens), []
    for k, slope in enumerate(np.linspace(-np.pi, np.pi, 24)):
        X = facing((0.03, -0.02, 1.0), roll=slope)
        image = Renderer(lens, seed=k).render([Sheet(np.array([[INK, PAPER]]), 10.0, 10.0)], X)
        edge = lens.project(X[:3, 3] + np.outer((-0.3, 0.3), X[:3, 1]))
        for way in (edge, edge[::-1]):
            line = fit_line(image, unbent, way[0] + 0.4, way[1] + 0.2, 3.0, 2.0)
            if line is not None:
                off += list((edge @ line.normal - line.offset) / np.sqrt(np.trace(line.covariance)))
    assert len(off) == 48  # each edge in one of both directions
    assert np.sqrt(np.mean(np.square(off))) < 1.5


def test_no_edge_is_told():
    random = np.random.default_rng(0)
    noise = random.normal(128, 3, (LENS.height, LENS.width)).astype(np.uint8)
    square = np.array([[200.0, 200.0], [300.0, 200.0], [300.0, 300.0], [200.0, 300.0]])
    assert fit_corners(noise, Unbent(LENS), square, 6) is None


@pytest.mark.parametrize("distance", BOUNDS)
def test_position_of_a_marker(distance):
    found = sample(distance, 30)
    assert found.missed <= MOST_MISSED
    assert found.errors.mean() < BOUNDS[distance]
    assert found.errors.mean() < found.opencv.mean() / 5


@pytest.mark.study
@pytest.mark.parametrize("distance", BOUNDS)
def test_position_of_a_marker_in_full(distance):
    found = sample(distance, FULL)
    assert found.missed <= MOST_MISSED and found.errors.mean() < BOUNDS[distance]


@pytest.mark.parametrize("name", OTHERS)
def test_other_markers_and_pictures(name):
    marker, scene, sheet = OTHERS[name]
    for distance in (0.4, 0.9):
        found = sample(distance, 12, marker, sheet=sheet, **scene)
        assert found.missed <= MOST_MISSED
        assert found.errors.mean() < (0.15e-3 if distance < 0.5 else 1e-3)


@pytest.mark.study
@pytest.mark.parametrize("name", OTHERS)
def test_other_markers_and_pictures_in_full(name):
    marker, scene, sheet = OTHERS[name]
    for distance, bound in BOUNDS.items():
        found = sample(distance, 100, marker, sheet=sheet, **scene)
        assert found.missed <= MOST_MISSED and found.errors.mean() < bound


def test_response_of_the_camera():
    """Pictures encoded by gamma 2.2 move blurred edges: told of it, the finder is as good as before; else it is not."""
    marker, random, renderer = Marker(7), np.random.default_rng(1), Renderer(LENS, noise=0.0)
    finders, errors = (MarkerFinder(LENS, gamma=2.2), MarkerFinder(LENS)), []
    for _ in range(8):
        X = visible(random, 0.6, marker)
        light = renderer.render([printed(marker)], X) / 255.0
        encoded = np.rint(255.0 * light ** (1 / 2.2) + random.normal(0, 2, light.shape)).clip(0, 255).astype(np.uint8)
        guesses = [single(marker).poses(finder.find(encoded, [7]))[0] for finder in finders]
        errors.append([np.linalg.norm(guess.position - X[:3, 3]) for guess in guesses])
    told, untold = np.mean(errors, axis=0)
    assert told < BOUNDS[0.6] and untold > 5 * told
    with pytest.raises(ModelError, match="gamma is 0"):
        MarkerFinder(LENS, gamma=0)


def test_small_markers():
    """Cells of three to five pixels."""
    for marker, distance in ((Marker(3, 0.04), 0.6), (Marker(3, 0.06, "apriltag_36h11"), 0.8)):
        found = sample(distance, 15, marker)
        assert found.missed < 0.1 and found.errors.mean() < 1e-3


def test_both_poses_are_kept():
    """Of a far marker both explain the corners; they differ by about twice the tilt, and one is the true one."""
    marker, X = Marker(7), facing((0.0, 0.0, 1.5), tilt=0.35)
    image = Renderer(LENS).render([printed(marker)], X)
    guesses = single(marker).poses(MarkerFinder(LENS).find(image))
    assert len(guesses) == 2 and guesses[0].chi2 <= guesses[1].chi2
    assert angle_between(guesses[0].X_KM[:3, :3], X[:3, :3]) < 0.02
    assert 0.4 < angle_between(guesses[0].X_KM[:3, :3], guesses[1].X_KM[:3, :3]) < 1.0


def test_covariance_is_that_of_the_errors():
    """Mean squared error over its covariance is 3 for a place in space; between 1 and 6, since edges have a floor."""
    marker, finder, squares = Marker(7), MarkerFinder(LENS), []
    random, renderer = np.random.default_rng(5), Renderer(LENS, seed=5)
    for _ in range(40):
        X = visible(random, 0.6, marker)
        guess = single(marker).poses(finder.find(renderer.render([printed(marker)], X)))[0]
        off = guess.position - X[:3, 3]
        squares.append(off @ np.linalg.solve(guess.covariance[:3, :3], off))
    assert 1.0 < np.mean(squares) < 6.0


def test_board_of_several_markers():
    """Three on two faces of a block: one pose, from any of them."""
    side, top = np.eye(4), np.eye(4)
    top[:3, 3] = (0.1, 0.0, 0.0)
    side[:3, :3], side[:3, 3] = turn(np.array([np.pi / 2, 0.0, 0.0])), (0.0, -0.05, -0.05)
    placed = {Marker(1, 0.06): np.eye(4), Marker(2, 0.06): top, Marker(3, 0.06): side}
    target, finder, renderer = several("block", placed), MarkerFinder(LENS), Renderer(LENS)
    X = facing((0.0, 0.0, 0.5), tilt=-0.7)
    image = renderer.render([printed(marker, pose) for marker, pose in placed.items()], X)
    sightings = finder.find(image, target.corners)
    assert [each.number for each in sightings] == [1, 2, 3]
    guesses = target.poses(sightings)
    assert len(guesses) == 1  # it is no plane
    assert np.linalg.norm(guesses[0].position - X[:3, 3]) < 0.15e-3
    two = target.poses([each for each in sightings if each.number != 3])
    assert np.linalg.norm(two[0].position - X[:3, 3]) < 0.2e-3
    assert target.poses([]) == []
    with pytest.raises(ModelError, match="several dictionaries"):
        several("block", {Marker(1): top, Marker(2, dictionary="5x5_50"): side})
    with pytest.raises(ModelError, match="there twice"):
        several("block", {Marker(1): top, Marker(1, 0.05): side})


def test_charuco_board():
    board, random = Charuco(), np.random.default_rng(2)
    finder, renderer = CharucoFinder(LENS, board), Renderer(LENS)
    for _ in range(5):
        X = facing((*random.uniform(-0.03, 0.03, 2), 0.4), random.uniform(0, 0.8), *random.uniform(-3, 3, 2))
        guesses = finder.poses(renderer.render([printed(board)], X))
        assert np.linalg.norm(guesses[0].position - X[:3, 3]) < 0.15e-3
        assert angle_between(guesses[0].X_KM[:3, :3], X[:3, :3]) < 2e-3
    assert finder.poses(np.full((480, 640), 128, np.uint8)) == []
    with pytest.raises(ModelError, match="needs the camera's intrinsics"):
        CharucoFinder(None, board).poses(np.zeros((480, 640), np.uint8))


def test_picture_of_another_camera_is_refused():
    with pytest.raises(ModelError, match="picture of 320 x 240: the camera's calibration is of 640 x 480"):
        MarkerFinder(LENS).find(np.zeros((240, 320), np.uint8))


def follow(path, seconds=2.0, rate=30.0, seed=0):
    """rms errors [m, rad] of filtered and of single poses, over the corners' noise alone: σ = 0.02 px."""
    marker, random = Marker(7), np.random.default_rng(seed)
    C = (0.02 / LENS.fx) ** 2 * np.eye(8)
    follower, off = Follower(single(marker)), []
    for k in range(int(seconds * rate)):
        X = path(k / rate)
        corners = marker.corners @ X[:3, :3].T + X[:3, 3]
        rays = corners[:, :2] / corners[:, 2:] + random.normal(0, 0.02 / LENS.fx, (4, 2))
        seen = follower.take(k / rate, poses(marker.corners, rays, C))
        pairs = ((seen.X_KM, X), (seen.measured.X_KM, X))
        off.append([[np.linalg.norm(a[:3, 3] - b[:3, 3]), angle_between(a[:3, :3], b[:3, :3])] for a, b in pairs])
    return np.sqrt(np.mean(np.square(off[10:]), axis=0))


def test_filter_averages_at_rest():
    filtered, raw = follow(lambda t: facing((0.02, 0.01, 0.5), 0.5, 0.3))
    assert (filtered < 0.5 * raw).all()


@pytest.mark.parametrize("speed", [0.3, 1.0, 3.0, 10.0, 30.0])
def test_filter_costs_nothing_in_motion(speed):
    """In a wave of 5 cm and 0.3 rad at any rate up to 5 Hz lag never exceeds what noise was taken away."""
    errors = [
        follow(
            lambda t: facing(
                (0.05 * np.sin(speed * t), 0.02, 0.5), 0.6 + 0.2 * np.cos(speed * t), 0.3, np.sin(speed * t)
            ),
            seed=seed,
        )
        for seed in range(3)
    ]
    filtered, raw = np.sqrt(np.mean(np.square(errors), axis=0))
    assert (filtered < 1.05 * raw).all()


def test_filter_follows_a_jump():
    """A marker that is suddenly elsewhere is shown there, not on the way."""
    smooth, C = PoseFilter(), np.eye(6) * 1e-9
    for k in range(60):
        X = facing((0.0 if k < 40 else 0.1, 0.0, 0.5))
        shown = smooth.update(k / 30, Guess(X, 0.0, C))
        assert abs(shown[0, 3] - X[0, 3]) < 1e-3


def two_poses(chi2_true, chi2_false):
    """A marker's true pose and its mirror image, with their χ²."""
    true, false = (
        Guess(facing((0, 0, 1.0), tilt), c, np.eye(6) * 1e-8) for tilt, c in ((0.3, chi2_true), (-0.3, chi2_false))
    )
    return sorted((true, false), key=lambda guess: guess.chi2)


def is_true(seen):
    return angle_between(seen.X_KM[:3, :3], facing((0, 0, 1.0), 0.3)[:3, :3]) < 0.1


def test_one_noisy_picture_flips_nothing():
    follower = Follower(single(Marker(7)))
    assert all(is_true(follower.take(k / 30, two_poses(1.0, 4.0))) for k in range(10))
    assert is_true(follower.take(10 / 30, two_poses(6.0, 1.0)))
    assert all(is_true(follower.take(k / 30, two_poses(1.0, 4.0))) for k in range(11, 20))


def test_wrong_start_does_not_last():
    follower = Follower(single(Marker(7)))
    assert not is_true(follower.take(0.0, two_poses(3.0, 1.0)))
    shown = [is_true(follower.take(k / 30, two_poses(1.0, 4.0))) for k in range(1, 20)]
    assert shown.index(True) < 8 and all(shown[shown.index(True) :])


def test_loss_and_recovery():
    """No pose without a marker; lost after a while, told once; found again at once, without a memory."""
    marker, finder, told = Marker(7), MarkerFinder(LENS), []
    follower = Follower(single(marker))
    follower.watch = told.append
    renderer = Renderer(LENS)
    here, there = facing((0.0, 0.0, 0.5), 0.5), facing((0.1, 0.05, 0.6), 0.5, 2.0)
    for k in range(60):
        sheets = [] if 10 <= k < 40 else [printed(marker)]
        seen = follower.update(k / 30, finder.find(renderer.render(sheets, here if k < 10 else there), [7]))
        assert (seen.X_KM is None) == (not sheets)
        if k == 40:
            assert np.linalg.norm(seen.X_KM[:3, 3] - there[:3, 3]) < 0.3e-3
    assert [each.state for each in told] == ["ok", "lost", "ok"]
    assert "marker 7 is not in the picture" in told[1].why and told[1].since < 10 / 30 + 0.3


def test_clock_set_back_begins_anew():
    follower = Follower(single(Marker(7)))
    for time in (10.0, 10.1, 3.0, 3.1):
        seen = follower.take(time, two_poses(1.0, 4.0))
        assert is_true(seen) and np.allclose(seen.X_KM[:3, 3], (0, 0, 1.0), atol=1e-6)
