"""A scissor lift holds its height under loads that come and go: 11 bodies, 33 redundant equations, one force."""

import numpy as np

from ..author.model import Model
from ..author.parts import Motor
from ..scenes import scene
from ..world import World
from .task import Task

SOFT, DAMPING = 2000.0, 20.0  # of the springs [N/m, N s/m]: they carry the lift, the drives the load
EMPTY, HEAVIEST = 0.1, 6.0  # mass of the plate, and of a load on it [kg]


class LiftHold(Task):
    """Hold the plate where it began, while a load that is not seen comes, and goes.

    Seen are how far the plate is off [cm], its velocity [dm/s], the sum of what it was off [cm s], a slider's place
    [cm] and velocity [dm/s]. A step is worth -(cm off)² / 10 - 0.01 |action|².
    """

    drives = ("base-slotA.slide", "base-slotB.slide")
    most = (60.0, 60.0)
    observations, memories = 5, 6  # load, when it comes and goes, steps up to now, sum of what was off, plate's mass
    dt, skip, length = 0.0025, 4, 200

    def model(self) -> Model:
        """The scene on soft springs, with a force at each slider."""
        model = scene("cross-lift")
        for side in "AB":
            spring = model.springs[f"spring{side}"]
            spring.stiffness, spring.damping = SOFT, DAMPING
            model.joints[f"base-slot{side}"].features["slide"].motor = Motor(torque=0.0)
        self.height = float(model.bodies["plate"].position[2])
        return model

    def start(self, random: np.random.Generator, memory: np.ndarray) -> tuple[dict[str, float], dict[str, float]]:
        """At the authored pose, at rest; when which load comes and goes."""
        comes = random.integers(10, 80)
        memory[:5] = random.uniform(0.2, 1.0) * HEAVIEST, comes, comes + random.integers(40, 100), 0.0, 0.0
        return {"base-slotA.slide": 0.0}, {"base-slotA.slide": 0.0}

    def before_step(self, world: World, memory: np.ndarray) -> None:
        """The load that is due."""
        memory[:, 4] += self._off(world, len(memory)) * self.dt * self.skip
        is_there = (memory[:, 1] <= memory[:, 3]) & (memory[:, 3] < memory[:, 2])
        mass = EMPTY + np.where(is_there, memory[:, 0], 0.0)
        memory[:, 3] += 1.0
        if not np.array_equal(mass, memory[:, 5]):
            world.set("plate.mass", mass if len(memory) > 1 else float(mass[0]))
            memory[:, 5] = mass

    def _off(self, world: World, many: int) -> np.ndarray:
        """How far the plate is above where it began [cm]."""
        return 100.0 * (np.reshape(world.body("plate").position, (many, 3))[:, 2] - self.height)

    def observe(self, world: World, memory: np.ndarray) -> np.ndarray:
        """What sensors on the lift would tell."""
        many = len(memory)
        rate = 10.0 * np.reshape(world.body("plate").velocity, (many, 3))[:, 2]
        at = world.coordinate_names.index("base-slotA.slide")
        q, v = (np.reshape(one(), (many, -1))[:, at] for one in (world.joint_positions, world.joint_velocities))
        return np.stack([self._off(world, many), rate, memory[:, 4], 100.0 * q, 10.0 * v], 1)

    def reward(self, seen: np.ndarray, action: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """The less off the better."""
        return -0.1 * seen[:, 0] ** 2 - 0.01 * (action**2).sum(1)

    def failed(self, seen: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """Off by 10 cm it is near its stops."""
        return np.abs(seen[:, 0]) > 10.0
