"""Analyses that the page asks for: of a copy of the world as it is now, beside the session."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.io import edit_from_json
from impulsar.studio import sweeping
from impulsar.studio.client import StudioClient
from impulsar.studio.server import Studio

Make = Callable[..., Studio]
SPEED = 3.0  # of a driven crank [rad/s]


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


def analyse(page: StudioClient, kind: str, **more: Any) -> dict:
    answer = page.request("POST", "/api/analyse", json.dumps({"kind": kind, **more}).encode())
    found = json.loads(answer.body)
    assert answer.status == (200 if found["ok"] else 422)
    return found


def swept(page: StudioClient, **wanted: Any) -> list[dict]:
    answer = page.request("POST", "/api/sweep", json.dumps(wanted).encode())
    return [json.loads(line) for line in answer.body.splitlines()]


def test_mobility_names_what_is_held_twice_and_what_moves(page: StudioClient) -> None:
    """A planar four-bar: one freedom, three equations too many, all out of its plane."""
    found = analyse(page, "mobility")
    assert found["text"].startswith("1 freedom; 3 redundant, out of plane")
    tables = {table["title"]: table for table in found["tables"]}
    assert len(tables["Held more than once"]["rows"]) == 3
    assert [row["part"] for row in tables["Free to move, motors held"]["rows"]] == ["crank", "coupler", "rocker"]
    page.edit(edits.SetMotor("O", motor=im.Motor(speed=SPEED)))
    found = analyse(page, "mobility")
    assert "Motors hold 1 of them, 0 are left" in found["text"]
    assert {table["title"] for table in found["tables"]} == {"Count", "Held more than once", "Held fast"}


def test_rest_is_an_edit_that_undo_takes_back(page: StudioClient) -> None:
    """What `statics` finds is gone to by one edit: the world stays there for a second, and undo restores its bits."""
    page.control("step", 200)
    before = page.control("hash")["text"]
    found = analyse(page, "statics")
    assert page.control("hash")["text"] == before  # an analysis changes nothing
    assert "stable" in found["text"] and len(found["tables"][0]["rows"]) == 4
    edit = edit_from_json(found["edit"])
    assert isinstance(edit, edits.SetState)
    page.edit(edit)
    page.control("record")
    page.control("step", 1000)
    places = page.series(*(f"body.coupler.position.{axis}" for axis in "xyz"))[:, 1:]
    np.testing.assert_allclose(places, np.tile(edit.bodies["coupler"]["position"], (1000, 1)), atol=1e-9)
    assert page.control("undo")["text"].startswith("before SetState")
    assert page.control("hash")["text"] == before


def test_modes_have_poses_in_which_the_joints_are_closed(page: StudioClient) -> None:
    found = analyse(page, "modes")
    (mode,) = found["modes"]
    world = im.World(im.scene("four-bar"))
    for pose in (mode["poses"][0], mode["poses"][-1]):
        places = np.reshape(pose, (-1, 7))
        world.apply(
            edits.SetState(
                {
                    name: {"position": place[:3].tolist(), "orientation": place[3:].tolist()}
                    for name, place in zip(found["bodies"], places, strict=True)
                }
            )
        )
        for name, place in zip(found["bodies"], places, strict=True):
            np.testing.assert_allclose(world.body(name).position, place[:3], atol=1e-7)
    assert not np.allclose(mode["poses"][0], mode["poses"][-1], atol=1e-3)


def test_a_free_motion_needs_no_motor_and_a_driven_one_what_its_motor_gave(page: StudioClient) -> None:
    page.control("step", 400)
    free = analyse(page, "inverse", motions={"O": None})
    weight = 9.81 * sum(body.mass for body in im.scene("four-bar").bodies.values())
    assert np.abs(free["curves"][0]["values"][5:-5]).max() < 1e-5 * weight
    page.control("reset")
    page.edit(edits.SetMotor("O", motor=im.Motor(speed=SPEED)))
    page.control("record")
    page.control("step", 400)
    given = page.series("joint.O.motor_torque")
    driven = analyse(page, "inverse")
    inner = slice(5, -5)
    expected = np.interp(driven["times"], given[:, 0], given[:, 1])
    np.testing.assert_allclose(
        np.array(driven["curves"][0]["values"])[inner], expected[inner], atol=2e-4 * np.abs(expected).max()
    )
    assert analyse(page, "inverse", motions={"none": 1.0})["text"].startswith("inverse: no coordinate named 'none'")


def test_a_sweep_is_what_single_runs_measure(page: StudioClient) -> None:
    """Peak reaction over the mass of the coupler, each by a world of its own; wrong values say why."""
    masses = [0.5, 1.0, -1.0, 2.0]
    wanted = {"path": "coupler.mass", "signal": "joint.O.reaction.force.norm", "measure": "largest", "duration": 0.2}
    before = page.control("hash")["text"]
    points = swept(page, values=masses, **wanted)
    assert page.control("hash")["text"] == before
    assert [point["value"] for point in points] == masses
    assert points[2]["result"] is None and "mass" in points[2]["text"]
    for point in (points[0], points[3]):
        world = im.World(im.scene("four-bar"), dt=1e-3)
        world.set("coupler.mass", point["value"])
        force = world.run(0.2, progress=False)["reaction_force"].sel(joint="O").values
        assert point["result"] == pytest.approx(np.linalg.norm(force, axis=-1).max(), rel=1e-9)
        assert point["unit"] == "N"
    assert "no body" in swept(page, **{**wanted, "signal": "body.x.position.x"}, values=[1.0])[0]["text"]


def test_a_sweep_ends_with_who_waits_for_it(page: StudioClient) -> None:
    """Between two slices of steps it is asked whether somebody waits."""
    from impulsar.studio import analysis_messages as ms

    asked: list[int] = []

    def has_left() -> bool:
        asked.append(1)
        return len(asked) > 3

    wanted = ms.SweepRequest(
        path="coupler.mass", values=[1.0, 2.0], signal="energy.kinetic", measure="mean", duration=400.0
    )
    points = list(sweeping.sweep(wanted, lambda: im.World(im.scene("four-bar"), dt=1e-3), has_left))
    assert points == [] and len(asked) == 4
