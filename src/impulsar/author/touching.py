"""Who may touch whom: shapes with a material, but for pairs that cannot or need not.

Two do not touch if they are shapes of one body; if they do not move against each other (fixed joints between them;
ground, its obstacles and what is fixed to it); if a joint other than a free one joins their bodies and does not ask
for contact; or if a `no_contact` says so. Bodies fixed to each other are one in this. An obstacle is no end of a
joint: a pendulum on a hinge to ground still falls onto the floor.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from .errors import ModelError
from .materials import material_of
from .shapes import Shape

if TYPE_CHECKING:
    from .model import Model

GROUND = "ground"


@dataclass(frozen=True, eq=False)
class Touching:
    """A shape that touches."""

    owner: str  # body or obstacle, or "ground"
    index: int  # of the shape among the owner's
    shape: Shape
    material: str


def owners(model: "Model") -> dict[str, Any]:
    """What has shapes, by name: ground, bodies, obstacles."""
    return {GROUND: model.ground, **model.bodies, **model.obstacles}


def touching_shapes(model: "Model") -> list[Touching]:
    """All shapes that have a material."""
    return [
        Touching(name, k, shape, material)
        for name, owner in owners(model).items()
        for k, shape in enumerate(owner.shapes)
        if (material := material_of(shape, owner)) is not None
    ]


class Exclusions:
    """Which bodies and obstacles of a model never touch, and why."""

    def __init__(self, model: "Model") -> None:
        self._obstacles = set(model.obstacles)
        self._group = rigid_groups(model)
        self._told = {frozenset((part.a, part.b)): name for name, part in model.no_contacts.items()}
        self._joined: dict[frozenset[str], str] = {}
        asked = set()
        for name, joint in model.joints.items():
            ends = frozenset((self._end(joint.first), self._end(joint.second)))
            if joint.contact:
                asked.add(ends)
            elif joint.type != "free":
                self._joined.setdefault(ends, name)
        for ends in asked:
            self._joined.pop(ends, None)

    def why(self, a: str, b: str) -> str | None:
        """Why two never touch, in words; None: they may."""
        if a == b:
            return f"'{a}' does not touch itself"
        if self._group[a] == self._group[b]:
            return f"'{a}' and '{b}' do not move against each other"
        ground = [{x, GROUND} for x, y in ((a, b), (b, a)) if y in self._obstacles]
        for pair in ({a, b}, *ground):
            if (name := self._told.get(frozenset(pair))) is not None:
                return f"no_contact '{name}'"
        name = self._joined.get(frozenset((self._end(a), self._end(b))))
        return None if name is None else f"joint '{name}' joins them"

    def _end(self, name: str) -> str:
        """What stands for a body where it is joined: that which it is fixed to, but for ground."""
        group = self._group[name]
        return name if group == GROUND else group


def rigid_groups(model: "Model") -> dict[str, str]:
    """For each body and obstacle the one that stands for all that are fixed to each other, ground first."""
    group = {name: GROUND if name in model.obstacles else name for name in owners(model)}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = name = group[group[name]]
        return name

    for joint in model.joints.values():
        if joint.type == "fixed":
            first, second = root(joint.first), root(joint.second)
            kept, gone = (second, first) if second == GROUND else (first, second)
            group[gone] = kept
    return {name: root(name) for name in group}


def touching_pairs(model: "Model") -> list[tuple[Touching, Touching]]:
    """All pairs of shapes that may touch, in the order of `touching_shapes`."""
    excluded, shapes = Exclusions(model), touching_shapes(model)
    names = list(dict.fromkeys(shape.owner for shape in shapes))
    may = {frozenset(pair) for pair in combinations(names, 2) if excluded.why(*pair) is None}
    return [pair for pair in combinations(shapes, 2) if frozenset(shape.owner for shape in pair) in may]


def may_touch(model: "Model", a: str, b: str) -> tuple[bool, str]:
    """Whether two bodies or obstacles, or "ground", may touch, and why or why not."""
    known = owners(model)
    for name in (a, b):
        if name not in known:
            raise ModelError(f"may_touch: no body or obstacle named {name!r}; known are: {', '.join(known)}")
    if reason := Exclusions(model).why(a, b):
        return False, reason
    materials = {name: sorted(set(_materials(known[name]))) for name in (a, b)}
    for name, found in materials.items():
        if not found:
            return False, f"'{name}' has no shape with a material: it is a picture"
    return True, " on ".join(f"'{name}' ({', '.join(found)})" for name, found in materials.items())


def _materials(owner: Any) -> Iterator[str]:
    return (material for shape in owner.shapes if (material := material_of(shape, owner)) is not None)
