"""Out of the page: Python in the clipboard, large pictures."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from .browser import Studio


def test_what_is_shown_is_copied_as_python(open_scene: Callable[..., Studio]) -> None:
    """The script, carried out, ends where the page stands, with the edits made in it."""
    studio = open_scene("four-bar", permissions=["clipboard-read", "clipboard-write"])
    studio.wait_time(0.05)
    studio.pause()
    studio.pick("body", "crank")
    studio.type("mass", "0.3")
    studio.settle()
    studio.run()
    studio.wait_time(0.05)
    studio.pause()
    for entry, made in (("Copy as Python: model, steps and edits", "world"), ("Copy as Python: the model", "model")):
        studio.page.click("#files-button")
        studio.page.get_by_role("button", name=entry).click()
        studio.until("() => [...document.querySelectorAll('.toast')].some((e) => e.textContent.includes('clipboard'))")
        text = studio.page.evaluate("() => navigator.clipboard.readText()")
        names: dict = {"__name__": "written"}
        exec(text, names)
        if made == "world":
            world = names["world"]
            assert world.time == pytest.approx(studio.frame()["time"], abs=1e-9)
            assert world.hash() in text  # the session's
            for body in ("crank", "coupler", "rocker"):
                assert world.body(body).position == pytest.approx(studio.position(body), abs=1e-7)  # frames are float32
        assert names["model"].bodies["crank"].mass == (0.1 if made == "world" else 0.3)
        studio.page.evaluate("() => { for (const toast of document.querySelectorAll('.toast')) toast.remove(); }")


def test_pictures_are_drawn_larger_than_the_screen(studio: Studio) -> None:
    """Drawn anew: finer than the screen's picture stretched; afterwards the canvas is as it was."""
    studio.pause()
    canvas = "() => [document.getElementById('canvas').width, document.getElementById('canvas').height]"
    before, shown = studio.ask(canvas), {}
    size = studio.ask("() => { const c = document.getElementById('canvas'); return [c.clientWidth, c.clientHeight]; }")
    for scale in (2, 4):
        studio.page.click("#files-button")
        with studio.page.expect_download() as saved:
            studio.page.get_by_role("button", name=f"Save picture, {scale} times as large").click()
        shown[scale] = Image.open(io.BytesIO(Path(saved.value.path()).read_bytes())).convert("RGBA")
        assert shown[scale].size == (scale * size[0], scale * size[1])
    stretched = shown[2].resize(shown[4].size, Image.Resampling.NEAREST)
    assert np.any(np.asarray(shown[4]) != np.asarray(stretched))  # finer,
    small = [np.asarray(image.resize((80, 45), Image.Resampling.BOX), float) for image in shown.values()]
    assert np.abs(small[0] - small[1]).mean() < 0.03 * 255  # and the same picture
    assert studio.ask(canvas) == before
