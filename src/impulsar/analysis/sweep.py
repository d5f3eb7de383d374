"""Sweeps: a mechanism for one value of a parameter after the other, closed, and what is measured of each."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.checks import is_number, show
from ..author.errors import ModelError
from ..author.model import Model
from ..author.variables import stale_paths
from ..world.world import World
from .assembly import assemble

if TYPE_CHECKING:
    import xarray as xr

MOST = 100_000  # values
Measured = float | Mapping[str, float]


def with_parameters(model: Model, **values: float | str) -> Model:
    """A copy in which parameters have other values, and all that follows them, with its loops closed.

    Joints that new sizes leave open are closed by `assemble`; a place that then is not what its expression gives
    follows it no longer.
    """
    new = model.with_parameters(**values)
    new.check(meeting=False)
    try:
        new.check()
    except ModelError:  # joints do not meet
        new = assemble(new).model
        new = new.without_expressions(stale_paths(new))
    return new


def sweep_parameter(
    model: Model, name: str, values: Sequence[float], measure: Callable[[World], Measured], **options: Any
) -> "xr.Dataset":
    """What `measure` says of a world of the model for each value of a parameter: a number, or numbers by name.

    The worlds take `options` of World. Each begins where the loops close nearest to the one before, so that a sweep
    stays in one way of assembly. Where a mechanism cannot be closed or run the result is NaN, and `reason` says why.
    """
    import xarray as xr

    if name not in model.parameters:
        model.with_parameters(**{name: 0.0})  # says which there are
    found: list[dict[str, float]] = []
    reasons: list[str] = []
    points = [float(value) for value in _checked(name, values)]
    start = model
    for value in points:
        try:
            closed = with_parameters(start, **{name: value})
            found.append(_numbers(measure(World(closed, **options))))
            reasons.append("")
        except ModelError as error:
            found.append({})
            reasons.append(str(error))
            continue
        if closed.expressions == model.expressions:
            start = closed
    names = list(dict.fromkeys(key for one in found for key in one)) or ["value"]
    data = {key: (name, np.array([one.get(key, np.nan) for one in found])) for key in names}
    unit = {"units": model.parameters[name].unit} if model.parameters[name].unit else {}
    return xr.Dataset(data | {"reason": (name, np.array(reasons, object))}, {name: (name, points, unit)})


def _checked(name: str, values: Any) -> list[float]:
    listed = list(values) if isinstance(values, Sequence | np.ndarray) and not isinstance(values, str) else []
    if not 1 <= len(listed) <= MOST or not all(is_number(value) for value in listed):
        raise ModelError(f"sweep of '{name}': values are {show(values)}, expected 1 to {MOST} numbers")
    return listed


def _numbers(measured: Any) -> dict[str, float]:
    """What was measured, by name."""
    given = dict(measured) if isinstance(measured, Mapping) else {"value": measured}
    try:
        return {str(key): float(value) for key, value in given.items()}
    except (TypeError, ValueError) as error:
        raise TypeError(f"sweep: measure gave {show(measured)}, expected a number or numbers by name") from error
