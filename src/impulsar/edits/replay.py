"""Reading a journal: replay it from its start and check its bits on the way, or go on with its session."""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..io.codec import FREE, edit_from_json, model_from_json
from ..io.kinds import BOOLEAN, INTEGER, NUMBER, TEXT, FileError, wrong
from ..machine import machine_key
from ..methods import METHODS
from ..model import Model, ModelError
from ..reports import StepError
from ..snapshot import Snapshot
from ..state import state_blocks
from ..system import EMPTY, TOPOLOGY_OF_EDITS, System
from .callables import Recorder
from .history import Event, History, Limit, Mark
from .journal import Entry, Journal, Reader, read_method, read_snapshot, write_method

if TYPE_CHECKING:
    from ..world import World

NOT_OPTIONS = ("self", "model", "rtol", "atol", "substeps", "budget")  # of World: they are in the method


@dataclass
class Replayed:
    """What a replay found."""

    history: History
    machine: str  # that the journal was made on
    steps: int = 0  # taken in all
    edits: int = 0
    checks: int = 0  # hashes and snapshots compared
    wrong: list[str] = field(default_factory=list)  # which of them differed
    torn: int = 0  # bytes of a torn record at the end, dropped


def replay(path: str | Path, verify: bool = False, progress: Callable[[int, int], None] | None = None) -> Replayed:
    """Carry out a session again from the start of its journal, comparing bits with `verify`.

    `progress` is called with the records done and their number.
    """
    reader = Reader(path)
    player = Player(reader)
    found = Replayed(player.history, str(reader.entries[0].data.get("machine")), torn=reader.torn)
    for k, entry in enumerate(player.entries):
        try:
            player.play(entry, found, verify)
        except (FileError, StepError) as error:
            raise FileError(f"'{path}': {error}") from error
        except ModelError as error:  # an edit that was accepted then is refused now
            raise FileError(f"'{path}': record at byte {entry.offset}: {error}") from error
        if progress is not None:
            progress(k + 1, len(player.entries))
    found.steps = player.taken
    return found


def open_history(path: str | Path) -> History:
    """The history of a journal, at its end, which it goes on writing."""
    journal = Journal(path)
    try:
        player = Player(Reader(path))
        history = player.history
        for entry in player.entries:
            player.load(entry)
        step, position = history.count, history.position
        with history._kept():
            history._restore_nearest(step, position)
            history._run(step, position)
        history.world.paused = player.paused
    except ModelError as error:
        journal.close()
        raise FileError(f"'{path}': {error}") from error
    history.journal = journal
    history._written = history._marks[-1]
    return history


class Player:
    """A history built from the records of a journal; `entries` are those after its first snapshot."""

    def __init__(self, reader: Reader):
        header = reader.entries[0].data
        kinds = [entry.kind for entry in reader.entries]
        if "snapshot" not in kinds[2:] or kinds[1] != "model":
            raise FileError(f"'{reader.path}': has no model and snapshot; nothing can be replayed")
        first = kinds.index("snapshot")
        self.paused = False
        self.taken = 0
        self.entries = reader.entries[first + 1 :]
        recorder = Recorder()
        model = model_from_json(reader.entries[1].data.get("model"), recorder.callables, most=math.inf)
        world = empty_world(header.get("world"), sorted(model.script, key=lambda entry: entry[0]))
        self.history = history = History(world, recorder=recorder)
        history._packer.models.append(model)
        for entry in reader.entries[2:first]:
            self._keep(entry)
        base = self._mark(reader.entries[first])
        history._first = base.position
        history._last = base.step
        history._marks = [base]
        history._restore_nearest(base.step, base.position)

    # without running ------------------------------------------------------------------------------

    def load(self, entry: Entry) -> None:
        """Take a record into the history, as if its world had been there."""
        history, kind = self.history, entry.kind
        if kind in ("samples", "model", "pause"):
            self._keep(entry)
            return
        step, position = self._place(entry)
        history.count, history.position = step, position
        history._last = max(history._last, step)
        if kind in ("edit", "limit"):
            history._drop_future()
            history._events.append(self._event(entry))
            history.position += 1
        elif kind == "cut":
            history._drop_future()
        elif kind == "snapshot":
            history._marks.append(self._mark(entry))

    # running --------------------------------------------------------------------------------------

    def play(self, entry: Entry, found: Replayed, verify: bool) -> None:
        """Go where a record was made, and do what it says."""
        history, kind = self.history, entry.kind
        if kind in ("samples", "model", "pause"):
            self._keep(entry)
            return
        step, position = self._place(entry)
        history._last = max(history._last, step)
        self.taken += max(0, step - history.count)
        history._go(step, position)
        if kind in ("edit", "limit"):
            event = self._event(entry)
            history._drop_future()
            history._mark_when_due()
            history._events.append(event)
            history._again(event)
            found.edits += kind == "edit"
        elif kind == "cut":
            history._drop_future()
        elif kind == "hash" and verify and entry.data.get("hash") is not None:
            same = history.world.hash() == TEXT.read(entry.data.get("hash"), "hash")
            self._compare(found, same, f"hash at step {step}")
        elif kind == "snapshot" and verify:
            then = read_snapshot(Snapshot, entry.data.get("snapshot"), entry.arrays, history._packer)
            same = then.state.tobytes() == np.ascontiguousarray(history.world.state.numpy()).tobytes()
            self._compare(found, same, f"snapshot at step {step}")

    @staticmethod
    def _compare(found: Replayed, same: bool, what: str) -> None:
        found.checks += 1
        if not same:
            found.wrong.append(what)

    # records --------------------------------------------------------------------------------------

    def _keep(self, entry: Entry) -> None:
        """Take a record that is at no place of the timeline."""
        history, data = self.history, entry.data
        if entry.kind == "model":
            models = history._packer.models
            if data.get("number") != len(models):
                raise wrong("number of a model", data.get("number"), str(len(models)))
            models.append(model_from_json(data.get("model"), history._recorder.callables, most=math.inf))
        elif entry.kind == "pause":
            self.paused = BOOLEAN.read(data.get("paused"), "paused")
        else:
            samples = data.get("samples")
            recorded = history._recorder.read(data, "samples")
            if not isinstance(samples, list) or not all(isinstance(item, list) and len(item) == 2 for item in samples):
                raise wrong("samples", samples, "pairs of a time and values")
            step = INTEGER.read(data.get("step"), "step")
            values = {NUMBER.read(t, "time"): [NUMBER.read(x, "value") for x in sample] for t, sample in samples}
            recorded.values.setdefault(step, {}).update(values)

    def _place(self, entry: Entry) -> tuple[int, int]:
        """Step and position of a record, checked to be on the timeline."""
        history = self.history
        step = INTEGER.read(entry.data.get("step"), "step")
        position = INTEGER.read(entry.data.get("position", history.position), "position")
        base = history._marks[0]
        if not base.is_before(step, position) or position > history._end or entry.kind not in KINDS:
            raise FileError(f"record at byte {entry.offset}: {entry.kind} at {step}, {position} is not of this session")
        return step, position

    def _event(self, entry: Entry) -> Event:
        data, callables = entry.data, self.history._recorder.callables
        step, limit = (INTEGER.read(data.get(name), name) for name in ("step", "limit"))
        if entry.kind == "limit":
            return Event(step, Limit(limit), limit, *self._clock_at(step))
        inverse = data.get("inverse")
        return Event(
            step,
            edit_from_json(data.get("edit"), callables=callables),
            limit,
            NUMBER.read(data.get("clock"), "clock"),
            NUMBER.read(data.get("dt"), "dt"),
            None if inverse is None else edit_from_json(inverse, "inverse", callables),
            data.get("reverts"),
        )

    def _clock_at(self, step: int) -> tuple[float, float]:
        """Clock and step size at a step that is the last of the timeline [s]."""
        start, _, clock, dt = self.history._stretches()[-1]
        return clock + (step - start) * dt, dt

    def _mark(self, entry: Entry) -> Mark:
        step, position, lag = (INTEGER.read(entry.data.get(name), name) for name in ("step", "position", "lag"))
        return Mark(step, position, lag, entry.offset, entry=entry)


KINDS = ("edit", "limit", "hash", "snapshot", "go", "cut")


def write_header(world: "World") -> dict[str, Any]:
    """The first record of a journal."""
    from .. import __version__

    return {"record": "header", "program": __version__, "machine": machine_key(), "world": write_options(world)}


def write_options(world: "World") -> dict[str, Any]:
    """The arguments that would make this world of its model."""
    names = [name for name in inspect.signature(type(world).__init__).parameters if name not in NOT_OPTIONS]
    of = {name: world.clamps if hasattr(world.clamps, name) else world for name in names if name != "method"}
    options = {name: FREE.write(getattr(part, name), name) for name, part in of.items()}
    return options | {"method": write_method(world.method)}


def empty_world(options: Any, script: list) -> "World":
    """A world of these options, to be brought to a snapshot."""
    from ..world import World

    known = [name for name in inspect.signature(World.__init__).parameters if name not in NOT_OPTIONS]
    if not isinstance(options, dict) or not set(options) <= set(known):
        raise wrong("world", options, f"an object with {', '.join(known)}")
    given = {name: FREE.read(value, name) for name, value in options.items() if name != "method"}
    if "method" in options:
        given["method"] = read_method(options["method"], "method")
    model = Model("empty")
    model.body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    world = World(model, **given)
    world._script = script
    return world


def check_snapshot(world: "World", snapshot: Snapshot) -> None:
    """Refuse a snapshot from a file whose arrays do not fit: kernels index them without looking."""
    model, worlds = snapshot.model, world.worlds
    kinds = {"model": Model, "state": np.ndarray, "acceleration": np.ndarray, "coordinates": str, "idle": tuple}
    kinds |= {"parameters": dict, "topology": dict, "channels": list, "hands": list, "loads": list, "paused": bool}
    kinds |= {"work_limit": int, "steps": int, "script_position": int, "clock": float, "dt": float}
    for name, kind in kinds.items():
        if not isinstance(getattr(snapshot, name), kind):
            raise wrong(f"snapshot.{name}", getattr(snapshot, name), f"a {kind.__name__}")
    if not isinstance(snapshot.reaction, np.ndarray | None):
        raise wrong("snapshot.reaction", snapshot.reaction, "an array")
    hands, loads = len(snapshot.hands), len(snapshot.loads)
    if type(snapshot.method) not in METHODS.values() or snapshot.coordinates not in snapshot.method.coordinates:
        raise wrong("snapshot.coordinates", snapshot.coordinates, "coordinates of the method")
    if loads < len(model.loads) or hands < 1:
        raise wrong("snapshot.loads", snapshot.loads, f"at least {len(model.loads)}, and one hand")
    system = System(model, worlds, world.device, snapshot.coordinates, hands, loads - len(model.loads), checked=True)
    if any(isinstance(r, bool) or not isinstance(r, int) or not 0 <= r < len(system.slots) for r in snapshot.idle):
        raise wrong("snapshot.idle", snapshot.idle, f"slots, of which there are {len(system.slots)}")
    system.drop_rows(list(snapshot.idle))
    shapes: dict[str, tuple[np.ndarray, tuple[int, ...]]] = {
        "state": (snapshot.state, (sum(state_blocks(system.counts).values()), worlds)),
        "acceleration": (snapshot.acceleration, (len(model.bodies), worlds, 3)),
    }
    if snapshot.reaction is not None:
        shapes["reaction"] = snapshot.reaction, (system.counts.joints, worlds, 6)
    for name, values in snapshot.parameters.items():
        if name not in system.parameters:
            raise FileError(f"snapshot: no parameter {name!r}; the journal is of another version")
        have = system.parameter(name).shape
        shapes[name] = values, (have[0], worlds if values.shape[1:2] == (worlds,) else 1, *have[2:])
    for name, values in snapshot.topology.items():
        if name not in TOPOLOGY_OF_EDITS:
            raise FileError(f"snapshot: no array {name!r}; the journal is of another version")
        shapes[name] = values, getattr(system.arrays, name).numpy().shape
        if values.size and not EMPTY <= values.min() <= values.max() <= len(model.bodies):
            raise FileError(f"snapshot: {name} names bodies that are not there")
    for name, (values, shape) in shapes.items():
        if values.shape != shape:
            raise FileError(f"snapshot: {name} has shape {values.shape}, expected {shape}")
    if len(snapshot.channels) != system.counts.channels:
        raise wrong("snapshot.channels", len(snapshot.channels), str(system.counts.channels))
