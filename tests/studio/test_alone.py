"""Parts by themselves as another scene of a session, from what it recorded."""

import json
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from impulsar import edits
from impulsar.studio.client import StudioClient
from impulsar.studio.server import Studio

Make = Callable[..., Studio]
STEPS, DT = 300, 1e-3


@pytest.fixture(scope="module")
def four_bar(make_studio: Make) -> Studio:
    return make_studio("four-bar")


@pytest.fixture
def page(four_bar: Studio) -> Iterator[StudioClient]:
    """A client of the four-bar, stopped, with some steps recorded."""
    with StudioClient(four_bar.url, timeout=90.0) as client:
        client.control("scene", name="four-bar")
        client.control("pause")
        client.edit(edits.SetStep(DT))
        client.control("reset")
        client.control("record")
        client.control("step", STEPS)
        yield client


def alone(page: StudioClient, *bodies: str, **more: str) -> dict:
    answer = page.request("POST", "/api/alone", json.dumps({"bodies": bodies, **more}).encode())
    return json.loads(answer.body)


def test_by_recorded_reactions_a_part_moves_as_it_did(page: StudioClient) -> None:
    """The coupler alone is at every step within 1e-5 m of where it was, and undo brings the four-bar back."""
    names = [f"body.coupler.position.{axis}" for axis in "xyz"]
    whole = page.series(*names)[:, 1:]
    before = page.control("hash")["text"]
    answer = alone(page, "coupler", instead="reactions")
    assert answer["ok"] and "loads as recorded in the place of 'A', 'B', for 0.299 s" in answer["text"]
    scene = page.wait("scene", lambda scene: len(scene["bodies"]) == 1)
    assert scene["bodies"][0]["name"] == "coupler"
    page.control("step", STEPS - 1)
    again = page.series(*names)[:, 1:]
    assert np.linalg.norm(again - whole[1:], axis=1).max() < 1e-5
    page.control("undo")
    assert page.control("hash")["text"] == before


def test_held_and_refused(page: StudioClient) -> None:
    answer = alone(page, "coupler", "rocker")
    assert answer["ok"] and "'A' held where it is" in answer["text"]
    assert not alone(page, "coupler", instead="following")["ok"]  # nothing is recorded of this scene yet
    assert "no body" in alone(page, "crank")["text"]
    assert not alone(page)["ok"]
