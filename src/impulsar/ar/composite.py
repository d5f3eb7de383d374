"""Render, without a browser: a mechanism over a camera's picture, for video files and machines that have no page.

Silhouettes are those of `render.py`, in perspective: the hull of a shape's points, each widened to the circle as which
its ball is seen. They are filled from the farthest to the nearest; what is real and in between puts the camera's own
pixels back. Where the camera measured depth, so does every pixel whose depth is nearer than the silhouette there by
more than `MARGIN`; of a silhouette 1/z = a + b u + c v, which is exact for lines and planes.
"""

from collections.abc import Sequence

import numpy as np

from ..author.model import Model
from ..author.rotations import rotation_matrix
from ..render import CIRCLE, Outline, Pose, body_outlines, hull
from ..results import COLOURS
from ..studio.ar_messages import Occluder
from .eye import Sight
from .optics import Intrinsics
from .show import Place
from .status import opencv

SHIFT = 4  # binary digits of a pixel's parts in OpenCV's polygons
NEAREST = 0.02  # what is nearer to the camera is left out [m]
LIGHT = np.array([0.35, -0.25, 1.0])  # where the light comes from, in the room
SHADE, SOFT = 0.45, 4.0  # how dark a shadow is, and how soft [px]
MARGIN = 0.01  # by which something real must be nearer to hide something: the noise of depths [m]
EDGE = 0.55  # brightness of an outline's edge
HAND = (40, 120, 255)  # BGR


class Composite:
    """Draws one mechanism over the pictures of one lens."""

    def __init__(self, lens: Intrinsics, model: Model, place: Place, occluders: Sequence[Occluder] = ()):
        self.lens, self.place = lens, place
        self._cv2 = opencv("composite")
        self._outlines = [
            (outline, _bgr(body.colour or COLOURS[k % len(COLOURS)]))
            for k, body in enumerate(model.bodies.values())
            for outline in body_outlines(model, body)
        ]
        self._hiders = [_points(one) for one in occluders]
        self._maps: tuple[np.ndarray, np.ndarray] | None = None  # of depths
        self._straight = Intrinsics(lens.width, lens.height, lens.fx, lens.fy, lens.cx, lens.cy)

    def draw(self, sight: Sight, pose: Pose, hand: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
        """The picture [height, width, 3] (BGR) with the lens's bend taken out; hand: a hand and the point it holds."""
        cv2, lens = self._cv2, self.lens
        image = (
            sight.frame.image if sight.frame.image.ndim == 3 else cv2.cvtColor(sight.frame.image, cv2.COLOR_GRAY2BGR)
        )
        real = cv2.undistort(image, lens.matrix, np.array(lens.distortion))
        if sight.X_KR is None:
            cv2.putText(real, "marker not seen", (12, 28), cv2.FONT_HERSHEY_SIMPLEX, 0.7, (0, 0, 255), 2, cv2.LINE_AA)
            return real
        X_KR, near = sight.X_KR, self._straightened(sight.frame.depth)
        drawn = self._shadows(real, X_KR, pose)
        for depth, points, radius, colour in sorted(self._items(X_KR, pose), key=lambda item: -item[0]):
            if depth > NEAREST and (outline := self._outline(points, radius)) is not None:
                before = drawn.copy() if near is not None else drawn
                self._fill(drawn, real, outline, colour)
                if near is not None:
                    hidden = (near > 0) & (near < self._depths(points) - MARGIN)
                    drawn[hidden] = before[hidden]
        if hand is not None:
            self._draw_hand(drawn, [self._in_camera(X_KR, point[None])[0] for point in hand])
        return drawn

    def _straightened(self, depth: np.ndarray | None) -> np.ndarray | None:
        """Depths [height, width] [m] with the lens's bend taken out, as it is of the picture."""
        if depth is None:
            return None
        cv2, lens = self._cv2, self.lens
        if self._maps is None:
            straight = lens.matrix, (lens.width, lens.height), cv2.CV_32FC1
            self._maps = cv2.initUndistortRectifyMap(lens.matrix, np.array(lens.distortion), None, *straight)
        fine = cv2.resize(depth.astype(np.float32), (lens.width, lens.height), interpolation=cv2.INTER_NEAREST)
        return cv2.remap(np.nan_to_num(fine, posinf=0.0), *self._maps, cv2.INTER_NEAREST)

    def _depths(self, points_K: np.ndarray) -> np.ndarray:
        """How far a silhouette is at each pixel [height, width] [m]."""
        pixels, lens = self._straight.project(points_K), self.lens
        rows = np.column_stack([np.ones(len(pixels)), pixels])
        middle, spread = rows.mean(axis=0), np.maximum(rows.std(axis=0), 1.0)
        middle[0], spread[0] = 0.0, 1.0
        a, b, c = np.linalg.lstsq((rows - middle) / spread, 1 / points_K[:, 2], rcond=1e-6)[0]
        u, v = (np.arange(lens.width) - middle[1]) / spread[1], (np.arange(lens.height) - middle[2]) / spread[2]
        low, high = 1 / points_K[:, 2].max(), 1 / points_K[:, 2].min()
        return 1 / np.clip(a + b * u[None, :] + c * v[:, None], low, high)

    def _in_camera(self, X_KR: np.ndarray, points_W: np.ndarray) -> np.ndarray:
        return self._room(points_W) @ X_KR[:3, :3].T + X_KR[:3, 3]

    def _room(self, points_W: np.ndarray) -> np.ndarray:
        place = self.place
        return place.position + place.scale * points_W @ rotation_matrix(place.orientation).T

    def _items(self, X_KR: np.ndarray, pose: Pose) -> list[tuple[float, np.ndarray, float, np.ndarray | None]]:
        """Depth, points in the camera, radius and colour of all that is seen; no colour: it is real."""
        found: list[tuple[float, np.ndarray, float, np.ndarray | None]] = []
        for outline, colour in self._outlines:
            points = self._in_camera(X_KR, pose.place(outline.body, outline.points))
            found.append((float(points[:, 2].mean()), points, self.place.scale * outline.radius, colour))
        for points_R, radius in self._hiders:
            points = points_R @ X_KR[:3, :3].T + X_KR[:3, 3]
            found.append((float(points[:, 2].mean()), points, radius, None))
        return found

    def _outline(self, points_K: np.ndarray, radius: float) -> np.ndarray | None:
        """Corners of a silhouette [px], or None where a part of it is behind the camera."""
        if points_K[:, 2].min() < NEAREST + radius:
            return None
        seen = points_K if radius == 0 else circles(points_K, radius)
        corners = hull(self._straight.project(seen))
        return corners if len(corners) > 2 else None

    def _fill(self, drawn: np.ndarray, real: np.ndarray, corners: np.ndarray, colour: np.ndarray | None) -> None:
        cv2 = self._cv2
        polygon = [np.rint(corners * 2**SHIFT).astype(np.int32)]
        if colour is None:
            mask = np.zeros(drawn.shape[:2], np.uint8)
            cv2.fillPoly(mask, polygon, 255, cv2.LINE_AA, SHIFT)
            share = mask[..., None] / 255.0
            drawn[:] = np.rint(share * real + (1 - share) * drawn).astype(np.uint8)
            return
        cv2.fillPoly(drawn, polygon, colour.tolist(), cv2.LINE_AA, SHIFT)
        cv2.polylines(drawn, polygon, True, (EDGE * colour).tolist(), 1, cv2.LINE_AA, SHIFT)

    def _shadows(self, real: np.ndarray, X_KR: np.ndarray, pose: Pose) -> np.ndarray:
        """The picture with the mechanism's shadow on the room's ground."""
        cv2, mask = self._cv2, np.zeros(real.shape[:2], np.uint8)
        for outline, _ in self._outlines:
            corners_R = self._room(_spread(outline, pose))
            flat = corners_R - np.outer(corners_R[:, 2] / LIGHT[2], LIGHT)
            points = flat @ X_KR[:3, :3].T + X_KR[:3, 3]
            if corners_R[:, 2].max() > 0 and (corners := self._outline(points, 0.0)) is not None:
                cv2.fillPoly(mask, [np.rint(corners * 2**SHIFT).astype(np.int32)], 255, cv2.LINE_AA, SHIFT)
        share = SHADE * cv2.GaussianBlur(mask, (0, 0), SOFT)[..., None] / 255.0
        return np.rint(real * (1 - share)).astype(np.uint8)

    def _draw_hand(self, drawn: np.ndarray, ends_K: Sequence[np.ndarray]) -> None:
        if min(end[2] for end in ends_K) < NEAREST:
            return
        cv2 = self._cv2
        tip, held = (np.rint(self._straight.project(end) * 2**SHIFT).astype(int).tolist() for end in ends_K)
        cv2.line(drawn, tip, held, HAND, 2, cv2.LINE_AA, SHIFT)
        cv2.circle(drawn, tip, 6 * 2**SHIFT, HAND, 2, cv2.LINE_AA, SHIFT)


def circles(points_K: np.ndarray, radius: float) -> np.ndarray:
    """Points of the circles on which sight lines touch balls about points [n, 3]: nearer than the middle by r²/d."""
    distance = np.linalg.norm(points_K, axis=1, keepdims=True)
    axis = points_K / distance
    share = 1 - (radius / distance) ** 2
    side = np.cross(axis, np.where(np.abs(axis[:, :1]) < 0.9, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]))
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    other = np.cross(axis, side)
    ring = CIRCLE[:, 0, None, None] * side + CIRCLE[:, 1, None, None] * other
    return (share * points_K + radius * np.sqrt(share) * ring).reshape(-1, 3)


def _spread(outline: Outline, pose: Pose) -> np.ndarray:
    """World points of an outline with its radius around them, as an octahedron has it."""
    points = pose.place(outline.body, outline.points)
    return (points[:, None] + outline.radius * np.vstack([np.eye(3), -np.eye(3)])).reshape(-1, 3)


def _points(occluder: Occluder) -> tuple[np.ndarray, float]:
    """Points of what is real in the room and the radius around them."""
    p, R = np.array(occluder.pose[:3]), rotation_matrix(occluder.pose[3:])
    if occluder.kind == "box":
        corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        return p + corners * occluder.size @ R.T, 0.0
    radius, length = occluder.size
    return p + np.array([[0.0, 0.0, -length / 2], [0.0, 0.0, length / 2]]) @ R.T, radius


def _bgr(colour: str) -> np.ndarray:
    return np.array([int(colour[k : k + 2], 16) for k in (5, 3, 1)], float)
