"""How the trees of a system move by inertia: which bodies are taken alone, and how a first-order method joins trees."""

from collections.abc import Iterable

import numpy as np

from ...author.joints import SCREW, TURN_Z
from ...author.rotations import conjugate, multiply, rotation_matrix
from .arrays import ALONE, HELD, IMMERSED, JOINED, LEVEL, ON_BALL, WHOLE
from .extents import SPATIAL
from .tree import GROUND, Tree

PARALLEL = 1e-6  # hinge axes that lean less are parallel [rad]


def spins_free(tree: Tree, no_momenta: set[str]) -> list[int]:
    """By body 1 if it is single and free, so that its coordinates are its pose, and its inertia is its own."""
    parents = set(tree.parents)
    return [
        int(
            joint.type == "free"
            and joint.first == GROUND
            and not np.any([*joint.p_PF, *joint.q_PF[:3], *joint.p_CM, *joint.q_CM[:3]])
            and i not in parents
            and tree.bodies[i] not in no_momenta
        )
        for i, joint in enumerate(tree.carriers)
    ]


def motion_of(tree: Tree, bodies: range, spins: bool, held: Iterable[str], no_momenta: set[str]) -> int:
    """How a tree moves by inertia: LEVEL if it turns about parallel axes only, whatever its pose."""
    if spins:
        return HELD if tree.bodies[bodies[0]] in held else ALONE
    if any(tree.bodies[i] in no_momenta for i in bodies):
        return IMMERSED
    carriers = [tree.carriers[i] for i in bodies]
    if all(code not in SPATIAL for joint in carriers for code in joint.kind.freedoms):
        axes = _turning_axes(tree, bodies)
        if not axes or np.linalg.norm(np.cross(axes, axes[0]), axis=1).max() < PARALLEL:
            return LEVEL
    root = carriers[0]
    if root.first == GROUND and root.type in ("free", "spherical"):
        return WHOLE if root.type == "free" else ON_BALL
    return JOINED


def _turning_axes(tree: Tree, bodies: range) -> list[np.ndarray]:
    """World directions of a tree's hinges at zero coordinates: parallel there, parallel everywhere."""
    carriers = tree.carriers
    q_PF, q_CM = (np.array([getattr(carriers[i], name) for i in bodies]) for name in ("q_PF", "q_CM"))
    axes, q_WB = [], {GROUND: np.array([0.0, 0.0, 0.0, 1.0])}
    for i, F, M in zip(bodies, q_PF, q_CM, strict=True):
        joint, name = carriers[i], tree.bodies[i]
        forward = joint.second == name
        q_WF = multiply(q_WB[joint.first], F) if forward else multiply(q_WB[joint.second], M)
        q_WB[name] = multiply(q_WF, conjugate(M if forward else F))
        if any(code in (TURN_Z, SCREW) for code in joint.kind.freedoms):
            axes.append(rotation_matrix(q_WF)[:, 2])
    return axes
