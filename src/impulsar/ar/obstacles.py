"""Real things as obstacles: a table by points of its top, a box by its corners, touched with the stylus.

    plane   n · p = d           least squares: n is the direction in which the touched points spread least
    box     corner = c + R (size ∘ u), u of ±1/2, from four corners or more, not all of one face:
            affine least squares, then R of the nearest rotation and the sizes along its axes, in turns

What was touched has to say which: points on a line, repeated ones, and corners of what is no box are refused with the
reason, and what is left of every pick is kept. Obstacles are in the room's frame R, of the marker; `edits_for` are the
edits that put them into a world that stands somewhere in it.
"""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import edits
from ..author.errors import FileError, ModelError
from ..author.files import write_file
from ..author.rotations import conjugate, multiply, quaternion, rotation_matrix, unit_quaternion
from ..author.shapes import Box, Plane, Shape
from ..studio.ar_messages import Occluder
from .calibration import MOST_RESIDUAL, REPEATED
from .optics import read_json
from .show import Place

KIND, VERSION = "impulsar obstacles", 1
THIN = 0.1  # least width of a plane's points over their length
CORNERS = np.array([(x, y, z) for z in (-0.5, 0.5) for x, y in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))])
PICKED = (0, 1, 3, 4)  # corners of a box that say all: one, and its three neighbours
SKEW = np.radians(5.0)  # by which edges that were touched may be off a right angle
LEAST_EDGE = 1e-3  # of a box [m]
ROUNDS = 50
DEEP = 0.05  # of what a table hides below its top [m]


@dataclass(frozen=True)
class Touched:
    """Something real that was touched: a box about its pose in R, or the half space below a plane."""

    name: str
    kind: str  # "box" or "plane"
    position: np.ndarray  # p_R [m]
    orientation: np.ndarray  # q_R, xyzw; z out of a plane
    size: tuple[float, float, float]  # of a box; of a plane how far the points were apart along x and y, 0 [m]
    residuals: np.ndarray  # of the picks [m]

    @property
    def rms(self) -> float:
        """Of the residuals [m]."""
        return float(np.sqrt(np.mean(self.residuals**2)))

    def occluder(self) -> Occluder:
        """What it hides in the picture."""
        x, y, z = self.size
        at, size = self.position, [x, y, z]
        if self.kind == "plane":
            size = [x, y, DEEP]
            at = at - rotation_matrix(self.orientation)[:, 2] * (DEEP / 2)
        return Occluder(name=self.name, kind="box", size=size, pose=[*map(float, at), *map(float, self.orientation)])

    def data(self) -> dict:
        """For JSON."""
        return {
            "name": self.name,
            "kind": self.kind,
            "position": [float(value) for value in self.position],
            "orientation": [float(value) for value in self.orientation],
            "size": [float(value) for value in self.size],
            "residuals": [float(value) for value in self.residuals],
        }


def plane_through(name: str, points_R: np.ndarray, above_R: np.ndarray | None = None) -> Touched:
    """A plane by three points or more; its normal is to the side of `above_R`, by default the room's +z."""
    points = _checked(name, points_R, 3)
    middle = points.mean(axis=0)
    _, extent, axes = np.linalg.svd(points - middle, full_matrices=False)
    if extent[1] < THIN * extent[0]:
        raise ModelError(f"obstacle '{name}': the points lie on a line; touch one beside it")
    x, n = axes[0], np.cross(axes[0], axes[1])
    up = np.array([0.0, 0.0, 1.0]) if above_R is None else np.asarray(above_R, float) - middle
    if abs(n @ up) < 1e-3 * np.linalg.norm(up):
        raise ModelError(f"obstacle '{name}': the plane is upright, so which side is outside is open; touch a box")
    n = n if n @ up > 0 else -n
    residuals = np.abs((points - middle) @ n)
    _refuse_far(name, residuals)
    R = np.column_stack([x, np.cross(n, x), n])
    wide = np.ptp((points - middle) @ R, axis=0)
    return Touched(name, "plane", middle, quaternion(R), (float(wide[0]), float(wide[1]), 0.0), residuals)


def box_by_corners(name: str, corners_R: np.ndarray, which: Sequence[int] = PICKED) -> Touched:
    """A box by corners that were touched; `which` are their numbers in CORNERS: the bottom four round, then the top."""
    points, u = _checked(name, corners_R, 4), CORNERS[list(which)]
    if len(points) != len(u):
        raise ModelError(f"obstacle '{name}': {len(points)} corners for {len(u)} numbers, expected as many")
    if np.linalg.matrix_rank(u - u.mean(axis=0)) < 3:
        raise ModelError(f"obstacle '{name}': all corners are of one face; touch one of the opposite face too")
    A = np.linalg.lstsq(np.column_stack([u, np.ones(len(u))]), points, rcond=None)[0]
    edges, size = A[:3], np.linalg.norm(A[:3], axis=1)
    if size.min() < LEAST_EDGE:
        raise ModelError(f"obstacle '{name}': an edge is {size.min() * 1e3:.2g} mm long; touch corners that differ")
    unit = edges / size[:, None]
    for a, b in itertools.combinations(range(3), 2):
        off = abs(np.pi / 2 - np.arccos(np.clip(unit[a] @ unit[b], -1, 1)))
        if off > SKEW:
            raise ModelError(
                f"obstacle '{name}': edges {a + 1} and {b + 1} are {np.degrees(off):.0f}° off a right angle, so it is "
                "no box; were its corners touched in their order?"
            )
    if np.linalg.det(unit) < 0:
        raise ModelError(f"obstacle '{name}': the corners are those of a mirror image; touch them in their order")
    for _ in range(ROUNDS):
        U, _, Vt = np.linalg.svd((points - points.mean(axis=0)).T @ ((u - u.mean(axis=0)) * size))
        R = U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt
        own, each = (points - points.mean(axis=0)) @ R, u - u.mean(axis=0)
        size = (own * each).sum(axis=0) / (each**2).sum(axis=0)
    middle = points.mean(axis=0) - R @ (size * u.mean(axis=0))
    residuals = np.linalg.norm((size * u) @ R.T + middle - points, axis=1)
    _refuse_far(name, residuals)
    return Touched(name, "box", middle, quaternion(R), (float(size[0]), float(size[1]), float(size[2])), residuals)


def _checked(name: str, picks: np.ndarray, least: int) -> np.ndarray:
    """Picks as an array, enough of them and none twice."""
    points = np.asarray(picks, float)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < least or not np.isfinite(points).all():
        raise ModelError(f"obstacle '{name}': {len(points)} picks, expected at least {least} of three finite numbers")
    near = REPEATED * np.ptp(points, axis=0).max()
    for a, b in itertools.combinations(range(len(points)), 2):
        if np.linalg.norm(points[a] - points[b]) <= near:
            raise ModelError(f"obstacle '{name}': picks {a + 1} and {b + 1} are the same point; touch another")
    return points


def _refuse_far(name: str, residuals: np.ndarray) -> None:
    if residuals.max() > MOST_RESIDUAL:
        worst = int(np.argmax(residuals))
        raise ModelError(
            f"obstacle '{name}': pick {worst + 1} is {residuals[worst] * 1e3:.1f} mm off; touch them again"
        )


def save_obstacles(path: str | Path, things: Sequence[Touched]) -> None:
    """Write a JSON file."""
    data = {"kind": KIND, "version": VERSION, "obstacles": [each.data() for each in things]}
    write_file(path, (json.dumps(data, indent=1) + "\n").encode())


def load_obstacles(path: str | Path) -> list[Touched]:
    """What a file of `save_obstacles` has."""
    data = read_json(path, KIND, VERSION)
    try:
        return [_read(each) for each in data["obstacles"]]
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"'{path}': {error}; touch them again by `impulsar ar touch-obstacle`") from error


def _read(data: dict) -> Touched:
    name, kind = str(data["name"]), data["kind"]
    numbers = {what: np.array([float(value) for value in data[what]]) for what in ("position", "size", "residuals")}
    if kind not in ("box", "plane") or any(not np.isfinite(each).all() for each in numbers.values()):
        raise ValueError(f"'{name}' is no box or plane of finite numbers")
    if numbers["position"].shape != (3,) or numbers["size"].shape != (3,):
        raise ValueError(f"'{name}': expected a position and a size of three numbers")
    turned = unit_quaternion(f"obstacle '{name}'", "orientation", data["orientation"])
    x, y, z = map(float, numbers["size"])
    return Touched(name, kind, numbers["position"], turned, (x, y, z), numbers["residuals"])


def edits_for(things: Sequence[Touched], place: Place, material: str) -> list[edits.Edit]:
    """The edits that put them into a world that stands at a place of the room."""
    back, found = conjugate(place.orientation), []
    for each in things:
        shape: Shape = Plane() if each.kind == "plane" else Box(tuple(size / place.scale for size in each.size))
        position = rotation_matrix(back) @ (each.position - place.position) / place.scale
        options = {
            "shape": shape,
            "position": tuple(map(float, position)),
            "orientation": tuple(map(float, multiply(back, each.orientation))),
            "material": material,
        }
        found.append(edits.Add("obstacle", each.name, options))
    return list(found)
