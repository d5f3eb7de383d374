"""What a user gets from `pip install impulsar`: a wheel that runs alone, and a fast, lean import."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import venv
from pathlib import Path

import pytest
import xarray as xr

ROOT = Path(__file__).resolve().parents[1]

# Packages that only the studio, AR, the cluster, pictures or the benchmarks need.
HEAVY = ("starlette", "uvicorn", "cv2", "mpi4py", "matplotlib", "mujoco")

IMPORT_PROBE = f"""
import json, sys, time
start = time.perf_counter()
import impulsar
seconds = time.perf_counter() - start
heavy = [name for name in {HEAVY!r} if name in sys.modules]
print(json.dumps({{"seconds": seconds, "heavy": heavy}}))
"""


def outside_environment() -> dict[str, str]:
    """The environment without what would let a process see this checkout's packages."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    return {key: value for key, value in os.environ.items() if key not in hidden}


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, cwd=cwd, env=outside_environment(), capture_output=True, text=True)
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def build_wheel(folder: Path) -> Path:
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT, cwd=folder)
    (wheel,) = folder.glob("impulsar-*.whl")
    return wheel


def install_alone(wheel: Path, folder: Path) -> Path:
    """Install the wheel and its dependencies, nothing else, and return the folder of its programs."""
    uv = shutil.which("uv")
    venv.create(folder, with_pip=uv is None)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    if uv:
        run(uv, "pip", "install", "--quiet", "--python", python, wheel, cwd=folder)
    else:
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=folder)
    return programs


@pytest.mark.slow
def test_wheel_runs_a_scene_on_its_own(tmp_path: Path) -> None:
    """The built wheel, in an environment of its own, runs a scene and saves a NetCDF file."""
    programs = install_alone(build_wheel(tmp_path), tmp_path / "alone")
    scene = ("ten-pendula", "--set", "start=hanging", "--duration", "0.05")
    run(programs / "impulsar", "run", *scene, "--out", "x.nc", cwd=tmp_path)
    with xr.open_dataset(tmp_path / "x.nc") as result:
        assert "position" in result
        assert result.sizes["body"] == 10
        assert float(result["time"][-1]) == pytest.approx(0.05)


@pytest.mark.timed
def test_import_is_fast_and_lean(tmp_path: Path) -> None:
    """`import impulsar` takes less than a second (median of three) and loads no heavy package."""
    probes = [json.loads(run(sys.executable, "-c", IMPORT_PROBE, cwd=tmp_path).stdout) for _ in range(3)]
    assert [probe["heavy"] for probe in probes] == [[], [], []]
    assert statistics.median(probe["seconds"] for probe in probes) < 1.0
