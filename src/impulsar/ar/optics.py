"""A camera's intrinsics: pinhole with Brown's distortion, and their file.

A point (x, y, 1) z in front of the camera falls, with r² = x² + y², on

    x' = x (1 + k1 r² + k2 r⁴ + k3 r⁶) + 2 p1 x y + p2 (r² + 2 x²)
    y' = y (1 + k1 r² + k2 r⁴ + k3 r⁶) + p1 (r² + 2 y²) + 2 p2 x y
    pixel = (fx x' + cx, fy y' + cy)

Pixel centres are at whole numbers, as OpenCV has them.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..author.checks import number, positive, whole
from ..author.errors import FileError, ModelError
from ..author.files import write_file

KIND, VERSION = "impulsar camera", 1
NAMES = ("k1", "k2", "p1", "p2", "k3")
NEWTON = 12  # steps of an inversion; four do for usual lenses
MOST_PIXELS = 20_000  # of a picture's side


@dataclass(frozen=True)
class Intrinsics:
    """Focal lengths, centre [px] and distortion (k1, k2, p1, p2, k3) of a camera of `width` x `height` pixels."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    distortion: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0)
    rms: float | None = None  # of the calibration, between corners seen and computed [px]

    def __post_init__(self) -> None:
        owner = "camera"
        whole(owner, "width", self.width, 1, MOST_PIXELS)
        whole(owner, "height", self.height, 1, MOST_PIXELS)
        positive(owner, "fx", self.fx, "px")
        positive(owner, "fy", self.fy, "px")
        number(owner, "cx", self.cx)
        number(owner, "cy", self.cy)
        if len(self.distortion) != len(NAMES):
            raise ModelError(f"camera: distortion has {len(self.distortion)} values, expected 5: {', '.join(NAMES)}")
        for name, value in zip(NAMES, self.distortion, strict=True):
            number(owner, name, value)

    @property
    def matrix(self) -> np.ndarray:
        """K [3, 3]."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    @property
    def focal(self) -> float:
        """Geometric mean of the focal lengths [px]."""
        return math.sqrt(self.fx * self.fy)

    def distort(self, ideal: np.ndarray) -> np.ndarray:
        """Pixels [..., 2] of ideal image points (x, y) = (X/Z, Y/Z) [..., 2]."""
        bent = self._bend(ideal)[0]
        return bent * (self.fx, self.fy) + (self.cx, self.cy)

    def project(self, points_K: np.ndarray) -> np.ndarray:
        """Pixels [..., 2] of points in front of the camera [..., 3]."""
        return self.distort(points_K[..., :2] / points_K[..., 2:])

    def undistort(self, pixels: np.ndarray) -> np.ndarray:
        """Ideal image points [..., 2] of pixels [..., 2], by Newton's method."""
        target = (np.asarray(pixels, float) - (self.cx, self.cy)) / (self.fx, self.fy)
        ideal = target.copy()
        if not any(self.distortion):
            return ideal
        for _ in range(NEWTON):
            bent, (a, b, c, d) = self._bend(ideal)
            off = bent - target
            if np.abs(off).max(initial=0.0) < 1e-13:
                break
            det = a * d - b * c
            step = np.stack([d * off[..., 0] - b * off[..., 1], a * off[..., 1] - c * off[..., 0]], axis=-1)
            ideal = ideal - step / det[..., None]
        return ideal

    def _bend(self, ideal: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """Distorted points, and the derivatives dx'/dx, dx'/dy, dy'/dx, dy'/dy."""
        k1, k2, p1, p2, k3 = self.distortion
        x, y = ideal[..., 0], ideal[..., 1]
        r2 = x * x + y * y
        radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
        slope = 2 * (k1 + r2 * (2 * k2 + r2 * 3 * k3))
        bent = np.stack(
            [
                x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * x * x),
                y * radial + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y,
            ],
            axis=-1,
        )
        across = x * y * slope + 2 * p1 * x + 2 * p2 * y
        dxdx = radial + x * x * slope + 2 * p1 * y + 6 * p2 * x
        dydy = radial + y * y * slope + 6 * p1 * y + 2 * p2 * x
        return bent, (dxdx, across, across, dydy)

    def data(self) -> dict:
        """For JSON."""
        return {
            "kind": KIND,
            "version": VERSION,
            "width": self.width,
            "height": self.height,
            **{name: getattr(self, name) for name in ("fx", "fy", "cx", "cy")},
            **dict(zip(NAMES, self.distortion, strict=True)),
            "rms": self.rms,
        }

    def save(self, path: str | Path) -> None:
        """Write a JSON file."""
        write_file(path, (json.dumps(self.data(), indent=1) + "\n").encode())


def read_json(path: str | Path, kind: str, version: int) -> dict:
    """The object of a JSON file that says it is of a kind."""
    try:
        data = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise FileError(f"'{path}': cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise FileError(f"'{path}': is no JSON: {error}") from error
    if not isinstance(data, dict) or data.get("kind") != kind:
        found = data.get("kind") if isinstance(data, dict) else type(data).__name__
        raise FileError(f"'{path}': its kind is {found!r:.80}, expected {kind!r}")
    if data.get("version") != version:
        raise FileError(f"'{path}': version {data.get('version')!r:.40}, this program reads {version}")
    return data


def load_intrinsics(path: str | Path) -> Intrinsics:
    """Intrinsics from a file of `save`."""
    data = read_json(path, KIND, VERSION)
    try:
        return Intrinsics(
            data["width"],
            data["height"],
            data["fx"],
            data["fy"],
            data["cx"],
            data["cy"],
            tuple(data[name] for name in NAMES),
            data.get("rms"),
        )
    except KeyError as error:
        raise FileError(f"'{path}': {error} is missing; calibrate anew by `impulsar ar calibrate-camera`") from error
    except ModelError as error:
        raise FileError(f"'{path}': {error}") from error
