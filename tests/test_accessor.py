"""`result.impulsar`: what is drawn is what the dataset has, with its units."""

import base64
import io
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from PIL import Image

import impulsar as im


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    return im.World(im.scene("four-bar")).run(0.5, every=0.01, progress=False)


def test_curves_are_the_dataset_with_units(result: xr.Dataset) -> None:
    figure = result.impulsar.plot("position", ["crank.x", "rocker.z"], "reaction_force")
    first, second, third = figure.axes
    assert [ax.get_ylabel() for ax in figure.axes] == ["position [m]", "position [m]", "reaction force [N]"]
    lines = {line.get_label(): line.get_ydata() for line in first.lines}
    assert np.array_equal(lines["body.crank.position.x"], result["position"].sel(body="crank", axis="x"))
    assert "body.crank.position.z" not in lines and "that stay zero" in first.get_xlabel()  # the plane's normal
    assert [line.get_label() for line in second.lines] == ["body.crank.position.x", "body.rocker.position.z"]
    assert len(third.lines) == 8 and "choose parts" not in third.get_xlabel()
    one = result.impulsar.plot("velocity", parts="coupler", component="norm")
    speed = np.sqrt((result["velocity"].sel(body="coupler") ** 2).sum("axis"))
    assert np.array_equal(one.axes[0].lines[0].get_ydata(), speed)
    assert one._repr_png_().startswith(b"\x89PNG")
    assert len(result.impulsar.plot().axes) >= 3


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda a: a.plot("positon"), "did you mean 'position'"),
        (lambda a: a.plot("position", parts="cranc"), "did you mean 'crank'"),
        (lambda a: a.plot("position", component="q"), "known are: x, y, z, norm"),
        (lambda a: a.plot(["crank.x", "energy.kinetic"]), r"mixes \[m\] and \[J\]"),
        (lambda a: a.plot(parts="crank"), "name one"),
        (lambda a: a.plot([]), "expected names"),
        (lambda a: a.plot(3), "pane is 3"),
        (lambda a: a.animate(size=(0, 3)), "width and height from 1 to 40"),
        (lambda a: a.plot(world=3), "world is 3"),
        (lambda a: a.animate("a.foo"), "formats are"),
        (lambda a: a.animate(fps=0), "fps is 0"),
        (lambda a: a.animate(speed=1e-9), "play it faster"),
        (lambda a: a.animate(model=3), "expected a Model or a World"),
        (lambda a: a.animate(model=im.scene("ten-pendula")), "no body 'link1'"),
        (lambda a: a.view(height=3), "height is 3"),
    ],
)
def test_what_cannot_be_drawn_is_told(result: xr.Dataset, ask, words: str) -> None:
    with pytest.raises(im.ModelError, match=words):
        ask(result.impulsar)


def test_of_a_batch_the_world_asked_for_is_drawn() -> None:
    result = im.World(im.scene("four-bar"), worlds=2, compile="off").run(0.02, progress=False)
    figure = result.impulsar.plot("crank.x", world=1)
    assert figure.get_suptitle().endswith("world 1 of 2")
    truth = result["position"].sel(body="crank", axis="x").isel(world=1)
    assert np.array_equal(figure.axes[0].lines[0].get_ydata(), truth)


def test_what_is_no_result_is_told() -> None:
    with pytest.raises(im.ModelError, match=r"no result of world\.run"):
        xr.Dataset({"a": ("x", [1.0])}).impulsar.plot()


def test_a_film_has_a_picture_for_each_of_its_times(result: xr.Dataset, tmp_path: Path) -> None:
    """0.5 s at 10 a second, with both ends; a file knows no model and asks for it."""
    path = result.isel(time=slice(None)).impulsar.animate(tmp_path / "a.gif", fps=10, size=(3.0, 2.5))
    with Image.open(path) as film:
        assert film.n_frames == 6 and film.info["duration"] == 100
        first = np.asarray(film.convert("RGB"))
        film.seek(5)
        assert np.any(np.asarray(film.convert("RGB")) != first)
    im.results.save(result, tmp_path / "a.nc")
    again = im.results.load(tmp_path / "a.nc")
    assert again.identical(result)
    with pytest.raises(im.ModelError, match="model="):
        again.impulsar.animate()
    film = again.impulsar.animate(model=im.scene("four-bar"), fps=4, size=(3.0, 2.5))
    text = film._repr_html_()
    assert "http" not in text  # nothing from another host
    data = base64.b64decode(text.partition("base64,")[2].partition('"')[0])
    assert Image.open(io.BytesIO(data)).n_frames == 3


def test_what_was_not_sampled_is_not_drawn() -> None:
    """A run of few variables shows these; one of none that are usual says what it has."""
    world = im.World(im.scene("four-bar"))
    few = world.run(0.1, variables=["position", "reaction_force", "reaction_torque"], progress=False)
    assert few.impulsar.plot().axes[0].get_ylabel() == "position [m]"
    with pytest.raises(im.ModelError, match="name what to draw, of: velocity"):
        world.run(0.1, variables=["velocity"], progress=False).impulsar.plot()


def test_a_saved_view_has_the_motion_in_it(result: xr.Dataset, tmp_path: Path) -> None:
    shown = result.impulsar.view(height=300)
    assert "srcdoc=" in shown._repr_html_() and "height:300px" in shown._repr_html_()
    assert shown._repr_png_().startswith(b"\x89PNG")
    shown.save(tmp_path / "a.html")
    assert "application/json" in (tmp_path / "a.html").read_text(encoding="utf-8")
