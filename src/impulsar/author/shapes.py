"""Shapes and mass properties; before them the checks of authored values and the rotations that
`model` shares."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from impulsar.author.checks import LARGEST

from .checks import (
    TINY,
    Vector,
    as_objects,
    flag,
    name_or_none,
    positive,
    sequence,
    show,
    vector,
    weight,
    whole,
)
from .errors import ModelError
from .expressions import has_text
from .rotations import rotation_matrix, unit_quaternion


@dataclass(frozen=True, eq=False)
class Shape:
    """Where a shape's frame S lies in its body's frame B: `offset` [m], `orientation` (xyzw).

    With a `material` of its own, or of its body, it touches; without one it is a picture. Sizes may be expressions
    of parameters ("2*a") in the shape that a call of Model is given.
    """

    offset: Vector = field(default=(0.0, 0.0, 0.0), kw_only=True)
    orientation: Vector = field(default=(0.0, 0.0, 0.0, 1.0), kw_only=True)
    material: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        owner = type(self).__name__
        object.__setattr__(self, "offset", vector(owner, "offset", self.offset, "m"))
        object.__setattr__(self, "orientation", unit_quaternion(owner, "orientation", self.orientation))
        name_or_none(owner, "material", self.material)
        self._check(owner)

    def _check(self, owner: str) -> None:
        for what in ("radius", "length"):
            if hasattr(self, what) and not has_text(getattr(self, what)):
                object.__setattr__(self, what, positive(owner, what, getattr(self, what), "m"))

    @property
    def volume(self) -> float:
        """Volume [m³]."""
        raise NotImplementedError

    @property
    def center(self) -> np.ndarray:
        """Centroid in the shape's frame [m]."""
        return np.zeros(3)

    def unit_inertia(self) -> np.ndarray:
        """Inertia of unit mass about the centroid, along the shape's axes [m²]."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Box(Shape):
    """A box of edge lengths `size` along x, y, z [m]."""

    size: Vector

    def _check(self, owner: str) -> None:
        if has_text(self.size):
            return
        size = vector(owner, "size", self.size, "m")
        if size.min() <= 0:
            raise ModelError(f"{owner}: size is {show(size)}, expected 3 numbers > 0 [m]")
        object.__setattr__(self, "size", size)

    @property
    def volume(self) -> float:
        return float(np.prod(self.size))

    def unit_inertia(self) -> np.ndarray:
        a, b, c = np.square(self.size)
        return np.diag([b + c, a + c, a + b]) / 12


@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """A ball of `radius` [m]."""

    radius: float

    @property
    def volume(self) -> float:
        return 4 / 3 * math.pi * self.radius**3

    def unit_inertia(self) -> np.ndarray:
        return 0.4 * self.radius**2 * np.eye(3)


@dataclass(frozen=True, eq=False)
class Cylinder(Shape):
    """A cylinder along z of `radius` and `length` [m]."""

    radius: float
    length: float

    @property
    def volume(self) -> float:
        return math.pi * self.radius**2 * self.length

    def unit_inertia(self) -> np.ndarray:
        across = self.radius**2 / 4 + self.length**2 / 12
        return np.diag([across, across, self.radius**2 / 2])


@dataclass(frozen=True, eq=False)
class Capsule(Shape):
    """A cylinder along z of `radius` and `length` [m], closed by two half balls beyond `length`."""

    radius: float
    length: float

    @property
    def volume(self) -> float:
        return math.pi * self.radius**2 * (self.length + 4 / 3 * self.radius)

    def unit_inertia(self) -> np.ndarray:
        r, length = self.radius, self.length
        tube = length / (length + 4 / 3 * r)  # share of the mass
        caps = 1 - tube
        across = tube * (r**2 / 4 + length**2 / 12) + caps * (0.4 * r**2 + length**2 / 4 + 3 / 8 * length * r)
        return np.diag([across, across, tube * r**2 / 2 + caps * 0.4 * r**2])


@dataclass(frozen=True, eq=False)
class Cone(Shape):
    """A cone along z of base `radius` and `length` [m], its base at -length/2 and its tip at +length/2."""

    radius: float
    length: float

    @property
    def volume(self) -> float:
        return math.pi * self.radius**2 * self.length / 3

    @property
    def center(self) -> np.ndarray:
        return np.array([0.0, 0.0, -self.length / 4])

    def unit_inertia(self) -> np.ndarray:
        across = 3 / 20 * self.radius**2 + 3 / 80 * self.length**2
        return np.diag([across, across, 0.3 * self.radius**2])


@dataclass(frozen=True, eq=False)
class Surface(Shape):
    """A shape without volume or mass, which only the ground can have."""

    def _no_mass(self) -> ModelError:
        name = type(self).__name__
        return ModelError(f"{name}: is a surface of the ground and has no volume, mass or inertia; give a solid shape")

    @property
    def volume(self) -> float:
        raise self._no_mass()

    @property
    def center(self) -> np.ndarray:
        raise self._no_mass()

    def unit_inertia(self) -> np.ndarray:
        raise self._no_mass()


@dataclass(frozen=True, eq=False)
class Plane(Surface):
    """The half space below the plane z = 0 of its frame; what it carries is on the side of +z."""


@dataclass(frozen=True, eq=False)
class ConvexHull(Shape):
    """The convex hull of `points` (n, 3) [m]."""

    points: np.ndarray | Sequence[Vector]

    def _check(self, owner: str) -> None:
        points = _points(owner, "points", self.points)
        widths = np.linalg.svd(points - points[:1], compute_uv=False)
        if len(points) < 4 or widths[2] <= 1e-9 * widths[0]:
            raise ModelError(f"{owner}: {len(points)} points without volume, expected 4 or more, not flat")
        object.__setattr__(self, "points", points)

    @cached_property
    def _moments(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Volume, centroid and second moment about the centroid, per unit volume.

        Sum over tetrahedra from an inner point to the faces: with edges a, b, c from that point,
        V = |a · b × c|/6, ∫x dV = V s/4, ∫xxᵀ dV = V (aaᵀ + bbᵀ + ccᵀ + ssᵀ)/20, s = a + b + c.
        The inner point makes every signed volume positive, whatever the order of a face's corners.
        """
        from scipy.spatial import ConvexHull as Hull

        points = np.asarray(self.points)
        inner = points.mean(axis=0)
        edges = points[Hull(points).simplices] - inner  # (face, corner, axis)
        volumes = np.abs(np.linalg.det(edges)) / 6
        sums = edges.sum(axis=1)
        volume = float(volumes.sum())
        center = volumes @ sums / (4 * volume)
        second = np.einsum("f,fci,fcj->ij", volumes, edges, edges) + volumes * sums.T @ sums
        return volume, inner + center, second / (20 * volume) - np.outer(center, center)

    @property
    def volume(self) -> float:
        return self._moments[0]

    @property
    def center(self) -> np.ndarray:
        return self._moments[1]

    def unit_inertia(self) -> np.ndarray:
        second = self._moments[2]
        return np.trace(second) * np.eye(3) - second


@dataclass(frozen=True, eq=False)
class Mesh(Surface):
    """A surface of `triangles` (n, 3), indices of `vertices` (m, 3) [m], anticlockwise seen from outside.

    It encloses a solid, or with `open` it is a terrain that things touch from the side that its triangles face.
    """

    vertices: np.ndarray | Sequence[Vector]
    triangles: np.ndarray | Sequence[Sequence[int]]
    open: bool = field(default=False, kw_only=True)

    def _check(self, owner: str) -> None:
        vertices = _points(owner, "vertices", self.vertices)
        triangles = _corners(owner, self.triangles, len(vertices))
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "triangles", triangles)
        object.__setattr__(self, "open", flag(owner, "open", self.open))
        check_surface(owner, vertices, triangles, self.open)

    @classmethod
    def load(cls, path: str | Path, *, scale: float = 1.0, **placed: Any) -> "Mesh":
        """A mesh file (STL, OBJ, PLY, GLB, ...) by `trimesh`, times `scale`; vertices in one place are one."""
        from .meshes import read_triangles

        return cls(*read_triangles(path, positive("Mesh", "scale", scale, "1")), **placed)

    def hull(self) -> ConvexHull:
        """The convex hull: a solid that has mass and touches everything."""
        return self._part(self.vertices)

    def decompose(self, *, concavity: float = 0.05, most: int = 32) -> list[ConvexHull]:
        """Convex hulls that fill the solid by CoACD, to a `concavity` of its size and `most` at most."""
        from .meshes import convex_parts

        parts = convex_parts(np.asarray(self.vertices), np.asarray(self.triangles), self.open, concavity, most)
        return [self._part(points) for points in parts]

    def _part(self, points: np.ndarray | Sequence[Vector]) -> ConvexHull:
        return ConvexHull(points, offset=self.offset, orientation=self.orientation, material=self.material)


@dataclass(frozen=True, eq=False)
class HeightField(Surface):
    """A terrain of `heights` (nx, ny) [m] on a grid over `size` (along x and y) [m] about its frame's origin.

    Solid below; each cell is two triangles, divided from its corner of least x and y.
    """

    heights: np.ndarray | Sequence[Vector]
    size: Vector

    def _check(self, owner: str) -> None:
        size = vector(owner, "size", self.size, "m", size=2)
        if size.min() <= 0:
            raise ModelError(f"{owner}: size is {show(size)}, expected 2 numbers > 0 [m]")
        rows = sequence(owner, "heights", self.heights)
        width = len(sequence(owner, "heights[0]", rows[0])) if rows else 0
        if len(rows) < 2 or width < 2:
            raise ModelError(f"{owner}: heights are {len(rows)} x {width}, expected a grid of 2 x 2 or more [m]")
        heights = np.array([vector(owner, f"heights[{i}]", row, "m", size=width) for i, row in enumerate(rows)])
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "heights", heights)


def _points(owner: str, what: str, given: object) -> np.ndarray:
    """Points (n, 3) [m]."""
    if type(given) is np.ndarray and given.dtype == float and given.ndim == 2 and given.shape[1] == 3:
        if (np.abs(given) <= LARGEST).all():
            return given.copy()
    rows = [vector(owner, f"{what}[{i}]", row, "m") for i, row in enumerate(sequence(owner, what, given))]
    return np.array(rows).reshape(-1, 3)


def _corners(owner: str, given: object, vertices: int) -> np.ndarray:
    """Triangles (n, 3) as indices of so many vertices."""
    if type(given) is np.ndarray and given.dtype.kind == "i" and given.ndim == 2 and given.shape[1] == 3 and len(given):
        if given.min() >= 0 and given.max() < vertices:
            return given.copy()
    rows = [
        [whole(owner, f"triangles[{i}]", corner, 0, vertices - 1) for corner in sequence(owner, "triangles", row)]
        for i, row in enumerate(sequence(owner, "triangles", given))
    ]
    wrong = [i for i, row in enumerate(rows) if len(row) != 3]
    if wrong or not rows:
        told = f"triangles[{wrong[0]}] has {len(rows[wrong[0]])} corners" if wrong else "has no triangles"
        raise ModelError(f"{owner}: {told}, expected 3 indices of vertices each")
    return np.array(rows)


def check_surface(owner: str, vertices: np.ndarray, triangles: np.ndarray, is_open: bool) -> None:
    """Refuse triangles without area, edges of more than two, of one (unless open), or of two that face apart."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest = np.max([((b - a) ** 2).sum(axis=1), ((c - b) ** 2).sum(axis=1), ((a - c) ** 2).sum(axis=1)], axis=0)
    if (flat := np.flatnonzero(areas <= 1e-12 * longest)).size:
        raise ModelError(f"{owner}: triangles[{flat[0]}] has no area ({flat.size} of {len(triangles)}); remove them")
    edges = np.vstack([triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    n = len(vertices)
    ways, counts = np.unique(edges @ (n, 1), return_counts=True)  # as numbers: rows are compared ten times slower
    if (counts > 1).any():
        i, j = divmod(int(ways[counts > 1][0]), n)
        raise ModelError(f"{owner}: edge {i}, {j} has triangles that face apart, or more than two; turn or remove one")
    alone = np.setdiff1d(ways, edges[:, ::-1] @ (n, 1), assume_unique=True)
    if len(alone) and not is_open:
        i, j = divmod(int(alone[0]), n)
        raise ModelError(
            f"{owner}: is not watertight, {len(alone)} edges have one triangle (first {i}, {j}); close it, or give "
            "open=True for a terrain"
        )
    if not len(alone) and np.einsum("ij,ij->i", a, np.cross(b, c)).sum() <= 0:
        raise ModelError(f"{owner}: its triangles face inwards; reverse the order of their corners")


def compose(shapes: Iterable[Shape]) -> tuple[float, np.ndarray, list[Shape]]:
    """Volume [m³] and unit inertia [m²] of a body of uniform density made of `shapes`, about its
    centroid and along the body's axes; and the shapes with their offsets from that centroid."""
    shapes = list(shapes)
    rotations = [rotation_matrix(shape.orientation) for shape in shapes]
    centers = [shape.offset + R_BS @ shape.center for shape, R_BS in zip(shapes, rotations, strict=True)]
    volume = sum(shape.volume for shape in shapes)
    shares = [shape.volume / volume for shape in shapes]
    centroid = sum(share * center for share, center in zip(shares, centers, strict=True))
    inertia = np.zeros((3, 3))
    for shape, R_BS, center, share in zip(shapes, rotations, centers, shares, strict=True):
        arm = center - centroid  # Steiner: I = I_c + m (|d|² 1 - ddᵀ)
        inertia += share * (R_BS @ shape.unit_inertia() @ R_BS.T + arm @ arm * np.eye(3) - np.outer(arm, arm))
    return volume, inertia, [replace(shape, offset=shape.offset - centroid) for shape in shapes]


def shape_list(owner: str, shape: object) -> list[Shape]:
    """One shape, several or None as a list."""
    shapes: list[Any] = [] if shape is None else list(shape) if isinstance(shape, tuple | list) else [shape]
    for item in shapes:
        if not isinstance(item, Shape):
            raise ModelError(f"{owner}: shape is {item!r}, expected a shape such as Box(size)")
        for what in ("radius", "length", "size"):
            if has_text(size := getattr(item, what, None)):
                raise ModelError(f"{owner}: {what} is {show(size)}, expected numbers; bind '{what}' to the expression")
    return shapes


def check_solids(owner: str, shapes: list[Shape], material: str | None) -> None:
    """Refuse surfaces that only the ground can have; a mesh of a body that moves is a picture."""
    for shape in shapes:
        if isinstance(shape, Plane | HeightField):
            raise ModelError(f"{owner}: {type(shape).__name__} is a surface of the ground; give it to an obstacle")
        if isinstance(shape, Mesh) and (shape.material or material) is not None:
            told = f"{owner}: Mesh has material {show(shape.material or material)}, but a body's mesh does not touch"
            raise ModelError(f"{told}; give mesh.hull() or mesh.decompose(), or no material for a picture")


def uniform_solid(
    owner: str, mass: float | None, shapes: list[Shape], density: float | None
) -> tuple[float, np.ndarray, list[Shape]]:
    """Mass, inertia and shapes about the centre of mass of a uniform body."""
    if not shapes or (mass is None) == (density is None):
        got = {"mass": mass, "shape": shapes or None, "density": density}
        given = ", ".join(what for what, value in got.items() if value is not None) or "nothing"
        raise ModelError(f"{owner}: has {given}; give mass and inertia, or shape and density, or shape and mass")
    volume, unit_inertia, shapes = compose(shapes)
    if mass is None:
        mass = positive(owner, "density", density, "kg/m³") * volume
    mass = weight(owner, mass)
    inertia = mass * unit_inertia
    return mass, (inertia + inertia.T) / 2, shapes  # as it is read back from a file


def inertia_tensor(owner: str, value: object, carries: bool = False) -> np.ndarray:
    """A 3x3 inertia [kg m²] from a tensor or three principal values, checked to be of a real body, or of what only
    carries: none."""
    array = value if type(value) is np.ndarray and value.dtype == float else as_objects(value)
    inertia: np.ndarray
    if array.dtype == float and array.shape == (3, 3) and (np.abs(array) <= LARGEST).all():
        inertia = array
    elif array.shape == (3,):
        inertia = np.diag(vector(owner, "inertia", value, "kg m²"))
    elif array.shape == (3, 3):
        inertia = np.array([vector(owner, f"inertia[{i}]", row, "kg m²") for i, row in enumerate(array)])
    else:
        raise ModelError(f"{owner}: inertia is {show(value)}, expected 3 numbers or 3x3 numbers [kg m²]")
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = inertia.tolist()  # of nine, NumPy is slower
    if carries and not inertia.any():
        return inertia
    if max(abs(xy - yx), abs(xz - zx), abs(yz - zy)) > 1e-9 * float(np.abs(inertia).max()):
        raise ModelError(f"{owner}: inertia {show(inertia)} is not symmetric; give Ixy = Iyx and so on")
    inertia = (inertia + inertia.T) / 2
    principal, names = [xx, yy, zz], ("Ixx", "Iyy", "Izz")
    if xy or xz or yz:
        principal, names = np.linalg.eigvalsh(inertia).tolist(), ("I1", "I2", "I3")
    if not min(principal) >= TINY:
        raise ModelError(
            f"{owner}: inertia {show(np.array(principal))} is not positive definite; give principal values > 0 [kg m²]"
        )
    k = principal.index(max(principal))
    if 2 * principal[k] > sum(principal) * (1 + 1e-6):
        a, b = (name for i, name in enumerate(names) if i != k)
        raise ModelError(
            f"{owner}: inertia {show(np.array(principal))} breaks the triangle inequality ({a} + {b} >= {names[k]}); "
            "check units, expected kg m²"
        )
    return inertia
