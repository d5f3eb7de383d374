"""Models and edits as JSON, exactly, from one table of kinds that is the schema too.

The fields of a file are the fields of the parts (`model`, `shapes`, `inputs`) and of the edits
(`edits.data`), with their names, units and frames; a part added there is written and read here.
"""

import math
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..author.checks import is_number
from ..author.errors import FileError, ModelError
from ..author.joints import CATALOGUE
from ..author.materials import COMMON
from ..author.model import Model
from ..author.parts import PARTS, Body, Features, Joint, Motor
from ..author.profiles import Formula, Harmonic, Ramp, Sample, Smooth, Table, Value
from ..author.sensors import SENSORS, Sensor, name_of
from ..author.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, HeightField, Mesh, Plane, Shape, Sphere
from ..author.surfaces import Material, Obstacle
from ..author.visuals import Visual
from ..edits import data as edits
from .kinds import (
    BOOLEAN,
    DEEPEST,
    INTEGER,
    NUMBER,
    REFUSED,
    TEXT,
    Array,
    Callables,
    Kind,
    List,
    Map,
    OneOf,
    Optional,
    Record,
    Tuple,
    kebab,
    tell,
    wrong,
)
from .migrations import FORMAT, VERSION, migrate

MOST_PARTS = 10_000  # of a scene; a larger model is built by a program
FREE_ARRAY = "array"  # {"array": [[...]]} stands for a NumPy array
MOST_CORNERS = 100_000  # of a mesh
MOST_TRIANGLES = 200_000
MOST_HEIGHTS = 1_024  # along a side of a height field
ARRAYS = {  # by the names of fields, other ones are (3,); "Class.field" where only that class's is
    **dict.fromkeys(("orientation", "q_PF", "q_CM", "q_BL"), Array((4,))),
    "inertia": Array((3, 3)),
    "points": Array((None, 3)),
    "vertices": Array((None, 3), MOST_CORNERS),
    "triangles": Array((None, 3), MOST_TRIANGLES, is_whole=True),
    "heights": Array((None, None), MOST_HEIGHTS),
    "HeightField.size": Array((2,)),
}


class ValueKind(Kind):
    """What the outside imposes: a number, a profile, 3 of these, an array per world, or a callable."""

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        if type(value) in PROFILE.classes:
            return PROFILE.write(value, place, callables)
        if isinstance(value, np.ndarray) and value.ndim > 1:
            return write_array(value, place)
        if isinstance(value, tuple | list | np.ndarray):
            return VALUES.write(value, place, callables)
        if callable(value):
            if callables.write is None:
                told = f"{place} is the callable {tell(value)}, which a file cannot hold"
                raise FileError(f"{told}; give a Ramp, Smooth, Harmonic, Table or Formula")
            return callables.write(value)
        return NUMBER.write(value, place)

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        if isinstance(data, list | tuple):
            if any(isinstance(item, list | tuple) for item in data):
                raise wrong(place, data, "a number, a profile or 3 of these")
            return VALUES.read(data, place, callables)
        if isinstance(data, dict):
            if FREE_ARRAY in data:
                return read_array(data, place)
            if callables.read is not None and data.get("profile") == "recorded":
                return callables.read(data, place)
            return PROFILE.read(data, place, callables)
        return NUMBER.read(data, place)

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        if "Value" not in shared:
            one = {"anyOf": [NUMBER.schema(shared), PROFILE.schema(shared)]}
            three = {"type": "array", "items": one, "minItems": 3, "maxItems": 3}
            shared["Value"] = {
                "description": "A number, a profile, 3 of these, or an array of one row per world.",
                "anyOf": [*one["anyOf"], three, ARRAY_SCHEMA],
            }
        return {"$ref": "#/$defs/Value"}


class SampleKind(Kind):
    """A number or 3 numbers."""

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        return NUMBER.write(value, place) if is_number(value) else THREE.write(value, place)

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        return THREE.read(data, place) if isinstance(data, list | tuple) else NUMBER.read(data, place)

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        return {"anyOf": [NUMBER.schema(shared), THREE.schema(shared)]}


class MotorKind(Kind):
    """{"motor": "speed", "value": ..., "max_torque": ..., "kp": ..., "kv": ..., "gear": ...}: exactly one of speed,
    position and torque."""

    WHATS = ("speed", "position", "torque")
    NUMBERS: ClassVar[dict[str, Any]] = {"max_torque": math.inf, "kp": None, "kv": None, "gear": 1.0}  # by default

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        if not isinstance(value, Motor):
            raise wrong(place, value, "a Motor")
        given = [what for what in self.WHATS if getattr(value, what) is not None]
        if len(given) != 1:
            raise wrong(place, given, "exactly one of speed, position and torque")
        data = {"motor": given[0], "value": VALUE.write(getattr(value, given[0]), f"{place}.{given[0]}", callables)}
        given = [what for what, usual in self.NUMBERS.items() if getattr(value, what) != usual]
        return data | {what: NUMBER.write(getattr(value, what), f"{place}.{what}") for what in given}

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        if not isinstance(data, dict) or data.get("motor") not in self.WHATS:
            raise wrong(place, data, 'an object with "motor": "speed", "position" or "torque"')
        for key in data:
            if key not in ("motor", "value", *self.NUMBERS):
                raise FileError(f"{place}: no field {tell(key)}; fields are: motor, value, {', '.join(self.NUMBERS)}")
        if "value" not in data:
            raise FileError(f"{place}: value is missing; give it")
        given = {data["motor"]: VALUE.read(data["value"], f"{place}.value", callables)}
        given |= {what: NUMBER.read(data[what], f"{place}.{what}") for what in self.NUMBERS if what in data}
        try:
            return Motor(**given)
        except ValueError as error:
            raise FileError(f"{place}: {error}") from error

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        if "Motor" not in shared:
            shared["Motor"] = {
                "description": " ".join((Motor.__doc__ or "").split()),
                "type": "object",
                "properties": {
                    "motor": {"enum": list(self.WHATS)},
                    "value": VALUE.schema(shared),
                    **{what: NUMBER.schema(shared) for what in self.NUMBERS},
                },
                "required": ["motor", "value"],
                "additionalProperties": False,
            }
        return {"$ref": "#/$defs/Motor"}


class SensorKind(Kind):
    """{"sensor": "imu", ...}: a kind of SENSORS and its fields, those of other packages among them."""

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        if not isinstance(value, Sensor):
            raise wrong(place, value, "a sensor")
        try:
            name = name_of(value)
        except ModelError as error:
            raise FileError(f"{place}: {error}") from error
        return record(type(value), ("sensor", name)).write(value, place)

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        name = data.get("sensor") if isinstance(data, dict) else None
        if not isinstance(name, str) or name not in SENSORS:
            raise wrong(f"{place}.sensor", name, f"one of {', '.join(SENSORS)}")
        return record(SENSORS[name], ("sensor", name)).read(data, place)

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        return {"oneOf": [record(cls, ("sensor", name)).schema(shared) for name, cls in SENSORS.items()]}


class Free(Kind):
    """Anything that a keyword argument may be: nothing, a text, a number, a tuple, values by name, a motor,
    a shape, a sensor, a profile; a body, joint, material or obstacle stands for its name."""

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        return self._write(value, place, callables, DEEPEST)

    def _write(self, value: Any, place: str, callables: Callables, depth: int) -> Any:
        if depth == 0:
            raise FileError(f"{place}: is nested more than {DEEPEST} deep; flatten it")
        if value is None or isinstance(value, bool | np.bool_):
            return None if value is None else bool(value)
        if isinstance(value, str | Body | Joint | Material | Obstacle):
            return TEXT.write(value if isinstance(value, str) else value.name, place)
        if isinstance(value, Motor):
            return MOTOR.write(value, place, callables)
        if isinstance(value, Shape | Sensor | Visual):
            return next(kind for cls, kind in TOLD.items() if isinstance(value, cls)).write(value, place)
        if isinstance(value, np.ndarray):
            return write_array(value, place)
        if isinstance(value, Mapping):
            return {
                TEXT.write(key, f"a name in {place}"): self._write(item, f"{place}.{key}", callables, depth - 1)
                for key, item in value.items()
            }
        if isinstance(value, tuple | list):
            return [self._write(item, f"{place}[{i}]", callables, depth - 1) for i, item in enumerate(value)]
        return VALUE.write(value, place, callables)

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        return self._read(data, place, callables, DEEPEST)

    def _read(self, data: Any, place: str, callables: Callables, depth: int) -> Any:
        if depth == 0:
            raise FileError(f"{place}: is nested more than {DEEPEST} deep; flatten it")
        if data is None or isinstance(data, bool):
            return data
        if isinstance(data, str) and data not in ("inf", "-inf"):
            return TEXT.read(data, place)
        if isinstance(data, list | tuple):
            return tuple(self._read(item, f"{place}[{i}]", callables, depth - 1) for i, item in enumerate(data))
        if isinstance(data, dict):
            for key, kind in TAGGED.items():
                if key in data and not isinstance(data[key], int | float):  # that: a weight of a joint of this name
                    return kind.read(data, place, callables)
            for key in data:
                TEXT.read(key, f"a name in {place}")
            return {key: self._read(item, f"{place}.{key}", callables, depth - 1) for key, item in data.items()}
        return NUMBER.read(data, place)

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        if "Free" not in shared:
            shared["Free"] = {"description": " ".join((Free.__doc__ or "").split())}
        return {"$ref": "#/$defs/Free"}


class AnyEdit(Kind):
    """An edit inside an edit."""

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        return EDIT.write(value, place, callables)

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        return EDIT.read(data, place, callables)

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        return {"type": "object", "required": ["edit"]}


ARRAY_SCHEMA = {
    "type": "object",
    "properties": {FREE_ARRAY: {"type": "array"}},
    "required": [FREE_ARRAY],
    "additionalProperties": False,
}


def write_array(value: np.ndarray, place: str) -> dict[str, Any]:
    """A NumPy array of numbers as nested lists."""
    if value.dtype.kind not in "fiu" or not np.isfinite(value).all():
        raise wrong(place, value, "an array of finite numbers")
    return {FREE_ARRAY: value.astype(float).tolist()}


def read_array(data: dict, place: str) -> np.ndarray:
    """An array of finite numbers from nested lists."""
    if set(data) != {FREE_ARRAY} or not isinstance(data[FREE_ARRAY], list | tuple):
        raise wrong(place, data, f'an object with only "{FREE_ARRAY}": nested lists of numbers')
    try:
        array = np.array(data[FREE_ARRAY], float)
    except (TypeError, ValueError, OverflowError) as error:
        raise FileError(f"{place}.{FREE_ARRAY}: {error}; give lists of numbers, all of one length") from error
    if not np.isfinite(array).all():
        raise FileError(f"{place}.{FREE_ARRAY}: holds a number that is not finite; give finite numbers")
    return array


VALUE, SAMPLE, MOTOR, FREE, ANY_EDIT = ValueKind(), SampleKind(), MotorKind(), Free(), AnyEdit()
SENSOR = SensorKind()
THREE = Tuple(NUMBER, (3,))
VALUES = Tuple(VALUE, (3,))


def kind_of(hint: Any, name: str, owner: str = "") -> Kind:
    """The kind of a dataclass's field, from its annotation."""
    simple = {float: NUMBER, int: INTEGER, str: TEXT, bool: BOOLEAN, Any: FREE, object: FREE}
    simple |= {Motor: MOTOR, Sensor: SENSOR}
    if hint in (Value, Value | None):
        return VALUE if hint == Value else Optional(VALUE)
    if hint in (Sample, Sample | None):
        return SAMPLE if hint == Sample else Optional(SAMPLE)
    arguments = get_args(hint)
    if hint is np.ndarray or np.ndarray in arguments:
        return ARRAYS.get(f"{owner}.{name}") or ARRAYS.get(name, Array((3,)))
    if hint in simple:
        return simple[hint]
    origin = get_origin(hint)
    if origin in (Union, types.UnionType) and type(None) in arguments:
        rest = [argument for argument in arguments if argument is not type(None)]
        return Optional(kind_of(rest[0], name)) if len(rest) == 1 else FREE
    if origin is tuple:
        return Tuple(kind_of(arguments[0], name), None if arguments[-1] is ... else (len(arguments),))
    if origin is list:
        return List(kind_of(arguments[0], name))
    if origin in (dict, Mapping):
        return Map(kind_of(arguments[1], name))
    if hint is Shape:
        return SHAPE
    if hint is edits.Edit:
        return ANY_EDIT
    if is_dataclass(hint):
        return record(hint)  # type: ignore[arg-type]
    return FREE


def record(cls: type, tag: tuple[str, str] | None = None) -> Record:
    """The record of a dataclass."""
    hints = get_type_hints(cls)
    return Record(cls, {entry.name: kind_of(hints[entry.name], entry.name, cls.__name__) for entry in fields(cls)}, tag)


def one_of(key: str, classes: list[type], name=kebab) -> OneOf:
    """Records of several classes, told apart by their names under `key`."""
    names = {cls: name(cls.__name__) for cls in classes}
    return OneOf(key, {names[cls]: record(cls, (key, names[cls])) for cls in classes}, names)


PROFILE = one_of("profile", [Ramp, Smooth, Harmonic, Table, Formula])
SHAPE = one_of("shape", [Box, Sphere, Cylinder, Capsule, Cone, ConvexHull, Plane, Mesh, HeightField])
VISUAL = record(Visual, ("visual", "drawn"))
TOLD: dict[type, Kind] = {Shape: SHAPE, Sensor: SENSOR, Visual: VISUAL}
TAGGED: dict[str, Kind] = {
    "visual": VISUAL,
    "profile": VALUE,
    FREE_ARRAY: VALUE,
    "motor": MOTOR,
    "shape": SHAPE,
    "sensor": SENSOR,
}
EDIT = one_of("edit", edits.Edit.__subclasses__(), name=str)
RECORDS: dict[str, Record] = {kind.plural: record(kind.cls) for kind in PARTS.values()}
OPTIONS: dict[str, Kind] = {
    "horizon": Optional(NUMBER),
    "reference_energy": Optional(NUMBER),
    "duration": Optional(NUMBER),
    "dt": Optional(NUMBER),
    "scene": Optional(TEXT),
}
EXPRESSIONS = Map(TEXT)  # by the path of what follows them
SCRIPT_FIELDS: dict[str, Kind] = {"time": NUMBER, "edit": EDIT}
FIELDS = ("format", "version", "name", "gravity", *OPTIONS, "ground_shapes", *RECORDS, "expressions", "script")


def edit_to_json(edit: edits.Edit, callables: Callables = REFUSED) -> dict[str, Any]:
    """An edit as an object with "edit", its name, and its fields."""
    return EDIT.write(edit, type(edit).__name__, callables)


def edit_from_json(data: Any, place: str = "edit", callables: Callables = REFUSED) -> edits.Edit:
    """The edit of an object; raises FileError."""
    return EDIT.read(data, place, callables)


def model_to_json(model: Model, callables: Callables = REFUSED) -> dict[str, Any]:
    """A model as an object, exactly: every number comes back with the same bits."""
    if not isinstance(model, Model):
        raise wrong("model", model, "a Model")
    data: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    data["name"] = TEXT.write(model.name, "name")
    data["gravity"] = Array((3,)).write(model.gravity, "gravity")
    for name, kind in OPTIONS.items():
        if getattr(model, name) is not None:
            data[name] = kind.write(getattr(model, name), name)
    if model.ground.shapes:
        data["ground_shapes"] = List(SHAPE).write(model.ground.shapes, "ground_shapes")
    for name, kind in RECORDS.items():
        parts = list(getattr(model, name).values())
        if parts:
            data[name] = [kind.write(part, f"{name}[{i}]", callables) for i, part in enumerate(parts)]
    if model.expressions:
        data["expressions"] = EXPRESSIONS.write(model.expressions, "expressions")
    if model.script:
        data["script"] = [
            {"time": NUMBER.write(time, f"script[{i}].time"), "edit": EDIT.write(edit, f"script[{i}].edit", callables)}
            for i, (time, edit) in enumerate(model.script)
        ]
    return data


def model_from_json(data: Any, callables: Callables = REFUSED, most: float = MOST_PARTS) -> Model:
    """The model of an object, checked as a model is, but for joints whose frames do not meet; raises FileError."""
    data = migrate(data)
    for key in data:
        if key not in FIELDS:
            raise FileError(f"scene: no field {tell(key)}; fields are: {', '.join(FIELDS)}")
    try:
        model = Model(TEXT.read(data.get("name", "model"), "name"))
    except FileError:
        raise
    except ModelError as error:
        raise FileError(f"name: {error}") from error
    if "gravity" in data:
        model.gravity = Array((3,)).read(data["gravity"], "gravity")
    for name, kind in OPTIONS.items():
        setattr(model, name, kind.read(data.get(name), name))
    model.ground.shapes = List(SHAPE).read(data.get("ground_shapes", []), "ground_shapes")
    model.expressions = EXPRESSIONS.read(data.get("expressions", {}), "expressions")
    count = len(model.expressions) + sum(len(_items(data, name)) for name in (*RECORDS, "script"))
    if count > most:
        raise FileError(f"scene: has {count} parts and edits, expected at most {most}; build it in Python")
    for name, record_ in RECORDS.items():
        parts = getattr(model, name)
        for i, item in enumerate(_items(data, name)):
            place = f"{name}[{i}]"
            part = record_.read(item, place, callables)
            holder = model.holder(part.name, name == "joints") if part.name else "empty"
            if holder is not None:
                told = f"{place}.name is {tell(part.name)}, which is empty or taken"
                raise FileError(f"{told}: it is {holder}, and all parts have names of their own; choose another")
            parts[part.name] = part
    for i, item in enumerate(_items(data, "script")):
        place = f"script[{i}]"
        if not isinstance(item, dict) or set(item) != set(SCRIPT_FIELDS):
            raise wrong(place, item, "an object with time and edit")
        time = NUMBER.read(item["time"], f"{place}.time")
        if not 0 <= time < float("inf"):
            raise wrong(f"{place}.time", time, "a time >= 0 [s]")
        model.script.append((time, EDIT.read(item["edit"], f"{place}.edit", callables)))
    _check(model)
    return model


def _items(data: dict[str, Any], name: str) -> list:
    items = data.get(name, [])
    if not isinstance(items, list):
        raise wrong(name, items, "a list")
    return items


def _check(model: Model) -> None:
    """Names that are referred to, then the model's own checks, with the place of what is wrong."""
    bodies = {"ground", *model.bodies}
    known: dict[str, Any] = {"body": bodies, "joint": model.joints, "body or obstacle": bodies | set(model.obstacles)}
    known["material"] = {None, *COMMON, *model.materials}
    for kind in PARTS.values():
        for i, part in enumerate(getattr(model, kind.plural).values()):
            for name, target, other in kind.named(part):
                if other not in known[target]:
                    told = f"{kind.plural}[{i}].{name} is {tell(other)}"
                    raise FileError(f"{told}, but there is no {target} of that name; correct it")
    for joint in model.joints.values():
        if joint.type in CATALOGUE:
            for group in joint.kind.groups:
                joint.features.setdefault(group.name, Features())
    place = "scene"
    try:
        with np.errstate(all="raise", under="ignore"):
            for plural in RECORDS:
                for i, part in enumerate(getattr(model, plural).values()):
                    place = f"{plural}[{i}]"
                    part.check()
            place = "scene"
            model.check(meeting=False)
    except (ValueError, ArithmeticError) as error:  # ModelError is a ValueError
        raise FileError(f"{place}: {error}") from error


def schema() -> dict[str, Any]:
    """The JSON schema of a scene file."""
    shared: dict[str, Any] = {}
    script = {"type": "object", "properties": {key: kind.schema(shared) for key, kind in SCRIPT_FIELDS.items()}}
    properties: dict[str, Any] = {
        "format": {"const": FORMAT},
        "version": {"const": VERSION},
        "name": TEXT.schema(shared),
        "gravity": Array((3,)).schema(shared),
        **{name: kind.schema(shared) for name, kind in OPTIONS.items()},
        "ground_shapes": List(SHAPE).schema(shared),
        **{name: {"type": "array", "items": kind.schema(shared)} for name, kind in RECORDS.items()},
        "expressions": EXPRESSIONS.schema(shared),
        "script": {"type": "array", "items": script | {"required": list(SCRIPT_FIELDS), "additionalProperties": False}},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Impulsar scene",
        "description": "SI units and radians; quaternions xyzw. Frames and units of the fields: docs/conventions.md.",
        "type": "object",
        "properties": properties,
        "required": ["format", "version"],
        "additionalProperties": False,
        "$defs": dict(sorted(shared.items())),
    }
