"""The binary frame: what `messages` says of it, packed once for all clients and finished for each."""

import struct
import time as wall
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from ..author.rotations import rotate
from ..engine.system import System
from ..world.world import World
from .describe import acting_loads
from .messages import BOOKS, HEADER, MAGIC
from .signals import Reading, Signal

_ORDERS: WeakKeyDictionary[System, np.ndarray] = WeakKeyDictionary()
_HEADER = struct.Struct("<" + "".join(code for _, code in HEADER))


@dataclass(frozen=True)
class Tick:
    """One moment of the world as all clients see it."""

    reading: Reading
    generation: int
    revision: int
    step: int
    flags: int
    counts: tuple[int, int, int]  # bodies, hands, loads
    blocks: bytes  # books, poses, hands, loads

    def frame(self, applied: int, subscription: int, signals: list[Signal]) -> bytes:
        """The frame of one client."""
        read = [signal.read(self.reading) for signal in signals]
        header = _HEADER.pack(
            MAGIC,
            self.generation,
            self.reading.world.time,
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
    reading: Reading, generation: int, revision: int, step: int, flags: int, substeps: float, clock: tuple[float, ...]
) -> Tick:
    """Pack what all clients share; `clock` is step budget, real-time factor and speed."""
    world = reading.world
    books = reading.energy
    numbers = [
        books.kinetic,
        books.potential,
        books.elastic,
        sum(books.work.values()),
        sum(books.losses.values()),
        books.imbalance,
        reading.constraint_error,
        reading.iterations,
        substeps,
        reading.step_time,
        *clock,
    ]
    order = _order(world.system)
    poses = np.hstack([reading.positions[order], reading.orientations[order]])
    hands, loads = _hands(reading), _loads(reading)
    with np.errstate(over="ignore"):  # what float32 cannot hold is sent as infinite
        blocks = b"".join(
            np.asarray(block, "<f4").tobytes() for block in ([np.ravel(n)[0] for n in numbers], poses, hands, loads)
        )
    return Tick(reading, generation, revision, step, flags, (len(order), len(hands), len(loads)), blocks)


def _order(system: System) -> np.ndarray:
    """Rows of bodies in the author's order; found once for each system."""
    if system not in _ORDERS:
        _ORDERS[system] = np.array([system.body_index[name] for name in system.model.bodies], int)
    return _ORDERS[system]


def _hands(reading: Reading) -> list[np.ndarray]:
    """Point held, target and force of each hand."""
    world = reading.world
    if not any(world.system.hand_names):
        return []
    bodies = world.system.arrays.hand_body.numpy()
    points = world.system.parameter("hand_point")
    targets = world.state.read("hand_target")[:, 0]
    rows = []
    for name, force in reading.hand_forces.items():
        hand = world.system.hand_names.index(name)
        body = int(bodies[hand])
        tip = reading.positions[body] + rotate(reading.orientations[body], points[hand, 0])
        rows.append(np.concatenate([tip, targets[3 * hand : 3 * hand + 3], force]))
    return rows


def _loads(reading: Reading) -> list[np.ndarray]:
    """Force and torque of each acting load now, world axes."""
    return [load_now(reading.world, i) for i, _ in acting_loads(reading.world)]


def load_now(world: World, load: int) -> np.ndarray:
    """Force [N] and torque [N m] of a load at the present time, world axes."""
    system = world.system
    first = int(system.arrays.load_channel.numpy()[load])
    items = system.channels.items[first : first + 6]
    time = world.time
    values = np.array([float(np.ravel(item(time) if callable(item) else item)[0]) for item in items])
    if not system.arrays.load_in_body.numpy()[load]:
        return values
    q = world.runner.work.q_WB.numpy()[int(system.arrays.load_body.numpy()[load]), 0]
    return np.concatenate([rotate(q, values[:3]), rotate(q, values[3:])])
