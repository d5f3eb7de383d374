"""Runs in formats that others play: what is in the file is what the run was."""

import json
import struct
import subprocess
import sys

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


def test_usd_has_the_model_and_the_run(tmp_path):
    """UsdPhysics finds bodies, joints and masses; positions over time are the run's, to the bit."""
    pytest.importorskip("pxr")
    from pxr import Usd, UsdGeom, UsdPhysics

    from impulsar.io.export.usd import to_usd

    world = im.World(im.scene("cross-lift"))
    dataset = world.run(0.1, 0.02, progress=False)
    path = tmp_path / "lift.usda"
    report = to_usd(world.model, dataset, path)
    assert {note.part.split()[0] for note in report} == {"spring", "probe"}
    stage = Usd.Stage.Open(str(path))
    prims = list(stage.Traverse())
    assert sum(prim.HasAPI(UsdPhysics.RigidBodyAPI) for prim in prims) == len(world.model.bodies)
    made = [prim for prim in prims if prim.IsA(UsdPhysics.Joint)]
    assert len(made) == len(world.model.joints)
    closed = [one for one in made if UsdPhysics.Joint(one).GetExcludeFromArticulationAttr().Get()]
    assert len(closed) == len(world.model.joints) - len(world.model.bodies)
    times, positions, _ = poses(dataset, list(world.model.bodies))
    rate = stage.GetTimeCodesPerSecond()
    for k, name in enumerate(world.model.bodies):
        prim = next(one for one in prims if one.GetName() == name.replace(" ", "_"))
        assert UsdPhysics.MassAPI(prim).GetMassAttr().Get() == pytest.approx(world.model.bodies[name].mass, rel=1e-6)
        move = UsdGeom.Xformable(prim).GetOrderedXformOps()[0]
        for t, p in zip(times, positions[:, k], strict=True):
            assert np.array_equal(np.array(move.Get(t * rate)), p)


def test_logs_have_the_run(tmp_path):
    """MCAP: transforms are the run's, to the bit, by Foxglove's schema; Rerun finds no fault in its own."""
    pytest.importorskip("mcap")
    from mcap.reader import make_reader

    from impulsar.io.export.logs import to_mcap

    world = im.World(im.scene("four-bar"))
    dataset = world.run(0.1, 0.02, progress=False)
    path = tmp_path / "four.mcap"
    path.write_bytes(to_mcap(world.model, dataset))
    times, positions, _ = poses(dataset, list(world.model.bodies))
    with path.open("rb") as stream:
        messages = list(make_reader(stream).iter_messages(topics=["/tf"]))
    assert len(messages) == len(times)
    for (schema, _, message), p in zip(messages, positions, strict=True):
        assert schema.name == "foxglove.FrameTransforms"
        moved = json.loads(message.data)["transforms"]
        assert [[one["translation"][axis] for axis in "xyz"] for one in moved] == p.tolist()


def test_rerun_takes_the_log(tmp_path):
    pytest.importorskip("rerun")
    path = tmp_path / "four.rrd"
    assert main(["export", "four-bar", "--to", "rrd", "--duration", "0.1", "--out", str(path)]) == 0
    done = subprocess.run([sys.executable, "-m", "rerun", "rrd", "verify", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "form, package, extra", [("usd", "pxr", "usd"), ("rrd", "rerun", "rerun"), ("mcap", "mcap", "mcap")]
)
def test_a_missing_package_is_named_with_its_extra(form, package, extra, monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["export", "four-bar", "--to", form, "--out", str(tmp_path / f"a.{form}")]) == 2
    told = capsys.readouterr().err
    assert f"impulsar[{extra}]" in told and told.count("\n") == 1
