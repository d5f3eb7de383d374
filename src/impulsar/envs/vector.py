"""Environments over worlds: `MechanismVectorEnv`, a batch in one launch, and `MechanismEnv`, one of them.

World k of a batch that is reset with a seed s is the single environment that is reset with s + k, to the bit: each has
a random generator of its own, and worlds of a batch do not know each other.
"""

from functools import cached_property
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from ..author.checks import show, whole
from ..author.errors import ModelError
from ..edits import Drive
from ..world import World
from .picture import Picture
from .task import Task, check_shape, read_task

RENDER_MODES = ["rgb_array"]


class MechanismVectorEnv(gym.vector.VectorEnv):
    """A task, or the name of one of `TASKS`, in many worlds, which are stepped together.

    autoreset_mode: when an episode that is over begins anew: "next_step" (Gymnasium's own choice), "same_step", with
    `final_obs` in the infos, or "disabled", by `reset(options={"reset_mask": mask})`. render_mode: "rgb_array" or None.
    max_episode_steps: where an episode shall be shorter than the task's.
    """

    def __init__(
        self,
        task: Task | str,
        num_envs: int = 64,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        device: str = "cpu",
        compile: str | None = "off",
        method: Any = "simgc",
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
    ):
        num_envs = whole("environment", "num_envs", num_envs, 1, 1_000_000)
        self.autoreset = _autoreset_mode(autoreset_mode)
        if render_mode not in (None, *RENDER_MODES):
            raise ModelError(f"environment: render_mode is {show(render_mode)}, expected 'rgb_array' or None")
        self.task, self.num_envs, self.render_mode = read_task(task), num_envs, render_mode
        task = self.task
        self.world = World(task.model(), method=method, dt=task.dt, worlds=num_envs, device=device, compile=compile)
        most = task.length if max_episode_steps is None else max_episode_steps
        self.length = min(task.length, whole("environment", "max_episode_steps", most, 1, 2**31 - 1))
        self.metadata = {"autoreset_mode": self.autoreset} | _looks(task)
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
        for k, one in enumerate(_seeds(seed, self.num_envs)):
            if one is not None and mask[k]:
                self._randoms[k] = np.random.default_rng(one)
        self._begin(mask)
        return self._seen(), {}

    def step(self, actions: Any) -> tuple:
        """A step of all worlds; in the mode "next_step" those that are over begin anew instead."""
        actions = np.clip(_actions(actions, (self.num_envs, len(self.task.drives))), -1.0, 1.0)
        anew = self._over.copy()
        self._drive(actions)
        self.task.before_step(self.world, self.memory)
        self.world.step(self.task.skip)
        self.counts += 1
        if anew.any():
            self._begin(anew)
        seen = self._seen()
        reward = np.where(anew, 0.0, check_shape("reward", self.task.reward(seen, actions, self.memory), anew.shape))
        failed = check_shape("failed", self.task.failed(seen, self.memory), anew.shape)
        terminated = failed.astype(bool) & ~anew
        truncated = (self.counts >= self.length) & ~terminated & ~anew
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
        if any([set(part) for part in one] != [set(part) for part in starts[0]] for one in starts):
            raise ModelError("task: start names other coordinates for one world than for another")
        q, v = ({name: np.array([one[at][name] for one in starts]) for name in starts[0][at]} for at in range(2))
        self.world.reset(mask, q=q, v=v)
        self.counts[mask], self._over[mask] = 0, False

    def _drive(self, actions: np.ndarray) -> None:
        for k, joint in enumerate(self.task.drives):
            value = self._most[k] * actions[:, k]
            name, _, group = joint.partition(".")
            self.world.apply(Drive(name, value if self.num_envs > 1 else float(value[0]), group or None))

    def _seen(self) -> np.ndarray:
        many = (self.num_envs, self.task.observations)
        return check_shape("observe", self.task.observe(self.world, self.memory), many)

    @cached_property
    def _picture(self) -> Picture:
        return Picture(self.world)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """A picture of each world [480, 640, 3]."""
        if self.render_mode is None:
            return None
        marks = self.task.marks(self.memory)
        return tuple(self._picture.of(k, marks[k]) for k in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """There is nothing to close."""


class MechanismEnv(gym.Env):
    """A task, or the name of one of `TASKS`, in one world."""

    metadata = {"render_modes": RENDER_MODES}  # noqa: RUF012  # as Gymnasium has it

    def __init__(self, task: Task | str, **options: Any):
        self._many = MechanismVectorEnv(task, 1, AutoresetMode.DISABLED, **options)
        self.task, self.world, self.render_mode = self._many.task, self._many.world, self._many.render_mode
        self.metadata = _looks(self.task)
        self.action_space = self._many.single_action_space
        self.observation_space = self._many.single_observation_space

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple:
        """Begin anew."""
        super().reset(seed=seed)
        seen, _ = self._many.reset(seed=seed)
        return seen[0], {}

    def step(self, action: Any) -> tuple:
        """One step."""
        seen, reward, terminated, truncated, _ = self._many.step(_actions(action, (len(self.task.drives),))[None])
        return seen[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), {}

    def render(self) -> np.ndarray | None:
        """A picture [480, 640, 3]."""
        pictures = self._many.render()
        return None if pictures is None else pictures[0]


def _looks(task: Task) -> dict[str, Any]:
    """What an environment says of its pictures."""
    return {"render_modes": RENDER_MODES, "render_fps": round(1.0 / (task.dt * task.skip))}


def _autoreset_mode(value: Any) -> AutoresetMode:
    """A mode of Gymnasium's, by its name in small letters too."""
    for mode in AutoresetMode:
        if value in (mode, mode.value, mode.name.lower()):
            return mode
    known = ", ".join(mode.name.lower() for mode in AutoresetMode)
    raise ModelError(f"environment: autoreset_mode is {show(value)}, expected one of: {known}")


def _seeds(seed: Any, many: int) -> list[int | None]:
    """A seed for each world, from one, from as many, or None."""
    if seed is None or (isinstance(seed, int | np.integer) and not isinstance(seed, bool)):
        seeds = [None if seed is None else int(seed) + k for k in range(many)]
    else:
        seeds = list(seed) if isinstance(seed, list | tuple | np.ndarray) else [seed]
        if len(seeds) != many and seeds != [seed]:
            raise ModelError(f"environment: {len(seeds)} seeds for {many} environments")
    for one in seeds:
        if one is not None and (not isinstance(one, int | np.integer) or isinstance(one, bool) or one < 0):
            raise ModelError(f"environment: seed is {show(one)}, expected an integer >= 0, one for each world, or None")
    return seeds


def _actions(given: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Actions as finite numbers of a shape."""
    try:
        actions = np.asarray(given, float)
    except (TypeError, ValueError):
        raise ModelError(f"environment: action is {show(given)}, expected numbers of shape {shape}") from None
    if actions.shape != shape:
        raise ModelError(f"environment: action has shape {actions.shape}, expected {shape}")
    if not np.isfinite(actions).all():
        raise ModelError("environment: an action is not a finite number")
    return actions
