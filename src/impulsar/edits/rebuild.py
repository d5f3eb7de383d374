"""Topological edits carried out: plan, build on the side, carry the state over, check, hand over."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..author.checks import show, vector
from ..author.joints import SCREW, TURN_X, TURN_Z
from ..author.model import Model
from ..author.rotations import cross, unit_quaternion
from ..author.shapes import shape_list
from ..engine.start.locked import refuse_locked_motors
from ..engine.system import System
from ..observe.bench import Bench
from .apply import Answer, NoSlot, claim, elastic_energy, group_of, hand_slot
from .carry import Change, Places, carry
from .data import Add, ChangeJoint, Edit, Remove, SetMotor, SetParameter, SetState
from .refusal import EditError, known
from .topology import FEATURES, GEOMETRY, Plan, add_part, change_joint, remove_part, set_motor

POSE = {"position": 3, "orientation": 4, "velocity": 3, "angular_velocity": 3}
LIMITS = ("lower", "upper", "swing")


@dataclass
class Rebuilt:
    """A system built on the side with the state carried over, ready to be swapped in."""

    bench: Bench
    plan: Plan
    energy: np.ndarray  # added [world] [J]
    momentum: np.ndarray  # added, angular and linear [world, 6]
    moved: float  # [m]

    def answer(self, out: Callable[[np.ndarray], Any]) -> Answer:
        """What it did."""
        return Answer(
            self.plan.text,
            True,
            energy=out(self.energy),
            momentum=out(self.momentum[:, 3:]),
            angular_momentum=out(self.momentum[:, :3]),
            moved=self.moved,
            inverse=self.plan.inverse,
        )


def plan_of(edit: Edit, bench: Bench, model: Model, refusal: NoSlot | None = None) -> Plan:
    """The new model that an edit asks for."""
    match edit:
        case ChangeJoint():
            return change_joint(edit, bench, model)
        case Add():
            claim(bench.system, edit.kind, edit.name)
            return add_part(edit, bench, model)
        case Remove():
            return remove_part(edit, bench, model)
        case SetMotor():
            return set_motor(edit, bench, model)
        case SetState():
            return set_state(edit, bench, model)
        case SetParameter():
            return parameter_plan(edit, bench, model, refusal or NoSlot(f"'{edit.path}': cannot be set"))
    raise EditError(f"{type(edit).__name__}: not an edit of what a mechanism consists of")


def parameter_plan(edit: SetParameter, bench: Bench, model: Model, refusal: NoSlot) -> Plan:
    """A parameter that no array holds yet, as a change of the model."""
    name, _, what = edit.path.rpartition(".")
    if name in model.bodies:
        if what in POSE:
            return replace(set_state(SetState({name: {what: edit.value}}), bench, model), text=f"'{edit.path}' is set")
        if what in ("shape", "shapes"):
            new = model.copy()
            shapes = shape_list(f"body '{name}'", edit.value)
            new.bodies[name] = replace(model.bodies[name], shapes=shapes)
            return Plan(new, f"'{edit.path}' is set", SetParameter(edit.path, tuple(model.bodies[name].shapes)))
    found = (name, None) if name in model.joints else group_of(bench.system, name)
    if found is None:
        raise refusal
    joint, group = found
    changes = _as_change(edit, model, joint, group, what, refusal)
    plan = change_joint(ChangeJoint(joint, changes), bench, model)
    plan.text = f"'{edit.path}' is set"
    return plan


def _as_change(
    edit: SetParameter, model: Model, joint: str, group: str | None, what: str, refusal: NoSlot
) -> dict[str, Any]:
    """A joint's parameter as keyword arguments of `Model.joint`."""
    part = model.joints[joint]
    if what in GEOMETRY or what == "loop":
        return {what: edit.value}
    groups = [own for own in part.kind.groups if group in (None, own.name)]
    if not groups:
        raise refusal
    value = edit.value
    if what == "restitution":
        return {"limit_restitution": {own.name: value for own in groups}}
    if what in LIMITS:
        return {"limits": {own.name: _limits(part.features[own.name], own.is_ball, what, value) for own in groups}}
    if what in FEATURES:
        return {what: {own.name: value for own in groups}}
    raise refusal


def _limits(features: Any, is_ball: bool, what: str, value: Any) -> Any:
    low, high = features.limits or (-np.inf, np.inf)
    low, high = (value, high) if what == "lower" else (low, value) if what == "upper" else (low, high)
    if not is_ball:
        return low, high
    given: dict[str, Any] = {}
    if features.limits is not None or what != "swing":
        given["twist"] = (low, high)
    swing = value if what == "swing" else features.swing
    if swing is not None:
        given["swing"] = swing
    return given


def set_state(edit: SetState, bench: Bench, model: Model) -> Plan:
    """Put bodies elsewhere."""
    if not isinstance(edit.bodies, Mapping) or not edit.bodies:
        raise EditError(f"state: bodies are {show(edit.bodies)}, expected poses by the names of bodies")
    places = Places.of(bench)
    n = places.worlds
    for name, given in edit.bodies.items():
        known("state", "body", name, model.bodies)
        if not isinstance(given, Mapping):
            raise EditError(f"body '{name}': its state is {show(given)}, expected {', '.join(POSE)} by name")
        for what, value in given.items():
            if what not in POSE:
                raise EditError(f"body '{name}': has no {what!r} to be put; give {', '.join(POSE)}")
            rows = _by_world(f"body '{name}'", what, value, n)
            if what == "position":
                places.p_WB[name] = rows
            elif what == "orientation":
                places.q_WB[name] = rows
            else:
                side = slice(3, 6) if what == "velocity" else slice(0, 3)
                twist = places.twist[name].copy()
                twist[:, side] = rows
                places.twist[name] = twist
    return Plan(model, f"state of {', '.join(map(repr, edit.bodies))} is set", places=places)


def _by_world(owner: str, what: str, value: Any, n: int) -> np.ndarray:
    """A vector for all worlds, or one for each."""
    many = isinstance(value, np.ndarray | list | tuple) and np.ndim(np.asarray(value, object)) == 2 and n > 1
    values = list(value) if many else [value]
    if many and len(values) != n:
        raise EditError(f"{owner}: {what} has {len(values)} rows, expected one or {n}")
    read = unit_quaternion if what == "orientation" else vector
    rows = [read(owner, what, one) if read is unit_quaternion else vector(owner, what, one, "SI") for one in values]
    return np.broadcast_to(np.array(rows), (n, POSE[what])).copy()


def rebuild(
    old: Bench,
    plan: Plan,
    before: Model,
    coordinates: str,
    hands: int | None = None,
    loads: int | None = None,
    fresh: bool = False,
) -> Rebuilt:
    """Build the system of a plan, carry the state over and check it; raises EditError if it cannot be.

    `before` is the model that the plan was made from.
    """
    was = old.system
    hands = was.counts.hands if hands is None else hands
    spare = (was.counts.loads if loads is None else loads) - len(was.model.loads)
    system = System(plan.model, was.counts.worlds, was.device, coordinates, hands, max(0, spare), checked=True)
    change = Change(system, plan.places or Places.of(old), before, plan.joints, plan.springs, turns(old, plan), fresh)
    outcome = carry(old, change)
    if outcome.open:
        worst = sorted(outcome.open.items(), key=lambda item: -item[1])[:6]
        told = ", ".join(f"'{name}' by {gap:.3g}" for name, gap in worst)
        raise EditError(
            f"model '{plan.model.name}': cannot be assembled like this; these joints stay open: {told} [m, rad]; "
            'move the bodies nearer, or make the joint at the present pose (frames="present")'
        )
    new = outcome.bench
    refuse_locked_motors(new.system, new.state, new.work, EditError)
    left = release_lost(old, new) if not fresh else 0.0
    start, after = (bench.work.energy.numpy().sum(axis=0) for bench in (old, new))
    added = after - start
    if not (np.isfinite(after).all() and np.isfinite(new.state.numpy()).all()):
        raise EditError(f"model '{plan.model.name}': its state would not be finite; check the values given")
    if fresh:
        new.state.write("start_energy", after[None])
    else:
        new.state.write("edits", new.state.read("edits") + added + left)
    return Rebuilt(new, plan, added, momentum(new) - momentum(old), outcome.moved)


def turns(bench: Bench, plan: Plan) -> dict[tuple[str, int], np.ndarray]:
    """Coordinates, whole turns counted, that those of the new system are to be near."""
    q, loop_q = bench.state.read("q"), bench.state.read("loop_q")
    before = {
        key: (q[at] if at >= 0 else loop_q[-1 - at]).copy()
        for key, at in bench.system.coordinate.items()
        if key[1] in (TURN_Z, TURN_X, SCREW)
    }
    kept = {key: values for key, values in before.items() if key not in plan.forgotten}
    kept |= {now: before[was] for now, was in plan.renumbered.items() if was in before}
    return kept


def release_lost(old: Bench, new: Bench) -> np.ndarray | float:
    """Book hands whose body is gone as if they had let go; returns the energy left in their springs [world]."""
    left: np.ndarray | float = 0.0
    for k, name in enumerate(old.system.hand_names):
        if not name or new.system.hand_names[k] is not None:
            continue
        was = slice(hand_slot(old.system, k), hand_slot(old.system, k) + 3)
        now = slice(hand_slot(new.system, k), hand_slot(new.system, k) + 3)
        energy = elastic_energy(old, k, was)
        past = new.state.read("past_hands").copy()
        past[0] += old.state.read("work")[was].sum(axis=0) - energy
        past[1] += old.state.read("loss")[was].sum(axis=0)
        new.state.write("past_hands", past)
        for block in ("work", "loss", "impulse"):
            values = new.state.read(block).copy()
            values[now] = 0.0
            new.state.write(block, values)
        left = left + energy
    return left


def momentum(bench: Bench) -> np.ndarray:
    """Angular, about the world's origin, and linear momentum [world, 6]."""
    work = bench.work
    V, p = work.twist.numpy(), work.p_WB.numpy()
    linear = bench.system.parameter("mass")[..., None] * V[..., 3:]
    spin = np.einsum("bwij,bwj->bwi", work.I_W.numpy(), V[..., :3])
    return np.concatenate([(spin + cross(p, linear)).sum(axis=0), linear.sum(axis=0)], axis=1)


__all__ = ["Rebuilt", "plan_of", "rebuild"]
