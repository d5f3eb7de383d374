"""One large world over the ranks of a job, beside one rank; started for real by mpiexec."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from impulsar.cli import main
from impulsar.scale.domains.command import for_mpiexec
from impulsar.scale.domains.partition import Curve, morton

pytest.importorskip("mpi4py")
pytest.importorskip("pymetis")
MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="no mpiexec")
JOB = str(Path(__file__).with_name("domains_job.py"))
MOST = 600.0  # seconds of a job on a busy machine


def ranks(n, *command, **options):
    environment = os.environ | for_mpiexec()
    return subprocess.Popen(
        [str(MPIEXEC), "-n", str(n), sys.executable, *command],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def figures(n, sizes, *checks):
    job = ranks(n, "-m", "mpi4py", JOB, json.dumps(sizes), *checks)  # a rank that fails ends them all
    try:
        out, err = job.communicate(timeout=MOST)
    finally:
        job.kill()
    assert job.returncode == 0, err
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def test_morton_keys_are_bits_in_turns():
    """Of the cell (x, y, z) bit 3 k + axis is bit k of the number in that axis, counted from the middle."""
    rng = np.random.default_rng(0)
    cells = rng.integers(-(2**20), 2**20, (50, 3))
    for cell, key in zip(cells + 2**20, morton(cells), strict=True):
        assert int(key) == sum(((int(cell[axis]) >> k) & 1) << (3 * k + axis) for k in range(21) for axis in range(3))


def test_a_place_has_one_owner():
    """Pieces of the curve are ranges of keys: each key is of one of them, and the first belongs to the upper."""
    curve = Curve(1.0, morton(np.array([[0, 0, 0], [4, 0, 0]])))
    assert curve.owner(np.array([[-1.0, 3.0, 2.0], [0.5, 0.5, 0.5], [3.9, 0.0, 0.0], [4.0, 0.0, 0.0]])).tolist() == [
        0,
        1,
        1,
        2,
    ]


def test_domains_beside_one_rank():
    """Joints by the Schur complement are one rank's solve in another order: rounding apart (issue's bound: 1e-10),
    though three loops have redundant rows, and each rod of a net is there twice; so are bodies in fluids, and the
    books. One rank has its very bits."""
    checks = ("chain", "tree", "loops", "net", "doubled net", "wet pair", "settling")
    found = figures(4, [1, 2, 3, 4], *checks)
    assert len(found) == 4 * len(checks)
    for one in found:
        assert one["apart"] < (1e-11 if one["size"] > 1 else 1e-300), one
        assert one["momentum"] < 1e-12
        assert one["energy"] < 1e-11
        assert one["books"] < 1e-11
        assert one["gap"] < 1e-9
        assert one["residual"] < 1e-12
        assert one["moved"] > 1e-5


def test_what_acts_across_borders():
    """Motors, limits, friction, springs and loads, some of them of cut joints: both ranks follow the same laws from the
    same states, so that only the order of sums differs from one rank; on to the same bits after a checkpoint."""
    found = figures(4, [1, 2, 4], "acting") + figures(3, [3], "acting wet", "acting resumed")
    assert found.pop()["other_bits"] == 0
    for one in found:
        assert one["apart"] < (1e-11 if one["size"] > 1 else 1e-300), one
        assert one["momentum"] < 1e-12
        assert one["books"] < 1e-11
        assert one["moved"] > 1e-4


def test_a_rank_without_bodies():
    """Bodies that fly off leave ranks with none of them, nor a copy: x = x₀ + v t all the same."""
    for one in figures(3, [3], "balls fly off", "boxes fly off"):
        assert one["apart"] < 1e-12, one
        assert one["check"] != "balls fly off" or one["fewest"] == 0


def test_a_rank_that_fails_alone_ends_the_job():
    """Its error is told, and nobody waits for it: it does not go back to where the steps began, which takes all."""
    script = (
        "from mpi4py import MPI; import impulsar as im; from impulsar.scale.large import spheres\n"
        "world = im.DomainWorld(spheres(40), dt=1 / 240)\n"
        "def fail(h): raise MemoryError('no room on this rank')\n"
        "if MPI.COMM_WORLD.Get_rank() == 1: world.contacts.find = fail\n"
        "world.step(5)\n"
    )
    job = ranks(2, "-m", "mpi4py", "-c", script)
    try:
        _, err = job.communicate(timeout=MOST)
    finally:
        job.kill()
    assert job.returncode != 0
    assert "no room on this rank" in err


def test_collisions_across_borders():
    """Contacts push both ways, of balls and of boxes: momentum stays, and all bodies are there when some have moved."""
    for one in figures(4, [1, 2, 4], "collision", "boxes collide"):
        assert one["momentum"] < 1e-14
        assert one["all_there"]
        assert (one["went"] > 0) == (one["size"] > 1)


def test_machines_among_what_touches():
    """Mechanisms stay whole, on one rank each, and touch what is on others: joints hold, a motor moves the conveyor at
    0.5 m/s. Sweeps are few, so what slides is not where one rank has it to rounding; one rank has its very bits."""
    for one in figures(3, [1, 2, 3], "conveyor", "hopper"):
        assert one["joints"] == one["of"]
        assert one["unsettled"] == 0
        assert one["gap"] < 1e-9
        assert one["rate"] < 1e-6
        assert one["size"] > 1 or one["apart"] == 0.0
        assert one["overlap"] < 2.0 * max(one["overlap_alone"], 1e-5)
        assert (one["moved_on"] > 0) == (one["size"] > 1)
        if one["check"] == "conveyor":
            assert abs(one["first"] - 0.5) < 1e-9


def test_what_touches_goes_on_to_the_same_bits():
    """Shapes with the impulses of their points, and a motor's law: a checkpoint has all that the next step needs."""
    for one in figures(3, [3], "boxes resumed", "hopper resumed"):
        assert one["other_bits"] == 0
        assert one["moved_on"] > 0


def run_chain(folder, out, *more):
    given = ["--set", "n=120", "--dt", "2e-4", "--duration", "0.04", "--checkpoint-every", "0.004"]
    return ranks(2, "-m", "impulsar", "run", "chain", "--domains", *given, "--checkpoint", folder, "--out", out, *more)


def kill_one(job, folder, step):
    """kill -9 of the second rank, once a checkpoint is full."""
    import psutil

    began = time.monotonic()
    while not list(folder.glob("step-*/full.json")):
        assert job.poll() is None, job.communicate()
        assert time.monotonic() - began < MOST
        time.sleep(0.02)
    workers = [one for one in psutil.Process(job.pid).children(recursive=True) if "--domains" in one.cmdline()]
    workers = [one for one in workers if "mpiexec" not in one.cmdline()[0] and "prterun" not in one.cmdline()[0]]
    os.kill(workers[step % len(workers)].pid, signal.SIGKILL)


def test_a_killed_rank_is_told_and_the_job_goes_on(tmp_path):
    """After kill -9 of a rank: a message, a status that is not 0; resumed, it ends with the bits of a whole run."""
    job = run_chain(tmp_path / "whole", tmp_path / "whole.nc")
    out, err = job.communicate(timeout=MOST)
    assert job.returncode == 0, err
    assert "chain of 120: 0.04 s in 200 steps over 2 ranks" in out
    job = run_chain(tmp_path / "killed", tmp_path / "killed.nc")
    kill_one(job, tmp_path / "killed", 1)
    _, err = job.communicate(timeout=MOST)
    assert job.returncode != 0
    assert "a rank has died, or the job was ended; the last full checkpoint is 'step-" in err
    assert not (tmp_path / "killed.nc").exists()
    job = run_chain(tmp_path / "killed", tmp_path / "killed.nc", "--resume")
    _, err = job.communicate(timeout=MOST)
    assert job.returncode == 0, err
    assert "goes on from 0.0" in err
    assert (tmp_path / "killed.nc").read_bytes() == (tmp_path / "whole.nc").read_bytes()


def test_a_damaged_checkpoint_is_told(tmp_path):
    """A bit of a rank's file, the flag cut off, another number of ranks: by name, with the status of bad input."""

    def run(size, *more):
        given = ("run", "chain", "--set", "n=8", "--domains", "--duration", "0.004", "--checkpoint", str(tmp_path))
        job = ranks(size, "-m", "impulsar", *given, *more)
        return job.communicate(timeout=MOST)[1], job.returncode

    assert run(1)[1] == 0
    place = sorted(tmp_path.glob("step-*"))[-1]
    assert "is of 1 ranks, this job has 2" in run(2, "--resume")[0]
    for name, damaged in (("rank-00000.npz", flipped), ("full.json", lambda data: data[:20])):
        whole = (place / name).read_bytes()
        (place / name).write_bytes(damaged(whole))
        err, code = run(1, "--resume")
        assert code == 2, err
        assert err.count("impulsar:") == 1
        assert str(place) in err and "cannot be read" in err and "take that folder away" in err
        (place / name).write_bytes(whole)


def flipped(data):
    """With a bit in the middle of a file another one."""
    at = len(data) // 2
    return data[:at] + bytes([data[at] ^ 8]) + data[at + 1 :]


def test_no_ranks_are_none(capsys):
    assert main(["run", "chain", "--set", "n=5", "--domains", "0", "--duration", "0.01"]) == 2
    assert "--domains 0: expected how many ranks" in capsys.readouterr().err


def test_what_cannot_be_divided(tmp_path):
    """Told once, by rank 0, with the status of bad input."""
    job = ranks(2, "-m", "impulsar", "run", "gear-train", "--domains")
    _, err = job.communicate(timeout=MOST)
    assert job.returncode == 2
    assert err.count("impulsar:") == 1
    assert "large worlds have no couplings" in err


# studies: the sizes of the issue, minutes each --------------------------------------------------------


@pytest.mark.study
def test_ten_thousand_links():
    """A chain, a branching tree and a net of 50 x 50 plates after 100 steps: within 1e-10 of one rank (issue's bound),
    momentum that of it."""
    for one in figures(4, [2, 3, 4], "long chain", "large tree", "large net"):
        assert one["apart"] < 1e-10, one
        assert one["momentum"] < 1e-10
        assert one["gap"] < 1e-12


@pytest.mark.study
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_pile_comes_to_rest(size):
    """5,000 spheres of 10 g after 2 s: overlap below 2 % of the radius, as of one rank (issue's bound). At rest: a body
    has less than gravity gives it in a sub-step h, m (g h)² / 2; one rank has less than 1e-8 J, and so have those that
    three others or walls touch on all: what is beyond is of balls that spin on one or two points."""
    (one,) = figures(size, [size], "pile")
    assert one["overlap"] < 0.02, one
    assert one["kinetic"] < (1e-8 if size == 1 else 0.5 * 0.01 * (9.81 / 240 / 8) ** 2), one
    assert one["held"] < 1e-8
    assert (one["moved_on"] > 0) == (size > 1)


def run_pile(folder, out, *more):
    given = ["--set", "n=300", "--set", "high=3.0", "--duration", "0.5", "--checkpoint-every", "0.05"]
    command = ["-m", "impulsar", "run", "spheres", "--domains", *given, "--checkpoint", folder, "--out", out, *more]
    return ranks(3, *command)


@pytest.mark.study
@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_pile_whose_rank_is_killed(tmp_path, which):
    """Bodies have moved on, contacts have colours and impulses: the same bits after kill -9 of any rank."""
    job = run_pile(tmp_path / "whole", tmp_path / "whole.nc")
    _, err = job.communicate(timeout=MOST)
    assert job.returncode == 0, err
    job = run_pile(tmp_path / "killed", tmp_path / "killed.nc")
    kill_one(job, tmp_path / "killed", which)
    _, err = job.communicate(timeout=MOST)
    assert job.returncode != 0
    assert err.count("a rank has died, or the job was ended; the last full checkpoint is 'step-") == 1
    job = run_pile(tmp_path / "killed", tmp_path / "killed.nc", "--resume")
    _, err = job.communicate(timeout=MOST)
    assert job.returncode == 0, err
    assert (tmp_path / "killed.nc").read_bytes() == (tmp_path / "whole.nc").read_bytes()
