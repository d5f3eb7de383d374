"""Machines in large worlds: motors in joints and contact at once."""

import numpy as np
import pytest

from impulsar.author.errors import ModelError
from impulsar.scale.large import LargeWorld, conveyor, hopper

H = 1.0 / 240.0


def test_a_gate_holds_grains_until_it_opens() -> None:
    """Nothing passes while it is closed; then grains fall freely through, and the hinge stays where it is."""
    world = LargeWorld(hopper(60, opens=0.4), dt=H)
    hinge = world.positions[-1, 0] - 0.07
    report = world.step(96)
    assert world.positions[:-1, 2].min() > 0.9 * 0.01  # on the gate's top, but for the slop
    assert report.position_error < 1e-9
    assert abs(world.positions[-1, 2] + 0.01) < 1e-5
    world.step(96)
    assert (world.positions[:-1, 2] < -0.14).sum() > 30
    np.testing.assert_allclose(world.positions[-1], [hinge, 0.0, -0.08], atol=1e-9)  # a right angle further


def test_plates_pull_each_other_and_carry_boxes() -> None:
    """All plates have the motor's speed to rounding of the solve; boxes go along within what taking turns leaves."""
    world = LargeWorld(conveyor(6, speed=0.5), dt=H)
    report = world.step(72)
    forward = world.velocities[:, 3]
    np.testing.assert_allclose(forward[:6], 0.5, atol=1e-9)
    np.testing.assert_allclose(forward[6:], 0.5, rtol=2e-3)
    np.testing.assert_allclose(world.positions[6:, 2], 0.02 + 0.04, atol=1e-4)
    assert report.position_error < 1e-10


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: hopper(0), "n is 0, expected an integer >= 1"),
        (lambda: hopper(10, outlet=1.0), "outlet is 1.0, expected a number > 2"),
        (lambda: conveyor(1), "plates is 1, expected an integer >= 2"),
        (lambda: conveyor(5, speed=float("nan")), "speed is nan"),
    ],
)
def test_what_cannot_be_is_refused(ask, told) -> None:
    with pytest.raises(ModelError, match=told):
        ask()
