"""What other packages add by entry points: a scene, a method and a loader, installed by pip; and what is left out."""

import importlib.metadata
import json
import os
import subprocess
import sys
import warnings
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import impulsar as im
from impulsar.engine.methods import METHODS, Direct, Simgc
from impulsar.engine.methods.base import check_method
from impulsar.io.loaders import LOADERS, Loader, check_loader, load_model, read_model
from impulsar.plugins import PluginWarning, Registry, load_group
from impulsar.scenes import SCENES, Scene, check_scene

PACKAGE = Path(__file__).parent / "thirdparty"
SOURCE = Path(im.__file__).parents[1]


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """The package of tests/thirdparty as pip installs it, and a way to run programs that find it."""
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(target), str(PACKAGE)], check=True, capture_output=True)
    assert list(target.glob("impulsar_playground-*.dist-info/entry_points.txt"))

    def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess:
        paths = [str(SOURCE), str(target), os.environ.get("PYTHONPATH", "")]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}
        return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, cwd=cwd)

    return run


def test_touch_count():
    """A method is one file, and a line of the package's own pyproject."""
    method = (PACKAGE / "playground" / "leading.py").read_text(encoding="utf-8")
    assert "class Leading(Method)" in method and method.count("\n") < 140
    assert (PACKAGE / "pyproject.toml").read_text(encoding="utf-8").count("playground.leading") == 1


def test_importing_impulsar_imports_no_plugin(installed):
    """Entry points are read at a miss or a listing."""
    code = (
        "import sys, impulsar as im\n"
        "im.scene('four-bar'); im.METHODS['simgc']\n"
        "assert 'playground' not in sys.modules\n"
        "assert 'swing' in im.SCENES and 'playground.swing' in sys.modules\n"
    )
    done = installed("-c", code)
    assert done.returncode == 0, done.stderr


def test_scene_and_loader_of_a_package(installed, tmp_path):
    """By name in `impulsar scenes` and `im.scene`, by suffix on the command line."""
    listed = installed("-m", "impulsar", "scenes")
    assert "swing" in listed.stdout and "--set rope=2.0" in listed.stdout and not listed.stderr.strip("\n")
    (tmp_path / "two.csv").write_text("upper, 0.1, 0.2\nlower, 0.3, 0.4\n", encoding="utf-8")
    saved = installed("-m", "impulsar", "scenes", "two.csv", "--save", "two.json", cwd=tmp_path)
    assert saved.returncode == 0, saved.stderr
    data = json.loads((tmp_path / "two.json").read_text(encoding="utf-8"))
    assert [body["name"] for body in data["bodies"]] == ["upper", "lower"]
    (tmp_path / "bad.csv").write_text("upper, 0.1\n", encoding="utf-8")
    refused = installed("-m", "impulsar", "scenes", "bad.csv", "--save", "bad.json", cwd=tmp_path)
    assert refused.returncode == 2
    assert "'bad.csv': cannot be read as .csv: ValueError: line 1 has 2 fields" in refused.stderr
    unknown = installed("-m", "impulsar", "run", "two.xyz", cwd=tmp_path)
    known = ".json, .urdf, .sdf, .xml, .mjcf, .usd, .usda, .usdc, .usdz, .step, .stp, .csv"
    told = f"there is no loader for '.xyz'; known are: {known}"
    assert unknown.returncode == 2 and told in unknown.stderr


METHOD = """
import json, sys
import numpy as np
import impulsar as im
from impulsar.history.replay import replay

def end(method, dt):
    world = im.World(im.scene("swing", rope=1.0), method, dt=dt)
    world.step(round(0.5 / dt))
    return world

exact = end("direct", 0.005).body("board").position
off = [float(np.linalg.norm(end("leading", dt).body("board").position - exact)) for dt in (0.004, 0.002)]

world = im.World(im.scene("swing", rope=1.0), im.METHODS["leading"](lead=0.25), dt=0.004)
history = im.History(world, "leading.journal", hash_steps=20)
history.step(30)
history.apply(im.edits.SetParameter("board.mass", 12.0))
history.apply(im.edits.SetMethod("simgc"))
history.step(10)
history.apply(im.edits.SetMethod("leading", {"lead": 1.0}))
history.step(30)
before = world.state.read("leading.before").copy()
middle = world.snapshot()
world_hash = world.hash()
history.close()
found = replay("leading.journal", verify=True)
again = im.History.open("leading.journal")
same = bool((again.world.state.read("leading.before") == before).all())
budget = im.World(im.scene("swing"), "leading", budget=0.01)
budget.step(3)
try:
    im.World(im.scene("swing"), im.METHODS["leading"](lead=2.0))
    refused = ""
except im.ModelError as error:
    refused = str(error)
print(json.dumps({
    "off": off, "wrong": found.wrong, "checks": found.checks, "hash": found.history.world.hash() == world_hash,
    "same": same, "before": bool(before.any()), "limit": budget.work_limit, "refused": refused,
    "blocks": [name for name in world.state.rows if name.startswith("leading")],
}))
"""


@pytest.mark.slow
def test_method_of_a_package(installed, tmp_path):
    """It converges with order 1, halving its error with the step, keeps its own block over edits, methods and journals,
    and its option is checked; the budget is turned into sweeps."""
    done = installed("-c", METHOD, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    coarse, fine = found["off"]
    assert coarse / fine == pytest.approx(2.0, rel=0.02)
    assert found["checks"] > 0 and not found["wrong"] and found["hash"]
    assert found["blocks"] == ["leading.before"] and found["before"] and found["same"]
    assert 1 <= found["limit"] <= 2000
    assert found["refused"] == "leading: lead is 2.0, expected a number from 0 to 1"
    ran = installed(
        "-m", "impulsar", "run", "swing", "--method", "leading", "--duration", "0.1", "--json", cwd=tmp_path
    )
    assert ran.returncode == 0 and json.loads(ran.stdout)


# what is left out -------------------------------------------------------------------------------------


@pytest.fixture
def entries(monkeypatch):
    """Entry points as if packages had them."""

    def put(group: str, **found: str) -> None:
        points = [EntryPoint(name, value, group) for name, value in found.items()]
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points)

    return put


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("a", "no_such_module:build", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("b", "impulsar.scenes.chain:no_such_thing", "AttributeError"),
        ("c", "impulsar.scenes.chain:__doc__", "expected a function that returns a Model"),
        ("chain", "impulsar.scenes.four_bar:build", "its name is taken by impulsar's own"),
        ("e", "impulsar.scenes.parts:rod", "have no default"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_left_out_with_one_warning(name, value, told, entries):
    """All others, and impulsar's own, are there as ever."""
    entries("impulsar.scenes", **{name: value, "good": "impulsar.scenes.four_bar:build"})
    registry = Registry("impulsar.scenes", {"chain": SCENES["chain"]}, check_scene)
    with pytest.warns(PluginWarning, match=f"impulsar.scenes '{name}' of a package .* is left out: .*{told}") as seen:
        assert list(registry) == ["chain", "good"]
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "missing" not in registry  # said once


def test_of_two_plugins_of_one_name_one_is_taken(entries, monkeypatch):
    points = [EntryPoint("x", f"impulsar.scenes.{file}:build", "impulsar.scenes") for file in ("chain", "four_bar")]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points)
    with pytest.warns(PluginWarning, match="taken by another package's"):
        assert [name for name, _ in load_group("impulsar.scenes", check_scene)] == ["x"]


class NoDataclass:
    name = "none"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"kernel": None}, "has no kernel"),
        ({"most_work": None}, "has no most_work"),
        ({"options": None}, "has no options"),
        ({"order": 0}, "order is 0"),
        ({"coordinates": ("polar",)}, "coordinates are"),
        ({"name": "Wrong"}, "is called 'Wrong'"),
        ({"options": lambda self, limit: {"epsilon": 0.0}}, "has no 'limit'"),
        ({"options": lambda self, limit: {"limit": 1, "magic": 0.0}}, "has magic, which have no place"),
        ({"kernel": property(lambda self: 3)}, "kernel is 3"),
        ({"check": lambda self: int("no")}, "refuses its own defaults"),
        ({"least_work": 10**9}, "least_work and most_work"),
    ],
)
def test_a_method_that_breaks_the_contract_is_refused_with_what_is_missing(changes, told):
    from impulsar.engine.methods import Method

    inherited = {key: getattr(Method, key) for key, value in changes.items() if value is None}
    broken = type("Broken", (Simgc,), {"name": "broken", **changes, **inherited})
    with pytest.raises(TypeError, match=told):
        check_method("broken", broken)


def test_what_is_no_method_is_refused():
    for thing in (3, NoDataclass, lambda: None):
        with pytest.raises(TypeError, match="expected a frozen dataclass of options"):
            check_method("none", thing)
    assert check_method("direct", Direct) is Direct
    with pytest.raises(im.ModelError, match="expected one of direct"):
        im.World(im.scene("four-bar"), NoDataclass())


def test_own_options_have_places_of_their_own():
    from impulsar.engine.methods import own_options
    from impulsar.engine.options import SHARED, Option

    own = own_options("gain", "mix")
    assert (own.gain, own.mix) == (len(SHARED), len(SHARED) + 1) and own.limit == Option.limit
    with pytest.raises(ValueError, match="limit are taken"):
        own_options("limit")
    with pytest.raises(ValueError, match="there is room for"):
        own_options(*(f"x{k}" for k in range(40)))


def test_a_program_adds_its_own(monkeypatch):
    """A scene, a method or a loader put in by name is checked as a plug-in's is."""
    monkeypatch.setitem(SCENES, "mine", Scene("mine", SCENES["four-bar"].build))
    assert im.scene("mine").name == "four-bar"
    with pytest.raises(TypeError, match="expected a frozen dataclass"):
        METHODS["mine"] = 3  # type: ignore[assignment]


def test_loaders(tmp_path, monkeypatch):
    """By suffix in any letters; a file that is too large, and what is no Model, are refused in words."""
    model = im.scene("four-bar")
    monkeypatch.setitem(LOADERS, "four", Loader(".four", lambda data, folder: model, largest=3))
    monkeypatch.setitem(LOADERS, "none", Loader(".none", lambda data, folder: None))
    for name, text in (("a.FOUR", "abc"), ("b.four", "abcd"), ("c.none", "")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert load_model(tmp_path / "a.FOUR") is model and read_model("x.four", b"abc") is model
    for call in (lambda: load_model(tmp_path / "b.four"), lambda: read_model("b.four", b"abcd")):
        with pytest.raises(im.io.FileError, match="has more than 3 bytes"):
            call()
    with pytest.raises(im.io.FileError, match="its loader gave None, expected a Model"):
        load_model(tmp_path / "c.none")
    for wrong in (3, Loader(".other", print), "read"):
        with pytest.raises(TypeError):
            check_loader("four", wrong)
