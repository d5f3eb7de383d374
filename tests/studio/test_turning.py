"""Hands that turn, as a session has them: what the stream says, and the short way of what pointers send."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.profiles import Ramp
from impulsar.author.rotations import conjugate, multiply, quaternions, rotation_vectors
from impulsar.studio.client import StudioClient
from impulsar.studio.clock import Clock
from impulsar.studio.gestures import STIFFEST, Pace, carried, held_body


def test_the_torque_drawn_is_that_of_the_spring(page: StudioClient) -> None:
    """τ = -k φ - c ω, from what the stream says of one moment: orientations of hand and body, angular velocity."""
    page.control("pause")
    page.edit(edits.Grab("pointer", "link1", stiffness=5.0, angular_stiffness=0.2, angular_damping=1e-4))
    page.edit(edits.Move("pointer", None, (0.0, 0.3, 0.1)))
    assert page.subscribe(*[f"body.link1.angular_velocity.{axis}" for axis in "xyz"])["ok"]
    moved = page.control("step", 2)
    frame = page.frame(lambda frame: frame.header["applied"] >= moved["id"])
    (hand,) = page.newest["live"]["hands"]
    assert (hand["angular_stiffness"], hand["angular_damping"]) == (0.2, 1e-4)
    torque, aim = frame.hands[0, 9:12], frame.hands[0, 12:]
    assert aim == pytest.approx(quaternions(np.array([0.0, 0.3, 0.1])), abs=1e-6)
    off = rotation_vectors(multiply(frame.poses[0, 3:], conjugate(aim)))
    expected = -0.2 * off - 1e-4 * frame.signals[:3]
    assert np.linalg.norm(torque - expected) < 0.01 * np.linalg.norm(expected)
    page.edit(edits.Release("pointer"))


def test_pointers_turn_the_short_way() -> None:
    """A page sends rotation vectors of at most half a turn. From 3.1 to -3.1 rad the hand goes on by 0.08, not back by
    6.2; and numbers that are none are left for the engine to refuse."""
    model = im.Model("alone")
    model.body("body", mass=1.0, inertia=(1, 1, 1), orientation=(0, 0, math.sin(1.55), math.cos(1.55)))
    world = im.World(model, dt=0.01)
    world.grab("body", name="hand", angular_stiffness=1.0)
    pace, clock = Pace(), Clock(world.dt, 0.0)
    move = pace.evened(edits.Move("hand", None, (0.0, 0.0, -3.1)), clock, world)
    assert isinstance(move.turn, Ramp) and move.target is None
    assert move.turn.end == pytest.approx((0.0, 0.0, 2 * math.pi - 3.1))
    wrong = edits.Move("hand", None, (0.0, "x", 1.0))
    assert pace.evened(wrong, clock, world) is wrong
    plain = pace.evened(edits.Move("hand", (0.0, 0.0, 1.0)), clock, world)
    assert isinstance(plain.target, Ramp) and plain.turn is None


def test_a_grip_stiffer_than_steps_carry_is_made_softer() -> None:
    """By its least moment of inertia, as a pull is by its mass; and it is said."""
    model = im.Model("alone")
    model.body("body", mass=1.0, inertia=(0.2, 0.3, 0.4))
    world = im.World(model, dt=0.01)
    world.grab("body", name="hand")
    edit = edits.Grip("hand", angular_stiffness=1e9)
    body = held_body(edit, world)
    assert body is not None and body.name == "body"
    softer, told = carried(edit, body, world.dt)
    assert softer.angular_stiffness == pytest.approx(0.2 * (STIFFEST / world.dt) ** 2, rel=1e-2)
    assert softer.stiffness is None and "N m/rad is used" in told
    assert held_body(edits.Grip("none"), world) is None
