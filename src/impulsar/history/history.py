"""The history of a session: undo, redo, revert, seek and fork by snapshots and replay, bit for bit.

A session is a timeline: steps are counted, and an edit holds between two of them. A place on it is a pair
(step, position): so many steps taken, so many edits applied. Going to a place is the nearest snapshot
before it, and from there the same steps and edits again; same inputs, same bits.

`undo` and `seek` leave the timeline ahead as it is. After `seek` the recording is followed, edit by edit, until it
ends; an edit made meanwhile, and a step or an edit after `undo`, cuts it there. A pause changes no state.
"""

import math
import warnings
import weakref
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import get_ident
from typing import Any

import numpy as np

from ..author.checks import LARGEST, file_path, show
from ..author.errors import FileError, StepError
from ..author.model import Model
from ..author.profiles import Component
from ..edits import Answer, EditError
from ..edits import data as edits
from ..edits.refusal import MOST_WORK, Cancelled, HeldError
from ..io.codec import edit_from_json, edit_to_json, model_from_json, model_to_json
from ..io.kinds import wrong
from ..world.reports import StepReport
from ..world.world import World
from .callables import Recorder, holds_callable, model_holds_callable
from .journal import Journal, Packer, Record
from .kept import read_snapshot, write_snapshot
from .timeline import Event, JournalWarning, Limit, Mark, Undone, add_mark, event_record, goes_on, samples_record

MARK_STEPS = 200  # between snapshots in memory
MARK_EVENTS = 200
MOST_EVENTS = 10_000  # kept at least, some 2 kB each; older ones can no longer be undone
MOST_SAMPLED = 50_000  # steps of which the values of callables are kept at least; earlier ones cannot be sought
HASH_STEPS = 250  # between hashes in a journal
SNAPSHOT_STEPS = 10_000  # between snapshots in a journal
SNAPSHOT_EVENTS = 2_000
LARGEST_JOURNAL = 64 * 2**20  # bytes; then it is written anew from its last snapshot
MOST_STEPS = 2**31 - 1  # of one call


class History:
    """A world's timeline: every edit and step goes through it, until `close` gives the world back.

    journal: the file to keep it in, a new one; None keeps it in memory only. A hash of the state is written every
    `hash_steps`; beyond `largest` bytes the file is written anew from its last snapshot. Where it cannot be written
    (the disk is full) a JournalWarning is given once, `lost` says why, and the session goes on without.
    """

    def __init__(
        self,
        world: "World",
        journal: str | Path | None = None,
        hash_steps: int = HASH_STEPS,
        largest: int = LARGEST_JOURNAL,
        recorder: Recorder | None = None,
    ):
        self.world = world
        self._left: str | None = None  # hash of the world when it was given back
        with self._door():  # refuse a world that another has
            pass
        self.count = 0  # steps of the session
        self.position = 0  # edits applied
        self.journal: Journal | None = None
        self.lost: Exception | None = None  # what ended the journal before its time
        self.hash_steps, self.largest = hash_steps, largest
        self._lag = -world.runner.count
        self._events: list[Event] = []
        self._first = 0  # position of the first of _events
        self._last = 0  # step where the timeline ends
        self._following = False
        self._report: StepReport
        self._undone: list[Undone] = []
        self._marks: list[Mark] = []  # in memory
        self._written: list[Mark] = []  # in the journal
        self._starts: list[tuple[int, float, float]] = []  # of stretches: step, clock and step size
        self._starts_of: Mark | None = None  # the first mark that they begin at
        self._looked_at = 0  # of _events
        self._recorder = recorder or Recorder()
        self._packer = Packer(self._recorder.callables)
        self._record_callables()
        self._mark()
        if journal is not None:
            try:
                self.journal = Journal(file_path("journal", journal), self._records())
            except BaseException:
                world._holder = None
                raise
            self._note_offsets()

    @contextmanager
    def _door(self) -> Iterator[World]:
        """The world, which only this may change from now on; refuse one that another has, or that was changed since.

        Others are kept out by the thread as well: a notebook's cell may run while a session steps.
        """
        world = self.world
        holder = None if world._holder is None else world._holder()
        if holder is not self:
            if holder is not None:
                raise HeldError("history: another History holds this world; end that one by close()")
            if self._left is not None and world.hash() != self._left:
                raise HeldError("history: its world was changed after close(); begin a new History")
            world._holder = weakref.ref(self)
        world._through, before = get_ident(), world._through
        try:
            yield world
        finally:
            world._through = before

    # changing -------------------------------------------------------------------------------------

    def apply(self, edit: edits.Edit) -> Answer:
        """Carry out an edit, and keep it; raises EditError and changes nothing if it cannot be."""
        if isinstance(edit, edits.Pause):
            with self._door() as world:
                answer = world.apply(edit)
            self._write({"record": "pause", "paused": edit.paused})
            return answer
        answer = self._apply(edit)
        self._undone.clear()
        return answer

    def limit_work(self, limit: int) -> None:
        """Limit the iterations or evaluations of a step, as their measured cost demands."""
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_WORK:
            raise EditError(f"limit of work is {show(limit)}, expected an integer >= 1, at most {MOST_WORK}")
        if limit != self.world.work_limit:
            self._cut()
            self._set_limit(limit)
            self._record_event(Event(self.count, Limit(limit), limit, self.world.runner.clock, self.world.dt))

    def step(self, n: int = 1, each: Callable[[StepReport], None] | None = None) -> StepReport:
        """Take n steps, along the recording where it goes on. each: called after every one of them.

        If the state breaks, the world is at its last good step, and the error is raised.
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= MOST_STEPS:
            raise EditError(f"step: n is {show(n)}, expected an integer >= 1, at most {MOST_STEPS}")
        left = self._follow(int(n), each) if self._following else int(n)
        if left == 0:
            return self._report
        self._cut()
        try:
            while left > 0:
                self.world.make_ready(self._apply)
                part = min(left, self._steps_to_record())
                try:
                    self._report = self._advance(part, each)
                finally:  # steps before the one that was refused or ended on the way are taken
                    self._last = self.count
                left -= part
                self._record_step()
        except StepError:
            good, position = self.world.runner.count + self._lag, self.position
            with self._kept():
                self._restore_nearest(good, position)
                self._run(good, position)
            self._last = good
            self._drop_future()
            self._write_place("cut")
            raise
        return self._report

    def undo(self, to: int | None = None) -> edits.Edit:
        """Go back to before the last edit, or the one at position `to`, to the moment it was made; the edit."""
        if to is not None and (isinstance(to, bool) or not isinstance(to, int)):
            raise EditError(f"undo: to is {show(to)}, expected the position of an edit, or None")
        found = self._last_edit()
        if found is not None and to is not None and self._first <= to < found:
            found = to
        if found is None:
            raise EditError("nothing to undo: no edit was made, or its record is no longer kept")
        event = self._event(found)
        assert isinstance(event.edit, edits.Edit)
        place = self.count, self.position
        self._go(event.step, found)
        self._undone.append(Undone(event.edit, place))
        self._following = False
        self._write_place("go")
        return event.edit

    def redo(self) -> edits.Edit:
        """Go back to where `undo` was called; or, if the world has gone on since, make the edit again now."""
        if not self._undone:
            raise EditError("nothing to redo: no edit was undone, or another was made since")
        undone = self._undone[-1]
        if undone.place is not None:
            self._go(*undone.place)
            self._write_place("go")
        else:
            self._apply(undone.edit)
        self._undone.pop()
        return undone.edit

    def revert(self) -> Answer:
        """Apply the inverse of the last edit now; called again, that of the one before."""
        taken_back = {event.reverts for event in self._events}
        for k in range(self.position - 1, self._first - 1, -1):
            event = self._event(k)
            if not event.is_of_a_person or event.reverts is not None or k in taken_back:
                continue
            if event.inverse is None and k > self._first and goes_on(event, self._event(k - 1)):
                continue  # the inverse of the first one takes all of them back
            if event.inverse is None:
                raise EditError(f"{type(event.edit).__name__}: has no inverse; use undo to go back to before it")
            return self._apply(event.inverse, reverts=k)
        raise EditError("nothing to revert: no edit was made, or all are reverted")

    def seek(self, time: float) -> None:
        """Go to the step at or just before a time [s] of the recording, with the edits made there applied."""
        if isinstance(time, bool) or not isinstance(time, int | float) or not abs(time) <= LARGEST:
            raise EditError(f"seek: time is {show(time)}, expected a number [s]")
        first, last = self.span
        near = 1e-6 * self.world.dt
        if not first - near <= time <= last + near:
            raise EditError(f"seek: time is {time:g}, expected one of the recording, from {first:g} to {last:g} s")
        step = self._step_at(time)
        self._go(step, self._first + bisect_right([event.step for event in self._events], step))
        self._undone.clear()
        self._following = self._has_future()
        self._write_place("go")

    def fork(self, path: str | Path | None = None) -> "History":
        """Another session that goes on from here by itself, with a world and a journal of its own."""
        from .replay import empty_world, write_options
        from .vetting import read_options

        options = read_options(write_options(self.world), type(self.world))
        world = empty_world(options, self.world.runner.script)
        world.restore(self.world.snapshot())
        return History(world, path, self.hash_steps, self.largest)

    @classmethod
    def open(cls, path: str | Path, recover: bool = False) -> "History":
        """Go on with the session of a journal, from the end of its last whole record.

        recover: of a damaged one, from before the damage. What is behind it goes into a file of its own, and
        a JournalWarning says how much that is.
        """
        from .replay import open_history

        return open_history(file_path("journal", path), recover)

    def close(self) -> None:
        """End the journal with the state's hash, and give the world back to whoever has it."""
        if self.journal is not None:
            if not self._has_future():
                self._write_hash(sync=True)
        if self.journal is not None:
            self.journal.close()
            self.journal = None
        if self.world._holder is not None and self.world._holder() is self:
            self._left = self.world.hash()
            self.world._holder = None

    # reading --------------------------------------------------------------------------------------

    @property
    def is_replaying(self) -> bool:
        """Whether steps follow the recording."""
        return self._following

    @property
    def span(self) -> tuple[float, float]:
        """First and last time that can be sought [s]."""
        stretches = self._stretches()
        last = max(clock + (end - start) * dt for start, end, clock, dt in stretches)
        return min(clock for _, _, clock, _ in stretches), last

    @property
    def undoable(self) -> edits.Edit | None:
        """The edit that `undo` would take back."""
        found = self._last_edit()
        return None if found is None else self._event(found).edit  # type: ignore[return-value]

    @property
    def redoable(self) -> edits.Edit | None:
        """The edit that `redo` would make again."""
        return self._undone[-1].edit if self._undone else None

    # the timeline ---------------------------------------------------------------------------------

    def _event(self, position: int) -> Event:
        return self._events[position - self._first]

    @property
    def _end(self) -> int:
        return self._first + len(self._events)

    def _has_future(self) -> bool:
        return self.position < self._end or self.count < self._last

    def _last_edit(self) -> int | None:
        """Position of the last edit that was applied."""
        for k in range(self.position - 1, self._first - 1, -1):
            if self._event(k).is_of_a_person:
                return k
        return None

    def _append(self, event: Event) -> None:
        self._events.append(event)
        self.position += 1
        self._last = self.count
        if len(self._events) > 2 * MOST_EVENTS:
            self._forget_but(lambda mark: mark.position >= self._end - MOST_EVENTS)

    def _forget_but(self, is_near: Callable[[Mark], bool]) -> None:
        """Let the timeline begin at the first mark that is near."""
        self._forget_before(next(filter(is_near, self._marks), self._marks[-1]))

    def _forget_before(self, mark: Mark) -> None:
        """Let the timeline begin at a mark."""
        self._starts_of = None
        self._marks = self._marks[self._marks.index(mark) :]
        self._written = [other for other in self._written if mark.is_before(other.step, other.position)]
        del self._events[: mark.position - self._first]
        self._first = mark.position
        self._recorder.keep(mark.step)

    def _stretches(self) -> list[tuple[int, int, float, float]]:
        """Pieces of the timeline: first step, last step, clock at the first [s], step size [s]."""
        first = self._marks[0]
        if self._starts_of is not first or self._looked_at > len(self._events):
            snapshot = self._snapshot(first)
            self._starts_of, self._looked_at = first, 0
            self._starts = [(first.step, snapshot.clock, snapshot.dt)]
        starts = self._starts
        for event in self._events[self._looked_at :]:  # events come one by one, and this is asked for every frame
            step, clock, dt = starts[-1]
            if event.dt != dt or abs(event.clock - clock - (event.step - step) * dt) > 1e-6 * dt:
                starts.append((event.step, event.clock, event.dt))
        self._looked_at = len(self._events)
        ends = [step for step, _, _ in starts[1:]] + [self._last]
        return [(step, end, clock, dt) for (step, clock, dt), end in zip(starts, ends, strict=True)]

    def _step_at(self, time: float) -> int:
        """The step at or just before a time, in the latest stretch that holds it."""
        for start, end, clock, dt in reversed(self._stretches()):
            steps = math.floor((time - clock) / dt + 1e-6)
            if steps >= 0 and start + steps <= end:
                return start + steps
        return self._marks[0].step

    def _cut(self) -> None:
        """End the timeline here."""
        if not self._has_future():
            return
        self._drop_future()
        for undone in self._undone:
            undone.place = None
        self._write_place("cut")

    def _drop_future(self) -> None:
        self._starts_of = None
        del self._events[self.position - self._first :]
        self._marks = [mark for mark in self._marks if mark.is_before(self.count, self.position)]
        self._written = [mark for mark in self._written if mark.is_before(self.count, self.position)]
        self._recorder.keep(0, self.count)
        self._last = self.count
        self._following = False

    # going to a place -----------------------------------------------------------------------------

    def _go(self, step: int, position: int) -> None:
        """Go to a place of the timeline; who ends it on the way is back where it began."""
        with self._kept():
            here, place = self.world.snapshot(), (self.count, self.position, self._lag)
            nearest = self._nearest(step, position)
            ahead = self.count <= step and self.position <= position
            try:
                if not ahead or not nearest.is_before(self.count, self.position):
                    self._restore_nearest(step, position)
                self._run(step, position)
            except (Cancelled, KeyboardInterrupt):
                with self._door() as world:
                    world.restore(here)
                self.count, self.position, self._lag = place
                raise

    def _nearest(self, step: int, position: int) -> Mark:
        """The last snapshot before a place; one in memory, where it is as near as one in the journal."""
        found = next((mark for mark in reversed(self._marks) if mark.is_before(step, position)), self._marks[0])
        for mark in reversed(self._written):
            if mark.is_before(step, position) and (mark.entry is not None or self.journal is not None):
                return max(found, mark, key=lambda mark: mark.along)
        return found

    def _restore_nearest(self, step: int, position: int) -> None:
        mark = self._nearest(step, position)
        snapshot = self._snapshot(mark)
        with self._door() as world:
            world.restore(snapshot)
        self.count, self.position, self._lag = mark.step, mark.position, mark.lag

    def _run(self, step: int, position: int) -> None:
        """Take the recorded steps and edits up to a place."""
        self.world.paused = False
        while self.position < position:
            event = self._event(self.position)
            self._advance_to(event.step)
            self._again(event)
        self._advance_to(step)

    def _advance_to(self, step: int) -> None:
        self.world.runner.hear()
        while self.count < step:
            self._advance(min(step - self.count, MARK_STEPS))
            self._mark_when_due()
            self.world.runner.hear()

    def _follow(self, n: int, each: Callable[[StepReport], None] | None = None) -> int:
        """Take at most n steps along the recording, and the edits at the end of them; how many are left."""
        with self._kept():
            self.world.paused = False
            while n > 0 and self._has_future():
                next_ = self._event(self.position) if self.position < self._end else None
                if next_ is not None and next_.step == self.count:
                    self._again(next_)
                    continue
                part = min(n, (self._last if next_ is None else next_.step) - self.count)
                self._report = self._advance(part, each)
                n -= part
            while self.position < self._end and self._event(self.position).step == self.count:
                self._again(self._event(self.position))
        self._following = self._has_future()
        return n

    def _again(self, event: Event) -> None:
        """Carry out a recorded event."""
        if isinstance(event.edit, Limit):
            self._set_limit(event.edit.limit)
        else:
            self._change(event.edit)
            self.world.paused = False
        self.position += 1

    def _set_limit(self, limit: int) -> None:
        with self._door() as world:
            world.runner.write_options(limit)
            world.runner.forget()

    def _change(self, edit: edits.Edit) -> Answer:
        before = self.world.runner.count
        with self._door() as world:
            answer = world.apply(edit)
        self._lag += before - self.world.runner.count
        return answer

    def _advance(self, n: int, each: Callable[[StepReport], None] | None = None) -> StepReport:
        """Take n steps of the world; one by one where somebody sees each, or callables are kept by their steps."""
        for part in [1] * n if self._recorder.items or each is not None else [n]:
            self._recorder.step = self.count
            try:
                with self._door() as world:
                    report = world.step(part)
                    world.check(report)  # on a GPU a step does not wait to know
            finally:  # a script's edit may be refused on the way
                self.count = self.world.runner.count + self._lag
            if each is not None:
                each(report)
        return report

    def _apply(self, edit: edits.Edit, reverts: int | None = None) -> Answer:
        """Carry out a new edit, at the end of the timeline."""
        written = None
        if self.journal is not None or holds_callable(edit):
            try:
                written = edit_to_json(edit, self._recorder.callables)
            except FileError as error:
                raise EditError(str(error)) from error
            if holds_callable(edit):
                edit = edit_from_json(written, callables=self._recorder.callables)
        if not self._has_future():
            self._mark_when_due(MARK_STEPS // 2)
        answer = self._change(edit)
        self._cut()
        world = self.world
        event = Event(self.count, edit, world.work_limit, world.runner.clock, world.dt, answer.inverse, reverts)
        if self.position > self._first and goes_on(event, self._event(self.position - 1)):
            event.inverse = None
        self._record_event(event, written)
        return answer

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Leave the world paused or running as it is now; what ended a recorded step is no news."""
        world = self.world
        paused, strict = world.paused, world.strict
        world.strict = False
        try:
            yield
        finally:
            world.paused, world.strict = paused, strict

    # snapshots ------------------------------------------------------------------------------------

    def _mark_when_due(self, steps: int | None = None) -> None:
        """Keep a snapshot of here if the one before is far."""
        nearest = self._nearest(self.count, self.position)
        if self.count >= nearest.step + (steps or MARK_STEPS) or self.position >= nearest.position + MARK_EVENTS:
            self._mark()

    def _mark(self) -> None:
        """Keep a snapshot of here."""
        mark = Mark(self.count, self.position, self._lag, snapshot=self.world.snapshot())
        mark.size = 0 if self.journal is None else self.journal.size
        add_mark(self._marks, mark)

    def _snapshot(self, mark: Mark) -> Any:
        """A mark's snapshot, read from its record where it is not in memory."""
        if mark.snapshot is not None:
            return mark.snapshot
        from .vetting import check_snapshot

        entry = mark.entry
        if entry is None:
            assert self.journal is not None and mark.offset is not None
            entry = self.journal.read(mark.offset)
        kept = read_snapshot(entry.data.get("snapshot"), entry.arrays, self._packer)
        snapshot = check_snapshot(self.world, kept)
        if snapshot.steps + mark.lag != mark.step:
            raise wrong("snapshot.steps and lag", (snapshot.steps, mark.lag), f"together step {mark.step}")
        if any(mark is kept for kept in self._marks):
            mark.snapshot, mark.entry = snapshot, None
        return snapshot

    # callables ------------------------------------------------------------------------------------

    def _record_callables(self) -> None:
        """Have every callable of the model, its script and its channels keep what it returns."""
        world, before = self.world, self.world.snapshot()
        model = before.model
        if model_holds_callable(model):
            callables = self._recorder.callables
            model = model_from_json(model_to_json(model, callables), callables, most=math.inf)
            world.runner.follow(sorted(model.script, key=lambda entry: entry[0]))
        items = [
            replace(item, function=self._recorder.recorded(item.function)) if isinstance(item, Component) else item
            for item in before.channels
        ]
        acting = self._recorder.controllers(before.controllers)
        if self._recorder.items:
            with self._door():
                world.restore(replace(before, model=model, channels=items, controllers=acting, present=None))

    # the journal ----------------------------------------------------------------------------------

    def _steps_to_record(self) -> int:
        """Steps until a hash or a snapshot is due."""
        if self._recorder.items:
            return 1
        due = self._marks[-1].step + MARK_STEPS - self.count
        if self.journal is not None:
            due = min(due, self.hash_steps - self.count % self.hash_steps)
        return max(1, due)

    def _record_step(self) -> None:
        """Keep what is due after a step."""
        self._mark_when_due()
        if self._recorder.items and self.count > self._marks[0].step + 2 * MOST_SAMPLED:
            self._forget_but(lambda mark: mark.step >= self.count - MOST_SAMPLED)
        if self.journal is None:
            return
        for recorded in self._recorder.items:
            if values := recorded.values.get(self.count - 1):
                self._write(*samples_record(self.count - 1, recorded.number, values))
        if self.count % self.hash_steps == 0:
            self._write_hash()
        self._write_snapshot_when_due()

    def _record_event(self, event: Event, written: dict[str, Any] | None = None) -> None:
        """Keep an event that was carried out."""
        self._append(event)
        if self.journal is not None:
            self._write(*event_record(event, self._recorder.callables, written))
            self._write_snapshot_when_due()

    def _write(self, data: dict[str, Any], arrays: bytes = b"", sync: bool = False) -> None:
        if self.journal is not None:
            with self._journal_lost_on_failure():
                self.journal.append(data, arrays, sync)

    @contextmanager
    def _journal_lost_on_failure(self) -> Iterator[None]:
        """End the journal where it cannot be written: what came later would not fit what it has."""
        assert self.journal is not None
        try:
            yield
        except (OSError, FileError) as error:
            path = self.journal.path
            self.journal.close()
            self.journal, self.lost = None, error
            self._written.clear()
            why = getattr(error, "strerror", None) or error
            warnings.warn(f"'{path}': the journal is no longer kept: {why}", JournalWarning, stacklevel=2)

    def _write_place(self, kind: str) -> None:
        self._write({"record": kind, "step": self.count, "position": self.position})

    def _write_hash(self, sync: bool = False) -> None:
        data = {"record": "hash", "step": self.count, "position": self.position, "hash": self.world.hash()}
        self._write(data, sync=sync)

    def _write_snapshot_when_due(self) -> None:
        """Write where the world is if the snapshot before is many steps, edits or bytes behind."""
        if self.journal is not None and (
            self._is_far(Mark(self.count, self.position, 0)) or self.journal.size > self._latest.size + self.largest
        ):
            self._write_snapshot()

    def _write_snapshot(self) -> None:
        """Write where the world is; where the file has grown too large, the last half of it anew."""
        self._mark()
        if self.journal is not None and self.journal.size > self.largest:
            size = self.journal.size
            half = next(mark for mark in self._marks if size - mark.size <= self.largest // 2)
            with self._journal_lost_on_failure():
                for base in (half, self._marks[-1]):
                    self._forget_before(base)
                    self.journal.replace(self._records())
                    self._note_offsets()
                    if self.journal.size <= self.largest * 3 // 4:
                        break
                for mark in self._marks:
                    mark.size = max(0, mark.size - size + self.journal.size)
            return
        for data, arrays in self._snapshot_records(self._marks[-1]):
            self._write(data, arrays, sync=data["record"] == "snapshot")
        if self.journal is not None:
            self._written[-1].offset = self.journal.snapshots[-1]

    def _note_offsets(self) -> None:
        """Note where the snapshots are in a journal that was written anew."""
        assert self.journal is not None
        for mark, offset in zip(self._written, self.journal.snapshots, strict=True):
            mark.offset = offset
            if not any(mark is kept for kept in self._marks):
                mark.snapshot = None
        self._written[-1].size = self.journal.size

    @property
    def _latest(self) -> Mark:
        """The last snapshot in the journal."""
        return self._written[-1] if self._written else self._marks[0]

    def _records(self) -> list[Record]:
        """The timeline as records: header, first snapshot, and all after it."""
        from .replay import write_header

        marks = sorted({id(mark): mark for mark in (*self._marks, *self._written)}.values(), key=lambda m: m.along)
        for mark in marks:  # those in the old journal are read before it and its models are gone
            mark.snapshot = self._snapshot(mark)
        self._written.clear()
        self._packer.models.clear()
        records: list[Record] = [(write_header(self.world), b""), *self._snapshot_records(marks[0])]
        samples = self._recorder.samples()
        for k, event in enumerate(self._events, self._first):
            while marks and marks[0].is_before(event.step, k):
                mark = marks.pop(0)
                records += self._snapshot_records(mark) if self._is_far(mark) else []
            while samples and samples[0][0] < event.step:  # an edit cuts off what comes before it and is of later steps
                records.append(samples_record(*samples.popleft()))
            records.append(event_record(event, self._recorder.callables))
        for mark in marks:
            records += self._snapshot_records(mark) if self._is_far(mark) else []
        return records + [samples_record(*each) for each in samples]

    def _is_far(self, mark: Mark) -> bool:
        """Whether a mark is so far behind the last snapshot in the journal that it should be there too."""
        far = mark.step >= self._latest.step + SNAPSHOT_STEPS
        return far or mark.position >= self._latest.position + SNAPSHOT_EVENTS

    def _snapshot_records(self, mark: Mark) -> list[Record]:
        """A snapshot, and its model if it is not in the journal yet."""
        self._written.append(mark)
        snapshot = self._snapshot(mark)
        records = self._model_records(snapshot.model)
        data, arrays = write_snapshot(snapshot, self._packer)
        place = {"step": mark.step, "position": mark.position, "lag": mark.lag}
        return [*records, ({"record": "snapshot", **place, "snapshot": data}, arrays)]

    def _model_records(self, model: Model) -> list[Record]:
        """A record of a model, if there is none yet."""
        if any(known is model for known in self._packer.models):
            return []
        written = model_to_json(model, self._recorder.callables)
        data = {"record": "model", "number": len(self._packer.models), "model": written}
        self._packer.models.append(model)
        return [(data, b"")]
