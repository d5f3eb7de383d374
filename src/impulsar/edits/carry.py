"""Carrying a running state over into a changed system: by the names of parts, never by their numbers.

Kept are the poses and twists of all bodies, whole turns, impulses, books, hands, loads, inputs and the
parameters of parts that did not change, in every world. What the books held of parts that are gone goes to
"removed parts"; what a change of parameters or joints puts into the mechanism is booked to "edits".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..author.parts import PARTS, Body, Joint
from ..author.rotations import conjugate, multiply_all, rotate_all
from ..engine.freedoms import code_coordinates, code_counts_turns, measure_coordinates
from ..engine.start.consistent import refresh
from ..engine.start.redundancy import choose_rows
from ..engine.state import ALWAYS, TILL_STIFFER, State, allocate_work
from ..engine.system import EMPTY, System
from ..engine.system.extents import exact_axes
from ..engine.system.sensing import sensor_rows
from ..engine.system.slots import (
    CLOSURE,
    COMPLIANCE,
    COUPLING,
    FRICTION,
    HAND,
    IDLE,
    LIMIT_HIGH,
    LIMIT_LOW,
    MOTORS,
    SPRING,
)
from ..engine.system.tree import GROUND, FreeJoint, JointKey, key_of
from ..observe.bench import Bench
from .fit import fit

CLOSED = 1e-10  # position error left after a fit, and not worth one before it [m, rad]
OPEN = 1e-8  # a joint that stays open by more cannot be assembled [m, rad]
STILL = np.array([0.0, 0.0, 0.0, 1.0])  # orientation of a point
BY_SLOT = ("slot_a", "slot_b", "slot_c", "slot_d")
SLOT_BOOKS = ("impulse", "work", "loss", "viscous_loss", "mode")


@dataclass
class Places:
    """Poses and twists of bodies in every world, arrays [world, ...] by name; ground is at rest in W."""

    worlds: int
    p_WB: dict[str, np.ndarray] = field(default_factory=dict)
    q_WB: dict[str, np.ndarray] = field(default_factory=dict)
    twist: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.p_WB[GROUND] = np.zeros((self.worlds, 3))
        self.q_WB[GROUND] = np.tile([0.0, 0.0, 0.0, 1.0], (self.worlds, 1))

    @classmethod
    def of(cls, bench: Bench) -> "Places":
        """Where the bodies are now."""
        names = bench.system.tree.bodies
        p, q, V = (getattr(bench.work, name).numpy().copy() for name in ("p_WB", "q_WB", "twist"))
        q /= np.linalg.norm(q, axis=-1, keepdims=True)
        return cls(
            bench.system.counts.worlds,
            dict(zip(names, p, strict=True)),
            dict(zip(names, q, strict=True)),
            dict(zip(names, V, strict=True)),
        )

    def put(self, name: str, p: object, q: object, twist: object) -> None:
        """Place a body, the same in all worlds or by world."""
        n = self.worlds
        self.p_WB[name] = np.broadcast_to(np.asarray(p, float), (n, 3)).copy()
        self.q_WB[name] = np.broadcast_to(np.asarray(q, float), (n, 4)).copy()
        self.twist[name] = np.broadcast_to(np.asarray(twist, float), (n, 6)).copy()

    def stacked(self, names: Sequence[str]) -> list[np.ndarray]:
        """Positions, orientations and twists of bodies [body, world, ...]."""
        return [
            np.array([values[name] for name in names]).reshape(len(names), self.worlds, size)
            for values, size in ((self.p_WB, 3), (self.q_WB, 4), (self.twist, 6))
        ]

    def frame(self, body: str, p_BQ: np.ndarray, q_BQ: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """World pose of a frame given in a body."""
        q_WB = self.q_WB[body]
        return self.p_WB[body] + rotate_all(q_WB, p_BQ), multiply_all(q_WB, q_BQ)

    def local(self, body: str, p_WQ: np.ndarray, q_WQ: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A world frame in a body."""
        back = conjugate(self.q_WB[body])
        return rotate_all(back, p_WQ - self.p_WB[body]), multiply_all(back, q_WQ)


@dataclass
class JointPlace:
    """Frames of a joint in its bodies, by world [world, ...], and the length of a distance joint."""

    p_PF: np.ndarray
    q_PF: np.ndarray
    p_CM: np.ndarray
    q_CM: np.ndarray
    length: np.ndarray | None = None


@dataclass
class Change:
    """What an edit asks to be built: a system of a new model, and where its bodies should be."""

    system: System
    places: Places
    joints: dict[str, JointPlace] = field(default_factory=dict)  # placed anew, where worlds differ
    points: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)  # of other parts by array, likewise
    turns: Mapping[tuple[JointKey, int], np.ndarray] = field(default_factory=dict)  # coordinates to be near, by freedom
    fresh: bool = False  # new books, no hands, time zero


@dataclass
class Outcome:
    """A state carried over."""

    bench: Bench
    error: np.ndarray  # largest error of a joint or coupling [world] [m, rad]
    open: dict[str, float]  # joints and couplings that stay open, with their errors [m, rad]
    moved: float  # farthest that a body's centre was moved from where it should be [m]


def carry(old: Bench, change: Change) -> Outcome:
    """Fill the arrays of a new system from those of the old; the old ones are only read."""
    system = change.system
    slots = slot_map(old.system, system)
    carry_parameters(old.system, system, slots)
    place_parts(change)
    choose_rows(system, old.system.redundancy, lambda tree, w: tree_coordinates(change, tree, w))
    new = Bench(system, old.state.anew(system.counts), allocate_work(system.counts, system.device))
    if not change.fresh:
        carry_inputs(old, new, slots)
    rest = CLOSED
    if not change.fresh:
        carry_books(old, new, slots)
        if not brings_springs(old.system, system, slots):
            new.state.take_over(old.state, TILL_STIFFER)
        rest = max(CLOSED, old.worst_lock())
    write_coordinates(change, new.state)
    given = change.places.stacked(system.tree.bodies)
    error = np.zeros(system.counts.worlds)
    if change.fresh or not keep_exact(old, new, given):
        error = fit(system, new.state, new.work, (given[0], given[1], given[2]), rest)
    refresh(system, new.state, new.work)
    open_joints = open_parts(new, error, max(OPEN, 2.0 * rest))
    moved = float(np.linalg.norm(new.work.p_WB.numpy() - given[0], axis=-1).max(initial=0.0))
    carry_measures(old, new)
    return Outcome(new, error, open_joints, moved)


# parameters and inputs ----------------------------------------------------------------------------


def slot_map(old: System, new: System) -> tuple[np.ndarray, np.ndarray]:
    """Slots that are in both, as their numbers in the new and in the old system: by part, kind and freedom."""

    def key(slot):
        return slot.name, CLOSURE if slot.kind == IDLE else slot.kind, slot.code

    place = {key(slot): r for r, slot in enumerate(old.slots)}
    pairs = [(r, place[k]) for r, slot in enumerate(new.slots) if (k := key(slot)) in place]
    found = np.array(pairs, int).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def carry_parameters(old: System, new: System, slots: tuple[np.ndarray, np.ndarray]) -> None:
    """Parameters of the parts that did not change; in a batch, where each world may have its own."""
    stays = kept_parts(old, new)
    kept = [slot.kind == HAND or (slot.owner, slot.name) in stays for slot in (new.slots[r] for r in slots[0])]
    rows = np.column_stack(slots)[kept] if len(kept) else np.zeros((0, 2), int)
    groups: list[tuple[Sequence[str], Any]] = [(BY_SLOT, rows)]
    if old.model.gravity is new.model.gravity:
        groups.append((("gravity",), [(0, 0)]))
    for kind, entry in PARTS.items():
        if kind != "load":  # which are carried with what they follow
            was, now = old.index_of(kind), new.index_of(kind)
            points = [point.array for point in entry.points]
            own = [own.array for own in entry.parameters if not own.slots and not own.by_freedom]
            arrays = [name for name in (*own, *points, *entry.arrays) if name]
            pairs = [(now[name], was[name]) for which, name in stays if which == kind] if arrays else []
            groups.append((arrays, pairs))
    if old.tree.armatured and new.tree.armatured:
        kept_joints = {name for which, name in stays if which == "joint"}
        there = [(k, old.dof[key]) for key, k in new.dof.items() if key[0] in kept_joints and key in old.dof]
        groups.append((("armature",), there))
    for names, pairs in groups:
        index = np.asarray(pairs, int).reshape(-1, 2)
        for name in names:
            copy_rows(old, new, name, index)
    if new.counts.worlds > 1 and (old.parameter("q_PF").shape[1] > 1 or old.parameter("q_CM").shape[1] > 1):
        write_zero_orientations(new)


def brings_springs(old: System, new: System, slots: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether a spring or damper is new or changed: then the method asks again how large its sub-steps may be."""
    stays, known = kept_parts(old, new), set(slots[0].tolist())
    return any(
        slot.kind in (SPRING, COMPLIANCE) and (r not in known or (slot.owner, slot.name) not in stays)
        for r, slot in enumerate(new.slots)
    )


def kept_parts(old: System, new: System) -> dict[tuple[str, str], None]:
    """Parts that did not change, by kind and name, in the order of the new model: the same objects, or bodies of
    the same mass and inertia."""
    return {
        (kind, name): None
        for kind, entry in PARTS.items()
        for name, part in getattr(new.model, entry.plural).items()
        if _is_kept(getattr(old.model, entry.plural).get(name), part)
    }


def _is_kept(old: Any, part: Any) -> bool:
    alike = isinstance(old, Body) and isinstance(part, Body) and old.mass is part.mass and old.inertia is part.inertia
    return old is part or alike


def copy_rows(old: System, new: System, name: str, index: np.ndarray) -> None:
    """Copy parts of a parameter array; index: pairs of their numbers in the new and old system."""
    if not len(index):
        return
    source, target = old.parameter(name), new.parameter(name)
    if source.shape[1] > target.shape[1]:
        target = np.repeat(target, source.shape[1], axis=1)
    target[index[:, 0]] = source[index[:, 1]]
    new.replace_parameter(name, target)


def place_parts(change: Change) -> None:
    """Write frames that differ from world to world."""
    system = change.system
    if system.counts.worlds == 1:
        return
    for name, place in change.joints.items():
        j = system.joint_index[name]
        for what in ("p_PF", "q_PF", "p_CM", "q_CM"):
            system.set_parameter(what, j, getattr(place, what))
        system.set_parameter("R_PF", j, exact_axes(place.q_PF))
        system.set_parameter("R_CM", j, exact_axes(place.q_CM))
        if place.length is not None:
            system.set_parameter("length", j, place.length)
    if change.joints:
        write_zero_orientations(system)
    for name, points in change.points.items():
        for array, values in points.items():
            system.set_parameter(array, system.index_of(str(system.model.kind_of(name)))[name], values)


def write_zero_orientations(system: System) -> None:
    q_PF, q_CM = np.broadcast_arrays(system.parameter("q_PF"), system.parameter("q_CM"))
    system.replace_parameter("q_zero", system.zero_orientations(q_PF, q_CM))


def carry_inputs(old: Bench, new: Bench, slots: tuple[np.ndarray, np.ndarray]) -> None:
    """Hands, loads and the inputs of motors, by name; of parts that are gone they end."""
    was, now = old.system, new.system
    items, stays = now.channels.items, kept_parts(was, now)
    for r, q in zip(*slots, strict=True):
        slot = now.slots[r]
        if slot.kind in MOTORS and (slot.owner, slot.name) in stays:
            items[slot.channel] = was.channels.items[was.slots[q].channel]
    carry_hands(old, new)
    carry_loads(old, new)
    carry_currents(was, now)
    now.channels.write(now.arrays)
    now.count_live_slots()
    for name in ("h", "nominal_h", "steps"):
        getattr(now.arrays, name).assign(getattr(was.arrays, name).numpy())


def carry_hands(old: Bench, new: Bench) -> None:
    was, now = old.system, new.system
    held, trees = now.arrays.hand_body.numpy().copy(), now.arrays.slot_trees.numpy().copy()
    tree_of = now.arrays.tree_of.numpy()
    for k, body in enumerate(was.arrays.hand_body.numpy()):
        name = was.hand_names[k]
        holds = now.body_index.get(was.tree.bodies[body]) if name and body >= 0 else None
        if holds is None:
            continue
        now.hand_names[k] = name
        held[k] = holds
        for slots in (now.hand_slots(k), now.turn_slots(k)):
            trees[slots] = -1
            trees[slots, 0] = tree_of[holds]
        for name in ("hand_channel", "turn_channel"):
            first, first_now = (getattr(s.arrays, name).numpy()[k : k + 1] for s in (was, now))
            for c, c_now in zip(first, first_now, strict=False):  # none where no hand turns
                now.channels.items[c_now : c_now + 3] = was.channels.items[c : c + 3]
    now.arrays.hand_body.assign(held)
    now.arrays.slot_trees.assign(trees)
    hands = min(was.counts.hands, now.counts.hands)
    copy_rows(was, now, "hand_point", np.repeat(np.arange(hands)[:, None], 2, axis=1))


def carry_loads(old: Bench, new: Bench) -> None:
    """Loads that the model has keep their values if they were not changed; those of edits take spare places."""
    was, now = old.system, new.system
    first, first_now = (s.arrays.load_channel.numpy() for s in (was, now))
    on, turns = now.arrays.load_body.numpy().copy(), now.arrays.load_in_body.numpy().copy()
    was_on, was_turning = was.arrays.load_body.numpy(), was.arrays.load_in_body.numpy()
    pairs = []
    for k, name in enumerate(was.load_names):
        target = load_place(was, now, name)
        if target is None:
            continue
        i = target
        body = int(was_on[k])
        on[i] = now.body_index.get(was.tree.bodies[body], EMPTY) if body >= 0 else EMPTY
        turns[i] = was_turning[k]
        now.channels.items[first_now[i] : first_now[i] + 6] = was.channels.items[first[k] : first[k] + 6]
        if on[i] == EMPTY:
            now.channels.silence(int(first_now[i]), 6)
        now.load_names[i] = name
        pairs.append((i, k))
    now.arrays.load_body.assign(on)
    now.arrays.load_in_body.assign(turns)
    copy_rows(was, now, "load_point", np.array(pairs, int).reshape(-1, 2))


def carry_currents(old: System, new: System) -> None:
    """Currents of the fluids that did not change, of every world."""
    first, first_now = (s.arrays.fluid_channel.numpy() for s in (old, new))
    for k, (name, fluid) in enumerate(new.model.fluids.items()):
        if old.model.fluids.get(name) is fluid:
            was = int(first[old.index_of("fluid")[name]])
            new.channels.items[first_now[k] : first_now[k] + 3] = old.channels.items[was : was + 3]


def load_place(was: System, now: System, name: str | None) -> int | None:
    """Where a load of the old system goes in the new one; None where the new model has its own or none."""
    if name is None:
        return None
    own = now.model.loads.get(name)
    if own is not None:
        return now.load_names.index(name) if was.model.loads.get(name) is own else None
    if name in was.model.loads:  # removed
        return None
    return now.load_names.index(None) if None in now.load_names else None


# books --------------------------------------------------------------------------------------------


def carry_books(old: Bench, new: Bench, slots: tuple[np.ndarray, np.ndarray]) -> None:
    """Impulses, work and losses by slot; those of slots and loads that are gone are summed up."""
    was, now = old.state, new.state
    to, source = slots
    gone = np.setdiff1d(np.arange(len(old.system.slots)), source)
    for name in SLOT_BOOKS:
        block = now.read(name).copy()
        block[to] = was.read(name)[source]
        now.write(name, block)
    for name in ("past_hands", "past_parts", "edits", "clamped", "contact_work", "start_energy", "time", "last_h"):
        now.write(name, was.read(name))
    now.take_over(was, ALWAYS)
    past = now.read("past_parts").copy()
    work, loss = was.read("work"), was.read("loss") + was.read("viscous_loss")
    for r in gone:
        if old.system.slots[r].kind in (FRICTION, LIMIT_LOW, LIMIT_HIGH):
            past[1] -= work[r]
        else:
            past[0] += work[r]
        past[1] += loss[r]
    loads = now.read("load_work").copy()
    for k, load in enumerate(old.system.load_names):
        if load is not None and load in new.system.load_names:
            loads[new.system.load_names.index(load)] = was.read("load_work")[k]
        else:
            past[0] += was.read("load_work")[k]
    now.write("load_work", loads)
    fluids, names = now.read("fluid_work").copy(), list(new.system.model.fluids)
    for k, fluid in enumerate(old.system.model.fluids):
        own = was.read("fluid_work")[3 * k : 3 * k + 3]
        if fluid in names:
            fluids[3 * names.index(fluid) :][:3] = own
        else:
            past[0] += own[0] + own[1]
            past[1] += own[2]
    now.write("fluid_work", fluids)
    now.write("past_parts", past)
    for name in ("hand_target", "hand_turn"):
        targets, before = now.read(name).copy(), was.read(name)
        rows = min(len(targets), len(before))
        targets[:rows] = before[:rows]
        now.write(name, targets)
    tyres = {name: 2 * k for k, name in enumerate(old.system.model.tyres)}
    deflected = now.read("inner").copy()
    for k, name in enumerate(new.system.model.tyres):
        if name in tyres:
            deflected[2 * k : 2 * k + 2] = was.read("inner")[tyres[name] : tyres[name] + 2]
    now.write("inner", deflected)
    carry_sensors(old, new)


def carry_sensors(old: Bench, new: Bench) -> None:
    """What sensors keep that have as much to keep as before."""
    there, _ = sensor_rows(old.system.model)
    here, size = sensor_rows(new.system.model)
    if size:
        block, was = new.state.read("sensor").copy(), old.state.read("sensor")
        for name, rows in here.items():
            before = there.get(name, slice(0, 0))
            if rows.stop - rows.start == before.stop - before.start:
                block[rows] = was[before]
        new.state.write("sensor", block)


def carry_measures(old: Bench, new: Bench) -> None:
    """What the last step measured of the bodies and joints that stay."""
    indices: tuple[tuple[str, Mapping[Any, int], Mapping[Any, int]], ...] = (
        ("a_WB", old.system.body_index, new.system.body_index),
        ("reaction", old.system.joint_index, new.system.joint_index),
    )
    for name, was, now in indices:
        index = np.array([(i, was[key]) for key, i in now.items() if key in was], int).reshape(-1, 2)
        data = getattr(new.work, name).numpy().copy()
        data[index[:, 0]] = getattr(old.work, name).numpy()[index[:, 1]]
        getattr(new.work, name).assign(data)
    new.work.report.assign(old.work.report.numpy())


# coordinates --------------------------------------------------------------------------------------


def write_coordinates(change: Change, state: State) -> None:
    """Tree coordinates and whole turns from the places of the bodies, as far as the joints can follow."""
    system, places = change.system, change.places
    tree, worlds = system.tree, system.counts.worlds
    joints = system.joints
    names = [*tree.bodies, GROUND]  # ground is the last, number -1
    p_WB, q_WB = (np.stack([getattr(places, what)[name] for name in names]) for what in ("p_WB", "q_WB"))
    first, second = system.arrays.first.numpy(), system.arrays.second.numpy()
    q_WF = multiply_all(q_WB[first], system.parameter("q_PF"))
    q_WM = multiply_all(q_WB[second], system.parameter("q_CM"))
    p_WF = p_WB[first] + rotate_all(q_WB[first], system.parameter("p_PF"))
    p_WM = p_WB[second] + rotate_all(q_WB[second], system.parameter("p_CM"))
    back = conjugate(q_WF)
    p_FM, q_FM = rotate_all(back, p_WM - p_WF), multiply_all(back, q_WM)
    freedoms = [(i, key_of(joint), code) for i, joint in enumerate(joints) for code in joint.kind.freedoms]
    values = measure_coordinates([(i, code) for i, _, code in freedoms], p_FM, q_FM)
    q, loop_q = np.zeros((system.counts.coordinates, worlds)), np.zeros((system.counts.loop_freedoms, worlds))
    for (i, joint, code), value in zip(freedoms, values, strict=True):
        if code_counts_turns(code) and (joint, code) in change.turns:
            value = value - 2 * np.pi * np.round((value - change.turns[joint, code]) / (2 * np.pi))
        size, at = code_coordinates(code), system.coordinate[joint, code]
        if i >= len(tree.bodies):
            loop_q[-1 - at] = value
        else:
            q[at : at + size] = value if size == 1 else q_FM[i].T[:size]
    state.write("q", q)
    state.write("loop_q", loop_q)


def tree_coordinates(change: Change, tree: System, w: int) -> np.ndarray:
    """Coordinates of a spanning tree that follow from where the bodies are in one world."""
    places = change.places
    n = tree.counts.worlds
    own = Places(n)
    for name in tree.tree.bodies:
        own.put(name, places.p_WB[name][w], places.q_WB[name][w], np.zeros(6))
    state = State(tree.counts, tree.device)
    write_coordinates(Change(tree, own, turns=_of_world(change.turns, w)), state)
    return state.read("q")[:, 0].copy()


def _of_world(turns: Mapping[tuple[JointKey, int], np.ndarray], w: int) -> dict[tuple[JointKey, int], np.ndarray]:
    return {key: values[w : w + 1] for key, values in turns.items()}


def same_tree(old: System, new: System) -> bool:
    """Whether both have the same bodies on the same joints."""
    return old.tree.bodies == new.tree.bodies and all(
        a == b if isinstance(a, FreeJoint) else a.name == key_of(b) and old.model.joints.get(a.name) is b
        for a, b in zip(old.tree.carriers, new.tree.carriers, strict=True)
    )


def keep_exact(old: Bench, new: Bench, given: list[np.ndarray]) -> bool:
    """Take over coordinates and velocities bit for bit, where tree and places are the same and no row is new."""
    was, now = old.system, new.system
    loops = [was.model.joints[joint.name] for joint in was.tree.loops]
    bound = {id(part) for part in (*loops, *was.model.couplings.values())}
    if not same_tree(was, now) or any(
        id(part) not in bound for part in (*now.tree.loops, *now.model.couplings.values())
    ):
        return False
    before = Places.of(old).stacked(now.tree.bodies)
    if not all(np.array_equal(values, was) for values, was in zip(given, before, strict=True)):
        return False
    new.state.write("q", old.state.read("q"))
    new.state.write("v", old.state.read("v"))
    loop_q, kept = new.state.read("loop_q").copy(), old.state.read("loop_q")
    for key, at in now.coordinate.items():
        if at < 0:
            loop_q[-1 - at] = kept[-1 - was.coordinate[key]]
    new.state.write("loop_q", loop_q)
    return True


def open_parts(bench: Bench, error: np.ndarray, most: float) -> dict[str, float]:
    """Joints, or couplings, whose equations are not met."""
    gaps: dict[str, float] = {}
    if not bench.has_rows:
        return gaps
    readout = bench.readout
    for name, gap in zip(readout.lock_names, np.abs(readout.lock_errors()).max(axis=1, initial=0.0), strict=True):
        if not gap <= most:
            gaps[name] = max(gaps.get(name, 0.0), float(gap))
    if not gaps and not (error <= most).all():
        gaps = {slot.name: float(error.max()) for slot in bench.system.slots if slot.kind == COUPLING}
    return gaps


def joint_frames(bench: Bench, joint: Joint, places: Places) -> tuple[np.ndarray, ...]:
    """p_WF, q_WF, p_WM, q_WM of a joint in every world."""
    j = bench.system.joint_index[joint.name]
    p_PF, q_PF, p_CM, q_CM = (
        np.broadcast_to(values, (places.worlds, values.shape[-1]))
        for values in (bench.system.parameter(name)[j] for name in ("p_PF", "q_PF", "p_CM", "q_CM"))
    )
    return (*places.frame(joint.first, p_PF, q_PF), *places.frame(joint.second, p_CM, q_CM))
