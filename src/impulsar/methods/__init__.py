"""Methods: how a step is made. One file each; the difference of two files is the difference of two methods."""

from .simgc import Simgc
from .simmc import Simmc

METHODS = {"simgc": Simgc, "simmc": Simmc}

__all__ = ["METHODS", "Simgc", "Simmc"]
