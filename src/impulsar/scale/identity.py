"""What a callable is, in words that are the same in every process: a store must not take another's rows for its own.

A function is its name and text, and what it reads beside its arguments: what it is closed over, its defaults, the
object of a method, and of its module the names that it mentions, functions among them in the same way. Modules and
callables of other packages are their names; of what is neither of these nor data its type counts, and its attributes
where they are of the same package or a dataclass has them. What is told once is not told again.
"""

import hashlib
import inspect
import json
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..io import model_to_json

PLAIN = (type(None), bool, int, float, complex, str, bytes)


def identity(function: Callable) -> str:
    """A callable by its name and a hash of all that it is."""
    name = _name(getattr(function, "func", function))
    return f"{name} {hashlib.sha256(_told(function, name.partition('.')[0], []).encode()).hexdigest()}"


def _name(one: Any) -> str:
    named = one if hasattr(one, "__qualname__") else type(one)
    module = str(getattr(named, "__module__", "")).replace("__mp_main__", "__main__")  # of a script, in its workers
    return f"{module}.{named.__qualname__}"


def _told(one: Any, home: str, seen: list[Any]) -> str:
    """A value in words; home: the package whose functions are read, seen: what has been told."""
    if isinstance(one, PLAIN):
        return repr(one)
    if isinstance(one, np.ndarray | np.generic):
        data = np.ascontiguousarray(one)
        return f"{data.dtype.str}{data.shape}{hashlib.sha256(data.tobytes()).hexdigest()}"
    if isinstance(one, Model):
        return json.dumps(model_to_json(one), sort_keys=True)
    if isinstance(one, PurePath | types.ModuleType):
        return str(one) if isinstance(one, PurePath) else one.__name__
    if any(one is other for other in seen):
        return f"<again {_name(one)}>"
    seen.append(one)
    return f"{type(one).__name__}({', '.join(_parts(one, home, seen))})"


def _parts(one: Any, home: str, seen: list[Any]) -> Iterator[str]:
    if isinstance(one, Mapping):
        yield from sorted(f"{_told(key, home, seen)}: {_told(value, home, seen)}" for key, value in one.items())
    elif isinstance(one, list | tuple | set | frozenset):
        told = [_told(item, home, seen) for item in one]
        yield from sorted(told) if isinstance(one, set | frozenset) else told
    elif isinstance(one, partial):
        yield from (_told(part, home, seen) for part in (one.func, one.args, one.keywords))
    elif isinstance(one, types.MethodType):
        yield from (_told(part, home, seen) for part in (one.__func__, one.__self__))
    elif isinstance(one, types.FunctionType):
        yield _name(one)
        if _name(one).partition(".")[0] == home:
            yield from _of_function(one, home, seen)
    elif isinstance(one, type):
        yield _name(one)
        if _name(one).partition(".")[0] == home:
            yield _text(one)
    else:
        yield _told(type(one), home, seen) if not hasattr(one, "__qualname__") else _name(one)
        if _name(type(one)).partition(".")[0] == home or is_dataclass(one):
            yield _told(getattr(one, "__dict__", {}), home, seen)


def _of_function(function: types.FunctionType, home: str, seen: list[Any]) -> Iterator[str]:
    yield _text(function)
    yield _told((function.__defaults__, function.__kwdefaults__), home, seen)
    for cell in function.__closure__ or ():
        try:
            yield _told(cell.cell_contents, home, seen)
        except ValueError:  # of a name that has no value yet
            yield "empty"
    for name in sorted(set(_names(function.__code__)) & set(function.__globals__)):
        yield f"{name} = {_told(function.__globals__[name], home, seen)}"


def _names(code: types.CodeType) -> Iterator[str]:
    """Names that a function mentions, with those of the functions in it."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


def _code(code: types.CodeType) -> str:
    consts = [_code(one) if isinstance(one, types.CodeType) else repr(one) for one in code.co_consts]
    return f"{code.co_code!r} {consts} {code.co_names!r}"


def _text(one: Any) -> str:
    """The text of a function or a class; of a function without any its code. Of lambdas both, of which a line may have
    several."""
    code: types.CodeType | None = getattr(one, "__code__", None)
    try:
        text = inspect.getsource(one)
    except (OSError, TypeError):
        if code is None:
            told = f"sweep: {_name(one)} has no text to key a store by; use a class of a module"
            raise ModelError(told) from None
        return _code(code)
    return text + _code(code) if code is not None and one.__name__ == "<lambda>" else text
