"""Plots, expressions and their export; the parser reads sums and differences and nothing else."""

import csv
import io
import math

import pytest

from .browser import Studio


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
    "alert(1)": "not expected",
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
    box = studio.page.locator(".pane .u-over").first.bounding_box()
    middle = box["y"] + box["height"] / 2
    studio.drag({"x": box["x"] + 0.3 * box["width"], "y": middle}, {"x": box["x"] + 0.6 * box["width"], "y": middle})
    assert studio.get("plots")[0]["zoomed"]
    studio.page.click("#plot-bar button:has-text('Live')")
    assert not studio.get("plots")[0]["zoomed"]
