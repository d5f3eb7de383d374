"""Groups: parts that go by one name, in models, edits, files, journals and Python; and belts between wheels."""

import math
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.analysis import alone
from impulsar.io import model_from_json, model_to_json


def legs() -> im.World:
    """A four-bar and a group of its crank and coupler with their pin."""
    model = im.scene("four-bar")
    model.group("leg", ["crank", "coupler", "A"])
    return im.World(model, dt=0.001)


def test_a_group_is_kept_in_files_and_in_python() -> None:
    model = legs().model
    data = model_to_json(model)
    assert data["groups"] == [{"name": "leg", "parts": list(model.groups["leg"].parts)}]
    assert model_to_json(model_from_json(data)) == data
    names: dict = {}
    exec(im.to_python(model), names)
    assert model_to_json(names["model"]) == data


def test_a_group_goes_with_its_parts() -> None:
    """Renamed with them, smaller without one, gone without all; nothing else is told of it by the engine."""
    world = legs()
    before = world.hash()
    world.apply(edits.Rename("crank", "handle"))
    assert world.model.groups["leg"].parts[0] == "handle"
    world.apply(edits.Rename("leg", "limb"))
    assert list(world.model.groups) == ["limb"]
    world.apply(edits.Rename("limb", "leg"))
    world.apply(edits.Rename("handle", "crank"))
    assert world.hash() == before
    assert world.remove("body", "crank").inverse is None
    assert world.model.groups["leg"].parts == ("coupler",)  # the pin went with the crank
    world.remove("body", "coupler")
    assert not world.model.groups


def test_groups_come_and_go_by_edits_and_undo(tmp_path: Path) -> None:
    """Through a history and its journal, to the bit."""
    journal = tmp_path / "legs.journal"
    history = im.History(im.World(im.scene("four-bar"), dt=0.001), journal)
    history.step(20)
    history.apply(edits.Add("group", "pair", {"parts": ("coupler", "rocker")}))
    history.step(20)
    history.apply(edits.Mirror(("coupler", "rocker"), (0, 0, 1), (0, 0, 1)))
    assert history.world.model.groups["pair 2"].parts == ("coupler 2", "rocker 2")
    history.undo()
    assert list(history.world.model.groups) == ["pair"]
    history.redo()
    history.step(20)
    end = history.world.hash()
    history.close()
    again = im.History.open(journal)
    assert again.world.hash() == end and list(again.world.model.groups) == ["pair", "pair 2"]
    again.close()


def test_a_copy_of_a_group_is_a_group() -> None:
    """Where all of its bodies are copied; joints that are not copied are left out; the inverse takes it away too."""
    world = legs()
    answer = world.apply(edits.Copy(("crank", "coupler"), (0, 0, 1), count=2))
    assert list(world.model.groups) == ["leg", "leg 2", "leg 3"]
    assert (
        world.model.groups["leg 3"].parts[:2] == ("crank 3", "coupler 3")
        and len(world.model.groups["leg 3"].parts) == 3
    )
    world.apply(answer.inverse)
    assert list(world.model.groups) == ["leg"]
    world.apply(edits.Copy(("crank",), (0, 0, 1)))
    assert list(world.model.groups) == ["leg"]
    world.remove("group", "leg")
    assert "crank" in world.model.bodies and not world.model.groups


def test_a_group_alone_has_what_is_there() -> None:
    assert alone(legs().model, ["crank"]).model.groups["leg"].parts == ("crank", "A")  # which holds it
    assert alone(legs().model, ["rocker"]).model.groups == {}


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (("crnk",), "no part named 'crnk'; did you mean 'crank'"),
        ((), "one name or more"),
        (("crank", "crank"), "each once"),
        (("leg",), "'leg' is a group"),
        (("a",), "'a' is a parameter"),
        (("crank", 3), "expected names of parts"),
    ],
)
def test_groups_that_cannot_be_are_refused(parts: tuple, words: str) -> None:
    world = legs()
    world.add("parameter", "a", value=1.0)
    with pytest.raises(edits.EditError, match=words):
        world.add("group", "other", parts=parts)
    with pytest.raises(im.ModelError, match=words):
        world.model.copy().group("other", parts)


# belts ------------------------------------------------------------------------------------------------


def pulleys(ratio: float, belt: float | None = 0.05) -> im.Model:
    model = im.Model("pulleys", gravity=(0, 0, 0))
    for name, x, radius in (("big", 0.0, 0.05), ("small", 0.2, 0.02)):
        model.body(name, density=1000, shape=im.Cylinder(radius, 0.01), position=(x, 0, 0))
        model.joint(f"pin of {name}", "revolute", "ground", name, at=(x, 0, 0), axis=(0, 0, 1))
    model.coupling("belt", "pin of big", "pin of small", ratio, belt=belt)
    return model


@pytest.mark.parametrize("sign", [1, -1], ids=["open", "crossed"])
def test_a_belt_runs_at_one_speed_on_both_wheels(sign: int) -> None:
    """r ω is the same on both, with the sign of an open or a crossed belt; under a torque α = T / (I_a + n² I_b)."""
    model = pulleys(sign * 0.05 / 0.02)
    model.load("turn", "big", torque=(0, 0, 0.01))
    world = im.World(model, dt=0.001)
    world.step(100)
    a, b = (world.joint(f"pin of {name}").velocity for name in ("big", "small"))
    assert a * 0.05 == pytest.approx(sign * b * 0.02, rel=1e-12)
    inertias = [model.bodies[name].inertia[2, 2] for name in ("big", "small")]
    assert a == pytest.approx(0.1 * 0.01 / (inertias[0] + 2.5**2 * inertias[1]), rel=1e-9)


def test_a_belt_is_kept_and_is_of_two_wheels() -> None:
    """In files, Python, copies and mirror images; a slide has none."""
    world = im.World(pulleys(2.5))
    names: dict = {}
    exec(im.to_python(world.model), names)
    for again in (model_from_json(model_to_json(world.model)), names["model"]):
        assert again.couplings["belt"].belt == 0.05 and again.couplings["belt"].ratio == 2.5
    world.apply(edits.Mirror(("big", "small"), (1, 0, 0), (0.5, 0, 0)))
    image = world.model.couplings["belt 2"]
    assert (image.belt, image.ratio, image.joint_a) == (0.05, 2.5, "pin of big 2")
    np.testing.assert_allclose(world.model.joints["pin of big 2"].p_PF, (1.0, 0, 0), atol=1e-15)
    world.add("body", "rod", mass=1.0, inertia=(1, 1, 1))
    world.add("joint", "guide", type="prismatic", first="ground", second="rod", at=(0, 0, 0), axis=(1, 0, 0))
    with pytest.raises(edits.EditError, match="slide of 'guide' slides; a belt goes over two wheels"):
        world.add("coupling", "rack", joint_a="pin of big", joint_b="guide", ratio=0.05, belt=0.05)
    with pytest.raises(edits.EditError, match="belt"):
        world.add("coupling", "none", joint_a="pin of big", joint_b="pin of small", belt=-1.0)
    assert math.isclose(world.model.couplings["belt"].belt or 0.0, 0.05)
