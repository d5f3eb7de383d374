"""What scenes are about: what is said is true of the world as it is, and goes where it no longer is."""

import json
from collections.abc import Callable

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.io.codec import model_from_json
from impulsar.scenes import SCENES
from impulsar.studio.client import StudioClient
from impulsar.studio.notes import about
from impulsar.studio.server import Studio


@pytest.mark.parametrize("name", ["peaucellier", "scissor", "gear-train"])
def test_what_is_off_by_rounding_is_said_so(name: str) -> None:
    """The laws hold to rounding, after a second of motion."""
    world = im.World(im.scene(name))
    world.step(round(1.0 / world.dt))
    (note,) = about(name, world).notes
    assert note.value is not None and note.value < 1e-11


def test_jellett_is_kept_by_the_tippe_top() -> None:
    world = im.World(im.scene("tippe-top"))
    world.step(round(0.3 / world.dt))
    (note,) = about("tippe-top", world).notes
    assert note.unit == "%" and abs(note.value or 0.0) < 1e-3


def test_grashof_is_of_the_lengths_as_they_are() -> None:
    world = im.World(im.scene("four-bar"))
    assert "can turn right round" in about("four-bar", world).notes[0].text
    world.apply(edits.Remove("joint", "B"))
    assert about("four-bar", world).notes == []  # it is no four-bar any more


def test_notes_are_kept_in_files(make_studio: Callable[..., Studio]) -> None:
    """A scene that is saved as shown and opened again is about what it was; files without the field open as before."""
    studio = make_studio("peaucellier")
    with StudioClient(studio.url, timeout=60.0) as client:
        saved = client.request("GET", "/api/scene.json").body
        assert json.loads(saved)["scene"] == "peaucellier"
        for data, count in ((json.loads(saved) | {"name": "my cell"}, 1), (json.loads(saved) | {"scene": None}, 0)):
            answer = client.request("POST", "/api/scene-file?name=my.json", json.dumps(data).encode())
            assert answer.status == 200, answer.body
            client.frame(lambda frame: frame.header["generation"] == client.newest["scene"]["generation"])
            client.drain(0.5)
            notes = client.newest["about"]["notes"]
            assert len(notes) == count
    told = json.loads(saved)
    del told["scene"]
    assert model_from_json(told).scene is None
    assert im.World(model_from_json(json.loads(saved))).model.scene == "peaucellier"


def test_all_notes_can_be_made_of_their_scenes() -> None:
    named = [name for name, entry in SCENES.items() if entry.about is not None]
    assert len(named) >= 8
    for name in named:
        assert about(name, im.World(im.scene(name))).notes, name


def test_clients_are_told_and_may_ask_for_a_turn(make_studio: Callable[..., Studio]) -> None:
    """The deviation of Peaucellier's point comes in full precision, though frames are in float32."""
    studio = make_studio("peaucellier")
    with StudioClient(studio.url, timeout=60.0) as client:
        message = client.wait("about")
        (note,) = message["notes"]
        assert 0.0 <= note["value"] < 1e-11 and note["lines"][0][0][0] == pytest.approx(0.2625)
        point = {"body": "CD", "at": [0.0, 0.0, 0.0]}
        reply = json.loads(client.request("POST", "/api/turn", json.dumps({"points": [point]}).encode()).body)
        assert not reply["closed"] and reply["text"] == "'crank' from end to end; it cannot turn right round"
        client.control("scene", name="ten-pendula", parameters={"start": "30deg"})
        point["body"] = "link1"
        reply = json.loads(client.request("POST", "/api/turn", json.dumps({"points": [point]}).encode()).body)
        assert reply["text"].startswith("the next ") and len(reply["paths"][0]) > 30
        point["body"] = "nobody"
        assert client.request("POST", "/api/turn", json.dumps({"points": [point]}).encode()).status == 422
        path = np.reshape(reply["paths"][0], (-1, 3))
        distance = np.linalg.norm(path, axis=1)  # of the first link's middle from the pivot
        np.testing.assert_allclose(distance, distance[0], rtol=1e-6)
