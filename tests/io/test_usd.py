"""USD: the mechanics is the stage's, in its units; what is not taken is listed by prim and line."""

import json
import math
import shutil
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import impulsar as im
from impulsar.io import model_from_json, model_to_json
from impulsar.io.export.usd import to_usd
from impulsar.io.imports import apart
from impulsar.io.imports.usd_child import prim_lines
from impulsar.io.loaders import read_model
from impulsar_verification.import_oracles import against_kkt

pytest.importorskip("pxr")
DATA = Path(__file__).parents[1] / "data" / "imports" / "usd"
HEAD = '#usda 1.0\n(metersPerUnit = 1\nupAxis = "Z")\ndef PhysicsScene "scene" {\n}\n'
BODY = """def Xform "{0}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{
  float physics:mass = 1
  point3f physics:centerOfMass = (0.1, 0.2, 0.3)
  float3 physics:diagonalInertia = (0.01, 0.02, 0.025)
}}
"""
AXES = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def joint_text(name: str, body: str, free: set[str], more: str = "") -> str:
    locked = [axis for axis in AXES if axis not in free]
    schemas = ", ".join(f'"PhysicsLimitAPI:{axis}"' for axis in locked)
    limits = "".join(f"  float limit:{a}:physics:low = 1\n  float limit:{a}:physics:high = -1\n" for a in locked)
    head = (
        f'def PhysicsJoint "{name}" (prepend apiSchemas = [{schemas}]) {{\n'
        if locked
        else f'def PhysicsJoint "{name}" {{\n'
    )
    return f"{head}  rel physics:body1 = </{body}>\n{limits}{more}}}\n"


def read(text: str, **options: object) -> im.Model:
    from impulsar.io.imports.build import Options
    from impulsar.io.imports.usd import read_usd

    return read_usd(text.encode(), None, "stage.usda", Options(**options))


def test_units_masses_and_drives_are_the_stages() -> None:
    """Centimetres, grams and degrees with y up: a capsule of density 2 g/cm³ beside a cube of 500 g, a drive in N m."""
    model = im.load(DATA / "arm.usda")
    assert model.gravity == pytest.approx((0, 0, -9.81))
    upper = model.bodies["upper"]
    assert upper.mass == pytest.approx(2.0)
    assert upper.position == pytest.approx((0.1, 0, 0.2))
    assert sorted(np.linalg.eigvalsh(upper.inertia)) == pytest.approx((0.002, 0.005, 0.006))
    c, s = 0.5, math.sqrt(0.75)  # principal axes turned by 60° about the stage's z
    assert upper.inertia[0, 1] == pytest.approx(c * s * (0.002 - 0.005), rel=1e-6)
    rod = 2000 * (math.pi * 0.02**2 * 0.16 + 4 / 3 * math.pi * 0.02**3)
    lower = model.bodies["lower"]
    assert lower.mass == pytest.approx(rod + 0.5)
    centre = (rod * np.array([0.4, 0, 0.2]) + 0.5 * np.array([0.5, -0.02, 0.2])) / (rod + 0.5)
    assert lower.position == pytest.approx(centre)
    motor = model.joints["shoulder"].features["angle"].motor
    per_degree = 180 / math.pi
    assert motor.kp == pytest.approx(0.01 * per_degree)
    assert motor.kv == pytest.approx(0.002 * per_degree)
    assert motor.max_torque == pytest.approx(5.0)
    assert motor.position == pytest.approx(math.radians(30 + 0.2 * 9))  # of the target's rate, too
    assert model.joints["shoulder"].features["angle"].limits == pytest.approx((-math.pi / 2, math.pi))
    assert model.joints["elbow"].features["slide"].limits == pytest.approx((-0.05, 0.05))
    assert model.bodies["lower"].colour == "#ff8000"


def test_the_report_has_prims_and_lines() -> None:
    report = im.load(DATA / "arm.usda").import_report
    assert [(note.kind, note.part, note.line) for note in report] == [
        ("ignored", "prim '/cell/elbow'", 94),
        ("ignored", "prim '/cell/elbow'", 94),
        ("changed", "prim '/cell/base'", 17),
        ("ignored", "PhysicsCollisionAPI", 23),
        ("ignored", "prim '/cell/elbow'", 94),
        ("converted", "stage", 0),
        ("merged", "link 'base'", 17),
    ]
    assert "breaks at a force of 1000" in report.notes[4].text
    with pytest.raises(im.ModelError, match=r"strict: arm.usda \(USD\): 4 ignored, 1 changed"):
        im.load(DATA / "arm.usda", strict=True)


def test_every_set_of_free_axes_has_its_freedoms() -> None:
    """64 joints of six axes, locked or free: as many freedoms, by a joint of the catalogue or a chain of them."""
    text, free_of = HEAD, {}
    for k, bits in enumerate(product((0, 1), repeat=6)):
        free_of[f"b{k}"] = {axis for axis, bit in zip(AXES, bits, strict=True) if bit}
        text += BODY.format(f"b{k}") + joint_text(f"j{k}", f"b{k}", free_of[f"b{k}"])
    model = read(text, fixed="keep")
    assert im.analysis.mobility(model).freedoms == 64 * 3
    kinds = {joint.type for joint in model.joints.values()}
    assert kinds >= {"fixed", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "pin-slot",
                     "point-on-line", "point-on-plane", "free"}  # fmt: skip
    for k, free in enumerate(free_of.values()):
        parts = [joint for name, joint in model.joints.items() if name == f"j{k}" or name.startswith(f"j{k}.")]
        assert sum(len(joint.kind.freedoms) for joint in parts) == len(free), free


@pytest.mark.parametrize("name", ["arm.usda", "fourbar.usda"])
def test_accelerations_are_those_of_a_dense_solution(name: str) -> None:
    """On the rows of all joints at once, at a random state; the loop closes by excludeFromArticulation."""
    assert against_kkt(DATA / name, 0) < 1e-9


def test_a_loop_keeps_its_books_and_goes_through_json() -> None:
    """Frames in single precision close to rounding: one freedom, three redundant; scene file with the same bits."""
    model = im.load(DATA / "fourbar.usda", strict=True)
    found = im.analysis.mobility(model)
    assert (found.freedoms, found.redundant) == (1, 3)
    again = model_from_json(json.loads(json.dumps(model_to_json(model))))
    worlds = [im.World(one, dt=0.01) for one in (model, again)]
    for world in worlds:
        world.step(100)
        assert abs(float(world.energy().imbalance)) < 1e-6
        assert world.constraint_error() < 1e-10
    assert all((worlds[0].body(body).position == worlds[1].body(body).position).all() for body in model.bodies)


def test_text_binary_package_and_upload_are_one_stage(tmp_path: Path) -> None:
    from pxr import Usd, UsdUtils

    stage = Usd.Stage.Open(str(DATA / "fourbar.usda"))
    stage.GetRootLayer().Export(str(tmp_path / "fourbar.usdc"))
    assert UsdUtils.CreateNewUsdzPackage(str(tmp_path / "fourbar.usdc"), str(tmp_path / "fourbar.usdz"))
    plain = json.dumps(model_to_json(im.load(DATA / "fourbar.usda")))
    for name in ("fourbar.usdc", "fourbar.usdz"):
        assert json.dumps(model_to_json(im.load(tmp_path / name))) == plain
    upload = read_model("fourbar.usdc", (tmp_path / "fourbar.usdc").read_bytes())
    assert json.dumps(model_to_json(upload)) == plain


def test_an_export_is_read_back(tmp_path: Path) -> None:
    """Bodies to the bit of their poses, inertias and frames to single precision; motion follows."""
    model = im.scene("four-bar")
    for joint in model.joints.values():
        for features in joint.features.values():
            features.motor = None  # rigid, and listed by the export
    to_usd(model, None, tmp_path / "out.usda")
    again = im.load(tmp_path / "out.usda")
    assert [joint.type for joint in again.joints.values()] == [joint.type for joint in model.joints.values()]
    for one, other in zip(model.bodies.values(), again.bodies.values(), strict=True):
        assert np.abs(one.position - other.position).max() < 1e-15
        assert np.abs(one.inertia - other.inertia).max() < 1e-6 * np.abs(one.inertia).max()
        assert np.abs(one.velocity - other.velocity).max() < 1e-6
    before, after = im.analysis.mobility(model), im.analysis.mobility(again)
    assert (before.freedoms, before.redundant) == (after.freedoms, after.redundant)
    worlds = [im.World(one, dt=0.01) for one in (model, again)]
    for world in worlds:
        world.step(20)
    for one, other in zip(model.bodies, again.bodies, strict=True):
        assert np.abs(worlds[0].body(one).position - worlds[1].body(other).position).max() < 1e-5


def test_files_outside_of_the_folder_are_not_read(tmp_path: Path) -> None:
    """Neither by .., nor absolute, nor through a link, nor by an expression or a clip; references under it are."""
    inner = tmp_path / "inner"
    (inner / "parts").mkdir(parents=True)
    part = f'#usda 1.0\n(defaultPrim = "a")\n{BODY.format("a")}'
    (tmp_path / "secret.usda").write_text(part)
    (inner / "parts" / "a.usda").write_text(part)
    (inner / "link.usda").symlink_to(tmp_path / "secret.usda")
    stage = '{0}def "x" (prepend references = @{1}@) {{\n}}\n'
    path = inner / "stage.usda"
    for name in ("../secret.usda", str(tmp_path / "secret.usda"), "link.usda"):
        path.write_text(stage.format(HEAD, name))
        with pytest.raises(im.ModelError, match="is not under the folder"):
            im.load(path)
        path.write_text(HEAD.replace("metersPerUnit", f"subLayers = [@{name}@]\nmetersPerUnit"))
        with pytest.raises(im.ModelError, match="is not under the folder"):
            im.load(path)
    path.write_text(stage.format(HEAD, '`"../" + "secret.usda"`'))
    with pytest.raises(im.ModelError, match="expression"):
        im.load(path)
    path.write_text(HEAD + 'def "x" (clips = {dictionary default = {asset[] assetPaths = [@../secret.usda@]}}) {\n}\n')
    with pytest.raises(im.ModelError, match="value clips"):
        im.load(path)
    path.write_text(stage.format(HEAD, "./parts/a.usda") + stage.format("", "./gone.usda").replace('"x"', '"y"'))
    model = im.load(path)
    assert list(model.bodies) == ["x"]
    assert "names the file './gone.usda', which there is not" in str(model.import_report)
    (inner / "parts" / "a.usda").write_text(part.replace("(default", '(metersPerUnit = 0.01\nupAxis = "Z"\ndefault'))
    told = "ignored: layer 'a.usda': is made with metersPerUnit 0.01; its numbers are taken in the units of the stage"
    assert told in str(im.load(path).import_report)
    with pytest.raises(im.ModelError, match="has no rigid body"):  # an upload is one file
        read_model("stage.usda", path.read_bytes())


WRONG = {
    "not USD": ("hello", "usd-core refuses it"),
    "cut": (HEAD + 'def Xform "a" {', "usd-core refuses it: line 6"),
    "nothing": (HEAD, "has no rigid body"),
    "units": (HEAD.replace("metersPerUnit = 1", "metersPerUnit = 0") + BODY.format("a"), "metersPerUnit is 0"),
    "flat": (
        HEAD + BODY.format("a").replace("{", "{\n  float3 xformOp:scale = (1, 0, 1)\n"
                                        '  uniform token[] xformOpOrder = ["xformOp:scale"]', 1),
        "prim '/a': its transform is singular",
    ),
    "inertia": (
        HEAD + BODY.format("a").replace("0.025", "0.5"), r"line 6: prim '/a': principal inertias .* triangle"
    ),
    "axes": (
        HEAD + BODY.format("a").replace("{", "{\n  quatf physics:principalAxes = (2, 0, 0, 0)", 1),
        "line 6: prim '/a': principalAxes is a quaternion of norm 2",
    ),
    "type": (
        HEAD + BODY.format("a").replace("{", '{\n  string physics:principalAxes = "x"', 1),
        "prim </a> has an attribute of a wrong type",
    ),
    "limits": (
        HEAD + BODY.format("a") + 'def PhysicsRevoluteJoint "j" {\n  rel physics:body1 = </a>\n'
        "  float physics:lowerLimit = 3\n  float physics:upperLimit = 1\n}\n",
        r"line 11: prim '/j': limits are .* swap them",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told(name: str) -> None:
    text, told = WRONG[name]
    with pytest.raises(im.ModelError, match=told):
        read_model("stage.usda", text.encode())


def test_joints_of_mujoco_between_the_same_bodies_act_in_series() -> None:
    """As MuJoCo writes several joints of a body; without its schema they would lock each other."""
    joints = "".join(
        f'def PhysicsRevoluteJoint "j{a}" (prepend apiSchemas = ["MjcJointAPI"]) {{\n  rel physics:body1 = </a>\n'
        f'  uniform token physics:axis = "{a}"\n}}\n'
        for a in "XYZ"
    )
    model = read(HEAD + BODY.format("a") + joints)
    assert im.analysis.mobility(model).freedoms == 3
    assert "3 joints between the same bodies, by MuJoCo: they act one after another" in str(model.import_report)


def test_without_usd_core_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    done = SimpleNamespace(stdout=b'{"missing": "usd-core"}', returncode=0)
    monkeypatch.setattr(apart.subprocess, "run", lambda *_, **__: done)
    with pytest.raises(im.ModelError, match=r"pip install impulsar\[usd\]"):
        im.load(DATA / "arm.usda")


def test_lines_of_prims_are_found_among_strings_and_braces() -> None:
    text = '#usda 1.0\n(doc = """def "no" {""")\ndef "a" (\n customData = {string x = "}"}\n)\n'
    text += '{\n # def "no"\n def "b"\n {\n }\n}\n'
    assert prim_lines(text) == {"/a": 3, "/a/b": 8}


def test_nothing_is_left_in_the_folder_of_the_file(tmp_path: Path) -> None:
    shutil.copy(DATA / "fourbar.usda", tmp_path)
    im.load(tmp_path / "fourbar.usda")
    assert [path.name for path in tmp_path.iterdir()] == ["fourbar.usda"]
