"""A parallel arm of five bars reaches for places in the plane: two torques at the base, one closed loop."""

import numpy as np

from ..author.model import Model
from ..author.parts import Motor
from ..scenes import scene
from ..scenes.five_bar import tip
from ..world import World
from .task import Task

REACH = 0.25  # angles of the arms from straight up, of goals and starts: both forearms far from one line [rad]


class FiveBarReach(Task):
    """Bring the tip to a goal: seen are both motors' angles and rates, the tip, its velocity and the way to the goal.

    A step is worth -|way| / 0.1 m - 0.01 |action|².
    """

    drives = ("left motor", "right motor")
    most = (0.08, 0.08)
    observations, memories = 10, 2
    dt, skip, length = 0.0025, 8, 150

    def model(self) -> Model:
        """The scene, driven by torques."""
        model = scene("five-bar")
        for name in self.drives:
            model.joints[name].features["angle"].motor = Motor(torque=0.0)
            model.joints[name].features["angle"].viscous = 2e-3
        return model

    def start(self, random: np.random.Generator, memory: np.ndarray) -> tuple[dict[str, float], dict[str, float]]:
        """Arms near upright, at rest; a goal that the tip can reach."""
        left, right = random.uniform(-REACH, REACH, 2)
        memory[:] = tip(np.pi / 2 + left, np.pi / 2 + right)
        angles = random.uniform(-REACH, REACH, 2)
        return dict(zip(self.drives, angles.tolist(), strict=True)), dict.fromkeys(self.drives, 0.0)

    def observe(self, world: World, memory: np.ndarray) -> np.ndarray:
        """Angles, rates / 10, tip / 0.1, its velocity, way to the goal / 0.1."""
        many = len(memory)
        q, v = (np.reshape(one(), (many, -1)) for one in (world.joint_positions, world.joint_velocities))
        at = [world.coordinate_names.index(name) for name in self.drives]
        pen = world.model.probes["pen"]
        forearm = world.body(pen.body)
        place = np.reshape(forearm.point(pen.p_BQ), (many, 3))[:, :2]
        arm = place - np.reshape(forearm.position, (many, 3))[:, :2]
        spin = np.reshape(forearm.angular_velocity, (many, 3))[:, 2:]
        speed = np.reshape(forearm.velocity, (many, 3))[:, :2] + spin * np.stack([-arm[:, 1], arm[:, 0]], 1)
        return np.concatenate([q[:, at], v[:, at] / 10.0, place / 0.1, speed, (memory - place) / 0.1], 1)

    def reward(self, seen: np.ndarray, action: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """The nearer the better."""
        return -np.linalg.norm(seen[:, 8:], axis=1) - 0.01 * (action**2).sum(1)

    def marks(self, memory: np.ndarray) -> np.ndarray:
        """The goal."""
        return np.pad(memory, ((0, 0), (0, 1)))[:, None]
