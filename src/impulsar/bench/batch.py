"""Many copies of one mechanism in one launch: world-steps per second, and beside peers on one core."""

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import warp as wp

from ..scenes import scene
from ..world.world import World
from . import peer_mujoco, peer_mujoco_warp, peer_newton
from .chain import compare

STEPS = 20
BESIDE, SLOW = 64, 0.01  # worlds beside peers, and how fast they begin [rad/s]


def run() -> list[dict]:
    """Chain of ten links, on the CPU and, where there is one, on a CUDA device."""
    cases = (
        [("cpu", n, how) for n in (1, 1024) for how in ("off", "now")] if "cpu" in map(str, wp.get_devices()) else []
    )
    if wp.is_cuda_available():
        cases += [("cuda:0", n, "off") for n in (1024, 16384, 131072)]
    rows = beside_peers() if cases and cases[0][0] == "cpu" else []
    for device, worlds, how in cases:
        world = World(scene("chain", n=10), method="simgc", dt=1e-4, worlds=worlds, device=device, compile=how)
        masses = 0.1 * (1.0 + 0.1 * np.random.default_rng(0).uniform(-1, 1, worlds))
        world.set("link10.mass", masses if worlds > 1 else masses[0])
        world.step(STEPS)
        wp.synchronize_device(device)
        spent = []
        for _ in range(5):
            start = time.perf_counter()
            world.step(STEPS)
            wp.synchronize_device(device)
            spent.append(time.perf_counter() - start)
        rows.append(
            {
                "device": device,
                "compile": how,
                "worlds": worlds,
                "world-steps/s": worlds * STEPS / float(np.median(spent)),
                "apart from one world [rad]": _apart(world, masses),
            }
        )
    return rows


def beside_peers() -> list[dict]:
    """The same worlds by peers that are installed, in turns on one core: worlds in different states, from rest."""
    start = np.random.default_rng(1).normal(scale=SLOW, size=(10, BESIDE))
    peers = {
        "mujoco": ("mujoco.rollout", _rollout),
        "mujoco_warp": ("mujoco_warp", _mujoco_warp),
        "newton": ("newton", _newton),
    }
    rows = []
    for module, (name, call_of) in peers.items():
        if find_spec(module) is None:
            continue
        world = World(scene("chain", n=10), method="simgc", dt=1e-4, worlds=BESIDE)
        theirs, q = call_of(world, start)

        def ours(world: World = world) -> None:
            world.runner.state.write("q", np.zeros((10, BESIDE)))
            world.runner.state.write("v", start)
            world.runner.refresh()
            world.step(STEPS)

        found = compare(ours, theirs, STEPS * BESIDE, 7)
        apart = float(np.abs(world.runner.state.read("q") - q()).max())
        row = {"device": f"cpu, beside {name}", "worlds": BESIDE, "world-steps/s": 1.0 / found.ours}
        row |= {"peer [world-steps/s]": 1.0 / found.theirs, **found.figures}
        rows.append(row | {"apart from the peer [rad]": apart})
    return rows


def _rollout(world: World, start: np.ndarray) -> tuple[Callable[[], None], Callable[[], Any]]:
    from mujoco import rollout

    model, data = peer_mujoco.build(world.model, 1e-4)
    states = []
    for k in range(BESIDE):
        data.qvel[:] = start[:, k]
        states.append(peer_mujoco.state_of(model, data))
    found: list[np.ndarray] = []

    def take() -> None:
        found[:] = [rollout.rollout(model, data, np.array(states), nstep=STEPS)[0]]

    return take, lambda: found[0][:, -1, 1:11].T


def _mujoco_warp(world: World, start: np.ndarray) -> tuple[Callable[[], None], Callable[[], Any]]:
    return peer_mujoco_warp.batch(world.model, 1e-4, start, STEPS)


def _newton(world: World, start: np.ndarray) -> tuple[Callable[[], None], Callable[[], Any]]:
    return peer_newton.batch(world.model, 1e-4, start, STEPS)


def _apart(world: World, masses: np.ndarray) -> float:
    """How far the first and the last world are from one of their own that took the same steps [rad]."""
    q, worst = world.runner.state.read("q"), 0.0
    for k in (0, len(masses) - 1):
        alone = World(scene("chain", n=10), method="simgc", dt=1e-4)
        alone.set("link10.mass", float(masses[k]))
        alone.step(world.runner.count)
        worst = max(worst, float(np.abs(alone.runner.state.read("q")[:, 0] - q[:, k]).max()))
    return worst
