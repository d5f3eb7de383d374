"""Parameters of parts, by the table of part kinds: an edit writes arrays and model in one place.

A path is "part.parameter", of one group of a joint "joint.group.parameter", of the model "model.gravity". A value
is one for all worlds, or one for each; the model holds that of the first, of a feature the largest where that is 0.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..author.checks import TINY, show
from ..author.fluids import check_fluid
from ..author.model import KINDS, Model
from ..author.parts import NOT_GIVEN, PARTS, Joint, Parameter, changed, value_of, weight_of
from ..author.placing import checked_frame
from ..author.profiles import scalar_profiles
from ..author.sensors import field_names
from ..author.shapes import check_solids, inertia_tensor, shape_list
from ..author.sizes import ALL_SIZES, moved_by, reshaped, resized, size_of
from ..author.variables import stale_paths
from ..author.visuals import visual_list
from ..engine.system import System
from ..engine.system.slots import LIMIT_HIGH, LIMIT_LOW, MOTORS
from . import loads
from .carry import STILL, Places
from .data import ChangeJoint, SetMaterial, SetParameter, SetState
from .inputs import joined, look_again, profiles_of
from .materials import declare_common, set_material
from .refusal import EditError, known
from .registry import Answer, Desk, Plan
from .states import POSE, set_state
from .topology import FEATURES, GEOMETRY, change_joint

GRAVITY = Parameter("gravity", "m/s²", "gravity")
UNLIMITED = 1e300  # stands for no bound in the arrays
LIMITS = ("lower", "upper", "swing")
SOLID = (
    "shape",
    "shapes",
    "density",
    "colour",
    "visual",
    "visuals",
    "link",
    *ALL_SIZES,
)  # of a body, besides what arrays hold


@dataclass(frozen=True)
class Target:
    """What a path leads to."""

    kind: str  # of the part, or "model"
    name: str  # of the part
    parameter: Parameter
    rows: tuple[int, ...]  # of its array, or its input channels
    groups: tuple[str, ...] = ()  # of a joint, that have it


def set_parameter(edit: SetParameter, desk: Desk) -> Answer | Plan:
    """Set a parameter: in the arrays, or where the part was built without it by building it anew."""
    system = desk.bench.system
    if (plan := declare_common(edit, desk)) is not None:
        return plan
    target = find(system, edit.path)
    if target is None:
        return _plan(edit, desk)
    if target.parameter.inputs is not None:
        return _set_inputs(edit, system, target)
    array, parameter = target.parameter.array, target.parameter
    value = checked(edit, parameter, system.width(array), system.counts.worlds)
    if parameter.name in ("lower", "upper"):
        _check_limits(system, edit, target, value)
    _check_order(system, edit, target, value)
    if target.kind == "fluid":
        part = system.model.fluids[target.name]
        for one in np.ravel(value):
            changed(part, parameter.name, given(parameter, first_of(one, 0))).check()
    before = system.parameter(array)[target.rows[0]]
    before = before[0] if len(before) == 1 or (before == before[0]).all() else before
    if parameter.rule.may_be_infinite:
        before = np.where(before < UNLIMITED, before, np.inf)
    replaced = False
    for row in target.rows:
        replaced |= system.set_parameter(array, row, value)
    width = len(system.width(array))
    system.model = noted(system.model, target, first_of(value, width, is_feature(parameter)))
    look_again(desk.bench)
    inverse = SetParameter(edit.path, given(parameter, float(before)) if before.ndim == 0 else before)
    return Answer(f"'{edit.path}' is set", replaced, inverse=inverse)


def _set_inputs(edit: SetParameter, system: System, target: Target) -> Answer:
    """Set a value that kernels read from channels: numbers, a profile, a callable, or numbers for each world."""
    value, worlds, rows = edit.value, system.counts.worlds, target.rows
    owner, what = f"{target.kind} '{target.name}'", target.parameter.name
    if isinstance(value, np.ndarray) and value.shape == (worlds, len(rows)) and worlds > 1:
        if not np.isfinite(value).all():
            raise EditError(f"{owner}: {what} is {show(value)}, expected finite numbers")
        items: list[Any] = [column.astype(float) for column in value.T]
    else:
        items = profiles_of(owner, what, value, len(rows))
    before = [system.channels.items[c] for c in rows]
    by_world = any(isinstance(item, np.ndarray) and len(item) > 1 for item in before)
    was = np.stack([np.broadcast_to(item, worlds) for item in before], axis=1) if by_world else joined(before)  # type: ignore[arg-type]
    replaced = system.channels.put(system.arrays, rows, items)
    if target.kind == "load":
        loads.note(system, system.load_names.index(target.name))
    else:
        _note_inputs(system, target)
    return Answer(f"'{edit.path}' is set", replaced, inverse=SetParameter(edit.path, was))


def _note_inputs(system: System, target: Target) -> None:
    """Have the model say what a fluid's current follows, of a batch that of the first world."""
    items = [system.channels.items[c] for c in target.rows]
    values = joined([float(item[0]) if isinstance(item, np.ndarray) else item for item in items])
    part = getattr(system.model, KINDS[target.kind])[target.name]
    system.model = system.model.having(target.kind, changed(part, target.parameter.name, values))


# where parameters are -----------------------------------------------------------------------------


def find(system: System, path: object) -> Target | None:
    """What a path leads to; None where it is no number of a part that was built with it."""
    if not isinstance(path, str) or "." not in path:
        raise EditError(f"parameter {show(path)}: expected text 'part.parameter'")
    if path not in system.targets:
        name, what = split_path(system.model, path)
        system.targets[path] = of_part(system, name).get(what)
    target = system.targets[path]
    if target is None or target.kind != "load":
        return target
    return of_part(system, target.name).get(target.parameter.name)  # loads come and go


def of_part(system: System, name: str) -> dict[str, Target]:
    """The parameters of a part that arrays or channels hold, by name."""
    model, found = system.model, {}
    if name in (model.name, "model"):
        found["gravity"] = Target("model", "model", GRAVITY, (0,))
    kind = model.kind_of(name)
    groups: tuple[str, ...] = ()
    if (joint := group_of(model, name)) is not None:
        kind, name, groups = "joint", joint[0], (joint[1],)
    if kind is None and name in system.load_names:
        kind = "load"
    if kind is None:
        if not found:
            parts = [model.name, *(part for where in KINDS.values() for part in getattr(model, where))]
            known("parameter", "part", name, dict.fromkeys(parts))
        return found
    if kind == "body" and model.bodies[name].is_carrier:
        return found  # it has neither mass nor inertia to be set
    for parameter in PARTS[kind].parameters:
        target = _target(system, kind, name, parameter, groups)
        if target is not None:
            found[parameter.name] = target
    for k, coordinate in enumerate(model.couplings[name].more if kind == "coupling" else ()):
        found[coordinate] = Target(kind, name, weight_of(coordinate), (system.more_row[name] + k,))
    return found


def split_path(model: Model, path: str) -> tuple[str, str]:
    """Part and parameter of a path; of "coupling.joint" or "coupling.joint.group" what has the weight."""
    for name, coupling in model.couplings.items():
        rest = path.removeprefix(f"{name}.")
        for what, (joint, _, _) in zip(coupling.more, coupling.ends[2:], strict=True) if rest != path else ():
            if rest in (what, joint):
                return name, what
    name, _, what = path.rpartition(".")
    return name, what


def group_of(model: Model, name: str) -> tuple[str, str] | None:
    """Joint and group of a name "joint.group"."""
    joint, _, group = name.rpartition(".")
    if joint in model.joints and group in [own.name for own in model.joints[joint].kind.groups]:
        return joint, group
    return None


def _target(system: System, kind: str, name: str, parameter: Parameter, groups: tuple[str, ...]) -> Target | None:
    if parameter.inputs is not None and kind == "fluid":
        first = int(system.arrays.fluid_channel.numpy()[system.index_of(kind)[name]])
        return Target(kind, name, parameter, tuple(range(first, first + 3)))
    if parameter.inputs is not None:
        load = loads.acting(system).get(name)
        if load is None:
            return None
        return Target(kind, name, parameter, tuple(loads.inputs(system, load)[slice(*parameter.inputs)]))
    if parameter.by_freedom:
        return _by_freedom(system, name, parameter, groups)
    if not parameter.slots:
        return Target(kind, name, parameter, (system.index_of(kind)[name],))
    rows = [r for r in system.slots_of.get(name, []) if system.slots[r].role in parameter.slots]
    if kind != "joint":
        return Target(kind, name, parameter, tuple(rows)) if rows else None
    joint = system.model.joints[name]
    own = {r: joint.group_of(system.slots[r].code).name for r in rows}
    own = {r: group for r, group in own.items() if not groups or group in groups}
    return Target(kind, name, parameter, tuple(own), tuple(dict.fromkeys(own.values()))) if own else None


def _by_freedom(system: System, name: str, parameter: Parameter, groups: tuple[str, ...]) -> Target | None:
    """A parameter of a joint's freedoms, in the groups that were built with it."""
    joint, built = system.model.joints[name], system.built.joints[name]
    own = [
        group
        for group in joint.kind.groups
        if (not groups or group.name in groups) and getattr(built.features[group.name], parameter.name)
    ]
    rows = tuple(system.dof[name, code] for group in own for code in group.freedoms)
    return Target("joint", name, parameter, rows, tuple(group.name for group in own)) if own else None


# values -------------------------------------------------------------------------------------------


def checked(edit: SetParameter, parameter: Parameter, width: tuple, worlds: int) -> np.ndarray:
    """The value of a parameter, of one or of every world, as a model would take it."""
    rule = parameter.rule
    if edit.value is None and parameter.optional:
        return np.array(NOT_GIVEN)
    try:
        value = np.asarray(edit.value, float)
    except (TypeError, ValueError) as error:
        raise EditError(f"'{edit.path}': {show(edit.value)} is not a number or one number per world") from error
    if isinstance(edit.value, bool | str):
        raise EditError(f"'{edit.path}': {edit.value!r} is not a number or one number per world")
    if np.isnan(value).any() or (not rule.may_be_infinite and np.isinf(value).any()):
        raise EditError(f"'{edit.path}': {show(edit.value)} is not finite")
    if width == (3, 3) and value.shape[-1:] == (3,) and value.shape[-2:] != (3, 3):
        value = value[..., None] * np.eye(3)
    if value.shape not in (width, (worlds, *width)):
        raise EditError(f"'{edit.path}': shape {value.shape}, expected {width} or {(worlds, *width)}")
    if not np.all(rule.allows(value)):
        raise EditError(f"'{edit.path}': {show(edit.value)}, expected {rule.expected}")
    if parameter.name == "inertia":
        owner = f"'{edit.path}'"
        value = (
            inertia_tensor(owner, value) if value.ndim == 2 else np.array([inertia_tensor(owner, one) for one in value])
        )
        if not np.linalg.eigvalsh(value).min() >= TINY:
            raise EditError(f"'{edit.path}': {show(edit.value)}, expected principal values > 0")
    return np.clip(value, -UNLIMITED, UNLIMITED) if rule.may_be_infinite else value


def _check_limits(system: System, edit: SetParameter, target: Target, value: np.ndarray) -> None:
    """Refuse a lower limit above the upper one."""
    is_lower = target.parameter.name == "lower"
    other = LIMIT_HIGH if is_lower else LIMIT_LOW
    for r in target.rows:
        slot = system.slots[r]
        for q in system.slots_of[slot.name]:
            if system.slots[q].kind == other and system.slots[q].code == slot.code:
                bound = system.parameter("slot_a")[q]
                if not ((bound - value if is_lower else value - bound) >= 0).all():
                    raise EditError(f"'{edit.path}': {show(edit.value)} is beyond the other limit {show(bound)}")


def _check_order(system: System, edit: SetParameter, target: Target, value: np.ndarray) -> None:
    """Refuse a parameter below the one that it is at least, or without it."""
    for upper in PARTS[target.kind].parameters if target.kind in PARTS else ():
        if not upper.at_least or target.parameter.name not in (upper.name, upper.at_least):
            continue
        lower = PARTS[target.kind].parameter(upper.at_least)
        assert lower is not None
        low, high = (
            value if own is target.parameter else system.parameter(own.array)[target.rows[0]] for own in (lower, upper)
        )
        if ((high >= 0) & ((low < 0) | (high < low))).any():
            rule = f"{upper.name} is at least {lower.name}, and given with it"
            raise EditError(f"'{edit.path}': {show(edit.value)}, but {rule}; set the other one first")


def given(parameter: Parameter, value: Any) -> Any:
    """A value of an array as a model has it: None where it is not given."""
    return None if parameter.optional and value < 0 else value


def is_feature(parameter: Parameter) -> bool:
    """Whether a model must have a parameter, and not 0, for it to have a place in the arrays."""
    return bool(parameter.slots) or parameter.by_freedom


def first_of(value: np.ndarray, width: int, feature: bool = False) -> Any:
    """Of a value with so many dimensions that of the first world; of a feature the largest where the first is none."""
    if value.ndim > width:
        value = value[np.abs(value).argmax()] if feature and not width and value[0] == 0.0 else value[0]
    return np.array(value) if width else float(value) if abs(value) < UNLIMITED else np.inf


def noted(model: Model, target: Target, value: Any) -> Model:
    """A model that has the value."""
    if target.kind == "model":
        new = model.copy()
        new.gravity = value
        return new
    part = getattr(model, KINDS[target.kind])[target.name]
    value = given(target.parameter, value)
    return model.having(target.kind, changed(part, target.parameter.name, value, target.groups))


# a model from arrays ------------------------------------------------------------------------------


def read_model(system: System) -> Model:
    """The model that arrays and channels hold, where they come from a file: parts that differ are new ones."""
    model = system.model = system.built
    arrays = {name: system.parameter(name) for name in system.parameters}
    for name in ("model", *(part for where in KINDS.values() for part in getattr(model, where))):
        for target in of_part(system, name).values():
            for row in target.rows if target.parameter.inputs is None else ():
                model = _read_row(model, system, target, row, arrays[target.parameter.array][row])
    system.model = model
    for joint in model.joints:
        _read_drives(system, joint)
    for load in loads.acting(system).values():
        loads.note(system, load)
    for name, fluid in model.fluids.items():
        target = of_part(system, name)["current"]
        if [system.channels.items[c] for c in target.rows] != scalar_profiles(fluid.current, 3):
            _note_inputs(system, target)
    if stale := stale_paths(system.model):  # which were set otherwise
        system.model = system.model.without_expressions(stale)
    return system.model


def _read_row(model: Model, system: System, target: Target, row: int, values: np.ndarray) -> Model:
    if target.kind == "model":
        value = first_of(values, 1)
        return model if np.array_equal(value, model.gravity) else noted(model, target, value)
    part = getattr(model, KINDS[target.kind])[target.name]
    groups: tuple[str, ...] = ()
    if target.kind == "joint":
        kinds = system.arrays.dof_kind.numpy() if target.parameter.by_freedom else None
        groups = (part.group_of(system.slots[row].code if kinds is None else int(kinds[row])).name,)
    was = value_of(part, target.parameter.name, groups)
    value = given(target.parameter, first_of(values, np.ndim(was), is_feature(target.parameter)))
    return model if np.array_equal(value, was) else noted(model, replace(target, groups=groups), value)


def _read_drives(system: System, name: str) -> None:
    """Have a joint's motors say what they follow."""
    slots = [system.slots[r] for r in system.slots_of.get(name, []) if system.slots[r].kind in MOTORS]
    for group in system.model.joints[name].kind.groups:
        items = [system.channels.items[slot.channel] for slot in slots if slot.code in group.freedoms]
        joint = system.model.joints[name]
        motor = joint.features[group.name].motor
        if items and motor is not None and scalar_profiles(getattr(motor, motor.what), len(items)) != items:
            system.model = system.model.having("joint", changed(joint, "drive", joined(items), (group.name,)))


# what a part was built without --------------------------------------------------------------------


def _plan(edit: SetParameter, desk: Desk) -> Plan:
    """A parameter that no array holds, as a change of the model; of one value per world, first the largest for all."""
    worlds, value = desk.bench.system.counts.worlds, edit.value
    if isinstance(value, np.ndarray) and value.shape == (worlds,) and worlds > 1:
        largest = replace(edit, value=float(value[np.argmax(np.abs(value))]))
        return replace(_plan(largest, desk), then=edit)
    model, text = desk.model, f"'{edit.path}' is set"
    name, _, what = edit.path.rpartition(".")
    if name in model.bodies and what in POSE:
        return replace(set_state(SetState({name: {what: edit.value}}), desk), text=text)
    if name in model.bodies and what in SOLID:
        same = {"shapes": "shape", "visuals": "visual"}
        return _reshape(edit, desk, name, same.get(what, what), text)
    if name in (model.bodies | model.obstacles) and what == "material":
        return replace(set_material(SetMaterial(name, edit.value), desk), text=text)  # type: ignore[arg-type]
    if name in model.obstacles and what in ("shape", "position", "orientation"):
        obstacle = replace(model.obstacles[name], **{what: edit.value})  # type: ignore[arg-type]
        obstacle.check()
        model.check_materials(f"obstacle '{name}'", obstacle.shapes)
        inverse = SetParameter(edit.path, getattr(model.obstacles[name], what))
        return Plan(model.having("obstacle", obstacle), text, inverse)
    if name in model.fluids and what in ("added_mass", "bodies", "without"):
        return _refill(edit, desk, name, what, text)
    if name in model.sensors and what in field_names(type(model.sensors[name].sensor)):
        old = model.sensors[name].sensor
        part = replace(model.sensors[name], sensor=replace(old, **{what: edit.value}))  # type: ignore[arg-type]
        part.check()
        model.check_mounted(part)
        return Plan(model.having("sensor", part), text, SetParameter(edit.path, getattr(old, what)))
    found = (name, None) if name in model.joints else group_of(model, name)
    changes = {} if found is None else _as_change(edit, model.joints[found[0]], found[1], what)
    if found is None or not changes:
        raise _unknown(edit, desk, name, what)
    return replace(change_joint(ChangeJoint(found[0], changes), desk), text=text)


def _reshape(edit: SetParameter, desk: Desk, name: str, what: str, text: str) -> Plan:
    """Another shape, size, density or colour of a body; where joints are open by it, the bodies move to close them."""
    model, owner = desk.model, f"body '{name}'"
    old = model.bodies[name]
    inverse: Any = tuple(old.shapes) if what == "shape" else size_of(old, what) if what in ALL_SIZES else None
    if what == "shape":
        shapes = shape_list(owner, edit.value)
        model.check_materials(owner, shapes)
        check_solids(owner, shapes, old.material)
        new = reshaped(model, name, shapes)
    elif what in ALL_SIZES:
        new = resized(model, name, what, edit.value)
    elif what == "visual":
        inverse = tuple(old.visuals)
        new = model.having("body", replace(old, visuals=visual_list(owner, edit.value)))
    elif what == "link":
        inverse = (old.p_BL, old.q_BL)
        p_BL, q_BL = checked_frame(owner, "link", edit.value)  # type: ignore[arg-type]
        new = model.having("body", replace(old, p_BL=p_BL, q_BL=q_BL))
    else:
        body, inverse = replace(old, **{what: edit.value}), getattr(old, what)  # type: ignore[arg-type]
        body.check()
        new = model.having("body", body)
        if what == "density" and body.density is not None:
            new = reshaped(new, name, body.shapes)
    places = Places.of(desk.bench)
    shift = moved_by(old, new.bodies[name])
    if shift.any():
        places.p_WB[name] = places.frame(name, shift, STILL)[0]
    return Plan(new, text, SetParameter(edit.path, inverse), places=places)


def _refill(edit: SetParameter, desk: Desk, name: str, what: str, text: str) -> Plan:
    """Whether a fluid has added mass, and which bodies are in it."""
    old = desk.model.fluids[name]
    new = replace(old, **{what: edit.value})  # type: ignore[arg-type]
    new.check()
    check_fluid(desk.model, new)
    return Plan(desk.model.having("fluid", new), text, SetParameter(edit.path, getattr(old, what)))


def _unknown(edit: SetParameter, desk: Desk, name: str, what: str) -> EditError:
    """The refusal of a parameter that a part does not have."""
    names = list(of_part(desk.bench.system, name))
    try:
        known(f"parameter '{edit.path}'", "parameter", what, dict.fromkeys(names))
    except EditError as error:
        return error
    return EditError(f"parameter '{edit.path}': cannot be set")


def _as_change(edit: SetParameter, joint: Joint, group: str | None, what: str) -> dict[str, Any]:
    """A joint's parameter as keyword arguments of `Model.joint`; empty where it has none of that name."""
    if what in (*GEOMETRY, "loop", "contact"):
        return {what: edit.value}
    groups = [own for own in joint.kind.groups if group in (None, own.name)]
    value = edit.value
    if not groups:
        return {}
    if what == "restitution":
        return {"limit_restitution": {own.name: value for own in groups}}
    if what in LIMITS:
        return {"limits": {own.name: _limits(joint.features[own.name], own.is_ball, what, value) for own in groups}}
    return {what: {own.name: value for own in groups}} if what in FEATURES else {}


def _limits(features: Any, is_ball: bool, what: str, value: Any) -> Any:
    low, high = features.limits or (-np.inf, np.inf)
    low, high = (value, high) if what == "lower" else (low, value) if what == "upper" else (low, high)
    if not is_ball:
        return low, high
    given: dict[str, Any] = {}
    if features.limits is not None or what != "swing":
        given["twist"] = (low, high)
    swing = value if what == "swing" else features.swing
    if swing is not None:
        given["swing"] = swing
    return given
