"""SDF of models within models, worlds of several, mimic, static and automatic inertia; nothing is lost in silence."""

from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar.io.export.sdf import to_sdf

LINK = "<inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>"
WHEEL = f"""<sdf version="1.9"><model name="wheel"><pose>9 9 9 0 0 0</pose>
  <frame name="hub"><pose>0 0 0.5 0 0 0</pose></frame><link name="rim">{LINK}</link></model></sdf>"""
CART = f"""<sdf version="1.9"><world name="w"><frame name="stand"><pose>0 0 9 0 0 0</pose></frame>
  <model name="cart"><pose relative_to="stand">1 0 0 0 0 0</pose><link name="bed">{LINK}</link>
    <include><uri>model://wheel</uri><name>left</name><pose relative_to="bed">0 1 0 0 0 1.5707963267948966</pose>
      <placement_frame>hub</placement_frame><plugin name="x"/></include>
    <include><uri>model://wheel</uri><name>right</name><pose>0 -1 0 0 0 0</pose></include>
    <include><uri>model://sun</uri></include>
    <joint name="l" type="revolute"><parent>bed</parent><child>left::hub</child>
      <axis><xyz expressed_in="__model__">0 1 0</xyz></axis></joint>
    <joint name="r" type="revolute"><parent>bed</parent><child>right</child><axis><xyz>0 1 0</xyz>
      <mimic joint="l"><multiplier>-2</multiplier><offset>0.1</offset><reference>0.2</reference></mimic></axis></joint>
  </model>
  <model name="floor"><static>true</static><link name="slab">{LINK}</link><link name="lid">{LINK}</link>
    <joint name="hatch" type="revolute"><parent>slab</parent><child>lid</child></joint></model>
</world></sdf>"""


def read(tmp_path: Path, text: str, **options: object) -> im.Model:
    (tmp_path / "robot.sdf").write_text(text)
    return im.load(tmp_path / "robot.sdf", **options)


def one(inside: str) -> str:
    return f"<sdf version='1.11'><model name='m'>{inside}</model></sdf>"


def test_models_within_models_are_where_their_frames_put_them(tmp_path: Path) -> None:
    """An included model, placed by a frame of its own, held by a joint to that frame; one that follows another."""
    (tmp_path / "wheel").mkdir()
    (tmp_path / "wheel" / "model.config").write_text("<model><sdf version='1.9'>made.sdf</sdf></model>")
    (tmp_path / "wheel" / "made.sdf").write_text(WHEEL)
    model = read(tmp_path, CART, pose={"cart::l": 0.15})  # so that the other is at -2 (0.15 - 0.2) + 0.1 = 0.2
    assert list(model.bodies) == ["cart::bed", "cart::left::rim", "cart::right::rim"]
    np.testing.assert_allclose(model.bodies["cart::right::rim"].position, (1, -1, 9), atol=1e-14)
    hub = model.bodies["cart::left::rim"].position + np.array((0.5 * np.sin(0.15), 0, 0.5 * np.cos(0.15)))
    np.testing.assert_allclose(hub, (1, 1, 9), atol=1e-14)
    world = im.World(model)
    assert world.joint("cart::r").position == pytest.approx(0.2, abs=1e-14)
    assert im.analysis.mobility(model).freedoms == 7
    told = str(model.import_report)
    assert "line 6: ignored: include 'model://sun': is not under" in told
    assert "line 4: ignored: <plugin>: is not read" in told
    assert "ignored: joint 'floor::hatch': its model is static: nothing of it moves" in told
    assert im.analysis.mobility(read(tmp_path, CART, base="fixed")).freedoms == 2  # the wheels, and the hatch


def test_names_of_models_within_models_go_out_and_come_back(tmp_path: Path) -> None:
    """SDF keeps "::" for itself: parts, ends of joints, leaders and frames have a point instead."""
    inner = f"<model name='in'><link name='arm'><pose>0 0 1 0 0 0</pose>{LINK}</link><frame name='f'/></model>"
    joint = "<joint name='{}' type='prismatic'><parent>{}</parent><child>{}</child>{}</joint>"
    mimic = "<axis><xyz>1 0 0</xyz><mimic joint='j'/></axis>"
    joints = joint.format("j", "world", "a", "<axis/>") + joint.format("k", "a", "in::arm", mimic)
    model = read(tmp_path, one(f"<link name='a'>{LINK}</link>{inner}{joints}"))
    text, report = to_sdf(model)
    assert "::" not in text
    assert [note.text for note in report] == ["is called 'in.arm' there", "is called 'in.f' there"]
    again = read(tmp_path, text, strict=True)
    assert (list(again.bodies), list(again.couplings), list(again.probes)) == (["a", "in.arm"], ["k mimic"], ["in.f"])
    np.testing.assert_allclose(again.bodies["in.arm"].position, (0, 0, 1), atol=0)


def test_a_file_is_included_from_its_folder_alone(tmp_path: Path) -> None:
    """Not from elsewhere, not by itself, and what is wrong in it has the line of its <include>."""
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "out.sdf").write_text(WHEEL)
    for uri, told in (
        ("../out.sdf", "has no <link>: include '../out.sdf' is not under 'in'; give assets="),
        ("robot.sdf", "line 1: model 'm': nested more than 50 deep"),
        ("bad.sdf", "line 1: included 'bad.sdf': line 1, column 12: no element found"),
    ):
        (folder / "bad.sdf").write_text("<sdf><model>")
        with pytest.raises(im.ModelError, match=told):
            read(folder, one(f"<include><uri>{uri}</uri></include>"))
    ring = "<model name='s' placement_frame='b'><pose relative_to='f'/><link name='b'/></model>"
    with pytest.raises(im.ModelError, match="model 's': its pose is relative to itself"):
        read(folder, one(f"{ring}<frame name='f' attached_to='s::b'/>"))


def test_automatic_inertia_is_of_the_collision_shapes(tmp_path: Path) -> None:
    """ρ V of a box of 500 kg/m³ and a ball of water beside it, about their common centre."""
    geometry = (
        "<collision name='c'><density>500</density><geometry><box><size>1 2 3</size></box></geometry></collision>"
    )
    ball = "<pose>0 0 4 0 0 0</pose><geometry><sphere><radius>0.5</radius></sphere></geometry>"
    solids = f"<inertial auto='true'/>{geometry}<collision name='d'>{ball}</collision>"
    body = read(tmp_path, one(f"<link name='a'>{solids}</link>")).bodies["a"]
    box, other = 3000.0, 1000.0 * np.pi / 6
    assert body.mass == pytest.approx(box + other, rel=1e-14)
    assert body.position[2] == pytest.approx(4 * other / (box + other), rel=1e-14)
    arm = box * other / (box + other) * 16
    assert body.inertia[0, 0] == pytest.approx(box * 13 / 12 + other * 0.1 + arm, rel=1e-14)
    with pytest.raises(im.ModelError, match="link 'a': its mass is that of its <collision>, and it has none"):
        read(tmp_path, one("<link name='a'><inertial auto='true'/></link>"))


def test_what_nobody_reads_is_told(tmp_path: Path) -> None:
    """Elements and attributes however deep, once each with the first line and how many there are."""
    lost = "<contact>\n<surface><friction/></surface></contact>"
    model = read(
        tmp_path,
        one(
            f"<link name='a'>{LINK}<collision name='c'><geometry><box><size>1 1 1</size></box><sphere/></geometry>"
            f"<surface/></collision><collision name='d'>{lost}<geometry/></collision></link>"
        ),
    )
    told = [(note.part, note.text) for note in model.import_report.losses]
    assert ("<surface>", "is not read") in told
    assert ("<sphere>", "is not read") in told
    assert ("<contact>", "is not read") in told
    (tmp_path / "robot.urdf").write_text(
        "<robot name='r' xmlns:xacro='x'><link name='a'/>\n<link name='b'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1'/></inertial><inertial/></link>\n<joint name='j' type='continuous'>"
        "<parent link='a'/><child link='b'/><limit lower='-1' upper='1'/></joint></robot>"
    )
    told = [str(note) for note in im.load(tmp_path / "robot.urdf").import_report.losses]
    assert told == [
        "line 2: ignored: <inertial>: is not read",
        "line 3: ignored: <limit lower>: is not read",
        "line 3: ignored: <limit upper>: is not read",
    ]


def test_what_a_link_has_may_be_placed_by_another_frame(tmp_path: Path) -> None:
    """The centre of mass of one link, given in a frame on another: at (3, 0, 1) of the model, (2, 0, 1) of the link."""
    inertial = LINK.replace("<mass>", "<pose relative_to='f'>0 1 0 0 0 0</pose><mass>")
    frame = "<frame name='f'><pose>4 0 1 0 0 1.5707963267948966</pose></frame>"
    model = read(tmp_path, one(f"{frame}<link name='a'><pose>1 0 0 0 0 0</pose>{inertial}</link>"), strict=True)
    np.testing.assert_allclose(model.bodies["a"].position, (3, 0, 1), atol=1e-15)
    np.testing.assert_allclose(model.bodies["a"].p_BL, (-2, 0, -1), atol=1e-15)


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    """Latin-1 without its name, nothing at all, decimal commas: each with its cure."""
    path = tmp_path / "robot.urdf"
    for data, told in (
        ("<robot name='é'/>".encode("latin-1"), "line 1, column 13: .* save the file as UTF-8, or name its encoding"),
        (b" \n", "is empty; export it again"),
        (b"<robot><link name='a'><inertial><mass value='1,5'/></inertial></link></robot>", "a number with a point"),
    ):
        path.write_bytes(data)
        with pytest.raises(im.ModelError, match=told):
            im.load(path)
