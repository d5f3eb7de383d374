"""The page as a whole: starts, keeps its line, shows errors, saves, opens, and can be used by everyone."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from matplotlib.image import imread

import impulsar as im
from impulsar.io.scene_files import save_model

from .browser import Server, Studio


def test_the_browser_is_sent_to_the_page_by_a_private_file(
    open_page: Callable[..., Studio], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is started: by a file that redirects with a token for one opening. Logged out, the page is shut."""
    told, fake = tmp_path / "arguments", tmp_path / "browser"
    fake.write_text(f'#!/bin/sh\nprintf "%s" "$1" > "{told}.new"\nmv "{told}.new" "{told}"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{fake} %s")
    server = Server("ten-pendula", browser=True)
    try:
        end = time.perf_counter() + 20
        while not told.exists() and time.perf_counter() < end:
            time.sleep(0.05)
        studio = open_page(told.read_text())
        assert studio.ask("() => location.href") == f"{server.link.partition('?')[0]}"
        with studio.page.expect_response("**/api/logout") as answer:
            studio.page.click("#files-button")
            studio.page.click("button:has-text('Log out')")
        assert answer.value.status == 200
        studio.until("() => !impulsar.connected()")
        assert studio.ask("async () => (await fetch('/api/scenes')).status") == 401
        studio.problems.clear()  # the browser complains of what is refused now
    finally:
        server.stop()


def test_licences_of_what_is_bundled_come_with_the_page() -> None:
    """Name, version and whole text of every dependency that the bundle has, beside it in the wheel."""
    root = Path(__file__).resolve().parents[2]
    text = (root / "src" / "impulsar" / "studio" / "page" / "THIRD_PARTY.txt").read_text()
    lock = json.loads((root / "client" / "package-lock.json").read_text())["packages"]
    for name in json.loads((root / "client" / "package.json").read_text())["dependencies"]:
        assert f"{name} {lock[f'node_modules/{name}']['version']}\n" in text
    assert text.count("Permission is hereby granted, free of charge") == 2  # three.js, its trees; not lit-html's
    assert text.count("Copyright") >= 2


@pytest.mark.timed
def test_first_frame_within_five_seconds(open_page: Callable[..., Studio]) -> None:
    """From the command to the first drawn frame, kernels cached, a browser at hand."""
    Server("ten-pendula").stop()  # fills the kernel cache where it is cold
    server = Server("ten-pendula")
    try:
        open_page(server.link)
        seconds = time.perf_counter() - server.started
    finally:
        server.stop()
    print(f"first frame after {seconds:.2f} s")
    assert seconds < 5.0


def test_line_is_taken_up_again(studio: Studio) -> None:
    """A lost line shows a banner; the page connects again, has its signals back and can edit."""
    studio.pick("body", "link3")
    studio.until("() => impulsar.plots()[1].times.length > 3")
    studio.ask(
        """() => {
          const banner = document.getElementById("banner");
          window.told = [];
          new MutationObserver(() => told.push(!banner.hidden)).observe(banner, { attributes: true });
          impulsar.drop();
        }"""
    )
    studio.until("() => told.includes(true) && impulsar.connected()")
    studio.page.locator("#banner").wait_for(state="hidden")
    studio.problems.clear()
    count = len(studio.get("plots")[1]["times"])
    studio.until("(count) => impulsar.plots()[1].times.length > count + 3", count)
    studio.pause()
    assert studio.get("pick")["name"] == "link3"


def test_two_pages_see_one_world(
    server: Server, open_page: Callable[..., Studio], open_scene: Callable[..., Studio]
) -> None:
    """What one page does the other shows: a force, and time standing still."""
    one = open_scene()
    two = open_page(server.link)
    one.pick("body", "link4")
    one.page.click("#inspector-body .actions button:has-text('Force')")
    two.until("() => impulsar.live().loads.length === 1")
    one.pause()
    two.until("() => impulsar.status().paused")
    one_time = one.frame()["time"]
    two.until("(time) => impulsar.frame().time === time", one_time)
    assert one.get("live")["loads"] == two.get("live")["loads"]


def test_what_one_page_switches_off_the_other_can_switch_on(
    server: Server, open_page: Callable[..., Studio], open_scene: Callable[..., Studio]
) -> None:
    one = open_scene()
    one.pick("body", "link4")
    one.page.click("#inspector-body .actions button:has-text('Force')")
    one.until("() => impulsar.pick()?.kind === 'load'")
    force = one.get("live")["loads"][0]["force"]
    one.page.click("#inspector-body button:has-text('Switch off')")
    one.until("() => impulsar.live().loads.length === 0")
    two = open_page(server.link)
    two.pick("load", "force 1")
    two.page.click("#inspector-body button:has-text('Switch on')")
    one.until("() => impulsar.live().loads.length === 1")
    assert one.get("live")["loads"][0]["force"] == force
    two.page.click("#inspector-body button:has-text('Remove')")
    one.until("() => impulsar.live().loads.length === 0 && impulsar.live().off.length === 0")
    assert one.page.locator("#parts-list [data-kind='load']").count() == 0


def test_recording_begins_anew(studio: Studio) -> None:
    """The results that are saved begin where the control was pressed, and it says since when."""
    studio.wait_time(0.5)
    studio.pause()
    before = studio.frame()["time"]
    studio.page.click("#record")
    studio.until("(text) => document.querySelector('#record').textContent === text", f"since {before:.2f} s")
    studio.run()
    studio.wait_time(0.3)
    studio.page.click("#files-button")
    with studio.page.expect_download() as found:
        studio.page.click(".menu button:has-text('Save results')")
    with xr.open_dataset(found.value.path(), engine="h5netcdf") as results:
        assert before < float(results["time"][0]) < before + 0.2


def test_refused_edits_are_told(studio: Studio) -> None:
    """A refusal that belongs to no field is told in the engine's words until it is read."""
    studio.tool("joint")
    middle = studio.get("pixel", "link6", [0, 0, 0])  # farther from the pins, where two links meet, than anything snaps
    mouse = studio.page.mouse
    mouse.move(middle["x"], middle["y"])
    mouse.down()
    mouse.move(middle["x"] + 60, middle["y"], steps=4)
    mouse.move(middle["x"], middle["y"], steps=4)
    mouse.up()
    toast = studio.page.locator(".toast.error")
    toast.wait_for(state="visible")
    assert "different bodies" in toast.inner_text()
    toast.locator("button").click()
    assert studio.page.locator(".toast.error").count() == 0


def test_seek_and_reset(studio: Studio) -> None:
    """The timeline goes back to a pose that was there, and to the start."""
    grip = studio.get("pixel", "link10", [0, 0, -0.01])
    studio.drag(grip, {"x": grip["x"] + 80, "y": grip["y"] - 40})
    studio.until("() => impulsar.live().hands.length === 0")
    studio.wait_time(0.5)
    studio.pause()
    then = studio.frame()
    studio.run()
    studio.wait_time(0.5)
    studio.pause()
    studio.page.locator("#seek").fill(str(then["time"]))
    studio.until("(time) => Math.abs(impulsar.frame().time - time) < 1e-9", then["time"])
    assert studio.frame()["poses"] == then["poses"]
    studio.page.click("#reset")
    studio.until("() => impulsar.frame().time === 0")


def test_files_are_saved(studio: Studio) -> None:
    """Journal, results, scene, picture and video can be saved; the results are a NetCDF file of the run."""
    page = studio.page
    studio.wait_time(0.3)

    def save(text: str) -> Path:
        page.click("#files-button")
        with page.expect_download() as found:
            page.click(f".menu button:has-text('{text}')")
        return found.value.path()

    with xr.open_dataset(save("Save results"), engine="h5netcdf") as results:
        assert results.sizes["body"] == 10
        assert float(results["time"][-1]) > 0.2
    scene = json.loads(save("Save scene").read_text())
    assert "link10" in json.dumps(scene)
    assert save("Save journal").stat().st_size > 100
    assert 0.001 < (np.ptp(imread(save("Save picture"))[..., :3], axis=-1) > 0.2).mean() < 0.9  # not blank
    page.click("#video")
    studio.wait_time(1.0)
    with page.expect_download() as found:
        page.click("#video")
    assert found.value.path().stat().st_size > 1000
    assert re.search(r"\.(mp4|webm)$", found.value.suggested_filename)


IMPORTS = Path(__file__).parents[1] / "data" / "imports"
DROP = (
    "([name, text]) => { const data = new DataTransfer(); data.items.add(new File([text], name));"
    " window.dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true })); }"
)
WEDGE = [
    ((0, 0, 0), (0.2, 0, 0), (0, 0.2, 0)),
    ((0, 0, 0), (0.2, 0, 0), (0, 0, 0.2)),
    ((0, 0, 0), (0, 0.2, 0), (0, 0, 0.2)),
]


def test_mesh_is_dropped_on_the_page(studio: Studio) -> None:
    """A mesh becomes a body, in metres where it is small: a corner of a cube of 0.2 m, 1/6 of it, of 1000 kg/m³."""
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {x} {y} {z}\n" for x, y, z in face)
        + "endloop\nendfacet\n"
        for face in WEDGE
    )
    studio.ask(DROP, ["wedge.stl", f"solid wedge\n{facets}endsolid wedge\n"])
    studio.page.click("dialog button:text('Add body')")
    studio.until("() => impulsar.scene().bodies.length === 11")
    assert studio.get("scene")["bodies"][-1]["mass"] == pytest.approx(1000 * 0.2**3 / 6)


def test_robots_are_dropped_on_the_page(studio: Studio) -> None:
    """URDF, SDF, MJCF and USD become the world; what was lost of them is listed by line, and only then."""
    for name, title, told in (
        ("arm.urdf", "arm", "line 53: ignored: joint 'shoulder'"),
        ("planar.xml", "planar", "ignored"),
        ("usd/arm.usda", "cell", "line 17: changed: prim '/cell/base': is kinematic"),
        ("fourbar.sdf", "four-bar", ""),
    ):
        studio.ask(DROP, [name.split("/")[-1], (IMPORTS / name).read_text()])
        studio.until(f"() => impulsar.scene().name === '{title}'")
        report = studio.page.locator("dialog[aria-label='Not taken as it stands']")
        if told:
            report.wait_for(state="visible")
            assert told in report.inner_text()
            report.locator("button[aria-label='Close']").click()
            report.wait_for(state="detached")
        assert report.count() == 0


def test_scene_file_is_dropped_on_the_page(studio: Studio, tmp_path: Path) -> None:
    """A scene file becomes the world; something else is refused in words."""
    path = tmp_path / "pendulum.json"
    model = im.Model("dropped pendulum")
    body = model.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0, 0, -0.5))
    model.joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0))
    save_model(model, path)
    studio.ask(DROP, ["pendulum.json", path.read_text()])
    studio.until("() => impulsar.scene().name === 'dropped pendulum'")
    assert [entry["name"] for entry in studio.get("scene")["bodies"]] == ["bob"]
    studio.ask(DROP, ["notes.txt", "hello"])
    studio.page.locator(".toast.error").wait_for(state="visible")
    assert "notes.txt" in studio.page.locator(".toast.error").inner_text()
    studio.page.locator(".toast.error button").click()
    studio.ask(DROP, ["broken.json", "{"])
    studio.page.locator(".toast.error").wait_for(state="visible")
    studio.problems.clear()  # the browser logs the status of a refused request


def test_paths_of_probes_and_points(studio: Studio) -> None:
    """The probe's path grows while it moves; a clicked point gets a path too."""
    grip = studio.get("pixel", "link10", [0, 0, -0.01])
    studio.drag(grip, {"x": grip["x"] + 60, "y": grip["y"] - 30})
    studio.until("() => impulsar.traceLength('probe tip') > 10")
    studio.pause()
    studio.tool("trace")
    pixel = studio.get("pixel", "link5")
    studio.page.mouse.click(pixel["x"], pixel["y"])
    studio.run()
    studio.until("() => impulsar.traceLength('point 1 of link5') > 5")


CONTRAST = """() => {
  const style = getComputedStyle(document.documentElement);
  const light = (name) => {
    const n = parseInt(style.getPropertyValue(name).trim().slice(1), 16);
    const part = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(n >> 16) + 0.7152 * part((n >> 8) & 255) + 0.0722 * part(n & 255);
  };
  const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  return ["text", "muted", "accent", "good", "warn", "bad", "force", "torque", "motion", "hand"]
    .map((name) => [name, ratio(`--${name}`, "--panel")]);
}"""


def test_everything_fits(studio: Studio) -> None:
    """Nothing sticks out of the window, in light and dark, wide and narrow; text can be told from its ground."""
    for scheme in ("light", "dark"):
        studio.page.emulate_media(color_scheme=scheme)
        studio.until("(scheme) => document.documentElement.dataset.theme === scheme", scheme)
        assert {name: ratio for name, ratio in studio.ask(CONTRAST) if ratio < 4.5} == {}  # WCAG 2 AA
        for width, height in ((1280, 800), (390, 844), (844, 390)):
            studio.page.set_viewport_size({"width": width, "height": height})
            root = "document.documentElement"
            assert studio.ask(f"() => {root}.scrollWidth <= innerWidth && {root}.scrollHeight <= innerHeight")
            canvas = studio.page.locator("#canvas").bounding_box()
            assert canvas is not None
            assert canvas["width"] > 200
            assert canvas["height"] > 90
            for name in ("#books", "#timeline", "#play"):
                assert studio.page.locator(name).is_visible()


def test_everything_has_a_name(studio: Studio) -> None:
    """Every control has an accessible name; the picture's content is said in words that change with it."""
    studio.pick("joint", "hinge5")
    nameless = studio.ask(
        "() => [...document.querySelectorAll('button, input, select, #canvas, [role=img]')].filter((element) =>"
        " !(element.getAttribute('aria-label') || element.textContent.trim()"
        " || element.closest('label')?.textContent.trim()))"
        ".map((element) => element.outerHTML)"
    )
    assert nameless == []
    assert "joint hinge5" in studio.get("summary")
    studio.pick("body", "link10")
    studio.until("() => /Body link10 at/.test(document.querySelector('#summary').textContent)")
    assert "Kinetic energy" in studio.get("summary")


def test_theme_can_be_toggled(studio: Studio) -> None:
    before = studio.ask("() => document.documentElement.dataset.theme")
    studio.page.click("#theme")
    assert studio.ask("() => document.documentElement.dataset.theme") != before
