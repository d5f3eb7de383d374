"""Pictures: silhouettes have the area of the shape's projection, views stand upright, files are written."""

import math
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import impulsar as im
from impulsar import render, results
from impulsar.render import (
    CIRCLE,
    Outline,
    Pose,
    View,
    choose_view,
    draw_demo,
    draw_motion,
    draw_poses,
    hull,
    motion,
    pose_now,
    silhouette,
)
from impulsar.render import _polygons as polygons
from impulsar.render import _shape_points as shape_points
from impulsar.results import new_figure

DISC = len(CIRCLE) / 2 * math.sin(2 * math.pi / len(CIRCLE))  # area of the polygon drawn for a unit disc
STONE = [[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3], [0.1, 0.1, 0.1]]


def area(corners: np.ndarray) -> float:
    x, y = corners.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def test_hull_keeps_the_corners() -> None:
    """Of a square with points inside and on its edges, anticlockwise; of a line its ends."""
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    inside = np.array([[0.5, 0.5], [0.5, 0], [0.2, 0.9], [0, 0]])
    corners = hull(np.vstack([inside, square]))
    assert sorted(map(tuple, corners)) == sorted(map(tuple, square))
    assert area(corners) == 1
    assert sorted(map(tuple, hull(np.array([[0, 0], [2, 2], [1, 1]])))) == [(0, 0), (2, 2)]


@pytest.mark.parametrize(
    ("shape", "from_above", "from_front"),  # looking along z and along y
    [
        (im.Box((0.2, 0.3, 0.5)), 0.2 * 0.3, 0.2 * 0.5),
        (im.Sphere(0.2), DISC * 0.2**2, DISC * 0.2**2),
        (im.Capsule(0.1, 0.4), DISC * 0.1**2, DISC * 0.1**2 + 2 * 0.1 * 0.4),
        (im.Cylinder(0.1, 0.4), DISC * 0.1**2, 2 * 0.1 * 0.4),
        (im.Cone(0.1, 0.4), DISC * 0.1**2, 0.1 * 0.4),
        (im.ConvexHull(STONE), 0.3**2 / 2, 0.3**2 / 2),
    ],
)
def test_silhouettes_have_the_area_of_the_projection(shape: im.Box, from_above: float, from_front: float) -> None:
    """Areas in closed form, with the polygon's area for a disc; an offset and a turn about z keep the first."""
    pose = Pose(0.0, {"body": np.array([1.0, 2.0, 3.0])}, {"body": np.eye(3)})
    outline = Outline("body", *shape_points(shape))
    above = View(np.eye(3), ("x", "y"), 1.0)
    front = View(np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]), ("x", "z"), 1.0)
    assert area(silhouette(outline, pose, above)) == pytest.approx(from_above, rel=1e-12)
    assert area(silhouette(outline, pose, front)) == pytest.approx(from_front, rel=1e-12)
    turned = Pose(0.0, pose.p_WB, {"body": np.array([[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1]])})
    assert area(silhouette(outline, turned, above)) == pytest.approx(from_above, rel=2e-2 if outline.radius else 1e-12)


@pytest.mark.parametrize(
    ("gravity", "flat_axis", "labels"),
    [((0, 0, -9.81), 0, ("y", "z")), ((0, 0, -9.81), 1, ("x", "z")), ((0, -9.81, 0), 2, ("x", "y"))],
)
def test_flat_motion_is_seen_in_its_plane(gravity: tuple, flat_axis: int, labels: tuple[str, str]) -> None:
    """The axis without extent is the line of sight; gravity points down."""
    points = np.random.default_rng(1).normal(size=(50, 3))
    points[:, flat_axis] = 0.25
    view = choose_view(im.Model("m", gravity=gravity), points)
    assert view.labels == labels
    np.testing.assert_allclose(np.abs(view.R_VW[2]), np.eye(3)[flat_axis])
    np.testing.assert_allclose(view.R_VW @ gravity, (0, -9.81, 0))


@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (0, -9.81, 0), (0, 0, 0)])
def test_spatial_motion_is_seen_upright(gravity: tuple) -> None:
    """A proper rotation in which gravity does not lean to a side, from above."""
    view = choose_view(im.Model("m", gravity=gravity), np.random.default_rng(2).normal(size=(50, 3)))
    assert view.labels is None
    np.testing.assert_allclose(view.R_VW @ view.R_VW.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(view.R_VW) == pytest.approx(1)
    right, up, _ = view.R_VW @ gravity
    assert right == pytest.approx(0, abs=1e-12)
    assert up < 0 or not np.any(gravity)


def every_shape() -> im.Model:
    """All shapes, a body without, a slide on ground, a spring and a probe, tumbling in space."""
    model = im.Model("shapes")
    shapes = (
        im.Box((0.3, 0.2, 0.1)),
        im.Sphere(0.1),
        im.Cylinder(0.1, 0.3),
        im.Capsule(0.05, 0.3),
        im.ConvexHull(STONE),
    )
    for k, shape in enumerate(shapes):
        place = {"position": (0.5 * k, 0.3 * k, 0), "velocity": (0, 0, 2), "angular_velocity": (3, 1, 0)}
        model.body(type(shape).__name__, 1.0, shape=shape, **place)
    cart = model.body("cart", 1.0, (1e-3, 1e-3, 1e-3), position=(0, 0, 1))
    arm = model.body("arm", 1.0, (1e-3, 1e-3, 1e-3), position=(0.1, 0, 0.8))
    model.joint("rail", "prismatic", model.ground, cart, at=(0, 0, 1), axis=(1, 0, 0))
    model.joint("pin", "revolute", cart, arm, at=(0, 0, 1), axis=(0, 1, 0))
    model.spring("tie", model.ground, cart, at_a=(-1, 0, 1), at_b=(0, 0, 1), stiffness=10, free_length=0.5)
    model.probe("bob", arm, at=(0.1, 0, 0.8))
    return model


def test_motion_draws_every_body_at_every_pose() -> None:
    """One polygon for each body and pose, the last pose on top; the probe's path is named."""
    model = every_shape()
    result = im.World(model, dt=0.005).run(0.5)
    ax = new_figure(6, 6).subplots()
    motion(ax, model, result, poses=4)
    assert [len(collection.get_paths()) for collection in ax.collections] == [len(model.bodies)] * 4
    orders = [collection.get_zorder() for collection in ax.collections]
    assert orders[-1] > max(orders[:-1])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["path of bob"]


def coloured(path: Path) -> float:
    """Share of a picture's points that have a colour, not the white, grey and ink of empty axes."""
    from matplotlib.image import imread

    rgb = imread(path)[..., :3]
    return float((np.ptp(rgb, axis=-1) > 0.2).mean())


def test_a_picture_of_nothing_has_no_colours(tmp_path: Path) -> None:
    """What the test of pictures counts is not in axes with nothing in them."""
    figure = new_figure(8.0, 7.0)
    figure.subplots().set_title("nothing")
    figure.savefig(tmp_path / "blank.png")
    assert coloured(tmp_path / "blank.png") == 0.0


def test_pictures_are_written(tmp_path: Path) -> None:
    """The motion in space, and the demo's figure with a hand; of the whole time where there is no hand."""
    model = every_shape()
    draw_motion(model, im.World(model, dt=0.005).run(0.2), tmp_path / "shapes.png", poses=3)
    pulled = im.scene("ten-pendula")
    draw_demo(pulled, im.World(pulled).run(0.2), tmp_path / "still.png")
    pulled.at(0.05, im.Grab("hand", "link10"))
    pulled.at(0.05, im.Move("hand", (0.05, 0.05, -0.4)))
    pulled.at(0.15, im.Release("hand"))
    draw_demo(pulled, im.World(pulled).run(0.2), tmp_path / "demo.png")
    pictures = [coloured(tmp_path / f"{name}.png") for name in ("shapes", "still", "demo")]
    for share in pictures:
        assert 0.005 < share < 0.5
    assert len(set(pictures)) == 3


def test_wrong_choices_are_refused(tmp_path: Path) -> None:
    model = every_shape()
    result = im.World(model, dt=0.005).run(0.05)
    with pytest.raises(im.ModelError, match="no samples from 7 to 8 s"):
        draw_motion(model, result, tmp_path / "x.png", start=7, stop=8)
    with pytest.raises(im.ModelError, match="0 poses"):
        draw_motion(model, result, tmp_path / "x.png", poses=0)


def test_a_mesh_and_a_field_are_drawn_by_their_triangles() -> None:
    """Areas from above: of a closed mesh twice its shadow, of a field its size, whatever its heights."""
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    above, still = View(np.eye(3), ("x", "y"), 1.0), Pose(0.0, {"ground": np.zeros(3)}, {"ground": np.eye(3)})
    for shape, expected in (
        (im.Mesh(STONE[:4], faces), 0.3**2),
        (im.HeightField([(0.1, 0.5, -0.2), (0.3, 0.0, 0.4)], (2.0, 3.0)), 2.0 * 3.0),
    ):
        points, radius, triangles = shape_points(shape)
        corners, _ = polygons(Outline("ground", points, radius, triangles), still, above, np.ones(3))
        assert len(corners) == len(triangles) == 4
        assert sum(abs(area(one)) for one in corners) == pytest.approx(expected, rel=1e-12)
        if isinstance(shape, im.HeightField):
            assert all(area(one) > 0 for one in corners)  # they face up


def test_obstacles_are_in_the_picture_as_far_as_they_are_near(tmp_path: Path) -> None:
    """A small box beside the ball widens the picture, a floor of a kilometre and a distant one do not drown it."""
    limits = []
    for near, far in ((False, False), (True, False), (True, True)):
        model = im.Model()
        model.body("ball", density=1000.0, shape=im.Sphere(0.1))
        model.obstacle("floor", im.Plane(), position=(0, 0, -0.2))
        if near:
            model.obstacle("beside", im.Box((0.1, 0.1, 0.1)), position=(0.15, 0, 0))
        if far:
            model.obstacle("slab", im.Box((1000, 1000, 1)), position=(0, 0, -1))
            model.obstacle("moon", im.Sphere(1.0), position=(1000, 0, 0))
        world = im.World(model)
        figure = new_figure(6, 5)
        ax = figure.subplots()
        draw_poses(ax, model, [pose_now(world)], lambda view: None)
        limits.append(np.ptp(ax.get_xlim()))
    assert limits[0] <= limits[1] < 2 * limits[0]
    assert limits[2] < 2 * limits[0]


def test_a_run_is_drawn_with_its_motion_and_without_rounding(tmp_path: Path) -> None:
    """Of a flat linkage: reaction torques and openings of 1e-13 are said, not drawn; what is larger is drawn."""
    model = im.scene("four-bar")
    result = im.World(model).run(0.3, every=0.01, progress=False)
    drawn, told = results.panes(result)
    assert len(drawn) <= 4 and "no reaction torques" in told and "constraint error" in told
    loose = result.assign(constraint_error=result["constraint_error"] + 1e-6)
    assert results.draw_constraint_error in results.panes(loose)[0]
    render.draw_run(model, result, tmp_path / "run.png")
    rgb = imread(tmp_path / "run.png")[..., :3]
    left, right = rgb[:, : rgb.shape[1] // 3], rgb[:, rgb.shape[1] // 3 :]
    assert (np.ptp(left, axis=-1) > 0.2).mean() > 0.02  # bodies
    assert 0.0005 < (np.ptp(right, axis=-1) > 0.2).mean() < 0.1  # curves


def test_models_and_worlds_are_pictures_in_a_notebook() -> None:
    model = im.scene("four-bar")
    world = im.World(model)
    for thing in (model, world):
        assert thing._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n"
    with world.at_work("step"):
        assert world._repr_png_() is None
    assert im.Model("bare")._repr_png_() is None
    table = world.energy()._repr_html_()
    assert table.count("<tr>") == len(world.energy().rows()) + 1 and "potential" in table
