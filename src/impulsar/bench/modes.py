"""Closed forms of contact by modes and by impulses: evaluations per second of simulated time, and what they miss.

An evaluation is one of forces and accelerations with all rows solved; an impulsive sub-step is one, and one more for
each factor of its contacts. Counts, not clocks: they are the same on every machine.
"""

import numpy as np

from ..author.model import Model
from ..author.shapes import Box, Plane, Sphere
from ..engine.methods import Direct
from ..world.world import World

G, FRICTION, ANGLE = 9.81, 0.5, 0.3
DT = 0.01


def run() -> list[dict]:
    """Each scene by both, at default tolerances."""
    rows = []
    for name, build, along, form, seconds in (
        ("slip to roll", _ball, (1, 0, 0), _roll_form, 2.0),
        ("bounces, 0.8", _bouncing, (0, 0, 1), _bounce_form, 3.0),
        ("block up a slope", _block, _slope()[1], _block_form, 1.0),
    ):
        for way, modes in (("modes", True), ("impulses", False)):
            world = World(build(), Direct(modes=modes), dt=DT)
            evaluations, worst = 0, 0.0
            for _ in range(round(seconds / DT)):
                evaluations += int(world.step().iterations)
                worst = max(worst, abs(world.body("b").position @ np.array(along) - form(world.time)))
            rows.append(
                {"scene": name, "by": way, "evaluations/s": evaluations / world.time, "worst error [m]": float(worst)}
            )
    return rows


def _floor(friction: float, restitution: float = 0.0, angle: float = 0.0) -> Model:
    model = Model("closed form")
    model.material("stuff", friction=friction, restitution=restitution)
    turn = (0, np.sin(angle / 2), 0, np.cos(angle / 2))
    model.obstacle("floor", Plane(), material="stuff", orientation=turn)
    return model


def _ball() -> Model:
    model = _floor(FRICTION)
    model.body("b", mass=1, shape=Sphere(0.1, material="stuff"), position=(0, 0, 0.1), velocity=(2, 0, 0))
    return model


def _bouncing() -> Model:
    model = _floor(0.0, 0.8)
    model.body("b", mass=1, shape=Sphere(0.1, material="stuff"), position=(0, 0, 1.1))
    return model


def _block() -> Model:
    model = _floor(FRICTION, angle=ANGLE)
    up, along = _slope()
    turn = (0, np.sin(ANGLE / 2), 0, np.cos(ANGLE / 2))
    shape = Box((0.2, 0.2, 0.2), material="stuff")
    model.body("b", mass=1, shape=shape, position=0.1 * up, orientation=turn, velocity=1.5 * along)
    return model


def _slope() -> tuple[np.ndarray, np.ndarray]:
    return np.array([np.sin(ANGLE), 0, np.cos(ANGLE)]), np.array([-np.cos(ANGLE), 0, np.sin(ANGLE)])


def _roll_form(t: float) -> float:
    """2 m/s and no spin: slides until v = 5/7 of it."""
    ends = 2 * 2 / (7 * FRICTION * G)
    slides = min(t, ends)
    return 2 * slides - FRICTION * G * slides**2 / 2 + 2 * 5 / 7 * (t - slides)


def _bounce_form(t: float) -> float:
    """From 1 m; at rest where bounces have come to an end."""
    v = np.sqrt(2 * G)
    left = t - v / G
    if left < 0:
        return 1.1 - G * t * t / 2
    while v > 1e-6:
        v *= 0.8
        if left < 2 * v / G:
            return 0.1 + v * left - G * left**2 / 2
        left -= 2 * v / G
    return 0.1


def _block_form(t: float) -> float:
    """1.5 m/s upwards: stops, and holds."""
    a = G * (np.sin(ANGLE) + FRICTION * np.cos(ANGLE))
    slides = min(t, 1.5 / a)
    return 1.5 * slides - a * slides**2 / 2
