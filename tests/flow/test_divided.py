"""Sub-domains of a lattice over ranks: the same bits as on one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mpi4py")
MPIEXEC = Path(sys.executable).with_name("mpiexec")


def run(ranks: int, side: str, path: Path) -> dict[str, np.ndarray]:
    program = Path(__file__).with_name("divided.py")
    free = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    free["OMP_NUM_THREADS"] = "1"
    command = [str(MPIEXEC), "-n", str(ranks), "--oversubscribe", sys.executable, str(program), str(path), side]
    done = subprocess.run(command, env=free, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    with np.load(path) as found:
        return dict(found)


@pytest.mark.skipif(not MPIEXEC.exists(), reason="no mpiexec beside this Python")
@pytest.mark.study
@pytest.mark.parametrize(("side", "ranks"), [("periodic", 3), ("wall", 2)])
def test_same_bits_on_any_number_of_ranks(side, ranks, tmp_path):
    """Bodies and points across the borders of sub-domains, and of the box."""
    alone, divided = (run(k, side, tmp_path / f"{k}.npz") for k in (1, ranks))
    for name in ("u", "momentum", "p", "V"):
        assert np.array_equal(alone[name], divided[name]), name
    assert np.abs(alone["u"]).max() > 1e-3
    assert divided["sent"] > alone["sent"]
