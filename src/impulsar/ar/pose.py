"""Pose of known points in the ideal picture: both solutions of a plane, each by least squares.

A plane seen from afar has two poses that look nearly alike (Collins and Bartoli 2014, IPPE, by OpenCV). Both are kept
and refined with the corners' covariance, so that χ² says how much likelier one is than the other.
"""

from dataclasses import dataclass

import numpy as np

from ..author.rotations import quaternion
from .status import opencv

ROUNDS = 15
FLAT = 1e-6  # thickness over extent of points that count as a plane


@dataclass(frozen=True)
class Guess:
    """A pose of the target in the camera, its χ² per the corners' covariance, and its own covariance.

    The covariance is of (p, φ): the position [m] and a small turn [rad], both in camera axes.
    """

    X_KM: np.ndarray  # [4, 4]
    chi2: float
    covariance: np.ndarray  # [6, 6]

    @property
    def position(self) -> np.ndarray:
        """p_KM [m]."""
        return self.X_KM[:3, 3]

    @property
    def orientation(self) -> np.ndarray:
        """q_KM, xyzw."""
        return quaternion(self.X_KM[:3, :3])


def turn(phi: np.ndarray) -> np.ndarray:
    """Rotation matrix of a vector along the axis, as long as the angle [rad]."""
    angle = float(np.linalg.norm(phi))
    x, y, z = phi
    W = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    if angle < 1e-9:
        return np.eye(3) + W
    return np.eye(3) + np.sin(angle) / angle * W + (1 - np.cos(angle)) / angle**2 * (W @ W)


def angle_between(R_A: np.ndarray, R_B: np.ndarray) -> float:
    """Angle of the turn from one rotation to another [rad]."""
    return float(2 * np.arcsin(min(1.0, np.linalg.norm(R_A - R_B) / np.sqrt(8.0))))


def poses(points_M: np.ndarray, rays: np.ndarray, covariance: np.ndarray) -> list[Guess]:
    """Poses of points [n, 3] seen in directions (X/Z, Y/Z) [n, 2], likeliest first: two of a plane, else one.

    `covariance` [2n, 2n] is of the rays.
    """
    cv2 = opencv("pose")
    thickness = np.linalg.svd(points_M - points_M.mean(axis=0), compute_uv=False)
    is_flat = thickness[2] < FLAT * thickness[0]
    if is_flat and len(points_M) == 4 and _is_square(points_M):
        method = cv2.SOLVEPNP_IPPE_SQUARE
    else:
        method = cv2.SOLVEPNP_IPPE if is_flat else cv2.SOLVEPNP_SQPNP
    good, turns, places, _ = cv2.solvePnPGeneric(points_M, rays[:, None, :], np.eye(3), None, flags=method)
    if not good:
        return []
    factor = np.linalg.cholesky(np.linalg.inv(covariance)).T  # whitens
    found = []
    for rvec, tvec in zip(turns, places, strict=True):
        X_KM = np.eye(4)
        X_KM[:3, :3], X_KM[:3, 3] = turn(rvec[:, 0]), tvec[:, 0]
        guess = refine(points_M, rays, factor, X_KM)
        if guess is not None:
            found.append(guess)
    return sorted(found, key=lambda guess: guess.chi2)


def _is_square(points: np.ndarray) -> bool:
    """Whether the four are a Marker's corners, in the order that IPPE_SQUARE wants."""
    h = points[1, 0]
    return bool(h > 0 and np.allclose(points, h * np.array([[-1, 1, 0], [1, 1, 0], [1, -1, 0], [-1, -1, 0]])))


def refine(points_M: np.ndarray, rays: np.ndarray, factor: np.ndarray, X_KM: np.ndarray) -> Guess | None:
    """Least squares by Gauss and Newton with damping, from a pose; None where it leaves the camera's front."""
    R, p = X_KM[:3, :3], X_KM[:3, 3]
    damping, before = 1e-6, np.inf
    state = None
    for _ in range(ROUNDS):
        arms = points_M @ R.T
        points = arms + p
        if points[:, 2].min() <= 1e-6:
            if state is None:
                return None
        else:
            residual, J = _residual(points, arms, rays, factor)
            chi2 = float(residual @ residual)
            if chi2 <= before:
                done = before - chi2 < 1e-6 * (1 + chi2)
                state, before, damping = (R, p, residual, J), chi2, damping / 10
                if done:
                    break
            else:
                damping *= 100
        if state is None or damping > 1e8:
            break
        R, p, residual, J = state
        N = J.T @ J
        change = np.linalg.solve(N + damping * np.diag(np.diag(N)), -J.T @ residual)
        R, p = turn(change[3:]) @ R, p + change[:3]
    if state is None:
        return None
    R, p, residual, J = state
    X = np.eye(4)
    U, _, Vt = np.linalg.svd(R)
    X[:3, :3], X[:3, 3] = U @ Vt, p
    return Guess(X, before, np.linalg.pinv(J.T @ J))


def _residual(points, arms, rays, factor) -> tuple[np.ndarray, np.ndarray]:
    """Whitened differences [2n] and their derivatives [2n, 6] by place and turn."""
    x, y, z = points.T
    n = len(points)
    D = np.zeros((n, 2, 3))
    D[:, 0, 0] = D[:, 1, 1] = 1 / z
    D[:, 0, 2], D[:, 1, 2] = -x / z**2, -y / z**2
    turned = np.zeros((n, 3, 3))  # φ × arm = -[arm]× φ
    a, b, c = arms.T
    turned[:, 0, 1], turned[:, 0, 2], turned[:, 1, 0] = c, -b, -c
    turned[:, 1, 2], turned[:, 2, 0], turned[:, 2, 1] = a, b, -a
    J = np.concatenate([D, D @ turned], axis=2).reshape(2 * n, 6)
    off = (np.stack([x / z, y / z], axis=1) - rays).reshape(-1)
    return factor @ off, factor @ J
