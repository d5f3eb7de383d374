"""Equilibria that are known in closed form; limits, motors, hands and parameters of a running world."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.analysis import StaticsError, modes, statics
from impulsar.scenes.parts import rod

G = 9.81


def bar(angle: float = 0.3, **features) -> im.Model:
    """A uniform rod of 1 m and 2 kg on a hinge along -y, `angle` above the horizontal; q turns it up."""
    model = im.Model("bar")
    link = rod(model, "rod", (0, 0, 0), (math.cos(angle), 0, math.sin(angle)), 2.0)
    model.joint("hinge", "revolute", model.ground, link, at=(0, 0, 0), axis=(0, -1, 0), **features)
    return model


def test_a_rod_comes_to_hang():
    found = statics(bar())
    assert found.position["rod"] == pytest.approx([0, 0, -0.5], abs=1e-12)
    assert found.reaction["hinge"].force == pytest.approx([0, 0, 2 * G], abs=1e-10)
    assert found.stable and found.determinate["hinge"] and found.freedoms == 1
    assert found.residual < 1e-10
    world = im.World(found.model)
    world.step(100)
    assert world.body("rod").position == pytest.approx(found.position["rod"], abs=1e-12)  # it stays there


def test_upright_is_an_equilibrium_that_is_not_stable():
    found = statics(bar(math.pi / 2))
    assert found.position["rod"][2] == pytest.approx(0.5)
    assert not found.stable
    assert modes(bar(math.pi / 2)).growth == pytest.approx([math.sqrt(1.5 * G)], rel=1e-9)


def test_a_joint_spring_holds():
    """k q = m g l/2 cos(angle + q)."""
    found = statics(bar(0.0, stiffness=30.0))
    q = found.joint_position["hinge"]
    assert -30.0 * q == pytest.approx(2 * G / 2 * math.cos(q), abs=1e-10)


def test_a_limit_holds():
    """The rod falls onto its stop at -0.5; the stop carries the moment of the weight."""
    found = statics(bar(0.0, limits=(-0.5, 1.0)))
    assert found.joint_position["hinge"] == pytest.approx(-0.5, abs=1e-12)
    assert found.at_limit == ("hinge",)
    assert found.reaction["hinge"].torque == pytest.approx([0, -G * math.cos(0.5), 0], abs=1e-9)


def test_a_limit_that_is_not_reached_does_not_hold():
    found = statics(bar(0.0, limits=(-3.0, 1.0)))
    assert found.position["rod"][2] == pytest.approx(-0.5, abs=1e-12)
    assert not found.at_limit


@pytest.mark.parametrize("motor", [im.Motor(position=0.4), im.Motor(position=im.Ramp(0.0, 0.4, 0.0, 2.0))])
def test_a_motor_holds_where_it_is_at_that_time(motor):
    found = statics(bar(0.0, motor=motor), time=2.0)
    assert found.joint_position["hinge"] == pytest.approx(0.4, abs=1e-12)
    assert found.motor_torque["hinge"] == pytest.approx(G * math.cos(0.4), abs=1e-9)
    assert not found.overloaded


def test_a_weak_motor_is_named():
    found = statics(bar(0.0, motor=im.Motor(speed=0.0, max_torque=5.0)))
    assert found.overloaded == {"hinge": 5.0}
    assert found.motor_torque["hinge"] == pytest.approx(G)
    assert "can give no more than 5" in str(found)


def test_nothing_holds_a_stone():
    model = im.Model("fall")
    model.body("stone", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(StaticsError, match=r"body 'stone' is still pushed by 9\.81 N"):
        statics(model)


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_a_world_is_taken_as_it_is(coordinates):
    """Mass set on the running world, a load added, a hand that holds: k (z - target) = weight and load."""
    model = im.Model("lift")
    block = model.body("block", mass=1.0, inertia=(1, 1, 1))
    model.joint("guide", "prismatic", model.ground, block, at=(0, 0, 0), axis=(0, 0, 1))
    world = im.World(model, coordinates=coordinates)
    world.set("block.mass", 3.0)
    world.apply(im.ApplyLoad("push", "block", force=(0, 0, -7.0)))
    hand = world.grab("block", stiffness=500.0)
    world.step(3)
    hand.move((0.0, 0.0, 0.2))
    before = world.hash()
    found = statics(world)
    assert found.position["block"][2] == pytest.approx(0.2 - (3 * G + 7) / 500, abs=1e-12)
    assert modes(world).frequency == pytest.approx([math.sqrt(500 / 3)], rel=1e-9)
    assert world.hash() == before


def test_a_chain_hangs_from_any_start():
    for start in ("hanging", "30deg", "horizontal"):
        found = statics(im.scene("ten-pendula", start=start))
        assert np.array(list(found.position.values()))[:, 2] == pytest.approx(-0.05 * (np.arange(10) + 0.5), abs=1e-9)
        assert found.stable


def test_a_mass_ratio_of_1e4():
    """100 kg on links of 10 g, let down from 45°: straight, and the top hinge carries all of the weight."""
    model = im.Model("heavy")
    before, at = model.ground, np.zeros(3)
    for k in range(6):
        end = at + np.array((0.05, 0.0, -0.05))
        link = rod(model, f"link{k}", at, end, 0.01 if k < 5 else 100.0)
        model.joint(f"hinge{k}", "revolute", before, link, at=at, axis=(0, 1, 0))
        before, at = link, end
    found = statics(model)
    assert found.position["link5"] == pytest.approx([0, 0, -5.5 * math.hypot(0.05, 0.05)], abs=1e-10)
    assert found.reaction["hinge0"].force == pytest.approx([0, 0, 100.05 * G], abs=1e-8)


def test_modes_of_ten_pendula():
    """K θ = ω² M θ of the planar chain; its first link turns in all directions, so that it comes on top."""
    from scipy.linalg import eigh

    n, m, l, inertia = 10, 0.1, 0.05, 21e-6
    M, K = inertia * np.eye(n), np.zeros(n)
    for k in range(n):
        arm = np.where(np.arange(n) < k, l, 0.0) + np.where(np.arange(n) == k, l / 2, 0.0)
        M += m * np.outer(arm, arm)
        K[k] = m * G * l * (n - k - 0.5)
    exact = np.sqrt(eigh(np.diag(K), M, eigvals_only=True))
    found = modes(im.scene("ten-pendula", start="30deg"))
    # sideways the chain is one rigid rod: ω² = 3 g / 2 L but for the links' own inertia
    sideways = math.sqrt(n * m * G * n * l / 2 / (n * inertia + sum(m * (l * (k + 0.5)) ** 2 for k in range(n))))
    assert found.frequency == pytest.approx(np.sort([0.0, sideways, *exact]), rel=1e-9)
    assert found.damping_ratio == pytest.approx(np.zeros(12), abs=1e-12)


def test_damping_of_a_mode():
    """m x'' + c x' + k x = 0: ζ = c / 2 √(k m), overdamped too; poles are its roots."""
    for c in (3.0, 300.0):
        model = im.Model("damper", gravity=(0, 0, 0))
        block = model.body("block", mass=2.0, inertia=(1, 1, 1))
        model.joint("guide", "prismatic", model.ground, block, at=(0, 0, 0), axis=(1, 0, 0), stiffness=800.0, damping=c)
        found = modes(model)
        assert found.frequency == pytest.approx([20.0], rel=1e-10)
        assert found.damping_ratio == pytest.approx([c / 80.0], rel=1e-10)
        exact = np.roots([2.0, c, 800.0])
        assert np.sort_complex(found.poles) == pytest.approx(np.sort_complex(exact), rel=1e-8)


def test_a_rigid_frame_has_no_modes():
    with pytest.raises(im.ModelError, match="no freedom"):
        modes(bar(0.0, motor=im.Motor(position=0.0)))


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
@pytest.mark.parametrize("away", [0.0, 5.0])
def test_indeterminate_reactions_are_those_of_a_running_world(coordinates, away):
    """A door on two hinges at rest: least norm over the same rows, by the same length, wherever it stands."""
    model = im.Model("door")
    leaf = model.body("leaf", mass=10.0, inertia=(1.0, 1.0, 0.5), position=(0.4 + away, 0, 1))
    for k, height in enumerate((0.3, 1.7), start=1):
        model.joint(f"hinge{k}", "revolute", model.ground, leaf, at=(away, 0, height), axis=(0, 0, 1))
    found = statics(model)
    world = im.World(model, coordinates=coordinates)
    world.step()
    total = sum(reaction.force for reaction in found.reaction.values())
    assert total == pytest.approx([0, 0, 10 * G], abs=1e-9)
    for name, reaction in found.reaction.items():
        assert not found.determinate[name]
        assert reaction.force == pytest.approx(world.joint(name).reaction.force, abs=1e-9)
        assert reaction.torque == pytest.approx(world.joint(name).reaction.torque, abs=1e-9)
