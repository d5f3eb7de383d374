"""What fluids do to bodies, as the last step left it."""

import numpy as np

from ..author.rotations import rotation_matrices
from .bench import Bench


def added_inertia(bench: Bench, body: int) -> np.ndarray:
    """Added inertia of a body about its centre of mass, body axes, turns first [world, 6, 6]."""
    found = np.zeros((bench.system.counts.worlds, 6, 6))
    if bench.system.counts.pieces:
        R = rotation_matrices(bench.read("q_WB")[body])
        ww, wv, vv = (np.swapaxes(R, 1, 2) @ bench.read(name)[body] @ R for name in ("A_ww", "A_wv", "A_vv"))
        found[:, :3, :3], found[:, :3, 3:], found[:, 3:, 3:] = ww, wv, vv
        found[:, 3:, :3] = np.swapaxes(wv, 1, 2)
    return found
