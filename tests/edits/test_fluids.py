"""Fluids while the mechanism runs: parameters, currents, bodies in and out; in files, programs and journals."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.errors import ModelError
from impulsar.io.codec import model_from_json, model_to_json
from impulsar.io.python import model_to_python


def pond(**fluid):
    model = im.Model("pond")
    model.body("ball", shape=im.Sphere(0.1), density=500.0)
    model.body("box", shape=im.Box((0.2, 0.2, 0.2)), density=500.0, position=(1, 0, 0))
    model.fluid("water", **fluid)
    return model


def test_parameters_are_set_live_and_undone():
    world = im.World(pond(wave_number=2.0), dt=0.01)
    for what, value in (
        ("density", 900.0),
        ("viscosity", 0.1),
        ("surface", -0.05),
        ("surface", math.inf),
        ("drag", 0.5),
        ("drag", None),
        ("wave_amplitude", 0.01),
        ("depth", 3.0),
        ("current", (0.1, 0.0, 0.0)),
        ("current", (im.Harmonic(amplitude=0.1, omega=2.0), 0.0, 0.0)),
        ("added_mass", False),
        ("bodies", ("ball",)),
        ("without", ("box",)),
    ):
        before = getattr(world.model.fluids["water"], what)
        answer = world.set(f"water.{what}", value)
        assert getattr(world.model.fluids["water"], what) == value
        world.apply(answer.inverse)
        now = getattr(world.model.fluids["water"], what)
        assert now == before or np.array_equal(now, before)
        world.step()
    with pytest.raises(edits.EditError, match="density"):
        world.set("water.density", -1.0)
    with pytest.raises((edits.EditError, ModelError), match="no body named"):
        world.set("water.without", ("boat",))
    with pytest.raises((edits.EditError, ModelError), match="depth"):
        world.set("water.depth", 0.0)
    world.set("water.wave_amplitude", 0.01)
    with pytest.raises((edits.EditError, ModelError), match="wave_number"):
        world.set("water.wave_number", 0.0)


def test_a_body_taken_out_falls_freely():
    """Both float; the box is out of the water then, and falls by g t²/2 from where it is at rest."""
    world = im.World(pond(drag=False, added_mass=False), dt=0.01)
    world.set("water.without", ("box",))
    start = world.body("box").position[2]
    world.step(10)
    assert world.body("box").position[2] == pytest.approx(start - 9.81 * 0.1**2 / 2, rel=1e-9)
    assert world.body("ball").position[2] == pytest.approx(0.0, abs=1e-9)  # half under, at its balance
    assert not world.added_mass("ball").any()


def test_fluids_are_added_and_removed_with_their_books():
    """Removed, its work stays in the books; the inverse brings it back as it was."""
    world = im.World(pond(), dt=0.01)
    world.step(20)
    work = world.energy().work["water buoyancy"]
    answer = world.remove("fluid", "water")
    assert world.energy().work["removed parts"] == pytest.approx(work, rel=1e-12)
    world.apply(answer.inverse)
    assert model_to_json(world.model)["fluids"] == model_to_json(pond())["fluids"]
    world.step(10)
    world.add("fluid", "air", density=1.2, surface=None, added_mass=False)
    world.step(10)
    energy = world.energy()
    assert abs(energy.imbalance) < 1e-6 * energy.start + 1e-5
    with pytest.raises((edits.EditError, ModelError), match="added mass"):
        world.set("air.added_mass", True)


def test_names_of_bodies_follow():
    world = im.World(pond(bodies=("ball", "box")), dt=0.01)
    world.apply(edits.Rename("ball", "buoy"))
    assert world.model.fluids["water"].bodies == ("buoy", "box")
    world.remove("body", "buoy")
    assert world.model.fluids["water"].bodies == ("box",)
    world.step()


def test_files_and_programs_have_fluids():
    model = pond(surface=None, current=(im.Ramp(0.0, 1.0, 0.0, 2.0), 0.0, 0.0), drag=0.3, without=("box",))
    model.fluid("sea", wave_amplitude=0.1, wave_period=3.0, bodies=("box",), depth=5.0)
    data = model_to_json(model)
    assert model_to_json(model_from_json(data)) == data
    space: dict = {}
    exec("import impulsar as im\n" + model_to_python(model), space)
    assert model_to_json(space["model"]) == data


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"density": -1.0}, "density"),
        ({"wave_amplitude": 0.1}, "wave_number"),
        ({"wave_amplitude": 0.1, "wave_number": 1.0, "surface": None}, "surface"),
        ({"bodies": ("boat",)}, "no body named"),
        ({"bodies": "ball"}, "names of bodies"),
        ({"without": ("ground",)}, "ground"),
        ({"depth": 0.0}, "depth"),
        ({"wave_number": 1.0, "wave_period": 1.0}, "give one of them"),
    ],
)
def test_mistakes_are_named(wrong, told):
    with pytest.raises(ModelError, match=told):
        pond(**wrong)


def test_a_journal_is_replayed_to_the_same_bits(tmp_path):
    """With a fluid, edits of it and a hand."""
    from impulsar.history.history import History
    from impulsar.history.replay import replay

    history = History(im.World(pond(), dt=0.01), journal=tmp_path / "pond.jsonl")
    history.step(10)
    history.apply(edits.SetParameter("water.current", (0.3, 0.0, 0.0)))
    history.step(10)
    history.apply(edits.SetParameter("water.density", 1025.0))
    history.step(10)
    wanted = history.world.hash()
    history.close()
    again = replay(tmp_path / "pond.jsonl", verify=True)
    assert not again.wrong
    assert again.history.world.hash() == wanted
