"""Points and triangles of meshes that `trimesh` reads; `child` runs it. `data`: a JSON list of paths, the path "-"."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

PACKAGE = "trimesh"
MOST_TRIANGLES = 400_000  # of one mesh


def read(path: str, data: bytes) -> dict[str, Any]:
    """By path its points and triangles, or why there are none."""
    import trimesh

    found: dict[str, Any] = {}
    for name in json.loads(data):
        try:
            kind = Path(name).suffix[1:].lower()
            mesh: Any = trimesh.load(BytesIO(Path(name).read_bytes()), file_type=kind, resolver=None, force="mesh")
            if not len(mesh.vertices):
                found[name] = "has no points"
            elif len(mesh.faces) > MOST_TRIANGLES:
                found[name] = f"has {len(mesh.faces)} triangles, more than {MOST_TRIANGLES}; simplify it"
            else:
                found[name] = [mesh.vertices.tolist(), mesh.faces.tolist()]
        except ImportError as error:
            found[name] = f"needs the package {error.name}; install it, or convert the mesh to .stl"
        except Exception as error:  # trimesh raises anything at a broken file
            found[name] = f"cannot be read: {type(error).__name__}: {error}"[:200]
    return {"meshes": found}
