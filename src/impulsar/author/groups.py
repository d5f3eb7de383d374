"""Groups: parts of a model that go by one name."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from .checks import show
from .errors import ModelError
from .names import closest
from .parts import PARTS, Grouping

if TYPE_CHECKING:
    from .model import Model

OUTSIDE = ("group", "parameter", "material", "material_pair", "load")  # a load comes and goes as it acts


class Groups:
    """The call of Model that adds groups."""

    groups: dict[str, Grouping]

    def group(self, name: str, parts: Sequence[str]) -> Grouping:
        """Have bodies, joints, springs and other parts go by one name; a part may be in several groups."""
        model = cast("Model", self)
        model.claim("group", name)
        named = [getattr(part, "name", part) for part in parts] if isinstance(parts, tuple | list) else parts
        group = Grouping(name, named)  # type: ignore[arg-type]
        group.check()
        check_group(model, group)
        model.groups[name] = group
        return group


def check_group(model: "Model", group: Grouping) -> None:
    """Refuse a group of what there is not, or what no group holds."""
    owner = f"group '{group.name}'"
    for part in group.parts:
        kind = model.kind_of(part)
        if kind is None:
            known = [name for entry in PARTS.values() for name in getattr(model, entry.plural)]
            raise ModelError(f"{owner}: no part named {show(part)}; {closest(part, known)}")
        if kind in OUTSIDE:
            raise ModelError(
                f"{owner}: '{part}' is a {kind}, expected a body, a joint or what is on them; leave it out"
            )


def tidied(model: "Model") -> "Model":
    """A model whose groups are of parts that are there; one that has none left goes."""
    there = {group.name: tuple(part for part in group.parts if model.kind_of(part)) for group in model.groups.values()}
    if all(len(group.parts) == len(there[group.name]) for group in model.groups.values()):
        return model
    new = model.copy()
    new.groups = {
        name: group if len(there[name]) == len(group.parts) else replace(group, parts=there[name])
        for name, group in model.groups.items()
        if there[name]
    }
    return new
