"""Parameters of the model and what follows them, while the mechanism runs: one edit, one system built anew.

Expressions say what the model is as authored (`author.variables`); bodies stay where they are but for what their
sizes and places became other by, and loops are closed again from there. A value that is set otherwise than by its
expression follows it no longer.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..author.checks import show
from ..author.model import Model
from ..author.rotations import conjugate, multiply, multiply_all
from ..author.sizes import moved_by
from ..author.variables import (
    FRAMES,
    Evaluated,
    evaluated,
    find_field,
    known_names,
    read_field,
    stale_paths,
    with_value,
)
from .carry import STILL, Places
from .data import Bind, Edit, SetParameter, SetParameters, Several
from .parameters import set_parameter
from .refusal import EditError, known
from .registry import Answer, Desk, Plan, carries_out

SETTABLE = ("value", "minimum", "maximum", "unit")  # of a parameter of the model
AT_POSE = ("position", "orientation", *FRAMES, "at_a")  # in the world at the authored pose, not the present one


@carries_out(
    SetParameter,
    subject=lambda edit: (edit.path,),
    moves=lambda edit: str(edit.path).rpartition(".")[2] in ("mass", "inertia"),
)
def set_value(edit: SetParameter, desk: Desk) -> Answer | Plan:
    """Set a parameter of a part, or one of the model with all that follows it."""
    name, _, what = str(edit.path).rpartition(".")
    name, what = (edit.path, "value") if edit.path in desk.model.parameters else (name, what)
    return set_variable(edit, desk, name, what) if name in desk.model.parameters else set_parameter(edit, desk)


def set_variable(edit: SetParameter, desk: Desk, name: str, what: str) -> Answer | Plan:
    """Set a parameter of the model: its value, or a text of other parameters; the ends of its range; its unit.

    Where nothing follows it there is nothing to build: controllers hand each other values so.
    """
    model = desk.model
    known(f"parameter '{edit.path}'", "parameter", what, dict.fromkeys(SETTABLE))
    old = model.parameters[name]
    new = with_value(model, name, edit.value) if what == "value" else replace(old, **{what: edit.value})  # type: ignore[arg-type]
    before = getattr(old, what) if what != "value" or old.expression is None else old.expression
    found = evaluated(model.having("parameter", new))
    told = found.model.parameters[name]
    text = f"{name} is {told.value:g} {told.unit}".rstrip() if what == "value" else f"{what} of {name} is set"
    inverse, system = SetParameter(edit.path, before), desk.bench.system
    if not model.expressions and told.expression is None and not any(o.expression for o in model.parameters.values()):
        system.model, system.built = found.model, system.built.having("parameter", told)
        return Answer(text, inverse=inverse)
    return _plan(found, desk, text, inverse)


@carries_out(SetParameters)
def set_parameters(edit: SetParameters, desk: Desk) -> Plan:
    """Set several parameters of the model, and declare those that there are not; have paths follow expressions."""
    model = desk.model
    for what, given in (("values", edit.values), ("expressions", edit.expressions)):
        if not isinstance(given, Mapping) or (what == "values" and not given):
            raise EditError(f"set parameters: {what} are {show(given)}, expected them by name")
    new = model.copy()
    declared = [name for name in edit.values if name not in model.parameters]
    for name in declared:  # numbers first, so that texts find them
        new.parameter(name, 0.0, unit="m")
    for name, value in edit.values.items():
        new.parameters[name] = with_value(new, name, value)
    for path, text in edit.expressions.items():
        find_field(new, path)
        known_names(new, f"expression of '{path}'", text)
        new.expressions[path] = text
    inverse = None
    if not declared and not edit.expressions:
        olds = [model.parameters[name] for name in edit.values]
        inverse = SetParameters({old.name: old.expression or old.value for old in olds})
    told = f"{len(edit.values)} parameters are set" + (f", {len(declared)} of them new" if declared else "")
    plan = _plan(evaluated(new), desk, told, None if edit.at_start else inverse)
    if edit.at_start:
        assert plan.places is not None
        for body in plan.model.bodies.values():
            plan.places.put(body.name, body.position, body.orientation, np.zeros(6))
    return plan


@carries_out(Bind, subject=lambda edit: (edit.path,))
def bind(edit: Bind, desk: Desk) -> Plan:
    """Have a value follow an expression, or no longer."""
    model = desk.model
    before = model.expressions.get(edit.path)
    if edit.expression is None:
        known("bind", "expression", edit.path, model.expressions)
        return Plan(
            model.without_expressions([edit.path]),
            f"'{edit.path}' follows no expression any more",
            Bind(edit.path, before),
        )
    field = find_field(model, edit.path)
    known_names(model, f"expression of '{edit.path}'", edit.expression)
    new = model.copy()
    new.expressions[edit.path] = edit.expression
    found = evaluated(new)
    value = read_field(found.model, field)
    inverse: Edit = Bind(edit.path, before) if before is not None else Bind(edit.path, None)
    return _plan(found, desk, f"'{edit.path}' = {edit.expression} = {value:g}", inverse)


def _plan(found: Evaluated, desk: Desk, text: str, inverse: Edit | None) -> Plan:
    """The new model, with bodies moved by what sizes and authored places became other by."""
    old, places = desk.model, Places.of(desk.bench)
    for name, body in found.model.bodies.items():
        was, sized = old.bodies[name], found.sized.bodies[name]
        if body is was:
            continue
        shift = moved_by(was, sized)
        if shift.any():
            places.p_WB[name] = places.frame(name, shift, STILL)[0]
        places.p_WB[name] = places.p_WB[name] + (body.position - sized.position)
        if (body.orientation != was.orientation).any():
            turn = multiply(body.orientation, conjugate(was.orientation))
            places.q_WB[name] = multiply_all(turn, places.q_WB[name])
    return Plan(found.model, text, inverse, places=places)


def refuse_followed(model: Model, name: str) -> None:
    """Refuse to remove a parameter that something follows."""
    texts = model.expressions | {f"parameter '{own.name}'": own.expression for own in model.parameters.values()}
    using = [path for path, text in texts.items() if text is not None and name in known_names(model, path, text)]
    if using:
        told = ", ".join(using[:6]) + (", ..." if len(using) > 6 else "")
        raise EditError(f"parameter '{name}': is used by {told}; give them numbers first")


def keep_texts(owner: str, new: Model, posed: Model) -> Model:
    """A model with the expressions that came with a part; those of places are of the authored pose, so not these."""
    for path in posed.expressions.keys() - new.expressions.keys():
        field = find_field(new, path)
        if field.what in AT_POSE and field.kind != "body":
            raise EditError(f"{owner}: {field.what} is at the present pose; add it by numbers, then bind it")
    new.expressions = dict(posed.expressions)
    return new


def released(model: Model, answer: Answer) -> tuple[Model, Answer]:
    """After an edit: the model without expressions that are not what it has any more, and what is told of them."""
    paths = stale_paths(model)
    if not paths:
        return model, answer
    again: list[Any] = [Bind(path, model.expressions[path]) for path in paths]
    inverse = answer.inverse
    if inverse is not None:
        first = inverse.edits if isinstance(inverse, Several) else (inverse,)
        inverse = Several((*first, *again))
    new = model.without_expressions(paths)
    gone = [path for path in paths if new.kind_of(path.partition(".")[0]) is not None]
    told = f"; {', '.join(map(repr, gone))} {'follows' if len(gone) == 1 else 'follow'} no expression any more"
    return new, replace(answer, text=answer.text + (told if gone else ""), inverse=inverse)
