"""A lattice over the ranks of mpiexec: bodies and points in it, and what came of them, to a file."""

import sys

import numpy as np
from mpi4py import MPI

import impulsar as im
from impulsar.author.shapes import Box, Sphere
from impulsar.scale.flow import Coupled, FlowRanks, Lattice
from impulsar.scale.large import LargeWorld

CELL = 1e-3


def main(path: str, side: str) -> None:
    """Two resolved bodies and three points fall in a box, periodic or between walls along x."""
    ranks = FlowRanks(MPI.COMM_WORLD)
    model = im.Model("divided")
    model.body("ball", shape=Sphere(2.6 * CELL), density=2500.0, position=(0.0081, 0.005, 0.006))
    size = (3 * CELL, 4 * CELL, 3 * CELL)
    model.body("box", shape=Box(size), density=4000.0, position=(0.0125, 0.006, 0.006), angular_velocity=(9, 5, 3))
    for k in range(3):
        model.body(f"p{k}", shape=Sphere(2e-4), density=2500.0, position=(0.0008 + 0.0071 * k, 0.002, 0.01))
    model.fluid("water", surface=None, drag=False, added_mass=False)
    lattice = Lattice((16, 12, 14), CELL, 2.5e-4, 1000.0, 0.05, sides=(side, "periodic", "wall"), ranks=ranks)
    world = LargeWorld(model, dt=2.5e-4)
    coupled = Coupled(world, "water", lattice, resolved=("ball", "box"))
    coupled.step(15)
    u = ranks.planes_of_all(lattice.velocities())
    momentum = lattice.momentum()
    if ranks.rank == 0:
        np.savez(path, u=u, momentum=momentum, p=world.positions, V=world.velocities, sent=ranks.sent)


if __name__ == "__main__":
    main(*sys.argv[1:])
