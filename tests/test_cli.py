"""The command line as a user meets it: exit status, one line for a mistake, JSON alone on standard output."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.image import imread

import impulsar as im
from impulsar import cli, results
from impulsar.scenes import SCENES, Scene


def impulsar(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run([sys.executable, "-m", "impulsar", *arguments], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("run ten-pendulum", "did you mean 'ten-pendula'?"),
        ("run ten-pendula --set strat=hanging", "did you mean 'start'?"),
        ("run ten-pendula --set start=sideways", "expected one of: hanging"),
        ("run ten-pendula --duration -1", "not a time > 0"),
        ("run ten-pendula --set start", "expected KEY=VALUE"),
        ("run ten-pendula --device tpu", "devices are: cpu"),
        ("run ten-pendula --method magic", "methods are: "),
        ("run ten-pendula --duration 0.1 --every 0.015", "give 0.02"),
        ("run lift.json", "cannot be read"),
        ("runn", "invalid choice: 'runn'"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(arguments: str, says: str) -> None:
    done = impulsar(*arguments.split())
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("impulsar: ")
    assert says in done.stderr


def test_run_writes_what_it_says(tmp_path: Path) -> None:
    """The summary names the books and errors; the result and the plot lie where they were asked for."""
    out, plot = tmp_path / "new" / "x.nc", tmp_path / "x.png"
    done = impulsar("run", "ten-pendula", "--set", "start=30deg", "--duration", "0.05", "--out", out, "--plot", plot)
    assert done.returncode == 0, done.stderr
    for words in ("0.05 s by direct on cpu", "times real time", "kinetic", "worst imbalance", "worst constraint error"):
        assert words in done.stdout
    assert f"wrote {out}" in done.stdout
    assert float(results.load(out)["time"][-1]) == 0.05
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_run_prints_one_json_object() -> None:
    done = impulsar("run", "ten-pendula", "--set", "hand=true", "--dt", "0.002", "--duration", "0.1", "--json")
    summary = json.loads(done.stdout)
    assert (summary["simulated"], summary["dt"], summary["device"]) == (0.1, 0.002, "cpu")
    assert set(summary["energy"]) == set(results.KINDS)


def test_doctor_finds_nothing_wrong() -> None:
    """The pendulum's period is that of the elliptic integral, within what the step may change."""
    done = impulsar("doctor")
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "OK"
    assert "closed form 1.7578148 s" in done.stdout


def test_doctor_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong period, or a device that cannot step, is status 1 with the cure."""
    monkeypatch.setattr(cli, "_period", lambda device: (1.1, 1.0, 1e-5))
    assert cli.main(["doctor"]) == 1
    assert "NOT OK: cpu gives a wrong period" in capsys.readouterr().out
    monkeypatch.setattr(cli, "_period", lambda device: 1 / 0)
    assert cli.main(["doctor"]) == 1
    assert "cpu cannot step: ZeroDivisionError" in capsys.readouterr().out


def test_scenes_are_listed_with_their_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["scenes"]) == 0
    out = capsys.readouterr().out
    for scene in SCENES.values():
        assert scene.name in out and scene.description in out
        assert all(f"--set {name}={default}" in out for name, default in scene.parameters.items())


def test_demo_draws_its_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["demo", "--out", str(tmp_path / "out")]) == 0
    rgb = imread(tmp_path / "out" / "demo.png")[..., :3]
    assert 0.005 < (np.ptp(rgb, axis=-1) > 0.2).mean() < 0.5  # bodies and curves; axes alone have no colour
    assert str(tmp_path / "out" / "demo.png") in capsys.readouterr().out


def test_no_command_is_a_call_for_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    assert "commands" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("(1, 2)", (1, 2)), ("true", True), ("False", False), ("30deg", "30deg"), ("", "")],
)
def test_values_of_set(text: str, value: object) -> None:
    """Python literals, true and false, else text."""
    assert cli._settings([f"key={text}"]) == {"key": value}


def stone(force) -> im.Model:
    """A body under a load, as a scene."""
    model = im.Model("stone")
    model.body("stone", 1.0, (1.0, 1.0, 1.0))
    model.load("push", "stone", force=force)
    model.dt, model.duration = 0.01, 1.0
    return model


def interrupting(time: float) -> tuple[float, float, float]:
    if time > 0.5:
        raise KeyboardInterrupt
    return (0.0, 0.0, 0.0)


def test_ctrl_c_writes_what_was_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 130 and one line; the file has the samples before the interrupt."""
    monkeypatch.setitem(SCENES, "stone", Scene("stone", lambda: stone(interrupting)))
    assert cli.main(["run", "stone", "--every", "0.1", "--out", str(tmp_path / "x.nc")]) == 130
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert 0 < float(results.load(tmp_path / "x.nc")["time"][-1]) <= 0.5


def test_broken_state_is_status_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("impulsar.author.profiles.LARGEST", 1e301)  # more than an author may give
    monkeypatch.setitem(SCENES, "stone", Scene("stone", lambda: stone((1e300, 0, 0))))
    assert cli.main(["run", "stone"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("impulsar: warning: ") and "no longer finite" in err and len(err.splitlines()) == 1


def test_wrong_type_of_a_parameter_is_a_mistake(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(SCENES, "stone", Scene("stone", lambda n=1: range(n)))
    assert cli.main(["run", "stone", "--set", "n=many"]) == 2
    assert "scene 'stone' with n='many'" in capsys.readouterr().err


def test_validate_lists_and_runs_cases(capsys: pytest.CaptureFixture[str]) -> None:
    """The real ones: every name of the list is a case, and one of them runs, with its figure beside its bound."""
    from impulsar.validate import case_names

    assert cli.main(["validate", "--list", "--json"]) == 0
    listed = [case["name"] for case in json.loads(capsys.readouterr().out)["cases"]]
    assert listed == case_names() and "pendulum-period" in listed
    assert cli.main(["validate", "pendulum-period", "--json"]) == 0
    (outcome,) = json.loads(capsys.readouterr().out)["cases"]
    assert outcome["name"] == "pendulum-period" and outcome["holds"]
    assert 0.0 <= outcome["figure"] <= outcome["bound"] < 1.0


def test_validate_and_bench_are_dispatched(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Names are checked first; options arrive; the status is theirs."""
    calls: list[tuple] = []
    cases = SimpleNamespace(case_names=lambda: ["fall", "swing"], run_cases=lambda *args: calls.append(args) or 1)
    suites = SimpleNamespace(suite_names=lambda: ["step"], run_suites=lambda *args: calls.append(args) or 0)
    monkeypatch.setattr(im, "validate", cases, raising=False)
    monkeypatch.setattr(im, "bench", suites, raising=False)
    assert cli.main(["validate", "fall", "--json", "--report", str(tmp_path)]) == 1
    assert cli.main(["bench"]) == 0
    assert calls == [(["fall"], True, tmp_path), (None, False)]
    assert cli.main(["validate", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"cases": [{"name": "fall"}, {"name": "swing"}]}
    assert cli.main(["validate", "fal"]) == 2
    assert "did you mean 'fall'?" in capsys.readouterr().err
