"""The binary frame: what `messages` says of it, packed once for all clients and finished for each."""

import math
import struct
import time as wall
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from ..author.rotations import quaternions, rotate
from ..edits.hands import turns
from ..engine.system import System
from ..observe.moment import Moment
from ..observe.quantities import KINDS, QUANTITIES
from ..observe.readout import coordinate_name
from ..world.signals import Signal
from .messages import BOOKS, HEADER, MAGIC

_ORDERS: WeakKeyDictionary[System, np.ndarray] = WeakKeyDictionary()
SLIDING = 0.15  # slip of a tyre beyond which it is drawn as one that slides
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
    leaps: int
    counts: tuple[int, int, int, int]  # bodies, hands, loads, contacts
    blocks: bytes  # books, poses, twists, hands, loads, contacts

    def frame(self, applied: int, subscription: int, signals: list[Signal], vectors: Iterable[str] = ()) -> bytes:
        """The frame of one client, with the vectors that it asked for."""
        read = [signal.read(self.now) for signal in signals]
        found = {kind: read_vectors(self.now) for kind, read_vectors in VECTORS.items() if kind in vectors}
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
            self.leaps & 0xFFFFFFFF,
            *self.counts,
            *(len(found.get(kind, ())) for kind in VECTORS),
            len(signals),
            len(BOOKS),
        )
        with np.errstate(over="ignore"):
            asked = b"".join(np.asarray(found[kind], "<f4").tobytes() for kind in VECTORS if kind in found)
            values = asked + np.array([value for value, _ in read], "<f4").tobytes()
        marks = bytes(0 if determinate else 1 for _, determinate in read)
        return header + self.blocks + values + marks


def tick(
    now: Moment,
    time: float,
    generation: int,
    revision: int,
    step: int,
    flags: int,
    leaps: int,
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
    p, q, w, v = (
        QUANTITIES[f"body.{what}"].read(now)[order, 0]
        for what in ("position", "orientation", "angular_velocity", "velocity")
    )
    hands, loads, contacts = _hands(now), _loads(now), [*_contacts(now), *_treads(now)]
    shared = numbers, np.hstack([p, q]), np.hstack([w, v]), hands, loads, contacts
    with np.errstate(over="ignore"):  # what float32 cannot hold is sent as infinite
        blocks = b"".join(np.asarray(block, "<f4").tobytes() for block in shared)
    counts = len(order), len(hands), len(loads), len(contacts)
    return Tick(now, time, generation, revision, step, flags, leaps, counts, blocks)


def _reactions(now: Moment) -> np.ndarray:
    """Torque and force of each joint on its second body."""
    return now.reactions[0][:, 0]


def _motors(now: Moment) -> np.ndarray:
    """Torque or force of the motor of each coordinate, in the order of joints and their groups."""
    values, known = QUANTITIES["coordinate.motor_torque"].read(now)[:, 0], KINDS["coordinate"].rows(now.bench)
    joints = now.bench.system.model.joints.values()
    names = [coordinate_name(joint, g, code) for joint in joints for g in joint.kind.groups for code in g.freedoms]
    return values[[known[name] for name in names]]


def _accelerations(now: Moment) -> np.ndarray:
    """Of each body, angular first, in the author's order."""
    return now.accelerations[_order(now.bench.system), 0]


VECTORS: dict[str, Callable[[Moment], np.ndarray]] = {  # by what a client asks for, in the order of their blocks
    "reactions": _reactions,
    "motors": _motors,
    "accelerations": _accelerations,
}


def _contacts(now: Moment) -> list[np.ndarray]:
    """Point, force and whether it slides, of each contact that is closed; on the second, or on what is no obstacle."""
    bodies = now.bench.system.body_index
    return [
        np.array([*one.point, *(one.force if one.second in bodies else -one.force), float(one.mode == "slides")])
        for one in now.contacts
    ]


def _treads(now: Moment) -> list[np.ndarray]:
    """Contacts of tyres, likewise, each with the corners of the patch, which carry nothing."""
    tyres, found = now.bench.tyres, []
    if not now.bench.system.model.tyres:
        return []
    point, normal, ahead, force = (tyres.vectors(what)[:, 0].copy() for what in ("point", "normal", "ahead", "force"))
    deep, slip, angle = (tyres.numbers(what)[:, 0].copy() for what in ("deflection", "slip", "angle"))
    for k, tyre in enumerate(now.bench.system.model.tyres.values()):
        if deep[k] <= 0.0:
            continue
        slides = float(math.hypot(slip[k], math.tan(angle[k])) > SLIDING)
        found.append(np.array([*point[k], *force[k], slides]))
        long = math.sqrt(2 * tyre.radius * deep[k]) * ahead[k]
        wide = tyre.width / 2 * np.cross(normal[k], ahead[k])
        corners = (point[k] + a * long + b * wide for a in (-1, 1) for b in (-1, 1))
        found += [np.array([*corner, 0.0, 0.0, 0.0, slides]) for corner in corners]
    return found


def _order(system: System) -> np.ndarray:
    """Rows of bodies in the author's order; found once for each system."""
    if system not in _ORDERS:
        _ORDERS[system] = np.array([system.body_index[name] for name in system.model.bodies], int)
    return _ORDERS[system]


def _hands(now: Moment) -> list[np.ndarray]:
    """Point held, target, force, torque and orientation of each hand."""
    system, rows = now.bench.system, KINDS["hand"].rows(now.bench)
    if not rows:
        return []
    bodies, points = system.arrays.hand_body.numpy(), system.parameter("hand_point")
    targets, turned = (now.bench.state.read(name)[:, 0] for name in ("hand_target", "hand_turn"))
    forces, torques = (QUANTITIES[f"hand.{what}"].read(now) for what in ("force", "torque"))
    p, q = (QUANTITIES[f"body.{what}"].read(now) for what in ("position", "orientation"))
    found = []
    for hand in rows.values():
        tip = p[bodies[hand], 0] + rotate(q[bodies[hand], 0], points[hand, 0])
        own = slice(3 * hand, 3 * hand + 3)
        aim = quaternions(turned[own]) if turns(system, hand) else q[bodies[hand], 0]
        found.append(np.concatenate([tip, targets[own], forces[hand, 0], torques[hand, 0], aim]))
    return found


def _loads(now: Moment) -> list[np.ndarray]:
    """Force and torque of each acting load now, world axes."""
    rows = KINDS["load"].rows(now.bench)
    if not rows:
        return []
    force, torque = (QUANTITIES[f"load.{what}"].read(now) for what in ("force", "torque"))
    return [np.concatenate([force[k, 0], torque[k, 0]]) for k in rows.values()]
