"""A session: one world in a thread of its own, stepped by the clock, changed by edits, shown to clients.

A turn of the thread: carry out what clients asked for, take the steps that the clock owes, leave the
newest frame in every client's mailbox. Nothing in it waits for a client. The world is touched by this
thread only; others ask it by `call`.

Nothing makes the session deaf. Many single steps are taken turn by turn like those of the clock. Going to
another place of the history, and a step that takes long, are ended between two launches when somebody asks
for something else, and the world is where it was before. Other scenes are built in threads of their own.
"""

import logging
import threading
import time as wall
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import edits
from ..author.errors import ModelError, StepError
from ..author.model import Model
from ..author.profiles import Table
from ..edits.hands import hands_of
from ..engine import stand_ins
from ..engine.device import expected, load_kernels
from ..history.history import History
from ..history.replay import write_options
from ..observe.instant import instant_kernel
from ..world.reports import StepReport
from ..world.signals import signal
from ..world.world import World
from . import describe
from . import messages as ms
from .ahead import look_ahead
from .asked import Asked, Later, Steps, check_size, is_meanwhile, is_patient
from .autosave import Left
from .clock import TURN, Clock
from .controls import CONTROLS
from .gestures import SMOOTH, Gestures, Pace, carried, hands_but, held_body, overridden
from .opening import Opening
from .points import Points
from .publisher import Client, Moment, Publisher, Standing
from .recording import Recording, second_world
from .rows import Reader
from .tidying import ALL_AFTER, Tidying
from .watching import Watching
from .wire import LONGEST_REFUSAL, Received, Written

log = logging.getLogger("impulsar.studio")
expected.append(instant_kernel)

MOST_FRAMES = 120.0  # per second, however fast edits come
MOST_WAITING = 512  # messages of one client that wait for the next step
BETWEEN_WARNINGS = 30.0  # wall time, where time is now slow and now not [s]
LASTING = 2.0  # wall time for which it must have been slow before that is told [s]
MOST_POINTS = 20_000  # of tables, in loads and motors that act or are kept
SLICE = 0.2  # wall time after which something long may be ended by what is asked for next [s]
LONGEST_WAIT = 0.05  # wall time for which edits wait for the next step, so that a frame shows their effect [s]
LONG = ("step", "seek", "undo", "redo")  # controls that may take long: what comes after them waits its turn
ENDING = (*LONG, "pause", "run", "revert", "reset", "scene", "recover")  # controls that end single steps
AFTER_FAILURE = 1.0  # wall time, so that a fault that stays does not fill the log [s]
ENDED = "session: has ended; start the studio again"


class Session:
    """The thread and what it owns.

    For another scene, `make_world` builds a world of the same method and device, and `make_history` puts
    a history, with a journal where one is kept, around it. `journal` is where, for clients to know. `is_resumed`: the
    history is that of a session that ended; nobody holds its hands any more. `left`: a session before, which ended with
    work in it and is offered. `is_choosing`: nobody has said which scene; pages show them all.
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
        is_resumed: bool = False,
        left: Left | None = None,
        is_choosing: bool = False,
    ):
        self.history = history
        if not stand_ins.stands_in_for(instant_kernel, self.world.device):  # a signal must not keep the steps waiting
            load_kernels([instant_kernel], self.world.device)
        self._make_world, self._make_history = make_world, make_history
        self.clock = Clock(self.world.dt, wall.monotonic(), speed, steps_per_frame)
        self.recording, self._reader = Recording(self.world), Reader()
        self.gestures, self._pace = Gestures(), Pace()
        self.opening = Opening(self, left, is_choosing)
        self._others_hands = set[str]() if is_resumed else set(hands_but(self.world, set()))
        self._undone_to = (-1, -1)  # step and position to which undo went back
        self._publisher = Publisher(scene or self.world.model.name, None if journal is None else str(journal))
        self._moment = Moment()
        self._steps: Steps | None = None
        self.watching = Watching()
        self.tidying: Tidying | None = None  # where the process is the studio's own
        self._patient_until = 0.0  # wall time up to which nobody ends what is going on [s]
        self._last_frame = self._warn_after = self._slow_since = 0.0  # wall times [s]
        self._wake = threading.Condition()
        self._inbox: deque[Asked] = deque()
        self._calls: deque[tuple[Callable[[], Any], Future]] = deque()
        self._clients: list[Client] = []
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="impulsar session", daemon=True)
        self.world.between = self._hear
        self._describe()
        self._let_go_of_all()

    @property
    def world(self) -> World:
        return self.history.world

    # from other threads ---------------------------------------------------------------------------------

    def start(self) -> None:
        """Let time run."""
        self._restart_clock()
        self._thread.start()
        look_ahead(self.world.model, self._make_world, self.call, self._publisher)

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
        asked = Asked(client, message).read()
        with self._wake:
            if client.waiting >= MOST_WAITING:
                return False
            client.waiting += 1
            self._inbox.append(asked)
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
        if self.tidying is not None:
            self.tidying.begin(wall.monotonic())
        try:
            self._take_turns()
        finally:
            if self.tidying is not None:
                self.tidying.end()

    def _take_turns(self) -> None:
        while True:
            if self.tidying is not None:
                now = wall.monotonic()
                self.tidying.between(now, self._next_turn() - now, self._last_frame)
            with self._wake:
                while not self._stopping and (left := self._next_turn() - wall.monotonic()) > 0:
                    self._wake.wait(min(left, 1.0))
                    if self.tidying is not None and left > ALL_AFTER and not self._inbox:
                        break  # time stands still: perhaps there is time to look through everything
                if self._stopping:
                    break
                asked = self._take_inbox()
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

    def _take_inbox(self) -> list[Asked]:
        """What waits, up to something that may take long."""
        found: list[Asked] = []
        while self._inbox:
            found.append(self._inbox.popleft())
            message = found[-1].message
            if isinstance(message, ms.Control) and message.action in LONG:
                break
        return found

    def _hear(self) -> None:
        """Between two launches of something long: answer what does not touch the world, and let all else end it."""
        if threading.current_thread() is not self._thread:
            return
        with self._wake:
            if self._stopping:
                raise edits.Cancelled("ended with the session")
            if not self._inbox or wall.monotonic() < self._patient_until:
                return
            asked = list(self._inbox)
            waiting = [one for one in asked if not is_meanwhile(one.message)]
            self._inbox = deque(waiting)
            for one in asked:
                one.client.waiting -= is_meanwhile(one.message)
        for one in asked:
            if one not in waiting and (answer := self._answer(one)) is not None:
                one.client.mailbox.put({}, [Written(replace(answer, id=one.message.id))], None)
                if isinstance(one.message, ms.Control):
                    one.client.applied = max(one.client.applied, one.message.id)
        if not all(is_patient(one.message) for one in waiting):
            raise edits.Cancelled("ended by what was asked for next; the world is where it was")

    def _survive(self, error: Exception, clients: list[Client]) -> None:
        """Stand still and say why, by as little as can be."""
        log.exception("a turn of the session failed")
        self.world.paused = True
        text = f"the studio failed: {type(error).__name__}: {error}; time stands still; see its log"
        for client in clients:  # what was done is answered all the same
            replies, client.replies = client.replies, []
            client.mailbox.put({}, [*replies, Written(ms.Notice(level="error", text=text))], None)
        with self._wake:
            self._wake.wait_for(lambda: self._stopping, AFTER_FAILURE)

    def _next_turn(self) -> float:
        """Wall time at which there is something to do [s]."""
        if self._calls or any(client.is_new for client in self._clients):
            return 0.0
        if self._steps is not None:
            return 0.0
        soonest = self._last_frame + 1 / MOST_FRAMES
        if self.world.paused:
            return soonest if self._inbox else float("inf")
        if self._inbox:
            return max(soonest, min(self.clock.due_at(1), self._inbox[0].at + LONGEST_WAIT))
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
        self._let_go_of_all()
        if asked and not self.world.paused and max(self.clock.step_time, self.world.dt) > TURN:
            self._publish(clients)  # the next step may take long, and what was done can be told before it
        if self._steps is not None:
            stepped = self._go_on_stepping()
        else:
            stepped = 0 if self.world.paused else self._step(self.clock.turn(wall.monotonic()), clients)
        if asked or stepped or calls or any(client.is_new for client in clients):
            self._publish(clients)

    def _publish(self, clients: list[Client]) -> None:
        self._last_frame = wall.monotonic()
        history, opening = self.history, self.opening
        undo, redo = history.undoable, history.redoable
        standing = Standing(
            self._reader.stride,
            type(undo).__name__ if undo else f"Open {self._publisher.scene}" if opening.past else None,
            (type(redo).__name__ if redo else f"Open {opening.future[-1].scene}") if self._can_redo else None,
            opening.count,
            opening.is_changed,
            None if opening.left is None else str(opening.left),
            opening.choosing,
        )
        if not self.watching.is_told:
            self._publisher.events(self.watching.message())
        self._publisher.publish(history, self.clock, self.recording, self._moment, clients, standing)

    def _step(self, n: int, clients: list[Client]) -> int:
        """Take n steps; what a world that breaks leaves is told."""
        if n < 1:
            return 0
        began = wall.monotonic()
        self._patient_until, before = began + SLICE, self.history.count
        try:
            self._take_steps(n)
        except edits.Cancelled:  # the one that takes long is taken again after what ended it
            n = self.history.count - before
            if n == 0:
                return 0
        except Exception as error:  # the state, a script's edit, the disk, somebody's callable
            self._break(error)
            return 1
        if self.clock.dt != self.world.dt:  # a script or a recording set it
            self._restart_clock()
            return n
        self.clock.took(n, began, wall.monotonic())
        self._slow_since = (self._slow_since or began) if self.clock.slow else 0.0
        if self.clock.slow and began > max(self._warn_after, self._slow_since + LASTING):
            self._warn_after = began + BETWEEN_WARNINGS
            self._publisher.tell("warning", self.clock.slowness())
        return n

    def _take_steps(self, n: int) -> None:
        edits_before, reports = self._edits_made(), list[StepReport]()
        clients, times = list(self._clients), (self.clock.step_time, self.world.dt / self.clock.speed)

        def keep(report: StepReport) -> None:
            """Whatever is looked at less often is not lost."""
            if reports and report._facts is not reports[-1]._facts:
                reports.clear()
            reports.append(report)
            if self.world.system is not self._publisher.system:  # an edit of a recording or a script built it anew
                self._describe()
            self.watching.look(self.world, self.recording)
            self.recording.take(self.world)
            self._reader.step(self.world, report, times, clients)

        self.watching.before_steps(self.world)
        try:
            self.history.step(n, keep)
        finally:
            if self._edits_made() != edits_before:
                self._describe()
        self._moment = Moment(StepReport.of_all(reports))
        if (text := self.watching.stop(self.history, self.gestures)) is not None:
            self._travelled()
            self._publisher.tell("info", text)

    def _edits_made(self) -> tuple[int, int]:
        """Edits that steps make by themselves: those of a recording that is followed, and of the model's script."""
        return self.history.position, self.world.runner.script_position

    def _break(self, error: Exception) -> None:
        """A step failed: the world stands still, at its last good moment where the state broke."""
        is_known = isinstance(error, StepError | ModelError)
        reason = str(error) if is_known else f"{type(error).__name__}: {error}"
        log.warning("a step failed: %s", reason, exc_info=None if is_known else error)
        self._end_steps(reason)
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
        merged = overridden([edits.subject(one.read().edit) for one in asked])
        answers: dict[int, ms.Reply | None] = {}
        for k, one in enumerate(asked):
            if one.refusal is not None:
                answers[k] = self._refuse(one, one.refusal)
            elif k not in merged:
                answers[k] = self._answer(one)
            if not isinstance(one.message, ms.Subscribe) and answers.get(k, True) is not None:
                one.client.applied = one.message.id
        for k, one in enumerate(asked):
            answer = answers[merged[k]] if k in merged else answers[k]
            if answer is not None:
                one.client.replies.append(Written(replace(answer, id=one.message.id, merged=k in merged)))

    def _answer(self, one: Asked) -> ms.Reply | None:
        """Carry out one message; None where the reply comes later."""
        message = one.message
        self._patient_until = wall.monotonic() + SLICE
        try:
            if one.edit is not None:
                answer = self._edit(one.client, one.edit)
            elif isinstance(message, ms.Control):
                if message.action in ENDING:
                    self._end_steps(f"ended by {message.action}")
                told = CONTROLS[message.action](self, message, one.client)
                answer = ms.Reply(id=message.id, ok=True, text=told)
            else:
                assert isinstance(message, ms.Subscribe)
                answer = self._subscribe(one.client, message)
        except Later:
            return None
        except (ModelError, StepError) as error:
            answer = self._refuse(one, str(error))
        except Exception as error:  # a fault of ours: it ends neither the session nor in silence
            log.exception("%s: %s %d failed", one.client.name, message.type, message.id)
            answer = self._refuse(one, f"the studio failed: {type(error).__name__}: {error}; see its log")
        return replace(answer, step=self.world.runner.count, time=self.world.time)

    def _refuse(self, one: Asked, text: str) -> ms.Reply:
        text = text if len(text) <= LONGEST_REFUSAL else f"{text[: LONGEST_REFUSAL - 3]}..."
        log.warning("%s: refused %s %d: %s", one.client.name, one.message.type, one.message.id, text)
        return ms.Reply(id=one.message.id, ok=False, text=text, step=self.world.runner.count, time=self.world.time)

    def _edit(self, client: Client, edit: edits.Edit) -> ms.Reply:
        dt, was_paused, position = self.world.dt, self.world.paused, self.history.position
        if isinstance(edit, edits.Move) and not was_paused:
            edit = self._pace.evened(edit, self.clock, self.world)
        warning = ""
        if (body := held_body(edit, self.world)) is not None:
            edit, warning = carried(edit, body, self.world.dt)
        if isinstance(edit, edits.Release):
            client.hands.discard(edit.hand)  # also where what it held is gone
        self._check_tables(edit)
        if isinstance(edit, edits.Compile):
            raise edits.EditError("compile: a session has its steps compiled by itself; there is nothing to ask for")
        answer = self.history.apply(edit)
        self._publisher.leaps += answer.moved > 0 or not isinstance(edit, SMOOTH)
        self.watching.leap()
        if self.history.position > position:
            self.gestures.note(position, edit, wall.monotonic())
        if isinstance(edit, edits.Grab | edits.Push):
            client.hands.add(edit.hand)
        self.opening.note_edit()
        if tells := edits.REGISTRY[type(edit)].tells:
            self._describe(acts="acting" in tells)
        if self.world.dt != dt or self.world.paused != was_paused:
            self._restart_clock()
        if answer.moved > 0.0 and not isinstance(edit, edits.DragTo):
            self._leap()
        if was_paused and self.world.paused:
            self._reader.read(self.world, self._clients)
        return ms.Reply(
            id=0,
            ok=True,
            text=answer.text,
            energy=answer.energy,
            momentum=list(answer.momentum),
            angular_momentum=list(answer.angular_momentum),
            moved=answer.moved,
            warning=warning,
        )

    def _check_tables(self, edit: edits.Edit) -> None:
        """Refuse tables that would make what all clients are told of at every change too long."""
        new = describe.points_in(vars(edit))
        if not new:
            return
        acting = sum(len(item.times) for item in self.world.system.channels.items if isinstance(item, Table))
        kept = sum(describe.points_in(known) for known in self._publisher.off.values())
        if acting + kept + new > MOST_POINTS:
            told = f"tables of {new} points beside {acting + kept}"
            raise edits.EditError(f"{type(edit).__name__}: {told}, expected {MOST_POINTS} in all; take fewer points")

    def _let_go(self, client: Client) -> None:
        if self._steps is not None and self._steps.asked.client is client:
            self._end_steps("its client has left")
        for hand in sorted(client.hands & set(hands_of(self.world.system))):
            self.history.apply(edits.Release(hand))
            self._describe()

    def _let_go_of_all(self) -> None:
        """End hands whose client is gone: those of a journal that was opened, and what undo brings back.

        Not those that a recording moves while it is followed, and none that the model's script or a program holds.
        """
        if self.history.is_replaying:
            return
        held = self._others_hands.union(*(client.hands for client in self._clients))
        for hand in hands_but(self.world, held):
            self.history.apply(edits.Release(hand))
            self._describe()

    def _leap(self) -> None:
        """The world came to where it is by other than steps: paths and plots do not join what was before."""
        for client in self._clients:
            client.rows.leapt = True

    def _describe(self, acts: bool = True) -> None:
        system = self._publisher.system
        is_same = self._publisher.describe(self.world, list(self._clients), acts)
        self.recording.rebase(self.world, is_same)
        if self.world.system is not system:  # a report names the parts of its own
            self._moment = Moment(is_broken=self._moment.is_broken)
        if self.world.dt != self.clock.dt:
            self._restart_clock()

    def _restart_clock(self) -> None:
        self.clock.dt = self.world.dt
        self.clock.restart(wall.monotonic())
        self._warn_after = 0.0

    def _subscribe(self, client: Client, message: ms.Subscribe) -> ms.Reply:
        found = [signal(self.world, name) for name in message.signals]
        client.subscription, client.names, client.signals = message.id, list(message.signals), found
        client.points = Points([(point.body, point.at) for point in message.points])
        client.points.find(self.world.runner.bench)
        client.rows.clear()
        client.rows.is_asked = bool(message.signals or message.points)
        self._reader.forget()
        return ms.Reply(id=0, ok=True, text=f"{len(found)} signals", units=[item.unit for item in found])

    # single steps, and time that goes elsewhere ---------------------------------------------------------

    def take_single_steps(self, count: int, message: ms.Control, client: Client) -> str:
        """Take so many steps and stop; the reply comes later where they take long."""
        self._steps = Steps(Asked(client, message), count, count)
        if self.world.paused:
            self.history.apply(edits.Pause(False))
        self._step_on(SLICE)
        if self._steps is not None:
            raise Later
        return f"took {count} step{'s' if count > 1 else ''}"

    def _step_on(self, seconds: float) -> None:
        """Take single steps for a while, or to their end."""
        steps, end = self._steps, wall.monotonic() + seconds
        assert steps is not None
        try:
            while steps.left > 0 and wall.monotonic() < end:
                each, left = self.clock.step_time, end - wall.monotonic()
                part = max(1, min(steps.left, int(left / each) if each > 0 else 8))
                began, before = wall.monotonic(), self.history.count
                try:
                    self._take_steps(part)
                finally:
                    steps.left -= self.history.count - before
                self.clock.learn((wall.monotonic() - began) / part)
        except edits.Cancelled:  # a step that takes long: it is taken again in the next turn
            return
        except Exception as error:
            self._steps = None
            self._break(error)
            raise
        if steps.left == 0:
            self._steps = None
            self.history.apply(edits.Pause(True))

    def _go_on_stepping(self) -> int:
        """A turn's share of the single steps; their reply where they end."""
        steps = self._steps
        assert steps is not None
        if self.world.paused:  # by an edit, or because it broke
            self._end_steps("time was stopped")
            return 0
        self._patient_until = wall.monotonic() + SLICE
        try:
            self._step_on(TURN)
        except Exception as error:  # it has been told to all
            self._reply(steps.asked, self._refuse(steps.asked, str(error)))
            return 1
        if self._steps is None:
            self._reply(steps.asked, ms.Reply(id=0, ok=True, text=f"took {steps.all} steps"))
        return 1

    def _end_steps(self, why: str) -> None:
        """End single steps before their time; the world is paused after them, as after the last."""
        steps, self._steps = self._steps, None
        if steps is None:
            return
        if not self.world.paused:
            self.history.apply(edits.Pause(True))
        text = f"step: {why}, after {steps.all - steps.left} of {steps.all} steps"
        self._reply(steps.asked, self._refuse(steps.asked, text))

    def _reply(self, one: Asked, answer: ms.Reply) -> None:
        """Answer something that was asked for before this turn."""
        answer = replace(answer, id=one.message.id, step=self.world.runner.count, time=self.world.time)
        one.client.replies.append(Written(answer))
        one.client.applied = max(one.client.applied, one.message.id)

    @property
    def _can_redo(self) -> bool:
        """Whether redo does something, and something sensible."""
        history = self.history
        if history.redoable is None:
            return bool(self.opening.future)
        has_gone_on = (history.count, history.position) != self._undone_to
        return not (has_gone_on and isinstance(history.redoable, edits.Grab | edits.Push))

    def _travelled(self) -> None:
        """The world is at another time than it was."""
        self._moment = Moment()
        self._publisher.leaps += 1
        self._restart_clock()
        self._describe()
        self.recording.cut(self.world.time)
        self.watching.cut(self.world.time)
        self._leap()
        self._let_go_of_all()
        self._reader.read(self.world, self._clients)

    def make_world(self, model: Model) -> World:
        """A world for `opening.take`; in any thread, because it may take long."""
        check_size(model)
        return self._make_world(model)

    def replace_world(self, model: Model, name: str) -> None:
        """Go on with another model; in the session's thread."""
        self.opening.take(self.make_world(model), name)

    # what the server asks for, in the session's thread ----------------------------------------------------

    def journal_bytes(self) -> bytes:
        """The journal so far."""
        if self.history.journal is None:
            raise ModelError("journal: none is kept; start the studio with --journal FILE")
        return self.history.journal.path.read_bytes()

    @property
    def generation(self) -> int:
        """Of the parts as clients know them."""
        return self._publisher.parts.generation

    def scratch_maker(self) -> Callable[[], World]:
        """What builds a second world of the model as it is now."""
        now, make, options = self.world.snapshot(), self._make_world, write_options(self.world)
        return lambda: second_world(now, make, options)
