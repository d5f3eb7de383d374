"""Models and edits as JSON: exact, complete, and refused by name when wrong."""

import dataclasses
import json
import math
import time

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.io import FileError, edit_from_json, edit_to_json, model_from_json, model_to_json, schema
from impulsar.io.codec import EDIT, FIELDS
from impulsar_verification.fuzz import everything


def through_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


def same(a, b) -> bool:
    """Equal to the last bit, arrays and dataclasses included; an int is the float it stands for."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.asarray(a, float).tobytes() == np.asarray(b, float).tobytes()
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


CORNERS = [(0.0, 0.0, 0.0), (1 / 3, 0.0, 0.0), (0.0, 0.1, -0.0), (0.0, 0.0, 0.7)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
SHAPES = [
    im.Box((0.1, 0.2, 1 / 3), material="steel"),
    im.Sphere(0.1),
    im.Cylinder(0.1, 0.2),
    im.Capsule(0.1, 0.2),
    im.Cone(0.1, 1 / 3, offset=(0, 0, 0.1)),
    im.ConvexHull(CORNERS),
    im.Plane(offset=(0, 0, 1 / 7), orientation=(0.6, 0, 0, 0.8)),
    im.Mesh(CORNERS, FACES, material="ice"),
    im.Mesh(CORNERS, FACES[:2], open=True),
    im.HeightField([(0.1, 1 / 3, -0.2), (0.0, 0.5, 0.25)], (2.0, 3.0)),
]

SHOWN = {
    "Grab": edits.Grab("hand", "link3", (0.1, 1 / 3, -0.0), 50.0, 0.5),
    "Push": edits.Push("tip", (0.1, 1 / 3, -0.0), 0.02, 5.0),
    "Grip": edits.Grip("hand", angular_stiffness=2.0),
    "Move": edits.Move("hand", im.Ramp(None, (0.1, 0.2, 0.3), 1.0, 2.0)),
    "Release": edits.Release("hand"),
    "ApplyLoad": edits.ApplyLoad("push", "link1", force=(im.Harmonic(1.0, 2.0, 0.1), 0.0, 1.0), frame="body"),
    "RemoveLoad": edits.RemoveLoad("push"),
    "SetParameter": edits.SetParameter("link1.mass", np.array([0.1, 0.2])),
    "Bind": edits.Bind("link1.mass", "2*a"),
    "SetParameters": edits.SetParameters({"a": 1 / 3, "b": "2*a"}, {"link1.mass": "a"}, at_start=True),
    "SetMaterial": edits.SetMaterial("link1", "steel", 0),
    "SetStep": edits.SetStep(1e-3),
    "Drive": edits.Drive("hinge1", im.Table((0.0, 1.0), (0.0, 2.0)), "angle"),
    "SetMotor": edits.SetMotor("hinge1", im.Motor(torque=im.Smooth(0.0, 1 / 3, 0.1, 2.0), max_torque=2.0)),
    "ChangeJoint": edits.ChangeJoint(
        "hinge1", {"type": "spherical", "limits": {"swing": 1.0, "twist": (-1.0, math.inf)}}
    ),
    "Add": edits.Add("body", "stone", {"shape": im.Box((1.0, 2.0, 3.0)), "density": 1000.0, "position": (0, 0, 1)}),
    "Remove": edits.Remove("joint", "hinge2"),
    "Cut": edits.Cut("hinge2"),
    "Close": edits.Close("hinge2"),
    "SetState": edits.SetState({"link1": {"velocity": (1.0, 0.0, 0.0)}}),
    "PutWorlds": edits.PutWorlds((0, 2), {"hinge1": 0.3}, {"hinge1": (1.0, 2.0)}),
    "GoTo": edits.GoTo("home", (1,)),
    "SetStart": edits.SetStart(velocities=False),
    "DragTo": edits.DragTo("link3", (0.1, 0.2, 0.3)),
    "Detach": edits.Detach("balance"),
    "Compile": edits.Compile(((0.1, 1 / 3), (0.0, -2.0)), (0, 3)),
    "Reset": edits.Reset(),
    "Pause": edits.Pause(False),
    "SetMethod": edits.SetMethod("simgc", {"epsilon": 1e-8, "warm_start": False}),
    "Several": edits.Several((edits.Remove("spring", "coil"), edits.SetParameter("arm.mass", 2.0))),
    "Rename": edits.Rename("arm", "lever"),
    "Plate": edits.Plate("p", (edits.End(at=(0, 0)), edits.End(at=(1, 0)), edits.End(body="arm")), thickness=0.1),
    "Copy": edits.Copy(("arm", "fore"), (0.1, 0, 0), 0.5, (0, 1, 0), (1, 0, 0), 3),
    "Mirror": edits.Mirror(("arm",), (0, 1, 0), ("arm", (0, 0, 0.1)), (1.0, 2.0, 3.0)),
    "Cam": edits.Cam("cam", (0.1, 0), 0.04, follower="flat", law="3-4-5"),
    "Shift": edits.Shift(("arm", "fore"), (0.1, 0, 0), 0.5, (0, 1, 0), (1, 0, 0)),
    "Draw": edits.Draw(
        ("a", "b"), (edits.End(body="arm", point=(0, 0, 1)), edits.End(length=0.5), edits.End(at=(1, 0)))
    ),
}


def test_every_edit_is_shown():
    assert {*SHOWN, "Attach"} == {cls.__name__ for cls in edits.Edit.__subclasses__()}


def test_a_controller_is_no_data():
    """A file refuses the callable; a journal keeps what it wrote (tests/control)."""
    with pytest.raises(FileError, match="controller is the callable"):
        edit_to_json(edits.Attach("balance", lambda t, y: 0.0, 100.0, (), ("hinge1.torque",)))


@pytest.mark.parametrize("edit", SHOWN.values(), ids=SHOWN)
def test_edits_come_back_exactly(edit):
    data = edit_to_json(edit)
    assert data["edit"] == type(edit).__name__
    again = edit_from_json(through_json(data))
    assert same(again, edit)


@pytest.mark.parametrize("name", im.SCENES)
def test_scenes_come_back_exactly(name):
    check_exact(im.scene(name))


def test_every_part_comes_back_exactly():
    check_exact(everything())


def check_exact(model):
    again = model_from_json(through_json(model_to_json(model)))
    for field in vars(model):
        assert same(getattr(again, field), getattr(model, field)), field


def test_random_numbers_come_back_to_the_last_bit():
    """Bit patterns of all finite floats."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2**64, 10_000, dtype=np.uint64).view(float)
    values = values[np.isfinite(values)]
    edit = edits.SetParameter("link1.mass", values)
    assert same(edit_from_json(through_json(edit_to_json(edit))), edit)


def test_every_attribute_of_a_model_is_in_the_file():
    """Who adds one to Model has to add it to the codec."""
    assert set(vars(im.Model())) - {"ground"} == set(FIELDS) - {"format", "version", "ground_shapes"}


def test_a_file_by_hand_may_leave_defaults_out():
    model = model_from_json(
        {
            "format": "impulsar scene",
            "version": 1,
            "bodies": [{"name": "bob", "mass": 1, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}],
            "joints": [
                {
                    "name": "pivot",
                    "type": "revolute",
                    "first": "ground",
                    "second": "bob",
                    "p_PF": [0, 0, 1],
                    "q_PF": [0, 0, 0, 1],
                    "p_CM": [0, 0, 1],
                    "q_CM": [0, 0, 0, 1],
                }
            ],
        }
    )
    assert model.bodies["bob"].position.tolist() == model.bodies["bob"].velocity.tolist() == [0, 0, 0]
    assert model.gravity.tolist() == [0, 0, -9.81]
    (features,) = model.joints["pivot"].features.values()
    assert (features.friction, features.limits, features.motor) == (0.0, None, None)
    world = im.World(model)
    world.step(10)
    assert world.joint("pivot").position == 0.0  # gravity is along its axis
    assert world.constraint_error() < 1e-12


def test_callables_are_refused_by_name():
    model = everything()
    model.loads["push"].force = lambda t: (t, 0, 0)
    with pytest.raises(
        FileError, match=r"loads\[0\]\.force is the callable .*; give a Ramp, Smooth, Harmonic, Table or Formula"
    ):
        model_to_json(model)


def test_version_0_is_migrated():
    """As version 0 wrote it: parts in objects by name, no format."""
    new = model_to_json(everything())
    old = {key: value for key, value in new.items() if key != "format"} | {"version": 0}
    for kind in ("bodies", "joints", "springs", "loads", "probes", "couplings"):
        old[kind] = {part["name"]: {k: v for k, v in part.items() if k != "name"} for part in new[kind]}
    assert model_to_json(model_from_json(old)) == new


def shared_names() -> dict:
    """A scene of version 1 in which a body, a joint, a spring, a load and a probe are called the same."""
    data = model_to_json(everything()) | {"version": 1}
    body, joint = data["bodies"][0]["name"], data["joints"][0]["name"]
    for kind in ("joints", "springs", "loads", "probes"):
        data[kind][0]["name"] = body
    for coupling in data["couplings"]:
        coupling |= {side: body for side in ("joint_a", "joint_b") if coupling[side] == joint}
    data["script"] = [
        {"time": 0.0, "edit": {"edit": "SetParameter", "path": f"{body}.mass", "value": 2.0}},
        {"time": 0.0, "edit": {"edit": "ChangeJoint", "joint": body, "changes": {"friction": 0.1}}},
        {"time": 0.0, "edit": {"edit": "Remove", "kind": "spring", "name": body}},
        {"time": 0.0, "edit": {"edit": "SetParameter", "path": f"{body}.friction", "value": 0.2}},
        {"time": 0.0, "edit": {"edit": "SetParameter", "path": f"{body}.free_length", "value": 0.2}},
    ]
    return data


def test_shared_names_of_version_1_are_told_apart():
    """The first kind keeps the name; all that refers to the others, in parts and script, follows them."""
    data = shared_names()
    body = data["bodies"][0]["name"]
    with pytest.warns(UserWarning, match="names are unique over all kinds") as told:
        model = model_from_json(data)
    assert len(told) == 4
    assert body in model.bodies and f"{body} joint" in model.joints and f"{body} spring" in model.springs
    assert all({c.joint_a, c.joint_b} <= set(model.joints) for c in model.couplings.values())
    weight, change, remove, friction, length = [edit for _, edit in model.script]
    assert weight.path == f"{body}.mass" and change.joint == f"{body} joint" and remove.name == f"{body} spring"
    assert friction.path == f"{body} joint.friction" and length.path == f"{body} spring.free_length"


@pytest.mark.filterwarnings("ignore:.*names are unique:UserWarning")
def test_a_parameter_that_two_kinds_had_is_refused_in_words():
    """A joint and a spring both have a stiffness: the path meant both, and no edit can say so now."""
    data = shared_names()
    path = f"{data['bodies'][0]['name']}.stiffness"
    data["script"] = [{"time": 0.0, "edit": {"edit": "SetParameter", "path": path, "value": 2.0}}]
    with pytest.raises(FileError, match=r"is of joint and spring called .*rename one of them by hand"):
        model_from_json(data)


def test_names_that_two_kinds_share_are_refused_from_version_2_on():
    with pytest.raises(FileError, match="taken by a body"):
        model_from_json(shared_names() | {"version": 2})


def spoil(place: str, value: object):
    """A scene with one value replaced, or dropped where it is None of type `...`."""
    data = through_json(model_to_json(everything()))
    node = data
    *path, last = [int(key) if key.isdigit() else key for key in place.split(".")]
    for key in path:
        node = node[key]
    if value is ...:
        del node[last]
    else:
        node[last] = value
    return data


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        ("joints.1.p_PF", [0, "a", 0], r"joints\[1\]\.p_PF\[1\] is 'a', expected a number"),
        ("joints.1.axis", [0, 0, 1], r"joints\[1\]: no field 'axis'; fields are: name, type"),
        ("joints.1.first", "link9", r"joints\[1\]\.first is 'link9', but there is no body of that name"),
        ("joints.1.first", "hinge2", r"joints\[1\]\.first is 'hinge2', but there is no body"),
        ("joints.1.first", "link2", "goes from body 'link2' to itself"),
        ("joints.1.type", "hinge", r"joints\[1\]: joint 'hinge2': no joint type 'hinge'"),
        ("joints.1.features", {"slide": {}}, r"joints\[1\].*features of slide"),
        ("joints.1.q_CM", [0, 0, 0, 2], r"joints\[1\].*norm 2"),
        ("couplings.0.joint_b", "hinge1", "couples angle of 'hinge1' to itself"),
        ("bodies.0.mass", -1.0, r"bodies\[0\]: body 'link1': mass is -1, expected a finite number > 0"),
        ("bodies.0.mass", True, r"bodies\[0\]\.mass is True, expected a number"),
        ("bodies.0.mass", ..., r"bodies\[0\]: mass is missing; give it"),
        ("bodies.0.mass", 10**400, r"bodies\[0\]\.mass is an integer beyond 2\^63"),
        ("bodies.0.mass", math.inf, r"bodies\[0\]\.mass is not finite"),
        ("bodies.0.name", "ground", r"bodies\[0\]\.name is 'ground', which is empty or taken"),
        ("bodies.1.name", "link1", r"bodies\[1\]\.name is 'link1', which is empty or taken"),
        ("bodies.0.name", "x" * 5000, "5000 characters"),
        ("bodies.0.name", "\ud800", "half of a character"),
        ("bodies.0.shapes.0.shape", "torus", r"shapes\[0\]\.shape is 'torus', expected one of box"),
        ("bodies.0.inertia", [[1, 0], [0, 1]], "expected 3 x 3 numbers"),
        ("bodies.0.inertia", [[1e308, 0, 0], [0, 1e308, 0], [0, 0, 1e308]], r"bodies\[0\]"),
        ("bodies", {"link1": {}}, "bodies is .*, expected a list"),
        ("loads.0.force", [{"profile": "sine"}, 0, 0], r"force\[0\]\.profile is 'sine'"),
        ("loads.0.force", {"profile": "recorded", "number": 0}, "is 'recorded', expected one of ramp"),
        ("script.0.edit.edit", "Explode", r"script\[0\]\.edit\.edit is 'Explode', expected one of"),
        ("script.0.time", -1, r"script\[0\]\.time is -1"),
        ("gravity", "down", "gravity is 'down', expected 3 numbers"),
        ("version", 3, "version is 3, but this program reads up to 2"),
        ("version", "1", "version is '1', expected an integer"),
        ("format", "mujoco", "format is 'mujoco'"),
        ("comment", "hello", "no field 'comment'"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(place, value, says):
    with pytest.raises(FileError, match=says):
        model_from_json(spoil(place, value))


def test_a_structure_that_holds_itself_is_refused():
    data = {"edit": "SetParameter", "path": "a.b", "value": []}
    data["value"].append(data["value"])
    with pytest.raises(FileError, match="nested more than"):
        edit_from_json(data)


# the schema -------------------------------------------------------------------------------------------


def fits(value, rule, defs) -> bool:
    """A JSON schema's rule, as far as our schema goes."""
    if "$ref" in rule:
        return fits(value, defs[rule["$ref"].rpartition("/")[2]], defs)
    if "const" in rule:
        return value == rule["const"]
    if "enum" in rule:
        return value in rule["enum"]
    if "anyOf" in rule:
        return any(fits(value, one, defs) for one in rule["anyOf"])
    if "oneOf" in rule:
        return sum(fits(value, one, defs) for one in rule["oneOf"]) == 1
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int}
    if "type" not in rule:
        return True
    if rule["type"] == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if not isinstance(value, kinds[rule["type"]]):
        return False
    if isinstance(value, dict):
        known, others = rule.get("properties", {}), rule.get("additionalProperties", True)
        return all(key in value for key in rule.get("required", [])) and all(
            fits(item, known[key], defs)
            if key in known
            else others is not False and (others is True or fits(item, others, defs))
            for key, item in value.items()
        )
    if isinstance(value, list):
        count = rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", 10**9)
        return count and all(fits(item, rule.get("items", {}), defs) for item in value)
    return True


@pytest.mark.parametrize("name", [*im.SCENES, "everything"])
def test_the_schema_takes_what_is_written(name):
    rules = schema()
    model = everything() if name == "everything" else im.scene(name)
    assert fits(through_json(model_to_json(model)), rules, rules["$defs"])


@pytest.mark.parametrize(
    ("place", "value"),
    [("joints.1.axis", [0, 0, 1]), ("bodies.0.mass", "a"), ("joints.1.p_PF", [0, 0]), ("version", 3)],
)
def test_the_schema_refuses_what_is_refused(place, value):
    rules = schema()
    assert not fits(spoil(place, value), rules, rules["$defs"])


def test_the_schema_knows_every_edit():
    defs = schema()["$defs"]
    assert set(EDIT.records) <= set(defs)
    for edit in SHOWN.values():
        assert fits(through_json(edit_to_json(edit)), {"$ref": f"#/$defs/{type(edit).__name__}"}, defs)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_every_shape_comes_back_with_its_bits(shape):
    """In a scene file as an obstacle, and in an edit; triangles as whole numbers."""
    model = im.Model()
    model.obstacle("thing", shape, position=(0, 0, 1 / 3))
    back = model_from_json(through_json(model_to_json(model))).obstacles["thing"]
    assert same(back, model.obstacles["thing"])
    edit = edits.SetParameter("thing.shape", shape)
    assert same(edit_from_json(through_json(edit_to_json(edit))), edit)
    if isinstance(shape, im.Mesh):
        assert np.asarray(back.shape.triangles).dtype.kind == "i"


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (
            {"shape": "mesh", "vertices": CORNERS, "triangles": FACES[:3]},
            r"obstacles\[0\]\.shape: Mesh: is not watertight",
        ),
        ({"shape": "mesh", "vertices": CORNERS, "triangles": [[0, 1, 1]]}, r"triangles\[0\] has no area"),
        ({"shape": "mesh", "vertices": CORNERS, "triangles": [[0, 1, 9]]}, r"is 9, expected an integer from 0 to 3"),
        (
            {"shape": "mesh", "vertices": CORNERS, "triangles": [[0, 1, 1.5]]},
            r"triangles\[0\]\[2\] is 1.5, expected an integer",
        ),
        (
            {"shape": "mesh", "vertices": CORNERS, "triangles": [[0, 1]]},
            r"triangles\[0\] is \[0, 1\], expected n x 3 integers",
        ),
        (
            {"shape": "mesh", "vertices": [[0.0] * 3] * 100_001, "triangles": FACES},
            "is a list of 100001, expected at most 100000",
        ),
        ({"shape": "mesh", "vertices": CORNERS, "triangles": [[0, 1, 2]] * 200_001}, "at most 200000"),
        (
            {"shape": "height-field", "heights": [[0.0] * 1025] * 2, "size": [1, 1]},
            r"heights\[0\] is a list of 1025, expected at most 1024",
        ),
        (
            {"shape": "height-field", "heights": [[0, 0], [0]], "size": [1, 1]},
            r"heights is \[\[0, 0\], \[0\]\], expected n x n numbers",
        ),
        ({"shape": "height-field", "heights": [[0, 0], [0, 0]], "size": [1, 1, 1]}, "size is .* expected 2 numbers"),
        (
            {"shape": "height-field", "heights": [[0, 0], [0, 0]], "size": [1, 0]},
            r"size is \(1, 0\), expected 2 numbers > 0",
        ),
        ({"shape": "cone", "radius": 0, "length": 1}, "Cone: radius is 0, expected a finite number > 0"),
        ({"shape": "plane", "size": [1, 1]}, "no field 'size'"),
        ({"shape": "plane", "material": "marmalade"}, "no material named 'marmalade'"),
    ],
)
def test_wrong_shapes_in_files_have_a_place(shape, message):
    data = {**model_to_json(im.Model()), "obstacles": [{"name": "thing", "shape": shape}]}
    data["bodies"] = [{"name": "ball", "mass": 1.0, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}]
    with pytest.raises(FileError, match=message):
        model_from_json(data)


def test_a_large_mesh_is_read_in_seconds():
    """A torus of 100,000 triangles: checked as a whole, not one by one."""
    n, m = 250, 200
    u, v = np.meshgrid(np.arange(n), np.arange(m), indexing="ij")
    across = 1 + 0.3 * np.cos(2 * np.pi * v / m)
    corners = [across * np.cos(2 * np.pi * u / n), across * np.sin(2 * np.pi * u / n), 0.3 * np.sin(2 * np.pi * v / m)]
    at = [(i % n) * m + j % m for i, j in ((u, v), (u + 1, v), (u + 1, v + 1), (u, v + 1))]
    faces = [np.stack([at[a], at[b], at[c]], -1).reshape(-1, 3) for a, b, c in ((0, 1, 2), (0, 2, 3))]
    mesh = im.Mesh(np.stack(corners, -1).reshape(-1, 3), np.vstack(faces))
    model = im.Model()
    model.obstacle("ring", mesh)
    data = through_json(model_to_json(model))
    start = time.process_time()
    assert same(model_from_json(data).obstacles["ring"].shape, mesh)
    assert time.process_time() - start < 10
