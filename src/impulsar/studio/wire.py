"""Messages to text and back. What comes from a client is checked field by field before anything looks at it."""

import dataclasses
import json
import math
import types
import typing
from functools import cache, cached_property
from typing import Any, TypeVar

from ..author.errors import FileError, ModelError
from ..io.scene_files import parse
from .messages import LONGEST_SIGNAL, RECEIVED, Control, EditMessage, SeriesRequest, Subscribe

Received = EditMessage | Control | Subscribe
Asked = TypeVar("Asked")
MOST_SIGNALS = 64
MOST_POINTS = 32
LARGEST_ID = 2**32 - 1
LONGEST_REFUSAL = 2_000  # letters


class WireError(ModelError):
    """A message that is not one; `id` is the message's, 0 where it has none."""

    def __init__(self, text: str, id: int = 0):
        super().__init__(text)
        self.id = id


class Written:
    """A message to be sent: it becomes text once, and not before a sender asks for it."""

    def __init__(self, message: Any):
        self.message = message

    @cached_property
    def text(self) -> str:
        return to_text(self.message)


def to_text(message: Any) -> str:
    """A message as JSON; what JSON has no number for (infinity, NaN) becomes null."""
    return json.dumps(_plain(message), allow_nan=False, separators=(",", ":"), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value


def read(text: str) -> Received:
    """The message in a text of a client."""
    message: Received = read_any(text, RECEIVED)
    if isinstance(message, Subscribe):
        _check_signals(message)
    return message


def read_any(text: str, kinds: tuple[type, ...]) -> Any:
    """A message of one of these kinds."""
    try:
        data = parse(text.encode())
    except (FileError, UnicodeEncodeError) as error:
        raise WireError(f"message: {error}") from error
    if not isinstance(data, dict):
        raise WireError(f"message: is a {type(data).__name__}, expected an object with a type")
    id = data.get("id")
    known_id = id if isinstance(id, int) and not isinstance(id, bool) and 0 < id <= LARGEST_ID else 0
    found = {cls: typing.get_args(_hints(cls)["type"])[0] for cls in kinds}
    cls = next((cls for cls, name in found.items() if name == data.get("type")), None)
    if cls is None:
        raise WireError(f"message: type is {_show(data.get('type'))}, expected {', '.join(found.values())}", known_id)
    message = _message(cls, data, known_id, data["type"])
    if not known_id:
        raise WireError(f"message '{message.type}': id is {_show(id)}, expected a whole number from 1 to 2³² - 1")
    return message


def read_request(cls: type[Asked], name: str, text: bytes) -> Asked:
    """What a client asks for by HTTP."""
    try:
        data = parse(text)
    except FileError as error:
        raise WireError(f"{name}: {error}") from error
    if not isinstance(data, dict):
        raise WireError(f"{name}: is a {type(data).__name__}, expected an object")
    return _message(cls, data, 0, name)


def read_series(text: bytes) -> SeriesRequest:
    """What a client wants of the recording."""
    request = read_request(SeriesRequest, "series", text)
    _check_signals(request)
    return request


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _message(cls: type, data: dict[str, Any], id: int, name: str) -> Any:
    hints = _hints(cls)
    for key in data:
        if key not in hints:
            raise WireError(f"message '{name}': no field {_show(key)}; fields are: {', '.join(hints)}", id)
    values = {}
    for item in dataclasses.fields(cls):
        if item.name in data:
            if not _fits(data[item.name], hints[item.name]):
                expected = _expected(hints[item.name])
                raise WireError(f"message '{name}': {item.name} is {_show(data[item.name])}, expected {expected}", id)
            values[item.name] = _made(data[item.name], hints[item.name])
        elif item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING:
            raise WireError(f"message '{name}': {item.name} is missing; give it", id)
    return cls(**values)


def _made(value: Any, hint: Any) -> Any:
    """A value that fits, with dataclasses for the objects in lists of them."""
    inner = typing.get_args(hint)[0] if typing.get_origin(hint) is list else None
    return [inner(**item) for item in value] if isinstance(inner, type) and dataclasses.is_dataclass(inner) else value


def _fits(value: Any, hint: Any) -> bool:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin is typing.Literal:
        return isinstance(value, str) and value in arguments
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, argument) for argument in arguments)
    if origin is list:
        return isinstance(value, list) and all(_fits(item, arguments[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(item, arguments[1]) for item in value.values())
    if dataclasses.is_dataclass(hint):
        wanted = _hints(hint)  # type: ignore[arg-type]
        return (
            isinstance(value, dict)
            and value.keys() == wanted.keys()
            and all(_fits(value[name], each) for name, each in wanted.items())
        )
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint)


def _expected(hint: Any) -> str:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return " or ".join(map(str, arguments))
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_expected(argument) for argument in arguments)
    if origin is list:
        return f"a list, each {_expected(arguments[0])}"
    if dataclasses.is_dataclass(hint):
        return f"an object with {', '.join(_hints(hint))}"  # type: ignore[arg-type]
    names = {str: "text", int: "a whole number", float: "a finite number", bool: "true or false", dict: "an object"}
    return names.get(origin or hint, "null")


def _check_signals(message: Subscribe | SeriesRequest) -> None:
    what, id = ("subscribe", message.id) if isinstance(message, Subscribe) else ("series", 0)
    if len(message.signals) > MOST_SIGNALS:
        raise WireError(f"{what}: {len(message.signals)} signals, expected at most {MOST_SIGNALS}", id)
    for name in message.signals:
        if len(name) > LONGEST_SIGNAL:
            raise WireError(f"{what}: a name of {len(name)} letters, expected at most {LONGEST_SIGNAL}", id)
    if len(message.points) > MOST_POINTS:
        raise WireError(f"{what}: {len(message.points)} points, expected at most {MOST_POINTS}", id)
    if any(len(point.at) != 3 for point in message.points):
        raise WireError(f"{what}: at of a point is not three numbers [m]", id)


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
