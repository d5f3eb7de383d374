"""Reachable regions: an arm's annulus, a four-bar's coupler curve, a crane's hollow cylinder, in closed form."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar import analysis
from impulsar.author.rotations import rotation_matrix

ALONG_X = (0, math.sqrt(0.5), 0, math.sqrt(0.5))
L1, L2 = 0.5, 0.3
TURN = (-math.pi, math.pi)


def arm(shoulder=TURN, elbow=TURN):
    """Two rods along x, turning about y."""
    model = im.Model("arm")
    upper = model.body(
        "upper", density=1000.0, shape=im.Capsule(0.02, L1, orientation=ALONG_X), position=(L1 / 2, 0, 0)
    )
    place = (L1 + L2 / 2, 0, 0)
    fore = model.body("fore", density=1000.0, shape=im.Capsule(0.02, L2, orientation=ALONG_X), position=place)
    model.joint("shoulder", "revolute", model.ground, upper, at=(0, 0, 0), axis=(0, 1, 0), limits=shoulder)
    model.joint("elbow", "revolute", upper, fore, at=(L1, 0, 0), axis=(0, 1, 0), limits=elbow)
    model.probe("tip", fore, at=(L1 + L2, 0, 0))
    return model


def test_an_arm_reaches_an_annulus(device):
    """Radii |l1 - l2| and l1 + l2. Chords of n around leave out (2π/n)²/6 of a circle, as much of the way radially."""
    found = analysis.reachable(arm(), "tip", samples=3600, device=device)
    assert len(found.points) == found.tried == 3600 and found.names == ("shoulder", "elbow")
    radii = np.linalg.norm(found.points, axis=1)
    a, b = found.coordinates.T
    exact = [L1 * np.cos(a) + L2 * np.cos(a + b), 0 * a, -L1 * np.sin(a) - L2 * np.sin(a + b)]
    np.testing.assert_allclose(found.points, np.transpose(exact), atol=1e-12)
    assert radii.min() == pytest.approx(L1 - L2, abs=1e-9)
    assert radii.max() == pytest.approx(L1 + L2, abs=L1 * L2 / (L1 + L2) * (math.pi / 59) ** 2)
    area = math.pi * ((L1 + L2) ** 2 - (L1 - L2) ** 2)
    assert area * (1 - 2 * (2 * math.pi / 59) ** 2) < found.area < area
    assert found.dimension == 2 and found.is_flat and found.volume is None and found.length is None
    assert np.linalg.norm(found.hull, axis=1).min() > 0.99 * (L1 + L2)


def test_at_random_it_is_the_same_region_but_for_its_rim():
    """A layer of about half the spacing is missing at both circles; the hole stays open."""
    found = analysis.reachable(arm(), "tip", samples=5000, how="random", seed=3)
    area = math.pi * ((L1 + L2) ** 2 - (L1 - L2) ** 2)
    layer = 2 * math.pi * (L1 + L2 + L1 - L2) * math.sqrt(area / 5000)
    assert area - layer < found.area < area
    again = analysis.reachable(arm(), "tip", samples=5000, how="random", seed=3)
    assert (again.points == found.points).all()


def test_limits_bound_the_region():
    """A quarter of a turn at the shoulder, the elbow bent one way: a part of the annulus, swept once."""
    found = analysis.reachable(arm((0, math.pi / 2), (0, math.pi / 2)), "fore", (L2 / 2, 0, 0), samples=6400)
    # dA = |∂(x, z)/∂(a, b)| da db = l1 l2 |sin b|, once over
    assert found.area == pytest.approx(math.pi / 2 * L1 * L2, rel=2e-3)
    assert found.open == found.beyond == found.interfering == 0


def crane():
    """A turning post, a car that rises 0.4 along it and an arm that goes out by 0.3 from 0.2."""
    model = im.Model("crane")
    post = model.body("post", density=1000.0, shape=im.Cylinder(0.05, 0.4), position=(0, 0, 0.2))
    car = model.body("car", density=1000.0, shape=im.Box((0.1, 0.1, 0.1)))
    boom = model.body("boom", density=1000.0, shape=im.Box((0.3, 0.05, 0.05)), position=(0.3, 0, 0))
    model.joint("turn", "revolute", model.ground, post, at=(0, 0, 0), axis=(0, 0, 1), motor=im.Motor(speed=0.0))
    model.joint("lift", "prismatic", post, car, at=(0, 0, 0), axis=(0, 0, 1), limits=(0, 0.4))
    model.joint("reach", "prismatic", car, boom, at=(0.2, 0, 0), axis=(1, 0, 0), limits=(0, 0.3))
    model.probe("hook", boom, at=(0.2, 0, 0))
    return model


def test_a_crane_reaches_a_hollow_cylinder():
    """π (0.5² - 0.2²) 0.4: chords of n around leave out (2π/n)²/6."""
    found = analysis.reachable(crane(), "hook", samples=16**3)
    volume = math.pi * (0.5**2 - 0.2**2) * 0.4
    assert found.dimension == 3
    assert volume * (1 - (2 * math.pi / 15) ** 2 / 6 - 1e-3) < found.volume < volume
    assert found.area is None


def coupler_point(model, turn, p_BQ):
    """Loop closure of a planar four-bar by the two circles about A and C, on the authored branch."""
    joints = {
        name: np.array(model.bodies.get(joint.first, model.ground).world_point(joint.p_PF))
        for name, joint in model.joints.items()
    }
    O, A, B, C = (joints[name] for name in "OABC")
    coupler = model.bodies["coupler"]
    Q = coupler.world_point(np.asarray(p_BQ))
    c, s = math.cos(turn), math.sin(turn)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    a = O + R @ (A - O)
    ab, cb = np.linalg.norm(B - A), np.linalg.norm(B - C)
    d = C - a
    far = np.linalg.norm(d)
    along = (ab**2 - cb**2 + far**2) / (2 * far)
    up = math.sqrt(ab**2 - along**2)
    side = np.cross([0, 0, 1], d / far)
    sign = np.sign(np.cross(C - A, B - A)[2])
    b = a + along * d / far + sign * up * side
    angle = math.atan2(*(b - a)[[1, 0]]) - math.atan2(*(B - A)[[1, 0]])
    c, s = math.cos(angle), math.sin(angle)
    return a + np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ (Q - A)


def test_a_coupler_curve_is_drawn(device):
    """Every point of a four-bar's coupler over a turn of its crank, by intersection of circles; the curve is closed."""
    model = im.scene("four-bar")
    at = rotation_matrix(model.bodies["coupler"].orientation).T @ (0.03, 0.05, 0.0)
    found = analysis.reachable(model, "coupler", at, ranges={"O": (0.0, 2 * math.pi)}, samples=181, device=device)
    assert len(found.points) == 181 and found.open == 0
    exact = [coupler_point(model, turn, at) for turn in found.coordinates[:, 0]]
    np.testing.assert_allclose(found.points, exact, atol=1e-9)
    np.testing.assert_allclose(found.points[0], found.points[-1], atol=1e-9)
    assert found.area is None and found.dimension >= 1
    assert found.length == pytest.approx(np.linalg.norm(np.diff(exact, axis=0), axis=1).sum(), rel=1e-9)


def test_where_loops_do_not_close_nothing_is_reached():
    """The rocker, driven over a turn, goes only as far as crank and coupler let it: its swing from dead centre to dead
    centre, cos = (c² + d² - (b ± a)²) / 2cd."""
    model = im.scene("four-bar")
    found = analysis.reachable(model, "path B", ranges={"C": (-1.5, 1.5)}, samples=301)
    a, b, c, d = 0.1, 0.25, 0.2, 0.25
    start = math.atan2(*(np.asarray(model.bodies["rocker"].position) - (d, 0, 0))[[1, 0]])
    ends = sorted(math.pi - math.acos((c**2 + d**2 - (b + s * a) ** 2) / (2 * c * d)) - start for s in (-1, 1))
    reached = found.coordinates[:, 0]
    assert found.open == 301 - len(reached) > 50
    assert ends[0] <= reached.min() < ends[0] + 0.02
    assert ends[1] - 0.02 < reached.max() <= ends[1]


def test_limits_of_other_joints_count():
    """The crank driven over a turn, where the rocker's hinge may only go 0.2 rad up."""
    model = im.scene("four-bar")
    free = analysis.reachable(model, "path B", ranges={"O": (0.0, 2 * math.pi)}, samples=181)
    assert free.beyond == 0
    model.joints["C"].features["angle"].limits = (-10.0, 0.2)
    held = analysis.reachable(model, "path B", ranges={"O": (0.0, 2 * math.pi)}, samples=181)
    assert held.beyond > 10 and len(held.points) == 181 - held.beyond
    world = im.World(im.scene("four-bar"))
    assert len(analysis.reachable(world, "path B", ranges={"O": (0.0, 1.0)}, samples=11).points) == 11


def test_poses_with_interference_are_left_out():
    """A wall: the upper arm's axis stays r + 0.02 below it; of its angle sin < (0.2 - 0.02) / 0.5 is left."""
    model = arm((-math.pi / 2, 0.0), (0.0, 0.1))
    model.obstacle("wall", im.Plane(), position=(0, 0, 0.2), orientation=(1, 0, 0, 0))  # solid above
    bound = -math.asin(0.18 / L1)
    ranges = {"shoulder": (-math.pi / 2, 0.0)}
    free = analysis.reachable(model, "upper", (L1 / 2, 0, 0), ranges=ranges, samples=201)
    clear = analysis.reachable(
        model, "upper", (L1 / 2, 0, 0), ranges=ranges, samples=201, interference=[("upper", "wall")]
    )
    assert free.coordinates.min() == -math.pi / 2 and free.interfering == free.beyond == 0  # the elbow is held
    step = math.pi / 400
    assert bound <= clear.coordinates.min() < bound + step + 1e-9
    assert clear.interfering == 201 - len(clear.points) > 50
    both = analysis.reachable(model, "upper", ranges=ranges, samples=201, interference=True)  # the fore arm too
    assert both.interfering > clear.interfering


def test_contact_does_not_stop_the_way_to_a_sample():
    """With materials the wall would push the arm back: samples beyond it are poses all the same."""
    model = arm((-math.pi / 2, 0.0), (0.0, 0.1))
    model.bodies["upper"].material = model.bodies["fore"].material = "steel"
    model.obstacle("wall", im.Plane(), position=(0, 0, 0.2), orientation=(1, 0, 0, 0), material="steel")
    found = analysis.reachable(model, "upper", (L1 / 2, 0, 0), ranges={"shoulder": (-math.pi / 2, 0.0)}, samples=11)
    a = found.coordinates[:, 0]
    np.testing.assert_allclose(found.points, np.transpose([L1 * np.cos(a), 0 * a, -L1 * np.sin(a)]), atol=1e-12)
    assert found.coordinates.min() == -math.pi / 2
    assert model.bodies["upper"].material == "steel" and model.bodies["upper"].shapes and model.obstacles


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: analysis.reachable("arm", "tip"), "expected a Model or a World"),
        (lambda: analysis.reachable(arm(), "top"), "no probe or body named 'top'; known are: tip, upper, fore"),
        (lambda: analysis.reachable(arm(), "tip", (0, 0, 0)), "'tip' is a probe and has its place"),
        (
            lambda: analysis.reachable(arm(), "tip", ranges={"wrist": (0, 1)}),
            "no coordinate named 'wrist'; known are: shoulder, elbow",
        ),
        (lambda: analysis.reachable(arm(), "tip", ranges={"elbow": (1, 1)}), "expected lower < upper"),
        (lambda: analysis.reachable(arm(), "tip", ranges={"elbow": (0, math.inf)}), "range of 'elbow' is inf"),
        (lambda: analysis.reachable(arm(), "tip", ranges={}), "expected \\(lower, upper\\) by the names"),
        (lambda: analysis.reachable(im.scene("four-bar"), "path B"), "no joint has limits or a motor; give ranges"),
        (lambda: analysis.reachable(arm(), "tip", samples=1), "samples is 1"),
        (lambda: analysis.reachable(arm(), "tip", samples=3), "less than 2 along each of 2"),
        (lambda: analysis.reachable(arm(), "tip", how="spiral"), "how is 'spiral'"),
        (
            lambda: analysis.reachable(arm(), "tip", interference=[("upper", "hand")]),
            "no body or obstacle named 'hand'",
        ),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(im.ModelError, match=message):
        call()


def test_plots_and_reports(tmp_path):
    found = analysis.reachable(arm(), "tip", samples=400)
    found.plot(tmp_path / "arm.png")
    assert (tmp_path / "arm.png").stat().st_size > 10_000
    assert "400 of 400 samples reached" in str(found) and "area" in str(found)
    data = found.data()
    assert len(data["points"]) == 400 and data["area"] == found.area and data["volume"] is None
