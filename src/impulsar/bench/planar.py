"""A mechanism that moves in a plane, as a user of another program would write it there.

Only what moves in the plane is kept: bodies as points with an angle, hinges, slides and slots between points, springs.
Bodies that coincide in the plane, such as the two sides of a lift, move as one and become one with their masses added;
so no equation is said twice, and every program gets the smallest mechanism with the same motion.
"""

from dataclasses import dataclass, field

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..author.rotations import rotation_matrix

GROUND = -1
SAME = 1e-9  # distance at which bodies coincide [m]


@dataclass
class PlanarJoint:
    """At the start: a hinge at a point, a slide along an axis fixed in `first`, or both (a slot)."""

    kind: str  # "hinge", "slide", "slot"
    first: int
    second: int
    at: np.ndarray  # [m] in the plane
    axis: np.ndarray | None = None  # unit


@dataclass
class PlanarSpring:
    """A spring-damper between points at the start."""

    first: int
    second: int
    ends: tuple[np.ndarray, np.ndarray]
    stiffness: float
    damping: float
    free_length: float


@dataclass
class Planar:
    """Bodies at rest at the start, their axes along those of the plane."""

    gravity: np.ndarray  # (2,)
    mass: list[float] = field(default_factory=list)
    inertia: list[float] = field(default_factory=list)  # about the centre of mass
    centre: list[np.ndarray] = field(default_factory=list)  # (2,)
    along: list[np.ndarray] = field(default_factory=list)  # where their z points in the plane
    joints: list[PlanarJoint] = field(default_factory=list)
    springs: list[PlanarSpring] = field(default_factory=list)
    body: list[int] = field(default_factory=list)  # of each body of the model, in its order
    basis: np.ndarray = field(default_factory=lambda: np.eye(3))  # columns: both axes of the plane and its normal
    height: list[float] = field(default_factory=list)  # of each body of the model along the normal [m]

    def lift(self, places: np.ndarray) -> np.ndarray:
        """Places in space of all bodies of the model [sample, body, 3] from those in the plane [sample, body, 2]."""
        chosen = places[:, self.body]
        heights = np.broadcast_to(np.array(self.height)[None, :, None], (*chosen.shape[:2], 1))
        return np.concatenate([chosen, heights], axis=-1) @ self.basis.T

    def tree(self) -> tuple[list[tuple[int, PlanarJoint, bool]], list[PlanarJoint]]:
        """Bodies with the joint that carries each and whether the joint leads to it; hinges left over.

        Slides and slots carry a body, so that only hinges are left to be closed. A body comes before all that hangs on
        it, and that before the next (depth first, which Pinocchio relies on).
        """
        order: list[tuple[int, PlanarJoint, bool]] = []
        reached = {GROUND}
        waiting = sorted(self.joints, key=lambda joint: joint.kind == "hinge")
        while True:
            found = next((j for j in waiting if (j.first in reached) != (j.second in reached)), None)
            if found is None:
                break
            waiting.remove(found)
            forward = found.first in reached
            order.append((found.second if forward else found.first, found, forward))
            reached.add(order[-1][0])
        if any(joint.kind != "hinge" for joint in waiting):
            raise ModelError("planar: a slide would close a loop")
        children: dict[int, list[tuple[int, PlanarJoint, bool]]] = {}
        for entry in order:
            children.setdefault(entry[1].first if entry[2] else entry[1].second, []).append(entry)

        def below(body: int) -> list[tuple[int, PlanarJoint, bool]]:
            return [one for entry in children.get(body, []) for one in (entry, *below(entry[0]))]

        return below(GROUND), waiting


def project(model: Model) -> Planar:
    """A model of hinges, balls, slides, slots and springs in the plane that its hinges turn in; released at rest."""
    parts = {"ground": model.ground, **model.bodies}
    axes = [
        rotation_matrix(parts[joint.first].orientation) @ rotation_matrix(joint.q_PF)
        for joint in model.joints.values()
        if joint.type in ("revolute", "pin-slot")
    ]
    n = axes[0][:, 2]
    if any(abs(abs(F[:, 2] @ n) - 1.0) > 1e-9 for F in axes):
        raise ModelError(f"model '{model.name}': its hinges do not turn in one plane")
    n = n if n.sum() > 0 else -n
    k = int(np.argmax(np.abs(n)))
    e1 = np.eye(3)[(k + 1) % 3]
    e2 = np.cross(n, e1)
    plane = np.stack([e1, e2])
    found = Planar(plane @ model.gravity, basis=np.stack([e1, e2, n], axis=1))
    index = {"ground": GROUND}
    for name, body in model.bodies.items():
        _place(found, index, name, body, plane, n)
    for joint in model.joints.values():
        _join(found, index, joint, parts, plane)
    for spring in model.springs.values():
        pairs = ((spring.first, spring.p_PQ), (spring.second, spring.p_CQ))
        here, there = (plane @ parts[name].world_point(p_BQ) for name, p_BQ in pairs)
        first, second = index[spring.first], index[spring.second]
        found.springs.append(
            PlanarSpring(first, second, (here, there), spring.stiffness, spring.damping, spring.free_length)
        )
    return found


def _place(found: Planar, index: dict[str, int], name: str, body, plane: np.ndarray, n: np.ndarray) -> None:
    """Add a body, to one that is there already if they coincide: the same place and direction."""
    R = rotation_matrix(body.orientation)
    centre, inertia = plane @ body.position, float(n @ R @ body.inertia @ R.T @ n)
    along = plane @ R[:, 2]
    alike = (
        k
        for k, other in enumerate(found.centre)
        if np.abs(other - centre).max() < SAME and np.abs(found.along[k] - along).max() < SAME
    )
    twin = next(alike, None)
    if twin is None:
        index[name] = len(found.mass)
        found.mass.append(0.0)
        found.inertia.append(0.0)
        found.centre.append(centre)
        found.along.append(along)
    else:
        index[name] = twin
    found.mass[index[name]] += body.mass
    found.inertia[index[name]] += inertia
    found.body.append(index[name])
    found.height.append(float(n @ body.position))


def _join(found: Planar, index: dict[str, int], joint, parts: dict, plane: np.ndarray) -> None:
    """Add a joint, once where bodies are one."""
    first, second = index[joint.first], index[joint.second]
    owner = parts[joint.first]
    F = rotation_matrix(owner.orientation) @ rotation_matrix(joint.q_PF)
    at = plane @ owner.world_point(joint.p_PF)
    kind = {"revolute": "hinge", "spherical": "hinge", "prismatic": "slide", "pin-slot": "slot"}[joint.type]
    axis = None if kind == "hinge" else plane @ F[:, 2 if kind == "slide" else 0]
    for other in found.joints:
        if (other.first, other.second, other.kind) == (first, second, kind) and np.abs(other.at - at).max() < SAME:
            return
    found.joints.append(PlanarJoint(kind, first, second, at, axis))
