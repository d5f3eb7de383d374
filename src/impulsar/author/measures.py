"""Measures that a model names: distances between points of two bodies, angles between lines of them."""

from typing import TYPE_CHECKING, cast

from .checks import Vector
from .parts import Angle, Body, Distance

if TYPE_CHECKING:
    from .model import Model

Place = Vector | tuple[str, Vector]  # as in `model`


class Measures:
    """The calls of Model that add measures."""

    def distance(self, name: str, first: Body | str, second: Body | str, at_a: Place, at_b: Place) -> Distance:
        """Measure the distance from the world point `at_a` on the first body to `at_b` on the second [m]."""
        model = cast("Model", self)
        owner = model.claim("distance", name)
        P, C = (model.find_body(owner, body) for body in (first, second))
        points = P.point(model.point(owner, "at_a", at_a)), C.point(model.point(owner, "at_b", at_b))
        part = Distance(name, P.name, C.name, *points)
        part.check()
        model.distances[name] = part
        return part

    def angle(
        self,
        name: str,
        first: Body | str,
        second: Body | str,
        from_a: Place,
        to_a: Place,
        from_b: Place,
        to_b: Place,
    ) -> Angle:
        """Measure the angle, 0 to π, between the line from `from_a` to `to_a` on the first body and that from
        `from_b` to `to_b` on the second [rad]; points of the world [m], and of the ground for a fixed direction."""
        model = cast("Model", self)
        owner = model.claim("angle", name)
        P, C = (model.find_body(owner, body) for body in (first, second))
        ends = [P.point(model.point(owner, what, at)) for what, at in (("from_a", from_a), ("to_a", to_a))]
        ends += [C.point(model.point(owner, what, at)) for what, at in (("from_b", from_b), ("to_b", to_b))]
        part = Angle(name, P.name, C.name, *ends)
        part.check()
        model.angles[name] = part
        return part
