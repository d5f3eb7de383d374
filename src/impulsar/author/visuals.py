"""What is drawn of a body where that is not what touches: shapes with colours and names, placed in its frame."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .checks import colour as colour_of
from .checks import show
from .errors import ModelError
from .names import LONGEST_NAME
from .shapes import HeightField, Plane, Shape, shape_list


@dataclass(frozen=True, eq=False)
class Visual:
    """A shape to be drawn, placed in its body's frame as shapes are; it never touches."""

    shape: Shape
    colour: str | None = None  # "#rrggbb"; None: the body's
    name: str = ""  # as a file has it

    def __post_init__(self) -> None:
        owner = "Visual" if not self.name else f"Visual {show(self.name)}"
        (shape,) = shape_list(owner, [self.shape])
        if isinstance(shape, Plane | HeightField):
            raise ModelError(f"{owner}: {type(shape).__name__} is a surface of the ground; give it to an obstacle")
        if shape.material is not None:
            told = f"{owner}: its shape has material {show(shape.material)}, but it never touches"
            raise ModelError(f"{told}; leave it out, or give the body this shape")
        object.__setattr__(self, "colour", colour_of(owner, self.colour))
        if not isinstance(self.name, str) or len(self.name) > LONGEST_NAME or not self.name.isprintable():
            raise ModelError(f"Visual: name is {show(self.name)}, expected a short text")

    def shifted(self, shift: np.ndarray) -> "Visual":
        """The same, moved along its body's axes [m]."""
        return replace(self, shape=replace(self.shape, offset=np.asarray(self.shape.offset, float) + shift))


def visual_list(owner: str, given: object) -> list[Visual]:
    """One visual or shape, several or None as a list."""
    items: Sequence[Any] = [] if given is None else given if isinstance(given, tuple | list) else [given]
    found = []
    for item in items:
        if not isinstance(item, Visual | Shape):
            raise ModelError(f"{owner}: visual is {show(item)}, expected a shape or a Visual(shape, colour)")
        found.append(item if isinstance(item, Visual) else Visual(replace(item, material=None)))
    return found
