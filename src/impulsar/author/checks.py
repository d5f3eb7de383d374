"""Checks of authored values: what is given, or an error that names it."""

import math
import os
import re
from collections.abc import Callable, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from .errors import ModelError

Vector = Sequence[float] | np.ndarray
LARGEST = 1e20  # of any finite number that is authored, in SI; see docs/conventions.md
SHOWN = 16  # items of a list that an error shows
TINY = 1e-50  # least mass [kg] and principal inertia [kg m²]: the inverse square is still finite


def is_number(value: object) -> TypeGuard[float]:
    """A real number of Python or NumPy; a bool is none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def show(value: object) -> str:
    """A value as an error message prints it: (1, 1, 3), not [np.float64(1.0), ...]."""
    if is_number(value):
        return f"{as_float(value):.9g}"
    if isinstance(value, tuple | list | np.ndarray) and np.ndim(value := as_objects(value)):
        text = f"({', '.join(show(item) for item in value[:SHOWN])}{', ...' if len(value) > SHOWN else ''})"
    else:
        try:
            text = repr(value)
        except ValueError:  # an integer of thousands of digits
            text = f"a huge {type(value).__name__}"
    return text if len(text) <= 300 else f"{text[:300]}..."


def number(
    owner: str,
    what: str,
    value: object,
    expected: str = "a finite number",
    valid: Callable[[float], bool] = math.isfinite,
) -> float:
    """`value` as a float for which `valid` holds, infinite or at most LARGEST."""
    if not is_number(value) or not valid(as_float(value)):
        raise ModelError(f"{owner}: {what} is {show(value)}, expected {expected}")
    result = as_float(value)
    if LARGEST < abs(result) < math.inf:
        raise beyond(owner, what, value)
    return result


def as_float(value: Any) -> float:
    """A number as a float; an integer that is larger than any is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def beyond(owner: str, what: str, value: object) -> ModelError:
    """The error of a value that no mechanism has."""
    return ModelError(f"{owner}: {what} is {show(value)}, beyond {LARGEST:g}, the largest in SI; check its unit")


def positive(owner: str, what: str, value: object, unit: str) -> float:
    """`value` as a finite float > 0."""
    return number(owner, what, value, f"a finite number > 0 [{unit}]", lambda x: 0 < x < math.inf)


def weight(owner: str, value: object, carries: bool = False) -> float:
    """`value` as a mass [kg] whose inverse can be computed with; or 0 of what only carries."""
    if carries and not isinstance(value, bool) and isinstance(value, int | float) and value == 0:
        return 0.0
    mass = positive(owner, "mass", value, "kg")
    if mass < TINY:
        raise ModelError(f"{owner}: mass is {show(value)}, expected at least {TINY:g} kg; check its unit")
    return mass


def not_negative(owner: str, what: str, value: object, unit: str) -> float:
    """`value` as a finite float >= 0."""
    return number(owner, what, value, f"a finite number >= 0 [{unit}]", lambda x: 0 <= x < math.inf)


def whole(owner: str, what: str, value: object, least: int, most: int) -> int:
    """`value` as an integer of Python or NumPy from `least` to `most`; a bool is none."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not least <= value <= most:
        raise ModelError(f"{owner}: {what} is {show(value)}, expected an integer from {least} to {most}")
    return int(value)


def flag(owner: str, what: str, value: object) -> bool:
    """`value` as True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ModelError(f"{owner}: {what} is {show(value)}, expected True or False")
    return bool(value)


def name_or_none(owner: str, what: str, value: object) -> str | None:
    """`value` as the name of a part, or None."""
    if value is None or (isinstance(value, str) and value):
        return value
    raise ModelError(f"{owner}: {what} is {show(value)}, expected a name or None")


def colour(owner: str, value: object) -> str | None:
    """`value` as "#rrggbb" in small letters, or None."""
    if value is None:
        return None
    if not isinstance(value, str) or not re.fullmatch("#[0-9a-fA-F]{6}", value):
        raise ModelError(f"{owner}: colour is {show(value)}, expected text such as '#3366cc', or None")
    return value.lower()


def sequence(owner: str, what: str, value: object) -> list:
    """The items of a tuple, list or array."""
    if not isinstance(value, tuple | list | np.ndarray) or not np.ndim(value if isinstance(value, np.ndarray) else [0]):
        raise ModelError(f"{owner}: {what} is {show(value)}, expected a list")
    return list(value)


def file_path(what: str, value: object) -> Path:
    """`value` as the path of a file."""
    wrong = re.compile("[\x00\ud800-\udbff]")  # what no file system takes
    if not isinstance(value, str | Path) or not Path(value).name or wrong.search(str(value)):
        raise ModelError(f"{what}: path is {show(value)}, expected the name of a file")
    if len(os.fsencode(Path(value).name)) > 255:  # what file systems take
        raise ModelError(f"{what}: path is {show(value)}, expected a name of at most 255 bytes")
    return Path(value)


def vector(owner: str, what: str, value: object, unit: str, size: int = 3, largest: float = LARGEST) -> np.ndarray:
    """`value` as an array of `size` finite floats of at most `largest`."""
    if type(value) is np.ndarray and value.dtype == float and value.shape == (size,):
        result = value.copy()
    else:
        array = as_objects(value)
        if array.shape != (size,) or not all(is_number(item) for item in array):
            raise ModelError(f"{owner}: {what} is {show(value)}, expected {size} numbers [{unit}]")
        result = np.array([as_float(item) for item in array])
    if not all([-largest <= item <= largest for item in result.tolist()]):  # of three, NumPy is slower
        if np.isfinite(result).all():
            raise beyond(owner, what, value)
        raise ModelError(f"{owner}: {what} is {show(value)}, expected {size} finite numbers [{unit}]")
    return result


def as_objects(value: object) -> np.ndarray:
    """A value as an array of what it holds; bytes, and lists that NumPy cannot make one of, are one object."""
    if isinstance(value, bytes | bytearray | memoryview):
        return np.empty((), object)
    try:
        return np.asarray(value, dtype=object)
    except ValueError:
        return np.empty((), object)


def ordered_pair(owner: str, what: str, value: object, unit: str) -> tuple[float, float]:
    """`value` as two floats, the lower first; infinite ones are taken."""
    expected = f"lower <= upper [{unit}], either may be infinite"
    if not isinstance(value, tuple | list | np.ndarray) or len(value) != 2:
        raise ModelError(f"{owner}: {what} is {show(value)}, expected 2 numbers, {expected}")
    lower, upper = (number(owner, what, item, expected, lambda x: not math.isnan(x)) for item in value)
    if lower > upper or lower == math.inf or upper == -math.inf:
        raise ModelError(f"{owner}: {what} is {show(value)}, expected {expected}; swap them?")
    return lower, upper
