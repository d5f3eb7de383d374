"""Triangles from files by `trimesh`, and convex parts of them by CoACD: extras, imported when they are asked for."""

from pathlib import Path

import numpy as np

from .checks import file_path, number, show, whole
from .errors import ModelError

INSTALL = "pip install 'impulsar[meshes]'"


def read_triangles(path: str | Path, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices [m] and triangles of a file; vertices in one place are one, triangles without area are left out."""
    file = file_path("Mesh", path)
    try:
        import trimesh
    except ImportError as error:
        raise ModelError(f"Mesh: reading {file.name} needs trimesh; {INSTALL}") from error
    if not file.exists():
        raise ModelError(f"Mesh: there is no file {show(str(file))}")
    try:
        found = trimesh.load_mesh(file, process=True)
    except (ValueError, KeyError, IndexError, NotImplementedError, OSError) as error:
        raise ModelError(f"Mesh: {file.name} cannot be read ({error}); export it again") from error
    if not len(getattr(found, "faces", ())):
        raise ModelError(f"Mesh: {file.name} has no triangles; export a solid")
    found.merge_vertices(merge_tex=True, merge_norm=True)
    found.update_faces(found.nondegenerate_faces())
    found.remove_unreferenced_vertices()
    return np.asarray(found.vertices, float) * scale, np.asarray(found.faces, int)


def convex_parts(
    vertices: np.ndarray, triangles: np.ndarray, is_open: bool, concavity: float, most: int
) -> list[np.ndarray]:
    """Points of the convex parts of a closed mesh."""
    concavity = number("Mesh", "concavity", concavity, "a number from 0.01 to 1", lambda x: 0.01 <= x <= 1)
    most = whole("Mesh", "most", most, 1, 10_000)
    if is_open:
        raise ModelError("Mesh: is open and has no inside to decompose; close it")
    try:
        import coacd
    except ImportError as error:
        raise ModelError(f"Mesh: decompose needs coacd; {INSTALL}") from error
    coacd.set_log_level("error")
    mesh = coacd.Mesh(vertices, triangles)
    parts = coacd.run_coacd(mesh, threshold=concavity, max_convex_hull=most, preprocess_mode="off", seed=0)
    return [np.asarray(points, float) for points, _ in parts]
