"""What a task is: a mechanism, what drives it, what is seen of it and what it is worth. All arrays are [env, ...]."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ..author.checks import positive, show, whole
from ..author.errors import ModelError
from ..author.model import Model
from ..author.names import closest
from ..world import World


class Task(ABC):
    """A mechanism with something to do in it.

    An environment calls `start` for the worlds that begin anew, each with a random generator of its own, then after
    every step `observe`, `reward` and `failed`. What belongs to an episode, such as a goal, is in `memory` [env, n].
    """

    drives: tuple[str, ...]  # joints whose motors are driven, by torque or speed
    most: tuple[float, ...]  # by which actions of 1 drive them [N m, N, rad/s]
    observations: int  # numbers that are seen
    memories: int = 0  # numbers of an episode
    dt: float = 0.005  # of a step of the engine [s]
    skip: int = 4  # such steps to a step of the environment
    length: int = 200  # steps of an episode

    @abstractmethod
    def model(self) -> Model:
        """The mechanism."""

    @abstractmethod
    def start(self, random: np.random.Generator, memory: np.ndarray) -> tuple[dict[str, float], dict[str, float]]:
        """Coordinates and velocities by name of one world that begins; fills its memory [n]."""

    @abstractmethod
    def observe(self, world: World, memory: np.ndarray) -> np.ndarray:
        """What is seen [env, observations]."""

    @abstractmethod
    def reward(self, seen: np.ndarray, action: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """What a step was worth [env]."""

    def failed(self, seen: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """Whether the episode is over before its time [env]."""
        return np.zeros(len(seen), bool)

    def before_step(self, world: World, memory: np.ndarray) -> None:
        """What a step changes in the world beside the motors."""
        return

    def marks(self, memory: np.ndarray) -> np.ndarray:
        """Places that pictures mark, such as a goal [env, mark, 3] [m]."""
        return np.zeros((len(memory), 0, 3))


def read_task(task: Any) -> Task:
    """A task that says what it has to, or one of `TASKS` by its name."""
    from .tasks import TASKS

    if isinstance(task, str):
        if task not in TASKS:
            raise ModelError(f"environment: no task {show(task)}; {closest(task, TASKS)}")
        task = TASKS[task]()
    if not isinstance(task, Task):
        raise ModelError(f"environment: task is {show(task)}, expected a Task, or one of: {', '.join(TASKS)}")
    owner = f"task {type(task).__name__}"
    if not isinstance(task.drives, tuple | list) or not task.drives:
        raise ModelError(f"{owner}: drives are {show(task.drives)}, expected a tuple of names of joints")
    if np.shape(task.most) != (len(task.drives),):
        raise ModelError(f"{owner}: most is {show(task.most)}, expected {len(task.drives)} numbers, one for each drive")
    for one in task.most:
        positive(owner, "most", one, "N m, N, rad/s or m/s")
    for what, least in (("observations", 1), ("memories", 0), ("skip", 1), ("length", 1)):
        whole(owner, what, getattr(task, what, None), least, 2**31 - 1)
    return task


def check_shape(what: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """What a task gave, of the shape that it should have."""
    if np.shape(value) != shape:
        raise ModelError(f"task: {what} gave shape {np.shape(value)}, expected {shape}")
    return np.asarray(value)
