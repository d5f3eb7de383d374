"""Solids that meshes enclose: surfaces as they are, with volume, centre and inertia by the divergence theorem.

Over the tetrahedra from the origin to each triangle a, b, c, of six volumes d = a · (b × c):

    V = Σ d / 6        V r = Σ d (a + b + c) / 24        ∫ x xᵀ = Σ d (s sᵀ + a aᵀ + b bᵀ + c cᵀ) / 120,  s = a + b + c
"""

from dataclasses import dataclass

import numpy as np

MOST_TRIANGLES = 5_000  # of a solid that is drawn as it is; of larger ones the hull is


@dataclass(frozen=True)
class Solid:
    """In the file's unit of length, about its centre of mass; inertia for a density of one."""

    vertices: np.ndarray  # [vertex, 3]
    triangles: np.ndarray  # [triangle, 3]
    volume: float
    inertia: np.ndarray  # [3, 3]

    def data(self) -> dict:
        """For JSON."""
        return {
            "vertices": self.vertices.tolist(),
            "triangles": self.triangles.tolist(),
            "volume": self.volume,
            "inertia": self.inertia.tolist(),
        }


def solid_of(corners: np.ndarray) -> Solid | None:
    """The solid inside triangles [triangle, corner, 3]; None where they are too many, or not closed."""
    if len(corners) > MOST_TRIANGLES:
        return None
    vertices, at = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    triangles = at.reshape(-1, 3)
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    if not _is_closed(triangles):
        return None
    six = np.einsum(
        "ti,ti->t", vertices[triangles[:, 0]], np.cross(vertices[triangles[:, 1]], vertices[triangles[:, 2]])
    )
    volume = float(six.sum()) / 6
    if volume < 0.0:  # inside out
        triangles, six, volume = triangles[:, ::-1], -six, -volume
    if volume <= 0.0:
        return None
    p = vertices[triangles]
    total = p.sum(axis=1)
    centre = six @ total / (24 * volume)
    moments = (np.einsum("t,ti,tj->ij", six, total, total) + np.einsum("t,tki,tkj->ij", six, p, p)) / 120
    about = moments - volume * np.outer(centre, centre)
    return Solid(vertices - centre, triangles, volume, np.trace(about) * np.eye(3) - about)


def _is_closed(triangles: np.ndarray) -> bool:
    """Whether every edge is passed once each way."""
    edges = np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    once = {tuple(edge) for edge in edges.tolist()}
    return len(once) == len(edges) > 0 and all((b, a) in once for a, b in once)
