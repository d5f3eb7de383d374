"""Bodies in a lattice: terminal speeds, momentum of both, points and resolved bodies, small and large worlds."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.author.errors import ModelError
from impulsar.author.shapes import Box, ConvexHull, Sphere
from impulsar.engine.flow.solver import OWN
from impulsar.scale.flow import Coupled, Lattice
from impulsar.scale.large import Bulk, LargeWorld

RHO, CELL = 1000.0, 1e-3


def hasimoto(c: float) -> float:
    return 1.0 / (1.0 - 1.7601 * c ** (1 / 3) + c - 1.5593 * c * c)


def ball(radius, ratio, gravity, at, velocity=(0.0, 0.0, 0.0), **fluid) -> Bulk:
    mass = ratio * RHO * 4.0 / 3.0 * math.pi * radius**3
    inertia = 0.4 * mass * radius**2 * np.eye(3)[None]
    bulk = Bulk(np.array([at]), np.array([[0.0, 0, 0, 1]]), np.zeros(1, int), np.array([mass]), inertia)
    bulk.radius, bulk.gravity = np.array([radius]), (0.0, 0.0, -gravity)
    bulk.twist = np.array([[0.0, 0, 0, *velocity]])
    bulk.fluid("water", **{"density": RHO, "surface": None, "drag": False, **fluid})
    return bulk


def test_own_velocity_is_the_lattice_s():
    """The table of velocities by a steady force on a cell, read again; Hasimoto's 2.8373 / 6 π L for the images."""
    n = 16
    lattice = Lattice((n,) * 3, 1.0, 1.0 / 3.0, density=1.0, viscosity=1.0, force=(-1e-4 / n**3, 0.0, 0.0))
    at, h = np.full((1, 3), n / 2 + 0.5), 20 * lattice.dt
    for _ in range(round(0.3 * n * n / h)):
        lattice.push(at, np.array([[1e-4 * h, 0.0, 0.0]]))
        lattice.advance(h)
    for off, value in np.ndenumerate(OWN):
        u = lattice.velocity(at + np.array(off))[0, 0] / 1e-4 + 2.8373 / (6.0 * math.pi * n)
        assert u == pytest.approx(value, abs=4.0 / n**3)
    assert np.abs(lattice.momentum()).max() < 1e-14


@pytest.mark.parametrize(("size", "Re"), [(0.5, 0.1), (0.2, 10.0), (0.4, 50.0)])
def test_terminal_speed_of_a_point(size, Re):
    """Within 5 % of Schiller and Naumann; slow, of Hasimoto's array. What fluid and body have together stays zero."""
    n, radius, mu, ratio = 12, size * CELL, 1e-3, 2.5
    speed, volume = Re * mu / RHO / (2.0 * radius), 4.0 / 3.0 * math.pi * radius**3
    weight = 6.0 * math.pi * mu * radius * speed * (1.0 + 0.15 * Re**0.687)
    heavy = (ratio + 0.5) * RHO * volume
    dt = min(0.1 * CELL**2 * RHO / mu, 0.1 * CELL / speed, 0.5 * ratio * RHO * volume * speed / weight)
    bulk = ball(radius, ratio, weight / ((ratio - 1) * RHO * volume), np.full(3, 6.1 * CELL))
    lattice = Lattice((n,) * 3, CELL, dt, RHO, mu, force=(0.0, 0.0, weight / (n * CELL) ** 3))
    world = LargeWorld(bulk, dt=dt, substeps=1)
    coupled = Coupled(world, "water", lattice)
    relax = heavy * speed / weight
    coupled.step(round(6.0 * relax / dt))
    found = []
    for _ in range(max(20, round(CELL / speed / dt))):  # across a cell
        coupled.step()
        found.append(-world.velocities[0, 5])
    law = speed / hasimoto(volume / (n * CELL) ** 3) if Re < 1.0 else speed
    assert np.mean(found) + lattice.momentum()[2] / (RHO * (n * CELL) ** 3) == pytest.approx(law, rel=0.05)
    both = heavy * world.velocities[0, 3:] + lattice.momentum()
    assert np.abs(both).max() < 1e-11 * heavy * speed


@pytest.mark.parametrize("large", [True, False])
def test_terminal_speed_of_a_resolved_sphere(large):
    """Slow in a box that repeats itself: Hasimoto's, within (1/R)² / 2 at a radius of R = 4 cells."""
    n, radius, mu, ratio, speed = 16, 4.0 * CELL, 0.1, 2.0, 5e-4
    volume, box = 4.0 / 3.0 * math.pi * radius**3, (n * CELL) ** 3
    weight = 6.0 * math.pi * mu * radius * speed * hasimoto(volume / box)
    dt = 0.5 / 3.0 * CELL**2 * RHO / mu
    model = im.Model("ball")
    model.gravity = (0.0, 0.0, -weight / ((ratio - 1) * RHO * volume))
    model.body("ball", shape=Sphere(radius), density=ratio * RHO, position=np.full(3, 8.2 * CELL))
    model.fluid("water", density=RHO, surface=None, drag=False, added_mass=False)
    lattice = Lattice((n,) * 3, CELL, dt, RHO, mu, force=(0.0, 0.0, weight / box))
    world = LargeWorld(model, dt=dt) if large else im.World(model, dt=dt)
    coupled = Coupled(world, "water", lattice, resolved=True)
    coupled.step(300)
    v = world.velocities[0, 5] if large else world.body("ball").velocity[2]
    outside = lattice.momentum()[2] / RHO / box + volume / box * v  # mean over all of the volume
    assert outside - v == pytest.approx(speed, rel=0.5 / 4.0**2)


def test_momentum_of_resolved_bodies_stays():
    """A ball and a box that are thrown into fluid at rest, across a border that repeats itself: what they lose it has,
    cells that they come over and leave among it, to rounding."""
    n, mu = 16, 0.05
    model = im.Model("thrown")
    model.gravity = (0.0, 0.0, 0.0)
    speed = 0.05 * CELL / 1e-3
    model.body("ball", shape=Sphere(3.1 * CELL), density=2500.0, position=(0.001, 0.004, 0.004), velocity=(speed, 0, 0))
    size = (4 * CELL, 5 * CELL, 3 * CELL)
    model.body("box", shape=Box(size), density=4000.0, position=(0.010, 0.011, 0.01), angular_velocity=(9, 5, 3))
    model.fluid("water", density=RHO, surface=None, drag=False, added_mass=False)
    lattice = Lattice((n,) * 3, CELL, 1e-3, RHO, mu)
    world = LargeWorld(model, dt=1e-3)
    coupled = Coupled(world, "water", lattice, resolved=True)
    start = world.momentum()
    coupled.step(60)
    assert world.positions[0, 0] - 0.001 > CELL
    assert np.abs(world.momentum() - start).max() > 0.05 * np.abs(start).max()
    both = world.momentum() + lattice.momentum() + coupled.pending[:, 3:].sum(0)
    assert np.abs(both - start).max() < 1e-13 * np.abs(start).max()
    assert 0.0 < np.linalg.norm(world.velocities[1, :3]) < 0.9 * math.sqrt(9**2 + 5**2 + 3**2)


def test_a_field_of_one_s_own():
    """Anything with velocity, push and advance is a field: here one that turns, and counts what it is given."""

    class Whirl:
        density, viscosity = RHO, 1e-3

        def __init__(self):
            self.got, self.time = np.zeros(3), 0.0

        def velocity(self, at):
            return np.stack([-at[:, 1], at[:, 0], 0.0 * at[:, 0]], 1)

        def push(self, at, impulses):
            self.got += impulses.sum(0)

        def advance(self, h):
            self.time += h

    world = LargeWorld(ball(1e-4, 1.0, 0.0, (0.1, 0.0, 0.0), added_mass=False), dt=1e-4, substeps=1)
    whirl = Whirl()
    coupled = Coupled(world, "water", whirl)
    coupled.step(500)
    assert whirl.time == pytest.approx(0.05)
    assert world.velocities[0, 3:] == pytest.approx(whirl.velocity(world.positions)[0], abs=2e-3)
    assert np.abs(world.momentum() + whirl.got).max() < 1e-12 * np.abs(whirl.got).max()


def test_what_cannot_be_coupled():
    lattice = Lattice((16,) * 3, CELL, 1e-3, RHO, 0.05)
    with pytest.raises(ModelError, match="no fluid 'oil'"):
        Coupled(LargeWorld(ball(1e-4, 2.0, 9.81, np.zeros(3))), "oil", lattice)
    with pytest.raises(ModelError, match="give drag=False"):
        Coupled(LargeWorld(ball(1e-4, 2.0, 9.81, np.zeros(3), drag=None)), "water", lattice)
    with pytest.raises(ModelError, match="added mass; give False"):
        Coupled(LargeWorld(ball(3e-3, 2.0, 9.81, np.zeros(3))), "water", lattice, resolved=True)
    with pytest.raises(ModelError, match="is no field"):
        Coupled(LargeWorld(ball(1e-4, 2.0, 9.81, np.zeros(3))), "water", object())
    model = im.Model("hull")
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) * 4 * CELL
    model.body("hull", shape=ConvexHull(corners), density=2000.0)
    model.fluid("water", density=RHO, surface=None, drag=False, added_mass=False)
    with pytest.raises(ModelError, match="body 'hull': a ConvexHull is not resolved"):
        Coupled(LargeWorld(model), "water", lattice, resolved=True)
