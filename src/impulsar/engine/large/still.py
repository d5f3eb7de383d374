"""Poses of all bodies at one moment, for pictures: in single precision, in the order that a viewer has them."""

import numpy as np
import warp as wp

from ..spatial import quat, vec3


@wp.kernel(enable_backward=False)
def take_poses(
    p_WB: wp.array2d(dtype=vec3), q_WB: wp.array2d(dtype=quat), order: wp.array(dtype=wp.int32),
    out: wp.array2d(dtype=wp.float32),
):  # fmt: skip
    i = wp.tid()
    body = order[i]
    p = p_WB[body, 0]
    q = q_WB[body, 0]
    for k in range(3):
        out[i, k] = wp.float32(p[k])
    for k in range(4):
        out[i, 3 + k] = wp.float32(q[k])


class Taker:
    """Takes the poses of a large world's bodies off its device, in an order."""

    def __init__(self, order: np.ndarray, device: str):
        self.device = device
        self._order = wp.array(np.asarray(order, np.int32), dtype=wp.int32, device=device)
        self._out = wp.zeros((len(order), 7), wp.float32, device=device)

    def take(self, p_WB: wp.array, q_WB: wp.array) -> np.ndarray:
        """Places [m] and unit quaternions xyzw, [body, 7], of the caller's own."""
        args = [p_WB, q_WB, self._order, self._out]
        wp.launch(take_poses, len(self._order), args, device=self.device)
        return self._out.numpy().copy()
