"""The calls of Model that add what touches: materials and pairs of them, obstacles, and who does not touch."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from .checks import Vector, show
from .errors import ModelError
from .materials import COMMON, pair_of
from .names import guess, listed
from .parts import Body
from .shapes import Shape
from .surfaces import Material, MaterialPair, NoContact, Obstacle
from .variables import takes_expressions

if TYPE_CHECKING:
    from .model import Model


class Surfaces:
    """The calls of Model that add what touches."""

    materials: dict[str, Material]  # declared; others are in materials.COMMON
    material_pairs: dict[str, MaterialPair]
    obstacles: dict[str, Obstacle]
    no_contacts: dict[str, NoContact]

    @takes_expressions
    def material(
        self,
        name: str,
        friction: float,
        static: float | None = None,
        restitution: float = 0.0,
        rolling: float = 0.0,
        spinning: float = 0.0,
    ) -> Material:
        """Declare a material by what it is like against itself: sliding friction, static friction (at least that,
        by default the same), restitution from 0 to 1; rolling and spinning friction as lever arms [m].

        One of `materials.COMMON` need not be declared; if it is, this one holds.
        """
        model = cast("Model", self)
        model.claim("material", name)
        material = Material(name, friction, static, restitution, rolling, spinning)
        material.check()
        self.materials[name] = material
        return material

    @takes_expressions
    def material_pair(
        self,
        a: Material | str,
        b: Material | str,
        friction: float | None = None,
        static: float | None = None,
        restitution: float | None = None,
        rolling: float | None = None,
        spinning: float | None = None,
        name: str | None = None,
    ) -> MaterialPair:
        """Say what two materials are like against each other, in whichever order; may be one and itself.

        What is not given stays as the rule has it: geometric means, of restitution the smaller. The pair is called
        "a/b", in the order of the alphabet, unless it has a `name`.
        """
        model = cast("Model", self)
        first, second = (self.find_material("material_pair", material).name for material in (a, b))
        name = "/".join(sorted((first, second))) if name is None else name
        model.claim("material_pair", name)
        pair = MaterialPair(name, first, second, friction, static, restitution, rolling, spinning)
        pair.check()
        check_pair(pair, pair_of(model, first, second))
        self.material_pairs[name] = pair
        return pair

    @takes_expressions
    def obstacle(
        self,
        name: str,
        shape: Shape,
        position: Vector = (0.0, 0.0, 0.0),
        orientation: Vector = (0.0, 0.0, 0.0, 1.0),
        material: Material | str | None = None,
    ) -> Obstacle:
        """Add a shape of the ground at `position` [m] and `orientation` (xyzw); without a material, its own or
        the shape's, it is a picture."""
        model = cast("Model", self)
        owner = model.claim("obstacle", name)
        own = None if material is None else self.find_material(owner, material).name
        obstacle = Obstacle(name, shape, position, orientation, own)  # type: ignore[arg-type]
        obstacle.check()
        self.check_materials(owner, obstacle.shapes)
        self.obstacles[name] = obstacle
        return obstacle

    def no_contact(self, a: Body | Obstacle | str, b: Body | Obstacle | str, name: str | None = None) -> NoContact:
        """Have two bodies or obstacles not touch; "ground" is the ground with all obstacles. It is called "a/b", in
        the order of the alphabet, unless it has a `name`."""
        model = cast("Model", self)
        first, second = (model.find_solid("no_contact", part).name for part in (a, b))
        name = "/".join(sorted((first, second))) if name is None else name
        model.claim("no_contact", name)
        part = NoContact(name, first, second)
        part.check()
        check_movable(model, part)
        self.no_contacts[name] = part
        return part

    def find_material(self, owner: str, material: Material | str) -> Material:
        """A material by name, declared or else common."""
        name = material.name if isinstance(material, Material) else material
        found = self.materials.get(name) or COMMON.get(name) if isinstance(name, str) else None
        if found is None:
            meant = guess(name, [*COMMON, *self.materials])
            raise ModelError(
                f"{owner}: no material named {show(name)}; {meant}declared by model.material are: "
                f"{listed(self.materials)}; common ones are: {', '.join(COMMON)}"
            )
        return found

    def check_materials(self, owner: str, shapes: Iterable[Shape]) -> None:
        """Raise `ModelError` at the first shape whose material there is not."""
        for shape in shapes:
            if shape.material is not None:
                self.find_material(owner, shape.material)


def check_movable(model: "Model", part: NoContact) -> None:
    """Raise `ModelError` if neither of two that do not touch moves."""
    if all(name == "ground" or name in model.obstacles for name in (part.a, part.b)):
        raise ModelError(
            f"no_contact '{part.name}': neither '{part.a}' nor '{part.b}' moves, so they do not touch; remove it"
        )


def check_pair(pair: MaterialPair, other: MaterialPair | None) -> None:
    """Raise `ModelError` if another pair is of the same materials."""
    if other is not None and other is not pair:
        raise ModelError(
            f"material_pair '{pair.name}': '{other.name}' has '{pair.a}' and '{pair.b}' already; change that one"
        )
