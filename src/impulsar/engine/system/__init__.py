"""System: a model as arrays on a device."""

from .arrays import SystemArrays
from .build import EMPTY, TOPOLOGY_OF_EDITS, System

__all__ = ["EMPTY", "TOPOLOGY_OF_EDITS", "System", "SystemArrays"]
