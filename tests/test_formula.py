"""Formulas of time as profiles: data that motors and loads follow, and that files and journals hold."""

import math
from pathlib import Path

import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.errors import StepError
from impulsar.author.profiles import Formula, scalar_profiles
from impulsar.history.history import History
from impulsar.history.replay import replay
from impulsar.io.codec import model_from_json, model_to_json

TEXT = "2*sin(3*t) + 0.1*t^2"


def wave(t: float) -> float:
    """The same by hand."""
    return 2.0 * math.sin(3.0 * t) + 0.1 * t**2.0


def driven(speed: object) -> im.Model:
    """A pendulum that a motor turns."""
    model = im.Model("driven")
    arm = model.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0.0, 0.0))
    model.joint("pin", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), motor=im.Motor(speed=speed))
    model.load("push", arm, force=(0.0, Formula("cos(t)"), 0.0))
    return model


def test_a_formula_is_its_function():
    for t in (0.0, 0.3, 2.0):
        assert Formula(TEXT)(t) == wave(t)
    assert Formula("sign(sin(t))")(4.0) == -1.0
    assert Formula("mod(t, 2) + floor(t)")(3.5) == pytest.approx(4.5)
    assert scalar_profiles(Formula("t"), 1) == [Formula("t")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2*x", "has 'x', expected t"),
        ("__import__('os')", "no expression|operator"),
        ("", "expected text"),
        (3.0, "expected text"),
        ("sin(t", r"'\)'"),
        ("1 +", "ends"),
        ("t " * 200, "characters"),
    ],
)
def test_what_is_no_formula_is_refused(text, told):
    with pytest.raises(ValueError, match=told):
        Formula(text)


def test_a_world_follows_it_as_it_follows_the_function():
    """Sampled at the same moments, to the bit, however many steps a launch has."""
    one, other, single = (im.World(driven(given), dt=0.01) for given in (Formula(TEXT), wave, Formula(TEXT)))
    one.step(70)
    other.step(70)
    for _ in range(70):
        single.step()
    assert one.joint("pin").velocity == pytest.approx(wave(0.7), rel=1e-12)
    assert (one.runner.state.numpy() == other.runner.state.numpy()).all()
    assert (one.runner.state.numpy() == single.runner.state.numpy()).all()


def test_a_value_that_is_none_is_told_with_its_owner():
    world = im.World(driven(Formula("1/(t - 0.05)")), dt=0.05)
    with pytest.raises(StepError, match=r"'pin': its formula .* divides by zero at t = 0\.05 s"):
        world.step(3)


def test_files_journals_and_programs_hold_it(tmp_path: Path):
    model = driven(Formula(TEXT))
    data = model_to_json(model)
    assert data["joints"][0]["features"]["angle"]["motor"] == {
        "motor": "speed",
        "value": {"profile": "formula", "text": TEXT},
    }
    assert model_to_json(model_from_json(data)) == data
    assert f'im.Formula(text="{TEXT}")' in im.to_python(model)
    history = History(im.World(driven(0.0), dt=0.01), tmp_path / "day.journal")
    history.step(10)
    history.apply(edits.Drive("pin", Formula(TEXT)))
    history.step(20)
    history.apply(edits.ApplyLoad("wind", "arm", force=(Formula("t"), 0.0, 0.0)))
    history.step(20)
    before = history.world.hash()
    history.undo()
    history.redo()
    assert history.world.hash() == before
    history.close()
    assert replay(tmp_path / "day.journal").history.world.hash() == before
    other = im.World(driven(Formula("t")), dt=0.01)
    assert other.hash() != im.World(driven(Formula("2*t")), dt=0.01).hash()
