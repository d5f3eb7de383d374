"""Acquire the user's intent: a tracker's tip as a hand on the mechanism, in a thread of its own.

A press of the tracker's button clips the point of a body that is nearest to the tip, if one is in reach; the hand then
goes where the tip goes, and lets go with the button (Mariti 2012 eq. 10: a spring and a damper). The tip comes from
the tracker and never from a picture, so it is as exact as the tracker is. A tracker that is lost lets go.

A hand that turns holds the body's orientation too, by angular springs k r² and dampers c r², r the body's radius of
gyration: q_WB = q_WS (q_WS⁻¹ q_WB of the moment of the clip), as if the body were rigid with the stylus S.

With a radius in its grip it pushes instead: while its tips come a sphere of that size is where the tip is.
"""

import itertools
import json
import threading
import time as wall
from dataclasses import dataclass

import numpy as np

from .. import edits
from ..analysis.gaps import Gaps, Pair
from ..author.model import Model
from ..author.rotations import conjugate, multiply, quaternion, rotation_matrix, rotation_vectors
from ..author.shapes import Sphere
from ..io.codec import edit_to_json
from ..render import Pose, pose_now
from ..studio.ar_messages import Device, Occluder
from ..studio.mailbox import Mailbox
from ..studio.messages import EditMessage
from ..studio.publisher import Client
from ..studio.session import Session
from .show import Place
from .status import Status
from .trackers import Link, Linked, Tip, Tracker

PAUSE = 0.002  # between two looks for a new tip [s]
SILENT = 0.3  # without a tip before the hand lets go [s]
BEAT = 1 / 120  # least time between two moves: more would wait for the same step [s]
TIP = "tip of the tracker"


@dataclass(frozen=True)
class Grip:
    """How a tracker's hand holds: spring [N/m] and damper [N s/m], how far from a surface its tip still takes it [m],
    and whether it turns what it holds; or of which radius the sphere is that it pushes with, None: it holds [m]."""

    stiffness: float = 1000.0
    damping: float = 1.0
    reach: float = 0.02
    radius: float | None = None
    turns: bool = False


@dataclass(frozen=True)
class Found:
    """What is nearest to a tip: a body, its point in its frame [m], how far away [m], and how it is turned."""

    body: str
    at: np.ndarray
    distance: float
    q_WB: np.ndarray
    gyration2: float  # square of its radius of gyration [m²]


class Surfaces:
    """Finds which body is nearest to a point."""

    def __init__(self, model: Model):
        probe = model.copy()
        probe.body(TIP, mass=1.0, shape=Sphere(radius=1e-6))
        pairs = [Pair(TIP, body.name, 0, k) for body in model.bodies.values() for k in range(len(body.shapes))]
        self.names = list(model.bodies)
        self._pairs, self._gaps = pairs, Gaps(probe, pairs)
        self._bare = [name for name, body in model.bodies.items() if not body.shapes]

    def nearest(
        self, tip_W: np.ndarray, pose: Pose, quaternions: dict[str, np.ndarray]
    ) -> tuple[str, np.ndarray, float]:
        """Body, its point nearest to the tip in its frame, and how far away that is [m]; of a body without shapes its
        centre of mass."""
        found: list[tuple[float, str, np.ndarray]] = [
            (float(np.linalg.norm(tip_W - pose.p_WB[name])), name, pose.p_WB[name]) for name in self._bare
        ]
        if self._pairs:
            still = np.array([0.0, 0.0, 0.0, 1.0])
            p = np.array([[tip_W, pose.p_WB[pair.second]] for pair in self._pairs])
            q = np.array([[still, quaternions[pair.second]] for pair in self._pairs])
            gaps, points = self._gaps.measure(np.arange(len(self._pairs)), p, q)
            best = int(np.argmin(gaps))
            found.append((float(gaps[best]), self._pairs[best].second, points[best, 1]))
        distance, body, point = min(found, key=lambda item: item[0])
        return body, pose.R_WB[body].T @ (point - pose.p_WB[body]), distance


class Reach:
    """A tracker's hand in a session."""

    def __init__(
        self,
        session: Session,
        tracker: Tracker,
        X_RT: np.ndarray,  # the tracker's base in the room, by collimation
        place: Place,
        name: str = "tracker",
        grip: Grip | None = None,
    ):
        self.session, self.tracker, self.X_RT, self.place = session, tracker, X_RT, place
        self.name, self.grip = name, grip or Grip()
        self.holds: str | None = None
        self.pushes = False
        self._refused = False  # pushing, since the tracker was lost last
        self._lost = ""  # why the tracker was lost, not yet seen to
        tracker.watch = self._note
        self.tip_W: np.ndarray | None = None  # where the tip is in the mechanism's world [m]
        self._at = np.zeros(3)  # where it holds, in the body
        self._q_SB: np.ndarray | None = None  # the body it holds from the stylus, where it turns it
        self.told = ""  # why the last press took nothing
        self._client = Client(f"tracker {name}", Mailbox(lambda: None))
        self._ids = itertools.count(1)
        self._pressed = False
        self._last_tip = self._last_move = -np.inf
        self._surfaces: tuple[Model, Surfaces] | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="impulsar reach", daemon=True)

    def start(self) -> None:
        """Begin to reach."""
        self.session.add(self._client)
        self._thread.start()

    def warm_up(self) -> None:
        """Have what a press needs ready, kernels too; before the session starts, in whatever thread."""
        self._nearest(np.zeros(3))

    def stop(self) -> None:
        """Let go and end."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self.session.remove(self._client)
        self.tracker.close()

    @property
    def device(self) -> Device:
        """How the tracker is, for people."""
        status = self.status
        return Device(name=f"tracker {self.name}", state=status.state, why=status.why or self.told)

    @property
    def status(self) -> Status:
        """The tracker's, or that it is silent."""
        status = self.tracker.status
        if status.is_ok and self._last_tip > 0 and wall.monotonic() - self._last_tip > SILENT:
            return Status("lost", "the tracker is silent", self._last_tip)
        return status

    def held_point(self, pose: Pose) -> np.ndarray | None:
        """Where it holds in the world, with bodies at a pose."""
        body = self.holds
        return None if body is None else pose.place(body, self._at)

    def occluders(self) -> list[Occluder]:
        """The tracker's own links in the room, where it knows them."""
        links = self.tracker.links() if isinstance(self.tracker, Linked) else []
        return [capsule(f"link {k + 1} of the tracker", link, self.X_RT) for k, link in enumerate(links)]

    def in_world(self, tip: Tip) -> np.ndarray:
        """A tip's place in the mechanism's world [m]."""
        p_R = self.X_RT[:3, :3] @ tip.position + self.X_RT[:3, 3]
        return rotation_matrix(self.place.orientation).T @ (p_R - self.place.position) / self.place.scale

    def attitude(self, tip: Tip) -> np.ndarray:
        """A tip's orientation in the mechanism's world, q_WS."""
        q_RS = multiply(quaternion(self.X_RT[:3, :3]), tip.orientation)
        return multiply(conjugate(np.asarray(self.place.orientation, float)), q_RS)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._hear(self._client.mailbox.take())
            tips = self.tracker.poll()
            if self._lost:  # and perhaps back already, within one poll
                self._lose(self._lost)
            for tip in tips:
                self.take(tip)
            if not (status := self.status).is_ok:
                self._lose(status.why)
            self._stop.wait(PAUSE)

    def _note(self, status: Status) -> None:
        """Called by the tracker at each change, in our thread: a loss may end before the poll does."""
        if status.state == "lost":
            self._lost = status.why

    def _lose(self, why: str) -> None:
        """Let go, and say why; until the button was up, it takes nothing again."""
        self._lost, self._refused = "", False
        if self.holds is not None or self.pushes:
            self._let_go()
            self.told, self._pressed = f"let go: {why}", True

    def take(self, tip: Tip) -> None:
        """One tip."""
        now = wall.monotonic()
        self.tip_W = self.in_world(tip)
        if self.grip.radius is not None:
            self._push(self.tip_W, self.grip.radius, now)
            self._last_tip = now
            return
        pressed = any(tip.buttons)
        if pressed and not self._pressed:
            self._clip(self.tip_W, self.attitude(tip))
        elif not pressed and self.holds is not None:
            self._let_go()
        elif self.holds is not None:
            self._move(self.tip_W, now, self.attitude(tip))
        self._pressed = pressed
        self._last_tip = wall.monotonic()  # what was waited for the session is no silence of the tracker

    def _move(self, tip_W: np.ndarray, now: float, q_WS: np.ndarray | None = None) -> None:
        if now - self._last_move < BEAT:
            return
        self._last_move, turn = now, None
        if q_WS is not None and self._q_SB is not None:
            turn = tuple(rotation_vectors(multiply(q_WS, self._q_SB)).tolist())
        self._send(edits.Move(self.name, tuple(tip_W.tolist()), turn))

    def _push(self, tip_W: np.ndarray, radius: float, now: float) -> None:
        """Be there, or go there; what was refused is told, and asked for again after the tracker was lost."""
        if self.pushes:
            self._move(tip_W, now)
        elif not self._refused:
            self.pushes, self.told = True, ""
            self._send(edits.Push(self.name, tuple(tip_W.tolist()), radius / self.place.scale))

    def _hear(self, messages: list[str | bytes]) -> None:
        """Of what the session tells its clients only refusals are for us."""
        for text in messages:
            if self.pushes and isinstance(text, str) and '"type":"reply"' in text and '"ok":false' in text:
                self.pushes, self._refused, self.told = False, True, json.loads(text)["text"]

    def _clip(self, tip_W: np.ndarray, q_WS: np.ndarray) -> None:
        """Take hold of what is in reach."""
        found = self.session.call(lambda: self._nearest(tip_W)).result()
        if found is None:
            self.told = "nothing is there to be held"
            return
        body, distance, grip = found.body, found.distance, self.grip
        if distance > grip.reach:
            self.told = f"'{body}' is {1000 * distance:.0f} mm away, beyond {1000 * grip.reach:.0f} mm of reach"
            return
        self.holds, self.told, self._at = body, "", found.at
        angular = (0.0, 0.0)
        self._q_SB = None
        if grip.turns:
            self._q_SB = multiply(conjugate(q_WS), found.q_WB)
            angular = grip.stiffness * found.gyration2, grip.damping * found.gyration2
        self._send(edits.Grab(self.name, body, tuple(found.at.tolist()), grip.stiffness, grip.damping, *angular))
        self._send(edits.Move(self.name, tuple(tip_W.tolist())))

    def _nearest(self, tip_W: np.ndarray) -> Found | None:
        """In the session's thread."""
        world = self.session.world
        if not world.model.bodies:
            return None
        if self._surfaces is None or self._surfaces[0] is not world.model:
            self._surfaces = world.model, Surfaces(world.model)
        pose = pose_now(world)
        quaternions = {name: np.asarray(world.body(name).orientation) for name in world.model.bodies}
        name, at, distance = self._surfaces[1].nearest(tip_W, pose, quaternions)
        body = world.model.bodies[name]
        return Found(name, at, distance, quaternions[name], float(np.trace(body.inertia) / (2 * (body.mass or 1.0))))

    def _let_go(self) -> None:
        self.holds, self.pushes = None, False
        self._send(edits.Release(self.name))

    def _send(self, edit: edits.Edit) -> None:
        message = EditMessage(id=next(self._ids), edit=edit_to_json(edit))
        self.session.submit(self._client, message)


def capsule(name: str, link: Link, X_RT: np.ndarray) -> Occluder:
    """A link of a tracker as it hides what is behind it, in the room."""
    way = X_RT[:3, :3] @ (link.end - link.start)
    length = float(np.linalg.norm(way))
    z = way / length
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    middle = X_RT[:3, :3] @ ((link.start + link.end) / 2) + X_RT[:3, 3]
    turn = quaternion(np.column_stack([x, np.cross(z, x), z]))
    return Occluder(name=name, kind="capsule", size=[link.radius, length], pose=[*middle.tolist(), *map(float, turn)])
