"""A tracker's tip as a hand: it clips what is in reach, pulls it, and lets go however the tracker ends."""

import time as wall
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import impulsar as im
from impulsar.ar.reach import Grip, Reach, Surfaces
from impulsar.ar.show import Place
from impulsar.ar.status import Told
from impulsar.ar.trackers import Tip
from impulsar.history import History
from impulsar.render import pose_now
from impulsar.studio.session import Session

TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


class Scripted(Told):
    """A tracker that gives what it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.tips: list[Tip] = []

    def put(self, position: np.ndarray, down: bool) -> None:
        self.set_status("ok")
        self.tips.append(Tip(wall.monotonic(), position, buttons=(down,)))

    def poll(self) -> list[Tip]:
        found, self.tips = self.tips, []
        return found

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


def until(what: Callable[[], bool], keep: Callable[[], None] = lambda: None, patience: float = 20.0) -> None:
    end = wall.monotonic() + patience
    while not what():
        assert wall.monotonic() < end, "waited in vain"
        keep()
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
    until(lambda: bench.hands() == ["tracker"], lambda: bench.tip((0.003, 0.0, -0.5), True))
    assert bench.reach.holds == "link10"
    until(
        lambda: bench.session.call(lambda: bench.world.body("link10").position[1]).result() > 0.05,
        lambda: bench.tip((0.0, 0.1, -0.45), True),
    )
    bench.tip((0.0, 0.1, -0.45), False)
    until(lambda: bench.hands() == [])
    assert bench.reach.holds is None


def test_what_is_out_of_reach_is_told(bench: Bench) -> None:
    bench.tip((0.2, 0.0, -0.5), True)
    until(lambda: "beyond 20 mm of reach" in bench.reach.device.why)
    assert bench.hands() == []


@pytest.mark.parametrize("end", ["lost", "silent"])
def test_a_tracker_that_fails_lets_go_and_the_world_goes_on(bench: Bench, end: str) -> None:
    until(lambda: bench.hands() == ["tracker"], lambda: bench.tip((0.003, 0.0, -0.5), True))
    if end == "lost":
        bench.tracker.set_status("lost", "garbage on the line")
    until(lambda: bench.hands() == [])  # nothing comes any more
    assert bench.reach.device.state == "lost"
    before = bench.session.call(lambda: bench.world.time).result()
    until(lambda: bench.session.call(lambda: bench.world.time).result() > before)
    bench.tip((0.003, 0.0, -0.5), True)  # a button that was down all the while takes nothing again
    wall.sleep(0.2)
    assert bench.hands() == []
