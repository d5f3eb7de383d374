"""System: a model as arrays on a device."""

from .arrays import SystemArrays
from .build import EMPTY, System

__all__ = ["EMPTY", "System", "SystemArrays"]
