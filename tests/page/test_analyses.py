"""Analyses in the page: freedoms, rest as an edit, modes in the picture, motor torques and sweeps."""

from pathlib import Path

import numpy as np
import pytest

from .browser import Studio


def analysed(studio: Studio, kind: str) -> dict:
    studio.page.click(f"#analysis button[data-kind={kind}]")
    return studio.until("(kind) => impulsar.analysis().kind === kind && impulsar.analysis().reply", kind)


@pytest.mark.scene("four-bar")
def test_freedoms_rest_and_modes(studio: Studio) -> None:
    studio.wait_time(0.2)
    studio.pause()
    studio.settle()
    before = studio.ask("() => impulsar.hash()")
    studio.page.click("#analyse")
    assert analysed(studio, "mobility")["text"].startswith("1 freedom; 3 redundant, out of plane")
    studio.page.click("#analysis table button:text-is('coupler')")
    assert studio.get("pick")["name"] == "coupler"

    found = analysed(studio, "modes")
    studio.page.click("#analysis .modes button")
    studio.until("() => impulsar.analysis().swing?.share > 0.3")
    studio.page.locator("#analysis .modes input").fill("0")
    studio.until("() => impulsar.analysis().swing?.share === 0")
    rest = np.reshape(found["modes"][0]["poses"][6], (-1, 7))[:, :3]
    np.testing.assert_allclose(studio.get("analysis")["swing"]["places"], rest, atol=1e-9)
    assert studio.ask("() => impulsar.hash()") == before  # the picture swings, the world does not

    edit = analysed(studio, "statics")["edit"]
    assert studio.get("analysis")["swing"] is None
    studio.page.click("#analysis button:has-text('Go there')")
    studio.until("() => impulsar.status().undo === 'SetState' && impulsar.settled()")
    np.testing.assert_allclose(studio.position("coupler"), edit["bodies"]["coupler"]["position"], atol=1e-6)
    studio.page.click("#undo")
    studio.until("() => impulsar.status().undo !== 'SetState' && impulsar.settled()")
    assert studio.ask("() => impulsar.hash()") == before
    studio.page.click("#analyse")


@pytest.mark.scene("four-bar")
def test_motor_torques_and_a_sweep_that_can_be_cancelled(studio: Studio, tmp_path: Path) -> None:
    studio.wait_time(0.3)
    studio.pause()
    studio.page.click("#analyse")
    studio.page.click("#analysis button[data-kind=inverse]")
    studio.page.fill("[aria-label='Speed of O']", "3")
    studio.page.click("#analysis button:text-is('Find torques')")
    found = studio.until("() => impulsar.analysis().reply")
    assert found["curves"][0]["label"] == "O" and found["curves"][0]["unit"] == "N m"
    assert studio.page.locator("#analysis .chart canvas").count() == 1

    studio.page.click("#analysis button[data-kind=sweep]")
    studio.page.fill("[aria-label='What to change']", "coupler.mass")
    studio.page.press("[aria-label='What to change']", "Tab")
    studio.page.fill("[aria-label='What to measure']", "energy.potential")
    studio.page.fill("[aria-label='Values']", "4")
    studio.page.fill("[aria-label='Time of each run [s]']", "0.05")
    before = studio.ask("() => impulsar.hash()")
    studio.page.click("#analysis button:text-is('Run')")
    sweep = "impulsar.analysis().sweep"
    studio.until(f"() => {sweep}.values.length === 4 && !{sweep}.running")
    values, results = (studio.get("analysis")["sweep"][name] for name in ("values", "results"))
    mass = studio.get("scene")["bodies"][1]["mass"]
    np.testing.assert_allclose(values, mass * np.linspace(0.5, 1.5, 4), rtol=1e-5)
    # potential energy is linear in a mass, at the start and, nearly, a moment later
    np.testing.assert_allclose(np.diff(results, 2), 0, atol=1e-2 * np.ptp(results))
    with studio.page.expect_download() as download:
        studio.page.click("#analysis button:text-is('CSV')")
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0] == "coupler.mass [kg],largest of energy.potential [J]" and len(lines) == 5

    studio.page.fill("[aria-label='Time of each run [s]']", "20")
    studio.page.fill("[aria-label='Values']", "20")
    studio.page.click("#analysis button:text-is('Run')")
    studio.until(f"() => {sweep}.running")
    studio.page.click("#analysis button:text-is('Cancel')")
    studio.until(f"() => !{sweep}.running")
    assert studio.page.locator("#analysis form p").text_content().startswith("cancelled after")
    assert studio.ask("() => impulsar.hash()") == before
    studio.page.click("#analyse")
