"""A camera that is computed: sheets with printed cells, seen through a lens, blurred and noisy.

For tests and for machines without a camera. It shares no code with what finds markers: the lens is inverted here by
its own iteration, and every pixel that is not of one colour is the mean of `SAMPLES` x `SAMPLES` rays.
"""

import time as wall
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.ndimage import binary_dilation, gaussian_filter

from .camera import Frame
from .optics import Intrinsics
from .patterns import Charuco, Marker
from .status import Told

SAMPLES = 8  # rays along a side of a pixel
DEPTH_NOISE = 2e-3  # of a camera that measures depth, at 1 m [m]
INK, PAPER, TABLE = 30.0, 215.0, 130.0  # grey levels


@dataclass(frozen=True)
class Sheet:
    """A flat rectangle of cells of grey; `X_RS` puts its centre, x to the right and y up, into the room."""

    grey: np.ndarray  # [rows, columns], first row on top
    width: float  # [m]
    height: float  # [m]
    X_RS: np.ndarray = field(default_factory=lambda: np.eye(4))


def printed(
    what: Marker | Charuco, X_RS: np.ndarray | None = None, margin: float = 1.0, ink: float = INK, paper: float = PAPER
) -> Sheet:
    """A sheet with a marker or board in its middle and a white margin of whole cells around it."""
    cells, around = what.cells(), round(margin)
    grey = np.where(np.pad(cells, around, constant_values=True), paper, ink)
    pitch = what.size / what.side if isinstance(what, Marker) else what.square / what.side
    return Sheet(grey, grey.shape[1] * pitch, grey.shape[0] * pitch, np.eye(4) if X_RS is None else X_RS)


def box(size: Sequence[float], X_RB: np.ndarray, grey: float = 90.0) -> list[Sheet]:
    """Six sides of a box, each a little brighter or darker than the next."""
    sides = []
    for axis in range(3):
        for sign in (1.0, -1.0):
            z = np.zeros(3)
            z[axis] = sign
            x = np.roll(np.abs(z), 1)
            X_BS = np.eye(4)
            X_BS[:3, :3] = np.stack([x, np.cross(z, x), z], axis=1)
            X_BS[:3, 3] = z * size[axis] / 2
            width, height = size[(axis + 1) % 3], size[(axis + 2) % 3]
            shade = np.full((1, 1), grey * (1 + 0.25 * sign * (axis + 1) / 3))
            sides.append(Sheet(shade, width, height, X_RB @ X_BS))
    return sides


class Renderer:
    """Pictures of sheets by one lens."""

    def __init__(
        self,
        lens: Intrinsics,
        blur: float = 0.8,  # standard deviation [px]
        noise: float = 3.0,  # standard deviation [grey levels]
        background: float = TABLE,
        light: tuple[float, float] = (0.0, 0.0),  # how much brighter right and bottom are than left and top
        seed: int = 0,
    ):
        self.lens, self.blur, self.noise, self.background = lens, blur, noise, background
        self._random = np.random.default_rng(seed)
        w, h = lens.width, lens.height
        columns, rows = np.meshgrid(np.arange(w + 1) - 0.5, np.arange(h + 1) - 0.5)
        self._corners = _through_lens(lens, columns, rows)  # [h + 1, w + 1, 2], at the pixels' corners
        x, y = np.linspace(-0.5, 0.5, w), np.linspace(-0.5, 0.5, h)
        self._light = 1.0 + light[0] * x[None, :] + light[1] * y[:, None]

    def render(self, sheets: Sequence[Sheet], X_KR: np.ndarray) -> np.ndarray:
        """The picture [height, width] of 8 bits."""
        placed = [(sheet, X_KR @ sheet.X_RS) for sheet in sheets]
        at_corners = self._shade(placed, self._corners)
        four = np.stack([at_corners[:-1, :-1], at_corners[:-1, 1:], at_corners[1:, :-1], at_corners[1:, 1:]])
        image = four.mean(axis=0)
        mixed = binary_dilation(np.ptp(four, axis=0) > 0)
        image[mixed] = self._mean_of_rays(placed, *np.nonzero(mixed))
        image *= self._light
        if self.blur > 0:
            image = gaussian_filter(image, self.blur, mode="nearest", truncate=5.0)
        if self.noise > 0:
            image = image + self._random.normal(0.0, self.noise, image.shape)
        return np.clip(np.rint(image), 0, 255).astype(np.uint8)

    def depth(self, sheets: Sequence[Sheet], X_KR: np.ndarray, noise: float = 0.0) -> np.ndarray:
        """How far what is seen is along z [height, width] [m], by a ray through each pixel's middle; 0: nothing.

        noise: standard deviation at 1 m [m]; as that of cameras of structured light and stereo it grows as z².
        """
        c = self._corners
        rays = (c[:-1, :-1] + c[:-1, 1:] + c[1:, :-1] + c[1:, 1:]) / 4
        nearest = np.full(rays.shape[:2], np.inf)
        self._shade([(sheet, X_KR @ sheet.X_RS) for sheet in sheets], rays, nearest)
        found = np.where(np.isfinite(nearest), nearest, 0.0)
        if noise > 0:
            found = np.maximum(found + noise * found**2 * self._random.normal(size=found.shape), 0.0)
        return found.astype(np.float32)

    def _mean_of_rays(self, placed: list[tuple[Sheet, np.ndarray]], rows: np.ndarray, columns: np.ndarray):
        """Grey of pixels, each by SAMPLES² rays between the rays of its corners."""
        if len(rows) == 0:
            return np.empty(0)
        part = (np.arange(SAMPLES) + 0.5) / SAMPLES
        b, a = (each.ravel()[:, None, None] for each in np.meshgrid(part, part, indexing="ij"))
        c = self._corners
        rays = (
            (1 - a) * (1 - b) * c[rows, columns]
            + a * (1 - b) * c[rows, columns + 1]
            + (1 - a) * b * c[rows + 1, columns]
            + a * b * c[rows + 1, columns + 1]
        )
        return self._shade(placed, rays).mean(axis=0)

    def _shade(
        self, placed: list[tuple[Sheet, np.ndarray]], rays: np.ndarray, nearest: np.ndarray | None = None
    ) -> np.ndarray:
        """Grey that each ray (x, y, 1) meets first, and into `nearest` how far along z that is [m]."""
        x, y = rays[..., 0], rays[..., 1]
        grey = np.full(x.shape, self.background)
        nearest = np.full(x.shape, np.inf) if nearest is None else nearest
        for sheet, X_KS in placed:
            right, up, normal, p = X_KS[:3, 0], X_KS[:3, 1], X_KS[:3, 2], X_KS[:3, 3]
            with np.errstate(divide="ignore", invalid="ignore"):
                depth = (normal @ p) / (normal[0] * x + normal[1] * y + normal[2])
                # where on the sheet, from its top left corner, in cells
                rows, columns = sheet.grey.shape
                u = (depth * (right[0] * x + right[1] * y + right[2]) - right @ p) / sheet.width + 0.5
                v = 0.5 - (depth * (up[0] * x + up[1] * y + up[2]) - up @ p) / sheet.height
            hit = (depth > 0) & (depth < nearest) & (u >= 0) & (u < 1) & (v >= 0) & (v < 1)
            grey[hit] = sheet.grey[(v[hit] * rows).astype(int), (u[hit] * columns).astype(int)]
            nearest[hit] = depth[hit]
        return grey


def _through_lens(lens: Intrinsics, columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The ideal image points that the lens bends to pixels: x = (x' - tangential) / radial, repeated to rest."""
    k1, k2, p1, p2, k3 = lens.distortion
    goal_x, goal_y = (columns - lens.cx) / lens.fx, (rows - lens.cy) / lens.fy
    x, y = goal_x.copy(), goal_y.copy()
    for _ in range(200):
        rr = x**2 + y**2
        scale = 1.0 / (1.0 + k1 * rr + k2 * rr**2 + k3 * rr**3)
        new_x = (goal_x - 2 * p1 * x * y - p2 * (rr + 2 * x**2)) * scale
        new_y = (goal_y - p1 * (rr + 2 * y**2) - 2 * p2 * x * y) * scale
        moved = max(np.abs(new_x - x).max(), np.abs(new_y - y).max())
        x, y = new_x, new_y
        if moved < 1e-14:
            break
    return np.stack([x, y], axis=-1)


class SyntheticCamera(Told):
    """A camera that looks at sheets from where `path(t)` = X_KR puts it, `rate` pictures a second.

    `pace=False` gives the pictures as fast as they are computed, stamped as if they had come at `rate`. With `depth` it
    measures depth, too, with a noise of `DEPTH_NOISE`.
    """

    def __init__(
        self,
        renderer: Renderer,
        sheets: Callable[[float], Sequence[Sheet]] | Sequence[Sheet],
        path: Callable[[float], np.ndarray],
        rate: float = 30.0,
        pace: bool = True,
        depth: bool = False,
    ):
        super().__init__("no picture has been taken yet")
        self._has_depth = depth
        self.intrinsics: Intrinsics | None = renderer.lens
        self._renderer, self._path, self._period, self._pace = renderer, path, 1.0 / rate, pace
        self._sheets = sheets if callable(sheets) else lambda t: sheets
        self._began = wall.monotonic()
        self._next = 0

    def read(self) -> Frame | None:
        """The picture that is due, or None before it is."""
        if self.status.state == "ended":
            return None
        now = wall.monotonic() - self._began
        if self._pace and now < self._next * self._period:
            return None
        number = max(self._next, int(now / self._period)) if self._pace else self._next
        t = number * self._period
        sheets, X_KR = self._sheets(t), self._path(t)
        image = self._renderer.render(sheets, X_KR)
        depth = self._renderer.depth(sheets, X_KR, DEPTH_NOISE) if self._has_depth else None
        self._next = number + 1
        self.set_status("ok", time=self._began + t)
        return Frame(self._began + t, number, image, depth)

    def close(self) -> None:
        """End it."""
        self.set_status("ended", "closed", wall.monotonic())
