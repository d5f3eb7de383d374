"""Joints of USD as joints of the catalogue.

Every joint is what it leaves free of six: translations along the axes of the frame on its first body, and rotations.
Which types of the catalogue these are, and along which of USD's axes their z and x are, is here; others are chains of
slides and hinges through links without mass. Of two rotations PhysX, which the schema is of, swings about y or z of the
first body, then twists about x of the second.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from .draft import Bond, Pose

TRANS, ROT = ("transX", "transY", "transZ"), ("rotX", "rotY", "rotZ")


class Fit(NamedTuple):
    """A type, the axes of USD's frame that its z and x are, and the group that each free axis is."""

    type: str
    z: int
    x: int
    groups: dict[str, str]  # by "transX", ...; of a ball none


def fit(free: set[str]) -> Fit | None:
    """The joint of the catalogue that leaves some axes free, and nothing else; None where there is none."""
    slides = [k for k in range(3) if TRANS[k] in free]
    turns = [k for k in range(3) if ROT[k] in free]
    if len(turns) == 3:
        return _ball(slides)
    if len(turns) == 2 and not slides:
        second = 0 if 0 in turns else 2
        first = next(k for k in turns if k != second)
        return Fit("universal", first, second, {ROT[first]: "first", ROT[second]: "second"})
    if len(turns) == 1:
        return _hinge(slides, turns[0])
    if not turns and len(slides) < 2:
        if not slides:
            return Fit("fixed", 2, 0, {})
        return Fit("prismatic", slides[0], (slides[0] + 1) % 3, {TRANS[slides[0]]: "slide"})
    return None


def _ball(slides: list[int]) -> Fit:
    if not slides:
        return Fit("spherical", 0, 1, {})
    if len(slides) == 1:
        return Fit("point-on-line", slides[0], (slides[0] + 1) % 3, {TRANS[slides[0]]: "slide"})
    if len(slides) == 2:
        z = 3 - sum(slides)
        x, y = (z + 1) % 3, (z + 2) % 3
        return Fit("point-on-plane", z, x, {TRANS[x]: "x", TRANS[y]: "y"})
    return Fit("free", 2, 0, dict(zip(TRANS, "xyz", strict=True)))


def _hinge(slides: list[int], z: int) -> Fit | None:
    x, y = (z + 1) % 3, (z + 2) % 3
    if not slides:
        return Fit("revolute", z, x, {ROT[z]: "angle"})
    if slides == [z]:
        return Fit("cylindrical", z, x, {TRANS[z]: "slide", ROT[z]: "angle"})
    if len(slides) == 1:
        return Fit("pin-slot", z, slides[0], {TRANS[slides[0]]: "slide", ROT[z]: "angle"})
    if z not in slides:
        return Fit("planar", z, x, {TRANS[x]: "x", TRANS[y]: "y", ROT[z]: "angle"})
    return None


def turned(fit: Fit) -> np.ndarray:
    """R of the catalogue's frame in USD's."""
    z, x = np.eye(3)[fit.z], np.eye(3)[fit.x]
    return np.column_stack([x, np.cross(z, x), z])


def coordinates(type: str, X: Pose) -> dict[str, Any]:
    """Coordinates by group of a joint whose frames are X_FM apart, as near as it comes to that."""
    p, R = X
    angle = math.atan2(R[1, 0], R[0, 0])
    found: dict[str, dict[str, Any]] = {
        "fixed": {},
        "distance": {},
        "revolute": {"angle": angle},
        "prismatic": {"slide": float(p[2])},
        "cylindrical": {"slide": float(p[2]), "angle": angle},
        "pin-slot": {"slide": float(p[0]), "angle": angle},
        "planar": {"x": float(p[0]), "y": float(p[1]), "angle": angle},
        "universal": {"first": angle, "second": math.atan2(R[2, 1], R[2, 2])},
        "spherical": {"rotation": R},
        "point-on-line": {"slide": float(p[2]), "rotation": R},
        "point-on-plane": {"x": float(p[0]), "y": float(p[1]), "rotation": R},
        "free": {"x": float(p[0]), "y": float(p[1]), "z": float(p[2]), "rotation": R},
    }
    return found[type]


def gap_of(bond: Bond, X: Pose) -> tuple[float, float]:
    """How far frames X_FM apart miss what the bond's coordinates are [m, rad]."""
    off = bond.displacement().inverse() @ X
    sine = np.linalg.norm(off.R - off.R.T) / math.sqrt(8.0)
    return float(np.linalg.norm(off.p)), math.atan2(float(sine), (float(np.trace(off.R)) - 1.0) / 2.0)
