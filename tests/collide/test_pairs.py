"""Gaps, normals and nearest points of pairs of shapes."""

import itertools
import math

import numpy as np
import pytest

from impulsar.author.rotations import rotation_matrix
from impulsar.author.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, Plane, Sphere

from .collide_pairs import Pairs
from .collide_samples import coal_gaps, random_pairs, random_shape, support

SHARP = ("sphere", "capsule", "box", "hull")
ROUND = ("cylinder", "cone")
ROUND_PAIRS = [(a, b) for a in ("capsule", "box", "hull", *ROUND) for b in ROUND if (a, b) != ("cone", "cylinder")]
SMALLEST = 0.05  # [m] of the samples' radii


def check_answer(found, firsts, seconds, p, q):
    """Unit normals, nearest points a gap apart along them, and the gap that the supports along them leave."""
    apart = found.on_second - found.on_first
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1, atol=1e-14)
    np.testing.assert_allclose(apart, found.gap[:, None] * found.normal, atol=1e-14)
    for k, (a, b) in enumerate(zip(firsts, seconds, strict=True)):
        n = found.normal[k]
        between = n @ (support(b, p[k, 1], q[k, 1], -n) - support(a, p[k, 0], q[k, 0], n))
        assert between == pytest.approx(found.gap[k], abs=1e-7 * SMALLEST)


@pytest.mark.parametrize("many", [300, pytest.param(10_000, marks=pytest.mark.study)])
@pytest.mark.parametrize("first, second", [*itertools.combinations_with_replacement(SHARP, 2)])
def test_gaps_are_those_of_coal(first, second, many, device):
    """Polytopes and round shapes, apart and overlapping, to 1e-9 of their size."""
    coal = pytest.importorskip("coal")
    sample = random_pairs(first, second, many)
    found = Pairs(*sample, contacts=False, device=device)
    assert 0.2 < (found.gap < 0).mean() < 0.995
    np.testing.assert_allclose(found.gap, coal_gaps(coal, *sample), rtol=0, atol=1e-9 * SMALLEST)
    if many < 1000:
        check_answer(found, *sample)


@pytest.mark.parametrize("many", [200, pytest.param(10_000, marks=pytest.mark.study)])
@pytest.mark.parametrize("first, second", ROUND_PAIRS)
def test_cylinders_and_cones_have_a_certificate(first, second, many, device):
    """The gap is what the supports along the normal leave; the bound from the other side is 1e-7 of the size away."""
    sample = random_pairs(first, second, many, seed=3)
    found = Pairs(*sample, contacts=False, device=device)
    assert (found.gap < 0).mean() > 0.2
    assert (found.slack <= 1e-7 * SMALLEST).all()
    if many < 1000:
        check_answer(found, *sample)


@pytest.mark.parametrize("first, second", ROUND_PAIRS)
def test_cylinders_and_cones_apart_are_those_of_coal(first, second, device):
    """Apart coal's GJK is exact to its tolerance."""
    coal = pytest.importorskip("coal")
    sample = random_pairs(first, second, 200, seed=4, spread=0.6)
    found = Pairs(*sample, contacts=False, device=device)
    gaps = coal_gaps(coal, *sample, tolerance=1e-6)
    apart = gaps > 0
    assert apart.sum() > 20
    np.testing.assert_allclose(found.gap[apart], gaps[apart], rtol=0, atol=1e-7)


def test_no_direction_parts_round_shapes_with_less(device):
    """The depth is the least over all directions of what the supports overlap by: found by looking everywhere."""
    rng = np.random.default_rng(5)
    for first, second in ROUND_PAIRS:
        firsts, seconds, p, q = random_pairs(first, second, 4, seed=6, spread=0.1)
        found = Pairs(firsts, seconds, p, q, contacts=False, device=device)
        for k in range(4):
            directions = rng.normal(size=(2000, 3))
            directions = np.vstack([directions, found.normal[k] + 1e-3 * directions])
            directions /= np.linalg.norm(directions, axis=1)[:, None]
            overlaps = [
                n @ (support(firsts[k], p[k, 0], q[k, 0], n) - support(seconds[k], p[k, 1], q[k, 1], -n))
                for n in directions
            ]
            assert -found.gap[k] <= min(overlaps) + 1e-9


def profile_distance(corners, rho, z):
    """Signed distance of (rho, z) to a convex profile in the half plane, given from the axis anticlockwise."""
    point = np.array([rho, z])
    inside, nearest = -np.inf, np.inf
    for a, b in itertools.pairwise(np.array(corners)):
        e = (b - a) / np.linalg.norm(b - a)
        inside = max(inside, (point - a) @ [e[1], -e[0]])
        t = np.clip((point - a) @ e, 0, np.linalg.norm(b - a))
        nearest = min(nearest, np.linalg.norm(point - a - t * e))
    return inside if inside <= 0 else nearest


@pytest.mark.parametrize("kind", ROUND)
def test_ball_and_solid_of_revolution(kind, device):
    """The distance of a point to the profile, less the radius."""
    firsts, seconds, p, q = random_pairs(kind, "sphere", 500, seed=7)
    found = Pairs(firsts, seconds, p, q, contacts=False, device=device)
    for k, (solid, ball) in enumerate(zip(firsts, seconds, strict=True)):
        x, y, z = rotation_matrix(q[k, 0]).T @ (p[k, 1] - p[k, 0])
        r, h = solid.radius, solid.length / 2
        corners = [(0, -h), (r, -h), (r, h), (0, h)] if kind == "cylinder" else [(0, -h), (r, -h), (0, h)]
        gap = profile_distance(corners, np.hypot(x, y), z) - ball.radius
        assert found.gap[k] == pytest.approx(gap, abs=1e-9 * SMALLEST)


def test_parallel_cylinders(device):
    """Two rectangles turned about parallel axes: radial and axial gaps are independent."""
    rng = np.random.default_rng(8)
    firsts = [random_shape("cylinder", rng) for _ in range(500)]
    seconds = [random_shape("cylinder", rng) for _ in range(500)]
    d = rng.normal(size=(500, 3)) * (0.2, 0.2, 0.25)
    d[:5] = 0  # concentric
    d[5:10, :2] = 0  # coaxial
    q = rng.normal(size=4)
    q /= np.linalg.norm(q)
    p = np.stack([np.zeros((500, 3)), d @ rotation_matrix(q).T], axis=1)
    found = Pairs(firsts, seconds, p, np.broadcast_to(q, (500, 2, 4)), contacts=False, device=device)
    out_r = np.hypot(d[:, 0], d[:, 1]) - [a.radius + b.radius for a, b in zip(firsts, seconds, strict=True)]
    out_z = np.abs(d[:, 2]) - [(a.length + b.length) / 2 for a, b in zip(firsts, seconds, strict=True)]
    gap = np.where((out_r > 0) & (out_z > 0), np.hypot(out_r, out_z), np.maximum(out_r, out_z))
    np.testing.assert_allclose(found.gap, gap, rtol=0, atol=1e-8 * SMALLEST)
    check_answer(found, firsts, seconds, p, np.broadcast_to(q, (500, 2, 4)))


@pytest.mark.parametrize("kind", [*SHARP, *ROUND])
@pytest.mark.parametrize("plane_first", [True, False])
def test_everything_on_a_plane(kind, plane_first, device):
    """The gap is that of the farthest point against the plane's normal."""
    solids, planes, p, q = random_pairs(kind, "plane", 200, seed=9)
    order = slice(None, None, -1 if plane_first else 1)
    shapes = [solids, planes][order]
    found = Pairs(*shapes, p[:, order], q[:, order], contacts=False, device=device)
    for k, shape in enumerate(solids):
        n = rotation_matrix(q[k, 1])[:, 2]
        gap = n @ (support(shape, p[k, 0], q[k, 0], -n) - p[k, 1])
        assert found.gap[k] == pytest.approx(gap, abs=1e-14)
        np.testing.assert_allclose(found.normal[k], n if plane_first else -n, atol=1e-14)


CUBE = ConvexHull(np.array(list(itertools.product((-0.1, 0.1), repeat=3))))
GAPS = (-1e-3, -1e-9, -1e-16, 0.0, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3)
STANDING = [Box((0.2, 0.2, 0.2)), CUBE, Cylinder(0.1, 0.2), Capsule(0.05, 0.1), Cone(0.1, 0.2), Sphere(0.1)]


@pytest.mark.parametrize("below", STANDING[:3], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("above", STANDING, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("gap", GAPS)
def test_parallel_faces_that_touch(below, above, gap, device):
    """Over a face at any gap around 0: the gap is exact and the normal is the face's."""
    p = [[[0, 0, 0], [0.01, 0.02, 0.2 + gap]]]
    q = [[[0, 0, 0, 1], [0, 0, np.sin(0.3), np.cos(0.3)]]]
    found = Pairs([below], [above], p, q, margin=0.01, device=device)
    room = 1e-9 if isinstance(above, Cone | Cylinder) or isinstance(below, Cylinder) else 1e-15
    assert found.gap[0] == pytest.approx(gap, abs=room)
    np.testing.assert_allclose(found.normals[0, : found.count[0]], [[0, 0, 1]] * found.count[0], atol=1e-7)
    assert np.nanmin(found.gaps[0, : found.count[0]]) == pytest.approx(gap, abs=room)


EVERYWHERE = np.vstack([np.eye(3), -np.eye(3), np.random.default_rng(1).normal(size=(500, 3))])
EVERYWHERE /= np.linalg.norm(EVERYWHERE, axis=1)[:, None]


@pytest.mark.parametrize("first", STANDING, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("second", STANDING, ids=lambda s: type(s).__name__)
def test_same_place_and_one_inside_the_other(first, second, device):
    """Concentric and contained shapes overlap, by what the supports along the normal say."""
    turn = np.array([0.1, 0.2, 0.3, 0.9])
    turn /= np.linalg.norm(turn)
    still = np.array([0, 0, 0, 1.0])
    p = np.zeros((6, 2, 3))
    p[1, 1], p[2, 1], p[3, 1] = (0.01, 0, 0), (0, 0, 0.01), (0.003, 0.004, -0.005)
    q = np.array([[still, still]] * 4 + [[turn, turn], [still, turn]])
    found = Pairs([first] * 6, [second] * 6, p, q, device=device)
    assert (found.gap < -0.05).all()
    assert (found.count >= 1).all()
    check_answer(found, [first] * 6, [second] * 6, p, q)
    for k in range(6):
        overlaps = [
            n @ (support(first, p[k, 0], q[k, 0], n) - support(second, p[k, 1], q[k, 1], -n)) for n in EVERYWHERE
        ]
        assert -found.gap[k] <= min(overlaps) + 1e-9
    deepest = [np.min(found.gaps[k, : found.count[k]]) for k in range(6)]
    np.testing.assert_allclose(deepest, found.gap, atol=1e-8)


def grid_pairs(n, noise, rng, kinds):
    """Shapes of few sizes on a grid, turned by eighths and quarters of a turn: flush, coplanar, coaxial, concentric."""
    sizes = np.array([0.1, 0.2, 0.3, 0.4])
    turns = np.array(
        [(0, 0, 0, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 0), (1, 1, 1, 1), (1, 0, 0, 1 + math.sqrt(2))]
    )
    makers = {
        "box": lambda: Box(rng.choice(sizes, 3)),
        "hull": lambda: ConvexHull(np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * rng.choice(sizes, 3)),
        "cylinder": lambda: Cylinder(rng.choice(sizes) / 2, rng.choice(sizes)),
        "cone": lambda: Cone(rng.choice(sizes) / 2, rng.choice(sizes)),
        "capsule": lambda: Capsule(rng.choice(sizes) / 2, rng.choice(sizes)),
        "sphere": lambda: Sphere(rng.choice(sizes) / 2),
    }
    firsts, seconds = ([makers[rng.choice(kinds)]() for _ in range(n)] for _ in range(2))
    p = rng.integers(-6, 7, (n, 2, 3)) * 0.05 * rng.integers(0, 2, (n, 2, 1)) + noise * rng.normal(size=(n, 2, 3))
    q = turns[rng.integers(len(turns), size=(n, 2))] + noise * rng.normal(size=(n, 2, 4))
    return firsts, seconds, p, q / np.linalg.norm(q, axis=2)[:, :, None]


NOISES = (0.0, 1e-16, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3)


@pytest.mark.parametrize("noise", NOISES)
def test_flush_shapes(noise, device):
    """In and all but in degenerate poses the gap is what the supports along the normal leave, and contacts have it."""
    sample = grid_pairs(500, noise, np.random.default_rng(11), ["box", "hull", "cylinder", "cone", "capsule", "sphere"])
    found = Pairs(*sample, margin=0.01, device=device)
    firsts, seconds, p, q = sample
    for k, (a, b) in enumerate(zip(firsts, seconds, strict=True)):
        n = found.normal[k]
        between = n @ (support(b, p[k, 1], q[k, 1], -n) - support(a, p[k, 0], q[k, 0], n))
        assert between == pytest.approx(found.gap[k], abs=1e-7)
    near = found.gap < 0.01 - 1e-9
    assert near.sum() > 100 and (found.count[near] > 0).all()
    deepest = np.where(np.isnan(found.gaps), np.inf, found.gaps).min(axis=1)
    np.testing.assert_allclose(deepest[near], found.gap[near], rtol=0, atol=1e-8)


def least_overlap(a, b, p, q):
    """Overlap of two boxes along the best of their 15 axes."""
    A, B = rotation_matrix(q[0]), rotation_matrix(q[1])
    axes = [*A.T, *B.T, *(np.cross(u, v) for u in A.T for v in B.T)]
    overlaps = []
    for axis in axes:
        if np.linalg.norm(axis) > 1e-10:
            n = axis / np.linalg.norm(axis)
            overlaps.append(np.abs(n @ A) @ a / 2 + np.abs(n @ B) @ b / 2 - abs(n @ (p[1] - p[0])))
    return min(overlaps)


@pytest.mark.parametrize("noise", NOISES)
def test_flush_boxes(noise, device):
    """Boxes and hulls of their corners that overlap: the least over the 15 separating axes, by GJK and EPA."""
    firsts, seconds, p, q = grid_pairs(300, noise, np.random.default_rng(12), ["box", "hull"])
    found = Pairs(firsts, seconds, p, q, device=device)
    edges = [np.ptp(s.points, axis=0) if isinstance(s, ConvexHull) else s.size for s in (*firsts, *seconds)]
    depths = np.array([least_overlap(edges[k], edges[300 + k], p[k], q[k]) for k in range(300)])
    deep = depths > 1e-12
    assert deep.sum() > 100
    np.testing.assert_allclose(-found.gap[deep], depths[deep], rtol=0, atol=1e-12)


def test_a_plane_says_that_it_has_no_mass():
    with pytest.raises(ValueError, match="Plane: is a surface of the ground"):
        _ = Plane().volume
