"""Clearance: least gaps, when and where, and spans of overlap, against closed forms."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

import impulsar as im
from impulsar import analysis

EVERY = 0.02
OFF = 0.5 * ((3 * EVERY) ** 4 + (2 * EVERY) ** 4) / 384  # of the cubics between samples, at l = 0.5 m, 3 and 2 rad/s


def turning(model, name, pivot, speed, shape, at):
    """A body on a motor's hinge about y, with a shape whose centre is at `at` from the pivot at the start."""
    pivot = np.array(pivot, float)
    body = model.body(name, mass=1.0, inertia=(0.01,) * 3, position=pivot + at, shape=shape)
    model.joint(f"hinge {name}", "revolute", model.ground, body, at=pivot, axis=(0, 1, 0), motor=im.Motor(speed=speed))
    return body


def two_pendula():
    """Bobs at l = 0.5 that turn at 3 and -2 rad/s about pivots 0.65 apart, without material."""
    model = im.Model("two pendula", gravity=(0, 0, 0))
    turning(model, "left", (0, 0, 0), 3.0, im.Sphere(0.08), (0, 0, -0.5))
    turning(model, "right", (0.65, 0.05, 0), -2.0, im.Sphere(0.1), (0, 0, -0.5))
    return model


def bobs(t):
    left = np.array([-0.5 * math.sin(3 * t), 0, -0.5 * math.cos(3 * t)])
    return left, np.array([0.65 + 0.5 * math.sin(2 * t), 0.05, -0.5 * math.cos(2 * t)])


def bob_gap(t):
    left, right = bobs(t)
    return float(np.linalg.norm(left - right)) - 0.18


def test_two_pendula_pass_each_other():
    """|p1 - p2| - r1 - r2: its least over all times, its moment, the points on the line of centres, every overlap."""
    found = analysis.clearance(two_pendula(), 13.0, EVERY)
    (pair,) = found.pairs
    t = np.linspace(0, 13, 130_001)
    exact = np.array([bob_gap(s) for s in t])
    near = t[exact.argmin()]
    best = minimize_scalar(bob_gap, bounds=(near - 0.01, near + 0.01), method="bounded", options={"xatol": 1e-12})
    assert pair.gap == pytest.approx(best.fun, abs=OFF)
    assert pair.time == pytest.approx(best.x, abs=1e-5)  # the root of that
    np.testing.assert_allclose(found.gap[:, 0], [bob_gap(s) for s in found.time], atol=1e-9)
    left, right = bobs(pair.time)
    along = (right - left) / np.linalg.norm(right - left)
    np.testing.assert_allclose(pair.point_first, left + 0.08 * along, atol=1e-6)
    np.testing.assert_allclose(pair.point_second, right - 0.1 * along, atol=1e-6)
    crossings = [brentq(bob_gap, t[k], t[k + 1]) for k in np.flatnonzero(np.diff(np.sign(exact)))]
    assert len(crossings) == 4
    told = [edge for overlap in pair.overlaps for edge in (overlap.start, overlap.end)]
    np.testing.assert_allclose(told, crossings, atol=1e-6)
    assert max(overlap.depth for overlap in pair.overlaps) == -pair.gap
    for overlap in pair.overlaps:
        inner = [bob_gap(s) for s in np.linspace(overlap.start, overlap.end, 2001)]
        assert overlap.depth == pytest.approx(-min(inner), abs=1e-6)


def parallelogram():
    """Cranks of 0.3 on pivots 0.1 apart, all in one plane, from upright to 0.2 rad above flat in 2 s."""
    model = im.Model("parallelogram", gravity=(0, 0, 0))
    rods = []
    for name, x in (("crank", 0.0), ("rocker", 0.1)):
        shape = im.Capsule(0.02, 0.3)
        rods.append(model.body(name, density=1000.0, shape=shape, position=(x, 0, 0.15)))
    coupler = model.body("coupler", mass=0.1, inertia=(1e-4,) * 3, position=(0.05, 0, 0.3), shape=im.Capsule(0.02, 0.1))
    model.bodies["coupler"].shapes[0] = im.Capsule(0.02, 0.1, orientation=(0, math.sqrt(0.5), 0, math.sqrt(0.5)))
    motor = im.Motor(position=im.Ramp(0.0, math.pi / 2 - 0.2, 0.0, 2.0))
    model.joint("drive", "revolute", model.ground, rods[0], at=(0, 0, 0), axis=(0, 1, 0), motor=motor)
    model.joint("pivot", "revolute", model.ground, rods[1], at=(0.1, 0, 0), axis=(0, 1, 0))
    model.joint("elbow", "revolute", rods[0], coupler, at=(0, 0, 0.3), axis=(0, 1, 0))
    model.joint("knee", "revolute", coupler, rods[1], at=(0.1, 0, 0.3), axis=(0, 1, 0))
    return model


def test_links_of_a_four_bar_in_one_plane_overlap():
    """Two parallel capsules side by side: D sin θ - 2 r, θ their angle to the ground; what is joined is left out."""
    found = analysis.clearance(parallelogram(), 2.0, EVERY)
    (pair,) = found.pairs
    assert {pair.pair.first, pair.pair.second} == {"crank", "rocker"}
    rate = (math.pi / 2 - 0.2) / 2
    theta = math.pi / 2 - rate * found.time
    np.testing.assert_allclose(found.gap[:, 0], 0.1 * np.sin(theta) - 0.04, atol=1e-9)
    (overlap,) = pair.overlaps
    assert overlap.start == pytest.approx((math.pi / 2 - math.asin(0.4)) / rate, abs=1e-6)
    assert overlap.end == overlap.time == pair.time == 2.0
    assert overlap.depth == pytest.approx(0.04 - 0.1 * math.sin(0.2), abs=1e-9)
    both = analysis.clearance(parallelogram(), 0.1, pairs=[("crank", "coupler")])
    assert both.pairs[0].gap == pytest.approx(-0.04, abs=1e-9)  # their axes meet in the joint


def passing():
    """A crank of 0.4 that turns at 2 rad/s, with a ball of 0.05 at its end, under a slab at 0.43."""
    model = im.Model("passing", gravity=(0, 0, 0))
    shapes = [im.Capsule(0.01, 0.36), im.Sphere(0.05, offset=(0, 0, 0.2))]
    turning(model, "crank", (0, 0, 0), 2.0, shapes, (0, 0, 0.2))
    model.obstacle("slab", im.Box((0.6, 0.2, 0.1)), position=(0, 0, 0.48), material="steel")
    model.obstacle("far", im.Sphere(0.1), position=(0, 3, 0))
    return model


def test_a_crank_passes_a_box():
    """0.43 - 0.4 cos θ - 0.05 under the slab; it overlaps where cos θ > 0.95, at the start and again after a turn."""
    world = im.World(passing())
    world.step(20)
    before = world.hash()
    now = world.time
    found = analysis.clearance(world, 4.0, EVERY)
    assert world.hash() == before
    pair = found.of("slab", "crank")
    assert (pair.pair.first, pair.pair.first_shape, pair.pair.second) == ("crank", 1, "slab")
    assert pair.gap == pytest.approx(-0.02, abs=OFF)
    assert pair.time == pytest.approx(math.pi, abs=1e-4)
    np.testing.assert_allclose(pair.point_second, (0, 0, 0.43), atol=1e-4)
    half = math.acos(0.95) / 2
    assert now > half
    (overlap,) = pair.overlaps
    assert (overlap.start, overlap.end) == pytest.approx((math.pi - half, math.pi + half), abs=1e-6)
    assert found.of("crank", "far").gap > 2
    assert [each.pair.second for each in found.overlapping] == ["slab"]
    assert "slab" in str(found) and found.data()["pairs"][0]["gap"] == pair.gap


def test_a_pass_between_two_samples_is_seen():
    """Apart at every sample, through each other between two: found by the least sample's neighbours."""
    found = analysis.clearance(passing(), 4.0, 0.4, pairs=[("slab", "crank")])
    column = next(k for k, each in enumerate(found.pairs) if each.pair.second_shape == 1)
    later = found.time > 1
    assert (found.gap[later, column] > 0).any()
    overlap = found.pairs[column].overlaps[-1]
    assert overlap.time == pytest.approx(math.pi, abs=0.02)
    assert overlap.depth == pytest.approx(0.02, abs=1e-3)  # (ω Δt)⁴/384 of 0.4 m


def test_a_result_and_one_of_a_batch():
    """Of a dataset with its model: the same as the world's; in a batch of the world asked for."""
    model = two_pendula()
    result = im.World(model).run(1.0, every=EVERY)
    own, run = analysis.clearance(result, model=model), analysis.clearance(model, 1.0, EVERY)
    assert (own.gap == run.gap).all() and own.pairs[0].gap == run.pairs[0].gap
    batch = im.World(model, worlds=2)
    batch.set("hinge left.max_torque", np.array([math.inf, 0.0]))
    both = batch.run(1.0, every=EVERY)
    assert analysis.clearance(both, model=model).pairs[0].gap == pytest.approx(own.pairs[0].gap, abs=1e-12)
    still = analysis.clearance(both, model=model, world=1).pairs[0]
    exact = [np.linalg.norm(bobs(s)[1] - (0, 0, -0.5)) - 0.18 for s in np.linspace(0, 1, 2001)]
    assert still.gap == pytest.approx(min(exact), abs=1e-6)
    thin = result[["position", "orientation"]].assign_attrs(result.attrs)  # without velocities: linear between samples
    assert analysis.clearance(thin, model=model).pairs[0].gap == pytest.approx(own.pairs[0].gap, abs=1e-3)


def test_as_it_is_without_a_duration():
    found = analysis.clearance(two_pendula())
    assert len(found.time) == 1 and found.time[0] == 0
    assert found.pairs[0].gap == pytest.approx(bob_gap(0.0), abs=1e-12)
    assert found.pairs[0].overlaps == ()


CORNERS = np.array([(0, 0, 0), (0.2, 0, 0), (0, 0.2, 0), (0, 0, 0.2)])
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def test_meshes_planes_and_terrain():
    """A body's mesh over a plane and beside a ball; two surfaces are left out by name, or refused if asked for."""
    model = im.Model(gravity=(0, 0, 0))
    body = {"mass": 1.0, "inertia": (1.0,) * 3}
    model.body("stone", **body, position=(0, 0, 0.5), shape=im.Mesh(CORNERS, FACES))
    model.body("ball", **body, position=(-0.3, 0.05, 0.55), shape=im.Sphere(0.1))
    model.obstacle("floor", im.Plane(), position=(0, 0, 0.1))
    model.obstacle("hill", im.HeightField(np.full((3, 3), 0.2), (2, 2)))
    found = analysis.clearance(model)
    assert found.of("stone", "floor").gap == pytest.approx(0.4, abs=1e-12)
    assert found.of("stone", "ball").gap == pytest.approx(0.2, abs=1e-12)
    assert found.of("ball", "hill").gap == pytest.approx(0.25, abs=1e-12)
    assert [(pair.first, pair.second) for pair, _ in found.left_out] == [("stone", "hill")]
    assert "left out: stone - hill: both are surfaces" in str(found)
    with pytest.raises(im.ModelError, match="clearance: stone - hill: both are surfaces; give one as its hull"):
        analysis.clearance(model, pairs=[("stone", "hill")])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: analysis.clearance("it"), "dataset is 'it', expected what world.run returned"),
        (lambda: analysis.clearance(im.World(two_pendula()).run(0.1)), "expected the Model that the result is of"),
        (lambda: analysis.clearance(two_pendula(), model=two_pendula()), "a Model has its own model"),
        (lambda: analysis.clearance(two_pendula(), pairs=[("left", "rihgt")]), "no body or obstacle named 'rihgt'"),
        (lambda: analysis.clearance(two_pendula(), pairs=[("left", "left")]), "expected two different ones"),
        (lambda: analysis.clearance(two_pendula(), pairs=["left"]), "a pair is 'left', expected two names"),
        (lambda: analysis.clearance(two_pendula(), pairs=[("left", "ground")]), "ground has no shape"),
        (lambda: analysis.clearance(two_pendula(), tolerance=-1), "tolerance is -1"),
        (lambda: analysis.clearance(im.World(passing()).run(0.1), model=two_pendula()), "the model has others"),
        (lambda: analysis.clearance(two_pendula()).of("left", "ground"), "were not measured"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(im.ModelError, match=message):
        call()


def test_plot_and_picture(tmp_path):
    """Files are written; the pair that overlaps is red in both, and in the picture only it."""
    from matplotlib.image import imread

    found = analysis.clearance(passing(), 4.0, EVERY)
    for name in ("plot", "picture"):
        getattr(found, name)(tmp_path / f"{name}.png")
        pixels = imread(tmp_path / f"{name}.png")[..., :3]
        red = (pixels[..., 0] > 0.7) & (pixels[..., 1] < 0.3) & (pixels[..., 2] < 0.3)
        assert red.sum() > 100, name
    found.picture(tmp_path / "apart.png", time=1.5)
    pixels = imread(tmp_path / "apart.png")[..., :3]
    assert not ((pixels[..., 0] > 0.7) & (pixels[..., 1] < 0.3) & (pixels[..., 2] < 0.3)).any()
