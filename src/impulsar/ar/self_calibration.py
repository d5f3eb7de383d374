"""Kinematic self-calibration: an arm's Denavit-Hartenberg parameters from touches of points that stand still.

A point touched in many attitudes must come out at one place, and the corners of a cube at places whose distances are
known, which fixes the scale. Unknown are the parameters and the place of each object (a cube's pose, a point's
position):

    tip(parameters, angles_k) = X_TO point_k      for all touches k, by Gauss and Newton

The first row is the choice of the base's frame, and the stylus's own turn moves no tip: both stay as they are. Of the
rest only those combinations are changed that the touches determine: directions in which a usual error (`LENGTH`,
`ANGLE`) would move the tips by less than the noise are left out, by singular values.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..author.errors import ModelError
from .calibration import _kabsch
from .pose import turn
from .trackers.kinematics import ArmTable, tips

LENGTH, ANGLE = 0.3e-3, np.radians(0.05)  # usual errors of an arm as it is made [m, rad]
ROUNDS = 20
FREE = [  # (row, column) of what may change: not the base's row, Hayati's angle instead of d where axes are parallel
    *((1, column) for column in range(4)),
    *((2, column) for column in (0, 1, 3, 4)),
    *((3, column) for column in range(4)),
    *((4, column) for column in range(4)),
    *((5, column) for column in (0, 1, 2)),
]
UNITS = np.array([ANGLE, LENGTH, LENGTH, ANGLE, ANGLE])  # of a row's columns


@dataclass(frozen=True)
class Touches:
    """Angles [n, 5] at which points [n, 3] of one object that stood still were touched; None: always one point."""

    angles: np.ndarray
    points: np.ndarray | None = None


@dataclass(frozen=True)
class SelfCalibration:
    """The arm as it is found, what is left, and how many combinations of parameters were determined."""

    table: ArmTable
    before: float  # rms of the touches with the table as it was [m]
    after: float  # rms now [m]
    rank: int
    parameters: int


def self_calibrate(table: ArmTable, objects: Sequence[Touches]) -> SelfCalibration:
    """Parameters of an arm from touches of a cube or of points; at least one object must have known distances."""
    _check(objects)
    base = table.array
    rows, columns = np.array(FREE).T
    units = UNITS[columns]
    x = np.zeros(len(FREE))
    places = [_place(base, each) for each in objects]
    noise = np.pi / table.counts / np.sqrt(3) * 0.4  # of an encoder's step at a usual lever [m]
    before = after = np.inf
    rank = 0
    for turn_ in range(ROUNDS):
        current = _with(base, rows, columns, x * units)
        residual, J = _equations(current, rows, columns, units, objects, places)
        rms = float(np.sqrt(np.mean(residual**2) * 3))
        if turn_ == 0:
            before = rms
        if turn_ > 2 and abs(after - rms) < 1e-9:
            break
        after = rms
        change, rank = _solve(J, residual, len(FREE), noise)
        x += change[: len(FREE)]
        places = _moved(places, objects, change[len(FREE) :])
    found = table.with_array(_with(base, rows, columns, x * units))
    return SelfCalibration(found, before, after, rank, len(FREE))


def _check(objects: Sequence[Touches]) -> None:
    count = sum(len(each.angles) for each in objects)
    unknown = len(FREE) + sum(3 if each.points is None else 6 for each in objects)
    if 3 * count < 2 * unknown:
        raise ModelError(
            f"self-calibration: {count} touches give {3 * count} equations for {unknown} unknowns; expected twice as "
            f"many equations: touch {-(-2 * unknown // 3)} or more, in many attitudes"
        )
    if all(each.points is None for each in objects):
        raise ModelError("self-calibration: no known distance, so the scale is open; touch corners of the cube too")
    for each in objects:
        if each.points is not None and len(np.unique(np.round(each.points, 9), axis=0)) < 4:
            raise ModelError("self-calibration: fewer than four corners of a cube were touched; touch more of them")


def _with(base: np.ndarray, rows: np.ndarray, columns: np.ndarray, change: np.ndarray) -> np.ndarray:
    result = base.copy()
    result[rows, columns] += change
    return result


def _place(rows: np.ndarray, touched: Touches) -> np.ndarray:
    """Pose of an object by the arm as it is thought to be."""
    at, X = tips(rows, touched.angles), np.eye(4)
    if touched.points is None:
        X[:3, 3] = at.mean(axis=0)
        return X
    X[:3, :3] = _kabsch(at, touched.points)
    X[:3, 3] = at.mean(axis=0) - X[:3, :3] @ touched.points.mean(axis=0)
    return X


def _equations(current, rows, columns, units, objects, places) -> tuple[np.ndarray, np.ndarray]:
    """Differences [3n] and their derivatives by the parameters, in usual errors, and by the objects' places."""
    width = len(rows) + sum(3 if each.points is None else 6 for each in objects)
    blocks, residuals, at = [], [], len(rows)
    for touched, X in zip(objects, places, strict=True):
        points = np.zeros((len(touched.angles), 3)) if touched.points is None else touched.points
        arms = points @ X[:3, :3].T
        residuals.append((tips(current, touched.angles) - arms - X[:3, 3]).ravel())
        J = np.zeros((len(points), 3, width))
        for k, (row, column, unit) in enumerate(zip(rows, columns, units, strict=True)):
            step = np.zeros_like(current)
            step[row, column] = 1e-6
            J[:, :, k] = (tips(current + step, touched.angles) - tips(current - step, touched.angles)) / 2e-6 * unit
        J[:, :, at : at + 3] = -LENGTH * np.eye(3)
        if touched.points is not None:
            for k, axis in enumerate(np.eye(3)):
                J[:, :, at + 3 + k] = -ANGLE * np.cross(axis, arms)
        blocks.append(J.reshape(-1, width))
        at += 3 if touched.points is None else 6
    return np.concatenate(residuals), np.vstack(blocks)


def _solve(J: np.ndarray, residual: np.ndarray, parameters: int, noise: float) -> tuple[np.ndarray, int]:
    """The change of parameters that the touches determine, with the best places of the objects for it; its rank."""
    A, B = J[:, :parameters], J[:, parameters:]
    Q, _ = np.linalg.qr(B)  # what the objects' places can explain is taken out first
    U, s, Vt = np.linalg.svd(A - Q @ (Q.T @ A), full_matrices=False)
    told = s > noise
    change = -Vt[told].T @ ((U[:, told].T @ residual) / s[told])
    place = -np.linalg.lstsq(B, residual + A @ change, rcond=None)[0]
    return np.concatenate([change, place]), int(np.count_nonzero(told))


def _moved(places, objects, change) -> list[np.ndarray]:
    result, at = [], 0
    for X, touched in zip(places, objects, strict=True):
        X = X.copy()
        X[:3, 3] += LENGTH * change[at : at + 3]
        at += 3
        if touched.points is not None:
            X[:3, :3] = turn(ANGLE * change[at : at + 3]) @ X[:3, :3]
            at += 3
        result.append(X)
    return result
