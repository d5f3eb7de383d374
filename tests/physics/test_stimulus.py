"""Torque of a stimulus on a Mini Baja's wheel beside Exudyn (Wang 2011 Figs. 5 to 7), over a short time."""

import numpy as np
import pytest

from impulsar.validate import stimulus


@pytest.mark.slow
def test_driving_torque_beside_exudyn():
    """Apart by less than halving Exudyn's steps changes its torque, before an extra torque and after; loops closed."""
    found = stimulus.compare(0.2, 0.4)
    for row in found.rows:
        assert row["apart"] < row["Exudyn's own error"], row
        assert row["apart at the end"] < 1e-3 * (row["most"] - row["torque, least [N m]"]), row
    assert found.ours.loops < stimulus.LOOPS


def test_the_extra_torque_is_felt():
    """Half of it goes to the front axle or more, for its springs are at work on the arm that is held."""
    with_it, without = stimulus.ours(0.2, 0.4), stimulus.ours(1.0, 0.4)
    before = with_it.times < 0.2
    assert np.array_equal(with_it.torque[before], without.torque[before])
    assert np.abs(with_it.torque - without.torque)[~before].max() > 5.0


def test_the_rig_has_the_car_s_parts_and_stands():
    """All bodies but those of the differential; at rest without the stimulus hubs sink by less than a millimetre."""
    model = stimulus.rig()
    assert len(model.bodies) == 18
    model.joints[stimulus.DRIVEN].features["angle"].motor = None
    world = stimulus.World(model)
    world.step(100)
    for corner in stimulus.CORNERS:
        start = stimulus.point(corner, "wheel")
        assert world.body(f"wheel {corner}").position == pytest.approx(start, abs=1e-3)
