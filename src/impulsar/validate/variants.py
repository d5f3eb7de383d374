"""Every method in each of its coordinates, for laws that all of them must keep."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from ..engine.methods import METHODS

EXACT = {"epsilon": 1e-12, "iterations": 100_000, "rtol": 1e-10, "atol": 1e-10}  # the solver's error is negligible


def variants(**options: object) -> Iterator[tuple[str, Any, str]]:
    """Every method with those of the options that it has, in each of its coordinates, with a label."""
    classes: dict[str, Any] = dict(METHODS)
    for name, options_class in classes.items():
        known = {field.name for field in fields(options_class)}
        method = options_class(**{key: value for key, value in options.items() if key in known})
        for coordinates in options_class.coordinates:
            yield f"{name}, {coordinates}", method, coordinates


def fixed(**options: object) -> Iterator[tuple[str, Any, str]]:
    """The variants whose error is that of a fixed step."""
    return (variant for variant in variants(**options) if variant[1].order == 1)


def controlled(**options: object) -> Iterator[tuple[str, Any, str]]:
    """The variants that choose their sub-steps by error control."""
    return (variant for variant in variants(**options) if variant[1].order > 1)
