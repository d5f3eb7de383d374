"""What touches and how: materials and pairs of them, obstacles, and who does not touch whom."""

import math
from dataclasses import dataclass, field

import numpy as np

from .checks import name_or_none, not_negative, number, show, vector
from .errors import ModelError
from .names import check_name
from .rotations import unit_quaternion
from .shapes import Shape


@dataclass(eq=False)
class Material:
    """What a surface is like against one of its kind: Coulomb friction and impact, dimensionless; rolling and
    spinning friction as lever arms of the normal force [m]."""

    name: str
    friction: float  # while it slides
    static: float | None = None  # while it sticks, at least `friction`; None: as `friction`
    restitution: float = 0.0  # speed after an impact over that before
    rolling: float = 0.0  # [m]
    spinning: float = 0.0  # [m]

    def check(self) -> None:
        """Raise `ModelError` at the first wrong field."""
        owner = f"material '{check_name('material', self.name)}'"
        self.friction = not_negative(owner, "friction", self.friction, "1")
        _check_surface(owner, self)


@dataclass(eq=False)
class MaterialPair:
    """What two materials are like against each other, where that is not the rule; None: as the rule says."""

    name: str
    a: str
    b: str
    friction: float | None = None
    static: float | None = None  # only with `friction`, at least that; None: as `friction`
    restitution: float | None = None
    rolling: float | None = None  # [m]
    spinning: float | None = None  # [m]

    def check(self) -> None:
        """Raise `ModelError` at the first wrong field."""
        owner = f"material_pair '{check_name('material_pair', self.name)}'"
        if self.friction is None and self.static is not None:
            raise ModelError(f"{owner}: static is {show(self.static)}, but friction is None; give friction too")
        if self.friction is not None:
            self.friction = not_negative(owner, "friction", self.friction, "1")
        _check_surface(owner, self)


def _check_surface(owner: str, part: Material | MaterialPair) -> None:
    if part.static is not None:
        expected = f"a number of at least friction, {show(part.friction)}"
        part.static = number(owner, "static", part.static, expected, lambda x: part.friction <= x < math.inf)  # type: ignore[operator]
    if part.restitution is not None:
        fraction, is_fraction = "a number from 0 to 1", lambda x: 0 <= x <= 1
        part.restitution = number(owner, "restitution", part.restitution, fraction, is_fraction)
    for what in ("rolling", "spinning"):
        if getattr(part, what) is not None:
            setattr(part, what, not_negative(owner, what, getattr(part, what), "m"))


@dataclass(eq=False)
class Obstacle:
    """A shape of the ground. Its frame O has the shape's offset and orientation in it."""

    name: str
    shape: Shape
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))  # p_WO [m]
    orientation: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 0.0, 1.0]))  # q_WO, unit, xyzw
    material: str | None = None  # if the shape has none of its own

    def check(self) -> None:
        """Raise `ModelError` at the first wrong field; make arrays of sequences."""
        owner = f"obstacle '{check_name('obstacle', self.name)}'"
        if not isinstance(self.shape, Shape):
            raise ModelError(f"{owner}: shape is {show(self.shape)}, expected a shape such as Box(size)")
        self.position = vector(owner, "position", self.position, "m")
        self.orientation = unit_quaternion(owner, "orientation", self.orientation)
        self.material = name_or_none(owner, "material", self.material)

    @property
    def shapes(self) -> list[Shape]:
        """Its shape, as a body has several."""
        return [self.shape]


@dataclass(eq=False)
class NoContact:
    """Two that do not touch: bodies, obstacles, or "ground" with all its obstacles."""

    name: str
    a: str
    b: str

    def check(self) -> None:
        """Raise `ModelError` at a wrong field."""
        owner = f"no_contact '{check_name('no_contact', self.name)}'"
        if self.a == self.b:
            raise ModelError(f"{owner}: is of '{self.a}' and itself, which do not touch anyway; give two")
