"""The model of a running system as it is now: authored parts with the values that edits have set since."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..author.joints import SWING
from ..author.model import Model
from ..author.parts import Features, Joint, Motor
from ..author.profiles import Component, scalar_profiles
from ..engine.system import System
from ..engine.system.slots import COMPLIANCE, COUPLING, FRICTION, LIMIT_HIGH, LIMIT_LOW, MOTORS, SPRING, Slot

LARGEST = 1e299  # a bound above it is none


def present_model(system: System) -> Model:
    """The system's model if nothing was set, else a copy with new parts where something was.

    In a batch a value is that of the first world, or the largest of all where the first has none.
    """
    model = system.model
    new = model.copy()
    changed = _read_bodies(system, new)
    gravity = system.parameter("gravity")[0, 0]
    if not np.array_equal(gravity, model.gravity):
        new.gravity = gravity
        changed = True
    values = np.stack([_first(system.parameter(name)) for name in ("slot_a", "slot_b", "slot_c", "slot_d")], axis=1)
    values[values > LARGEST] = np.inf
    for r in np.flatnonzero((values != system.slot_values).any(axis=1)):
        changed |= _write_slot(new, system.slots[r], values[r].tolist())
    drives: dict[tuple[str, str], list[Any]] = {}
    for slot in system.slots:
        if slot.kind in MOTORS:
            _collect_drive(system, slot, drives)
    for (joint, group), items in drives.items():
        changed |= _write_drive(new, joint, group, items)
    return new if changed else model


def present_joint(system: System, name: str) -> Joint:
    """One joint of the present model but for what drives it, without looking at the others."""
    alone = Model(system.model.name)
    alone.joints[name] = system.model.joints[name]
    for r in system.slots_of.get(name, []):
        arrays = (system.parameter(array)[r : r + 1] for array in ("slot_a", "slot_b", "slot_c", "slot_d"))
        values = np.array([_first(values)[0] for values in arrays])
        values[values > LARGEST] = np.inf
        if (values != system.slot_values[r]).any():
            _write_slot(alone, system.slots[r], values.tolist())
    return alone.joints[name]


def _first(by_world: np.ndarray) -> np.ndarray:
    """Of every slot the value of the first world, or the largest where it has none."""
    first = by_world[:, 0].copy()
    if by_world.shape[1] > 1:
        none = first == 0.0
        first[none] = np.take_along_axis(by_world, np.abs(by_world).argmax(axis=1)[:, None], axis=1)[none, 0]
    return first


def _read_bodies(system: System, new: Model) -> bool:
    changed = False
    masses, inertias = system.parameter("mass")[:, 0], system.parameter("inertia")[:, 0]
    bodies = [new.bodies[name] for name in system.tree.bodies]
    differs = masses != [body.mass for body in bodies]
    differs |= (inertias != np.array([body.inertia for body in bodies])).any(axis=(1, 2))
    for i in np.flatnonzero(differs):
        name, body = bodies[i].name, bodies[i]
        new.bodies[name] = replace(body, mass=float(masses[i]), inertia=inertias[i].copy())
        changed = True
    return changed


def _write_slot(new: Model, slot: Slot, now: list[float]) -> bool:
    """Put the values of a slot into the part that it is of."""
    a, b, c, d = now
    if slot.kind == SPRING:
        new.springs[slot.name] = replace(new.springs[slot.name], stiffness=a, damping=b, free_length=c)
    elif slot.kind == COUPLING:
        new.couplings[slot.name] = replace(new.couplings[slot.name], ratio=b)
    elif slot.name in new.joints:
        joint = new.joints[slot.name]
        group, own = _features_of(joint, slot.code)
        if slot.kind == FRICTION:
            own = replace(own, friction=a)
        elif slot.kind == COMPLIANCE:
            own = replace(own, stiffness=a, damping=b, rest=c, viscous=d)
        elif slot.kind in MOTORS and own.motor is not None:
            own = replace(own, motor=replace(own.motor, max_torque=a))
        elif slot.kind == LIMIT_HIGH and slot.code == SWING:
            own = replace(own, swing=a, restitution=b)
        elif slot.kind in (LIMIT_LOW, LIMIT_HIGH) and own.limits is not None:
            low, high = own.limits
            own = replace(own, limits=(a, high) if slot.kind == LIMIT_LOW else (low, a), restitution=b)
        else:
            return False
        new.joints[slot.name] = replace(joint, features={**joint.features, group: own})
    else:
        return False
    return True


def _features_of(joint: Joint, code: int) -> tuple[str, Features]:
    """Name and features of the group that a freedom, or a limit's measure on a ball, belongs to."""
    for group in joint.kind.groups:
        if code in group.freedoms:
            return group.name, joint.features[group.name]
    ball = next(group for group in joint.kind.groups if group.is_ball)
    return ball.name, joint.features[ball.name]


def _collect_drive(system: System, slot: Slot, drives: dict) -> None:
    joint = system.model.joints[slot.name]
    item = system.channels.items[slot.channel]
    drives.setdefault((slot.name, _features_of(joint, slot.code)[0]), []).append(
        float(item[0]) if isinstance(item, np.ndarray) else item
    )


def _write_drive(new: Model, joint: str, group: str, items: list[Any]) -> bool:
    """Put the items of a motor's inputs back into the motor, if they are not those it was made with."""
    own = new.joints[joint].features[group]
    if own.motor is None:
        return False
    what = next(name for name in ("speed", "position", "torque") if getattr(own.motor, name) is not None)
    value = _joined(items)
    if _same(value, getattr(own.motor, what)):
        return False
    motor: Motor = replace(own.motor, **{what: value})
    part = new.joints[joint]
    new.joints[joint] = replace(part, features={**part.features, group: replace(own, motor=motor)})
    return True


def _joined(items: list[Any]) -> Any:
    """Scalar items as one value: a callable of three components is the callable itself."""
    if all(isinstance(item, Component) for item in items) and len({id(item.function) for item in items}) == 1:
        return items[0].function
    return items[0] if len(items) == 1 else tuple(items)


def _same(a: Any, b: Any) -> bool:
    """Whether a motor's value is what its channels hold."""
    size = len(a) if isinstance(a, tuple) else 1
    if a is b:
        return True
    try:
        return scalar_profiles(a, size) == scalar_profiles(b, size)
    except ValueError:
        return False
