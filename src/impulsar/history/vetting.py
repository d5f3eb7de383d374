"""What a journal brings in, looked through before any kernel sees it: kernels index without looking.

A right crc is no passport, since anyone can compute it. What a snapshot could lead a kernel with, which
body, tree, slot or channel, is compared with the system that its model gives, and nothing is built before
the file is known to hold as many numbers as it claims.
"""

import inspect
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.checks import is_number
from ..author.errors import FileError
from ..author.model import Model
from ..author.profiles import Component, Passage, Profile
from ..edits import Attach
from ..edits.refusal import MOST_WORK
from ..engine.compile.recipe import MOST_VARIANTS, Recipe
from ..engine.system import EMPTY, TOPOLOGY_OF_EDITS, System
from ..engine.system.slots import CLOSURE, HAND, IDLE
from ..io.codec import FREE
from ..io.kinds import BOOLEAN, INTEGER, NUMBER, TEXT, Kind, Optional, wrong
from ..world.control import check_attached
from ..world.options import is_method
from ..world.snapshot import Snapshot
from .callables import Recorded
from .journal import Entry, read_method
from .kept import FIELDS, Kept, fit_slots, lay_out, layout_of, name_blocks, slot_rows, turning

if TYPE_CHECKING:
    from ..world.world import World

NOT_OPTIONS = (
    "model",
    "rtol",
    "atol",
    "substeps",
    "redundancy",
    "budget",
    "threads",
)  # of World: in the method, off, or without a trace in the bits
OPTIONS: dict[str, Kind] = {  # of World, as a header has them
    "coordinates": Optional(TEXT),
    "dt": Optional(NUMBER),
    "worlds": INTEGER,
    "device": TEXT,
    "strict": BOOLEAN,
    "max_speed": Optional(NUMBER),
    "max_hand_force": Optional(NUMBER),
    "contacts": Optional(INTEGER),
    "compile": TEXT,
}
KINDS_OF_FIELDS = {  # of a snapshot
    **{"model": Model, "acceleration": np.ndarray, "coordinates": str, "idle": tuple},
    **{"parameters": dict, "topology": dict, "channels": list, "hands": list, "loads": list, "paused": bool},
    **{"work_limit": int, "steps": int, "script_position": int, "clock": float, "dt": float},
}
BY_SLOT = ("slot_a", "slot_b", "slot_c", "slot_d", "basis", "slot_trees")  # arrays [slot, ...]
ROWS_OF_HAND = 15  # of the state: three slots of four numbers each, and a target


def options_of(world_class: type) -> list[str]:
    """Names of the arguments that make a world of its model."""
    return [name for name in inspect.signature(world_class).parameters if name not in NOT_OPTIONS]


def read_options(options: Any, world_class: type) -> dict[str, Any]:
    """The arguments of a world, from a header."""
    known = options_of(world_class)
    if not isinstance(options, dict) or not set(options) <= set(known):
        raise wrong("world", options, f"an object with {', '.join(known)}")
    given = {name: OPTIONS.get(name, FREE).read(value, name) for name, value in options.items() if name != "method"}
    given.setdefault("compile", "off")  # as before there was a choice
    if "method" in options:
        given["method"] = read_method(options["method"], "method")
    return given


def check_room(options: dict[str, Any], first: Entry) -> None:
    """Refuse more worlds than the first snapshot has numbers for, before memory is taken for them."""
    worlds = options.get("worlds", 1)
    snapshot = first.data.get("snapshot")
    state = snapshot.get("state") if isinstance(snapshot, dict) else None
    if isinstance(state, dict) and isinstance(state.get("dict"), dict):  # blocks by name
        state = state["dict"].get("time")  # which every world has, an empty one too
    shape = state.get("shape") if isinstance(state, dict) else None
    if not isinstance(shape, list) or len(shape) != 2 or shape[1] != worlds or isinstance(worlds, bool):
        raise wrong("worlds", worlds, f"as many as the first snapshot has, whose state has shape {shape}")
    if not isinstance(shape[0], int) or not 0 < 8 * shape[0] * worlds <= len(first.arrays):
        raise wrong("worlds", worlds, f"no more than the {len(first.arrays)} bytes of the first snapshot hold")


def check_snapshot(world: "World", kept: Kept) -> Snapshot:
    """The snapshot of a file, fitted to the system of its model; what does not fit is refused."""
    _check_fields(world, kept)
    model, hands, loads = kept.model, len(kept.hands), len(kept.loads)
    spare = loads - len(model.loads)
    system = System(
        *(model, world.worlds, world.device, kept.coordinates, hands, spare),
        checked=True,
        contacts=world.runner.system.asked,
        turning=turning(kept),
    )
    rows = slot_rows(kept, system)
    _fit_arrays(kept, system, rows)
    system.drop_rows(list(kept.idle))
    if len(kept.channels) != system.counts.channels:
        raise wrong("snapshot.channels", len(kept.channels), str(system.counts.channels))
    for c, item in enumerate(kept.channels):
        _check_channel(f"snapshot.channels[{c}]", item, world.worlds)
    _check_controllers(kept.controllers)
    _check_arrays(world, kept, system)
    _check_topology(kept, system)
    if "basis" in kept.parameters:
        system.spare_rows(*(kept.parameters[name] for name in ("basis", "rank", "slack")))
    name_blocks(kept, system)
    layout = layout_of(kept, system)
    kept.compiled = read_recipe(kept.compiled, layout.size, world.worlds)
    same = {name: getattr(kept, name) for name in FIELDS if name not in ("state", "methods", "slots")}
    return Snapshot(**same, state=lay_out(kept, layout, rows, world.worlds), layout=layout, slots=system.slot_keys)


def _fit_arrays(kept: Kept, system: System, rows: np.ndarray | None) -> None:
    """Bring what is kept by slot into the system's order."""
    numbers = list(range(len(system.slots) if kept.slots is None else len(kept.slots)))
    at = numbers if rows is None else np.argsort(rows)[(rows < 0).sum() :].tolist()
    locks = {r for r in numbers if system.slots[at[r]].kind == CLOSURE}
    if any(isinstance(r, bool) or not isinstance(r, int) or r not in locks for r in kept.idle):
        raise wrong("snapshot.idle", kept.idle, "slots of joints that close loops")
    kept.idle = tuple(at[r] for r in kept.idle)
    if rows is not None:
        for arrays, built in ((kept.parameters, system.parameter), (kept.topology, system.topology)):
            for name in [name for name in arrays if name in BY_SLOT]:
                arrays[name] = fit_slots(name, arrays[name], rows, kept, built(name))


def _check_fields(world: "World", snapshot: Kept) -> None:
    """Everything but arrays and channels, and that there are numbers for as many hands and loads as are claimed."""
    for name, kind in KINDS_OF_FIELDS.items():
        value = getattr(snapshot, name)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise wrong(f"snapshot.{name}", value, f"a {kind.__name__}")
    if not is_method(snapshot.method) or snapshot.coordinates not in snapshot.method.coordinates:
        raise wrong("snapshot.coordinates", snapshot.coordinates, "coordinates of the method")
    if not 1 <= snapshot.work_limit <= MOST_WORK:
        raise wrong("snapshot.work_limit", snapshot.work_limit, f"from 1 to {MOST_WORK}")
    if not 0 <= snapshot.script_position <= len(world.runner.script):
        raise wrong("snapshot.script_position", snapshot.script_position, f"from 0 to {len(world.runner.script)}")
    if not math.isfinite(snapshot.clock) or snapshot.steps < 0:
        raise wrong("snapshot.clock and steps", (snapshot.clock, snapshot.steps), "a time [s] and a number >= 0")
    hands, loads, own = len(snapshot.hands), len(snapshot.loads), list(snapshot.model.loads)
    if hands < 1 or snapshot.loads[: len(own)] != own:
        raise wrong("snapshot.loads", snapshot.loads, f"those of the model, {own}, first; and at least one hand")
    rows = ROWS_OF_HAND * hands + loads
    if 3 * hands + 6 * loads > len(snapshot.channels) or rows * world.worlds > snapshot.size:
        raise wrong("snapshot.hands and loads", (hands, loads), "no more than there are channels and rows for")
    for what in ("hands", "loads"):
        names = [name for name in getattr(snapshot, what) if name is not None]
        for name in names:
            TEXT.read(name, f"snapshot.{what}")
        if len(set(names)) < len(names) or "" in names:
            raise wrong(f"snapshot.{what}", names, "names, each once")


def _check_channel(place: str, item: Any, worlds: int) -> None:
    """What a motor, a load or a hand follows: of one component."""
    if isinstance(item, Component):
        fits = isinstance(item.function, Recorded) and type(item.index) is int and 0 <= item.index < 3
    elif isinstance(item, Profile):
        fits = item.size == 1 and not (isinstance(item, Passage) and item.start is None)
    elif isinstance(item, np.ndarray):
        fits = item.shape == (worlds,) and item.dtype == np.float64 and bool(np.isfinite(item).all())
    else:
        fits = is_number(item) and math.isfinite(item)
    if not fits:
        raise wrong(place, item, "a finite number, one per world, a profile or a callable's record, of one component")


def _check_controllers(controllers: Any) -> None:
    """Those that were attached: what they read and write is looked up when they act."""
    for k, item in enumerate(controllers if isinstance(controllers, tuple) else [controllers]):
        edit, start = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        fits = isinstance(edit, Attach) and isinstance(edit.controller, Recorded) and is_number(start)
        if not fits or not math.isfinite(start):  # type: ignore[arg-type]
            raise wrong(f"snapshot.controllers[{k}]", item, "an edit Attach of a callable's record, and its time [s]")
        check_attached(edit)
    if len({edit.name for edit, _ in controllers}) < len(controllers):
        raise wrong("snapshot.controllers", controllers, "names, each once")


def read_recipe(data: Any, rows: int, worlds: int) -> Recipe | None:
    """The ways that were compiled; None: none, or of a state with other rows, which is of another version."""
    if data is None:
        return None
    kinds: dict[str, type] = {"learns": bool, "count": int, "broke": int, "largest": int, "refusals": int}
    kinds |= {"worlds": list, "states": np.ndarray}
    if isinstance(data, dict):
        data = {"refusals": 0} | data  # which older journals do not know
    if not isinstance(data, dict) or set(data) != set(kinds):
        raise wrong("snapshot.compiled", data, f"an object with {', '.join(kinds)}")
    for name, kind in kinds.items():
        if type(data[name]) is not kind:
            raise wrong(f"snapshot.compiled.{name}", data[name], f"a {kind.__name__}")
    states, of = data["states"], data["worlds"]
    extra = int(data["broke"] >= 0)
    if states.dtype != np.float64 or states.ndim != 2 or len(states) != len(of) or not np.isfinite(states).all():
        raise wrong("snapshot.compiled.states", states, "finite rows of the state, one for each of its worlds")
    if not extra <= len(of) <= MOST_VARIANTS + extra or data["count"] < 0:
        raise wrong("snapshot.compiled", (len(of), data["count"]), f"up to {MOST_VARIANTS} states, and a count >= 0")
    if any(type(world) is not int or not 0 <= world < worlds for world in of):
        raise wrong("snapshot.compiled.worlds", of, f"numbers from 0 to {worlds - 1}")
    return Recipe.from_data(data) if not of or states.shape[1] == rows else None


def _check_arrays(world: "World", snapshot: Kept, system: System) -> None:
    """Shapes, kinds and finiteness of all arrays."""
    worlds = world.worlds
    shapes: dict[str, tuple[Any, tuple[int, ...], type]] = {
        "acceleration": (snapshot.acceleration, (system.counts.bodies, worlds, 3), np.float64),
    }
    if snapshot.reaction is not None:
        shapes["reaction"] = snapshot.reaction, (system.counts.joints, worlds, 6), np.float64
    for name, values in snapshot.parameters.items():
        if name not in system.parameters:
            raise FileError(f"snapshot: no parameter {name!r}; the journal is of another version")
        have = system.parameter(name).shape
        each = isinstance(values, np.ndarray) and values.shape[1:2] == (worlds,)
        shapes[name] = values, (have[0], worlds if each else 1, *have[2:]), np.float64
    for name in snapshot.topology:
        if name not in TOPOLOGY_OF_EDITS:
            raise FileError(f"snapshot: no array {name!r}; the journal is of another version")
    for name in TOPOLOGY_OF_EDITS:
        shapes[name] = snapshot.topology.get(name), system.topology(name).shape, np.int32
    for name, (values, shape, dtype) in shapes.items():
        if not isinstance(values, np.ndarray) or values.dtype != dtype:
            raise wrong(f"snapshot: {name}", values, f"an array of {np.dtype(dtype)}")
        if values.shape != shape:
            raise FileError(f"snapshot: {name} has shape {values.shape}, expected {shape}")
        if not np.isfinite(values).all():
            raise FileError(f"snapshot: {name} holds a number that is not finite")
    bare = [r for r, slot in enumerate(system.slots) if slot.kind in (CLOSURE, IDLE)]  # nothing of theirs can be set
    for name in {"slot_a", "slot_b", "slot_c", "slot_d"} & set(snapshot.parameters):
        if (snapshot.parameters[name][bare] != system.parameter(name)[bare]).any():
            raise FileError(f"snapshot: {name} has values for joints that close loops, which have none")


def _check_topology(snapshot: Kept, system: System) -> None:
    """Bodies, trees and flags that kernels index and branch by."""
    n, topology = system.counts.bodies, snapshot.topology
    for name, names in (("hand_body", snapshot.hands), ("load_body", snapshot.loads)):
        bodies = topology[name]
        if not ((bodies == EMPTY) | ((bodies >= 0) & (bodies < n))).all():
            raise FileError(f"snapshot: {name} names bodies that are not there")
        if any(body != EMPTY and name_ is None for body, name_ in zip(bodies, names, strict=True)):
            raise FileError(f"snapshot: {name} has a body where there is no name")
    held = topology["hand_body"]
    if any(body == EMPTY and name is not None for body, name in zip(held, snapshot.hands, strict=True)):
        raise FileError("snapshot: hand_body has a name where there is no body")
    if not np.isin(topology["load_in_body"], (0, 1)).all():
        raise FileError("snapshot: load_in_body is neither 0 nor 1")
    trees, built = topology["slot_trees"], system.arrays.slot_trees.numpy()
    tree_of = system.arrays.tree_of.numpy()
    for r, slot in enumerate(system.slots):
        touched = built[r].copy()
        if slot.kind == HAND:  # of an empty one what it last held, which nothing reads
            body = held[slot.part]
            touched[0] = tree_of[body] if body != EMPTY else np.clip(trees[r, 0], -1, tree_of.max(initial=-1))
        if not np.array_equal(trees[r], touched):
            raise FileError(f"snapshot: slot_trees names trees that '{slot.name}' does not touch")
