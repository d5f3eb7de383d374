"""Garbage is looked for between turns only, what has survived is looked through when nobody waits."""

import gc
import threading
import time as wall
from collections.abc import Iterator
from typing import Any

import pytest

import impulsar as im
from impulsar import edits
from impulsar.history.history import History
from impulsar.studio.client import StudioClient
from impulsar.studio.server import Studio
from impulsar.studio.session import Session
from impulsar.studio.tidying import ALL_AFTER, ALL_EVERY, YOUNG_EVERY, Tidying


class Ring:
    """A cycle."""

    alive = 0

    def __init__(self) -> None:
        self.me = self
        Ring.alive += 1

    def __del__(self) -> None:
        Ring.alive -= 1


@pytest.fixture
def tidying() -> Iterator[Tidying]:
    made = Tidying()
    made.begin(0.0)
    yield made
    made.end()


def test_young_cycles_go_between_turns_and_old_ones_when_nobody_waits(tidying: Tidying) -> None:
    assert not gc.isenabled()
    Ring()
    tidying.between(0.1, 0.01, 0.1)  # too soon
    tidying.between(YOUNG_EVERY + 0.1, 0.0, 0.1)  # no time left
    assert Ring.alive == 1
    tidying.between(YOUNG_EVERY + 0.1, 0.01, 0.1)
    assert Ring.alive == 0
    kept = Ring()
    tidying.between(3 * YOUNG_EVERY, 0.01, 0.1)  # it survives, and is set aside
    del kept
    tidying.between(5 * YOUNG_EVERY, 0.01, 0.1)
    assert Ring.alive == 1
    later = ALL_EVERY + 2 * ALL_AFTER
    tidying.between(later, 1e9, later - ALL_AFTER / 2)  # somebody was here just now
    assert Ring.alive == 1
    tidying.between(later, 1e9, later - 2 * ALL_AFTER)
    assert Ring.alive == 0 and tidying.looks == [4, 1]


def test_no_turn_is_held_up_by_a_collection() -> None:
    """With a session that runs and is edited, collections come in its thread, of the young only, and are asked for."""
    session = Session(History(im.World(im.scene("ten-pendula", start="30deg"))), scene="ten-pendula")
    session.tidying = Tidying()
    seen: list[tuple[int, bool]] = []

    def note(phase: str, info: dict[str, Any]) -> None:
        if phase == "stop":
            seen.append((info["generation"], threading.current_thread() is session._thread))

    studio = Studio(session)
    studio.start()
    try:
        with StudioClient(studio.url, timeout=30.0) as client:
            client.frame()
            gc.callbacks.append(note)
            until = wall.monotonic() + 4 * YOUNG_EVERY
            client.edit(edits.Grab("pointer", "link10"))
            while wall.monotonic() < until or (not seen and wall.monotonic() < until + 60.0):  # no turn has time for it
                client.edit(edits.Move("pointer", (0.1, 0.0, -0.4)))
            gc.callbacks.remove(note)
            client.edit(edits.Release("pointer"))
    finally:
        studio.stop()
    assert seen and set(seen) == {(1, True)}
    assert gc.isenabled()
