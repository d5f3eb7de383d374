"""Impulsar: interactive multibody dynamics. Take hold of a running mechanism and read engineering results."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .author.errors import ModelError
from .author.model import Model
from .author.parts import Motor
from .author.profiles import Harmonic, Ramp, Smooth, Table
from .author.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, HeightField, Mesh, Plane, Sphere
from .version import __version__ as __version__

if TYPE_CHECKING:
    from .author.errors import StepError
    from .edits import ApplyLoad, EditError, Grab, Move, Release, RemoveLoad, SetParameter, SetStep
    from .engine.methods import METHODS, Direct, Simgc, Simmc
    from .history.history import History
    from .io import load_model, save_model
    from .scenes import SCENES, scene
    from .world.world import World

_LATER = {  # imported when first asked for: kernels take a second
    ".author.errors": ("StepError",),
    ".edits": ("ApplyLoad", "EditError", "Grab", "Move", "Release", "RemoveLoad", "SetParameter", "SetStep"),
    ".engine.methods": ("METHODS", "Direct", "Simgc", "Simmc"),
    ".history": ("History",),
    ".io": ("load_model", "save_model"),
    ".scenes": ("SCENES", "scene"),
    ".world": ("World",),
}
_MODULES = {
    **{
        name: f".{name}"
        for name in ("analysis", "edits", "io", "render", "results", "scenes", "studio", "validate", "world")
    },
    "methods": ".engine.methods",
    "reports": ".world.reports",
}

__all__ = [
    "METHODS",
    "SCENES",
    "ApplyLoad",
    "Box",
    "Capsule",
    "Cone",
    "ConvexHull",
    "Cylinder",
    "Direct",
    "EditError",
    "Grab",
    "Harmonic",
    "HeightField",
    "History",
    "Mesh",
    "Model",
    "ModelError",
    "Motor",
    "Move",
    "Plane",
    "Ramp",
    "Release",
    "RemoveLoad",
    "SetParameter",
    "SetStep",
    "Simgc",
    "Simmc",
    "Smooth",
    "Sphere",
    "StepError",
    "Table",
    "World",
    "load_model",
    "save_model",
    "scene",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name], __name__)
    for module, names in _LATER.items():
        if name in names:
            globals()[name] = value = getattr(import_module(module, __name__), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
