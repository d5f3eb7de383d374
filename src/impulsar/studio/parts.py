"""The parts as clients know them: described once, and after an edit only those that it changed.

What changed is found by comparison: of a system that is still the same one by its parameter arrays, a few
microseconds whatever its size; of another one by the parts of its model too, which are never changed in place.
"""

from typing import Any

import numpy as np

from ..author.model import Model
from ..author.parts import Body, Joint
from ..engine.system import System
from ..engine.system.slots import COUPLING, HAND, MOTORS, SPRING
from ..world.world import World
from . import describe
from . import messages as ms
from .messages import KINDS

OF_BODIES = ("mass", "inertia")
OF_SLOTS = ("slot_a", "slot_b", "slot_c", "slot_d")

Part = tuple[str, str]  # kind and name


class Parts:
    """Descriptions of all parts, brought up to date edit by edit."""

    def __init__(self) -> None:
        self.generation = self.topology = 0
        self.has_other_motors = False  # after the last update: what a Live says of them is old
        self._told: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
        self._system: System | None = None
        self._model: Model | None = None
        self._values: dict[str, np.ndarray] = {}
        self._points: dict[Part, np.ndarray] = {}  # of bodies and joints as authored, for the size [m]
        self._gravity: ms.Parameter
        self._size = 1.0

    def update(self, world: World) -> ms.Patch | ms.Scene | None:
        """Describe what changed since the last time; None where nothing did, all where most did."""
        system, model = world.system, world.system.model
        values = {name: system.parameter(name) for name in ("gravity", *OF_BODIES, *OF_SLOTS)}
        if system is self._system:
            rows = [(name, r) for name in (*OF_BODIES, *OF_SLOTS) for r in _rows(self._values[name], values[name])]
            changed = list(dict.fromkeys(part for name, r in rows if (part := _owner(system, name, r)) is not None))
            self.has_other_motors = any(name == "slot_a" and system.slots[r].kind in MOTORS for name, r in rows)
        else:
            changed, self.has_other_motors = self._changed_parts(system, values), True
        is_same = model is self._model
        has_gravity = not self._values or not np.array_equal(values["gravity"], self._values["gravity"])
        self._system, self._model, self._values = system, model, values
        if is_same and not changed and not has_gravity:
            return None
        if has_gravity:
            self._gravity = describe.gravity(world)
        self.generation += 1
        self.topology += not is_same
        order = {} if is_same else self._forget_others(model)
        new: dict[str, Any] = {kind: [] for kind in KINDS}
        for kind, name in changed:
            told = describe.part(world, kind, name)
            if told != self._told[kind].get(name):  # a part may be another object of the same values
                self._told[kind][name] = told
                new[kind].append(told)
        for kind in order:
            self._told[kind] = {name: self._told[kind][name] for name in getattr(model, kind)}
        if not is_same:
            self._measure(model, changed)
            if self.topology == 1 or 2 * len(changed) > sum(map(len, self._told.values())):
                return self.scene(world)
        return ms.Patch(
            generation=self.generation,
            topology=self.topology,
            size=self._size,
            gravity=self._gravity.value,
            parameters=[self._gravity],
            order=order,
            **new,
        )

    def scene(self, world: World) -> ms.Scene:
        """Everything, as it was described."""
        parts = {kind: list(told.values()) for kind, told in self._told.items()}
        return describe.scene(world.system.model, self.generation, self.topology, self._size, self._gravity, parts)

    def _changed_parts(self, system: System, values: dict[str, np.ndarray]) -> list[Part]:
        """Of another system: parts that are new or other ones, and those whose values are other ones."""
        found: dict[Part, None] = {}
        for kind in KINDS:
            known = {} if self._model is None else getattr(self._model, kind)
            parts = getattr(system.model, kind).items()
            found |= {(kind, name): None for name, part in parts if known.get(name) is not part}
        if self._system is not None:
            before = _values_of_parts(self._system, self._values)
            now = _values_of_parts(system, values)
            found |= {part: None for part, value in now.items() if before.get(part) != value}
        return list(found)

    def _forget_others(self, model: Model) -> dict[str, list[str]]:
        """Drop parts that are gone; the names of every kind of which parts came, went or changed places."""
        order = {}
        for kind in KINDS:
            parts, told = getattr(model, kind), self._told[kind]
            if list(parts) != list(told):
                order[kind] = list(parts)
                self._told[kind] = {name: told[name] for name in told if name in parts}
        return order

    def _measure(self, model: Model, changed: list[Part]) -> None:
        """Largest extent of the authored mechanism, shapes included [m]; only changed parts are looked at again."""
        other = set(changed)
        points: dict[Part, np.ndarray] = {}
        for body in model.bodies.values():
            part = "bodies", body.name
            points[part] = _points_of(body) if part in other or part not in self._points else self._points[part]
        for joint in model.joints.values():
            part = "joints", joint.name
            is_new = part in other or ("bodies", joint.first) in other or part not in self._points
            points[part] = _point_of(model, joint) if is_new else self._points[part]
        self._points = points
        self._size = float(np.ptp(np.vstack([np.zeros((1, 3)), *points.values()]), axis=0).max()) or 1.0


def _points_of(body: Body) -> np.ndarray:
    points = [body.position]
    for shape in body.shapes:
        reach = describe.reach(shape)
        points += [body.world_point(shape.offset + sign * reach) for sign in (-1.0, 1.0)]
    return np.array(points)


def _point_of(model: Model, joint: Joint) -> np.ndarray:
    return np.array([model.bodies.get(joint.first, model.ground).world_point(joint.p_PF)])


def _owner(system: System, array: str, row: int) -> Part | None:
    """The part that a row of an array belongs to; None for a hand's."""
    if array in OF_BODIES:
        return "bodies", system.tree.bodies[row]
    slot = system.slots[row]
    if slot.kind == HAND:
        return None
    kind = {SPRING: "springs", COUPLING: "couplings"}.get(slot.kind, "joints")
    return (kind, slot.name) if slot.name in getattr(system.model, kind) else None


def _rows(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Rows of an array that differ."""
    if before.shape != now.shape:  # one value for all worlds became one of each
        return np.arange(len(now))
    return (before != now).reshape(len(now), -1).any(axis=1).nonzero()[0]


def _values_of_parts(system: System, values: dict[str, np.ndarray]) -> dict[Part, bytes]:
    """The bits of all values of every part."""
    found: dict[Part, bytes] = {}
    for name in (*OF_BODIES, *OF_SLOTS):
        for r, row in enumerate(values[name][:, 0]):
            if (part := _owner(system, name, r)) is not None:
                found[part] = found.get(part, b"") + row.tobytes()
    return found
