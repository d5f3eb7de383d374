"""Energy and momentum: what must stay, stays, as far as the order of the method says."""

import math

import numpy as np

from ..author.model import Model
from ..scenes import scene
from ..world.world import World
from .case import Case

REFERENCE = 2.4525  # energy of the ten pendula, hanging to horizontal [J]


def free_momentum(device: str) -> float:
    """Relative change of linear and angular momentum of a tumbling free body over 1,000 steps."""
    J = np.diag([3.0, 2.0, 1.2])
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    model = Model("free body", gravity=(0, 0, 0))
    model.body("body", mass=2.0, inertia=turn @ J @ turn.T, velocity=(1, 2, 3), angular_velocity=(1.0, -2.0, 1.5))
    world = World(model, method="simgc", dt=0.01, device=device)
    start = momentum(world, "body")
    worst = 0.0
    scale = np.repeat(np.linalg.norm(start.reshape(2, 3), axis=1), 3)
    for _ in range(100):
        world.step(10)
        worst = max(worst, float(np.abs((momentum(world, "body") - start) / scale).max()))
    return worst


def momentum(world: World, name: str) -> np.ndarray:
    """Linear momentum and angular momentum about the centre of mass, world axes."""
    index = world.system.body_index[name]
    body = world.body(name)
    I_W = world.runner.work.I_W.numpy()[index, 0]
    return np.concatenate([world.model.bodies[name].mass * body.velocity, I_W @ body.angular_velocity])


def spherical_attitudes(device: str) -> float:
    """A ball-jointed rod swung through full circles in 26 planes moves as on a hinge, whatever the attitude."""
    planes = [np.array(p, float) for p in np.ndindex(3, 3, 3) if p != (1, 1, 1)]
    worst = 0.0
    for axis in ((plane - 1.0) / np.linalg.norm(plane - 1.0) for plane in planes):
        heights = []
        for kind in ("spherical", "revolute"):
            model = Model("rod", gravity=tuple(9.81 * _across(axis)))
            arm = -0.5 * _across(axis)
            spin = 9.0 * axis
            rod = model.body(
                "rod",
                mass=1.0,
                inertia=(0.1, 0.1, 0.1),
                position=arm,
                velocity=np.cross(spin, arm),
                angular_velocity=spin,
            )
            model.joint("pivot", kind, model.ground, rod, at=(0, 0, 0), axis=None if kind == "spherical" else axis)
            world = World(model, method="simgc", dt=0.001, device=device)
            path = []
            for _ in range(20):
                world.step(100)
                path.append(world.body("rod").position @ _across(axis))
            heights.append(np.array(path))
        worst = max(worst, np.abs(heights[0] - heights[1]).max())
    return worst


def _across(axis: np.ndarray) -> np.ndarray:
    """A unit vector perpendicular to an axis."""
    other = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    return other / np.linalg.norm(other)


def ten_pendula_drift(h: float):
    """max |E - E₀| from 30deg without the hand over 10 s, in per cent of 2.4525 J."""

    def measure(device: str) -> float:
        world = World(scene("ten-pendula", start="30deg"), method="simgc", dt=h, device=device)
        worst = 0.0
        for _ in range(2000):
            world.step(round(0.005 / h))
            worst = max(worst, abs(world.energy().imbalance))
        return 100.0 * worst / REFERENCE

    return measure


def ten_pendula_hand(device: str) -> float:
    """Worst imbalance of the books over the 10 s of drag and release at h = 0.001, in per cent of 2.4525 J."""
    world = World(scene("ten-pendula", start="hanging", hand=True), method="simgc", dt=0.001, device=device)
    worst = 0.0
    for _ in range(1000):
        world.step(10)
        worst = max(worst, abs(world.energy().imbalance))
    if not math.isfinite(worst):
        return math.inf
    return 100.0 * worst / REFERENCE


CASES = [
    Case("free-momentum", "a free body keeps its momentum to round-off over 1,000 steps", 1e-12, "1", free_momentum),
    Case(
        "spherical-attitudes",
        "a spherical pendulum passes every attitude as a hinge would",
        1e-9,
        "m",
        spherical_attitudes,
    ),
    Case(
        "ten-pendula-drift",
        "ten pendula from 30deg at h = 1e-4: max |E - E₀| over 10 s",
        0.05,
        "%",
        ten_pendula_drift(1e-4),
    ),
    Case(
        "ten-pendula-drift-fine",
        "the same at h = 1e-5: ten times less",
        0.005,
        "%",
        ten_pendula_drift(1e-5),
    ),
    Case(
        "ten-pendula-hand",
        "ten pendula, dragged and released at h = 0.001: completes 10 s, imbalance of the books (a prototype: 3 %)",
        3.0,
        "%",
        ten_pendula_hand,
    ),
]
