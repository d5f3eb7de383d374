"""Certificates: how many digits of each quantity of a run may be trusted, and up to which time.

The run is taken on copies of the world, from its present state: as it would go on, and three times otherwise, each time
with another source of error made small or another:

    finer       a tenth of the tolerance; of a method without one, a tenth of the step
    otherwise   at a hundredth of the tolerance and half the step, `direct` by `projected`, others by `direct`; where
                that has no law for a part, the same one so; beside a method without a tolerance `direct` at 1e-10
    elsewhere   in the other coordinates

With d(t) the largest difference of the first from any of the others up to a time, over all parts and components, and
with the scale of a quantity, the largest change of it over the run (what hardly changes: the mechanism's size, a turn,
or these over the duration; of others what they are),

    digits(t) = -log₁₀ ((MARGIN d(t) + ROUNDING |largest value|) / scale)      from 0 to 12, and never more than before

Of the energy books it is what they are out by, over the energy that was turned over: they are their own check.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import edits
from ..author.checks import positive, show
from ..author.errors import ModelError
from ..engine.integrate.pairs import STEADY
from ..engine.methods import Direct, Projected
from ..engine.methods.explicit import PAIR
from ..results import KINDS, MOST_SAMPLES, quantities_of
from . import snapshot
from .editing import Editor

if TYPE_CHECKING:
    import xarray as xr

    from .world import World

USUAL = ("position", "orientation", "velocity", "angular_velocity", "motor_torque", "reaction_force", "energy")
SAMPLES = 200
MARGIN = 2.0  # times the difference: what the others are off themselves
ROUNDING = 1e-12  # of values, what float64 leaves of them over many steps
ENOUGH = 6  # digits that words ask for first
TIGHT = 1e-10  # rtol and atol beside a method of order 1
LEAST = 1e-6  # of what is much: a change that is less is no scale
BOOKS = "books"


@dataclass(frozen=True)
class Certificate:
    """Digits that may be trusted: `dataset` has them by time and quantity, `words` says it in a sentence."""

    dataset: "xr.Dataset"

    @property
    def words(self) -> str:
        """What holds up to when, quantity by quantity."""
        return str(self.dataset.attrs["words"])

    def __str__(self) -> str:
        return self.words

    def digits(self, quantity: str) -> "xr.DataArray":
        """Of one quantity over time."""
        return self.dataset["digits"].sel(quantity=quantity)

    def holds(self, quantity: str, digits: float) -> float:
        """Up to which time a quantity has so many digits [s]; -inf where it never has."""
        good = self.dataset["time"].values[self.digits(quantity).values >= digits]
        return float(good[-1]) if len(good) else -np.inf


def certify(
    world: "World", duration: float, variables: Sequence[str] | None = None, every: float | None = None
) -> Certificate:
    """See `World.certify`."""
    if world.runner.beats.controllers:
        attached = ", ".join(map(repr, world.runner.beats.controllers))
        raise ModelError(f"certify: controllers are attached: {attached}; a run cannot ask them again, so detach them")
    duration = positive("certify", "duration", duration, "s")
    every = duration / SAMPLES if every is None else positive("certify", "every", every, "s")
    if not 1 <= duration / every <= MOST_SAMPLES:
        raise ModelError(f"certify: every is {show(every)} s, expected at most the duration of {show(duration)} s")
    names = [q.in_results for q in quantities_of(USUAL if variables is None else variables)]
    names = [name for name in names if name != "iterations"]
    times = world.time + every * np.arange(int(duration / every * (1.0 + 1e-12)) + 1)
    begin = snapshot.take(world.runner)
    runs: dict[str, xr.Dataset] = {}
    for label, ways in {"itself": [], **_others(world)}.items():
        copy, told = _gone(world, begin, ways)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a run that breaks off: it has no digits from there on
            runs[f"{label}: {told}"] = copy.run(
                duration, at=times.tolist(), variables=[*names, "energy"], progress=False
            )
    return Certificate(_compare(world, times, names, runs))


def _copy(world: "World", begin: snapshot.Snapshot) -> "World":
    """Another world at the same moment, that nobody else has."""
    clamps = world.clamps
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its start is not that of the model
        copy = type(world)(
            *(world.model, world.method, begin.coordinates, world.dt),
            worlds=world.worlds,
            device=world.device,
            max_speed=clamps.max_speed,
            max_hand_force=clamps.max_hand_force,
            contacts=world.system.asked,
        )
    copy.runner.follow(world.runner.script)
    copy.restore(replace(begin, paused=False))
    return copy


def _gone(world: "World", begin: snapshot.Snapshot, ways: "list[Other]") -> "tuple[World, str]":
    """A copy that goes the first of some ways that its model allows, and what that is in words."""
    for k, way in enumerate(ways):
        copy = _copy(world, begin)
        try:
            return copy, way.carry_out(copy)
        except ModelError:
            if k == len(ways) - 1:
                raise
    return _copy(world, begin), "as it is"


@dataclass(frozen=True)
class Other:
    """How a copy is to run."""

    method: Any
    coordinates: str
    dt: float

    def carry_out(self, world: "World") -> str:
        """Have a world go on so; returns what it is, in words."""
        options = {entry.name: getattr(self.method, entry.name) for entry in fields(self.method)}
        world.apply(edits.SetMethod(self.method.name, options))
        world.apply(edits.SetStep(self.dt))
        if world.coordinates != self.coordinates:
            Editor(world.runner).recoordinate(self.coordinates)
        rtol = getattr(self.method, "rtol", None)
        told = "" if rtol is None else f" at rtol {rtol:.0e}"
        return f"{self.method.name}{told}, {self.coordinates} coordinates, dt = {self.dt:g} s"


def _others(world: "World") -> dict[str, list[Other]]:
    """The three other ways of the same run; of each the first that the method can be had for."""
    method, dt, here = world.method, world.dt, world.coordinates
    elsewhere = "maximal" if here == "generalized" else "generalized"
    if not _controls_error(method):
        exact = Direct(rtol=TIGHT, atol=TIGHT)
        return {
            "finer": [Other(method, here, 0.1 * dt)],
            "otherwise": [Other(exact, here, dt)],
            "elsewhere": [Other(exact, elsewhere, dt)],
        }
    beside = Projected(integrator=PAIR) if isinstance(method, Direct) else Direct()
    others = [replace(beside, **_tolerance(method, 0.01)), _finer(method, 0.01)]
    return {
        "finer": [Other(_finer(method, 0.1), here, dt)],
        "otherwise": [Other(other, here, 0.5 * dt) for other in others],
        "elsewhere": [Other(method, elsewhere, dt), Other(replace(beside, **_tolerance(method, 1.0)), elsewhere, dt)],
    }


def _controls_error(method: Any) -> bool:
    """Whether a method chooses its sub-steps by a tolerance."""
    return hasattr(method, "rtol") and getattr(method, "integrator", "") not in STEADY


def _tolerance(method: Any, factor: float) -> dict[str, Any]:
    return {name: factor * getattr(method, name) for name in ("rtol", "atol")}


def _finer(method: Any, factor: float) -> Any:
    """A method at a part of its tolerance, with impulses shorter by the root of that where it has some."""
    given = _tolerance(method, factor)
    if hasattr(method, "impulse_step"):
        given["impulse_step"] = factor**0.5 * method.impulse_step
    return replace(method, **given)


# digits -------------------------------------------------------------------------------------------------


def _compare(world: "World", times: np.ndarray, names: list[str], runs: "dict[str, xr.Dataset]") -> "xr.Dataset":
    """The digits of the first of the runs beside the others."""
    import xarray as xr

    first, *others = runs.values()
    names = [name for name in names if name in first and np.nan_to_num(first[name]).any()]
    digits, scales = np.zeros((len(times), len(names) + 1)), np.zeros(len(names) + 1)
    for k, name in enumerate(names):
        here = _by_time(first[name])
        scales[k] = _scale(world, name, here, times[-1] - times[0])
        apart = np.full(len(times), np.inf)
        common = min(len(here), *(other.sizes["time"] for other in others))
        apart[:common] = max_of([_apart(name, here[:common], _by_time(other[name])[:common]) for other in others])
        digits[:, k] = _digits(MARGIN * apart + ROUNDING * max(np.nanmax(np.abs(here)), scales[k]), scales[k])
    out = np.full(len(times), np.inf)
    books = _by_time(first["energy"])  # [time, values], kinds last
    books = books.reshape(len(books), -1, len(KINDS))
    scales[-1] = _turned_over(books)
    out[: len(books)] = np.abs(books[..., KINDS.index("imbalance")]).max(axis=1)
    digits[:, -1] = _digits(out + ROUNDING * scales[-1], scales[-1])
    quantities = [*names, BOOKS]
    attributes = {"model": world.model.name, "method": world.method.name, "dt": world.dt, "runs": "; ".join(runs)}
    told = [_sentence(name, times, digits[:, k]) for k, name in enumerate(quantities)]
    attributes["words"] = "; ".join(told)
    return xr.Dataset(
        {
            "digits": (
                ("time", "quantity"),
                digits,
                {"units": "1", "long_name": "decimal digits that agree up to then"},
            ),
            "scale": (("quantity",), scales, {"long_name": "what they are digits of, in the quantity's unit"}),
        },
        {"time": ("time", times, {"units": "s", "long_name": "simulated time"}), "quantity": quantities},
        attributes,
    )


def max_of(arrays: list[np.ndarray]) -> np.ndarray:
    """The largest of each place; what is not a number is infinite."""
    return np.nan_to_num(np.max(arrays, axis=0), nan=np.inf, posinf=np.inf)


def _by_time(values: "xr.DataArray") -> np.ndarray:
    """[time, all others], kinds of energy last."""
    return values.transpose("time", ...).values.reshape(values.sizes["time"], -1)


def _apart(name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Largest difference by time; of orientations whichever sign the quaternion has."""
    if a.shape != b.shape:
        return np.full(len(a), np.inf)
    gone = np.isnan(a) & np.isnan(b)  # a hand that does not hold in either
    near = np.abs(np.where(gone, 0.0, a - b)).max(axis=1, initial=0.0)
    if name != "orientation":
        return near
    fours, others = (values.reshape(len(values), -1, 4) for values in (a, b))
    either = np.minimum(np.abs(fours - others).max(axis=2), np.abs(fours + others).max(axis=2))
    return either.max(axis=1, initial=0.0)


def _scale(world: "World", name: str, values: np.ndarray, duration: float) -> float:
    """The largest change of a quantity over the run; where it hardly changes, what is much for this mechanism."""
    size = world.system.size
    much = {"position": size, "probe": size, "orientation": 1.0, "velocity": size / duration}
    much |= {"angular_velocity": 1.0 / duration}
    change = float(np.nanmax(np.abs(values - values[0]), initial=0.0))
    least = much.get(name, float(np.nanmax(np.abs(values), initial=0.0)))
    return change if change > LEAST * least else least


def _turned_over(books: np.ndarray) -> float:
    """Energy that a run turns over [J]: kinetic, elastic, work and loss, and what potential energy changes by."""
    kinds = dict(zip(KINDS, np.moveaxis(books, -1, 0), strict=True))
    kinds["potential"] = kinds["potential"] - kinds["potential"][:1]
    return max(float(np.abs(values).max()) for kind, values in kinds.items() if kind != "imbalance") or 1.0


def _digits(apart: np.ndarray, scale: float) -> np.ndarray:
    """Digits that hold up to each time."""
    worst = np.maximum.accumulate(apart)
    return np.maximum(-np.log10(worst / scale), 0.0)


def _sentence(name: str, times: np.ndarray, digits: np.ndarray) -> str:
    """What holds up to when."""
    title, last = name.replace("_", " "), int(digits[-1])
    if last >= ENOUGH or last == int(digits[min(1, len(digits) - 1)]):
        return f"{title}: {_count(last)} throughout"
    begin = min(ENOUGH, int(digits[1]))
    told = [] if begin <= last else [f"{_count(begin)} to {times[digits >= begin][-1]:.3g} s"]
    if last:
        told.append(f"{_count(last)} to the end")
    else:
        some = times[digits >= 1.0]
        told.append(f"none after {some[-1] if len(some) else times[0]:.3g} s")
    return f"{title}: {', '.join(told)}"


def _count(digits: int) -> str:
    return "no digit" if not digits else f"{digits} digit{'s' if digits > 1 else ''}"
