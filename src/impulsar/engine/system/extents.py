"""Sizes of a model, which bodies its parts act on, axes without rounding, and which codes are of slides or turns."""

import math

import numpy as np

from ...author.joints import BALL, LENGTH, LOCK_X, LOCK_Y, LOCK_Z, SLIDE_X, SLIDE_Y, SLIDE_Z, THREAD, TURN_X
from ...author.model import Model
from ...author.parts import PARTS
from ...author.rotations import rotation_matrices
from .tree import GROUND

METRES = (SLIDE_X, SLIDE_Y, SLIDE_Z, LOCK_X, LOCK_Y, LOCK_Z, THREAD, LENGTH)  # codes of rows in metres
ROUNDING = 1e-15  # of the entries of rotation matrices
SPATIAL = (TURN_X, *BALL)  # freedoms whose axis turns


def bodies_of(model: Model, kind: str, name: str) -> list[str]:
    """Names of the bodies that a part acts on, of its joints too."""
    part = getattr(model, PARTS[kind].plural)[name]
    found: list[str] = []
    for _, target, other in PARTS[kind].named(part):
        found += [other] if target == "body" else bodies_of(model, target, other)
    return found


def characteristic_length(model: Model) -> float:
    """Root mean square distance of joints from the centres of mass that they hold [m].

    By it metres and radians are made comparable. Of ground it would depend on where the mechanism stands; bodies
    held at their centres have their radius of gyration.
    """
    arms = [
        float(p @ p)
        for joint in model.joints.values()
        for body, p in ((joint.first, joint.p_PF), (joint.second, joint.p_CM))
        if body != GROUND
    ]
    if not any(arms):
        arms = [np.trace(body.inertia) / 2 / body.mass for body in model.bodies.values() if body.mass]
    return math.sqrt(sum(arms) / len(arms)) if any(arms) else 1.0


def extent(model: Model) -> float:
    """How far a model's centres of mass are apart at the authored pose [m]."""
    p = np.array([body.position for body in model.bodies.values()])
    return float(np.linalg.norm(np.ptp(p, axis=0))) if len(p) else 0.0


def exact_axes(q: np.ndarray) -> np.ndarray:
    """Rotation matrices of quaternions [..., 4], their zeros and ones freed from rounding.

    So an axis along a coordinate axis is exactly that, and a planar mechanism stays planar to the last
    bit: where planar motion is unstable in space, rounding would grow to centimetres within seconds.
    """
    R = rotation_matrices(q)
    whole = np.round(R)
    return np.where(np.abs(R - whole) < ROUNDING, whole, R)
