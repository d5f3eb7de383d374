"""Environments over worlds: `MechanismVectorEnv`, a batch in one launch, and `MechanismEnv`, one of them.

World k of a batch that is reset with a seed s is the single environment that is reset with s + k, to the bit: each has
a random generator of its own, and worlds of a batch do not know each other.
"""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from ..author.errors import ModelError
from ..edits import Drive
from ..world import World
from .task import Task


class MechanismVectorEnv(gym.vector.VectorEnv):
    """A task in many worlds, which are stepped together.

    autoreset: when an episode that is over begins anew: "next_step" (Gymnasium's own choice), "same_step", with
    `final_obs` in the infos, or "disabled", by `reset(options={"reset_mask": mask})`.
    """

    def __init__(
        self,
        task: Task,
        num_envs: int = 64,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        device: str = "cpu",
        compile: str | None = "off",
        method: Any = "simgc",
    ):
        if not (isinstance(num_envs, int) and num_envs >= 1):
            raise ModelError(f"environment: num_envs is {num_envs!r}, expected an integer >= 1")
        self.task, self.num_envs = task, num_envs
        self.world = World(task.model(), method=method, dt=task.dt, worlds=num_envs, device=device, compile=compile)
        self.autoreset = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset, "render_modes": []}
        self.single_action_space = gym.spaces.Box(-1.0, 1.0, (len(task.drives),), np.float64)
        self.single_observation_space = gym.spaces.Box(-np.inf, np.inf, (task.observations,), np.float64)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.memory = np.zeros((num_envs, task.memories))
        self.counts = np.zeros(num_envs, np.int64)
        self._over = np.zeros(num_envs, bool)  # to begin anew with the next step
        self._randoms = [np.random.default_rng() for _ in range(num_envs)]
        self._most = np.array(task.most)

    def reset(self, *, seed: int | list[int | None] | None = None, options: dict | None = None) -> tuple:
        """Begin anew in all worlds, or in those of options["reset_mask"]."""
        mask = np.ones(self.num_envs, bool)
        if options and "reset_mask" in options:
            mask = np.asarray(options["reset_mask"])
            if mask.dtype != bool or mask.shape != (self.num_envs,) or not mask.any():
                raise ModelError(f"environment: reset_mask has to be {self.num_envs} truth values, one of them True")
        seeds = [seed + k for k in range(self.num_envs)] if isinstance(seed, int) else seed
        if seeds is not None:
            if len(seeds) != self.num_envs:
                raise ModelError(f"environment: {len(seeds)} seeds for {self.num_envs} environments")
            for k, one in enumerate(seeds):
                if one is not None and mask[k]:
                    self._randoms[k] = np.random.default_rng(one)
        self._begin(mask)
        return self._seen(), {}

    def step(self, actions: Any) -> tuple:
        """A step of all worlds; in the mode "next_step" those that are over begin anew instead."""
        actions = np.asarray(actions, float)
        if actions.shape != (self.num_envs, len(self.task.drives)):
            expected = (self.num_envs, len(self.task.drives))
            raise ModelError(f"environment: actions have shape {actions.shape}, expected {expected}")
        if not np.isfinite(actions).all():
            raise ModelError("environment: an action is not a finite number")
        actions = np.clip(actions, -1.0, 1.0)
        anew = self._over.copy()
        self._drive(actions)
        self.task.before_step(self.world, self.memory)
        self.world.step(self.task.skip)
        self.counts += 1
        if anew.any():
            self._begin(anew)
        seen = self._seen()
        reward = np.where(anew, 0.0, self.task.reward(seen, actions, self.memory))
        terminated = self.task.failed(seen, self.memory) & ~anew
        truncated = (self.counts >= self.task.length) & ~terminated & ~anew
        return self._end(seen, reward, terminated, truncated)

    def _end(self, seen: np.ndarray, reward: np.ndarray, terminated: np.ndarray, truncated: np.ndarray) -> tuple:
        over, infos = terminated | truncated, {}
        self._over = over if self.autoreset is AutoresetMode.NEXT_STEP else np.zeros(self.num_envs, bool)
        if self.autoreset is AutoresetMode.SAME_STEP and over.any():
            infos = {"final_obs": seen.copy(), "_final_obs": over, "final_info": {}, "_final_info": over}
            self._begin(over)
            seen = self._seen()
        return seen, reward, terminated, truncated, infos

    def _begin(self, mask: np.ndarray) -> None:
        """Put worlds where the task has them begin."""
        starts = [self.task.start(self._randoms[k], self.memory[k]) for k in np.flatnonzero(mask)]
        q, v = ({name: np.array([one[at][name] for one in starts]) for name in starts[0][at]} for at in range(2))
        self.world.reset(mask, q=q, v=v)
        self.counts[mask] = 0

    def _drive(self, actions: np.ndarray) -> None:
        for k, joint in enumerate(self.task.drives):
            value = self._most[k] * actions[:, k]
            name, _, group = joint.partition(".")
            self.world.apply(Drive(name, value if self.num_envs > 1 else float(value[0]), group or None))

    def _seen(self) -> np.ndarray:
        return self.task.observe(self.world, self.memory)

    def close_extras(self, **kwargs: Any) -> None:
        """There is nothing to close."""


class MechanismEnv(gym.Env):
    """A task in one world."""

    metadata = {"render_modes": []}  # noqa: RUF012  # as Gymnasium has it

    def __init__(self, task: Task, **options: Any):
        self._many = MechanismVectorEnv(task, 1, AutoresetMode.DISABLED, **options)
        self.task, self.world = task, self._many.world
        self.action_space = self._many.single_action_space
        self.observation_space = self._many.single_observation_space

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple:
        """Begin anew."""
        super().reset(seed=seed)
        seen, _ = self._many.reset(seed=seed)
        return seen[0], {}

    def step(self, action: Any) -> tuple:
        """One step."""
        seen, reward, terminated, truncated, _ = self._many.step(np.asarray(action)[None])
        return seen[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), {}
