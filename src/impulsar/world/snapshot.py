"""Snapshots: everything that must be put back to go on as before, over any edits in between."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.model import Model
from ..engine.state import State, allocate_work
from ..engine.system import TOPOLOGY_OF_EDITS, System
from ..engine.system.slots import IDLE

if TYPE_CHECKING:
    from .world import World


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


def take(world: "World") -> Snapshot:
    """A snapshot of a world."""
    system = world.system
    return Snapshot(
        system.model,
        world.coordinates,
        world.method,
        world.work_limit,
        idle_slots(system),
        world.state.numpy().copy(),
        {name: system.parameter(name) for name in system.parameters},
        {name: getattr(system.arrays, name).numpy().copy() for name in TOPOLOGY_OF_EDITS},
        list(system.channels.items),
        list(system.hand_names),
        list(system.load_names),
        world._work.a_WB.numpy().copy(),
        world._work.reaction.numpy().copy(),
        world.dt,
        world._clock,
        world._count,
        world._script_position,
        world.paused,
    )


def put_back(world: "World", snapshot: Snapshot) -> None:
    """Bring a world to a snapshot: stepping on gives the same bits as it did then."""
    from ..observe.bench import Bench

    hands, loads = len(snapshot.hands), len(snapshot.loads)
    system = world.system
    same = (
        system.model is snapshot.model
        and (hands, loads) == (system.counts.hands, system.counts.loads)
        and system.coordinates == snapshot.coordinates
    )
    world.method = snapshot.method
    if not same:
        spare = loads - len(snapshot.model.loads)
        system = System(snapshot.model, world.worlds, world.device, snapshot.coordinates, hands, spare, checked=True)
        system.drop_rows(list(snapshot.idle))
        system.redundancy = world.redundancy
        kept = snapshot.parameters
        if "basis" in kept:  # not in journals of before
            system.spare_rows(kept["basis"], kept["rank"][0], kept["slack"][0])
        work = allocate_work(system.counts, world.device)
        world._take(Bench(system, State(system.counts, world.device), work))
    for name, values in snapshot.parameters.items():
        system.replace_parameter(name, values)
    for name, values in snapshot.topology.items():
        getattr(system.arrays, name).assign(values)
    system.channels.items = list(snapshot.channels)
    system.channels.write(system.arrays)
    system.hand_names, system.load_names = list(snapshot.hands), list(snapshot.loads)
    system.count_live_slots()
    world.state.array.assign(snapshot.state)
    world._work.v_pseudo.zero_()
    world._write_options(snapshot.work_limit)
    world._set_dt(snapshot.dt)
    world._clock, world._count = snapshot.clock, snapshot.steps
    world._script_position = snapshot.script_position
    world.paused = snapshot.paused
    world._equip()
    world._forget()
    world._refresh()
    world._work.report.zero_()  # of steps that are undone
    world._work.a_WB.assign(snapshot.acceleration)
    if snapshot.reaction is None:
        world._work.reaction.zero_()
    else:
        world._work.reaction.assign(snapshot.reaction)


def idle_slots(system: System) -> tuple[int, ...]:
    return tuple(r for r, slot in enumerate(system.slots) if slot.kind == IDLE)
