"""Other names for parts."""

from dataclasses import fields, replace
from typing import Any

from .checks import show
from .errors import ModelError
from .expressions import renamed_in
from .fluids import Fluid, without_body
from .model import Model
from .parts import PARTS
from .variables import check_word


def renamed(model: Model, name: str, to: str) -> Model:
    """A model in which a part has another name, in its place in the order of parts, and wherever it is named."""
    kind = model.kind_of(name)
    if kind is None:
        raise ModelError(f"rename: no part named {show(name)}")
    new = model.copy()
    for other, entry in PARTS.items():
        parts = {}
        for own in getattr(model, entry.plural).values():
            changes: dict[str, Any] = {
                field: to
                for field, kinds in entry.refers.items()
                if kind in kinds.split(" or ") and getattr(own, field) == name
            }
            if entry.lists and name in getattr(own, entry.lists):
                changes[entry.lists] = tuple(to if part == name else part for part in getattr(own, entry.lists))
            if kind == "body" and isinstance(own, Fluid):
                changes |= without_body(own, name, to)
            if other == kind and own.name == name:
                changes["name"] = to
            if hasattr(own, "renamed"):
                own = own.renamed(kind, name, to)
            parts[changes.get("name", own.name)] = replace(own, **changes) if changes else own
        setattr(new, entry.plural, parts)
    if kind == "parameter":
        check_word(to)
        new.expressions = {path: renamed_in(text, name, to) for path, text in model.expressions.items()}
        for own in [own for own in new.parameters.values() if own.expression is not None]:
            new.parameters[own.name] = replace(own, expression=renamed_in(str(own.expression), name, to))
    else:
        new.expressions = {_renamed_path(path, name, to): text for path, text in model.expressions.items()}
    return new


def _renamed_path(path: str, name: str, to: str) -> str:
    return to + path[len(name) :] if path.startswith(f"{name}.") else path


def names_in(edit: Any) -> set[str]:
    """All texts that an edit holds as fields: names of parts are among them."""
    values = [getattr(edit, entry.name) for entry in fields(edit)]
    return {value.partition(".")[0] for value in values if isinstance(value, str)}
