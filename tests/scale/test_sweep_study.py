"""Sweeps of four-bars on processes, Dask and MPI, and under fire: the same bytes.

IMPULSAR_SWEEP_CASES says how many cases there are, 10,000 by default.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import scale

CASES = int(os.environ.get("IMPULSAR_SWEEP_CASES", "10000"))
KILLS = 20
POISON = 7  # the case whose lengths do not close

pytestmark = pytest.mark.study


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A file of a sweep of four-bars with a case that cannot be built, and its store by two processes."""
    rng = np.random.default_rng(3)
    lengths = np.array([0.1, 0.25, 0.2]) * (1 + 0.1 * (rng.random((CASES, 3)) - 0.5))
    lengths[POISON] = 0.1, 0.9, 0.2
    names = ("crank.length", "coupler.length", "rocker.length")
    lines = ["[model]", 'scene = "four-bar"', "[parameters]"]
    lines += [f'"{name}" = {own.tolist()}' for name, own in zip(names, lengths.T, strict=True)]
    lines += ["[design]", 'kind = "cases"', "[measures]", 'reach = "max body.rocker.position.x"']
    lines += ['speed = "rms joint.O.velocity"', 'books = "max energy.imbalance"', "[run]", "duration = 0.1"]
    lines += [f"batch = {max(8, min(64, CASES // 16))}"]
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "bars.toml").write_text("\n".join(lines))
    began = time.perf_counter()
    assert finish(start(folder, "undisturbed", "--workers", "2")) == 1  # a case broke
    (folder / "seconds").write_text(str(time.perf_counter() - began))
    return folder


def start(folder: Path, store: str, *arguments: str, before: tuple[str, ...] = (sys.executable,)) -> subprocess.Popen:
    command = [*before, "-m", "impulsar", "sweep", "bars.toml", "--store", store, *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)


def finish(process: subprocess.Popen) -> int:
    return process.wait(3600)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_case_is_a_row(folder):
    """Of lengths that differ by 5 %, all close but the poison; books are right to the tolerance."""
    found = scale.open_sweep(folder / "undisturbed")
    assert found.sizes["case"] == CASES and (found["done"].values == 1).all()
    assert np.flatnonzero(found["error"].values != "").tolist() == [POISON]
    assert "stay open" in found["error"].values[POISON] and np.isnan(found["reach"].values[POISON])
    good = np.arange(CASES) != POISON
    assert np.isfinite(found["reach"].values[good]).all() and len(np.unique(found["reach"].values[good])) == CASES - 1
    assert found["books"].values[good].max() < 1e-6


def test_dask_gives_the_same_bytes(folder):
    assert finish(start(folder, "dask", "--executor", "dask", "--workers", "2")) == 1
    assert files(folder / "dask") == files(folder / "undisturbed")


def test_mpi_gives_the_same_bytes(folder, monkeypatch):
    mpiexec = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    assert mpiexec is not None
    ranks = (mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures")
    allowed = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # fmt: skip
    for name, value in allowed.items():
        monkeypatch.setenv(name, value)
    assert finish(start(folder, "mpi", "--executor", "mpi", before=ranks)) != 0  # 1, which mpiexec may make another of
    assert files(folder / "mpi") == files(folder / "undisturbed")


def test_killed_at_random_it_ends_with_the_same_bytes(folder):
    """kill -9 of workers and of the client, 20 times; started again each time, the store is that of an undisturbed
    sweep."""
    import psutil

    rng = np.random.default_rng(5)
    usual = float((folder / "seconds").read_text())
    client, kills, of_client = start(folder, "fire", "--workers", "2"), 0, 0
    while kills < KILLS:
        time.sleep(rng.uniform(0.05, 0.6) * usual)
        if client.poll() is not None:  # done, or killed before
            if client.returncode == 1:
                shutil.rmtree(folder / "fire")  # it was through: begin again, there are kills left
            client = start(folder, "fire", "--workers", "2")
            continue
        own = psutil.Process(client.pid)
        workers = [child for child in own.children() if "spawn_main" in " ".join(child.cmdline())]
        if workers and rng.random() < 0.7:
            workers[rng.integers(len(workers))].kill()
        else:
            client.kill()
            client.wait()
            of_client += 1
        kills += 1
    if client.poll() is None:
        finish(client)
    assert finish(start(folder, "fire", "--workers", "2")) == 1
    assert of_client > 0
    assert files(folder / "fire") == files(folder / "undisturbed")


@pytest.mark.timed
def test_two_workers_are_almost_twice_as_fast():
    """Throughput of two processes over that of one, both warm, alternating."""
    model, lengths = im.scene("four-bar"), {"crank.length": np.linspace(0.09, 0.11, 2048)}

    def seconds(pool) -> float:
        began = time.perf_counter()
        im.sweep(model, lengths, "max body.rocker.position.x", executor=pool, duration=0.5)
        return time.perf_counter() - began

    with scale.local_processes(1) as one, scale.local_processes(2) as two:
        for pool in (one, two):
            im.sweep(model, {"crank.length": np.linspace(0.09, 0.11, 256)}, "max body.rocker.position.x", executor=pool,
                     duration=0.01)  # fmt: skip
        ratios = [seconds(one) / seconds(two) for _ in range(3)]
    assert np.median(ratios) > 1.8, ratios
