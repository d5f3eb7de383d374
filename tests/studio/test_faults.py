"""What goes wrong in a session: it stands still, says why and goes on when told to."""

import json
import time as wall
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import impulsar as im
from impulsar import edits
from impulsar.history.history import History
from impulsar.history.journal import Journal
from impulsar.io import edit_to_json, meshes
from impulsar.studio import messages as ms
from impulsar.studio import opening as opening_module
from impulsar.studio import session as session_module
from impulsar.studio.asked import MOST_PARTS
from impulsar.studio.command import KEPT, begin_history
from impulsar.studio.controls import CONTROLS
from impulsar.studio.mailbox import Mailbox
from impulsar.studio.publisher import Client
from impulsar.studio.recording import Recording, _base_size
from impulsar.studio.session import Session

Make = Callable[..., tuple[Session, Client]]
FAULTS = [edits.EditError("no such hand"), OSError(28, "No space left on device"), ZeroDivisionError("by zero")]


@pytest.fixture
def make_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Sessions with a journal and a client, not started yet; ended with the test."""
    monkeypatch.setattr(session_module, "AFTER_FAILURE", 0.01, raising=False)
    made: list[Session] = []
    path = tmp_path / "journal"

    def make(model: im.Model | None = None) -> tuple[Session, Client]:
        history = begin_history(im.World(model or im.scene("ten-pendula", start="30deg")), path)
        session = Session(history, im.World, lambda world: begin_history(world, path), journal=path)
        client = Client("test", Mailbox(lambda: None))
        session.add(client)
        made.append(session)
        return session, client

    yield make
    for session in made:
        session.stop()


def messages_until(client: Client, fits: Callable[[dict], bool], seconds: float = 20.0) -> list[dict]:
    """What comes to a client's mailbox, up to a message that fits."""
    found: list[dict] = []
    end = wall.monotonic() + seconds
    while wall.monotonic() < end:
        found += [json.loads(item) for item in client.mailbox.take() if isinstance(item, str)]
        if any(map(fits, found)):
            return found
        wall.sleep(0.005)
    pytest.fail(f"it did not come; there were {[message['type'] for message in found]}")


def is_error(message: dict) -> bool:
    return message["type"] == "notice" and message["level"] == "error"


def lives_paused(session: Session) -> bool:
    """Asked in its thread, so that it must be alive to say so."""
    return session.call(lambda: session.world.paused).result(10)


def test_a_refused_edit_of_the_script_is_told_and_the_session_goes_on(make_session: Make) -> None:
    model = im.scene("ten-pendula", start="30deg")
    model.at(0.05, edits.Release("nobody"))
    session, client = make_session(model)
    session.start()
    told = next(filter(is_error, messages_until(client, is_error)))
    assert "nobody" in told["text"]
    assert lives_paused(session)
    time = session.world.time
    session.submit(client, ms.Control(id=1, action="run"))
    messages_until(client, lambda message: message["type"] == "books" and message["time"] > time + 0.1)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_a_step_that_fails_stands_still_and_is_told(
    make_session: Make, fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, client = make_session()
    monkeypatch.setattr(session.history, "step", failing(fault))
    session.start()
    told = next(filter(is_error, messages_until(client, is_error)))
    assert str(fault) in told["text"]
    assert lives_paused(session)
    assert not session._moment.is_broken


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_single_steps_leave_the_world_paused_whatever_comes(
    make_session: Make, fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, client = make_session()
    session.history.apply(edits.Pause(True))
    monkeypatch.setattr(session.history, "step", failing(fault))
    with pytest.raises(type(fault)):
        CONTROLS["step"](session, ms.Control(id=1, action="step"), client)
    assert session.world.paused


def test_a_turn_that_fails_does_not_end_the_session(make_session: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    session, client = make_session()
    with monkeypatch.context() as patch:
        patch.setattr(session._publisher, "publish", failing(KeyError("scene")))
        session.start()
        told = next(filter(is_error, messages_until(client, is_error)))
        assert "KeyError" in told["text"]
    session.submit(client, ms.Control(id=1, action="run"))
    messages_until(client, lambda message: message["type"] == "books" and message["time"] > 0.1)


def failing(fault: Exception) -> Callable[..., None]:
    def fail(*arguments: object) -> None:
        raise fault

    return fail


def test_a_call_that_was_cancelled_does_not_end_the_session(make_session: Make) -> None:
    """As when a browser leaves while its download waits."""
    session, _ = make_session()
    left, stays = session.call(lambda: 1), session.call(lambda: 2)
    assert left.cancel()
    session.start()
    assert stays.result(10) == 2


def test_calls_that_wait_at_the_end_are_told_so_but_for_those_cancelled(make_session: Make) -> None:
    session, _ = make_session()
    left, stays = session.call(lambda: 1), session.call(lambda: 2)
    assert left.cancel()
    session._stopping = True
    session._run()
    assert "has ended" in str(stays.exception(0))


# other scenes ---------------------------------------------------------------------------------------------


def test_a_scene_whose_journal_cannot_be_begun_leaves_the_one_before(
    make_session: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The world before goes on, in its journal, under its name, to the bit."""
    session, _ = make_session()
    before = session.history
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "replace", failing(OSError(28, "No space left on device")))
        with pytest.raises(im.ModelError, match="No space left"):
            session.replace_world(im.scene("four-bar"), "four-bar")
    assert session.history is before
    session.history.apply(edits.SetParameter("link3.mass", 0.5))
    session.history.step(20)
    after = session.world.hash()
    session.stop()
    assert [path.name for path in tmp_path.iterdir()] == ["journal"]
    again = History.open(tmp_path / "journal")
    assert again.world.hash() == after
    again.close()


def test_only_the_last_journals_of_scenes_before_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "day.journal"
    (tmp_path / "day.journal.2024").write_text("somebody's own")
    for k in range(KEPT + 4):
        begin_history(im.World(im.scene("chain", n=k + 1)), path).close()
    kept = sorted(tmp_path.glob("day.journal.?"))
    assert [one.name for one in kept] == [f"day.journal.{k}" for k in range(1, KEPT + 1)]
    for age, one in enumerate([path, *kept]):
        history = History.open(one)
        assert len(history.world.model.bodies) == KEPT + 4 - age
        history.close()
    assert (tmp_path / "day.journal.2024").read_text() == "somebody's own"


def test_scenes_that_would_take_long_to_build_are_refused_before(
    make_session: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, client = make_session()
    many = im.scene("chain", n=MOST_PARTS // 2 + 1)  # as many bodies as joints
    monkeypatch.setattr(session, "_make_world", failing(AssertionError("built")))
    with pytest.raises(im.ModelError, match=f"at most {MOST_PARTS} of each"):
        session.replace_world(many, "many")
    spiky = im.Model("spiky")
    spiky.body("star", 1.0, (1.0, 1.0, 1.0), shape=[im.Sphere(0.1)] * (MOST_PARTS + 1))
    with pytest.raises(im.ModelError, match=f"{MOST_PARTS + 1} shapes"):
        session.replace_world(spiky, "spiky")
    monkeypatch.setattr(opening_module, "built_in", failing(AssertionError("built")))
    for n in (10**9, MOST_PARTS + 1):
        with pytest.raises(im.ModelError, match=f"n is {n}, expected at most {MOST_PARTS}"):
            CONTROLS["scene"](session, ms.Control(id=1, action="scene", name="chain", parameters={"n": n}), client)


# memory and disk ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.obj", b"v 0 0 0\n" * 500_000),
        ("a.obj", b"f 1 2 3\n" * 500_000),
        ("a.obj", b"f" + b" 1" * 2_000_000),
        ("a.stl", b"solid a\n" + b"vertex 0 0 0\n" * 300_000),
    ],
)
def test_a_mesh_that_is_too_large_is_known_before_it_is_held(
    name: str, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Corners are 24 bytes each, the file itself is there already: with few allowed, next to nothing is added."""
    monkeypatch.setattr(meshes, "MOST_TRIANGLES", 1000)
    tracemalloc.start()
    try:
        with pytest.raises(im.ModelError, match=r"triangles|a line"):
            meshes.read_mesh(name, data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


def test_text_meshes_are_read_whatever_ends_their_lines() -> None:
    for end in (b"\n", b"\r\n", b"\r"):
        corners = [b"v %d %d %d" % (x, y, z) for x in (0, 2) for y in (0, 2) for z in (0, 2)]
        found = meshes.read_mesh("a.obj", end.join([*corners, b"f 1 2 3 4"]))
        hull, triangles = found.hull, found.triangles
        assert (len(hull.points), triangles) == (8, 2)


def test_the_recording_counts_the_parameters_of_its_samples() -> None:
    """Each edit of a parameter leaves a snapshot beside the samples after it."""
    world = im.World(im.scene("ten-pendula"))
    recording = Recording(world, room=100_000)
    for k in range(60):
        world.step()
        if k % 3:
            recording.rebase(world)
        recording.take(world)
        bases = {id(sample.base): sample.base for sample in recording.samples}
        assert recording.bytes == sum(s.size for s in recording.samples) + sum(map(_base_size, bases.values()))
        assert recording.bytes <= 100_000
    recording.cut(recording.samples[3].clock)
    bases = {id(sample.base): sample.base for sample in recording.samples}
    assert recording.bytes == sum(s.size for s in recording.samples) + sum(map(_base_size, bases.values()))
    recording.cut(-1.0)
    assert recording.bytes == 0


@pytest.mark.filterwarnings("ignore::impulsar.history.history.JournalWarning")
def test_a_journal_that_is_given_up_is_told_once(
    make_session: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk the session goes on without one; another scene may have one again."""
    session, client = make_session()
    session.start()
    path = str(tmp_path / "journal")
    messages_until(client, lambda message: message["type"] == "status" and message["journal"] == path)
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", failing(OSError(28, "No space left on device")))
        push = edits.ApplyLoad("push", "link5", force=(0.0, 0.1, 0.0))
        session.submit(client, ms.EditMessage(id=1, edit=edit_to_json(push)))
        found = messages_until(client, lambda message: message["type"] == "status" and message["journal"] is None)
    found += messages_until(client, lambda message: message["type"] == "books")
    assert ["No space left" in message["text"] for message in found if is_error(message)] == [True]
    assert [message["ok"] for message in found if message["type"] == "reply"] == [True]
    session.submit(client, ms.Control(id=2, action="scene", name="four-bar"))
    found = messages_until(client, lambda message: message["type"] == "reply")
    assert [message["ok"] for message in found if message["type"] == "reply"] == [True]
    assert [message["journal"] for message in found if message["type"] == "status"] == [path]
