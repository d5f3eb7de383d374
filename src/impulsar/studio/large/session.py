"""A session of one large world: a thread steps it by the clock and leaves a picture of it now and then.

The thread waits for nobody: clients' senders make frames of the newest picture in threads of their own, and who draws
slowly gets fewer of them (`desk.py`, `window.py`). Taking a picture may cost a tenth of the wall time, not more. Other
worlds are built in a thread beside it; time stands still meanwhile, since both want the same cores.
"""

import hashlib
import logging
import threading
import time as wall
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...author.errors import ModelError, StepError
from ...author.model import Model
from ...engine.large.still import Taker
from ..asked import whole_of
from ..clock import SPEEDS, Clock
from ..large_messages import (
    FRAMES_PER_SECOND,
    LargeBooks,
    LargeControl,
    LargeEdit,
    LargeKind,
    LargeLook,
    LargePull,
    LargeScene,
    LargeStatus,
)
from ..mailbox import Mailbox
from ..messages import Notice, Reply
from ..wire import LONGEST_REFUSAL, Written
from .catalogue import Source, source_of
from .looks import blocks_of, looks_of, scene_of
from .window import Spheres, Still, Window

if TYPE_CHECKING:
    from ...scale.large.world import LargeReport

log = logging.getLogger("impulsar.studio")

Asked = LargeControl | LargeEdit
BOOKS_EVERY = 0.25  # wall time [s]
COST = 10.0  # a picture or the books take this share of the wall time at most, one in so many
RATES_OVER = 2.0  # wall time over which steps are counted [s]
MOST_STEPS = 10_000  # of one `step`
MOST_WAITING = 512  # messages of one client
ENDED = "session: has ended; start the studio again"
NO_EDITS = "a large world takes no edits while it runs: change the scene's parameters and open it anew"


@dataclass(eq=False)
class Client:
    """One client as the session knows it."""

    name: str
    mailbox: Mailbox
    window: Window = field(default_factory=Window)
    pull: LargePull | None = None  # that was not looked at yet
    waiting: int = 0
    is_new: bool = True


class Stage:
    """A world with all that pictures of it need; built in any thread."""

    def __init__(self, source: Source, generation: int, **options: Any):
        from ...scale.large.world import LargeWorld  # not loaded before there is one

        self.source, self.generation = source, generation
        self.world = LargeWorld(source.what, source.dt, **options)
        bulk = self.world.bench.bulk
        model = source.what if isinstance(source.what, Model) else None
        kinds, of_body = looks_of(bulk, model)
        self.blocks = blocks_of(bulk, of_body)
        self.starts, self.sizes = self.blocks.starts, self.blocks.sizes
        self.spheres = Spheres(self.starts, self.sizes, np.array([_reach(kinds[k]) for k in self.blocks.kinds]))
        self._taker = Taker(self.blocks.order, self.world.bench.device)
        self._number = 0
        self.smallest = min((kind.size for kind in kinds), default=0.0)
        self.is_closed = not (bulk.touches or bulk.slots or bulk.loads)  # all energy is in the books
        self.begun = self.world.snapshot()
        self.start = self.total()
        self.scene: LargeScene = scene_of(self.world, source, kinds, self.blocks, generation, self.take().poses)

    def take(self) -> Still:
        """A picture of now."""
        self._number += 1
        x, world = self.world.bench.x, self.world
        return Still(self._number, self.generation, world.time, world.count, self._taker.take(x.p_WB, x.q_WB))

    def total(self) -> float:
        """Kinetic and potential energy [J]."""
        energy = self.world.energy()
        return energy["kinetic"] + energy["potential"]


def _reach(kind: LargeKind) -> float:
    """From a body's centre of mass to its farthest corner, at most [m]."""
    return max(float(np.linalg.norm(shape.offset)) + _extent(shape) for shape in kind.shapes)


def _extent(shape: Any) -> float:
    if shape.points:
        return float(np.linalg.norm(np.asarray(shape.points), axis=1).max())
    return float(np.linalg.norm(shape.size or [0.0])) + (shape.radius or 0.0) + (shape.length or 0.0)


class LargeSession:
    """The thread and what it owns. `options` are those of `LargeWorld`: method, device."""

    def __init__(self, dt: float | None = None, speed: float = 1.0, paused: bool = False, **options: Any):
        self._options, self._dt, self._speed = options, dt, speed
        self.stage: Stage | None = None
        self.still: Still | None = None
        self.paused, self.is_broken = paused, False
        self.clock = Clock(1e-3, wall.monotonic(), speed)
        self._generation = 0
        self._report: LargeReport | None = None
        self._parts, self._counted = 0, 0
        self._rates: deque[tuple[float, int]] = deque()
        self._holder: Client | None = None
        self._left = 0  # single steps that were asked for
        self._is_dirty = False  # the world is another than in the picture
        self._taken, self._still_cost = 0.0, 0.0  # wall times [s]
        self._booked, self._books_cost = 0.0, 0.0
        self._books_of: tuple[int, int] | None = None  # world and step
        self._building: tuple[object, str, float] | None = None  # what is waited for, and since when
        self._wanted: tuple[object, str, dict[str, Any]] | None = None  # what the builder takes next
        self._builder: threading.Thread | None = None
        self._told: LargeStatus | None = None
        self._wake = threading.Condition()
        self._inbox: deque[tuple[Client, Asked]] = deque()
        self._calls: deque[Callable[[], None]] = deque()
        self._clients: list[Client] = []
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="impulsar large session", daemon=True)

    # from other threads ---------------------------------------------------------------------------

    def start(self) -> None:
        """Let time run."""
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        """End the thread after the turn that it is in."""
        with self._wake:
            self._stopping = True
            self._building = None
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join()

    def add(self, client: Client) -> None:
        """Show the world to a client from the next turn on."""
        with self._wake:
            self._clients.append(client)
            self._wake.notify()

    def remove(self, client: Client) -> None:
        """Forget a client."""
        with self._wake:
            if client in self._clients:
                self._clients.remove(client)
            self._inbox = deque(one for one in self._inbox if one[0] is not client)
        self._call(lambda: self._leave(client))

    def submit(self, client: Client, message: Asked | LargeLook | LargePull) -> bool:
        """Have a message carried out between two steps; False if the client has too many waiting."""
        if isinstance(message, LargeLook):  # the sender's matter alone
            client.window.look = message
            client.window.drawn = max(client.window.drawn, min(message.frame, client.window.number))
            return True
        if isinstance(message, LargePull):
            with self._wake:
                client.pull = message
                self._wake.notify()
            return True
        with self._wake:
            if client.waiting >= MOST_WAITING:
                return False
            client.waiting += 1
            self._inbox.append((client, message))
            self._wake.notify()
        return True

    def build(self, name: str, parameters: dict[str, Any]) -> None:
        """Build a scene of the catalogue beside the session, and go on with it."""
        with self._wake:
            self._building = (object(), name, wall.monotonic())
            self._wanted = (self._building[0], name, parameters)
            self._wake.notify()
            if self._builder is not None and self._builder.is_alive():
                return  # it goes on with what was asked for last
            self._builder = threading.Thread(target=self._build, name="impulsar large building", daemon=True)
            self._builder.start()

    def _build(self) -> None:
        """Build what is wanted, one world at a time, until nothing is."""
        while True:
            with self._wake:
                wanted, self._wanted = self._wanted, None
                if wanted is None or self._stopping:
                    self._builder = None
                    return
                self._generation += 1
                generation = self._generation
            key, name, parameters = wanted
            made: Stage | Exception
            try:
                made = Stage(source_of(name, parameters, self._dt), generation, **self._options)
            except MemoryError:
                made = ModelError(f"large scene '{name}': has no room in this machine's memory; take fewer bodies")
            except Exception as error:  # told to all clients, in the session's thread
                made = error
            self._call(partial(self._built, key, name, made))

    def open(self, source: Source) -> None:
        """Build what is given, here and now, and go on with it; before the session starts."""
        self._generation += 1
        self._take(Stage(source, self._generation, **self._options))

    def _call(self, function: Callable[[], None]) -> None:
        with self._wake:
            self._calls.append(function)
            self._wake.notify()

    # the thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._stopping and (left := self._next_turn() - wall.monotonic()) > 0:
                    self._wake.wait(min(left, 1.0))
                    if self._building:
                        break  # for how long is told
                if self._stopping:
                    return
                asked, self._inbox = list(self._inbox), deque()
                calls, self._calls = list(self._calls), deque()
                clients = list(self._clients)
                for client, _ in asked:
                    client.waiting -= 1
            try:
                self._turn(asked, calls, clients)
            except Exception as error:  # a fault of ours: it ends neither the session nor in silence
                log.exception("a turn of the large session failed")
                self.paused, self._left = True, 0
                self._tell("error", f"the studio failed: {type(error).__name__}: {error}; time stands still", clients)

    def _next_turn(self) -> float:
        """Wall time at which there is something to do [s]."""
        if self._calls or self._inbox or any(client.is_new or client.pull for client in self._clients):
            return 0.0
        if self.stage is None or self._building:
            return float("inf")
        if self._left:
            return 0.0
        still = self._taken + self._pause if self._is_dirty and self._clients else float("inf")
        return still if self.paused else min(still, self.clock.due_at(1))

    @property
    def _pause(self) -> float:
        """Wall time between pictures [s]."""
        return max(1.0 / FRAMES_PER_SECOND, COST * self._still_cost)

    def _turn(self, asked: list[tuple[Client, Asked]], calls: list[Callable[[], None]], clients: list[Client]) -> None:
        for function in calls:
            function()
        for client, message in asked:
            client.mailbox.put({}, [Written(self._answer(message))], None)
        for client in clients:
            pull, client.pull = client.pull, None
            if pull is not None:
                self._pull(client, pull)
        if self.stage is not None and not self._building:
            self._advance(clients)
        self._publish(clients)

    def _advance(self, clients: list[Client]) -> None:
        """Take the steps that are owed, by the clock or because single ones were asked for."""
        if self._left:
            self._left -= self._step(1, clients)
        elif not self.paused:
            n = self.clock.turn(wall.monotonic())
            if n:
                self._step(n, clients)

    def _step(self, n: int, clients: list[Client]) -> int:
        assert self.stage is not None
        began, world = wall.monotonic(), self.stage.world
        try:
            self._report = world.step(n)
        except StepError as error:
            self.paused, self.is_broken, n = True, True, max(self._left, 1)
            self._holder = None
            self._tell("error", f"{error}", clients)
            return n
        ended = wall.monotonic()
        self.is_broken, self._is_dirty = False, True
        self._parts, self._counted = self._parts + self._report.parts, self._counted + n
        if self._left:
            self.clock.learn(ended - began)
        else:
            self.clock.took(n, began, ended)
        self._rates.append((ended, world.count))
        while len(self._rates) > 2 and self._rates[1][0] < ended - RATES_OVER:
            self._rates.popleft()
        return n

    # what clients ask for -------------------------------------------------------------------------

    def _answer(self, message: Asked) -> Reply:
        if isinstance(message, LargeEdit):
            name = str(message.edit.get("edit", "edit"))[:40]
            return Reply(id=message.id, ok=False, text=f"{name}: {NO_EDITS}")
        try:
            text = getattr(self, f"_control_{message.action}")(message.value)
        except ModelError as error:
            return Reply(id=message.id, ok=False, text=str(error)[:LONGEST_REFUSAL])
        world = None if self.stage is None else self.stage.world
        step, time = (world.count, world.time) if world else (0, 0.0)
        return Reply(id=message.id, ok=True, text=text, step=step, time=time)

    def _pull(self, client: Client, message: LargePull) -> None:
        """A client pulls, or lets go."""
        stage = self.stage
        if stage is None or message.generation != stage.generation:
            return
        if message.body < 0:
            self._leave(client)
            return
        try:
            if self._holder not in (None, client):
                raise ModelError("pull: another page pulls already; wait until it lets go")
            if message.body >= stage.world.bodies:
                raise ModelError(f"pull: body is {message.body}, expected 0 to {stage.world.bodies - 1}")
            stage.world.pull(int(stage.blocks.order[message.body]), message.target, message.at)
            self._holder = client
        except ModelError as error:
            self._tell("warning", str(error), [client])

    def _leave(self, client: Client) -> None:
        """A client lets go of what it holds."""
        if self._holder is client:
            self._holder = None
            if self.stage is not None:
                self.stage.world.let_go()

    def _control_pause(self, value: float | None) -> str:
        self.paused, self._left = True, 0
        return "time stands still"

    def _control_run(self, value: float | None) -> str:
        self._need()
        self.paused, self._left = False, 0
        self._restart()
        return "time runs"

    def _control_step(self, value: float | None) -> str:
        self._need()
        self._left = whole_of("step", value, 1, MOST_STEPS)
        self.paused = True
        return f"{self._left} steps"

    def _control_speed(self, value: float | None) -> str:
        low, high = SPEEDS
        if value is None or not low <= value <= high:
            raise ModelError(f"speed is {value}, expected a number from {low:g} to {high:g}")
        self._speed = self.clock.speed = float(value)
        self._restart()
        return f"{value:g} times real time"

    def _control_reset(self, value: float | None) -> str:
        stage = self._need()
        stage.world.restore(stage.begun)
        self._holder = None
        self._report, self._left, self.is_broken, self._is_dirty = None, 0, False, True
        self._rates.clear()
        self._restart()
        return "at the start"

    def _control_cancel(self, value: float | None) -> str:
        if self._building is None:
            raise ModelError("cancel: nothing is being built")
        self._building = None
        self._restart()
        return "what is being built is dropped when it is done"

    def _control_hash(self, value: float | None) -> str:
        world = self._need().world
        digest = hashlib.sha256()
        for one in (world.positions, world.orientations, world.velocities):
            digest.update(np.ascontiguousarray(one).tobytes())
        return digest.hexdigest()

    def _need(self) -> Stage:
        if self.stage is None:
            raise ModelError("no large world is open; choose a scene")
        return self.stage

    # what clients are told ------------------------------------------------------------------------

    def _built(self, key: object, name: str, made: Stage | Exception) -> None:
        """A world was built, or could not be."""
        if self._building is None or self._building[0] is not key:
            return  # something else was asked for since, or it was cancelled
        self._building = None
        self._restart()
        if isinstance(made, Stage):
            self._take(made)
            return
        if not isinstance(made, ModelError | StepError):
            log.error("large scene '%s' could not be built", name, exc_info=made)
        text = str(made) if isinstance(made, ModelError | StepError) else f"{type(made).__name__}: {made}"
        self._tell("error", text[:LONGEST_REFUSAL], list(self._clients))

    def _take(self, stage: Stage) -> None:
        """Go on with another world."""
        self.stage, self._report, self._left, self.is_broken = stage, None, 0, False
        self._rates.clear()
        self._holder = None
        self._is_dirty, self._taken, self._still_cost = True, 0.0, 0.0
        self.clock = Clock(stage.world.dt, wall.monotonic(), self._speed)
        for client in self._clients:
            client.is_new = True

    def _restart(self) -> None:
        self.clock.restart(wall.monotonic())

    def _publish(self, clients: list[Client]) -> None:
        now = wall.monotonic()
        news: dict[str, Written] = {}
        status = self._status(len(clients))
        if status != self._told:
            news["status"], self._told = Written(status), status
        fresh = self.stage is not None and self._is_dirty and clients and (now >= self._taken + self._pause)
        if fresh and self.stage is not None:
            self.still, self._is_dirty = self.stage.take(), False
            self._taken = wall.monotonic()
            self._still_cost = max(0.5 * self._still_cost, self._taken - now)
        is_new = any(client.is_new for client in clients)
        is_due = fresh and now >= self._booked + max(BOOKS_EVERY, COST * self._books_cost)
        now_at = None if self.stage is None else (self.stage.generation, self.stage.world.count)
        is_last = self.paused and self._books_of != now_at  # time stood still before they were due
        if self.stage is not None and clients and (is_due or is_new or (fresh and self.paused) or is_last):
            began, self._books_of = wall.monotonic(), now_at
            news["books"] = Written(self._books(self.stage))
            self._booked = wall.monotonic()
            self._books_cost = self._booked - began
        for client in clients:
            whole = {"status": Written(status), **news}
            if client.is_new and self.stage is not None:
                whole["scene"] = Written(self.stage.scene)
            if client.is_new or news or fresh:
                client.mailbox.put(whole if client.is_new else news, [], None)
                client.mailbox.nudge()
            client.is_new = False

    def _status(self, clients: int) -> LargeStatus:
        building = None
        if self._building is not None:
            building = f"{self._building[1]}, {wall.monotonic() - self._building[2]:.0f} s"
        return LargeStatus(
            paused=self.paused and not self._left,
            broken=self.is_broken,
            slow=self.clock.slow and not self.paused,
            speed=self._speed,
            dt=0.0 if self.stage is None else self.stage.world.dt,
            building=building,
            clients=clients,
        )

    def _books(self, stage: Stage) -> LargeBooks:
        world, report = stage.world, self._report
        energy = world.energy()
        kinetic, potential = energy.pop("kinetic"), energy.pop("potential")
        change = kinetic + potential - stage.start
        known = sum(-value if name.endswith(" drag") else value for name, value in energy.items())
        gap, rate = world.errors() if report is None else (report.position_error, report.velocity_error)
        first, last = (self._rates[0], self._rates[-1]) if self._rates else ((0.0, 0), (0.0, 0))
        lasted = last[0] - first[0]
        parts, self._parts, counted, self._counted = self._parts, 0, self._counted, 0
        return LargeBooks(
            time=world.time,
            step=world.count,
            kinetic=kinetic,
            potential=potential,
            works=energy,
            unbooked=change - known,
            closed=stage.is_closed,
            pull=0.0 if world.hand is None else float(np.linalg.norm(world.hand.force)),
            gap=gap,
            velocity_error=rate,
            contacts=0 if report is None else report.contacts,
            overlap=0.0 if report is None else report.overlap,
            overlap_share=report.overlap / stage.smallest if report and stage.smallest > 0.0 else None,
            unsettled=0 if report is None else report.unsettled,
            residual=0.0 if report is None else report.residual,
            parts=parts / counted if counted else 0.0,
            steps_per_second=(last[1] - first[1]) / lasted if lasted > 0.0 else 0.0,
            step_time=self.clock.step_time,
            real_time_factor=0.0 if self.paused else self.clock.factor,
            bytes_per_body=world.bytes_per_body(),
        )

    def _tell(self, level: Any, text: str, clients: list[Client]) -> None:
        for client in clients:
            client.mailbox.put({}, [Written(Notice(level=level, text=text))], None)
