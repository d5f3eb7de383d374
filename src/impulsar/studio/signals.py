"""Signals: any quantity of a world by name, as a number per frame. The names are listed in `messages`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..author.errors import ModelError
from ..author.rotations import rotate
from ..edits import known
from ..engine.system.slots import SPRING
from ..observe.books import Books
from ..world.world import World

AXES = {"x": 0, "y": 1, "z": 2, "norm": 3}
UNITS = {
    "position": "m",
    "velocity": "m/s",
    "angular_velocity": "rad/s",
    "acceleration": "m/s²",
    "angular_acceleration": "rad/s²",
    "force": "N",
    "torque": "N m",
    "length": "m",
    "energy": "J",
    "kinetic_energy": "J",
    "constraint_error": "m and rad",
    "iterations": "1",
    "step_time": "s",
}
BODY_VECTORS = (
    "position",
    "velocity",
    "angular_velocity",
    "acceleration",
    "angular_acceleration",
    "force",
    "torque",
)
COORDINATE = ("position", "velocity", "motor_torque")
ENERGIES = ("kinetic", "potential", "elastic", "total", "work", "loss", "imbalance")


@dataclass(frozen=True)
class Before:
    """What was just before the last step, for rates over it."""

    dt: float
    angular_velocity: np.ndarray  # [body, axis]
    angular_momentum: np.ndarray

    @classmethod
    def of(cls, world: World) -> "Before":
        """The first world as it is now."""
        w = world.runner.work.twist.numpy()[:, 0, :3].copy()
        return cls(world.dt, w, np.einsum("bij,bj->bi", world.runner.work.I_W.numpy()[:, 0], w))


class Reading:
    """The first world at one moment; what several signals need is computed once."""

    def __init__(self, world: World, before: Before | None = None, iterations: float = 0.0, step_time: float = 0.0):
        self.world, self.before = world, before
        self.iterations, self.step_time = iterations, step_time

    @cached_property
    def positions(self) -> np.ndarray:
        """Of all bodies in the system's order [body, axis]."""
        return self.world.runner.work.p_WB.numpy()[:, 0]

    @cached_property
    def orientations(self) -> np.ndarray:
        return self.world.runner.work.q_WB.numpy()[:, 0]

    @cached_property
    def twists(self) -> np.ndarray:
        return self.world.runner.work.twist.numpy()[:, 0]

    @cached_property
    def energy(self) -> Books:
        return self.world.energy()

    @cached_property
    def constraint_error(self) -> float:
        return float(np.linalg.norm(self.world.readout.lock_errors()[:, 0]))

    @cached_property
    def freedoms(self) -> tuple[np.ndarray, np.ndarray]:
        return self.world.readout.freedoms()

    @cached_property
    def motor_torques(self) -> np.ndarray:
        return self.world.motor_torques()

    @cached_property
    def reactions(self) -> tuple[np.ndarray, np.ndarray]:
        return self.world.reactions()

    @cached_property
    def hand_forces(self) -> dict[str, np.ndarray]:
        forces = self.world.hand_forces()
        return {name: np.reshape(force, (-1, 3))[0] for name, force in forces.items()}

    def body_vector(self, body: int, quantity: str) -> np.ndarray:
        """One of BODY_VECTORS in world axes."""
        if quantity == "position":
            return self.positions[body]
        if quantity in ("velocity", "angular_velocity"):
            return self.twists[body, 3:] if quantity == "velocity" else self.twists[body, :3]
        acceleration = self.world.runner.work.a_WB.numpy()[body, 0]
        if quantity == "acceleration":
            return acceleration
        if quantity == "force":
            return self.mass(body) * acceleration
        if self.before is None or len(self.before.angular_velocity) <= body:
            return np.full(3, np.nan)
        now = Before.of(self.world)
        if quantity == "torque":
            return (now.angular_momentum[body] - self.before.angular_momentum[body]) / self.before.dt
        return (now.angular_velocity[body] - self.before.angular_velocity[body]) / self.before.dt

    def mass(self, body: int) -> float:
        return float(self.world.system.parameter("mass")[body, 0])

    def place(self, body: str, point: np.ndarray) -> np.ndarray:
        """World place of a point of a body [m]."""
        if body == "ground":
            return np.asarray(point)
        index = self.world.system.body_index[body]
        return self.positions[index] + rotate(self.orientations[index], np.asarray(point))

    def speed(self, body: str, point: np.ndarray) -> np.ndarray:
        """World velocity of a point of a body [m/s]."""
        if body == "ground":
            return np.zeros(3)
        index = self.world.system.body_index[body]
        arm = rotate(self.orientations[index], np.asarray(point))
        return self.twists[index, 3:] + np.cross(self.twists[index, :3], arm)


@dataclass(frozen=True)
class Signal:
    """A name, its unit and how to read it: value and whether it is determinate."""

    name: str
    unit: str
    read: Callable[[Reading], tuple[float, bool]]
    needs_before: bool = False


def signal(world: World, name: str) -> Signal:
    """The signal of a name, or an EditError that says what there is."""
    kind, _, rest = name.partition(".")
    makers: dict[str, Callable[[World, str, str], Signal]] = {
        "body": _body,
        "joint": _joint,
        "coordinate": _coordinate,
        "spring": _spring,
        "hand": _hand,
        "probe": _probe,
        "energy": _energy,
        "constraint_error": _plain,
        "iterations": _plain,
        "step_time": _plain,
    }
    known(f"signal '{name}'", "kind", kind, makers)
    return makers[kind](world, name, rest)


def _plain(world: World, name: str, rest: str) -> Signal:
    if rest:
        raise ModelError(f"signal '{name}': has no parts; give '{name.partition('.')[0]}'")
    return Signal(name, UNITS[name], lambda r: (float(getattr(r, name)), True))


def _energy(world: World, name: str, rest: str) -> Signal:
    known(f"signal '{name}'", "energy", rest, dict.fromkeys(ENERGIES))

    def read(r: Reading) -> tuple[float, bool]:
        books: Any = r.energy
        if rest in ("work", "loss"):
            return float(sum(np.ravel(v)[0] for v in (books.work if rest == "work" else books.losses).values())), True
        return float(np.ravel(getattr(books, rest))[0]), True

    return Signal(name, "J", read)


def _axis(vector: np.ndarray, axis: int) -> float:
    return float(np.linalg.norm(vector)) if axis == 3 else float(vector[axis])


def _body(world: World, name: str, rest: str) -> Signal:
    if rest.endswith(".kinetic_energy"):
        body = known(f"signal '{name}'", "body", rest.removesuffix(".kinetic_energy"), world.system.body_index)
        return Signal(name, "J", lambda r: (_kinetic_energy(r, body), True))
    part, quantity, axis = _split(name, rest, 2)
    body = known(f"signal '{name}'", "body", part, world.system.body_index)
    known(f"signal '{name}'", "quantity", quantity, dict.fromkeys(BODY_VECTORS))
    k = known(f"signal '{name}'", "axis", axis, AXES)
    needs_before = quantity in ("angular_acceleration", "torque")
    return Signal(name, UNITS[quantity], lambda r: (_axis(r.body_vector(body, quantity), k), True), needs_before)


def _kinetic_energy(r: Reading, body: int) -> float:
    w, v = r.twists[body, :3], r.twists[body, 3:]
    return float(0.5 * (r.mass(body) * v @ v + w @ r.world.runner.work.I_W.numpy()[body, 0] @ w))


def _joint(world: World, name: str, rest: str) -> Signal:
    for quantity in ("force", "torque"):
        part, reaction, axis = rest.partition(f".reaction.{quantity}.")
        if reaction:
            index = known(f"signal '{name}'", "joint", part, {n: i for i, n in enumerate(world.model.joints)})
            k = known(f"signal '{name}'", "axis", axis, AXES)
            columns = slice(0, 3) if quantity == "torque" else slice(3, 6)

            def read(r: Reading, index: int = index, k: int = k, columns: slice = columns) -> tuple[float, bool]:
                wrench, determinate = r.reactions
                return _axis(wrench[index, 0, columns], k), bool(determinate[index, 0])

            return Signal(name, UNITS[quantity], read)
    part, quantity = _split(name, rest, 1)
    known(f"signal '{name}'", "joint", part, world.readout.rows)
    rows = world.readout.rows[part]
    if len(rows) != 1:
        names = ", ".join(world.readout.coordinates[row] for row in rows) or "none"
        raise ModelError(f"signal '{name}': joint '{part}' has {len(rows)} coordinates; name one of: {names}")
    return _of_coordinate(world, name, rows[0], quantity)


def _coordinate(world: World, name: str, rest: str) -> Signal:
    part, quantity = _split(name, rest, 1)
    index = {coordinate: row for row, coordinate in enumerate(world.readout.coordinates)}
    return _of_coordinate(world, name, known(f"signal '{name}'", "coordinate", part, index), quantity)


def _of_coordinate(world: World, name: str, row: int, quantity: str) -> Signal:
    known(f"signal '{name}'", "quantity", quantity, dict.fromkeys(COORDINATE))
    unit = world.readout.coordinate_units[row]
    if quantity == "motor_torque":
        return Signal(name, "N" if unit == "m" else "N m", lambda r: (float(r.motor_torques[row, 0]), True))
    which = 0 if quantity == "position" else 1
    return Signal(name, unit if which == 0 else f"{unit}/s", lambda r: (float(r.freedoms[which][row, 0]), True))


def _spring(world: World, name: str, rest: str) -> Signal:
    part, quantity = _split(name, rest, 1)
    known(f"signal '{name}'", "spring", part, world.model.springs)
    known(f"signal '{name}'", "quantity", quantity, dict.fromkeys(("length", "force")))
    spring = world.model.springs[part]
    slot = next(r for r, s in enumerate(world.system.slots) if s.kind == SPRING and s.name == part)

    def read(r: Reading) -> tuple[float, bool]:
        d = r.place(spring.second, spring.p_CQ) - r.place(spring.first, spring.p_PQ)
        length = float(np.linalg.norm(d))
        if quantity == "length":
            return length, True
        rate = (r.speed(spring.second, spring.p_CQ) - r.speed(spring.first, spring.p_PQ)) @ d / max(length, 1e-12)
        k, c, free = (float(r.world.system.parameter(f"slot_{x}")[slot, 0]) for x in "abc")
        return k * (length - free) + c * float(rate), True

    return Signal(name, UNITS[quantity], read)


def _hand(world: World, name: str, rest: str) -> Signal:
    part, force, axis = _split(name, rest, 2)
    known(f"signal '{name}'", "quantity", force, {"force": None})
    k = known(f"signal '{name}'", "axis", axis, AXES)

    def read(r: Reading) -> tuple[float, bool]:
        force = r.hand_forces.get(part)
        return (0.0 if force is None else _axis(force, k)), True

    return Signal(name, "N", read)


def _probe(world: World, name: str, rest: str) -> Signal:
    part, axis = _split(name, rest, 1)
    known(f"signal '{name}'", "probe", part, world.model.probes)
    k = known(f"signal '{name}'", "axis", axis, AXES)
    probe = world.model.probes[part]
    return Signal(name, "m", lambda r: (_axis(r.place(probe.body, probe.p_BQ), k), True))


def _split(name: str, rest: str, count: int) -> list[str]:
    """A part's name, which may have dots of its own, and the `count` words after it."""
    words = rest.rsplit(".", count)
    if len(words) != count + 1 or not words[0]:
        raise ModelError(f"signal '{name}': is not complete; such as body.arm.velocity.x or joint.hinge.position")
    return words
