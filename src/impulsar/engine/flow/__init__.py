"""A fluid that moves by itself: a lattice-Boltzmann solver, and bodies in it."""
