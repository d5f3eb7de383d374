"""What a world is asked to run by: a method with its options, a nominal step, a script; checked as they come in."""

import math
from dataclasses import fields, replace
from typing import Any

from .. import edits
from ..author.checks import as_float, flag, is_number, not_negative, number, show
from ..author.errors import ModelError
from ..author.model import Model
from ..edits.refusal import MOST_WORK
from ..engine.methods import METHODS
from ..engine.system import System

SHORTEST_STEP, LONGEST_STEP = 1e-15, 1e9  # [s]; below, time stops to advance after a second
MOST_SUBSTEPS = 10**5  # of a nominal step: a launch cannot be interrupted
LONGEST_PIECE = 0.1  # of a nominal step that one launch takes in one go: a launch cannot be interrupted [s]
MOST_PIECES = 10_000  # sub-steps of fixed size in a nominal step


def method_of(method: Any, **options: float | None) -> Any:
    """The options object of a method, with the options given beside it."""
    if isinstance(method, str):
        if method not in METHODS:
            raise ModelError(f"no method {show(method)}; methods are: {', '.join(METHODS)}")
        method = METHODS[method]()
    if not is_method(method):
        raise ModelError(f"method is {show(method)}, expected one of {', '.join(METHODS)} or an options object")
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if not hasattr(method, name):
            raise ModelError(f"method '{method.name}': has no {name} (given as {value!r}); leave it out")
    method = replace(method, **given)
    check_options(method)
    try:
        method.check()
    except ValueError as error:
        raise ModelError(str(error)) from error
    return method


def is_method(method: Any) -> bool:
    """Whether something is the options object of a method."""
    name = getattr(method, "name", None)
    return isinstance(name, str) and METHODS.get(name) is type(method)


def check_options(method: Any) -> None:
    """Each option is of the kind that its default is, and what a kernel can count."""
    for entry in fields(method):
        owner, value = f"method '{method.name}'", getattr(method, entry.name)
        if isinstance(entry.default, bool):
            flag(owner, entry.name, value)
        elif isinstance(entry.default, int):
            most = MOST_SUBSTEPS if entry.name == "substeps" else MOST_WORK
            if isinstance(value, bool) or not isinstance(value, int) or value > most:
                raise ModelError(f"{owner}: {entry.name} is {show(value)}, expected an integer, at most {most}")
        elif isinstance(entry.default, float):
            number(owner, entry.name, value)
        elif not isinstance(value, str):
            raise ModelError(f"{owner}: {entry.name} is {show(value)}, expected a text")


def parts_of_step(dt: object, method: Any, system: System) -> int:
    """Equal parts into which a nominal step [s] is divided, none longer than its method or one launch should take."""
    if not (is_number(dt) and SHORTEST_STEP <= dt < LONGEST_STEP):
        given = as_float(dt) if is_number(dt) else show(dt)
        expected = f"a time > 0 [s], from {SHORTEST_STEP:g} to {LONGEST_STEP:g}"
        raise edits.EditError(f"dt is {given}, expected {expected}")
    fixed = method.fixed_substeps
    longest = method.longest_step_of(system)
    if not fixed:
        longest = min(longest, LONGEST_PIECE)
    pieces = max(1, math.ceil(float(dt) / longest * (1.0 - 1e-12)))
    if pieces * max(1, fixed) > MOST_PIECES:
        cure = "fewer substeps" if fixed else f"a dt of at most {MOST_PIECES * longest:g} s"
        told = f"method '{method.name}': a step of dt {float(dt):g} s has {pieces * max(1, fixed)} sub-steps"
        raise edits.EditError(f"{told}, expected at most {MOST_PIECES}; take {cure}")
    return pieces


def script_of(model: Model) -> list:
    """The edits of a model's script in the order of their times."""
    for entry in model.script:
        if not (isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], edits.Edit)):
            raise ModelError(f"model '{model.name}': its script has {show(entry)}, expected (time, edit)")
        not_negative(f"model '{model.name}'", "time of a script's edit", entry[0], "s")
    return sorted(model.script, key=lambda entry: entry[0])
