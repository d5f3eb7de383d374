"""Sweeps: designs, measures, rows with errors, stores that go on, workers that die."""

import math
import os
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import scale
from impulsar.cli import main
from impulsar.scale import cases, driver
from impulsar.scale.designs import make_design
from impulsar.scale.executors import _check_scheduler

G = 9.81


def ball(height: float = 1.0, mass: float = 1.0) -> im.Model:
    """A body that falls from a height."""
    if height > 5.0:
        raise ValueError("higher than the tower")
    model = im.Model("ball")
    model.body("ball", mass=mass, inertia=(1, 1, 1), position=(0, 0, height))
    model.dt, model.duration = 0.01, 0.4
    return model


def four_bar() -> im.Model:
    model = im.scene("four-bar")
    model.parameter("a", 0.1, unit="m")
    model.expression("crank.length", "a")
    return model


# designs ------------------------------------------------------------------------------------------


def test_a_grid_is_every_combination():
    names, values = make_design({"a": [1, 2], "b": [3, 4, 5]}, "grid", None, 0)
    assert names == ("a", "b")
    assert values.tolist() == [[1, 3], [1, 4], [1, 5], [2, 3], [2, 4], [2, 5]]
    assert make_design({"a": [1, 2], "b": [3, 4]}, "cases", None, 0)[1].tolist() == [[1, 3], [2, 4]]


@pytest.mark.parametrize("design", ["random", "latin", "sobol"])
def test_samples_fill_their_ranges(design):
    """Within the ranges, the same for a seed; a Latin hypercube, and Sobol's points, have one in every stratum."""
    _, values = make_design({"a": (1.0, 3.0), "b": (-1.0, 0.0)}, design, 64, 7)
    assert values.shape == (64, 2) and np.array_equal(
        values, make_design({"a": (1, 3), "b": (-1, 0)}, design, 64, 7)[1]
    )
    assert not np.array_equal(values, make_design({"a": (1, 3), "b": (-1, 0)}, design, 64, 8)[1])
    assert (values >= [1, -1]).all() and (values <= [3, 0]).all()
    strata = np.floor((values - [1, -1]) / [2, 1] * 64).astype(int)
    if design != "random":
        assert all(sorted(column) == list(range(64)) for column in strata.T)


@pytest.mark.parametrize(
    "given, told",
    [
        (({}, "grid", None), "expected values by name"),
        (({"a": []}, "grid", None), "expected numbers"),
        (({"a": [math.nan]}, "grid", None), "finite"),
        (({"a": [1], "b": [1, 2]}, "cases", None), "one of each"),
        (({"a": (2, 1)}, "sobol", 4), r"range \(lower, upper\)"),
        (({"a": (1, 2)}, "sobol", None), "wants samples"),
        (({"a": [1, 2]}, "grid", 4), "leave it out"),
        (({"a": [1, 2]}, "spiral", None), "expected one of"),
    ],
)
def test_designs_that_are_none_are_refused(given, told):
    with pytest.raises(im.ModelError, match=told):
        make_design(*given, 0)


# measures -----------------------------------------------------------------------------------------


def test_measures_of_a_fall():
    """z = h - g t²/2 and v = -g t: final, least, largest, mean over time, rms; a callable beside them."""
    measure = {
        "end": "final body.ball.position.z",
        "low": "min body.ball.velocity.z",
        "high": "max body.ball.position.z",
        "mean": "mean body.ball.velocity.z",
        "rms": "rms body.ball.velocity.z",
        "speed": "final body.ball.velocity.norm",
        "own": lambda result: float(result["position"].sel(body="ball", axis="z")[0]),
    }
    found = im.sweep(ball, {"height": [1.0, 2.0, 3.0], "mass": [1.0, 4.0]}, measure, workers=0)
    h, t = found["height"].values, 0.4
    assert found["end"].values == pytest.approx(h - G * t**2 / 2, abs=1e-9)
    assert found["low"].values == pytest.approx(-G * t, abs=1e-9)
    assert np.array_equal(found["high"].values, h) and np.array_equal(found["own"].values, h)
    assert found["mean"].values == pytest.approx(-G * t / 2, abs=1e-9)
    # the rms of a line by trapezoids at every step: n² sums are (2 n² + 1) / 6 n² of T v²
    assert found["rms"].values == pytest.approx(G * t * math.sqrt((2 * 40**2 + 1) / (6 * 40**2)), rel=1e-9)
    assert found["speed"].values == pytest.approx(G * t, abs=1e-9)
    assert (found["error"].values == "").all()


def test_time_of_an_event():
    """A ball from h falls to the level z = 0 in √(2 h / g); one that has not by the end has none."""
    found = im.sweep(
        ball, {"height": [0.2, 0.5, 3.0]}, {"down": im.Event("down", "body.ball.position.z", direction=-1)}, workers=0
    )
    assert found["down"].values[:2] == pytest.approx(np.sqrt(2 * np.array([0.2, 0.5]) / G), abs=1e-9)
    assert np.isnan(found["down"].values[2])


def test_paths_and_parameters_lead_to_the_same():
    """A length by its parameter or by its path; what is not open is what sizes say."""
    by_name = im.sweep(four_bar(), {"a": [0.09, 0.1, 0.11]}, "max body.rocker.position.x", workers=0, duration=0.05)
    by_path = im.sweep(
        im.scene("four-bar"),
        {"crank.length": [0.09, 0.1, 0.11]},
        "max body.rocker.position.x",
        workers=0,
        duration=0.05,
    )
    assert np.array_equal(by_name["value"].values, by_path["value"].values)
    assert by_name["a"].attrs["units"] == "m"
    world = im.World(im.scene("four-bar"))
    there = world.run(0.05, progress=False)["position"].sel(body="rocker", axis="x").max()
    assert by_name["value"].values[1] == pytest.approx(float(there), abs=1e-12)


@pytest.mark.parametrize(
    "arguments, told",
    [
        ({"measure": "most body.ball.position.z"}, "expected how and a signal"),
        ({"measure": "max body.bal.position.z"}, "ball"),
        ({"measure": {"error": "max body.ball.position.z"}}, "choose another"),
        ({"measure": {}}, "measures by name"),
        ({"parameters": {"bal.mass": [1.0]}}, "no part named"),
        ({"parameters": {"a": [1.0]}}, "'a'"),
        ({"duration": -1.0}, "duration"),
        ({"every": 0.003}, "multiple"),
        ({"worlds": 3}, "batch="),
        ({"batch": 0}, "batch"),
        ({"model": 3}, "expected a Model"),
        ({"model": ball, "parameters": {"hight": [1.0]}}, "the builder does not take hight"),
        ({"model": ball, "parameters": {"height": [9.0]}}, "none can be built: higher than the tower"),
        ({"workers": -1}, "workers is -1"),
        ({"executor": "dask"}, "expected one of concurrent.futures"),
    ],
)
def test_mistakes_are_told_before_anything_runs(arguments, told):
    given = {"model": ball(), "parameters": {"ball.mass": [1.0, 2.0]}, "measure": "max body.ball.position.z"}
    with pytest.raises(im.ModelError, match=told):
        im.sweep(**({"workers": 0} | given | arguments))


# rows with errors ---------------------------------------------------------------------------------


def test_a_case_that_breaks_is_a_row_with_its_error():
    """Lengths that do not close, a builder that raises: NaN and why; the others are what they are without them."""
    good = [0.09, 0.1, 0.11]
    found = im.sweep(four_bar(), {"a": [*good, 0.9]}, "final joint.O.position", workers=0, duration=0.05)
    clean = im.sweep(four_bar(), {"a": good}, "final joint.O.position", workers=0, duration=0.05)
    assert np.array_equal(found["value"].values[:3], clean["value"].values)
    assert np.isnan(found["value"].values[3]) and "stay open" in found["error"].values[3]
    built = im.sweep(ball, {"height": [1.0, 9.0]}, "final body.ball.position.z", workers=0)
    assert built["error"].values.tolist() == ["", "ValueError: higher than the tower"]


def test_a_run_that_breaks_does_not_break_the_batch():
    """A spring of 1e300 N/m is no longer finite after a step; its neighbours have the bits that they have alone."""

    def build(stiffness: float) -> im.Model:
        model = ball()
        model.spring(
            "s", "ball", model.ground, at_a=(0.1, 0, 1), at_b=(1, 0, 3), stiffness=stiffness, damping=0, free_length=1
        )
        return model

    values = [10.0, 1e300, 20.0, 30.0, 40.0]
    found = im.sweep(build, {"stiffness": values}, "final body.ball.position.z", workers=0)
    clean = im.sweep(build, {"stiffness": [10.0, 20.0, 30.0, 40.0]}, "final body.ball.position.z", workers=0)
    assert found["error"].values[1] and np.isnan(found["value"].values[1])
    assert np.array_equal(np.delete(found["value"].values, 1), clean["value"].values)


# stores -------------------------------------------------------------------------------------------


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_store_goes_on_where_it_ended(tmp_path, monkeypatch):
    """Interrupted after two batches and run again: the same bytes as at once, and no batch is computed twice."""
    asked = {"parameters": {"height": np.linspace(1, 3, 20)}, "measure": "final body.ball.position.z", "batch": 4}
    at_once = im.sweep(ball, **asked, workers=0, store=tmp_path / "whole")
    counted: list[int] = []

    def stopping(plan, values):
        counted.append(len(values))
        if len(counted) == 3:
            raise KeyboardInterrupt
        return cases.run_cases(plan, values)

    monkeypatch.setattr(driver, "run_cases", stopping)
    with pytest.raises(KeyboardInterrupt):
        im.sweep(ball, **asked, workers=0, store=tmp_path / "parts")
    half = scale.open_sweep(tmp_path / "parts")
    assert half["done"].values.sum() == 8 and np.isnan(half["value"].values[8:]).all()
    im.sweep(ball, **asked, workers=0, store=tmp_path / "parts")
    assert counted == [4] * 6  # three, of which the last did not end, and the three that were left
    assert files(tmp_path / "whole") == files(tmp_path / "parts")
    im.sweep(ball, **asked, workers=0, store=tmp_path / "parts")
    assert len(counted) == 6
    assert np.array_equal(at_once["value"].values, scale.open_sweep(tmp_path / "parts")["value"].values)


def test_flags_come_last(tmp_path):
    """Whatever a batch has written when it is killed, without its flags it is computed again to the same bytes."""
    asked = {"parameters": {"height": np.linspace(1, 3, 8)}, "measure": "final body.ball.position.z", "batch": 4}
    im.sweep(ball, **asked, workers=0, store=tmp_path / "s")
    whole = files(tmp_path / "s")
    (flags,) = (tmp_path / "s").glob("*/done/c/1")
    (numbers,) = (tmp_path / "s").glob("*/value/c/1")
    flags.unlink()
    numbers.write_bytes(b"")  # torn
    im.sweep(ball, **asked, workers=0, store=tmp_path / "s")
    assert files(tmp_path / "s") == whole


@pytest.mark.parametrize("harm", ["cut", "bit", "gone"])
@pytest.mark.parametrize("name", ["value", "done", "check", "height"])
def test_a_damaged_store_is_told_and_mended(tmp_path, name, harm):
    """A file that is cut off, has another bit or is gone: its rows are as if not done, and computed anew."""
    ask = {"model": ball, "parameters": {"height": [1.0, 2.0, 3.0]}, "measure": "final body.ball.position.z"}
    found = im.sweep(**ask, store=tmp_path / "s", batch=2, workers=0)
    kept = {path: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()}
    file = tmp_path / "s" / found.attrs["key"] / name / "c" / "0"
    data = kept[file]
    if harm == "gone":
        file.unlink()
    else:
        middle = len(data) // 2
        file.write_bytes(
            data[:middle] if harm == "cut" else data[:middle] + bytes([data[middle] ^ 16]) + data[middle + 1 :]
        )
    if name != "height" and (name, harm) != ("done", "gone"):
        with pytest.warns(RuntimeWarning, match="files of 2 cases are damaged"):
            seen = scale.open_sweep(tmp_path / "s")
        assert seen["done"].values.tolist() == [0, 0, 1] and np.isnan(seen["value"].values[:2]).all()
        with pytest.warns(RuntimeWarning, match="computes them anew"):
            im.sweep(**ask, store=tmp_path / "s", batch=2, workers=0)
    else:
        im.sweep(**ask, store=tmp_path / "s", batch=2, workers=0)
    assert {path: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()} == kept


@pytest.mark.skipif(os.name == "nt", reason="no locks of folders")
def test_two_clients_do_not_fill_one_sweep(tmp_path):
    """The second is told; when the first is gone it may."""
    ask = {"parameters": {"height": [1.0]}, "measure": "final body.ball.position.z", "store": tmp_path / "s"}
    values = np.ones((1, 1))
    plan = driver._plan(ball, ("height",), values, ask["measure"], None, None, {})
    first = closing(driver.Store(tmp_path / "s", plan, values, 64, {}))
    with first, pytest.raises(im.ModelError, match="another client is filling this sweep"):
        im.sweep(ball, **ask, workers=0)
    assert im.sweep(ball, **ask, workers=0)["done"].values == [1]


def closed_over(factor):
    return lambda result: factor


class Weighed:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, result):
        return self.factor

    def read(self, result):
        return self.factor


def of_a_model(factor):
    model = ball(mass=factor)
    return lambda result: model.bodies["ball"].mass


@pytest.mark.parametrize(
    "make", [closed_over, of_a_model, Weighed, lambda f: Weighed(f).read, lambda f: partial(lambda r, by: by, by=f)]
)
def test_callables_of_the_same_text_are_not_the_same(tmp_path, make):
    """What a measure is closed over, the object of a method, arguments of a partial: not another's rows."""
    for factor in (1.0, 2.0, 1.0):
        found = im.sweep(ball, {"height": [1.0]}, make(factor), store=tmp_path / "s", workers=0)
        assert found["value"].values == [factor]


SCALE = 1.0


def scaled(height):
    return ball(height * SCALE)


def test_names_of_its_module_are_part_of_a_builder(tmp_path, monkeypatch):
    ask = {"parameters": {"height": [1.0]}, "measure": "max body.ball.position.z", "store": tmp_path / "s"}
    assert im.sweep(scaled, **ask, workers=0)["value"].values == [1.0]
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    assert im.sweep(scaled, **ask, workers=0)["value"].values == [2.0]


def test_a_measure_that_raises_breaks_its_case_alone():
    """The run of its batch is not taken again; neither sys.exit nor a name that is taken ends the sweep."""
    runs = []

    def measure(result):
        z = float(result["position"].values.ravel()[-1])
        runs.append(z)
        if z > 3.0:
            sys.exit(3)
        return {"height" if z > 2.0 else "done" if z > 1.0 else "z": z}

    found = im.sweep(ball, {"height": [1.0, 2.0, 3.0, 4.0]}, measure, workers=0)
    assert len(runs) == 4
    assert found["z"].values[0] == pytest.approx(1.0 - G * 0.4**2 / 2)
    told = ["", "which results have for themselves", "is a parameter", "SystemExit"]
    assert all(text in error for text, error in zip(told, found["error"].values, strict=True))
    assert found["height"].values.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_another_question_is_another_sweep(tmp_path):
    """The key is of model, parameters, measures and options; a batch of another size is no other question."""
    asked = {"parameters": {"height": [1.0, 2.0]}, "measure": "final body.ball.position.z", "workers": 0}
    keys = [
        im.sweep(ball, **(asked | other), store=tmp_path / "s").attrs["key"]
        for other in ({}, {"batch": 1}, {"measure": "min body.ball.position.z"}, {"parameters": {"height": [1.0, 3.0]}},
                      {"rtol": 1e-9}, {"duration": 0.2})
    ]  # fmt: skip
    assert keys[0] == keys[1] and len(set(keys)) == 5
    with pytest.raises(im.ModelError, match="5 sweeps, expected one"):
        scale.open_sweep(tmp_path / "s")
    assert scale.open_sweep(tmp_path / "s", keys[2][:8]).attrs["key"] == keys[2]
    with pytest.raises(im.ModelError, match="no store"):
        scale.open_sweep(tmp_path / "elsewhere")


# executors ----------------------------------------------------------------------------------------


def test_any_executor_gives_the_same():
    asked = {"parameters": {"height": np.linspace(1, 3, 6)}, "measure": "final body.ball.position.z", "batch": 2}
    with ThreadPoolExecutor(1) as executor:
        found = im.sweep(ball, **asked, executor=executor)
    assert np.array_equal(found["value"].values, im.sweep(ball, **asked, workers=0)["value"].values)


class Dying(Executor):
    """A pool that breaks, as one of processes does, whenever a case is in it that kills, or by chance."""

    _max_workers = 2
    made = 0
    chance = np.random.default_rng(0)

    def __init__(self, killing: float, random: float):
        self.killing, self.random, self.is_broken = killing, random, False
        Dying.made += 1

    def submit(self, function, data, values):
        if self.is_broken:
            raise BrokenProcessPool("a worker died")
        future: Future = Future()
        if self.killing in values or self.chance.random() < self.random:
            self.is_broken = True
            future.set_exception(BrokenProcessPool("a worker died"))
        else:
            future.set_result(function(data, values))
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        pass


def test_cases_of_dead_workers_are_run_again(monkeypatch):
    """Workers that die by chance cost time only; a case that kills them is a row that says so, and no other is."""
    asked = {"parameters": {"height": np.linspace(1, 2, 24)}, "measure": "final body.ball.position.z", "batch": 8}
    clean = im.sweep(ball, **asked, workers=0)["value"].values
    Dying.made = 0
    monkeypatch.setattr(driver, "local_processes", lambda workers: Dying(math.nan, 0.3))
    assert np.array_equal(im.sweep(ball, **asked)["value"].values, clean)
    assert Dying.made > 1
    killer = float(np.linspace(1, 2, 24)[13])
    monkeypatch.setattr(driver, "local_processes", lambda workers: Dying(killer, 0.0))
    found = im.sweep(ball, **asked)
    assert np.flatnonzero(found["error"].values != "").tolist() == [13]
    assert "worker died" in found["error"].values[13]
    assert np.array_equal(np.delete(found["value"].values, 13), np.delete(clean, 13))


def test_a_scheduler_elsewhere_has_to_be_encrypted():
    for good in ("tls://10.0.0.3:8786", "tcp://127.0.0.1:8786", "localhost:8786", "tcp://[::1]:8786"):
        _check_scheduler(good)
    for bad in ("tcp://10.0.0.3:8786", "head-node:8786", "ws://10.0.0.3"):
        with pytest.raises(im.ModelError, match="not encrypted"):
            _check_scheduler(bad)


# the command --------------------------------------------------------------------------------------

FILE = """
[model]
scene = "four-bar"
set = { angle_deg = 50.0 }
[parameters]
"crank.length" = [0.09, 0.11]
[design]
kind = "latin"
samples = 5
[measures]
reach = "max body.rocker.position.x"
slowest = { event = "joint.O.velocity", direction = 1 }
[run]
duration = 0.05
batch = 2
rtol = 1e-6
"""


def test_the_command(tmp_path, capsys):
    file = tmp_path / "bars.toml"
    file.write_text(FILE)
    assert main(["sweep", str(file), "--workers", "0", "--json"]) == 0
    told = capsys.readouterr().out
    assert '"cases": 5, "broke": 0' in told
    found = scale.open_sweep(tmp_path / "bars.zarr")
    assert found.sizes["case"] == 5 and found["reach"].notnull().all() and "slowest" in found
    model = im.scene("four-bar", angle_deg=50.0)
    file.write_text(FILE.replace('"crank.length"', "crank.length"))  # to TOML a table in a table: the same sweep
    assert main(["sweep", str(file), "--workers", "0", "--json"]) == 0 and capsys.readouterr().out == told
    parameters = {"crank.length": (0.09, 0.11)}
    same = im.sweep(model, parameters, "max body.rocker.position.x", design="latin", samples=5, duration=0.05,
                    rtol=1e-6, workers=0)  # fmt: skip
    assert np.array_equal(found["reach"].values, same["value"].values)


@pytest.mark.parametrize(
    "was, given, told",
    [
        ('scene = "four-bar"', 'scene = "four-bars"', "four-bar"),
        ("[design]", "[desing]", "design"),
        ('kind = "latin"', 'kint = "latin"', "kind"),
        ("rtol = 1e-6", "rtolerance = 1e-6", "rtol"),
        ('"max body', '"maximum body', "expected how"),
        ("direction = 1 }", "way = 1 }", "direction"),
        ("[parameters]", "[[parameters]]", "missing or empty"),
        ("samples = 5", "samples = ", "no TOML"),
        ("set = {", "set = 3 # {", "expected a table"),
        ("rtol = 1e-6", "workers = 'two'", "expected an integer"),
        ("rtol = 1e-6", "store = 3", "expected the name of a file"),
    ],
)
def test_mistakes_in_a_file_are_named(tmp_path, capsys, was, given, told):
    file = tmp_path / "bars.toml"
    assert was in FILE
    file.write_text(FILE.replace(was, given))
    assert main(["sweep", str(file)]) == 2
    assert told in capsys.readouterr().err
