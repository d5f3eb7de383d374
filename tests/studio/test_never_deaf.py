"""A session answers whatever it is doing: slow clocks, many steps, long ways through the history, long steps."""

import json
import signal
import subprocess
import sys
import threading
import time as wall
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.history.history import History
from impulsar.io import edit_to_json
from impulsar.studio import messages as ms
from impulsar.studio.asked import Asked
from impulsar.studio.client import StudioClient
from impulsar.studio.mailbox import Mailbox
from impulsar.studio.publisher import Client
from impulsar.studio.session import Session
from impulsar.world import runner

SOON = 0.5  # wall time within which a control is answered [s]


def seconds_for(do: Callable[[], dict]) -> tuple[float, dict]:
    began = wall.monotonic()
    reply = do()
    return wall.monotonic() - began, reply


@pytest.fixture
def slow_launches(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Launches that take so much longer for each of their steps, whatever that is set to [s]."""
    each = [0.0]
    real = runner.record_launch

    def record(kernel: object, worlds: int, inputs: list, device: str, threads: int = 1) -> Callable[[], None]:
        launch, steps = real(kernel, worlds, inputs, device, threads), inputs[0].steps

        def slowly() -> None:
            if getattr(kernel, "key", "").startswith("direct"):
                wall.sleep(each[0] * int(steps.numpy()[0]))
            launch()

        return slowly

    monkeypatch.setattr(runner, "record_launch", record)
    return each


@pytest.mark.timed
def test_controls_do_not_wait_for_the_next_step(make_studio) -> None:
    """At a thousandth of real time a step of 10 ms comes every ten seconds, with dt = 50 s every 50."""
    studio = make_studio(start="30deg")
    with StudioClient(studio.url) as client:
        for slow in (lambda: client.control("speed", 0.001), lambda: client.edit(edits.SetStep(50.0))):
            assert slow()["ok"]
            wall.sleep(0.1)
            for do in (
                lambda: client.edit(edits.SetParameter("link3.mass", 0.2)),
                lambda: client.edit(edits.Grab("pointer", "link5")),
                lambda: client.edit(edits.Release("pointer")),
                lambda: client.subscribe("energy.total"),
                lambda: client.control("undo"),
                lambda: client.control("pause"),
                lambda: client.control("run"),
                lambda: client.control("pause"),
            ):
                took, reply = seconds_for(do)
                assert reply["ok"], reply["text"]
                assert took < SOON
            client.control("run")


@pytest.mark.timed
def test_many_steps_of_a_long_chain_let_everybody_speak(make_studio) -> None:
    """10,000 steps of 300 bodies are minutes: edits are made meanwhile, frames come, and pause ends them."""
    studio = make_studio("chain", n=300)
    with StudioClient(studio.url, timeout=60.0) as client, StudioClient(studio.url) as other:
        client.control("pause")
        before = client.control("hash")["step"]
        asked = client.send(type="control", action="step", value=10_000)
        wall.sleep(0.5)
        for do in (
            lambda: client.control("speed", 2.0),
            lambda: other.edit(edits.SetParameter("link3.mass", 0.2)),
            lambda: other.subscribe("energy.total"),
            lambda: other.control("hash"),
            lambda: client.control("steps_per_frame", 5),
        ):
            took, reply = seconds_for(do)
            assert reply["ok"], reply["text"]
            assert took < SOON
        first = other.frame().header["step"]
        assert other.frame(lambda frame: frame.header["step"] > first).header["step"] < before + 10_000
        took, reply = seconds_for(lambda: other.control("pause"))
        assert reply["ok"] and took < SOON
        ended = client.reply(asked)
        assert not ended["ok"]
        taken = ended["step"] - before
        assert f"ended by pause, after {taken} of 10000 steps" in ended["text"]
        assert other.control("hash")["step"] == ended["step"]
        assert client.control("step", 3)["step"] == ended["step"] + 3


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[Callable[..., tuple[Session, Client, Callable[..., dict]]]]:
    """Sessions that run, a client of each and how it asks for something and waits for the reply."""
    made: list[Session] = []

    def begin(model: im.Model | None = None, **options: object):
        running = im.World(model or im.scene("chain", n=3), **options)
        session = Session(History(running, tmp_path / f"journal{len(made)}"))
        session.history.apply(edits.Pause(True))
        client = Client("test", Mailbox(lambda: None))
        session.add(client)
        session.start()
        made.append(session)
        ids = iter(range(1, 1000))
        replies: dict[int, dict] = {}

        def ask(message: ms.Control | edits.Edit | int, wait: bool = True) -> dict:
            if isinstance(message, int):
                id = message
            else:
                id = next(ids)
                sent = ms.EditMessage(id=id, edit=edit_to_json(message)) if isinstance(message, edits.Edit) else message
                session.submit(client, sent.__class__(**{**vars(sent), "id": id}))
            end = wall.monotonic() + (20.0 if wait else 0.0)
            while wait and id not in replies and wall.monotonic() < end:
                found = [json.loads(item) for item in client.mailbox.take() if isinstance(item, str)]
                replies.update({message["id"]: message for message in found if message["type"] == "reply"})
                wall.sleep(0.002)
            return replies[id] if wait else {"id": id}

        return session, client, ask

    yield begin
    for session in made:
        session.stop()


def control(action: str, value: float | None = None) -> ms.Control:
    return ms.Control(id=1, action=action, value=value)  # type: ignore[arg-type]


@pytest.mark.timed
@pytest.mark.parametrize("way", ["seek", "undo", "redo"])
def test_a_long_way_through_the_history_is_ended_by_what_comes_next(
    begun, slow_launches: list[float], way: str
) -> None:
    """The world is then where it was, to the bit, and the history leads where it led."""
    session, _, ask = begun()
    ask(edits.SetParameter("link1.mass", 0.2))
    ask(control("step", 90 if way == "undo" else 190))
    end = ask(control("hash"))
    if way == "redo":
        ask(control("undo"))
    here = ask(control("hash"))
    wanted = {"seek": control("seek", 0.5 * end["time"]), "undo": control("undo"), "redo": control("redo")}[way]
    if way == "undo":
        ask(edits.SetParameter("link2.mass", 0.3))
        here = ask(control("hash"))
    slow_launches[0] = 0.03
    session.call(session.world.runner.forget).result(10)  # so that launches are slow ones
    going = ask(wanted, wait=False)["id"]
    wall.sleep(0.4)
    took, reply = seconds_for(lambda: ask(control("speed", 3.0)))  # does not touch the world
    assert reply["ok"] and took < SOON
    took, reply = seconds_for(lambda: ask(control("hash")))
    assert took < SOON
    ended = ask(going)
    assert not ended["ok"] and "ended by what was asked for next" in ended["text"]
    assert reply["text"] == here["text"]
    slow_launches[0] = 0.0
    assert ask(wanted)["ok"]
    assert ask(control("seek", end["time"]))["ok"]
    assert ask(control("hash"))["text"] == (here if way == "undo" else end)["text"]


def test_what_the_page_asks_for_by_itself_ends_nothing(begun, slow_launches: list[float]) -> None:
    """Undo of what a page follows with a question for the freedoms, on a machine on which it takes long."""
    session, _, ask = begun()
    ask(control("step", 40))
    here = ask(control("hash"))
    ask(edits.SetParameter("link2.mass", 0.3))
    slow_launches[0] = 0.02
    session.call(session.world.runner.forget).result(10)
    going = ask(control("undo"), wait=False)["id"]
    told = ask(control("mobility"), wait=False)["id"]
    assert ask(going)["ok"] and ask(told)["ok"]
    assert ask(control("hash"))["text"] == here["text"]


@pytest.mark.timed
def test_a_step_that_takes_long_is_ended_too(begun, slow_launches: list[float]) -> None:
    """Of 3 s at a tenth of real time: what is asked for comes first, and the step begins again after it."""
    session, _, ask = begun()
    assert ask(edits.SetStep(3.0))["ok"]
    slow_launches[0] = 0.1  # each of its 30 pieces
    session.call(session.world.runner.forget).result(10)
    before = ask(control("hash"))
    single = ask(control("step", 1), wait=False)["id"]
    wall.sleep(1.5)
    took, reply = seconds_for(lambda: ask(edits.SetParameter("link1.mass", 0.25)))
    assert reply["ok"] and took < SOON
    took, reply = seconds_for(lambda: ask(control("pause")))
    assert reply["ok"] and took < SOON
    assert "after 0 of 1 steps" in ask(single)["text"]
    assert ask(control("hash"))["step"] == before["step"]
    slow_launches[0] = 0.0
    assert ask(control("step", 1))["step"] == before["step"] + 1


def test_scenes_are_built_beside_the_session(begun, monkeypatch: pytest.MonkeyPatch) -> None:
    session, _, ask = begun()
    real, go_on = session._make_world, threading.Event()

    def slowly(model: im.Model) -> im.World:
        assert go_on.wait(60.0)
        return real(model)

    monkeypatch.setattr(session, "_make_world", slowly)
    ids = [ask(ms.Control(id=1, action="scene", name="chain", parameters={"n": n}), wait=False)["id"] for n in (60, 70)]
    assert ask(control("hash"))["ok"]  # while neither is there
    go_on.set()
    first, second = ask(ids[0]), ask(ids[1])
    assert not first["ok"] and "another one was asked for" in first["text"]
    assert second["ok"]
    assert len(session.world.model.bodies) == 70


# steps that are too many ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["direct", "simgc", "simmc"])
def test_a_step_of_too_many_pieces_is_refused_with_words(method: str) -> None:
    """And then nothing has changed."""
    running = im.World(im.scene("chain", n=2), method=method)
    running.step(3)
    before = running.hash()
    for edit in (edits.SetStep(1e8), edits.SetStep(1e6)):
        with pytest.raises(im.EditError, match=r"sub-steps, expected at most 10000; take a dt of at most"):
            running.apply(edit)
    with pytest.raises(im.EditError, match="substeps is"):
        running.apply(edits.SetMethod("direct", {"substeps": 10**9}))
    with pytest.raises(im.ModelError, match="substeps is"):
        im.World(im.scene("chain", n=2), substeps=10**9)
    with pytest.raises(im.ModelError, match="take fewer substeps"):
        im.World(im.scene("chain", n=2), substeps=10**5)
    assert running.hash() == before
    assert running.method.name == method
    assert running.apply(edits.SetStep(20.0)).text == "step is 20 s"


@pytest.mark.parametrize("method", ["direct", "simgc", "simmc"])
@pytest.mark.parametrize("dt", [0.01, 0.35])
def test_slices_leave_no_trace(method: str, dt: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps in launches of one sub-step each are the same steps to the bit, with a script and a callable."""

    def run() -> tuple[str, float]:
        model = im.scene("chain", n=3)
        model.at(2.5 * dt, edits.SetParameter("link1.mass", 0.2))
        running = im.World(model, method=method, dt=dt)
        running.apply(edits.ApplyLoad("push", "link2", force=lambda t: (0.0, np.sin(t), 0.0)))
        report = running.step(5)
        return running.hash(), float(np.max(report.iterations))

    whole = run()
    monkeypatch.setattr(runner, "SLICE", 0.0)
    monkeypatch.setattr(runner, "FIRST_SLICE", 1)
    assert run() == whole


def test_a_step_that_is_ended_by_an_exception_was_never_begun() -> None:
    running = im.World(im.scene("chain", n=3), dt=2.0)
    running.step(2)
    before = running.hash()
    calls = []

    def end() -> None:
        calls.append(running.hash())
        if len(calls) == 2:
            raise KeyboardInterrupt

    running.runner.slice = 3
    running.between = end
    with pytest.raises(KeyboardInterrupt):
        running.step()
    assert calls[0] != before
    assert running.hash() == before
    running.between = None
    running.step()
    fresh = im.World(im.scene("chain", n=3), dt=2.0)
    fresh.step(3)
    assert running.hash() == fresh.hash()


def test_the_first_interrupt_ends_steps_in_python() -> None:
    """Ctrl-C is heard between two launches, however many steps were asked for."""
    code = (
        "import impulsar as im\nw = im.World(im.scene('ten-pendula'))\nw.step(10)\nprint('go', flush=True)\n"
        "try:\n    w.step(10**8)\nexcept KeyboardInterrupt:\n    print('ended', w.runner.count > 10, w.step().steps)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n"
        wall.sleep(1.0)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=10)[0] == "ended True 1\n"
    finally:
        process.kill()
        process.wait()


# reports and clocks that are out of date ----------------------------------------------------------------------


@pytest.mark.parametrize("scene", ["cross-lift", "slider-crank", "peaucellier", "four-bar"])
@pytest.mark.parametrize("method", ["simmc", "simgc", "direct"])
def test_every_removal_is_answered(begun, scene: str, method: str) -> None:
    """Whatever the last report says of parts that are gone: all joints, one after the other, then undo."""
    session, _, ask = begun(im.scene(scene), method=method)
    ask(control("step", 5))
    for name in list(session.world.model.joints):
        assert ask(edits.Remove("joint", name))["type"] == "reply"
    assert ask(control("undo"))["ok"]
    assert ask(control("hash"))["ok"]


def test_replies_come_even_where_publishing_fails(begun, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit that was made is answered, whatever happens to the frame after it."""
    session, _, ask = begun()
    monkeypatch.setattr("impulsar.studio.session.AFTER_FAILURE", 0.01)
    with monkeypatch.context() as patch:

        def fail(*arguments: object) -> None:
            raise KeyError("frame")

        patch.setattr(session._publisher, "publish", fail)
        assert ask(edits.SetParameter("link1.mass", 0.3))["ok"]
    assert ask(control("hash"))["ok"]


@pytest.mark.timed
@pytest.mark.parametrize("way", ["script", "replay", "revert"])
def test_the_clock_is_right_after_a_step_size_that_nobody_asked_for_now(tmp_path: Path, way: str) -> None:
    """Set by a script, by the recording that is followed, or back by revert: a second is a second."""
    model = im.scene("chain", n=2)
    dt = 0.04
    if way == "script":
        model.at(0.1, edits.SetStep(dt))
    session = Session(History(im.World(model, dt=0.01), tmp_path / "journal"))
    client = Client("test", Mailbox(lambda: None))
    session.add(client)
    if way == "replay":
        session.history.step(10)
        session.history.apply(edits.SetStep(dt))
        session.history.step(200)
        session._turn([Asked(client, control("seek", 0.05))], [], [client])
    elif way == "revert":
        session._turn([Asked(client, ms.EditMessage(id=1, edit={"edit": "SetStep", "dt": 0.1}))], [], [client])
        session._turn([Asked(client, control("revert"))], [], [client])
        dt = 0.01
    session.start()
    wall.sleep(0.5)
    first, began = session.call(lambda: session.world.time).result(10), wall.monotonic()
    wall.sleep(2.0)
    last, ended = session.call(lambda: session.world.time).result(10), wall.monotonic()
    factor, is_slow = session.clock.factor, session.clock.slow
    session.stop()
    assert session.world.dt == dt
    assert not is_slow
    assert (last - first) / (ended - began) == pytest.approx(1.0, abs=0.1)
    assert factor == pytest.approx(1.0, abs=0.15)
