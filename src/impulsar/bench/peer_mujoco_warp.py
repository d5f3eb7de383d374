"""A hinged mechanism in mujoco_warp, where it is installed: many worlds in one launch, float32, default settings."""

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from ..author.model import Model
from . import peer_mujoco


def batch(model: Model, dt: float, velocities: np.ndarray, steps: int) -> tuple[Callable[[], None], Callable[[], Any]]:
    """A call that takes so many steps of worlds from these velocities [freedom, world], and one that reads q."""
    import mujoco_warp

    peer, data = peer_mujoco.build(model, dt)
    with wp.ScopedDevice("cpu"):
        m = mujoco_warp.put_model(peer)
        d = mujoco_warp.put_data(peer, data, nworld=velocities.shape[1])
    start = np.zeros((velocities.shape[1], peer.nq), np.float32)

    def take() -> None:
        d.qpos.assign(start)
        d.qvel.assign(velocities.T.astype(np.float32))
        with wp.ScopedDevice("cpu"):
            for _ in range(steps):
                mujoco_warp.step(m, d)

    return take, lambda: d.qpos.numpy().T
