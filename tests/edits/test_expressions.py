"""Parameters of a running model: one edit sets all that follows, closes the loops, and comes back by undo."""

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.edits import Add, Bind, Remove, Rename, SetParameter


def four_bar() -> im.World:
    """A four-bar in motion whose crank and right pivot follow a parameter."""
    world = im.World(im.scene("four-bar"))
    world.step(30)
    world.apply(Add("parameter", "a", {"value": 0.1, "minimum": 0.02, "maximum": 5.0, "unit": "m"}))
    world.apply(Bind("crank.length", "a"))
    world.apply(Bind("C.p_PF.x", "0.2 + a/2"))
    return world


def apart(world: im.World, body: str) -> float:
    """Distance of the pins of a body [m]."""
    ends = [
        joint.p_PF if joint.first == body else joint.p_CM
        for joint in world.model.joints.values()
        if body in (joint.first, joint.second)
    ]
    return float(np.linalg.norm(ends[1] - ends[0]))


def test_a_parameter_sets_all_that_follows_it() -> None:
    """Both fields have the values of their expressions, the crank's pins are that far apart, loops are closed."""
    world = four_bar()
    time, coupler = world.time, apart(world, "coupler")
    answer = world.set("a.value", 0.12)
    assert world.model.parameters["a"].value == 0.12
    assert world.model.bodies["crank"].shapes[0].length == 0.12
    assert world.model.joints["C"].p_PF[0] == pytest.approx(0.26, abs=1e-15)
    assert apart(world, "crank") == pytest.approx(0.12, abs=1e-15)
    assert apart(world, "coupler") == coupler
    assert world.constraint_error() < 1e-9
    assert world.time == time
    assert 0.0 < answer.moved < 0.05
    world.step(20)
    assert world.constraint_error() < 1e-9
    assert world.set("a", 0.1).text == "a is 0.1 m", "a path may be the parameter's name alone"


def test_a_batch_takes_one_value_for_all() -> None:
    world = im.World(im.scene("four-bar"), worlds=2)
    world.apply(Add("parameter", "a", {"value": 0.1}))
    world.apply(Bind("crank.mass", "a*3"))
    world.set("a.value", 0.2)
    np.testing.assert_allclose(world.system.parameter("mass")[world.system.body_index["crank"]], 0.6)
    with pytest.raises(im.EditError, match="expected a finite number"):
        world.set("a.value", [0.1, 0.2])


def test_undo_redo_and_the_journal(tmp_path) -> None:
    """One edit, one undo, to the bit; a journal that is read again has parameter, expression and value."""
    history = im.History(im.World(im.scene("four-bar")), tmp_path / "a.journal")
    history.apply(Add("parameter", "a", {"value": 0.1}))
    history.apply(Bind("crank.length", "a"))
    history.apply(Bind("crank.mass", "2*a"))
    history.step(10)
    before = history.world.hash()
    history.apply(SetParameter("a.value", 0.11))
    history.step(5)
    after = history.world.hash()
    history.undo()
    assert history.world.model.parameters["a"].value == 0.1
    assert history.world.hash() == before
    history.redo()
    history.apply(SetParameter("crank.mass", 0.5))  # a number by itself: it follows no longer
    end = history.world.model
    history.close()
    again = im.History.open(tmp_path / "a.journal")
    assert again.world.model.parameters["a"].value == 0.11
    assert again.world.model.expressions == end.expressions == {"crank.length": "a"}
    assert again.world.model.bodies["crank"].mass == 0.5
    again.undo()
    assert again.world.model.expressions == {"crank.length": "a", "crank.mass": "2*a"}
    again.close()
    assert after != before


HINGE = {"type": "revolute", "first": "crank", "second": "rocker", "at": ("a", 0, 0), "axis": (0, 1, 0)}
REFUSED = [
    (SetParameter("a.value", 0.001), "expected one from 0.02 to 5"),
    (SetParameter("a.value", 4.0), "cannot be assembled like this; these joints stay open"),
    (SetParameter("a.value", "a + 1"), "in a circle"),
    (SetParameter("a.value", "b"), "no parameter named 'b'"),
    (SetParameter("a.value", True), "expected a finite number"),
    (SetParameter("a.valu", 1.0), "did you mean 'value'"),
    (SetParameter("a.maximum", 0.05), "value is 0.1, expected one from 0.02 to 0.05"),
    (Bind("crank.length", "a - 0.1"), "length is 0, expected a finite number > 0"),
    (Bind("crank.length", "1/(a - 0.1)"), "divides by zero"),
    (Bind("crank.length", "2 a"), "where an operator"),
    (Bind("crank.size", "a"), "no 'size' that can follow"),
    (Bind("rocker.mass", None), "no expression named 'rocker.mass'"),
    (Remove("parameter", "a"), "is used by crank.length, C.p_PF.x"),
    (Add("parameter", "crank", {"value": 1.0}), "taken by a body"),
    (Add("parameter", "a b", {"value": 1.0}), "expected a word"),
    (Rename("a", "a b"), "expected a word"),
    (Rename("a", "sin"), "expected a word"),
    (Add("joint", "j", HINGE), "then bind it"),
]


@pytest.fixture(scope="module")
def standing() -> im.World:
    return four_bar()


@pytest.mark.parametrize(("edit", "words"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_cannot_be_leaves_all_as_it_was(standing: im.World, edit: edits.Edit, words: str) -> None:
    before, model = standing.hash(), standing.model
    with pytest.raises(im.EditError, match=words):
        standing.apply(edit)
    assert standing.hash() == before
    assert standing.model is model


def test_what_is_set_otherwise_follows_no_longer() -> None:
    """Said in words; the inverse binds it again, and what lost its part is forgotten."""
    world = four_bar()
    answer = world.set("crank.length", 0.11)
    assert "'crank.length' follows no expression any more" in answer.text
    assert world.model.expressions == {"C.p_PF.x": "0.2 + a/2"}
    world.apply(answer.inverse)
    assert world.model.expressions == {"crank.length": "a", "C.p_PF.x": "0.2 + a/2"}
    assert world.model.bodies["crank"].shapes[0].length == pytest.approx(0.1, abs=1e-15)
    world.apply(Rename("a", "b"))
    world.apply(Rename("C", "pivot"))
    assert world.model.expressions == {"crank.length": "b", "pivot.p_PF.x": "0.2 + b/2"}
    world.apply(Remove("body", "rocker"))
    assert world.model.expressions == {"crank.length": "b"}
    world.apply(Bind("crank.length", None))
    world.apply(Remove("parameter", "b"))
    assert not world.model.parameters
    assert not world.model.expressions


def test_places_of_the_authored_pose_end_with_it() -> None:
    """`SetStart` makes another pose the authored one: what was placed in the world there follows no longer."""
    model = im.Model("arm")
    model.parameter("a", 0.2)
    arm = model.body("arm", mass=1.0, inertia=(1e-2,) * 3, position=("a", 0, 0))
    model.joint("pin", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), friction="a/1000")
    model.expression("pin.p_PF.x", "a - 0.2")
    world = im.World(model)
    world.set("a.value", 0.3)
    assert world.model.bodies["arm"].position[0] == 0.3
    world.step(50)
    assert world.constraint_error() < 1e-9
    answer = world.apply(edits.SetStart())
    assert "'arm.position.x' follows no expression any more" in answer.text
    assert set(world.model.expressions) == {"pin.friction", "pin.p_PF.x"}


def test_a_part_may_come_with_expressions() -> None:
    world = four_bar()
    ends = {"first": "ground", "second": "crank", "at_a": (0.0, 0, 0.3), "at_b": (0.1, 0, 0)}
    world.apply(Add("spring", "s", ends | {"stiffness": "100*a"}))
    assert world.model.expressions["s.stiffness"] == "100*a"
    world.set("a.value", 0.105)
    assert world.model.springs["s"].stiffness == pytest.approx(10.5, rel=1e-15)
