"""What a task is: a mechanism, what drives it, what is seen of it and what it is worth. All arrays are [env, ...]."""

from abc import ABC, abstractmethod

import numpy as np

from ..author.model import Model
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
