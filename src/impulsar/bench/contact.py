"""Contact beside MuJoCo and PyBullet: a stack, a pit of balls and a grasp; time per step, overlap and slip.

Times of MuJoCo's and of ours are taken in turns; PyBullet's after them, where it is installed.
"""

from functools import partial
from importlib.util import find_spec

import numpy as np

from ..author.rotations import rotation_matrix
from ..engine.methods import Direct
from ..scenes import grasp, scene
from ..world.world import World
from . import peer_bullet, peer_contact
from .chain import measure

DT = 0.01
SETTLE = 150  # steps before anything is measured
STEPS = 10  # of a call
REPEATS = 9
SCENES = (  # with parameters, and the time that may be taken, of MuJoCo's
    ("stack", {"n": 20}, 2.0),
    ("stack", {"n": 20, "gap": 0.002, "offset": 0.002, "yaw": 0.01}, 2.0),
    ("ball-pit", {"n": 200}, 0.3),
)
GRASP_DT, GRASP_STEPS, GRASP_BOUND = 0.002, 50, 4.0  # lifted and carried in 0.1 s a call, from 1.5 s to 5.5 s
GRASP_REPEATS = 40


def run() -> list[dict]:
    """The same scenes in all, from the same start."""
    return [*(_free(*one) for one in SCENES), _grasp(True), _grasp(False)]


def _free(name: str, parameters: dict, bound: float) -> dict:
    """Free bodies, at rest or nearly so."""
    import mujoco

    world = World(scene(name, **parameters), dt=DT)
    model, data = peer_contact.build(world.model, DT)
    world.step(SETTLE)
    mujoco.mj_step(model, data, SETTLE)
    before = _places(world), peer_contact.places(world.model, data)
    overlap = world.step(STEPS).overlap
    deep = peer_contact.deepest(data)
    ours, theirs = measure(partial(world.step, STEPS), partial(mujoco.mj_step, model, data, STEPS), STEPS, REPEATS)
    after = _places(world), peer_contact.places(world.model, data)
    creep = [float(np.linalg.norm(new - old, axis=1).max()) for new, old in zip(after, before, strict=True)]
    row = _row(name if len(parameters) == 1 else f"{name}, dropped", DT, ours, theirs, bound)
    row |= {"impulsar overlap [m]": float(overlap), "mujoco overlap [m]": deep}
    row |= {"impulsar moved [m]": creep[0], "mujoco moved [m]": creep[1]}
    if find_spec("pybullet"):
        peer = peer_bullet.build(world.model, DT)
        peer.step(SETTLE)
        start, deep = peer.places(), peer.deepest()
        row |= {"pybullet [us/step]": _alone(peer) * 1e6, "pybullet overlap [m]": deep}
        row |= {"pybullet moved [m]": float(np.linalg.norm(peer.places() - start, axis=1).max())}
        peer.close()
    return row


def _grasp(modes: bool) -> dict:
    """A box lifted and carried along an arc at 1.05 of the least grip: "moved" is its slip in the gripper."""
    world = World(scene("grasp"), Direct(modes=modes), dt=GRASP_DT)
    model, data = peer_contact.gripper(GRASP_DT)
    gripped = round(grasp.GRIPPED / GRASP_DT)
    world.step(gripped)
    peer_contact.drive(model, data, gripped)
    before = _in_gripper(world), peer_contact.in_gripper(data)
    overlap, deep = world.step(1).overlap, peer_contact.deepest(data)
    steps = partial(world.step, GRASP_STEPS), partial(peer_contact.drive, model, data, GRASP_STEPS)
    ours, theirs = measure(*steps, GRASP_STEPS, GRASP_REPEATS)
    slip = [_in_gripper(world) - before[0], peer_contact.in_gripper(data) - before[1]]
    row = _row(f"grasp, {'modes' if modes else 'impulses'}", GRASP_DT, ours, theirs, GRASP_BOUND)
    row |= {"impulsar overlap [m]": float(overlap), "mujoco overlap [m]": deep}
    row |= {"impulsar moved [m]": float(np.linalg.norm(slip[0])), "mujoco moved [m]": float(np.linalg.norm(slip[1]))}
    if find_spec("pybullet"):
        peer = peer_bullet.gripper(GRASP_DT)
        peer.step(gripped)
        start, deep = peer.in_gripper(), peer.deepest()
        row |= {"pybullet [us/step]": _alone(peer, GRASP_STEPS, GRASP_REPEATS) * 1e6, "pybullet overlap [m]": deep}
        row |= {"pybullet moved [m]": float(np.linalg.norm(peer.in_gripper() - start))}
        peer.close()
    return row


def _row(name: str, dt: float, ours: float, theirs: float, bound: float) -> dict:
    return {
        "scene": name,
        "h [s]": dt,
        "impulsar [us/step]": ours * 1e6,
        "mujoco [us/step]": theirs * 1e6,
        "ratio": ours / theirs,
        "bound": bound,
        "holds": bool(ours / theirs <= bound),
    }


def _alone(peer: peer_bullet.Bullet, steps: int = STEPS, repeats: int = REPEATS) -> float:
    """PyBullet's time of a step [s]."""
    return measure(lambda: None, partial(peer.step, steps), steps, repeats)[1]


def _places(world: World) -> np.ndarray:
    return np.array([world.body(name).position for name in world.model.bodies])


def _in_gripper(world: World) -> np.ndarray:
    palm = world.body("palm")
    return rotation_matrix(palm.orientation).T @ (world.body("thing").position - palm.position)
