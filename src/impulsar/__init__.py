"""Impulsar: interactive multibody dynamics. Take hold of a running mechanism and read engineering results."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .author.errors import ModelError
from .author.events import Event
from .author.model import Model
from .author.parts import Motor
from .author.profiles import Formula, Harmonic, Ramp, Smooth, Table
from .author.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, HeightField, Mesh, Plane, Sphere
from .author.visuals import Visual
from .engine.collector import uncollected
from .version import __version__ as __version__

if TYPE_CHECKING:
    from .author.errors import StepError
    from .edits import ApplyLoad, EditError, Grab, Move, Release, RemoveLoad, SetParameter, SetStep
    from .engine.methods import (
        METHODS,
        Baumgarte,
        Direct,
        GeneralizedAlpha,
        LinearImplicit,
        Projected,
        Simgc,
        Simmc,
        Variational,
    )
    from .history.history import History
    from .history.script import to_python
    from .io import load_model, save_model
    from .loading import load
    from .measured import compare
    from .scale import sweep
    from .scale.domains import DomainWorld
    from .scale.large import LargeWorld
    from .scenes import SCENES, scene
    from .world.world import World

_LATER = {  # imported when first asked for: kernels take a second
    ".author.errors": ("StepError",),
    ".edits": ("ApplyLoad", "EditError", "Grab", "Move", "Release", "RemoveLoad", "SetParameter", "SetStep"),
    ".engine.methods": (
        "METHODS",
        "Baumgarte",
        "Direct",
        "GeneralizedAlpha",
        "LinearImplicit",
        "Projected",
        "Simgc",
        "Simmc",
        "Variational",
    ),
    ".history": ("History",),
    ".history.script": ("to_python",),
    ".io": ("load_model", "save_model"),
    ".loading": ("load",),
    ".measured": ("compare",),
    ".scale": ("sweep",),
    ".scale.domains": ("DomainWorld",),
    ".scale.large": ("LargeWorld",),
    ".scenes": ("SCENES", "scene"),
    ".world": ("World",),
}
_MODULES = {
    **{
        name: f".{name}"
        for name in (
            "analysis",
            "edits",
            "io",
            "measured",
            "optimise",
            "render",
            "results",
            "scale",
            "scenes",
            "studio",
            "tracks",
            "validate",
            "world",
        )
    },
    "control": ".world.control",
    "lockstep": ".world.lockstep",
    "methods": ".engine.methods",
    "reports": ".world.reports",
    "sensors": ".author.sensors",
}

__all__ = [
    "METHODS",
    "SCENES",
    "ApplyLoad",
    "Baumgarte",
    "Box",
    "Capsule",
    "Cone",
    "ConvexHull",
    "Cylinder",
    "Direct",
    "DomainWorld",
    "EditError",
    "Event",
    "Formula",
    "GeneralizedAlpha",
    "Grab",
    "Harmonic",
    "HeightField",
    "History",
    "LargeWorld",
    "LinearImplicit",
    "Mesh",
    "Model",
    "ModelError",
    "Motor",
    "Move",
    "Plane",
    "Projected",
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
    "Variational",
    "Visual",
    "World",
    "compare",
    "load",
    "load_model",
    "save_model",
    "scene",
    "sweep",
    "to_python",
]


def _model_png(model: Model) -> bytes | None:
    """A model's authored pose as a picture, for notebooks; None without a body."""
    from .render import pose_authored, pose_png

    return pose_png(model, pose_authored(model), 640, 480) if model.bodies else None


Model._repr_png_ = _model_png  # type: ignore[attr-defined]  # here, because `author` knows no pictures


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name], __name__)
    for module, names in _LATER.items():
        if name in names:
            with uncollected():
                globals()[name] = value = getattr(import_module(module, __name__), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
