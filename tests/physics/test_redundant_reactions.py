"""Reactions of over-constrained mechanisms: the first-order methods, whose joints are open by h², beside `direct`."""

import math

import numpy as np
import pytest
from scipy.optimize import least_squares

from impulsar import Model, Simgc, Simmc, World

SWEPT = 1e-6  # what sweeps leave by default [N s]


def pose(angle: float, length: float, twist: float) -> np.ndarray:
    """From one hinge axis of a ring to the next: turn about z, along x, then twist about x."""
    c, s, ca, sa = math.cos(angle), math.sin(angle), math.cos(twist), math.sin(twist)
    return np.array([[c, -s * ca, s * sa, length * c], [s, c * ca, -c * sa, length * s], [0, sa, ca, 0], [0, 0, 0, 1]])


def ring(name: str, lengths: list[float], twists: list[float], angle: float, guess: list[float]) -> Model:
    """A closed ring of hinges with its first link on ground: the first angle is given, the others close it."""

    def gap(others: np.ndarray) -> np.ndarray:
        T = np.eye(4)
        for turn, length, twist in zip([angle, *others], lengths, twists, strict=True):
            T = T @ pose(turn, length, twist)
        return (T - np.eye(4))[:3].ravel()

    found = least_squares(gap, guess, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert np.abs(found.fun).max() < 1e-12
    model, T, axes, points = Model(name), np.eye(4), [], []
    for turn, length, twist in zip([angle, *found.x], lengths, twists, strict=True):
        axes.append(T[:3, 2])
        points.append(T[:3, 3])
        T = T @ pose(turn, length, twist)
    n = len(lengths)
    links = [model.ground]
    for k in range(n - 1):
        middle = (points[k] + points[k + 1]) / 2 + (0.015, -0.01, 0.02)  # reactions in every direction
        links.append(model.body(f"link{k}", mass=1.0, inertia=(0.02, 0.025, 0.015), position=middle))
    for k in range(n):
        model.joint(f"hinge{k}", "revolute", links[k], links[(k + 1) % n], at=points[k], axis=axes[k])
    return model


def bennett() -> Model:
    """Four hinges with a / sin α = b / sin β."""
    a, alpha, beta = 0.6, 0.7, 1.9
    b = a * math.sin(beta) / math.sin(alpha)
    return ring("bennett", [a, b, a, b], [alpha, beta, alpha, beta], 0.8, [2.0, -0.8, -2.0])


def bricard() -> Model:
    """Six hinges, twists of a quarter turn to either side, threefold: cos θ + cos φ + cos θ cos φ = 0."""
    quarter = math.pi / 2
    return ring("bricard", [0.4] * 6, [quarter, -quarter] * 3, 1.2, [1.84, 1.2, 1.84, 1.2, 1.84])


def sarrus() -> Model:
    """A platform on two pairs of legs in planes across each other: it goes straight up and down."""
    model = Model("sarrus")
    length, height, out = 0.3, 0.35, 0.2
    knee_out = math.sqrt(length**2 - (height / 2) ** 2)
    model.body("platform", mass=2.0, inertia=(0.03, 0.02, 0.04), position=(0.02, -0.01, height))
    for name, e, axis in (("x", np.array([1, 0, 0]), (0, 1, 0)), ("y", np.array([0, 1, 0]), (1, 0, 0))):
        foot, head = out * e, out * e + (0, 0, height)
        knee = (out + knee_out) * e + (0, 0, height / 2)
        model.body(f"low {name}", mass=0.5, inertia=(0.004, 0.003, 0.005), position=(foot + knee) / 2)
        model.body(f"high {name}", mass=0.4, inertia=(0.004, 0.003, 0.005), position=(head + knee) / 2)
        model.joint(f"foot {name}", "revolute", model.ground, f"low {name}", at=foot, axis=axis)
        model.joint(f"knee {name}", "revolute", f"low {name}", f"high {name}", at=knee, axis=axis)
        model.joint(f"head {name}", "revolute", f"high {name}", "platform", at=head, axis=axis)
    return model


def forces(world: World) -> tuple[np.ndarray, list[bool]]:
    """Of all joints [N], and whether determinate."""
    joints = [world.joint(name) for name in world.model.joints]
    return np.array([joint.reaction[0] for joint in joints]), [joint.reaction_determinate for joint in joints]


@pytest.mark.parametrize("h", [1e-3, 1e-4])
@pytest.mark.parametrize("options", [Simgc, Simmc])
@pytest.mark.parametrize("build", [bennett, bricard, sarrus])
def test_reactions_are_those_of_direct(build, options, h, device):
    """After 0.3 s: none determinate where `direct` has none, and forces off by what order 1 makes of them.

    A first-order motion is ahead or behind by a few steps, in which a force changes by h |dF/dt|: 20 of them, and
    what the sweeps leave, ε / h in each of up to 30 rows.
    """
    exact = World(build(), dt=0.01, rtol=1e-10, atol=1e-10, device=device)
    exact.step(29)
    before, _ = forces(exact)
    exact.step()
    right, determinate = forces(exact)
    assert not any(determinate)
    world = World(build(), method=options(), dt=h, device=device)
    world.step(round(0.3 / h))
    found, determinate = forces(world)
    assert not any(determinate)
    rate = np.abs(right - before).max() / 0.01
    assert np.abs(found - right).max() < 20 * h * rate + 30 * SWEPT / h


@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_open_joints_leave_a_chain_determinate(method, device):
    """A four-bar with a ball and a universal joint has no redundant equation, however far it is open."""
    model = Model("four-bar")
    for k, (x, z) in enumerate([(0, 0.5), (0.6, 1.1), (1.1, 0.6)]):
        model.body(f"b{k}", mass=1, inertia=(0.1, 0.1, 0.1), position=(x, 0, z))
    model.joint("a", "revolute", model.ground, "b0", at=(0, 0, 0), axis=(0, 1, 0))
    model.joint("b", "universal", "b0", "b1", at=(0, 0, 1), axis=(0, 1, 0), axis2=(0, 0, 1))
    model.joint("c", "spherical", "b1", "b2", at=(1.2, 0, 1.2))
    model.joint("d", "revolute", "b2", model.ground, at=(1, 0, 0), axis=(0, 1, 0))
    world = World(model, method=method, dt=0.005, device=device)
    world.step(40)
    assert world.constraint_error() > 1e-9
    assert all(forces(world)[1])


def test_components_that_redundant_hinges_leave_open_are_known() -> None:
    """Of a planar four-bar: the force across its plane, and torques about axes in it. Joints that leave the loop
    nothing to choose (a ball, a cylinder) have the same forces in the plane, and nothing is open."""
    import impulsar as im

    world, free = im.World(im.scene("four-bar")), im.World(im.scene("four-bar"))
    free.change("A", type="spherical")
    free.change("B", type="cylindrical")
    for one in (world, free):
        one.step(20)
    for name in world.model.joints:
        joint, other = world.joint(name), free.joint(name)
        assert joint.reaction_open.force.tolist() == [False, False, True]
        assert joint.reaction_open.torque.tolist() == [True, True, False]
        assert not joint.reaction_determinate
        assert other.reaction_determinate
        assert not np.any(other.reaction_open)
        assert joint.reaction.force[:2] == pytest.approx(other.reaction.force[:2], abs=1e-9)


def test_an_oblique_loop_has_open_components_where_its_null_space_points() -> None:
    """A link between two balls may be stretched by itself along its line, whatever else holds it there."""
    model = Model("stretched", gravity=(0.0, 0.0, 0.0))
    bar = model.body("bar", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(0.0, 0.0, 0.0))
    model.joint("left", "spherical", model.ground, bar, at=(-0.5, 0.0, 0.0))
    model.joint("right", "spherical", model.ground, bar, at=(0.5, 0.0, 0.0))
    model.load("push", bar, force=(0.0, 3.0, 0.0))
    world = World(model)
    world.step(3)
    for name in ("left", "right"):
        assert world.joint(name).reaction_open.force.tolist() == [True, False, False]
        assert not world.joint(name).reaction_open.torque.any()
        assert world.joint(name).reaction.force == pytest.approx((0.0, -1.5, 0.0), abs=1e-9)


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_bars_share_a_weight(coordinates):
    """A plate hangs on four bars at its corners, one more than needed: by least norm each carries m g / 4.

    Shifted by e along x, the pairs carry m g (1 ± e) / 4 each, e in half lengths. Distances have no freedoms, so
    their pairs do not span all wrenches.
    """
    model, shift = Model("plate on four bars"), 0.4
    plate = model.body("plate", mass=2.0, inertia=(0.1, 0.1, 0.2), position=(shift, 0, -1))
    corners = [(x, y) for x in (1.0, -1.0) for y in (1.0, -1.0)]
    for k, (x, y) in enumerate(corners):
        model.joint(f"bar {k}", "distance", model.ground, plate, at=(x, y, 0), at_b=(x, y, -1))
    world = World(model, dt=0.01, coordinates=coordinates)
    world.step(3)
    for k, (x, _) in enumerate(corners):
        bar = world.joint(f"bar {k}")
        assert not bar.reaction_determinate
        np.testing.assert_allclose(bar.reaction.force, [0, 0, 2.0 * 9.81 * (1 + shift * x) / 4], atol=1e-10)
        np.testing.assert_allclose(bar.reaction.torque, 0, atol=1e-10)
