"""Users' events in a session: found inside its steps as a run finds them, and time that stops at them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.results import load
from impulsar.studio.client import StudioClient
from impulsar.studio.server import Studio

SIGNAL, LEVEL = "joint.O.position", -0.3
STEPS = 1200  # a swing there and back


@pytest.fixture(scope="module")
def four_bar(make_studio) -> Studio:
    return make_studio("four-bar")


@pytest.fixture
def page(four_bar: Studio) -> Iterator[StudioClient]:
    """A client of the four-bar at its start, stopped."""
    with StudioClient(four_bar.url, timeout=20.0) as client:
        client.control("scene", name="four-bar")
        client.control("pause")
        client.control("reset")
        client.control("record")
        yield client


def watch(client: StudioClient, name: str = "passes", **given: object) -> dict:
    return client.control("watch", name=name, parameters={"signal": SIGNAL, "level": LEVEL} | given)


def crossings(direction: int = 0) -> np.ndarray:
    """Of the same swing, by `run` [s]."""
    event = im.Event("passes", SIGNAL, direction, level=LEVEL)
    world = im.World(im.scene("four-bar"))
    return world.run(STEPS * world.dt, events=[event], progress=False).event_time.values


def events(client: StudioClient, count: int) -> list[dict]:
    return client.wait("events", lambda told: len(told["found"]) >= count)["found"]


@pytest.mark.parametrize("direction", [0, 1, -1])
def test_a_session_finds_what_a_run_finds(page: StudioClient, tmp_path: Path, direction: int) -> None:
    """To the bit, and its steps have the bits of steps that nobody watched."""
    true = crossings(direction)
    assert len(true) > 0
    page.control("step", STEPS)
    alone = page.control("hash")["text"]
    page.control("reset")
    page.control("record")
    watch(page, direction=direction)
    page.control("step", STEPS)
    assert page.control("hash")["text"] == alone
    np.testing.assert_array_equal([one["time"] for one in events(page, len(true))], true)
    path = tmp_path / "results.nc"
    path.write_bytes(page.request("GET", "/api/results.nc").body)
    result = load(path)
    np.testing.assert_array_equal(result.event_time.values, true)
    assert list(result.event_name.values) == ["passes"] * len(true)
    np.testing.assert_allclose(result.event_joint_position.sel(coordinate="O").values, LEVEL, atol=1e-10)


def test_time_stops_at_a_terminal_event(page: StudioClient, four_bar: Studio) -> None:
    """With the world there, in the history as two edits that are undone as one; it goes on to the next, not to it."""
    true = crossings()
    watch(page, terminal=True)
    page.control("run")
    events(page, 1)
    page.wait("status", lambda status: status["paused"])
    page.control("hash")
    assert any("event 'passes'" in notice["text"] for notice in page.notices), page.notices
    world = four_bar.session.world
    assert world.time == pytest.approx(true[0], abs=1e-10)
    assert world.joint("O").position == pytest.approx(LEVEL, abs=1e-9)
    assert world.dt == im.World(im.scene("four-bar")).dt
    assert page.control("run")["ok"]
    times = [one["time"] for one in events(page, 2)]
    page.wait("status", lambda status: status["paused"])
    assert world.time == pytest.approx(true[1], abs=1e-6)  # steps since lie elsewhere than those of the run
    assert times == pytest.approx(true[:2], abs=1e-6)
    end = page.control("hash")["text"]
    before = four_bar.session.history.count
    page.control("undo")
    assert four_bar.session.history.count == before - 1
    page.control("redo")
    assert page.control("hash")["text"] == end


def test_what_an_edit_brings_across_is_no_event(page: StudioClient) -> None:
    """A reset, or a level that is passed because a body was put elsewhere."""
    watch(page, direction=0)
    page.control("step", STEPS)
    count = len(events(page, 1))
    page.control("reset")
    assert page.wait("events", lambda told: not told["found"])["found"] == []
    page.control("step", STEPS)
    assert len(events(page, count)) == count


def test_a_topology_that_changes_is_watched_on(page: StudioClient) -> None:
    watch(page)
    page.control("step", 2)
    page.edit(edits.Add("probe", "p", {"body": "coupler", "at": (0, 0, 0)}))
    page.control("step", STEPS)
    assert len(events(page, 1)) >= 1
    assert not page.control("unwatch", name="nothing")["ok"]
    assert page.control("unwatch", name="passes")["ok"]
    assert page.wait("events", lambda told: not told["watched"])["found"] == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"signal": "joint.nowhere.position"}, "nowhere"),
        ({"signal": 3}, "signal is 3"),
        ({"level": "high"}, "level is 'high'"),
        ({"direction": 2}, "direction is 2"),
        ({"terminal": "yes"}, "terminal is 'yes'"),
        ({"colour": "red"}, "'colour' is not known"),
    ],
)
def test_what_cannot_be_watched_is_refused(page: StudioClient, given: dict, said: str) -> None:
    reply = watch(page, **given)
    assert not reply["ok"] and said in reply["text"]
    assert page.control("step", 1)["ok"]
