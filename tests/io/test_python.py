"""Models and sessions as Python: programs that give the same bits."""

import json

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.cli import main
from impulsar.io.codec import model_to_json
from impulsar_verification.fuzz import everything

SMALL = {"ball-pit": {"n": 10}, "stack": {"n": 4}, "arch": {"n": 7}, "dominoes": {"n": 4}}


def carried_out(text: str) -> dict:
    """Names of a program that was run, but not as the main one."""
    names: dict = {"__name__": "written"}
    exec(compile(text, "written.py", "exec"), names)
    return names


def bits(model: im.Model) -> str:
    return json.dumps(model_to_json(model))


@pytest.mark.parametrize("name", im.SCENES)
def test_every_scene_is_rebuilt_to_the_bit(name: str) -> None:
    model = im.scene(name, **SMALL.get(name, {}))
    assert bits(carried_out(im.to_python(model))["model"]) == bits(model)


def test_every_kind_of_part_is_rebuilt_to_the_bit() -> None:
    model = everything()
    assert bits(carried_out(im.to_python(model))["model"]) == bits(model)


@pytest.mark.parametrize("name", ["four-bar", "cross-lift", "stewart-platform"])
def test_what_is_rebuilt_runs_to_the_same_bits(name: str) -> None:
    model = im.scene(name)
    ends = [im.World(each) for each in (model, carried_out(im.to_python(model))["model"])]
    for world in ends:
        world.step(40)
    assert ends[0].hash() == ends[1].hash()


def test_it_is_written_as_a_person_would() -> None:
    """Points and axes in the world, defaults left out; a text with quotes and a name of no ASCII survive."""
    model = im.Model('the "lever" Ω')
    model.body("arm", mass=1.0, shape=im.Box((0.2, 0.02, 0.02)), position=(0.1, 0, 0))
    model.joint("pin", "revolute", model.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0), limits=(-1, 1), friction=0.1)
    text = im.to_python(model)
    assert "at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0), friction=0.1, limits=(-1.0, 1.0)" in " ".join(text.split())
    assert "frame_a" not in text and "velocity" not in text
    assert bits(carried_out(text)["model"]) == bits(model)


def session() -> im.History:
    """With a hand, a parameter, another joint that is undone, a new body, a drag and another method."""
    history = im.History(im.World(im.scene("four-bar"), dt=0.002))
    world = history.world
    history.step(30)
    history.apply(edits.Grab("hand", "coupler", (0, 0, 0.05)))
    history.apply(edits.Move("hand", im.Ramp(None, (0.1, 0.2, 0), world.time, world.time + 0.2)))
    history.step(60)
    history.apply(edits.SetParameter("crank.mass", 0.3))
    history.apply(edits.ChangeJoint("A", {"type": "spherical"}))
    history.step(10)
    history.undo()
    ball = {"mass": 0.1, "shape": im.Sphere(0.02), "position": np.array([0.1, 0.3, 0.0])}
    history.apply(edits.Add("body", "ball", ball))
    history.step(20)
    history.apply(edits.Release("hand"))
    history.apply(edits.DragTo("crank", (0.05, 0.1, 0)))
    history.apply(edits.SetMethod("simgc"))
    history.step(10)
    return history


def test_a_session_is_carried_out_again_to_the_bit() -> None:
    history = session()
    text = im.to_python(history)
    again = carried_out(text)["world"]
    assert again.hash() == history.world.hash() and history.world.hash() in text
    history.seek(0.1)
    assert carried_out(im.to_python(history))["world"].hash() == history.world.hash()
    assert bits(carried_out(im.to_python(history.world))["model"]) == bits(history.world.model)


def test_what_is_no_data_is_refused() -> None:
    model = im.scene("four-bar")
    model.load("push", "crank", force=lambda t: (t, 0, 0))
    with pytest.raises(im.ModelError, match="callable"):
        im.to_python(model)
    with pytest.raises(im.ModelError, match="expected a Model"):
        im.to_python("four-bar")  # type: ignore[arg-type]


def test_the_command(tmp_path, capsys) -> None:
    assert main(["export", "chain", "--set", "n=2", "--to", "python"]) == 0
    assert bits(carried_out(capsys.readouterr().out)["model"]) == bits(im.scene("chain", n=2))
    history = im.History(im.World(im.scene("chain", n=2)), tmp_path / "a.journal")
    history.step(5)
    history.apply(edits.SetParameter("link1.mass", 0.2))
    history.step(5)
    wanted = history.world.hash()
    history.close()
    out = tmp_path / "a.py"
    assert main(["export", str(tmp_path / "a.journal"), "--to", "python", "--out", str(out)]) == 0
    assert carried_out(out.read_text(encoding="utf-8"))["world"].hash() == wanted
