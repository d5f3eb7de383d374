"""The digitizer arm: its tip before and after self-calibration, and the collimation by a cube's corners.

Into the arm of `ar/trackers/kinematics.py` errors are put as a workshop makes them: 0.3 mm in lengths and offsets and
0.05° in axes and zeros of encoders (standard deviations, cut at two). It is calibrated by touches of the 80 mm cube,
put to six places, each corner in twelve attitudes (the stylus is tilted in it while samples come), with encoders of
12,000 or 40,000 counts a turn, and then judged at attitudes all over its working sphere, in the frame of its own first
axis: where the base is said to be is a choice.
Quantisation of 12,000 counts alone is 0.12 mm rms and 0.30 mm at worst.
"""

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..ar.calibration import collimate, cube_corners
from ..ar.pose import turn
from ..ar.self_calibration import ANGLE, LENGTH, Touches, self_calibrate
from ..ar.trackers.kinematics import EXAMPLE, ArmTable, reach, tips
from .case import Case, print_table

ARMS = 5  # with other errors each
JUDGED = 4000  # attitudes at which an arm is judged
BOUNDS = {12_000: (0.15e-3, 0.35e-3), 40_000: (math.inf, 0.2e-3)}  # rms and worst [m] by counts
DRAWS = 1000
PICK = 0.2e-3  # noise of a pick, an axis [m]
CENTRE, CORNER = 0.15e-3, 0.2e-3  # rms of a collimation at the cube's centre and corners [m]
_rows: list[dict] = []
_collimations: list[dict] = []


def with_errors(random: np.random.Generator, counts: int) -> ArmTable:
    """The example arm as a workshop would make it."""
    units = np.array([ANGLE, LENGTH, LENGTH, ANGLE, ANGLE])
    error = np.clip(random.normal(size=(6, 5)), -2, 2) * units
    error[:, 4] *= np.arange(6) == 2  # Hayati's angle of the parallel axes only; elsewhere α and θ have it
    return replace(EXAMPLE.with_array(EXAMPLE.array + error), counts=counts)


def first_axis_frame(true: ArmTable) -> ArmTable:
    """The same arm in the frame in which its first row is the example's."""
    rows = true.array
    rows[0] = EXAMPLE.array[0]
    return true.with_array(rows)


def touch_cubes(random: np.random.Generator, true: ArmTable, cubes: int = 6, attitudes: int = 12) -> list[Touches]:
    """Encoders' readings at the corners of a cube that is put to several places in the arm's reach."""
    found = []
    for k in range(cubes):
        R = turn(random.normal(size=3))
        around = 2 * math.pi * k / cubes
        centre = np.array([0.0, 0.0, 0.21 + (-0.2, 0.05, 0.3)[k % 3]])
        centre[:2] = random.uniform(0.25, 0.42) * np.array([math.cos(around), math.sin(around)])
        points = np.repeat(cube_corners(), attitudes, axis=0)
        targets = (points - cube_corners().mean(axis=0)) @ R.T + centre
        angles = attitudes_at(random, true, targets)
        found.append(Touches(true.angles(true.encode(angles)), points))
    return found


def attitudes_at(random: np.random.Generator, true: ArmTable, targets: np.ndarray) -> np.ndarray:
    """Angles at which the tip is at targets [n, 3], each from a start of its own, so that the attitudes differ."""
    low, high = np.array(true.limits).T
    result, left = np.zeros((len(targets), 5)), np.arange(len(targets))
    for _ in range(200):
        start = random.uniform(low, high, (len(left), 5))
        start[:, 0] = np.arctan2(targets[left, 1], targets[left, 0])
        angles, off = reach(true, start, targets[left], 40)
        good = off < 1e-9
        result[left[good]] = angles[good]
        left = left[~good]
        if len(left) == 0:
            return result
    raise RuntimeError("a corner is out of the arm's reach")


@dataclass(frozen=True)
class Judged:
    """Errors of the tip [m]: rms and worst."""

    rms: float
    worst: float


def judge(thought: ArmTable, true: ArmTable, random: np.random.Generator, count: int = JUDGED) -> Judged:
    """The tip as it is computed from the encoders against where it is, all over the working sphere."""
    low, high = np.array(true.limits).T
    angles = random.uniform(low, high, (count, 5))
    off = tips(thought.array, true.angles(true.encode(angles))) - tips(true.array, angles)
    far = np.linalg.norm(off, axis=1)
    return Judged(float(np.sqrt(np.mean(far**2))), float(far.max()))


def calibrated(seed: int, counts: int) -> tuple[Judged, Judged]:
    """An arm with errors, before and after its self-calibration."""
    random = np.random.default_rng(seed)
    true = first_axis_frame(with_errors(random, counts))
    start = replace(EXAMPLE, counts=counts)
    found = self_calibrate(start, touch_cubes(random, true))
    return judge(start, true, random), judge(found.table, true, random)


def measure(device: str) -> float:
    """Worst of arms and counts: error after calibration over its bound; infinite where it was right before."""
    _rows.clear()
    figure = 0.0
    for counts, (rms, worst) in BOUNDS.items():
        for seed in range(ARMS):
            before, after = calibrated(seed, counts)
            _rows.append(
                {
                    "counts": counts,
                    "arm": seed + 1,
                    "rms before [mm]": before.rms * 1e3,
                    "worst before [mm]": before.worst * 1e3,
                    "rms [mm]": after.rms * 1e3,
                    "worst [mm]": after.worst * 1e3,
                }
            )
            figure = max(figure, after.rms / rms, after.worst / worst, math.inf if before.rms < 0.2e-3 else 0.0)
    return figure


def draws(method: str, count: int = DRAWS, seed: int = 0) -> tuple[float, float]:
    """rms errors [m] at the cube's centre and corners of collimations by eight noisy picks."""
    random, corners = np.random.default_rng(seed), cube_corners()
    centre = corners.mean(axis=0)
    at_centre, at_corners = [], []
    for _ in range(count):
        R, p = turn(random.normal(size=3)), random.uniform(-0.5, 0.5, 3)  # X_TW
        picks = corners @ R.T + p + random.normal(0.0, PICK, corners.shape)
        found = collimate(corners, picks, method)
        at_centre.append(np.linalg.norm(found.to_world(R @ centre + p) - centre))
        at_corners.append(np.linalg.norm(found.to_world(corners @ R.T + p) - corners, axis=1))
    return float(np.sqrt(np.mean(np.square(at_centre)))), float(np.sqrt(np.mean(np.square(at_corners))))


def measure_collimation(device: str) -> float:
    """Error by Kabsch over its bound, at centre or corners; the paper's QR is in the table."""
    _collimations.clear()
    for method in ("kabsch", "qr"):
        centre, corner = draws(method)
        _collimations.append({"method": method, "centre [mm]": centre * 1e3, "corners [mm]": corner * 1e3})
    ours = _collimations[0]
    return max(ours["centre [mm]"] / (CENTRE * 1e3), ours["corners [mm]"] / (CORNER * 1e3))


CASES = [
    Case(
        "digitizer-calibration",
        "tip within 0.15 mm rms and 0.35 mm (12,000 counts), 0.2 mm (40,000) after touches of a cube; of the bounds",
        1.0, "1", measure, True, partial(print_table, _rows),
    ),
    Case(
        "collimation",
        "eight corners picked to 0.2 mm an axis: rms < 0.15 mm at the centre, < 0.2 mm at corners; of the bounds",
        1.0, "1", measure_collimation, False, partial(print_table, _collimations),
    ),
]  # fmt: skip
