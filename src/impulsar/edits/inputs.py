"""What edits of hands, loads, motors and parameters have in common: names, values over time, arrays written."""

from typing import Any

import numpy as np

from ..author.profiles import Component, scalar_profiles
from ..engine.state import TILL_STIFFER
from ..engine.system import System
from ..observe.bench import Bench
from .refusal import EditError


def claim(system: System, kind: str, name: object) -> None:
    """Refuse the name of a new part, hand or load that is wrong or has a meaning already."""
    owner = system.model.claim(kind, name)
    for what, names in (("hand", system.hand_names), ("load", system.load_names)):
        if name in names:
            raise EditError(f"{owner}: the name is taken by a {what}; choose another")


def look_again(bench: Bench) -> None:
    """Let the method ask again how large its sub-steps may be: something stiff may have come."""
    bench.state.forget(TILL_STIFFER)


def profiles_of(owner: str, what: str, value: Any, size: int) -> list:
    """A value as scalar items, or a refusal."""
    if value is None or isinstance(value, type):
        raise EditError(f"{owner}: {what} is {value!r}, expected numbers, a profile or a callable of time")
    try:
        return scalar_profiles(value, size)
    except ValueError as error:
        raise EditError(f"{owner}: {what}: {error}") from error


def joined(items: list) -> Any:
    """Scalar items as one value, of the first world: a callable of three components is the callable itself."""
    if all(isinstance(item, Component) for item in items) and len({id(item.function) for item in items}) == 1:
        return items[0].function
    values = [float(np.ravel(item)[0]) if isinstance(item, np.ndarray) else item for item in items]
    return values[0] if len(values) == 1 else tuple(values)


def write_ints(array: Any, index: int | tuple, value: int) -> None:
    """Write into an array of integers on its device."""
    data = array.numpy()
    data[index] = value
    if not array.device.is_cpu:
        array.assign(data)
