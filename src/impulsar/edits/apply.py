"""Applying edits: each is checked as a model is, then written into the arrays, or refused whole."""

import math
from dataclasses import dataclass
from difflib import get_close_matches
from functools import singledispatch

import numpy as np

from ..inputs import Ramp, scalar_profiles
from ..model import ModelError
from ..shapes import vector
from ..state import State, WorkArrays
from ..system import EMPTY, System
from ..system.slots import COMPLIANCE, COUPLING, FRICTION, HAND, LIMIT_HIGH, LIMIT_LOW, MOTORS, SPRING
from .data import ApplyLoad, Edit, Grab, Move, Release, RemoveLoad, SetParameter, SetStep


class EditError(ModelError):
    """An edit that was refused; the world is as it was."""


@dataclass(frozen=True)
class Answer:
    """What an edit did."""

    text: str
    arrays_replaced: bool = False  # the recorded launch must be made again
    energy: float = 0.0  # what making the state consistent added to kinetic, potential and elastic energy [J]
    momentum: tuple[float, float, float] = (0.0, 0.0, 0.0)  # and to the linear momentum [N s]
    angular_momentum: tuple[float, float, float] = (0.0, 0.0, 0.0)  # about the world's origin [N m s]
    moved: float = 0.0  # farthest that a body's centre was moved [m]
    inverse: Edit | None = None  # the edit that would undo this one now


@dataclass
class Bench:
    """What edits work on."""

    system: System
    state: State
    work: WorkArrays


@singledispatch
def apply(edit: Edit, bench: Bench) -> Answer:
    """Carry out an edit between two steps."""
    raise EditError(f"{type(edit).__name__}: not an edit; see impulsar.edits")


@apply.register
def _(edit: Grab, bench: Bench) -> Answer:
    system = bench.system
    owner = f"hand '{edit.hand}'"
    if edit.hand in system.hand_names:
        raise EditError(f"{owner}: already holds a body; release it first or choose another name")
    if edit.body == "ground":
        raise EditError(f"{owner}: takes 'ground', which does not move; give a body")
    body = known(owner, "body", edit.body, system.body_index)
    at = vector(owner, "at", edit.at, "m")
    for what, value, unit in (("stiffness", edit.stiffness, "N/m"), ("damping", edit.damping, "N s/m")):
        if not (isinstance(value, int | float) and math.isfinite(value) and value >= 0):
            raise EditError(f"{owner}: {what} is {value!r}, expected a number >= 0 [{unit}]")
    if edit.stiffness == 0 and edit.damping == 0:
        raise EditError(f"{owner}: stiffness and damping are both 0; give one of them")
    replaced = False
    if None not in system.hand_names:
        raise HandsFull
    hand = system.hand_names.index(None)
    system.hand_names[hand] = edit.hand
    system.count_live_slots()
    p = bench.work.p_WB.numpy()[body]
    q = bench.work.q_WB.numpy()[body]
    tip = p + rotate(q, at)
    write_ints(system.arrays.hand_body, hand, body)
    trees = slice(hand_slot(system, hand), hand_slot(system, hand) + 3), 0
    write_ints(system.arrays.slot_trees, trees, int(system.arrays.tree_of.numpy()[body]))
    replaced |= system.set_parameter("hand_point", hand, at)
    for axis in range(3):
        slot = hand_slot(system, hand) + axis
        replaced |= system.set_parameter("slot_a", slot, edit.stiffness)
        replaced |= system.set_parameter("slot_b", slot, edit.damping)
    set_target(bench, hand, tip)
    targets = bench.state.read("hand_target").copy()
    targets[3 * hand : 3 * hand + 3] = tip.T
    bench.state.write("hand_target", targets)
    return Answer(f"{owner} holds body '{edit.body}'", True)


@apply.register
def _(edit: Move, bench: Bench) -> Answer:
    system = bench.system
    hand = held(system, edit.hand)
    now = bench.state.read("hand_target")[3 * hand : 3 * hand + 3]
    target = edit.target
    if isinstance(target, Ramp):
        target = target.with_start((float(now[0, 0]), float(now[1, 0]), float(now[2, 0])))
    if isinstance(target, np.ndarray) and target.shape == (system.counts.worlds, 3):
        return Answer(f"hand '{edit.hand}' moves", set_target(bench, hand, target))
    try:
        items = scalar_profiles(target, 3)
    except ValueError as error:
        raise EditError(f"hand '{edit.hand}': target: {error}") from error
    if all(isinstance(item, float) for item in items):
        return Answer(f"hand '{edit.hand}' moves", set_target(bench, hand, np.array([items])))
    first = int(system.arrays.hand_channel.numpy()[hand])
    system.channels.items[first : first + 3] = items
    system.channels.write(system.arrays)
    return Answer(f"hand '{edit.hand}' moves", True)


@apply.register
def _(edit: Release, bench: Bench) -> Answer:
    system, state = bench.system, bench.state
    hand = held(system, edit.hand)
    slots = slice(hand_slot(system, hand), hand_slot(system, hand) + 3)
    left = elastic_energy(bench, hand, slots)
    past = state.read("past_hands").copy()
    work, loss = state.read("work").copy(), state.read("loss").copy()
    past[0] += work[slots].sum(axis=0) - left
    past[1] += loss[slots].sum(axis=0)
    work[slots] = loss[slots] = 0.0
    impulse = state.read("impulse").copy()
    impulse[slots] = 0.0
    for name, block in (("past_hands", past), ("work", work), ("loss", loss), ("impulse", impulse)):
        state.write(name, block)
    write_ints(system.arrays.hand_body, hand, EMPTY)
    system.hand_names[hand] = None
    system.count_live_slots()
    bench.work.v_pseudo.zero_()  # no row may be left to do it
    return Answer(f"hand '{edit.hand}' let go with {float(np.mean(left)):.3g} J left in its spring")


@apply.register
def _(edit: ApplyLoad, bench: Bench) -> Answer:
    system = bench.system
    owner = f"load '{edit.name}'"
    body = known(owner, "body", edit.body, system.body_index)
    at = vector(owner, "at", edit.at, "m")
    if edit.frame not in ("world", "body"):
        raise EditError(f"{owner}: frame is {edit.frame!r}, expected 'world' or 'body'")
    try:
        items = [*scalar_profiles(edit.force, 3), *scalar_profiles(edit.torque, 3)]
    except ValueError as error:
        raise EditError(f"{owner}: {error}") from error
    if edit.name not in system.load_names and None not in system.load_names:
        raise LoadsFull
    load = system.load_names.index(edit.name if edit.name in system.load_names else None)
    system.load_names[load] = edit.name
    first = int(system.arrays.load_channel.numpy()[load])
    system.channels.items[first : first + 6] = items
    system.channels.write(system.arrays)
    write_ints(system.arrays.load_body, load, body)
    write_ints(system.arrays.load_in_body, load, int(edit.frame == "body"))
    system.set_parameter("load_point", load, at)
    return Answer(f"{owner} acts on body '{edit.body}'", True)


@apply.register
def _(edit: RemoveLoad, bench: Bench) -> Answer:
    system = bench.system
    bodies = system.arrays.load_body.numpy()
    acting = {name: i for i, name in enumerate(system.load_names) if name and bodies[i] != EMPTY}
    load = known("edit", "load", edit.name, acting)
    write_ints(system.arrays.load_body, load, EMPTY)
    return Answer(f"load '{edit.name}' is off")


@apply.register
def _(edit: SetParameter, bench: Bench) -> Answer:
    system = bench.system
    name, _, what = edit.path.rpartition(".")
    parts = parameters(system, name)
    known(f"parameter '{edit.path}'", "parameter", what, parts)
    worlds = system.counts.worlds
    rows = parts[what]
    width = system.parameter(rows[0][0]).shape[2:]
    try:
        value = np.asarray(edit.value, float)
    except (TypeError, ValueError) as error:
        raise EditError(f"'{edit.path}': {edit.value!r} is not a number or one number per world") from error
    if width == (3, 3) and value.shape[-1:] == (3,) and value.shape[-2:] != (3, 3):
        value = value[..., None] * np.eye(3)
    if value.shape not in (width, (worlds, *width)):
        raise EditError(f"'{edit.path}': shape {value.shape}, expected {width} or {(worlds, *width)}")
    if not np.isfinite(value).all():
        raise EditError(f"'{edit.path}': {edit.value!r} is not finite")
    if what in POSITIVE and not (value > 0).all():
        raise EditError(f"'{edit.path}': {edit.value!r}, expected > 0")
    if what in NOT_NEGATIVE and not (value >= 0).all():
        raise EditError(f"'{edit.path}': {edit.value!r}, expected >= 0")
    replaced = [system.set_parameter(array, part, value) for array, part in rows]
    return Answer(f"'{edit.path}' is set", any(replaced))


POSITIVE = ("mass",)
NOT_NEGATIVE = ("friction", "viscous", "stiffness", "damping", "free_length", "max_torque", "restitution")


def parameters(system: System, name: str) -> dict[str, list[tuple[str, int]]]:
    """Parameters of a part by name, each as the places [array, part] it is kept at."""
    found: dict[str, list[tuple[str, int]]] = {}
    if name == system.model.name or name == "model":
        found["gravity"] = [("gravity", 0)]
    if name in system.body_index:
        body = system.body_index[name]
        found |= {"mass": [("mass", body)], "inertia": [("inertia", body)]}
    for r, slot in enumerate(system.slots):
        if slot.name == name and slot.kind in SLOT_PARAMETERS:
            for what, array in SLOT_PARAMETERS[slot.kind].items():
                found.setdefault(what, []).append((array, r))
    if not found:
        model = system.model
        known("parameter", "part", name, dict.fromkeys([model.name, *model.bodies, *model.joints, *model.springs]))
        raise EditError(f"part '{name}': was built without a feature that can be set; author it with one")
    return found


SLOT_PARAMETERS = {
    LIMIT_LOW: {"lower": "slot_a", "restitution": "slot_b"},
    LIMIT_HIGH: {"upper": "slot_a", "restitution": "slot_b"},
    FRICTION: {"friction": "slot_a"},
    COMPLIANCE: {"stiffness": "slot_a", "damping": "slot_b", "rest": "slot_c", "viscous": "slot_d"},
    SPRING: {"stiffness": "slot_a", "damping": "slot_b", "free_length": "slot_c"},
    COUPLING: {"ratio": "slot_b"},
    **{kind: {"max_torque": "slot_a"} for kind in MOTORS},
}


@apply.register
def _(edit: SetStep, bench: Bench) -> Answer:
    if not (isinstance(edit.dt, int | float) and math.isfinite(edit.dt) and edit.dt > 0):
        raise EditError(f"dt is {edit.dt!r}, expected a time > 0 [s]")
    return Answer(f"step is {edit.dt:g} s")


class HandsFull(Exception):
    """Every hand slot is taken: the world grows its arrays and tries again."""


class LoadsFull(Exception):
    """Every load slot is taken: the world grows its arrays and tries again."""


def known(owner: str, kind: str, name: str, index: dict) -> int:
    """Index of a name, or a refusal that suggests the nearest one."""
    if name not in index:
        close = get_close_matches(str(name), [str(key) for key in index], n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known are: {', '.join(map(str, index)) or 'none'}"
        raise EditError(f"{owner}: no {kind} named {name!r}; {hint}")
    return index[name]


def held(system: System, name: str) -> int:
    return known("hand", "hand", name, {n: i for i, n in enumerate(system.hand_names) if n})


def hand_slot(system: System, hand: int) -> int:
    """First of the three slots of a hand: hands are the last slots."""
    return len(system.slots) - 3 * system.counts.hands + 3 * hand


def write_ints(array, index: int | tuple, value: int) -> None:
    data = array.numpy()
    data[index] = value
    if not array.device.is_cpu:
        array.assign(data)


def set_target(bench: Bench, hand: int, target: np.ndarray) -> bool:
    """Write a constant target [world or 1, 3] into a hand's channels. True: arrays were replaced."""
    system = bench.system
    first = int(system.arrays.hand_channel.numpy()[hand])
    system.channels.items[first : first + 3] = [column.copy() for column in target.T]
    if system.arrays.channel_kind.numpy()[first : first + 3].any():
        system.channels.write(system.arrays)
        return True
    data = system.arrays.channel_a.numpy()
    data[first : first + 3] = target.T
    if not system.arrays.channel_a.device.is_cpu:
        system.arrays.channel_a.assign(data)
    return False


def elastic_energy(bench: Bench, hand: int, slots: slice) -> np.ndarray:
    """Energy in a hand's spring in every world [J]."""
    system = bench.system
    body = system.arrays.hand_body.numpy()[hand]
    tip = bench.work.p_WB.numpy()[body] + rotate(bench.work.q_WB.numpy()[body], system.arrays.hand_point.numpy()[hand])
    stretch = tip - bench.state.read("hand_target")[3 * hand : 3 * hand + 3].T
    stiffness = system.parameter("slot_a")[slots.start]
    return 0.5 * stiffness * (stretch**2).sum(axis=1)


def rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Rotate vectors [..., 3] by quaternions [..., 4] xyzw."""
    u, s = q[..., :3], q[..., 3:]
    return v + 2.0 * np.cross(u, np.cross(u, v) + s * v)


__all__ = ["HAND", "Answer", "Bench", "EditError", "HandsFull", "LoadsFull", "apply"]
