"""The binary frame: what `messages` says of it, packed once for all clients and finished for each."""

import struct
import time as wall
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from ..author.rotations import rotate
from ..engine.system import System
from ..observe.moment import Moment
from ..observe.quantities import KINDS, QUANTITIES
from .messages import BOOKS, HEADER, MAGIC
from .signals import Signal

_ORDERS: WeakKeyDictionary[System, np.ndarray] = WeakKeyDictionary()
_HEADER = struct.Struct("<" + "".join(code for _, code in HEADER))


@dataclass(frozen=True)
class Tick:
    """One moment of the world as all clients see it."""

    now: Moment
    time: float  # [s]
    generation: int
    revision: int
    step: int
    flags: int
    counts: tuple[int, int, int, int]  # bodies, hands, loads, contacts
    blocks: bytes  # books, poses, hands, loads, contacts

    def frame(self, applied: int, subscription: int, signals: list[Signal]) -> bytes:
        """The frame of one client."""
        read = [signal.read(self.now) for signal in signals]
        header = _HEADER.pack(
            MAGIC,
            self.generation,
            self.time,
            wall.monotonic(),
            self.step & 0xFFFFFFFF,
            self.flags,
            self.revision,
            applied,
            subscription,
            *self.counts,
            len(signals),
            len(BOOKS),
        )
        with np.errstate(over="ignore"):
            values = np.array([value for value, _ in read], "<f4").tobytes()
        marks = bytes(0 if determinate else 1 for _, determinate in read)
        return header + self.blocks + values + marks


def tick(
    now: Moment,
    time: float,
    generation: int,
    revision: int,
    step: int,
    flags: int,
    substeps: float,
    clock: tuple[float, ...],
) -> Tick:
    """Pack what all clients share; `clock` is step budget, real-time factor and speed."""
    energies = QUANTITIES["energy"].read(now)[0, 0]
    error, iterations, step_time = (
        QUANTITIES[name].read(now)[0, 0] for name in ("constraint_error", "iterations", "step_time")
    )
    numbers = [*energies, error, iterations, substeps, step_time, *clock]
    order = _order(now.bench.system)
    p, q = (QUANTITIES[f"body.{what}"].read(now)[order, 0] for what in ("position", "orientation"))
    hands, loads, contacts = _hands(now), _loads(now), _contacts(now)
    shared = numbers, np.hstack([p, q]), hands, loads, contacts
    with np.errstate(over="ignore"):  # what float32 cannot hold is sent as infinite
        blocks = b"".join(np.asarray(block, "<f4").tobytes() for block in shared)
    counts = len(order), len(hands), len(loads), len(contacts)
    return Tick(now, time, generation, revision, step, flags, counts, blocks)


def _contacts(now: Moment) -> list[np.ndarray]:
    """Point, force and whether it slides, of each contact that is closed; on the second, or on what is no obstacle."""
    bodies = now.bench.system.body_index
    return [
        np.array([*one.point, *(one.force if one.second in bodies else -one.force), float(one.mode == "slides")])
        for one in now.contacts
    ]


def _order(system: System) -> np.ndarray:
    """Rows of bodies in the author's order; found once for each system."""
    if system not in _ORDERS:
        _ORDERS[system] = np.array([system.body_index[name] for name in system.model.bodies], int)
    return _ORDERS[system]


def _hands(now: Moment) -> list[np.ndarray]:
    """Point held, target and force of each hand."""
    system, rows = now.bench.system, KINDS["hand"].rows(now.bench)
    if not rows:
        return []
    bodies, points = system.arrays.hand_body.numpy(), system.parameter("hand_point")
    targets, forces = now.bench.state.read("hand_target")[:, 0], QUANTITIES["hand.force"].read(now)
    p, q = (QUANTITIES[f"body.{what}"].read(now) for what in ("position", "orientation"))
    found = []
    for hand in rows.values():
        tip = p[bodies[hand], 0] + rotate(q[bodies[hand], 0], points[hand, 0])
        found.append(np.concatenate([tip, targets[3 * hand : 3 * hand + 3], forces[hand, 0]]))
    return found


def _loads(now: Moment) -> list[np.ndarray]:
    """Force and torque of each acting load now, world axes."""
    rows = KINDS["load"].rows(now.bench)
    if not rows:
        return []
    force, torque = (QUANTITIES[f"load.{what}"].read(now) for what in ("force", "torque"))
    return [np.concatenate([force[k, 0], torque[k, 0]]) for k in rows.values()]
