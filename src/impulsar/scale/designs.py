"""Designs: which values the parameters of a sweep take, case by case."""

import itertools
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..author.checks import is_number, show, whole
from ..author.errors import ModelError

GIVEN = ("grid", "cases")  # designs of lists of values
SAMPLED = ("random", "latin", "sobol")  # of ranges
DESIGNS = (*GIVEN, *SAMPLED)
MOST_CASES = 10**8


def make_design(
    parameters: object, design: object, samples: int | None, seed: int
) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of the parameters and their values [case, parameter].

    "grid": every combination of lists of values, the last name fastest; "cases": lists of the same length, side by
    side. Of ranges (lower, upper): "random" evenly, "latin" by a Latin hypercube, "sobol" by a scrambled Sobol
    sequence, which is balanced where samples is a power of two.
    """
    if not isinstance(parameters, Mapping) or not parameters:
        raise ModelError(f"sweep: parameters is {show(parameters)}, expected values by name")
    if not isinstance(design, str) or design not in DESIGNS:
        raise ModelError(f"sweep: design is {show(design)}, expected one of: {', '.join(DESIGNS)}")
    names = tuple(parameters)
    if not all(isinstance(name, str) and name for name in names):
        raise ModelError(f"sweep: parameters are named {show(names)}, expected texts")
    listed = {name: _numbers(name, values) for name, values in parameters.items()}
    if design in GIVEN:
        if samples is not None:
            raise ModelError(
                f"sweep: samples is {show(samples)}, but a design of '{design}' has its values; leave it out"
            )
        return names, _given(design, list(listed.values()))
    if samples is None:
        raise ModelError(f"sweep: a design of '{design}' wants samples, how many cases there are to be")
    count = whole("sweep", "samples", samples, 1, MOST_CASES)
    for name, values in listed.items():
        if len(values) != 2 or not 0.0 < values[1] - values[0] < np.inf:
            raise ModelError(f"sweep: '{name}' is {show(parameters[name])}, expected a range (lower, upper)")
    low, high = np.array(list(listed.values())).T
    return names, low + (high - low) * _unit(design, len(names), count, whole("sweep", "seed", seed, 0, 2**63 - 1))


def _numbers(name: str, values: Any) -> list[float]:
    given = np.asarray(values).tolist() if hasattr(values, "__array__") else values  # of pandas and xarray, too
    given = [given] if is_number(given) else given
    if not isinstance(given, list | tuple | range) or not given or not all(map(is_number, given)):
        raise ModelError(f"sweep: '{name}' is {show(values)}, expected numbers")
    found = [float(value) for value in given]
    if not np.isfinite(found).all():
        raise ModelError(f"sweep: '{name}' is {show(values)}, expected finite numbers")
    return found


def _given(design: str, lists: list[list[float]]) -> np.ndarray:
    if design == "cases":
        if len({len(values) for values in lists}) != 1:
            told = ", ".join(str(len(values)) for values in lists)
            raise ModelError(f"sweep: lists of {told} values, but a design of 'cases' has one of each in every case")
        return np.array(lists).T
    count = int(np.prod([float(len(values)) for values in lists]))
    if count > MOST_CASES:
        raise ModelError(f"sweep: a grid of {count} cases, more than {MOST_CASES}; take fewer values, or a sample")
    return np.array(list(itertools.product(*lists)))


def _unit(design: str, size: int, count: int, seed: int) -> np.ndarray:
    """Points in the unit cube [case, parameter]."""
    if design == "random":
        return np.random.default_rng(seed).random((count, size))
    from scipy.stats import qmc

    if design == "latin":
        return qmc.LatinHypercube(size, rng=np.random.default_rng(seed)).random(count)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a number that is no power of two
        return qmc.Sobol(size, rng=np.random.default_rng(seed)).random(count)
