"""The part of a solid below a plane, beside adaptive quadrature and clipped hulls: to 1e-10, at random poses."""

from itertools import combinations, pairwise, product

import numpy as np
import pytest
import warp as wp
from scipy import integrate, optimize
from scipy.spatial import ConvexHull

from impulsar.engine.coordinates.immersion import (
    BALL,
    CAPSULE,
    SOLID,
    TUBE,
    Part,
    below_ball,
    below_capsule,
    below_solid,
    below_tube,
)
from impulsar.engine.spatial import f64, vec3
from impulsar.engine.system.fluids import hull_triangles

R, H = 0.7, 1.1
BOUND = 1e-10
RADII = {
    BALL: (lambda z: np.sqrt(max(R * R - z * z, 0.0)), R, ()),
    TUBE: (lambda z: R, H, ()),
    CAPSULE: (lambda z: np.sqrt(max(R * R - max(abs(z) - H, 0.0) ** 2, 0.0)), H + R, (-H, H)),
}


@wp.kernel(enable_backward=False)
def below_kernel(
    kind: int,
    R: f64,
    H: f64,
    corners: wp.array(dtype=vec3),
    n: wp.array(dtype=vec3),
    d: wp.array(dtype=f64),
    out: wp.array2d(dtype=f64),
):
    i = wp.tid()
    part = Part()
    if kind == BALL:
        part = below_ball(R, n[i], d[i])
    elif kind == TUBE:
        part = below_tube(R, H, n[i], d[i])
    elif kind == CAPSULE:
        part = below_capsule(R, H, n[i], d[i])
    else:
        part = below_solid(corners, 0, corners.shape[0] // 3, n[i], d[i])
    out[i, 0] = part.volume
    out[i, 4] = part.area
    for k in range(3):
        out[i, 1 + k] = part.moment[k]
        out[i, 5 + k] = part.cut[k]


def below(kind, n, d, triangles=None):
    """Volume, moment, area and moment of the cut [pose, 8]."""
    corners = np.zeros((3, 3)) if triangles is None else triangles.reshape(-1, 3)
    out = wp.array(np.full((len(d), 8), np.nan), dtype=f64, device="cpu")
    given = [wp.array(corners, dtype=vec3, device="cpu"), wp.array(n, dtype=vec3, device="cpu")]
    inputs = [kind, f64(R), f64(H), *given, wp.array(d, dtype=f64, device="cpu"), out]
    wp.launch(below_kernel, len(d), inputs=inputs, device="cpu")
    return out.numpy()


def by_slices(kind, n, d):
    """The same of a round solid, by slices across its axis: segments of discs."""
    radius, end, joints = RADII[kind]
    s = np.hypot(n[0], n[1])

    def edge(z):
        return abs((d - n[2] * z) / s) - radius(z)

    def at(z, what):
        r, X = radius(z), (d - n[2] * z) / s
        phi = np.arccos(np.clip(X / r, -1, 1)) if r > 0 else 0.0
        y = r * np.sin(phi)
        area = r * r * (np.pi - phi) + r * np.cos(phi) * y
        return (area, -2 / 3 * y**3, z * area, 2 * y / s, 2 * y * X / s, 2 * y * z / s)[what]

    z = np.linspace(-end, end, 2001)
    values = [edge(one) for one in z]
    ends = [
        optimize.brentq(edge, z[k], z[k + 1], xtol=1e-15) for k in range(len(z) - 1) if values[k] * values[k + 1] < 0
    ]
    if kind == TUBE:  # where its wall is cut, which may be nearer together than the points above
        ends = [z for z in ((d - R * s) / n[2], (d + R * s) / n[2]) if abs(z) < end]
    ends = sorted([-end, end, *joints, *ends])

    def whole(what):
        total = 0.0
        for a, b in pairwise(ends):
            middle, half = (a + b) / 2, (b - a) / 2  # roots at the ends become smooth in t
            rate = lambda t, m=middle, h=half: at(m - h * np.cos(t), what) * h * np.sin(t)  # noqa: E731
            total += integrate.quad(rate, 0, np.pi, epsabs=1e-12, epsrel=1e-12, limit=100)[0]
        return total

    V, across, along, A, cut_x, cut_z = map(whole, range(6))
    e = np.array([n[0] / s, n[1] / s, 0.0])
    axis = np.array([0.0, 0.0, 1.0])
    return np.concatenate([[V], across * e + along * axis, [A], cut_x * e + cut_z * axis])


def directions(count, seed=0):
    n = np.random.default_rng(seed).normal(size=(count, 3))
    return n / np.linalg.norm(n, axis=1)[:, None]


@pytest.mark.parametrize("kind", RADII)
def test_round_solids_at_random_tilts(kind):
    n = directions(12)
    d = np.random.default_rng(1).uniform(-0.95, 0.95, 12) * R
    wanted = np.array([by_slices(kind, *pose) for pose in zip(n, d, strict=True)])
    assert np.abs(below(kind, n, d) - wanted).max() < BOUND


@pytest.mark.parametrize("lean", [1e-12, 1e-7, 1e-4, 1e-2])
def test_a_cylinder_nearly_level_or_upright(lean):
    """No digits are lost where the slices' chords are all alike, or pass within a hair's breadth."""
    for n in (np.array([np.sqrt(1 - lean**2), 0, lean]), np.array([lean, 0, np.sqrt(1 - lean**2)])):
        for d in (0.3, -0.45, 0.69):
            found, wanted = below(TUBE, n[None], np.array([d]))[0], by_slices(TUBE, n, d)
            assert np.abs(found[:4] - wanted[:4]).max() < BOUND
            if n[2] > 0.5 and abs(d) < H - lean * R:  # upright, cut right through: an ellipse about the axis
                assert found[4:] == pytest.approx([np.pi * R**2 / n[2], 0, 0, np.pi * R**2 * d / n[2] ** 2], abs=BOUND)


@pytest.mark.parametrize("kind", [TUBE, CAPSULE])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_one_that_stands_exactly_upright_is_cut_in_a_disc(kind, side):
    """The slope of the volume is the area of the cut, and not none: added mass depends on it."""
    d = np.array([-0.4, 0.0, 0.3]) * H
    found = below(kind, np.tile([0.0, 0.0, side], (3, 1)), d)
    assert found[:, 4] == pytest.approx(np.pi * R**2, rel=1e-14)
    assert found[:, 7] == pytest.approx(side * np.pi * R**2 * d, abs=1e-15)
    ends = 2 / 3 * np.pi * R**3 if kind == CAPSULE else 0.0
    assert found[:, 0] == pytest.approx(np.pi * R**2 * (H + d) + ends, rel=1e-14)


def test_a_cylinder_exactly_level_and_upright():
    """Sections of FACTS: a segment of a disc, a shorter cylinder."""
    h = 0.5
    V = 2 * H * (R * R * np.arccos((R - h) / R) - (R - h) * np.sqrt(2 * R * h - h * h))
    found = below(TUBE, np.array([[1.0, 0, 0], [0, 0, 1.0], [0, 0, -1.0]]), np.array([h - R, 0.2, 0.2]))
    assert found[0, 0] == pytest.approx(V, rel=1e-13)
    assert found[1:, 0] == pytest.approx(np.pi * R**2 * (H + 0.2), rel=1e-13)
    assert found[1, 4] == 0.0 or found[1, 4] == pytest.approx(np.pi * R**2)


def box():
    return np.array(list(product((-0.5, 0.5), repeat=3))) * (0.8, 1.2, 0.5)


def clipped(points, edges, n, d):
    """Volume and moment of a convex solid below a plane, by the hull of what is left of it."""
    h = points @ n - d
    kept = [*points[h <= 0]]
    kept += [points[a] + (points[b] - points[a]) * h[a] / (h[a] - h[b]) for a, b in edges if h[a] * h[b] < 0]
    kept = np.array(kept)
    inner = kept.mean(axis=0)
    arms = kept[ConvexHull(kept).simplices] - inner
    volumes = np.abs(np.linalg.det(arms)) / 6
    return volumes.sum(), (volumes[:, None] * (inner + arms.sum(axis=1) / 4)).sum(axis=0)


def test_a_box_at_random_tilts():
    points = box()
    edges = [(a, b) for a, b in combinations(range(8), 2) if np.count_nonzero(points[a] != points[b]) == 1]
    n, d = directions(40, 3), np.random.default_rng(4).uniform(-0.4, 0.4, 40)
    found = below(SOLID, n, d, hull_triangles(points))
    for pose in range(len(d)):
        V, moment = clipped(points, edges, n[pose], d[pose])
        assert found[pose, 0] == pytest.approx(V, abs=BOUND)
        assert found[pose, 1:4] == pytest.approx(moment, abs=BOUND)


@pytest.mark.parametrize("kind", [*RADII, SOLID])
def test_the_cut_is_the_slope_of_the_volume(kind):
    """dV/dd = A, and d(moment)/dd = ∫ x dA: by central differences, to their own error."""
    triangles = hull_triangles(box()) if kind == SOLID else None
    n, d, step = directions(20, 5), np.random.default_rng(6).uniform(-0.5, 0.5, 20), 1e-5
    ahead, behind = (below(kind, n, d + sign * step, triangles) for sign in (1, -1))
    slope = (ahead - behind)[:, :4] / (2 * step)
    assert np.abs(slope - below(kind, n, d, triangles)[:, 4:]).max() < 1e-6
