"""Places and ways: how the calls of Model take points and directions."""

from typing import TypeGuard

import numpy as np

from .checks import Vector, show
from .errors import ModelError

PointOfBody = tuple[str, Vector] | tuple[str, Vector, str]  # a body, and a point of its frame or of its "link" [m]
Place = Vector | PointOfBody  # a point of the world, or of a body
Way = Vector | tuple[Place, Place]  # a direction in world axes, or from one place to another


def is_point_of_body(place: object) -> TypeGuard[PointOfBody]:
    """Whether a place is a body and a point of its frame, or with a third text of the frame that it names."""
    if not isinstance(place, tuple | list) or len(place) not in (2, 3) or not isinstance(place[0], str):
        return False
    return len(place) == 2 or not isinstance(place[1], str | int | float)


def is_two_places(axis: object) -> TypeGuard[tuple[Place, Place]]:
    """Whether a direction is given from one place to another."""
    return isinstance(axis, tuple | list) and len(axis) == 2 and not any(isinstance(end, int | float) for end in axis)


def along(owner: str, what: str, p_WA: np.ndarray, p_WB: np.ndarray) -> np.ndarray:
    """The way from one world point to another [m]."""
    way = p_WB - p_WA
    if not np.linalg.norm(way) > 1e-12 * max(np.linalg.norm(p_WA), np.linalg.norm(p_WB)):
        raise ModelError(f"{owner}: {what} goes from {show(p_WA)} to {show(p_WB)}, which is one point; give two")
    return way
