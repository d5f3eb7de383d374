"""Snapshots: everything that must be put back to go on as before, over any edits in between."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.model import Model
from ..edits.parameters import read_model
from ..engine.state import Layout, State, allocate_work
from ..engine.system import TOPOLOGY_OF_EDITS, System
from ..engine.system.slots import IDLE, SlotKey, has_turns

if TYPE_CHECKING:
    from ..engine.compile.recipe import Recipe
    from .runner import Runner


@dataclass(frozen=True)
class Snapshot:
    """A moment of a world, as data: the state as one array, and what tells which of its rows are what.

    Blocks, slots and loads have names, by which a journal keeps them (history/kept.py).
    """

    model: Model  # what the system was built of; never changed in place
    coordinates: str
    method: Any  # options object
    work_limit: int
    idle: tuple[int, ...]  # slots of locks that the tree satisfies by itself
    state: np.ndarray  # [row, world]
    layout: Layout  # of the state
    slots: tuple[SlotKey, ...]
    parameters: dict[str, np.ndarray]
    topology: dict[str, np.ndarray]
    channels: list
    hands: list
    loads: list
    acceleration: np.ndarray
    reaction: np.ndarray | None  # None: in a journal of version 1, which did not keep it
    dt: float
    clock: float
    steps: int
    script_position: int
    paused: bool
    controllers: tuple[tuple[Any, float], ...] = ()  # edits `Attach`, and when they were [s]
    memories: tuple[np.ndarray | None, ...] = ()  # of these, what Warp functions keep; files have none
    compiled: "Recipe | None" = None  # of steps compiled for the mechanism: which ways through them
    present: Model | None = None  # with what edits have set since it was built; None: from a file, read from the arrays

    @property
    def turning(self) -> bool:
        """Whether its hands have rows to turn what they hold."""
        return has_turns(self.slots)


def take(runner: "Runner") -> Snapshot:
    """A snapshot of a runner."""
    system = runner.system
    return Snapshot(
        system.built,
        runner.coordinates,
        runner.method,
        runner.work_limit,
        idle_slots(system),
        runner.state.numpy().copy(),
        runner.state.layout,
        system.slot_keys,
        {name: system.parameter(name) for name in system.parameters},
        {name: system.topology(name) for name in TOPOLOGY_OF_EDITS},
        list(system.channels.items),
        list(system.hand_names),
        list(system.load_names),
        runner.work.a_WB.numpy().copy(),
        runner.work.reaction.numpy().copy(),
        runner.dt,
        runner.clock,
        runner.count,
        runner.script_position,
        runner.paused,
        tuple((one.edit, one.start) for one in runner.beats.controllers.values()),
        tuple(one.memory for one in runner.beats.controllers.values()),
        runner.recipe.copy() if runner.recipe is not None and (runner.recipe.samples or runner.recipe.learns) else None,
        system.model,
    )


def put_back(runner: "Runner", snapshot: Snapshot) -> None:
    """Bring a world to a snapshot: stepping on gives the same bits as it did then."""
    from ..observe.bench import Bench

    runner.settle()
    hands, loads = len(snapshot.hands), len(snapshot.loads)
    system = runner.system
    same = (
        system.built is snapshot.model
        and (hands, loads) == (system.counts.hands, system.counts.loads)
        and bool(system.counts.turns) == snapshot.turning
        and system.coordinates == snapshot.coordinates
    )
    runner.method = snapshot.method
    each = system.each
    if not same:
        spare = loads - len(snapshot.model.loads)
        system = System(
            *(snapshot.model, runner.worlds, runner.device, snapshot.coordinates, hands, spare),
            checked=True,
            contacts=system.asked,
            turning=snapshot.turning,
        )
        system.drop_rows(list(snapshot.idle))
        system.redundancy = runner.redundancy
        kept = snapshot.parameters
        if "basis" in kept:  # not in journals of before
            system.spare_rows(kept["basis"], kept["rank"][0], kept["slack"][0])
        work = allocate_work(system.counts, runner.device)
        runner.take(Bench(system, _state(runner, system, snapshot), work))
    elif runner.state.layout != snapshot.layout:
        runner.take(Bench(system, _state(runner, system, snapshot), runner.work))
    system.each = each
    for name, values in snapshot.parameters.items():
        system.replace_parameter(name, values)
    for name, values in snapshot.topology.items():
        getattr(system.arrays, name).assign(values)
    system.channels.items = list(snapshot.channels)
    system.channels.write(system.arrays)
    system.hand_names, system.load_names = list(snapshot.hands), list(snapshot.loads)
    system.model = snapshot.present or read_model(system)
    system.count_live_slots()
    runner.state.put(snapshot.state)
    runner.write_options(snapshot.work_limit)
    runner.set_dt(snapshot.dt)
    runner.clock, runner.count = snapshot.clock, snapshot.steps
    runner.script_position = snapshot.script_position
    runner.paused = snapshot.paused
    runner.beats.put(snapshot.controllers)
    runner.use_recipe(snapshot.compiled)
    runner.equip()
    runner.forget()
    runner.beats.remember(snapshot.memories)
    runner.refresh()
    runner.build_ways()
    runner.work.report.zero_()  # of steps that are undone
    runner.work.a_WB.assign(snapshot.acceleration)
    if snapshot.reaction is None:
        runner.work.reaction.zero_()
    else:
        runner.work.reaction.assign(snapshot.reaction)


def _state(runner: "Runner", system: System, snapshot: Snapshot) -> State:
    """A state laid out as that of a snapshot."""
    return State(system.counts, runner.device, type(snapshot.method), snapshot.layout.methods)


def idle_slots(system: System) -> tuple[int, ...]:
    return tuple(r for r, slot in enumerate(system.slots) if slot.kind == IDLE)
