"""Kinds of values in a file: each writes itself as JSON, reads itself back exactly, and gives its JSON schema.

What is read may come from anyone: a value of the wrong kind raises `FileError` with its place, itself and
what was expected. JSON has no infinity, so that it is written as the text "inf" or "-inf".
"""

import math
import re
import reprlib
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

import numpy as np

from ..author.checks import is_number
from ..author.errors import FileError

LONGEST_TEXT = 1000  # characters
LARGEST_INTEGER = 2**63
CONTROL = ("Cc", "Zl", "Zp")  # Unicode's categories of control characters and separators of lines
DEEPEST = 32  # nesting of free values
SHORT = reprlib.Repr()
INFINITE = {"inf": math.inf, "-inf": -math.inf}


def tell(value: object) -> str:
    """A value as a message prints it: short, whatever it is."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    try:
        text = SHORT.repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits
        return f"a huge {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def wrong(place: str, value: object, expected: str) -> FileError:
    """The error of a value that is not what was expected."""
    return FileError(f"{place} is {tell(value)}, expected {expected}")


@dataclass
class Callables:
    """What stands for Python callables of time, which are not data: by default they are refused."""

    write: Callable[[Callable], dict] | None = None
    read: Callable[[dict, str], Callable] | None = None


REFUSED = Callables()


class Kind:
    """A kind of value."""

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        """The value as JSON."""
        raise NotImplementedError

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        """The value of JSON."""
        raise NotImplementedError

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        """JSON schema; definitions that are referred to go into `shared`."""
        raise NotImplementedError


class Number(Kind):
    """A number that is not NaN."""

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        if not is_number(value) or (isinstance(value, int) and abs(value) > LARGEST_INTEGER) or value != value:
            raise wrong(place, value, "a number")
        value = value.item() if isinstance(value, np.generic) else value
        value = value if isinstance(value, int) else float(value)
        return value if math.isfinite(value) else str(value)

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        if isinstance(data, str) and data in INFINITE:
            return INFINITE[data]
        if isinstance(data, bool) or not isinstance(data, int | float):
            raise wrong(place, data, "a number")
        if isinstance(data, int) and abs(data) > LARGEST_INTEGER:
            raise FileError(f"{place} is an integer beyond 2^63; write it with a decimal point")
        if not math.isfinite(data):
            raise FileError(f'{place} is not finite; numbers end at 1.8e308, and infinity is written as "inf"')
        return data

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        return {"anyOf": [{"type": "number"}, {"enum": list(INFINITE)}]}


class Integer(Kind):
    """A whole number."""

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        if isinstance(value, np.integer):
            value = int(value)
        return self.read(value, place)

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        if isinstance(data, bool) or not isinstance(data, int) or abs(data) > LARGEST_INTEGER:
            raise wrong(place, data, "an integer")
        return data

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        return {"type": "integer"}


class Text(Kind):
    """A text that can be printed and written."""

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        return self.read(value, place)

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        if not isinstance(data, str):
            raise wrong(place, data, "a text")
        if len(data) > LONGEST_TEXT:
            raise FileError(f"{place} has {len(data)} characters, expected at most {LONGEST_TEXT}")
        if not data.isprintable():
            self._refuse_control(data, place)
        return data

    @staticmethod
    def _refuse_control(data: str, place: str) -> None:
        """Refuse what a terminal would obey and no file of results can hold."""
        for letter in data:
            kind = unicodedata.category(letter)
            if kind == "Cs":
                half = "half of a character pair (\\ud800 to \\udfff)"
                raise FileError(f"{place} holds {half}; write the whole character")
            if kind in CONTROL:
                raise FileError(f"{place} holds the control character {letter!a}; leave it out")

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        return {"type": "string", "maxLength": LONGEST_TEXT}


class Boolean(Kind):
    """true or false."""

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        return self.read(bool(value) if isinstance(value, np.bool_) else value, place)

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        if not isinstance(data, bool):
            raise wrong(place, data, "true or false")
        return data

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        return {"type": "boolean"}


NUMBER, INTEGER, TEXT, BOOLEAN = Number(), Integer(), Text(), Boolean()


@dataclass(frozen=True)
class Optional(Kind):
    """A value, or null."""

    kind: Kind

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        return None if value is None else self.kind.write(value, place, callables)

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        return None if data is None else self.kind.read(data, place, callables)

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        return {"anyOf": [self.kind.schema(shared), {"type": "null"}]}


@dataclass(frozen=True)
class Array(Kind):
    """An array of floats, or of whole numbers, of a shape; None stands for any length up to `most`."""

    shape: tuple[int | None, ...]
    most: int = 10_000
    is_whole: bool = False

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        return self._array(value, place).tolist()

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        self._check(data, place, self.shape)
        return self._array(data, place)

    def _array(self, value: Any, place: str) -> np.ndarray:
        try:
            array = np.asarray(value, np.int64 if self.is_whole else float)
        except (TypeError, ValueError, OverflowError) as error:
            raise wrong(place, value, self._expected()) from error
        fits = array.ndim == len(self.shape) and all(
            size in (None, have) for size, have in zip(self.shape, array.shape, strict=True)
        )
        if not fits or not np.isfinite(array).all():
            raise wrong(place, value, f"{self._expected()}, all finite")
        for size, have in zip(self.shape, array.shape, strict=True):
            if size is None and have > self.most:
                raise FileError(f"{place} is a list of {have}, expected at most {self.most}")
        return array

    def _check(self, data: Any, place: str, shape: tuple[int | None, ...]) -> None:
        """Lists of numbers of the right lengths, before anything is made of them."""
        if not shape:
            (INTEGER if self.is_whole else NUMBER).read(data, place)
            return
        if not isinstance(data, list | tuple) or shape[0] not in (None, len(data)):
            raise wrong(place, data, self._expected())
        if len(data) > self.most:
            raise FileError(f"{place} is a list of {len(data)}, expected at most {self.most}")
        for i, item in enumerate(data):
            is_plain = type(item) is int and abs(item) < 2**53
            is_plain = is_plain or (type(item) is float and math.isfinite(item) and not self.is_whole)
            if shape[1:] or not is_plain:
                self._check(item, f"{place}[{i}]", shape[1:])

    def _expected(self) -> str:
        sizes = " x ".join("n" if size is None else str(size) for size in self.shape)
        return f"{sizes} {'integers' if self.is_whole else 'numbers'}"

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        item: dict[str, Any] = {"type": "integer" if self.is_whole else "number"}
        for size in reversed(self.shape):
            limits = {"maxItems": self.most} if size is None else {"minItems": size, "maxItems": size}
            item = {"type": "array", "items": item, **limits}
        return item


@dataclass(frozen=True)
class Tuple(Kind):
    """A tuple of values of one kind, of one of some lengths (None: any)."""

    kind: Kind
    lengths: tuple[int, ...] | None = None

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        items = value.tolist() if isinstance(value, np.ndarray) else value
        self._check(items, place)
        return [self.kind.write(item, f"{place}[{i}]", callables) for i, item in enumerate(items)]

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        self._check(data, place)
        return tuple(self.kind.read(item, f"{place}[{i}]", callables) for i, item in enumerate(data))

    def _check(self, items: Any, place: str) -> None:
        if not isinstance(items, list | tuple) or (self.lengths is not None and len(items) not in self.lengths):
            lengths = " or ".join(map(str, self.lengths or ()))
            raise wrong(place, items, f"a list of {lengths}" if lengths else "a list")

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        limits = {} if self.lengths is None else {"minItems": min(self.lengths), "maxItems": max(self.lengths)}
        return {"type": "array", "items": self.kind.schema(shared), **limits}


class List(Tuple):
    """As a tuple, but read as a list."""

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        return list(super().read(data, place, callables))


@dataclass(frozen=True)
class Map(Kind):
    """Values of one kind by name."""

    kind: Kind

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        if not isinstance(value, Mapping):
            raise wrong(place, value, "values by name")
        return {
            TEXT.write(key, f"a name in {place}"): self.kind.write(item, f"{place}.{key}", callables)
            for key, item in value.items()
        }

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        if not isinstance(data, dict):
            raise wrong(place, data, "an object")
        found = {}
        for key, item in data.items():
            TEXT.read(key, f"a name in {place}")
            found[key] = self.kind.read(item, f"{place}.{key}", callables)
        return found

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.kind.schema(shared)}


class Record(Kind):
    """An object with the fields of a dataclass; fields that have their default are left out."""

    def __init__(self, cls: type, kinds: dict[str, Kind], tag: tuple[str, str] | None = None):
        self.cls, self.kinds, self.tag = cls, kinds, tag
        self.defaults: dict[str, Any] = {}
        for entry in fields(cls):
            if entry.default is not MISSING:
                self.defaults[entry.name] = entry.default
            elif entry.default_factory is not MISSING:
                self.defaults[entry.name] = entry.default_factory()
        self._written = {name: kinds[name].write(value, name) for name, value in self.defaults.items() if name in kinds}

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        if type(value) is not self.cls:
            raise wrong(place, value, f"a {self.cls.__name__}")
        data: dict[str, Any] = dict([self.tag]) if self.tag else {}
        for name, kind in self.kinds.items():
            written = kind.write(getattr(value, name), f"{place}.{name}", callables)
            if name not in self._written or repr(written) != repr(self._written[name]):
                data[name] = written
        return data

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        given = self.read_fields(data, place, callables)
        try:
            return self.cls(**given)
        except (ValueError, ArithmeticError) as error:
            raise FileError(f"{place}: {error}") from error

    def read_fields(self, data: Any, place: str, callables: Callables = REFUSED) -> dict[str, Any]:
        """The fields, each of its kind; refuses unknown and missing ones."""
        if not isinstance(data, dict):
            raise wrong(place, data, f"an object with {', '.join(self.kinds)}")
        given = {}
        for key, item in data.items():
            if key in self.kinds:
                given[key] = self.kinds[key].read(item, f"{place}.{key}", callables)
            elif self.tag is None or key != self.tag[0]:
                raise FileError(f"{place}: no field {tell(key)}; fields are: {', '.join(self.kinds) or 'none'}")
        for name in self.kinds:
            if name not in given and name not in self.defaults:
                raise FileError(f"{place}: {name} is missing; give it")
        return given

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        name = self.cls.__name__
        if name not in shared:
            shared[name] = {}  # a record may hold records of its own kind
            properties = {key: kind.schema(shared) for key, kind in self.kinds.items()}
            required = [key for key in self.kinds if key not in self.defaults]
            if self.tag:
                properties = {self.tag[0]: {"const": self.tag[1]}, **properties}
                required = [self.tag[0], *required]
            about = " ".join((self.cls.__doc__ or "").split())
            shared[name] = {
                "description": about,
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": False,
            }
        return {"$ref": f"#/$defs/{name}"}


class OneOf(Kind):
    """Records told apart by the value of one key."""

    def __init__(self, key: str, records: dict[str, Kind], classes: dict[type, str]):
        self.key, self.records, self.classes = key, records, classes

    def write(self, value: Any, place: str, callables: Callables = REFUSED) -> Any:
        if type(value) not in self.classes:
            raise wrong(place, value, f"a {self.key}: {', '.join(self.records)}")
        return self.records[self.classes[type(value)]].write(value, place, callables)

    def read(self, data: Any, place: str, callables: Callables = REFUSED) -> Any:
        if not isinstance(data, dict) or self.key not in data:
            raise wrong(place, data, f'an object with "{self.key}": one of {", ".join(self.records)}')
        name = data[self.key]
        if not isinstance(name, str) or name not in self.records:
            raise wrong(f"{place}.{self.key}", name, f"one of {', '.join(self.records)}")
        return self.records[name].read(data, place, callables)

    def schema(self, shared: dict[str, Any]) -> dict[str, Any]:
        return {"oneOf": [record.schema(shared) for record in self.records.values()]}


def kebab(name: str) -> str:
    """ConvexHull as convex-hull."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
