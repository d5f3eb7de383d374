"""What of a model's bodies is in its fluids: a piece for each shape with volume, and what a fluid does to it.

A piece has a frame of its own, its origin at the centre of the shape's volume and its axes along the principal axes of
it. Its ellipsoid has the same volume and the same ratios of second moments ∫x²dV; of a ball it is the ball. All that
is kept of a piece is per unit of the fluid's density or viscosity, so that these may change while it runs.

    added mass        Lamb 1932 §114, with α = abc ∫ dλ / ((a² + λ) Δ) = 2/3 abc R_D(b², c², a²), β, γ likewise
                      m_x = ρ V α / (2 - α)      I_x = ρ V/5 (b² - c²)² (γ - β) / (2 (b² - c²) + (b² + c²)(β - γ))
                      of a box m_x by DNV-RP-C205 (`box_added_mass`)
    viscous drag      Lamb 1932 §339: F_x = 16 π μ abc u / (χ + α a²), χ = 2 abc R_F(a², b², c²); of a ball 6 π μ R u
                      Jeffery 1922: T_x = 16 π μ abc (b² + c²) ω / (3 (b² β + c² γ)); of a ball 8 π μ R³ ω
    quadratic drag    ½ ρ C A |u| u_x by the projected area A and a coefficient C for each axis (docs/fluid.md)
    turning           ½ ρ l (C_q p⁴ + C_p q⁴) / 32 |ω| ω_x of a box with edges l along and p, q across: strips of its
                      faces, a face q square to p moving with the speed ω p
"""

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ...author.fluids import has_volume
from ...author.rotations import rotation_matrix
from ...author.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, Mesh, Shape, Sphere
from ..options import places

if TYPE_CHECKING:
    from ...author.model import Model

BALL, TUBE, CAPSULE, SOLID = 0, 1, 2, 3  # as in engine/coordinates/immersion.py
PIECE_INTS, PIECE_NUMBERS = 5, 41
WetInt = places(body=0, fluid=1, kind=2, first=3, last=4)  # of a piece; its triangles
Wet = places(  # of its numbers: place in the body, volume, reach from its origin, sizes, then three for each axis
    **{"offset": 0, "turn": 3, "volume": 12, "reach": 13, "radius": 14, "half": 15, "mass": 16, "spin": 19},
    **{"area": 22, "drag": 25, "turning": 28, "turning_drag": 31, "stokes": 34, "stokes_turning": 37, "whole": 40},
)
SIDES = 128  # of a cone as a pyramid of the same volume
FACE_ON = 1.05  # C of a cube, face on
ALONG_CAPSULE = 0.25
ACROSS = ((1.0, 2.0, 5.0, 10.0, 20.0, 1e9), (0.64, 0.68, 0.74, 0.82, 0.91, 1.2))  # C of cylinders by length / diameter
# DNV-RP-C205 tables D-1 and D-2, of a plate a × b, a ≤ b, made c thick the way it moves:
PLATE = (  # C by a / b of a thin one, of ρ π/4 a² b
    (0.0, 1 / 10, 1 / 8, 1 / 5, 1 / 4, 1 / 3, 1 / 2.5, 1 / 2, 1 / 1.5, 1 / 1.25, 1.0),
    (1.0, 0.947, 0.934, 0.897, 0.872, 0.830, 0.801, 0.757, 0.690, 0.642, 0.579),
)
THICK = ((0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0), (1.0, 1.14, 1.21, 1.36, 1.51, 1.70, 1.98, 2.23))  # by c / a, b ≫ a
PRISM = ((1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 10.0), (0.68, 0.36, 0.24, 0.19, 0.15, 0.13, 0.11, 0.08))  # ρ a² c, b = a
ALONG = ((0.5, 1.0, 2.0, 4.0, 8.0), (1.15, 0.90, 0.85, 0.87, 0.99))


@dataclass
class Piece:
    """A shape in a fluid; triangles [face, corner, axis] in its own frame."""

    kind: int
    offset: np.ndarray  # of its frame in the body's
    turn: np.ndarray
    volume: float
    second: np.ndarray  # ∫ x² dV / V along its axes [m²]
    reach: float
    radius: float
    half: float
    area: np.ndarray
    coefficient: np.ndarray
    triangles: np.ndarray
    mass: np.ndarray | None = None  # added mass along its axes per density, where it is not the ellipsoid's [m³]

    def numbers(self) -> np.ndarray:
        """As `Wet` has them."""
        semi = semi_axes(self.volume, self.second)
        mass, spin = added_mass(self.volume, semi)
        mass = mass if self.mass is None else self.mass
        stokes, stokes_turning = viscous_drag(semi)
        turning, turning_drag = np.zeros(3), np.zeros(3)
        if self.kind != BALL:
            edges, C = np.sqrt(12 * self.second), self.coefficient
            p, q = np.roll(edges, -1), np.roll(edges, -2)
            turning = edges * (p**4 + q**4) / 32
            turning_drag = edges * (np.roll(C, -2) * p**4 + np.roll(C, -1) * q**4) / 32
            if self.kind != SOLID:  # round about its axis
                turning[2] = turning_drag[2] = 0.0
        own = {
            **{"offset": self.offset, "turn": self.turn, "volume": self.volume, "reach": self.reach},
            **{"radius": self.radius, "half": self.half, "mass": mass, "spin": spin, "area": self.area},
            **{"drag": self.coefficient * self.area, "turning": turning},
            **{"turning_drag": turning_drag, "stokes": stokes, "stokes_turning": stokes_turning, "whole": 0.0},
        }
        return np.concatenate([np.ravel(own[name]) for name in vars_of(Wet)])


def vars_of(named: Any) -> list[str]:
    """Names of places in their order."""
    return sorted((name for name in vars(named) if not name.startswith("_")), key=lambda name: getattr(named, name))


def semi_axes(volume: float, second: np.ndarray) -> np.ndarray:
    """Of the ellipsoid of a volume and ratios of second moments [m]."""
    shape = np.sqrt(second)
    return shape * (3 * volume / (4 * math.pi * np.prod(shape))) ** (1 / 3)


def _integrals(semi: np.ndarray) -> np.ndarray:
    """α, β, γ of an ellipsoid, their sum 2."""
    from scipy.special import elliprd

    a, b, c = np.square(semi)
    return 2 / 3 * np.prod(semi) * np.array([elliprd(b, c, a), elliprd(c, a, b), elliprd(a, b, c)])


def added_mass(volume: float, semi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Added mass [m³] and added inertia [m⁵] of an ellipsoid along its axes, per density of the fluid."""
    alpha = _integrals(semi)
    spin = np.zeros(3)
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        b, c = semi[y] ** 2, semi[z] ** 2
        if abs(b - c) > 1e-6 * (b + c):  # else it is zero to the square of that
            beta, gamma = alpha[y], alpha[z]
            spin[x] = volume / 5 * (b - c) ** 2 * (gamma - beta) / (2 * (b - c) + (b + c) * (beta - gamma))
    return volume * alpha / (2 - alpha), spin


def box_added_mass(edges: np.ndarray) -> np.ndarray:
    """Added mass of a box along its edges per density [m³].

    That of a plate as wide as the box, times what its thickness c adds: known where the plate is a square, and where
    it is long; between them by a / b.
    """
    out = np.zeros(3)
    of_prism = np.array(PRISM[0]) * PRISM[1] / (math.pi / 4 * PLATE[1][-1])
    for x in range(3):
        c, (a, b) = edges[x], sorted((edges[x - 2], edges[x - 1]))
        long = np.interp(c / a, *THICK)
        square = np.interp(c / a, PRISM[0], of_prism)
        if c < a:
            square = 1 + (long - 1) * (of_prism[0] - 1) / (THICK[1][THICK[0].index(1.0)] - 1)
        thick = long + (square - long) * a / b
        out[x] = math.pi / 4 * a**2 * b * np.interp(a / b, *PLATE) * thick
    return out


def viscous_drag(semi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slow drag of an ellipsoid [m] and of its turning [m³] along its axes, per viscosity."""
    from scipy.special import elliprf

    alpha, abc, squares = _integrals(semi), np.prod(semi), np.square(semi)
    chi = 2 * abc * elliprf(*squares)
    turning = np.zeros(3)
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        about = squares[y] * alpha[y] + squares[z] * alpha[z]
        turning[x] = 16 * math.pi * abc * (squares[y] + squares[z]) / (3 * about)
    return 16 * math.pi * abc / (chi + alpha * squares), turning


def piece_of(shape: Shape) -> Piece:
    """A shape as a piece of its body."""
    R_BS = rotation_matrix(shape.orientation)
    none, zero = np.zeros((0, 3, 3)), np.zeros(3)
    if isinstance(shape, Sphere | Cylinder | Capsule):
        R, length = shape.radius, getattr(shape, "length", 0.0)
        second = np.trace(shape.unit_inertia()) / 2 - np.diag(shape.unit_inertia())
        disc = math.pi * R**2
        if isinstance(shape, Sphere):
            kind, reach, area, C = BALL, R, np.full(3, disc), np.full(3, 0.44)
        elif isinstance(shape, Cylinder):
            kind, reach, across = TUBE, math.hypot(R, length / 2), 2 * R * length
            area = np.array([across, across, disc])
            slender = length / (2 * R)
            C = np.interp([slender, slender], *ACROSS)
            C = np.append(C, np.interp(slender, *ALONG))
        else:
            kind, reach, across = CAPSULE, R + length / 2, 2 * R * length + disc
            area = np.array([across, across, disc])
            slender = length / (2 * R) + 1
            C = np.append(np.interp([slender, slender], *ACROSS), ALONG_CAPSULE)
        offset = np.asarray(shape.offset)
        return Piece(kind, offset, R_BS, shape.volume, second, reach, R, length / 2, area, C, none)
    triangles = triangles_of(shape)
    volume, centre, moments = solid_moments(triangles)
    second, axes = np.linalg.eigh(moments)
    if isinstance(shape, Box):  # its own axes, in their order
        second, axes = np.diag(moments), np.eye(3)
    if np.linalg.det(axes) < 0:
        axes[:, 0] = -axes[:, 0]
    own = (triangles - centre) @ axes
    normals = np.cross(own[:, 1] - own[:, 0], own[:, 2] - own[:, 0]) / 2
    area = np.abs(normals).sum(axis=0) / 2
    reach = float(np.linalg.norm(own.reshape(-1, 3), axis=1).max())
    place = shape.offset + R_BS @ centre
    mass = box_added_mass(np.asarray(shape.size, float)) if isinstance(shape, Box) else None
    return Piece(SOLID, place, R_BS @ axes, volume, second, reach, 0.0, 0.0, area, zero + FACE_ON, own, mass)


def triangles_of(shape: Shape) -> np.ndarray:
    """The surface of a solid [face, corner, axis], anticlockwise seen from outside [m]."""
    if isinstance(shape, Mesh):
        return np.asarray(shape.vertices)[np.asarray(shape.triangles)]
    if isinstance(shape, Box):
        return hull_triangles(np.array(list(product((-0.5, 0.5), repeat=3))) * shape.size)
    if isinstance(shape, Cone):
        turn = 2 * math.pi * np.arange(SIDES) / SIDES
        radius = shape.radius * math.sqrt(2 * math.pi / (SIDES * math.sin(2 * math.pi / SIDES)))
        base = np.column_stack([radius * np.cos(turn), radius * np.sin(turn), np.full(SIDES, -shape.length / 2)])
        return hull_triangles(np.vstack([base, [[0.0, 0.0, shape.length / 2]]]))
    assert isinstance(shape, ConvexHull)
    return hull_triangles(np.asarray(shape.points))


def hull_triangles(points: np.ndarray) -> np.ndarray:
    """Triangles of the convex hull of points."""
    from scipy.spatial import ConvexHull as Hull

    hull = Hull(points)
    faces = points[hull.simplices]
    normal = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    inward = np.einsum("fi,fi->f", normal, hull.equations[:, :3]) < 0
    faces[inward] = faces[inward][:, ::-1]
    return faces


def solid_moments(triangles: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, centre and second moments about it, per volume, of what triangles enclose."""
    volumes = np.linalg.det(triangles) / 6
    sums = triangles.sum(axis=1)
    volume = float(volumes.sum())
    centre = volumes @ sums / (4 * volume)
    second = np.einsum("f,fci,fcj->ij", volumes, triangles, triangles) + (volumes * sums.T) @ sums
    return volume, centre, second / (20 * volume) - np.outer(centre, centre)


@dataclass
class Pieces:
    """All pieces of a system, in the order of its bodies."""

    start: np.ndarray  # [body + 1] first piece of each; [0] where there are none
    ints: np.ndarray  # [piece, PIECE_INTS]
    numbers: np.ndarray  # [piece, PIECE_NUMBERS]
    corners: np.ndarray  # [3 · face, axis]
    moved: set[str]  # bodies that fluid is accelerated with


def pieces_of(model: "Model", bodies: list[str]) -> Pieces:
    """What is in the fluids of a model whose bodies are in this order."""
    start, ints, numbers, corners, faces, moved = [0], [], [], [], 0, set()
    made: dict[int, Piece] = {}
    for i, name in enumerate(bodies):
        body = model.bodies[name]
        for f, fluid in enumerate(model.fluids.values()):
            for shape in body.shapes if fluid.holds(body) else ():
                if has_volume(shape):
                    piece = made.setdefault(id(shape), piece_of(shape))
                    ints.append([i, f, piece.kind, faces, faces + len(piece.triangles)])
                    own = piece.numbers()
                    own[Wet.whole] = float(fluid.added_mass)
                    numbers.append(own)
                    corners.append(piece.triangles.reshape(-1, 3))
                    faces += len(piece.triangles)
                    if fluid.added_mass:
                        moved.add(name)
        start.append(len(ints))
    if not ints:
        return Pieces(
            np.zeros(0, int), np.zeros((0, PIECE_INTS)), np.zeros((0, PIECE_NUMBERS)), np.zeros((0, 3)), moved
        )
    return Pieces(np.array(start), np.array(ints), np.array(numbers), np.vstack(corners), moved)
