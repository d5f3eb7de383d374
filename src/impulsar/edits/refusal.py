"""Refusals: an edit that cannot be carried out says which part, which value and what would do."""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from ..author.checks import LARGEST, is_number, show
from ..author.errors import ModelError
from ..author.names import closest
from ..author.parts import Body, Joint, Motor
from ..author.profiles import Profile
from ..author.sensors import Sensor
from ..author.shapes import Shape
from ..author.surfaces import Material, Obstacle
from ..author.visuals import Visual
from .data import Edit, End

DEEPEST = 6  # nesting of values in an edit
MOST = 1_000_000  # numbers in an edit
MOST_WORK = 10**6  # iterations or evaluations of a step


class EditError(ModelError):
    """An edit that was refused; the world is as it was."""


class HeldError(EditError):
    """A world was to be changed or stepped past the history that holds it."""


class Cancelled(EditError):
    """Something long that was ended on the way; the world is as it was before it."""


def known(owner: str, kind: str, name: object, index: Mapping[str, Any]) -> Any:
    """What an index has under a name, or a refusal that suggests the nearest one."""
    if not isinstance(name, str) or name not in index:
        raise EditError(f"{owner}: no {kind} named {_short(name)}; {closest(name, index)}")
    return index[name]


def check_values(edit: Any) -> None:
    """Refuse what no edit can hold, wherever it stands: NaN, numbers beyond bounds, foreign objects."""
    left = [MOST]
    for entry in fields(edit):
        value = getattr(edit, entry.name)
        if entry.type is str and not isinstance(value, str):
            raise EditError(f"{type(edit).__name__}: {entry.name} is {_short(value)}, expected a text that is a name")
        if type(value) is float:
            _check_number(edit, entry.name, value)
        elif type(value) is not str:
            _check(edit, entry.name, value, DEEPEST, left)


def _check(edit: Any, what: str, value: Any, depth: int, left: list[int]) -> None:
    if value is None or isinstance(value, str | bool | Shape | Visual):
        return
    if callable(value) and not isinstance(value, type):
        return
    if is_number(value):
        _check_number(edit, what, value)
    elif isinstance(value, np.ndarray):
        _check_array(edit, what, value, left)
    elif isinstance(value, Mapping | tuple | list):
        _check_items(edit, what, value, depth, left)
    elif isinstance(value, Edit):
        check_values(value)
    elif isinstance(value, Profile | Motor | End | Sensor):
        for name, item in vars(value).items():
            if item is not None:
                _check(edit, f"{what} {name}", item, depth - 1, left)
    elif not isinstance(value, Body | Joint | Material | Obstacle):  # each stands for its name
        raise EditError(f"{type(edit).__name__}: {what} is {_short(value)}, expected data: numbers, text, profiles")


def _check_items(edit: Any, what: str, value: Any, depth: int, left: list[int]) -> None:
    left[0] -= len(value)
    if depth <= 0 or left[0] < 0:
        raise EditError(f"{type(edit).__name__}: {what} is nested too deep or too long; give plain values")
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise EditError(f"{type(edit).__name__}: {what} has the key {_short(name)}, expected text")
        value = value.values()
    for item in value:
        _check(edit, what, item, depth - 1, left)


def _check_array(edit: Any, what: str, value: np.ndarray, left: list[int]) -> None:
    left[0] -= value.size
    if value.dtype.kind not in "fiub" or left[0] < 0:
        raise EditError(f"{type(edit).__name__}: {what} is an array of {value.dtype}, expected numbers")
    if np.isnan(value).any() or (np.abs(value[np.isfinite(value)]) > LARGEST).any():
        raise EditError(f"{type(edit).__name__}: {what} is {_short(value)}, expected numbers of at most {LARGEST:g}")


def _check_number(edit: Any, what: str, value: Any) -> None:
    try:
        size = abs(float(value))
    except OverflowError:
        size = math.nan
    if math.isnan(size) or LARGEST < size < math.inf:
        raise EditError(f"{type(edit).__name__}: {what} is {_short(value)}, expected a number of at most {LARGEST:g}")


def _short(value: Any) -> str:
    try:
        return show(value)[:200]
    except (ValueError, OverflowError, RecursionError):
        return f"{type(value).__name__}"


def method_options(edit: Any, methods: Mapping[str, type]) -> dict[str, Any]:
    """The options of a SetMethod, each of the kind that the method's own is."""
    owner = f"method '{edit.method}'"
    if not isinstance(edit.options, Mapping):
        raise EditError(f"{owner}: options are {_short(edit.options)}, expected values by name")
    kinds = {entry.name: type(entry.default) for entry in fields(methods[edit.method])}
    for name, value in edit.options.items():
        kind = known(owner, "option", name, kinds)
        allowed = (int, float) if kind is float else kind
        fits = isinstance(value, allowed) and (kind is bool or not isinstance(value, bool))
        if not fits or value in (math.inf, -math.inf):
            raise EditError(f"{owner}: {name} is {_short(value)}, expected a finite value of kind {kind.__name__}")
    return dict(edit.options)
