"""Large worlds in the studio: frames within their cap, every body within a stated number of them, time, refusals."""

import http.client
import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from websockets.sync.client import ClientConnection, connect

import impulsar as im
from impulsar.engine.large.still import Taker
from impulsar.scale.large import chain, conveyor
from impulsar.studio import large_messages as lm
from impulsar.studio.large.catalogue import MOST_BODIES, Source, check, entries, source_of
from impulsar.studio.large.looks import blocks_of, looks_of, solid_of
from impulsar.studio.large.session import LargeSession
from impulsar.studio.large.window import HEADER, Spheres, Still, Window, encoded, most_bodies
from impulsar.studio.wire import to_text

NAMES = [name for name, _ in lm.LARGE_HEADER]


def header(frame: bytes) -> dict[str, float]:
    return dict(zip(NAMES, HEADER.unpack_from(frame), strict=True))


def blocks_in(frame: bytes) -> np.ndarray:
    return np.frombuffer(frame, "<u4", int(header(frame)["blocks"]), HEADER.size).astype(int)


def unpacked(frame: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Places and orientations of a frame's bodies, as the layout in large_messages.py says."""
    head = header(frame)
    n, at = int(head["bodies"]), HEADER.size + 4 * int(head["blocks"])
    packed = np.frombuffer(frame, "<u8", n, at)
    low, span = ([head[f"{what}_{axis}"] for axis in "xyz"] for what in ("low", "span"))
    whole = np.stack([(packed >> np.uint64(21 * k)) & np.uint64(2**21 - 1) for k in range(3)], 1).astype(float)
    turns = np.frombuffer(frame, "<u4", n, at + 8 * n)
    out = (turns >> np.uint32(30)).astype(int)
    rest = np.stack([(turns >> np.uint32(10 * k)) & np.uint32(1023) for k in range(3)], 1) / 1023 - 0.5
    rest *= math.sqrt(2.0)
    q = np.zeros((n, 4))
    for k in range(n):
        q[k] = np.insert(rest[k], out[k], math.sqrt(max(0.0, 1.0 - rest[k] @ rest[k])))
    return np.array(low) + whole / (2**21 - 1) * span, q


def synthetic(bodies: int, wide: float = 100.0) -> tuple[Still, np.ndarray, np.ndarray, Spheres]:
    """A picture of bodies in a cube, in blocks that lie beside each other."""
    rng = np.random.default_rng(1)
    sizes = np.full(math.ceil(bodies / lm.BLOCK), lm.BLOCK)
    sizes[-1] = bodies - sizes[:-1].sum()
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    side = math.ceil(len(sizes) ** (1 / 3))
    cell = np.stack(np.unravel_index(np.arange(len(sizes)), (side, side, side)), 1)
    poses = np.zeros((bodies, 7), np.float32)
    poses[:, :3] = wide / side * (np.repeat(cell, sizes, axis=0) + rng.uniform(0, 1, (bodies, 3))) - wide / 2
    poses[:, 6] = 1.0
    return Still(1, 1, 0.0, 0, poses), starts, sizes, Spheres(starts, sizes, np.full(len(sizes), 0.1))


def after(still: Still) -> Still:
    """The next picture, of the same poses."""
    return Still(still.number + 1, still.generation, still.time, still.step, still.poses)


# frames -----------------------------------------------------------------------------------------------


def test_frames_of_a_million_bodies_keep_to_their_cap_and_bring_all() -> None:
    """Without an eye all is in sight: ceil(10⁶ / bodies of a frame) frames of as many pictures bring everything."""
    still, starts, sizes, balls = synthetic(1_000_000)
    window, found = Window(), set[int]()
    least = math.ceil(1_000_000 / most_bodies())
    for _ in range(least):
        frame = window.frame(still, balls, starts, sizes)
        assert len(frame) <= lm.FRAME_BYTES
        found.update(blocks_in(frame))
        still = after(still)  # the world goes on: nothing is left to be mended later
    assert found == set(range(len(sizes)))
    assert most_bodies() * lm.BODY_BYTES > 0.95 * lm.FRAME_BYTES  # the cap is used


def test_what_the_eye_sees_comes_first_and_the_rest_within_a_stated_number() -> None:
    """7/8 of frames go to what is in sight while it waits, 1/8 to the rest; a block is whole, so one more each."""
    still, starts, sizes, balls = synthetic(1_000_000)
    look = lm.LargeLook(id=1, frame=0, eye=[-60.0, 0.0, 0.0], planes=[[-1.0, 0.0, 0.0, -25.0]])  # x < -25: a quarter
    window = Window(look=look)
    balls.look(still)
    seen = balls.seen(look)
    share = (sizes[seen].sum() / sizes.sum(), sizes[seen].sum())
    assert 0.2 < share[0] < 0.4
    full = (lm.FRAME_BYTES - HEADER.size) // (lm.BODY_BYTES * lm.BLOCK + 4)  # blocks of a frame
    front = math.ceil(seen.sum() / (math.floor(7 / 8 * full) - 1))
    back = math.ceil((~seen).sum() / (math.floor(full / 8) - 1))
    came: dict[int, int] = {}
    for k in range(1, back + 1):
        for block in blocks_in(window.frame(still, balls, starts, sizes)):
            came.setdefault(int(block), k)
        still = after(still)
    assert max(came[k] for k in np.flatnonzero(seen)) <= front
    assert set(came) == set(range(len(sizes)))


def test_blocks_in_sight_are_all_that_are() -> None:
    """Whatever body is on the inner side of all planes, its block is in sight."""
    still, _, sizes, balls = synthetic(50_000)
    balls.look(still)
    rng = np.random.default_rng(2)
    for _ in range(20):
        normals = rng.normal(size=(6, 3))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        planes = np.concatenate([normals, rng.uniform(0, 30, (6, 1))], 1)
        inside = (still.poses[:, :3] @ normals.T + planes[:, 3] >= 0.0).all(1)
        blocks = np.unique(np.repeat(np.arange(len(sizes)), sizes)[inside])
        seen = balls.seen(lm.LargeLook(id=1, frame=0, eye=[0.0, 0.0, 0.0], planes=planes.tolist()))
        assert seen[blocks].all()


def test_poses_are_as_exact_as_their_bits() -> None:
    """A step of 21 bits of the frame's box; half a step of 10 bits in each of three components."""
    rng = np.random.default_rng(3)
    poses = rng.normal(size=(500, 7)).astype(np.float32)
    poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    poses[0, 3:], poses[1, 3:] = [0, 0, 0, -1], [1, 0, 0, 0]
    one = np.array([0]), np.array([0]), np.array([500])
    places, q = unpacked(encoded(Still(1, 1, 0.5, 7, poses), *one, 1, 500))
    box = np.ptp(poses[:, :3], axis=0)
    assert (np.abs(places - poses[:, :3]) <= 0.5 * box / (2**21 - 1) + 1e-6 * np.abs(poses[:, :3])).all()
    angle = 2.0 * np.arccos(np.clip(np.abs((q * poses[:, 3:]).sum(1)), 0.0, 1.0))
    assert angle.max() < 2.0 * 2.0 * math.sqrt(3.0) * 0.5 * math.sqrt(2.0) / 1023
    empty = encoded(Still(1, 1, 0.5, 7, poses), *([np.zeros(0, int)] * 3), 1, 0)
    assert len(empty) == HEADER.size


def test_a_picture_is_sent_once() -> None:
    """A world that stands still costs nothing after its last picture."""
    still, starts, sizes, balls = synthetic(100_000)
    window, frames = Window(), 0
    while not window.has_all(still):
        window.frame(still, balls, starts, sizes)
        frames += 1
    assert frames == math.ceil(100_000 / most_bodies())
    assert window.in_flight == frames  # and its client owes an answer to each


# looks ------------------------------------------------------------------------------------------------


def test_blocks_have_each_body_once_and_of_one_kind() -> None:
    bulk = conveyor(700)
    kinds, of_body = looks_of(bulk, None)
    blocks = blocks_of(bulk, of_body)
    assert sorted(blocks.order.tolist()) == list(range(1400))
    assert [kind.count for kind in kinds] == [700, 700]
    assert blocks.sizes.max() <= lm.BLOCK
    for start, size, kind in zip(blocks.starts, blocks.sizes, blocks.kinds, strict=True):
        assert (of_body[blocks.order[start : start + size]] == kind).all()


def test_the_picture_is_of_the_bodies() -> None:
    world = im.LargeWorld(chain(300), dt=1e-3)
    world.step(3)
    order = np.random.default_rng(0).permutation(300)
    poses = Taker(order, "cpu").take(world.bench.x.p_WB, world.bench.x.q_WB)
    assert np.allclose(poses[:, :3], world.positions[order], atol=1e-5)
    assert np.allclose(poses[:, 3:], world.orientations[order], atol=1e-6)


def test_a_body_without_a_shape_is_drawn_as_a_solid_of_its_inertia() -> None:
    """A box of even density has the principal moments m (b² + c²) / 12; a link is as long as its joints are apart."""
    shape = solid_of(2.0, 2.0 / 12.0 * np.diag([0.2**2 + 0.3**2, 0.1**2 + 0.3**2, 0.1**2 + 0.2**2]))
    assert sorted(shape.size) == pytest.approx([0.1, 0.2, 0.3])
    link = chain(3)
    rod = solid_of(float(link.mass[0]), link.inertia[0])
    assert rod.length + 2.0 * rod.radius == pytest.approx(0.05, rel=0.01)


def test_a_model_is_drawn_by_its_own_shapes() -> None:
    model = im.scene("chain", n=12)
    shapes = next(iter(model.bodies.values())).shapes
    kinds, _ = looks_of(im.LargeWorld(model, dt=1e-3).bench.bulk, model)
    assert [(kind.count, len(kind.shapes)) for kind in kinds] == [(12, len(shapes))]  # alike, each a kind of its own
    assert kinds[0].shapes[0].length == shapes[0].length


# the catalogue ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parameters", "told"),
    [
        ("chian", {}, "unknown; did you mean 'chain'"),
        ("chain", {"m": 3}, "no parameter 'm'"),
        ("chain", {"n": "many"}, "n is 'many', expected a whole number"),
        ("chain", {"n": 2.5}, "n is 2.5, expected a whole number"),
        ("chain", {"n": True}, "n is True, expected a whole number"),
        ("chain", {"n": MOST_BODIES + 1}, "expected at most 4,000,000 in the studio"),
        ("net", {"n": 2001}, "4,004,001 bodies"),
        ("conveyor", {"plates": 3_000_000}, "6,000,000 bodies"),
        ("spheres", {"n": 0}, "n is 0, expected an integer >= 1"),
        ("settling", {"density": -1.0}, "density is -1, expected"),
    ],
)
def test_what_cannot_be_is_refused_by_name(name: str, parameters: dict[str, Any], told: str) -> None:
    with pytest.raises(im.ModelError, match=told):
        source_of(name, parameters)


def test_every_large_scene_is_listed_with_parameters_that_it_takes() -> None:
    listed = entries()
    assert {"chain", "tree", "net", "spheres", "boxes", "stack", "settling", "hopper", "conveyor"} == {
        entry.name for entry in listed
    }
    for entry in listed:
        assert check(entry.name, entry.parameters) == entry.parameters
        assert entry.description and entry.invite


# the session, over the line ---------------------------------------------------------------------------


class Line:
    """A client as the page is one: it answers every frame."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket, self.newest, self.frames, self.last = socket, {}, [], 0

    def read(self, until: Callable[["Line"], Any], patience: float = 60.0, answers: bool = True) -> Any:
        end = time.monotonic() + patience
        while not (found := until(self)):
            item = self.socket.recv(timeout=max(0.01, end - time.monotonic()))
            if isinstance(item, bytes):
                self.frames.append(item)
                if answers:
                    self.send({"type": "large-look", "frame": int(header(item)["number"]), "eye": [], "planes": []})
                continue
            message = json.loads(item)
            self.newest[message["type"]] = message
        return found

    def send(self, message: dict[str, Any]) -> int:
        self.last += 1
        self.socket.send(json.dumps({**message, "id": self.last}))
        return self.last

    def control(self, action: str, value: float | None = None) -> dict[str, Any]:
        return self.answer(self.send({"type": "large-control", "action": action, "value": value}))

    def answer(self, id: int) -> dict[str, Any]:
        return self.read(lambda line: line.newest.get("reply", {}).get("id") == id and line.newest["reply"])


@pytest.fixture
def open_line(make_studio: Callable[..., Any]) -> Iterator[Callable[..., Line]]:
    """Lines to a studio with a large world."""
    sockets = ExitStack()

    def open_line(source: Source, **options: Any) -> Line:
        session = LargeSession(**options)
        session.open(source)
        studio = make_studio(large=session)
        headers = {"Cookie": f"{studio.gate.cookie}={studio.token}", "Origin": studio.origin}
        socket = connect(f"{studio.origin.replace('http', 'ws')}/large-line", additional_headers=headers)
        return Line(sockets.enter_context(socket))

    with sockets:
        yield open_line


def small_chain(n: int = 200) -> Source:
    return source_of("chain", {"n": n})


def has_books(line: Line) -> Any:
    return line.newest.get("large-books", {}).get("step", 0) > 0


def test_a_client_is_told_what_there_is_and_gets_frames(open_line: Callable[..., Line]) -> None:
    line = open_line(small_chain())
    line.read(lambda line: len(line.frames) > 2 and has_books(line))
    scene, books, status = (line.newest[f"large-{what}"] for what in ("scene", "books", "status"))
    assert (scene["bodies"], scene["joints"], sum(scene["block_sizes"])) == (200, 200, 200)
    assert scene["frame_bytes"] == lm.FRAME_BYTES >= max(map(len, line.frames))
    assert header(line.frames[-1])["generation"] == scene["generation"]
    assert books["gap"] < 1e-12 and books["velocity_error"] < 1e-12 and books["steps_per_second"] >= 0.0
    assert books["closed"] and abs(books["unbooked"]) < 1e-3 * abs(books["kinetic"] + 1.0)
    assert not status["paused"] and status["dt"] == 1e-3


def test_time_stands_still_and_goes_step_by_step(open_line: Callable[..., Line]) -> None:
    """As many steps as were asked for, whose bits are those of the world alone."""
    line = open_line(small_chain(), paused=True)
    line.read(lambda line: line.frames and "large-status" in line.newest)
    assert line.newest["large-status"]["paused"]
    assert line.control("step", 7)["ok"]
    line.read(lambda line: header(line.frames[-1])["step"] == 7)
    assert header(line.frames[-1])["time"] == pytest.approx(7e-3)
    alone = im.LargeWorld(chain(200), dt=1e-3)
    alone.step(7)
    own, _ = unpacked(line.frames[-1])
    order = blocks_of(*(lambda bulk: (bulk, looks_of(bulk, None)[1]))(alone.bench.bulk)).order
    assert np.allclose(own, alone.positions[order], atol=1e-5)
    count = len(line.frames)
    with pytest.raises(TimeoutError):  # nothing more comes of a world that stands still
        line.read(lambda line: len(line.frames) > count, patience=1.0)
    assert line.control("reset")["ok"]
    line.read(lambda line: header(line.frames[-1])["step"] == 0)
    before = line.control("hash")["text"]
    for _ in range(2):
        line.control("step", 5)
        line.read(lambda line: header(line.frames[-1])["step"] == 5)
        after_five = line.control("hash")["text"]
        line.control("reset")
        assert line.control("hash")["text"] == before != after_five


def test_edits_and_wrong_controls_are_refused_by_name(open_line: Callable[..., Line]) -> None:
    line = open_line(small_chain(20), paused=True)
    for edit in ("Grab", "SetParameter", "AddBody"):
        reply = line.answer(line.send({"type": "edit", "edit": {"edit": edit}}))
        assert not reply["ok"] and reply["text"].startswith(f"{edit}: a large world takes no edits")
    for action, value, told in (
        ("speed", 0.0, "speed is 0"),
        ("step", 0.5, "step is 0.5"),
        ("cancel", None, "nothing"),
    ):
        reply = line.control(action, value)
        assert not reply["ok"] and told in reply["text"]
    reply = line.answer(line.send({"type": "large-control", "action": "undo", "value": None}))
    assert not reply["ok"] and "undo" in reply["text"]
    reply = line.answer(line.send({"type": "large-look", "frame": 1, "eye": [1.0], "planes": []}))
    assert not reply["ok"] and "look" in reply["text"]


def test_one_hand_pulls_and_is_let_go_of(open_line: Callable[..., Line], make_studio: Callable[..., Any]) -> None:
    """The first client's; the other is told so, and may when it has left."""
    session = LargeSession()
    session.open(small_chain(10))
    studio = make_studio(large=session)
    headers = {"Cookie": f"{studio.gate.cookie}={studio.token}", "Origin": studio.origin}
    where = f"{studio.origin.replace('http', 'ws')}/large-line"
    with connect(where, additional_headers=headers) as second:
        other = Line(second)
        with connect(where, additional_headers=headers) as first:
            line = Line(first)
            line.read(lambda line: "large-scene" in line.newest and line.frames)
            generation = line.newest["large-scene"]["generation"]
            pull = {"type": "large-pull", "generation": generation, "body": 3, "at": [0, 0, 0], "target": [0.2, 0, 0]}
            line.send(pull)
            line.read(lambda line: line.newest["large-books"]["pull"] > 0.0)
            assert session.stage is not None and session.stage.world.hand.body == session.stage.blocks.order[3]
            other.send({**pull, "body": 4})
            other.read(lambda line: "another page pulls" in line.newest.get("notice", {}).get("text", ""))
            line.send({**pull, "body": 10})
            line.read(lambda line: "body is 10" in line.newest.get("notice", {}).get("text", ""))
            refused = line.answer(line.send({**pull, "target": [1.0]}))
            assert not refused["ok"] and "pull: expected 3 numbers" in refused["text"]
        other.read(lambda line: line.newest["large-books"]["pull"] == 0.0)  # it has left
        other.send({**pull, "body": 4})
        other.read(lambda line: line.newest["large-books"]["pull"] > 0.0)
        assert other.newest["large-books"]["works"]["hand"] != 0.0
        other.send({"type": "large-pull", "generation": generation, "body": -1})
        other.read(lambda line: line.newest["large-books"]["pull"] == 0.0)


def test_who_does_not_draw_gets_no_more_frames_and_holds_up_nothing(open_line: Callable[..., Line]) -> None:
    line = open_line(small_chain())
    line.read(lambda line: has_books(line) and len(line.frames) == lm.IN_FLIGHT, answers=False)
    step = line.newest["large-books"]["step"]
    line.read(lambda line: line.newest["large-books"]["step"] > step + 20, answers=False)
    assert len(line.frames) == lm.IN_FLIGHT
    line.send({"type": "large-look", "frame": lm.IN_FLIGHT, "eye": [], "planes": []})
    line.read(lambda line: len(line.frames) > lm.IN_FLIGHT)
    assert header(line.frames[-1])["step"] > step + 20  # of now, not of what was missed


def test_a_step_that_cannot_be_taken_stops_time_and_says_why(open_line: Callable[..., Line]) -> None:
    source = small_chain(30)
    line = open_line(Source(source.scene, source.parameters, source.what, 30.0), paused=True)
    line.control("step", 5)
    line.read(lambda line: line.newest.get("notice"))
    assert line.newest["notice"]["level"] == "error" and "shorter" in line.newest["notice"]["text"]
    line.read(lambda line: line.newest["large-status"]["paused"] and line.newest["large-status"]["broken"])


def test_another_scene_is_built_beside_and_what_cannot_be_is_told(make_studio: Callable[..., Any]) -> None:
    studio = make_studio()
    headers = {"Cookie": f"{studio.gate.cookie}={studio.token}", "Origin": studio.origin}

    def post(body: dict[str, Any]) -> dict[str, Any]:
        connection = http.client.HTTPConnection(studio.origin.removeprefix("http://"), timeout=30)
        connection.request("POST", "/api/large", json.dumps(body), headers)
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    assert "did you mean 'chain'" in post({"name": "chian", "parameters": {}})["text"]
    with connect(f"{studio.origin.replace('http', 'ws')}/large-line", additional_headers=headers) as socket:
        line = Line(socket)
        line.read(lambda line: "large-status" in line.newest)
        assert "no large world is open" in line.control("run")["text"]
        assert post({"name": "chain", "parameters": {"n": 50}})["ok"]
        line.read(lambda line: line.newest.get("large-scene", {}).get("bodies") == 50 and line.frames)
        assert studio.session.world.paused  # the mechanism's time, which wants the same cores
        assert post({"name": "spheres", "parameters": {"n": 30}})["ok"]
        line.read(lambda line: line.newest["large-scene"]["bodies"] == 30)
        line.read(lambda line: header(line.frames[-1])["generation"] == line.newest["large-scene"]["generation"])
        assert post({"name": "settling", "parameters": {"n": 5, "radius": -1.0}})["ok"]  # checked where it is made
        line.read(lambda line: "radius" in line.newest.get("notice", {}).get("text", ""))
        assert line.newest["large-scene"]["bodies"] == 30 and line.control("run")["ok"]


@pytest.mark.slow
def test_a_hundred_thousand_spheres_keep_to_the_cap(open_line: Callable[..., Line]) -> None:
    """All bodies come within as many frames as are stated, of a picture that stands still too."""
    line = open_line(source_of("spheres", {"n": 100_000}), paused=True)
    bound = math.ceil(100_000 / most_bodies())
    line.read(lambda line: len(line.frames) == bound, patience=300.0)
    found = np.concatenate([blocks_in(frame) for frame in line.frames])
    assert sorted(found.tolist()) == list(range(math.ceil(100_000 / lm.BLOCK)))
    assert max(map(len, line.frames)) <= lm.FRAME_BYTES
    assert len(to_text(line.newest["large-scene"])) < 20_000  # what describes them does not grow with them
