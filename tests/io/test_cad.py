"""STEP, meshes and xacro: bodies of CAD files, shapes by trimesh, macros where the command line asks for them."""

import json
import math
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import impulsar as im
from impulsar.cli import main
from impulsar.io.imports import apart
from impulsar.io.loaders import loader_of, read_model

DATA = Path(__file__).parents[1] / "data" / "imports"


def test_parts_of_step_weigh_what_their_solids_do() -> None:
    """A block of 0.1 x 0.2 x 0.3 m and a pin twice: closed forms, names and places."""
    pytest.importorskip("OCP")
    model = im.load(DATA / "step" / "assembly.step", density={"block": 2700.0, "pin": 7850.0})
    assert list(model.bodies) == ["block", "pin", "pin 2"]
    block, pin = model.bodies["block"], model.bodies["pin 2"]
    assert block.mass == pytest.approx(2700 * 0.006, rel=1e-12)
    assert block.position == pytest.approx((0.05, 0.1, 0.15))
    assert np.diag(block.inertia) == pytest.approx(16.2 / 12 * np.array([0.13, 0.1, 0.05]))
    mass = 7850 * math.pi * 0.01**2 * 0.05
    assert pin.mass == pytest.approx(mass, rel=1e-9)
    assert pin.position == pytest.approx((0.6, 0, 0.025), abs=1e-12)
    assert pin.inertia[2, 2] == pytest.approx(mass * 0.01**2 / 2)
    assert isinstance(block.shapes[0], im.Mesh)
    assert im.analysis.mobility(model).freedoms == 18


def test_step_says_what_it_assumed_and_refuses_what_is_none() -> None:
    pytest.importorskip("OCP")
    path = DATA / "step" / "assembly.step"
    assert "none is given: 1000 kg/m³" in str(im.load(path).import_report)
    assert "part 'block': no density of it" in str(im.load(path, density={"pin": 1.0}).import_report)
    with pytest.raises(im.ModelError, match="density of 'axle', but there is no such part; parts are: 'block'"):
        im.load(path, density={"axle": 1.0})
    with pytest.raises(im.ModelError, match="OpenCASCADE refuses it: is no STEP file"):
        read_model("part.step", b"hello")


def test_without_opencascade_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    done = SimpleNamespace(stdout=b'{"missing": "cadquery-ocp-novtk"}', returncode=0)
    monkeypatch.setattr(apart.subprocess, "run", lambda *_, **__: done)
    with pytest.raises(im.ModelError, match=r"pip install impulsar\[cad\]"):
        read_model("part.stp", b"")
    for options, told in (({"density": -1}, "density is -1"), ({"parts": "face"}, "'product' or 'solid'")):
        with pytest.raises(im.ModelError, match=told):
            im.load(DATA / "step" / "assembly.step", **options)


ROBOT = """<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
{}</link></robot>"""
VISUAL = '<visual><geometry><mesh filename="{}"/></geometry></visual>'


def test_meshes_of_all_kinds_are_drawn_or_refused_by_name(tmp_path: Path) -> None:
    """PLY, OFF, GLB and Collada by trimesh, all in one process: the twelve triangles of a box of 1 x 2 x 3."""
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((1.0, 2.0, 3.0))
    kinds = ("ply", "off", "glb", "dae")
    for kind in kinds:
        box.export(tmp_path / f"box.{kind}")
    (tmp_path / "box.wrl").write_text("#VRML V2.0 utf8\n")
    (tmp_path / "broken.ply").write_text("ply\nhello\n")
    names = [f"box.{kind}" for kind in kinds] + ["box.wrl", "broken.ply"]
    (tmp_path / "r.urdf").write_text(ROBOT.format("".join(VISUAL.format(name) for name in names)))
    model = im.load(tmp_path / "r.urdf")
    shapes = [visual.shape for visual in model.bodies["a"].visuals]
    assert [len(shape.triangles) for shape in shapes] == [12] * len(kinds)
    assert [np.ptp(shape.vertices, axis=0).tolist() for shape in shapes] == [pytest.approx((1, 2, 3), rel=1e-6)] * len(
        kinds
    )
    told = str(model.import_report)
    assert "mesh 'box.wrl': .wrl (VRML) is not read; convert it to .stl or .obj, by MeshLab or Blender" in told
    assert "mesh 'broken.ply': cannot be read" in told


def test_xacro_is_for_the_command_line_alone(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Arguments by --set, with the options of URDF among them; `load` and uploads know no such file."""
    pytest.importorskip("xacrodoc")
    path = tmp_path / "swing.urdf.xacro"
    shutil.copy(DATA / "xacro" / "swing.urdf.xacro", path)
    saved = tmp_path / "swing.json"
    assert main(["scenes", str(path), "--set", "length=0.8", "--set", "fixed=keep", "--save", str(saved)]) == 0
    bodies = {body["name"]: body for body in json.loads(saved.read_text())["bodies"]}
    assert bodies["upper"]["position"][2] == pytest.approx(-0.4)
    path.write_text(path.read_text().replace("${mass}", "${mass/0}"))
    assert main(["run", str(path)]) == 2
    assert "xacro cannot expand it" in capsys.readouterr().err
    for ask in (lambda: im.load(path), lambda: read_model(path.name, path.read_bytes()), lambda: loader_of("a.xacro")):
        with pytest.raises(im.ModelError, match=r"no loader for '\.xacro'"):
            ask()
