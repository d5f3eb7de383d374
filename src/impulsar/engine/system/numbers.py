"""Numbers of parts that have neither slots nor a place in the mechanism, such as materials: a row for each part."""

from ...author.materials import materials_in_use
from ...author.model import Model
from ...author.parts import NOT_GIVEN, PARTS

NUMBERED = tuple(kind for kind, entry in PARTS.items() if kind != "body" and entry.slot < 0 and entry.numbers)

LARGEST = 1e300  # stands for infinity


def numbers_of(model: Model) -> dict[str, list[float]]:
    """Values by array; materials are those that are declared, then common ones in use."""
    found = {}
    for kind in NUMBERED:
        parts = materials_in_use(model) if kind == "material" else getattr(model, PARTS[kind].plural)
        for own in PARTS[kind].numbers:
            values = [getattr(part, own.name) for part in parts.values()]
            found[own.array] = [NOT_GIVEN if value is None else min(value, LARGEST) for value in values]
    return found
