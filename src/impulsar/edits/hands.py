"""Hands: springs and dampers from a point of a body to a target that a user moves (Mariti 2012 eq. 10), and from its
orientation to one that a user turns (engine/constrain/hand_turn.py)."""

import math
from dataclasses import replace

import numpy as np

from ..author.checks import vector
from ..author.rotations import conjugate, multiply_all, quaternions, rotate, rotation_vectors
from ..engine.system import EMPTY, System
from ..observe.bench import Bench
from .data import Grab, Grip, Move, Release
from .inputs import claim, look_again, write_ints
from .refusal import EditError, known
from .registry import Answer, Desk, More, Plan, carries_out
from .targets import target_items
from .tips import drive_of, move_tip, take_away, tips

UNITS = {
    "stiffness": "N/m",
    "damping": "N s/m",
    "angular_stiffness": "N m/rad",
    "angular_damping": "N m s/rad",
}


@carries_out(Grab)
def grab(edit: Grab, desk: Desk) -> Answer | More:
    """Take hold of a body's point."""
    bench, system = desk.bench, desk.bench.system
    owner = f"hand {edit.hand!r}"
    if isinstance(edit.hand, str) and edit.hand in system.hand_names:
        raise EditError(f"{owner}: already holds a body; release it first or choose another name")
    claim(system, "hand", edit.hand)
    if edit.body == "ground":
        raise EditError(f"{owner}: takes 'ground', which does not move; give a body")
    body = known(owner, "body", edit.body, system.body_index)
    at = vector(owner, "at", edit.at, "m")
    check_springs(owner, edit)
    turns = bool(edit.angular_stiffness or edit.angular_damping)
    if None not in system.hand_names or (turns and not system.counts.turns):
        return More(hands=None not in system.hand_names, turning=turns)
    hand = system.hand_names.index(None)
    system.hand_names[hand] = edit.hand
    system.count_live_slots()
    write_ints(system.arrays.hand_body, hand, body)
    system.set_parameter("hand_point", hand, at)
    for slots in (system.hand_slots(hand), system.turn_slots(hand)):
        write_ints(system.arrays.slot_trees, (slots, 0), int(system.arrays.tree_of.numpy()[body]))
    set_springs(system, hand, edit)
    for name, values in targets_of(bench, hand).items():
        set_target(bench, hand, name, values)
    rows = slots_of(system, hand)
    for name in ("work", "loss", "impulse"):  # what its rows hold is of nobody
        block = bench.state.read(name).copy()
        block[rows] = 0.0
        bench.state.write(name, block)
    look_again(bench)
    return Answer(f"{owner} holds body '{edit.body}'", True, inverse=Release(edit.hand))


def check_springs(owner: str, edit: Grab) -> None:
    """Refuse stiffnesses and dampings that are none."""
    for what, unit in UNITS.items():
        value = getattr(edit, what)
        if not (isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf):
            raise EditError(f"{owner}: {what} is {value!r}, expected a number >= 0 [{unit}]")
    if not any(getattr(edit, what) for what in UNITS):
        raise EditError(f"{owner}: stiffness and damping are both 0; give one of them")


@carries_out(Grip, tells="acting")
def take_grip(edit: Grip, desk: Desk) -> Answer | More:
    """Change the springs of a hand."""
    bench, system = desk.bench, desk.bench.system
    hand = held(system, edit.hand)
    owner = f"hand '{edit.hand}'"
    before = grip(system, hand)
    after = replace(before, **{what: value for what in UNITS if (value := getattr(edit, what)) is not None})
    check_springs(owner, after)
    turning = bool(after.angular_stiffness or after.angular_damping)
    if turning and not system.counts.turns:
        return More(turning=True)
    begins = turning and not turns(system, hand)
    set_springs(system, hand, after)
    if begins:
        set_target(bench, hand, "hand_turn", targets_of(bench, hand)["hand_turn"])
    look_again(bench)
    return Answer(
        f"{owner} has another grip", True, inverse=Grip(edit.hand, *(getattr(before, what) for what in UNITS))
    )


@carries_out(Move, tells="", subject=lambda edit: (edit.hand, edit.target is None, edit.turn is None))
def move(edit: Move, desk: Desk) -> Answer:
    """Send a hand somewhere, and turn it."""
    if (joint := drive_of(desk.model, edit.hand)) is not None:
        return move_tip(edit, desk, joint)
    bench, system = desk.bench, desk.bench.system
    hand = held(system, edit.hand)
    owner = f"hand '{edit.hand}'"
    if edit.target is None and edit.turn is None:
        raise EditError(f"{owner}: has no target and no turn; give one of them")
    if edit.turn is not None and not turns(system, hand):
        raise EditError(f"{owner}: cannot turn what it holds; give angular_stiffness or angular_damping when it grabs")
    given = {
        name: value for name, value in (("hand_target", edit.target), ("hand_turn", edit.turn)) if value is not None
    }
    now = {name: bench.state.read(name)[3 * hand : 3 * hand + 3] for name in given}
    items = {name: target_items(owner, name, value, now[name]) for name, value in given.items()}
    replaced = [
        system.channels.put(system.arrays, hand_inputs(system, hand, name), found) for name, found in items.items()
    ]
    here = {name: tuple(map(float, rows[:, 0])) for name, rows in now.items()}
    inverse = Move(edit.hand, here.get("hand_target"), here.get("hand_turn"))
    return Answer(f"{owner} moves", any(replaced), inverse=inverse)


@carries_out(Release, books=False)
def release(edit: Release, desk: Desk) -> Answer | Plan:
    """Let go, and book what is left in the spring to the hand; or take a tip away."""
    if (joint := drive_of(desk.model, edit.hand)) is not None:
        return take_away(edit, desk, joint)
    bench, system, state = desk.bench, desk.bench.system, desk.bench.state
    hand = held(system, edit.hand)
    slots = slots_of(system, hand)
    left = elastic_energy(bench, hand)
    past = state.read("past_hands").copy()
    work, loss = state.read("work").copy(), state.read("loss").copy()
    past[0] += work[slots].sum(axis=0) - left
    past[1] += loss[slots].sum(axis=0)
    work[slots] = loss[slots] = 0.0
    impulse = state.read("impulse").copy()
    impulse[slots] = 0.0
    for name, block in (("past_hands", past), ("work", work), ("loss", loss), ("impulse", impulse)):
        state.write(name, block)
    inverse = grip(system, hand)
    write_ints(system.arrays.hand_body, hand, EMPTY)
    system.hand_names[hand] = None
    system.count_live_slots()
    set_springs(system, hand, replace(inverse, angular_stiffness=0.0, angular_damping=0.0))  # the next need not turn
    if system.counts.turns:
        turn = state.read("hand_turn").copy()
        turn[3 * hand : 3 * hand + 3] = 0.0
        state.write("hand_turn", turn)
    inputs = [hand_inputs(system, hand, name) for name in targets(system)]
    silenced = any([system.channels.silence(rows.start, 3) for rows in inputs])
    if silenced:
        system.channels.write(system.arrays)
    text = f"hand '{edit.hand}' let go with {float(np.mean(left)):.3g} J left in its spring"
    return Answer(text, silenced, inverse=inverse)


def grip(system: System, hand: int) -> Grab:
    """The edit by which a hand that holds a body would take it again."""
    body = int(system.arrays.hand_body.numpy()[hand])
    at = system.parameter("hand_point")[hand, 0]
    slots = [system.hand_slots(hand).start, *([system.turn_slots(hand).start] if system.counts.turns else [])]
    springs = [float(system.parameter(name)[slot, 0]) for slot in slots for name in ("slot_a", "slot_b")]
    return Grab(str(system.hand_names[hand]), system.tree.bodies[body], tuple(map(float, at)), *springs)  # type: ignore[arg-type]


def hands_of(system: System) -> list[str]:
    """Names of all hands, those that hold and those that push."""
    return [*filter(None, system.hand_names), *tips(system.model)]


def held(system: System, name: object) -> int:
    """The number of a hand that holds a body."""
    return known("hand", "hand", name, {n: i for i, n in enumerate(system.hand_names) if n})


def turns(system: System, hand: int) -> bool:
    """Whether a hand turns what it holds."""
    slots = system.turn_slots(hand)
    return any(system.parameter(name)[slots].any() for name in ("slot_a", "slot_b"))


def slots_of(system: System, hand: int) -> np.ndarray:
    """All slots of a hand."""
    rows = np.arange(len(system.slots))
    return np.concatenate([rows[system.hand_slots(hand)], rows[system.turn_slots(hand)]])


def targets(system: System) -> list[str]:
    """Blocks of the state that have where a hand is, and how it is turned where there is room for that."""
    return ["hand_target", "hand_turn"] if system.counts.turns else ["hand_target"]


def targets_of(bench: Bench, hand: int) -> dict[str, np.ndarray]:
    """What they are where the body is [world, 3]; 0 for one that does not turn."""
    system = bench.system
    body = int(system.arrays.hand_body.numpy()[hand])
    q = bench.work.q_WB.numpy()[body]
    tip = bench.work.p_WB.numpy()[body] + rotate(q, system.arrays.hand_point.numpy()[hand])
    turn = rotation_vectors(q) if turns(system, hand) else np.zeros_like(tip)
    return {name: values for name, values in (("hand_target", tip), ("hand_turn", turn)) if name in targets(system)}


def hand_inputs(system: System, hand: int, name: str = "hand_target") -> range:
    """The three channels of a hand's target, or of its turn."""
    array = {"hand_target": system.arrays.hand_channel, "hand_turn": system.arrays.turn_channel}[name]
    first = int(array.numpy()[hand])
    return range(first, first + 3)


def set_target(bench: Bench, hand: int, name: str, target: np.ndarray) -> None:
    """Be at a target [world, 3] at once, and stay there."""
    system = bench.system
    items = [column.copy() for column in target.T]
    system.channels.put(system.arrays, hand_inputs(system, hand, name), items)
    block = bench.state.read(name).copy()
    block[3 * hand : 3 * hand + 3] = target.T
    bench.state.write(name, block)


def set_springs(system: System, hand: int, edit: Grab) -> None:
    """Write what a hand pulls and turns with."""
    for slots, stiffness, damping in (
        (system.hand_slots(hand), edit.stiffness, edit.damping),
        (system.turn_slots(hand), edit.angular_stiffness, edit.angular_damping),
    ):
        for slot in range(slots.start, slots.stop):
            system.set_parameter("slot_a", slot, stiffness)
            system.set_parameter("slot_b", slot, damping)


def elastic_energy(bench: Bench, hand: int) -> np.ndarray:
    """Energy in a hand's springs in every world [J]."""
    system = bench.system
    body = system.arrays.hand_body.numpy()[hand]
    q = bench.work.q_WB.numpy()[body]
    tip = bench.work.p_WB.numpy()[body] + rotate(q, system.arrays.hand_point.numpy()[hand])
    rows = slice(3 * hand, 3 * hand + 3)
    stretch = tip - bench.state.read("hand_target")[rows].T
    stiffness = system.parameter("slot_a")
    energy = 0.5 * stiffness[system.hand_slots(hand).start] * (stretch**2).sum(axis=1)
    if turns(system, hand):
        turned = quaternions(bench.state.read("hand_turn")[rows].T)
        off = rotation_vectors(multiply_all(q, conjugate(turned)))
        energy = energy + 0.5 * stiffness[system.turn_slots(hand).start] * (off**2).sum(axis=1)
    return energy
