"""A run as a binary glTF 2.0: meshes with colours, and positions and orientations of bodies over time.

glTF has +y up and single precision: the model stands on a node that turns up into +y.
"""

import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from ...author.model import Model
from ...version import __version__
from .surface import Surface, poses, surfaces, upward

if TYPE_CHECKING:
    import xarray as xr

FLOAT, UNSIGNED = 5126, 5125  # types of components
VERTICES, INDICES = 34962, 34963  # targets of buffer views
MAGIC, JSON_CHUNK, BINARY_CHUNK = 0x46546C67, 0x4E4F534A, 0x004E4942


def to_glb(model: Model, dataset: "xr.Dataset") -> bytes:
    """The bytes of a .glb: a model and a run of it."""
    scene = _Scene(model)
    names = list(model.bodies)
    if names:
        scene.animate(names, *poses(dataset, names))
    return scene.packed()


class _Scene:
    """A glTF document in the making."""

    def __init__(self, model: Model):
        self.buffer = bytearray()
        self.views: list[dict] = []
        self.accessors: list[dict] = []
        self.meshes: list[dict] = []
        self.materials: list[dict] = []
        self.animations: list[dict] = []
        self.nodes: list[dict[str, Any]] = [{"name": model.name, "rotation": _to_y(upward(model)), "children": []}]
        self.at: dict[str, int] = {}
        for name, colour, found in surfaces(model):
            node: dict[str, Any] = {"name": name or "ground", "mesh": self._mesh(name or "ground", colour, found)}
            if name in self.at:  # another colour of its visuals
                self.nodes[self.at[name]].setdefault("children", []).append(len(self.nodes))
                self.nodes.append(node)
                continue
            if name is not None:
                body = model.bodies[name]
                node |= {"translation": body.position.tolist(), "rotation": body.orientation.tolist()}
                self.at[name] = len(self.nodes)
            self.nodes[0]["children"].append(len(self.nodes))
            self.nodes.append(node)

    def animate(self, names: list[str], times: np.ndarray, positions: np.ndarray, orientations: np.ndarray) -> None:
        """Have bodies move."""
        clock = self._data(times.astype("<f4"), "SCALAR", FLOAT, bounds=True)
        samplers: list[dict] = []
        channels: list[dict] = []
        for k, name in enumerate(names):
            unit = orientations[:, k] / np.linalg.norm(orientations[:, k], axis=1, keepdims=True)
            for path, values, kind in (("translation", positions[:, k], "VEC3"), ("rotation", unit, "VEC4")):
                channels.append({"sampler": len(samplers), "target": {"node": self.at[name], "path": path}})
                output = self._data(np.ascontiguousarray(values, "<f4"), kind, FLOAT)
                samplers.append({"input": clock, "output": output, "interpolation": "LINEAR"})
        self.animations.append({"name": "run", "samplers": samplers, "channels": channels})

    def _mesh(self, name: str, colour: str, found: list[Surface]) -> int:
        channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]  # of sRGB
        surface = {"baseColorFactor": [*linear, 1.0], "metallicFactor": 0.1, "roughnessFactor": 0.7}
        self.materials.append({"name": name, "pbrMetallicRoughness": surface, "doubleSided": True})
        primitives = [
            {
                "attributes": {"POSITION": self._data(v.astype("<f4"), "VEC3", FLOAT, VERTICES, bounds=True)},
                "indices": self._data(t.astype("<u4").ravel(), "SCALAR", UNSIGNED, INDICES),
                "material": len(self.materials) - 1,
            }
            for v, t in found
        ]
        self.meshes.append({"name": name, "primitives": primitives})
        return len(self.meshes) - 1

    def _data(self, values: np.ndarray, kind: str, component: int, target: int = 0, bounds: bool = False) -> int:
        """An accessor of values, rows of a vector."""
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.buffer), "byteLength": values.nbytes}
        self.views.append(view | ({"target": target} if target else {}))
        self.buffer += values.tobytes()
        accessor: dict[str, Any] = {"bufferView": len(self.views) - 1, "componentType": component}
        accessor |= {"count": len(values), "type": kind}
        if bounds:
            rows = values.reshape(len(values), -1)
            accessor |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def packed(self) -> bytes:
        """The file."""
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": f"Impulsar {__version__}"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{key: value for key, value in node.items() if value != []} for node in self.nodes],
        }
        lists = {"meshes": self.meshes, "materials": self.materials, "accessors": self.accessors}
        lists |= {"bufferViews": self.views, "animations": self.animations}
        document |= {key: value for key, value in lists.items() if value}
        if self.buffer:
            document["buffers"] = [{"byteLength": len(self.buffer)}]
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
        chunks = _chunk(JSON_CHUNK, text, b" ") + (
            _chunk(BINARY_CHUNK, bytes(self.buffer), b"\0") if self.buffer else b""
        )
        return struct.pack("<3I", MAGIC, 2, 12 + len(chunks)) + chunks


def _chunk(kind: int, data: bytes, fill: bytes) -> bytes:
    data += fill * (-len(data) % 4)
    return struct.pack("<2I", len(data), kind) + data


def _to_y(up: np.ndarray) -> list[float]:
    """The rotation, a quaternion xyzw, that takes a direction to +y the short way."""
    y = np.array([0.0, 1.0, 0.0])
    w = 1.0 + float(up @ y)
    q = np.array([*np.cross(up, y), w]) if w > 1e-9 else np.array([1.0, 0.0, 0.0, 0.0])
    return (q / np.linalg.norm(q)).tolist()
