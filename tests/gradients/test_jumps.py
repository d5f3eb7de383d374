"""Where modes change inside steps derivatives jump by the rule of the jump: closed forms, differences, both modes."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.author.errors import StepError
from impulsar.world.rollout import Rollout
from impulsar.world.sensitivity import linearise

FINE = im.Direct(rtol=1e-11, atol=1e-11)
MASS, ARM, ABOUT = 0.3, 0.2, 0.3 * 0.2**2 + 2e-3  # of the pendulum: to its centre [m], about its hinge [kg m²]
MODES = pytest.mark.parametrize("mode", ["forward", "reverse"])


def pendulum(restitution: float = 0.6, friction: float | None = None, gravity: float = 9.81) -> im.Model:
    """A rod that is horizontal at first; θ is how far it has sunk, 1 rad at most."""
    model = im.Model("pendulum", gravity=(0, 0, -gravity))
    arm = model.body("arm", mass=MASS, inertia=(1e-3, 2e-3, 1e-3), position=(ARM, 0, 0))
    hinge = {"limits": (-1.0, 1.0), "limit_restitution": restitution, "friction": friction}
    model.joint("hinge", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), **hinge)
    return model


def slider(friction: float = 8.0) -> im.Model:
    """A block on a rail with friction, at a spring, that is pushed off where the spring is free."""
    model = im.Model("slider")
    block = model.body("block", mass=2.0, inertia=(1, 1, 1), velocity=(1.5, 0, 0))
    model.joint("rail", "prismatic", model.ground, block, at=(0, 0, 0), axis=(1, 0, 0), friction=friction)
    spring = {"at_a": (0, 0, 0), "at_b": (1, 0, 0), "stiffness": 30.0, "free_length": 1.0}
    model.spring("spring", block, model.ground, **spring)
    return model


def differences(f, value: float, part: float) -> np.ndarray:
    """f' by differences of order 4."""
    h = part * abs(value)
    return (8 * (f(value + h) - f(value - h)) - (f(value + 2 * h) - f(value - 2 * h))) / (12 * h)


@MODES
def test_a_bounce_without_gravity(mode) -> None:
    """θ = v t up to a at T = a / v, then θ = a - e v (t - T) = (1 + e) a - e v t."""
    world = im.World(pendulum(0.6, gravity=0.0), dt=0.01)
    world.state.numpy()[world.state.rows["v"]] = v = 3.0
    a, e, t = 1.0, 0.6, 0.55
    to = ("hinge.velocity", "hinge.upper", "hinge.restitution", "hinge.position")
    found = world.sensitivity(of=("hinge.position", "hinge.velocity"), to=to, duration=t, mode=mode)
    assert found.values[0] == pytest.approx([(1 + e) * a - e * v * t, -e * v], rel=1e-12)
    expected = [[-e * t, 1 + e, a - v * t, -e], [-e, 0.0, -v, 0.0]]
    assert found.derivatives[0] == pytest.approx(np.array(expected), rel=1e-11, abs=1e-12)
    (change,) = found.changes
    assert (change.joint, change.what, change.world) == ("hinge", "upper limit", 0)
    assert change.time == pytest.approx(a / v, abs=2e-13)
    assert change.derivatives == pytest.approx([-a / v**2, 1 / v, 0, -1 / v], rel=1e-11, abs=1e-12)


@MODES
def test_a_pendulum_that_bounces_off_its_limit(mode) -> None:
    """I ω²/2 - m g c sin θ = (e² - 1) m g c sin a after the first bounce; and beside differences after the second."""
    world = im.World(pendulum(0.6), method=FINE, dt=0.01)
    to = ("hinge.upper", "hinge.restitution", "model.gravity.z")
    found = world.sensitivity(of=("hinge.position", "hinge.velocity"), to=to, duration=0.4, mode=mode)
    assert len(found.changes) == 1
    (angle, rate), e, g = found.values[0], 0.6, 9.81
    weight = MASS * ARM * g  # [N m]
    left = ABOUT * rate * found.derivatives[0, 1] - weight * math.cos(angle) * found.derivatives[0, 0]
    low = math.sin(1.0)
    by_gravity = -((e * e - 1) * low + math.sin(angle)) * MASS * ARM
    expected = [(e * e - 1) * weight * math.cos(1.0), 2 * e * weight * low, by_gravity]
    assert left == pytest.approx(np.array(expected), rel=1e-8, abs=1e-10)

    def run(mass: float) -> np.ndarray:
        other = im.World(pendulum(0.6), method=FINE, dt=0.01)
        other.set("arm.mass", mass)
        other.step(60)
        return np.array([other.joint("hinge").position, other.joint("hinge").velocity])

    found = world.sensitivity(of=("hinge.position", "hinge.velocity"), to="arm.mass", duration=0.6, mode=mode)
    assert len(found.changes) == 2
    assert found.derivatives[0, :, 0] == pytest.approx(differences(run, MASS, 1e-3), rel=2e-9)


@MODES
def test_a_block_that_comes_to_rest(mode) -> None:
    """k x²/2 + F x = m v²/2 where it stops, for good if k x < F: k x dx + F dx + x²/2 dk + x dF = m v dv."""
    world = im.World(slider(), method=FINE, dt=0.02)
    to = ("rail.friction", "spring.stiffness", "rail.velocity")
    found = world.sensitivity(of=("rail.position", "rail.velocity"), to=to, duration=0.6, mode=mode)
    x = found.values[0, 0]
    assert 30.0 * x**2 / 2 + 8.0 * x == pytest.approx(2.25, rel=1e-9) and 30.0 * x < 8.0
    pull = 30.0 * x + 8.0
    assert found.derivatives[0, 0] == pytest.approx([-x / pull, -x * x / 2 / pull, 2.0 * 1.5 / pull], rel=1e-8)
    assert found.derivatives[0, 1] == pytest.approx([0, 0, 0], abs=1e-9)
    assert [change.what for change in found.changes] == ["friction"]


@MODES
def test_a_block_that_is_torn_loose(mode) -> None:
    """Friction F lets go where a force r t has reached it, T = F / r: then m x = (t - T)³ r / 6."""
    model = im.Model("sledge")
    block = model.body("block", mass=2.0, inertia=(1, 1, 1))
    motor = im.Motor(torque=im.Ramp(0.0, 20.0, 0.0, 1.0))
    model.joint("rail", "prismatic", model.ground, block, at=(0, 0, 0), axis=(1, 0, 0), friction=5.0, motor=motor)
    world = im.World(model, dt=0.02)
    found = world.sensitivity(of=("rail.position", "rail.velocity"), to="rail.friction", duration=0.5, mode=mode)
    (change,), r, m, left = found.changes, 20.0, 2.0, 0.25
    assert change.time == pytest.approx(0.25, abs=1e-12) and change.derivatives == pytest.approx([1 / r], rel=1e-10)
    assert found.values[0] == pytest.approx([r * left**3 / 6 / m, r * left**2 / 2 / m], rel=1e-9)
    assert found.derivatives[0, :, 0] == pytest.approx([-(left**2) / 2 / m, -left / m], rel=1e-9)


def test_five_links_through_sticking_and_slipping() -> None:
    """Friction of all five hinges: by 0.125 s modes have changed four times."""
    method, dt, steps = im.Direct(rtol=1e-9, atol=1e-9), 0.001, 125
    world = im.World(im.scene("five-link"), method=method, dt=dt)
    linear, _ = linearise(world, ("hinge3.position", "hinge5.velocity"), "link3.mass", steps * dt, None)
    assert len(linear.changes) == 4
    _, found = linear.forward()

    def run(mass: float) -> np.ndarray:
        other = im.World(im.scene("five-link"), method=method, dt=dt)
        other.set("link3.mass", mass)
        other.step(steps)
        return np.array([other.joint("hinge3").position, other.joint("hinge5").velocity])

    assert found[0, :, 0, 0] == pytest.approx(differences(run, 0.1, 5e-4), rel=2e-9)
    given = np.array([[[0.3], [-0.7]]])
    assert linear.pull(given)[0, 0] == pytest.approx(0.3 * found[0, 0, 0, 0] - 0.7 * found[0, 1, 0, 0], rel=1e-11)


def test_worlds_of_a_batch_have_their_own_times() -> None:
    """Three blocks, each with a friction of its own; the pull of a rollout is its transposed Jacobian."""
    frictions = np.array([7.0, 8.0, 9.0])
    world = im.World(slider(), method=FINE, dt=0.02, worlds=3)
    world.set("rail.friction", frictions)
    found = world.sensitivity(of="rail.position", to="spring.stiffness", duration=0.4)
    assert [change.world for change in found.changes] == [0, 1, 2]
    for w, friction in enumerate(frictions):
        x = found.values[0, 0, w]
        assert found.derivatives[0, 0, 0, w] == pytest.approx(-x * x / 2 / (30.0 * x + friction), rel=1e-8)
    rollout = Rollout(im.World(slider(), method=FINE, dt=0.02, worlds=3), "rail.position", "rail.friction", 0.4)
    for values in (frictions[:, None], 1.01 * frictions[:, None]):  # ways of the first call are not those of the second
        y, slopes = rollout.jacobian(values)
        x = y[:, 0, 0]
        assert slopes[:, 0, 0, 0] == pytest.approx(-x / (30.0 * x + values[:, 0]), rel=1e-8)
        assert rollout.pull(values, np.ones_like(y))[:, 0] == pytest.approx(slopes[:, 0, 0, 0], rel=1e-11)


def test_two_that_change_at_one_instant_are_refused() -> None:
    """Whichever is first depends on the parameter: there are two derivatives."""
    model = im.Model("twins", gravity=(0, 0, 0))
    for k in range(2):
        arm = model.body(f"arm{k}", mass=1.0, inertia=(1, 1, 1), position=(0, k, 0), angular_velocity=(0, 3, 0))
        model.joint(f"hinge{k}", "revolute", model.ground, arm, at=(0, k, 0), axis=(0, 1, 0), limits=(-1, 1))
    world = im.World(model, dt=0.01)
    with pytest.raises(StepError, match=r"from 0\.33 s on 2 rows change their modes at one instant"):
        world.sensitivity(of="hinge0.position", to="arm0.mass", duration=0.5)
