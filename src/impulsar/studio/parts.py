"""The parts as clients know them: described once, and after an edit only those that it changed.

What changed is found by comparison with the parts of the model, which are never changed in place: a part that an
edit sets a parameter of is another object.
"""

from operator import is_
from typing import Any

import numpy as np

from ..author.model import Model
from ..author.parts import Body, Joint
from ..engine.system import System
from ..world.world import World
from . import describe
from . import messages as ms
from .messages import KINDS

Part = tuple[str, str]  # kind and name


class Parts:
    """Descriptions of all parts, brought up to date edit by edit."""

    def __init__(self) -> None:
        self.generation = self.topology = 0
        self.has_other_motors = False  # after the last update: what a Live says of them is old
        self._told: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
        self._system: System | None = None
        self._model: Model | None = None
        self._points: dict[Part, np.ndarray] = {}  # of bodies and joints as authored, for the size [m]
        self._gravity: ms.Parameter
        self._size = 1.0

    def update(self, world: World) -> ms.Patch | ms.Scene | None:
        """Describe what changed since the last time; None where nothing did, all where most did."""
        system, model, before = world.system, world.system.model, self._model
        changed = self._changed_parts(model)
        is_same = self._system is not None and system.built is self._system.built
        self.has_other_motors = system is not self._system or any(
            features.motor is not None
            for kind, name in changed
            if kind == "joints"
            for features in model.joints[name].features.values()
        )
        has_gravity = before is None or before.gravity is not model.gravity
        has_variables = before is not None and describe.variables(before) != describe.variables(model)
        self._system, self._model = system, model
        if is_same and not (changed or has_gravity or has_variables):
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
            self._told[kind] = {name: self._told[kind][name] for name in describe.listed(model, kind)}
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
            variables=describe.variables(model),
            expressions=dict(model.expressions),
            order=order,
            **new,
        )

    def scene(self, world: World) -> ms.Scene:
        """Everything, as it was described."""
        parts = {kind: list(told.values()) for kind, told in self._told.items()}
        return describe.scene(world.system.model, self.generation, self.topology, self._size, self._gravity, parts)

    def _changed_parts(self, model: Model) -> list[Part]:
        """Parts that are new or other ones."""
        found = []
        for kind in KINDS:
            known = {} if self._model is None else describe.listed(self._model, kind)
            listed = describe.listed(model, kind)
            if len(listed) != len(known) or not all(map(is_, listed.values(), known.values())):
                found += [(kind, name) for name, part in listed.items() if known.get(name) is not part]
        return found

    def _forget_others(self, model: Model) -> dict[str, list[str]]:
        """Drop parts that are gone; the names of every kind of which parts came, went or changed places."""
        order = {}
        for kind in KINDS:
            parts, told = describe.listed(model, kind), self._told[kind]
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
    for shape, _ in body.drawn:
        reach = describe.reach(shape)
        points += [body.world_point(shape.offset + sign * reach) for sign in (-1.0, 1.0)]
    return np.array(points)


def _point_of(model: Model, joint: Joint) -> np.ndarray:
    return np.array([model.bodies.get(joint.first, model.ground).world_point(joint.p_PF)])
