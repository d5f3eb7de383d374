"""What a session keeps and sends is of every step, whatever the screen does; no hand is left that nobody holds."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.history.history import History
from impulsar.results import load
from impulsar.studio.client import StudioClient
from impulsar.studio.mailbox import MOST_ROWS, Mailbox
from impulsar.studio.publisher import Client
from impulsar.studio.rows import Reader
from impulsar.studio.server import Studio
from impulsar.studio.session import Session
from impulsar.world.signals import Signal

Make = Callable[..., Studio]
STEPS = 400  # of 1 ms: more than a swing's first peak


@pytest.fixture(scope="module")
def four_bar(make_studio: Make) -> Studio:
    return make_studio("four-bar")


@pytest.fixture
def page(four_bar: Studio):
    """A client of the four-bar at its start, stopped."""
    with StudioClient(four_bar.url, timeout=90.0) as client:
        client.control("scene", name="four-bar")
        client.control("pause")
        client.edit(edits.SetStep(1e-3))
        client.control("reset")
        client.control("record")
        yield client


def swing() -> "im.World":
    return im.World(im.scene("four-bar"), dt=1e-3)


def test_the_exported_peak_is_the_true_peak(page: StudioClient, tmp_path: Path) -> None:
    """The file has what `impulsar run` measures at every step, to 1e-12: an engineer sizes a pin by its peak."""
    page.control("step", STEPS)
    path = tmp_path / "results.nc"
    path.write_bytes(page.request("GET", "/api/results.nc").body)
    found, true = load(path), swing().run(STEPS * 1e-3, progress=False).isel(time=slice(1, None))
    assert found.sizes["time"] == STEPS
    for name in ("reaction_force", "reaction_torque", "position", "energy", "iterations"):
        np.testing.assert_allclose(found[name].values, true[name].values, rtol=1e-12, atol=1e-12, err_msg=name)
    peak = np.linalg.norm(true["reaction_force"].sel(joint="O"), axis=-1).max()
    assert np.linalg.norm(found["reaction_force"].sel(joint="O"), axis=-1).max() == pytest.approx(peak, rel=1e-12)


def test_rows_have_every_step_between_two_frames(page: StudioClient) -> None:
    """Signals and the path of a point off its body, in float64, at all steps; no frame need come for them."""
    world, at = swing(), (0.0, 0.05, 0.0)
    page.subscribe("joint.O.reaction.force.norm", "joint.O.position", points=[("coupler", at), ("ground", (1, 2, 3))])
    page.control("step", STEPS)
    page.frame(lambda frame: frame.header["step"] == STEPS)
    times = np.concatenate([rows.times for rows in page.rows])
    values = np.concatenate([rows.values for rows in page.rows])
    stride = max(rows.header["stride"] for rows in page.rows)
    assert stride == 1 or len(times) < STEPS  # a machine that is busy reads fewer, and says so
    true = []
    for _ in range(STEPS):
        world.step()
        place = world.point("coupler", at)
        true.append([np.linalg.norm(world.joint("O").reaction.force), world.joint("O").position, *place, 1, 2, 3])
    rows = np.rint(times / 1e-3).astype(int) - 1
    np.testing.assert_allclose(values, np.array(true)[rows], rtol=1e-12, atol=1e-12)


def test_a_series_is_read_at_every_step_of_the_recording(page: StudioClient) -> None:
    """In float64, from a time on; of what is no signal nothing is read."""
    page.control("step", STEPS)
    found = page.series("joint.O.reaction.force.norm", points=[("crank", (0.0, 0.0, 0.0))], since=0.1)
    true = swing().run(STEPS * 1e-3, progress=False).isel(time=slice(1, None))
    late = true["time"].values >= 0.1 - 1e-9
    assert found[:, 0] == pytest.approx(true["time"].values[late], abs=1e-12)
    assert found[:, 1] == pytest.approx(np.linalg.norm(true["reaction_force"].sel(joint="O"), axis=-1)[late], rel=1e-12)
    assert found[:, 2:] == pytest.approx(true["position"].sel(body="crank").values[late], abs=1e-12)
    with pytest.raises(im.ModelError, match="no quantity named 'speeed'"):
        page.series("joint.O.speeed")
    answer = page.request("POST", "/api/series", b'{"signals": [], "points": [{"body": "crank"}]}')
    assert answer.status == 422
    assert b"an object with body, at" in answer.body


def test_a_drag_with_time_stopped_gives_rows(page: StudioClient) -> None:
    """The path of a point is drawn while its mechanism is dragged, and does not join what a jump leaves behind."""
    page.subscribe("energy.potential", points=[("coupler", (0.0, 0.1, 0.0))])
    for height in (0.05, 0.06, 0.07):
        page.edit(edits.DragTo("coupler", (0.1, height, 0.0)))
    page.edit(edits.SetState({"crank": {"angular_velocity": (0.0, 0.0, 1.0)}}))
    page.frame()
    values = np.concatenate([rows.values for rows in page.rows])
    assert len(values) == 4
    assert len(np.unique(values[:3], axis=0)) == 3
    world = swing()
    for height in (0.05, 0.06, 0.07):
        world.apply(edits.Pause(True))
        world.apply(edits.DragTo("coupler", (0.1, height, 0.0)))
    assert values[2] == pytest.approx([world.energy().potential, *world.point("coupler", (0.0, 0.1, 0.0))], abs=1e-6)
    page.rows.clear()
    page.control("step", 1)
    page.control("seek", 0.0)
    page.frame()
    assert page.rows[-1].header["leapt"] == 1 + 2  # by other than steps, and on the recording


def test_rows_of_a_client_that_reads_slowly_are_kept_within_bounds() -> None:
    mailbox = Mailbox(lambda: None)
    for k in range(100):
        mailbox.put({}, [], b"frame", bytes([k]) * (MOST_ROWS // 20))
    *rows, frame = mailbox.take()
    assert frame == b"frame"
    assert [row[0] for row in rows] == list(range(80, 100))
    assert mailbox.take() == []


def test_reading_takes_a_share_of_the_time_that_a_step_has() -> None:
    """Where a reading takes as long as four steps may, every sixteenth is read."""
    reader, world = Reader(), im.World(im.scene("cross-lift"), dt=1e-3)

    client = Client("slow", Mailbox(lambda: None))
    client.signals = [Signal("slow", "", lambda now: (sum(range(40_000)) * 0.0, True))]
    client.rows.is_asked = True
    for _ in range(20):
        reader.step(world, world.step(), (1e-5, 1e-4), [client])
    assert reader.stride > 4
    reader.forget()
    assert reader.stride == 1


# hands ------------------------------------------------------------------------------------------------------


def test_a_session_that_was_cut_short_in_mid_pull_holds_nothing(tmp_path: Path) -> None:
    """kill -9 leaves a journal with a hand in it; who opens it finds the mechanism free."""
    world = im.World(im.scene("ten-pendula"))
    history = History(world, tmp_path / "journal")
    history.apply(edits.Grab("hand 1-1", "link10"))
    history.apply(edits.Move("hand 1-1", (0.1, 0.0, -0.4)))
    history.step(5)
    history.journal.close()
    found = History.open(tmp_path / "journal")
    assert "hand 1-1" in found.world.system.hand_names
    session = Session(found, is_resumed=True)
    assert not any(found.world.system.hand_names)
    session.stop()


def test_undo_brings_no_hand_back_whose_client_let_go(four_bar: Studio) -> None:
    """One page holds a body, another removes it, the first lets go; undo brings the body and no hand."""
    with StudioClient(four_bar.url) as one, StudioClient(four_bar.url) as other:
        one.control("scene", name="ten-pendula")
        one.control("run")
        assert one.edit(edits.Grab("mine", "link10"))["ok"]
        assert other.edit(edits.Remove("body", "link10"))["ok"]
        assert not one.edit(edits.Release("mine"))["ok"]
        assert other.control("undo")["ok"]
        live = one.wait("live", lambda live: "link10" in [body["name"] for body in one.newest["scene"]["bodies"]])
        one.frame(lambda frame: frame.header["hands"] == 0)
        assert one.newest["live"]["hands"] == [] or live["hands"] == []
        assert one.edit(edits.Grab("mine", "link10"))["ok"]  # and one that is held stays
        other.control("undo")
        assert one.edit(edits.Grab("again", "link10"))["ok"]
        one.frame(lambda frame: frame.header["hands"] == 1)
        one.edit(edits.Release("again"))


def test_a_hand_of_the_scene_itself_is_left_alone() -> None:
    session = Session(History(im.World(im.scene("cross-lift", case="hand"))))
    session.history.step(round(2.5 / session.world.dt))
    held = [name for name in session.world.system.hand_names if name]
    session._let_go_of_all()
    assert [name for name in session.world.system.hand_names if name] == held
    assert held


# scenes ------------------------------------------------------------------------------------------------------


def test_opening_another_scene_is_undone(page: StudioClient) -> None:
    """The scene before comes back as it was left, to the bit and stopped, with all that there is to undo in it."""
    page.control("step", 7)
    page.edit(edits.SetParameter("crank.mass", 0.3))
    before = page.control("hash")["text"]
    assert page.wait("status", lambda status: status["changed"])
    page.control("scene", name="ten-pendula")
    status = page.wait("status", lambda status: status["scene"] == "ten-pendula")
    assert status["undo"] == "Open ten-pendula"
    assert status["paused"]  # as it was
    assert not status["changed"]
    assert page.control("undo")["text"] == "scene 'four-bar' again, instead of 'ten-pendula'"
    assert page.control("hash")["text"] == before
    assert page.wait("status", lambda status: status["scene"] == "four-bar")["redo"] == "Open ten-pendula"
    assert page.control("redo")["ok"]
    assert page.wait("status", lambda status: status["scene"] == "ten-pendula")
    assert page.control("undo")["ok"]
    assert page.control("hash")["text"] == before
    assert page.control("undo")["text"].startswith("before SetParameter")
    assert page.control("undo")["ok"]  # what came before it
    journal = page.request("GET", "/api/journal")
    assert journal.status == 200


def test_the_journal_of_a_scene_that_came_back_replays_to_the_bit(tmp_path: Path) -> None:
    from impulsar.history.replay import replay
    from impulsar.studio.command import begin_history

    path = tmp_path / "day.journal"
    make = lambda world: begin_history(world, path)  # noqa: E731
    session = Session(make(im.World(im.scene("four-bar"))), im.World, make, "four-bar")
    session.history.step(30)
    session.history.apply(edits.SetParameter("crank.mass", 0.3))
    session.history.step(30)
    session.replace_world(im.scene("slider-crank"), "slider-crank")
    session.history.step(5)
    session.opening.back()
    session.history.apply(edits.Pause(False))
    session.history.step(30)
    last = session.world.hash()
    session.stop()
    found = replay(path, verify=True)
    assert found.wrong == []
    assert found.history.world.hash() == last
    assert found.edits == 1


def test_a_joint_that_was_fixed_in_motion_is_read_too(page: StudioClient) -> None:
    """The model does not close at its authored pose any more; the recording is read from the present one."""
    page.control("step", STEPS)
    page.edit(edits.ChangeJoint("O", {"type": "fixed"}))
    page.control("step", 20)
    found = page.series("body.crank.position.x", "energy.potential")
    assert len(found) == 20 and np.isfinite(found).all()
    assert np.ptp(found[:, 1]) < 1e-9  # it stands
