"""What a newcomer's first day brought up, one after the other: each of these was so, and is not any more."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import impulsar as im

from .browser import Server, Studio

Open = Callable[..., Studio]
SLOW = "0.25"  # speed at which a busy machine, too, has the time to read every step


def hands(studio: Studio) -> list:
    return studio.frame()["hands"]


def toasts(studio: Studio) -> list[str]:
    return studio.ask("() => [...document.querySelectorAll('.toast span')].map((toast) => toast.textContent)")


# 1: hands -----------------------------------------------------------------------------------------------------


def test_a_pull_that_a_crash_cut_short_is_let_go(open_page: Open, tmp_path: Path) -> None:
    """kill -9 in mid-pull, start again: time stands still and nothing hangs from a hand without a user."""
    journal = tmp_path / "day.journal"
    server = Server("ten-pendula", "--journal", str(journal))
    studio = open_page(server.link)
    start = studio.get("pixel", "link10")
    studio.drag(start, {"x": start["x"] + 120, "y": start["y"] - 60}, release=False)
    studio.until("() => impulsar.frame().hands.length === 1")
    studio.wait_time(0.3)
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()
    studio.problems.clear()  # the browser's own lines about the lost socket
    studio.page.close()
    again = Server("--journal", str(journal))
    try:
        page = open_page(again.link)
        assert page.get("status")["paused"]
        assert hands(page) == []
        page.run()
        page.wait_time(0.2)
        assert hands(page) == []
    finally:
        again.stop()
        studio.problems.clear()


def test_undo_brings_no_hand_back_that_nobody_holds(server: Server, open_page: Open, open_scene: Open) -> None:
    """One page holds a body, another removes it, the first lets go: undo brings the body back, and no hand."""
    one = open_scene()
    other = open_page(server.link)
    start = one.get("pixel", "link10")
    one.drag(start, {"x": start["x"] + 80, "y": start["y"] - 40}, release=False)
    other.until("() => impulsar.frame().hands.length === 1")
    other.pick("body", "link10")
    other.page.click("#inspector-body button.danger:text('Remove')")
    one.until("() => impulsar.scene().bodies.length === 9")
    one.page.mouse.up()
    one.until("() => document.querySelector('.toast.error') !== null")  # there is no such hand any more
    other.page.click("#undo")
    other.until("() => impulsar.scene().bodies.length === 10")
    other.wait_time(0.2)
    assert hands(other) == []


# 2, 12: every step ---------------------------------------------------------------------------------------------


@pytest.fixture
def four_bar(open_scene: Open) -> Studio:
    """The four-bar at its start, stopped, with steps of 1 ms."""
    studio = open_scene("four-bar")
    studio.page.keyboard.press("Escape")
    studio.type("step", "0.001")
    studio.until("() => impulsar.status().dt === 0.001")
    studio.pause()
    studio.page.click("#reset")
    studio.until("() => impulsar.frame().time === 0")
    studio.page.click("#record")
    studio.settle()
    return studio


def test_plots_and_tables_have_every_step(four_bar: Studio, tmp_path: Path) -> None:
    """The peak reaction in the CSV is that of `impulsar run` at every step to 1e-12, that of the plot to float32."""
    studio = four_bar
    studio.pick("joint", "O")
    studio.page.select_option("select[aria-label='What to plot of the picked part']", "reaction force")
    studio.page.select_option("#speed", SLOW)
    studio.run()
    studio.wait_time(0.3)
    studio.pause()
    studio.settle()
    end = studio.frame()["time"]
    steps = round(end / 1e-3)
    run = im.World(im.scene("four-bar"), dt=1e-3).run(end, progress=False)
    true = np.linalg.norm(run["reaction_force"].sel(joint="O"), axis=-1)[1:]
    lines = studio.get("csv").splitlines()
    at = next(k for k, name in enumerate(lines[0].split(",")) if "reaction.force.norm" in name)
    table = np.array([float(line.split(",")[at]) for line in lines[1:]])
    assert len(table) == steps
    assert table.max() == pytest.approx(true.max(), rel=1e-12)
    np.testing.assert_allclose(table, true, rtol=1e-12)
    pane = next(pane for pane in studio.get("plots") if pane["title"] == "of O")
    shown = next(series for series in pane["series"] if series["name"].endswith("norm"))
    assert len(shown["values"]) > 0.5 * steps  # of frames there are 60 a second; a busy machine may read fewer
    assert max(value for value in shown["values"] if value is not None) == pytest.approx(true.max(), rel=1e-3)


def test_a_plot_begins_with_what_was_recorded(four_bar: Studio) -> None:
    """Also where time stands still: 10."""
    studio = four_bar
    studio.page.keyboard.press(".")
    studio.run()
    studio.wait_time(0.3)
    studio.pause()
    studio.settle()
    studio.pick("body", "coupler")
    pane = "() => impulsar.plots().find((pane) => pane.title === 'of coupler')"
    studio.until(f"() => ({pane})()?.times.length > 250")
    found = studio.ask(pane)
    assert found["times"][0] < 0.01
    assert found["times"][-1] == pytest.approx(studio.frame()["time"], abs=1e-9)


def test_plots_and_books_agree_while_a_body_is_dragged_with_time_stopped(four_bar: Studio) -> None:
    studio = four_bar
    studio.run()
    studio.wait_time(0.1)
    studio.pause()
    studio.settle()
    start = studio.get("pixel", "coupler")
    studio.drag(start, {"x": start["x"] + 25, "y": start["y"] + 25})
    studio.settle()
    book = studio.frame()["books"]["potential"]
    legend = "[...document.querySelectorAll('.pane:first-child .legend > span')].map((entry) => entry.textContent)"
    studio.until(f"(book) => {legend}.some((text) => text.startsWith(`potential ${{book}}`))", f"{book:.4g}"[:5])


def test_paths_are_of_every_step_and_of_points_beside_a_body(four_bar: Studio) -> None:
    """Chords of a path are as short as steps: of a coupler point off the rod, and of before it was asked for."""
    studio = four_bar
    studio.page.select_option("#speed", SLOW)
    studio.run()
    studio.wait_time(0.2)
    studio.pause()
    studio.settle()
    studio.pick("body", "coupler")
    for k, text in enumerate(("0", "0.08", "0")):
        studio.field("point", k).fill(text)
    studio.field("point", 2).press("Enter")
    key = "point 0, 0.08, 0 of coupler"
    studio.until("(key) => impulsar.traceLength(key) > 150", key)
    studio.run()
    studio.wait_time(0.2)
    studio.pause()
    studio.settle()
    path = np.array(studio.get("tracePath", key)).reshape(-1, 2, 3)
    world, true = im.World(im.scene("four-bar"), dt=1e-3), []
    for _ in range(round(studio.frame()["time"] / 1e-3)):
        world.step()
        true.append(world.point("coupler", (0.0, 0.08, 0.0)))
    steps = np.linalg.norm(np.diff(true, axis=0), axis=1)
    chords = np.linalg.norm(path[:, 1] - path[:, 0], axis=1)
    assert chords.max() <= 8 * steps.max()  # a busy machine may read fewer
    assert len(path) > 0.4 * len(true)
    near = np.abs(np.array(true)[None, :, :] - path[:, 1][:, None, :]).max(axis=2).min(axis=1)
    assert near.max() < 1e-6


def test_a_drag_with_time_stopped_draws_the_path(four_bar: Studio) -> None:
    studio = four_bar
    studio.tool("trace")
    start = studio.get("pixel", "coupler")
    studio.drag(start, {"x": start["x"], "y": start["y"] - 60})  # to a point beside it
    studio.until("() => impulsar.traced().length === 1")
    key, at = (studio.get("traced")[0][name] for name in ("key", "at"))
    assert np.linalg.norm(at) > 0.02
    before = studio.get("traceLength", key)
    studio.tool("grab")
    start = studio.get("pixel", "coupler")
    studio.drag(start, {"x": start["x"] + 40, "y": start["y"]}, steps=20)
    studio.settle()
    assert studio.get("traceLength", key) > before + 3


# 3, 4: work ------------------------------------------------------------------------------------------------------


def test_opening_asks_is_undone_and_starts_nothing(studio: Studio) -> None:
    studio.pause()
    studio.tool("body")
    box = studio.page.locator("#canvas").bounding_box()
    assert box is not None
    studio.drag({"x": box["x"] + 60, "y": box["y"] + 120}, {"x": box["x"] + 130, "y": box["y"] + 160})
    studio.until("() => impulsar.scene().bodies.length === 11")
    before = studio.get("hash")
    studio.page.click("#scene-button")
    studio.page.click("button[aria-label='Open four-bar']")
    studio.page.click("dialog[aria-label='Not saved'] button:text('Cancel')")
    assert len(studio.get("scene")["bodies"]) == 11
    studio.page.click("button[aria-label='Open four-bar']")
    studio.page.click("dialog[aria-label='Not saved'] button:text('Open without saving')")
    studio.until("() => impulsar.scene().name === 'four-bar'")
    studio.until("() => document.querySelector('dialog') === null")
    assert studio.get("status")["paused"]
    assert studio.get("tool") == "grab"
    assert studio.page.locator("#undo").get_attribute("title") == "Undo: Open four-bar (Ctrl+Z)"
    studio.page.click("#undo")
    studio.until("() => impulsar.scene().bodies.length === 11")
    assert studio.get("hash") == before


def test_a_scene_is_saved_as_it_is_shown(four_bar: Studio, tmp_path: Path) -> None:
    """By default; as it starts, by choice; and the shown pose can be made the start."""
    studio = four_bar
    studio.run()
    studio.wait_time(0.2)
    studio.pause()
    start = studio.get("pixel", "coupler")
    studio.drag(start, {"x": start["x"] + 30, "y": start["y"]})
    studio.settle()
    shown = np.array(studio.position("coupler"))

    def saved(entry: str) -> np.ndarray:
        studio.page.click("#files-button")
        with studio.page.expect_download() as download:
            studio.page.click(f".menu button:text('{entry}')")
        path = tmp_path / "scene.json"
        download.value.save_as(path)
        return np.array(im.World(im.load_model(path)).body("coupler").position)

    authored = im.World(im.scene("four-bar")).body("coupler").position
    assert saved("Save scene as shown") == pytest.approx(shown, abs=1e-6)
    assert any("saved as shown" in text for text in toasts(studio))
    assert saved("Save scene as it starts") == pytest.approx(authored, abs=1e-12)
    studio.page.keyboard.press("Escape")
    studio.page.click("button:text-is('Set as start')")
    studio.until(
        "() => [...document.querySelectorAll('.toast')].some((toast) => /start is now/.test(toast.textContent))"
    )
    studio.page.click("#reset")
    studio.until("() => impulsar.frame().time === 0")
    assert studio.position("coupler") == pytest.approx(shown, abs=1e-6)


def test_work_that_a_crash_cut_short_is_offered_again(open_page: Open, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("IMPULSAR_TEST_STATE", str(tmp_path))
    server = Server("four-bar")
    studio = open_page(server.link)
    studio.pick("body", "crank")
    studio.type("mass", "0.375")
    studio.until("() => impulsar.scene().bodies[0].mass === 0.375")
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()
    studio.page.close()
    again = Server("ten-pendula")
    try:
        page = open_page(again.link)
        page.until("() => document.getElementById('left').innerText.includes('four-bar')")
        page.page.click("#left button:text('Go on with it')")
        page.until("() => impulsar.scene().name === 'four-bar' && impulsar.scene().bodies[0].mass === 0.375")
        page.until("() => impulsar.status().paused && document.getElementById('left').hidden")
    finally:
        again.stop()
        studio.problems.clear()


# 6, 7: what is said where ------------------------------------------------------------------------------------------


def test_the_inspector_names_the_model_that_is_there(studio: Studio) -> None:
    for scene in ("cross-lift", "slider-crank", "four-bar"):
        studio.fresh(scene)
        studio.page.keyboard.press("Escape")
        title = "(name) => document.querySelector('#inspector-body .name')?.textContent === `${name}model`"
        studio.until(title, studio.get("scene")["name"])


@pytest.mark.scene("four-bar")
def test_a_new_motors_label_is_at_its_joint(studio: Studio) -> None:
    studio.pause()
    studio.pick("joint", "O")
    studio.page.click("#inspector-body button:text('By speed')")
    studio.until("() => impulsar.label('motion O angle') ?? document.querySelector('#labels span')")
    place = studio.ask(
        "() => { const box = document.querySelector('#labels span').getBoundingClientRect();"
        " return {x: box.x, y: box.y}; }"
    )
    joint = studio.get("motionPixel", "O") or studio.get("jointPixel", "O")
    assert abs(place["x"] - joint["x"]) < 120
    assert abs(place["y"] - joint["y"]) < 120


# 8: reactions ------------------------------------------------------------------------------------------------------


@pytest.mark.scene("four-bar")
def test_only_components_that_are_open_are_marked(studio: Studio) -> None:
    """Of a planar loop: the force across its plane, and the torques about axes in it."""
    studio.wait_time(0.1)
    studio.pick("joint", "A")
    marks = (
        "(row) => [...document.querySelectorAll(`#inspector-body [data-row='${row}'] output span`)]"
        ".map((span) => span.classList.contains('open'))"
    )
    studio.until(f"() => ({marks})('reaction force').some(Boolean)")
    assert studio.ask(marks, "reaction force") == [False, False, True]
    assert studio.ask(marks, "reaction torque") == [True, True, False]
    footer = studio.page.locator("[data-book=reactions]")
    studio.until("() => document.querySelector('[data-book=reactions]').title !== ''")
    assert "The joints hold" in (footer.get_attribute("title") or "")


# 13, 15 to 19: words ------------------------------------------------------------------------------------------------


def test_fields_of_the_hand_say_what_they_do_not_take(studio: Studio) -> None:
    field = studio.page.locator("#hint input[aria-label='stiffness in N/m']")
    error = studio.page.locator("#hint label:has(input[aria-label='stiffness in N/m']) .error")
    for text in ("abc", "-5", ""):
        field.fill(text)
        field.press("Tab")
        assert "1000 N/m is used" in error.inner_text()
    field.fill("2000")
    field.press("Tab")
    assert error.inner_text() == ""


def test_a_hand_that_is_too_stiff_is_made_softer_and_says_so(studio: Studio) -> None:
    field = studio.page.locator("#hint input[aria-label='stiffness in N/m']")
    field.fill("1e12")
    field.press("Tab")
    start = studio.get("pixel", "link10")
    studio.drag(start, {"x": start["x"] + 20, "y": start["y"]}, release=False)
    studio.until("() => impulsar.live().hands.length === 1")
    assert studio.get("live")["hands"][0]["stiffness"] < 1e8
    studio.until("() => [...document.querySelectorAll('.toast')].some((toast) => / is used/.test(toast.textContent))")
    studio.page.mouse.up()
    studio.until("() => impulsar.live().hands.length === 0")


@pytest.mark.scene("four-bar")
def test_a_state_that_the_joints_do_not_allow_is_told(studio: Studio) -> None:
    studio.pause()
    studio.pick("body", "coupler")
    for k, text in enumerate(("0.1", "0.2", "0.3")):
        studio.field("position", k).fill(text)
    studio.field("position", 2).press("Enter")
    studio.until(
        "() => [...document.querySelectorAll('.toast')].some((toast) => /joints leave/.test(toast.textContent))"
    )
    told = next(text for text in toasts(studio) if "joints leave" in text)
    studio.settle()
    x, y, _ = studio.position("coupler")
    assert f"({x:.4g}, {y:.4g}, " in told
    assert "off by 0.3" in told


def test_errors_of_a_scene_go_with_it_and_stand_over_dialogs(studio: Studio) -> None:
    studio.page.click("#scene-button")
    studio.page.click("form:has(button[aria-label='Open chain']) summary")
    field = studio.page.locator("form:has(button[aria-label='Open chain']) input[name=n]")
    field.fill("-3")
    studio.page.click("button[aria-label='Open chain']")
    toast = studio.page.locator(".toast.error")
    toast.wait_for()
    box = toast.bounding_box()
    assert box is not None
    top = studio.ask(
        "([x, y]) => document.elementFromPoint(x, y)?.closest('.toast') !== null",
        [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2],
    )
    assert top
    studio.page.click("button[aria-label='Open four-bar']")
    studio.until("() => impulsar.scene().name === 'four-bar'")
    studio.until("() => document.querySelector('.toast.error') === null")


@pytest.mark.scene("four-bar")
def test_rounding_is_not_shown_as_data(studio: Studio) -> None:
    """z of a planar mechanism is 0, a mass of 0.25 is 0.25, and the unit of an expression is there at once."""
    studio.wait_time(0.3)
    studio.pick("body", "coupler")
    texts = "(row) => [...document.querySelectorAll(`#inspector-body [data-row='${row}'] output span`)]"
    studio.until(f"(row) => ({texts})(row).length === 3 && ({texts})(row)[0].textContent !== '–'", "position")
    assert studio.ask(f"(row) => ({texts})(row).map((span) => span.textContent)", "position")[2] == "0"
    assert studio.field("mass").input_value() == "0.25"
    field = studio.page.locator("#plot-bar input")
    field.fill("[joint.O.position] - [joint.A.position]")
    field.press("Enter")
    studio.until("() => impulsar.plots().length === 3")
    assert studio.get("plots")[2]["unit"] == "rad"
    field.fill("1/0")
    field.press("Enter")
    assert "is not a number" in studio.page.locator("#plot-bar .error").inner_text()
    assert len(studio.get("plots")) == 3
    studio.page.click("button[aria-label='Close this plot']")


def test_bodies_keep_their_colours_when_one_goes(studio: Studio) -> None:
    before = {name: studio.get("hue", name) for name in ("link1", "link2", "link9", "link10")}
    studio.pick("body", "link10")
    studio.page.click("#inspector-body button.danger:text('Remove')")
    studio.until("() => impulsar.scene().bodies.length === 9")
    assert [studio.get("hue", name) for name in ("link1", "link2", "link9")] == list(before.values())[:3]
    studio.page.click("#undo")
    studio.until("() => impulsar.scene().bodies.length === 10")
    assert {name: studio.get("hue", name) for name in before} == before


# 21 to 23 -----------------------------------------------------------------------------------------------------------


def test_a_page_of_a_studio_that_was_started_anew_says_so(open_page: Open) -> None:
    server = Server("four-bar")
    port = server.link.split(":")[2].split("/")[0]
    studio = open_page(server.link)
    server.stop()
    again = Server("four-bar", "--port", port)
    try:
        studio.until("() => /no longer knows this page/.test(document.getElementById('banner').textContent)")
    finally:
        again.stop()
        studio.problems.clear()


def test_a_mesh_is_asked_for_its_unit_drawn_as_it_is_and_has_its_own_mass(studio: Studio, tmp_path: Path) -> None:
    """Defect 11: a notched part of 50 mm came in as the hull of 50 m. An L of 40 x 40 x 10 mm has 1 200 mm² · 10 mm."""
    outline = [(0, 0), (40, 0), (40, 20), (20, 20), (20, 40), (0, 40)]
    lines = [f"v {x} {y} {z}" for z in (0, 10) for x, y in outline]
    lines += ["f 1 4 3 2", "f 1 6 5 4", "f 7 8 9 10", "f 7 10 11 12"]  # both ends, by two convex faces each
    lines += [f"f {k + 1} {(k + 1) % 6 + 1} {(k + 1) % 6 + 7} {k + 7}" for k in range(6)]
    file = tmp_path / "bracket.obj"
    file.write_text("\n".join(lines))
    studio.pause()
    studio.page.click("#files-button")
    with studio.page.expect_file_chooser() as chooser:
        studio.page.click("text=Open scene or mesh")
    chooser.value.set_files(file)
    studio.page.wait_for_selector("dialog[aria-label='bracket.obj']")
    assert studio.page.input_value("[aria-label='Unit of length in the file']") == "mm"
    assert "0.04 × 0.04 × 0.01 m" in studio.page.locator("dialog form").text_content()
    studio.page.click("dialog button:text('Add body')")
    studio.until("() => impulsar.scene().bodies.at(-1).name.startsWith('mesh') && impulsar.settled()")
    body = studio.get("scene")["bodies"][-1]
    assert body["shapes"][0]["kind"] == "mesh" and len(body["shapes"][0]["triangles"]) == 20
    assert abs(body["mass"] - 1000 * 12_000e-9) < 1e-12


def test_a_file_that_is_too_large_is_called_a_file(studio: Studio) -> None:
    answer = studio.ask(
        "async () => (await (await fetch('api/mesh?name=a.stl',"
        " {method: 'POST', body: new Uint8Array(4e7)})).json()).text"
    )
    assert answer == "the file has 40 MB, expected at most 33.6 MB"
    studio.problems.clear()


def test_points_are_traced_and_the_view_is_turned_by_keys(studio: Studio) -> None:
    studio.pick("body", "link10")
    before = len(studio.get("traced"))
    studio.page.locator("#canvas").focus()
    studio.page.keyboard.press("p")
    studio.page.keyboard.press("Enter")
    studio.until("(before) => impulsar.traced().length === before + 1", before)
    studio.page.keyboard.press("Escape")
    studio.page.keyboard.press("Escape")
    studio.pause()
    for keys in (("ArrowRight",) * 4, ("+",) * 4):
        place = studio.get("pixel", "link10", [0.02, 0.02, 0.0])
        for key in keys:
            studio.page.keyboard.press(key)
        now = studio.get("pixel", "link10", [0.02, 0.02, 0.0])
        assert abs(now["x"] - place["x"]) + abs(now["y"] - place["y"]) > 2


def test_the_results_say_what_they_are(studio: Studio) -> None:
    """The summary in the file menu and what comes of it: every step, in one file."""
    studio.wait_time(0.3)
    studio.pause()
    studio.page.click("#files-button")
    with studio.page.expect_download() as download:
        studio.page.click(".menu button:text('Save plots (CSV)')")
    text = Path(download.value.path()).read_text()
    times = [float(line.split(",")[0]) for line in text.splitlines()[1:]]
    assert np.diff(times) == pytest.approx(studio.get("status")["dt"], abs=1e-9)
    assert json.dumps(times)  # plain numbers
