"""The study of the grabbed point: what it draws on, by a few pictures."""

import math

import numpy as np
import pytest

from impulsar.validate.digitizer_cases import PICK

cv2 = pytest.importorskip("cv2")
from impulsar.validate import grabbed_point_cases as study  # noqa: E402


def test_wand_and_arm_find_the_same_point():
    """Far away the wand is off by more than near by, as the square of the distance of its markers; the arm's error is
    that of the collimation, σ √(6/8) at the cube, and of its counts, 0.12 mm rms, each three times over at most."""
    near, far = (study.optical(distance, 2) for distance in (0.3, 1.0))
    assert len(near["marker"]) == len(far["marker"]) == 2
    assert near["marker"].max() < 0.5e-3 and far["marker"].max() < 0.5e-3 * (1.0 / 0.3) ** 2
    arm = study.mechanical(20)
    assert np.sqrt(np.mean(arm**2)) < 3 * math.hypot(PICK * math.sqrt(6 / 8), 0.116e-3)
