"""What the outside imposes in time: profiles of a number or of a 3-vector.

A profile is data, so that a scene file can hold it and a kernel can read it; a Python callable of
time is taken too, but is evaluated on the host.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from .checks import LARGEST, is_number
from .errors import ModelError
from .expressions import read_expression

Sample = float | tuple[float, float, float]
UNRECORDED = np.zeros(0)  # what a record of a callable returns that has no values yet


def _sample(owner: str, what: str, value: Any) -> Sample:
    """`value` as a float or a tuple of 3 floats, all finite."""
    is_vector = isinstance(value, tuple | list | np.ndarray) and np.shape(np.array(value, object)) == (3,)
    items = list(value) if is_vector else [value]
    if not all(is_number(item) for item in items):
        raise ValueError(f"{owner}: {what} is {value!r}, expected a number or 3 numbers")
    if not all(_is_bounded(item) for item in items):
        raise ValueError(f"{owner}: {what} is {value!r:.200}, expected finite numbers of at most {LARGEST:g}")
    return (float(items[0]), float(items[1]), float(items[2])) if is_vector else float(value)


def _number(owner: str, what: str, value: object) -> float:
    if not is_number(value) or not _is_bounded(value):
        raise ValueError(f"{owner}: {what} is {value!r:.200}, expected a finite number of at most {LARGEST:g}")
    return float(value)


def _is_bounded(value: float) -> bool:
    """Whether a number is finite and within reason; an integer of any length is compared as it is."""
    return -LARGEST <= value <= LARGEST


def _size(value: Sample) -> int:
    return 3 if isinstance(value, tuple) else 1


def _item(value: Sample, index: int) -> float:
    return value[index] if isinstance(value, tuple) else value


def _out(value: np.ndarray | Sample) -> float | np.ndarray:
    array = np.asarray(value, dtype=float)
    return array if array.ndim else float(array)


@dataclass(frozen=True)
class Passage:
    """From `start`, held until t0, to `end`, held from t1 on [s].

    `start=None` stands for the value at the moment the profile is applied: only a hand knows that
    moment and completes it by `with_start`.
    """

    start: Sample | None
    end: Sample
    t0: float
    t1: float

    def __post_init__(self) -> None:
        owner = type(self).__name__
        object.__setattr__(self, "end", _sample(owner, "end", self.end))
        object.__setattr__(self, "t0", _number(owner, "t0", self.t0))
        object.__setattr__(self, "t1", _number(owner, "t1", self.t1))
        if self.t1 <= self.t0:
            raise ValueError(f"{owner}: t1 = {self.t1:g} is not after t0 = {self.t0:g} [s]; for a jump use a Table")
        if self.start is not None:
            object.__setattr__(self, "start", _sample(owner, "start", self.start))
            if _size(self.start) != _size(self.end):
                raise ValueError(f"{owner}: start {self.start} and end {self.end} differ in length")

    @property
    def size(self) -> int:
        """Number of components, 1 or 3."""
        return _size(self.end)

    def with_start(self, value: Sample) -> Self:
        """This profile, from `value` if it has no start of its own."""
        return replace(self, start=value) if self.start is None else self

    def component(self, index: int) -> Self:
        """The scalar profile of one component."""
        start = None if self.start is None else _item(self.start, index)
        return replace(self, start=start, end=_item(self.end, index))

    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        if self.start is None:
            raise ValueError(f"{type(self).__name__}: start is None, complete it with with_start(value)")
        return np.asarray(self.start), np.asarray(self.end)

    def _share(self, t: float) -> float:
        """How much of the time from t0 to t1 is over, 0 to 1."""
        return min(max((t - self.t0) / (self.t1 - self.t0), 0.0), 1.0)


class Ramp(Passage):
    """`start` until t0, linear to `end` at t1 [s], `end` from there on.

    `start=None` stands for the value at the moment the ramp is applied: only a hand knows that
    moment and completes the ramp by `with_start`.
    """

    def __call__(self, t: float) -> float | np.ndarray:
        """Value at time t [s]."""
        start, end = self._ends()
        s = self._share(t)
        return _out((1.0 - s) * start + s * end)


class Smooth(Passage):
    """`start` until t0, to `end` at t1 [s] with rate and acceleration 0 at both and continuous between:
    the quintic s = u³ (10 - 15 u + 6 u²), u = (t - t0) / (t1 - t0), of least mean square jerk.

    Its rate is at most 15/8, its acceleration 10/√3 of the way over the time, or its square. `start=None` as in a
    Ramp.
    """

    def __call__(self, t: float) -> float | np.ndarray:
        """Value at time t [s]."""
        start, end = self._ends()
        u = self._share(t)
        s = u * u * u * (10.0 - u * (15.0 - 6.0 * u))
        return _out((1.0 - s) * start + s * end)

    def rate(self, t: float) -> float | np.ndarray:
        """Rate of change at time t [s]: s' = 30 u² (1 - u)²."""
        start, end = self._ends()
        u = self._share(t)
        return _out(30.0 * (u * (1.0 - u)) ** 2 / (self.t1 - self.t0) * (end - start))

    def acceleration(self, t: float) -> float | np.ndarray:
        """Second derivative at time t [s]: s'' = 60 u (1 - u) (1 - 2 u)."""
        start, end = self._ends()
        u = self._share(t)
        return _out(60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / (self.t1 - self.t0) ** 2 * (end - start))


@dataclass(frozen=True)
class Harmonic:
    """mean + amplitude · sin(omega t + phase); omega [rad/s], phase [rad]."""

    amplitude: Sample
    omega: Sample
    phase: Sample = 0.0
    mean: Sample = 0.0

    def __post_init__(self) -> None:
        for what in ("amplitude", "omega", "phase", "mean"):
            object.__setattr__(self, what, _sample("Harmonic", what, getattr(self, what)))

    @property
    def size(self) -> int:
        """Number of components, 1 or 3; numbers among vectors hold for every component."""
        return max(_size(value) for value in (self.amplitude, self.omega, self.phase, self.mean))

    def component(self, index: int) -> "Harmonic":
        """The scalar harmonic of one component."""
        fields = (self.amplitude, self.omega, self.phase, self.mean)
        return Harmonic(*(_item(value, index) for value in fields))

    def __call__(self, t: float) -> float | np.ndarray:
        """Value at time t [s]."""
        amplitude, omega, phase, mean = map(np.asarray, (self.amplitude, self.omega, self.phase, self.mean))
        return _out(mean + amplitude * np.sin(omega * t + phase))


@dataclass(frozen=True)
class Table:
    """Samples at ascending times [s], linear between them, held beyond the ends.

    A repeated time is a jump: the later value holds from that time on.
    """

    times: tuple[float, ...]
    values: tuple[Sample, ...]

    def __post_init__(self) -> None:
        for what in ("times", "values"):
            given = getattr(self, what)
            if not isinstance(given, tuple | list | np.ndarray) or (isinstance(given, np.ndarray) and not given.ndim):
                raise ValueError(f"Table: {what} is {given!r:.200}, expected a list")
        times = tuple(_number("Table", f"times[{i}]", time) for i, time in enumerate(self.times))
        values = tuple(_sample("Table", f"values[{i}]", value) for i, value in enumerate(self.values))
        if not times:
            raise ValueError("Table: no samples, give at least one time and value")
        if len(times) != len(values):
            raise ValueError(f"Table: {len(times)} times but {len(values)} values, give one value per time")
        for i, (before, after) in enumerate(pairwise(times)):
            if after < before:
                raise ValueError(f"Table: times[{i + 1}] = {after:g} is before {before:g} [s]; sort them")
        if len({_size(value) for value in values}) > 1:
            raise ValueError("Table: values differ in length, give numbers only or 3-vectors only")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)

    @property
    def size(self) -> int:
        """Number of components, 1 or 3."""
        return _size(self.values[0])

    def component(self, index: int) -> "Table":
        """The scalar table of one component."""
        return Table(self.times, tuple(_item(value, index) for value in self.values))

    def __call__(self, t: float) -> float | np.ndarray:
        """Value at time t [s]."""
        i = int(np.searchsorted(self.times, t, side="right")) - 1
        if i < 0 or i == len(self.times) - 1:
            return _out(self.values[max(i, 0)])
        s = (t - self.times[i]) / (self.times[i + 1] - self.times[i])
        return _out((1.0 - s) * np.asarray(self.values[i]) + s * np.asarray(self.values[i + 1]))


@dataclass(frozen=True)
class Formula:
    """A formula of time t [s], such as "2*sin(3*t)": data, in the grammar of `author.expressions`.

    It is evaluated on the host at the ends of steps and linear between them, as a callable is.
    """

    text: str

    def __post_init__(self) -> None:
        others = read_expression("Formula", self.text).names - {"t"}
        if others:
            raise ValueError(f"Formula: '{self.text}' has '{min(others)}', expected t [s] as its only name")

    @property
    def size(self) -> int:
        """Number of components."""
        return 1

    def component(self, index: int) -> "Formula":
        """Itself: it has one component."""
        return self

    def __call__(self, t: float) -> float:
        """Value at time t [s]; raises ModelError where it has none."""
        return read_expression("Formula", self.text).value("of time", {"t": float(t)})


@dataclass(frozen=True)
class Component:
    """One component of a callable of time."""

    function: Callable[[float], Any]
    index: int
    size: int | None = field(default=None, compare=False)  # components it has to return; None: not known

    def __call__(self, t: float) -> float:
        """Value at time t [s]."""
        return self.read(self.function(t))

    def read(self, given: Any) -> float:
        """This component of what the function gave; raises ValueError where that is not its numbers."""
        if given is UNRECORDED:
            return 0.0
        expected = f"{self.size or 'some'} finite number{'' if self.size == 1 else 's'} of at most {LARGEST:g}"
        try:
            values = np.asarray(given)
            values = np.ravel(values).astype(float) if values.dtype.kind in "fiuO" else np.zeros(0)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"gave {given!r:.200}, expected {expected}") from error
        if self.size not in (None, values.size) or self.index >= values.size or not (abs(values) <= LARGEST).all():
            raise ValueError(f"gave {given!r:.200}, expected {expected}")
        return float(values[self.index])


Profile = Ramp | Smooth | Harmonic | Table | Formula
Value = float | tuple | Ramp | Smooth | Harmonic | Table | Formula | Callable[[float], Any]
Scalar = float | Ramp | Smooth | Harmonic | Table | Formula | Component


def scalar_profiles(value: Value, size: int) -> list[Scalar]:
    """`value` of `size` components (1 or 3), split into one scalar item per component.

    Numbers stay numbers, a profile becomes scalar profiles, a callable becomes `Component`s. A
    sequence of 3 may mix numbers, scalar profiles and callables.
    """
    expected = "a number" if size == 1 else "3 numbers"
    if isinstance(value, Profile):
        if value.size != size:
            raise ValueError(f"{type(value).__name__} has {value.size} component(s), expected {size}")
        if isinstance(value, Passage) and value.start is None:
            raise ValueError(f"{type(value).__name__}: start is None, which only a hand can complete; give a start")
        return [value.component(i) for i in range(size)]
    if isinstance(value, Component) and size == 1:
        return [value]
    if callable(value):
        return [Component(value, i, size) for i in range(size)]
    is_list = isinstance(value, tuple | list) or (isinstance(value, np.ndarray) and value.ndim > 0)
    if size == 3 and is_list and len(value) == 3:  # type: ignore[arg-type]
        return [scalar_profiles(item, 1)[0] for item in value]  # type: ignore[union-attr]
    if size != 1 or not is_number(value):
        raise ValueError(f"value is {value!r:.200}, expected {expected}, a profile or a callable of time")
    return [_number("value", "number", value)]


def check_value(owner: str, what: str, value: Value, size: int) -> None:
    """Raise `ModelError` if a value is none of so many numbers."""
    try:
        scalar_profiles(value, size)
    except ValueError as error:
        raise ModelError(f"{owner}: {what}: {error}") from error
