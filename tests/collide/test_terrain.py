"""Meshes and height fields: distances, and contacts that see the surface and not the edges inside it."""

import itertools
import math

import numpy as np
import pytest

from impulsar.author.rotations import rotation_matrix
from impulsar.author.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, HeightField, Mesh, Plane, Sphere

from .collide_pairs import Pairs
from .collide_samples import random_pairs, random_shape, support
from .collide_world import Scene

STILL = (0.0, 0.0, 0.0, 1.0)
CORNERS = np.array(list(itertools.product((-1, 1), repeat=3)))  # x slowest
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
TRIANGLES = [t for a, b, c, d in SIDES for t in ((a, b, c), (a, c, d))]
THINGS = [Sphere(0.1), Box((0.2, 0.15, 0.1)), Capsule(0.05, 0.2), Cylinder(0.1, 0.2), Cone(0.1, 0.2)]
THINGS += [ConvexHull(CORNERS * (0.1, 0.08, 0.06))]


def box_mesh(size):
    return Mesh(CORNERS * np.asarray(size) / 2, TRIANGLES)


def field_mesh(heights, size):
    """The triangles of a height field."""
    nx, ny = heights.shape
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, nx) * size[0], np.linspace(-0.5, 0.5, ny) * size[1], indexing="ij")
    triangles = []
    for i, j in itertools.product(range(nx - 1), range(ny - 1)):
        a, b, c, d = i * ny + j, (i + 1) * ny + j, (i + 1) * ny + j + 1, i * ny + j + 1
        triangles += [(a, b, c), (a, c, d)]
    return Mesh(np.column_stack([x.ravel(), y.ravel(), heights.ravel()]), triangles, open=True)


def floors():
    flat = np.zeros((14, 11))
    return [field_mesh(flat, (2, 2)), HeightField(flat, (2, 2))]


def extent(scene):
    """How far the points reach that are within 1e-9 of the deepest: one, a line or a face."""
    deep = scene.point[scene.gap < scene.gap.min() + 1e-9]
    return max(np.linalg.norm(a - b) for a in deep for b in deep)


@pytest.mark.parametrize("floor", floors(), ids=["mesh", "field"])
@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: type(thing).__name__)
def test_a_flat_floor_is_a_plane(thing, floor, device):
    """What slides and turns over a triangulated floor sees only the floor's normal, as deep as over a plane."""
    rng = np.random.default_rng(0)
    scene = Scene([thing, floor], [0, -1], device=device)
    plane = Scene([thing, Plane()], [0, -1], device=device)
    for k in range(60):
        q = rng.normal(size=4)
        q = np.array(STILL) if k % 3 == 0 else q / np.linalg.norm(q)
        lowest = support(thing, np.zeros(3), q, np.array([0, 0, -1.0]))[2]
        gap = rng.choice([-0.01, -1e-9, 0.0, 1e-9, 0.005])
        p = np.array([0.7 * math.sin(0.1 * k), 0.5 * math.cos(0.17 * k), gap - lowest])
        scene.find([p], [q])
        plane.find([p], [q])
        np.testing.assert_allclose(scene.normal, [(0, 0, -1)] * len(scene.gap), atol=1e-12)
        assert 1 <= len(scene.gap) <= 4
        assert scene.gap.min() == pytest.approx(gap, abs=1e-9)
        assert np.ptp(scene.point[:, 2]) < 1e-9
        np.testing.assert_allclose(extent(scene), extent(plane), atol=1e-3 * 0.2)  # two points so near are one


@pytest.mark.parametrize("kind", ["sphere", "capsule", "box", "hull"])
def test_a_box_of_triangles_is_a_box(kind, device):
    """Apart, distances are the same; with a shallow overlap contacts have the box's normals and depths."""
    firsts, boxes, p, q = random_pairs(kind, "box", 200, seed=1, spread=0.6)
    meshes = [box_mesh(box.size) for box in boxes]
    solid = Pairs(firsts, boxes, p, q, margin=0.0, device=device)
    hollow = Pairs(firsts, meshes, p, q, margin=0.0, device=device)
    apart = solid.gap > 0
    assert 30 < apart.sum() < 170
    np.testing.assert_allclose(hollow.gap[apart], solid.gap[apart], rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        hollow.on_first[apart] - hollow.on_second[apart], -solid.normal[apart] * solid.gap[apart, None], atol=1e-12
    )
    assert (hollow.count[apart] == 0).all()
    if kind == "sphere":  # whose middle is outside
        outside = [
            (np.abs(rotation_matrix(q[k, 1]).T @ (p[k, 0] - p[k, 1])) > np.asarray(box.size) / 2).any()
            for k, box in enumerate(boxes)
        ]
        both = ~apart & outside
        assert both.sum() > 20
        np.testing.assert_allclose([np.nanmin(row) for row in hollow.gaps[both]], solid.gap[both], atol=1e-12)


def test_ridge_and_valley(device):
    """On a ridge a ball touches the edge, one point; in a valley both slopes, two; normals are the true ones."""
    slope = 0.5
    for sign, points in ((-1, 1), (1, 2)):
        x = np.linspace(-1, 1, 21)
        field = HeightField(np.repeat(sign * slope * np.abs(x)[:, None], 9, axis=1), (2, 1))
        mesh = field_mesh(np.asarray(field.heights), (2, 1))
        steep = math.atan(slope)
        height = 0.1 if sign < 0 else 0.1 / math.cos(steep)
        for terrain in (field, mesh):
            scene = Scene([Sphere(0.1), terrain], [0, -1], device=device).find([(0, 0.03, height - 0.001)], [STILL])
            assert len(scene.gap) == points
            if sign < 0:
                np.testing.assert_allclose(scene.normal, [(0, 0, -1)], atol=1e-12)
                np.testing.assert_allclose(scene.gap, -0.001, atol=1e-14)
            else:
                np.testing.assert_allclose(np.abs(scene.normal[:, 0]), math.sin(steep), atol=1e-12)
                np.testing.assert_allclose(scene.gap, -0.001 * math.cos(steep), atol=1e-14)


def test_a_field_and_its_triangles_are_one(device):
    """A hilly height field and the mesh of its triangles give the same contacts and distances."""
    rng = np.random.default_rng(2)
    heights = 0.05 * rng.normal(size=(12, 9))
    field, mesh = HeightField(heights, (1.1, 0.8)), field_mesh(heights, (1.1, 0.8))
    shapes, p, q = [], [], []
    for k in range(120):
        shapes.append(random_shape(["sphere", "box", "capsule", "hull", "cylinder", "cone"][k % 6], rng))
        p.append([(rng.uniform(-0.4, 0.4), rng.uniform(-0.3, 0.3), rng.uniform(0.15, 0.4)), (0, 0, 0)])
        turn = rng.normal(size=4)
        q.append([turn / np.linalg.norm(turn), STILL])
    a = Pairs(shapes, [field] * 120, p, q, device=device)
    b = Pairs(shapes, [mesh] * 120, p, q, device=device)
    apart = (a.gap > 0) & (b.gap > 0)
    assert 20 < apart.sum() < 110
    np.testing.assert_allclose(a.gap[apart], b.gap[apart], atol=1e-8)
    assert (a.count == b.count)[apart].all()
    for k in np.flatnonzero(apart):
        np.testing.assert_allclose(sorted(a.gaps[k, : a.count[k]]), sorted(b.gaps[k, : b.count[k]]), atol=1e-8)


@pytest.mark.parametrize("x", [-0.149, -0.11, -0.05, -0.01])
def test_a_cliff_does_not_push_what_stands_on_it(x, device):
    """A box on a plateau, up to its edge and beyond, 1e-5 deep: only upwards, by that much."""
    heights = np.zeros((21, 11))
    heights[11:] = -0.5
    for terrain in (HeightField(heights, (2, 1)), field_mesh(heights, (2, 1))):
        scene = Scene([Box((0.2, 0.2, 0.2)), terrain], [0, -1], margin=1e-3, device=device)
        scene.find([(x, 0.03, 0.1 - 1e-5)], [STILL])
        assert 2 <= len(scene.gap) <= 4
        np.testing.assert_allclose(scene.gap, -1e-5, atol=1e-12)
        np.testing.assert_allclose(scene.normal, [(0, 0, -1)] * len(scene.gap), atol=1e-9)
        assert np.ptp(scene.point[:, 0]) == pytest.approx(min(0.2, 0.1 - x), abs=1e-3)


def test_what_has_sunk_into_a_field_comes_up(device):
    """A ball whose middle is below the surface is as deep as its lowest point."""
    scene = Scene([Sphere(0.1), HeightField(np.zeros((5, 5)), (2, 2))], [0, -1], device=device)
    for depth in (0.05, 0.15, 0.5):
        scene.find([(0.13, 0.21, 0.1 - depth)], [STILL])
        assert len(scene.gap) == 1
        assert scene.gap[0] == pytest.approx(-depth, abs=1e-12)
        np.testing.assert_allclose(scene.normal[0], (0, 0, -1), atol=1e-12)


def test_many_planes_are_counted(device):
    """More manifolds than a pair has room for are missed by number, not in silence."""
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    low, high = (np.column_stack([r * ring, np.full(24, z)]) for r, z in ((0.02, -0.05), (0.2, 0.3)))
    after = [(k, (k + 1) % 24) for k in range(24)]
    triangles = [t for k, n in after for t in ((k, 24 + k, 24 + n), (k, 24 + n, n))]
    funnel = Mesh(np.vstack([low, high]), triangles, open=True)
    scene = Scene([Sphere(0.1), funnel], [0, -1], margin=0.02, device=device)
    heights = np.linspace(0.05, 0.25, 60)
    counts = [len(scene.find([(0, 0, z)], [STILL]).gap) + scene.x.missed.numpy()[0, 0] for z in heights]
    assert 24 in counts and max(counts) <= 24


# authored -----------------------------------------------------------------------------------------------------

CUBE = (CORNERS * 0.5, TRIANGLES)
WRONG = [
    (lambda: Mesh(CUBE[0], TRIANGLES[:-1]), "not watertight, 3 edges"),
    (lambda: Mesh(CUBE[0], [t[::-1] for t in TRIANGLES]), "face inwards"),
    (lambda: Mesh(CUBE[0], [*TRIANGLES, TRIANGLES[0]]), "has triangles that face apart, or more than two"),
    (lambda: Mesh(CUBE[0], [*TRIANGLES[:-1], TRIANGLES[-1][::-1]]), "face apart"),
    (lambda: Mesh(CUBE[0], [(0, 0, 1)]), r"triangles\[0\] has no area"),
    (lambda: Mesh(CUBE[0] * 0, TRIANGLES), r"triangles\[0\] has no area"),
    (lambda: Mesh(CUBE[0], [(0, 1)]), r"triangles\[0\] has 2 corners"),
    (lambda: Mesh(CUBE[0], [(0, 1, 8)]), r"triangles\[0\] is 8, expected an integer from 0 to 7"),
    (lambda: Mesh(CUBE[0], []), "has no triangles"),
    (lambda: Mesh(CUBE[0], TRIANGLES).volume, "Mesh: is a surface of the ground"),
    (lambda: HeightField([[0, 0]], (1, 1)), "1 x 2, expected a grid"),
    (lambda: HeightField([[0, 0], [0, 0]], (1, 0)), r"size is \(1, 0\), expected 2 numbers > 0"),
    (lambda: HeightField([[0, 0], [0, math.nan]], (1, 1)), r"heights\[1\] is \(0, nan\)"),
    (lambda: HeightField([[0, 0], [0, 0]], (1, 1)).unit_inertia(), "HeightField: is a surface"),
    (lambda: Cone(0.0, 1.0), "Cone: radius is 0"),
    (lambda: Cone(1.0, -1.0), "Cone: length is -1"),
    (lambda: Mesh.load("nowhere.stl"), "there is no file|needs trimesh"),
    (lambda: Mesh(CUBE[0], TRIANGLES[:-1], open=True).decompose(), "is open and has no inside"),
]


@pytest.mark.parametrize("make, message", WRONG)
def test_wrong_surfaces_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_cone_has_its_mass_properties():
    """Against the sum over thin discs: V = ∫ π r² dz, centre and inertia likewise."""
    cone = Cone(0.3, 0.8)
    n = 200_000
    z = (np.arange(n) + 0.5) / n * 0.8 - 0.4
    r = 0.3 * (0.4 - z) / 0.8
    mass = np.pi * r**2 * 0.8 / n
    center = (mass @ z) / mass.sum()
    across = (mass @ (r**2 / 4 + (z - center) ** 2)) / mass.sum()
    assert cone.volume == pytest.approx(mass.sum(), rel=1e-9)
    assert cone.center[2] == pytest.approx(center, rel=1e-9)
    np.testing.assert_allclose(np.diag(cone.unit_inertia()), (across, across, mass @ r**2 / 2 / mass.sum()), rtol=1e-9)


def test_a_mesh_comes_from_a_file(tmp_path):
    """A cube as STL, three corners to each triangle: corners in one place are one again; its hull is the cube."""
    pytest.importorskip("trimesh")
    corners = CORNERS * 0.5
    lines = ["solid cube"]
    for a, b, c in TRIANGLES:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {x} {y} {z}" for x, y, z in (corners[a], corners[b], corners[c])]
        lines += ["endloop", "endfacet"]
    file = tmp_path / "cube.stl"
    file.write_text("\n".join([*lines, "endsolid cube", ""]))
    mesh = Mesh.load(file, scale=2.0, offset=(1, 2, 3))
    assert len(mesh.vertices) == 8 and len(mesh.triangles) == 12
    hull = mesh.hull()
    assert hull.volume == pytest.approx(8)
    assert (hull.offset == (1, 2, 3)).all()
    bad = tmp_path / "bad.stl"
    bad.write_text("nothing")
    with pytest.raises(ValueError, match=r"Mesh: bad.stl"):
        Mesh.load(bad)


def test_a_mesh_falls_into_convex_parts():
    """An L of two cuboids: the parts have its volume, to the concavity that was asked for."""
    pytest.importorskip("coacd")
    outline = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], float)
    low, high = (np.column_stack([outline, np.full(6, z)]) for z in (0.0, 1.0))
    top = [(0, 1, 2), (0, 2, 3), (0, 3, 5), (3, 4, 5)]
    walls = [t for k in range(6) for t in ((k, (k + 1) % 6, 6 + (k + 1) % 6), (k, 6 + (k + 1) % 6, 6 + k))]
    triangles = [t[::-1] for t in top] + [tuple(6 + k for k in t) for t in top] + walls
    parts = Mesh(np.vstack([low, high]), triangles).decompose(concavity=0.05)
    assert 2 <= len(parts) <= 8
    assert sum(part.volume for part in parts) == pytest.approx(3, rel=0.05)
