"""Collimation: where a tracker stands in the world of the marker (Mariti 2012 eq. 1-9), and how well it is known.

Four or more points of a reference cube that do not lie in a plane are touched with the stylus.

    P_W, P_T   homogeneous points, one a column, in the world and as the tracker has them       (eq. 2, 4, 5)
    T = P_W pinv(P_T)                                                                           (eq. 7, corrected)
    R1 U1 = orientation block of T, by QR, signs so that the diagonal of U1 is positive         (eq. 8)
    X_KT = X_KW X_WT                                                                            (eq. 9, corrected)

The paper keeps the translation of T, which belongs to the block before it was made orthogonal; here it is fitted
again: p = mean(P_W) - R1 mean(P_T). Beside it is the least-squares rigid motion (Kabsch 1976, Umeyama 1991), which
uses that a rotation has three parameters, not nine, and is what is used.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..author.errors import FileError, ModelError
from ..author.files import write_file
from .optics import read_json

KIND, VERSION = "impulsar collimation", 1
CUBE = 0.08  # side of the reference cube [m]
LEAST_PICKS = 4
FLAT = 0.1  # least extent of the picks over their largest
REPEATED = 0.05  # of the picks' extent; nearer points are one
MOST_RESIDUAL = 3e-3  # beyond it a pick was of another point [m]
DRIFTED = 1e-3  # at a known point, beyond which a collimation no longer holds [m]


def cube_corners(side: float = CUBE) -> np.ndarray:
    """Corners [8, 3] of the reference cube as it stands on the marker's middle: the bottom four, then the top."""
    h = side / 2
    square = [(-h, -h), (h, -h), (h, h), (-h, h)]
    return np.array([(x, y, z) for z in (0.0, side) for x, y in square])


@dataclass(frozen=True)
class Collimation:
    """The tracker's base in the world, and how far each pick is from where it should be."""

    X_WT: np.ndarray  # [4, 4]
    residuals: np.ndarray  # [n] [m]
    method: str

    @property
    def rms(self) -> float:
        """Of the residuals [m]."""
        return float(np.sqrt(np.mean(self.residuals**2)))

    def to_world(self, points_T: np.ndarray) -> np.ndarray:
        """Points of the tracker [..., 3] in the world."""
        return points_T @ self.X_WT[:3, :3].T + self.X_WT[:3, 3]

    def drift(self, point_W: np.ndarray, touched_T: np.ndarray) -> float:
        """How far a known point now seems to be from where it is [m]."""
        return float(np.linalg.norm(self.to_world(np.asarray(touched_T, float)) - point_W))

    def check(self, point_W: np.ndarray, touched_T: np.ndarray, allowed: float = DRIFTED) -> float:
        """The drift at a known point; raises where tracker or marker were moved."""
        off = self.drift(point_W, touched_T)
        if off > allowed:
            raise ModelError(
                f"collimation: the known point is {off * 1e3:.2f} mm off, more than {allowed * 1e3:g} mm; tracker or "
                "marker were moved: run `impulsar ar calibrate-tracker` again"
            )
        return off

    def save(self, path: str | Path) -> None:
        """Write a JSON file."""
        data = {
            "kind": KIND,
            "version": VERSION,
            "method": self.method,
            "X_WT": [[float(value) for value in row] for row in self.X_WT],
            "residuals": [float(value) for value in self.residuals],
        }
        write_file(path, (json.dumps(data, indent=1) + "\n").encode())


def load_collimation(path: str | Path) -> Collimation:
    """A collimation from a file of `save`."""
    data = read_json(path, KIND, VERSION)
    try:
        X, residuals = np.array(data["X_WT"], float), np.array(data["residuals"], float)
    except (KeyError, ValueError, TypeError) as error:
        raise FileError(f"'{path}': {error}; calibrate anew by `impulsar ar calibrate-tracker`") from error
    is_rigid = X.shape == (4, 4) and np.isfinite(X).all() and np.allclose(X[3], (0, 0, 0, 1))
    if not is_rigid or np.abs(X[:3, :3] @ X[:3, :3].T - np.eye(3)).max() > 1e-9 or np.linalg.det(X[:3, :3]) < 0:
        raise FileError(f"'{path}': X_WT is no rigid motion; calibrate anew by `impulsar ar calibrate-tracker`")
    return Collimation(X, residuals, str(data.get("method", "")))


def collimate(points_W: np.ndarray, picks_T: np.ndarray, method: str = "kabsch") -> Collimation:
    """X_WT from picks [n, 3] of known points [n, 3]; `method`: kabsch, or qr as the paper has it."""
    points_W, picks_T = np.asarray(points_W, float), np.asarray(picks_T, float)
    _check_picks(points_W, picks_T)
    if method not in ("kabsch", "qr"):
        raise ModelError(f"collimation: no method named '{method}'; known are: kabsch, qr")
    R = _kabsch(points_W, picks_T) if method == "kabsch" else _qr(points_W, picks_T)
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, points_W.mean(axis=0) - R @ picks_T.mean(axis=0)
    residuals = np.linalg.norm(picks_T @ R.T + X[:3, 3] - points_W, axis=1)
    if residuals.max() > MOST_RESIDUAL:
        worst = int(np.argmax(residuals))
        raise ModelError(
            f"collimation: pick {worst + 1} is {residuals[worst] * 1e3:.1f} mm from where it should be; were the "
            "points touched in their order, and is the cube of the size that was said?"
        )
    return Collimation(X, residuals, method)


def _kabsch(points_W: np.ndarray, picks_T: np.ndarray) -> np.ndarray:
    """The rotation that takes picks to points with the least sum of squares."""
    H = (points_W - points_W.mean(axis=0)).T @ (picks_T - picks_T.mean(axis=0))
    U, _, Vt = np.linalg.svd(H)
    return U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt


def _qr(points_W: np.ndarray, picks_T: np.ndarray) -> np.ndarray:
    """Mariti 2012 eq. 4-8, eq. 7 corrected."""
    ones = np.ones((1, len(points_W)))
    T = np.vstack([points_W.T, ones]) @ np.linalg.pinv(np.vstack([picks_T.T, ones]))
    R, U = np.linalg.qr(T[:3, :3])
    R = R * np.sign(np.diag(U))
    if np.linalg.det(R) < 0:
        raise ModelError("collimation: the picks are a mirror image of the points; touch them in their order")
    return R


def _check_picks(points_W: np.ndarray, picks_T: np.ndarray) -> None:
    """Raises where the picks do not determine the motion."""
    if points_W.shape != picks_T.shape or points_W.ndim != 2 or points_W.shape[1] != 3:
        raise ModelError(f"collimation: {len(picks_T)} picks for {len(points_W)} points, expected as many of 3 numbers")
    if len(picks_T) < LEAST_PICKS:
        raise ModelError(f"collimation: {len(picks_T)} picks, expected at least {LEAST_PICKS} that are not in a plane")
    if not (np.isfinite(points_W).all() and np.isfinite(picks_T).all()):
        raise ModelError("collimation: a pick is not finite; touch the points again")
    for what, points in (("points", points_W), ("picks", picks_T)):
        distinct = _distinct(points)
        if distinct < LEAST_PICKS:
            raise ModelError(
                f"collimation: only {distinct} of the {what} differ, expected at least {LEAST_PICKS}; some were "
                "touched twice"
            )
        extent = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        if extent[1] < FLAT * extent[0]:
            raise ModelError(f"collimation: the {what} lie on a line; touch points that span all three directions")
        if extent[2] < FLAT * extent[0]:
            raise ModelError(f"collimation: the {what} lie in a plane; touch at least one above or below it")


def _distinct(points: np.ndarray) -> int:
    """How many points are not near one before."""
    near = REPEATED * np.ptp(points, axis=0).max()
    kept: list[np.ndarray] = []
    for point in points:
        if all(np.linalg.norm(point - other) > near for other in kept):
            kept.append(point)
    return len(kept)


def camera_from_tracker(X_KW: np.ndarray, collimation: Collimation) -> np.ndarray:
    """X_KT = X_KW X_WT (Mariti 2012 eq. 9, corrected): a tip where the picture shows it."""
    return X_KW @ collimation.X_WT


def tip_offset(poses: Sequence[np.ndarray]) -> tuple[np.ndarray, float]:
    """A wand's tip p_MS from poses X_RM while the tip stood still in one point, and the rms of what is left [m].

    R_k p_MS + p_k = p_RS for all k, in least squares for both.
    """
    if len(poses) < 4:
        raise ModelError(f"wand: {len(poses)} poses, expected at least 4 with the tip in one point; tilt it about it")
    A = np.vstack([np.hstack([X[:3, :3], -np.eye(3)]) for X in poses])
    b = -np.concatenate([X[:3, 3] for X in poses])
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    if s[-1] < 0.1 * np.sqrt(len(poses)) * 0.5:
        raise ModelError("wand: it was hardly tilted; turn it by 30° or more to all sides about its tip")
    x = Vt.T @ ((U.T @ b) / s)
    return x[:3], float(np.sqrt(np.mean((A @ x - b) ** 2) * 3))
