"""Inertia of bodies: the host's momenta and the kernels' energy are of one inertia."""

import numpy as np
import pytest

import impulsar as im
from impulsar.engine.coordinates.inertia import momenta


@pytest.mark.parametrize("method", ["simgc", "simmc", "direct"])
def test_momenta_have_the_kinetic_energy_of_the_books(method):
    """T = Σ V · I V / 2, of every world of a batch by its own masses; sums of n terms round by n eps."""
    world = im.World(im.scene("ten-pendula", start="30deg"), method, dt=0.002, worlds=3)
    world.set("link10.mass", np.array([0.05, 0.1, 0.3]))
    world.step(50)
    bench = world.runner
    own = momenta(bench.system.parameter("mass"), bench.bench.read("I_W"), bench.bench.read("twist"))
    twice = (own * bench.work.twist.numpy()).sum(axis=(0, 2))
    assert len(set(twice)) == 3
    assert 0.5 * twice == pytest.approx(world.energy().kinetic, rel=1e-14)
