"""A run beside measured data: closed forms of the deviations, offsets that are known, mistakes in one line."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from matplotlib.image import imread

import impulsar as im
from impulsar import cli, results
from impulsar.measured import channels, read_log

STEP, END = 0.001, 4.0
W = 2.0 * math.pi  # of the swing [rad/s]


def result(values=None) -> xr.Dataset:
    """A hinge that swings by sin W t, a body that goes along x by exp(-t) sin 9 t, as a run of a result."""
    t = np.round(np.arange(round(END / STEP) + 1) * STEP, 9)
    place = np.stack([np.exp(-t) * np.sin(9 * t), 0 * t, 0 * t + 2.0], axis=-1)
    angle = np.sin(W * t) if values is None else values(t)
    return xr.Dataset(
        {
            "position": (("time", "body", "axis"), place[:, None], {"units": "m"}),
            "joint_position": (("time", "coordinate"), angle[:, None], {"units": "rad"}),
            "constraint_error": (("time",), 0 * t),
        },
        {
            "time": t,
            "body": ["slider"],
            "axis": list("xyz"),
            "coordinate": ["hinge"],
            "unit": ("coordinate", ["rad"]),
        },
        {"model": "rig", "method": "direct", "dt": STEP},
    )


def write(folder: Path, text: str) -> Path:
    path = folder / "log.csv"
    path.write_text(text, encoding="utf-8")
    return path


def table(folder: Path, heading: str, rows, mark: str = ",") -> Path:
    lines = [mark.join(repr(float(cell)) for cell in row) for row in rows]
    return write(folder, "\n".join([heading, *lines]) + "\n")


def test_deviations_are_those_of_the_closed_form(tmp_path: Path) -> None:
    """A log late by a phase φ: run - log = 2 sin(φ/2) cos(W t - φ/2), over whole turns rms = √2 sin(φ/2), largest
    2 sin(φ/2) where W t = φ/2, correlation cos φ; interpolation adds (W h)² / 8 at most."""
    phase = 0.3
    t = np.arange(0.0, END + 1e-9, STEP)[:-1]
    path = table(tmp_path, "t,hinge.position [rad]", zip(t, np.sin(W * t - phase), strict=True))
    (one,) = im.compare(result(), path).deviations
    assert one.channel == "coordinate.hinge.position" and len(one.times) == len(t)
    assert one.rms == pytest.approx(math.sqrt(2) * math.sin(phase / 2), rel=1e-6)
    assert one.largest == pytest.approx(2 * math.sin(phase / 2), rel=1e-5)
    assert math.remainder(W * one.at - phase / 2, math.pi) == pytest.approx(0.0, abs=W * STEP)
    assert one.correlation == pytest.approx(math.cos(phase), rel=1e-6)
    assert one.range == pytest.approx(2.0, rel=1e-5)
    assert one.relative_rms == pytest.approx(one.rms / 2.0, rel=1e-5)


@pytest.mark.parametrize("shift", [0.0, 0.7321, -0.4567])
def test_a_known_offset_is_found_in_noise(tmp_path: Path, shift: float) -> None:
    """By both channels: the times are off by what the noise makes them, σ / (|ẋ| √n), and the rms is the noise."""
    noise, rng = 0.01, np.random.default_rng(7)
    t = np.arange(1.0, 3.0, 0.0037)
    x = np.exp(-t) * np.sin(9 * t) + noise * rng.normal(size=len(t))
    angle = np.degrees(np.sin(W * t) + noise * rng.normal(size=len(t)))
    rows = zip(1e3 * (t - shift), 1e3 * x, angle, strict=True)
    path = table(tmp_path, "time [ms]\tslider.x [mm]\thinge.position [deg]", rows, "\t")
    found = im.compare(result(), path, offset="auto")
    assert found.is_found and found.offset == pytest.approx(shift, abs=0.002)
    assert [one.rms for one in found.deviations] == pytest.approx([noise, noise], rel=0.4)
    assert f"offset {found.offset:.6g} s, found by correlation" in str(found)


def test_of_offsets_that_fit_alike_the_least_is_taken(tmp_path: Path) -> None:
    """A swing is the same after a turn: the log of turns 2 to 3 fits the run from turn 1 on as well."""
    t = np.arange(0.0, 2.0, STEP)
    path = table(tmp_path, "t,hinge.position", zip(t + 1.0, np.sin(W * t), strict=True))
    found = im.compare(result(), path, offset="auto")
    assert found.offset == pytest.approx(0.0, abs=1e-6)
    assert found.alike >= 2 and "fit as well" in str(found)


def studio_csv(columns: list[tuple[str, str, np.ndarray, np.ndarray]]) -> str:
    """What client/src/series.ts writes: all times of all columns, empty cells where a column has none."""
    times = sorted({time for *_, at, _ in columns for time in at})
    head = ["time [s]", *(f"{name} [{unit}]" for name, unit, _, _ in columns)]
    cells = [dict(zip(at, values, strict=True)) for *_, at, values in columns]
    rows = [",".join([repr(float(t)), *(repr(float(c[t])) if t in c else "" for c in cells)]) for t in times]
    return "\n".join([",".join(head), *rows]) + "\n"


def test_what_the_studio_saves_is_read_back(tmp_path: Path) -> None:
    """Signals of a run, each at times of its own, under the names of the page: no deviation but rounding."""
    world = im.World(im.scene("slider-crank"), dt=0.01)
    names = {"body.slider.position.x": "m", "joint.bearing.position": "rad", "energy.kinetic": "J", "step_time": "s"}
    dataset = world.run(0.5, variables=["position", "joint_position", "energy"])
    known, t = channels(dataset), dataset["time"].values
    columns = []
    for k, (name, unit) in enumerate(names.items()):
        values = known[name].values if name in known else 0 * t
        columns.append((name, unit, t[k::2], values[k::2]))
    found = im.compare(dataset, write(tmp_path, studio_csv(columns)))
    assert [one.column.split(" [")[0] for one in found.deviations] == list(names)[:3]
    assert list(found.left_out) == ["step_time [s]"]
    for one, (_, _, at, _) in zip(found.deviations, columns, strict=False):
        sampled = np.isin(one.times, at)
        assert sampled.sum() == len(at)
        assert np.abs(one.run - one.log)[sampled].max() == 0.0


def test_names_of_channels() -> None:
    """A signal by its name, without its kind, as a place, and by the variable of the result."""
    known = channels(result())
    for name in ("body.slider.position.x", "slider.position.x", "slider.x", "position.slider.x"):
        assert known[name].name == "body.slider.position.x"
    for name in ("coordinate.hinge.position", "joint.hinge.position", "hinge.position", "joint_position.hinge"):
        assert known[name].name == "coordinate.hinge.position"
    assert known["slider.position.norm"].values[0] == 2.0
    assert known["constraint_error"].unit == "m and rad"


def test_marks_comments_and_gaps_of_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, "\ufeff# rig 3\nT ;a [mm]; '=b\n# noon\n0; 1;\n\n1;;5\n2;3;6\n")
    log = read_log(path, "T")
    assert log.columns == {"a [mm]": "mm", "=b": ""}
    assert [list(values) for values in log.cells["a [mm]"]] == [[0.0, 2.0], [1.0, 3.0]]
    assert [list(values) for values in log.cells["=b"]] == [[1.0, 2.0], [5.0, 6.0]]


MISTAKES = [
    ("", [], "is empty"),
    ("# nothing\n", [], "is empty"),
    ("time,slider.x\n", [], "no samples"),
    ("time,slidr.x\n0,1\n1,2\n", [], "did you mean 'slider.x'?"),
    ("time,x\n0,1\n1,2\n", ["--map", "y=slider.x"], "no column 'y'"),
    ("time,x\n0,1\n1,2\n", ["--map", "x=slidr.x"], "did you mean 'slider.x'?"),
    ("time,x\n0,1\n1,2\n", ["--map", "x"], "expected COLUMN=CHANNEL"),
    ("time,slider.x\n0,1\n1,2\n0.5,3\n", [], "line 4: the time 0.5 after 1"),
    ("time,slider.x\n0,1\n0,2\n", [], "times that grow"),
    ("time,slider.x\n0,1\n1,nan\n", [], "line 3: 'slider.x' is 'nan', expected a finite number"),
    ("time,slider.x\n0,1\n,3\n", [], "line 3: has no time"),
    ("time;slider.x\n0;1,5\n1;2\n", [], "with a decimal point"),
    ("time,slider.x [inch]\n0,1\n1,2\n", [], "is in 'inch', expected m"),
    ("time,slider.x [deg]\n0,1\n1,2\n", [], "is in 'deg', expected m"),
    ("time,slider.x,slider.x\n0,1,1\n", [], "is there twice"),
    ("time,slider.x\n10,1\n11,2\n", [], "no time in common"),
    ("when,slider.x\n0,1\n1,2\n", [], "--map 'when=time'"),
    ("time,slider.x\n0,1\n1,1\n", ["--offset", "auto"], "constant"),
    ("time,slider.x\n0,1\n1,2\n", ["--offset", "soon"], "expected a number"),
    ("time,slider.x\n0,1\n1,2\n", ["--bound", "-1"], "expected a number >= 0"),
    ("time,slider.x\n0,1\n1,2\n", ["--plot", "x.qqq"], "no format '.qqq'"),
]


@pytest.mark.parametrize(("text", "options", "says"), MISTAKES)
def test_a_mistake_is_one_line_and_status_2(
    text: str, options: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results.save(result(), tmp_path / "run.nc")
    status = cli.main(["compare", str(tmp_path / "run.nc"), str(write(tmp_path, text)), *options])
    printed = capsys.readouterr()
    assert (status, printed.out) == (2, "")
    assert says in printed.err and len(printed.err.splitlines()) == 1


def test_files_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "time,slider.x\n0,1\n")
    for arguments in ((str(tmp_path / "no.nc"), str(path)), (str(path), str(path))):
        assert cli.main(["compare", *arguments]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
    results.save(result(), tmp_path / "run.nc")
    path.write_bytes(b"time,\xff\n0,1\n")
    assert cli.main(["compare", str(tmp_path / "run.nc"), str(path)]) == 2
    assert "no text in UTF-8" in capsys.readouterr().err


def test_the_command_writes_judges_and_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Status 1 beyond the bound, 0 within; one JSON object; a picture with curves."""
    phase = 0.1
    t = np.arange(0.0, END, STEP)
    log = table(tmp_path, "T,angle,other", zip(t, np.sin(W * t - phase), t, strict=True))
    results.save(result(), tmp_path / "run.nc")
    words = ["compare", str(tmp_path / "run.nc"), str(log), "--map", "angle=hinge.position", "--map", "T=time"]
    exact = math.sqrt(2) * math.sin(phase / 2) / 2
    for bound, status in ((0.99 * exact, 1), (1.01 * exact, 0)):
        assert cli.main([*words, "--bound", str(bound), "--out", str(tmp_path / "out"), "--json"]) == status
        printed = json.loads(capsys.readouterr().out)
        assert printed["holds"] is (status == 0)
        assert printed["channels"][0]["relative_rms"] == pytest.approx(exact, rel=1e-4)
    kept = json.loads((tmp_path / "out" / "compare.json").read_text(encoding="utf-8"))
    assert kept["channels"] == printed["channels"]
    rgb = imread(tmp_path / "out" / "compare.png")[..., :3]
    assert 0.001 < (np.ptp(rgb, axis=-1) > 0.2).mean() < 0.3
    assert cli.main([*words, "--bound", "0"]) == 1
    assert "FALLS SHORT" in capsys.readouterr().out
