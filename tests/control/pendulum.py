"""The inverted double pendulum of the tests of control: two uniform rods of 1 kg and 0.5 m, two motors."""

import math

import numpy as np

import impulsar as im

K = np.array(  # LQR of Q = diag(100, 100, 1, 1), R = 1
    [[23.9923736, 3.7926502, 5.7022596, 1.4478347], [3.5066046, 12.9517147, 1.3910974, 1.6256275]]
)
READS = ("q1.position", "q2.position", "q1.velocity", "q2.velocity")
WRITES = ("q1.torque", "q2.torque")
LENGTH, LIMITS = 0.5, (10.0, 5.0)


def pendulum() -> im.Model:
    """Upright, with motors of bounded torque."""
    model = im.Model("inverted double pendulum")
    across = LENGTH**2 / 12
    for k in range(2):
        inertia, at = (across, across, 1e-6), (0, 0, LENGTH * (k + 0.5))
        model.body(f"rod {k + 1}", mass=1.0, inertia=inertia, position=at)
    for k, most in enumerate(LIMITS):
        first = "ground" if k == 0 else "rod 1"
        motor = im.Motor(torque=0.0, max_torque=most)
        model.joint(f"q{k + 1}", "revolute", first, f"rod {k + 1}", at=(0, 0, LENGTH * k), axis=(0, 1, 0), motor=motor)
    return model


def lean(q1: float, q2: float) -> im.edits.SetState:
    """The edit that brings the joints to these angles [rad], at rest."""
    placed, top, angle = {}, np.zeros(3), 0.0
    for name, q in (("rod 1", q1), ("rod 2", q2)):
        angle += q
        along = np.array([math.sin(angle), 0.0, math.cos(angle)])
        turn = (0.0, math.sin(angle / 2), 0.0, math.cos(angle / 2))
        placed[name] = {"position": tuple(top + LENGTH / 2 * along), "orientation": turn}
        top = top + LENGTH * along
    return im.edits.SetState(placed)


def leaning(degrees: float = 10.0, dt: float = 1e-3, **options) -> im.World:
    """A world with both joints at an angle."""
    world = im.World(pendulum(), dt=dt, **options)
    world.apply(lean(math.radians(degrees), math.radians(degrees)))
    return world


def lqr(time: float, y: np.ndarray) -> np.ndarray:
    """τ = -K (q1, q2, q̇1, q̇2)."""
    return -y @ K.T
