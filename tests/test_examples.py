"""The examples run as they are, write only where they are told, and what they print is true."""

import math
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

FOLDER = Path(__file__).resolve().parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("[0-9][0-9]_*.py"))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run an example by its number, in an empty folder that is its argument too; returns its names."""
    monkeypatch.chdir(tmp_path)

    def run_example(number: str) -> dict[str, Any]:
        (path,) = FOLDER.glob(f"{number}_*.py")
        monkeypatch.setattr("sys.argv", [str(path), str(tmp_path)])
        return runpy.run_path(str(path), run_name="__main__")

    return run_example


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_says_what_it_shows(path: Path) -> None:
    text = path.read_text()
    assert text.startswith('"""')
    assert len(text.splitlines()) < 40


def test_every_example_is_run_here() -> None:
    """A new example needs a law of its own below."""
    mine = Path(__file__).read_text()
    assert [path.name[:2] for path in EXAMPLES if f'run("{path.name[:2]}")' not in mine] == []


def test_period(run) -> None:
    """Semi-implicit Euler from rest: the period is off by (ωh)²/24 · cos of the amplitude, here half of it."""
    names = run("01")
    error = names["period"] / names["exact"] - 1
    leading = -((names["omega"] * names["dt"]) ** 2) / 24 * math.cos(names["angle"])
    assert error == pytest.approx(leading, rel=0.05)


def test_hand(run) -> None:
    """The hand has done work, its damper has taken some, and the books close as `drag-books` asks: 0.01 %."""
    names = run("02")
    books = names["books"]
    assert books.work["released hands"] > books.losses["released hands' dampers"] > 0
    assert abs(books.imbalance) < 1e-4 * names["world"].model.reference_energy


def test_loop(run, tmp_path: Path) -> None:
    """The pin misses the circles by no more than the loop's own error can put it there.

    The largest lever between the loop and the pin is the mechanism's own size over its shortest bar; a
    factor of ten covers it. Projection leaves at most 1e-13 in each of the loop's six rows; the rest is rounding.
    """
    names = run("03")
    assert names["off"] < 10 * names["worst"] + 1e-12
    assert names["worst"] < 1e-12
    assert 0.005 < (np.ptp(imread(tmp_path / "four-bar.png")[..., :3], axis=-1) > 0.2).mean() < 0.5  # not blank


def test_friction_and_stop(run) -> None:
    """Place of rest to first order, h · v; losses are all of the 0.5 J; at rest it stays to the last bit."""
    names = run("04")
    world, h = names["world"], names["world"].dt
    assert names["rest"].position == pytest.approx(0.0625, abs=2 * h * 1.0)
    assert names["rest"].velocity == 0.0
    assert sum(names["books"].losses.values()) == pytest.approx(0.5, abs=1e-9)
    where = names["rest"].position
    world.step(1000)
    assert names["rest"].position == where


def test_batch(run) -> None:
    """A world holds exactly if its friction is at least m g l / 2."""
    names = run("05")
    assert np.array_equal(names["turned"] == 0.0, names["friction"] >= names["exact"])


def test_gears(run) -> None:
    """A constant torque gives the exact speed; the ratio holds by projection, to rounding."""
    names = run("06")
    assert names["driver"].velocity == pytest.approx(names["exact"], rel=1e-9)
    assert names["driven"].velocity == pytest.approx(names["ratio"] * names["driver"].velocity, rel=1e-9)
    assert names["driven"].position == pytest.approx(names["ratio"] * names["driver"].position, rel=1e-9)
    books = names["world"].energy()
    assert books.work["input motor"] == pytest.approx(books.kinetic, rel=1e-9)


def test_reactions(run) -> None:
    """Both coordinates follow 5/2 m g sin θ and 1/4 m g cos θ to rounding.

    A sub-step of order 5 errs by about (θ̇ h)⁶, θ̇² < 3 g / l: below 1e-19. What is left is rounding, one
    epsilon in each of the 5,000 steps of the largest force; a factor of ten covers the operations of a step.
    """
    names = run("07")
    weight = names["mass"] * names["g"]
    tolerance = 10 * 5000 * np.finfo(float).eps * 2.5 * weight
    for rows in names["measured"].values():
        theta, along, across = rows.T
        assert np.allclose(along, 2.5 * weight * np.sin(theta), rtol=0, atol=tolerance)
        assert np.allclose(across, 0.25 * weight * np.cos(theta), rtol=0, atol=tolerance)


def test_files(run, tmp_path: Path) -> None:
    names = run("08")
    assert names["again"].identical(names["result"])
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == ["motion.png", "peaucellier.nc", "peaucellier.png"]


def test_edits(run, capsys: pytest.CaptureFixture[str]) -> None:
    """Freedoms added cost nothing, those taken away cost energy, and the books are closed over all of it."""
    names = run("09")
    costs = [float(text) for text in re.findall(r"([+-]\d\.\d+e[+-]\d+) J", capsys.readouterr().out)][:4]
    assert max(map(abs, (costs[0], costs[2]))) < 1e-12
    assert costs[1] < -1e-6
    assert costs[3] < -1e-6
    books = names["world"].energy()
    assert books.work["edits"] < 0
    assert abs(books.imbalance) < 1e-4 * abs(books.potential)


def test_history(run, capsys: pytest.CaptureFixture[str]) -> None:
    """Undo gives the bits as before, redo the place where undo was called."""
    run("10")
    first, undone, again, _, read = capsys.readouterr().out.splitlines()
    assert undone.endswith("True")
    assert first.split()[-2:] == again.split()[-2:]
    assert read.endswith("t = 0.25 s")


def test_events_and_digits(run) -> None:
    """The ball strikes and turns when free fall says, rises to e² of its height, and its digits are as claimed."""
    names = run("11")
    fall, result = names["fall"], names["result"]
    assert result["event_time"].values == pytest.approx([fall, 1.8 * fall], abs=1e-10)
    assert names["world"].time == float(result["event_time"][1])
    assert names["world"].body("ball").position[2] - 0.1 == pytest.approx(0.64 * 0.5, abs=1e-9)
    assert result["time"].values.tolist() == [0.123, 0.2345, 0.5]
    assert 0.6 - float(result["position"][0, 0, 2]) == pytest.approx(0.5 * 9.81 * 0.123**2, abs=1e-12)
    assert names["certificate"].holds("position", 9.0) == pytest.approx(0.5)


def test_sweep(run, tmp_path: Path) -> None:
    """Rockers swing between the poses at which crank and coupler are in line; a sample is at most half a step from
    them, which costs (ω dt / 2)² / 2 of crank angle at each end; and the sweep is in its store."""
    names = run("12")
    found, swing = names["found"], names["swing"]
    assert found.sizes["case"] == 64 and (found["error"].values == "").all()
    assert abs(swing - (names["far"] - names["near"])).max() < 2 * (2 * math.pi * 0.005 / 2) ** 2 / 2
    assert (tmp_path / "swing.zarr" / found.attrs["key"]).is_dir()


def test_fit_a_linkage(run) -> None:
    """The curve is that of a linkage, so nothing of it need be missed."""
    names = run("13")
    assert names["fit"].before / names["fit"].size > 0.1 and names["fit"].error < 1e-6 and names["fit"].closed


@pytest.mark.study
def test_learn_to_reach(run) -> None:
    """What was learned is worth more than twice what slack motors are."""
    names = run("15")
    assert names["after"] > 0.5 * names["before"]


def test_the_page_of_runs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What docs/runs.md shows can be done as it stands there: samples where asked, events in order, a certificate."""
    monkeypatch.chdir(tmp_path)
    text, names = (FOLDER.parent / "docs" / "runs.md").read_text(), {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, "runs.md", "exec"), names)
    found = names["result"]["event_time"].values
    assert len(found) and (found[:-1] <= found[1:]).all()
    assert names["result"].attrs["ended_by_event"] == "tired"
    assert names["certificate"].holds("position", 6) == pytest.approx(0.2)


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What docs/tutorial.md shows can be done as it stands there; its joints stay closed, the film is there."""
    monkeypatch.chdir(tmp_path)
    text, names = (FOLDER.parent / "docs" / "tutorial.md").read_text(), {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, "tutorial.md", "exec"), names)
    assert names["result"]["constraint_error"].max() < 1e-12
    assert abs(names["result"]["joint_velocity"].sel(coordinate="upper hinge")[0] - 6.0) < 1e-12
    assert (tmp_path / "swing.gif").stat().st_size > 1000 and (tmp_path / "tip.png").exists()


def test_the_page_of_sweeps_runs(tmp_path: Path) -> None:
    """What docs/cluster.md shows of one process can be done as it stands there, and its file is read."""
    from impulsar.scale.command import read_file
    from impulsar.scenes import scene

    text, names = (FOLDER.parent / "docs" / "cluster.md").read_text(), {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        if "__main__" not in block:
            exec(compile(block, "cluster.md", "exec"), names)
    assert names["found"].sizes["case"] == 32 and (names["found"]["error"].values == "").all()
    assert names["found"]["books"].max() < 1e-6
    assert names["world"].constraint_error().max() < 1e-9
    (file,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "bars.toml").write_text(file)
    asked = read_file(tmp_path / "bars.toml", lambda name, settings: scene(name, **settings))
    assert asked["samples"] == 1024 and asked["model"].expressions["crank.length"] == "a"


def test_readme_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """The README's example gives the output below it; its imbalance is what rtol and atol of 1e-7 leave of 0.04 J."""
    text = (FOLDER.parent / "README.md").read_text()
    code, said = re.findall(r"```(?:python)?\n(.*?)```", text[text.index("## Example") :], re.DOTALL)[:2]
    exec(compile(code, "README.md", "exec"), {})
    for printed, written in zip(capsys.readouterr().out.splitlines(), said.splitlines(), strict=True):
        *label, number, unit = printed.replace("[", " ").replace("]", " ").split()
        *wanted_label, wanted, wanted_unit = written.replace("[", " ").replace("]", " ").split()
        assert (unit, len(label)) == (wanted_unit, len(wanted_label))
        if label == ["imbalance"]:
            assert abs(float(number)) < 1e-7
        else:
            assert float(number) == pytest.approx(float(wanted), rel=1e-4, abs=1e-4)


def test_14_a_motor_does_its_motion_and_a_counterweight_helps(run) -> None:
    """The drive gives τ = J q̈ + g (m l - m₂ l₂) sin q at the ends of the swing; the smaller motor is too warm."""
    found = run("14")
    inertia = 0.01 + 2.0 * 0.5**2 + 1e-4 + 0.1 * 0.2**2
    at_end = inertia * 0.8 * 9.0 - 9.81 * (2.0 * 0.5 - 0.1 * 0.2) * math.sin(0.8)
    assert found["load"].peak == pytest.approx(abs(at_end), rel=0.02)  # samples are not at the ends
    assert [choice.motor.name for choice in found["choices"]] == ["M", "S"] and "torque rms" in found["choices"][1].why
    assert found["found"].load.rms < 0.1 * found["found"].before.rms
