"""Steps compiled for one mechanism, and those of the kernel, beside MuJoCo, in turns: one world, many steps or one per
call; a batch on one core."""

from collections.abc import Callable
from functools import partial

import numpy as np

from ..scenes import scene
from ..world.world import World
from . import peer_mujoco
from .chain import Comparison, compare, mujoco_tip
from .loops import pin_gap

STEPS = 1000  # of a call
LOOP_STEPS = 90  # of a call: before a linkage comes to a dead centre, where every step may go a way of its own
WORLDS, BATCH_STEPS = 64, 100
CALLS = 200  # at least so many steps in what is measured
ROUNDS = 100
BATCH_WARM = 6
WARM = 1600  # steps of loops before they are measured
SPREAD = 0.01  # of the velocities in a batch [rad/s]
SIMGC, FIXED = {"method": "simgc", "dt": 1e-4}, {"dt": 1e-3, "substeps": 1}
CASES: tuple[tuple[str, dict, dict, int, float], ...] = (  # scene, options, steps of a call, bound
    ("chain", {"n": 10}, SIMGC, STEPS, 0.15),
    ("chain", {"n": 10}, SIMGC, 1, 1.0),
    ("chain", {"n": 30}, SIMGC, STEPS, 0.15),
    ("chain", {"n": 250}, SIMGC, 20, 0.05),
    ("four-bar", {}, FIXED, LOOP_STEPS, 0.25),
    ("peaucellier", {"motor": False}, FIXED, LOOP_STEPS, 0.25),
)
BATCHES: tuple[tuple[str, dict, float], ...] = (("chain", {"n": 10}, 1e-4), ("ten-pendula", {"start": "30deg"}, 1e-3))


def run() -> list[dict]:
    """Time per step and error of both; bounds are of the ratio."""
    return [*(one_world(*case) for case in CASES), *(batch(*case) for case in BATCHES)]


def one_world(name: str, parameters: dict, options: dict, steps: int, bound: float) -> dict:
    """One world; loops begin anew with every call."""
    import mujoco

    world, generic = (World(scene(name, **parameters), compile=how, **options) for how in ("now", "off"))
    model, data = peer_mujoco.build(world.model, options["dt"])
    loops = bool(world.system.tree.loops)
    start, theirs_start = world.state.numpy().copy(), _get(model, data)
    calls = 1 if loops else max(1, CALLS // steps)

    def call_of(one: World) -> Callable[[], None]:
        def call() -> None:
            if loops:
                one.state.numpy()[...] = start
            for _ in range(calls):
                one.step(steps)

        return call

    def theirs_call() -> None:
        if loops:
            mujoco.mj_setState(model, data, theirs_start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        for _ in range(calls):
            mujoco.mj_step(model, data, steps)

    ours_call, generic_call = call_of(world), call_of(generic)
    ours_call()
    theirs_call()
    errors = _errors(world, model, data)
    for _ in range(WARM // steps if loops else 1):  # its variants are found
        ours_call()
        theirs_call()
    found = compare(ours_call, theirs_call, steps * calls, ROUNDS)
    kernel = compare(generic_call, theirs_call, steps * calls, 5)
    row = {"scene": f"{name} {parameters.get('n', '')}".strip(), "worlds": 1, "per call": steps}
    return _row(row, found, kernel, bound, world) | errors


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


def batch(name: str, parameters: dict, dt: float) -> dict:
    """Worlds in different states on one core, beside `mujoco.rollout` on one."""
    from mujoco import rollout

    world, generic = (
        World(scene(name, **parameters), "simgc", dt=dt, worlds=WORLDS, compile=how, threads=1)
        for how in ("now", "off")
    )
    model, data = peer_mujoco.build(world.model, dt)
    speeds = world.state.read("v")
    start = speeds + np.random.default_rng(1).normal(scale=SPREAD, size=speeds.shape)
    world.state.write("v", start)
    world.runner.refresh()
    states = []
    for k in range(WORLDS):
        data.qvel[:] = start[-model.nv :, k]  # MuJoCo's ten pendula swing in their plane
        states.append(_get(model, data))
    world.step(BATCH_STEPS)
    found, _ = rollout.rollout(model, data, np.array(states), nstep=BATCH_STEPS)
    q = world.state.read("q")
    apart = np.abs(found[:, -1, 1 : 1 + len(q)].T - q).max() if len(start) == model.nv else float("nan")

    def theirs_call() -> None:
        rollout.rollout(model, data, np.array(states), nstep=BATCH_STEPS)

    for _ in range(BATCH_WARM):
        world.step(BATCH_STEPS)
    times = compare(partial(world.step, BATCH_STEPS), theirs_call, BATCH_STEPS * WORLDS, ROUNDS)
    kernel = compare(partial(generic.step, BATCH_STEPS), theirs_call, BATCH_STEPS * WORLDS, 3)
    row = {"scene": f"{name} {parameters.get('n', '')}".strip(), "worlds": WORLDS, "per call": BATCH_STEPS}
    errors = {"apart [m, rad]": float(apart), "gap [m]": float(np.max(world.constraint_error())), "mujoco gap [m]": 0.0}
    return _row(row, times, kernel, 1.0 / 30.0, world) | errors


def _row(row: dict, found: Comparison, kernel: Comparison, bound: float, world: World) -> dict:
    told = world.compilation
    assert told is not None
    figures = {"compiled [us/step]": found.ours * 1e6, "generic [us/step]": kernel.ours * 1e6}
    figures |= {"mujoco [us/step]": found.theirs * 1e6, **found.figures}
    compiled = {"operations": told.operations, "guards": told.guards, "variants": told.variants}
    return row | figures | {"bound": bound, "holds": bool(figures["ratio"] <= bound)} | compiled
