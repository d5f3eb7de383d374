"""URDF, SDF and MJCF: the mechanics is the file's, what is not taken is listed, what is wrong is told by its line."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import impulsar as im
from impulsar.cli import main
from impulsar.io import model_from_json, model_to_json
from impulsar.io.export.mjcf import to_mjcf
from impulsar.io.export.urdf import to_urdf
from impulsar.io.imports import apart
from impulsar.io.loaders import read_model
from impulsar_verification.import_fuzz import feed
from impulsar_verification.import_oracles import against_mujoco, against_pinocchio

DATA = Path(__file__).parents[1] / "data" / "imports"
LINK = "<link name='{0}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
TWO = LINK.format("a") + LINK.format("b")


@pytest.mark.parametrize("seed", range(3))
def test_accelerations_of_a_urdf_are_those_of_pinocchio(seed: int) -> None:
    """Hinges, a slide, a lumped link, rotated inertias, damping and a mimic with offset: to rounding."""
    assert against_pinocchio(DATA / "arm.urdf", seed) < 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_accelerations_of_mjcf_are_those_of_mujoco(seed: int) -> None:
    """A planar root, a universal ankle, `ref` and `springref`, a ball and a free body: to rounding."""
    assert against_mujoco(DATA / "planar.xml", seed) < 1e-12


OFF = """<mujoco><option actuatorgroupdisable="2"><flag limit="disable" spring="disable" frictionloss="disable"
  equality="disable"/></option>
<worldbody>
  <body name="thigh"><joint name="hip" axis="0 1 0" range="-10 10" limited="true" stiffness="4" frictionloss="1"/>
    <geom type="capsule" size=".05" fromto="0 0 0 0 0 -.4"/>
    <body name="shin" pos="0 0 -.4"><joint name="knee" axis="1 0 0" damping="0.5"/>
      <geom type="box" size=".02 .05 .2" pos=".02 0 -.2"/></body></body>
</worldbody>
<contact><exclude body1="thigh" body2="shin"/></contact>
<equality><connect name="pin" body1="shin" anchor="0 0 -.4"/></equality>
<actuator><motor joint="knee" gear="3" armature="0.05" damping="0.2"/>
  <position name="servo" joint="hip" kp="3" group="2"/></actuator></mujoco>"""


def test_flags_and_what_is_behind_a_gear_are_those_of_mujoco(tmp_path: Path) -> None:
    """What is off in the file is off here; armature and damping of an actuator act by the square of its gear."""
    path = tmp_path / "off.xml"
    path.write_text(OFF)
    assert against_mujoco(path, 1) < 1e-12
    model = im.load(path)
    hip, knee = (model.joints[name].features["angle"] for name in ("hip", "knee"))
    assert (hip.stiffness, hip.friction, hip.limits, knee.viscous) == (0.0, 0.0, None, pytest.approx(0.5 + 9 * 0.2))
    assert hip.motor is None  # of a group that is off
    assert not [name for name, joint in model.joints.items() if joint.loop]
    told = {f"{note.part}: {note.text}" for note in model.import_report if note.kind == "converted"}
    assert told == {
        "equality 'pin': holds nothing: equalities are off",
        "actuator 'servo': does nothing: actuators are off, or those of its group",
        *(f"<flag>: {what} is off: the model has none" for what in ("frictionloss", "limit", "spring")),
    }
    lost = [str(note) for note in model.import_report.losses]
    assert "line 9: ignored: <exclude>: says which geoms touch; give the model materials, and `no_contact`" in lost


@pytest.mark.parametrize("seed", range(3))
def test_a_tendon_equality_is_a_coupling_of_its_joints(seed: int) -> None:
    """L₁ - L₁⁰ = 0.1 + 0.7 (L₂ - L₂⁰) of two tendons over two joints each: the dense KKT on MuJoCo's M, to rounding."""
    tied = {"knuckle": 0.5, "tip": -0.8, "base": -0.84, "lift": -0.28}
    assert against_mujoco(DATA / "tendons.xml", seed, tied=tied, rest=0.2) < 1e-12


def test_tendons_go_out_and_come_back(tmp_path: Path) -> None:
    """A coupling of several joints is a tendon's equality in MJCF; URDF refuses it by name, its springs are told."""
    model = im.load(DATA / "tendons.xml")
    told = [note for note in model.import_report.notes if note.part == "tendon 'opposed'"]
    assert len(told) == 1 and "without its stiffness" in told[0].text
    text, _ = to_mjcf(model, 0.001)
    (tmp_path / "again.xml").write_text(text)
    again = im.load(tmp_path / "again.xml")
    old, new = model.couplings["grasp"], again.couplings["grasp"]
    assert new.joints == old.joints and new.offset == pytest.approx(old.offset, rel=1e-14)
    assert [w for _, _, w in new.ends] == pytest.approx([w for _, _, w in old.ends], rel=1e-14)
    with pytest.raises(im.ModelError, match="coupling 'grasp': URDF has no counterpart of a coupling of more than two"):
        to_urdf(model)


def test_coordinates_are_those_of_the_file() -> None:
    """A joint's coordinate is the file's q, whatever it became and wherever it starts."""
    pose = {"rootx": 0.3, "rootz": 1.2, "rooty": -0.4, "hip": 0.5, "ankle x": 0.2, "ankle y": -0.7}
    model = im.load(DATA / "planar.xml", pose=pose)
    world = im.World(model)
    for name, value in pose.items():
        joint, group = model.import_report.coordinates[name]
        groups = [entry.name for entry in model.joints[joint].kind.groups]
        read = np.atleast_1d(world.joint(joint).position)[groups.index(group)]
        assert abs(read - value) < 1e-14, name
    assert model.joints["hip"].features["angle"].rest == pytest.approx(np.radians(15))


LOOPS = ["fourbar_joint.urdf", "fourbar_loop_joint.urdf", "fourbar_constraint.urdf", "fourbar.sdf", "fourbar.xml"]


def test_loops_of_five_dialects_are_one_mechanism() -> None:
    """A four-bar written five ways has one freedom, moves alike, and keeps its loop and its books."""
    ends = []
    for name in LOOPS:
        model = im.load(DATA / name)
        found = im.analysis.mobility(model)
        assert found.freedoms == 1
        assert found.redundant == (1 if name.endswith("xml") else 3)  # a ball in the plane of hinges, or a hinge
        world = im.World(model, dt=0.01, rtol=1e-9, atol=1e-9)  # cut elsewhere, another error of integration
        world.step(100)
        ends.append(float(world.joint("motor pin").position))
        assert world.constraint_error() < 1e-10
        energy = world.energy()
        assert abs(float(energy.imbalance)) < 1e-6 * abs(float(energy.start))
    assert abs(ends[0]) > 0.1
    assert np.ptp(ends) < 1e-7  # 100 steps of 1e-9


def test_the_report_lists_what_was_not_taken() -> None:
    report = im.load(DATA / "arm.urdf").import_report
    assert [(note.kind, note.part, note.line) for note in report] == [
        ("ignored", "joint 'shoulder'", 53),
        ("ignored", "joint 'reach'", 61),
        ("ignored", "joint 'left'", 73),
        ("ignored", "joint 'right'", 81),
        ("ignored", "<collision>", 18),
        ("ignored", "<transmission>", 84),
        ("merged", "link 'base'", 4),
        ("merged", "link 'tool'", 63),
    ]
    assert report.summary() == "arm.urdf (URDF): 6 ignored"
    with pytest.raises(im.ModelError, match=r"strict: arm.urdf \(URDF\): 6 ignored: line 53: ignored"):
        im.load(DATA / "arm.urdf", strict=True)
    assert im.load(DATA / "fourbar.sdf", strict=True).import_report.losses == []


@pytest.mark.parametrize("name", ["arm.urdf", "fourbar.sdf", "planar.xml"])
def test_scene_files_of_imports_have_the_same_bits(name: str) -> None:
    """What was read from another program's file goes through JSON to the same bits, and so does its motion."""
    model = im.load(DATA / name)
    text = json.dumps(model_to_json(model))
    again = model_from_json(json.loads(text))
    assert json.dumps(model_to_json(again)) == text
    worlds = [im.World(one, dt=0.01) for one in (model, again)]
    for world in worlds:
        world.step(5)
    for body in model.bodies:
        assert (worlds[0].body(body).position == worlds[1].body(body).position).all()


def test_fixed_joints_may_stay_and_the_base_may_float() -> None:
    """Kept or lumped, fixed or floating: freedoms 3, 3 and 3 + 6."""
    kept = im.load(DATA / "arm.urdf", fixed="keep")
    assert kept.joints["flange"].type == "fixed"
    assert im.analysis.mobility(kept).freedoms == 3
    floating = im.load(DATA / "arm.urdf", base="floating")
    assert im.analysis.mobility(floating).freedoms == 9
    assert floating.joints["base base"].type == "free"


def test_snap_makes_rounded_axes_exact() -> None:
    """Angles of four digits tilt axes by 1e-5: snapped, they are parallel to the bit, and each is in the report."""
    text = (DATA / "fourbar_constraint.urdf").read_text()
    rough = text.replace('parent_origin xyz="0.25 0 0" rpy="0 0 0"', 'parent_origin xyz="0.25 0 0" rpy="2e-5 0 3e-5"')
    rough = rough.replace('child_origin xyz="0.2 0 0" rpy="0 0 0"', 'child_origin xyz="0.20001 0 0" rpy="-1e-5 0 0"')
    assert rough.count("e-5") == 3
    model = read_with(rough, snap=1e-4)
    for joint in model.joints.values():
        for end, q in ((joint.first, joint.q_PF), (joint.second, joint.q_CM)):
            body = model.ground if end == "ground" else model.bodies[end]
            z = rotate(body.orientation, rotate(q, np.array([0.0, 0.0, 1.0])))
            assert np.abs(z - (0.0, 1.0, 0.0)).max() < 1e-15
    (note,) = model.import_report.losses
    assert note.part == "constraint 'loop pin'"
    assert "snapped: axis turned by 3.61e-05 rad" in note.text
    found = im.analysis.mobility(model)
    assert (found.freedoms, found.redundant) == (1, 3)


def rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    from impulsar.author.rotations import rotation_matrix

    return rotation_matrix(q) @ v


def read_with(text: str, **options: object) -> im.Model:
    from impulsar.io.imports.read import read_robot

    return read_robot(text.encode(), None, "file.urdf", options)


def test_an_open_loop_is_closed_and_told() -> None:
    """A pin 1e-3 m too far is closed by moving the links; the report says so, strict refuses it."""
    from impulsar.loading import ready

    text = (DATA / "fourbar_constraint.urdf").read_text().replace('child_origin xyz="0.2 ', 'child_origin xyz="0.201 ')
    model = ready(read_with(text))
    assert "is open by 0.001" in model.import_report.losses[0].text
    assert im.World(model).constraint_error() < 1e-9
    with pytest.raises(im.ModelError, match="strict"):
        ready(read_with(text), strict=True)


def robot(*inside: str) -> str:
    return f"<robot>{''.join(inside)}</robot>"


def hinge(inside: str = "", name: str = "j", first: str = "a", second: str = "b", type: str = "revolute") -> str:
    ends = f"<parent link='{first}'/><child link='{second}'/>"
    return f"<joint name='{name}' type='{type}'>{ends}{inside}</joint>"


SHARP = TWO.replace("izz='1'", "izz='3'")  # no body has such an inertia
RING = ("<link name='a'><pose relative_to='b'/></link>", "<link name='b'><pose relative_to='a'/></link>")
BOMB = "<replicate count='100000'><replicate count='100000'><body/></replicate></replicate>"
WRONG = {
    "not XML": ("robot", "line 1, column 0: syntax error"),
    "cut": ("<robot><link name='a'>", r"line 1.*no element found"),
    "text before": ("\n<?xml version='1.0'?><robot/>", r"take away what is before '<\?xml'"),
    "doctype": ("<!DOCTYPE robot [<!ENTITY a 'b'>]><robot/>", "has a DOCTYPE"),
    "deep": (robot("<a>" * 200, "</a>" * 200), "nested more than 100 deep"),
    "other": ("<html/>", "its root is <html>, expected <robot>"),
    "no link": ("<robot/>", "<robot> has no <link>"),
    "two links": (robot(LINK.format("a"), "\n", LINK.format("a")), "line 2: link 'a': a second one"),
    "no such link": (robot(LINK.format("b"), hinge()), "joint 'j': its parent is 'a', but there is"),
    "type": (robot(TWO, hinge(type="gimbal")), "type is 'gimbal', expected one of"),
    "axis": (robot(TWO, hinge("<axis xyz='0 0 0'/>")), "its axis is zero"),
    "numbers": (robot(TWO, hinge("<origin xyz='0, 0'/>")), "xyz is '0, 0', expected 3"),
    "nan": (robot(TWO, hinge("<origin xyz='nan 0 0'/>")), "xyz is 'nan 0 0'"),
    "xacro": (robot(TWO, hinge("<origin xyz='$(arg x)'/>")), "run `xacro` first"),
    "limits": (robot(TWO, hinge("<limit lower='1' upper='-1'/>")), r"swap them\?"),
    "mimic": (robot(TWO, hinge("<mimic joint='k'/>")), "mimics 'k', but there is no"),
    "triangle": (robot(SHARP, hinge()), r"link 'b': principal inertias \(1, 1, 3\) kg m² break the .* mend=True"),
    "weightless": (robot(LINK.format("a"), "<link name='b'/>", hinge()), "link 'b': weighs nothing and has 0"),
    "root": (robot(TWO, hinge(), hinge(name="k", first="b", second="a")), "has no root"),
    "sdf version": ("<sdf><model name='m'/></sdf>", "version of <sdf> is ''"),
    "sdf model": ("<sdf version='1.6'/>", "has no <model> that can be read"),
    "sdf ring": (f"<sdf version='1.7'><model name='m'>{RING[0]}{RING[1]}</model></sdf>", "relative to itself"),
    "mjcf include": ("<mujoco>\n<include file='/etc/passwd'/></mujoco>", "line 2: <include> in an upload"),
    "mjcf bomb": (f"<mujoco><worldbody>{BOMB}</worldbody></mujoco>", r"asks for \d+ elements, more than"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told(case: str) -> None:
    """Line, part, value and cure; never a traceback."""
    text, told = WRONG[case]
    with pytest.raises(im.ModelError, match=told):
        read_model("file.urdf", text.encode())


def test_inertias_are_mended_where_asked_and_points_are_points() -> None:
    text, _ = WRONG["triangle"]
    model = read_with(text, mend=True)
    assert model.bodies["b"].inertia == pytest.approx(np.eye(3) * 5 / 3)
    assert model.import_report.losses[0].kind == "changed"
    point = text.replace("ixx='1' iyy='1' izz='3'", "").replace("<mass", "<origin xyz='0 0 1'/><mass")
    model = read_with(point)
    assert "has mass and no inertia: a point" in model.import_report.losses[0].text
    world = im.World(model)  # hinge along x, mass at 1 m: at rest, upright
    assert abs(float(world.body("b").angular_acceleration[0])) < 1e-12


def test_files_outside_of_the_folder_are_not_read(tmp_path: Path) -> None:
    """Neither by .., nor by an absolute name, nor through a link; `assets` widens it."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "secret.xml").write_text("<mujoco><worldbody/></mujoco>")
    (tmp_path / "inner" / "link.xml").symlink_to(tmp_path / "secret.xml")
    for name in ("../secret.xml", str(tmp_path / "secret.xml"), "link.xml"):
        path = tmp_path / "inner" / "model.xml"
        path.write_text(f"<mujoco>\n<include file='{name}'/></mujoco>")
        with pytest.raises(im.ModelError, match=r"line 2: .* is not under the folder"):
            im.load(path)
        path.write_text(f"<mujoco><compiler meshdir='..'/><asset>\n<mesh file='{name}'/></asset></mujoco>")
        with pytest.raises(im.ModelError, match=r"line 2: .* is not under the folder"):
            im.load(path)
    path.write_text("<mujoco><include file='../secret.xml'/><worldbody><body><freejoint/><geom size='1'/></body>"
                    "</worldbody></mujoco>")  # fmt: skip
    assert len(im.load(path, assets=str(tmp_path)).bodies) == 1


def test_a_mesh_is_drawn_and_touches_by_its_hull_from_under_the_folder_only(tmp_path: Path) -> None:
    corners = [(x, y, z) for x in (1, 3) for y in (0, 1) for z in (0, 1)]
    (tmp_path / "box.obj").write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "f 1 2 3\nf 5 6 7\n")
    mesh = "<geometry><mesh filename='{0}' scale='2 1 1'/></geometry>"
    mesh = f"<visual>{mesh}</visual><collision>{mesh}</collision></link>"
    body = LINK.format("a").replace("</link>", mesh)
    path = tmp_path / "one.urdf"
    path.write_text(f"<robot>{body.replace('{0}', 'package://any/box.obj')}</robot>")
    found = im.load(path).bodies["a"]
    (shape,), (visual,) = found.shapes, found.visuals
    assert np.asarray(shape.points).max(axis=0) == pytest.approx((6, 1, 1))
    assert np.asarray(visual.shape.vertices)[visual.shape.triangles].shape == (2, 3, 3)  # triangles as they are
    assert np.asarray(visual.shape.vertices).max(axis=0) == pytest.approx((6, 1, 1))
    for name, told in (("../x.obj", "is not under"), ("a.dae", "is not under"), ("box.obj", "taken as its hull")):
        path.write_text(f"<robot>{body.replace('{0}', name)}</robot>")
        assert told in str(im.load(path).import_report)


def test_without_mujoco_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    done = SimpleNamespace(stdout=b'{"missing": "mujoco"}', returncode=0)
    monkeypatch.setattr(apart.subprocess, "run", lambda *_, **__: done)
    with pytest.raises(im.ModelError, match=r"pip install impulsar\[mjcf\]"):
        im.load(DATA / "planar.xml")


def test_options_that_there_are_not_are_refused() -> None:
    for options, told in (
        ({"snap": 1.0}, "snap is 1.0, expected a number > 0 and at most 0.01"),
        ({"base": "hung"}, "base is 'hung', expected one of"),
        ({"colour": 1}, "no option 'colour' for .urdf; its options are: snap, base"),
        ({"pose": {"elbow": 1}}, "pose: no joint named 'elbow'"),
        ({"assets": "/nowhere at all"}, "expected a folder"),
    ):
        with pytest.raises(im.ModelError, match=told):
            im.load(DATA / "arm.urdf", **options)


def test_the_command_line_takes_them(capsys: pytest.CaptureFixture) -> None:
    """`impulsar run FILE --set OPTION=VALUE` prints the losses to standard error."""
    assert main(["run", str(DATA / "fourbar.sdf"), "--duration", "0.02", "--json"]) == 0
    out = capsys.readouterr()
    assert json.loads(out.out)["model"] == "four-bar"
    assert "fourbar.sdf (SDF): taken whole" in out.err
    assert main(["run", str(DATA / "arm.urdf"), "--set", "strict=true", "--duration", "0.01"]) == 2
    assert "line 53: ignored: joint 'shoulder'" in capsys.readouterr().err


def test_a_joint_that_follows_a_fixed_one_is_fixed_there() -> None:
    """q = multiplier · 0 + offset, and the report says so."""
    third = LINK.format("c")
    text = robot(TWO, third, hinge(type="fixed"), hinge("<mimic joint='j' offset='0.5'/>", "k", "a", "c"))
    model = read_with(text, fixed="keep")
    assert model.joints["k"].type == "fixed"
    assert model.bodies["c"].orientation == pytest.approx((np.sin(0.25), 0, 0, np.cos(0.25)))
    assert "follows 'j', which does not move it: now fixed" in str(model.import_report)


@pytest.mark.study
def test_ten_thousand_changed_files_load_or_are_refused() -> None:
    """Own readers and scans: no traceback, nothing that a reader did not foresee."""
    found, broken = feed(sorted(path for path in DATA.iterdir() if path.is_file()), 10_000, seed=1)
    assert broken == []
    assert min(found.values()) > 1_000


WELD = """<mujoco><worldbody>
<body name="a"><joint name="j" type="hinge" axis="0 1 0"/><geom size=".1"/></body>
<body name="b" pos="1 0 0"><joint name="k" type="hinge" axis="0 1 0"/><geom size=".1"/></body>
</worldbody><equality><weld body1="a" body2="b" anchor="0 0 2"/></equality></mujoco>"""


def test_a_weld_holds_at_its_anchor(tmp_path: Path) -> None:
    """The anchor is a point of the second body; the pose of the file is the one that is welded."""
    pytest.importorskip("mujoco")
    path = tmp_path / "weld.xml"
    path.write_text(WELD)
    model = im.load(path)
    assert model.import_report is not None
    assert not any("open" in note.text for note in model.import_report)
    weld = model.joints["weld 0"]
    np.testing.assert_allclose(weld.p_CM, (0, 0, 2), atol=1e-15)
    np.testing.assert_allclose(weld.p_PF, (1, 0, 2), atol=1e-15)


def test_actuators_that_are_no_motors_say_why(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    path = tmp_path / "driven.xml"
    path.write_text(
        """<mujoco><worldbody><body name="a"><joint name="j" type="hinge"/><geom size=".1"/></body></worldbody>
        <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
        <actuator><motor name="of tendon" tendon="t"/>
        <general name="slow" joint="j" dyntype="filter" dynprm="0.1"/></actuator></mujoco>"""
    )
    told = {note.part: note.text for note in im.load(path).import_report or ()}
    assert told["actuator 'of tendon'"].startswith("drives a tendon")
    assert told["actuator 'slow'"].startswith("has a state of its own (filter)")


HUNG = """<robot name="a"><link name="base"/>
<link name="arm"><inertial><origin xyz="0 0 -1"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="held" type="fixed"><parent link="world"/><child link="base"/></joint>
<joint name="swings" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""


def test_the_world_may_be_a_parent_without_a_link(tmp_path: Path) -> None:
    """As Drake has it: then every link hangs on something, and there is no root."""
    path = tmp_path / "hung.urdf"
    path.write_text(HUNG)
    assert list(im.load(path).joints) == ["swings"]


def test_a_link_called_world_is_held(tmp_path: Path) -> None:
    """Of SDF, where it has no inertia of its own: the name is the world's from 1.7 on."""
    path = tmp_path / "world.sdf"
    path.write_text(
        """<sdf version="1.6"><model name="m"><link name="world"/><link name="arm"/>
        <joint name="j" type="prismatic"><parent>world</parent><child>arm</child>
        <axis><xyz>1 0 0</xyz></axis></joint></model></sdf>"""
    )
    model = im.load(path)
    assert (list(model.bodies), model.joints["j"].first) == (["arm"], "ground")
    assert "and the world's name: held" in str(model.import_report)
    assert "\0" not in str(model.import_report)


@pytest.mark.parametrize(
    ("what", "by", "told"),
    [
        ('xyz="0 0 -1"', 'xyz="0, 0, -1"', "expected 3 numbers with blanks between them, and no commas"),
        ("</robot>", "</robot>\0", "there is a NUL byte; take it away"),
    ],
)
def test_cures_name_what_is_in_the_way(tmp_path: Path, what: str, by: str, told: str) -> None:
    path = tmp_path / "hung.urdf"
    path.write_text(HUNG.replace(what, by))
    with pytest.raises(im.ModelError, match=told):
        im.load(path)


def test_a_file_beside_the_folder_is_told_with_the_folder_to_give(tmp_path: Path) -> None:
    (tmp_path / "robot").mkdir()
    (tmp_path / "meshes").mkdir()
    path = tmp_path / "robot" / "a.xml"
    path.write_text(
        """<mujoco><compiler meshdir="../meshes"/><asset><mesh name="m" file="m.stl"/></asset>
        <worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>"""
    )
    told = f"names the file 'm.stl' in '../meshes'.*give assets='{tmp_path}'"
    with pytest.raises(im.ModelError, match=told):
        im.load(path)


def test_a_name_too_long_for_a_file_is_the_name_of_none(tmp_path: Path) -> None:
    path = tmp_path / "hung.urdf"
    mesh = f'<visual><geometry><mesh filename="{"a" * 400}.stl"/></geometry></visual>'
    path.write_text(HUNG.replace("</inertial></link>", f"</inertial>{mesh}</link>"))
    assert "is not under" in str(im.load(path).import_report)
    path = tmp_path / "long.xml"
    path.write_text(f"<mujoco>\n<include file='{'a' * 400}.xml'/></mujoco>")
    with pytest.raises(im.ModelError, match=r"line 2: includes 'a.*which there is not"):
        im.load(path)


def test_a_weld_without_torque_is_a_ball(tmp_path: Path) -> None:
    """MuJoCo's torquescale="0" holds the anchor and no angle."""
    path = tmp_path / "ball.xml"
    arms = "<body><freejoint/><geom size='.1'/></body><body name='b' pos='.5 0 0'><freejoint/><geom size='.1'/></body>"
    weld = "<weld body1='b' anchor='.1 0 0' torquescale='0'/>"
    path.write_text(f"<mujoco><worldbody>{arms}</worldbody><equality>{weld}</equality></mujoco>")
    model = im.load(path)
    assert model.joints["weld 0"].type == "spherical"
    assert im.analysis.mobility(model).freedoms == 6 + 3


def test_options_that_do_nothing_are_told(tmp_path: Path) -> None:
    """A key frame of a file that has none, a pose of a joint that others place, one outside of limits."""
    with pytest.raises(im.ModelError, match="key is 'home', but such a file has no key frames"):
        im.load(DATA / "arm.urdf", key="home")
    with pytest.raises(im.ModelError, match="'loop pin' closes a loop, and is where the others put it"):
        im.load(DATA / "fourbar_loop_joint.urdf", pose={"loop pin": 0.1})
    report = im.load(DATA / "arm.urdf", pose={"shoulder": 7.0}).import_report
    assert "changed: joint 'shoulder': starts at 7, as `pose` asks, outside of its limits" in str(report)


def test_mjcf_of_another_suffix_is_read(tmp_path: Path) -> None:
    """MuJoCo has no decoder for `.mjcf`; what such a file includes is found beside it."""
    (tmp_path / "inner.xml").write_text("<mujocoinclude><option gravity='0 0 -1'/></mujocoinclude>")
    for name in ("robot.mjcf", "robot.XML"):
        body = "<worldbody><body name='a'><freejoint/><geom size='.1'/></body></worldbody>"
        (tmp_path / name).write_text(f"<mujoco><include file='inner.xml'/>{body}</mujoco>")
        model = im.load(tmp_path / name)
        assert (list(model.bodies), model.gravity[2]) == (["a"], -1.0)


def test_velocities_of_a_key_frame_are_told(tmp_path: Path) -> None:
    """A start at a key frame is at rest, and says so; going to it has its velocities."""
    path = tmp_path / "key.xml"
    body = "<body name='a'><joint name='j'/><geom size='.1'/></body>"
    keys = "<keyframe><key name='h' qpos='0.3' qvel='2'/><key name='k' qpos='0.4'/></keyframe>"
    path.write_text(f"<mujoco><worldbody>{body}</worldbody>{keys}</mujoco>")
    model = im.load(path, key="h")
    assert "ignored: key 'h': its velocities: the model starts at rest" in str(model.import_report)
    world = im.World(model)
    assert (world.joint("j").position, world.joint("j").velocity) == (pytest.approx(0.3), 0.0)
    world.go_to("h")
    assert world.joint("j").velocity == pytest.approx(2.0)
    assert "key" not in str(im.load(path, key="k").import_report).split("\n", 1)[1]
