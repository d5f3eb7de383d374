"""Bodies put elsewhere while the mechanism runs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..author.checks import show, vector
from ..author.model import Model
from ..author.rotations import unit_quaternion
from .carry import Places
from .data import SetStart, SetState
from .refusal import EditError, known
from .registry import Desk, Plan, carries_out

ROUNDING = 1e-12  # [m, 1, m/s, rad/s]
POSE = {"position": 3, "orientation": 4, "velocity": 3, "angular_velocity": 3}


@carries_out(SetState)
def set_state(edit: SetState, desk: Desk) -> Plan:
    """Put bodies elsewhere."""
    if not isinstance(edit.bodies, Mapping) or not edit.bodies:
        raise EditError(f"state: bodies are {show(edit.bodies)}, expected poses by the names of bodies")
    model, places = desk.model, Places.of(desk.bench)
    n = places.worlds
    for name, given in edit.bodies.items():
        known("state", "body", name, model.bodies)
        if not isinstance(given, Mapping):
            raise EditError(f"body '{name}': its state is {show(given)}, expected {', '.join(POSE)} by name")
        for what, value in given.items():
            if what not in POSE:
                raise EditError(f"body '{name}': has no {what!r} to be put; give {', '.join(POSE)}")
            rows = _by_world(f"body '{name}'", what, value, n)
            if what == "position":
                places.p_WB[name] = rows
            elif what == "orientation":
                places.q_WB[name] = rows
            else:
                side = slice(3, 6) if what == "velocity" else slice(0, 3)
                twist = places.twist[name].copy()
                twist[:, side] = rows
                places.twist[name] = twist
    asked = [(name, what) for name, given in edit.bodies.items() for what in given]
    return Plan(model, f"state of {', '.join(map(repr, edit.bodies))} is set", places=places, asked=asked)


@carries_out(SetStart)
def set_start(edit: SetStart, desk: Desk) -> Plan:
    """Make the present pose the authored one."""
    if not isinstance(edit.velocities, bool):
        raise EditError(f"start: velocities is {show(edit.velocities)}, expected True or False")
    moving = "pose and velocities" if edit.velocities else "pose, at rest,"
    return Plan(as_shown(desk, edit.velocities), f"the start is now this {moving} of all bodies")


def as_shown(desk: Desk, velocities: bool = True) -> Model:
    """The model of a bench, its bodies authored where they are in the first world, moving as they do or at rest."""
    model, places = desk.model.copy(parts=True), Places.of(desk.bench)
    for name, body in model.bodies.items():
        twist, q = places.twist[name][0] if velocities else np.zeros(6), places.q_WB[name][0]
        model.bodies[name] = replace(
            body,
            position=_kept(body.position, places.p_WB[name][0]),
            orientation=_kept(body.orientation, q if q @ body.orientation >= 0.0 else -q),
            velocity=_kept(body.velocity, twist[3:]),
            angular_velocity=_kept(body.angular_velocity, twist[:3]),
        )
    return model


def _kept(authored: np.ndarray, now: np.ndarray) -> np.ndarray:
    """What was authored, where it is so but for rounding: a scene that is saved as it was opened is the same file."""
    return authored if np.abs(now - authored).max() <= ROUNDING * (1.0 + np.abs(authored).max()) else now


def _by_world(owner: str, what: str, value: Any, n: int) -> np.ndarray:
    """A vector for all worlds, or one for each."""
    many = isinstance(value, np.ndarray | list | tuple) and np.ndim(np.asarray(value, object)) == 2 and n > 1
    values = list(value) if many else [value]
    if many and len(values) != n:
        raise EditError(f"{owner}: {what} has {len(values)} rows, expected one or {n}")
    read = unit_quaternion if what == "orientation" else vector
    rows = [read(owner, what, one) if read is unit_quaternion else vector(owner, what, one, "SI") for one in values]
    return np.broadcast_to(np.array(rows), (n, POSE[what])).copy()
