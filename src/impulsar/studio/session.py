"""A session: one world in a thread of its own, stepped by the clock, changed by edits, shown to clients.

A turn of the thread: carry out what clients asked for, take the steps that the clock owes, leave the
newest frame in every client's mailbox. Nothing in it waits for a client. The world is touched by this
thread only; others ask it by `call`.
"""

import logging
import math
import threading
import time as wall
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import edits
from ..edits.history import History
from ..edits.journal import Journal
from ..inputs import Ramp
from ..io import edit_from_json, edit_to_json
from ..model import Model, ModelError
from ..reports import StepError
from ..scenes import scene as built_in
from ..world import World
from . import messages as ms
from .clock import SPEEDS, Clock
from .gestures import Gestures, Pace, overridden, subject
from .publisher import Client, Moment, Publisher
from .recording import Recording
from .signals import Before, signal
from .wire import Received, Written

log = logging.getLogger("impulsar.studio")

MOST_FRAMES = 120.0  # per second, however fast edits come
MOST_WAITING = 512  # messages of one client that wait for the next step
BETWEEN_WARNINGS = 30.0  # wall time, where the solver is now slow and now not [s]
MOST_STEPS = 10_000  # of one Control "step"
MOST_OFF = 100  # loads and motors that are kept switched off
MOST_PARTS = 1_000  # of a scene that a client asks for, and of shapes: built within about a second
AFTER_FAILURE = 1.0  # wall time, so that a fault that stays does not fill the log [s]
ENDED = "session: has ended; start the studio again"


@dataclass
class Asked:
    """A message in the inbox, with the edit in it once that has been read."""

    client: Client
    message: Received
    edit: edits.Edit | None = None


class Session:
    """The thread and what it owns.

    For another scene, `make_world` builds a world of the same method and device, and `make_history` puts
    a history, with a journal where one is kept, around it. `journal` is where, for clients to know.
    """

    def __init__(
        self,
        history: History,
        make_world: Callable[[Model], World] = World,
        make_history: Callable[[World], History] = History,
        scene: str | None = None,
        speed: float = 1.0,
        steps_per_frame: int = 4,
        journal: Path | None = None,
    ):
        self.history = history
        self._make_world, self._make_history = make_world, make_history
        self.clock = Clock(self.world.dt, wall.monotonic(), speed, steps_per_frame)
        self.recording = Recording(self.world)
        self.gestures, self._pace = Gestures(), Pace()
        self._undone_to = (-1, -1)  # step and position to which undo went back
        self._publisher = Publisher(scene or self.world.model.name, None if journal is None else str(journal))
        self._moment = Moment()
        self._last_frame = self._warn_after = 0.0  # wall times [s]
        self._wake = threading.Condition()
        self._inbox: deque[Asked] = deque()
        self._calls: deque[tuple[Callable[[], Any], Future]] = deque()
        self._clients: list[Client] = []
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="impulsar session", daemon=True)
        self._describe()

    @property
    def world(self) -> World:
        return self.history.world

    # from other threads ---------------------------------------------------------------------------------

    def start(self) -> None:
        """Let time run."""
        self._restart_clock()
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the turn it is in, and close the journal."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join()
        self.history.close()

    def add(self, client: Client) -> None:
        """Show the world to a client from the next turn on."""
        with self._wake:
            self._clients.append(client)
            self._wake.notify()

    def remove(self, client: Client) -> None:
        """Forget a client, and let go of what it holds."""
        with self._wake:
            if client in self._clients:
                self._clients.remove(client)
            self._inbox = deque(asked for asked in self._inbox if asked.client is not client)
        self.call(lambda: self._let_go(client))

    def submit(self, client: Client, message: Received) -> bool:
        """Have a message carried out before the next step; False if the client has too many waiting."""
        with self._wake:
            if client.waiting >= MOST_WAITING:
                return False
            client.waiting += 1
            self._inbox.append(Asked(client, message))
            self._wake.notify()
        return True

    def call(self, function: Callable[[], Any]) -> Future:
        """Have a function run between two steps, in the session's thread."""
        future: Future = Future()
        with self._wake:
            if self._stopping:
                future.set_exception(ModelError(ENDED))
                return future
            self._calls.append((function, future))
            self._wake.notify()
        return future

    # the thread -----------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._stopping and (left := self._next_turn() - wall.monotonic()) > 0:
                    self._wake.wait(min(left, 1.0))
                if self._stopping:
                    break
                asked, self._inbox = list(self._inbox), deque()
                calls, self._calls = list(self._calls), deque()
                clients = list(self._clients)
                for one in asked:
                    one.client.waiting -= 1
            try:
                self._turn(asked, calls, clients)
            except Exception as error:  # a fault of ours: it ends neither the session nor in silence
                self._survive(error, clients)
        for _, future in self._calls:
            if future.set_running_or_notify_cancel():
                future.set_exception(ModelError(ENDED))

    def _survive(self, error: Exception, clients: list[Client]) -> None:
        """Stand still and say why, by as little as can be."""
        log.exception("a turn of the session failed")
        self.world.paused = True
        text = f"the studio failed: {type(error).__name__}: {error}; time stands still; see its log"
        for client in clients:
            client.mailbox.put({}, [Written(ms.Notice(level="error", text=text))], None)
        with self._wake:
            self._wake.wait_for(lambda: self._stopping, AFTER_FAILURE)

    def _next_turn(self) -> float:
        """Wall time at which there is something to do [s]."""
        if self._calls or any(client.is_new for client in self._clients):
            return 0.0
        soonest = self._last_frame + 1 / MOST_FRAMES
        if self.world.paused:
            return soonest if self._inbox else float("inf")
        if self._inbox:
            return max(soonest, self.clock.due_at(1))
        return max(self._last_frame + self.clock.frame_interval, self.clock.due_at(1))

    def _turn(self, asked: list[Asked], calls: list[tuple[Callable[[], Any], Future]], clients: list[Client]) -> None:
        for function, future in calls:
            if not future.set_running_or_notify_cancel():
                continue  # who asked has left
            try:
                future.set_result(function())
            except Exception as error:  # handed to the caller, whose result it is
                future.set_exception(error)
        self._carry_out(asked)
        stepped = 0 if self.world.paused else self._step(self.clock.turn(wall.monotonic()), clients)
        if asked or stepped or calls or any(client.is_new for client in clients):
            self._last_frame = wall.monotonic()
            self._publisher.publish(self.history, self.clock, self.recording, self._moment, clients)

    def _step(self, n: int, clients: list[Client]) -> int:
        """Take n steps; what a world that breaks leaves is told."""
        if n < 1:
            return 0
        began = wall.monotonic()
        try:
            self._take_steps(n, any(s.needs_before for client in clients for s in client.signals))
        except Exception as error:  # the state, a script's edit, the disk, somebody's callable
            self._break(error)
            return 1
        self.clock.took(n, began, wall.monotonic())
        if self.clock.slow and began > self._warn_after:
            self._warn_after = began + BETWEEN_WARNINGS
            reached, asked = self.clock.factor, self.clock.speed
            text = f"the solver reaches {reached:.2g} times real time of the {asked:.2g} asked for; time runs slower"
            self._publisher.tell("warning", text)
        return n

    def _take_steps(self, n: int, needs_before: bool) -> None:
        edits_before, before = self._edits_made(), None
        if needs_before:
            if n > 1:
                self.history.step(n - 1)
            before = Before.of(self.world)
            n = 1
        report = self.history.step(n)
        self._moment = Moment(report, before)
        if self._edits_made() != edits_before:
            self._describe()
        self.recording.take(self.world)

    def _edits_made(self) -> tuple[int, int]:
        """Edits that steps make by themselves: those of a recording that is followed, and of the model's script."""
        return self.history.position, self.world._script_position

    def _break(self, error: Exception) -> None:
        """A step failed: the world stands still, at its last good moment where the state broke."""
        is_known = isinstance(error, StepError | ModelError)
        reason = str(error) if is_known else f"{type(error).__name__}: {error}"
        log.warning("a step failed: %s", reason, exc_info=None if is_known else error)
        self._moment = Moment(is_broken=isinstance(error, StepError))
        if not self.world.paused:
            self.history.apply(edits.Pause(True))
        self.recording.cut(self.world.time)
        self._describe()
        time = f"time stands still at t = {self.world.time:.6g} s"
        self._publisher.tell("error", f"{reason}; {time}: undo, change it, or run on")

    # what clients ask for -------------------------------------------------------------------------------

    def _carry_out(self, asked: list[Asked]) -> None:
        """Carry out messages in order; edits that a newer one of the same thing overrides share its answer."""
        refused: dict[int, str] = {}
        for k, one in enumerate(asked):
            if isinstance(one.message, ms.EditMessage):
                try:
                    one.edit = edit_from_json(one.message.edit)
                except ModelError as error:
                    refused[k] = str(error)
        merged = overridden([None if one.edit is None else subject(one.edit) for one in asked])
        answers: dict[int, ms.Reply] = {}
        for k, one in enumerate(asked):
            if k in refused:
                answers[k] = self._refuse(one, refused[k])
            elif k not in merged:
                answers[k] = self._answer(one)
            if not isinstance(one.message, ms.Subscribe):
                one.client.applied = one.message.id
        for k, one in enumerate(asked):
            answer = answers.get(k) or replace(answers[merged[k]], merged=True)
            one.client.replies.append(Written(replace(answer, id=one.message.id)))

    def _answer(self, one: Asked) -> ms.Reply:
        """Carry out one message."""
        message = one.message
        try:
            if one.edit is not None:
                answer = self._edit(one.client, one.edit)
            elif isinstance(message, ms.Control):
                do = getattr(self, f"_do_{message.action}")
                answer = ms.Reply(id=message.id, ok=True, text=do(message, one.client))
            else:
                assert isinstance(message, ms.Subscribe)
                answer = self._subscribe(one.client, message)
        except (ModelError, StepError) as error:
            answer = self._refuse(one, str(error))
        except Exception as error:  # a fault of ours: it ends neither the session nor in silence
            log.exception("%s: %s %d failed", one.client.name, message.type, message.id)
            answer = self._refuse(one, f"the studio failed: {type(error).__name__}: {error}; see its log")
        return replace(answer, step=self.world._count, time=self.world.time)

    def _refuse(self, one: Asked, text: str) -> ms.Reply:
        log.warning("%s: refused %s %d: %s", one.client.name, one.message.type, one.message.id, text)
        return ms.Reply(id=one.message.id, ok=False, text=text, step=self.world._count, time=self.world.time)

    def _edit(self, client: Client, edit: edits.Edit) -> ms.Reply:
        dt, was_paused, position = self.world.dt, self.world.paused, self.history.position
        if isinstance(edit, edits.Move) and not was_paused:
            edit = self._evened(edit)
        answer = self.history.apply(edit)
        if self.history.position > position:
            self.gestures.note(position, edit, wall.monotonic())
        if isinstance(edit, edits.Grab):
            client.hands.add(edit.hand)
        elif isinstance(edit, edits.Release):
            client.hands.discard(edit.hand)
        if not isinstance(edit, edits.Move | edits.Pause | edits.DragTo):
            self._describe(acts=not isinstance(edit, edits.SetParameter | edits.SetStep))
        if self.world.dt != dt or self.world.paused != was_paused:
            self._restart_clock()
        return ms.Reply(
            id=0,
            ok=True,
            text=answer.text,
            energy=answer.energy,
            momentum=list(answer.momentum),
            angular_momentum=list(answer.angular_momentum),
            moved=answer.moved,
        )

    def _evened(self, move: edits.Move) -> edits.Move:
        """A move to a point as a way there in whole steps, because pointers come at a slower beat than steps."""
        if not isinstance(move.target, tuple | list):
            return move
        clock, time = self.clock, self.world.time
        span = self._pace.span(move.hand, wall.monotonic()) * (clock.factor if clock.slow else clock.speed)
        steps = math.ceil(span / self.world.dt)
        try:
            return edits.Move(move.hand, Ramp(None, tuple(move.target), time, time + steps * self.world.dt))
        except ValueError:  # not a point: for the engine to refuse
            return move

    def _let_go(self, client: Client) -> None:
        for hand in sorted(client.hands & set(self.world.system.hand_names)):
            self.history.apply(edits.Release(hand))
            self._describe()

    def _describe(self, acts: bool = True) -> None:
        is_same = self._publisher.describe(self.world, list(self._clients), acts)
        self.recording.rebase(self.world, is_same)

    def _restart_clock(self) -> None:
        self.clock.dt = self.world.dt
        self.clock.restart(wall.monotonic())
        self._warn_after = 0.0

    def _subscribe(self, client: Client, message: ms.Subscribe) -> ms.Reply:
        found = [signal(self.world, name) for name in message.signals]
        client.subscription, client.names, client.signals = message.id, list(message.signals), found
        return ms.Reply(id=0, ok=True, text=f"{len(found)} signals", units=[item.unit for item in found])

    # controls: each returns what it did -----------------------------------------------------------------

    def _do_pause(self, message: ms.Control, client: Client) -> str:
        if not self.world.paused:
            self.history.apply(edits.Pause(True))
        return "time stands still"

    def _do_run(self, message: ms.Control, client: Client) -> str:
        if self.world.paused:
            self.history.apply(edits.Pause(False))
            self._restart_clock()
        return "time runs"

    def _do_step(self, message: ms.Control, client: Client) -> str:
        count = _whole("step", message.value, 1, MOST_STEPS)
        try:
            if self.world.paused:
                self.history.apply(edits.Pause(False))
            self._take_steps(count, needs_before=True)
        except Exception as error:
            self._break(error)
            raise
        self.history.apply(edits.Pause(True))
        return f"took {count} step{'s' if count > 1 else ''}"

    def _do_speed(self, message: ms.Control, client: Client) -> str:
        low, high = SPEEDS
        if message.value is None or not low <= message.value <= high:
            raise ModelError(f"speed is {message.value}, expected a number from {low:g} to {high:g}")
        self.clock.speed = float(message.value)
        self._restart_clock()
        return f"{self.clock.speed:g} times real time"

    def _do_steps_per_frame(self, message: ms.Control, client: Client) -> str:
        self.clock.steps_per_frame = _whole("steps_per_frame", message.value, 4, 1000)
        return f"{self.clock.steps_per_frame} steps per frame"

    def _do_seek(self, message: ms.Control, client: Client) -> str:
        if message.value is None:
            raise ModelError("seek: value is missing; give a time [s]")
        self.history.seek(float(message.value))
        self._travelled()
        return f"at t = {self.world.time:.6g} s"

    def _do_undo(self, message: ms.Control, client: Client) -> str:
        """Back to before the last gesture."""
        history = self.history
        edit = history.undo(self.gestures.start(history.position))
        self._undone_to = (history.count, history.position)
        self._travelled()
        return f"before {type(edit).__name__}, at t = {self.world.time:.6g} s"

    def _do_redo(self, message: ms.Control, client: Client) -> str:
        """To where undo was called; a parameter, but no pull of a hand, is set again if time has gone on since."""
        history = self.history
        has_gone_on = (history.count, history.position) != self._undone_to
        if has_gone_on and isinstance(history.redoable, edits.Grab):
            raise edits.EditError("redo: time has gone on since the pull was undone; pull again")
        edit = history.redo()
        self._undone_to = (history.count, history.position)
        self._travelled()
        return f"{type(edit).__name__} again, at t = {self.world.time:.6g} s"

    def _do_revert(self, message: ms.Control, client: Client) -> str:
        answer = self.history.revert()
        self._describe()
        return answer.text

    def _do_reset(self, message: ms.Control, client: Client) -> str:
        self.history.apply(edits.Reset())
        self._travelled()
        return "at the start"

    def _travelled(self) -> None:
        """The world is at another time than it was."""
        self._moment = Moment()
        self._restart_clock()
        self._describe()
        self.recording.cut(self.world.time)

    def _do_scene(self, message: ms.Control, client: Client) -> str:
        if message.name is None:
            raise ModelError("scene: name is missing; give one of /api/scenes")
        for key, value in (message.parameters or {}).items():
            if isinstance(value, int) and value > MOST_PARTS:
                raise ModelError(f"scene '{message.name}': {key} is {value}, expected at most {MOST_PARTS}")
        try:
            model = built_in(message.name, **(message.parameters or {}))
        except (TypeError, ValueError) as error:
            if isinstance(error, ModelError):
                raise
            raise ModelError(f"scene '{message.name}': {error}") from error
        self.replace_world(model, message.name, client)
        return f"scene '{message.name}'"

    def replace_world(self, model: Model, name: str, asked_by: Client | None = None) -> None:
        """Go on with another model; in the session's thread. Who asked for it need not be told."""
        _check_size(model)
        self.history = self._begin(self._make_world(model))
        self.gestures, self._undone_to = Gestures(), (-1, -1)
        self.recording = Recording(self.world)
        self._publisher.scene = name
        self._publisher.off.clear()
        for client in self._clients:
            client.hands.clear()
        self._travelled()
        self._publisher.tell("info", f"the scene is now '{name}'", but=asked_by)

    def _begin(self, world: World) -> History:
        """A history around another world, in the place of the one that ends; that goes on if it cannot be."""
        journal = self.history.journal
        self.history.close()
        try:
            return self._make_history(world)
        except Exception as error:
            if journal is not None:
                self.history.journal = Journal(journal.path)
            if isinstance(error, OSError):
                raise ModelError(f"scene: its journal cannot be begun ({error}); the scene before goes on") from error
            raise

    def _do_record(self, message: ms.Control, client: Client) -> str:
        self.recording.clear()
        return f"the results begin at t = {self.world.time:.6g} s"

    def _do_keep(self, message: ms.Control, client: Client) -> str:
        off, (what, edit) = self._publisher.off, _switched("keep", message)
        if what not in off and len(off) >= MOST_OFF:
            raise ModelError(f"keep: {MOST_OFF} loads and motors are switched off; remove some")
        off[what] = edit_to_json(edit)
        self._describe()
        return f"{' '.join(map(str, what))} is kept"

    def _do_forget(self, message: ms.Control, client: Client) -> str:
        what, _ = _switched("forget", message)
        self._publisher.off.pop(what, None)
        self._describe()
        return f"{' '.join(map(str, what))} is forgotten"

    def _do_hash(self, message: ms.Control, client: Client) -> str:
        return self.world.hash()

    # what the server asks for, in the session's thread ----------------------------------------------------

    def journal_bytes(self) -> bytes:
        """The journal so far."""
        if self.history.journal is None:
            raise ModelError("journal: none is kept; start the studio with --journal FILE")
        return self.history.journal.path.read_bytes()

    def scratch_maker(self) -> Callable[[], World]:
        """What builds a second world of the model as it is now."""
        model = self.world.model
        return lambda: self._make_world(model)


def _switched(action: str, message: ms.Control) -> tuple[tuple, edits.Edit]:
    """The load or motor that a message is about, and the edit that switches it on."""
    edit = edit_from_json(message.parameters or {})
    match edit:
        case edits.ApplyLoad(name=name):
            return ("load", name), edit
        case edits.SetMotor(joint=joint, group=group, motor=motor) if motor is not None:
            return ("motor", joint, group), edit
    raise ModelError(f"{action}: parameters are {type(edit).__name__}, expected ApplyLoad or SetMotor with a motor")


def _check_size(model: Model) -> None:
    """Refuse what would keep everybody waiting while it is built."""
    named = (model.bodies, model.joints, model.springs, model.loads, model.probes, model.couplings)
    parts = sum(len(parts) for parts in named) + len(model.script)
    shapes = sum(len(body.shapes) for body in (model.ground, *model.bodies.values()))
    if max(parts, shapes) > MOST_PARTS:
        told = f"has {parts} parts and {shapes} shapes, expected at most {MOST_PARTS} of each"
        raise ModelError(f"scene '{model.name}': {told}; start the studio with it instead")


def _whole(what: str, value: float | None, default: int, most: int) -> int:
    count = default if value is None else value
    if count != int(count) or not 1 <= count <= most:
        raise ModelError(f"{what} is {value}, expected a whole number from 1 to {most}")
    return int(count)
