"""Impulsar: interactive multibody dynamics."""

import warp as _wp

_wp.config.log_level = _wp.LOG_WARNING
_wp.config.enable_backward = False

from .edits import ApplyLoad, EditError, Grab, Move, Release, RemoveLoad, SetParameter, SetStep
from .inputs import Harmonic, Ramp, Table
from .methods import METHODS, Simgc
from .model import Box, Capsule, ConvexHull, Cylinder, Model, ModelError, Motor, Sphere
from .scenes import scene
from .world import World
