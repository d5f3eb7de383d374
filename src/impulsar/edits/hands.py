"""Hands: springs and dampers from a point of a body to a target that a user moves (Mariti 2012 eq. 10)."""

import math

import numpy as np

from ..author.checks import show, vector
from ..author.profiles import Passage
from ..author.rotations import rotate
from ..engine.system import EMPTY, System
from ..observe.bench import Bench
from .data import Grab, Move, Release
from .inputs import claim, look_again, profiles_of, write_ints
from .refusal import EditError, known
from .registry import Answer, Desk, More, carries_out


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
    for what, value, unit in (("stiffness", edit.stiffness, "N/m"), ("damping", edit.damping, "N s/m")):
        if not (isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf):
            raise EditError(f"{owner}: {what} is {value!r}, expected a number >= 0 [{unit}]")
    if edit.stiffness == 0 and edit.damping == 0:
        raise EditError(f"{owner}: stiffness and damping are both 0; give one of them")
    if None not in system.hand_names:
        return More(hands=True)
    hand = system.hand_names.index(None)
    system.hand_names[hand] = edit.hand
    system.count_live_slots()
    tip = bench.work.p_WB.numpy()[body] + rotate(bench.work.q_WB.numpy()[body], at)
    slots = system.hand_slots(hand)
    write_ints(system.arrays.hand_body, hand, body)
    write_ints(system.arrays.slot_trees, (slots, 0), int(system.arrays.tree_of.numpy()[body]))
    system.set_parameter("hand_point", hand, at)
    for slot in range(slots.start, slots.stop):
        system.set_parameter("slot_a", slot, edit.stiffness)
        system.set_parameter("slot_b", slot, edit.damping)
    set_target(bench, hand, tip)
    targets = bench.state.read("hand_target").copy()
    targets[3 * hand : 3 * hand + 3] = tip.T
    bench.state.write("hand_target", targets)
    for name in ("work", "loss", "impulse"):  # what its rows hold is of nobody
        block = bench.state.read(name).copy()
        block[slots] = 0.0
        bench.state.write(name, block)
    look_again(bench)
    return Answer(f"{owner} holds body '{edit.body}'", True, inverse=Release(edit.hand))


@carries_out(Move, tells="", subject=lambda edit: (edit.hand,))
def move(edit: Move, desk: Desk) -> Answer:
    """Send a hand somewhere."""
    bench, system = desk.bench, desk.bench.system
    hand = held(system, edit.hand)
    owner = f"hand '{edit.hand}'"
    now = bench.state.read("hand_target")[3 * hand : 3 * hand + 3]
    here = (float(now[0, 0]), float(now[1, 0]), float(now[2, 0]))
    target = edit.target
    inverse = Move(edit.hand, here)
    if isinstance(target, Passage):
        if target.size != 3:
            raise EditError(f"{owner}: target: {type(target).__name__} has {target.size} component(s), expected 3")
        target = target.with_start(here)
    if isinstance(target, np.ndarray) and target.shape == (system.counts.worlds, 3):
        if not np.isfinite(target).all():
            raise EditError(f"{owner}: target is {show(target)}, expected finite numbers")
        return Answer(f"{owner} moves", set_target(bench, hand, target.astype(float)), inverse=inverse)
    items = profiles_of(owner, "target", target, 3)
    replaced = system.channels.put(system.arrays, hand_inputs(system, hand), items)
    return Answer(f"{owner} moves", replaced, inverse=inverse)


@carries_out(Release, books=False)
def release(edit: Release, desk: Desk) -> Answer:
    """Let go, and book what is left in the spring to the hand."""
    bench, system, state = desk.bench, desk.bench.system, desk.bench.state
    hand = held(system, edit.hand)
    slots = system.hand_slots(hand)
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
    silenced = system.channels.silence(hand_inputs(system, hand).start, 3)
    if silenced:
        system.channels.write(system.arrays)
    text = f"hand '{edit.hand}' let go with {float(np.mean(left)):.3g} J left in its spring"
    return Answer(text, silenced, inverse=inverse)


def held(system: System, name: object) -> int:
    """The number of a hand that holds a body."""
    return known("hand", "hand", name, {n: i for i, n in enumerate(system.hand_names) if n})


def hand_inputs(system: System, hand: int) -> range:
    """The three channels of a hand's target."""
    first = int(system.arrays.hand_channel.numpy()[hand])
    return range(first, first + 3)


def set_target(bench: Bench, hand: int, target: np.ndarray) -> bool:
    """Write a constant target [world or 1, 3] into a hand's channels. True: arrays were replaced."""
    system = bench.system
    items = [column.copy() for column in target.T]
    return system.channels.put(system.arrays, hand_inputs(system, hand), items)


def elastic_energy(bench: Bench, hand: int, slots: slice) -> np.ndarray:
    """Energy in a hand's spring in every world [J]."""
    system = bench.system
    body = system.arrays.hand_body.numpy()[hand]
    tip = bench.work.p_WB.numpy()[body] + rotate(bench.work.q_WB.numpy()[body], system.arrays.hand_point.numpy()[hand])
    stretch = tip - bench.state.read("hand_target")[3 * hand : 3 * hand + 3].T
    stiffness = system.parameter("slot_a")[slots.start]
    return 0.5 * stiffness * (stretch**2).sum(axis=1)
