"""What is wrong with a bulk, told by name before a kernel reads past the end of an array."""

from typing import TYPE_CHECKING

import numpy as np

from ...author.checks import not_negative, show, vector
from ...author.errors import ModelError
from ...author.joints import CATALOGUE, THREAD
from ..system.slots import SPRING

if TYPE_CHECKING:
    from .bulk import Bulk

# fields that are arrays: of what, and the shape of one
NUMBERS = {
    "position": ("body", (3,)),
    "orientation": ("body", (4,)),
    "twist": ("body", (6,)),
    "mass": ("kind", ()),
    "inertia": ("kind", (3, 3)),
    "radius": ("kind", ()),
    "p_PF": ("joint", (3,)),
    "q_PF": ("joint", (4,)),
    "p_CM": ("joint", (3,)),
    "q_CM": ("joint", (4,)),
    "length": ("joint", ()),
    "planes": ("plane", (4,)),
}
WHOLES = {"kind": "body", "joint_kind": "joint", "first": "joint", "second": "joint"}
UNIT = 1e-6  # by which the length of a quaternion may be off 1
SLIGHT = 1e-9  # by which an inertia may be off its transpose, or a ball's off being round, of its size


def as_arrays(bulk: "Bulk") -> None:
    """Fields that are lists as arrays; ModelError where they are none."""
    for what in (*NUMBERS, *WHOLES):
        value = getattr(bulk, what)
        if isinstance(value, np.ndarray) and value.dtype.kind in ("f" if what in NUMBERS else "iu"):
            continue
        try:
            array = np.asarray(value)
        except ValueError:
            array = np.asarray(None)
        if not array.size and array.dtype.kind == "f":
            array = array.astype(float if what in NUMBERS else np.int64)
        if array.dtype.kind not in ("fiu" if what in NUMBERS else "iu"):
            kind = "numbers" if what in NUMBERS else "integers"
            raise ModelError(f"{bulk.name}: {what} is {show(value)}, expected an array of {kind}")
        setattr(bulk, what, array.astype(float) if what in NUMBERS else array)


def check_bulk(bulk: "Bulk") -> None:
    """Raise ModelError at what cannot be."""
    as_arrays(bulk)
    if not len(bulk.position):
        raise ModelError(f"{bulk.name}: has no bodies")
    _check_shapes(bulk)
    _check_ranges(bulk)
    _check_bodies(bulk)
    _check_springs(bulk)
    _check_contact(bulk)


def _check_shapes(bulk: "Bulk") -> None:
    many = {"body": len(bulk.position), "kind": bulk.mass.size, "joint": bulk.first.size, "plane": len(bulk.planes)}
    every = {what: (of, one) for what, (of, one) in NUMBERS.items()} | {what: (of, ()) for what, of in WHOLES.items()}
    for what, (of, one) in every.items():
        value, shape = getattr(bulk, what), (many[of], *one)
        if value.shape != shape:
            each = f"a row of {'x'.join(map(str, one))}" if one else "one"
            raise ModelError(f"{bulk.name}: {what} has the shape {value.shape}, expected {shape}: {each} for each {of}")
        if what in NUMBERS and not np.isfinite(value).all():
            at = int(np.argmax(~np.isfinite(value.reshape(len(value), -1)).all(1)))
            raise ModelError(f"{bulk.name}: {what} of {of} {at} is {value[at].tolist()}, expected finite numbers")
    vector(bulk.name, "gravity", bulk.gravity, "m/s²")


def _check_ranges(bulk: "Bulk") -> None:
    for name in bulk.types:
        if name not in CATALOGUE or THREAD in CATALOGUE[name].locks:
            raise ModelError(f"{bulk.name}: joint type {name!r} is not for large worlds")
    for what, of, least, end in (
        ("kind", "body", 0, len(bulk.mass)),
        ("joint_kind", "joint", 0, len(bulk.types)),
        ("first", "joint", -1, bulk.bodies),
        ("second", "joint", -1, bulk.bodies),
    ):
        value = getattr(bulk, what)
        wrong = (value < least) | (value >= end)
        if wrong.any():
            at = int(np.argmax(wrong))
            expected = f"{least} to {end - 1}" if end > least else "none: there are no types"
            raise ModelError(f"{bulk.name}: {what} of {of} {at} is {value[at]}, expected {expected}")
    if "distance" in bulk.types:
        short = (bulk.joint_kind == bulk.types.index("distance")) & (bulk.length <= 0.0)
        if short.any():
            j = int(np.argmax(short))
            raise ModelError(f"{bulk.name}: joint {j} keeps a distance of {bulk.length[j]:g} m; join it as spherical")
    alike = bulk.first == bulk.second
    if alike.any():
        j = int(np.argmax(alike))
        body = "the ground" if bulk.first[j] < 0 else f"body {bulk.first[j]}"
        raise ModelError(f"{bulk.name}: joint {j} joins {body} with itself")


def _check_bodies(bulk: "Bulk") -> None:
    if not (bulk.mass > 0.0).all():
        raise ModelError(f"{bulk.name}: mass {bulk.mass.min():g} kg, expected numbers > 0")
    turned = np.abs(bulk.inertia - bulk.inertia.transpose(0, 2, 1)).max(initial=0.0)
    if turned > SLIGHT * np.abs(bulk.inertia).max():
        raise ModelError(f"{bulk.name}: an inertia is not symmetric, by {turned:g} kg m²")
    if not (np.linalg.eigvalsh(bulk.inertia) > 0.0).all():
        raise ModelError(f"{bulk.name}: an inertia has a principal value that is not > 0 [kg m²]")
    for what in ("orientation", "q_PF", "q_CM"):
        size = np.linalg.norm(getattr(bulk, what), axis=1)
        if (np.abs(size - 1.0) > UNIT).any():
            at = int(np.argmax(np.abs(size - 1.0) > UNIT))
            raise ModelError(f"{bulk.name}: {what} {at} is a quaternion of length {size[at]:.6g}, expected 1")


def _check_springs(bulk: "Bulk") -> None:
    for k, line in enumerate(bulk.springs):
        ends = (line.first, line.second)
        if not all(-1 <= end < bulk.bodies for end in ends) or line.first == line.second:
            raise ModelError(f"{bulk.name}: spring {k} joins {ends}, expected two of -1 (ground) to {bulk.bodies - 1}")
    for slot in bulk.slots:
        if slot.kind == SPRING and not (np.isfinite([slot.a, slot.b, slot.c]).all() and min(slot.a, slot.b) >= 0.0):
            raise ModelError(
                f"{bulk.name}: {slot.name} has stiffness {slot.a:g} N/m, damping {slot.b:g} N s/m, free length"
                f" {slot.c:g} m; expected finite numbers, the first two >= 0"
            )


def _check_contact(bulk: "Bulk") -> None:
    if bulk.shapes and len(bulk.shapes) != len(bulk.mass):
        raise ModelError(f"{bulk.name}: shapes of {len(bulk.shapes)} kinds, there are {len(bulk.mass)} kinds")
    for k, own in enumerate(bulk.shapes):
        if not isinstance(own, tuple | list):
            raise ModelError(f"{bulk.name}: shapes of kind {k} are {show(own)}, expected a tuple of shapes")
    if any(bulk.shapes) and (bulk.radius > 0.0).any():
        raise ModelError(f"{bulk.name}: has radii and shapes; give its balls as shapes, too")
    if bulk.obstacles and not any(bulk.shapes):
        raise ModelError(f"{bulk.name}: obstacles are for bodies with shapes; give balls as shapes, too")
    for k in np.flatnonzero(bulk.radius != 0.0).tolist():
        if not bulk.radius[k] > 0.0:
            raise ModelError(f"{bulk.name}: radius {bulk.radius[k]:g} m, expected numbers > 0, or 0: does not touch")
        off = np.abs(bulk.inertia[k] - np.eye(3) * bulk.inertia[k][0, 0]).max()
        if off > SLIGHT * bulk.inertia[k][0, 0]:
            raise ModelError(f"{bulk.name}: kind {k} is a sphere, whose inertia is the same about all axes")
    if not np.allclose(np.linalg.norm(bulk.planes[:, :3], axis=1), 1.0, atol=1e-12):
        raise ModelError(f"{bulk.name}: normals of planes have to be of length 1")
    bulk.friction = not_negative(bulk.name, "friction", bulk.friction, "1")
    _check_surfaces(bulk)


def _check_surfaces(bulk: "Bulk") -> None:
    """Materials and what they are like against each other, and who never touches."""
    n = len(bulk.materials)
    for shape in (*(one for own in bulk.shapes for one in own), *bulk.obstacles):
        if shape.material is not None and shape.material not in bulk.materials:
            known = ", ".join(bulk.materials) or "none"
            raise ModelError(f"{bulk.name}: a shape has the material {shape.material!r}; `materials` are: {known}")
    for what in ("friction", "holding", "restitution") if n and any(bulk.shapes) else ():
        given = np.asarray(bulk.surfaces.get(what, np.nan), float)
        if given.shape != (n, n) or not (given >= 0.0).all():
            raise ModelError(f"{bulk.name}: surfaces[{what!r}] has to be {n} x {n} numbers >= 0 of two materials each")
    pairs = np.asarray(bulk.no_contact)
    if pairs.size and not (pairs.min() >= -1 - len(bulk.planes) - len(bulk.obstacles) and pairs.max() < bulk.bodies):
        raise ModelError(f"{bulk.name}: no_contact names a body or obstacle that is not there")
