"""Edges of a marker to a hundredth of a pixel: a line fitted to all pixels beside it.

OpenCV's corners are pulled inwards by 0.16 to 0.28 px, which makes a marker look far: so here each side is found as a
line. Pixels within a band beside it, taken back through the lens, follow

    grey(d, t) = a + a' t + (b + b' t) Φ((d - o - θ t) / s),     Φ the normal distribution

where d is the distance from the line as it was guessed and t the place along it: dark and bright change along the side
with the light, s is the blur. Least squares over the pixels give o and θ with their covariance. Blur, pixels' squares
and noise are symmetric in d, so that they move no line. Coordinates are ideal pixels: what a lens without
distortion, of the same focal length, would show.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from .optics import Intrinsics

ROUNDS = 12  # steps of least squares at most
LEAST_CONTRAST = 8.0  # between both sides of an edge [grey levels]
LEAST_BLUR, MOST_BLUR = 0.3, 4.0  # of s [px]
LEAST_BAND = (2.5, 1.5)  # beside a line, when it is guessed and when it is known [px]
FLOOR = 0.01  # what no fit is better than [px]: a lens is not known to less
BETWEEN = 1.0 / np.sqrt(2.0 * np.pi)


@dataclass(frozen=True)
class Line:
    """normal · x = offset in ideal pixels; `covariance` of (o, θ) about `middle`, `half` its half length."""

    normal: np.ndarray  # [2], unit
    offset: float
    middle: np.ndarray  # [2]
    half: float
    covariance: np.ndarray  # [2, 2], of the offset [px] and of the offset's growth to the end of the side [px]
    blur: float  # [px]

    @property
    def along(self) -> np.ndarray:
        """Unit vector along it."""
        return np.array([-self.normal[1], self.normal[0]])


class Unbent:
    """Where a lens's pixels are in the ideal picture; computed once."""

    def __init__(self, lens: Intrinsics):
        self.lens = lens
        columns, rows = np.meshgrid(np.arange(lens.width, dtype=float), np.arange(lens.height, dtype=float))
        self.x, self.y = np.moveaxis(self.ideal(np.stack([columns, rows], axis=-1)), -1, 0)

    def ideal(self, pixels: np.ndarray) -> np.ndarray:
        """Ideal pixels of pixels [..., 2]."""
        lens = self.lens
        return lens.undistort(pixels) * (lens.fx, lens.fy) + (lens.cx, lens.cy)

    def seen(self, ideal: np.ndarray) -> np.ndarray:
        """Pixels of ideal pixels [..., 2]."""
        lens = self.lens
        return lens.distort((ideal - (lens.cx, lens.cy)) / (lens.fx, lens.fy))

    def rays(self, ideal: np.ndarray) -> np.ndarray:
        """(X/Z, Y/Z) of ideal pixels [..., 2]."""
        return (ideal - (self.lens.cx, self.lens.cy)) / (self.lens.fx, self.lens.fy)

    def beside(self, start: np.ndarray, end: np.ndarray, band: float) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the pixels within about `band` of the segment between two ideal points."""
        steps = max(int(np.hypot(*(end - start))), 4)
        way = self.seen(start + np.linspace(0.0, 1.0, steps)[:, None] * (end - start))
        major = int(np.argmax(np.abs(way[-1] - way[0])))
        if way[-1, major] < way[0, major]:
            way = way[::-1]
        first, last = np.ceil(way[0, major]), np.floor(way[-1, major])
        places = np.arange(first, last + 1)
        across = np.interp(places, way[:, major], way[:, 1 - major])
        reach = int(np.ceil(band * np.sqrt(2.0))) + 1
        others = np.rint(across)[:, None] + np.arange(-reach, reach + 1)
        both = [np.broadcast_to(places[:, None], others.shape).ravel().astype(int), others.ravel().astype(int)]
        columns, rows = both[major], both[1 - major]
        inside = (columns >= 0) & (columns < self.lens.width) & (rows >= 0) & (rows < self.lens.height)
        return rows[inside], columns[inside]


def fit_line(
    image: np.ndarray, unbent: Unbent, start: np.ndarray, end: np.ndarray, band: float, margin: float
) -> Line | None:
    """The edge near the segment from `start` to `end`, dark on its right; None where there is none.

    Pixels within `margin` of the ends are left out: other edges are near.
    """
    way = end - start
    length = float(np.hypot(*way))
    if length - 2 * margin < 4:
        return None
    along = way / length
    normal = np.array([along[1], -along[0]])  # towards the bright side, where y points down and corners go clockwise
    middle, half = (start + end) / 2, length / 2 - margin
    rows, columns = unbent.beside(start, end, band)
    x, y = unbent.x[rows, columns] - middle[0], unbent.y[rows, columns] - middle[1]
    d, t = x * normal[0] + y * normal[1], x * along[0] + y * along[1]
    near = (np.abs(d) <= band) & (np.abs(t) <= half)
    if np.count_nonzero(near) < 20:
        return None
    found = _least_squares(image[rows[near], columns[near]].astype(float), d[near], t[near] / half, band)
    if found is None:
        return None
    (offset, growth, blur), covariance = found
    turned = normal - growth / half * along
    turned /= np.hypot(*turned)
    at = middle + offset * normal
    return Line(turned, float(turned @ at), at, half, covariance, blur)


def _least_squares(grey: np.ndarray, d: np.ndarray, t: np.ndarray, band: float):
    """(o, θ, s) and the covariance of (o, θ), or None where no edge is found."""
    o, growth, s = 0.0, 0.0, 1.0
    weights = np.ones_like(grey)
    shape = np.ones((4, len(grey)))
    variance = 1.0
    for turn in range(ROUNDS):
        z = (d - o - growth * t) / s
        phi = ndtr(z)
        shape[1], shape[2], shape[3] = t, phi, phi * t
        weighted = shape * weights
        try:
            levels = np.linalg.solve(weighted @ shape.T + 1e-9 * np.eye(4), weighted @ grey)
        except np.linalg.LinAlgError:
            return None
        step = levels[2] + levels[3] * t
        if levels[2] < LEAST_CONTRAST:
            return None
        residual = grey - levels @ shape
        scale = max(1.4826 * float(np.median(np.abs(residual))), 0.5)
        weights = 1.0 / np.maximum(np.abs(residual) / (2.5 * scale), 1.0)  # Huber
        slope = -step * BETWEEN * np.exp(-0.5 * z * z) / s
        J = np.concatenate([np.stack([slope, slope * t, slope * z]), shape])
        J_w = J * weights
        N = J_w @ J.T
        N[np.diag_indices(7)] *= 1 + 1e-9
        try:
            change = np.linalg.solve(N, J_w @ residual)
        except np.linalg.LinAlgError:
            return None
        limit = 0.5 * s
        o += float(np.clip(change[0], -limit, limit))
        growth += float(np.clip(change[1], -limit, limit))
        s = float(np.clip(s + np.clip(change[2], -0.3 * s, 0.5 * s), LEAST_BLUR, MOST_BLUR))
        if abs(o) > band or abs(growth) > band:
            return None
        variance = float(np.sum(weights * residual * residual) / max(len(grey) - 7, 1))
        if turn > 1 and np.abs(change[:3]).max() < 1e-4:
            break
    covariance = np.linalg.inv(N)[:2, :2] * max(variance, 0.1)
    return (o, growth, s), covariance


def fit_corners(
    image: np.ndarray, unbent: Unbent, corners: np.ndarray, cells: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """Corners [4, 2] of a dark square as intersections of its sides, and their covariance [8, 8], in ideal pixels.

    `corners` are guessed, clockwise in the picture; `cells` is how many widths of its border the square is wide.
    """
    guess = corners
    lines: list[Line] = []
    for turn in range(2):
        before, lines = lines, []
        for k in range(4):
            start, end = guess[k], guess[(k + 1) % 4]
            ring = _width(guess, k) / cells  # of the border, across this side
            band = min(0.5 * ring, 4.0) if turn == 0 else min(0.45 * ring, 3.5)
            line = fit_line(image, unbent, start, end, max(band, LEAST_BAND[turn]), _margin(guess, k, lines))
            if line is None and turn > 0:
                line = before[k]  # between narrow cells a wide band finds what a narrow one does not
            if line is None:
                return None
            lines.append(line)
        crossed = _cross(lines)
        if crossed is None or np.abs(crossed - guess).max() > 6.0:
            return None
        guess = crossed
    return guess, _covariance(lines, guess)


def _width(corners: np.ndarray, k: int) -> float:
    """Of a square across side k: distance of the opposite side, at its nearer end [px]."""
    start, end = corners[k], corners[(k + 1) % 4]
    way = (end - start) / np.hypot(*(end - start))
    far = corners[[(k + 2) % 4, (k + 3) % 4]] - start
    return float(np.abs(far[:, 0] * way[1] - far[:, 1] * way[0]).min())


def _margin(corners: np.ndarray, k: int, lines: list[Line]) -> float:
    """How far from its ends a side is left out: where the next sides' blur begins, or a fifth of it."""
    blur = lines[-1].blur if lines else 1.0
    length = float(np.hypot(*(corners[(k + 1) % 4] - corners[k])))
    return min(1.0 + 3.0 * blur, 0.2 * length)


def _cross(lines: list[Line]) -> np.ndarray | None:
    """Corner k between sides k - 1 and k."""
    corners = np.empty((4, 2))
    for k in range(4):
        N = np.stack([lines[k - 1].normal, lines[k].normal])
        if abs(np.linalg.det(N)) < 0.05:
            return None
        corners[k] = np.linalg.solve(N, [lines[k - 1].offset, lines[k].offset])
    return corners


def _covariance(lines: list[Line], corners: np.ndarray) -> np.ndarray:
    """Of the corners' eight coordinates, from that of the lines."""
    result = np.zeros((8, 8))
    J = np.zeros((8, 8))  # by (o, θ) of each line
    C = np.zeros((8, 8))
    for k in range(4):
        inverse = np.linalg.inv(np.stack([lines[k - 1].normal, lines[k].normal]))
        for column, which in enumerate(((k - 1) % 4, k)):
            line = lines[which]
            t = float(line.along @ (corners[k] - line.middle)) / line.half
            J[2 * k : 2 * k + 2, 2 * which] += inverse[:, column]
            J[2 * k : 2 * k + 2, 2 * which + 1] += inverse[:, column] * t
        C[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = lines[k].covariance
    result = J @ C @ J.T
    return result + FLOOR**2 * np.eye(8)
