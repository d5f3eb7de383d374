"""Jansen's walking linkage: 18 closed loops and feet on the ground; the speed of one crank is what decides."""

import numpy as np

from ..author.model import Model
from ..author.parts import Motor
from ..scenes import scene
from ..world import World
from .task import Task

FASTEST = 12.0  # of the crank [rad/s]


class Walk(Task):
    """Walk at a speed that is told: seen are the crank's angle and rate, the chassis' velocity and lean, and the goal.

    A step is worth -|velocity - goal| / 0.1 m/s - 0.01 |action|².
    """

    drives = ("shaft",)
    most = (FASTEST,)
    observations, memories = 8, 1  # the goal [m/s]
    dt, skip, length = 0.01, 2, 150

    def model(self) -> Model:
        """The scene, its crank driven at a speed."""
        model = scene("walker")
        model.joints["shaft"].features["angle"].motor = Motor(speed=0.0)
        return model

    def start(self, random: np.random.Generator, memory: np.ndarray) -> tuple[dict[str, float], dict[str, float]]:
        """As it was authored, standing; a goal."""
        memory[0] = random.uniform(-0.25, 0.25)
        return {"shaft": 0.0}, {"shaft": 0.0}

    def observe(self, world: World, memory: np.ndarray) -> np.ndarray:
        """Crank as sine and cosine, rate / 10, velocity along x and up / 0.1, lean and its rate, goal / 0.1."""
        many = len(memory)
        at = world.coordinate_names.index("shaft")
        q, v = (np.reshape(one(), (many, -1))[:, at] for one in (world.joint_positions, world.joint_velocities))
        chassis = world.body("chassis")
        velocity, spin, turn = (
            np.reshape(one, (many, -1)) for one in (chassis.velocity, chassis.angular_velocity, chassis.orientation)
        )
        seen = [
            np.sin(q),
            np.cos(q),
            v / 10.0,
            velocity[:, 0] / 0.1,
            velocity[:, 2] / 0.1,
            2.0 * turn[:, 1],
            spin[:, 1],
        ]
        return np.stack([*seen, memory[:, 0] / 0.1], 1)

    def reward(self, seen: np.ndarray, action: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """The nearer to the goal the better."""
        return -np.abs(seen[:, 3] - seen[:, 7]) - 0.01 * (action**2).sum(1)

    def failed(self, seen: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """It has fallen over."""
        return np.abs(seen[:, 5]) > 1.0
