"""Values that follow parameters: a model keeps expressions by the path of what they give, and evaluates them.

A path is "part.what", of a vector with the axis behind it, of one group of a joint before it: "arm.mass",
"arm.position.x", "hinge.angle.upper", "model.gravity.z". Points are as the calls of Model have them ("pin.at.x",
in the world at the authored pose) or as parts keep them ("pin.p_PF.x", in the frame of the body).

Expressions say what the model is as authored. Evaluating all of them in one order, sizes before places before what
is placed, gives the same model whatever was set before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from .checks import is_number, show, vector
from .errors import ModelError
from .expressions import has_text, is_name, read_expression
from .names import closest
from .parts import PARTS, Body, Joint, Variable, changed, value_of
from .places import is_point_of_body
from .placing import TWO_AXES
from .rotations import conjugate, frame_from_axes, multiply, rotation_matrix, unit_quaternion
from .shapes import Shape
from .sizes import ALL_SIZES, SIZES, reshaped, resized, size_of

if TYPE_CHECKING:
    from .model import Model

Call = TypeVar("Call", bound=Callable)
AXES = "xyzw"
SAME = 1e-12  # by which a value may differ from its expression, relative and in SI: what is more was set otherwise
PLACES = ("position", "orientation", "velocity", "angular_velocity")  # of a body
FRAMES = ("at", "at_b", "axis", "p_PF", "p_CM")  # of a joint
OF_JOINT = ("pitch", "length")
LIMITS = ("lower", "upper")
INPUTS = ("force", "torque", "current")  # of loads and fluids, which may be profiles


@dataclass(frozen=True)
class Field:
    """What a path leads to."""

    path: str
    kind: str  # of the part, or "model"
    name: str
    what: str
    axis: int | None = None  # of a vector
    groups: tuple[str, ...] = ()  # of a joint's feature

    @property
    def rank(self) -> int:
        """When it is evaluated: sizes, masses and places of bodies, then what is placed at them."""
        if self.kind != "body":
            return 3
        return 0 if self.what in ALL_SIZES else 1 if self.what == "density" else 2


def find_field(model: Model, path: str) -> Field:
    """What a path leads to; raises `ModelError` where there is nothing that can follow an expression."""
    if not isinstance(path, str):
        raise ModelError(f"expression: path is {show(path)}, expected text such as 'arm.mass' or 'arm.position.x'")
    stem, _, last = path.rpartition(".")
    axis = AXES.index(last) if last in tuple(AXES) and "." in stem else None
    name, _, what = (path if axis is None else stem).rpartition(".")
    owner = f"expression of '{path}'"
    if not name:
        raise ModelError(f"{owner}: expected a path such as 'arm.mass' or 'arm.position.x'")
    kind, groups = model.kind_of(name), tuple[str, ...]()
    if name == "model" and kind is None:
        kind = "model"
    joint, _, group = name.rpartition(".")
    if kind is None and joint in model.joints and group in model.joints[joint].features:
        kind, name, groups = "joint", joint, (group,)
    if kind is None:
        raise ModelError(f"{owner}: no part named {show(name)}")
    known = _fields(model, kind, name)
    if what not in known:
        raise ModelError(
            f"{owner}: {kind} '{name}' has no {show(what)} that can follow one; it has: {', '.join(known)}"
        )
    field = Field(path, kind, name, what, axis, groups)
    if kind == "joint" and what not in (*FRAMES, *OF_JOINT):
        having = groups or tuple(model.joints[name].features)
        if not having:
            raise ModelError(f"{owner}: a {model.joints[name].type} joint has no {what}")
        field = replace(field, groups=having)
    size = np.size(read_field(model, replace(field, axis=None)))
    if (axis is None) != (size == 1) or (axis is not None and axis >= size):
        told = f"of 3 or 4 numbers; give its axis, '{path}.x'" if size > 1 else f"one number; give '{name}.{what}'"
        raise ModelError(f"{owner}: {what} is {told}")
    return field


def _fields(model: Model, kind: str, name: str) -> tuple[str, ...]:
    """What of a part can follow an expression."""
    if kind == "model":
        return ("gravity",)
    part, entry = getattr(model, PARTS[kind].plural)[name], PARTS[kind]
    if kind == "body":
        sizes = SIZES.get(type(part.shapes[0]), ()) if len(part.shapes) == 1 else ()
        return ("mass", "density", *sizes, *PLACES)
    own = tuple(parameter.name for parameter in entry.parameters)
    if kind == "joint":
        return (*own, *(what for what in OF_JOINT if getattr(part, what) is not None), *FRAMES, "drive")
    if kind == "obstacle":
        return ("position", "orientation")
    return (*own, *(what for point in entry.points for what in (point.option, point.field)))


# reading ------------------------------------------------------------------------------------------


def read_field(model: Model, field: Field) -> Any:
    """The value of a field as authored: a number, or with axis=None all of a vector; NaN where there is none."""
    value = np.asarray(_read(model, field), float)
    return value if field.axis is None else float(value[field.axis])


def _read(model: Model, field: Field) -> Any:
    if field.kind == "model":
        return model.gravity
    part, what = getattr(model, PARTS[field.kind].plural)[field.name], field.what
    if field.kind == "body" and what in ALL_SIZES:
        return size_of(part, what)
    if field.kind == "joint" and what not in (*OF_JOINT, "p_PF", "p_CM"):
        return _read_joint(model, part, field)
    for point in PARTS[field.kind].points:
        if what == point.option:
            return _body(model, getattr(part, point.body)).world_point(getattr(part, point.field))
    value = getattr(part, what)
    if value is None or (what in INPUTS and not _is_constant(value)):
        return math.nan if what not in INPUTS else np.full(3, math.nan)
    return value


def _read_joint(model: Model, joint: Joint, field: Field) -> Any:
    P, C = _body(model, joint.first), _body(model, joint.second)
    if field.what == "at":
        return P.world_point(joint.p_PF)
    if field.what == "at_b":
        return C.world_point(joint.p_CM)
    if field.what == "axis":
        return rotation_matrix(multiply(P.orientation, joint.q_PF))[:, 2]
    if field.what == "drive":
        motor = joint.features[field.groups[0]].motor
        value = None if motor is None else getattr(motor, motor.what)
        return value if is_number(value) else math.nan
    value = value_of(joint, field.what, field.groups)
    return math.nan if value is None else value


def _is_constant(value: Any) -> bool:
    return isinstance(value, tuple | list | np.ndarray) and len(value) == 3 and all(is_number(item) for item in value)


def _body(model: Model, name: str) -> Body:
    return model.ground if name == "ground" else model.bodies[name]


# writing ------------------------------------------------------------------------------------------


def write_field(model: Model, field: Field, value: float) -> Model:
    """A model in which a field has a value; joints may then be open. Raises `ModelError` where it cannot have it."""
    if field.axis is None:
        return _write(model, field, value)
    whole = np.array(read_field(model, replace(field, axis=None)), float)
    if np.isnan(whole).any():
        raise ModelError(f"expression of '{field.path}': {field.what} is no constant of numbers; set it first")
    whole[field.axis] = value
    return _write(model, field, whole)


def _write(model: Model, field: Field, value: Any) -> Model:
    kind, name, what = field.kind, field.name, field.what
    if kind == "model":
        new = model.copy()
        new.gravity = vector("model", "gravity", value, "m/s²")
        return new
    part = getattr(model, PARTS[kind].plural)[name]
    if kind == "body" and what in ALL_SIZES:
        return resized(model, name, what, value)
    if kind == "joint" and what in FRAMES:
        return model.having(kind, _placed(model, part, what, np.asarray(value, float)))
    if kind == "joint" and what not in OF_JOINT:
        if what in ("drive", "max_torque") and any(part.features[group].motor is None for group in field.groups):
            raise ModelError(f"expression of '{field.path}': joint '{name}' has no motor; give it one first")
        part = changed(part, what, value, field.groups)
    elif kind in ("body", "obstacle") and what == "orientation":
        size = float(np.linalg.norm(value))
        if not size > 0.0:
            raise ModelError(f"expression of '{field.path}': orientation is all zeros")
        part = replace(part, orientation=np.asarray(value) / size)
    elif kind == "body" and what != "mass":
        part = replace(part, **{what: value})
    else:
        points = {point.option: point for point in PARTS[kind].points}
        if what in points:
            point = points[what]
            value, what = _body(model, getattr(part, point.body)).point(np.asarray(value, float)), point.field
        part = changed(part, what, value) if what not in INPUTS else replace(part, **{what: tuple(np.ravel(value))})
    part.check()
    new = model.having(kind, part)
    return reshaped(new, name, part.shapes) if kind == "body" and what == "density" else new


def _placed(model: Model, joint: Joint, what: str, value: np.ndarray) -> Joint:
    """A joint that is elsewhere: by `at` and `axis` closed at the authored pose, by p_PF or p_CM on one body alone."""
    P, C = _body(model, joint.first), _body(model, joint.second)
    if what in ("p_PF", "p_CM"):
        return replace(joint, p_PF=value) if what == "p_PF" else replace(joint, p_CM=value)
    if what == "at_b":
        return replace(joint, p_CM=C.point(value))
    if what == "at" and joint.type == "distance":
        return replace(joint, p_PF=P.point(value))
    if what == "at":
        return replace(joint, p_PF=P.point(value), p_CM=C.point(value))
    q_WF, q_WM = multiply(P.orientation, joint.q_PF), multiply(C.orientation, joint.q_CM)
    x = rotation_matrix(q_WF)[:, 0]
    across = x - (x @ value) / max(float(value @ value), 1e-300) * value
    new = frame_from_axes(f"joint '{joint.name}'", value, across if joint.type in TWO_AXES else None)
    q_FM = multiply(conjugate(q_WF), q_WM)
    q_PF, q_CM = multiply(conjugate(P.orientation), new), multiply(conjugate(C.orientation), multiply(new, q_FM))
    owner = f"joint '{joint.name}'"
    return replace(joint, q_PF=unit_quaternion(owner, "axis", q_PF), q_CM=unit_quaternion(owner, "axis", q_CM))


# evaluating ---------------------------------------------------------------------------------------


def values_of(model: Model) -> dict[str, float]:
    """The values of all parameters, those that follow others found anew."""
    values = {name: own.value for name, own in model.parameters.items() if own.expression is None}
    waiting = {name: own.expression for name, own in model.parameters.items() if own.expression is not None}
    while waiting:
        ready = [name for name, text in waiting.items() if _names(model, name, text) <= set(values)]
        if not ready:
            circle = ", ".join(map(repr, waiting))
            raise ModelError(f"parameters {circle}: follow each other in a circle; give one of them a number")
        for name in ready:
            owner = f"parameter '{name}'"
            values[name] = read_expression(owner, waiting.pop(name)).value(owner, values)
    return values


def check_word(name: str) -> None:
    """Raise `ModelError` at the name of a parameter that cannot stand in an expression."""
    if not is_name(name):
        raise ModelError(f"parameter '{name}': expected a word of letters and digits that is no function or constant")


def _names(model: Model, name: str, text: str) -> frozenset[str]:
    return known_names(model, f"parameter '{name}'", text)


def known_names(model: Model, owner: str, text: object) -> frozenset[str]:
    """The parameters in a text; raises `ModelError` at one that there is not."""
    names = read_expression(owner, text).names
    for name in sorted(names - set(model.parameters)):
        raise ModelError(f"{owner}: no parameter named '{name}'; {closest(name, model.parameters)}")
    return names


@dataclass(frozen=True)
class Evaluated:
    """A model whose values follow its parameters."""

    model: Model
    sized: Model  # on the way: sizes are set, places are not yet


def evaluated(model: Model) -> Evaluated:
    """A model with every expression carried out; parts of which nothing changes are the same objects."""
    values = values_of(model)
    new = model.copy()
    for name, own in model.parameters.items():
        if values[name] != own.value:
            new.parameters[name] = replace(own, value=values[name])
        new.parameters[name].check()
    found: list[tuple[Field, float]] = []
    for path, text in model.expressions.items():
        owner = f"expression of '{path}'"
        known_names(model, owner, text)
        found.append((find_field(new, path), read_expression(owner, text).value(owner, values)))
    sized = new
    for field, value in sorted(found, key=lambda entry: entry[0].rank):
        if field.what == "orientation":
            new = _turned(new, field, found)
        elif not has_value(new, field, value):
            new = write_field(new, field, value)
        if field.rank < 2:
            sized = new
    return Evaluated(new, sized)


def _turned(model: Model, field: Field, found: list[tuple[Field, float]]) -> Model:
    """A model in which a part has all that is said of its orientation: one number after the other would be no turn."""
    of = [(own, value) for own, value in found if (own.name, own.what) == (field.name, "orientation")]
    if all(has_value(model, own, value) for own, value in of):
        return model
    whole = np.array(read_field(model, replace(field, axis=None)), float)
    for own, value in of:
        whole[own.axis] = value
    return _write(model, field, whole)


def has_value(model: Model, field: Field, value: float) -> bool:
    """Whether a field has the value of its expression, but for rounding; `at` of a joint on both of its bodies."""
    if not is_same(read_field(model, field), value):
        return False
    if field.kind != "joint" or field.what != "at" or model.joints[field.name].type == "distance":
        return True
    return is_same(read_field(model, replace(field, what="at_b")), value)


def is_same(now: float, value: float) -> bool:
    """Whether two numbers are the same but for rounding."""
    return abs(now - value) <= SAME * (1.0 + abs(value))


def stale_paths(model: Model) -> list[str]:
    """Paths whose values are not what their expressions give: they were set otherwise, or their parts are gone."""
    if not model.expressions:
        return []
    values, found = values_of(model), []
    for path, text in model.expressions.items():
        try:
            field = find_field(model, path)
            value = read_expression(path, text).value(path, values)
        except ModelError:
            found.append(path)
            continue
        if not has_value(model, field, value):
            found.append(path)
    return found


def check_expressions(model: Model) -> None:
    """Raise `ModelError` at an expression that cannot be, or is not what the model has."""
    values = values_of(model)
    for name, own in model.parameters.items():
        check_word(name)
        if not is_same(own.value, values[name]):
            raise ModelError(
                f"parameter '{name}': value is {show(own.value)}, but '{own.expression}' is {values[name]:g}"
            )
    for path, text in model.expressions.items():
        owner = f"expression of '{path}'"
        field = find_field(model, path)
        known_names(model, owner, text)
        value = read_expression(owner, text).value(owner, values)
        if not has_value(model, field, value):
            now = show(read_field(model, field))
            raise ModelError(f"{owner}: '{text}' is {show(value)}, but the model has {now}; set one of them")


def with_values(model: Model, values: Mapping[str, Any]) -> Evaluated:
    """A model in which parameters have other values, and all that follows them."""
    new = model.copy()
    for name, value in values.items():
        if name not in model.parameters:
            raise ModelError(
                f"model '{model.name}': no parameter named {show(name)}; {closest(name, model.parameters)}"
            )
        new.parameters[name] = with_value(model, name, value)
    return evaluated(new)


def with_value(model: Model, name: str, value: Any) -> Variable:
    """A parameter with another value: a number, or a text of other parameters."""
    own = model.parameters[name]
    if isinstance(value, str):
        known_names(model, f"parameter '{name}'", value)
        return replace(own, expression=value)
    new = replace(own, value=value, expression=None)
    new.check()
    return new


# texts in the calls of Model ------------------------------------------------------------------------

NUMBERS = {  # arguments of the calls that may be texts
    *(*PLACES, "mass", "density", "shape", "at", "at_a", "at_b", "axis", "pitch", "limits", "limit_restitution"),
    *(parameter.name for kind in PARTS.values() for parameter in kind.parameters if parameter.name != "inertia"),
}
VECTORS = (*PLACES, "at", "at_a", "at_b", "axis", "force", "torque", "current")
CALLED = {"limit_restitution": "restitution"}  # arguments that paths have another name for
SHAPED = {what for names in SIZES.values() for what in names}


def takes_expressions(call: Call) -> Call:
    """Let numbers of a call of Model be texts, expressions of its parameters, which the model then keeps."""
    names = list(signature(call).parameters)[1:]
    taken = set(names) & NUMBERS

    @wraps(call)
    def taking(self: Model, *args: Any, **options: Any) -> Any:
        given = dict(zip(names, args, strict=False)) | options
        reader = _Texts(self, call.__name__, given.get("name"))
        numbers = {
            what: reader.read(CALLED.get(what, what), own) if what in taken else own for what, own in given.items()
        }
        if not reader.texts or len(args) > len(names):
            return call(self, *args, **options)
        part = call(self, **numbers)
        self.expressions |= {f"{part.name}.{what}": text for what, text in reader.texts.items()}
        return part

    return cast(Call, taking)


class _Texts:
    """Finds texts among the arguments of a call, and the numbers that they give."""

    def __init__(self, model: Model, kind: str, name: object):
        self.model, self.kind, self.name = model, kind, name
        self.texts: dict[str, str] = {}  # by what they are of: "mass", "position.x", "angle.lower"
        self.values: dict[str, float] | None = None

    @property
    def owner(self) -> str:
        """How errors call the part."""
        return f"{self.kind} {show(self.name)}"

    def number(self, what: str, text: str) -> float:
        """The number of a text, which is noted."""
        owner = f"{self.owner}: {what} is {show(text)}"
        known_names(self.model, owner, text)
        self.values = values_of(self.model) if self.values is None else self.values
        self.texts[what] = text
        return read_expression(owner, text).value(owner, self.values)

    def read(self, what: str, value: Any, depth: int = 2) -> Any:
        """An argument with numbers for texts; by group and by what limits a ball."""
        if what == "shape" and not isinstance(value, Shape):
            return value
        if isinstance(value, str):
            return self.number(what, value) if has_text(value) and what not in VECTORS else value
        if isinstance(value, Shape):
            sizes = {size: getattr(value, size) for size in SHAPED if hasattr(value, size)}
            found = {size: self.read(size, own) for size, own in sizes.items() if has_text(own)}
            return replace(value, **found) if found else value
        if isinstance(value, dict) and depth:
            return {key: self.read(_of_group(key, what), item, depth - 1) for key, item in value.items()}
        if not isinstance(value, tuple | list) or not has_text(value):
            return value
        if what.rpartition(".")[2] == "limits":
            ends = [f"{what[: -len('limits')]}{end}" for end in LIMITS]
        elif len(value) == 2 or is_point_of_body(value):  # a body and a point of it
            if has_text(value[1]):
                raise ModelError(f"{self.owner}: {what} is a point of '{value[0]}'; expressions take world coordinates")
            return value
        else:
            ends = [f"{what}.{axis}" for axis in AXES]
            if what in ("at", "at_a", "at_b"):  # parts keep points in bodies, which may move: say all of it
                value = [repr(float(item)) if is_number(item) else item for item in value]
        if len(value) > len(ends):
            return value  # which is refused where it is read
        given = zip(ends, value, strict=False)
        return tuple(self.number(end, item) if isinstance(item, str) else item for end, item in given)


def _of_group(key: object, what: str) -> str:
    """The path of an argument's item: of a group of a joint, or of the limits of a ball."""
    group, _, last = what.rpartition(".")
    if last == "limits" and key in ("swing", "twist"):
        named = "swing" if key == "swing" else "limits"
        return f"{group}.{named}" if group else named
    return f"{key}.{what}"
