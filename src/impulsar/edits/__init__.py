"""Edits: everything that changes a running world, as data applied between steps."""

from .apply import Answer, EditError, apply, known, rotate
from .data import ApplyLoad, Edit, Grab, Move, Release, RemoveLoad, SetParameter, SetStep

__all__ = [
    "Answer",
    "ApplyLoad",
    "Edit",
    "EditError",
    "Grab",
    "Move",
    "Release",
    "RemoveLoad",
    "SetParameter",
    "SetStep",
    "apply",
    "known",
    "rotate",
]
