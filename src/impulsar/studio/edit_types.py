"""TypeScript of the edits as they are in JSON, from the same kinds that read and write them (`io.codec`).

Options of `Add` and changes of `ChangeJoint` are keyword arguments of `Model`, so their names are its
signatures'.
"""

import inspect
import types
import typing
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..author.model import KINDS, Model
from ..author.parts import PARTS, Body, Joint, Motor
from ..author.placing import Frame
from ..author.profiles import Value
from ..author.sensors import Sensor
from ..author.shapes import Shape
from ..author.surfaces import Material, Obstacle
from ..author.visuals import Visual
from ..edits.states import POSE
from ..io.codec import EDIT, MOTOR, PROFILE, SHAPE, VISUAL, AnyEdit, Free, MotorKind, SampleKind, ValueKind
from ..io.kinds import Array, Boolean, Integer, Kind, Map, Number, OneOf, Optional, Record, Text, Tuple


def either(names: Iterable[str]) -> str:
    """One of some texts."""
    return " | ".join(f'"{name}"' for name in names)


HEAD = "// Generated from src/impulsar/edits/data.py by `python -m impulsar.studio.typescript`. Do not edit."
NAMES: dict[type, str] = {
    Number: "Real",
    Integer: "number",
    Text: "string",
    Boolean: "boolean",
    ValueKind: "Value",
    SampleKind: "Sample",
    MotorKind: "Motor",
    Free: "Free",
    AnyEdit: "Edit",
}
ARGUMENTS: dict[typing.Any, str] = {
    float: "Real",
    str: "string",
    bool: "boolean",
    type(None): "null",
    Body: "string",
    Joint: "string",
    Material: "string",
    Obstacle: "string",
    Motor: "Motor",
    Shape: "Shape",
    Visual: "Visual",
    Sensor: "Free",
    Value: "Value",
    Frame: "[[number, number, number], [number, number, number, number]]",
}
PLAIN = f"""
/** A number; JSON has no infinity. */
export type Real = number | "inf" | "-inf";

/** A number or 3 of them. */
export type Sample = Real | [Real, Real, Real];

/** What the outside imposes: a number, a profile, 3 of these, or an array of one row per world. */
export type Value = Real | Profile | [Real | Profile, Real | Profile, Real | Profile] | {{ array: number[][] }};

/** {inspect.cleandoc(MOTOR.__doc__ or "")} */
export interface Motor {{
  motor: {either(MOTOR.WHATS)};
  value: Value;
  max_torque?: Real;
  kp?: Real;
  kv?: Real;
  gear?: Real;
}}

/** Anything that a keyword argument may be. */
export type Free = null | boolean | Real | string | Profile | Shape | Motor | Free[] | {{ [name: string]: Free }};
""".strip()
# What is free to a file and known to a page: fields of edits that are keyword arguments of `Model`.
KNOWN = {
    ("Add", "kind"): "K",
    ("Add", "options"): "Options[K]",
    ("Remove", "kind"): "keyof Options",
    ("ChangeJoint", "changes"): "Partial<JointOptions>",
    ("SetState", "bodies"): f"Record<string, Partial<Record<{either(POSE)}, number[]>>>",
}


def edit_types() -> str:
    """The whole file."""
    parts = [HEAD, PLAIN]
    for kind in (PROFILE, SHAPE):
        parts += [_interface(record) for record in _records(kind)] + [_union(kind)]
    parts += [_interface(VISUAL), *(_options(kind) for kind in KINDS)]
    lines = "\n".join(f"  {kind}: {PARTS[kind].cls.__name__}Options;" for kind in KINDS)
    about = "/** Keyword arguments of the calls of `Model`, by kind of part. */"
    parts.append(f"{about}\nexport interface Options {{\n{lines}\n}}")
    parts += [_interface(record) for record in (*_held_by(EDIT), *_records(EDIT))] + [_union(EDIT)]
    return "\n\n".join(parts) + "\n"


def comment(doc: str | None) -> str:
    """A docstring as a comment."""
    lines = [f" * {line}".rstrip() for line in inspect.cleandoc(doc or "").splitlines()]
    return "/**\n" + "\n".join(lines) + "\n */\n"


def _records(kind: OneOf) -> list[Record]:
    return [typing.cast(Record, record) for record in kind.records.values()]


def _held_by(kind: OneOf) -> list[Record]:
    """Records that fields of these records are lists of."""
    inner = [getattr(field, "kind", None) for record in _records(kind) for field in record.kinds.values()]
    return [record for record in inner if isinstance(record, Record)]


def _union(kind: OneOf) -> str:
    names = [record.cls.__name__ for record in _records(kind)]
    return f"export type {kind.key.capitalize()} =\n  | " + "\n  | ".join(names) + ";"


def _interface(record: Record) -> str:
    name = record.cls.__name__
    lines = [f'  {record.tag[0]}: "{record.tag[1]}";'] if record.tag else []
    for field, kind in record.kinds.items():
        mark = "?" if field in record.defaults else ""
        lines.append(f"  {field}{mark}: {KNOWN.get((name, field)) or _type(kind)};")
    head = "AddPart<K extends keyof Options>" if name == "Add" else name
    tail = "\n\nexport type Add = { [K in keyof Options]: AddPart<K> }[keyof Options];" if name == "Add" else ""
    return f"{comment(record.cls.__doc__)}export interface {head} {{\n" + "\n".join(lines) + "\n}" + tail


def _options(kind: str) -> str:
    """The keyword arguments of `Model.KIND`, without the name."""
    call = getattr(Model, kind)
    hints = typing.get_type_hints(call)
    lines = []
    for name, parameter in inspect.signature(call).parameters.items():
        if name in ("self", "name"):
            continue
        mark = "" if parameter.default is parameter.empty else "?"
        lines.append(f"  {name}{mark}: {_argument(hints[name], name)};")
    return f"export interface {PARTS[kind].cls.__name__}Options {{\n" + "\n".join(lines) + "\n}"


def _argument(hint: typing.Any, name: str) -> str:
    """TypeScript of a keyword argument; parts stand for their names."""
    if hint in ARGUMENTS:
        return ARGUMENTS[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in (np.ndarray, Sequence[float]):
        return _list("number", 4 if name == "orientation" else 3)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(dict.fromkeys(_argument(argument, name) for argument in arguments))
    if origin is tuple and arguments[0] is str:
        return f"[string, {_argument(np.ndarray, name)}{', string' * (len(arguments) == 3)}]"
    if origin is tuple:
        return f"[{', '.join(_argument(argument, name) for argument in arguments)}]"
    if origin is Sequence:
        return _list(_argument(arguments[0], name), None)
    if origin in (dict, Mapping):
        return f"Record<string, {_argument(arguments[1], name)}>"
    return "Free"


def _type(kind: Kind) -> str:
    if type(kind) in NAMES:
        return NAMES[type(kind)]
    match kind:
        case Optional(kind=inner):
            return f"{_type(inner)} | null"
        case Array(shape=shape):
            found = "number"
            for size in reversed(shape):
                found = _list(found, size)
            return found
        case Tuple(kind=inner, lengths=lengths):
            return _list(_type(inner), lengths[0] if lengths and len(lengths) == 1 else None)
        case Map(kind=inner):
            return f"Record<string, {_type(inner)}>"
        case Record(cls=cls):
            return cls.__name__
        case OneOf(key=key):
            return key.capitalize()
    raise TypeError(f"{kind}: no TypeScript for it")


def _list(item: str, size: int | None) -> str:
    if size is None:
        return f"({item})[]" if "|" in item else f"{item}[]"
    return f"[{', '.join([item] * size)}]"
