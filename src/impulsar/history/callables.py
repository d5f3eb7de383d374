"""Python callables of time are not data: a session keeps what they returned, and replays that."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.errors import FileError
from ..author.profiles import UNRECORDED, Profile
from ..io.kinds import Callables, wrong

if TYPE_CHECKING:
    from ..author.model import Model

MOST = 10_000  # callables of a session
Samples = dict[float, list[float]]  # values by time [s]


@dataclass(eq=False)
class Recorded:
    """A callable, and what it returned in each step: it is not called again for the same step and time."""

    number: int
    function: Callable[[float], Any] | None  # None: only its record is left
    recorder: "Recorder"
    values: dict[int, Samples] = field(default_factory=dict)  # by step
    last: list[float] = field(default_factory=list)

    def kept(self, t: float, compute: Callable[[Callable], list[float]]) -> list[float]:
        """What a controller wrote at time t [s]; where that is not known, what `compute` makes of its callable."""
        samples = self.values.setdefault(self.recorder.step, {})
        if t not in samples:
            samples[t] = self.last if self.function is None else compute(self.function)
        self.last = samples[t]
        return self.last

    def knows(self, t: float) -> bool:
        """Whether there is a record of what was written at time t [s]."""
        return t in self.values.get(self.recorder.step, {})

    def keep(self, t: float, values: list[float]) -> None:
        """Note what was written at time t [s]."""
        self.values.setdefault(self.recorder.step, {})[t] = self.last = values

    def __call__(self, t: float, *inputs: Any) -> Any:
        """Value at time t [s]; behind the end of a record the last one. What is no number is not kept."""
        if inputs:  # of a controller, in the record of a session that went on from another
            return self.kept(t, lambda function: np.ravel(function(t, *inputs)).tolist())
        samples = self.values.setdefault(self.recorder.step, {})
        if t not in samples:
            given = self.last if self.function is None else self.function(t)
            try:
                values = [float(x) for x in np.ravel(given)]
            except (TypeError, ValueError):
                return given
            if not np.isfinite(values).all():
                return given
            samples[t] = values
        self.last = samples[t]
        if self.function is None and 0 < len(self.last) < 3:  # a file may have fewer than are asked for
            return np.array([*self.last, *[self.last[-1]] * 2])
        return np.array(self.last) if self.last else UNRECORDED


class Recorder:
    """The callables of a session."""

    def __init__(self) -> None:
        self.step = 0  # that they are asked in
        self.items: list[Recorded] = []
        self.callables = Callables(self.write, self.read)

    def recorded(self, function: Callable) -> Recorded:
        """The record of a callable, a new one for a new callable."""
        for item in self.items:
            if function is item or function == item.function:
                return item
        if len(self.items) >= MOST:
            raise FileError(f"callable {function!r}: a session keeps the values of {MOST}; give a profile")
        self.items.append(Recorded(len(self.items), function, self))
        return self.items[-1]

    def controllers(self, attached: Iterable[tuple[Any, float]]) -> tuple[tuple[Any, float], ...]:
        """Controllers of a snapshot whose callables keep what they return."""
        return tuple((replace(edit, controller=self.recorded(edit.controller)), start) for edit, start in attached)

    def write(self, function: Callable) -> dict[str, Any]:
        """What stands for a callable in a file."""
        return {"profile": "recorded", "number": self.recorded(function).number}

    def read(self, data: Any, place: str) -> Recorded:
        """The record that stands in a file."""
        number = data.get("number") if isinstance(data, dict) else None
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < MOST:
            raise wrong(f"{place}.number", number, "the number of a recorded callable")
        while number >= len(self.items):
            self.items.append(Recorded(len(self.items), None, self))
        return self.items[number]

    def samples(self) -> deque[tuple[int, int, Samples]]:
        """Step, number and values of all that was returned, in the order of steps."""
        found = [(step, item.number, values) for item in self.items for step, values in item.values.items()]
        return deque(sorted(found, key=lambda each: each[:2]))

    def keep(self, first: int, end: float = float("inf")) -> None:
        """Drop what was returned before a step, and from another on; steps are kept in their order."""
        for item in self.items:
            values = item.values
            while values and next(reversed(values)) >= end:
                values.popitem()
            for step in [step for step in takewhile(lambda step: step < first, values)]:
                del values[step]


def holds_callable(value: Any) -> bool:
    """Whether a Python callable is somewhere in a value."""
    if value is None or isinstance(value, str | float | int | np.ndarray | Profile):
        return False
    if isinstance(value, Mapping):
        return any(map(holds_callable, value.values()))
    if isinstance(value, tuple | list):
        return any(map(holds_callable, value))
    if is_dataclass(value) and not callable(value):
        return any(holds_callable(getattr(value, entry.name)) for entry in fields(value))
    return callable(value)


def model_holds_callable(model: "Model") -> bool:
    """Whether a load, a motor or an edit in the script of a model follows a Python callable."""
    return holds_callable([list(model.loads.values()), list(model.joints.values()), model.script])
