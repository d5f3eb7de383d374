"""What clients are told: the world's parts, what acts, the clock and the books, and a frame of every turn."""

import time as wall
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..engine.system import System
from ..history.history import History
from ..observe.moment import Moment as Now
from ..world.reports import StepReport
from ..world.signals import Signal, signal_or_nothing
from ..world.world import World
from . import describe, sensing
from . import messages as ms
from .clock import Clock
from .frames import Tick, tick
from .mailbox import Item, Mailbox, merged
from .notes import about
from .parts import Parts
from .points import Points
from .recording import Recording
from .rows import Rows
from .wire import Written

BOOKS_INTERVAL = 0.25  # wall time between Books [s]


@dataclass(eq=False)
class Client:
    """One client as the session knows it."""

    name: str
    mailbox: Mailbox
    applied: int = 0  # id of its newest message that was carried out
    subscription: int = 0
    names: list[str] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    vectors: Sequence[str] = ()
    points: Points = field(default_factory=Points)
    rows: Rows = field(default_factory=Rows)  # of this turn
    replies: list[Item] = field(default_factory=list)  # of this turn
    hands: set[str] = field(default_factory=set)  # by which it holds something
    waiting: int = 0  # messages in the inbox
    is_new: bool = True


@dataclass
class Moment:
    """What a turn leaves to be told, beside the world itself."""

    report: StepReport | None = None
    is_broken: bool = False


@dataclass(frozen=True)
class Standing:
    """Where the session stands beside its world."""

    stride: int  # steps between rows
    undo: str | None  # what undo and redo would do
    redo: str | None
    opened: int  # scenes that came
    changed: bool  # whether the model was changed since it was opened or saved
    left: str | None  # a session before that ended with work in it
    choosing: bool  # nothing was chosen yet


class Publisher:
    """Keeps what was told last, so that all are told of changes and who comes is told everything."""

    def __init__(self, scene: str, journal: str | None):
        self.scene, self.journal = scene, journal
        self.revision = 0
        self.leaps = 0
        self.parts, self._motors = Parts(), describe.Motors()
        self.off: dict[tuple, dict[str, Any]] = {}  # edits that switch something on again, by what that is
        self.system: System | None = None  # that was described last
        self._newest: dict[str, Item] = {}  # to be told to all
        self._kept: dict[str, Item] = {}  # to be told to whoever comes, beside the Scene
        self._notices: list[tuple[Item, Client | None]] = []  # and whom not to tell
        self._status: ms.Status | None = None
        self._has_journal = False
        self._span = (0.0, 0.0, 0.0)  # of the timeline, and where the recording begins [s]
        self._last_books = 0.0
        self._choices: list[str] = []
        self._choices_of = -1  # topology
        self._about: ms.About | None = None
        self._has_sensors = False

    def describe(self, world: World, clients: list[Client], acts: bool = True) -> bool:
        """Take note of what changed: of the parts, and with `acts` of hands, loads and motors.

        Whether the parts are still the same, whatever their values.
        """
        topology, is_same = self.parts.topology, world.system is self.system
        self.system = world.system
        change = self.parts.update(world)
        if isinstance(change, ms.Scene):
            self._newest.pop("patch", None)
        if change is not None:
            new = Written(change)
            before = self._newest.get(change.type)
            self._newest[change.type] = new if before is None or change.type == "scene" else merged(before, new)
        if not is_same:  # signals are read from the arrays of a system
            for client in clients:
                client.signals = [signal_or_nothing(world, name) for name in client.names]
                client.points.find(world.runner.bench)
        if acts or self.parts.has_other_motors:
            self.revision += 1
            live = describe.live(world, self.revision, self._motors, list(self.off.values()))
            self._newest["live"] = Written(live)
        return self.parts.topology == topology

    def tell(self, level: Any, text: str, but: Client | None = None) -> None:
        """Say something to all, but for the one who knows."""
        self._notices.append((Written(ms.Notice(level=level, text=text)), but))

    def sweep(self, topology: int, corners: np.ndarray, follow: str | None) -> None:
        """Say what the scene will fill and what to follow, unless it is another by now."""
        if topology == self.parts.topology:
            low, high = corners.tolist()
            self._newest["sweep"] = Written(ms.Sweep(topology=topology, low=low, high=high, follow=follow))

    def events(self, told: ms.Events) -> None:
        """Say which events are watched, and which took place."""
        self._newest["events"] = Written(told)

    def publish(
        self,
        history: History,
        clock: Clock,
        recording: Recording,
        moment: Moment,
        clients: list[Client],
        standing: Standing,
    ) -> None:
        """Leave in every mailbox what changed, the rows of this turn and the newest frame."""
        now, world, report = wall.monotonic(), history.world, moment.report
        reading = world.moment(report.iterations / report.steps if report else 0.0, clock.step_time)
        is_time = now - self._last_books > BOOKS_INTERVAL
        if is_time or world.paused:
            self._last_books = now
            self._newest["books"] = Written(_books(world, reading, report, self._find_choices(world, moment)))
            self._tell_about(world)
            self._tell_sensors(world)
        if is_time or world.paused or self._status is None:
            self._span = (*history.span, recording.since(world))
        self._watch_journal(history)
        self._update_status(history, clock, len(clients), standing)
        newest, self._newest = self._newest, {}
        notices, self._notices = self._notices, []
        self._kept |= {kind: item for kind, item in newest.items() if kind not in ("scene", "patch")}
        if not clients:
            return
        picture = self._tick(reading, history, clock, moment)
        for client in clients:
            first = self._all(world) if client.is_new else newest
            client.is_new = False
            frame = picture.frame(client.applied, client.subscription, client.signals, client.vectors)
            replies, client.replies = client.replies, []
            told = [text for text, but in notices if but is not client]
            rows = client.rows.pack(client.subscription, standing.stride, history.is_replaying)
            client.mailbox.put(first, [*replies, *told], frame, rows)

    def _tell_about(self, world: World) -> None:
        """What the scene is about, where that or what is measured has changed."""
        now = about(world.model.scene, world)
        if now != self._about:
            self._about = now
            self._newest["about"] = Written(now)

    def _tell_sensors(self, world: World) -> None:
        """What has come of the sensors; once that there are none."""
        if world.system.model.sensors or self._has_sensors:
            self._has_sensors = bool(world.system.model.sensors)
            self._newest["sensors"] = Written(sensing.sensors(world))

    def _all(self, world: World) -> dict[str, Item]:
        """What a client that comes is told; its Scene is made text once for all who come until the next edit."""
        known = self._kept.get("scene")
        if not (isinstance(known, Written) and known.message.generation == self.parts.generation):
            known = self._kept["scene"] = Written(self.parts.scene(world))
        return self._kept

    def _find_choices(self, world: World, moment: Moment) -> list[str]:
        """Joints whose reactions are a choice: asked once per topology, after a step, because it is dear."""
        if self._choices_of != self.parts.topology and moment.report is not None and world.system.model.joints:
            self._choices_of = self.parts.topology
            determinate = world.reactions()[1][:, 0]
            joints = world.system.model.joints
            self._choices = [name for name, sure in zip(joints, determinate, strict=True) if not sure]
        return self._choices if self._choices_of == self.parts.topology else []

    def _tick(self, now: Now, history: History, clock: Clock, moment: Moment) -> Tick:
        world, report = history.world, moment.report
        flags = {
            "paused": world.paused,
            "slow": clock.slow,
            "broken": moment.is_broken,
            "replaying": history.is_replaying,
        }
        return tick(
            now,
            world.time,
            self.parts.generation,
            self.revision,
            world.runner.count,
            sum(ms.FLAGS[name] for name, on in flags.items() if on),
            self.leaps,
            report.substeps / report.steps if report else 0.0,
            (world.dt / clock.speed, 0.0 if world.paused else clock.factor, clock.speed),
        )

    def _watch_journal(self, history: History) -> None:
        """Tell when a history has given its journal up."""
        had, self._has_journal = self._has_journal, history.journal is not None
        if had and not self._has_journal:
            self.tell("error", f"the journal is no longer kept: {history.lost}; save the scene and the results")

    def _update_status(self, history: History, clock: Clock, clients: int, standing: Standing) -> None:
        """Tell the status where it changed; the span of the timeline, which always does, is taken now and then."""
        world = history.world
        status = ms.Status(
            paused=world.paused,
            replaying=history.is_replaying,
            speed=clock.speed,
            steps_per_frame=clock.steps_per_frame,
            dt=world.dt,
            method=world.method.name,
            coordinates=world.coordinates,
            device=world.device,
            scene=self.scene,
            first_time=self._span[0],
            last_time=self._span[1],
            recorded_since=self._span[2],
            undo=standing.undo,
            redo=standing.redo,
            opened=standing.opened,
            changed=standing.changed,
            left=standing.left,
            choosing=standing.choosing,
            journal=self.journal if self._has_journal else None,
            clients=clients,
        )
        if status != self._status:
            self._status = status
            self._newest["status"] = Written(status)


ROUNDING = 1e-11  # of openings: joints are closed to 1e-13


def _books(world: World, now: Now, report: StepReport | None, choices: list[str]) -> ms.Books:
    books, reference = now.books, world.system.model.reference_energy
    return ms.Books(
        time=world.time,
        kinetic=books.kinetic,
        potential=books.potential,
        elastic=books.elastic,
        start=books.start,
        work={name: float(value) for name, value in books.work.items()},
        losses={name: float(value) for name, value in books.losses.items()},
        imbalance=books.imbalance,
        imbalance_percent=100 * books.imbalance / reference if reference else None,
        worst_joint=report.worst_joint if report else None,
        ended_by=report.ended_by if report else "tolerance",
        trouble=[str(one) for one in report.trouble] if report else [],
        openings={name: gap for name, gap in world.openings().items() if gap > ROUNDING},
        indeterminate=choices,
    )
