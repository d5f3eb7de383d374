"""Contacts of worlds: pairs, order, capacity and matching."""

import itertools
import math

import numpy as np
import pytest
import warp as wp

from impulsar.author.shapes import Box, Capsule, ConvexHull, Cylinder, Plane, Sphere

from .collide_samples import random_shape
from .collide_world import Scene

STILL = (0.0, 0.0, 0.0, 1.0)


def about_z(angle):
    return 0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2)


def crowd(n, rng):
    kinds = ("sphere", "capsule", "box", "cylinder", "cone", "hull")
    shapes = [random_shape(kinds[k % 6], rng) for k in range(n)]
    q = rng.normal(size=(n, 4))
    return shapes, rng.uniform(0, 0.25 * n ** (1 / 3), (n, 3)), q / np.linalg.norm(q, axis=1)[:, None]


def test_pairs_are_all_whose_bounds_meet(device):
    """Against every pair with every other, while all move: same pairs, ascending, whatever the order was before."""
    rng = np.random.default_rng(0)
    shapes, p, q = crowd(60, rng)
    excluded = [(3, 7), (20, 4), (58, 59)]
    scene = Scene([*shapes, Plane()], [*range(60), -1], excluded, device=device)
    left_out = {(min(pair), max(pair)) for pair in excluded}
    for _ in range(5):
        scene.find(p, q)
        low, high = scene.x.low.numpy()[:, 0], scene.x.high.numpy()[:, 0]
        meet = [
            (a, b)
            for a, b in itertools.combinations(range(60), 2)
            if (low[a] <= high[b]).all() and (low[b] <= high[a]).all() and (a, b) not in left_out
        ]
        meet += [(a, 60) for a in range(60) if low[a, 2] <= scene.margin / 2]
        assert scene.pairs == sorted(meet)
        assert len(meet) > 40
        p = p + rng.normal(size=p.shape) * 0.1


def test_contacts_are_those_of_the_pairs(device):
    """By pair and feature, and the same once more; a world beside others has the same bits."""
    rng = np.random.default_rng(1)
    shapes, p, q = crowd(40, rng)
    scene = Scene(shapes, device=device).find(p, q)
    keys = list(zip(scene.first, scene.second, scene.feature, strict=True))
    assert keys == sorted(set(keys)) and len(keys) > 50
    gaps, points = scene.gap.copy(), scene.point.copy()
    scene.find(p + 0.2, q).find(p, q)
    assert (scene.gap == gaps).all() and (scene.point == points).all()
    assert (gaps < scene.margin).all()
    many = Scene(shapes, device=device, worlds=3).find(p, q)
    assert (many.x.gap.numpy()[: len(gaps)] == gaps[:, None]).all()


def test_shapes_of_one_body_do_not_touch(device):
    ball = Sphere(0.1)
    scene = Scene([ball, ball, ball, Plane()], [0, 0, 1, -1], device=device)
    scene.find([(0, 0, 0.05), (0.05, 0, 0.05)], [STILL, STILL])
    assert scene.pairs == [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_what_finds_no_room_is_counted(device):
    """The deepest stay, in order; the rest is counted."""
    rng = np.random.default_rng(2)
    shapes, p, q = crowd(40, rng)
    full = Scene(shapes, device=device).find(p, q)
    gaps = full.gap
    small = Scene(shapes, contacts=20, device=device).find(p, q)
    assert small.x.missed.numpy()[0, 0] == len(gaps) - 20
    assert sorted(small.gap) == sorted(gaps)[:20]
    keys = list(zip(small.first, small.second, small.feature, strict=True))
    assert keys == sorted(keys)
    few = Scene(shapes, pairs=10, device=device).find(p, q)
    assert few.x.pairs_missed.numpy()[0, 0] == len(full.pairs) - 10


def test_contacts_are_known_again(device):
    """A box that slides and turns a little on a floor keeps what its corners have gathered; a jump loses it."""
    box = Box((0.2, 0.2, 0.1))
    scene = Scene([box, Plane()], [0, -1], device=device).find([(0, 0, 0.05)], [STILL])
    assert scene.was.tolist() == [-1] * 4
    corners = scene.in_first.copy()
    given = np.arange(12.0).reshape(4, 3)
    for array, values in ((scene.x.impulse, given), (scene.x.mode, [1, 2, 3, 4])):
        gathered = array.numpy()
        gathered[:4, 0] = values
        array.assign(gathered)
    scene.find([(0.3, 0, 0.05)], [about_z(0.02)])
    assert len(scene.was) == 4
    for k, corner in enumerate(scene.in_first):
        before = np.argmin(np.linalg.norm(corners - corner, axis=1))
        assert scene.was[k] == before
        assert (scene.impulse[k] == given[before]).all() and scene.mode[k] == before + 1
    scene.find([(3, 0, 1.0)], [STILL])
    assert len(scene.gap) == 0
    scene.find([(3, 0, 0.05)], [STILL])
    assert scene.was.tolist() == [-1] * 4 and (scene.impulse == 0).all()


def test_flush_boxes_keep_their_contacts(device):
    """Equal boxes on each other, turned by round-off: corners and clipped edges change places, contacts do not."""
    box = Box((0.2, 0.2, 0.2))
    scene = Scene([box, box], device=device).find([(0, 0, 0), (0, 0, 0.2)], [STILL, STILL])
    assert len(scene.gap) == 4
    for k in range(20):
        turn = (-1) ** k * 1e-12 * k
        scene.find([(0, 0, 0), (1e-13 * k, 0, 0.2)], [STILL, about_z(turn)])
        assert sorted(scene.was) == [0, 1, 2, 3]


def test_bounds_of_the_sweep_axis(device):
    """Any axis gives the same pairs."""
    rng = np.random.default_rng(3)
    shapes, p, q = crowd(40, rng)
    found = []
    for axis in range(3):
        scene = Scene(shapes, device=device)
        scene.m.sweep_axis = wp.array([axis], dtype=wp.int32, device=device)
        found.append(scene.find(p, q).pairs)
    assert found[0] == found[1] == found[2]


# manifolds --------------------------------------------------------------------------------------------------


def corners_of(scene):
    return sorted(map(tuple, np.round(scene.point, 12).tolist()))


def test_box_on_box(device):
    """The contact is where their faces overlap: its corners, in the plane of the lower face."""
    scene = Scene([Box((0.4, 0.4, 0.2)), Box((0.2, 0.2, 0.2))], device=device)
    scene.find([(0, 0, 0), (0.15, 0.05, 0.201)], [STILL, STILL])
    assert corners_of(scene) == [(0.05, -0.05, 0.1), (0.05, 0.15, 0.1), (0.2, -0.05, 0.1), (0.2, 0.15, 0.1)]
    np.testing.assert_allclose(scene.gap, 0.001, atol=1e-15)
    np.testing.assert_allclose(scene.normal, [(0, 0, 1)] * 4, atol=1e-15)


def test_turned_box_on_box(device):
    """Two squares turned by 45° overlap in an octagon: four of its corners, opposite in pairs, span most of it."""
    scene = Scene([Box((0.2, 0.2, 0.2)), Box((0.2, 0.2, 0.2))], device=device)
    scene.find([(0, 0, 0), (0, 0, 0.2)], [STILL, about_z(math.pi / 4)])
    assert len(scene.gap) == 4
    x, y = scene.point[:, 0], scene.point[:, 1]
    np.testing.assert_allclose(np.maximum(np.abs(x), np.abs(y)), 0.1, atol=1e-9)
    np.testing.assert_allclose(scene.point.mean(axis=0), (0, 0, 0.1), atol=0.05)
    spread = max(np.hypot(a - c, b - d) for (a, b), (c, d) in itertools.combinations(zip(x, y, strict=True), 2))
    assert spread > 0.2


@pytest.mark.parametrize("tilt", [0.0, 1e-12, 1e-6, 1e-3])
def test_cylinder_stands_on_a_plane(tilt, device):
    """Points on the rim, the deepest among them: -r sin(tilt) below the middle of the base."""
    r, h = 0.1, 0.3
    scene = Scene([Plane(), Cylinder(r, h)], [-1, 0], device=device)
    q = (math.sin(tilt / 2) * 0.6, math.sin(tilt / 2) * 0.8, 0.0, math.cos(tilt / 2))
    scene.find([(0, 0, h / 2 * math.cos(tilt))], [q])
    assert len(scene.gap) == 4
    np.testing.assert_allclose(np.linalg.norm(scene.in_second[:, :2], axis=1), r, atol=2e-4 * r)
    assert scene.gap.min() == pytest.approx(-r * math.sin(tilt), abs=1e-8 * r)
    across = scene.point[:, :2] - scene.point[:, :2].mean(axis=0)
    assert np.linalg.svd(across, compute_uv=False)[1] > r  # they span the base both ways


@pytest.mark.parametrize("floor", [Plane(offset=(0, 0, 0.5)), Box((1, 1, 1)), "hull"])
@pytest.mark.parametrize("roller", [Cylinder(0.1, 0.3), Capsule(0.1, 0.3)])
def test_roller_lies_on_its_line(floor, roller, device):
    """Two points, at the ends of the line of contact."""
    if floor == "hull":
        floor = ConvexHull(np.array(list(itertools.product((-0.5, 0.5), repeat=3))))
    scene = Scene([floor, roller], [-1, 0], device=device)
    for gap in (-1e-3, -1e-10, 0.0, 1e-10, 1e-3):
        scene.find([(0, 0, 0.6 + gap)], [(0, math.sqrt(0.5), 0, math.sqrt(0.5))])
        assert len(scene.gap) == 2
        np.testing.assert_allclose(sorted(scene.point[:, 0]), (-0.15, 0.15), atol=1e-12)
        np.testing.assert_allclose(scene.point[:, 1:], [(0, 0.5)] * 2, atol=1e-12)
        np.testing.assert_allclose(scene.normal, [(0, 0, 1)] * 2, atol=1e-12)
        np.testing.assert_allclose(scene.gap, gap, atol=1e-14)


def test_roller_on_an_edge(device):
    """A cylinder across the edge of a box, both turned: the normal is across both to round-off, the gap exact."""
    up = (math.sin(math.pi / 8), 0, 0, math.cos(math.pi / 8))  # the edge along x is on top
    q = np.array([0, math.sqrt(0.5), 0, math.sqrt(0.5)])  # the axis along x, then turned by 60° about z
    c, s = math.cos(math.pi / 6), math.sin(math.pi / 6)
    q = (c * q[0] - s * q[1], c * q[1] + s * q[0], s * q[3] + c * q[2], c * q[3] - s * q[2])
    for gap in (-1e-3, -1e-9, 1e-9, 1e-3):
        scene = Scene([Box((0.4, 0.2, 0.2)), Cylinder(0.1, 0.4)], margin=0.002, device=device)
        scene.find([(0, 0, 0), (0.01, 0.01, 0.1 * math.sqrt(2) + 0.1 + gap)], [up, q])
        deepest = np.argmin(scene.gap)
        np.testing.assert_allclose(scene.normal[deepest], (0, 0, 1), atol=1e-9)
        assert scene.gap[deepest] == pytest.approx(gap, abs=1e-14)


def test_rollers_side_by_side(device):
    """Parallel cylinders touch along what they have in common."""
    scene = Scene([Cylinder(0.1, 0.3), Cylinder(0.05, 0.3)], device=device)
    scene.find([(0, 0, 0), (0.151, 0, 0.1)], [STILL, STILL])
    assert corners_of(scene) == [(0.1, 0.0, -0.05), (0.1, 0.0, 0.15)]
    np.testing.assert_allclose(scene.gap, 0.001, atol=1e-12)


def test_cylinders_on_each_other(device):
    """Cap on cap: four points within the overlap, that span it."""
    scene = Scene([Cylinder(0.1, 0.2), Cylinder(0.1, 0.2)], device=device)
    scene.find([(0, 0, 0), (0.05, 0, 0.2)], [STILL, STILL])
    assert len(scene.gap) == 4
    np.testing.assert_allclose(scene.gap, 0, atol=1e-12)
    np.testing.assert_allclose(scene.point[:, 2], 0.1, atol=1e-12)
    for center in ((0, 0), (0.05, 0)):
        assert (np.linalg.norm(scene.point[:, :2] - center, axis=1) < 0.1 + 1e-9).all()
    assert np.ptp(scene.point[:, 1]) > 0.17  # the lens is 0.194 high


def test_edge_on_edge(device):
    """Crossed edges of two boxes touch in one point, midway."""
    up = (0, math.sin(math.pi / 8), 0, math.cos(math.pi / 8))
    across = (math.sin(math.pi / 8), 0, 0, math.cos(math.pi / 8))
    box = Box((0.2, 0.2, 0.2))
    half = 0.1 * math.sqrt(2)
    for gap in (-1e-3, -1e-9, 1e-9, 1e-3):
        scene = Scene([box, box], margin=0.002, device=device).find([(0, 0, 0), (0, 0, 2 * half + gap)], [up, across])
        deepest = np.argmin(scene.gap)
        assert scene.gap[deepest] == pytest.approx(gap, abs=1e-14)
        np.testing.assert_allclose(scene.normal[deepest], (0, 0, 1), atol=1e-6)
        np.testing.assert_allclose(scene.point[deepest][:2], 0, atol=1e-6)
