"""A whole turn by kinematics: closed forms of linkages, and what decides nothing is refused."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.analysis import turn
from impulsar.scenes import peaucellier, six_bar


def test_a_crank_turns_once_and_its_coupler_comes_back() -> None:
    """Four-bar: |AB| and |CB| keep their lengths all the way, and the last pose is the first."""
    model = im.scene("four-bar")
    found = turn(model)
    assert found.coordinate == "O" and found.is_whole
    A, B = model.joints["A"], model.joints["B"]
    pins = found.path("coupler", A.p_CM), found.path("coupler", B.p_PF)
    np.testing.assert_allclose(np.linalg.norm(pins[1] - pins[0], axis=1), 0.25, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(pins[1] - (0.25, 0, 0), axis=1), 0.2, atol=1e-9)
    angles = np.unwrap(np.arctan2(pins[0][:, 1], pins[0][:, 0]))
    np.testing.assert_allclose(np.diff(angles), 2 * math.pi / (len(angles) - 1), atol=1e-8)
    np.testing.assert_allclose(found.position[-1], found.position[0], atol=1e-8)


def test_one_that_cannot_turn_goes_from_end_to_end_on_its_line() -> None:
    """Peaucellier's crank has two dead centres; between them D stays on x = (a² - s²) / 2 r."""
    model = im.scene("peaucellier")
    found = turn(model)
    assert found.coordinate == "crank" and not found.is_whole
    probe = model.probes["path D"]
    path = found.path(probe.body, probe.p_BQ)
    np.testing.assert_allclose(path[:, 0], peaucellier.LINE, atol=1e-8)
    assert np.ptp(path[:, 1]) > 0.2


def test_a_ram_follows_its_closed_form() -> None:
    model = im.scene("six-bar")
    found = turn(model, samples=60)
    x = found.path("ram", np.zeros(3))[:, 0]
    law = [six_bar.ram(2 * math.pi * k / 60)[0] for k in range(61)]
    np.testing.assert_allclose(x, law, atol=1e-8)


def test_what_no_hinge_decides_is_refused() -> None:
    with pytest.raises(im.ModelError, match="does not decide how everything moves"):
        turn(im.scene("five-bar"))
    with pytest.raises(im.ModelError, match="no hinge 'X'; there are: O, A, B, C"):
        turn(im.scene("four-bar"), "X")
