"""Links that are drawn end to end in a plane: from what was typed and pointed at to bodies and pins.

Points of the plane are 2-vectors along its unit axes u and v. A link is a capsule whose z goes from its first to its
second end and whose y is the plane's normal n = u × v, which is the axis of all pins too: an angle grows from u to v.
"""

import math
from itertools import count
from typing import Any

import numpy as np

from ..author.checks import positive, show, vector
from ..author.rotations import frame_from_axes
from ..author.shapes import Capsule, ConvexHull
from .carry import STILL, Places
from .data import Add, Draw, End, Plate, Several
from .polygons import centroid_of, check_simple, convex_pieces
from .refusal import EditError, known
from .registry import Desk

SAME = 1e-9  # of its length: by which a link may differ from the length given for it
MOST_LINKS = 100


class Plane:
    """A plane by its origin and two axes."""

    def __init__(self, owner: str, origin: object, u: object, v: object):
        self.origin = vector(owner, "origin", origin, "m")
        axes = [vector(owner, name, axis, "any unit") for name, axis in (("u", u), ("v", v))]
        sizes = [float(np.linalg.norm(axis)) for axis in axes]
        if not min(sizes) > 0 or abs(axes[0] @ axes[1]) > 1e-9 * sizes[0] * sizes[1]:
            raise EditError(f"{owner}: u is {show(u)} and v {show(v)}, expected two directions at right angles")
        self.u, self.v = axes[0] / sizes[0], axes[1] / sizes[1]
        self.n = np.cross(self.u, self.v)

    def down(self, p_W: np.ndarray) -> np.ndarray:
        """Where a world point is in the plane, seen along its normal [m]."""
        p = p_W - self.origin
        return np.array([p @ self.u, p @ self.v])

    def up(self, p: np.ndarray) -> np.ndarray:
        """The world point of a point of the plane [m]."""
        return self.origin + p[0] * self.u + p[1] * self.v


def parts_of_drawing(edit: Draw, desk: Desk) -> Several:
    """The bodies and joints of a drawing, at the present pose."""
    owner = "draw"
    if not isinstance(edit.links, tuple | list) or not 1 <= len(edit.links) <= MOST_LINKS:
        raise EditError(f"{owner}: links are {show(edit.links)}, expected 1 to {MOST_LINKS} names")
    if not isinstance(edit.ends, tuple | list) or not all(isinstance(end, End) for end in edit.ends):
        raise EditError(f"{owner}: ends are {show(edit.ends)}, expected a list of ends")
    if len(edit.ends) != len(edit.links) + 1:
        raise EditError(f"{owner}: {len(edit.ends)} ends, expected one more than the {len(edit.links)} links")
    radius, density = (positive(owner, what, getattr(edit, what), "SI") for what in ("radius", "density"))
    plane = Plane(owner, edit.origin, edit.u, edit.v)
    points = place_ends(edit, plane, Places.of(desk.bench), desk)
    parts: list[Add] = []
    for name, end, a, b in zip(edit.links, edit.ends[1:], points, points[1:], strict=False):
        length = float(np.linalg.norm(b - a)) if end.length is None else float(end.length)  # as typed, to the bit
        along = plane.up(b) - plane.up(a)
        options = {
            "shape": Capsule(radius=radius, length=positive(f"link '{name}'", "length", length, "m")),
            "density": density,
            "position": (plane.up(a) + plane.up(b)) / 2,
            "orientation": frame_from_axes(owner, along, np.cross(plane.n, along)),
        }
        parts.append(Add("body", name, options))
    names = (f"pin {k}" for k in count(1) if desk.model.kind_of(f"pin {k}") is None)
    for k, (end, point) in enumerate(zip(edit.ends, points, strict=True)):
        own = edit.links[k] if k < len(edit.links) else edit.links[k - 1]
        held = [edit.links[k - 1]] if 0 < k < len(edit.links) else []
        held += [end.body] if end.body is not None and end.body != "ground" else []
        held += ["ground"] if end.ground or end.body == "ground" else []
        for other in held:
            options = {"type": "revolute", "first": other, "second": own, "at": plane.up(point), "axis": plane.n}
            parts.append(Add("joint", next(names), options))
    return Several(tuple(parts))


def parts_of_plate(edit: Plate, desk: Desk) -> Several:
    """The body of a plate and its pins, at the present pose."""
    owner = f"plate '{edit.name}'"
    if not isinstance(edit.ends, tuple | list) or not 3 <= len(edit.ends) <= MOST_LINKS:
        raise EditError(f"{owner}: ends are {show(edit.ends)}, expected 3 to {MOST_LINKS} corners")
    if not all(isinstance(end, End) for end in edit.ends):
        raise EditError(f"{owner}: ends are {show(edit.ends)}, expected a list of ends")
    thickness, density = (positive(owner, what, getattr(edit, what), "SI") for what in ("thickness", "density"))
    plane = Plane(owner, edit.origin, edit.u, edit.v)
    corners = np.array(place_ends(edit, plane, Places.of(desk.bench), desk))
    check_simple(owner, corners)
    middle, half = centroid_of(corners), thickness / 2
    pieces = convex_pieces(corners - middle)
    prisms = [ConvexHull(np.array([(*corner, z) for corner in piece for z in (-half, half)])) for piece in pieces]
    options: dict[str, Any] = {
        "shape": prisms[0] if len(prisms) == 1 else prisms,
        "density": density,
        "position": plane.up(middle),
        "orientation": frame_from_axes(owner, plane.n, plane.u),
    }
    parts = [Add("body", edit.name, options)]
    names = (f"pin {k}" for k in count(1) if desk.model.kind_of(f"pin {k}") is None)
    for end, corner in zip(edit.ends, corners, strict=True):
        held = end.body if end.body is not None else "ground" if end.ground else None
        if held is not None:
            options = {"type": "revolute", "first": held, "second": edit.name, "at": plane.up(corner), "axis": plane.n}
            parts.append(Add("joint", next(names), options))
    return Several(tuple(parts))


def place_ends(edit: Draw | Plate, plane: Plane, places: Places, desk: Desk) -> list[np.ndarray]:
    """Where the ends are in the plane; the plane is moved along its normal to the first of them that is on a body."""
    given: dict[int, np.ndarray] = {}  # ends that are points of the plane or of bodies
    for k, end in enumerate(edit.ends):
        owner = f"draw: end {k + 1}"
        if end.body is not None:
            known(owner, "body", end.body, {"ground": None, **desk.model.bodies})
            p_WQ = places.frame(end.body, vector(owner, "point", end.point or (0, 0, 0), "m"), STILL)[0][0]
            if not any(other.body not in (None, "ground") for other in edit.ends[:k]):
                plane.origin = plane.origin + ((p_WQ - plane.origin) @ plane.n) * plane.n
            given[k] = plane.down(p_WQ)
        elif end.at is not None:
            given[k] = np.asarray(end.at, float)
    points: list[np.ndarray] = []
    for k, end in enumerate(edit.ends):
        owner = f"draw: end {k + 1}"
        if k in given:
            points.append(given[k])
            if k and end.length is not None:
                _close(owner, edit.ends, points, given)
        elif k == 0:
            raise EditError(f"{owner}: is the first one; give it at a point of the plane or on a body")
        else:
            points.append(_from_before(owner, end, points[-1]))
    return points


def _from_before(owner: str, end: End, start: np.ndarray) -> np.ndarray:
    """An end by the length and direction of its link."""
    if end.angle is None and end.toward is None:
        raise EditError(f"{owner}: has no direction; give an angle or a point that it is towards")
    way = np.zeros(2) if end.toward is None else np.asarray(end.toward, float) - start
    if end.angle is not None:
        way, aim = np.array([math.cos(end.angle), math.sin(end.angle)]), way
        length = end.length if end.length is not None else float(aim @ way)
    else:
        length = end.length if end.length is not None else float(np.linalg.norm(way))
        way = way / (np.linalg.norm(way) or 1.0)
    return start + positive(owner, "length", length, "m") * way


def _close(owner: str, ends: tuple[End, ...], points: list[np.ndarray], given: dict[int, np.ndarray]) -> None:
    """Have the last link its length by turning the one before about its other end, to where that is nearest."""
    k = len(points) - 1
    length = positive(owner, "length", ends[k].length, "m")
    apart = float(np.linalg.norm(points[k] - points[k - 1]))
    if abs(apart - length) <= SAME * length:
        return
    before = ends[k - 1]
    if k < 2 or k - 1 in given or before.length is None or before.angle is not None:
        cure = "leave out one of them, or the angle of the link before"
        raise EditError(f"{owner}: is {apart:.9g} m from the end before it, but the length is {length:.9g} m; {cure}")
    a, d, r = points[k - 2], points[k], float(before.length)
    span = float(np.linalg.norm(d - a))
    along = (r * r - length * length + span * span) / (2 * span) if span > 0 else math.inf
    if not abs(along) <= r:
        told = f"{owner}: links of {r:.9g} and {length:.9g} m do not meet over {span:.9g} m"
        raise EditError(f"{told}; give other lengths or another end")
    e = (d - a) / span
    across = math.sqrt(r * r - along * along) * np.array([-e[1], e[0]])
    sides = [a + along * e + across, a + along * e - across]
    points[k - 1] = min(sides, key=lambda side: float(np.linalg.norm(side - points[k - 1])))
