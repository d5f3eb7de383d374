"""A mechanism as a file has it, before it is a Model: links with frames of their own, and bonds between them.

L is a link's frame, B the same axes at its centre of mass; F is the frame of a bond on its first link, M that on its
second, both in the frames of the links. Symbols as in `author.joints`: X_FM(q) of a bond is its coordinates' pose, and
coordinates are the file's.
"""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...author.errors import FileError
from ...author.shapes import Shape
from ...author.visuals import Visual

GROUND = "\0ground"  # the link that is the world, whatever links are called


class Pose(NamedTuple):
    """X_AB: the origin of B in A [m] and R_AB."""

    p: np.ndarray
    R: np.ndarray

    def __matmul__(self, other: "Pose") -> "Pose":
        """X_AC of X_AB and X_BC."""
        return Pose(self.p + self.R @ other.p, self.R @ other.R)

    def inverse(self) -> "Pose":
        """X_BA."""
        return Pose(-self.R.T @ self.p, self.R.T)

    def point(self, p_BQ: np.ndarray) -> np.ndarray:
        """p_AQ [m]."""
        return self.p + self.R @ p_BQ


def at(line: int) -> str:
    """What begins an error at a line, where there is one."""
    return f"line {line}: " if line else ""


def still() -> Pose:
    return Pose(np.zeros(3), np.eye(3))


def turn(axis: int, angle: float) -> np.ndarray:
    """R of a rotation about x, y or z (0, 1, 2); quarter turns are exact, where the angle is one to rounding."""
    c, s = math.cos(angle), math.sin(angle)
    c, s = (round(c), round(s)) if abs(c * s) < 1e-15 else (c, s)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def rpy(angles: np.ndarray) -> np.ndarray:
    """R of roll, pitch and yaw about fixed axes [rad]."""
    return turn(2, angles[2]) @ turn(1, angles[1]) @ turn(0, angles[0])


def along(axis: np.ndarray) -> np.ndarray:
    """R of a frame whose z is a unit axis; the axis itself where that is a coordinate axis."""
    x = np.eye(3)[np.argmin(np.abs(axis))]
    x = x - (x @ axis) * axis
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


@dataclass
class Link:
    """A rigid body of the file."""

    name: str
    line: int
    mass: float = 0.0  # [kg]
    p_LB: np.ndarray = field(default_factory=lambda: np.zeros(3))  # centre of mass [m]
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))  # about it, link axes [kg m²]
    shapes: list[Shape] = field(default_factory=list)  # that touch, placed in L
    visuals: list[Visual] = field(default_factory=list)  # that are seen, placed in L; without any the shapes are
    colour: str | None = None
    called: str = ""  # what an error calls it, if not a link of this name
    velocity: np.ndarray | None = None  # at the start, of its centre of mass, world axes [m/s]
    spin: np.ndarray | None = None  # [rad/s]

    @property
    def owner(self) -> str:
        return self.called or f"link '{self.name}'"

    @property
    def drawn(self) -> list[Shape]:
        """What is seen of it."""
        return [visual.shape for visual in self.visuals] or self.shapes

    @property
    def is_weightless(self) -> bool:
        return self.mass == 0.0 and not self.inertia.any()


@dataclass
class Bond:
    """A joint of the file, or several in one."""

    name: str
    line: int
    type: str  # of author.joints.CATALOGUE
    first: str
    second: str
    F: Pose  # in the frame of `first`
    M: Pose  # in that of `second`
    features: dict[str, dict[str, Any]] = field(default_factory=dict)  # by group: keywords of Model.joint
    sources: dict[str, str] = field(default_factory=dict)  # by group: joint of the file
    q: dict[str, Any] = field(default_factory=dict)  # by group: where it starts; a ball's is a matrix R_FM
    loop: bool | None = None
    pitch: float | None = None
    role: str = "joint"  # what the file calls it
    called: str = ""  # what an error calls it, if not by role and name

    @property
    def owner(self) -> str:
        return self.called or f"{self.role} '{self.name}'"

    def displacement(self) -> Pose:
        """X_FM where it starts."""
        q = self.q
        p = np.zeros(3)
        R = np.eye(3)
        if self.type == "screw":
            p[2] = (self.pitch or 0.0) * q.get("angle", 0.0)
        for group, value in q.items():
            if group == "slide":
                p[0 if self.type == "pin-slot" else 2] = value
            elif group in ("x", "y", "z"):
                p["xyz".index(group)] = value
        if "rotation" in q:
            R = q["rotation"]
        elif "angle" in q or "first" in q:
            R = turn(2, q.get("angle", q.get("first", 0.0)))
        if "second" in q:
            R = R @ turn(0, q["second"])
        return Pose(p, R)


@dataclass
class Tie:
    """q_b = ratio · q_a + offset + Σ weight · q_k, of joints of the file."""

    name: str
    line: int
    a: str
    b: str
    ratio: float
    offset: float
    more: dict[str, float] = field(default_factory=dict)  # by joint of the file: weight

    @property
    def followed(self) -> dict[str, float]:
        """All that b follows: a and the others, with their weights."""
        return {self.a: self.ratio, **self.more}


@dataclass
class Key:
    """A key frame: values by joint of the file; of a ball 3, of a free joint 6 of them, rotation vectors last."""

    name: str
    line: int
    positions: dict[str, Any]
    velocities: dict[str, Any]


@dataclass
class Draft:
    """All of a file that a model is made of."""

    name: str
    links: dict[str, Link] = field(default_factory=dict)
    bonds: dict[str, Bond] = field(default_factory=dict)
    ties: list[Tie] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    roots: dict[str, Pose] = field(default_factory=dict)  # X_WL of links that hang on nothing, where the file says so
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    ground_shapes: list[Shape] = field(default_factory=list)
    probes: list[tuple[str, str, np.ndarray]] = field(default_factory=list)  # name, link, p_LQ

    def bond_of(self, joint: str) -> tuple[Bond, str] | None:
        """The bond and group that a joint of the file is."""
        for bond in self.bonds.values():
            for group, source in bond.sources.items():
                if source == joint:
                    return bond, group
        return None

    def refuse_rings(self) -> None:
        """See that no joint follows itself through others; raises FileError."""
        leaders = {tie.b: tie for tie in self.ties}
        for tie in self.ties:
            above, count = tie.a, 0
            while above in leaders and count <= len(leaders):
                above, count = leaders[above].a, count + 1
            if count > len(leaders):
                raise FileError(f"{at(tie.line)}joint '{tie.b}': mimics itself through others; break the ring")
