"""A curve is drawn in the picture, and the running linkage is fitted to it while time goes on."""

import math

import numpy as np
import pytest

from .browser import Studio

CURVE = "impulsar.analysis().curve"
POINT = """async (point) => (await (await fetch('api/turn', {method: 'POST',
    body: JSON.stringify({points: [point]})})).json()).paths[0]"""


def draw(studio: Studio, places: list[tuple[float, float, float]]) -> None:
    """Along points of the world, by the mouse."""
    pixels = [studio.get("worldPixel", place) for place in places]
    mouse = studio.page.mouse
    mouse.move(pixels[0]["x"], pixels[0]["y"])
    mouse.down()
    for pixel in pixels[1:]:
        mouse.move(pixel["x"], pixel["y"])
    mouse.up()


def distances(points: np.ndarray, path: np.ndarray) -> np.ndarray:
    """Of points from a line through places."""
    a, b = path[:-1], path[1:]
    along = np.clip(((points[:, None] - a) * (b - a)).sum(-1) / ((b - a) ** 2).sum(-1).clip(1e-300), 0.0, 1.0)
    return np.linalg.norm(a + along[..., None] * (b - a) - points[:, None], axis=-1).min(axis=1)


@pytest.mark.study
@pytest.mark.scene("four-bar")
def test_a_drawn_curve_is_fitted_while_one_watches_and_is_one_edit(studio: Studio) -> None:
    """The point of the linkage that was applied goes along what was drawn, by the engine's own whole turn."""
    studio.page.click("#analyse")
    studio.page.click("#analysis button[data-kind=curve]")
    assert studio.page.locator("[aria-label='Joint that drives']").input_value() == "O"
    studio.page.click("#analysis button:text-is('Draw')")
    studio.until(f"() => {CURVE}.drawing")
    turn = np.linspace(0.0, 2.0 * math.pi, 40)
    draw(studio, [(0.14 + 0.09 * math.cos(a), 0.13 + 0.045 * math.sin(a), 0.0) for a in turn])
    studio.until(f"() => {CURVE}.points.length === 32 && {CURVE}.running")
    began, undo = studio.frame()["time"], studio.get("status")["undo"]
    studio.until(f"() => {CURVE}.design?.error < 0.02", patience=120)
    assert studio.frame()["time"] > began  # time went on
    assert studio.get("status")["undo"] == undo  # and nothing was changed
    studio.page.click("#analysis button:text-is('Stop')")
    studio.until(f"() => !{CURVE}.running")
    studio.pause()
    before = studio.ask("() => impulsar.hash()")

    studio.page.click("#analysis button:text-is('Apply')")
    studio.until("() => impulsar.status().undo === 'SetParameters' && impulsar.settled()")
    found, probe = studio.get("analysis")["curve"], studio.get("scene")["probes"][0]
    path = np.reshape(studio.ask(POINT, {"body": probe["body"], "at": probe["at"]}), (-1, 3))
    points = np.array(found["points"])
    size = np.linalg.norm(np.ptp(points, axis=0))
    off = distances(points, path) / size
    assert math.sqrt((off**2).mean()) == pytest.approx(found["design"]["error"], abs=2e-3)  # lines of 5° each
    assert {"O_x", "path_B_y"} <= {one["name"] for one in studio.get("scene")["variables"]}
    studio.page.click("#undo")
    studio.until("() => impulsar.status().undo !== 'SetParameters' && impulsar.settled()")
    assert studio.ask("() => impulsar.hash()") == before


@pytest.mark.study
@pytest.mark.scene("five-bar")
def test_what_cannot_be_fitted_says_why(studio: Studio) -> None:
    """A five-bar does not follow one drive."""
    studio.page.click("#analyse")
    studio.page.click("#analysis button[data-kind=curve]")
    studio.page.click("#analysis button:text-is('Draw')")
    draw(studio, [(0.05 * math.cos(a), 0.15 + 0.05 * math.sin(a), 0.0) for a in np.linspace(0.0, 3.0, 12)])
    why = "document.querySelector('#analysis form p.error')?.textContent"
    studio.until(f"() => {why}?.includes('1 freedom besides')", patience=90)
    studio.until(f"() => !{CURVE}.running")
    assert studio.page.locator("#analysis button:text-is('Apply')").is_disabled()
