"""Closed loops beside MuJoCo's Newton solver: time per fixed step, and how far the cut pins gape."""

from functools import partial

import numpy as np

from ..scenes import scene
from ..world.world import World
from . import peer_mujoco
from .chain import compare

DT = 1e-3
STEPS = 100


def run() -> list[dict]:
    """four-bar and peaucellier falling freely, many steps per call on both sides."""
    import mujoco

    rows = []
    for name, parameters in (("four-bar", {}), ("peaucellier", {"motor": False})):
        world = World(scene(name, **parameters), "direct", dt=DT, substeps=1)
        model, data = peer_mujoco.build(world.model, DT)
        gaps = [0.0, 0.0]
        for _ in range(15):  # the first 0.15 s, before the linkage comes to a dead centre
            world.step(10)
            mujoco.mj_step(model, data, 10)
            gaps = [max(gaps[0], pin_gap(world)), max(gaps[1], peer_mujoco.gap(world.model, model, data))]
        found = compare(partial(world.step, STEPS), partial(mujoco.mj_step, model, data, STEPS), STEPS, 40)
        ours, theirs = found.ours, found.theirs
        rows.append(
            {
                "scene": name,
                "impulsar [us/step]": ours * 1e6,
                "mujoco [us/step]": theirs * 1e6,
                **found.figures,
                "bound": 1.0,
                "impulsar gap [m]": gaps[0],
                "mujoco gap [m]": gaps[1],
                "gap ratio": gaps[1] / max(gaps[0], 1e-16),
                "holds": bool(ours / theirs <= 1.0 and gaps[1] >= 1000 * gaps[0]),
            }
        )
    return rows


def pin_gap(world: World) -> float:
    """Largest distance between the two ends of a cut hinge [m]."""
    return max(
        float(np.linalg.norm(_place(world, joint.first, joint.p_PF) - _place(world, joint.second, joint.p_CM)))
        for joint in world.system.tree.loops
    )


def _place(world: World, body: str, p: np.ndarray) -> np.ndarray:
    return p if body == "ground" else world.point(body, p)
