"""Worlds put at joint coordinates: some of a batch or all, back at the start or where they are told.

Coordinates are those that results have (`World.coordinate_names`): of joints of the tree they are written as they are,
whatever the number of turns. In maximal coordinates the bodies are placed by a spanning tree. Loops and couplings are
closed from there on by `fit`; what that changes is told. A world that is put anew has no warm starts, no contacts and
nothing of what a method keeps from step to step: it goes on as a new one would. Its clock and sensors run on.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..author.checks import show
from ..author.joints import BALL_X
from ..author.rotations import quaternions
from ..engine.freedoms import code_counts_turns
from ..engine.start.consistent import project_start, refresh
from ..engine.state import State, allocate_work
from ..engine.system import System
from ..observe.bench import Bench
from .carry import CLOSED, OPEN, Change, Places, write_coordinates
from .data import GoTo, PutWorlds
from .fit import fit
from .rebuild import MISSED, refuse_stacked
from .refusal import EditError, known
from .registry import Answer, Desk, carries_out

OF_STEPS = ("impulse", "coming", "mode", "contact", "inner", "last_h")  # what steps hand to each other


@carries_out(PutWorlds)
def put_worlds(edit: PutWorlds, desk: Desk) -> Answer:
    """Put worlds at joint coordinates."""
    bench = desk.bench
    refuse_stacked(bench.system)
    chosen = _chosen(edit.worlds, bench.system.counts.worlds)
    asked = {what: _by_coordinate(bench, what, getattr(edit, what), chosen) for what in ("q", "v")}
    at_rest = edit.q is not None
    tried, error = _tried(bench, asked["q"], asked["v"], at_rest, chosen)
    if not (error[chosen] <= OPEN).all():
        told = f"its joints stay open by {error[chosen].max():.3g} m or rad"
        raise EditError(f"model '{desk.model.name}': cannot be put there; {told}; give coordinates that fit each other")
    for name in ("q", "v", "loop_q"):
        block = bench.state.read(name).copy()
        block[:, chosen] = tried.read(name)[:, chosen]
        bench.state.write(name, block)
    for name in (*OF_STEPS, *(name for name in bench.state.layout.rows if "." in name)):
        block = bench.state.read(name).copy()
        block[:, chosen] = 0.0
        bench.state.write(name, block)
    refresh(bench.system, bench.state, bench.work)
    many = len(chosen)
    text = "put anew" if bench.system.counts.worlds == 1 else f"{many} world{'s' if many > 1 else ''} put anew"
    return Answer("; ".join([text, *_missed(bench, asked, chosen)]))


@carries_out(GoTo)
def go_to(edit: GoTo, desk: Desk) -> Answer:
    """Put worlds at a key frame."""
    frame = known("go to", "keyframe", edit.keyframe, desk.model.keyframes)
    answer = put_worlds(PutWorlds(edit.worlds, frame.positions, frame.velocities), desk)
    return replace(answer, text=f"at key frame '{frame.name}': {answer.text}")


def _chosen(worlds: Any, count: int) -> np.ndarray:
    """Numbers of the worlds."""
    if worlds is None:
        return np.arange(count)
    try:
        given = np.asarray(worlds)
    except ValueError:  # of no shape
        given = np.empty(0)
    is_whole = given.ndim == 1 and given.size and given.dtype.kind in "iu"
    if not is_whole or given.min() < 0 or given.max() >= count or len(set(given.tolist())) < given.size:
        raise EditError(f"put worlds: worlds are {show(worlds)}, expected different numbers from 0 to {count - 1}")
    return given


def _by_coordinate(bench: Bench, what: str, given: Any, chosen: np.ndarray) -> dict[int, np.ndarray]:
    """Values for the chosen worlds, by number of the coordinate."""
    names = bench.readout.coordinates
    if given is None:
        return {}
    if isinstance(given, Mapping):
        index = {name: k for k, name in enumerate(names)}
        columns = {known("put worlds", "coordinate", name, index): value for name, value in given.items()}
    else:
        try:
            array = np.asarray(given, float) if isinstance(given, np.ndarray | list | tuple) else np.empty(())
        except (TypeError, ValueError):
            raise EditError(f"put worlds: {what} is {show(given)}, expected numbers") from None
        if array.shape not in ((len(names),), (len(chosen), len(names))):
            raise EditError(
                f"put worlds: {what} has shape {array.shape}, expected ({len(names)},) or "
                f"({len(chosen)}, {len(names)}) for the coordinates {', '.join(names) or 'of which there are none'}"
            )
        columns = {k: array[..., k] for k in range(len(names))}
    found = {}
    for k, value in columns.items():
        try:
            column = np.asarray(value, float)
        except (TypeError, ValueError):
            column = np.empty((0, 0))
        if column.shape not in ((), (len(chosen),)) or not np.isfinite(column).all() or isinstance(value, bool):
            told = f"expected a finite number or {len(chosen)} of them"
            raise EditError(f"put worlds: {what} of '{names[k]}' is {show(value)}, {told}")
        found[k] = np.broadcast_to(column, len(chosen))
    return found


def _tried(
    bench: Bench, q: dict[int, np.ndarray], v: dict[int, np.ndarray], at_rest: bool, chosen: np.ndarray
) -> tuple[State, np.ndarray]:
    """A state of all worlds at the start but for the coordinates given, loops closed, and what stays open [world]."""
    system, worlds = bench.system, bench.system.counts.worlds
    is_tree = system.coordinates == "generalized"
    tree = system if is_tree else _spanning(bench)
    state, work = bench.room if is_tree else (State(tree.counts, tree.device), allocate_work(tree.counts, tree.device))
    state.array.zero_()
    state.write("q", np.repeat(tree.start_coordinates()[:, None], worlds, axis=1))
    if not at_rest:
        project_start(tree, state, work)
    _write_given(bench, tree, state, q, v, chosen)
    if is_tree and not bench.has_rows:
        return state, np.zeros(worlds)
    refresh(tree, state, work)
    poses = [getattr(work, name).numpy().copy() for name in ("p_WB", "q_WB", "twist")]
    if not is_tree:
        places = Places(worlds)
        for i, name in enumerate(tree.tree.bodies):
            places.put(name, *(values[i] for values in poses))
        own = {key: at for key, at in tree.coordinate.items() if at >= 0 and code_counts_turns(key[1])}
        turns = {key: state.read("q")[at].copy() for key, at in own.items()}
        state, work = bench.room
        state.array.zero_()
        write_coordinates(Change(system, places, turns=turns), state)
        poses = places.stacked(system.tree.bodies)
    error = fit(system, state, work, (poses[0], poses[1], poses[2]), CLOSED)
    return state, error


def _spanning(bench: Bench) -> System:
    """The model in generalized coordinates, with the masses of the running system."""
    return System(bench.system.model, bench.system.counts.worlds, bench.system.device, checked=True)


def _write_given(
    bench: Bench, tree: System, state: State, q: dict[int, np.ndarray], v: dict[int, np.ndarray], chosen: np.ndarray
) -> None:
    """Coordinates and velocities of the tree's joints as given; those of loops count their turns from there."""
    joints = bench.system.model.joints.values()
    keys = [(joint.name, code) for joint in joints for group in joint.kind.groups for code in group.freedoms]
    places, loops, rates = state.read("q").copy(), state.read("loop_q").copy(), state.read("v").copy()
    turned: dict[str, np.ndarray] = {}  # rotation vectors of balls [3, chosen]
    for k, values in q.items():
        name, code = keys[k]
        at = tree.coordinate[name, code]
        if BALL_X <= code < BALL_X + 3:
            turned.setdefault(name, np.zeros((3, len(chosen))))[code - BALL_X] = values
        elif at >= 0:
            places[at, chosen] = values
        else:
            loops[-1 - at, chosen] = values
    for name, turn in turned.items():
        at = tree.coordinate[name, BALL_X]
        if at >= 0:
            places[at : at + 4, chosen] = quaternions(turn.T).T
    for k, values in v.items():
        if keys[k] in tree.dof:
            rates[tree.dof[keys[k]], chosen] = values
    for block, array in (("q", places), ("loop_q", loops), ("v", rates)):
        state.write(block, array)


def _missed(bench: Bench, asked: dict[str, dict[int, np.ndarray]], chosen: np.ndarray) -> list[str]:
    """What the joints did not allow, the worst of positions and of velocities."""
    found = []
    for what, now, unit in zip(("q", "v"), bench.readout.freedoms(), ("", "/s"), strict=True):
        off = {k: np.abs(now[k, chosen] - values) for k, values in asked[what].items()}
        worst = max(off, key=lambda k: float(off[k].max()), default=None)
        if worst is not None and off[worst].max() > MISSED * (1.0 + np.abs(asked[what][worst]).max()):
            name, w = bench.readout.coordinates[worst], int(off[worst].argmax())
            told = f"{now[worst, chosen[w]]:.6g} {bench.readout.coordinate_units[worst]}{unit}"
            found.append(f"the joints leave '{name}' at {told}, off by {off[worst].max():.3g}")
    return found
