"""Mariti 2012's reason for a mechanical tracker: the error of the point that is grabbed, over the camera's distance.

A wand (80 mm marker, its tip 0.1 m below the marker's middle) and the room's marker are seen together by the camera of
`marker_cases`, at 0.3 to 1.5 m; the tip is where the two poses say it is, in the room. Beside it the same by OpenCV's
own corners, and the digitizer arm: 12,000 counts, made with errors, calibrated by its own touches, collimated by the
eight corners of the cube as it reads them. The camera's distance is nothing to the arm.
"""

import math
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ..ar.calibration import collimate, cube_corners
from ..ar.markers import MarkerFinder, single
from ..ar.patterns import Marker
from ..ar.pose import turn
from ..ar.self_calibration import self_calibrate
from ..ar.synthetic import Renderer, printed
from ..ar.trackers.kinematics import EXAMPLE, tips
from ..results import new_figure
from .case import Case, print_table
from .digitizer_cases import PICK, attitudes_at, first_axis_frame, touch_cubes, with_errors
from .marker_cases import LENS, facing, opencv_pose

DISTANCES = (0.3, 0.45, 0.6, 0.8, 1.0, 1.25, 1.5)  # of the camera [m]
FULL = 25  # poses a distance
ROOM, WAND = Marker(1), Marker(2)
TIP = np.array([0.0, -0.1, 0.0])  # the wand's tip in its marker's frame [m]
FAR = 1.0  # from which on the arm is to be better [m]
COUNTS = 12_000
WAYS = ("marker", "OpenCV's corners", "digitizer")
_rows: list[dict] = []


def wand_poses(random: np.random.Generator) -> np.ndarray:
    """X_RM of a wand beside the room's marker, held up to 30° askew."""
    X = np.eye(4)
    X[:3, :3] = turn(np.radians(random.uniform((-30, -30, -10), (30, 30, 10))))
    X[:3, 3] = (0.115, random.uniform(-0.02, 0.02), random.uniform(0.0, 0.03))
    return X


def optical(distance: float, count: int, seed: int = 1) -> dict[str, np.ndarray]:
    """Errors of the tip [m] by our corners and OpenCV's, of those pictures in which both markers are found."""
    random, renderer = np.random.default_rng(seed), Renderer(LENS, seed=seed)
    finder = MarkerFinder(LENS, ROOM.dictionary, ROOM.border)
    errors: dict[str, list[float]] = {way: [] for way in WAYS[:2]}
    for _ in range(count):
        X_RM = wand_poses(random)
        azimuth = random.uniform(-np.pi, np.pi)
        X_KR = facing((-0.0575, 0.0, distance), math.radians(random.uniform(0, 20)), azimuth, azimuth)
        image = renderer.render([printed(ROOM), printed(WAND, X_RM)], X_KR)
        found = finder.find(image, [ROOM.number, WAND.number])
        ours = [single(marker).poses(found) for marker in (ROOM, WAND)]
        theirs = [opencv_pose(image, marker) for marker in (ROOM, WAND)]
        true = X_RM[:3, :3] @ TIP + X_RM[:3, 3]
        if all(ours):
            errors[WAYS[0]].append(_off(ours[0][0].X_KM, ours[1][0].X_KM, true))
        if theirs[0] is not None and theirs[1] is not None:
            errors[WAYS[1]].append(_off(theirs[0], theirs[1], true))
    return {way: np.array(own) for way, own in errors.items()}


def _off(X_KR: np.ndarray, X_KM: np.ndarray, true: np.ndarray) -> float:
    X_RM = np.linalg.inv(X_KR) @ X_KM
    return float(np.linalg.norm(X_RM[:3, :3] @ TIP + X_RM[:3, 3] - true))


def mechanical(count: int, seed: int = 0) -> np.ndarray:
    """Errors of the arm's tip [m] in the room, at points about the cube."""
    random = np.random.default_rng(seed)
    true = first_axis_frame(with_errors(random, COUNTS))
    thought = self_calibrate(replace(EXAMPLE, counts=COUNTS), touch_cubes(random, true)).table
    X_RT = np.eye(4)
    X_RT[:3, :3], X_RT[:3, 3] = turn(np.array([0.0, 0.0, 0.4])), (-0.25, -0.1, 0.0)

    def read(points_R: np.ndarray) -> np.ndarray:
        """What the arm says of points that it touches, in attitudes of the hand's choice."""
        angles = attitudes_at(random, true, (points_R - X_RT[:3, 3]) @ X_RT[:3, :3])
        return tips(thought.array, true.angles(true.encode(angles)))

    corners = cube_corners()
    found = collimate(corners, read(corners + random.normal(0.0, PICK, corners.shape)))
    touched = random.uniform((-0.05, -0.12, 0.0), (0.2, 0.12, 0.15), (count, 3))
    return np.linalg.norm(found.to_world(read(touched)) - touched, axis=1)


def measure(device: str, count: int = FULL) -> float:
    """The arm's rms over the wand's where it is to be better, at worst."""
    arm = np.concatenate([mechanical(10 * count, seed) for seed in range(3)])
    _rows.clear()
    for distance in DISTANCES:
        errors = optical(distance, count) | {WAYS[2]: arm}
        row: dict = {"distance [m]": distance, "found": f"{len(errors[WAYS[0]]) / count:.0%}"}
        for way, own in errors.items():
            row |= {
                f"{way}, rms [mm]": _rms(own) * 1e3,
                f"{way}, worst [mm]": own.max() * 1e3 if len(own) else math.nan,
            }
        _rows.append(row)
    far = [row for row in _rows if row["distance [m]"] >= FAR]
    return max(row["digitizer, rms [mm]"] / row["marker, rms [mm]"] for row in far)


def _rms(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(errors**2))) if len(errors) else math.nan


def draw(folder: Path) -> Path:
    """Error of the grabbed point over the camera's distance."""
    figure = new_figure(7.0, 4.4)
    ax = figure.subplots()
    at = [row["distance [m]"] for row in _rows]
    for way, mark, colour in zip(WAYS, ("o-", "s--", "^-"), ("#2a6fb0", "#8b97a1", "#c8561b"), strict=True):
        label = {"marker": "wand with a marker", "OpenCV's corners": "the same by OpenCV's corners"}.get(way, way)
        ax.plot(at, [row[f"{way}, rms [mm]"] for row in _rows], mark, color=colour, label=f"{label}, rms")
        ax.plot(at, [row[f"{way}, worst [mm]"] for row in _rows], ":", color=colour, lw=1.0)
    ax.set_yscale("log")
    ax.set_xlabel("distance of the camera [m]")
    ax.set_ylabel("error of the grabbed point [mm]")
    ax.set_title("Optical and mechanical tracker (dotted: worst)", loc="left", fontsize=10)
    ax.grid(True, which="both", lw=0.3)
    ax.legend(frameon=False)
    path = folder / "grabbed-point.png"
    figure.savefig(path, dpi=110)
    return path


CASES = [
    Case(
        "grabbed-point",
        "error of the grabbed point: the digitizer's rms is below the wand's from 1 m on (its share of it)",
        1.0,
        "1",
        measure,
        True,
        lambda: print_table(_rows),
        draw,
    )
]
if find_spec("cv2") is None:
    CASES = []
