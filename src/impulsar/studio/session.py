"""A session: one world in a thread of its own, stepped by the clock, changed by edits, shown to clients.

A turn of the thread: carry out what clients asked for, take the steps that the clock owes, leave the
newest frame in every client's mailbox. Nothing in it waits for a client. The world is touched by this
thread only; others ask it by `call`.

Nothing makes the session deaf. Many single steps are taken turn by turn like those of the clock. Going to
another place of the history, and a step that takes long, are ended between two launches when somebody asks
for something else, and the world is where it was before. Other scenes are built in threads of their own.
"""

import logging
import math
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
from ..author.profiles import Ramp, Table
from ..engine.device import load_kernels
from ..history.history import History
from ..history.journal import Journal
from ..io import edit_to_json
from ..observe.instant import instant_kernel
from ..scenes import scene as built_in
from ..world.world import World
from . import describe
from . import messages as ms
from .asked import MOST_PARTS, Asked, Later, Steps, check_size, is_meanwhile, parts_of, switched, whole_of
from .clock import SPEEDS, TURN, Clock
from .gestures import Gestures, Pace, overridden
from .publisher import Client, Moment, Publisher
from .recording import Recording
from .signals import signal
from .wire import Received, Written

log = logging.getLogger("impulsar.studio")

MOST_FRAMES = 120.0  # per second, however fast edits come
MOST_WAITING = 512  # messages of one client that wait for the next step
BETWEEN_WARNINGS = 30.0  # wall time, where the solver is now slow and now not [s]
MOST_STEPS = 10_000  # of one Control "step"
LONGEST_REFUSAL = 2_000  # letters
MOST_POINTS = 20_000  # of tables, in loads and motors that act or are kept
MOST_OFF = 100  # loads and motors that are kept switched off
FEW_PARTS = 100  # of a scene that is built at once; larger ones are built in a thread of their own
SLICE = 0.2  # wall time after which something long may be ended by what is asked for next [s]
LONGEST_WAIT = 0.05  # wall time for which edits wait for the next step, so that a frame shows their effect [s]
LONG = ("step", "seek", "undo", "redo")  # controls that may take long: what comes after them waits its turn
ENDING = (*LONG, "pause", "run", "revert", "reset", "scene")  # controls that end single steps
AFTER_FAILURE = 1.0  # wall time, so that a fault that stays does not fill the log [s]
ENDED = "session: has ended; start the studio again"


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
        load_kernels([instant_kernel], self.world.device)  # a signal that asks for it must not keep the steps waiting
        self._make_world, self._make_history = make_world, make_history
        self.clock = Clock(self.world.dt, wall.monotonic(), speed, steps_per_frame)
        self.recording = Recording(self.world)
        self.gestures, self._pace = Gestures(), Pace()
        self._undone_to = (-1, -1)  # step and position to which undo went back
        self._publisher = Publisher(scene or self.world.model.name, None if journal is None else str(journal))
        self._moment = Moment()
        self._steps: Steps | None = None
        self._building: object = None  # the scene that was asked for last
        self._patient_until = 0.0  # wall time up to which nobody ends what is going on [s]
        self._last_frame = self._warn_after = 0.0  # wall times [s]
        self._wake = threading.Condition()
        self._inbox: deque[Asked] = deque()
        self._calls: deque[tuple[Callable[[], Any], Future]] = deque()
        self._clients: list[Client] = []
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="impulsar session", daemon=True)
        self.world.between = self._hear
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
        while True:
            with self._wake:
                while not self._stopping and (left := self._next_turn() - wall.monotonic()) > 0:
                    self._wake.wait(min(left, 1.0))
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
        if waiting:
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
        self._publisher.publish(self.history, self.clock, self.recording, self._moment, clients)

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
        if self.clock.slow and began > self._warn_after:
            self._warn_after = began + BETWEEN_WARNINGS
            reached, asked = self.clock.factor, self.clock.speed
            text = f"the solver reaches {reached:.2g} times real time of the {asked:.2g} asked for; time runs slower"
            self._publisher.tell("warning", text)
        return n

    def _take_steps(self, n: int) -> None:
        edits_before = self._edits_made()
        try:
            report = self.history.step(n)
        finally:
            if self._edits_made() != edits_before:
                self._describe()
        self._moment = Moment(report)
        self.recording.take(self.world)

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
                do = getattr(self, f"_do_{message.action}")
                answer = ms.Reply(id=message.id, ok=True, text=do(message, one.client))
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
            edit = self._evened(edit)
        self._check_tables(edit)
        answer = self.history.apply(edit)
        if self.history.position > position:
            self.gestures.note(position, edit, wall.monotonic())
        if isinstance(edit, edits.Grab):
            client.hands.add(edit.hand)
        elif isinstance(edit, edits.Release):
            client.hands.discard(edit.hand)
        if tells := edits.REGISTRY[type(edit)].tells:
            self._describe(acts="acting" in tells)
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
        if self._steps is not None and self._steps.asked.client is client:
            self._end_steps("its client has left")
        for hand in sorted(client.hands & set(self.world.system.hand_names)):
            self.history.apply(edits.Release(hand))
            self._describe()

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
        count = whole_of("step", message.value, 1, MOST_STEPS)
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

    def _do_speed(self, message: ms.Control, client: Client) -> str:
        low, high = SPEEDS
        if message.value is None or not low <= message.value <= high:
            raise ModelError(f"speed is {message.value}, expected a number from {low:g} to {high:g}")
        self.clock.speed = float(message.value)
        self._restart_clock()
        return f"{self.clock.speed:g} times real time"

    def _do_steps_per_frame(self, message: ms.Control, client: Client) -> str:
        self.clock.steps_per_frame = whole_of("steps_per_frame", message.value, 4, 1000)
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
        check_size(model)
        self._building = building = object()
        if parts_of(model) <= FEW_PARTS:
            self.take_world(self._make_world(model), message.name, client)
            return f"scene '{message.name}'"

        def build() -> None:
            try:
                world: World | Exception = self._make_world(model)
            except Exception as error:  # told to who asked for it
                world = error
            self.call(lambda: self._built(Asked(client, message), building, world))

        threading.Thread(target=build, name="impulsar scene", daemon=True).start()
        raise Later

    def _built(self, one: Asked, building: object, world: World | Exception) -> None:
        """A scene that a client asked for is there, or cannot be."""
        assert isinstance(one.message, ms.Control) and one.message.name is not None
        name, text = one.message.name, ""
        try:
            if self._building is not building:
                raise ModelError(f"scene '{name}': another one was asked for meanwhile")
            if isinstance(world, Exception):
                raise world
            self.take_world(world, name, one.client)
        except ModelError as error:
            text = str(error)
        except Exception as error:  # a fault of ours: it ends neither the session nor in silence
            log.exception("%s: scene '%s' failed", one.client.name, name)
            text = f"the studio failed: {type(error).__name__}: {error}; see its log"
        done = ms.Reply(id=0, ok=True, text=f"scene '{name}'")
        self._reply(one, self._refuse(one, text) if text else done)

    def make_world(self, model: Model) -> World:
        """A world for `take_world`; in any thread, because it may take long."""
        check_size(model)
        return self._make_world(model)

    def replace_world(self, model: Model, name: str) -> None:
        """Go on with another model; in the session's thread."""
        self.take_world(self.make_world(model), name)

    def take_world(self, world: World, name: str, asked_by: Client | None = None) -> None:
        """Go on with another world; in the session's thread. Who asked for it need not be told."""
        self._end_steps("another scene came")
        self.history = self._begin(world)
        self.world.between = self._hear
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
            cause = error if isinstance(error, OSError) else error.__cause__
            if isinstance(cause, OSError):
                why = f"scene: its journal cannot be begun ({cause.strerror or cause})"
                raise ModelError(f"{why}; make room or choose another place; the scene before goes on") from error
            raise

    def _do_record(self, message: ms.Control, client: Client) -> str:
        self.recording.clear()
        return f"the results begin at t = {self.world.time:.6g} s"

    def _do_keep(self, message: ms.Control, client: Client) -> str:
        off, (what, edit) = self._publisher.off, switched("keep", message)
        if what not in off and len(off) >= MOST_OFF:
            raise ModelError(f"keep: {MOST_OFF} loads and motors are switched off; remove some")
        if what not in off:
            self._check_tables(edit)
        off[what] = edit_to_json(edit)
        self._describe()
        return f"{' '.join(map(str, what))} is kept"

    def _do_forget(self, message: ms.Control, client: Client) -> str:
        what, _ = switched("forget", message)
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
