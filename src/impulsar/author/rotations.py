"""Rotations on the host: quaternions xyzw and matrices, one at a time or many."""

import math

import numpy as np

from .checks import Vector, show, vector
from .errors import ModelError


def unit_quaternion(owner: str, what: str, value: object) -> np.ndarray:
    """`value` as a quaternion xyzw of norm 1; one that is unit to rounding keeps its bits."""
    q = vector(owner, what, value, "xyzw", size=4)
    norm = math.sqrt(sum(item * item for item in q.tolist()))
    if abs(norm - 1.0) > 1e-6:
        raise ModelError(f"{owner}: {what} has norm {norm:.9g}, expected a unit quaternion xyzw")
    return q if abs(norm - 1.0) < 1e-15 else q / norm


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross product [..., 3]: of a few vectors in a third of the time that np.cross takes."""
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]


def rotation_matrix(q_AB: Vector) -> np.ndarray:
    """R_AB of a unit quaternion xyzw: v_A = R_AB v_B."""
    x, y, z, w = (float(item) for item in q_AB)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def conjugate(q_AB: np.ndarray) -> np.ndarray:
    """q_BA."""
    return q_AB * (-1.0, -1.0, -1.0, 1.0)


def multiply(q_AB: np.ndarray, q_BC: np.ndarray) -> np.ndarray:
    """q_AC."""
    ax, ay, az, aw = q_AB.tolist()  # of four, NumPy is slower
    bx, by, bz, bw = q_BC.tolist()
    return np.array(
        [
            aw * bx + bw * ax + (ay * bz - az * by),
            aw * by + bw * ay + (az * bx - ax * bz),
            aw * bz + bw * az + (ax * by - ay * bx),
            aw * bw - (ax * bx + ay * by + az * bz),
        ]
    )


def multiply_all(q_AB: np.ndarray, q_BC: np.ndarray) -> np.ndarray:
    """q_AC of many [..., 4]."""
    (ax, ay, az, aw), (bx, by, bz, bw) = np.moveaxis(q_AB, -1, 0), np.moveaxis(q_BC, -1, 0)
    return np.stack(
        [
            aw * bx + bw * ax + (ay * bz - az * by),
            aw * by + bw * ay + (az * bx - ax * bz),
            aw * bz + bw * az + (ax * by - ay * bx),
            aw * bw - (ax * bx + ay * by + az * bz),
        ],
        axis=-1,
    )


def rotation_matrices(q_AB: np.ndarray) -> np.ndarray:
    """R_AB [..., 3, 3] of unit quaternions [..., 4]."""
    x, y, z, w = np.moveaxis(np.asarray(q_AB, float), -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*x.shape, 3, 3)
    return np.eye(3) + 2 * w[..., None, None] * cross + 2 * cross @ cross


def rotate_all(q_AB: np.ndarray, v_B: np.ndarray) -> np.ndarray:
    """v_A of vectors [..., 3] by quaternions [..., 4]."""
    (x, y, z, w), (a, b, c) = np.moveaxis(q_AB, -1, 0), np.moveaxis(v_B, -1, 0)
    # v + 2 u × (u × v + w v)
    p, q, r = y * c - z * b + w * a, z * a - x * c + w * b, x * b - y * a + w * c
    return np.stack([a + 2 * (y * r - z * q), b + 2 * (z * p - x * r), c + 2 * (x * q - y * p)], axis=-1)


def quaternion(R: np.ndarray) -> np.ndarray:
    """Quaternion xyzw, w >= 0, of a rotation matrix: the largest row of 4qqᵀ."""
    (a, b, c), (d, e, f), (g, h, i) = R
    rows = np.array(
        [
            [1 + a - e - i, b + d, c + g, h - f],
            [b + d, 1 - a + e - i, f + h, c - g],
            [c + g, f + h, 1 - a - e + i, d - b],
            [h - f, c - g, d - b, 1 + a + e + i],
        ]
    )
    q = rows[np.argmax(np.diag(rows))]
    return math.copysign(1.0, q[3]) * q / np.linalg.norm(q)


def rotation_vectors(q: np.ndarray) -> np.ndarray:
    """Of unit quaternions [..., xyzw], the shorter way round [rad]."""
    q = np.where(q[..., 3:] < 0.0, -q, q)
    size = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    return q[..., :3] * np.where(size > 1e-12, 2.0 * np.arctan2(size, q[..., 3:]) / np.maximum(size, 1e-300), 2.0)


def quaternions(turn: np.ndarray) -> np.ndarray:
    """Unit quaternions of rotation vectors [..., 3]."""
    half = 0.5 * np.linalg.norm(turn, axis=-1, keepdims=True)
    return np.concatenate([0.5 * turn * np.sinc(half / np.pi), np.cos(half)], axis=-1)


def nearest_vector(turn: np.ndarray, to: np.ndarray) -> np.ndarray:
    """The rotation vector of the same orientation that is nearest to another: whole turns about its axis are free."""
    angle = float(np.linalg.norm(turn))
    axis = turn / angle if angle > 0.0 else to / (float(np.linalg.norm(to)) or 1.0)
    return turn + 2 * math.pi * round((float(axis @ to) - angle) / (2 * math.pi)) * axis


def frame_from_axes(owner: str, axis: Vector, axis2: Vector | None) -> np.ndarray:
    """q_WF of the frame with z along `axis` and x along `axis2`, or along any perpendicular."""
    z = _direction(owner, "axis", axis)
    if axis2 is None:
        x = np.eye(3)[np.argmin(np.abs(z))]
    else:
        x = _direction(owner, "axis2", axis2)
        if abs(x @ z) > 1e-6:
            angle = math.degrees(math.acos(max(-1.0, min(1.0, x @ z))))
            raise ModelError(f"{owner}: axis2 {show(axis2)} is {angle:.9g}° from axis, expected 90°")
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    return quaternion(np.column_stack([x, np.cross(z, x), z]))


def _direction(owner: str, what: str, value: Vector) -> np.ndarray:
    array = vector(owner, what, value, "any unit", largest=np.finfo(float).max)
    if not array.any():
        raise ModelError(f"{owner}: {what} is {show(value)}, expected a direction other than zero")
    array = array / np.abs(array).max()
    return array / np.linalg.norm(array)


def rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Rotate vectors [..., 3] by quaternions [..., 4] xyzw."""
    u, s = q[..., :3], q[..., 3:]
    return v + 2.0 * np.cross(u, np.cross(u, v) + s * v)
