"""Many models in one batch: worlds that differ in any number that kernels keep for each world.

A system's parameters are [part, world]. Models of the same parts, joined alike, give columns of these arrays, whatever
was varied: lengths, masses, joint frames, springs, motors. What the kernels share (topology, scales of lengths, tables,
shapes that touch) and which rows hold the mechanism is the nominal model's; a model that does not agree in the first,
or whose rows say that the nominal choice does not hold it, is not of the batch. So the steps of a world do not depend
on which others are beside it.

Joints that new sizes leave open are closed as an edit closes them (edits/fit.py): the pose nearest to the authored one
in the norm of the masses.
"""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..author.profiles import Harmonic, Ramp, Smooth
from ..author.touching import touching_shapes
from ..edits.carry import OPEN, Change, Places, write_coordinates
from ..edits.fit import fit
from ..engine.freedoms import code_coordinates
from ..engine.launch import launch
from ..engine.start.redundancy import choose_rows, row_key, rows_kernel
from ..engine.state import State, allocate_work
from ..engine.system import System
from ..engine.system.plain import PlainSystem
from ..engine.system.slots import CLOSURE, COUPLING, IDLE
from ..engine.system.tree import has_loop

DECIDED = ("basis", "rank", "slack", "weak")  # parameters that the choice of rows writes
SCALES = ("home", "size", "slot_weight", "dof_weight")  # lengths that things are compared by
ON_HOST = ("sensors", "tyres", "fluids", "obstacles", "materials", "material_pairs", "no_contacts")  # not by world
WITH_NUMBERS = (Ramp, Smooth, Harmonic)
SURE = 10.0  # times the tolerance: strength that the rows chosen must have
STRANGE = 0.3  # how far the pose is from the closed one at which idle rows are looked at again [rad, sizes]
CLOSED = 1e-10  # [m, rad]


class Stack:
    """Columns of parameters, and where each world begins; `apart` says why models are not in it, by their number."""

    def __init__(
        self,
        model: Model,
        models: Sequence[Model],
        coordinates: str,
        redundancy: float,
        contacts: int | None = None,
    ):
        self.model, self.coordinates, self.redundancy, self.contacts = model, coordinates, redundancy, contacts
        self.nominal = PlainSystem(model, 1, "cpu", coordinates, contacts=contacts)
        self.apart: dict[int, str] = {}
        systems: dict[int, PlainSystem] = {}
        is_open = []
        for k, one in enumerate(models):
            try:
                is_open.append(check_open(one))
                systems[k] = PlainSystem(one, 1, "cpu", coordinates, checked=True, contacts=contacts)
                told = unlike(self.nominal, systems[k])
            except ModelError as error:
                is_open.append(False)
                told = str(error)
            if told:
                self.apart[k] = told
                systems.pop(k, None)
        self.models, self.index = list(models), list(systems)
        self._columns(list(systems.values()))
        if self.index:
            self._settle(np.array([is_open[k] for k in self.index]))

    def __len__(self) -> int:
        return len(self.index)

    def _columns(self, systems: list[PlainSystem]) -> None:
        """Parameters, inputs, poses and velocities, one column for each system."""
        names = [name for name in self.nominal.parameters if name not in DECIDED]
        self.parameters: dict[str, np.ndarray] = {
            name: np.concatenate([system.parameter(name) for system in systems], axis=1) for name in names if systems
        }
        self.q = np.zeros((self.nominal.counts.coordinates, len(systems)))
        self.inputs = [joined(items) for items in zip(*[system.channels.items for system in systems], strict=True)]
        bodies = [[system.model.bodies[name] for system in systems] for name in self.nominal.tree.bodies]
        self.p_WB, self.q_WB, self.twist = (
            np.array([[read(body) for body in own] for own in bodies]).reshape(len(bodies), len(systems), size)
            for read, size in (
                (lambda body: body.position, 3),
                (lambda body: body.orientation, 4),
                (lambda body: np.concatenate([body.angular_velocity, body.velocity]), 6),
            )
        )

    def _keep(self, kept: np.ndarray) -> None:
        """Let go of the other columns."""
        self.index = [k for k, keeps in zip(self.index, kept, strict=True) if keeps]
        self.parameters = {name: values[:, kept] for name, values in self.parameters.items()}
        self.inputs = [own[kept] if isinstance(own, np.ndarray) else _columns_of(own, kept) for own in self.inputs]
        self.q, self.p_WB, self.q_WB = self.q[:, kept], self.p_WB[:, kept], self.q_WB[:, kept]
        self.twist = self.twist[:, kept]

    def write(self, system: System) -> None:
        """Give a system of the nominal model, whose rows have been chosen, the numbers of each world."""
        for name, values in self.parameters.items():
            if len(values) and not (values == values[:, :1]).all():
                system.replace_parameter(name, values)
            elif len(values):
                system.replace_parameter(name, values[:, :1].copy())
        system.channels.items = list(self.inputs)
        system.channels.write(system.arrays)
        system.each = tuple(self.models[k] for k in self.index)

    def places(self) -> Places:
        """Where the bodies of each world begin."""
        places = Places(len(self))
        for i, body in enumerate(self.nominal.tree.bodies):
            places.put(body, self.p_WB[i], self.q_WB[i], np.zeros(6))
        return places

    def _settle(self, is_open: np.ndarray) -> None:
        """Close what is open; leave out what does not close, and what the nominal choice of rows does not hold."""
        system = System(self.model, len(self), "cpu", self.coordinates, checked=True, contacts=self.contacts)
        choose_rows(system, self.redundancy)
        self.write(system)
        state = State(system.counts, "cpu")
        write_coordinates(Change(system, self.places()), state)
        self.q = state.read("q").copy()
        if is_open.any():
            work = allocate_work(system.counts, "cpu")
            error = fit(system, state, work, (self.p_WB, self.q_WB, np.zeros_like(self.twist)), CLOSED)
            self.q[:, is_open] = state.read("q")[:, is_open]
            self.p_WB[:, is_open] = work.p_WB.numpy()[:, is_open]
            self.q_WB[:, is_open] = work.q_WB.numpy()[:, is_open]
            failed = is_open & ~(error <= OPEN)
        else:
            failed = np.zeros(len(self), bool)
        held = rows_hold(system, self) if has_loop(self.model) or self.model.couplings else np.ones(len(self), bool)
        for k, is_failed, is_held in zip(self.index, failed, held, strict=True):
            if is_failed:
                self.apart[k] = "its joints do not close"
            elif not is_held:
                self.apart[k] = "other rows hold it"
        self._keep(~failed & held)


def check_open(model: Model) -> bool:
    """Check a model; returns whether its joints do not meet."""
    model.check(meeting=False)
    try:
        for joint in model.joints.values():
            model.check_meeting(joint)
    except ModelError:
        return True
    return False


def stack_of(
    model: Model, worlds: "Sequence[Model] | Stack", coordinates: str, redundancy: float, contacts: int | None
) -> Stack:
    """The stack of a list of models, of which none is apart."""
    if isinstance(worlds, Stack):
        return worlds
    if not all(isinstance(one, Model) for one in worlds):
        raise ModelError("worlds: expected a list of models, one for each world")
    stack = Stack(model, worlds, coordinates, redundancy, contacts)
    for k, told in stack.apart.items():
        raise ModelError(
            f"worlds: model {k} cannot be in a batch with '{model.name}': {told}; build a World of its own"
        )
    return stack


# what has to be alike -----------------------------------------------------------------------------


def unlike(nominal: PlainSystem, other: PlainSystem) -> str:
    """What of a system a batch with another has no room for; empty: they are alike."""
    a, b = nominal.model, other.model
    if nominal.tree.bodies != other.tree.bodies or list(nominal.joint_index) != list(other.joint_index):
        return "it has other parts, or they are joined otherwise"
    for what in ("probes", "distances", "angles", "parameters"):
        if list(getattr(a, what)) != list(getattr(b, what)):
            return f"it has other {what}"
    for what in ON_HOST:
        if not same(getattr(a, what), getattr(b, what)):
            return f"its {what.replace('_', ' ')} are others"
    if len(a.script) != len(b.script) or not same(a.script, b.script):
        return "its script is another"
    if nominal.counts.contacts and not same(touching_shapes(a), touching_shapes(b)):
        return "its shapes touch otherwise"
    there = other.topology_arrays
    for name, values in nominal.topology_arrays.items():
        if name not in SCALES and not (name in there and np.array_equal(values, there[name])):
            return f"its {name.replace('_', ' ')} is another"
    if sorted(nominal.parameters) != sorted(other.parameters):
        return "it has other features"
    inputs = zip(nominal.channels.items, other.channels.items, strict=True)
    return "" if all(_follow_alike(x, y) for x, y in inputs) else "a motor, load or current follows another profile"


def same(a: Any, b: Any) -> bool:
    """Whether two pieces of a model say the same."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if is_dataclass(a):
        return all(same(getattr(a, each.name), getattr(b, each.name)) for each in fields(a))
    return bool(a == b)


def _follow_alike(a: Any, b: Any) -> bool:
    """Whether two channels differ in nothing but numbers."""
    is_numbers = isinstance(a, int | float) and isinstance(b, int | float)
    return is_numbers or (type(a) is type(b) and isinstance(a, WITH_NUMBERS)) or same(a, b)


def joined(items: Sequence[Any]) -> Any:
    """What a channel follows in every world: numbers by world, or a profile with numbers by world."""
    first = items[0]
    if isinstance(first, int | float):
        return np.array(items, float)
    if not isinstance(first, WITH_NUMBERS):
        return first
    by_world = {each.name: np.array([getattr(item, each.name) for item in items]) for each in fields(first)}
    return _profile(first, by_world)


def _columns_of(item: Any, kept: np.ndarray) -> Any:
    if not isinstance(item, WITH_NUMBERS):
        return item
    return _profile(item, {each.name: getattr(item, each.name)[kept] for each in fields(item)})


def _profile(first: Any, by_world: dict[str, np.ndarray]) -> Any:
    new = object.__new__(type(first))  # its own checks are of numbers
    for name, values in by_world.items():
        object.__setattr__(new, name, values)
    return new


# which rows hold it -------------------------------------------------------------------------------


def rows_hold(system: System, stack: Stack) -> np.ndarray:
    """Whether the rows chosen for the nominal model hold each world, at its start [world].

    Rows of the spanning tree in rad and sizes, as engine/start/redundancy.py has them. Those chosen must be
    independent, the others must follow from them, and those that are idle must vanish, also where loops are open.
    """
    worlds = len(stack)
    tree = System(stack.model, worlds, "cpu", "generalized", checked=True, contacts=stack.contacts)
    for name, values in stack.parameters.items():
        if name in ("p_PF", "q_PF", "p_CM", "q_CM", "R_PF", "R_CM", "pitch", "length"):
            own = np.repeat(tree.parameter(name)[:, :1], worlds, axis=1)
            for key, j in tree.joint_index.items():
                if key in system.joint_index:
                    own[j] = values[system.joint_index[key]]
            tree.replace_parameter(name, own)
    tree.replace_parameter("q_zero", tree.zero_orientations(tree.parameter("q_PF"), tree.parameter("q_CM")))
    state, work = State(tree.counts, "cpu"), allocate_work(tree.counts, "cpu")
    write_coordinates(Change(tree, stack.places()), state)
    chosen = {row_key(slot): r for r, slot in enumerate(system.slots) if slot.kind in (CLOSURE, COUPLING, IDLE)}
    rows = [r for r, slot in enumerate(tree.slots) if slot.kind in (CLOSURE, COUPLING)]
    slots = [chosen[row_key(tree.slots[r])] for r in rows]
    idle = np.array([system.slots[r].kind == IDLE for r in slots], bool)
    basis = system.parameter("basis")[slots, 0] > 0.0

    def look() -> np.ndarray:
        launch(rows_kernel, worlds, [tree.arrays, state.arrays, work], "cpu")
        return tree.scaled_rows(tree.dense_rows(work.J.numpy(), range(worlds))[:, rows], rows)

    J = look()
    tolerance = max(system.redundancy, CLOSED)
    good = np.ones(worlds, bool)
    if basis.any():
        _, sigma, Vt = np.linalg.svd(J[:, basis], full_matrices=False)
        good &= sigma[:, -1] > SURE * tolerance
        others = J[:, ~basis & ~idle]
        left = others - (others @ Vt.transpose(0, 2, 1)) @ Vt
        good &= np.linalg.norm(left, axis=2).max(axis=1, initial=0.0) <= tolerance
        if basis.sum() > J.shape[2]:
            good[:] = False
    if idle.any():
        q = state.read("q").copy()
        slides = tree.arrays.coordinate_slides.numpy().astype(bool)
        shift = STRANGE * np.random.default_rng(0).normal(size=(len(q), 1))
        shift[slides] *= tree.size
        for (_, code), at in tree.coordinate.items():
            if at >= 0 and (size := code_coordinates(code)) > 1:
                shift[at : at + size] = 0.0  # a unit quaternion stays one
        state.write("q", q + shift)
        away = look()
        for own in (J, away):
            good &= np.linalg.norm(own[:, idle], axis=2).max(axis=1, initial=0.0) <= tolerance
    return good
