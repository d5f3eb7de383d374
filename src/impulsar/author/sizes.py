"""Sizes of bodies: a shape made longer or wider, with what holds on to the body and, by its density, its mass.

A point of the body keeps its place relative to the size: the pin at the end of a link stays at the end. A capsule's
radius is only its thickness, so it moves no point.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .checks import positive, show, vector
from .errors import ModelError
from .parts import PARTS, Body
from .rotations import rotate_all, rotation_matrix
from .shapes import Box, Capsule, Cone, Cylinder, Shape, Sphere, uniform_solid

if TYPE_CHECKING:
    from .model import Model

SIZES: dict[type[Shape], tuple[str, ...]] = {  # what of a shape may be set by itself [m]
    Box: ("size",),
    Sphere: ("radius",),
    Cylinder: ("radius", "length"),
    Capsule: ("radius", "length"),
    Cone: ("radius", "length"),
}
ALL_SIZES = tuple(dict.fromkeys(name for names in SIZES.values() for name in names))


def size_of(body: Body, what: str) -> Any:
    """A size of a body's only shape [m]; raises `ModelError` where there is none of that name."""
    owner = f"body '{body.name}'"
    if len(body.shapes) != 1:
        raise ModelError(f"{owner}: has {len(body.shapes)} shapes, so that {what} is of none of them; set its shape")
    names = SIZES.get(type(body.shapes[0]), ())
    if what not in names:
        told = f"{owner}: a {type(body.shapes[0]).__name__} has no {what}"
        raise ModelError(f"{told}; sizes are: {', '.join(names) or 'none, set its shape'}")
    return getattr(body.shapes[0], what)


def resized(model: "Model", name: str, what: str, value: object) -> "Model":
    """A model in which a size of a body is another one; joints at its points may then be open."""
    body, owner = model.bodies[name], f"body '{name}'"
    before = size_of(body, what)
    if what == "size":
        value = vector(owner, what, value, "m")
        if not (value > 0).all():
            raise ModelError(f"{owner}: size is {show(value)}, expected 3 numbers > 0 [m]")
    else:
        value = positive(owner, what, value, "m")
    old = body.shapes[0]
    new: Any = replace(old, **{what: value})  # type: ignore[arg-type]
    return reshaped(model, name, [new], _scale(old, what, np.asarray(value) / before))


def reshaped(model: "Model", name: str, shapes: list[Shape], scale: np.ndarray | None = None) -> "Model":
    """A model in which a body has other shapes, and by its density another mass and inertia.

    scale: by which the first shape was made larger along its axes, and with it all points of the body.
    """
    body = model.bodies[name]
    mass, inertia, placed = body.mass, body.inertia, shapes
    if body.density is not None:
        mass, inertia, placed = uniform_solid(f"body '{name}'", None, shapes, body.density)
    shift = np.subtract(shapes[0].offset, placed[0].offset) if shapes else np.zeros(3)  # of the centre, in B
    position = body.position + rotation_matrix(body.orientation) @ shift
    new = model.having("body", replace(body, mass=mass, inertia=inertia, shapes=placed, position=position))
    if scale is None and not shift.any():
        return new
    R_BS, p_BS = (
        (rotation_matrix(shapes[0].orientation), np.asarray(shapes[0].offset)) if shapes else (np.eye(3), np.zeros(3))
    )
    by = np.ones(3) if scale is None else scale

    def moved(p_BQ: np.ndarray) -> np.ndarray:
        return p_BS + R_BS @ (by * (R_BS.T @ (p_BQ - p_BS))) - shift

    held = new.bodies[name]
    drawn = [replace(own, shape=replace(own.shape, offset=moved(np.asarray(own.shape.offset)))) for own in held.visuals]
    new.bodies[name] = replace(held, p_BL=moved(held.p_BL), visuals=drawn)
    for kind, entry in PARTS.items():
        points = [(point.field, point.body) for point in entry.points]
        points += [("p_PF", "first"), ("p_CM", "second")] if kind == "joint" else []
        for own in list(getattr(new, entry.plural).values()):
            changes = {field: moved(getattr(own, field)) for field, end in points if getattr(own, end) == name}
            if any(not np.array_equal(value, getattr(own, field)) for field, value in changes.items()):
                getattr(new, entry.plural)[own.name] = replace(own, **changes)
    return new


def _scale(shape: Shape, what: str, ratio: Any) -> np.ndarray:
    """By which points are moved along the axes of a shape when one of its sizes is multiplied."""
    if what == "size":
        return np.asarray(ratio, float)
    if what == "length":
        return np.array([1.0, 1.0, float(ratio)])
    if isinstance(shape, Capsule):
        return np.ones(3)
    return np.array([float(ratio), float(ratio), float(ratio) if isinstance(shape, Sphere) else 1.0])


def moved_by(old: Body, new: Body) -> np.ndarray:
    """How far the centre of mass of a body went when it was reshaped, in its frame [m]."""
    return rotate_all(old.orientation * (-1.0, -1.0, -1.0, 1.0), new.position - old.position)
