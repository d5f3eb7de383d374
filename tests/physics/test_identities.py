"""What the identities of validate/identities.py are worth, and closed forms beside them; test_cases runs the cases."""

import numpy as np
import pytest

from impulsar import World
from impulsar.author.joints import CATALOGUE
from impulsar.author.model import Model
from impulsar.engine.coordinates.inverse import forward_dynamics, joint_forces, mass_matrix
from impulsar.validate import identities


def test_trees_hold_every_joint_both_ways() -> None:
    """A bound on random trees says nothing about a joint that is in none of them."""
    seen = set()
    for seed in range(identities.TREES):
        system = identities.Rig(identities.random_tree(seed), 1, "cpu").system
        for joint, body in zip(system.tree.carriers, system.tree.bodies, strict=True):
            seen.add((joint.type, joint.second == body))
        assert system.arrays.spins_free.numpy().any()
    assert seen == {(kind.name, forward) for kind in CATALOGUE.values() if kind.tree for forward in (True, False)}


def double_pendulum() -> Model:
    model = Model("double pendulum")
    for k in range(2):
        model.body(f"link {k}", mass=0.5, inertia=(2e-3, 2e-3, 1e-4), position=(0.1 + 0.2 * k, 0, 0))
    model.joint("a", "revolute", "ground", "link 0", at=(0, 0, 0), axis=(0, 1, 0))
    model.joint("b", "revolute", "link 0", "link 1", at=(0.2, 0, 0), axis=(0, 1, 0))
    return model


def test_mass_matrix_of_a_double_pendulum(device: str) -> None:
    """M and the torques that hold it, with l = 0.2, c = 0.1, m = 0.5, J = 2e-3, stretched out level."""
    world = World(double_pendulum(), device=device)
    parts = world.system, world.state, world.runner.work
    own, far, near = 2e-3 + 0.5 * 0.1**2, 2e-3 + 0.5 * 0.3**2, 2e-3 + 0.5 * 0.1 * 0.3
    assert mass_matrix(*parts)[0] == pytest.approx(np.array([[own + far, near], [near, own]]), rel=1e-12)
    # gravity turns a level link about +y
    held = joint_forces(*parts, np.zeros((2, 1)))[:, 0]
    assert held == pytest.approx([-0.5 * 9.81 * (0.1 + 0.3), -0.5 * 9.81 * 0.1], rel=1e-12)


def test_analysis_leaves_the_run_as_it_was(device: str) -> None:
    """A world that was asked for its dynamics between two steps goes on with the same bits."""
    asked, alone = (World(double_pendulum(), device=device) for _ in range(2))
    for world in (asked, alone):
        world.step(10)
    acceleration = asked.body("link 1").acceleration
    parts = asked.system, asked.state, asked.runner.work
    mass_matrix(*parts)
    joint_forces(*parts, np.ones((2, 1)))
    forward_dynamics(*parts, np.ones((2, 1)))
    assert np.array_equal(asked.body("link 1").acceleration, acceleration)
    for world in (asked, alone):
        world.step(10)
    assert asked.hash() == alone.hash()
