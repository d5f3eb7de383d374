"""A tracker's tip as a hand: it clips what is in reach, pulls it, and lets go however the tracker ends."""

import time as wall
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

import impulsar as im
from impulsar.ar.camera import Frame
from impulsar.ar.composite import _points
from impulsar.ar.markers import single
from impulsar.ar.patterns import Marker
from impulsar.ar.reach import Grip, Reach, Surfaces, capsule
from impulsar.ar.show import Place
from impulsar.ar.status import Told
from impulsar.ar.synthetic import Renderer, printed
from impulsar.ar.trackers import Link, Tip, Tracker
from impulsar.ar.trackers.arm import Arm
from impulsar.ar.trackers.kinematics import EXAMPLE
from impulsar.ar.trackers.simulator import Fault, SimulatedArm
from impulsar.ar.trackers.wand import MarkerWand
from impulsar.author.rotations import conjugate, multiply, quaternion, quaternions
from impulsar.history import History
from impulsar.render import pose_now
from impulsar.studio.session import Session
from impulsar.validate.marker_cases import LENS, facing

TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


class Scripted(Told):
    """A tracker that stays where it was put, and says so whenever it is asked, until it falls silent."""

    def __init__(self) -> None:
        super().__init__()
        self.at: tuple[np.ndarray, bool] | None = None

    def put(self, position: np.ndarray, down: bool) -> None:
        self.set_status("ok")
        self.at = position, down

    def fall_silent(self) -> None:
        self.at = None

    def poll(self) -> list[Tip]:
        if (at := self.at) is None:
            return []
        return [Tip(wall.monotonic(), at[0], buttons=(at[1],))]

    def close(self) -> None:
        self.set_status("ended")


class Bench:
    """A session of hanging pendula and a tracker that stands somewhere beside them."""

    def __init__(self) -> None:
        self.world = im.World(im.scene("ten-pendula", start="hanging"))
        self.session = Session(History(self.world))
        self.tracker, self.place = Scripted(), Place(np.array([0.1, 0.2, 0.6]), scale=0.5)
        self.X_RT = np.eye(4)
        self.X_RT[:3, :3], self.X_RT[:3, 3] = TURN, (0.3, -0.2, 0.05)
        self.reach = Reach(self.session, self.tracker, self.X_RT, self.place, grip=Grip(1000.0, 1.0, 0.02))
        self.reach.warm_up()
        self.session.start()
        self.reach.start()

    def tip(self, p_W: tuple[float, float, float], down: bool) -> None:
        """The stylus at a place of the mechanism's world."""
        p_R = self.place.position + self.place.scale * np.array(p_W)
        self.tracker.put(TURN.T @ (p_R - self.X_RT[:3, 3]), down)

    def hands(self) -> list[str]:
        return self.session.call(lambda: [name for name in self.world.system.hand_names if name]).result()

    def stop(self) -> None:
        self.reach.stop()
        self.session.stop()


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.stop()


def until(what: Callable[[], bool], meanwhile: Callable[[], object] = lambda: None, patience: float = 20.0) -> None:
    """Wait for something, and do something again and again meanwhile."""
    end = wall.monotonic() + patience
    while not what():
        meanwhile()
        assert wall.monotonic() < end, "waited in vain"
        wall.sleep(0.01)


def test_nearest_body_and_its_point() -> None:
    """Of hanging links of radius 4 mm a tip beside the fifth finds it, at its surface."""
    world = im.World(im.scene("ten-pendula", start="hanging"))
    radius = world.model.bodies["link5"].shapes[0].radius
    body, at, distance = Surfaces(world.model).nearest(
        np.array([0.010, 0.0, -0.225]), pose_now(world), {n: world.body(n).orientation for n in world.model.bodies}
    )
    assert body == "link5"
    assert distance == pytest.approx(0.010 - radius, abs=1e-5)
    np.testing.assert_allclose(at, (radius, 0, 0), atol=1e-5)


def test_clips_pulls_and_releases(bench: Bench) -> None:
    bench.tip((0.003, 0.0, -0.5), True)
    until(lambda: bench.hands() == ["tracker"])
    assert bench.reach.holds == "link10"
    bench.tip((0.0, 0.1, -0.45), True)
    until(lambda: bench.session.call(lambda: bench.world.body("link10").position[1]).result() > 0.05)
    bench.tip((0.0, 0.1, -0.45), False)
    until(lambda: bench.hands() == [])
    assert bench.reach.holds is None


def test_what_is_out_of_reach_is_told(bench: Bench) -> None:
    bench.tip((0.2, 0.0, -0.5), True)
    until(lambda: "beyond 20 mm of reach" in bench.reach.device.why)
    assert bench.hands() == []


@pytest.mark.parametrize("end", ["lost", "silent"])
def test_a_tracker_that_fails_lets_go_and_the_world_goes_on(bench: Bench, end: str) -> None:
    bench.tip((0.003, 0.0, -0.5), True)
    until(lambda: bench.hands() == ["tracker"])
    bench.tracker.fall_silent()
    if end == "lost":
        bench.tracker.set_status("lost", "garbage on the line")
    until(lambda: bench.hands() == [])  # nothing comes any more
    assert bench.reach.device.state == "lost"
    before = bench.session.call(lambda: bench.world.time).result()
    until(lambda: bench.session.call(lambda: bench.world.time).result() > before)
    bench.tip((0.003, 0.0, -0.5), True)  # a button that was down all the while takes nothing again
    wall.sleep(0.2)
    assert bench.hands() == []


@pytest.mark.parametrize("end", [(0.1, 0.2, 0.6), (0.1, 0.2, 0.1), (0.4, 0.2, 0.4)])
def test_a_link_hides_from_end_to_end(end: tuple[float, float, float]) -> None:
    """The capsule's balls, as they are drawn, are about the link's ends in the room."""
    X_RT = np.eye(4)
    X_RT[:3, :3], X_RT[:3, 3] = TURN, (0.3, -0.2, 0.05)
    start = np.array([0.1, 0.2, 0.4])
    points, radius = _points(capsule("arm", Link(start, np.array(end), 0.012), X_RT))
    wanted = np.array([start, end]) @ TURN.T + X_RT[:3, 3]
    np.testing.assert_allclose(points, wanted, atol=1e-12)
    assert radius == 0.012


def blocks(material: str | None) -> im.Model:
    model = im.Model("block on a rail")
    block = model.body("block", mass=0.5, shape=im.Box(size=(0.1, 0.1, 0.1)), position=(0.2, 0, 0), material=material)
    model.joint("rail", "prismatic", model.ground, block, at=(0.2, 0, 0), axis=(1, 0, 0), viscous=1.0)
    return model


class Turned(Scripted):
    """It also stays turned as it was."""

    q = np.array([0.0, 0.0, 0.0, 1.0])

    def poll(self) -> list[Tip]:
        return [replace(tip, orientation=self.q) for tip in super().poll()]


def test_a_hand_that_turns_turns_what_it_holds_with_the_stylus() -> None:
    """A wheel on the world's z, gripped when the stylus is turned anyhow: by 0.8 rad of the stylus about z of the world
    the wheel turns by 0.8 rad. Without `turns` it stays, since the hand holds its middle."""
    for turns, wanted in ((True, 0.8), (False, 0.0)):
        model = im.Model("wheel")
        wheel = model.body("wheel", mass=0.5, shape=im.Sphere(radius=0.03), inertia=(4e-4, 4e-4, 4e-4))
        model.joint("axle", "revolute", model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), viscous=1e-3)
        world, tracker = im.World(model), Turned()
        session, X_RT = Session(History(world)), np.eye(4)
        X_RT[:3, :3] = TURN
        place = Place(orientation=quaternions(np.array([0.0, 0.3, 0.0])))
        reach = Reach(session, tracker, X_RT, place, grip=Grip(turns=turns))
        start = quaternions(np.array([0.4, -0.2, 0.9]))  # q_WS
        q_TW = conjugate(multiply(conjugate(place.orientation), quaternion(TURN)))
        tracker.q = multiply(q_TW, start)
        reach.warm_up()
        session.start()
        reach.start()
        try:
            tracker.put(np.zeros(3), True)
            until(lambda reach=reach: reach.holds == "wheel")
            tracker.q = multiply(q_TW, multiply(quaternions(np.array([0.0, 0.0, 0.8])), start))

            def angle(session: Session = session, world: im.World = world) -> float:
                return float(session.call(lambda: world.joint("axle").position).result())

            if turns:
                until(lambda angle=angle, wanted=wanted: abs(angle() - wanted) < 1e-3)
            else:
                wall.sleep(0.5)
                assert abs(angle()) < 1e-3
        finally:
            reach.stop()
            session.stop()


class Pushing:
    """A session of a block on a rail, and a tracker that pushes with a ball of 10 mm."""

    def __init__(self, material: str | None) -> None:
        self.world = im.World(blocks(material))
        self.session = Session(History(self.world))
        self.tracker = Scripted()
        place = Place(np.zeros(3))
        self.reach = Reach(self.session, self.tracker, np.eye(4), place, grip=Grip(radius=0.01))

    def __enter__(self) -> "Pushing":
        self.session.start()
        self.reach.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.reach.stop()
        self.session.stop()

    def ask(self, what: Callable[[im.World], object]) -> object:
        return self.session.call(lambda: what(self.world)).result()


def test_a_tracker_pushes_what_it_meets_and_leaves_nothing_when_it_is_lost() -> None:
    """The ball is there while tips come; the block is pushed to where its face is a radius from the tip, or beyond."""
    with Pushing("steel") as bench:
        until(lambda: bool(bench.ask(lambda world: "tracker" in world.model.bodies)), lambda: _at(bench, 0.1))
        x = iter(np.linspace(0.1, 0.2, 200))
        until(
            lambda: bool(bench.ask(lambda world: world.body("block").position[0] >= 0.2598)),
            lambda: _at(bench, next(x, 0.2)),
        )
        bench.tracker.fall_silent()
        bench.tracker.set_status("lost", "unplugged")
        until(lambda: bench.ask(lambda world: "tracker" in world.model.bodies) is False)
        _at(bench, 0.1)  # back: it pushes again
        until(lambda: bool(bench.ask(lambda world: "tracker" in world.model.bodies)), lambda: _at(bench, 0.1))


def test_a_pushing_tracker_that_falls_silent_leaves_nothing() -> None:
    """It says nothing of being lost; the ball goes all the same."""
    with Pushing("steel") as bench:
        until(lambda: bool(bench.ask(lambda world: "tracker" in world.model.bodies)), lambda: _at(bench, 0.1))
        bench.tracker.fall_silent()
        until(lambda: bench.ask(lambda world: "tracker" in world.model.bodies) is False)
        assert "silent" in bench.reach.device.why


def _at(bench: Pushing, x: float) -> None:
    bench.tracker.put(np.array([x, 0.0, 0.0]), False)


def test_a_world_without_surfaces_tells_the_person() -> None:
    with Pushing(None) as bench:
        until(lambda: "material" in bench.reach.device.why, lambda: _at(bench, 0.1))
        assert not bench.reach.pushes


# whatever fails, the hand lets go, the person is told, the simulation goes on ---------------------------------


class Port:
    """The serial line of a simulated arm, by the wall's clock."""

    def __init__(self, arm: SimulatedArm):
        self._arm, self._k, self._began, self._waiting = arm, 0, wall.monotonic(), b""

    @property
    def in_waiting(self) -> int:
        while self._k <= (wall.monotonic() - self._began) * self._arm.rate:
            self._waiting += self._arm.line(self._k)
            self._k += 1
        return len(self._waiting)

    def read(self, n: int) -> bytes:
        data, self._waiting = self._waiting[:n], self._waiting[n:]
        return data

    def write(self, data: bytes) -> None:
        pass

    def close(self) -> None:
        pass


AT_LINK = (0.3, 0.0, 0.1)  # where the arm's tip stays [m]


class Holding:
    """A session of hanging pendula whose last link is where a tracker's tip is, and is held by it."""

    def __init__(self, tracker: Tracker, at: tuple[float, float, float]):
        self.world = im.World(im.scene("ten-pendula", start="hanging"))
        self.session = Session(History(self.world))
        X_RT = np.eye(4)
        X_RT[:3, 3] = np.array([0.0, 0.0, -0.5]) - at
        self.reach = Reach(self.session, tracker, X_RT, Place())
        self.reach.warm_up()

    def __enter__(self) -> "Holding":
        self.session.start()
        self.reach.start()
        until(lambda: self.hands() == ["tracker"])
        return self

    def __exit__(self, *_: object) -> None:
        self.reach.stop()
        self.session.stop()

    def hands(self) -> list[str]:
        return self.session.call(lambda: [name for name in self.world.system.hand_names if name]).result()

    def lets_go_and_goes_on(self, why: str) -> None:
        told: list[str] = []
        until(lambda: self.hands() == [], lambda: told.append(self.reach.device.why))
        assert any(why in text for text in (*told, self.reach.device.why)), told[-3:]
        before = self.session.call(lambda: self.world.time).result()
        until(lambda: self.session.call(lambda: self.world.time).result() > before)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("garbage", "silent"),
        ("crc", "silent"),
        ("silence", "silent"),
        ("range", "its range is"),
        ("clock", "clock jumped"),
        ("restart", "started anew"),
    ],
)
def test_an_arm_that_fails_in_mid_pull_lets_go(fault: str, why: str) -> None:
    """From 3 s on, when the link has long been held; each fault as the serial line has it."""
    hand = [Tip(t, np.array(AT_LINK), buttons=(t > 0.3,)) for t in np.arange(0, 30, 0.1)]
    arm = SimulatedArm(EXAMPLE, hand, (Fault(fault, 3.0, 20.0),), rate=100.0)
    with Holding(Arm(lambda: Port(arm)), AT_LINK) as held:
        held.lets_go_and_goes_on(why)


class Covered(Told):
    """A camera that sees room and wand until it is told otherwise."""

    def __init__(self) -> None:
        super().__init__()
        renderer, room, wand = Renderer(LENS), Marker(1, 0.06), Marker(2, 0.05)
        X = np.eye(4)
        X[:3, 3] = (0.1, 0.0, 0.03)
        view = facing((-0.04, 0.0, 0.45), 0.3)
        self._views = {
            "seen": renderer.render([printed(room), printed(wand, X)], view),
            "covered": renderer.render([printed(room)], view),
        }
        self.intrinsics, self.shows, self._number = LENS, "seen", 0

    def read(self) -> Frame | None:
        shows = self.shows  # another thread may change it
        if shows == "unplugged":
            self.set_status("lost", "the camera was unplugged", wall.monotonic())
            return None
        self.set_status("ok")
        self._number += 1
        wall.sleep(0.03)
        return Frame(wall.monotonic(), self._number, self._views[shows])

    def close(self) -> None:
        self.set_status("ended", "closed")


@pytest.mark.parametrize(("then", "why"), [("covered", "is not in the picture"), ("unplugged", "unplugged")])
def test_a_wand_that_is_not_seen_any_more_lets_go(then: str, why: str) -> None:
    pytest.importorskip("cv2")
    camera, down = Covered(), [False]
    wand = MarkerWand(camera, single(Marker(2, 0.05)), np.zeros(3), single(Marker(1, 0.06)), buttons=lambda: (down[0],))
    until(lambda: bool(wand.poll()))
    down[0] = True
    with Holding(wand, (0.1, 0.0, 0.03)) as held:
        camera.shows = then
        held.lets_go_and_goes_on(why)
