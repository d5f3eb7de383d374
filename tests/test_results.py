"""Results of runs: what is sampled when, its names and units, files and plots."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from matplotlib.image import imread

import impulsar as im
from impulsar import results
from impulsar.cli import main
from impulsar.render import draw_motion
from impulsar.results import VARIABLES, literally, new_figure, plot

G = 9.81


def hanging_pair() -> im.Model:
    """Two rods hung one below the other, the lower one authored first; a motor at the top."""
    model = im.Model("pair")
    low = model.body("low", 0.1, (2e-5, 2e-5, 1e-6), position=(0, 0, -0.15))
    top = model.body("top", 0.1, (2e-5, 2e-5, 1e-6), position=(0, 0, -0.05))
    drive = im.Motor(position=im.Harmonic(0.3, 20.0))
    model.joint("pivot", "revolute", model.ground, top, at=(0, 0, 0), axis=(0, 1, 0), motor=drive)
    model.joint("elbow", "revolute", top, low, at=(0, 0, -0.1), axis=(1, 0, 0), viscous=1e-4)
    model.probe("tip", low, at=(0, 0, -0.2))
    model.probe("mark", model.ground, at=(1, 2, 3))
    model.reference_energy = 0.5
    return model


def falling_body() -> im.Model:
    model = im.Model("stone")
    model.body("stone", 2.0, (1.0, 1.0, 1.0))
    return model


def test_samples_are_what_the_world_reads() -> None:
    """Every variable, at the last sample, is what the world's own views say, in the author's order."""
    world = im.World(hanging_pair(), dt=0.001)
    world.grab("low", at=(0, 0, -0.05), name="left").move((0.05, 0.02, -0.18))
    result = world.run(0.1, every=0.01)
    end = result.isel(time=-1)
    assert list(result["body"].values) == ["low", "top"]
    for name in ("low", "top"):
        body = world.body(name)
        for what in ("position", "orientation", "velocity", "angular_velocity", "acceleration"):
            np.testing.assert_array_equal(end[what].sel(body=name), getattr(body, what))
    for name in ("pivot", "elbow"):
        joint = world.joint(name)
        assert float(end["joint_position"].sel(coordinate=name)) == joint.position
        assert float(end["joint_velocity"].sel(coordinate=name)) == joint.velocity
        assert float(end["motor_torque"].sel(coordinate=name)) == joint.motor_torque
    np.testing.assert_allclose(end["probe"].sel(name="tip"), world.point("low", (0, 0, -0.05)), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(end["probe"].sel(name="mark"), (1, 2, 3))
    np.testing.assert_array_equal(end["hand_force"].sel(hand="left"), world.hand_forces()["left"])
    assert float(end["constraint_error"]) == world.constraint_error()
    books = world.energy()
    assert float(end["motor_torque"].sel(coordinate="pivot")) != 0
    expected = {"kinetic": books.kinetic, "potential": books.potential, "elastic": books.elastic,
                "work": sum(books.work.values()), "loss": sum(books.losses.values()),
                "imbalance": books.imbalance}  # fmt: skip
    found = {str(kind): float(end["energy"].sel(kind=kind)) for kind in result["kind"].values}
    scale = sum(map(abs, expected.values()))  # sums in another order
    assert found == pytest.approx(expected, rel=0, abs=4e-16 * scale)
    assert 0 not in (expected["work"], expected["loss"])


def test_names_units_and_attributes() -> None:
    """Each variable has its dimensions, units and a long name; the dataset says what made it."""
    model = hanging_pair()
    cart = model.body("cart", 1.0, (1e-3, 1e-3, 1e-3), position=(0, 0, 1))
    model.joint("rail", "prismatic", model.ground, cart, at=(0, 0, 1), axis=(1, 0, 0))
    model.distance("reach", model.ground, cart, at_a=(0, 0, 0), at_b=(0, 0, 1))
    model.angle("tilt", model.ground, cart, from_a=(0, 0, 0), to_a=(0, 0, 1), from_b=(0, 0, 1), to_b=(1, 0, 1))
    model.sensor("count", im.sensors.Encoder("rail"))
    world = im.World(model, dt=0.001)
    world.grab("low")
    result = world.run(0.01)
    assert set(result.data_vars) == set(VARIABLES)
    for name, (dimensions, _, _) in VARIABLES.items():
        assert result[name].dims == ("time", *dimensions)
        assert result[name].attrs["units"] and result[name].attrs["long_name"]
    assert result["time"].attrs["units"] == "s"
    units = dict(zip(result["coordinate"].values, result["unit"].values, strict=True))
    assert units == {"pivot": "rad", "elbow": "rad", "rail": "m"}
    assert result["joint_velocity"].attrs["units"] == "rad/s, m/s"
    attributes = {"model": "pair", "method": "direct", "dt": 0.001, "reference_energy": 0.5}
    assert result.attrs == attributes | {"impulsar_version": im.__version__}


def test_times_of_samples() -> None:
    """At the start, after each `every`, and at the end; a second run goes on where the first ended."""
    world = im.World(falling_body(), dt=0.1)
    assert list(world.run(1.0, every=0.3)["time"].values) == [0.0, 0.3, 0.6, 0.9, 1.0]
    assert list(world.run(0.3)["time"].values) == [1.0, 1.1, 1.2, 1.3]


def test_step_shortened_on_the_way() -> None:
    """A script that halves the step doubles the samples and keeps the times right."""
    model = falling_body()
    model.at(0.2, im.SetStep(0.05))
    result = im.World(model, dt=0.1).run(0.4)
    np.testing.assert_allclose(result["time"], [0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4], rtol=0, atol=1e-12)


def test_iterations_are_those_since_the_last_sample() -> None:
    """Sums over samples agree, however often one samples."""
    often, seldom = (im.World(hanging_pair(), dt=0.001).run(0.02, every=every) for every in (0.001, 0.01))
    assert int(often["iterations"][0]) == 0
    assert int(often["iterations"].sum()) == int(seldom["iterations"].sum()) > 0


def test_hands_come_and_go() -> None:
    """A hand of the script is named; its force is NaN before it takes hold and after it lets go."""
    model = hanging_pair()
    model.at(0.01, im.Grab("late", "low"))
    model.at(0.02, im.Release("late"))
    result = im.World(model, dt=0.001).run(0.03)
    held = result["hand_force"].sel(hand="late").notnull().all("axis")
    times = result["time"].values
    np.testing.assert_array_equal(held, (times > 0.0105) & (times < 0.0205))


def test_batch_has_world_first() -> None:
    """Each world falls by its own gravity: semi-implicit Euler gives z = -g h² n (n + 1) / 2."""
    gravity = np.array([1.0, 2.0, 5.0])
    world = im.World(falling_body(), method="simgc", dt=0.01, worlds=3)
    world.set("model.gravity", np.outer(gravity, (0, 0, -1)))
    result = world.run(0.1)
    assert result["position"].dims == ("world", "time", "body", "axis")
    assert result["iterations"].dims == ("world", "time")
    n = np.arange(11)
    expected = -np.outer(gravity, 0.01**2 * n * (n + 1) / 2)
    np.testing.assert_allclose(result["position"].sel(body="stone", axis="z"), expected, rtol=1e-12, atol=1e-15)


def test_saved_and_loaded_is_identical(tmp_path: Path) -> None:
    """A NetCDF file gives back every bit, name and attribute, NaN among them."""
    model = hanging_pair()
    model.at(0.005, im.Grab("late", "low"))
    result = im.World(model, dt=0.001).run(0.01)
    results.save(result, tmp_path / "new folder" / "x.nc")
    again = results.load(tmp_path / "new folder" / "x.nc")
    xr.testing.assert_identical(again, result)
    assert again["body"].dtype == result["body"].dtype


@pytest.mark.parametrize(
    ("duration", "every", "says"),
    [
        (1.0, 0.015, "not a whole multiple of dt = 0.01 s; give 0.02"),
        (1.0, 0.001, "give 0.01"),
        (1.0, -1, "every is -1"),
        (-1.0, None, "duration is -1"),
        (0.001, None, "less than a step of 0.01 s"),
    ],
)
def test_wrong_times_are_refused(duration: float, every: float | None, says: str) -> None:
    world = im.World(falling_body(), dt=0.01)
    with pytest.raises(im.ModelError, match=says):
        world.run(duration, every)
    assert world.time == 0


def test_ctrl_c_keeps_what_was_computed() -> None:
    """An interrupt at t = 0.05 leaves the samples before it, all of them whole."""

    def force(time: float) -> tuple[float, float, float]:
        if time > 0.05:
            raise KeyboardInterrupt
        return (0.0, 0.0, 2.0 * G)  # holds the stone

    model = falling_body()
    model.load("lift", "stone", force=force)
    result = im.World(model, dt=0.001).run(1.0)
    assert result.attrs["interrupted"] == 1
    assert 1 <= result.sizes["time"] <= 51
    assert np.abs(result["position"]).max() < 1e-12


def test_broken_state_keeps_what_was_computed() -> None:
    """A force that overflows the energy at t = 0.05 ends the run there, with a warning."""
    model = falling_body()
    model.load("bang", "stone", force=im.Table((0.0, 0.05, 0.051), ((0, 0, 0), (0, 0, 0), (1e20, 0, 0))))
    world = im.World(model, dt=0.01)
    values = world.system.arrays.table_value.numpy()
    values[values == 1e20] = 1e300  # more than an author may give
    with pytest.warns(UserWarning, match="no longer finite"):
        result = world.run(1.0)
    assert result.attrs["broken_at"] == pytest.approx(0.06)
    assert float(result["time"][-1]) == 0.05
    assert all(np.isfinite(result[name]).all() for name in ("position", "energy"))


def test_strict_world_still_raises() -> None:
    """A limit that ends a step is no broken state: a strict world raises, as it was asked to."""
    model = hanging_pair()
    world = im.World(model, im.Simgc(iterations=1, epsilon=0.0), dt=0.001, strict=True)
    with pytest.raises(im.StepError, match="limit"):
        world.run(0.1)


def test_progress_bar(capfd: pytest.CaptureFixture[str]) -> None:
    """Shown when asked for, on standard error; not where there is no terminal."""
    world = im.World(falling_body(), dt=0.01)
    world.run(0.1)
    assert capfd.readouterr() == ("", "")
    world.run(0.1, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "0.10 of 0.10 s" in err and "× real time" in err


def test_plot(tmp_path: Path) -> None:
    """A picture file of every kind of result; another ending is refused with the ones known."""
    for name, worlds, model in (("pair", 1, hanging_pair()), ("stone", 2, falling_body())):
        result = im.World(model, dt=0.001, worlds=worlds).run(0.02)
        results.plot(result, tmp_path / f"{name}.png")
        rgb = imread(tmp_path / f"{name}.png")[..., :3]
        assert 0.0005 < (np.ptp(rgb, axis=-1) > 0.2).mean() < 0.2  # curves; axes alone have no colour
    with pytest.raises(im.ModelError, match=r"formats are: .*png"):
        results.plot(result, tmp_path / "x.xyz")


def test_imbalance_is_drawn_in_per_cent() -> None:
    """The curve is 100 · imbalance / reference, and the axis says so."""
    result = im.World(hanging_pair(), dt=0.001).run(0.02)
    ax = results.new_figure(4, 3).subplots()
    results.draw_imbalance(ax, result)
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), 200 * result["energy"].sel(kind="imbalance"))
    assert ax.get_ylabel() == "imbalance [% of 0.5 J]"


def test_import_loads_no_plotting_or_tables() -> None:
    """xarray, matplotlib and rich are loaded when first needed."""
    probe = "import sys, impulsar, impulsar.results, impulsar.render, impulsar.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout.split()
    assert not {"xarray", "matplotlib", "rich"} & set(loaded)


FULL = """
import resource, sys
import impulsar as im
from impulsar import results
from impulsar.io import FileError

world = im.World(im.scene("four-bar"))
found = world.run(0.5, progress=False)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for write in (results.save, results.plot):
    try:
        write(found, sys.argv[1] if write is results.save else sys.argv[2])
    except FileError as error:
        print(error)
try:
    im.save_model(im.scene("chain", n=500), sys.argv[3])
except FileError as error:
    print(error)
"""


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    """A limit of 100 kB stands for a full disk: told in words, no signal at the end, nothing half written."""
    old = {name: f"old {name}".encode() for name in ("a.nc", "a.png", "a.json")}
    for name, data in old.items():
        (tmp_path / name).write_bytes(data)
    paths = [str(tmp_path / name) for name in old]
    done = subprocess.run([sys.executable, "-c", FULL, *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert len(told) == 3
    for line, path in zip(told, paths, strict=True):
        assert line.startswith(f"'{path}': cannot be written: File too large; what was there is as it was")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == old


def test_the_command_tells_a_full_disk_in_one_line(tmp_path: Path, monkeypatch, capsys) -> None:
    """After the run: the summary is printed all the same, the exit status is 2, the old file is as it was."""

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "a.nc"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    assert main(["run", "four-bar", "--duration", "0.1", "--out", str(path)]) == 2
    told = capsys.readouterr()
    assert "No space left" in told.err and told.err.count("\n") == 1
    assert "worst imbalance" in told.out
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"old"]


def test_a_file_is_written_through_a_link_and_to_what_is_no_file(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    link.symlink_to(target)
    im.save_model(im.scene("four-bar"), link)
    assert link.is_symlink() and target.is_file()
    im.save_model(im.scene("four-bar"), os.devnull)
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("name", ["$", "$$", "a$b$c", r"$\foo$", r"\$x$", r"$\frac{$", "{$^_&%#~}"])
def test_a_dollar_in_a_name_is_no_formula(tmp_path: Path, name: str) -> None:
    """Every name that a model may have can be drawn, and is drawn as it is."""
    model = im.Model(name)
    body = model.body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.joint(f"{name} joint", "revolute", model.ground, body, at=(0, 0, 1), axis=(0, 1, 0))
    model.probe(f"{name} probe", body, at=(0, 0, 0))
    world = im.World(model)
    found = world.run(0.05, progress=False)
    plot(found, tmp_path / "plot.png")
    draw_motion(model, found, tmp_path / "motion.png")
    assert world.snapshot_png()
    ax = new_figure(4.0, 3.0).subplots()
    ax.set_title(literally(name))
    prepared, is_formula = ax.title._preprocess_math(ax.title.get_text())
    assert (prepared, is_formula) == (name, False)


def test_every_quantity_of_results_can_be_asked_for_by_name() -> None:
    """Each variable alone, by its own name, is what a run of all has."""
    usual = im.World(hanging_pair()).run(0.02)
    for name in usual.data_vars:
        alone = im.World(hanging_pair()).run(0.02, variables=[name, name])
        assert list(alone.data_vars) == [name]
        np.testing.assert_array_equal(alone[name], usual[name])
