"""Impulsar: interactive multibody dynamics. Take hold of a running mechanism and read engineering results."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .edits import ApplyLoad, EditError, Grab, Move, Release, RemoveLoad, SetParameter, SetStep
from .inputs import Harmonic, Ramp, Table
from .methods import METHODS, Direct, Simgc, Simmc
from .model import Box, Capsule, ConvexHull, Cylinder, Model, ModelError, Motor, Sphere
from .reports import StepError
from .scenes import SCENES, scene
from .world import World

if TYPE_CHECKING:
    from .edits.history import History
    from .io import load_model, save_model

__version__ = "0.1.0"
_LATER = {"History": ".edits.history", "load_model": ".io", "save_model": ".io"}  # imported when first asked for

__all__ = [
    "METHODS",
    "SCENES",
    "ApplyLoad",
    "Box",
    "Capsule",
    "ConvexHull",
    "Cylinder",
    "Direct",
    "EditError",
    "Grab",
    "Harmonic",
    "History",
    "Model",
    "ModelError",
    "Motor",
    "Move",
    "Ramp",
    "Release",
    "RemoveLoad",
    "SetParameter",
    "SetStep",
    "Simgc",
    "Simmc",
    "Sphere",
    "StepError",
    "Table",
    "World",
    "load_model",
    "save_model",
    "scene",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
