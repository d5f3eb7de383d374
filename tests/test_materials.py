"""Materials, pairs, obstacles and exclusions: what a person writes of contact, in models, files and live edits."""

import json
import math
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.materials import COMMON, contact_properties, materials_in_use, users
from impulsar.author.parts import NOT_GIVEN, PARTS
from impulsar.author.surfaces import Material
from impulsar.author.touching import Exclusions, may_touch, rigid_groups, touching_pairs, touching_shapes
from impulsar.io import FileError, model_from_json, model_to_json
from impulsar.studio import describe
from impulsar.studio.parts import Parts

CUBE = im.Box((0.1, 0.1, 0.1))
CONTACT_KINDS = ("material", "material_pair", "obstacle", "no_contact")
NUMBERS = ("friction", "static", "restitution", "rolling", "spinning")


def table() -> im.Model:
    """A box, a ball and a lamp on an arm over a floor: materials of bodies, of shapes, common and declared."""
    model = im.Model("table")
    model.material("felt", friction=0.4, static=0.6, restitution=0.2, rolling=1e-3, spinning=2e-3)
    model.material("cork", friction=0.9)
    model.body("box", mass=0.2, shape=CUBE, position=(0, 0, 1), material="felt")
    model.body("ball", mass=0.1, shape=[im.Sphere(0.05, material="cork"), im.Sphere(0.01)], position=(0, 1, 1))
    model.body("arm", mass=1.0, shape=CUBE, position=(1, 0, 1), material="steel")
    model.body("lamp", mass=1.0, shape=[CUBE, CUBE], position=(1, 0, 2))
    model.joint("hinge", "revolute", "ground", "arm", at=(1, 0, 1), axis=(0, 1, 0))
    model.joint("neck", "revolute", "arm", "lamp", at=(1, 0, 1.5), axis=(0, 1, 0))
    model.obstacle("floor", im.Box((9, 9, 1)), position=(0, 0, -0.5), material="concrete")
    model.obstacle("wall", im.Box((1, 9, 9), material="wood"), position=(-5, 0, 0), material="steel")
    model.obstacle("sign", CUBE, position=(0, 4, 1))
    model.material_pair("felt", "steel", friction=0.25, restitution=0.7)
    model.no_contact("box", "wall")
    return model


def moved(world: im.World) -> dict:
    return {name: world.body(name).position.tolist() for name in world.model.bodies}


# numbers of two materials -------------------------------------------------------------------------


def test_defaults_of_a_material():
    """Only friction is asked for; static friction is then the same, and nothing bounces, rolls or spins hard."""
    plain = im.Model().material("plain", friction=0.3)
    assert [getattr(plain, what) for what in NUMBERS] == [0.3, None, 0.0, 0.0, 0.0]
    model = im.Model()
    model.material("plain", friction=0.3)
    assert contact_properties(model, "plain", "plain").static == 0.3


def test_without_a_pair_means_are_geometric_and_the_smaller_restitution_holds():
    model = im.Model()
    model.material("a", friction=0.2, static=0.5, restitution=0.3, rolling=1e-3, spinning=4e-3)
    model.material("b", friction=0.8, restitution=0.6, rolling=4e-3, spinning=9e-3)
    found = contact_properties(model, "a", "b")
    assert found.friction == pytest.approx(0.4, rel=1e-15)
    assert found.static == pytest.approx(math.sqrt(0.5 * 0.8), rel=1e-15)
    assert found.restitution == 0.3
    assert found.rolling == pytest.approx(2e-3, rel=1e-15)
    assert found.spinning == pytest.approx(6e-3, rel=1e-15)
    assert found == contact_properties(model, "b", "a")


def test_a_pair_takes_the_place_of_what_it_gives():
    """In whichever order; what it does not give stays as the rule has it, but static friction follows its friction."""
    model = table()
    rule = contact_properties(im_without_pairs(model), "felt", "steel")
    for a, b in (("felt", "steel"), ("steel", "felt")):
        found = contact_properties(model, a, b)
        assert (found.friction, found.static, found.restitution) == (0.25, 0.25, 0.7)
        assert (found.rolling, found.spinning) == (rule.rolling, rule.spinning)
    model.material_pair("felt", "felt", rolling=0.5)
    own = contact_properties(model, "felt", "felt")
    assert (own.friction, own.static, own.rolling) == (pytest.approx(0.4), pytest.approx(0.6), 0.5)
    model.material_pair("cork", "felt", friction=0.5, static=0.7)
    assert contact_properties(model, "felt", "cork").static == 0.7


def im_without_pairs(model: im.Model) -> im.Model:
    bare = model.copy()
    bare.material_pairs = {}
    return bare


@pytest.mark.parametrize("a", COMMON)
@pytest.mark.parametrize("b", COMMON)
def test_common_materials(a, b):
    """Each keeps the rules of a material; together friction <= static, and against itself it is what it is."""
    COMMON[a].check()
    found = contact_properties(im.Model(), a, b)
    assert 0 < found.friction <= found.static
    if a == b:
        assert found.friction == pytest.approx(COMMON[a].friction, rel=1e-15)
        assert found.restitution == COMMON[a].restitution


def test_the_docs_list_the_common_materials():
    """docs/contact.md has a line with the figures of each."""
    page = (Path(__file__).parents[1] / "docs" / "contact.md").read_text(encoding="utf-8")
    for own in COMMON.values():
        line = next(line for line in page.splitlines() if line.startswith(f"| `{own.name}` "))
        told = [float(cell.split("(")[0]) for cell in line.split("|")[2:5]]
        assert told == [own.friction, own.static, own.restitution]


def test_a_declared_material_wins_over_a_common_one():
    model = im.Model()
    assert contact_properties(model, "steel", "steel").friction == pytest.approx(COMMON["steel"].friction)
    model.material("steel", friction=0.1)
    assert contact_properties(model, "steel", "steel").friction == pytest.approx(0.1)
    assert COMMON["steel"].friction != 0.1


# who touches whom ---------------------------------------------------------------------------------


def test_a_shape_with_a_material_touches_and_its_own_wins():
    found = {(shape.owner, shape.index): shape.material for shape in touching_shapes(table())}
    assert found == {
        ("box", 0): "felt",
        ("ball", 0): "cork",
        ("arm", 0): "steel",
        ("floor", 0): "concrete",
        ("wall", 0): "wood",  # its shape's own, not the obstacle's
    }


def test_ground_shapes_touch_too_if_they_have_a_material():
    model = table()
    model.ground.shapes = [im.Box((1, 1, 1), material="ice"), CUBE]
    assert touching_shapes(model)[0].owner == "ground"
    assert may_touch(model, "ball", "ground")[0]
    model.ground.shapes = [im.Box((1, 1, 1), material="ise")]
    with pytest.raises(im.ModelError, match="body 'ground': no material named 'ise'; did you mean 'ice'"):
        model.check()


def test_pairs_that_may_touch_and_why_others_may_not():
    """All pairs of shapes of two owners but those excluded; a picture touches nothing."""
    model = table()
    pairs = {frozenset((a.owner, b.owner)) for a, b in touching_pairs(model)}
    names = ("box", "ball", "arm", "floor", "wall")
    apart = {frozenset(pair) for pair in (("floor", "wall"), ("box", "wall"))}
    assert pairs == {frozenset((a, b)) for a in names for b in names if a < b} - apart
    assert may_touch(model, "box", "floor") == (True, "'box' (felt) on 'floor' (concrete)")
    for a, b, why in (
        ("box", "wall", "no_contact 'box/wall'"),
        ("floor", "wall", "do not move"),
        ("box", "box", "itself"),
        ("arm", "lamp", "joint 'neck'"),
        ("box", "lamp", "'lamp' has no shape with a material"),
        ("ball", "sign", "'sign' has no shape with a material"),
    ):
        for pair in ((a, b), (b, a)):
            may, reason = may_touch(model, *pair)
            assert not may
            assert why in reason
    with pytest.raises(im.ModelError, match="no body or obstacle named 'bx'"):
        may_touch(model, "bx", "floor")


def test_a_joint_keeps_its_bodies_apart_unless_it_asks_for_contact():
    model = table()
    assert Exclusions(model).why("arm", "lamp") == "joint 'neck' joins them"
    model.joints["neck"] = replace(model.joints["neck"], contact=True)
    assert Exclusions(model).why("arm", "lamp") is None
    model.joint("bar", "distance", "arm", "lamp", at=(1, 0, 1), at_b=(1, 0, 2))  # one that asks is enough
    assert Exclusions(model).why("lamp", "arm") is None
    model.no_contact("lamp", "arm")  # but what is said wins
    assert Exclusions(model).why("arm", "lamp") == "no_contact 'arm/lamp'"
    model.joint("loose", "free", "box", "ball", at=(0, 0, 1))  # holds nothing
    assert Exclusions(model).why("box", "ball") is None


def test_an_obstacle_is_no_end_of_a_joint():
    """The arm on its hinge to ground falls onto the floor, but not onto the ground's own shapes."""
    excluded = Exclusions(table())
    assert excluded.why("arm", "floor") is None
    assert excluded.why("arm", "ground") == "joint 'hinge' joins them"


def test_no_contact_with_ground_is_of_all_obstacles():
    model = table()
    model.no_contact("ball", model.ground)
    excluded = Exclusions(model)
    for name in ("ground", "floor", "wall"):
        assert excluded.why("ball", name) == excluded.why(name, "ball") == "no_contact 'ball/ground'"
    assert excluded.why("box", "floor") is None


def test_bodies_fixed_to_each_other_are_one():
    """They do not touch, and what is joined to one is joined to the other; fixed to ground they are as obstacles."""
    model = im.Model()
    for k, name in enumerate(("base", "post", "arm", "hand", "finger", "nail")):
        model.body(name, mass=1.0, shape=CUBE, position=(k, 0, 0), material="steel")
    model.obstacle("floor", CUBE, material="steel")
    for name, type, a, b in (
        ("feet", "fixed", "base", "ground"),
        ("bolt", "fixed", "post", "base"),
        ("shoulder", "revolute", "base", "arm"),
        ("weld", "fixed", "hand", "finger"),
        ("glue", "fixed", "finger", "nail"),
        ("wrist", "revolute", "arm", "hand"),
    ):
        model.joint(name, type, a, b, at=(0, 0, 0), axis=(0, 0, 1))
    group = rigid_groups(model)
    assert {name for name in group if group[name] == "ground"} == {"ground", "base", "post", "floor"}
    excluded = Exclusions(model)
    for a, b in (("base", "floor"), ("post", "base"), ("post", "ground"), ("hand", "nail")):
        assert "do not move" in excluded.why(a, b)
    assert excluded.why("arm", "nail") == "joint 'wrist' joins them"
    assert excluded.why("arm", "base") == "joint 'shoulder' joins them"
    assert excluded.why("arm", "post") is None  # both stand on the ground, as a table beside a robot does
    assert excluded.why("arm", "floor") is None


# errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.material("x", friction=-0.1), "material 'x': friction is -0.1, expected a finite number >= 0"),
        (lambda m: m.material("x", friction=math.inf), "friction is inf"),
        (lambda m: m.material("x", friction="rough"), "friction is 'rough'"),
        (lambda m: m.material("x", friction=0.5, static=0.4), "static is 0.4, expected a number of at least"),
        (lambda m: m.material("x", friction=0.5, static=math.inf), "static is inf"),
        (lambda m: m.material("x", friction=0.5, restitution=1.1), "restitution is 1.1, expected a number from 0 to 1"),
        (lambda m: m.material("x", friction=0.5, rolling=-1), "rolling is -1"),
        (lambda m: m.material("x", friction=0.5, spinning=math.nan), "spinning is nan"),
        (lambda m: m.material("felt", friction=0.5), "material 'felt': the name is taken by a material"),
        (lambda m: m.material("box", friction=0.5), "material 'box': the name is taken by a body"),
        (lambda m: m.material_pair("felt", "cork", static=0.5), "static is 0.5, but friction is None"),
        (lambda m: m.material_pair("felt", "cork", friction=0.5, static=0.1), "at least friction, 0.5"),
        (lambda m: m.material_pair("felt", "cork", restitution=2), "restitution is 2"),
        (lambda m: m.material_pair("steel", "felt", name="again"), "'felt/steel' has 'steel' and 'felt' already"),
        (lambda m: m.material_pair("steel", "felt"), "'felt/steel': the name is taken"),
        (lambda m: m.material_pair("felt", "corc"), "no material named 'corc'; did you mean 'cork'"),
        (lambda m: m.obstacle("x", "box"), "obstacle 'x': shape is 'box', expected a shape"),
        (lambda m: m.obstacle("x", CUBE, position=(0, 0)), r"position is \(0, 0\)"),
        (lambda m: m.obstacle("x", CUBE, orientation=(0, 0, 0, 2)), "orientation"),
        (lambda m: m.obstacle("x", CUBE, material="brick"), "obstacle 'x': no material named 'brick'"),
        (lambda m: m.obstacle("x", replace(CUBE, material="brick")), "obstacle 'x': no material named 'brick'"),
        (lambda m: m.body("x", mass=1, shape=CUBE, material="brick"), "body 'x': no material named 'brick'"),
        (lambda m: m.body("x", mass=1, shape=replace(CUBE, material="brick")), "body 'x': no material named 'brick'"),
        (lambda m: m.body("x", mass=1, shape=CUBE, material=7), "body 'x': no material named 7"),
        (lambda m: im.Sphere(1.0, material=7), "Sphere: material is 7, expected a name or None"),
        (lambda m: m.no_contact("box", "bal"), "no body or obstacle named 'bal'; did you mean 'ball'"),
        (lambda m: m.no_contact("box", "box"), "is of 'box' and itself"),
        (lambda m: m.no_contact("floor", "ground"), "neither 'floor' nor 'ground' moves"),
        (lambda m: m.no_contact("wall", "box"), "'box/wall': the name is taken"),
        (
            lambda m: m.joint("x", "free", "ground", "box", contact="yes"),
            "joint 'x': contact is 'yes', expected True or False",
        ),
    ],
)  # fmt: skip
def test_mistakes_name_the_part_the_value_and_the_cure(change, message):
    model = table()
    before = json.dumps(model_to_json(model))
    with pytest.raises(im.ModelError, match=message):
        change(model)
    assert json.dumps(model_to_json(model)) == before


def test_an_unknown_material_lists_what_there_is():
    with pytest.raises(im.ModelError) as caught:
        table().body("x", mass=1, shape=CUBE, material="brick")
    for name in ("felt", "cork", *COMMON):
        assert name in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: setattr(m.bodies["box"], "material", "brick"), "body 'box': no material named 'brick'"),
        (lambda m: setattr(m.obstacles["wall"], "shape", replace(CUBE, material="brick")), "'wall': no material"),
        (lambda m: m.materials.pop("cork"), "body 'ball': no material named 'cork'"),
        (lambda m: m.obstacles.pop("wall"), "no_contact 'box/wall': no body or obstacle named 'wall'"),
        (lambda m: setattr(m.no_contacts["box/wall"], "a", None), "no body or obstacle named None"),
        (lambda m: setattr(m.probe("tip", "box", (0, 0, 1)), "body", None), "probe 'tip': no body named None"),
        (lambda m: setattr(m.material_pairs["felt/steel"], "a", None), "material_pair 'felt/steel': no material"),
        (lambda m: setattr(m.materials["felt"], "static", 0.1), "material 'felt': static is 0.1"),
        (lambda m: m.material_pairs.update(x=replace(m.material_pairs["felt/steel"], name="x")), "already"),
    ],
)  # fmt: skip
def test_what_is_changed_by_hand_is_checked_when_a_world_is_built(change, message):
    model = table()
    change(model)
    with pytest.raises(im.ModelError, match=message):
        model.check()


# files --------------------------------------------------------------------------------------------


def test_a_scene_file_has_it_all(tmp_path):
    """Written, read and written again: the same text; and every field of every part comes back."""
    model = table()
    model.joints["neck"].contact = True
    im.save_model(model, tmp_path / "table.json")
    again = im.load_model(tmp_path / "table.json")
    assert model_to_json(again) == model_to_json(model)
    for kind in CONTACT_KINDS:
        for name, part in getattr(model, PARTS[kind].plural).items():
            other = getattr(again, PARTS[kind].plural)[name]
            for field in fields(part):
                if field.name != "shape":
                    assert np.array_equal(getattr(other, field.name), getattr(part, field.name))
    assert again.bodies["box"].material == "felt"
    assert [shape.material for shape in again.bodies["ball"].shapes] == ["cork", None]
    assert again.obstacles["wall"].shape.material == "wood"
    assert [pair[0].owner for pair in touching_pairs(again)] == [pair[0].owner for pair in touching_pairs(model)]


def test_a_file_of_before_opens_and_is_written_as_before():
    """Version 2 without any of it: shapes are pictures, joints keep their bodies apart, and nothing is added to it."""
    data = {
        "format": "impulsar scene",
        "version": 2,
        "name": "old",
        "gravity": [0.0, 0.0, -9.81],
        "bodies": [
            {"name": "steel", "mass": 1.0, "inertia": np.eye(3).tolist(),
             "shapes": [{"shape": "sphere", "radius": 0.1}]}
        ],
        "joints": [
            {"name": "hinge", "type": "revolute", "first": "ground", "second": "steel", "p_PF": [0.0, 0.0, 0.0],
             "q_PF": [0.0, 0.0, 0.0, 1.0], "p_CM": [0.0, 0.0, 0.0], "q_CM": [0.0, 0.0, 0.0, 1.0],
             "features": {"angle": {}}}
        ],
    }  # fmt: skip
    model = model_from_json(data)
    assert not touching_shapes(model)
    assert not model.joints["hinge"].contact
    assert model_to_json(model) == data
    model.obstacle("floor", CUBE, material="steel")  # the common one, although a body has its name
    assert touching_shapes(model)[0].material == "steel"


@pytest.mark.parametrize(
    ("where", "change", "message"),
    [
        ("bodies", {"material": "brick"}, r"bodies\[0\].material is 'brick', but there is no material of that name"),
        ("material_pairs", {"a": "brick"}, r"material_pairs\[0\].a is 'brick', but there is no material"),
        ("no_contacts", {"b": "brick"}, r"no_contacts\[0\].b is 'brick', but there is no body or obstacle"),
        ("materials", {"static": 0.1}, r"materials\[0\]: material 'felt': static is 0.1"),
        ("materials", {"colour": "red"}, r"materials\[0\]: no field 'colour'"),
        ("obstacles", {"shape": {"shape": "box", "size": [1, 1, 1], "material": "brick"}}, "no material named 'brick'"),
        ("obstacles", {"shape": None}, r"obstacles\[0\].shape is None"),
    ],
)  # fmt: skip
def test_mistakes_in_files_have_a_place(where, change, message):
    data = model_to_json(table())
    data[where][0] |= change
    with pytest.raises(FileError, match=message):
        model_from_json(data)


# live edits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CONTACT_KINDS)
def test_parts_are_added_and_removed_while_it_runs(kind):
    """Each with its inverse, and neither touches the motion; the inverse of a removal brings the same part."""
    options = {
        "material": {"friction": 0.3, "static": 0.5, "rolling": 1e-3},
        "material_pair": {"a": "cork", "b": "ice", "friction": 0.3, "static": 0.4},
        "obstacle": {"shape": im.Sphere(0.3, material="ice"), "position": (0.0, 0.0, 5.0), "material": "felt"},
        "no_contact": {"a": "ball", "b": "floor"},
    }[kind]
    world, other = im.World(table()), im.World(table())
    for each in (world, other):
        each.step(5)
    start = model_to_json(world.model)
    answer = world.add(kind, "new", **options)
    there = model_to_json(world.model)
    part = getattr(world.model, PARTS[kind].plural)["new"]
    assert part.name == "new"
    assert there != start
    gone = world.apply(answer.inverse)
    assert model_to_json(world.model) == start
    world.apply(gone.inverse)
    assert model_to_json(world.model) == there
    assert answer.moved == gone.moved == 0.0
    for each in (world, other):
        each.step(5)
    assert moved(world) == moved(other)


def test_what_cannot_be_added_is_refused():
    world = im.World(table())
    before = world.hash()
    for kind, options, message in (
        ("material", {}, "material 'new': lacks friction"),
        ("material", {"friction": 0.5, "static": 0.1}, "static is 0.1"),
        ("material_pair", {"a": "felt"}, "lacks b"),
        ("material_pair", {"a": "felt", "b": "brick"}, "no material named 'brick'"),
        ("material_pair", {"a": "steel", "b": "felt"}, "'felt/steel' has"),
        ("obstacle", {"shape": CUBE, "material": "brick"}, "no material named 'brick'"),
        ("no_contact", {"a": "box", "b": "lam"}, "did you mean 'lamp'"),
        ("no_contact", {"a": "wall", "b": "floor"}, "neither 'wall' nor 'floor' moves"),
    ):
        with pytest.raises(edits.EditError, match=message):
            world.add(kind, "new", **options)
    assert world.hash() == before


def test_a_material_that_is_used_is_not_removed():
    """The refusal says by whom; one that hides a common material may go, and the common one holds again."""
    world = im.World(table())
    assert users(world.model, "felt") == ["body 'box'", "material_pair 'felt/steel'"]
    with pytest.raises(edits.EditError, match="material 'felt': is used by body 'box', material_pair 'felt/steel'"):
        world.remove("material", "felt")
    with pytest.raises(edits.EditError, match="material 'cork': is used by body 'ball'"):
        world.remove("material", "cork")
    world.apply(edits.SetMaterial("ball", None, 0))
    world.remove("material", "cork")
    assert list(world.model.materials) == ["felt"]
    world.add("material", "concrete", friction=0.1)
    assert contact_properties(world.model, "concrete", "concrete").friction == pytest.approx(0.1)
    world.remove("material", "concrete")
    assert world.model.obstacles["floor"].material == "concrete"
    assert contact_properties(world.model, "concrete", "concrete").friction == COMMON["concrete"].friction


def test_exclusions_go_with_what_they_are_of():
    world = im.World(table())
    answer = world.remove("obstacle", "wall")
    assert "and with it no_contact 'box/wall'" in answer.text
    world = im.World(table())
    assert "no_contact 'box/wall'" in world.remove("body", "box").text
    assert list(world.model.obstacles) == ["floor", "wall", "sign"]


def test_numbers_are_set_in_model_and_arrays():
    """None is "not given", in arrays NOT_GIVEN; a value below the one it is at least of is refused."""
    world = im.World(table())
    row = world.system.material_index["felt"]
    answer = world.set("felt.static", None)
    assert world.model.materials["felt"].static is None
    assert world.system.parameter("material_static")[row] == NOT_GIVEN
    world.set("felt.friction", 0.9)
    with pytest.raises(edits.EditError, match="static is at least friction"):
        world.apply(answer.inverse)
    world.set("felt.friction", 0.4)
    assert world.apply(answer.inverse).inverse == edits.SetParameter("felt.static", None)
    assert world.model.materials["felt"].static == 0.6
    for path, value in (
        ("felt.friction", 0.7),
        ("felt.friction", None),
        ("felt.friction", -1.0),
        ("felt.restitution", 1.5),
        ("felt.colour", 1.0),
        ("felt/steel.static", 0.1),
        ("box/wall.a", "floor"),
    ):
        before = world.hash()
        with pytest.raises(edits.EditError):
            world.set(path, value)
        assert world.hash() == before
    world.set("felt/steel.static", 0.3)
    with pytest.raises(edits.EditError, match="static is at least friction, and given with it"):
        world.set("felt/steel.friction", None)
    assert contact_properties(world.model, "felt", "steel").static == 0.3


def test_each_world_may_have_its_own():
    world = im.World(table(), worlds=3)
    world.set("felt.friction", np.array([0.1, 0.2, 0.3]))
    assert world.model.materials["felt"].friction == 0.1
    with pytest.raises(edits.EditError, match="static is at least friction"):
        world.set("felt.static", np.array([0.2, 0.2, 0.2]))
    world.set("felt.static", np.array([0.2, 0.2, 0.4]))
    world.set("felt.friction", np.array([0.0, 0.2, 0.3]))  # the model has the first world's, whatever it is
    assert (world.model.materials["felt"].friction, world.model.materials["felt"].static) == (0.0, 0.2)
    world.model.check()
    world.set("felt.friction", np.array([0.1, 0.2, 0.3]))
    world.set("box.mass", np.array([1.0, 2.0, 3.0]))
    world.apply(edits.SetMaterial("box", "cork"))  # builds anew: what differs from world to world stays
    row, body = world.system.material_index["felt"], world.system.body_index["box"]
    assert world.system.parameter("material_friction")[row].tolist() == [0.1, 0.2, 0.3]
    assert world.system.parameter("mass")[body].tolist() == [1.0, 2.0, 3.0]


def test_a_common_material_is_declared_when_it_is_set():
    """Of those a model uses there are rows; setting one declares it, and the inverse takes that back."""
    world = im.World(table())
    assert list(materials_in_use(world.model)) == ["felt", "cork", "steel", "wood", "concrete"]
    assert (
        world.system.parameter("material_friction")[world.system.material_index["wood"], 0] == COMMON["wood"].friction
    )
    answer = world.set("wood.friction", 0.45)
    assert world.model.materials["wood"].friction == 0.45
    assert world.model.materials["wood"].static == COMMON["wood"].static
    assert world.system.parameter("material_friction")[world.system.material_index["wood"], 0] == 0.45
    world.set("wood.friction", 0.2)
    world.apply(answer.inverse)
    assert list(world.model.materials) == ["felt", "cork"]
    for path, value in (("wood.friction", 0.6), ("wood.colour", 1.0), ("wood.friction", None), ("brick.friction", 0.5)):
        before = world.hash()
        with pytest.raises(edits.EditError):
            world.set(path, value)
        assert world.hash() == before
    assert list(world.model.materials) == ["felt", "cork"]
    assert COMMON["wood"].friction == 0.3
    batch = im.World(table(), worlds=2)
    batch.set("wood.friction", np.array([0.1, 0.2]))
    assert batch.system.parameter("material_friction")[batch.system.material_index["wood"]].tolist() == [0.1, 0.2]


def test_the_material_of_a_body_a_shape_and_an_obstacle_is_set():
    world = im.World(table())
    for edit, where in (
        (edits.SetMaterial("box", "ice"), ("box", 0)),
        (edits.SetMaterial("ball", "ice", 1), ("ball", 1)),
        (edits.SetMaterial("wall", "ice", 0), ("wall", 0)),
        (edits.SetMaterial("sign", "ice"), ("sign", 0)),
        (edits.SetParameter("lamp.material", "ice"), ("lamp", 1)),
    ):
        before = model_to_json(world.model)
        answer = world.apply(edit)
        assert {(s.owner, s.index): s.material for s in touching_shapes(world.model)}[where] == "ice"
        world.apply(answer.inverse)
        assert model_to_json(world.model) == before
    world.apply(edits.SetMaterial("box", None))
    assert "box" not in {shape.owner for shape in touching_shapes(world.model)}
    for edit, message in (
        (edits.SetMaterial("bx", "ice"), "no body or obstacle named 'bx'; did you mean 'box'"),
        (edits.SetMaterial("ground", "ice"), "no body or obstacle named 'ground'"),
        (edits.SetMaterial("box", "brick"), "body 'box': no material named 'brick'"),
        (edits.SetMaterial("ball", "ice", 2), "body 'ball': shape is 2, expected an integer from 0 to 1"),
        (edits.SetMaterial("ball", "ice", True), "shape is True"),
        (edits.SetParameter("box.shape", im.Sphere(1.0, material="brick")), "body 'box': no material named 'brick'"),
        (edits.SetParameter("wall.shape", im.Sphere(1.0, material="brick")), "no material named 'brick'"),
        (edits.SetParameter("wall.position", (0, 0)), "obstacle 'wall': position"),
    ):
        with pytest.raises(edits.EditError, match=message):
            world.apply(edit)


def test_an_obstacle_is_moved_and_a_joint_asks_for_contact():
    world = im.World(table())
    before = model_to_json(world.model)
    answers = [
        world.set("wall.position", (1.0, 2.0, 3.0)),
        world.set("wall.shape", im.Sphere(0.5, material="felt")),
        world.change("neck", contact=True),
    ]
    wall = world.model.obstacles["wall"]
    assert (wall.position.tolist(), wall.shape.radius, wall.shape.material) == ([1.0, 2.0, 3.0], 0.5, "felt")
    assert Exclusions(world.model).why("arm", "lamp") is None
    for answer in reversed(answers):
        world.apply(answer.inverse)
    assert model_to_json(world.model) == before
    world.set("neck.contact", True)
    removed = world.remove("joint", "neck")
    world.apply(removed.inverse)
    assert world.model.joints["neck"].contact


def test_snapshots_reach_over_edits_of_materials():
    world = im.World(table())
    start, data, before = world.snapshot(), model_to_json(world.model), world.hash()
    world.set("felt.friction", 0.1)
    assert world.hash() != before
    later, then = world.snapshot(), model_to_json(world.model)
    world.set("wood.friction", 0.1)
    world.apply(edits.SetMaterial("box", "ice"))
    world.restore(later)
    assert model_to_json(world.model) == then
    world.restore(start)
    assert model_to_json(world.model) == data
    assert world.hash() == before


def test_materials_are_no_part_of_the_digest_of_a_world_without():
    """A world without materials has no arrays of them: its digest, and so old journals, stay as they were."""
    world = im.World(im.scene("ten-pendula"))
    assert not [name for name in world.system.parameters if name.startswith(("material_", "pair_"))]
    added = world.add("material", "felt", friction=0.5)
    assert "material_friction" in world.system.parameters
    world.apply(added.inverse)
    assert "material_friction" not in world.system.parameters


def test_a_history_undoes_and_replays_them(tmp_path):
    """Undo, redo and a journal that is opened again: the same model, to the bit."""
    journal = tmp_path / "table.journal"
    history = im.History(im.World(table()), journal)
    history.step(3)
    states = [model_to_json(history.world.model)]
    for edit in (
        edits.SetParameter("felt.friction", 0.3),
        edits.SetParameter("felt.static", None),
        edits.SetParameter("wood.friction", 0.4),
        edits.Add("material", "clay", {"friction": 0.7, "static": 0.8}),
        edits.SetMaterial("ball", "clay", 0),
        edits.Add("material_pair", "clay/felt", {"a": "clay", "b": "felt", "rolling": 0.01}),
        edits.SetParameter("clay/felt.rolling", 0.02),
        edits.Add("obstacle", "step", {"shape": im.Box((1, 1, 1), material="clay"), "position": (0, 0, -2)}),
        edits.Remove("no_contact", "box/wall"),
        edits.ChangeJoint("neck", {"contact": True}),
        edits.Remove("material", "cork"),
    ):
        history.apply(edit)
        history.step(2)
        states.append(model_to_json(history.world.model))
    for state in reversed(states[:-1]):
        history.undo()
        assert model_to_json(history.world.model) == state
    for state in states[1:]:
        history.redo()
        assert model_to_json(history.world.model) == state
    end = history.world.hash()
    history.close()
    again = im.History.open(journal)
    assert again.world.hash() == end
    assert model_to_json(again.world.model) == states[-1]
    again.close()


def test_the_studio_tells_of_them():
    """As elements of the table: names of what they are of, and what can be set; obstacles as shapes in their place."""
    world = im.World(table())
    listed = describe.listed(world.model, "elements")
    assert list(listed) == ["felt", "cork", "felt/steel", "box/wall"]
    felt, pair, apart = (describe.part(world, "elements", name) for name in ("felt", "felt/steel", "box/wall"))
    floor, sign = (describe.part(world, "obstacles", name) for name in ("floor", "sign"))
    assert [(p.name, p.value, p.unit, p.path) for p in felt.parameters][:2] == [
        ("friction", 0.4, "1", "felt.friction"),
        ("static", 0.6, "1", "felt.static"),
    ]
    assert {p.name: (p.value, p.optional) for p in pair.parameters} == {
        "friction": (0.25, True),
        "static": (None, True),
        "restitution": (0.7, True),
        "rolling": (None, True),
        "spinning": (None, True),
    }
    assert (pair.kind, pair.refers) == ("material_pair", {"a": "felt", "b": "steel"})
    assert (floor.material, sign.material) == ("concrete", None)
    assert floor.position == list(world.model.obstacles["floor"].position)
    assert apart.refers == {"a": "box", "b": "wall"}
    model = table()
    model.ground.shapes = [im.HeightField([(0.0, 1.0), (2.0, 3.0)], (1, 2), material="ice")]
    parts = Parts()
    with pytest.warns(UserWarning, match="overlapped by"):
        world = im.World(model)
    parts.update(world)
    told = parts.scene(world)
    (ground,) = told.ground
    assert (ground.kind, ground.heights, ground.size, ground.material) == (
        "height-field",
        [[0.0, 1.0], [2.0, 3.0]],
        [1.0, 2.0],
        "ice",
    )
    assert [obstacle.name for obstacle in told.obstacles] == ["floor", "wall", "sign"]
    assert "steel" in told.materials


def test_a_copy_has_parts_of_its_own():
    model = table()
    clone = model.copy(parts=True)
    clone.materials["felt"].friction = 0.0
    clone.obstacles["floor"].material = None
    assert (model.materials["felt"].friction, model.obstacles["floor"].material) == (0.4, "concrete")
    assert isinstance(model.materials["felt"], Material)


def test_the_page_does_what_it_says():
    """The code of docs/contact.md runs, and its figures hold."""
    page = (Path(__file__).parents[1] / "docs" / "contact.md").read_text(encoding="utf-8")
    names: dict = {}
    for block in page.split("```python\n")[1:]:
        exec(block.split("```")[0], names)
    model, world = names["model"], names["world"]
    found = contact_properties(model, "felt", "wood")
    assert (found.friction, found.static, found.restitution) == (0.5, 0.5, 0.2)
    assert may_touch(model, "box", "ball") == (False, "no_contact 'ball/box'")
    assert [(a.owner, b.owner) for a, b in touching_pairs(model)] == [("box", "floor"), ("ball", "floor")]
    assert round(contact_properties(model, "PTFE", "steel").friction, 2) == 0.15
    assert world.model.bodies["box"].material == "rubber"
    assert not world.model.no_contacts


CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
GIVEN = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}


def test_a_mesh_of_a_body_is_a_picture():
    """It has no mass of its own and does not touch; its hull and its parts do, and keep its place and material."""
    model = im.Model()
    mesh = im.Mesh(CORNERS, FACES, offset=(0, 0, 1))
    model.body("stone", **GIVEN, shape=[mesh, replace(mesh.hull(), material="wood")])
    with pytest.raises(im.ModelError, match="Mesh: is a surface of the ground and has no volume"):
        model.body("heavy", density=1000.0, shape=mesh)
    for body, shape in (("steel", mesh), (None, replace(mesh, material="steel"))):
        with pytest.raises(im.ModelError, match=r"body 'other': Mesh has material 'steel'.* give mesh.hull\(\)"):
            model.body("other", **GIVEN, shape=shape, material=body)
    world = im.World(model)
    with pytest.raises(edits.EditError, match="body 'stone': Mesh has material 'ice'"):
        world.apply(edits.SetMaterial("stone", "ice"))
    with pytest.raises(edits.EditError, match="body 'stone': Plane is a surface of the ground"):
        world.set("stone.shape", im.Plane())
    assert [t.index for t in touching_shapes(world.model)] == [1]
    hull = replace(mesh, material="ice").hull()
    assert hull.material == "ice" and (hull.offset == mesh.offset).all()


@pytest.mark.parametrize("shape", [im.Plane(), im.HeightField([(0, 0), (0, 0)], (1, 1))])
def test_a_terrain_is_of_the_ground(shape):
    model = im.Model()
    with pytest.raises(im.ModelError, match="is a surface of the ground; give it to an obstacle"):
        model.body("raft", **GIVEN, shape=shape)
    model.body("ball", density=1.0, shape=im.Sphere(0.1), material="wood")
    model.obstacle("floor", shape, material="wood")
    model.check()
    assert len(touching_pairs(model)) == 1
