"""Real tables and boxes by touching them: where they are, what is refused, and that the mechanism meets them."""

import numpy as np
import pytest

import impulsar as im
from impulsar.ar.calibration import Collimation
from impulsar.ar.obstacles import (
    CORNERS,
    PICKED,
    box_by_corners,
    edits_for,
    load_obstacles,
    plane_through,
    save_obstacles,
)
from impulsar.ar.pose import turn
from impulsar.ar.run import furnish
from impulsar.ar.show import Place
from impulsar.ar.trackers import TRACKERS
from impulsar.author.errors import FileError, ModelError
from impulsar.author.rotations import rotation_matrix
from impulsar.cli import main
from impulsar.history import History
from impulsar.studio.session import Session

from .test_ar_command import Hand

SIZE, MIDDLE, TURN = np.array([0.2, 0.12, 0.09]), np.array([0.3, -0.1, 0.045]), turn(np.array([0.02, -0.03, 0.7]))
NOISE = 0.2e-3  # an axis [m]


def corners(which=PICKED) -> np.ndarray:
    return (SIZE * CORNERS[list(which)]) @ TURN.T + MIDDLE


@pytest.mark.parametrize("which", [PICKED, range(8), (0, 1, 2, 5, 7)])
def test_box_is_where_its_corners_were_touched(which) -> None:
    found = box_by_corners("crate", corners(which), which)
    np.testing.assert_allclose(found.position, MIDDLE, atol=1e-12)
    np.testing.assert_allclose(found.size, SIZE, atol=1e-12)
    np.testing.assert_allclose(rotation_matrix(found.orientation), TURN, atol=1e-12)
    assert found.residuals.max() < 1e-12


def test_noise_of_picks_is_told_and_averaged() -> None:
    """Eight corners, 24 numbers, and 9 unknown: Σ r² has the mean 15 σ², and the middle an rms of σ √(3/8)."""
    random, rms, off = np.random.default_rng(1), [], []
    for _ in range(200):
        found = box_by_corners("crate", corners(range(8)) + NOISE * random.normal(size=(8, 3)), range(8))
        rms.append(found.rms**2)
        off.append(np.sum((found.position - MIDDLE) ** 2))
    spread = np.sqrt(2 / (200 * 15))  # of the mean of a χ² with 15 degrees, 200 times; three times that is allowed
    assert np.mean(rms) * 8 / NOISE**2 == pytest.approx(15, rel=3 * spread)
    assert np.mean(off) / NOISE**2 == pytest.approx(3 / 8, rel=3 * np.sqrt(2 / (200 * 3)))


def test_plane_by_points_of_its_top() -> None:
    """The normal is up, whichever way round the points were touched; the distance is that of the middle."""
    points = np.array([(0, 0, 0), (0.4, 0, 0), (0.4, 0.3, 0), (0, 0.3, 0)]) @ TURN.T + MIDDLE
    for order in ((0, 1, 2, 3), (3, 2, 1, 0)):
        found = plane_through("table", points[list(order)])
        np.testing.assert_allclose(rotation_matrix(found.orientation)[:, 2], TURN[:, 2], atol=1e-12)
        assert abs((MIDDLE - found.position) @ TURN[:, 2]) < 1e-12


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: plane_through("t", np.array([(0, 0, 0), (1, 0, 0)])), "2 picks, expected at least 3"),
        (lambda: plane_through("t", np.array([(0, 0, 0), (1, 0, 0), (2, 1e-3, 0)])), "on a line"),
        (lambda: plane_through("t", np.array([(0, 0, 0), (1, 0, 0), (1, 1e-3, 0)])), "2 and 3 are the same"),
        (lambda: plane_through("t", np.array([(0, 0, 0), (1, 0, 0), (0, 0, 1.0)])), "upright"),
        (lambda: plane_through("t", np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0.05)])), "mm off"),
        (lambda: plane_through("t", np.array([(0, 0, 0), (1, 0, 0), (0, np.nan, 0)])), "finite"),
        (lambda: box_by_corners("b", corners((0, 1, 2, 3)), (0, 1, 2, 3)), "one face"),
        (lambda: box_by_corners("b", corners()[[0, 2, 1, 3]]), "mirror image"),
        (lambda: box_by_corners("b", corners()[[1, 0, 2, 3]]), "off a right angle"),
        (lambda: box_by_corners("b", corners() + np.outer((0, 1, 0, 0), (0.02, 0.05, 0))), "right angle"),
        (lambda: box_by_corners("b", corners()[[0, 1, 1, 3]]), "2 and 3 are the same"),
    ],
)
def test_picks_that_say_nothing_are_refused_with_the_reason(make, told) -> None:
    with pytest.raises(ModelError, match=told):
        make()


def test_files(tmp_path) -> None:
    path = tmp_path / "room.json"
    save_obstacles(path, [box_by_corners("crate", corners())])
    (found,) = load_obstacles(path)
    np.testing.assert_array_equal(found.size, box_by_corners("crate", corners()).size)
    path.write_text(path.read_text().replace('"box"', '"ball"'))
    with pytest.raises(FileError, match="touch them again"):
        load_obstacles(path)


def test_a_mechanism_rests_on_the_touched_table() -> None:
    """The world stands turned and scaled in the room; a ball comes to rest a radius above the table, in world units."""
    place = Place(np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.0, np.sin(0.4), np.cos(0.4)]), 0.5)
    table = plane_through("table", np.array([(0, 0, 0.25), (0.3, 0, 0.25), (0, 0.3, 0.25)]))
    model = im.Model("ball")
    model.body("ball", mass=0.1, shape=im.Sphere(radius=0.02), position=(0, 0, 0), material="wood")
    world = im.World(model, dt=0.01)
    (edit,) = edits_for([table], place, "wood")
    answer = world.apply(edit)
    world.step(200)
    assert world.body("ball").position[2] == pytest.approx((0.25 - 0.3) / 0.5 + 0.02, abs=1e-6)
    world.apply(answer.inverse)
    world.step(20)
    assert world.body("ball").velocity[2] < -1.0  # taken back, it falls


def test_command_touches_a_table_then_a_box(tmp_path, capsys, monkeypatch) -> None:
    table, room = tmp_path / "table.json", tmp_path / "room.json"
    X = np.eye(4)
    X[:3, 3] = (0.1, 0.0, -0.05)
    Collimation(X, np.zeros(8), "kabsch").save(table)
    points = {"plane": np.array([(0, 0, 0), (0.4, 0, 0), (0.4, 0.3, 0), (0, 0.3, 0)]), "box": corners()}
    monkeypatch.setitem(TRACKERS, "hand", lambda where: Hand(points[where] - X[:3, 3]))
    common = ["--out", str(room), "--collimation", str(table)]
    assert main(["ar", "touch-obstacle", "--tracker", "hand:plane", *common]) == 0
    assert "plane 'table', 400 x 300 mm, picks 0.00 mm rms off" in capsys.readouterr().out
    assert main(["ar", "touch-obstacle", "--tracker", "hand:box", "--shape", "box", *common]) == 0
    assert "box 'box', 200 x 120 x 90 mm" in capsys.readouterr().out
    assert [each.name for each in load_obstacles(room)] == ["table", "box"]
    assert main(["ar", "touch-obstacle", "--tracker", "hand:plane", *common]) == 2
    assert "has an obstacle of that name" in capsys.readouterr().err


def test_a_session_is_furnished_once_and_says_when_nothing_would_meet_it(caplog) -> None:
    """Edits of the history, so that undo takes the table away; a scene without materials is told of."""
    model = im.Model("ball")
    model.body("ball", mass=0.1, shape=im.Sphere(radius=0.02))
    session = Session(History(im.World(model, dt=0.01)))
    table = plane_through("table", np.array([(0, 0, 0.0), (0.3, 0, 0.0), (0, 0.3, 0.0)]))
    for _ in range(2):
        furnish(session, [table], Place(), "wood")
    assert list(session.world.model.obstacles) == ["table"]
    assert "no body of the scene has a material" in caplog.text
    session.history.undo()
    assert not session.world.model.obstacles
