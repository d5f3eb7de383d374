"""How far a scene will reach: a copy of its world runs ahead of the session, beside it and with bounded work."""

import threading
import time as wall
from collections.abc import Callable

import numpy as np

from ..author.errors import ModelError, StepError
from ..author.model import Model
from ..author.rotations import rotation_matrix
from ..observe.quantities import QUANTITIES
from ..world.world import World
from . import describe
from .asked import parts_of
from .publisher import Publisher

HORIZON = 8.0  # simulated time that is looked at, at most [s]; what a scene is meant to run for, where that is less
LEAST = 3.0  # simulated time that is looked at where it is meant to be shorter [s]
SAMPLE = 0.02  # simulated time between looks [s]
MOST_WALL = 3.0  # wall time that looking ahead takes, pauses included, on a machine that is idle [s]
BUSY_WALL = 10.0  # wall time that the sweep may take on one that is not [s]
MOST_WORK = 1.5  # processor time that it may take [s]: half of `MOST_WALL`
MOST_PARTS = 300  # of a model; larger ones take long to build a second time
FARTHEST = 1.5  # sizes of the mechanism from its middle, as far as a pendulum turns over: what goes on is not framed


def look_ahead(
    model: Model,
    make_world: Callable[[Model], World],
    call: Callable[[Callable[[], None]], object],
    publisher: Publisher,
) -> None:
    """Find out in a thread of its own what the scene will fill, and have the publisher, by `call`, tell it.

    It is not told where the model is too large, or breaks before anything can be said.
    """
    if not model.bodies or parts_of(model) > MOST_PARTS:
        return
    topology = publisher.parts.topology

    def run() -> None:
        try:
            corners, leaves = sweep(make_world(model), wall.monotonic() + BUSY_WALL)
        except (ModelError, StepError):  # it will be told where it matters: in the session's own world
            return
        follow = max(model.bodies.values(), key=lambda body: body.mass).name if leaves else None
        call(lambda: publisher.sweep(topology, corners, follow))

    threading.Thread(target=run, name="impulsar ahead", daemon=True).start()


def sweep(world: World, until: float) -> tuple[np.ndarray, bool]:
    """Lowest and highest corner of the bodies over the first seconds [2, axis], as far as it gets by a wall time,
    or for `MOST_WORK`.

    And whether all of it leaves its place sideways, as a vehicle does: then the corners are those of the start.
    """
    reaches = _reaches(world.model)
    first = low, high = _corners(world, reaches)
    start = (low + high) / 2
    size = float((high - low).max())
    upright = np.abs(world.model.gravity) > 0
    steps = max(1, round(SAMPLE / world.dt))
    horizon = max(LEAST, min(HORIZON, world.model.duration or HORIZON))
    work = wall.thread_time() + MOST_WORK
    for _ in range(round(horizon / (steps * world.dt))):
        began = wall.monotonic()
        if began > until or wall.thread_time() > work:
            break
        try:
            world.step(steps)
        except StepError:  # what was seen until then is good
            break
        now_low, now_high = _corners(world, reaches)
        if not np.isfinite([now_low, now_high]).all():
            break
        low, high = np.minimum(low, now_low), np.maximum(high, now_high)
        if ((now_low > first[1]) | (now_high < first[0]))[~upright].any():
            return np.array(first), True
        wall.sleep(wall.monotonic() - began)  # half of the time is the session's
    return np.clip(np.array([low, high]), start - FARTHEST * size, start + FARTHEST * size), False


def _reaches(model: Model) -> list[tuple[np.ndarray, np.ndarray]]:
    """Offset and half extents of the shapes of every body, or of a point where it has none."""
    found = []
    for body in model.bodies.values():
        shapes = [(np.asarray(shape.offset, float), describe.reach(shape)) for shape, _ in body.drawn]
        lows = [offset - half for offset, half in shapes] or [np.zeros(3)]
        highs = [offset + half for offset, half in shapes] or [np.zeros(3)]
        low, high = np.min(lows, axis=0), np.max(highs, axis=0)
        found.append(((low + high) / 2, (high - low) / 2))
    return found


def _corners(world: World, reaches: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    now, rows = world.moment(), [world.system.body_index[name] for name in world.model.bodies]
    p, q = (QUANTITIES[f"body.{what}"].read(now)[rows, 0] for what in ("position", "orientation"))
    turns = [rotation_matrix(one) for one in q]
    middles = np.array([at + turn @ offset for at, turn, (offset, _) in zip(p, turns, reaches, strict=True)])
    halves = np.array([np.abs(turn) @ half for turn, (_, half) in zip(turns, reaches, strict=True)])
    return (middles - halves).min(axis=0), (middles + halves).max(axis=0)
