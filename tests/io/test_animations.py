"""Runs in formats that others play: what is in the file is what the run was."""

import json
import struct

import numpy as np
import pytest

import impulsar as im
from impulsar.cli import main
from impulsar.io.export.gltf import to_glb
from impulsar.io.export.surface import poses, shape_surface


def chunks(data: bytes) -> tuple[dict, bytes]:
    """Document and buffer of a .glb, with the sizes that it says."""
    magic, version, length = struct.unpack_from("<3I", data)
    assert (magic, version, length) == (0x46546C67, 2, len(data))
    size, kind = struct.unpack_from("<2I", data, 12)
    assert kind == 0x4E4F534A and size % 4 == 0
    return json.loads(data[20 : 20 + size]), data[28 + size :]


def read(document: dict, buffer: bytes, accessor: int) -> np.ndarray:
    found = document["accessors"][accessor]
    view = document["bufferViews"][found["bufferView"]]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[found["type"]]
    dtype = {5126: "<f4", 5125: "<u4"}[found["componentType"]]
    values = np.frombuffer(buffer, dtype, found["count"] * width, view["byteOffset"])
    return values.reshape(found["count"], width)


@pytest.mark.parametrize(
    "shape, volume",
    [
        (im.Box(size=(1, 2, 3)), 6.0),
        (im.Sphere(0.5), np.pi / 6),
        (im.Cylinder(radius=0.5, length=2), np.pi / 2),
        (im.Capsule(radius=0.5, length=1), np.pi / 4 + np.pi / 6),
        (im.Cone(radius=0.5, length=1), np.pi / 12),
    ],
)
def test_surfaces_enclose_their_volume(shape, volume):
    """∑ a · b × c / 6 over triangles seen anticlockwise is the volume, but for flat faces on round shapes: 3 %."""
    vertices, triangles = shape_surface(shape)
    corners = vertices[triangles]
    found = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert found == pytest.approx(volume, rel=0.03)
    assert found <= volume * (1 + 1e-12)


def test_glb_has_the_run():
    """Key frames are the samples of the run, in single precision; up is +y."""
    world = im.World(im.scene("ten-pendula", start="30deg"))
    dataset = world.run(0.5, 0.05, progress=False)
    document, buffer = chunks(to_glb(world.model, dataset))
    animation = document["animations"][0]
    names = list(world.model.bodies)
    times, positions, orientations = poses(dataset, names)
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        k = names.index(document["nodes"][channel["target"]["node"]]["name"])
        assert np.array_equal(read(document, buffer, sampler["input"])[:, 0], times.astype("f4"))
        truth = (positions if channel["target"]["path"] == "translation" else orientations)[:, k]
        assert np.abs(read(document, buffer, sampler["output"]) - truth).max() < 1e-7
    assert len(animation["channels"]) == 2 * len(names)
    x, y, z, w = document["nodes"][0]["rotation"]
    assert np.allclose([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], [0, 1, 0])  # of z


def test_glb_loads_elsewhere(tmp_path):
    """trimesh finds the meshes and encloses the mechanism where it is."""
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / "four.glb"
    assert main(["export", "four-bar", "--to", "glb", "--duration", "0.1", "--out", str(path)]) == 0
    scene = trimesh.load(str(path))
    assert len(scene.geometry) == 3
    assert all(mesh.is_watertight and mesh.volume > 0 for mesh in scene.geometry.values())
