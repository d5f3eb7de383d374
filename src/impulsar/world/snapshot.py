"""Snapshots: everything that must be put back to go on as before, over any edits in between."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.model import Model
from ..edits.parameters import read_model
from ..engine.state import State, allocate_work
from ..engine.system import TOPOLOGY_OF_EDITS, System
from ..engine.system.slots import IDLE

if TYPE_CHECKING:
    from .runner import Runner


@dataclass(frozen=True)
class Snapshot:
    """A moment of a world, as data."""

    model: Model  # what the system was built of; never changed in place
    coordinates: str
    method: Any  # options object
    work_limit: int
    idle: tuple[int, ...]  # slots of locks that the tree satisfies by itself
    state: np.ndarray
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
    present: Model | None = None  # with what edits have set since it was built; None: from a file, read from the arrays


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
        {name: system.parameter(name) for name in system.parameters},
        {name: getattr(system.arrays, name).numpy().copy() for name in TOPOLOGY_OF_EDITS},
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
        system.model,
    )


def put_back(runner: "Runner", snapshot: Snapshot) -> None:
    """Bring a world to a snapshot: stepping on gives the same bits as it did then."""
    from ..observe.bench import Bench

    hands, loads = len(snapshot.hands), len(snapshot.loads)
    system = runner.system
    same = (
        system.built is snapshot.model
        and (hands, loads) == (system.counts.hands, system.counts.loads)
        and system.coordinates == snapshot.coordinates
    )
    runner.method = snapshot.method
    if not same:
        spare = loads - len(snapshot.model.loads)
        system = System(snapshot.model, runner.worlds, runner.device, snapshot.coordinates, hands, spare, checked=True)
        system.drop_rows(list(snapshot.idle))
        system.redundancy = runner.redundancy
        kept = snapshot.parameters
        if "basis" in kept:  # not in journals of before
            system.spare_rows(kept["basis"], kept["rank"][0], kept["slack"][0])
        work = allocate_work(system.counts, runner.device)
        runner.take(Bench(system, State(system.counts, runner.device), work))
    for name, values in snapshot.parameters.items():
        system.replace_parameter(name, values)
    for name, values in snapshot.topology.items():
        getattr(system.arrays, name).assign(values)
    system.channels.items = list(snapshot.channels)
    system.channels.write(system.arrays)
    system.hand_names, system.load_names = list(snapshot.hands), list(snapshot.loads)
    system.model = snapshot.present or read_model(system)
    system.count_live_slots()
    runner.state.array.assign(snapshot.state)
    runner.write_options(snapshot.work_limit)
    runner.set_dt(snapshot.dt)
    runner.clock, runner.count = snapshot.clock, snapshot.steps
    runner.script_position = snapshot.script_position
    runner.paused = snapshot.paused
    runner.equip()
    runner.forget()
    runner.refresh()
    runner.work.report.zero_()  # of steps that are undone
    runner.work.a_WB.assign(snapshot.acceleration)
    if snapshot.reaction is None:
        runner.work.reaction.zero_()
    else:
        runner.work.reaction.assign(snapshot.reaction)


def idle_slots(system: System) -> tuple[int, ...]:
    return tuple(r for r, slot in enumerate(system.slots) if slot.kind == IDLE)
