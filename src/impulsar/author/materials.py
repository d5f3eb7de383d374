"""Materials: a table of common ones, which of them a model uses, and what two are like against each other.

Of materials a and b without a pair of their own: µ = √(µa µb), likewise static, rolling and spinning friction;
e = min(ea, eb). Since µ <= static in each, it is so in the mean. What a pair gives takes the place of that; static
friction that it does not give is then its friction.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .parts import PARTS
from .shapes import Shape
from .surfaces import Material, MaterialPair

if TYPE_CHECKING:
    from .model import Model

COMMON = {  # typical figures of clean dry surfaces, with ranges and sources in docs/contact.md
    material.name: material
    for material in (
        Material("steel", 0.57, 0.74, 0.6),
        Material("oiled steel", 0.06, 0.15, 0.6),
        Material("aluminium", 0.39, 0.5, 0.5),
        Material("brass", 0.34, 0.35, 0.5),
        Material("copper", 0.23, 0.38, 0.4),
        Material("glass", 0.4, 0.94, 0.66),
        Material("wood", 0.3, 0.5, 0.6),
        Material("concrete", 0.64, 0.86, 0.4),
        Material("rubber", 1.0, 1.16, 0.8),
        Material("nylon", 0.2, 0.25, 0.7),
        Material("PTFE", 0.04, 0.04, 0.5),
        Material("ice", 0.03, 0.1, 0.5),
    )
}


@dataclass(frozen=True)
class ContactProperties:
    """What two surfaces are like against each other, as in `Material`."""

    friction: float
    static: float
    restitution: float
    rolling: float  # [m]
    spinning: float  # [m]


def contact_properties(model: "Model", a: str, b: str) -> ContactProperties:
    """What the materials `a` and `b` of a model, declared or common, are like against each other."""
    A, B = (model.find_material("contact_properties", name) for name in (a, b))
    found = {what: math.sqrt(getattr(A, what) * getattr(B, what)) for what in ("friction", "rolling", "spinning")}
    found["static"] = math.sqrt(static_of(A) * static_of(B))
    found["restitution"] = min(A.restitution, B.restitution)
    if (pair := pair_of(model, a, b)) is not None:
        found |= {what: value for what in found if (value := getattr(pair, what)) is not None}
        if pair.friction is not None:
            found["static"] = static_of(pair)
    return ContactProperties(**found)


def static_of(part: Any) -> float:
    """The static friction of a material, or of a pair that has friction: at least as large as friction."""
    return part.friction if part.static is None else part.static


def pair_of(model: "Model", a: str, b: str) -> MaterialPair | None:
    """The pair that says what two materials are like against each other, in whichever order."""
    return next((pair for pair in model.material_pairs.values() if {pair.a, pair.b} == {a, b}), None)


def materials_in_use(model: "Model") -> dict[str, Material]:
    """All materials that are declared, then common ones that are used, by name."""
    used = {name for _, name in _uses(model)}
    return model.materials | {name: own for name, own in COMMON.items() if name in used and name not in model.materials}


def users(model: "Model", material: str) -> list[str]:
    """Who uses a material, in words: "body 'box'", "material_pair 'a/b'"."""
    return list(dict.fromkeys(user for user, name in _uses(model) if name == material))


def _uses(model: "Model") -> Iterator[tuple[str, str]]:
    """Users and names of materials, of parts and of their shapes."""
    for kind, entry in PARTS.items():
        fields = [what for what, target in entry.refers.items() if target == "material"]
        for part in getattr(model, entry.plural).values() if fields else ():
            names = [getattr(part, what) for what in fields] + [shape.material for shape in getattr(part, "shapes", ())]
            yield from ((f"{kind} '{part.name}'", name) for name in names if name is not None)
    yield from (("body 'ground'", shape.material) for shape in model.ground.shapes if shape.material is not None)


def material_of(shape: Shape, owner: Any) -> str | None:
    """The material of a shape: its own, else that of its body or obstacle."""
    return owner.material if shape.material is None else shape.material
