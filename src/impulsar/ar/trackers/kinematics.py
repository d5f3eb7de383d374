"""Kinematics of a digitizer arm: five turning joints by a Denavit-Hartenberg table, and the stylus after them.

Modified (Craig's) parameters, with Hayati's angle β where two axes are parallel, since there the common normal is not
unique and a small angle between the axes would throw d far away:

    T_i = Rot_x(α_i) Trans_x(a_i) Rot_y(β_i) Rot_z(θ_i + θ0_i) Trans_z(d_i)

A row leads from the frame before to its own; the sixth, with θ = 0, to the stylus. Its own example is an arm of the
class of a MicroScribe: a shoulder 0.21 m above the base, links of 0.26 and 0.24 m, a stylus of 0.13 m, so that the tip
reaches 0.63 m about the shoulder, a working sphere of 1.2 m in diameter.
"""

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...author.checks import whole
from ...author.errors import FileError, ModelError
from ...author.files import write_file
from ..optics import read_json

KIND, VERSION = "impulsar arm", 1
JOINTS = 5
COLUMNS = ("alpha", "a", "d", "theta0", "beta")
RADII = (0.02, 0.02, 0.012, 0.012, 0.012, 0.005)  # of the links and the stylus [m]
LIMITS = ((-180.0, 180.0), (-60.0, 150.0), (-60.0, 150.0), (-180.0, 180.0), (-120.0, 120.0))  # [°]


@dataclass(frozen=True)
class ArmTable:
    """Rows of (α, a, d, θ0, β) [rad, m], five of joints and the stylus's; counts of an encoder's turn; limits; how
    thick the links are that the rows lead along."""

    rows: tuple[tuple[float, ...], ...]
    counts: int = 12_000
    limits: tuple[tuple[float, float], ...] = tuple((math.radians(low), math.radians(high)) for low, high in LIMITS)
    serial: str = ""
    radii: tuple[float, ...] = RADII  # [m]

    def __post_init__(self) -> None:
        array = np.asarray(self.rows, float)
        if array.shape != (JOINTS + 1, len(COLUMNS)) or not np.isfinite(array).all():
            raise ModelError(f"arm: expected {JOINTS + 1} rows of {', '.join(COLUMNS)}, all finite")
        whole("arm", "counts", self.counts, 100, 100_000_000)
        if len(self.limits) != JOINTS or any(not low < high for low, high in self.limits):
            raise ModelError(f"arm: expected {JOINTS} limits, each a lower and an upper angle [rad]")
        if len(self.radii) != JOINTS + 1 or not all(0 < radius < math.inf for radius in self.radii):
            raise ModelError(f"arm: radii are {self.radii}, expected {JOINTS + 1} numbers > 0 [m]")

    @property
    def array(self) -> np.ndarray:
        """Rows as an array [6, 5]."""
        return np.array(self.rows, float)

    def with_array(self, rows: np.ndarray) -> "ArmTable":
        """The same arm with other parameters."""
        return replace(self, rows=tuple(tuple(float(value) for value in row) for row in rows))

    def angles(self, counts: np.ndarray) -> np.ndarray:
        """Joint angles [rad] of encoders' counts."""
        return np.asarray(counts, float) * (2 * math.pi / self.counts)

    def encode(self, angles: np.ndarray) -> np.ndarray:
        """Counts that the encoders show at angles [rad]."""
        return np.rint(np.asarray(angles) * (self.counts / (2 * math.pi))).astype(int)

    def save(self, path: str | Path) -> None:
        """Write a JSON file."""
        data = {
            "kind": KIND,
            "version": VERSION,
            "columns": list(COLUMNS),
            "rows": [list(row) for row in self.rows],
            "counts": self.counts,
            "limits": [list(pair) for pair in self.limits],
            "serial": self.serial,
            "radii": list(self.radii),
        }
        write_file(path, (json.dumps(data, indent=1) + "\n").encode())


def load_table(path: str | Path) -> ArmTable:
    """An arm's table from a file of `save`."""
    data = read_json(path, KIND, VERSION)
    try:
        rows = tuple(tuple(float(value) for value in row) for row in data["rows"])
        limits = tuple((float(low), float(high)) for low, high in data["limits"])
        radii = tuple(float(value) for value in data.get("radii", RADII))
        return ArmTable(rows, data["counts"], limits, str(data.get("serial", "")), radii)
    except KeyError as error:
        raise FileError(f"'{path}': {error} is missing") from error
    except (ModelError, TypeError, ValueError) as error:
        raise FileError(f"'{path}': {error}") from error


HALF = math.pi / 2
EXAMPLE = ArmTable(
    (
        (0.0, 0.0, 0.210, 0.0, 0.0),
        (HALF, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.260, 0.0, 0.0, 0.0),
        (HALF, 0.0, 0.240, 0.0, 0.0),
        (-HALF, 0.0, 0.0, 0.0, 0.0),
        (HALF, 0.0, 0.130, 0.0, 0.0),
    )
)


def link_poses(rows: np.ndarray, angles: np.ndarray) -> list[np.ndarray]:
    """Frames of the five links and the stylus, each [..., 4, 4], at angles [..., 5] of an arm of rows [..., 6, 5]."""
    frames, X = [], np.eye(4)
    zero = np.zeros(angles.shape[:-1])
    for i in range(JOINTS + 1):
        alpha, a, d, theta0, beta = np.moveaxis(rows[..., i, :], -1, 0)
        X = X @ _row(alpha + zero, a, d, theta0 + (angles[..., i] if i < JOINTS else zero), beta)
        frames.append(X)
    return frames


def bones(frames: list[np.ndarray]) -> np.ndarray:
    """Both ends of the links and the stylus, from the base on [6, 2, 3], of the frames of `link_poses`."""
    origins = np.array([np.zeros(3), *(X[:3, 3] for X in frames)])
    return np.stack([origins[:-1], origins[1:]], axis=1)


def stylus(rows: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """X_TS [..., 4, 4]."""
    return link_poses(rows, angles)[-1]


def tips(rows: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Positions of the tip [..., 3]."""
    return stylus(rows, angles)[..., :3, 3]


def _row(alpha, a, d, theta, beta) -> np.ndarray:
    """T_i, written out."""
    ca, sa, cb, sb, ct, st = (f(x) for x in (alpha, beta, theta) for f in (np.cos, np.sin))
    T = np.zeros((*np.shape(theta), 4, 4))
    # Rot_x(α) Rot_y(β) = [[cb, 0, sb], [sa sb, ca, -sa cb], [-ca sb, sa, ca cb]]
    for k, (x, y, z) in enumerate(((cb, 0.0 * ca, sb), (sa * sb, ca, -sa * cb), (-ca * sb, sa, ca * cb))):
        T[..., k, 0], T[..., k, 1], T[..., k, 2] = x * ct + y * st, y * ct - x * st, z
        T[..., k, 3] = z * d
    T[..., 0, 3] += a
    T[..., 3, 3] = 1.0
    return T


def tip_jacobian(rows: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Derivatives of the tip by the angles [..., 3, 5]: axis × arm."""
    frames = link_poses(rows, angles)
    tip = frames[-1][..., :3, 3]
    columns = [np.cross(X[..., :3, 2], tip - X[..., :3, 3]) for X in frames[:JOINTS]]
    return np.stack(columns, axis=-1)


def reach(table: ArmTable, start: np.ndarray, targets: np.ndarray, rounds: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Angles [..., 5] near `start` at which the tip is at targets [..., 3], within limits, and what is left [m]."""
    rows, angles = table.array, np.array(start, float)
    low, high = np.array(table.limits).T
    for _ in range(rounds):
        off = targets - tips(rows, angles)
        if np.abs(off).max() < 1e-12:
            break
        J = tip_jacobian(rows, angles)
        N = J @ np.swapaxes(J, -1, -2) + 1e-8 * np.eye(3)
        step = np.swapaxes(J, -1, -2) @ np.linalg.solve(N, off[..., None])
        angles = np.clip(angles + np.clip(step[..., 0], -0.3, 0.3), low, high)
    return angles, np.linalg.norm(targets - tips(rows, angles), axis=-1)
