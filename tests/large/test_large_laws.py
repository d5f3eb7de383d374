"""What acts in joints of large worlds: laws of limits, friction, motors and springs, and small worlds beside them."""

import numpy as np
import pytest

import impulsar as im
from impulsar.author.errors import ModelError
from impulsar.author.parts import Features
from impulsar.scale.large import LargeWorld, chain

G = 9.81


def slider(**features) -> im.Model:
    """1 kg on a level rail along x."""
    model = im.Model("slider")
    body = model.body("b", mass=1.0, inertia=(0.01, 0.01, 0.01))
    model.joint("rail", "prismatic", model.ground, body, at=(0, 0, 0), axis=(1, 0, 0), **features)
    return model


def pendulum(**features) -> im.Model:
    """1 kg on a hinge, 0.3 m beside it."""
    model = im.Model("pendulum")
    body = model.body("b", mass=1.0, inertia=(0.01, 0.02, 0.03), position=(0.3, 0.0, 0.0))
    model.joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0), **features)
    return model


ACTING = {
    "friction": {"friction": 0.5},
    "limits": {"limits": (-1.0, 0.4), "limit_restitution": 0.6},
    "speed": {"motor": im.Motor(speed=2.0)},
    "weak speed": {"motor": im.Motor(speed=-2.0, max_torque=2.0)},
    "torque": {"motor": im.Motor(torque=1.0)},
    "spring": {"stiffness": 20.0, "damping": 0.1},
    "servo": {"motor": im.Motor(position=0.5, kp=100.0, kv=1.0, max_torque=3.0)},
    "all": {"friction": 0.2, "limits": (-1.0, 1.2), "stiffness": 1.0, "motor": im.Motor(torque=0.5)},
}


@pytest.mark.parametrize("what", ACTING)
def test_difference_to_small_worlds_falls_with_the_step(what):
    """A step is of first order: four times shorter, four times nearer, within what an impact's time blurs."""
    model = pendulum(**ACTING[what])
    small = im.World(model, dt=1e-3)
    small.step(300)
    far = []
    for h in (1e-3, 2.5e-4):
        large = LargeWorld(model, dt=h)
        report = large.step(round(0.3 / h))
        far.append(np.abs(large.positions[0] - np.array(small.body("b").position)).max())
        assert report.position_error < 1e-12
        assert report.velocity_error < 1e-12
    assert far[0] < 5e-3
    assert far[1] < 0.4 * far[0] + 1e-12


@pytest.mark.parametrize(("push", "moves"), [(0.99, False), (1.5, True)])
def test_friction_sticks_and_slides(push, moves):
    """Coulomb: at rest below the bound to rounding, beyond it accelerated by what is left."""
    model = slider(friction=2.0)
    model.load("push", "b", force=(2.0 * push, 0, 0))
    world = LargeWorld(model, dt=1e-3)
    world.step(200)
    assert world.velocities[0, 3] == pytest.approx(0.2 * (push - 1.0) * 2.0 if moves else 0.0, abs=1e-12)
    assert world.positions[0, 0] == pytest.approx(0.5 * 0.2**2 if moves else 0.0, abs=2e-4 if moves else 1e-13)


def test_sliding_stops_where_it_should():
    """v² / (2 μ) from the start, F = m μ; it stays there."""
    model = slider(friction=2.0)
    model.bodies["b"].velocity = np.array([0.8, 0.0, 0.0])
    world = LargeWorld(model, dt=1e-4)
    world.step(5000)
    assert world.positions[0, 0] == pytest.approx(0.16, abs=1e-4)
    assert np.abs(world.velocities).max() < 1e-15


def test_limit_sends_back():
    """u' = -e u at 0.1 m, reached after 0.1 s."""
    model = slider(limits=(-1.0, 0.1), limit_restitution=0.5)
    model.bodies["b"].velocity = np.array([1.0, 0.0, 0.0])
    world = LargeWorld(model, dt=1e-3)
    world.step(200)
    assert world.velocities[0, 3] == pytest.approx(-0.5, abs=1e-12)
    assert world.positions[0, 0] == pytest.approx(0.05, abs=2e-3)


def test_position_motor_follows():
    """It is where its profile is at the end of every step."""
    model = slider(motor=im.Motor(position=im.Harmonic(amplitude=0.1, omega=3.0)))
    world = LargeWorld(model, dt=1e-3)
    for _ in range(5):
        world.step(100)
        assert world.positions[0, 0] == pytest.approx(0.1 * np.sin(3.0 * world.time), abs=1e-12)


def test_spring_between_points_oscillates():
    """x = x₀ cos ω t, ω² = k / m."""
    model = slider()
    model.spring("s", model.ground, "b", at_a=(-1, 0, 0), at_b=(0, 0, 0), stiffness=40.0, free_length=0.9)
    world = LargeWorld(model, dt=1e-4)
    world.step(4000)
    assert world.positions[0, 0] == pytest.approx(-0.1 + 0.1 * np.cos(np.sqrt(40.0) * 0.4), abs=2e-4)


def test_friction_holds_a_long_chain_in_one_solve():
    """Hinges whose friction bears the chain below them creep in the first step alone, by R p at the end of 15 m."""
    bulk = chain(300, bend=0.05)
    bulk.give(np.arange(300), Features(friction=1e4))
    world = LargeWorld(bulk, dt=1e-3)
    before = world.positions
    world.step(2)
    early = world.positions
    report = world.step(3)
    assert np.abs(early - before).max() < 1e-7
    assert np.abs(world.positions - early).max() < 1e-3 * np.abs(early - before).max() + 1e-10
    assert report.velocity_error < 1e-10
    assert report.unsettled == 0


def test_some_hinges_slide_and_some_stick():
    """Coulomb's law in 200 hinges at once: what turns has the whole friction against it, what does not has less."""
    bulk = chain(200, bend=0.05)
    bulk.give(np.arange(200), Features(friction=0.05))
    world = LargeWorld(bulk, dt=1e-3)
    world.step(20)
    laws = world.bench.laws.arrays
    rate, share = laws.rate.numpy(), laws.last.numpy() / 0.05
    slides = np.abs(rate) > 1e-4
    assert 10 < slides.sum() < 190
    assert share[slides] == pytest.approx(-np.sign(rate[slides]), abs=1e-6)
    assert np.abs(share).max() < 1.0 + 1e-9


def test_snapshot_keeps_turns_and_impulses():
    """A motor that has turned thrice goes on to the same bits, and knows how often; (h w)³ is what a drift errs by."""
    model = pendulum(motor=im.Motor(position=im.Ramp(0.0, 30.0, 0.0, 1.0)))
    world = LargeWorld(model, dt=1e-3)
    world.step(700)
    kept = world.snapshot()
    world.step(100)
    again = world.positions
    world.restore(kept)
    world.step(100)
    assert np.array_equal(world.positions, again)
    assert world.positions[0] == pytest.approx([0.3 * np.cos(24.0), 0.0, -0.3 * np.sin(24.0)], abs=1e-5)


def test_model_with_materials_lies_and_slides():
    """A box of a Model slides on its floor by μ g; what is hinged to it does not touch it."""
    model = im.Model("floor")
    model.material("wood", 0.3)
    model.obstacle("floor", im.Plane(), material="wood")
    shape = im.Box((0.2, 0.2, 0.1))
    box = model.body("box", mass=1.0, shape=shape, position=(0, 0, 0.05), velocity=(1, 0, 0), material="wood")
    lid = model.body("lid", mass=0.1, shape=shape, position=(0, 0, 0.14), velocity=(1, 0, 0), material="wood")
    model.joint("hinge", "revolute", box, lid, at=(-0.1, 0, 0.1), axis=(0, 1, 0), limits=(-1.0, 0.0))
    world = LargeWorld(model, dt=1e-3)
    world.step(100)
    assert world.velocities[0, 3] == pytest.approx(1.0 - 0.3 * G * 0.1, abs=2e-3)
    assert world.positions[1, 2] - world.positions[0, 2] == pytest.approx(0.09, abs=1e-3)


def test_refused_by_name():
    """What large worlds have not is told."""
    model = im.Model("ball")
    body = model.body("b", mass=1.0, inertia=(1, 1, 1))
    model.joint("ball", "spherical", model.ground, body, at=(0, 0, 0), friction=1.0)
    with pytest.raises(ModelError, match="'ball': rotation is a ball with friction"):
        LargeWorld(model)
    with pytest.raises(ModelError, match="method 'pair' has no features"):
        LargeWorld(pendulum(friction=1.0), method="pair")
    with pytest.raises(ModelError, match="callable"):
        LargeWorld(pendulum(motor=im.Motor(speed=lambda t: t)))


@pytest.mark.study
def test_thousand_bodies_by_both_drivers():
    """The issue's figure: 1,000 bodies for 0.5 s, less than 1e-6 m apart at 1e-5 s, and falling with the step."""
    model = im.scene("chain", n=1000)
    small = im.World(model, dt=1e-3, rtol=1e-9, atol=1e-9)
    small.step(500)
    places = np.array([small.body(name).position for name in model.bodies])
    far = []
    for h in (1e-4, 1e-5):
        large = LargeWorld(model, dt=h, rounds=2)
        large.step(round(0.5 / h))
        far.append(np.abs(large.positions - places).max())
    assert far[1] < 1e-6
    assert far[1] < 0.2 * far[0]
