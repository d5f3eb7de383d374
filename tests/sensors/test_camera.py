"""Cameras: depth by closed forms and beside another ray caster, what is where in a picture, errors of depth alone."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.io.codec import model_from_json, model_to_json
from impulsar.observe.rays import Rays
from impulsar.observe.trees import tree_of

S = im.sensors
AWAY = (0.0, -math.sqrt(0.5), 0.0, math.sqrt(0.5))  # a plane's z to -x


def looking(*things, worlds: int = 1, **options) -> im.World:
    """A camera at the origin that looks along x, at bodies that stand still: name, shape, place, colour."""
    model = im.Model("studio", gravity=(0, 0, 0))
    model.body("eye", mass=1.0, inertia=(1, 1, 1), shape=im.Box((0.5, 0.5, 0.5)))
    for name, shape, at, colour in things:
        model.body(name, mass=1.0, inertia=(1, 1, 1), shape=shape, position=at, colour=colour)
    model.sensor("camera", S.Camera("eye", **options))
    return im.World(model, dt=0.1, worlds=worlds)


def directions(camera: S.Camera) -> np.ndarray:
    """Unit vectors through the middles of the pixels [row, column, 3], by the pinhole's definition."""
    scale = 2 * math.tan(camera.fov / 2) / camera.width
    u = (np.arange(camera.width) + 0.5 - camera.width / 2) * scale
    v = (np.arange(camera.height) + 0.5 - camera.height / 2) * scale
    v, u = np.meshgrid(v, u, indexing="ij")
    d = np.stack([np.ones_like(u), -u, -v], axis=-1)
    return d / np.linalg.norm(d, axis=-1, keepdims=True)


def test_a_wall_across_is_as_deep_everywhere():
    """Depth is along the axis: a plane x = 3 is 3 m deep at every pixel, turned by β it is 3 / (1 - u tan β)."""
    world = looking(worlds=2)
    world.add("obstacle", "wall", shape=im.Plane(orientation=AWAY), position=(3.0, 0.0, 0.0))
    world.step()
    assert world.sensor("camera").depth == pytest.approx(np.full((2, 48, 64), 3.0), rel=1e-12)
    beta = 0.3
    turn = (0.0, 0.0, math.sin(beta / 2), math.cos(beta / 2))
    world.set("wall.orientation", turn)
    world.step()
    u = (np.arange(64) - 31.5) / 32 * math.tan(0.6)
    expected = np.broadcast_to(3.0 / (1.0 - u * math.tan(beta)), (48, 64))
    for picture in world.sensor("camera").depth:
        assert picture == pytest.approx(expected, rel=1e-12)


def test_a_ball_is_as_deep_as_its_equation_says():
    """|s d - c| = r: s = d·c - √((d·c)² - c² + r²), depth s d_x; beside it nothing."""
    c, r = np.array([2.0, 0.3, -0.2]), 0.5
    world = looking(("ball", im.Sphere(r), c, None), reach=50.0)
    d = directions(world.model.sensors["camera"].sensor)
    b = d @ c
    disc = b * b - c @ c + r * r
    expected = np.where(disc > 0, (b - np.sqrt(np.maximum(disc, 0))) * d[..., 0], np.inf)
    assert 100 < np.isfinite(expected).sum() < 2000
    assert world.sensor("camera").depth == pytest.approx(expected, rel=1e-11)


def test_what_is_where_and_of_what_colour():
    """Red to the left, blue to the right, green above: columns from the left, rows from the top; sky between."""
    ball = im.Sphere(0.3)
    world = looking(
        ("left", ball, (2, 0.8, 0), "#ff0000"), ("right", ball, (2, -0.8, 0), "#0000ff"),
        ("top", ball, (2, 0, 0.7), "#00ff00"),
    )  # fmt: skip
    picture = world.sensor("camera").colour
    assert picture.shape == (48, 64, 3) and picture.dtype == np.uint8
    depth = world.sensor("camera").depth
    there = np.isfinite(depth)
    for k, (rows, columns) in enumerate([((15, 33), (0, 25)), ((0, 18), (25, 39)), ((15, 33), (39, 64))]):
        own = picture[rows[0] : rows[1], columns[0] : columns[1]][there[rows[0] : rows[1], columns[0] : columns[1]]]
        assert len(own) > 50 and own[:, k].min() > 80 and np.delete(own, k, axis=1).max() == 0
    assert (picture[~there] == (0xAE, 0xCB, 0xE8)).all()
    d = directions(world.model.sensors["camera"].sensor)[there]
    n = depth[there][:, None] * d / d[:, :1] - (2.0, 0.0, 0.7)
    own = np.linalg.norm(n, axis=1) < 0.31  # of the green ball; Lambert's law, from above
    light = np.array([0.3, 0.45, 1.0]) / np.linalg.norm([0.3, 0.45, 1.0])
    expected = 255 * (0.35 + 0.65 * np.maximum(n[own] / 0.3 @ light, 0.0))
    assert own.sum() > 50 and np.ptp(expected) > 50
    assert np.abs(picture[there][own, 1] - expected).max() <= 1.0


def test_meshes_beside_another_ray_caster():
    """40 x 30 rays into a rough mesh of 1,280 triangles: as trimesh's to 1e-9; the tree finds what all triangles do."""
    import trimesh

    rough = trimesh.creation.icosphere(subdivisions=3, radius=1.0)
    rough.vertices *= 1.0 + 0.2 * np.random.default_rng(3).random((len(rough.vertices), 1))
    shape = im.Mesh(np.asarray(rough.vertices), np.asarray(rough.faces))
    world = looking(("stone", shape, (3.0, 0.0, 0.0), None), width=40, height=30)
    body = world.body("stone")
    found = world.sensor("camera").depth
    d = directions(world.model.sensors["camera"].sensor).reshape(-1, 3)
    x, y, z, w = body.orientation
    turn = trimesh.transformations.quaternion_matrix((w, x, y, z))
    turn[:3, 3] = body.position
    rough.apply_transform(turn)
    at, ray, _ = rough.ray.intersects_location(np.zeros((len(d), 3)), d, multiple_hits=True)
    expected = np.full(len(d), np.inf)
    np.minimum.at(expected, ray, at[:, 0])
    struck, seen = np.isfinite(expected), np.isfinite(found.ravel())
    assert 250 < struck.sum() < 1000 and (struck != seen).sum() <= 2  # rays along an edge
    both = struck & seen
    assert np.abs(found.ravel()[both] / expected[both] - 1.0).max() < 1e-9


@pytest.mark.parametrize("count", [0, 1, 4, 5, 333])
def test_a_tree_has_every_triangle_once_and_in_its_box(count):
    corner = np.random.default_rng(count).normal(size=(count, 3, 3))
    tree = tree_of(corner)
    spans = tree.span[tree.span[:, 1] > tree.span[:, 0]]
    assert sorted(k for a, b in spans for k in range(a, b)) == list(range(count))
    assert sorted(map(tuple, tree.corner.reshape(-1, 9))) == sorted(map(tuple, corner.reshape(-1, 9)))
    for i, end in enumerate(tree.skip):
        assert i < end <= len(tree.skip)
        inside = [tree.corner[a:b].reshape(-1, 3) for a, b in tree.span[i:end]]
        points = np.concatenate(inside)
        assert (points >= tree.low[i]).all() and (points <= tree.high[i]).all()


def test_noise_is_of_depth_alone_and_differs_between_worlds():
    """σ of the depth within chi-square bounds at 1e-6, colours as without; late and rare as other sensors."""
    wall = ("wall", im.Box((0.2, 20.0, 20.0)), (4.1, 0.0, 0.0), "#808080")
    clean, noisy = looking(wall), looking(wall, worlds=2, noise=0.02, seed=4)
    a, b = clean.sensor("camera"), noisy.sensor("camera")
    off = (b.depth - 4.0).reshape(2, -1)
    assert np.array_equal(a.colour, b.colour[0]) and np.array_equal(a.colour, b.colour[1])
    assert ((off / 0.02) ** 2).mean() == pytest.approx(1.0, abs=4.892 * math.sqrt(2 / off.size))
    assert abs(np.corrcoef(off)[0, 1]) < 4.892 / math.sqrt(off.shape[1])
    late = looking(wall, latency=0.25)
    assert np.isnan(late.sensor("camera").depth).all() and not late.sensor("camera").colour.any()
    late.step(3)
    assert late.sensor("camera").valid and late.sensor("camera").time == pytest.approx(0.0, abs=1e-12)


def test_as_a_part_and_refusals():
    world = looking(width=8, height=6, fov=1.0, noise=0.1)
    data = model_to_json(world.model)
    assert model_to_json(model_from_json(data)) == data
    world.set("camera.fov", 0.5)
    assert world.model.sensors["camera"].sensor.fov == 0.5
    for options, told in (
        (dict(fov=4.0), "fov is 4, expected an angle"), (dict(width=0), "width is 0"),
        (dict(width=400, height=300), "at most 50000 pixels"), (dict(noise=(0.1, 5.0)), "expected 1 or"),
    ):  # fmt: skip
        with pytest.raises(im.ModelError, match=told):
            looking(**options)
    world.add("sensor", "imu", sensor=S.Imu("eye"))
    with pytest.raises(AttributeError, match="'imu': is no camera"):
        _ = world.sensor("imu").depth


def test_rays_where_there_is_nothing():
    model = im.Model("nothing")
    model.body("point", mass=1.0, inertia=(1, 1, 1))
    model.sensor("camera", S.Camera("point", width=4, height=2))
    world = im.World(model)
    assert np.isinf(world.sensor("camera").depth).all()
    assert np.isinf(Rays(world.runner.bench).cast(np.zeros((1, 1, 3)), np.ones((1, 1, 3)))[0]).all()
