"""Snapshots as a journal keeps them: blocks of the state by name, rows of slots by part, kind and code.

In memory a snapshot is one array and what tells its rows apart. In a file each block has its name, and beside them are
the keys of the slots and the names of the loads, in the order in which their rows are kept. So a snapshot fits a system
that has one block, one kind of row or one method more: what it does not have is zero, which for every block means
"nothing yet", and parameters that it does not have stay as the model gives them. What the program does not know is
refused: it is of a later one.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..author.errors import FileError
from ..author.model import Model
from ..engine.methods import METHODS
from ..engine.state import Layout
from ..engine.system import System
from ..engine.system.slots import SlotKey, has_turns
from ..io.kinds import tell, wrong
from ..world.snapshot import Snapshot
from .journal import Arrays, Packer, Record
from .migrations import DIRECT, blocks_of_2

NEEDED = ("q", "v", "time")  # blocks without which there is no state


@dataclass
class Kept:
    """The fields of a snapshot in a journal; nothing is checked but their kinds of values."""

    model: Model
    coordinates: str
    method: Any
    methods: list | None  # names of those whose blocks are here; None: of version 2, which did not say
    work_limit: int
    idle: tuple
    state: Any  # blocks by name; in version 2 one array
    slots: list | None  # keys in the order of their rows; None: as in version 2
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
    controllers: tuple = ()  # edits `Attach` and when they were made; left out where there are none
    compiled: Any = None  # samples of the ways that are compiled (`Recipe.data`); left out where none are

    @property
    def size(self) -> int:
        """How many numbers of the state there are."""
        blocks = self.state.values() if isinstance(self.state, dict) else [self.state]
        return sum(block.size for block in blocks if isinstance(block, np.ndarray))


FIELDS = tuple(entry.name for entry in fields(Kept))
MAY_LACK = {"controllers", "compiled"}


def write_snapshot(snapshot: Snapshot, packer: Packer) -> Record:
    """A world's snapshot as JSON and raw arrays."""
    layout = snapshot.layout
    values: dict[str, Any] = {name: getattr(snapshot, name) for name in FIELDS if name not in ("methods", "slots")}
    values["state"] = {name: snapshot.state[rows] for name, rows in layout.rows.items()}
    values["compiled"] = None if snapshot.compiled is None else snapshot.compiled.data()
    values["methods"] = [method.name for method in layout.methods]
    values["slots"] = [list(key) for key in snapshot.slots]
    arrays: list[bytes] = []
    names = [name for name in FIELDS if name not in MAY_LACK or values[name]]
    data = {name: packer.pack(values[name], arrays, name) for name in names}
    return data, b"".join(arrays)


def read_snapshot(data: Any, raw: bytes, packer: Packer) -> Kept:
    """The snapshot of `write_snapshot`, to be checked and fitted."""
    if not isinstance(data, dict) or set(data) | MAY_LACK != set(FIELDS):
        raise wrong("snapshot", data, f"an object with {', '.join(FIELDS)}")
    arrays = Arrays(raw)
    return Kept(**{name: packer.unpack(data[name], arrays, name) for name in FIELDS if name in data})


# fitting ----------------------------------------------------------------------------------------------


def turning(kept: Kept) -> bool:
    """Whether the hands of a snapshot have rows to turn what they hold, as far as its keys can be read."""
    keys = kept.slots if isinstance(kept.slots, list) else []
    return has_turns([tuple(key) for key in keys if isinstance(key, list) and len(key) == 3])


def slot_rows(kept: Kept, system: System) -> np.ndarray | None:
    """Where each slot of a system is among those of a snapshot, -1: nowhere; None where they are the same."""
    if kept.slots is None:
        return None
    if not isinstance(kept.slots, list):
        raise wrong("snapshot.slots", kept.slots, "a list")
    place: dict[SlotKey, int] = {}
    for r, key in enumerate(kept.slots):
        if not (isinstance(key, list) and [type(item) for item in key] == [str, str, int]):
            raise wrong(f"snapshot.slots[{r}]", key, "part, kind and code of a row")
        place[key[0], key[1], key[2]] = r
    keys = system.slot_keys
    if tuple(place) == keys and len(place) == len(kept.slots):
        return None
    if len(place) < len(kept.slots) or set(place) - set(keys):
        strange = sorted(set(place) - set(keys))[:1] or kept.slots[:1]
        raise FileError(f"snapshot: no row {tell(strange[0])} of its model; the journal is of another version")
    return np.array([place.get(key, -1) for key in keys], int)


def fit_slots(name: str, values: Any, rows: np.ndarray | None, kept: Kept, built: np.ndarray) -> Any:
    """An array [slot, ...] of a snapshot in the order of a system, and where it has none as it was built."""
    if rows is None:
        return values
    if not isinstance(values, np.ndarray) or values.shape[:1] != (len(kept.slots or ()),):
        raise FileError(f"snapshot: {name} has not one row for each of its {len(kept.slots or ())} slots")
    new = built.astype(values.dtype)
    if values.ndim > 1 and new.ndim == values.ndim and values.shape[1] > new.shape[1] == 1:
        new = np.repeat(new, values.shape[1], axis=1)
    if new.shape[1:] != values.shape[1:]:
        raise FileError(f"snapshot: {name} has shape {values.shape}, expected {built.shape}")
    new[rows >= 0] = values[rows[rows >= 0]]
    return new


def name_blocks(kept: Kept, system: System) -> None:
    """Give the state of a snapshot of version 2 the names of its blocks."""
    if isinstance(kept.state, np.ndarray):
        kept.state = blocks_of_2(kept.state, system.counts)
        own = [f"direct.{name}" for name in DIRECT]
        used = any(kept.state[name].any() for name in own if name in kept.state)
        names = dict.fromkeys([*(["direct"] if used else []), kept.method.name])
        kept.methods = list(names)
        if "direct" not in names:
            kept.state = {name: block for name, block in kept.state.items() if name not in own}


def layout_of(kept: Kept, system: System) -> Layout:
    """How the state of a snapshot is laid out in a system."""
    methods = kept.methods
    if not isinstance(methods, list) or len(set(map(str, methods))) < len(methods):
        raise wrong("snapshot.methods", methods, "names of methods, each once")
    for name in methods:
        if not isinstance(name, str) or name not in METHODS:
            raise wrong("snapshot.methods", name, f"methods that are installed here: {', '.join(METHODS)}")
    if kept.method.name not in methods:
        raise wrong("snapshot.methods", methods, f"among them {kept.method.name}")
    return Layout(system.counts, [METHODS[name] for name in methods])


def lay_out(kept: Kept, layout: Layout, rows: np.ndarray | None, worlds: int) -> np.ndarray:
    """The blocks of a snapshot as one array [row, world]."""
    if not isinstance(kept.state, dict):
        raise wrong("snapshot.state", kept.state, "blocks by name")
    state = np.zeros((layout.size, worlds))
    for name in NEEDED:
        if name not in kept.state:
            raise FileError(f"snapshot: its state has no {name}")
    for name, block in kept.state.items():
        if name not in layout.rows:
            raise FileError(f"snapshot: no block {tell(name)} of the state; the journal is of another version")
        target = state[layout.rows[name]]
        if not isinstance(block, np.ndarray) or block.dtype != np.float64:
            raise wrong(f"snapshot: {name}", block, "an array of float64")
        if layout.blocks[name].each == "slot":
            block = fit_slots(name, block, rows, kept, target)
        if block.shape != target.shape:
            raise FileError(f"snapshot: {name} has shape {block.shape}, expected {target.shape}")
        if not np.isfinite(block).all():
            raise FileError(f"snapshot: {name} holds a number that is not finite")
        target[...] = block
    return state
