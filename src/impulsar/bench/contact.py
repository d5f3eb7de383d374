"""Contact beside MuJoCo: a stack and a pit of balls, time per step, depth of overlaps and creep."""

from functools import partial

import numpy as np

from ..scenes import scene
from ..world.world import World
from . import peer_contact
from .chain import measure

DT = 0.01
SETTLE = 150  # steps before anything is measured
STEPS = 10  # of a call
SCENES = (  # with parameters, and the time that may be taken, of MuJoCo's
    ("stack", {"n": 20}, 2.0),
    ("stack", {"n": 20, "gap": 0.002, "offset": 0.002, "yaw": 0.01}, 2.0),
    ("ball-pit", {"n": 200}, 0.3),
)


def run() -> list[dict]:
    """At rest or nearly so: the same scene in both, steps in turns."""
    import mujoco

    rows = []
    for name, parameters, bound in SCENES:
        world = World(scene(name, **parameters), dt=DT)
        model, data = peer_contact.build(world.model, DT)
        world.step(SETTLE)
        mujoco.mj_step(model, data, SETTLE)
        before = _places(world), peer_contact.places(world.model, data)
        overlap = world.step(STEPS).overlap
        deep = peer_contact.deepest(data)
        ours, theirs = measure(partial(world.step, STEPS), partial(mujoco.mj_step, model, data, STEPS), STEPS, 9)
        after = _places(world), peer_contact.places(world.model, data)
        creep = [float(np.linalg.norm(new - old, axis=1).max()) for new, old in zip(after, before, strict=True)]
        rows.append(
            {
                "scene": name if len(parameters) == 1 else f"{name}, dropped",
                "bodies": len(world.model.bodies),
                "impulsar [us/step]": ours * 1e6,
                "mujoco [us/step]": theirs * 1e6,
                "ratio": ours / theirs,
                "bound": bound,
                "holds": bool(ours / theirs <= bound),
                "impulsar overlap [m]": float(overlap),
                "mujoco overlap [m]": deep,
                "impulsar moved [m]": creep[0],
                "mujoco moved [m]": creep[1],
            }
        )
    return rows


def _places(world: World) -> np.ndarray:
    return np.array([world.body(name).position for name in world.model.bodies])
