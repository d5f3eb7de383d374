"""Steps compiled for one mechanism beside MuJoCo, in turns: one world, many steps per call; a batch on one core."""

from functools import partial

import numpy as np

from ..scenes import scene
from ..world.world import World
from . import peer_mujoco
from .chain import Comparison, compare, mujoco_tip
from .loops import pin_gap

STEPS = 1000  # of a call
WORLDS, BATCH_STEPS = 64, 100
WARM = 1600  # steps of loops before they are measured
SPREAD = 0.01  # of the velocities in a batch [rad/s]
CASES: tuple[tuple[str, dict, dict, float], ...] = (
    ("chain", {"n": 10}, {"method": "simgc", "dt": 1e-4}, 0.15),
    ("chain", {"n": 30}, {"method": "simgc", "dt": 1e-4}, 0.15),
    ("four-bar", {}, {"dt": 1e-3, "substeps": 1}, 0.25),
    ("peaucellier", {"motor": False}, {"dt": 1e-3, "substeps": 1}, 0.25),
)
LOOP_STEPS = 90  # of a call: before a linkage comes to a dead centre, where every step may go a way of its own


def run() -> list[dict]:
    """Time per step and error of both; bounds are of the ratio."""
    return [*(one_world(*case) for case in CASES), batch()]


def one_world(name: str, parameters: dict, options: dict, bound: float) -> dict:
    """One world, many steps per call."""
    import mujoco

    world = World(scene(name, **parameters), compile="now", **options)
    model, data = peer_mujoco.build(world.model, options["dt"])
    loops, steps = bool(world.system.tree.loops), STEPS
    if loops:
        steps = LOOP_STEPS
    start, theirs_start = world.runner.state.numpy().copy(), _get(model, data)

    def ours_call() -> None:
        if loops:
            world.runner.state.numpy()[...] = start
            world.runner.refresh()
        world.step(steps)

    def theirs_call() -> None:
        if loops:
            mujoco.mj_setState(model, data, theirs_start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        mujoco.mj_step(model, data, steps)

    ours_call()
    theirs_call()
    errors = _errors(world, model, data)
    for _ in range(WARM // steps if loops else 1):  # its variants are found
        ours_call()
        theirs_call()
    found = compare(ours_call, theirs_call, steps, 20)
    row = {"scene": f"{name} {parameters.get('n', '')}".strip(), "worlds": 1}
    return _row(row, found, bound, world) | errors


def _get(model, data) -> np.ndarray:
    """MuJoCo's state."""
    import mujoco

    state = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    return state


def _errors(world: World, model, data) -> dict:
    """After the same steps: how far the ends of the chains are from each other, or how far pins gape."""
    if "tip" in world.model.probes and not world.system.tree.loops:
        tip = world.model.probes["tip"]
        apart = float(np.linalg.norm(world.point(tip.body, tip.p_BQ) - mujoco_tip(data, world)))
        return {"apart [m, rad]": apart, "gap [m]": 0.0, "mujoco gap [m]": 0.0}
    gaps = pin_gap(world), peer_mujoco.gap(world.model, model, data)
    return {"apart [m, rad]": float("nan"), "gap [m]": gaps[0], "mujoco gap [m]": gaps[1]}


def batch() -> dict:
    """Worlds in different states on one core, beside `mujoco.rollout` on one."""
    from mujoco import rollout

    world = World(scene("chain", n=10), method="simgc", dt=1e-4, worlds=WORLDS, compile="now")
    model, data = peer_mujoco.build(world.model, 1e-4)
    start = np.random.default_rng(1).normal(scale=SPREAD, size=(10, WORLDS))
    world.runner.state.write("v", start)
    world.runner.refresh()
    states = []
    for k in range(WORLDS):
        data.qvel[:] = start[:, k]
        states.append(_get(model, data))
    world.step(BATCH_STEPS)
    found, _ = rollout.rollout(model, data, np.array(states), nstep=BATCH_STEPS)
    apart = np.abs(found[:, -1, 1:11].T - world.runner.state.read("q")).max()

    def theirs_call() -> None:
        rollout.rollout(model, data, np.array(states), nstep=BATCH_STEPS)

    times = compare(partial(world.step, BATCH_STEPS), theirs_call, BATCH_STEPS * WORLDS, 20)
    row = {"scene": "chain 10", "worlds": WORLDS}
    return _row(row, times, 1.0 / 30.0, world) | {
        "apart [m, rad]": float(apart),
        "gap [m]": 0.0,
        "mujoco gap [m]": 0.0,
    }


def _row(row: dict, found: Comparison, bound: float, world: World) -> dict:
    told = world.compilation
    assert told is not None
    figures = {"impulsar [us/step]": found.ours * 1e6, "mujoco [us/step]": found.theirs * 1e6, **found.figures}
    compiled = {"operations": told.operations, "guards": told.guards, "variants": told.variants}
    return row | figures | {"bound": bound, "holds": bool(figures["ratio"] <= bound)} | compiled
