"""The table of part kinds: every parameter of every kind is set in model and arrays at once, and undone."""

import importlib.util
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.model import KINDS
from impulsar.author.parts import PARTS, Joint, value_of
from impulsar.edits.data import Edit
from impulsar.edits.parameters import of_part, read_model

ROOT = Path(__file__).parents[2]


def everything() -> im.Model:
    """A model with every parameter of the table built in."""
    model = im.Model("everything")
    model.body("crate", mass=1.0, inertia=(0.1, 0.2, 0.25))
    model.body("arm", mass=0.5, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    model.body("ball", mass=0.5, inertia=(0.1, 0.1, 0.1), position=(0, 1, 0))
    rail = {"slide": (-3.0, 3.0), "angle": (-2.0, 2.0)}
    both = {"slide": 2.0, "angle": 1.0}
    model.joint(
        "rail", "cylindrical", model.ground, "crate", at=(0, 0, 0), axis=(0, 0, 1), limits=rail, friction=both,
        limit_restitution={"slide": 0.1, "angle": 0.2}, stiffness=both, damping=both, viscous=both, armature=both,
        motor={"slide": im.Motor(speed=0.1, max_torque=50.0), "angle": im.Motor(torque=0.2, max_torque=3.0)},
    )  # fmt: skip
    servo = im.Motor(position=0.1, kp=2.0, kv=0.3, max_torque=5.0)
    model.joint("pivot", "revolute", "crate", "arm", at=(0, 0, 0), axis=(0, 1, 0), stiffness=1.0, rest=0.1, motor=servo)
    model.joint("socket", "spherical", model.ground, "ball", at=(0, 0, 0), limits={"swing": 1.0, "twist": (-1, 1)})
    model.spring("coil", "arm", model.ground, at_a=(0.5, 0, 0), at_b=(1, 0, 0), stiffness=5.0, damping=0.1)
    model.load("push", "arm", force=(1, 0, 0), torque=(0, 0.1, 0), at=(0.5, 0, 0))
    model.probe("tip", "arm", at=(1, 0, 0))
    model.coupling("gear", "rail", "pivot", ratio=0.5, group_a="angle")
    model.material("felt", friction=0.4, static=0.6, restitution=0.2, rolling=1e-3, spinning=2e-3)
    model.material_pair("felt", "steel", friction=0.3, static=0.5, restitution=0.1, rolling=3e-3, spinning=4e-3)
    model.tyre("tread", "ball", radius=0.3, axle=(0, 1, 0))
    wave = {"wave_amplitude": 0.1, "wave_number": 1.0, "wave_direction": 0.3, "wave_phase": 0.2}
    model.fluid("sea", surface=-3.0, current=(0.1, 0.0, 0.0), drag=0.5, depth=5.0, **wave)
    return model


def paths() -> list[tuple[str, str, str]]:
    """Kind, part and parameter of all that can be set."""
    world = im.World(everything(), dt=0.01)
    model = world.model
    return [
        (kind, name, what)
        for kind, where in KINDS.items()
        for name in getattr(model, where)
        for what in of_part(world.system, name)
    ]


PATHS = paths()


def another(value: object) -> object:
    """A value that the same rule allows."""
    return np.asarray(value, float) * 0.75 if np.ndim(value) else float(value) * 0.75 + 0.01  # type: ignore[arg-type]


def test_every_parameter_of_the_table_is_among_them():
    told = {(kind, what) for kind, _, what in PATHS}
    assert told == {(kind, parameter.name) for kind, entry in PARTS.items() for parameter in entry.parameters}


@pytest.mark.parametrize(("kind", "name", "what"), PATHS, ids=lambda item: str(item))
@pytest.mark.parametrize("worlds", (1, 3))
def test_model_and_arrays_say_the_same(kind, name, what, worlds):
    """An edit sets the value in the model, which can be read from the arrays alone too; the inverse takes it back."""
    world = im.World(everything(), dt=0.01, worlds=worlds)
    part = getattr(world.model, KINDS[kind])[name]
    groups = tuple(part.features)[:1] if isinstance(part, Joint) else ()
    before = value_of(part, what, groups)
    start = world.hash()
    answer = world.set(f"{name}.{what}", another(before))
    now = getattr(world.model, KINDS[kind])[name]
    assert now is not part
    assert np.array_equal(value_of(now, what, groups), another(before))
    assert np.array_equal(value_of(part, what, groups), before)  # never changed in place
    read = getattr(read_model(world.system), KINDS[kind])[name]
    assert np.array_equal(value_of(read, what, groups), another(before))
    world.apply(answer.inverse)
    assert np.array_equal(value_of(getattr(world.model, KINDS[kind])[name], what, groups), before)
    world.restore(world.snapshot())
    other = im.World(everything(), dt=0.01, worlds=worlds)
    other.apply(edits.SetParameter(f"{name}.{what}", before))
    assert world.hash() in (start, other.hash())  # joints of two groups had two values, and now have one


@pytest.mark.parametrize(("kind", "name", "what"), PATHS, ids=lambda item: str(item))
def test_what_was_set_is_as_if_it_had_been_authored(kind, name, what):
    """Set while it runs or before it is built: the same motion."""
    world = im.World(everything(), dt=0.01)
    value = another(value_of(getattr(world.model, KINDS[kind])[name], what, _groups(world.model, kind, name)))
    world.set(f"{name}.{what}", value)
    built = im.World(world.model, dt=0.01)
    for _ in range(5):
        world.step()
        built.step()
    for body in world.model.bodies:
        assert world.body(body).position == pytest.approx(built.body(body).position, rel=0, abs=1e-9)


def _groups(model: im.Model, kind: str, name: str) -> tuple[str, ...]:
    return tuple(model.joints[name].features)[:1] if kind == "joint" else ()


def test_a_snapshot_brings_the_model_back():
    world = im.World(everything(), dt=0.01)
    moment = world.snapshot()
    world.set("arm.mass", 2.0)
    world.set("coil.stiffness", 9.0)
    later = world.snapshot()
    world.restore(moment)
    assert world.model.bodies["arm"].mass == 0.5
    assert world.model.springs["coil"].stiffness == 5.0
    world.restore(later)
    assert (world.model.bodies["arm"].mass, world.model.springs["coil"].stiffness) == (2.0, 9.0)
    world.remove("spring", "coil")
    world.restore(moment)
    assert world.model.springs["coil"].stiffness == 5.0


def test_one_value_for_each_world_is_that_of_the_first_in_the_model():
    world = im.World(everything(), dt=0.01, worlds=3)
    world.set("pivot.friction", np.array([0.0, 3.0, 1.0]))  # built without: the largest is built in
    assert world.model.joints["pivot"].features["angle"].friction == 3.0
    world.set("pivot.friction", np.array([0.5, 3.0, 1.0]))
    assert world.model.joints["pivot"].features["angle"].friction == 0.5
    world.set("model.gravity", np.array([[0.0, 0, -1], [0, 0, -2], [0, 0, -3]]))
    assert np.array_equal(world.model.gravity, (0, 0, -1))


# loads --------------------------------------------------------------------------------------------


def sled(worlds: int = 1) -> im.World:
    """2 kg on a rail, pushed by 3 N."""
    model = im.Model("sled", gravity=(0, 0, 0))
    model.body("sled", mass=2.0, inertia=(0.1, 0.1, 0.1))
    model.joint("rail", "prismatic", model.ground, "sled", at=(0, 0, 0), axis=(1, 0, 0))
    model.load("push", "sled", force=(3.0, 0, 0))
    return im.World(model, dt=0.01, worlds=worlds)


def test_a_loads_force_is_set():
    """x = F t²/2m for 0.1 s by 3 N, then v t + F t²/2m for 0.1 s by 7 N."""
    world = sled()
    world.step(10)
    answer = world.set("push.force", (7.0, 0, 0))
    world.step(10)
    assert world.body("sled").position[0] == pytest.approx(0.5 * 1.5 * 0.01 + 0.15 * 0.1 + 0.5 * 3.5 * 0.01, abs=1e-12)
    assert world.model.loads["push"].force == (7.0, 0.0, 0.0)
    world.apply(answer.inverse)
    assert world.model.loads["push"].force == (3.0, 0.0, 0.0)


def test_a_loads_force_follows_a_profile_and_a_callable():
    world, other = sled(), sled()
    world.set("push.force", im.Ramp((0.0, 0, 0), (4.0, 0, 0), 0.0, 1.0))
    other.set("push.force", lambda t: (4.0 * t, 0.0, 0.0))
    world.step(50)
    other.step(50)
    exact = 4.0 * 0.5**3 / (6 * 2.0)
    assert world.body("sled").position[0] == pytest.approx(exact, abs=1e-12)
    assert other.body("sled").position[0] == pytest.approx(exact, abs=1e-12)


def test_a_loads_force_in_every_world():
    world = sled(worlds=3)
    forces = np.array([[1.0, 0, 0], [2, 0, 0], [3, 0, 0]])
    answer = world.set("push.force", forces)
    world.step(10)
    assert world.body("sled").position[:, 0] == pytest.approx(forces[:, 0] / 2 * 0.1**2 / 2, abs=1e-12)
    world.apply(answer.inverse)
    again = world.set("push.force", forces)
    assert np.array_equal(again.inverse.value, (3.0, 0, 0))
    assert np.array_equal(world.set("push.force", (0, 0, 0)).inverse.value, forces)


def test_a_load_of_an_edit_is_set_until_it_is_taken_away():
    world = sled()
    world.apply(edits.ApplyLoad("wind", "sled", force=(1.0, 0, 0)))
    world.set("wind.force", (-3.0, 0, 0))
    world.step(10)
    assert abs(world.body("sled").position[0]) < 1e-15
    assert "wind" not in world.model.loads
    world.apply(edits.RemoveLoad("wind"))
    with pytest.raises(im.EditError, match="wind"):
        world.set("wind.force", (1.0, 0, 0))


@pytest.mark.parametrize("value", (3.0, (1, 2), "east", None, (np.nan, 0, 0), (1, 2, 3, 4), np.zeros((2, 3)), {}))
def test_a_wrong_force_is_refused_and_changes_nothing(value):
    world = sled()
    before = world.hash()
    with pytest.raises(im.EditError):
        world.set("push.force", value)
    assert world.hash() == before
    assert world.model.loads["push"].force == (3.0, 0, 0)


# the registry -------------------------------------------------------------------------------------


def test_every_edit_is_in_the_registry():
    assert set(edits.REGISTRY) == set(Edit.__subclasses__())
    for entry in edits.REGISTRY.values():
        assert entry.tells <= {"parts", "acting"}


def test_edits_of_one_thing_merge_and_others_do_not():
    a, b = edits.SetParameter("arm.mass", 1.0), edits.SetParameter("arm.mass", 2.0)
    assert edits.subject(a) == edits.subject(b)
    assert edits.subject(a) != edits.subject(edits.SetParameter("arm.inertia", 1.0))
    assert edits.subject(edits.Move("h", (0, 0, 0))) != edits.subject(edits.Move("g", (0, 0, 0)))
    assert edits.subject(edits.Grab("h", "arm")) is None
    assert edits.subject(None) is None


def test_references_of_the_table_are_fields():
    for kind in PARTS.values():
        names = {entry.name for entry in fields(kind.cls)}
        assert set(kind.refers) <= names
        assert {point.field for point in kind.points} | {point.body for point in kind.points} <= names


def test_the_docs_list_the_parameters():
    """The table of docs/editing.md is what tools/parameters.py writes."""
    spec = importlib.util.spec_from_file_location("parameters_tool", ROOT / "tools" / "parameters.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    text = tool.PAGE.read_text(encoding="utf-8")
    assert tool.written(text) == text
    assert "| load | `force` | N |" in text
