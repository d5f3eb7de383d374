"""Methods in each of their coordinates, for laws that all of them must keep."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from ..engine.methods import METHODS, Method

EXACT = {"epsilon": 1e-12, "iterations": 100_000, "rtol": 1e-10, "atol": 1e-10}  # the solver's error is negligible
# open by feedback, of order 1 in momenta, damped: what they keep of the laws has a test of its own
OPEN = ("baumgarte", "linear_implicit", "generalized_alpha")


def every(**options: object) -> Iterator[tuple[str, Any, str]]:
    """All methods with those of the options that they have, in their coordinates, labelled."""
    classes: dict[str, Any] = dict(METHODS)
    options.setdefault("integrator", "pair")  # of `projected`
    for name, options_class in classes.items():
        known = {field.name for field in fields(options_class)}
        method = options_class(**{key: value for key, value in options.items() if key in known})
        for coordinates in options_class.coordinates:
            yield f"{name}, {coordinates}", method, coordinates


def variants(**options: object) -> Iterator[tuple[str, Any, str]]:
    """The same but for methods that are OPEN."""
    return (variant for variant in every(**options) if variant[1].name not in OPEN)


def general(**options: object) -> Iterator[tuple[str, Any, str]]:
    """The variants that take every mechanism: their methods refuse nothing."""
    return (variant for variant in variants(**options) if type(variant[1]).refuse is Method.refuse)


def fixed(**options: object) -> Iterator[tuple[str, Any, str]]:
    """The variants whose error is that of a fixed step."""
    return (variant for variant in variants(**options) if variant[1].order == 1)


def controlled(**options: object) -> Iterator[tuple[str, Any, str]]:
    """The variants that choose their sub-steps by error control."""
    return (variant for variant in variants(**options) if hasattr(variant[1], "rtol"))
