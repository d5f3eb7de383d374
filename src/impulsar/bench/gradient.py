"""Exact gradients: their error beside differences of order 4, and the adjoint's time beside that of a compiled step.

Both are of the way that most of the steps go, by the same loop over states of the trajectory, so that what a call
costs besides is in neither.
"""

import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..author.model import Model
from ..engine.compile.adjoint import Places
from ..engine.compile.graph import Graph
from ..engine.compile.reverse import CompiledAdjoint
from ..engine.compile.step import STATE, TracedStep
from ..engine.methods.direct import Direct
from ..scenes import scene
from ..world.linear import Linear
from ..world.rollout import Rollout
from ..world.sensitivity import linearise
from ..world.world import World
from . import peer_mujoco
from .chain import compare

FIXED, FINE = Direct(substeps=1), Direct(rtol=1e-10, atol=1e-10)
ERROR, TIMES = 1e-9, 5.0  # bounds: of the relative error, and of the adjoint's time in steps
STATES, ROUNDS = 2000, 15  # of a measurement
WARM = 80  # gradients before they are measured


@dataclass(frozen=True)
class Case:
    """A trajectory and what is differentiated."""

    name: str
    model: Callable[[], Model]
    method: Any
    dt: float  # [s]
    steps: int
    joint: str
    path: str
    value: float
    part: float = 2e-3  # of the value, between differences
    timed: bool = True


def pendulum() -> Model:
    """A rod that falls from the horizontal and bounces off a limit after 0.22 s."""
    model = Model("pendulum")
    arm = model.body("arm", mass=0.3, inertia=(1e-3, 2e-3, 1e-3), position=(0.2, 0, 0))
    hinge: dict[str, Any] = {"limits": (-1.0, 1.0), "limit_restitution": 0.6}
    model.joint("hinge", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), **hinge)
    return model


CASES = (
    Case("pendulum", pendulum, FINE, 2e-3, 90, "hinge", "arm.mass", 0.3),
    Case("pendulum that bounces", pendulum, FINE, 2e-3, 170, "hinge", "arm.mass", 0.3, 1e-3, timed=False),
    Case("chain 10", lambda: scene("chain", n=10), "simgc", 1e-3, 100, "hinge3", "link2.mass", 0.1),
    Case("chain 10", lambda: scene("chain", n=10), FINE, 1e-3, 50, "hinge3", "link2.mass", 0.1, timed=False),
    Case("four-bar", lambda: scene("four-bar"), FIXED, 1e-3, 90, "O", "coupler.mass", 0.25),
    Case("four-bar", lambda: scene("four-bar"), FINE, 1e-3, 60, "O", "coupler.mass", 0.25, timed=False),
    Case("cross-lift", lambda: scene("cross-lift"), FIXED, 1e-3, 30, "baseA", "springA.stiffness", 40e3),
    Case("five-link", lambda: scene("five-link"), "simgc", 1e-3, 80, "hinge3", "link3.mass", 0.1),
    Case("five-link", lambda: scene("five-link"), FINE, 1e-3, 60, "hinge3", "link3.mass", 0.1, timed=False),
    Case(
        *("five-link through stick and slip", lambda: scene("five-link"), Direct(rtol=1e-9, atol=1e-9), 1e-3, 125),
        *("hinge3", "link3.mass", 0.1, 5e-4),
        timed=False,
    ),
)


def run() -> Iterator[dict]:
    """Errors of all cases; of some the time of the adjoint; and a whole gradient beside MuJoCo's differences."""
    for case in CASES:
        yield errors(case)
    if find_spec("mujoco") is not None:
        yield beside_mujoco()


def errors(case: Case) -> dict:
    """One row: derivatives of a position by both modes, and by differences."""
    world = World(case.model(), method=case.method, dt=case.dt)
    linear, _ = linearise(world, f"{case.joint}.position", case.path, case.steps * case.dt, None)
    assert isinstance(linear, Linear)  # on the CPU
    _, found = linear.forward()
    forward = float(found[0, 0, 0, 0])
    linear.compile_adjoints(1)
    reverse = float(linear.pull(np.ones((1, 1, 1)))[0, 0])

    def run(value: float) -> float:
        other = World(case.model(), method=case.method, dt=case.dt)
        other.set(case.path, value)
        other.step(case.steps)
        return float(other.joint(case.joint).position)

    expected = differences(run, case.value, case.part)
    error = abs(forward - expected) / abs(expected)
    apart = abs(reverse - forward) / abs(forward)
    method = case.method if isinstance(case.method, str) else "fixed" if case.method.substeps else "direct"
    row: dict[str, Any] = {"scene": case.name, "method": method, "error": error, "reverse apart from forward": apart}
    row |= {"steps": case.steps, "changes of mode": len(linear.changes), "ways": len(linear.ways)}
    times = adjoint_times(linear) if case.timed else {}
    holds = error <= ERROR and apart <= ERROR and times.get("ratio", 0.0) <= TIMES
    return row | times | ({"bound": TIMES} if times else {}) | {"holds": bool(holds)}


def differences(f: Callable[[float], float], value: float, part: float) -> float:
    """f' by differences of order 4."""
    h = part * abs(value)
    return (8 * (f(value + h) - f(value - h)) - (f(value + 2 * h) - f(value - 2 * h))) / (12 * h)


def adjoint_times(linear: Linear) -> dict:
    """Of the adjoint and of the step itself, in turns: both compiled, in the same loop over the same states."""
    most = int(np.bincount(linear.which.ravel()).argmax())
    states = linear.path.states[:-1][linear.which[:, 0] == most]
    which = np.zeros((STATES, 1), np.int64)

    def call_of(code: CompiledAdjoint) -> Callable[[], Any]:
        places = code.places
        read = np.resize(states[:, places.read], (STATES, len(places.read), 1))
        values = np.array([linear.value(name) for name in places.parameters]).reshape(-1, 1)
        given = np.ones((len(places.rows), 1)), np.zeros((len(places.parameters), 1))
        return lambda: code.run(read, which, values, *given)

    adjoint, step = linear.compile_adjoint(most), compiled_step(linear.ways[most].step)
    back, forth = in_turns((call_of(adjoint), call_of(step)), ROUNDS) / STATES
    return {
        "adjoint [us/step]": 1e6 * float(np.median(back)),
        "impulsar [us/step]": 1e6 * float(np.median(forth)),
        "ratio": float(np.median(back) / np.median(forth)),
        "spread": "{:.3g} - {:.3g}".format(*np.quantile(back / forth, (0.25, 0.75))),
        "operations": f"{step.operations}, {adjoint.operations}",
    }


@dataclass
class Forth:
    """A step in the place of an adjoint: guards left out, which makes it a little faster than it is."""

    step: TracedStep

    @property
    def operations(self) -> int:
        return self.step.operations

    def placed(self, places: Places) -> TracedStep:
        """As `Adjoint.placed`."""
        renamed, graph = Graph(), self.step.graph
        renamed.nodes, renamed.values = graph.nodes, graph.values
        renamed.inputs = {(STATE, places.of(name)): at for name, at in graph.inputs.items()}
        outputs = {places.of((STATE, row)): value for row, value in self.step.outputs.items()}
        return TracedStep(renamed, outputs, self.step.tally, [])


def compiled_step(step: TracedStep) -> CompiledAdjoint:
    """A step by the code that runs adjoints."""
    rows = {name[1] for name in step.graph.inputs if name[0] == STATE} | set(step.outputs)
    places = Places(sorted(rows), sorted((name for name in step.graph.inputs if name[0] != STATE), key=str), [])
    return CompiledAdjoint({0: Forth(step)}, places, 1)  # type: ignore[dict-item]


def in_turns(calls: tuple[Callable, ...], rounds: int) -> np.ndarray:
    """Times of calls [call, round] by the thread's own clock [s]."""
    times = np.zeros((len(calls), rounds))
    gc.collect()
    gc.disable()
    try:
        for k in range(rounds):
            for i, call in enumerate(calls):
                start = time.thread_time()
                call()
                times[i, k] = time.thread_time() - start
    finally:
        gc.enable()
    return times


def beside_mujoco() -> dict:
    """A whole gradient, trajectory and all: d position / d velocities of the start, beside mjd_transitionFD."""
    steps, dt, n = 100, 1e-3, 10
    world = World(scene("chain", n=n), method="simgc", dt=dt)
    to = [f"hinge{k + 1}.velocity" for k in range(n)]
    rollout = Rollout(world, "hinge3.position", to, steps * dt)
    start = rollout.values()
    found = [np.zeros(n), np.zeros(n)]
    turn = [0]

    def ours() -> None:
        turn[0] += 1  # another value each time: nothing is kept of the trajectory
        found[0] = rollout.pull(start + 1e-12 * turn[0], np.ones((1, 1, 1)))[0]

    def theirs() -> None:
        found[1] = mujoco_gradient(world.model, dt, steps, 2)

    for _ in range(WARM):  # adjoints are compiled when the calls so far would have been worth it
        ours()
    times = compare(ours, theirs, steps, 9)

    def run(k: int) -> Callable[[float], float]:
        def at(speed: float) -> float:
            return float(rollout(start + speed * np.eye(n)[k])[0, 0, 0])

        return at

    # about a speed that is none: so far on either side
    exact = np.array([differences(lambda v, k=k: run(k)(v - 1.0), 1.0, 1e-2) for k in range(n)])  # type: ignore[misc]
    off = [float(np.abs(each - exact).max() / np.abs(exact).max()) for each in found]
    row: dict[str, Any] = {"scene": "chain 10, all of a gradient", "method": "simgc", "error": off[0]}
    row |= {"steps": steps, "changes of mode": 0, "ways": 1, "mujoco error": off[1]}
    row |= {"impulsar [us/step]": 1e6 * times.ours, "mujoco [us/step]": 1e6 * times.theirs, **times.figures}
    return row | {"bound": 1.0, "holds": bool(off[0] <= ERROR and times.figures["ratio"] <= 1.0)}


def mujoco_gradient(model: Model, dt: float, steps: int, joint: int) -> np.ndarray:
    """The same by MuJoCo: its differences of a step, centred, multiplied along the trajectory."""
    import mujoco

    peer, data = peer_mujoco.build(model, dt)
    A, T = np.zeros((2 * peer.nv, 2 * peer.nv)), np.eye(2 * peer.nv)[:, peer.nv :]
    for _ in range(steps):
        mujoco.mjd_transitionFD(peer, data, 1e-6, 1, A, None, None, None)
        T = A @ T
        mujoco.mj_step(peer, data)
    return T[joint]
