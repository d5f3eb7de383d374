"""Shapes of a file's visual and collision elements, to be drawn; meshes as their hulls, from under a folder only."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...author.errors import FileError, ModelError
from ...author.imports import ImportReport
from ...author.rotations import quaternion
from ...author.shapes import Box, Capsule, ConvexHull, Cylinder, Shape, Sphere
from ..meshes import mesh_hull
from .draft import Pose
from .scan import inside

LARGEST_MESH = 32 * 2**20  # bytes
MOST_CORNERS = 64  # of a hull that is drawn: a robot has dozens
MOST_MESHES = 500  # that are read of one file
READABLE = (".stl", ".obj")


def placed(shape: Shape, X: Pose) -> Shape:
    """A shape whose own frame is at X."""
    q = quaternion(X.R)
    return replace(shape, offset=tuple(X.p.tolist()), orientation=tuple((q / np.linalg.norm(q)).tolist()))


def hex_colour(rgba: np.ndarray) -> str:
    """ "#rrggbb"."""
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, float(c)))):02x}" for c in rgba[:3])


def primitive(kind: str, sizes: list[float]) -> Shape | None:
    """A box by its edges, a sphere by its radius, a cylinder or capsule by radius and length; None of no size."""
    if not sizes or not all(0.0 < size < math.inf for size in sizes):
        return None
    if kind == "box":
        return Box(tuple(sizes))
    if kind == "sphere":
        return Sphere(sizes[0])
    return (Cylinder if kind == "cylinder" else Capsule)(sizes[0], sizes[1])


class Meshes:
    """Meshes of a file, each read once."""

    def __init__(self, folder: Path | None, report: ImportReport, wanted: bool):
        self.folder, self.report, self.wanted = folder, report, wanted
        self._read: dict[str, np.ndarray | str] = {}

    def hull(self, uri: str, scale: np.ndarray, owner: str, line: int) -> Shape | None:
        """The hull of a mesh, its frame being that of its points; None and a note where it cannot be had."""
        if not self.wanted:
            return None
        if uri not in self._read:
            self._read[uri] = self._points(uri)
        points = self._read[uri]
        if isinstance(points, str):
            self.report.add("ignored", owner, f"mesh '{uri[:120]}': {points}", line)
            return None
        corners = points * scale
        try:
            shape = ConvexHull(corners)
        except ModelError as error:
            self.report.add("ignored", owner, f"mesh '{uri[:120]}': {error}", line)
            return None
        self.report.add("approximated", owner, f"mesh '{uri[:120]}' is drawn as its hull", line)
        return shape

    def _points(self, uri: str) -> np.ndarray | str:
        if self.folder is None:
            return "an upload is one file; open it from its folder to see its meshes"
        if len(self._read) > MOST_MESHES:
            return f"more than {MOST_MESHES} meshes are not read"
        path = self._find(uri)
        if isinstance(path, str):
            return path
        if path.suffix.lower() not in READABLE:
            return f"{path.suffix} is not read; convert it to .stl or .obj"
        try:
            if path.stat().st_size > LARGEST_MESH:
                return f"has more than {LARGEST_MESH} bytes; simplify it"
            return few_corners(mesh_hull(path.name, path.read_bytes()))
        except (OSError, ModelError, ValueError) as error:
            return f"cannot be read: {error!s:.200}"

    def _find(self, uri: str) -> Path | str:
        """Where a mesh is under the folder, or why it is not to be had."""
        assert self.folder is not None
        name = uri.removeprefix("file://")
        names = [name]
        for scheme in ("package://", "model://"):
            if uri.startswith(scheme):
                rest = uri.removeprefix(scheme)
                names = [rest, rest.partition("/")[2]]
        for candidate in names:
            try:
                path = inside(self.folder, candidate) if candidate else None
            except (FileError, OSError, ValueError):
                path = None
            if path is not None and path.is_file():
                return path
        return f"is not under '{self.folder.name or '.'}'; give assets= the folder that has it"


def few_corners(points: np.ndarray) -> np.ndarray:
    """As many corners of a hull as are drawn: the farthest in evenly spread directions."""
    if len(points) <= MOST_CORNERS:
        return points
    k = np.arange(MOST_CORNERS - 6) + 0.5
    height, angle = 1 - 2 * k / len(k), np.pi * (1 + 5**0.5) * k
    across = np.sqrt(1 - height**2)
    ways = np.column_stack([across * np.cos(angle), across * np.sin(angle), height])
    ways = np.vstack([ways, np.eye(3), -np.eye(3)])
    return points[np.unique((points @ ways.T).argmax(axis=0))]
