"""control: time of a step with a controller in the loop, called by Python and inside the launch.

The quickest of many measurements in turns, by the time that the processor spends on them: others on the machine would
slow long ones more often than short ones.

The inverted double pendulum of docs/control.md: two rods of 1 kg and 0.5 m, two motors, LQR at 1 kHz, dt = 1 ms.
"""

import time
from typing import Any

import numpy as np
import warp as wp

from ..author.model import Model
from ..author.parts import Motor
from ..world.world import World

GAINS = ((23.9923736, 3.7926502, 5.7022596, 1.4478347), (3.5066046, 12.9517147, 1.3910974, 1.6256275))
K = wp.constant(wp.types.matrix((2, 4), wp.float64)(*np.ravel(GAINS)))
WANTED = 20.0  # times faster
STEPS = {"none": 1000, "Python": 20, "Warp": 1000}  # of a measurement
ROUNDS = 60
f64 = wp.float64


@wp.func
def inside(t: f64, y: wp.array(dtype=f64), u: wp.array(dtype=f64)):
    for i in range(2):
        total = f64(0.0)
        for k in range(4):
            total += K[i, k] * y[k]
        u[i] = -total


def outside(t: float, y: np.ndarray) -> np.ndarray:
    return -np.asarray(GAINS) @ y


def pendulum() -> World:
    """Upright."""
    model, length = Model("inverted double pendulum"), 0.5
    before = model.ground
    for k, most in enumerate((10.0, 5.0)):
        inertia = (length**2 / 12, length**2 / 12, 1e-6)
        rod = model.body(f"rod {k + 1}", mass=1.0, inertia=inertia, position=(0, 0, length * (k + 0.5)))
        motor = Motor(torque=0.0, max_torque=most)
        at = (0, 0, length * k)
        model.joint(f"q{k + 1}", "revolute", before, rod, at=at, axis=(0, 1, 0), motor=motor)
        before = rod
    return World(model, dt=1e-3)


def run() -> list[dict[str, Any]]:
    """Time of a step, in turns."""
    reads = ("q1.position", "q2.position", "q1.velocity", "q2.velocity")
    worlds = {"none": pendulum(), "Python": pendulum(), "Warp": pendulum()}
    for name, controller in (("Python", outside), ("Warp", inside)):
        worlds[name].attach("lqr", controller, 1000.0, reads, ("q1.torque", "q2.torque"))
    for world in worlds.values():
        world.step(2000)  # compiled, and slices as long as they become
    times: dict[str, list[float]] = {name: [] for name in worlds}
    for _ in range(ROUNDS):
        for name, world in worlds.items():
            steps = STEPS[name]
            began = time.thread_time()
            world.step(steps)
            times[name].append((time.thread_time() - began) / steps)
    found = {name: min(each) for name, each in times.items()}
    ratio = found["Python"] / found["Warp"]
    return [
        {
            "scene": "inverted double pendulum",
            "rate [Hz]": 1000.0,
            "no controller [us]": 1e6 * found["none"],
            "Python [us]": 1e6 * found["Python"],
            "Warp [us]": 1e6 * found["Warp"],
            "times faster": ratio,
            "wanted": WANTED,
            "holds": ratio >= WANTED,
        }
    ]
