"""Edits: everything that changes a running world, as data applied between steps."""

from . import drag  # noqa: F401  registers DragTo
from .apply import Answer, apply
from .data import (
    Add,
    ApplyLoad,
    ChangeJoint,
    DragTo,
    Drive,
    Edit,
    Grab,
    Move,
    Pause,
    Release,
    Remove,
    RemoveLoad,
    Reset,
    SetMethod,
    SetMotor,
    SetParameter,
    SetState,
    SetStep,
)
from .refusal import Cancelled, EditError, HeldError, check_values, known, method_options

__all__ = [
    "Add",
    "Answer",
    "ApplyLoad",
    "Cancelled",
    "ChangeJoint",
    "DragTo",
    "Drive",
    "Edit",
    "EditError",
    "Grab",
    "HeldError",
    "Move",
    "Pause",
    "Release",
    "Remove",
    "RemoveLoad",
    "Reset",
    "SetMethod",
    "SetMotor",
    "SetParameter",
    "SetState",
    "SetStep",
    "apply",
    "check_values",
    "known",
    "method_options",
]
