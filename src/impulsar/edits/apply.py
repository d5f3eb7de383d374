"""Applying edits that are array writes: each is checked as a model is, then written, or refused whole."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from ..author.checks import TINY, show, vector
from ..author.joints import SWING, TWIST
from ..author.profiles import Ramp, scalar_profiles
from ..author.rotations import rotate
from ..author.shapes import inertia_tensor
from ..engine.start.locked import refuse_if_locked
from ..engine.system import EMPTY, System
from ..engine.system.slots import COMPLIANCE, COUPLING, FRICTION, HAND, LIMIT_HIGH, LIMIT_LOW, MOTORS, SPRING
from ..observe.bench import Bench
from .data import ApplyLoad, Drive, Edit, Grab, Move, Release, RemoveLoad, SetParameter
from .refusal import EditError, known
from .topology import motor_group

Per = Any  # a number or 3 numbers; in a batch an array with one per world


@dataclass(frozen=True)
class Answer:
    """What an edit did."""

    text: str
    arrays_replaced: bool = False  # the recorded launch must be made again
    energy: Per = 0.0  # that it added to the kinetic, potential and elastic energy [J]
    momentum: Per = (0.0, 0.0, 0.0)  # and to the linear momentum [N s]
    angular_momentum: Per = (0.0, 0.0, 0.0)  # about the world's origin [N m s]
    moved: float = 0.0  # farthest that a body's centre was moved [m]
    inverse: Edit | None = None  # the edit that would undo this one now


@singledispatch
def apply(edit: Edit, bench: Bench) -> Answer:
    """Carry out an edit between two steps."""
    raise EditError(f"{type(edit).__name__}: not an edit; see impulsar.edits")


@apply.register
def _(edit: Grab, bench: Bench) -> Answer:
    system = bench.system
    owner = f"hand {edit.hand!r}"
    if isinstance(edit.hand, str) and edit.hand in system.hand_names:
        raise EditError(f"{owner}: already holds a body; release it first or choose another name")
    claim(system, "hand", edit.hand)
    if edit.body == "ground":
        raise EditError(f"{owner}: takes 'ground', which does not move; give a body")
    body = known(owner, "body", edit.body, system.body_index)
    at = vector(owner, "at", edit.at, "m")
    for what, value, unit in (("stiffness", edit.stiffness, "N/m"), ("damping", edit.damping, "N s/m")):
        if not (isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf):
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
    clear_hand(bench, hand)
    look_again(bench)
    return Answer(f"{owner} holds body '{edit.body}'", True, inverse=Release(edit.hand))


@apply.register
def _(edit: Move, bench: Bench) -> Answer:
    system = bench.system
    hand = held(system, edit.hand)
    owner = f"hand '{edit.hand}'"
    now = bench.state.read("hand_target")[3 * hand : 3 * hand + 3]
    here = (float(now[0, 0]), float(now[1, 0]), float(now[2, 0]))
    target = edit.target
    inverse = Move(edit.hand, here)
    if isinstance(target, Ramp):
        if target.size != 3:
            raise EditError(f"{owner}: target: Ramp has {target.size} component(s), expected 3")
        target = target.with_start(here)
    if isinstance(target, np.ndarray) and target.shape == (system.counts.worlds, 3):
        if not np.isfinite(target).all():
            raise EditError(f"{owner}: target is {show(target)}, expected finite numbers")
        return Answer(f"{owner} moves", set_target(bench, hand, target.astype(float)), inverse=inverse)
    items = profiles_of(owner, "target", target, 3)
    if all(isinstance(item, float) for item in items):
        return Answer(f"{owner} moves", set_target(bench, hand, np.array([items])), inverse=inverse)
    first = int(system.arrays.hand_channel.numpy()[hand])
    if isinstance(target, Ramp) and system.channels.rewrite(system.arrays, first, items):
        return Answer(f"{owner} moves", inverse=inverse)
    system.channels.items[first : first + 3] = items
    system.channels.write(system.arrays)
    return Answer(f"{owner} moves", True, inverse=inverse)


def claim(system: System, kind: str, name: object) -> None:
    """Refuse the name of a new part, hand or load that is wrong or has a meaning already."""
    owner = system.model.claim(kind, name)
    for what, names in (("hand", system.hand_names), ("load", system.load_names)):
        if name in names:
            raise EditError(f"{owner}: the name is taken by a {what}; choose another")


def look_again(bench: Bench) -> None:
    """Let `direct` ask again how large its sub-steps may be: something stiff may have come."""
    bench.state.write("next_h", np.zeros((1, bench.system.counts.worlds)))


def profiles_of(owner: str, what: str, value: Any, size: int) -> list:
    """A value as scalar items, or a refusal."""
    if value is None or isinstance(value, type):
        raise EditError(f"{owner}: {what} is {value!r}, expected numbers, a profile or a callable of time")
    try:
        return scalar_profiles(value, size)
    except ValueError as error:
        raise EditError(f"{owner}: {what}: {error}") from error


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
    body = int(system.arrays.hand_body.numpy()[hand])
    at = system.parameter("hand_point")[hand, 0]
    stiffness, damping = (float(system.parameter(name)[slots.start, 0]) for name in ("slot_a", "slot_b"))
    inverse = Grab(edit.hand, system.tree.bodies[body], tuple(map(float, at)), stiffness, damping)  # type: ignore[arg-type]
    write_ints(system.arrays.hand_body, hand, EMPTY)
    system.hand_names[hand] = None
    system.count_live_slots()
    bench.work.v_pseudo.zero_()  # no row may be left to do it
    silenced = system.channels.silence(int(system.arrays.hand_channel.numpy()[hand]), 3)
    if silenced:
        system.channels.write(system.arrays)
    text = f"hand '{edit.hand}' let go with {float(np.mean(left)):.3g} J left in its spring"
    return Answer(text, silenced, inverse=inverse)


@apply.register
def _(edit: ApplyLoad, bench: Bench) -> Answer:
    system = bench.system
    owner = f"load {edit.name!r}"
    if not (isinstance(edit.name, str) and edit.name in system.load_names):
        claim(system, "load", edit.name)
    if edit.body == "ground":
        raise EditError(f"{owner}: acts on 'ground', which does not move; give another body")
    body = known(owner, "body", edit.body, system.body_index)
    at = vector(owner, "at", edit.at, "m")
    if edit.frame not in ("world", "body"):
        raise EditError(f"{owner}: frame is {edit.frame!r}, expected 'world' or 'body'")
    items = [*profiles_of(owner, "force", edit.force, 3), *profiles_of(owner, "torque", edit.torque, 3)]
    load = load_slot(bench, edit.name)
    before = load_as_edit(system, load) if edit.name == system.load_names[load] else None
    system.load_names[load] = edit.name
    first = int(system.arrays.load_channel.numpy()[load])
    system.channels.items[first : first + 6] = items
    system.channels.write(system.arrays)
    write_ints(system.arrays.load_body, load, body)
    write_ints(system.arrays.load_in_body, load, int(edit.frame == "body"))
    system.set_parameter("load_point", load, at)
    return Answer(f"{owner} acts on body '{edit.body}'", True, inverse=before or RemoveLoad(edit.name))


def load_slot(bench: Bench, name: str) -> int:
    """The place of a load: its own, a free one, or that of a load which is off, whose work is booked first."""
    system = bench.system
    for wanted in (name, None):
        if wanted in system.load_names:
            return system.load_names.index(wanted)
    off = np.flatnonzero(system.arrays.load_body.numpy() == EMPTY)
    own = [k for k in off if system.load_names[k] not in system.model.loads]
    if not own:
        raise LoadsFull
    state = bench.state
    past, work = state.read("past_parts").copy(), state.read("load_work").copy()
    past[0] += work[own[0]]
    work[own[0]] = 0.0
    state.write("past_parts", past)
    state.write("load_work", work)
    system.load_names[own[0]] = None
    return int(own[0])


def load_as_edit(system: System, load: int) -> ApplyLoad | None:
    """A load that acts, as the edit that would put it there."""
    body = int(system.arrays.load_body.numpy()[load])
    if body < 0:
        return None
    first = int(system.arrays.load_channel.numpy()[load])
    items = system.channels.items[first : first + 6]
    at = tuple(map(float, system.parameter("load_point")[load, 0]))
    frame = "body" if system.arrays.load_in_body.numpy()[load] else "world"
    name = str(system.load_names[load])
    return ApplyLoad(name, system.tree.bodies[body], tuple(items[:3]), tuple(items[3:]), at, frame)  # type: ignore[arg-type]


@apply.register
def _(edit: RemoveLoad, bench: Bench) -> Answer:
    system = bench.system
    bodies = system.arrays.load_body.numpy()
    acting = {name: i for i, name in enumerate(system.load_names) if name and bodies[i] != EMPTY}
    load = known("edit", "load", edit.name, acting)
    inverse = load_as_edit(system, load)
    write_ints(system.arrays.load_body, load, EMPTY)
    silenced = system.channels.silence(int(system.arrays.load_channel.numpy()[load]), 6)
    if silenced:
        system.channels.write(system.arrays)
    return Answer(f"load '{edit.name}' is off", silenced, inverse=inverse)


@apply.register
def _(edit: Drive, bench: Bench) -> Answer:
    system = bench.system
    joint = known("drive", "joint", edit.joint, system.model.joints)
    owner = f"joint '{joint.name}'"
    group = joint.kind.group(motor_group(owner, joint, edit.group))
    slots = [system.slots[r] for r in system.slots_of.get(joint.name, []) if system.slots[r].kind in MOTORS]
    slots = [slot for slot in slots if slot.code in group.freedoms]
    if not slots:
        raise EditError(f"{owner} {group.name}: has no motor to drive; attach one by SetMotor")
    worlds = system.counts.worlds
    items: list[Any]
    if isinstance(edit.value, np.ndarray) and edit.value.shape == (worlds,) and len(slots) == 1 and worlds > 1:
        if not np.isfinite(edit.value).all():
            raise EditError(f"{owner}: value is {show(edit.value)}, expected finite numbers")
        items = [edit.value.astype(float)]
    else:
        items = profiles_of(owner, "value", edit.value, len(slots))
    for slot, item in zip(slots, items, strict=True) if system.locked_motors else ():
        refuse_if_locked(system, bench.state, system.slots.index(slot), item, EditError)
    before = [system.channels.items[slot.channel] for slot in slots]
    value = before[0] if len(slots) == 1 else tuple(before)
    plain = all(isinstance(item, float | np.ndarray) for item in (*items, *before))
    for slot, item in zip(slots, items, strict=True):
        system.channels.items[slot.channel] = item
    if plain:
        data = system.arrays.channel_a.numpy()
        for slot, item in zip(slots, items, strict=True):
            data[slot.channel] = item
        if not system.arrays.channel_a.device.is_cpu:
            system.arrays.channel_a.assign(data)
    else:
        system.channels.write(system.arrays)
    return Answer(f"{owner} is driven", not plain, inverse=Drive(edit.joint, value, edit.group))


class NoSlot(EditError):
    """The parameter is of a feature that the part was built without: the model must be changed."""


@apply.register
def _(edit: SetParameter, bench: Bench) -> Answer:
    system = bench.system
    places, what = find_parameter(system, edit.path)
    worlds = system.counts.worlds
    array, first = places[0]
    width = system.width(array)
    value = checked_parameter(edit, what, width, worlds)
    before = system.parameter(array)[first]
    before = before[0] if len(before) == 1 or (before == before[0]).all() else before
    if what in UNBOUNDED:
        before = np.where(before < UNLIMITED, before, np.inf)
    inverse = SetParameter(edit.path, float(before) if before.ndim == 0 else before)
    if what in ("lower", "upper"):
        check_limits(system, edit, places, value, what)
    replaced = False
    for name, part in places:
        replaced |= system.set_parameter(name, part, value)
    look_again(bench)
    return Answer(f"'{edit.path}' is set", replaced, inverse=inverse)


def checked_parameter(edit: SetParameter, what: str, width: tuple, worlds: int) -> np.ndarray:
    """The value of a parameter, of one or of every world, as a model would take it."""
    try:
        value = np.asarray(edit.value, float)
    except (TypeError, ValueError) as error:
        raise EditError(f"'{edit.path}': {show(edit.value)} is not a number or one number per world") from error
    if isinstance(edit.value, bool | str):
        raise EditError(f"'{edit.path}': {edit.value!r} is not a number or one number per world")
    if np.isnan(value).any() or (what not in UNBOUNDED and np.isinf(value).any()):
        raise EditError(f"'{edit.path}': {show(edit.value)} is not finite")
    if width == (3, 3) and value.shape[-1:] == (3,) and value.shape[-2:] != (3, 3):
        value = value[..., None] * np.eye(3)
    if value.shape not in (width, (worlds, *width)):
        raise EditError(f"'{edit.path}': shape {value.shape}, expected {width} or {(worlds, *width)}")
    if what in POSITIVE and not (value >= TINY).all():
        raise EditError(f"'{edit.path}': {show(edit.value)}, expected > 0")
    if what in NOT_NEGATIVE and not (value >= 0).all():
        raise EditError(f"'{edit.path}': {show(edit.value)}, expected >= 0")
    if what == "restitution" and not (value <= 1).all():
        raise EditError(f"'{edit.path}': {show(edit.value)}, expected a number from 0 to 1")
    if what == "ratio" and not (np.abs(value) >= TINY).all():
        raise EditError(f"'{edit.path}': {show(edit.value)}, expected a number other than 0")
    if what == "inertia":
        owner = f"'{edit.path}'"
        value = (
            inertia_tensor(owner, value) if value.ndim == 2 else np.array([inertia_tensor(owner, one) for one in value])
        )
        if not np.linalg.eigvalsh(value).min() >= TINY:
            raise EditError(f"'{edit.path}': {show(edit.value)}, expected principal values > 0")
    return np.clip(value, -UNLIMITED, UNLIMITED) if what in UNBOUNDED else value


def check_limits(system: System, edit: SetParameter, places: list, value: np.ndarray, what: str) -> None:
    """Refuse a lower limit above the upper one."""
    other = LIMIT_HIGH if what == "lower" else LIMIT_LOW
    for _, r in places:
        slot = system.slots[r]
        for q in system.slots_of[slot.name]:
            if system.slots[q].kind == other and system.slots[q].code == slot.code:
                bound = system.parameter("slot_a")[q]
                apart = bound - value if what == "lower" else value - bound
                if not (apart >= 0).all():
                    raise EditError(f"'{edit.path}': {show(edit.value)} is beyond the other limit {show(bound)}")


POSITIVE = ("mass",)
NOT_NEGATIVE = ("friction", "viscous", "stiffness", "damping", "free_length", "max_torque", "restitution", "swing")
UNBOUNDED = ("max_torque",)
UNLIMITED = 1e300  # stands for no bound


def find_parameter(system: System, path: object) -> tuple[list[tuple[str, int]], str]:
    """The places [array, part] where a parameter is kept, and its name."""
    if not isinstance(path, str) or "." not in path:
        raise EditError(f"parameter {show(path)}: expected text 'part.parameter'")
    found = system.places.get(path)
    if found is None:
        name, _, what = path.rpartition(".")
        parts = parameters(system, name)
        if what not in parts:
            if name in system.model.joints or name in system.model.bodies or group_of(system, name):
                raise NoSlot(
                    f"parameter '{path}': no parameter named {what!r}; known are: {', '.join(parts) or 'none'}"
                )
            known(f"parameter '{path}'", "parameter", what, parts)
        found = system.places[path] = parts[what]
    return found, path.rpartition(".")[2]


def group_of(system: System, name: str) -> tuple[str, str] | None:
    """Joint and group of a name "joint.group"."""
    joint, _, group = name.rpartition(".")
    if joint in system.model.joints and group in [own.name for own in system.model.joints[joint].kind.groups]:
        return joint, group
    return None


def parameters(system: System, name: str) -> dict[str, list[tuple[str, int]]]:
    """Parameters of a part by name, each as the places [array, part] it is kept at."""
    found: dict[str, list[tuple[str, int]]] = {}
    model = system.model
    if name == model.name or name == "model":
        found["gravity"] = [("gravity", 0)]
    if name in system.body_index:
        body = system.body_index[name]
        found |= {"mass": [("mass", body)], "inertia": [("inertia", body)]}
    if joint_group := group_of(system, name):
        joint, group = joint_group
        own = model.joints[joint].kind.group(group)
        codes = (*own.freedoms, TWIST, SWING) if own.is_ball else own.freedoms
        rows = [r for r in system.slots_of.get(joint, []) if system.slots[r].code in codes]
    else:
        rows = system.slots_of.get(name, [])
    for r in rows:
        is_swing = system.slots[r].code == SWING
        for what, array in SLOT_PARAMETERS.get(system.slots[r].kind, NOTHING).items():
            found.setdefault("swing" if is_swing and what == "upper" else what, []).append((array, r))
    if not found and not joint_group and name not in model.joints and name not in model.bodies:
        parts = [model.name, *model.bodies, *model.joints, *model.springs, *model.couplings]
        known("parameter", "part", name, dict.fromkeys(parts))
    return found


NOTHING: Mapping[str, str] = {}
SLOT_PARAMETERS: dict[int, Mapping[str, str]] = {
    LIMIT_LOW: {"lower": "slot_a", "restitution": "slot_b"},
    LIMIT_HIGH: {"upper": "slot_a", "restitution": "slot_b"},
    FRICTION: {"friction": "slot_a"},
    COMPLIANCE: {"stiffness": "slot_a", "damping": "slot_b", "rest": "slot_c", "viscous": "slot_d"},
    SPRING: {"stiffness": "slot_a", "damping": "slot_b", "free_length": "slot_c"},
    COUPLING: {"ratio": "slot_b"},
    **{kind: {"max_torque": "slot_a"} for kind in MOTORS},
}


class HandsFull(Exception):
    """Every hand slot is taken: the world grows its arrays and tries again."""


class LoadsFull(Exception):
    """Every load slot is taken: the world grows its arrays and tries again."""


def held(system: System, name: object) -> int:
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


def clear_hand(bench: Bench, hand: int) -> None:
    """Begin a hand's books: what its rows hold is of nobody."""
    for name in ("work", "loss", "impulse"):
        block = bench.state.read(name).copy()
        block[hand_slot(bench.system, hand) : hand_slot(bench.system, hand) + 3] = 0.0
        bench.state.write(name, block)


def elastic_energy(bench: Bench, hand: int, slots: slice) -> np.ndarray:
    """Energy in a hand's spring in every world [J]."""
    system = bench.system
    body = system.arrays.hand_body.numpy()[hand]
    tip = bench.work.p_WB.numpy()[body] + rotate(bench.work.q_WB.numpy()[body], system.arrays.hand_point.numpy()[hand])
    stretch = tip - bench.state.read("hand_target")[3 * hand : 3 * hand + 3].T
    stiffness = system.parameter("slot_a")[slots.start]
    return 0.5 * stiffness * (stretch**2).sum(axis=1)


__all__ = ["HAND", "Answer", "Bench", "EditError", "HandsFull", "LoadsFull", "NoSlot", "apply", "known", "rotate"]
