"""Methods: how a step is made. One file each; the difference of two files is the difference of two methods."""

from .simgc import Simgc

METHODS = {"simgc": Simgc}

__all__ = ["METHODS", "Simgc"]
