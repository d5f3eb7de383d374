"""Shapes of a file's visual and collision elements; meshes, from under a folder only, as they are seen, or as hulls."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...author.errors import FileError, ModelError
from ...author.imports import ImportReport
from ...author.names import LONGEST_NAME
from ...author.rotations import quaternion
from ...author.shapes import Box, Capsule, ConvexHull, Cylinder, Mesh, Shape, Sphere
from ..meshes import checked_triangles, hull_corners, mesh_triangles
from .apart import read_apart
from .draft import Pose
from .scan import Element, inside, is_file

NO_TRIMESH = "needs trimesh, `pip install impulsar[meshes]`; or convert it to .stl or .obj"
LARGEST_MESH = 32 * 2**20  # bytes
MOST_CORNERS = 64  # of a hull that is drawn: a robot has dozens
MOST_MESHES = 500  # that are read of one file
MOST_PICTURED, LEAST_PICTURED = 5_000, 200  # triangles of a mesh that is seen
ALL_PICTURED = 40_000  # of all of a file: a scene file has 400,000 values at most
FINE = 6  # digits of its extent that its points are kept to: files of a robot have dozens of them
Triangles = tuple[np.ndarray, np.ndarray]  # points (n, 3) in the file's unit, corners (m, 3)
SIZED = ("box", "sphere", "cylinder", "capsule")
NO_SHAPE, NO_SIZE = "is no shape that can be drawn", "has no size > 0, so that nothing can be drawn"
READABLE = (".stl", ".obj")
BY_TRIMESH = (".ply", ".off", ".glb", ".dae")
BEYOND = {
    ".wrl": "VRML",
    ".vrml": "VRML",
    ".x3d": "X3D",
    ".step": "STEP",
    ".stp": "STEP",
    ".iges": "IGES",
    ".msh": "a mesh of elements",
}


def placed(shape: Shape, X: Pose) -> Shape:
    """A shape whose own frame is at X."""
    q = quaternion(X.R)
    return replace(shape, offset=tuple(X.p.tolist()), orientation=tuple((q / np.linalg.norm(q)).tolist()))


def hex_colour(rgba: np.ndarray) -> str:
    """ "#rrggbb"."""
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, float(c)))):02x}" for c in rgba[:3])


def short_name(text: str) -> str:
    """A visual's name as a model takes it."""
    return "".join(c for c in text if c.isprintable())[:LONGEST_NAME]


def primitive(kind: str, sizes: list[float]) -> Shape | None:
    """A box by its edges, a sphere by its radius, a cylinder or capsule by radius and length; None of no size."""
    if not sizes or not all(0.0 < size < math.inf for size in sizes):
        return None
    if kind == "box":
        return Box(tuple(sizes))
    if kind == "sphere":
        return Sphere(sizes[0])
    return (Cylinder if kind == "cylinder" else Capsule)(sizes[0], sizes[1])


def touching(count: int) -> str:
    """So many shapes, in a report."""
    return f"{count} shapes that touch" if count > 1 else "1 shape that touches"


def triangles_each(meshes: int) -> int:
    """How many triangles a mesh has that is one of so many to be seen."""
    return min(MOST_PICTURED, max(LEAST_PICTURED, ALL_PICTURED // max(meshes, 1)))


class Meshes:
    """Meshes of a file, each read once."""

    def __init__(self, folder: Path | None, report: ImportReport, wanted: bool, holder: Element):
        self.folder, self.report, self.wanted = folder, report, wanted
        self.most = triangles_each(sum(len(link.all("visual")) for link in holder.all("link")))
        self._read: dict[str, Triangles | str] = {}
        self._pictures: dict[tuple[str, bytes], tuple[Shape, str]] = {}
        self._others: dict[str, list | str] = {}  # by path: points and triangles of what trimesh reads

    def fetch(self, uris: list[str]) -> None:
        """Have trimesh read all meshes of a file that it has to, in one process."""
        if self.folder is None or not self.wanted:
            return
        found = [self._find(uri) for uri in dict.fromkeys(uris)][:MOST_MESHES]
        paths = [path for path in found if isinstance(path, Path) and path.suffix.lower() in BY_TRIMESH]
        small = [str(path) for path in paths if path.stat().st_size <= LARGEST_MESH]
        if small:
            asked = json.dumps(small).encode()
            try:
                answer = read_apart("mesh", "trimesh", "-", asked, NO_TRIMESH)
                self._others = answer.get("meshes", {path: answer.get("refusal", "") for path in small})
            except FileError as error:
                self._others = dict.fromkeys(small, str(error))

    def hull(self, uri: str, scale: np.ndarray, owner: str, line: int) -> Shape | None:
        """The hull of a mesh, its frame being that of its points; None and a note where it cannot be had."""
        if not self.wanted:
            return None
        points = self._found(uri, owner, line)
        if points is None:
            return None
        try:
            shape = ConvexHull(few_corners(hull_corners(uri, points[0])) * scale)
        except ModelError as error:
            self.report.add("ignored", owner, f"mesh '{uri[:120]}': {error}", line)
            return None
        self.report.add("approximated", owner, f"mesh '{uri[:120]}' is taken as its hull", line)
        return shape

    def picture(self, uri: str, scale: np.ndarray, owner: str, line: int) -> Shape | None:
        """A mesh as it is seen, with a note where it is thinned; None and a note where it cannot be had."""
        found = self._found(uri, owner, line) if self.wanted else None
        if found is None:
            return None
        key = uri, scale.tobytes()
        if key not in self._pictures:
            try:
                faces = found[1] if scale.prod() > 0 else found[1][:, ::-1]
                self._pictures[key] = picture_of(found[0] * scale, faces, self.most)
            except ModelError as error:
                self.report.add("ignored", owner, f"mesh '{uri[:120]}': {error}", line)
                return None
        shape, told = self._pictures[key]
        if told:
            self.report.add("approximated", owner, f"mesh '{uri[:120]}' {told}", line)
        return shape

    def _found(self, uri: str, owner: str, line: int) -> "Triangles | None":
        """The triangles of a mesh, or a note why they are not to be had."""
        if uri not in self._read:
            self._read[uri] = self._triangles(uri)
        found = self._read[uri]
        if isinstance(found, str):
            self.report.add("ignored", owner, f"mesh '{uri[:120]}': {found}", line)
            return None
        return found

    def _triangles(self, uri: str) -> "Triangles | str":
        if self.folder is None:
            return "an upload is one file; open it from its folder to see its meshes"
        if len(self._read) > MOST_MESHES:
            return f"more than {MOST_MESHES} meshes are not read"
        path = self._find(uri)
        if isinstance(path, str):
            return path
        suffix = path.suffix.lower()
        if suffix not in READABLE + BY_TRIMESH:
            told = f" ({BEYOND[suffix]})" if suffix in BEYOND else ""
            return f"{path.suffix}{told} is not read; convert it to .stl or .obj, by MeshLab or Blender"
        try:
            if path.stat().st_size > LARGEST_MESH:
                return f"has more than {LARGEST_MESH} bytes; simplify it"
            if suffix in BY_TRIMESH:
                found = self._others.get(str(path), "is not read")
                return found if isinstance(found, str) else checked_triangles(path.name, *found)
            return mesh_triangles(path.name, path.read_bytes())
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
            if path is not None and is_file(path):
                return path
        return f"is not under '{self.folder.name or '.'}'; give assets= the folder that has it"


def picture_of(points: np.ndarray, faces: np.ndarray, most: int = MOST_PICTURED) -> tuple[Shape, str]:
    """A mesh to be drawn, whatever its surface is like, and what was done to have it, in words."""
    extent = float(np.ptp(points, axis=0).max(initial=0.0))
    digits = FINE - math.floor(math.log10(extent)) if extent > 0.0 else FINE
    points, which = np.unique(np.round(points, digits) + 0.0, axis=0, return_inverse=True)
    faces = _with_area(points, which.reshape(-1)[faces])
    whole, cells, told = (points, faces), 256, ""
    while len(faces) > most and cells > 4:
        points, faces = _clustered(*whole, extent / cells)
        points, cells = np.round(points, digits) + 0.0, cells * 4 // 5
        told = f"is drawn by {len(faces)} of its {len(whole[1])} triangles"
    if not len(faces):
        raise ModelError("has no triangle with an area; export it again")
    try:
        return Mesh(*_apart(points, faces), open=True), told
    except ModelError:  # closed, and inside out: each triangle for itself
        return Mesh(points[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3), open=True), told


def _clustered(points: np.ndarray, faces: np.ndarray, cell: float) -> Triangles:
    """Corners that share a cell of a grid made one, at their middle; of triangles that face alike one is left."""
    places, which = np.unique(np.floor(points / cell), axis=0, return_inverse=True)
    which = which.reshape(-1)
    weight = np.bincount(which, minlength=len(places))
    middles = np.column_stack([np.bincount(which, points[:, k], len(places)) / weight for k in range(3)])
    faces = which[faces]
    turned = (faces.argmin(axis=1)[:, None] + np.arange(3)) % 3
    _, first = np.unique(np.take_along_axis(faces, turned, axis=1), axis=0, return_index=True)
    return middles, _with_area(middles, faces[np.sort(first)])


def _apart(points: np.ndarray, faces: np.ndarray) -> Triangles:
    """With corners of their own for triangles at an edge that another has the same way round; of those in use."""
    ways = (faces[:, [0, 1, 2]] * len(points) + faces[:, [1, 2, 0]]).ravel()
    _, first = np.unique(ways, return_index=True)
    again = np.ones(len(ways), bool)
    again[first] = False
    alone = again.reshape(-1, 3).any(axis=1)
    own = points[faces[alone]].reshape(-1, 3)
    faces = faces.copy()
    faces[alone] = len(points) + np.arange(len(own)).reshape(-1, 3)
    used, faces = np.unique(faces, return_inverse=True)
    return np.vstack([points, own])[used], faces.reshape(-1, 3)


def _with_area(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Triangles without those that have none."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    longest = np.max([((b - a) ** 2).sum(axis=1), ((c - b) ** 2).sum(axis=1), ((a - c) ** 2).sum(axis=1)], axis=0)
    return faces[np.linalg.norm(np.cross(b - a, c - a), axis=1) > 2e-12 * longest]


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
