"""Names: one meaning each, over all kinds of parts, hands and loads, in calls, files and edits."""

import json

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.errors import ModelError
from impulsar.author.model import KINDS
from impulsar.author.names import LONGEST_NAME
from impulsar.engine.methods import METHODS, Method
from impulsar.engine.system import System
from impulsar.engine.system.tree import FreeJoint
from impulsar.io import FileError, edit_from_json, load_model, model_from_json, model_to_json
from impulsar.scenes import SCENES, scene

GENERAL = {name: method for name, method in METHODS.items() if method.refuse is Method.refuse}  # take any mechanism
PAIRS = [(name, kind) for name, method in GENERAL.items() for kind in method.coordinates]
I3 = (0.01, 0.01, 0.01)
OPTIONS = {
    "body": {"mass": 1.0, "inertia": I3, "position": (0.0, 0.0, 3.0)},
    "joint": {"type": "spherical", "first": "arm", "second": "rod", "at": (1.0, 0.0, 0.0)},
    "spring": {"first": "ground", "second": "rod", "at_a": (0.0, 0.0, 1.0), "at_b": (1.5, 0.0, 0.0), "stiffness": 5.0},
    "load": {"body": "arm", "force": (0.0, 0.0, 1.0)},
    "probe": {"body": "arm", "at": (1.0, 0.0, 0.0)},
    "coupling": {"joint_a": "hinge", "joint_b": "elbow", "ratio": 2.0},
    "material": {"friction": 0.5},
    "material_pair": {"a": "steel", "b": "ice", "friction": 0.1},
    "distance": {"first": "ground", "second": "rod", "at_a": (0.0, 0.0, 1.0), "at_b": (1.5, 0.0, 0.0)},
    "angle": {"first": "ground", "second": "rod", "from_a": (0, 0, 0), "to_a": (1, 0, 0)}
    | {"from_b": (1, 0, 0), "to_b": (2, 0, 0)},
    "parameter": {"value": 0.5},
    "obstacle": {"shape": im.Box((1.0, 1.0, 0.1)), "position": (0.0, 0.0, -3.0)},
    "no_contact": {"a": "arm", "b": "ground"},
    "group": {"parts": ("arm", "hinge")},
    "keyframe": {"positions": {"hinge": 0.3}},
    "tyre": {"wheel": "rod", "radius": 0.3},
    "fluid": {"density": 1.2, "surface": -3.0},
    "sensor": {"sensor": im.sensors.Imu("arm")},
}
OTHERS = [kind for kind in KINDS if kind not in ("body", "joint")]
NAMED = [kind for kind in KINDS if kind not in ("material_pair", "no_contact")]  # others are called "a/b" by themselves
DOTTED = [kind for kind in KINDS if kind != "parameter"]  # the name of a parameter is a word
# words that are no names, and what the refusal calls wrong
NO_NAMES = {
    "empty": "",
    "newline": "a\nb",
    "tab": "a\tb",
    "escape": "\x1b]0;title\x07",
    "nul": "a\x00",
    "del": "a\x7f",
    "c1": "a\x9bm",
    "line separator": "a\u2028b",
    "half a pair": "a\ud800",
    "long": "x" * (LONGEST_NAME + 1),
    "bytes": b"arm",
    "number": 3,
    "nothing": None,
}


def arms(**changes) -> im.Model:
    """Two rods on hinges, and one part of every other kind."""
    model = im.Model("arms")
    model.body("arm", mass=1.0, inertia=I3, position=(0.5, 0.0, 0.0))
    model.body("rod", mass=1.0, inertia=I3, position=(1.5, 0.0, 0.0))
    model.joint("hinge", "revolute", "ground", "arm", at=(0, 0, 0), axis=(0, 1, 0))
    model.joint("elbow", "revolute", "arm", "rod", at=(1, 0, 0), axis=(0, 1, 0))
    for kind in OTHERS:
        options = OPTIONS[kind] | (
            {"a": "wood"} if kind == "material_pair" else {}
        )  # of two materials there is one pair
        getattr(model, kind)(name=f"the_{kind}", **options)
    return model


TAKEN = {"body": "arm", "joint": "hinge", **{kind: f"the_{kind}" for kind in OTHERS}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_no_two_parts_share_a_name(kind, other):
    """Whatever the kinds: refused in the call, in a file, in an edit of a running world, and when a model is built
    whose tables were written to by hand."""
    name = TAKEN[other]
    with pytest.raises(ModelError, match=f"'{name}': the name is taken by a {other}"):
        getattr(arms(), kind)(name=name, **OPTIONS[kind])

    model = arms()
    part = getattr(model, kind)(name="new", **OPTIONS[kind])
    if kind != other:
        del getattr(model, KINDS[kind])["new"]
        part.name = name
        getattr(model, KINDS[kind])[name] = part
        with pytest.raises(ModelError, match=f"'{name}': the name is taken by a"):
            im.World(model)

    data = model_to_json(arms())
    new = json.loads(json.dumps(data[KINDS[kind]][-1])) | {"name": name}
    data[KINDS[kind]].append(new)
    with pytest.raises(FileError, match=r"\]\.name is .*taken"):
        model_from_json(data)

    world = im.World(arms())
    before = world.hash()
    with pytest.raises(edits.EditError, match=f"'{name}': the name is taken by a {other}"):
        world.add(kind, name, **OPTIONS[kind])
    assert world.hash() == before


@pytest.mark.parametrize("kind", KINDS)
def test_hands_and_loads_share_the_names_of_parts(kind):
    """A hand or load that comes while the world runs has a name of its own too; and no part takes theirs."""
    world = im.World(arms())
    with pytest.raises(edits.EditError, match=f"hand '{TAKEN[kind]}': the name is taken by a {kind}"):
        world.grab("rod", name=TAKEN[kind])
    if kind != "load":
        with pytest.raises(edits.EditError, match=f"load '{TAKEN[kind]}': the name is taken by a {kind}"):
            world.apply(edits.ApplyLoad(TAKEN[kind], "rod", force=(0, 0, 1)))
    else:  # a load of that name is changed
        world.apply(edits.ApplyLoad(TAKEN[kind], "rod", force=(0, 0, 1)))
    world.grab("rod", name="mine")
    world.apply(edits.ApplyLoad("wind", "rod", force=(0, 0, 1)))
    for name in ("mine", "wind"):
        with pytest.raises(edits.EditError, match=f"{kind} '{name}': the name is taken by a"):
            world.add(kind, name, **OPTIONS[kind])
    with pytest.raises(edits.EditError, match="hand 'wind': the name is taken by a load"):
        world.grab("arm", name="wind")
    with pytest.raises(edits.EditError, match="load 'mine': the name is taken by a hand"):
        world.apply(edits.ApplyLoad("mine", "arm", force=(0, 0, 1)))


def test_a_hand_without_a_name_gets_one_that_is_free():
    """Also where a body or a load has the next one."""
    model = arms()
    model.body("hand 1", mass=1.0, inertia=I3, position=(0, 0, 3))
    world = im.World(model)
    world.apply(edits.ApplyLoad("hand 2", "arm", force=(0, 0, 1)))
    assert [world.grab("rod").name, world.grab("arm").name] == ["hand 3", "hand 4"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ("ground", "edits", "clamps", "released hands", "removed parts"))
def test_reserved_names(kind, name):
    """The world's own, and the entries of the energy books that are of no part."""
    with pytest.raises(ModelError, match=f"{kind} '{name}': the name is reserved"):
        getattr(arms(), kind)(name=name, **OPTIONS[kind])
    with pytest.raises(edits.EditError, match=f"hand '{name}': the name is reserved"):
        im.World(arms()).grab("arm", name=name)


@pytest.mark.parametrize("kind", DOTTED)
@pytest.mark.parametrize("suffix", ("slide", "angle", "rotation", "rotation.x", "x"))
def test_the_coordinates_of_a_joint_are_its_own(kind, suffix):
    """ "hinge.angle.friction" is of the joint 'hinge', whatever type it is changed to; nothing else is called that."""
    with pytest.raises(ModelError, match="coordinate of joint 'hinge'"):
        getattr(arms(), kind)(name=f"hinge.{suffix}", **OPTIONS[kind])
    model = arms()
    getattr(model, kind)(name=f"later.{suffix}", **OPTIONS[kind])
    with pytest.raises(ModelError, match=f"joint 'later': the name is the start of {kind} 'later.{suffix}'"):
        model.joint("later", **OPTIONS["joint"])
    model.couplings = {name: part for name, part in model.couplings.items() if "." in name}
    part = model.joints.pop("elbow")
    part.name, model.joints["later"] = "later", part
    with pytest.raises(ModelError, match=f"later.{suffix}"):
        im.World(model)


@pytest.mark.parametrize("name", NO_NAMES.values(), ids=NO_NAMES)
@pytest.mark.parametrize("kind", (*KINDS, "model", "hand", "live load"))
def test_words_that_are_no_names(kind, name):
    """Refused wherever a name is given, in words that can be printed."""
    world = im.World(arms())
    before = world.hash()
    calls = []
    if kind == "model":
        calls = [lambda: im.Model(name)]
    elif kind == "hand":
        calls = [lambda: world.apply(edits.Grab(name, "arm"))]
    elif kind == "live load":
        calls = [lambda: world.apply(edits.ApplyLoad(name, "arm"))]
    else:
        calls = [lambda: world.add(kind, name, **OPTIONS[kind])]
        if name is not None or kind in NAMED:
            calls.append(lambda: getattr(arms(), kind)(name=name, **OPTIONS[kind]))
    for call in calls:
        with pytest.raises(ModelError, match=r"name|hand is") as caught:
            call()
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 1000
    assert world.hash() == before


@pytest.mark.parametrize("name", [name for name in NO_NAMES.values() if isinstance(name, str)])
@pytest.mark.parametrize("where", ("name", *KINDS.values()))
def test_words_that_are_no_names_in_files(where, name, tmp_path):
    """The same in a scene file."""
    data = model_to_json(arms())
    if where == "name":
        data["name"] = name
    else:
        data[where][0]["name"] = name
    path = tmp_path / "scene.json"
    path.write_text(json.dumps(data))
    with pytest.raises(FileError, match="name") as caught:
        load_model(path)
    assert str(caught.value).isprintable()


def test_names_of_any_script_and_with_blanks_are_taken():
    """What can be printed is a name: blanks, dots, quotes, other scripts, emoji, 128 letters."""
    model = im.Model("手臂 'α' \"β\"")
    names = ("left arm", "a.b", "épaule", "плечо", "腕", "🦾", "$x$", "<b>", "x" * LONGEST_NAME, "angle", "free")
    for k, name in enumerate(names):
        model.body(name, mass=1.0, inertia=I3, position=(k, 0, 0))
    again = model_from_json(json.loads(json.dumps(model_to_json(model))))
    world = im.World(again)
    assert list(again.bodies) == list(names)
    for name in names:
        world.set(f"{name}.mass", 2.0)
        assert world.model.bodies[name].mass == 2.0


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
@pytest.mark.parametrize("name", ("a.free", "rail"))
def test_a_joint_may_be_called_as_the_builder_once_called_its_own(name, method, coordinates):
    """A block on a rail with Coulomb friction above its load stays, whatever the joint is called; beside it a
    free body called 'a' falls."""
    model = im.Model("rails")
    model.body("a", mass=1.0, inertia=I3, position=(0, 3, 0))
    model.body("block", mass=1.0, inertia=I3)
    model.joint(name, "prismatic", "ground", "block", at=(0, 0, 0), axis=(1, 0, 0), friction=20.0)
    model.load("push", "block", force=(10.0, 0.0, 0.0))
    world = im.World(model, method, coordinates, dt=0.002)
    world.step(200)
    assert abs(world.body("block").velocity[0]) < 1e-9
    assert abs(world.body("block").position[0]) < 1e-3
    assert world.body("a").velocity[2] == pytest.approx(-9.81 * 0.4, rel=1e-9)


@pytest.mark.parametrize("coordinates", ("generalized", "maximal"))
def test_no_name_is_made_up_for_the_joint_of_a_free_body(coordinates):
    """Tables know a joint by the name its author gave it, or by itself; one of another body, or a tuple, is another."""
    model = arms()
    model.body("loose", mass=1.0, inertia=I3, position=(0, 3, 0))
    system = System(model, coordinates=coordinates)
    free = {FreeJoint(name) for name in (model.bodies if coordinates == "maximal" else ["loose"])}
    assert set(system.joint_index) == {*model.joints, *free}
    assert {joint for joint, _ in system.dof} == ({*model.joints} if coordinates == "generalized" else set()) | free
    assert FreeJoint("loose") not in {"loose", ("loose",), FreeJoint("arm")}


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
def test_a_path_sets_one_part(method, coordinates):
    """Of a joint and a spring with stiffness each follows its own path; a spring's force is k times its stretch."""
    model = im.Model("paths", gravity=(0, 0, 0))
    model.body("block", mass=1.0, inertia=I3, position=(1, 0, 0))
    model.joint("rail", "prismatic", "ground", "block", at=(1, 0, 0), axis=(1, 0, 0), stiffness=3.0)
    model.spring("coil", "ground", "block", (0, 0, 0), (1, 0, 0), stiffness=5.0)
    world = im.World(model, method, coordinates)
    world.set("coil.stiffness", 50.0)
    assert world.model.springs["coil"].stiffness == 50.0
    assert world.model.joints["rail"].features["slide"].stiffness == 3.0


def test_shipped_scenes_keep_the_rule():
    """Every scene can be written, read and built."""
    for name in SCENES:
        model = model_from_json(json.loads(json.dumps(model_to_json(scene(name)))))
        model.check()
        names = [part for where in KINDS.values() for part in getattr(model, where)]
        assert len(names) == len(set(names))


def test_an_edit_in_a_file_is_refused_when_it_comes_to_be_applied():
    """A message or journal that adds a part under a taken name."""
    world = im.World(arms())
    data = {"edit": "Add", "kind": "body", "name": "hinge", "options": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]}}
    with pytest.raises(edits.EditError, match="taken by a joint"):
        world.apply(edit_from_json(data))
    assert np.isfinite(world.body("arm").position).all()
