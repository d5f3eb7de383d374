"""What a method says of parts that it has no law for."""

from typing import Any

import numpy as np

from ...author.errors import ModelError
from ..spatial import UNLIMITED
from ..system import System
from ..system.slots import FRICTION, LIMIT_HIGH, LIMIT_LOW, MOTOR_POSITION, MOTOR_SPEED
from ..system.tree import has_armature, key_of

CURE = "take method direct, or leave it out"


def refuse_jumps(method: Any, system: System) -> None:
    """Raise ModelError at what acts by jumps: dry friction, limits, contact."""
    bounds = system.parameter("slot_a")
    for r, slot in enumerate(system.slots):
        told = ""
        if slot.kind == FRICTION and bounds[r].max() > 0.0:
            told = "has dry friction"
        elif slot.kind in (LIMIT_LOW, LIMIT_HIGH) and np.abs(bounds[r]).min() < float(UNLIMITED):
            told = "has limits"
        if told:
            raise ModelError(f"joint '{slot.name}': {told}, for which {method.name} has no law; {CURE}")
    if system.counts.contacts:
        raise ModelError(f"model '{system.model.name}': has contact, for which {method.name} has no law; {CURE}")


def refuse_inner_states(method: Any, system: System) -> None:
    """Raise ModelError at force elements that have states of their own: tyres."""
    for tyre in system.model.tyres:
        raise ModelError(f"tyre '{tyre}': has deflections, which {method.name} does not integrate; {CURE}")


def refuse_weak_motors(method: Any, system: System) -> None:
    """Raise ModelError at motors whose torque has a bound."""
    bounds = system.parameter("slot_a")
    for r, slot in enumerate(system.slots):
        if slot.kind in (MOTOR_SPEED, MOTOR_POSITION) and bounds[r].min() < float(UNLIMITED):
            told = f"has a motor that is bounded, by max_torque {bounds[r].min():g}"
            raise ModelError(f"joint '{slot.name}': {told}, for which {method.name} has no law; {CURE}")


def refuse_armature(method: Any, system: System) -> None:
    """Raise ModelError at armature: momenta are taken of bodies."""
    for joint in filter(has_armature, system.joints):
        raise ModelError(f"joint '{key_of(joint)}': has armature, for which {method.name} has no law; {CURE}")


def refuse_fluids(method: Any, system: System) -> None:
    """Raise ModelError at a fluid: what acts depends on velocities, and inertia on the pose."""
    for name in system.model.fluids:
        raise ModelError(f"fluid '{name}': has drag and added mass, for which {method.name} has no law; {CURE}")
