"""The notebooks of docs/notebooks run as they are, as scripts, and what they print is true."""

import os
import re
import resource
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("[0-9][0-9]_*.py"))
BUDGET = 60.0  # processor time of all, kernels compiled [s]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def run_notebook(number: str) -> dict[str, Any]:
        (path,) = FOLDER.glob(f"{number}_*.py")
        return runpy.run_path(str(path), run_name="__main__")

    return run_notebook


def test_there_are_ten_and_the_gallery_has_them() -> None:
    gallery = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((\d\d_\w+\.py)\)", gallery) == [path.name for path in NOTEBOOKS]
    assert len(NOTEBOOKS) == 10
    for path in NOTEBOOKS:
        cells = re.split(r"^# %%", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert re.match(r" \[markdown\]\n# # \w", cells[1]), f"{path.name} begins with its title"


def test_loops(run) -> None:
    names = run("02")
    assert names["off"] < 1e-10 and abs(names["work"]) < 1e-9 * names["peak"]


def test_friction(run) -> None:
    names = run("03")
    assert names["rest"].position == pytest.approx(0.0625, abs=1e-9)
    assert names["books"].losses["slide friction"] == pytest.approx(2 * 0.1375, abs=1e-9)


def test_edits(run) -> None:
    names = run("05")
    assert names["before"] != names["after"]
    assert names["again"].world.time == pytest.approx(0.25)


def test_many_worlds(run) -> None:
    names = run("07")
    error = np.degrees(abs(names["swing"] - (names["far"] - names["near"])).max())
    assert error < 0.2  # a sample every 3.6° of the crank: the swing's end is missed by (3.6°)²/8 of a turn or so


@pytest.mark.study
def test_all_run_within_their_budget(tmp_path: Path) -> None:
    """Once to have kernels compiled, once to measure."""
    source = FOLDER.parents[1] / "src"
    env = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{os.environ.get('PYTHONPATH', '')}", "MPLBACKEND": "agg"}
    spent = {}
    for path in [*NOTEBOOKS, *NOTEBOOKS]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, str(path)], cwd=tmp_path, env=env, check=True, capture_output=True, timeout=900)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent[path.stem] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert sum(spent.values()) < BUDGET, spent
