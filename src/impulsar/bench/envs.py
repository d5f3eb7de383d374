"""Environments beside MuJoCo's, of the same mechanisms, with the same starts and actions.

The inverted double pendulum is Gymnasium's own (InvertedDoublePendulum-v5, MuJoCo's RK4 at 10 ms), its file read by
`im.load`. The five-bar is Impulsar's FiveBarReach-v0; for MuJoCo it is written as MJCF, its loop an equality, stepped
by MuJoCo's implicitfast integrator at the same step. Both peers are vectors as Gymnasium makes them of single
environments (SyncVectorEnv, in this process); times are the process's own, all threads together, in turns. The error is
the largest of the coordinates after COMPARED steps, beside `direct` at a tolerance of 1e-12 from the same start by the
same actions.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import mujoco
import numpy as np
from gymnasium.vector import SyncVectorEnv

from ..author.model import Model
from ..engine.methods import Direct
from ..envs.five_bar import FiveBarReach
from ..envs.task import Task
from ..envs.vector import MechanismVectorEnv
from ..io.export.mjcf import to_mjcf
from ..loading import load
from ..world.world import World

MANY, EPISODE, TURNS = 64, 20, 7
COMPARED = 6  # steps after which coordinates are compared: no pendulum has fallen yet
GENTLE = {"inverted double pendulum": 0.02, "five-bar": 0.5}  # of actions
METHODS: tuple[tuple[str, Any, str], ...] = (
    ("simgc", "simgc", "off"),
    ("simgc, compiled", "simgc", "now"),
    ("direct, 1e-4", Direct(rtol=1e-4, atol=1e-4), "off"),
)


class DoublePendulum(Task):
    """Gymnasium's InvertedDoublePendulum-v5: what is seen of it, but for the force of its limit, and its worth."""

    drives, most = ("slider",), (1.0,)
    observations = 8
    dt, skip, length = 0.01, 5, 1000

    def model(self) -> Model:
        """From Gymnasium's file."""
        return load(Path(gym.__file__).parent / "envs" / "mujoco" / "assets" / "inverted_double_pendulum.xml")

    def start(self, random: np.random.Generator, memory: np.ndarray) -> tuple[dict[str, float], dict[str, float]]:
        """As Gymnasium draws it from the same seed."""
        names = ("slider", "hinge", "hinge2")
        q, v = random.uniform(-0.1, 0.1, 3), 0.1 * random.standard_normal(3)
        return dict(zip(names, q.tolist(), strict=True)), dict(zip(names, v.tolist(), strict=True))

    def observe(self, world: World, memory: np.ndarray) -> np.ndarray:
        """Cart, sines and cosines of both angles, rates."""
        q, v = (np.reshape(one(), (len(memory), -1)) for one in (world.joint_positions, world.joint_velocities))
        return np.concatenate([q[:, :1], np.sin(q[:, 1:]), np.cos(q[:, 1:]), np.clip(v, -10, 10)], 1)

    def reward(self, seen: np.ndarray, action: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """10, less for a tip away from (0, 2) and for rates."""
        (x, s1, s2, c1, c2), v = seen[:, :5].T, seen[:, 5:]
        tip = x + 0.6 * (s1 + s1 * c2 + c1 * s2)
        off = 0.01 * tip**2 + (_height(seen) - 2) ** 2 + 1e-3 * v[:, 1] ** 2 + 5e-3 * v[:, 2] ** 2
        return 10.0 * (_height(seen) > 1) - off

    def failed(self, seen: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """The tip is below 1 m."""
        return _height(seen) <= 1


def _height(seen: np.ndarray) -> np.ndarray:
    """Of the double pendulum's tip [m]."""
    s1, s2, c1, c2 = seen[:, 1:5].T
    return 0.6 * (c1 + c1 * c2 - s1 * s2)


class FiveBarPeer(gym.Env):
    """The five-bar in MuJoCo: the same torques, starts and sizes of what is seen."""

    def __init__(self) -> None:
        task = FiveBarReach()
        text, _ = to_mjcf(task.model(), task.dt)
        self.task, self.model = task, mujoco.MjModel.from_xml_string(text)
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        self.data = mujoco.MjData(self.model)
        self.at = [int(self.model.joint(name).dofadr[0]) for name in task.drives]
        self.places = [int(self.model.joint(name).qposadr[0]) for name in task.drives]
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,))
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (10,), np.float64)
        self.began: np.ndarray | None = None  # coordinates, closed, that `reset` puts it at

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple:
        """At the start that it was given."""
        mujoco.mj_resetData(self.model, self.data)
        if self.began is not None:
            self.data.qpos[:] = self.began
        mujoco.mj_forward(self.model, self.data)
        return self._seen(), {}

    def step(self, action: np.ndarray) -> tuple:
        """As many steps of the engine as the task has."""
        self.data.qfrc_applied[self.at] = np.multiply(self.task.most, action)
        mujoco.mj_step(self.model, self.data, self.task.skip)
        seen = self._seen()
        return seen, -float(np.linalg.norm(seen[8:])), False, False, {}

    def _seen(self) -> np.ndarray:
        q, v = self.data.qpos[self.places], self.data.qvel[self.at]
        return np.concatenate([q, v / 10, self.data.xpos[1, :2], self.data.cvel[1, :2], self.data.xpos[2, :2]])


def run() -> Iterator[dict]:
    """Rows: environment steps per second of processor time, and errors, of each method beside the peer."""
    for name, task, peer in (
        ("inverted double pendulum", DoublePendulum(), _gymnasium),
        ("five-bar", FiveBarReach(), _five_bars),
    ):
        actions = GENTLE[name] * np.random.default_rng(1).uniform(-1, 1, (EPISODE, MANY, len(task.drives)))
        truth = _truth(task, actions[:COMPARED])
        for words, method, compile_ in METHODS:
            ours = MechanismVectorEnv(task, MANY, compile=compile_, method=method)
            theirs, coordinates = peer(ours)
            _play(ours, actions[:COMPARED])
            error = float(np.abs(_coordinates(ours.world, task) - truth).max())
            _play(theirs, actions[:COMPARED])
            peers = float(np.abs(coordinates() - truth).max())
            mine, other, low, high = _times(ours, theirs, actions)
            row = {"mechanism": name, "method": words, "envs": MANY, "env-steps/s": 1 / mine, "peer/s": 1 / other}
            row |= {"ratio": mine / other, "spread": f"{low:.3g} - {high:.3g}"}
            yield row | {"error [m, rad]": error, "peer's error": peers}


def _coordinates(world: World, task: Task) -> np.ndarray:
    """Those that are compared: of the double pendulum all, of the five-bar the motors'."""
    q = np.reshape(world.joint_positions(), (MANY, -1))
    names = task.drives if len(task.drives) > 1 else world.coordinate_names
    return q[:, [world.coordinate_names.index(name) for name in names]].copy()


def _play(envs: Any, actions: np.ndarray) -> None:
    envs.reset(seed=0)
    for action in actions:
        envs.step(action)


def _truth(task: Task, actions: np.ndarray) -> np.ndarray:
    exact = MechanismVectorEnv(task, MANY, method=Direct(rtol=1e-12, atol=1e-12))
    _play(exact, actions)
    return _coordinates(exact.world, task)


def _times(ours: Any, theirs: Any, actions: np.ndarray) -> tuple[float, float, float, float]:
    """Processor time of a step of one environment [s], of both, and the quartiles of their ratio."""
    spent = np.zeros((2, TURNS))
    for turn in range(TURNS):
        for k, envs in enumerate((ours, theirs)):
            envs.reset(seed=0)
            began = time.process_time()
            for action in actions:
                envs.step(action)
            spent[k, turn] = (time.process_time() - began) / (EPISODE * MANY)
    low, high = np.quantile(spent[0] / spent[1], (0.25, 0.75))
    return float(np.median(spent[0])), float(np.median(spent[1])), float(low), float(high)


def _gymnasium(ours: MechanismVectorEnv) -> tuple[SyncVectorEnv, Callable[[], np.ndarray]]:
    envs: Any = gym.make_vec("InvertedDoublePendulum-v5", num_envs=MANY, vectorization_mode="sync")
    return envs, lambda: np.array([one.unwrapped.data.qpos.copy() for one in envs.envs])


def _five_bars(ours: MechanismVectorEnv) -> tuple[SyncVectorEnv, Callable[[], np.ndarray]]:
    """Each begins where ours does: MuJoCo has nothing that closes a loop at given motors."""
    envs: Any = SyncVectorEnv([FiveBarPeer] * MANY)
    ours.reset(seed=0)
    q = np.reshape(ours.world.joint_positions(), (MANY, -1))
    for k, one in enumerate(envs.envs):
        one.began = np.zeros(one.model.nq)
        for name, value in zip(ours.world.coordinate_names, q[k], strict=True):
            if mujoco.mj_name2id(one.model, mujoco.mjtObj.mjOBJ_JOINT, name) >= 0:
                one.began[int(one.model.joint(name).qposadr[0])] = value
    return envs, lambda: np.array([one.data.qpos[one.places].copy() for one in envs.envs])
