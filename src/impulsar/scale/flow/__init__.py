"""Fluids that move by themselves, and bodies in them: fields, a lattice-Boltzmann solver, sub-domains over ranks."""

from ...engine.flow.solver import Lattice
from .coupling import Coupled, Field
from .ranks import FlowRanks

__all__ = ["Coupled", "Field", "FlowRanks", "Lattice"]
