"""Some bodies of a mechanism by themselves: a model of these only, and what stands for the rest of it.

A joint or spring between one of them and a body that is left out is cut. In its place

held        the other side stays where it is: it is on the ground
following   the other body is there, and moves as it was recorded: its six speeds are driven
reactions   the other body is gone, and what it did is a load: forces and torques as they were recorded

Joints and springs to the ground, loads and obstacles stay. Between samples speeds, forces and torques are linear, so
that the parts move as they did in the whole but for the square of the time between samples.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.checks import show
from ..author.errors import ModelError
from ..author.groups import tidied
from ..author.model import Model
from ..author.parts import PARTS, Joint, Load, Motor, Spring
from ..author.profiles import Harmonic, Passage, Table
from ..author.rotations import conjugate, multiply, rotate_all
from ..author.touching import touching_pairs

if TYPE_CHECKING:
    import xarray as xr

STANDS_IN = ("held", "following", "reactions")
MOST = 100_000  # samples
NEEDED = ("position", "orientation", "velocity", "angular_velocity", "reaction_force", "reaction_torque")


@dataclass(frozen=True)
class Alone:
    """A model of some bodies, the joints and springs that were cut for it, and what else is not there."""

    model: Model
    cut: tuple[str, ...]
    notes: tuple[str, ...] = ()
    duration: float = 0.0  # of what stands for the rest, where that was recorded [s]


def alone(
    model: Model, bodies: Iterable[str], instead: str = "held", recorded: "xr.Dataset | None" = None, most: int = MOST
) -> Alone:
    """A model of `bodies` only; `instead` of the others: "held", "following" or "reactions".

    The model's bodies are where they are to begin; with the latter two, where and as they were at the first sample of
    `recorded`, a result of a run of this model with every step in it, of which the last `most` samples are taken.
    """
    inside = _inside(model, bodies)
    if instead not in STANDS_IN:
        raise ModelError(f"alone: instead is {show(instead)}, expected one of: {', '.join(STANDS_IN)}")
    joining: list[Joint | Spring] = [*model.joints.values(), *model.springs.values()]
    cut = [
        part
        for part in joining
        if len({part.first, part.second} & inside) == 1 and "ground" not in (part.first, part.second)
    ]
    outside = {end for part in cut for end in (part.first, part.second)} - inside
    record = None if instead == "held" else _Record(model, recorded, most)
    if record is not None:
        model = record.started(model)
    kept = inside | (outside if instead == "following" else set())
    new, notes = _only(model, inside, kept, {part.name for part in cut}, instead)
    for part in cut:
        if instead == "held":
            _hold(new, model, part, inside)
        elif instead == "reactions":
            assert record is not None
            _load(new, part, inside, record)
    if instead == "following":
        assert record is not None
        for name in sorted(outside):
            _drive(new, name, record)
    new.check(meeting=False)
    return Alone(new, tuple(part.name for part in cut), tuple(notes), 0.0 if record is None else record.duration)


def _inside(model: Model, bodies: Iterable[str]) -> set[str]:
    names = list(bodies) if not isinstance(bodies, str) else [bodies]
    for name in names:
        if model.find_body("alone", name) is model.ground:
            raise ModelError("alone: 'ground' is there anyway; give bodies")
    if not names:
        raise ModelError("alone: no bodies are given; give their names")
    return set(names)


def _only(model: Model, inside: set[str], kept: set[str], cut: set[str], instead: str) -> tuple[Model, list[str]]:
    """The model with what is of these bodies and the ground alone; and what went besides."""
    new, notes = model.copy(parts=True), list[str]()
    new.name = f"{', '.join(name for name in model.bodies if name in inside)} alone"[:100]
    new.reference_energy = new.horizon = None
    new.bodies = {name: body for name, body in new.bodies.items() if name in kept}
    there = {"ground", *new.bodies, *new.obstacles, None}
    if new.expressions:  # which say where bodies were authored
        new.expressions = {}
        notes.append("what followed parameters")
    if new.script:
        new.script = []
        notes.append("the script of edits")
    touching = ({one.owner for one in pair} for pair in touching_pairs(model))
    if any(pair & inside and pair & (set(model.bodies) - inside) for pair in touching):
        notes.append("contact with bodies that are left out")
    for kind, entry in PARTS.items():
        parts = getattr(new, entry.plural)
        for name, part in list(parts.items()):
            lost = any(
                end not in (new.joints if target == "joint" else there)
                for _, target, end in entry.named(part)
                if target != "material"
            )
            if kind in ("joint", "spring"):
                lost = not {part.first, part.second} & inside or (lost and not (name in cut and instead == "held"))
            if not lost:
                continue
            del parts[name]
            if kind == "coupling" and instead == "reactions" and set(part.joints) & set(new.joints):
                raise ModelError(f"alone: coupling '{name}' is of a joint that goes; take its bodies too, or hold it")
            if kind == "coupling" and set(part.joints) & set(new.joints):
                notes.append(f"coupling '{name}'")
    return tidied(new), notes


def _hold(new: Model, model: Model, part: Joint | Spring, inside: set[str]) -> None:
    """The side of a body that is left out, on the ground."""
    is_first = part.first not in inside
    body = model.bodies[part.first if is_first else part.second]
    held: dict[str, Any] = {"first" if is_first else "second": "ground"}
    if isinstance(part, Spring):
        point = "p_PQ" if is_first else "p_CQ"
        held[point] = body.world_point(getattr(part, point))
        new.springs[part.name] = replace(part, **held)
        return
    p, q = ("p_PF", "q_PF") if is_first else ("p_CM", "q_CM")
    held |= {p: body.world_point(getattr(part, p)), q: multiply(body.orientation, getattr(part, q))}
    new.joints[part.name] = replace(part, **held)


def _load(new: Model, part: Joint | Spring, inside: set[str], record: "_Record") -> None:
    """What a joint or spring did to the body that stays, as a load at its point of it."""
    second = part.second in inside
    body = part.second if second else part.first
    if isinstance(part, Spring):
        force, torque = record.spring(part) * (1.0 if second else -1.0), np.zeros((len(record.times), 3))
        at = part.p_CQ if second else part.p_PQ
    else:
        force, torque = record.wrench(part.name)
        at = part.p_CM
        if not second:  # it is given about M's origin, and the first body has F's
            arm = record.point(part.second, part.p_CM)[0] - record.point(part.first, part.p_PF)[0]
            force, torque, at = -force, -(torque + np.cross(arm, force)), part.p_PF
    load = Load(part.name, body, record.table(force), record.table(torque), at.copy(), "world")
    load.check()
    new.loads[part.name] = load


def _drive(new: Model, name: str, record: "_Record") -> None:
    """A body that moves as it was recorded, whatever pulls at it."""
    velocity, turning = record.of_body("velocity", name), record.of_body("angular_velocity", name)
    motors = {axis: Motor(speed=record.table(velocity[:, k])) for k, axis in enumerate("xyz")}
    motors["rotation"] = Motor(speed=record.table(turning))
    free = next(found for k in range(1000) if new.holder(found := f"{name} as recorded{f' {k}' if k else ''}") is None)
    body = new.bodies[name]
    still = (0.0, 0.0, 0.0, 1.0)
    new.joint(
        free, "free", "ground", name, motor=motors,
        frame_a=(body.position, still), frame_b=((0.0, 0.0, 0.0), conjugate(body.orientation)),
    )  # fmt: skip


class _Record:
    """A result by part."""

    def __init__(self, model: Model, data: "xr.Dataset | None", most: int):
        if data is None:
            raise ModelError("alone: nothing is recorded; give the result of a run with every step in it")
        if missing := [name for name in NEEDED if name not in data]:
            raise ModelError(f"alone: what is recorded has no {', '.join(missing)}; let the run have them")
        if "world" in data.dims:
            raise ModelError("alone: what is recorded is of several worlds; select one of them")
        if unknown := set(model.bodies) - set(data["body"].values.tolist()):
            raise ModelError(f"alone: what is recorded has no body '{sorted(unknown)[0]}'; record this model")
        wrenches = np.concatenate([data["reaction_force"].values, data["reaction_torque"].values], axis=-1)
        begin = 1 if len(wrenches) > 1 and not wrenches[0].any() else 0  # before the first step there are none
        begin = max(begin, len(wrenches) - most)
        self._data = data.isel(time=slice(begin, None))
        times = self._data["time"].values
        if len(times) < 2:
            raise ModelError(f"alone: {len(times)} samples are recorded, expected at least 2; let time run")
        self.start, self.times = float(times[0]), times - times[0]

    @property
    def duration(self) -> float:
        """From the first sample to the last [s]."""
        return float(self.times[-1])

    def of_body(self, what: str, name: str) -> np.ndarray:
        """A quantity of a body at all samples; the ground's is that of a thing at rest."""
        if name == "ground":
            rest = (0.0, 0.0, 0.0, 1.0) if what == "orientation" else (0.0, 0.0, 0.0)
            return np.tile(rest, (len(self.times), 1))
        return self._data[what].sel(body=name).values

    def wrench(self, joint: str) -> tuple[np.ndarray, np.ndarray]:
        """Force and torque on a joint's second body at M's origin [sample, 3] [N, N m]."""
        force, torque = (self._data[f"reaction_{what}"].sel(joint=joint).values for what in ("force", "torque"))
        return force, torque

    def point(self, body: str, p_BQ: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places and velocities of a point of a body [sample, 3]."""
        arm = rotate_all(self.of_body("orientation", body), np.tile(p_BQ, (len(self.times), 1)))
        turning = np.cross(self.of_body("angular_velocity", body), arm)
        return self.of_body("position", body) + arm, self.of_body("velocity", body) + turning

    def spring(self, spring: Spring) -> np.ndarray:
        """Force of a spring and damper on its second body [sample, 3] [N]."""
        (p_a, v_a), (p_b, v_b) = self.point(spring.first, spring.p_PQ), self.point(spring.second, spring.p_CQ)
        length = np.linalg.norm(p_b - p_a, axis=1, keepdims=True)
        e = (p_b - p_a) / np.where(length > 0, length, 1.0)
        rate = ((v_b - v_a) * e).sum(axis=1, keepdims=True)
        return -(spring.stiffness * (length - spring.free_length) + spring.damping * rate) * e

    def table(self, values: np.ndarray) -> Table:
        """Values at the samples as a profile from 0 s on."""
        rows = values.tolist()
        return Table(tuple(self.times.tolist()), tuple(map(tuple, rows)) if values.ndim > 1 else tuple(rows))

    def started(self, model: Model) -> Model:
        """The model where it was at the first sample, with inputs that begin there."""
        new = model.copy(parts=True)
        for name, body in new.bodies.items():
            now = {what: self.of_body(what, name)[0].copy() for what in NEEDED[:4]}
            new.bodies[name] = replace(body, **now)
        for joint in new.joints.values():
            for features in joint.features.values():
                if features.motor is not None:
                    value = {features.motor.what: _later(getattr(features.motor, features.motor.what), self.start)}
                    features.motor = replace(features.motor, **value)
        new.loads = {
            name: replace(load, force=_later(load.force, self.start), torque=_later(load.torque, self.start))
            for name, load in new.loads.items()
        }
        return new


def _later(value: Any, start: float) -> Any:
    """A value of time as it is from a time on [s]."""
    if isinstance(value, tuple | list):
        return tuple(_later(item, start) for item in value)
    if isinstance(value, Passage):
        return replace(value, t0=value.t0 - start, t1=value.t1 - start)
    if isinstance(value, Harmonic):
        phase = np.asarray(value.phase) + np.asarray(value.omega) * start
        return replace(value, phase=tuple(phase.tolist()) if phase.ndim else float(phase))
    if isinstance(value, Table):
        return replace(value, times=tuple(time - start for time in value.times))
    return (lambda t: value(t + start)) if callable(value) else value
