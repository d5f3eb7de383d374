"""Plots, expressions and their export; the parser reads formulas of signals and nothing else."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterator

import pytest

from .browser import Server, Studio


def add(studio: Studio, text: str) -> None:
    studio.page.fill("#plot-bar input", text)
    studio.page.press("#plot-bar input", "Enter")


def test_plots_follow_what_is_picked(studio: Studio) -> None:
    """The picked body's velocity is plotted with its unit; another quantity may be chosen."""
    studio.pick("body", "link10")
    studio.until("() => impulsar.plots()[1].times.length > 5")
    pane = studio.get("plots")[1]
    assert pane["unit"] == "m/s"
    assert [series["name"] for series in pane["series"]] == [
        f"body.link10.velocity.{axis}" for axis in ("x", "y", "z", "norm")
    ]
    for quantity, unit in (("angular velocity", "rad/s"), ("acceleration", "m/s²"), ("force", "N"), ("torque", "N m")):
        studio.page.select_option("select[aria-label='What to plot of the picked part']", quantity)
        studio.until("(unit) => impulsar.plots()[1].unit === unit && impulsar.plots()[1].times.length > 2", unit)
    studio.pick("joint", "pivot")
    studio.page.select_option("select[aria-label='What to plot of the picked part']", "reaction force")
    studio.until("() => impulsar.plots()[1].times.length > 2")
    weight = studio.get("plots")[1]["series"][2]["values"][-1]
    assert weight == pytest.approx(10 * 0.1 * 9.81, rel=1e-4)  # hanging at rest


def test_expression_is_the_sum_of_its_signals(studio: Studio) -> None:
    """kinetic + potential + elastic - total is zero at every sample, and so it stands in the CSV."""
    grip = studio.get("pixel", "link10")
    studio.drag(grip, {"x": grip["x"] + 80, "y": grip["y"] - 30})
    text = "energy.kinetic + energy.potential + energy.elastic - energy.total"
    add(studio, text)
    add(studio, "-(2 * energy.kinetic) / 4")
    studio.until("() => impulsar.plots().length === 4 && impulsar.plots()[3].times.length > 10")
    panes = studio.get("plots")
    assert max(abs(value) for value in panes[2]["series"][0]["values"]) < 1e-6  # float32 of about 2.5 J
    with studio.page.expect_download() as found:
        studio.page.click("#plot-bar button:has-text('CSV')")
    rows = list(csv.reader(io.StringIO(found.value.path().read_text())))
    head = rows[0]
    assert head[0] == "time [s]"
    assert not any(name.startswith(tuple("=+-@\t\r")) for name in head)  # a formula to a spreadsheet
    kinetic, half = head.index("energy.kinetic [J]"), next(k for k, name in enumerate(head) if name.startswith("'-(2"))
    pairs = [(float(row[kinetic]), float(row[half])) for row in rows[1:] if row[kinetic] and row[half]]
    assert len(pairs) > 10
    assert all(math.isclose(b, -a / 2, rel_tol=1e-12) for a, b in pairs)


UNREADABLE = {
    "energy.kinetic +": "missing at the end",
    "energy.cinetic": "did you mean",
    "alert(1)": "'alert' is no function",
    "energy.kinetic ; 1": "cannot read",
    "(energy.kinetic": "')' is missing",
    "(" * 80 + "1" + ")" * 80: "nested",
}


def test_expressions_that_cannot_be_read(studio: Studio) -> None:
    """Each is refused in words, and nothing of it is evaluated."""
    for text, words in UNREADABLE.items():
        add(studio, text)
        assert words in studio.page.locator("#plot-bar .error").inner_text()
        assert len(studio.get("plots")) == 2


def test_hold_zoom_and_live(studio: Studio) -> None:
    """Hold stops the picture of the plots but loses no sample; a drag zooms; Live returns."""
    studio.until("() => impulsar.plots()[0].times.length > 10")
    studio.page.click("#plot-bar button:has-text('Hold')")
    count = len(studio.get("plots")[0]["times"])
    studio.wait_time(0.3)
    assert len(studio.get("plots")[0]["times"]) > count
    studio.page.click("#plot-bar button:has-text('Hold')")
    box = studio.page.locator(".pane canvas").first.bounding_box()
    middle = box["y"] + box["height"] / 2
    studio.drag({"x": box["x"] + 0.3 * box["width"], "y": middle}, {"x": box["x"] + 0.6 * box["width"], "y": middle})
    assert studio.get("plots")[0]["zoomed"]
    studio.page.click("#plot-bar button:has-text('Live')")
    assert not studio.get("plots")[0]["zoomed"]


@pytest.fixture(scope="module")
def four_bar() -> Iterator[Server]:
    server = Server("four-bar", "--dt", "0.005")
    yield server
    server.stop()


def test_any_against_any_in_chosen_units(four_bar: Server, open_page: Callable[..., Studio]) -> None:
    """The crank's pin A runs on a circle of 100 mm, the speed of O is d/dt of its angle, in rpm; pictures are saved."""
    studio = open_page(four_bar.link, viewport={"width": 1280, "height": 800})
    studio.run()
    studio.wait_time(1.5)
    studio.pause()
    studio.settle()
    # the crank is uniform: its pin is twice as far out as its centre
    add(studio, "2 * body.crank.position.y against 2 * body.crank.position.x")
    add(studio, "joint.O.velocity, ddt(joint.O.position), integral(joint.O.velocity) / 1")
    add(studio, "joint.O.velocity against frequency flat top")
    studio.page.click("#plot-bar button[aria-label='Units']")
    studio.page.select_option("select[aria-label='Unit of lengths']", "mm")
    studio.page.select_option("select[aria-label='Unit of turning speeds']", "rpm")
    studio.page.keyboard.press("Escape")
    studio.until("() => impulsar.plots()[2].unit === 'mm' && impulsar.plots()[2].shown[0]?.xs.length > 100")
    studio.until("() => impulsar.plots()[3].times.length > 100 && impulsar.plots()[4].note.includes('Hz')")
    curve, speeds, lines = studio.get("plots")[2:]
    assert curve["axis"] == {"kind": "signal", "unit": "mm", "label": "2 * body.crank.position.x"}
    points = list(zip(curve["shown"][0]["xs"], curve["shown"][0]["ys"], strict=True))
    assert all(math.hypot(x, y) == pytest.approx(100.0, abs=1e-9) for x, y in points)
    width, height = (curve["range"][axis][1] - curve["range"][axis][0] for axis in "xy")
    assert width > 100.0 and height > 100.0
    velocity, rate, turned = (series["values"] for series in speeds["series"])
    top = max(map(abs, velocity))
    worst = max(abs(a - b) for a, b in zip(velocity[1:-1], rate[1:-1], strict=True))
    assert worst < 0.02 * top, "three points: h²/6 of the third derivative"
    assert turned[0] == 0.0
    assert lines["axis"]["kind"] == "frequency" and "200 Hz" in lines["note"]
    studio.page.locator(".pane").nth(2).get_by_label("Options of this plot").click()
    with studio.page.expect_download() as found:
        studio.page.click(".menu button:has-text('SVG')")
    drawing = found.value.path().read_text()
    assert "[mm]" in drawing and drawing.count("<path") > 8
    studio.page.locator(".pane").nth(2).get_by_label("Options of this plot").click()
    with studio.page.expect_download() as found:
        studio.page.click(".menu button:has-text('PNG')")
    assert found.value.path().read_bytes().startswith(b"\x89PNG")
    table = list(csv.reader(io.StringIO(studio.ask("async () => await impulsar.csv()"))))
    assert "2 * body.crank.position.y [mm]" in table[0] and "joint.O.velocity [rpm]" in table[0]
    studio.pick("joint", "O")
    studio.page.select_option("select[aria-label='What to plot of the picked part']", "speed")
    studio.page.locator(".pane").nth(1).get_by_label("Options of this plot").click()
    studio.page.select_option("select[aria-label='Plot against']", "coordinate.O.position")
    studio.until("() => impulsar.plots()[1].axis.kind === 'signal' && impulsar.plots()[1].shown[0]?.xs.length > 100")
    assert studio.get("plots")[1]["axis"]["unit"] == "rad"  # a phase portrait


def test_single_plots_fold_and_are_remembered(four_bar: Server, open_page: Callable[..., Studio]) -> None:
    """A folded plot is a strip with its name, by mouse and key; others have its room; a reload brings it back."""
    studio = open_page(four_bar.link, viewport={"width": 1280, "height": 800})
    page = studio.page
    studio.until("() => impulsar.plots().length >= 2 && impulsar.plots()[0].field")
    panes = page.locator("#panes .pane")

    def widths() -> list[float]:
        return [panes.nth(k).bounding_box()["width"] for k in range(2)]

    before = widths()
    panes.nth(0).get_by_role("button", name="Fold this plot").click()
    studio.until("() => impulsar.plots()[0].folded && !impulsar.plots()[1].folded")
    after = widths()
    assert after[0] < 50 and after[1] > before[1] + 0.8 * (before[0] - after[0])
    strip = panes.nth(0).get_by_role("button", name="Unfold the plot of energy")
    assert "energy" in (strip.text_content() or "")
    page.reload()
    studio.until("() => window.impulsar && impulsar.plots().length >= 2 && impulsar.plots()[0].folded")
    assert widths() == pytest.approx(after, abs=2)
    strip.focus()
    page.keyboard.press("Enter")
    studio.until("() => !impulsar.plots()[0].folded && impulsar.plots()[0].times.length > 0")
    assert widths() == pytest.approx(before, abs=2)
    page.reload()
    studio.until("() => window.impulsar && impulsar.plots().length >= 2 && !impulsar.plots()[0].folded")


def test_cursor_zoom_and_panels_are_remembered(four_bar: Server, open_page: Callable[..., Studio]) -> None:
    """A click goes to that time, and what comes after stays; wheel and fingers zoom; a reload brings all of it back."""
    studio = open_page(four_bar.link, viewport={"width": 1280, "height": 800}, has_touch=True)
    studio.run()
    studio.wait_time(1.0)
    studio.pause()
    studio.settle()
    end = studio.frame()["time"]
    studio.until(
        "(end) => ((pane) => pane.times[0] < 0.02 && Math.abs(pane.times.at(-1) - end) < 1e-6"
        " && Math.abs(pane.range.x[1] - end) < 1e-6 && pane.range.x[0] < Math.max(0.02, end - 9.99))"
        "(impulsar.plots()[0])",
        end,
    )
    before = studio.get("plots")[0]
    field = before["field"]
    middle = {"x": 0.5 * (field["left"] + field["right"]), "y": 0.5 * (field["top"] + field["bottom"])}
    studio.page.mouse.click(middle["x"], middle["y"])
    wanted = 0.5 * sum(before["range"]["x"])
    studio.until("([t, h]) => Math.abs(impulsar.frame().time - t) < h && impulsar.settled()", [wanted, 0.02])
    studio.until("() => impulsar.plots()[0].present === impulsar.frame().time")
    after = studio.get("plots")[0]
    assert after["times"] == before["times"], "what was recorded after the cursor stays"
    assert after["cursor"] == pytest.approx(middle["x"], abs=3.0)
    assert float(studio.page.input_value("#seek")) == pytest.approx(studio.frame()["time"])

    studio.page.mouse.move(middle["x"], middle["y"])
    studio.page.mouse.wheel(0, -400)
    whole = before["range"]["x"][1] - before["range"]["x"][0]
    span = "(impulsar.plots()[0].range.x[1] - impulsar.plots()[0].range.x[0])"
    studio.until(f"(whole) => impulsar.plots()[0].zoomed && {span} < 0.7 * whole", whole)
    narrow = studio.get("plots")[0]["range"]["x"]
    assert narrow[0] < wanted < narrow[1]
    studio.page.mouse.dblclick(middle["x"], middle["y"])
    studio.until(f"(whole) => !impulsar.plots()[0].zoomed && Math.abs({span} - whole) < 1e-9", whole)
    assert studio.frame()["time"] == pytest.approx(wanted, abs=0.02), "a double click seeks nothing"

    def fingers(apart: float) -> list[dict[str, float]]:
        return [{"x": middle["x"] + side * apart, "y": middle["y"]} for side in (-1, 1)]

    studio.finger("touchStart", *fingers(30))
    for apart in (40, 50, 60):
        studio.finger("touchMove", *fingers(apart))
    studio.finger("touchEnd")
    studio.until(f"(half) => impulsar.plots()[0].zoomed && Math.abs({span} / half - 1) < 0.1", whole / 2)

    height = studio.page.locator("#bottom").bounding_box()["height"]
    edge = studio.page.locator("#bottom > .edge").bounding_box()
    start = {"x": edge["x"] + 200, "y": edge["y"] + 4}
    studio.drag(start, {"x": start["x"], "y": start["y"] - 60})
    assert studio.page.locator("#bottom").bounding_box()["height"] == pytest.approx(height + 60, abs=2)
    studio.page.focus("#bottom > .edge")
    studio.page.keyboard.press("ArrowUp")
    assert studio.page.locator("#bottom").bounding_box()["height"] == pytest.approx(height + 84, abs=2)
    studio.page.click("#side > .fold")
    assert not studio.page.is_visible("#parts")
    add(studio, "sqrt(energy.kinetic)")
    studio.until("() => impulsar.plots().length === 3")
    studio.page.reload()
    studio.until("() => window.impulsar && impulsar.frames() > 1 && impulsar.plots().length === 3")
    assert studio.page.locator("#bottom").bounding_box()["height"] == pytest.approx(height + 84, abs=2)
    assert not studio.page.is_visible("#parts")
    studio.until("() => impulsar.plots()[2].times.length > 50")  # of the recording
    kinetic, root = studio.get("plots")[0]["series"][0]["values"], studio.get("plots")[2]["series"][0]["values"]
    assert root[-1] == pytest.approx(math.sqrt(kinetic[-1]))
    studio.page.click("#bottom > .fold")
    assert not studio.page.is_visible("#panes")
    assert "the plots" in json.dumps(studio.page.get_attribute("#bottom > .fold", "aria-label"))
