"""Meshes that a client uploads: STL and OBJ, read from memory into a convex hull. Nothing is written to disk.

As a program (`python -m impulsar.io.meshes NAME`) it reads one from standard input within limits.
"""

import json
import re
import struct
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..author.errors import ModelError
from ..author.shapes import ConvexHull
from .solids import MOST_TRIANGLES as MOST_DRAWN
from .solids import Solid, solid_of

MOST_TRIANGLES = 600_000
LONGEST_LINE = 2**16  # characters of a text file
MOST_CORNERS = 256  # of the hull: the farthest points in so many directions
LARGEST = 1e6  # [m]
CONES = 32  # along each edge of a cube about the middle
OUTSIDE = 1e-9  # of the size: so far beyond a face a point is on it
CHUNK = 4096  # points that are looked at together
MOST_MEMORY = 2 * 2**30  # bytes of address space of a process that reads a mesh
MOST_SECONDS = 20  # of its processor's time
STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


@dataclass(frozen=True)
class Read:
    """What a file of a mesh has: its hull about its middle, edges of the box around it, a solid where it is one."""

    hull: ConvexHull
    triangles: int
    size: np.ndarray
    solid: Solid | None

    def data(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "points": np.asarray(self.hull.points).tolist(),
            "triangles": self.triangles,
            "size": self.size.tolist(),
            "solid": None if self.solid is None else self.solid.data(),
        }


def read_mesh(name: str, data: bytes) -> Read:
    """What a file has, in its own unit of length."""
    owner, points, count, faces = _mesh(name, data)
    _check_faces(owner, points, faces)
    solid = solid_of(points[faces]) if count <= MOST_DRAWN else None
    return Read(ConvexHull(_corners(owner, points)), count, np.ptp(points, axis=0), solid)


def mesh_triangles(name: str, data: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Points of a mesh in its own unit of length, and the corners of its triangles."""
    owner, points, _, faces = _mesh(name, data)
    _check_faces(owner, points, faces)
    return points, faces


def checked_triangles(name: str, points: list, faces: list) -> tuple[np.ndarray, np.ndarray]:
    """The same of what another reader has found."""
    owner, p = f"mesh {name[:60]!r}", np.array(points, float).reshape(-1, 3)
    if not len(p) or not np.isfinite(p).all() or np.abs(p).max() > LARGEST:
        raise ModelError(f"{owner}: has no points, or some not finite or beyond {LARGEST:g} m; check its units [m]")
    corners = np.array(faces, int).reshape(-1, 3)
    _check_faces(owner, p, corners)
    return p, corners


def hull_corners(name: str, points: np.ndarray) -> np.ndarray:
    """Corners of the hull of a mesh's points, where they are."""
    return _corners(f"mesh {name[:60]!r}", points) + (points.min(axis=0) + points.max(axis=0)) / 2


def _check_faces(owner: str, points: np.ndarray, faces: np.ndarray) -> None:
    if faces.size and not 0 <= faces.min() <= faces.max() < len(points):
        raise ModelError(f"{owner}: a triangle has a corner that is not there; export it again")


def _mesh(name: str, data: bytes) -> tuple[str, np.ndarray, int, np.ndarray]:
    """How errors call a file; its points, how many triangles, and these."""
    readers = {".stl": _stl, ".obj": _obj}
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    owner = f"mesh {name[:60]!r}"
    if any(c in name for c in "/\\\0") or suffix not in readers:
        raise ModelError(f"{owner}: expected a file name that ends in {' or '.join(readers)}, without folders")
    points, count, faces = readers[suffix](owner, data)
    if not np.isfinite(points).all() or np.abs(points).max(initial=0.0) > LARGEST:
        raise ModelError(f"{owner}: has points that are not finite or beyond {LARGEST:g} m; check its units [m]")
    return owner, points, count, faces


def _stl(owner: str, data: bytes) -> tuple[np.ndarray, int, np.ndarray]:
    """Points, how many triangles, and these; binary where the length fits its count, else text."""
    count = struct.unpack_from("<I", data, 80)[0] if len(data) >= 84 else -1
    if count >= 0 and len(data) == 84 + 50 * count:
        _check_count(owner, count)
        corners = np.frombuffer(data, STL_TRIANGLE, count, 84)["corners"]
        return corners.reshape(-1, 3).astype(float), count, np.arange(3 * count).reshape(-1, 3)
    if not data.lstrip()[:5].lower() == b"solid":
        raise ModelError(f"{owner}: is neither binary nor text STL; export it again")
    numbers = array("d")
    for _, words in _lines(owner, data, b"vertex"):
        numbers.extend(_point(owner, words))
        if len(numbers) // 9 > MOST_TRIANGLES:
            break
    count = len(numbers) // 9
    _check_count(owner, count)
    return np.array(numbers).reshape(-1, 3), count, np.arange(3 * count).reshape(-1, 3)


def _obj(owner: str, data: bytes) -> tuple[np.ndarray, int, np.ndarray]:
    """Triangles are as many as are drawn, and one more at least where there are more."""
    numbers, faces, corners = array("d"), 0, array("q")
    for word, words in _lines(owner, data, b"v", b"f"):
        if word == b"v":
            numbers.extend(_point(owner, words[:3]))
        else:
            faces += max(len(words) - 2, 0)
            if len(corners) <= 3 * MOST_DRAWN:
                corners.extend(_fan(owner, words, len(numbers) // 3))
        if max(faces, len(numbers) // 9) > MOST_TRIANGLES:
            break
    _check_count(owner, max(faces, len(numbers) // 9))
    return np.array(numbers).reshape(-1, 3), faces, np.array(corners, int).reshape(-1, 3)


def _fan(owner: str, words: list[bytes], count: int) -> list[int]:
    """Triangles of a face of an OBJ file; numbers below zero count back from the last point."""
    try:
        numbers = [int(word.split(b"/")[0]) for word in words]
    except ValueError as error:
        raise ModelError(f"{owner}: a face is not of whole numbers; export it again") from error
    at = [n - 1 if n > 0 else count + n for n in numbers]
    if any(abs(n) >= 2**62 for n in at):
        raise ModelError(f"{owner}: a triangle has a corner that is not there; export it again")
    return [corner for k in range(1, len(at) - 1) for corner in (at[0], at[k], at[k + 1])]


def _lines(owner: str, data: bytes, *first: bytes) -> Iterator[tuple[bytes, list[bytes]]]:
    """Lines that begin by a word, one after another: the word, and what comes after it.

    Found by the regular expressions' own loop: what is between them, blank lines say, costs nanoseconds, and what is
    too large is known before all of it is held.
    """
    pattern = rb"(?m)^[ \t]*(%b)(?![^ \t\n])([^\n]{0,%d})" % (b"|".join(first), LONGEST_LINE)
    for found in re.finditer(pattern, data.replace(b"\r", b"\n")):
        word, rest = found.groups()
        if len(rest) == LONGEST_LINE:
            raise ModelError(f"{owner}: a line has {LONGEST_LINE} characters or more; export it again")
        yield word, rest.split()


def _point(owner: str, words: list[bytes]) -> list[float]:
    try:
        x, y, z = map(float, words)
    except ValueError as error:
        raise ModelError(f"{owner}: a corner is not 3 numbers; export it again") from error
    return [x, y, z]


def _check_count(owner: str, count: int) -> None:
    if not 1 <= count <= MOST_TRIANGLES:
        told = f"{count}" if count < 1 else f"{count} or more"
        raise ModelError(f"{owner}: has {told} triangles, expected 1 to {MOST_TRIANGLES}; simplify it")


def _corners(owner: str, points: np.ndarray) -> np.ndarray:
    """The corners of the hull, or the farthest points in evenly spread directions where it has many.

    Qhull gets a few hundred points only, whatever the mesh: the farthest in every direction, then, as long as
    points lie outside their hull, the farthest beyond each of its faces. A few thousand that stand for all are
    looked at first; all of them only where the hull has few corners.
    """
    from scipy.spatial import ConvexHull as Hull
    from scipy.spatial import QhullError

    points = points - (points.min(axis=0) + points.max(axis=0)) / 2
    tolerance = OUTSIDE * np.abs(points).max(initial=0.0)
    axes = np.vstack([np.eye(3), np.linalg.svd(points.T @ points)[0].T])  # so that a thin solid has volume
    ends = _farthest(points, np.vstack([axes, -axes]))
    some = np.union1d(_outermost(points), ends)
    even = some[_farthest(points[some], _directions())]
    chosen = np.union1d(even, ends)
    try:
        for left in (some, np.arange(len(points))):
            while True:
                hull = Hull(points[chosen])
                if len(hull.vertices) > 4 * MOST_CORNERS:  # on the way there may be more corners than at the end
                    return points[even]
                left, beyond = _beyond(points, left, hull.equations, tolerance)
                if not len(beyond):
                    break
                chosen = np.union1d(chosen[hull.vertices], beyond)
        corners = points[chosen[hull.vertices]]
        return corners if len(corners) <= MOST_CORNERS else points[even]
    except (QhullError, ValueError) as error:
        raise ModelError(f"{owner}: has no volume; give a solid") from error


def _outermost(points: np.ndarray) -> np.ndarray:
    """Indices of points that stand for all: of each small cone about the middle the farthest."""
    largest = np.abs(points).max(axis=1)
    side = np.abs(points).argmax(axis=1)
    is_negative = points[np.arange(len(points)), side] < 0
    across = np.floor((points / np.maximum(largest, 1e-300)[:, None] + 1) * (CONES / 2)).astype(int).clip(0, CONES - 1)
    u, v = across[np.arange(len(points)), (side + 1) % 3], across[np.arange(len(points)), (side + 2) % 3]
    cone = ((2 * side + is_negative) * CONES + u) * CONES + v
    order = np.argsort((points**2).sum(axis=1))  # the farthest is written last
    last = np.full(6 * CONES * CONES, -1)
    last[cone[order]] = order
    return last[last >= 0]


def _directions() -> np.ndarray:
    """So many as a hull may have corners, evenly spread."""
    k = np.arange(MOST_CORNERS) + 0.5
    height, angle = 1 - 2 * k / MOST_CORNERS, np.pi * (1 + 5**0.5) * k
    across = np.sqrt(1 - height**2)
    return np.column_stack([across * np.cos(angle), across * np.sin(angle), height])


def _farthest(points: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Indices of the farthest points in some directions."""
    best, found = np.full(len(directions), -np.inf), np.zeros(len(directions), int)
    for start in range(0, len(points), CHUNK):
        reach = directions @ points[start : start + CHUNK].T  # this way round NumPy compares many at once
        at = reach.argmax(axis=1)
        far = reach[np.arange(len(directions)), at]
        found, best = np.where(far > best, start + at, found), np.maximum(far, best)
    return np.unique(found)


def _beyond(points: np.ndarray, left: np.ndarray, faces: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Of some points those outside of a hull, and of these the farthest beyond each of its faces."""
    outside = [
        part[(faces[:, :3] @ points[part].T + faces[:, 3:]).max(axis=0) > tolerance]
        for part in np.array_split(left, max(1, len(left) // CHUNK))
    ]
    left = np.concatenate(outside)
    return left, left[_farthest(points[left], faces[:, :3])] if len(left) else left


def main() -> None:
    """Read a mesh from standard input within limits of time and memory, and write what was found as JSON."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    except ImportError:  # Windows: the time is limited by who waits
        pass
    try:
        found = read_mesh(sys.argv[1], sys.stdin.buffer.read()).data()
    except ModelError as error:
        found = {"refusal": str(error)}
    except MemoryError:
        found = {"refusal": f"mesh: takes more than {MOST_MEMORY // 2**20} MiB to read; simplify it"}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
