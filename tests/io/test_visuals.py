"""Author's frames and what is drawn of bodies beside what touches: kept by models, files, edits, importers, writers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.rotations import rotation_matrix
from impulsar.io import model_from_json, model_to_json
from impulsar.io.export.gltf import to_glb
from impulsar.io.export.mjcf import to_mjcf
from impulsar.io.export.sdf import to_sdf
from impulsar.io.export.surface import shape_surface
from impulsar.io.export.urdf import to_urdf
from impulsar.io.python import to_script
from impulsar.studio import describe

DATA = Path(__file__).parents[1] / "data" / "imports"
Q = (0.0, np.sin(0.2), 0.0, np.cos(0.2))  # 0.4 rad about y


def arm() -> im.Model:
    """A pendulum that is seen as a red rod and a ball, touches as a box, and was told from its hinge."""
    model = im.Model("arm")
    rod = im.Visual(im.Cylinder(0.02, 0.4), "#FF0000", "rod")
    model.body("rod", mass=1.0, inertia=(0.02, 0.02, 0.01), position=(0, 0, -0.2), shape=im.Box((0.05, 0.05, 0.4)),
               visual=[rod, im.Sphere(0.05, offset=(0, 0, -0.2))], link=((0, 0, 0.2), Q))  # fmt: skip
    model.joint("hinge", "revolute", "ground", "rod", at=(0, 0, 0), axis=(0, 1, 0))
    model.probe("tip", "rod", at=("rod", (0.1, 0, 0), "link"))
    return model


def test_a_point_may_be_told_from_the_link() -> None:
    """X_WL = X_WB X_BL as it moves, and a point of L is the probe that was given in L."""
    world = im.World(arm(), dt=0.01)
    world.run(0.3)
    body = world.body("rod")
    R = rotation_matrix(body.orientation)
    assert body.link_position == pytest.approx(body.position + R @ (0, 0, 0.2), abs=1e-14)
    assert rotation_matrix(body.link_orientation) == pytest.approx(R @ rotation_matrix(np.array(Q)), abs=1e-14)
    at = body.link_position + rotation_matrix(body.link_orientation) @ (0.1, 0, 0)
    assert body.point((0.1, 0, 0), "link") == pytest.approx(at, abs=1e-14)
    assert world.run(0.01)["probe"].sel(name="tip").values[-1] == pytest.approx(body.point((0.1, 0, 0), "link"))
    with pytest.raises(im.ModelError, match="at is in frame 'hand', expected 'body' or 'link'"):
        body.point((0, 0, 0), "hand")


def test_files_and_scripts_keep_them() -> None:
    """JSON to JSON and by a script, the same text; a visual's colour and name are in it."""
    text = model_to_json(arm())
    again = model_from_json(text)
    assert model_to_json(again) == text
    assert [(one.colour, one.name) for one in again.bodies["rod"].visuals] == [("#ff0000", "rod"), (None, "")]
    space: dict[str, Any] = {"__name__": "script"}
    exec(to_script(arm()), space)
    assert model_to_json(space["model"]) == text


def test_shapes_that_give_the_mass_move_all_that_was_told_from_them() -> None:
    """The origin goes to the centroid: visuals and link keep their place among the shapes."""
    model = im.Model("one")
    box = im.Box((0.1, 0.1, 0.1), offset=(0.3, 0, 0))
    body = model.body("a", shape=box, density=1000.0, visual=im.Sphere(0.1), link=((0, 0, 0), (0, 0, 0, 1)))
    assert np.asarray(body.visuals[0].shape.offset) - body.shapes[0].offset == pytest.approx((-0.3, 0, 0))
    assert body.p_BL == pytest.approx((-0.3, 0, 0))


def test_they_are_edits_with_undo() -> None:
    """Visuals and the link frame are set and set back, a removed body comes back with them, an image has theirs."""
    world = im.World(arm(), dt=0.01)
    start = json.dumps(model_to_json(world.model))
    for path, value in (("rod.visual", im.Visual(im.Box((0.1, 0.1, 0.1)), "#00ff00")), ("rod.visuals", None),
                        ("rod.link", ((0.0, 0.1, 0.0), (0.0, 0.0, 0.0, 1.0)))):  # fmt: skip
        answer = world.set(path, value)
        assert json.dumps(model_to_json(world.model)) != start
        world.apply(answer.inverse)
        assert json.dumps(model_to_json(world.model)) == start
    world.apply(edits.Add("body", "free", {"mass": 1.0, "inertia": (1, 1, 1), "position": (1, 0, 0),
                                           "visual": im.Visual(im.Sphere(0.1), "#0000ff", "ball"),
                                           "link": ((0.1, 0, 0), Q)}))  # fmt: skip
    added = world.model.bodies["free"]
    world.apply(world.remove("body", "free").inverse)
    back = world.model.bodies["free"]
    assert back.visuals[0].name == "ball" and back.p_BL.tolist() == added.p_BL.tolist()
    world.apply(edits.Mirror(("rod",), point=(0, 1, 0), normal=(0, 1, 0)))
    image = world.model.bodies["rod 2"]
    assert len(image.visuals) == 2
    mirrored = image.world_point(image.p_BL)
    assert mirrored == pytest.approx(
        np.array([1, -1, 1]) * world.model.bodies["rod"].world_point((0, 0, 0.2)) + (0, 2, 0)
    )
    with pytest.raises(im.ModelError, match="visual is 3, expected a shape or a Visual"):
        world.set("rod.visual", 3)
    with pytest.raises(im.ModelError, match="its shape has material 'steel', but it never touches"):
        im.Visual(im.Sphere(0.1, material="steel"))


def test_pages_are_told_of_them() -> None:
    """A body's message has visuals with their colours and the link's frame; a body without them has none."""
    told = describe._body(im.World(arm()), "rod")
    assert [one.colour for one in told.visuals] == ["#ff0000", None] and len(told.shapes) == 1
    assert told.link is not None and told.link[0] == [0.0, 0.0, 0.2]


def test_an_animation_has_a_colour_for_each_visual() -> None:
    """glTF: materials of both colours, the second on a node under the body's."""
    world = im.World(arm(), dt=0.01)
    data = to_glb(world.model, world.run(0.05, every=0.01))
    head = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])
    assert len(head["materials"]) == 2 and head["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"][0] == 1.0
    (node,) = [node for node in head["nodes"] if node["name"] == "rod" and "children" in node]
    assert head["nodes"][node["children"][0]]["name"] == "rod"


def seen(model: im.Model) -> dict[str, list]:
    """By body: where its link is, name, colour and corners of each visual in the link's frame, corners of shapes."""
    found = {}
    for body in model.bodies.values():
        R = rotation_matrix(body.q_BL)

        def corners(shape: Any, body: Any = body, R: np.ndarray = R) -> np.ndarray:
            points = (shape_surface(shape)[0] - body.p_BL) @ R
            return np.unique(np.round(points, 9) + 0.0, axis=0)

        visuals = [(one.name, one.colour, corners(one.shape)) for one in body.visuals]
        found[body.name] = [body.world_point(body.p_BL), visuals, [corners(shape) for shape in body.shapes]]
    return found


def to_mjcf_files(model: im.Model, files: dict[str, bytes]) -> tuple[str, Any]:
    return to_mjcf(model, 0.001)


@pytest.mark.parametrize(
    ("write", "suffix"), [(to_urdf, "urdf"), (to_sdf, "sdf"), (to_mjcf_files, "xml")], ids=["urdf", "sdf", "mjcf"]
)
@pytest.mark.parametrize("has_mesh", [False, True], ids=["primitives", "mesh"])
def test_import_export_import_keeps_frames_visuals_and_colours(
    write: Callable, suffix: str, has_mesh: bool, tmp_path: Path
) -> None:
    """URDF with visuals and collisions of their own, written in each format and read again: the same to 1e-9 m."""
    model = im.load(DATA / "seen.urdf")
    assert [(one.name, one.colour) for one in model.bodies["arm"].visuals] == [("tube", "#ff0000"), ("cap", "#666699")]
    assert model.bodies["arm"].p_BL == pytest.approx((-0.1, -0.02, -0.2)) and len(model.bodies["arm"].shapes) == 1
    if has_mesh:
        corners = [(0.0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)]
        mesh = im.Mesh(corners, [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)], offset=(0, 0, 0.1))
        model.bodies["hand"].visuals.append(im.Visual(mesh, "#123456", "grip"))
    files: dict[str, bytes] = {}
    text, _ = write(model, files)
    (tmp_path / f"again.{suffix}").write_text(text)
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    again = im.load(tmp_path / f"again.{suffix}")
    old, new = seen(model), seen(again)
    usual = {"hand": "#f28e2b"}  # of a visual without a colour: its body's, by its place in the list
    for name, (place, visuals, shapes) in old.items():
        assert new[name][0] == pytest.approx(place, abs=1e-9)
        assert [label for label, _, _ in new[name][1]] == [label for label, _, _ in visuals]
        colours = [colour or usual[name] for _, colour, _ in visuals]
        assert [colour for _, colour, _ in new[name][1]] == colours
        for (_, _, mine), (_, _, theirs) in zip(visuals, new[name][1], strict=True):
            assert theirs.shape == mine.shape and np.abs(theirs - mine).max() < 2e-7
        for mine, theirs in zip(shapes, new[name][2], strict=True):
            assert theirs.shape == mine.shape and np.abs(theirs - mine).max() < 1e-8
