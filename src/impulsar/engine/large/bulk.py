"""What a large world is made of, as arrays of the host: a million parts have no objects of their own."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...author.checks import show
from ...author.errors import ModelError
from ...author.joints import CATALOGUE, THREAD
from ...author.model import Model
from ...author.parts import Features
from ...author.profiles import Scalar
from ...author.shapes import Shape, Sphere
from ..system.slots import SPRING, Slot
from .checks import as_arrays, check_bulk
from .extras import Line, Push, give

UNIT = np.array([0.0, 0.0, 0.0, 1.0])


@dataclass
class Bulk:
    """Bodies and joints. Poses are of centres of mass, quaternions unit and xyzw; -1 is ground."""

    position: np.ndarray  # [body, 3] [m]
    orientation: np.ndarray  # [body, 4]
    kind: np.ndarray  # [body] which mass and inertia
    mass: np.ndarray  # [kind] [kg]
    inertia: np.ndarray  # [kind, 3, 3] about the centre of mass, body axes [kg m²]
    twist: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))  # [body, 6] angular first; none: at rest
    types: tuple[str, ...] = ()  # joint types that occur
    joint_kind: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # [joint] place in `types`
    first: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # [joint] body, -1: ground
    second: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    p_PF: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  # [joint, 3] frame F in the first body [m]
    q_PF: np.ndarray = field(default_factory=lambda: np.zeros((0, 4)))
    p_CM: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  # frame M in the second body
    q_CM: np.ndarray = field(default_factory=lambda: np.zeros((0, 4)))
    length: np.ndarray = field(default_factory=lambda: np.zeros(0))  # [joint] of distance joints [m]
    radius: np.ndarray = field(default_factory=lambda: np.zeros(0))  # [kind] of spheres that touch, 0: none [m]
    planes: np.ndarray = field(default_factory=lambda: np.zeros((0, 4)))  # [plane] unit normal, offset along it [m]
    friction: float = 0.5  # Coulomb's, of all surfaces that are not of `materials`
    shapes: tuple[tuple[Shape, ...], ...] = ()  # [kind] that touch, in frames at the centre of mass; none: balls alone
    obstacles: tuple[Shape, ...] = ()  # shapes of the ground, with `shapes`
    materials: tuple[str, ...] = ()  # names that shapes may give as theirs
    surfaces: dict[str, np.ndarray] = field(default_factory=dict)  # friction, holding, restitution [material, material]
    no_contact: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int64))  # bodies, -1 - obstacle
    joined_apart: bool = True  # bodies that a joint joins do not touch
    slots: list[Slot] = field(default_factory=list)  # what acts in freedoms of joints, and springs; see `give`
    channels: list[Scalar] = field(default_factory=list)  # what motors and loads follow
    springs: list[Line] = field(default_factory=list)
    loads: list[Push] = field(default_factory=list)
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    immersed: Model | None = None  # fluids, and the kinds as its bodies with the shapes that are in them
    name: str = "bulk"

    def __post_init__(self) -> None:
        as_arrays(self)
        if not len(self.twist):
            self.twist = np.zeros((len(self.position), 6))
        if not len(self.radius):
            self.radius = np.zeros(len(self.mass))

    @property
    def bodies(self) -> int:
        return len(self.position)

    @property
    def joints(self) -> int:
        return len(self.first)

    @property
    def touches(self) -> bool:
        """Whether there is something that may touch."""
        return bool((self.radius > 0.0).any()) or any(self.shapes)

    def locks(self) -> np.ndarray:
        """Lock codes [joint kind, row], -1: none."""
        found = [CATALOGUE[name].locks for name in self.types]
        rows = max((len(one) for one in found), default=1)
        return np.array([[*one, *[-1] * (rows - len(one))] for one in found] or [[-1]], np.int32)

    def join(
        self,
        kind: str,
        first: np.ndarray,
        second: np.ndarray,
        at: np.ndarray,
        axis: Sequence[float] | np.ndarray = (0.0, 0.0, 1.0),
        to: np.ndarray | None = None,
    ) -> None:
        """Joints of one type between bodies, at places of the world [joint, 3], about axes [3] or [joint, 3].

        to: the places on the second bodies, of distance joints, which keep their lengths.
        """
        if kind not in CATALOGUE or THREAD in CATALOGUE[kind].locks or not CATALOGUE[kind].locks:
            known = ", ".join(name for name, one in CATALOGUE.items() if one.locks and THREAD not in one.locks)
            raise ModelError(f"joint type {kind!r} is not for large worlds; known are: {known}")
        if (to is not None) != (kind == "distance"):
            raise ModelError(f"joint type {kind!r}: `to` is for distance joints, which need it")
        first, second = (_bodies(self, one) for one in (first, second))
        if len(first) != len(second):
            raise ModelError(f"{self.name}: join: {len(first)} first bodies and {len(second)} second ones")
        q_WF = frames_along(_places(self, axis, len(first)))
        ends = [_places(self, one, len(first)) for one in (at, at if to is None else to)]
        places = []
        for body, end in zip((first, second), ends, strict=True):
            p, q = self._pose(body)
            places += [rotate(conjugate(q), end - p), multiply(conjugate(q), q_WF)]
        if kind not in self.types:
            self.types = (*self.types, kind)
        length = np.linalg.norm(ends[1] - ends[0], axis=1)
        new = (np.full(len(first), self.types.index(kind)), first, second, *places, length)
        names = ("joint_kind", "first", "second", "p_PF", "q_PF", "p_CM", "q_CM", "length")
        for name, values in zip(names, new, strict=True):
            setattr(self, name, np.concatenate([getattr(self, name), values]))

    def give(self, joints: Sequence[int] | np.ndarray, features: Features, group: str | None = None) -> None:
        """Limits, friction, a motor, a spring-damper for joints by their numbers; group: the freedom's name."""
        give(self, joints, features, group)

    def spring(self, line: Line, stiffness: float, damping: float = 0.0, free_length: float = 0.0) -> None:
        """A spring-damper between points of two bodies [N/m, N s/m, m]."""
        k = len(self.springs)
        self.slots = [*self.slots, Slot(f"spring {k}", SPRING, k, a=stiffness, b=damping, c=free_length)]
        self.springs = [*self.springs, line]

    def fluid(self, name: str, **options: Any) -> None:
        """Fill the space with a fluid, as `Model.fluid` does; spheres are in it by their radius, others by `shapes`."""
        if self.immersed is None:
            made = Model(self.name)
            made.gravity = np.array(self.gravity, float)
            for k, radius in enumerate(self.radius):
                own = tuple(replace(one, material=None) for one in self.shapes[k]) if self.shapes else ()
                shape = Sphere(float(radius)) if radius > 0.0 else own or None
                made.body(f"kind {k}", mass=float(self.mass[k]), inertia=self.inertia[k], shape=shape)
            self.immersed = made
        self.immersed.fluid(name, **options)

    def _pose(self, body: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        held = (body < 0)[:, None]
        return np.where(held, 0.0, self.position[body]), np.where(held, UNIT, self.orientation[body])

    def check(self) -> None:
        """Raise ModelError at what cannot be."""
        check_bulk(self)


def _bodies(bulk: Bulk, value: object) -> np.ndarray:
    """Numbers of bodies, -1: ground."""
    found = np.atleast_1d(np.asarray(value))
    if found.ndim != 1 or found.dtype.kind not in "iu" or ((found < -1) | (found >= bulk.bodies)).any():
        raise ModelError(f"{bulk.name}: join: bodies are {show(value)}, expected integers from -1 to {bulk.bodies - 1}")
    return found


def _places(bulk: Bulk, value: object, many: int) -> np.ndarray:
    """Vectors [n, 3], or one for all."""
    try:
        return np.broadcast_to(np.asarray(value, float), (many, 3))
    except (TypeError, ValueError) as error:
        raise ModelError(f"{bulk.name}: join: {show(value)}, expected 3 numbers, or as many rows as joints") from error


def conjugate(q: np.ndarray) -> np.ndarray:
    return q * np.array([-1.0, -1.0, -1.0, 1.0])


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of quaternions [..., 4]."""
    v = a[..., 3:] * b[..., :3] + b[..., 3:] * a[..., :3] + np.cross(a[..., :3], b[..., :3])
    w = a[..., 3] * b[..., 3] - np.einsum("...k,...k", a[..., :3], b[..., :3])
    return np.concatenate([v, w[..., None]], -1)


def rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Vectors [..., 3] turned by unit quaternions."""
    side = 2.0 * np.cross(q[..., :3], v)
    return v + q[..., 3:] * side + np.cross(q[..., :3], side)


def frames_along(axis: np.ndarray) -> np.ndarray:
    """Quaternions [n, 4] that take z to these directions [n, 3], by the shortest turn."""
    size = np.linalg.norm(axis, axis=1, keepdims=True)
    if not ((size > 0.0) & (size < np.inf)).all():
        raise ModelError("an axis that is not finite, or of length 0, has no direction")
    n = axis / size
    q = np.stack([-n[:, 1], n[:, 0], np.zeros(len(n)), 1.0 + n[:, 2]], 1)
    over = n[:, 2] < -1.0 + 1e-12
    q[over] = [1.0, 0.0, 0.0, 0.0]
    return q / np.linalg.norm(q, axis=1, keepdims=True)
