"""Impulsar: interactive multibody dynamics. Take hold of a running mechanism and read engineering results."""

from .edits import ApplyLoad, EditError, Grab, Move, Release, RemoveLoad, SetParameter, SetStep
from .edits.history import History
from .inputs import Harmonic, Ramp, Table
from .io import load_model, save_model
from .methods import METHODS, Direct, Simgc, Simmc
from .model import Box, Capsule, ConvexHull, Cylinder, Model, ModelError, Motor, Sphere
from .reports import StepError
from .scenes import SCENES, scene
from .world import World

__version__ = "0.1.0"

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
