"""The session: its clock in the real world, clients that share it, edits, history, breakage."""

import socket
import time as wall
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.history.history import History
from impulsar.studio import messages as ms
from impulsar.studio.client import StudioClient, decode
from impulsar.studio.controls import CONTROLS
from impulsar.studio.gestures import Pace
from impulsar.studio.mailbox import Mailbox
from impulsar.studio.publisher import Client
from impulsar.studio.security import Limits
from impulsar.studio.server import Studio
from impulsar.studio.session import Session


def steps_and_time(client: StudioClient) -> tuple[int, float]:
    frame = client.frame()
    return frame.header["step"], frame.header["wall"]


def test_first_come_scene_live_status_books_and_frames(studio: Studio) -> None:
    with StudioClient(studio.url) as client:
        frame = client.frame()
        assert set(client.newest) >= {"scene", "live", "status", "books"}
        scene = client.newest["scene"]
        assert [body["name"] for body in scene["bodies"]] == [f"link{k}" for k in range(1, 11)]
        assert frame.header["generation"] == scene["generation"]
        assert frame.header["revision"] == client.newest["live"]["revision"]
        assert frame.poses.shape == (10, 7)
        assert np.linalg.norm(frame.poses[:, 3:], axis=1) == pytest.approx(1.0)


@pytest.mark.timed
def test_time_runs_as_fast_as_it_should(page: StudioClient) -> None:
    """Simulated over wall time is the speed asked for, over two seconds and within one frame at either end."""
    for speed in (1.0, 0.25, 4.0):
        page.control("speed", speed)
        before = steps_and_time(page)
        page.drain(2.0)
        after = steps_and_time(page)
        simulated, passed = 0.01 * (after[0] - before[0]), after[1] - before[1]
        assert simulated == pytest.approx(speed * passed, abs=2 * speed * 0.05 + 0.01)


@pytest.mark.timed
def test_no_step_is_lost_with_20_clients_one_of_which_reads_nothing(make_studio) -> None:
    """All see one world; the one that does not read misses frames and costs the others none."""
    studio: Studio = make_studio(start="30deg")
    deaf = deaf_client(studio)
    clients = [StudioClient(studio.url) for _ in range(19)]
    clock = studio.session.clock
    before = steps_and_time(clients[0])
    end = wall.monotonic() + 4.0
    while wall.monotonic() < end:
        for client in clients:
            client.drain(0.002)
    after = steps_and_time(clients[0])
    assert clock.forgiven == 0
    assert 0.01 * (after[0] - before[0]) == pytest.approx(after[1] - before[1], abs=0.1)
    seen = {}
    for client in clients:
        frame = client.frame()
        seen.setdefault(frame.header["step"], []).append(frame.poses.tobytes())
    assert all(len(set(poses)) == 1 for poses in seen.values())
    for client in clients:
        client.close()
    deaf.close()


def deaf_client(studio: Studio) -> socket.socket:
    """A WebSocket whose frames nobody reads."""
    found = socket.create_connection((studio.address.host, studio.address.port))
    found.sendall(
        f"GET /ws HTTP/1.1\r\nHost: {studio.origin.removeprefix('http://')}\r\nOrigin: {studio.origin}\r\n"
        f"Cookie: {studio.gate.cookie}={studio.token}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    assert found.recv(12) == b"HTTP/1.1 101"
    return found


def test_a_mailbox_keeps_the_newest_frame_and_every_reply() -> None:
    from impulsar.studio.mailbox import MOST_REPLIES, Mailbox

    woken: list[int] = []
    box = Mailbox(lambda: woken.append(1))
    for k in range(5):
        box.put({}, [f"reply {k}"], bytes([k]))
    assert box.take() == [*(f"reply {k}" for k in range(5)), b"\x04"]
    assert box.frames_missed == 4
    assert box.take() == []
    box.put({}, [], b"old")
    box.put({"live": "live 2"}, [], None)
    assert box.take() == ["live 2"]  # the old frame does not fit it
    box.put({}, ["x"] * (MOST_REPLIES + 1), None)
    assert box.is_overfull
    assert len(woken) == 8


def test_an_edit_is_seen_by_all(studio: Studio, page: StudioClient) -> None:
    with StudioClient(studio.url) as other:
        page.control("pause")
        reply = page.edit(edits.Grab("pointer", "link10", (0.0, 0.0, -0.025)))
        assert reply["ok"], reply["text"]
        live = other.wait("live", lambda live: live["hands"] != [])
        assert live["hands"][0]["body"] == "link10"
        assert other.frame().hands.shape == (1, 16)
        page.edit(edits.Release("pointer"))
        other.wait("live", lambda live: live["hands"] == [])


def test_the_force_drawn_is_that_of_the_spring(page: StudioClient) -> None:
    """F = k (target - point) - c v of the point held, from what the stream says of one moment."""
    page.control("pause")
    page.edit(edits.Grab("pointer", "link1", (0.0, 0.0, -0.025), stiffness=50.0, damping=2.0))
    page.edit(edits.Move("pointer", (0.0, 0.01, -0.05)))
    names = [f"body.link1.{what}.{axis}" for what in ("velocity", "angular_velocity") for axis in "xyz"]
    assert page.subscribe(*names)["ok"]
    moved = page.control("step", 2)  # in the first the target is still on its way
    frame = page.frame(lambda frame: frame.header["applied"] >= moved["id"])
    point, target, force = frame.hands[0, :3], frame.hands[0, 3:6], frame.hands[0, 6:9]
    assert target == pytest.approx([0.0, 0.01, -0.05], abs=1e-7)
    velocity = frame.signals[:3] + np.cross(frame.signals[3:], point - frame.poses[0, :3])
    expected = 50.0 * (target - point) - 2.0 * velocity
    assert np.linalg.norm(force - expected) < 0.01 * np.linalg.norm(expected)
    page.edit(edits.Release("pointer"))


def test_moves_that_wait_for_one_step_are_merged_into_the_newest(page: StudioClient) -> None:
    page.control("speed", 0.02)  # a step every half second
    page.edit(edits.Grab("pointer", "link10"))
    ids = [page.send_edit(edits.Move("pointer", (0.0, 0.01 * k, -0.3))) for k in range(20)]
    replies = [page.reply(id) for id in ids]
    assert all(reply["ok"] for reply in replies)
    assert not replies[-1]["merged"]
    assert sum(reply["merged"] for reply in replies) >= 15
    page.edit(edits.Release("pointer"))


def test_a_hand_goes_evenly_to_where_it_is_sent(tmp_path: Path) -> None:
    """A pointer comes at a slower beat than steps: the target takes 1/60 s, rounded up to two steps of 10 ms, so that
    it is half way after one; the journal has it so and replays to the bit, and undo gives the bits as before."""
    world = im.World(im.scene("ten-pendula", start="30deg"))
    session = Session(History(world, tmp_path / "journal"))
    client = Client("test", Mailbox(lambda: None))
    session.add(client)  # of a client that is not there the hand would be let go
    before = world.hash()
    session._edit(client, edits.Grab("pointer", "link10"))
    start = world.state.read("hand_target")[:3, 0].copy()
    way = np.array([0.0, 0.02, 0.01])
    for k in range(3):
        session._pace = Pace()
        session._edit(client, edits.Move("pointer", tuple((start + (k + 1) * way).tolist())))
        for share in (0.5, 1.0):
            session.history.step()
            target = world.state.read("hand_target")[:3, 0]
            assert target == pytest.approx(start + (k + share) * way, abs=1e-12)
    after = world.hash()
    CONTROLS["undo"](session, ms.Control(id=1, action="undo"), client)
    assert world.hash() == before
    CONTROLS["redo"](session, ms.Control(id=2, action="redo"), client)
    assert world.hash() == after
    session.stop()
    assert History.open(tmp_path / "journal").world.hash() == after


@pytest.mark.parametrize("interval, span", [(0.001, 1 / 60), (0.03, 0.03), (0.2, 0.05)])
def test_a_hand_takes_the_time_between_its_moves(interval: float, span: float) -> None:
    pace = Pace()
    assert pace.span("pointer", 10.0) == pytest.approx(1 / 60)
    assert pace.span("other", 10.0 + interval) == pytest.approx(1 / 60)
    assert pace.span("pointer", 10.0 + interval) == pytest.approx(span)


def test_what_is_switched_off_is_seen_by_all(studio: Studio, page: StudioClient) -> None:
    """The edits that switch loads and motors on again are kept by the session until they are forgotten."""
    load = {"edit": "ApplyLoad", "name": "push", "body": "link3", "force": [0.0, 0.1, 0.0]}
    motor = {"edit": "SetMotor", "joint": "hinge5", "motor": {"motor": "speed", "value": 0.3}, "group": "angle"}
    for edit in (load, motor):
        assert page.control("keep", parameters=edit)["ok"]
    with StudioClient(studio.url) as other:
        off = other.wait("live")["off"]
        assert [entry["edit"] for entry in off] == ["ApplyLoad", "SetMotor"]
        assert off[0]["force"] == [0.0, 0.1, 0.0]
        assert off[1]["motor"]["value"] == 0.3
        for entry in off:  # they are edits as they stand
            assert other.reply(other.send(type="edit", edit=entry))["ok"]
        assert other.control("forget", parameters=load)["ok"]
        page.wait("live", lambda live: [entry["edit"] for entry in live["off"]] == ["SetMotor"])
    for wrong in (None, {"edit": "Grab", "hand": "a", "body": "link1"}, {**motor, "motor": None}):
        assert not page.control("keep", parameters=wrong)["ok"]
    page.control("scene", name="ten-pendula")
    assert page.wait("live", lambda live: live["off"] == [])


def test_results_begin_where_one_says_so(studio: Studio, page: StudioClient) -> None:
    page.frame(lambda frame: frame.time > 0.2)
    page.control("pause")
    since = page.control("record")["time"]
    page.wait("status", lambda status: abs(status["recorded_since"] - since) < 1e-9)
    page.control("step", 3)
    found = [sample.clock for sample in studio.session.recording.samples]
    assert found == pytest.approx([since + 0.01, since + 0.02, since + 0.03])


def test_another_scene_is_told_to_those_who_did_not_ask(studio: Studio, page: StudioClient) -> None:
    with StudioClient(studio.url) as other:
        other.frame()
        page.control("scene", name="four-bar")
        other.frame(lambda frame: len(frame.poses) == 3)
        assert [notice["text"] for notice in other.notices] == [
            "the scene is now 'four-bar'; undo brings 'ten-pendula' back"
        ]
        page.frame(lambda frame: len(frame.poses) == 3)
        assert page.notices == []


def test_a_refused_edit_is_answered_in_the_engines_words(page: StudioClient) -> None:
    page.control("pause")
    before = page.control("hash")["text"]
    reply = page.edit(edits.Grab("pointer", "link11"))
    assert not reply["ok"]
    assert "did you mean 'link1" in reply["text"]
    for edit in ({"edit": "Explode"}, {"edit": "Grab"}, {"edit": "Grab", "hand": 1, "body": "link1"}, {}):
        reply = page.reply(page.send(type="edit", edit=edit))
        assert not reply["ok"]
    assert page.control("hash")["text"] == before


def test_undo_gives_the_bits_as_before(page: StudioClient) -> None:
    """One undo takes a whole gesture back, redo makes it again, both to the bit."""
    page.control("pause")
    before = page.control("hash")["text"]
    page.edit(edits.Grab("pointer", "link10", (0.0, 0.0, -0.025)))
    for k in range(6):
        page.edit(edits.Move("pointer", (0.0, 0.2 + 0.01 * k, -0.3)))
        page.control("step", 3)
    page.edit(edits.Release("pointer"))
    page.control("step", 20)
    after = page.control("hash")["text"]
    assert page.wait("status", lambda status: status["undo"] is not None)["undo"] == "Release"
    assert page.control("undo")["ok"]
    assert page.control("hash")["text"] == before
    assert page.control("redo")["ok"]
    assert page.control("hash")["text"] == after
    assert page.control("undo")["ok"]
    assert page.control("hash")["text"] == before
    page.control("step", 1)
    refused = page.control("redo")
    assert not refused["ok"]
    assert "time has gone on" in refused["text"]
    assert page.wait("status", lambda status: status["redo"] is None)  # nor is it offered


def test_a_parameter_and_its_undo_are_seen(page: StudioClient) -> None:
    page.control("pause")
    before = page.control("hash")["text"]
    generation, topology = page.newest["scene"]["generation"], page.newest["scene"]["topology"]
    assert page.edit(edits.SetParameter("link3.mass", 0.5))["ok"]
    scene = page.wait("scene", lambda scene: scene["generation"] > generation)
    assert scene["bodies"][2]["mass"] == 0.5
    assert scene["topology"] == topology
    assert page.control("undo")["ok"]
    scene = page.wait("scene", lambda scene: scene["bodies"][2]["mass"] == pytest.approx(0.1))
    assert page.control("hash")["text"] == before


def test_seek_and_replay_follow_the_recording(page: StudioClient) -> None:
    page.control("pause")
    start = page.control("hash")
    page.edit(edits.Grab("pointer", "link5"))
    page.edit(edits.Move("pointer", (0.0, 0.1, -0.2)))
    page.control("step", 30)
    page.edit(edits.Release("pointer"))
    page.control("step", 30)
    end = page.control("hash")
    assert page.control("seek", start["time"] + 0.1)["ok"]
    assert page.frame(lambda frame: frame.has("replaying")).time == pytest.approx(start["time"] + 0.1)
    page.control("step", 50)
    again = page.control("hash")
    assert again["text"] == end["text"]
    refused = page.control("seek", 1e6)
    assert not refused["ok"]


def test_a_joint_changes_its_type_live(page: StudioClient) -> None:
    page.control("pause")
    topology = page.newest["scene"]["topology"]
    before = page.control("hash")["text"]
    reply = page.edit(edits.ChangeJoint("hinge5", {"type": "spherical"}))
    assert reply["ok"], reply["text"]
    scene = page.wait("scene", lambda scene: scene["topology"] > topology)
    joint = next(joint for joint in scene["joints"] if joint["name"] == "hinge5")
    assert joint["joint_type"] == "spherical"
    assert joint["groups"][0]["kind"] == "ball"
    page.control("step", 10)
    assert page.control("undo")["ok"]
    assert page.control("hash")["text"] == before
    scene = page.wait("scene", lambda scene: scene["generation"] > joint_generation(scene, "hinge5", "revolute"))
    assert next(j for j in scene["joints"] if j["name"] == "hinge5")["joint_type"] == "revolute"


def joint_generation(scene: dict, name: str, kind: str) -> float:
    is_so = next(j for j in scene["joints"] if j["name"] == name)["joint_type"] == kind
    return scene["generation"] - 1 if is_so else float("inf")


def test_with_time_standing_still_a_body_is_dragged(page: StudioClient) -> None:
    """The tip goes where it is sent, time does not, and one undo takes the whole drag back."""
    page.control("pause")
    before = page.control("hash")
    for y in (0.22, 0.2, 0.15, 0.1):
        reply = page.edit(edits.DragTo("link10", (0.0, y, -0.42), at=(0.0, 0.0, -0.025)))
        assert reply["ok"], reply["text"]
    page.subscribe("probe.tip.y", "probe.tip.z", "constraint_error")
    frame = page.frame(lambda frame: len(frame.signals) == 3)
    assert frame.signals == pytest.approx([0.1, -0.42, 0.0], abs=1e-5)
    assert frame.time == before["time"]
    assert page.control("undo")["ok"]
    assert page.control("hash")["text"] == before["text"]


def test_what_is_dragged_stops_at_a_floor(page: StudioClient) -> None:
    """The same door: a floor that is added under it keeps the tip, a capsule's end, a radius above itself."""
    page.control("pause")
    floor = {"shape": im.Plane(), "position": (0, 0, -0.45), "material": "wood"}
    for edit in (edits.SetMaterial("link10", "steel"), edits.Add("obstacle", "floor", floor)):
        assert page.edit(edit)["ok"]
    reply = page.edit(edits.DragTo("link10", (0.0, 0.05, -0.6), at=(0.0, 0.0, -0.025)))
    assert reply["ok"] and "'link10' and 'floor' touch" in reply["text"]
    page.subscribe("probe.tip.y", "probe.tip.z", "constraint_error")
    frame = page.frame(lambda frame: len(frame.signals) == 3 and len(frame.contacts) > 0)
    assert frame.signals == pytest.approx([0.05, -0.45 + 0.004, 0.0], abs=1e-5)


def test_signals_are_those_of_the_world(studio: Studio, page: StudioClient) -> None:
    """Every kind of signal against the world's own reading, in one moment."""
    page.control("pause")
    page.edit(edits.Grab("pointer", "link10"))
    page.control("step", 5)
    names = [
        "body.link3.position.z", "body.link3.velocity.norm", "body.link3.acceleration.y", "body.link3.force.y",
        "joint.hinge3.position", "joint.hinge3.velocity", "coordinate.pivot.x.position",
        "joint.hinge3.reaction.force.z", "joint.hinge3.reaction.torque.y", "energy.total", "energy.imbalance",
        "constraint_error", "probe.tip.y", "hand.pointer.force.norm", "body.link3.kinetic_energy",
        "body.link3.angular_acceleration.x", "body.link3.orientation.w",
    ]  # fmt: skip
    reply = page.subscribe(*names)
    assert reply["ok"], reply["text"]
    assert reply["units"] == [
        "m", "m/s", "m/s²", "N", "rad", "rad/s", "rad", "N", "N m", "J", "J", "m and rad", "m", "N", "J", "rad/s²", "1",
    ]  # fmt: skip
    frame = page.frame(lambda frame: len(frame.signals) == len(names))

    def read() -> list[float]:
        world = studio.session.world
        body, joint = world.body("link3"), world.joint("hinge3")
        w, m = body.angular_velocity, 0.1
        kinetic = 0.5 * m * body.velocity @ body.velocity + 0.5 * 21e-6 * w[0] ** 2
        return [
            body.position[2], np.linalg.norm(body.velocity), body.acceleration[1], m * body.acceleration[1],
            joint.position, joint.velocity, world.joint("pivot").position[0],
            joint.reaction.force[2], joint.reaction.torque[1], world.energy().total, world.energy().imbalance,
            world.constraint_error(), world.point("link10", (0, 0, -0.025))[1],
            np.linalg.norm(world.hand_forces()["pointer"]), kinetic,
            body.angular_acceleration[0], body.orientation[3],
        ]  # fmt: skip

    expected = studio.session.call(read).result(10)
    assert frame.signals == pytest.approx(np.array(expected), rel=2e-6, abs=1e-9)
    page.edit(edits.Release("pointer"))
    refused = page.subscribe("body.link3.velocity.x", "body.link33.velocity.x")
    assert not refused["ok"]
    assert "did you mean 'link3'" in refused["text"]


def test_torque_of_a_body_is_the_rate_of_its_angular_momentum(studio: Studio, page: StudioClient) -> None:
    """Of a link of a planar chain I dω/dt about the axis, at the instant, before the first step as after one."""
    page.control("pause")
    page.subscribe("body.link2.torque.x", "body.link2.angular_acceleration.x", "body.link2.force.norm")
    for steps in (1, 4):
        applied = page.control("step", steps)["id"]
        torque, rate, force = page.frame(lambda frame, id=applied: frame.header["applied"] >= id).signals
        assert abs(rate) > 1.0
        assert torque == pytest.approx(21e-6 * rate, rel=1e-6)

        def read() -> tuple[float, float]:
            body = studio.session.world.body("link2")
            return body.angular_acceleration[0], np.linalg.norm(0.1 * body.acceleration)

        assert (rate, force) == pytest.approx(studio.session.call(read).result(10), rel=1e-6)


def test_loads_are_shown_as_they_act(page: StudioClient) -> None:
    page.control("pause")
    page.edit(edits.ApplyLoad("push", "link5", force=(0.0, 2.0, 0.0), torque=(0.1, 0.0, 0.0), frame="body"))
    frame = page.frame(lambda frame: len(frame.loads) == 1)
    live = page.wait("live", lambda live: len(live["loads"]) == 1)
    assert live["loads"][0]["force"] == [0.0, 2.0, 0.0]
    assert np.linalg.norm(frame.loads[0, :3]) == pytest.approx(2.0, rel=1e-6)
    assert frame.loads[0, 3:] == pytest.approx([0.1, 0.0, 0.0], abs=1e-7)
    angle = 2 * np.arctan2(frame.poses[4, 3], frame.poses[4, 6])
    assert frame.loads[0, :3] == pytest.approx([0.0, 2 * np.cos(angle), 2 * np.sin(angle)], abs=1e-5)
    page.edit(edits.RemoveLoad("push"))
    page.wait("live", lambda live: live["loads"] == [])


def test_indeterminate_reactions_are_marked(make_studio) -> None:
    """The cross-lift has 33 redundant equations; ten pendula have none."""
    studio = make_studio("cross-lift")
    with StudioClient(studio.url) as client:
        books = client.wait("books", lambda books: books["time"] > 0.1)
        assert books["indeterminate"]
        name = books["indeterminate"][0]
        client.subscribe(f"joint.{name}.reaction.force.x", "energy.total")
        assert client.frame(lambda frame: len(frame.signals) == 2).marks.tolist() == [1, 0]


def test_hands_of_a_client_that_leaves_are_released(studio: Studio, page: StudioClient) -> None:
    with StudioClient(studio.url) as other:
        assert other.edit(edits.Grab("theirs", "link4"))["ok"]
        page.wait("live", lambda live: [hand["name"] for hand in live["hands"]] == ["theirs"])
    page.wait("live", lambda live: live["hands"] == [])


def test_scenes_change_for_all_and_forget_nothing_of_the_clock(studio: Studio, page: StudioClient) -> None:
    with StudioClient(studio.url) as other:
        reply = page.control("scene", name="four-bar")
        assert reply["ok"], reply["text"]
        scene = other.wait("scene", lambda scene: scene["name"] == "four bar" or "four" in scene["name"])
        frame = other.frame(lambda frame: frame.header["generation"] == scene["generation"])
        assert len(frame.poses) == len(scene["bodies"]) == 3
        for name, parameters in (
            ("four-baar", None),
            ("ten-pendula", {"start": "sideways"}),
            ("ten-pendula", {"x": 1}),
        ):
            assert not page.control("scene", name=name, parameters=parameters)["ok"]
        assert page.newest["status"]["scene"] == "four-bar"


def test_controls_check_their_values(page: StudioClient) -> None:
    for action, value in (
        ("speed", None), ("speed", 0.0), ("speed", 1e9), ("speed", -1.0), ("step", 0.0), ("step", 1.5),
        ("step", 1e9), ("steps_per_frame", 0.0), ("seek", None), ("scene", None), ("redo", None),
    ):  # fmt: skip
        reply = page.control(action, value)
        assert not reply["ok"], (action, value)
        assert reply["text"]


def test_a_world_that_breaks_stands_still_and_says_so(page: StudioClient) -> None:
    """A blow that no sub-step can follow: the world is put back, paused, and the reason told."""
    blow = im.Ramp((0.0, 0.0, 0.0), (1e20, 0.0, 0.0), 0.1, 0.2)
    assert page.edit(edits.ApplyLoad("blow", "link3", force=blow))["ok"]
    frame = page.frame(lambda frame: frame.has("broken"))
    assert frame.has("paused")
    assert np.isfinite(frame.poses).all()
    assert any(notice["level"] == "error" and "gone back" in notice["text"] for notice in page.notices)
    assert page.edit(edits.RemoveLoad("blow"))["ok"]
    assert page.control("run")["ok"]
    after = page.frame(lambda later: later.time > frame.time + 0.1)
    assert not after.has("broken")


def test_a_motion_that_runs_away_stands_still_and_can_be_undone(page: StudioClient) -> None:
    """SIMMC in motion at a step of 1e-12 s: told which, paused at a finite pose, and undo leads to before the step."""
    assert page.control("scene", name="five-link", parameters={})["ok"]
    assert page.edit(edits.SetMethod("simmc"))["ok"]
    page.frame(lambda frame: frame.time > 0.3)
    assert page.edit(edits.SetStep(1e-12))["ok"]
    frame = page.frame(lambda frame: frame.has("broken"))
    assert frame.has("paused") and np.abs(frame.poses[:, :3]).max() < 1.0
    told = [notice["text"] for notice in page.notices if notice["level"] == "error"]
    assert any("run away" in text and "link" in text and "undo" in text for text in told), told
    assert page.control("undo")["ok"]
    page.wait("status", lambda status: status["dt"] == im.scene("five-link").dt)
    assert page.control("run")["ok"]
    after = page.frame(lambda later: later.time > frame.time + 0.1)
    assert not after.has("broken")


@pytest.mark.timed
def test_a_solver_that_is_too_slow_slows_time_and_says_so(make_studio) -> None:
    """A hundred times real time is beyond a chain of 100 bodies: no debt piles up, the factor tells the truth."""
    studio = make_studio("chain", n=100)
    with StudioClient(studio.url, timeout=30.0) as client:
        client.control("speed", 100.0)
        frame = client.frame(lambda frame: frame.has("slow"))
        before = steps_and_time(client)
        client.drain(2.0)
        after = steps_and_time(client)
        frame = client.frame()
        factor = studio.session.world.dt * (after[0] - before[0]) / (after[1] - before[1])
        assert factor < 95.0
        assert frame.books["real_time_factor"] == pytest.approx(factor, rel=0.5)
        assert any(notice["level"] == "warning" and "times real time" in notice["text"] for notice in client.notices)


def test_a_results_file_holds_what_was_seen(page: StudioClient, folder) -> None:
    page.frame(lambda frame: frame.time > 0.3)
    page.control("pause")
    last = page.frame()
    answer = page.request("GET", "/api/results.nc")
    assert answer.status == 200
    path = folder / "results.nc"
    path.write_bytes(answer.body)
    from impulsar.results import load

    dataset = load(path)
    assert float(dataset["time"][-1]) == pytest.approx(last.time, abs=1e-9)
    assert dataset["position"].values[-1] == pytest.approx(last.poses[:, :3], abs=1e-6)
    assert (np.diff(dataset["time"].values) > 0).all()
    assert dataset["reaction_force"].sizes["joint"] == 10
    world = im.World(im.scene("ten-pendula", start="30deg"))
    world.step(round(float(dataset["time"][-1]) / 0.01))
    assert dataset["energy"].sel(kind="kinetic").values[-1] == pytest.approx(world.energy().kinetic, rel=1e-12)
    assert dataset["reaction_force"].values[-1, 3] == pytest.approx(world.joint("hinge4").reaction.force, rel=1e-9)


def test_the_recording_is_bounded() -> None:
    from impulsar.studio.recording import Recording

    world = im.World(im.scene("ten-pendula"))
    recording = Recording(world, room=100_000)
    for _ in range(200):
        world.step()
        recording.take(world)
    assert recording.bytes <= 100_000
    assert len(recording.samples) < 200
    assert recording.samples[-1].steps == 200


def test_a_frame_that_is_cut_or_foreign_is_refused() -> None:
    with pytest.raises(im.ModelError, match="not one of this protocol"):
        decode(b"\0" * 200)


def test_too_many_clients_are_refused(make_studio) -> None:
    studio = make_studio(limits=Limits(clients=2))
    with StudioClient(studio.url), StudioClient(studio.url), pytest.raises(Exception, match="403"):
        StudioClient(studio.url)


def test_a_short_day_stays_small() -> None:
    """A few seconds of the eight hours that `impulsar validate session-memory` runs."""
    from impulsar_verification.studio_cases import MEGABYTE, day

    found = day(1 / 240)
    assert found.hours >= 1 / 240
    assert found.clients >= 1
    assert found.growth < 64 * MEGABYTE
    assert found.journal < 8 * MEGABYTE


def test_contacts_are_in_the_frame(make_studio) -> None:
    """Point and force of each: on the body, where the other is an obstacle."""
    studio = make_studio("stack", n=2)
    with StudioClient(studio.url) as client:
        frame = client.frame(lambda frame: frame.header["contacts"] == 8 and frame.time > 0.1)
        assert frame.contacts.shape == (8, 7)
        low = frame.contacts[frame.contacts[:, 2] < 1e-6]
        assert low[:, 3:6].sum(axis=0) == pytest.approx((0, 0, 2 * 9.81), abs=1e-3)
