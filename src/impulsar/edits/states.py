"""Bodies put elsewhere while the mechanism runs."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..author.checks import show, vector
from ..author.rotations import unit_quaternion
from .carry import Places
from .data import SetState
from .refusal import EditError, known
from .registry import Desk, Plan, carries_out

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
    return Plan(model, f"state of {', '.join(map(repr, edit.bodies))} is set", places=places)


def _by_world(owner: str, what: str, value: Any, n: int) -> np.ndarray:
    """A vector for all worlds, or one for each."""
    many = isinstance(value, np.ndarray | list | tuple) and np.ndim(np.asarray(value, object)) == 2 and n > 1
    values = list(value) if many else [value]
    if many and len(values) != n:
        raise EditError(f"{owner}: {what} has {len(values)} rows, expected one or {n}")
    read = unit_quaternion if what == "orientation" else vector
    rows = [read(owner, what, one) if read is unit_quaternion else vector(owner, what, one, "SI") for one in values]
    return np.broadcast_to(np.array(rows), (n, POSE[what])).copy()
