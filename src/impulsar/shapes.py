"""Shapes and mass properties; before them the checks of authored values and the rotations that
`model` shares."""

import math
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from impulsar.inputs import LARGEST, is_number

Vector = Sequence[float] | np.ndarray
SHOWN = 16  # items of a list that an error shows
TINY = 1e-50  # least mass [kg] and principal inertia [kg m²]: the inverse square is still finite


LONGEST_MESSAGE = 4000  # characters of an error
CODED = {"Cc", "Cs", "Zl", "Zp"}  # categories of letters that a message shows by their codes


def plain(text: str) -> str:
    """A text as it may go to a terminal: what would be obeyed there is shown by its code instead."""
    if text.isprintable():
        return text
    return "".join(
        ascii(letter)[1:-1] if unicodedata.category(letter) in CODED and letter != "\n" else letter for letter in text
    )


class ModelError(ValueError):
    """A mistake in a model: the part's name, the value and the cure."""

    def __init__(self, text: str = ""):
        if len(text) > LONGEST_MESSAGE:
            text = f"{text[: LONGEST_MESSAGE // 2]} ... {text[-LONGEST_MESSAGE // 2 :]}"
        super().__init__(plain(text))


def show(value: object) -> str:
    """A value as an error message prints it: (1, 1, 3), not [np.float64(1.0), ...]."""
    if is_number(value):
        return f"{as_float(value):.9g}"
    if isinstance(value, tuple | list | np.ndarray) and np.ndim(value := as_objects(value)):
        text = f"({', '.join(show(item) for item in value[:SHOWN])}{', ...' if len(value) > SHOWN else ''})"
    else:
        try:
            text = repr(value)
        except ValueError:  # an integer of thousands of digits
            text = f"a huge {type(value).__name__}"
    return text if len(text) <= 300 else f"{text[:300]}..."


def number(
    owner: str,
    what: str,
    value: object,
    expected: str = "a finite number",
    valid: Callable[[float], bool] = math.isfinite,
) -> float:
    """`value` as a float for which `valid` holds, infinite or at most LARGEST."""
    if not is_number(value) or not valid(as_float(value)):
        raise ModelError(f"{owner}: {what} is {show(value)}, expected {expected}")
    result = as_float(value)
    if LARGEST < abs(result) < math.inf:
        raise beyond(owner, what, value)
    return result


def as_float(value: Any) -> float:
    """A number as a float; an integer that is larger than any is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def beyond(owner: str, what: str, value: object) -> ModelError:
    """The error of a value that no mechanism has."""
    return ModelError(f"{owner}: {what} is {show(value)}, beyond {LARGEST:g}, the largest in SI; check its unit")


def positive(owner: str, what: str, value: object, unit: str) -> float:
    """`value` as a finite float > 0."""
    return number(owner, what, value, f"a finite number > 0 [{unit}]", lambda x: 0 < x < math.inf)


def weight(owner: str, value: object) -> float:
    """`value` as a mass [kg] whose inverse can be computed with."""
    mass = positive(owner, "mass", value, "kg")
    if mass < TINY:
        raise ModelError(f"{owner}: mass is {show(value)}, expected at least {TINY:g} kg; check its unit")
    return mass


def not_negative(owner: str, what: str, value: object, unit: str) -> float:
    """`value` as a finite float >= 0."""
    return number(owner, what, value, f"a finite number >= 0 [{unit}]", lambda x: 0 <= x < math.inf)


def whole(owner: str, what: str, value: object, least: int, most: int) -> int:
    """`value` as an integer of Python or NumPy from `least` to `most`; a bool is none."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not least <= value <= most:
        raise ModelError(f"{owner}: {what} is {show(value)}, expected an integer from {least} to {most}")
    return int(value)


def flag(owner: str, what: str, value: object) -> bool:
    """`value` as True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ModelError(f"{owner}: {what} is {show(value)}, expected True or False")
    return bool(value)


def sequence(owner: str, what: str, value: object) -> list:
    """The items of a tuple, list or array."""
    if not isinstance(value, tuple | list | np.ndarray) or not np.ndim(value if isinstance(value, np.ndarray) else [0]):
        raise ModelError(f"{owner}: {what} is {show(value)}, expected a list")
    return list(value)


def file_path(what: str, value: object) -> Path:
    """`value` as the path of a file."""
    wrong = re.compile("[\x00\ud800-\udbff]")  # what no file system takes
    if not isinstance(value, str | Path) or not Path(value).name or wrong.search(str(value)):
        raise ModelError(f"{what}: path is {show(value)}, expected the name of a file")
    if len(os.fsencode(Path(value).name)) > 255:  # what file systems take
        raise ModelError(f"{what}: path is {show(value)}, expected a name of at most 255 bytes")
    return Path(value)


def vector(owner: str, what: str, value: object, unit: str, size: int = 3, largest: float = LARGEST) -> np.ndarray:
    """`value` as an array of `size` finite floats of at most `largest`."""
    if type(value) is np.ndarray and value.dtype == float and value.shape == (size,):
        result = value.copy()
    else:
        array = as_objects(value)
        if array.shape != (size,) or not all(is_number(item) for item in array):
            raise ModelError(f"{owner}: {what} is {show(value)}, expected {size} numbers [{unit}]")
        result = np.array([as_float(item) for item in array])
    if not all([-largest <= item <= largest for item in result.tolist()]):  # of three, NumPy is slower
        if np.isfinite(result).all():
            raise beyond(owner, what, value)
        raise ModelError(f"{owner}: {what} is {show(value)}, expected {size} finite numbers [{unit}]")
    return result


def as_objects(value: object) -> np.ndarray:
    """A value as an array of what it holds; bytes, and lists that NumPy cannot make one of, are one object."""
    if isinstance(value, bytes | bytearray | memoryview):
        return np.empty((), object)
    try:
        return np.asarray(value, dtype=object)
    except ValueError:
        return np.empty((), object)


def ordered_pair(owner: str, what: str, value: object, unit: str) -> tuple[float, float]:
    """`value` as two floats, the lower first; infinite ones are taken."""
    expected = f"lower <= upper [{unit}], either may be infinite"
    if not isinstance(value, tuple | list | np.ndarray) or len(value) != 2:
        raise ModelError(f"{owner}: {what} is {show(value)}, expected 2 numbers, {expected}")
    lower, upper = (number(owner, what, item, expected, lambda x: not math.isnan(x)) for item in value)
    if lower > upper or lower == math.inf or upper == -math.inf:
        raise ModelError(f"{owner}: {what} is {show(value)}, expected {expected}; swap them?")
    return lower, upper


def unit_quaternion(owner: str, what: str, value: object) -> np.ndarray:
    """`value` as a quaternion xyzw of norm 1; one that is unit to rounding keeps its bits."""
    q = vector(owner, what, value, "xyzw", size=4)
    norm = math.sqrt(sum(item * item for item in q.tolist()))
    if abs(norm - 1.0) > 1e-6:
        raise ModelError(f"{owner}: {what} has norm {norm:.9g}, expected a unit quaternion xyzw")
    return q if abs(norm - 1.0) < 1e-15 else q / norm


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross product [..., 3]: of a few vectors in a third of the time that np.cross takes."""
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]


def rotation_matrix(q_AB: Vector) -> np.ndarray:
    """R_AB of a unit quaternion xyzw: v_A = R_AB v_B."""
    x, y, z, w = (float(item) for item in q_AB)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def conjugate(q_AB: np.ndarray) -> np.ndarray:
    """q_BA."""
    return q_AB * (-1.0, -1.0, -1.0, 1.0)


def multiply(q_AB: np.ndarray, q_BC: np.ndarray) -> np.ndarray:
    """q_AC."""
    ax, ay, az, aw = q_AB.tolist()  # of four, NumPy is slower
    bx, by, bz, bw = q_BC.tolist()
    return np.array(
        [
            aw * bx + bw * ax + (ay * bz - az * by),
            aw * by + bw * ay + (az * bx - ax * bz),
            aw * bz + bw * az + (ax * by - ay * bx),
            aw * bw - (ax * bx + ay * by + az * bz),
        ]
    )


def multiply_all(q_AB: np.ndarray, q_BC: np.ndarray) -> np.ndarray:
    """q_AC of many [..., 4]."""
    (ax, ay, az, aw), (bx, by, bz, bw) = np.moveaxis(q_AB, -1, 0), np.moveaxis(q_BC, -1, 0)
    return np.stack(
        [
            aw * bx + bw * ax + (ay * bz - az * by),
            aw * by + bw * ay + (az * bx - ax * bz),
            aw * bz + bw * az + (ax * by - ay * bx),
            aw * bw - (ax * bx + ay * by + az * bz),
        ],
        axis=-1,
    )


def rotation_matrices(q_AB: np.ndarray) -> np.ndarray:
    """R_AB [..., 3, 3] of unit quaternions [..., 4]."""
    x, y, z, w = np.moveaxis(np.asarray(q_AB, float), -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*x.shape, 3, 3)
    return np.eye(3) + 2 * w[..., None, None] * cross + 2 * cross @ cross


def rotate_all(q_AB: np.ndarray, v_B: np.ndarray) -> np.ndarray:
    """v_A of vectors [..., 3] by quaternions [..., 4]."""
    (x, y, z, w), (a, b, c) = np.moveaxis(q_AB, -1, 0), np.moveaxis(v_B, -1, 0)
    # v + 2 u × (u × v + w v)
    p, q, r = y * c - z * b + w * a, z * a - x * c + w * b, x * b - y * a + w * c
    return np.stack([a + 2 * (y * r - z * q), b + 2 * (z * p - x * r), c + 2 * (x * q - y * p)], axis=-1)


def quaternion(R: np.ndarray) -> np.ndarray:
    """Quaternion xyzw, w >= 0, of a rotation matrix: the largest row of 4qqᵀ."""
    (a, b, c), (d, e, f), (g, h, i) = R
    rows = np.array(
        [
            [1 + a - e - i, b + d, c + g, h - f],
            [b + d, 1 - a + e - i, f + h, c - g],
            [c + g, f + h, 1 - a - e + i, d - b],
            [h - f, c - g, d - b, 1 + a + e + i],
        ]
    )
    q = rows[np.argmax(np.diag(rows))]
    return math.copysign(1.0, q[3]) * q / np.linalg.norm(q)


def frame_from_axes(owner: str, axis: Vector, axis2: Vector | None) -> np.ndarray:
    """q_WF of the frame with z along `axis` and x along `axis2`, or along any perpendicular."""
    z = _direction(owner, "axis", axis)
    if axis2 is None:
        x = np.eye(3)[np.argmin(np.abs(z))]
    else:
        x = _direction(owner, "axis2", axis2)
        if abs(x @ z) > 1e-6:
            angle = math.degrees(math.acos(max(-1.0, min(1.0, x @ z))))
            raise ModelError(f"{owner}: axis2 {show(axis2)} is {angle:.9g}° from axis, expected 90°")
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    return quaternion(np.column_stack([x, np.cross(z, x), z]))


def _direction(owner: str, what: str, value: Vector) -> np.ndarray:
    array = vector(owner, what, value, "any unit", largest=np.finfo(float).max)
    if not array.any():
        raise ModelError(f"{owner}: {what} is {show(value)}, expected a direction other than zero")
    array = array / np.abs(array).max()
    return array / np.linalg.norm(array)


@dataclass(frozen=True, eq=False)
class Shape:
    """Where a shape's frame S lies in its body's frame B: `offset` [m], `orientation` (xyzw)."""

    offset: Vector = field(default=(0.0, 0.0, 0.0), kw_only=True)
    orientation: Vector = field(default=(0.0, 0.0, 0.0, 1.0), kw_only=True)

    def __post_init__(self) -> None:
        owner = type(self).__name__
        object.__setattr__(self, "offset", vector(owner, "offset", self.offset, "m"))
        object.__setattr__(self, "orientation", unit_quaternion(owner, "orientation", self.orientation))
        self._check(owner)

    def _check(self, owner: str) -> None:
        for what in ("radius", "length"):
            if hasattr(self, what):
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
class ConvexHull(Shape):
    """The convex hull of `points` (n, 3) [m]."""

    points: np.ndarray | Sequence[Vector]

    def _check(self, owner: str) -> None:
        given = sequence(owner, "points", self.points)
        rows = [vector(owner, f"points[{i}]", point, "m") for i, point in enumerate(given)]
        points = np.array(rows).reshape(-1, 3)
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
    return shapes


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
    return mass, mass * unit_inertia, shapes


def inertia_tensor(owner: str, value: object) -> np.ndarray:
    """A 3x3 inertia [kg m²] from a tensor or three principal values, checked to be of a real body."""
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
