"""Large meshes on their way to pages: a scene names them by a digest, and each page fetches them once, as binary.

    GET /api/geometry/DIGEST     counts of vertices and triangles (uint32), vertices (float32 x, y, z [m]), triangles
                                 (three uint32 each); little-endian

As JSON a mesh of 10⁶ triangles has 55 MB, in every scene that is sent; this way 18 MB, once.
"""

import hashlib
import struct
import weakref

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ..author.shapes import Mesh

MOST_IN_SCENE = 5000  # triangles that a scene has in itself

_digests: "weakref.WeakKeyDictionary[Mesh, str]" = weakref.WeakKeyDictionary()
meshes_by_digest: "weakref.WeakValueDictionary[str, Mesh]" = weakref.WeakValueDictionary()


def digest_of(mesh: Mesh) -> str | None:
    """The name by which a mesh is fetched; None where it is small enough to be in its scene."""
    if len(mesh.triangles) <= MOST_IN_SCENE:
        return None
    found = _digests.get(mesh)
    if found is None:
        found = _digests[mesh] = hashlib.sha256(packed(mesh)).hexdigest()
    meshes_by_digest[found] = mesh
    return found


def packed(mesh: Mesh) -> bytes:
    """A mesh as bytes."""
    vertices, triangles = np.asarray(mesh.vertices, "<f4"), np.asarray(mesh.triangles, "<u4")
    return struct.pack("<II", len(vertices), len(triangles)) + vertices.tobytes() + triangles.tobytes()


def routes() -> list[BaseRoute]:
    """For the studio's server."""
    return [Route("/api/geometry/{digest}", _geometry)]


async def _geometry(request: Request) -> Response:
    mesh = meshes_by_digest.get(request.path_params["digest"])
    if mesh is None:
        return JSONResponse({"ok": False, "text": "geometry: no scene has it any more; open the scene again"}, 422)
    data = await run_in_threadpool(packed, mesh)
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}  # its name is of what it holds
    return Response(data, media_type="application/octet-stream", headers=headers)
