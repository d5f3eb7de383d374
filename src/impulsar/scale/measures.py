"""Measures: numbers of a run, by name.

"max body.rocker.position.x"    of a signal: final, min, max, mean or rms; means are over time, by trapezoids
im.Event("top", "joint.O.velocity", direction=-1)    when it takes place first [s], NaN if it does not
a callable of the result        which returns a number, or numbers by name
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from ..author.checks import show
from ..author.errors import ModelError
from ..author.events import Event
from ..author.names import closest
from ..observe.bench import Bench
from ..observe.quantities import KINDS
from ..results import VARIABLES
from ..world.signals import find
from .identity import identity


def _mean(values: np.ndarray, time: np.ndarray) -> np.ndarray:
    if values.shape[-1] == 1:
        return values[..., 0]
    return np.trapezoid(values, time, axis=-1) / (time[-1] - time[0])


HOW: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "final": lambda values, time: values[..., -1],
    "min": lambda values, time: values.min(axis=-1),
    "max": lambda values, time: values.max(axis=-1),
    "mean": _mean,
    "rms": lambda values, time: np.sqrt(_mean(values**2, time)),
}
NAMES_OF_ITS_OWN = ("case", "error", "done", "check")  # of a store
CASE_BREAKS = (Exception, SystemExit)  # what a callable may raise that is an error of its case


@dataclass(frozen=True)
class Take:
    """A number of a signal."""

    name: str
    how: str
    signal: str


@dataclass(frozen=True)
class Measures:
    """What is measured of every case."""

    takes: tuple[Take, ...]
    events: tuple[Event, ...]
    functions: tuple[tuple[str, Callable[[xr.Dataset], Any]], ...]  # of the result; "" gives its own names

    def variables(self, bench: Bench) -> list[str]:
        """Variables that a run has to have: those of the signals, and for callables the usual ones."""
        usual = VARIABLES if self.functions else ()
        return list(dict.fromkeys([*usual, *(self._place(bench, take)[0] for take in self.takes)]))

    def check(self, bench: Bench) -> None:
        """Raise `ModelError` where a signal is not there."""
        for take in self.takes:
            self._place(bench, take)
        for event in self.events:
            if isinstance(event.function, str):
                find(bench, event.function)

    def _place(self, bench: Bench, take: Take) -> tuple[str, Any, int | None]:
        place = find(bench, take.signal)
        if not place.quantity.in_results:
            raise ModelError(f"measure '{take.name}': results cannot have '{take.signal}'; measure by a callable")
        return place.quantity.in_results, place, place.component

    def read(self, bench: Bench, result: xr.Dataset, worlds: int) -> list[dict[str, float] | BaseException]:
        """Numbers of every world of a run, or what a callable raised at it."""
        time = result["time"].values
        found: list[dict[str, float]] = [{} for _ in range(worlds)]
        for take in self.takes:
            variable, place, component = self._place(bench, take)
            values = _series(result[variable], place, component, worlds)
            for own, value in zip(found, HOW[take.how](values, time), strict=True):
                own[take.name] = float(value)
        for event in self.events:
            named = result["event_name"].values == event.name
            times = result["event_time"].values[named]
            found[0][event.name] = float(times[0]) if len(times) else float("nan")
        return [self._called(own, result.isel(world=w) if worlds > 1 else result) for w, own in enumerate(found)]

    def _called(self, own: dict[str, float], result: xr.Dataset) -> dict[str, float] | BaseException:
        """Numbers with those that callables give of a run."""
        try:
            for name, function in self.functions:
                own |= _named(name, function(result))
        except CASE_BREAKS as error:
            return error
        return own

    def described(self) -> list[str]:
        """What they are, in words that a store is keyed by."""
        told = [f"{take.name}: {take.how} {take.signal}" for take in self.takes]
        for event in self.events:
            of = event.function if isinstance(event.function, str) else identity(event.function)
            told.append(f"{event.name}: event {of} {event.direction} {event.terminal} {event.level!r}")
        return told + [f"{name}: {identity(function)}" for name, function in self.functions]


def measures_of(measure: object) -> Measures:
    """What a sweep is to measure: a text, an event, a callable, or several by name."""
    if not isinstance(measure, Mapping):
        if isinstance(measure, Event):
            return Measures((), (measure,), ())
        given: dict[str, Any] = {"" if callable(measure) else "value": measure}
    else:
        given = dict(measure)
        if not given or not all(isinstance(name, str) and name for name in given):
            raise ModelError(f"sweep: measure is {show(measure)}, expected a measure, or measures by name")
    takes, events, functions = [], [], []
    for name, one in given.items():
        if name in NAMES_OF_ITS_OWN:
            raise ModelError(f"sweep: a measure is named '{name}', which results have for themselves; choose another")
        if isinstance(one, str):
            how, _, signal = one.strip().partition(" ")
            if how not in HOW or not signal.strip():
                told = "such as 'max body.arm.position.x'" if not signal else closest(how, HOW)
                raise ModelError(f"measure '{name}': {show(one)}, expected how and a signal, {told}")
            takes.append(Take(name, how, signal.strip()))
        elif isinstance(one, Event):
            events.append(Event(name, one.function, one.direction, one.terminal, one.level))
        elif callable(one):
            functions.append((name, one))
        else:
            raise ModelError(f"measure '{name}': is {show(one)}, expected a text, an Event or a callable of the result")
    return Measures(tuple(takes), tuple(events), tuple(functions))


def _series(values: xr.DataArray, place: Any, component: int | None, worlds: int) -> np.ndarray:
    """A signal over time [world, sample]."""
    data, quantity = values.values, place.quantity
    data = data if worlds > 1 else data[None]
    if quantity.kind:
        dimension = KINDS[quantity.kind].dimension
        at = np.flatnonzero(values[dimension].values == place.part)
        if not len(at):
            raise ModelError(f"measure: {quantity.kind} '{place.part}' is not there in this run")
        data = data[:, :, at[0]]
    if component is not None:
        return data[..., component]
    return np.sqrt((data**2).sum(axis=-1)) if quantity.components else data


def _named(name: str, given: Any) -> dict[str, float]:
    numbers = given if isinstance(given, Mapping) else {name or "value": given}
    if isinstance(given, Mapping) and name:
        numbers = {f"{name}.{key}": value for key, value in given.items()}
    if taken := [key for key in numbers if key in NAMES_OF_ITS_OWN]:
        raise ModelError(f"measure gave '{taken[0]}', which results have for themselves; name it otherwise")
    try:
        return {str(key): _number(value) for key, value in numbers.items()}
    except (TypeError, ValueError) as error:
        raise TypeError(f"measure gave {show(given)}, expected a number or numbers by name") from error


def _number(value: Any) -> float:
    if isinstance(value, str | bytes):
        raise TypeError("a text is no number")
    return float(value)
