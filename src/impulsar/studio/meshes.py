"""Meshes that a client uploads: STL and OBJ, read from memory into a convex hull. Nothing is written to disk."""

import io
import struct
from array import array
from collections.abc import Iterator

import numpy as np

from ..model import ConvexHull, ModelError

MOST_TRIANGLES = 600_000
LONGEST_LINE = 2**16  # characters of a text file
MOST_CORNERS = 256  # of the hull: the farthest points in so many directions
LARGEST = 1e6  # [m]
STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read_mesh(name: str, data: bytes) -> tuple[ConvexHull, int]:
    """The hull of a mesh, its points about their middle, and how many triangles the file has."""
    readers = {".stl": _stl, ".obj": _obj}
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    owner = f"mesh {name[:60]!r}"
    if any(c in name for c in "/\\\0") or suffix not in readers:
        raise ModelError(f"{owner}: expected a file name that ends in {' or '.join(readers)}, without folders")
    points, triangles = readers[suffix](owner, data)
    if not np.isfinite(points).all() or np.abs(points).max(initial=0.0) > LARGEST:
        raise ModelError(f"{owner}: has points that are not finite or beyond {LARGEST:g} m; check its units [m]")
    return ConvexHull(_corners(owner, points)), triangles


def _stl(owner: str, data: bytes) -> tuple[np.ndarray, int]:
    """Binary where the length fits its count, else text."""
    count = struct.unpack_from("<I", data, 80)[0] if len(data) >= 84 else -1
    if count >= 0 and len(data) == 84 + 50 * count:
        _check_count(owner, count)
        return np.frombuffer(data, STL_TRIANGLE, count, 84)["corners"].reshape(-1, 3).astype(float), count
    if not data.lstrip()[:5].lower() == b"solid":
        raise ModelError(f"{owner}: is neither binary nor text STL; export it again")
    numbers = array("d")
    for words in _lines(owner, data):
        if words[:1] == ["vertex"]:
            numbers.extend(_point(owner, words[1:]))
            if len(numbers) // 9 > MOST_TRIANGLES:
                break
    _check_count(owner, len(numbers) // 9)
    return np.array(numbers).reshape(-1, 3), len(numbers) // 9


def _obj(owner: str, data: bytes) -> tuple[np.ndarray, int]:
    numbers, faces = array("d"), 0
    for words in _lines(owner, data):
        if words[:1] == ["v"]:
            numbers.extend(_point(owner, words[1:4]))
        elif words[:1] == ["f"]:
            faces += max(len(words) - 3, 0)
        if max(faces, len(numbers) // 9) > MOST_TRIANGLES:
            break
    _check_count(owner, max(faces, len(numbers) // 9))
    return np.array(numbers).reshape(-1, 3), faces


def _lines(owner: str, data: bytes) -> Iterator[list[str]]:
    """The words of one line after another, so that what is too large is known before all of it is held."""
    file = io.TextIOWrapper(io.BytesIO(data), "latin-1")
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise ModelError(f"{owner}: a line has {LONGEST_LINE} characters or more; export it again")
        yield line.split()


def _point(owner: str, words: list[str]) -> list[float]:
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
    """The points of the hull, or the farthest in evenly spread directions where it has many."""
    from scipy.spatial import ConvexHull as Hull
    from scipy.spatial import QhullError

    points = np.unique(points, axis=0)
    points = points - (points.min(axis=0) + points.max(axis=0)) / 2
    try:
        corners = points[Hull(points).vertices]
    except (QhullError, ValueError) as error:
        raise ModelError(f"{owner}: has no volume; give a solid") from error
    if len(corners) > MOST_CORNERS:
        k = np.arange(MOST_CORNERS) + 0.5
        height, angle = 1 - 2 * k / MOST_CORNERS, np.pi * (1 + 5**0.5) * k
        across = np.sqrt(1 - height**2)
        directions = np.column_stack([across * np.cos(angle), across * np.sin(angle), height])
        corners = corners[np.unique(np.argmax(corners @ directions.T, axis=0))]
    return corners
