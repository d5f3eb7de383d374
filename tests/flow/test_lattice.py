"""The lattice's fluid alone: closed forms of flows, and drag of a sphere that is held."""

import numpy as np
import pytest
import warp as wp

from impulsar.author.errors import ModelError, StepError
from impulsar.author.shapes import Sphere
from impulsar.engine.flow.solids import shaped
from impulsar.scale.flow import Lattice

WALLS = ("periodic", "periodic", "wall")


def settled(lattice: Lattice, times: float) -> np.ndarray:
    """x velocities across z, after so many times that momentum needs to spread over the height."""
    n, nu = lattice.cells[2], lattice.viscosity / lattice.density
    lattice.advance(lattice.dt * round(times * (n * lattice.cell) ** 2 / nu / lattice.dt))
    return lattice.velocities()[0, 0, :, 0]


@pytest.mark.parametrize("slow", [0.2, 1.0])
def test_couette_and_poiseuille_are_exact(slow):
    """Lines and parabolas to rounding, whatever the viscosity: walls are half-way by the magic number 3/16."""
    n = 8
    z = (np.arange(n) + 0.5) / n
    made = {"cells": (1, 1, n), "cell": 1.0 / n, "dt": slow / 3.0 / n**2, "density": 1.0, "viscosity": 1.0}
    u = settled(Lattice(**made, sides=WALLS, slip={"+z": (0.1, 0.0, 0.0)}), 4.0)
    assert np.abs(u - 0.1 * z).max() < 1e-12
    u = settled(Lattice(**made, sides=WALLS, force=(0.1, 0.0, 0.0)), 4.0)
    assert np.abs(u - 0.05 * z * (1.0 - z)).max() < 1e-12


def test_taylor_green_decays_at_second_order():
    """u = sin x cos y e^(-2 ν t): the error falls by four with half the cells, at dt ~ cell²."""
    off = []
    for n in (16, 32):
        x = (np.arange(n) + 0.5) * 2.0 * np.pi / n
        X, Y = np.meshgrid(x, x, indexing="ij")
        u0 = np.zeros((n, n, 1, 3))
        u0[:, :, 0, 0], u0[:, :, 0, 1] = np.sin(X) * np.cos(Y), -np.cos(X) * np.sin(Y)
        p0 = 0.25 * (np.cos(2 * X) + np.cos(2 * Y))[:, :, None]
        steps = 64 * (n // 16) ** 2
        lattice = Lattice((n, n, 1), 2.0 * np.pi / n, 0.64 / steps, density=1.0, viscosity=0.3)
        lattice.set(u0, p0)
        lattice.advance(0.64)
        off.append(np.abs(lattice.velocities() - u0 * np.exp(-2.0 * 0.3 * 0.64)).max())
    assert np.log2(off[0] / off[1]) == pytest.approx(2.0, abs=0.3)
    assert off[1] < 5e-3


def test_open_side_lets_the_fluid_out():
    """Fluid driven at one end of a channel of walls flows out of the open sides: its pressure there is that at rest."""
    lattice = Lattice((1, 1, 24), 1.0, 0.2, density=1.0, viscosity=1.0, sides=("periodic", "periodic", "open"))
    lattice.set(np.array([0.0, 0.0, 0.02]), 0.0)
    lattice.advance(0.2 * 2000)
    assert lattice.velocities()[0, 0, :, 2] == pytest.approx(0.02, rel=1e-3)
    assert np.abs(lattice.pressures()).max() < 1e-3


@pytest.mark.parametrize(("slow", "off"), [(0.3, (0.3, 0.1, 0.2)), (1.0, (0.0, 0.0, 0.0))])
def test_drag_of_an_array_of_spheres(slow, off):
    """Hasimoto 1959: F = 6 π μ R U / (1 - 1.7601 c^⅓ + c - 1.5593 c²), U the mean over all of the volume; second
    order in cells, so within (1/R)² / 2 of it at R = 4 cells."""
    n, R, f = 16, 4.0, 1e-4
    c = 4.0 / 3.0 * np.pi * R**3 / n**3
    law = 6.0 * np.pi * R / (1.0 - 1.7601 * c ** (1 / 3) + c - 1.5593 * c * c)
    lattice = Lattice((n,) * 3, 1.0, slow / 3.0, density=1.0, viscosity=1.0, force=(f, 0.0, 0.0))
    lattice.immerse([shaped("ball", Sphere(R))], [0])
    pose = [np.array([[n / 2 + np.array(off)]]), np.array([[[0.0, 0, 0, 1]]]), np.zeros((1, 1, 6))]
    arrays = [wp.array(a, dtype=kind) for a, kind in zip(pose, (wp.vec3d, wp.quatd, wp.spatial_vectord), strict=True)]
    lattice.set(np.array([f * n**3 / law, 0.0, 0.0]))
    for _ in range(2):
        lattice.place(*arrays)
        lattice.advance(lattice.dt * round(0.15 * n * n / lattice.dt))
    U = lattice.velocities()[..., 0].mean()
    force = lattice.wrenches()[0]
    assert force[3] == pytest.approx(f * n**3, rel=0.02)  # steady
    assert force[3] / U == pytest.approx(law, rel=0.5 / R**2)
    assert np.abs(force[:3]).max() < 0.02 * force[3] * R


def test_nonsense_is_answered_by_name():
    with pytest.raises(ModelError, match="viscosity is 0"):
        Lattice((4, 4, 4), 1.0, 1.0, viscosity=0)
    with pytest.raises(ModelError, match="expected three"):
        Lattice((4, 4, 4), 1.0, 1.0, sides=("periodic", "moving", "wall"))
    with pytest.raises(ModelError, match="too little to hold"):
        Lattice((4, 4, 4), 1.0, 1e-6)
    with pytest.raises(ModelError, match="no wall"):
        Lattice((4, 4, 4), 1.0, 1.0, density=1.0, viscosity=0.1, slip={"+z": (1, 0, 0)})
    lattice = Lattice((4, 4, 4), 1.0, 1.0, density=1.0, viscosity=0.1, sides=WALLS)
    with pytest.raises(ModelError, match="no whole number"):
        lattice.advance(1.5)
    with pytest.raises(StepError, match="outside the box in z"):
        lattice.velocity(np.array([[0.0, 0.0, 5.0]]))
    lattice.set(np.array([0.5, 0.0, 0.0]))
    with pytest.raises(StepError, match="cells a step"):
        lattice.advance(1.0)


def test_two_halves_are_the_whole():
    """Planes divided between two lattices that hand each other the ones beside the border: the same bits."""

    class Half:
        size = 2

        def __init__(self, rank):
            self.rank = rank

        def swap_planes(self, lattice, around):
            """Done below, when both have stepped."""

        def largest(self, value):
            return value

    made = {"cells": (9, 4, 6), "cell": 1.0, "dt": 0.3, "density": 1.0, "viscosity": 0.4, "sides": WALLS}
    whole, halves = Lattice(**made), [Lattice(**made, ranks=Half(k)) for k in range(2)]
    u = 0.05 * np.random.default_rng(0).uniform(-1.0, 1.0, (9, 4, 6, 3))

    def swap():
        g = [one.g.numpy().reshape(19, one.planes + 2, 4, 6) for one in halves]
        for k in range(2):
            g[k][:, 0], g[k][:, -1] = g[1 - k][:, -2], g[1 - k][:, 1]

    for one in (whole, *halves):
        one.set(u)
    swap()
    for _ in range(10):
        for one in (whole, *halves):
            one.advance(0.3)
        swap()
    together = np.concatenate([one.velocities() for one in halves])
    assert np.array_equal(whole.velocities(), together)
    assert np.abs(together - u).max() > 1e-3
