"""Methods: how a step is made. One file each; the difference of two files is the difference of two methods."""

from typing import Any

from .direct import Direct
from .simgc import Simgc
from .simmc import Simmc

METHODS: dict[str, Any] = {"direct": Direct, "simgc": Simgc, "simmc": Simmc}

__all__ = ["METHODS", "Direct", "Simgc", "Simmc"]
