"""Reading a journal: replay it from its start and check its bits on the way, or go on with its session."""

import math
import warnings
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..author.errors import FileError, ModelError, StepError
from ..author.model import Model
from ..edits.refusal import MOST_WORK
from ..engine.machine import machine_key
from ..io.codec import FREE, edit_from_json, model_from_json
from ..io.kinds import BOOLEAN, INTEGER, LONGEST_TEXT, NUMBER, TEXT, tell, wrong
from ..version import __version__
from .callables import Recorder
from .history import History
from .journal import VERSION, Aside, Entry, Journal, Reader, write_method
from .kept import read_snapshot
from .timeline import Event, JournalWarning, Limit, Mark
from .vetting import check_room, check_snapshot, options_of, read_options

if TYPE_CHECKING:
    from ..world.world import World

FARTHEST_STEPS = 20_000  # of a place from the snapshot before it: twice what a session leaves between two
FARTHEST_EVENTS = 4_000


@dataclass
class Replayed:
    """What a replay found."""

    history: History
    machine: str  # that the journal was made on
    steps: int = 0  # taken in all
    edits: int = 0
    checks: int = 0  # hashes and snapshots compared
    wrong: list[str] = field(default_factory=list)  # which of them differed
    torn: int = 0  # bytes at the end that could not be read
    behind: int = 0  # whole records in them


def replay(path: str | Path, verify: bool = False, progress: Callable[[int, int], None] | None = None) -> Replayed:
    """Carry out a session again from the start of its journal, comparing bits with `verify`.

    `progress` is called with the records done and their number.
    """
    reader = Reader(path)
    try:
        player = Player(reader)
    except (ModelError, StepError) as error:
        raise FileError(f"'{path}': {error}") from error
    machine = str(reader.entries[0].data.get("machine"))[:LONGEST_TEXT]
    found = Replayed(player.history, machine, torn=reader.torn, behind=reader.behind)
    for k, entry in enumerate(player.entries):
        try:
            player.play(entry, found, verify)
            if k + 1 == len(player.entries):
                player.finish()
        except (FileError, StepError) as error:
            raise FileError(f"'{path}': {error}") from error
        except ModelError as error:  # an edit that was accepted then is refused now
            raise FileError(f"'{path}': record at byte {entry.offset}: {error}") from error
        if progress is not None:
            progress(k + 1, len(player.entries))
    found.steps = player.taken
    return found


def open_history(path: str | Path, recover: bool = False) -> History:
    """The history of a journal, at its end, which it goes on writing; nothing is cut off before it is there."""
    journal = Journal(path, recover=recover, cut=False)
    try:
        history = _at_the_end(journal.reader)
        journal.cut()
        history.journal = journal
        if journal.reader.version == VERSION:
            for mark in history._written:
                mark.entry = None
        else:
            _write_anew(history, journal)
    except (ModelError, StepError, OSError) as error:
        journal.close()
        raise FileError(f"'{path}': {error}") from error
    if journal.aside is not None:
        warnings.warn(f"'{path}': {journal.aside}", JournalWarning, stacklevel=3)
    return history


def _write_anew(history: History, journal: Journal) -> None:
    """Write the journal of an older version as one of this: the timeline, its end, and where on it the session is.

    There a snapshot is kept, so that it goes on from here whatever the physics of now makes of the steps before.
    """
    journal.replace(history._records())
    history._note_offsets()
    history._write({"record": "go", "step": history._last, "position": history._end})
    history._write_place("go")
    history._write_snapshot()
    history._write({"record": "pause", "paused": history.world.paused}, sync=True)


def take_over(history: History, other: History) -> None:
    """Go on with a history that was closed, with all that there is to undo, in the journal of one that was begun on its
    world since."""
    history.world._holder, history._left = weakref.ref(history), None
    history.journal, other.journal = other.journal, None
    history._written.clear()  # they are in the old journal
    if history.journal is not None:
        with history._journal_lost_on_failure():
            _write_anew(history, history.journal)


def recover(path: str | Path) -> Aside | None:
    """Cut a damaged journal after its last whole record; what is put aside, None if nothing had to be."""
    journal = Journal(path, recover=True, cut=False)
    try:
        Player(journal.reader)  # is there anything to be kept?
        journal.cut()
    except (ModelError, StepError, OSError) as error:
        raise FileError(f"'{path}': {error}") from error
    finally:
        journal.close()
    return journal.aside


def _at_the_end(reader: Reader) -> History:
    player = Player(reader)
    history = player.history
    for entry in player.entries:
        player.load(entry)
    step, position = history.count, history.position
    with history._kept():
        history._restore_nearest(step, position)
        history._run(step, position)
    history.world.paused = player.paused
    return history


class Player:
    """A history built from the records of a journal; `entries` are those after its first snapshot."""

    def __init__(self, reader: Reader):
        from ..world.world import World

        header = reader.entries[0].data
        kinds = [entry.kind for entry in reader.entries]
        if "snapshot" not in kinds[2:] or kinds[1] != "model":
            raise FileError(f"'{reader.path}': has no model and snapshot; nothing can be replayed")
        first = kinds.index("snapshot")
        self.paused = False
        self.taken = 0
        self.entries = reader.entries[first + 1 :]
        recorder = Recorder()
        options = read_options(header.get("world"), World)
        check_room(options, reader.entries[first])
        model = model_from_json(reader.entries[1].data.get("model"), recorder.callables, most=math.inf)
        world = empty_world(options, sorted(model.script, key=lambda entry: entry[0]))
        self.history = history = History(world, recorder=recorder)
        history._packer.models.append(model)
        for entry in reader.entries[2:first]:
            self._keep(entry)
        base = self._mark(reader.entries[first])
        if base.step < 0 or base.position < 0:
            raise wrong("step and position of the first snapshot", (base.step, base.position), "numbers >= 0")
        history._first = base.position
        history._last = base.step
        history._marks = [base]
        history._written = [base]
        history._restore_nearest(base.step, base.position)
        self.place = base.step, base.position  # of the last record

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
            if history._has_future():
                history._drop_future()
            history._events.append(self._event(entry))
            history.position += 1
        elif kind == "cut":
            history._drop_future()
        elif kind == "snapshot":
            history._written.append(self._mark(entry))

    # running --------------------------------------------------------------------------------------

    def play(self, entry: Entry, found: Replayed, verify: bool) -> None:
        """Go where a record was made, and do what it says."""
        history, kind = self.history, entry.kind
        if kind in ("samples", "model", "pause"):
            self._keep(entry)
            return
        self.place = self._place(entry)
        step = self.place[0]
        history._last = max(history._last, step)
        if kind == "go" or (kind in ("hash", "snapshot") and not verify):
            return  # the next record says where it was made
        self._go()
        if kind in ("edit", "limit"):
            event = self._event(entry)
            history._drop_future()
            history._mark_when_due()
            history._events.append(event)
            history._again(event)
            self.place = history.count, history.position
            found.edits += kind == "edit"
        elif kind == "cut":
            history._drop_future()
        elif kind == "hash" and entry.data.get("hash") is not None:
            same = history.world.hash() == TEXT.read(entry.data.get("hash"), "hash")
            self._compare(found, same, f"hash at step {step}")
        elif kind == "snapshot":
            self._compare(found, self._is_there(entry), f"snapshot at step {step}")

    def _is_there(self, entry: Entry) -> bool:
        """Whether the world has the state of a snapshot, in all blocks that the snapshot has."""
        world = self.history.world
        kept = read_snapshot(entry.data.get("snapshot"), entry.arrays, self.history._packer)
        then = check_snapshot(world, kept)
        now, rows = world.state, then.layout.rows
        return all(
            name in now.rows and now.read(name).tobytes() == then.state[rows[name]].tobytes() for name in kept.state
        )

    def _go(self) -> None:
        """Go to the place of the last record."""
        self.taken += max(0, self.place[0] - self.history.count)
        self.history._go(*self.place)

    def finish(self) -> None:
        """Go where the session ended, if nothing is there to be done."""
        if self.place != (self.history.count, self.history.position):
            self._go()

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
            for t, sample in samples:
                if not isinstance(sample, list) or not sample:
                    raise wrong("samples", sample, "a list of numbers")
                values = [NUMBER.read(x, "value") for x in sample]
                recorded.values.setdefault(step, {})[NUMBER.read(t, "time")] = values

    def _place(self, entry: Entry) -> tuple[int, int]:
        """Step and position of a record, checked to be on the timeline."""
        history = self.history
        step = INTEGER.read(entry.data.get("step"), "step")
        position = INTEGER.read(entry.data.get("position", history.position), "position")
        base = history._marks[0]
        if not base.is_before(step, position) or position > history._end or entry.kind not in KINDS:
            place = f"{tell(entry.kind)} at {step}, {position}"
            raise FileError(f"record at byte {entry.offset}: {place} is not of this session")
        before = history._nearest(step, position)
        if step > before.step + FARTHEST_STEPS or position > before.position + FARTHEST_EVENTS:
            far = f"{entry.kind} at step {step}, edit {position}"
            raise FileError(f"record at byte {entry.offset}: {far} is farther from a snapshot than a session leaves it")
        return step, position

    def _event(self, entry: Entry) -> Event:
        data, callables = entry.data, self.history._recorder.callables
        step, limit = (INTEGER.read(data.get(name), name) for name in ("step", "limit"))
        if not 1 <= limit <= MOST_WORK:
            raise wrong("limit", limit, f"from 1 to {MOST_WORK}")
        if entry.kind == "limit":
            return Event(step, Limit(limit), limit, *self._clock_at(step))
        clock, dt = (NUMBER.read(data.get(name), name) for name in ("clock", "dt"))
        if not math.isfinite(clock) or not 0 < dt < math.inf:
            raise wrong("clock and dt", (clock, dt), "a time and a step > 0 [s]")
        inverse, reverts = data.get("inverse"), data.get("reverts")
        return Event(
            step,
            edit_from_json(data.get("edit"), callables=callables),
            limit,
            clock,
            dt,
            None if inverse is None else edit_from_json(inverse, "inverse", callables),
            None if reverts is None else INTEGER.read(reverts, "reverts"),
        )

    def _clock_at(self, step: int) -> tuple[float, float]:
        """Clock and step size at a step that is the last of the timeline [s]."""
        history = self.history
        if history._events:
            last = history._events[-1]
            return last.clock + (step - last.step) * last.dt, last.dt
        base = history._marks[0]
        snapshot = history._snapshot(base)
        return snapshot.clock + (step - base.step) * snapshot.dt, snapshot.dt

    def _mark(self, entry: Entry) -> Mark:
        step, position, lag = (INTEGER.read(entry.data.get(name), name) for name in ("step", "position", "lag"))
        return Mark(step, position, lag, entry.offset, entry=entry, offset=entry.offset)


KINDS = ("edit", "limit", "hash", "snapshot", "go", "cut")


def write_header(world: "World") -> dict[str, Any]:
    """The first record of a journal."""
    return {"record": "header", "program": __version__, "machine": machine_key(), "world": write_options(world)}


def write_options(world: "World") -> dict[str, Any]:
    """The arguments that would make this world of its model."""
    names = options_of(type(world))
    of = {name: world.clamps if hasattr(world.clamps, name) else world for name in names if name != "method"}
    options = {name: FREE.write(getattr(part, name), name) for name, part in of.items() if name != "contacts"}
    return options | {"method": write_method(world.method), "contacts": world.system.asked}


def empty_world(options: dict[str, Any], script: list) -> "World":
    """A world of these options, to be brought to a snapshot."""
    from ..world.world import World

    model = Model("empty")
    model.body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    world = World(model, **options)
    world.runner.follow(script)
    return world
