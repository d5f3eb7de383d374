"""The command line as a user meets it: exit status, one line for a mistake, JSON alone on standard output."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import impulsar as im
from impulsar import cli, results
from impulsar.scenes import SCENES, Scene


def impulsar(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run([sys.executable, "-m", "impulsar", *arguments], capture_output=True, text=True)


MISTAKES = [
    ("run ten-pendulum", "did you mean 'ten-pendula'?"),
    ("runn", "invalid choice: 'runn'"),
    ("run ten-pendula --set strat=hanging", "did you mean 'start'?"),
    ("run ten-pendula --set start=sideways", "expected one of: hanging"),
    ("run ten-pendula --duration -1", "not a time > 0"),
    ("run ten-pendula --set start", "expected KEY=VALUE"),
    ("run ten-pendula --device tpu", "devices are: cpu"),
    ("run ten-pendula --method magic", "methods are: "),
    ("run ten-pendula --duration 0.1 --every 0.015", "give 0.02"),
    ("run lift.json", "cannot be read"),
    ("run spheres", "a large one: run or studio spheres --large"),
    ("run chain --large --set m=3", "no parameter 'm'; known are: n"),
    ("run chain --domains 1000", "mpiexec -n 1000 impulsar run chain --domains"),
    ("run four-bar --out x.txt", "name it 'x.nc'"),
    ("scenes nosuch", "no scene 'nosuch'"),
    ("scenes --save x.json", "say which one"),
    ("scenes --schema --save x.json", "--schema is of all"),
    ("analyse modes four-bar --time nan", "'nan' is not a time >= 0"),
    ("studio four-bar --speed -1", "'-1' is not a number > 0"),
    ("studio --large", "--large: which scene?"),
    ("studio chian --large", "did you mean 'chain'?"),
    ("studio chain --large --set n=0", "n is 0, expected an integer >= 1"),
    ("studio chain --large --set n=5000000", "expected at most 4,000,000 in the studio"),
    ("studio chain --large --device tpu", "devices are: cpu"),
    ("studio chain --large --journal x", "--journal: not with --large"),
    ("studio stack --large --method pair", "method 'pair' has no contact"),
    ("analyse inverse four-bar", "--motion 'O=1'"),
    ("analyse inverse four-bar --motion O=fast", "expected JOINT=SPEED"),
    ("analyse mobility four-bar --motion O=1", "is for inverse"),
]


def check_mistake(status: int | str | None, out: str, err: str, says: str) -> None:
    assert status == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("impulsar: ")
    assert says in err


@pytest.mark.parametrize(("arguments", "says"), MISTAKES[:2])
def test_a_mistake_is_one_line_and_status_2(arguments: str, says: str) -> None:
    """Also of the whole process: nothing else is printed by anyone."""
    done = impulsar(*arguments.split())
    check_mistake(done.returncode, done.stdout, done.stderr, says)


@pytest.mark.parametrize(("arguments", "says"), MISTAKES)
def test_a_mistake_is_told(arguments: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status: int | str | None = cli.main(arguments.split())
    except SystemExit as end:  # by the parser
        status = end.code
    check_mistake(status, *capsys.readouterr(), says)


def test_run_writes_what_it_says(tmp_path: Path) -> None:
    """The summary names the books and errors; the result and the plot lie where they were asked for."""
    out, plot = tmp_path / "new" / "x.nc", tmp_path / "x.png"
    done = impulsar("run", "ten-pendula", "--set", "start=30deg", "--duration", "0.05", "--out", out, "--plot", plot)
    assert done.returncode == 0, done.stderr
    for words in ("0.05 s by direct on cpu", "times real time", "kinetic", "worst imbalance", "worst constraint error"):
        assert words in done.stdout
    assert f"wrote {out}" in done.stdout
    assert float(results.load(out)["time"][-1]) == 0.05
    assert 0.0005 < (np.ptp(imread(plot)[..., :3], axis=-1) > 0.2).mean() < 0.2  # curves; axes alone have no colour


def test_run_prints_one_json_object() -> None:
    done = impulsar("run", "ten-pendula", "--set", "hand=true", "--dt", "0.002", "--duration", "0.1", "--json")
    summary = json.loads(done.stdout)
    assert (summary["simulated"], summary["dt"], summary["device"]) == (0.1, 0.002, "cpu")
    assert set(summary["energy"]) == set(results.KINDS)


def test_a_run_is_sampled_500_times_unless_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "four-bar", "--duration", "1"]) == 0
    assert "501 samples, one each 0.002 s; --every 0.001 measures each step" in capsys.readouterr().out
    assert cli.main(["run", "four-bar", "--duration", "0.6", "--every", "0.001", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 601


def test_version_and_one_scene(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert end.value.code == 0 and capsys.readouterr().out == f"impulsar {im.__version__}\n"
    assert cli.main(["scenes", "cam"]) == 0
    out = capsys.readouterr().out
    assert "2 bodies, 2 joints" in out and "of flat, roller" in out and "Try: " in out


def test_inverse_dynamics_of_a_motion_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """At a constant speed the torque of a full turn is that of its start."""
    arguments = f"analyse inverse four-bar --motion O={2 * np.pi} --duration 1 --every 0.5 --json"
    assert cli.main(arguments.split()) == 0
    torque = np.ravel(json.loads(capsys.readouterr().out)["motor_torque"])
    assert torque[0] == pytest.approx(torque[2], rel=1e-9) and torque[1] != pytest.approx(torque[0], rel=0.1)
    arguments = ["--motion", "O=Harmonic(0.3, 2)", "--duration", "1", "--every", "0.5"]
    assert cli.main(["analyse", "inverse", "four-bar", *arguments]) == 0


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


def test_validate_measures_and_lists(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """For real: the list is that of the cases, and a case is measured and judged by its bound."""
    from impulsar.validate import every_case

    assert cli.main(["validate", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed == {"cases": [{"name": case.name} for case in every_case()]}
    assert cli.main(["validate", "lift-mobility", "free-momentum", "--report", str(tmp_path / "new")]) == 0
    printed = capsys.readouterr()
    titles = [line.split(":")[0] for line in printed.out.splitlines() if not line.startswith(" ")]
    assert titles == ["lift-mobility", "free-momentum"]
    assert printed.out.count("holds") == 2 and "2 hold, 0 fell short" in printed.err
    assert (tmp_path / "new").is_dir()


def test_a_case_that_falls_short_is_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from impulsar import validate
    from impulsar.validate.case import Case

    monkeypatch.setattr(validate, "every_case", lambda: [Case("fall", "too far", 1.0, "m", lambda device: 2.0)])
    assert cli.main(["validate", "fall", "--json"]) == 1
    (outcome,) = json.loads(capsys.readouterr().out)["cases"]
    assert (outcome["figure"], outcome["bound"], outcome["holds"]) == (2.0, 1.0, False)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("validate joint-matrx", "no case named 'joint-matrx'; did you mean 'joint-matrix'?"),
        ("validate qqq", "no case named 'qqq'; `impulsar validate --list` names them"),
        ("bench chian", "no suite named 'chian'; did you mean 'chain'?"),
        ("bench qqq", "no suite named 'qqq'; known are: chain, loops, "),
    ],
)
def test_a_wrong_case_or_suite_is_told_in_a_short_line(
    words: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words.split()) == 2
    told = capsys.readouterr().err
    assert says in told
    assert len(told.splitlines()) == 1 and len(told) < 200


def test_bench_prints_rows_or_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """And ends with 1 where a row does not hold."""
    rows = [{"links": 10, "ratio": 0.5, "gap [m]": 1e-12, "holds": True}]
    monkeypatch.setattr("impulsar.bench.cost.run", lambda: rows)
    assert cli.main(["bench", "cost", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"cost": rows}
    rows[0]["holds"] = False
    assert cli.main(["bench", "cost"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "links  ratio  gap [m]  holds",
        "   10    0.5    1e-12     NO",
    ]


def test_a_process_of_a_command_looks_for_garbage_seldom_and_not_at_its_end() -> None:
    """Half a million objects are loaded for good: to look through them took half of the time of a short command."""
    script = (
        "import atexit, gc, sys\n"
        "sys.argv = ['impulsar', '--version']\n"
        "atexit.register(lambda: print(gc.get_threshold()[0], len(gc.get_objects())))\n"
        "from impulsar.entry import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    often, left = map(int, done.stdout.splitlines()[-1].split())
    assert often >= 100_000 and left == 0, done.stdout + done.stderr
