"""Parameters of a model and expressions of them: what they give, what is refused, files and Python."""

import json
import math

import numpy as np
import pytest

import impulsar as im
from impulsar import analysis
from impulsar.author.expressions import read_expression, renamed_in
from impulsar.author.renaming import renamed
from impulsar.io import FileError, model_from_json, model_to_json


def value(text: str, **values: float) -> float:
    return read_expression("test", text).value("test", values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*a + 0.05", 2 * 0.3 + 0.05),
        ("-a^2", -(0.3**2)),
        ("2^-a", 2**-0.3),
        ("2**3**2", 512.0),
        ("1 - 2 - 3", -4.0),
        ("8 / 4 / 2", 1.0),
        ("1e-3 * (1 + .5)", 1.5e-3),
        ("sin(30*deg) + cos(pi)", math.sin(math.pi / 6) - 1.0),
        ("atan2(a, -1)", math.atan2(0.3, -1.0)),
        ("max(a, 1, 2) - min(a)", 1.7),
        ("sqrt(abs(-4)) + hypot(3, 4)", 7.0),
        ("λ_1 + a", 5.3),
    ],
)
def test_expressions_have_the_value_of_arithmetic(text: str, expected: float) -> None:
    assert value(text, a=0.3, λ_1=5.0) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2*", "ends where a number"),
        ("(a", "ends where '\\)'"),
        ("a b", "has 'b' where an operator"),
        ("a; b", "has ';'"),
        ("__import__('os')", "has \"'\"|has '\\('"),
        ("a.b", "has '.'"),
        ("sin", "after sin"),
        ("atan2(1)", "takes 2, not 1"),
        ("1/(a - a)", "divides by zero"),
        ("sqrt(-1)", "no number"),
        ("(-8)^(1/3)", "no finite number"),
        ("1e400", "no finite number"),
        ("10^400", "no number"),
        ("(" * 60 + "1" + ")" * 60, "nested more than"),
        ("-" * 60 + "1", "nested more than"),
        ("1+" * 150 + "1", "characters"),
        ("", "expected text such as"),
    ],
)
def test_what_is_no_expression_says_why(text: str, words: str) -> None:
    with pytest.raises(im.ModelError, match=words):
        value(text, a=0.3, b=1.0)


def test_another_name_in_a_text() -> None:
    assert renamed_in("e + 2e3*re - 1e-5*e", "e", "x") == "x + 2e3*re - 1e-5*x"


def slider_crank(a: float = 0.1) -> im.Model:
    """A slider-crank whose crank is a and whose rod is 3a; every place follows."""
    model = im.Model("slider-crank")
    model.parameter("a", a, minimum=0.05, maximum=0.4, unit="m")
    model.parameter("rod_length", "3*a")
    model.parameter("reach", "sqrt(rod_length^2 - a^2)")
    x, z = "reach/2", "a/2"
    crank = model.body("crank", density=1000.0, shape=im.Capsule(radius=0.01, length="a"), position=(0, 0, z))
    turn = np.array([0.0, math.sin(math.acos(-1 / 3) / 2), 0.0, math.cos(math.acos(-1 / 3) / 2)])
    rod = model.body(
        "rod", density=1000.0, shape=im.Capsule(radius=0.01, length="rod_length"), position=(x, 0, z), orientation=turn
    )
    slider = model.body("slider", mass="5*a", inertia=(1e-3,) * 3, position=("reach", 0, 0))
    model.joint("O", "revolute", model.ground, crank, at=(0, 0, 0), axis=(0, 1, 0), friction="a/100")
    model.joint("A", "revolute", crank, rod, at=(0, 0, "a"), axis=(0, 1, 0))
    model.joint("B", "revolute", rod, slider, at=("reach", 0, 0), axis=(0, 1, 0))
    model.joint("rail", "prismatic", model.ground, slider, at=("reach", 0, 0), axis=(1, 0, 0), limits=("-4*a", "5*a"))
    return model


def test_a_copy_with_other_values_is_the_model_authored_so() -> None:
    """Lengths, masses by density, places, joints and limits are those of the model written with that value."""
    model = slider_crank(0.1)
    found, wanted = model.with_parameters(a=0.2), slider_crank(0.2)
    found.check()
    for name, body in wanted.bodies.items():
        other = found.bodies[name]
        assert other.mass == pytest.approx(body.mass, rel=1e-14)
        np.testing.assert_allclose(other.inertia, body.inertia, rtol=1e-13, atol=1e-18)
        np.testing.assert_allclose(other.position, body.position, atol=1e-15)
    for name, joint in wanted.joints.items():
        other = found.joints[name]
        np.testing.assert_allclose(other.p_PF, joint.p_PF, atol=1e-15)
        np.testing.assert_allclose(other.p_CM, joint.p_CM, atol=1e-15)
    assert found.joints["rail"].features["slide"].limits == (-0.8, 1.0)
    assert found.joints["O"].features["angle"].friction == 0.002
    assert model.bodies["crank"].shapes[0].length == 0.1, "the model itself is as it was"
    end = [im.World(one).run(0.3, every=0.1)["position"].values for one in (found, wanted)]
    np.testing.assert_allclose(end[0], end[1], atol=1e-7)  # the tolerance of `direct`


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"b": 1.0}, "no parameter named 'b'; known are: a, rod_length, reach"),
        ({"a": 1.0}, "expected one from 0.05 to 0.4"),
        ({"a": "rod_length/3"}, "in a circle"),
        ({"a": "2*c"}, "no parameter named 'c'"),
        ({"a": math.nan}, "expected a finite number"),
        ({"a": None}, "expected a finite number"),
        ({"rod_length": 0.01}, "no number"),
        ({"rod_length": "-a"}, "length is -0.1, expected a finite number > 0"),
    ],
)
def test_values_that_cannot_be_are_refused(values: dict, words: str) -> None:
    with pytest.raises(im.ModelError, match=words):
        slider_crank().with_parameters(**values)


def test_what_cannot_follow_is_refused() -> None:
    model = slider_crank()
    for path, words in (
        ("crank.colour", "it has: mass, density, radius, length"),
        ("crank.position", "give its axis, 'crank.position.x'"),
        ("crank.mass.x", "mass is one number"),
        ("nobody.mass", "no part named 'nobody'"),
        ("mass", "expected a path"),
        ("O.drive", "has no motor"),
    ):
        with pytest.raises(im.ModelError, match=words):
            model.expression(path, "a")
    for call in (
        lambda: model.parameter("sin", 1.0),
        lambda: model.parameter("two words", 1.0),
        lambda: model.parameter("crank", 1.0),
        lambda: model.body("b", mass="q", inertia=(1, 1, 1)),
        lambda: model.probe("p", "crank", at=("crank", (0, 0, "a"))),
        lambda: model.parameter("c", 1.0, minimum=2.0),
    ):
        with pytest.raises(im.ModelError):
            call()


def test_features_by_group_and_limits_of_a_ball() -> None:
    model = im.Model("groups")
    model.parameter("k", 0.25)
    body = model.body("b", mass=1.0, inertia=(1, 1, 1))
    model.joint("c", "cylindrical", "ground", body, at=(0, 0, 0), axis=(0, 0, 1), friction={"slide": "k", "angle": 0.1})
    other = model.body("d", mass=1.0, inertia=(1, 1, 1))
    limits = {"swing": "2*k", "twist": ("-k", 1.0)}
    model.joint("s", "spherical", body, other, at=(0, 0, 0), limits=limits)
    model.expression("model.gravity.z", "-40*k")
    new = model.with_parameters(k=0.5)
    assert new.joints["c"].features["slide"].friction == 0.5
    assert new.joints["c"].features["angle"].friction == 0.1
    (ball,) = new.joints["s"].features.values()
    assert (ball.swing, ball.limits) == (1.0, (-0.5, 1.0))
    assert new.gravity[2] == -20.0
    new.check()


def test_files_and_python_keep_them() -> None:
    """Bit for bit, and what is read follows as before; a value at odds with its expression is refused."""
    model = slider_crank(1 / 7)
    data = json.loads(json.dumps(model_to_json(model)))
    again = model_from_json(data)
    assert model_to_json(again) == data
    names: dict = {"__name__": "script"}
    exec(im.to_python(model), names)
    assert model_to_json(names["model"]) == data
    assert model_to_json(again.with_parameters(a=0.2)) == model_to_json(model.with_parameters(a=0.2))
    data["parameters"][0]["value"] = 0.2
    with pytest.raises(FileError, match=r"but '3\*a' is 0.6"):
        model_from_json(data)


def test_a_parameter_that_follows_one_declared_later() -> None:
    model = im.Model("order")
    model.parameter("b", 2.0)
    model.parameter("a", 1.0)
    later = model.with_parameters(b="2*a")
    names: dict = {"__name__": "script"}
    exec(im.to_python(later), names)
    assert model_to_json(names["model"]) == model_to_json(later)


def test_names_follow() -> None:
    model = renamed(renamed(slider_crank(), "a", "radius_of_crank"), "rail", "guide")
    assert model.expressions["guide.upper"] == "5*radius_of_crank"
    assert model.parameters["rod_length"].expression == "3*radius_of_crank"
    model.check()


def test_a_sweep_closes_loops_and_says_where_it_cannot() -> None:
    """A four-bar whose crank grows: its rocker's swing grows with it, until nothing closes."""
    model = im.scene("four-bar")
    model.parameter("a", 0.1, unit="m")
    model.expression("crank.length", "a")
    assert analysis.with_parameters(model, a=0.12).bodies["crank"].shapes[0].length == 0.12

    def crank(world: im.World) -> dict[str, float]:
        return {"length": world.model.bodies["crank"].shapes[0].length, "error": world.constraint_error()}

    found = analysis.sweep_parameter(model, "a", [0.08, 0.1, 0.12, 9.0], crank)
    np.testing.assert_array_equal(found["length"].values[:3], [0.08, 0.1, 0.12])
    assert (found["error"].values[:3] < 1e-9).all()
    assert math.isnan(found["length"].values[3])
    assert "CANNOT CLOSE" in str(found["reason"].values[3]) or "open" in str(found["reason"].values[3])
    assert found["a"].attrs["units"] == "m"
    with pytest.raises(im.ModelError, match="no parameter named 'b'"):
        analysis.sweep_parameter(model, "b", [1.0], crank)
