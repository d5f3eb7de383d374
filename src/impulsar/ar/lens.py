"""Intrinsics of a camera from views of a ChArUco board.

    lens = calibrate([frame.grey for frame in frames], Charuco(7, 5, 0.03))

Views that do not say enough are refused with what is missing: too few, too few corners, all from the same side (focal
length and distance cannot be told apart), or corners in the middle of the picture only (distortion is not seen).
"""

from collections.abc import Sequence

import numpy as np

from ..author.errors import ModelError
from .markers import CharucoFinder
from .optics import Intrinsics
from .patterns import Charuco
from .status import opencv

LEAST_VIEWS, LEAST_CORNERS = 6, 8
LEAST_TILT = 20.0  # between the board's normals of two views [°]
LEAST_COVER = 0.5  # of the picture's width and height that corners must span
MOST_OUTLYING = 3.0  # times the median error of a view beyond which it is left out
MOST_RMS = 1.5  # beyond it a board was bent, moved or not the one that was named [px]


def calibrate(pictures: Sequence[np.ndarray], board: Charuco) -> Intrinsics:
    """Intrinsics from pictures [height, width] of a board in many attitudes."""
    cv2 = opencv("calibration")
    if not pictures:
        raise ModelError(f"camera calibration: no picture; take {LEAST_VIEWS} or more of the board, from several sides")
    height, width = pictures[0].shape
    if any(picture.shape != (height, width) for picture in pictures):
        raise ModelError("camera calibration: pictures are of several sizes; take all with one camera and setting")
    finder = CharucoFinder(None, board)
    views = [(finder.points[numbers], pixels) for numbers, pixels in map(finder.corners, pictures)]
    views = [(points, pixels) for points, pixels in views if len(points) >= LEAST_CORNERS and _is_spread(points)]
    _check(views, len(pictures), width, height)
    for _ in range(2):
        points = [view[0].astype(np.float32) for view in views]
        pixels = [view[1].astype(np.float32)[:, None] for view in views]
        found = cv2.calibrateCameraExtended(points, pixels, (width, height), None, None)
        rms, K, distortion, turns, _, _, _, errors = found
        each = np.ravel(errors)
        good = each <= MOST_OUTLYING * np.median(each)
        if good.all() or np.count_nonzero(good) < LEAST_VIEWS:
            break
        views = [view for view, keep in zip(views, good, strict=True) if keep]
    if rms > MOST_RMS:
        cure = "print the board flat and to scale, name its squares rightly, and hold still"
        raise ModelError(f"camera calibration: corners are {rms:.2g} px rms from where they should be; {cure}")
    _check_tilt(cv2, turns)
    k = [float(value) for value in np.ravel(distortion)[:5]]
    return Intrinsics(
        width, height, float(K[0, 0]), float(K[1, 1]), float(K[0, 2]), float(K[1, 2]), tuple(k), float(rms)
    )


def _is_spread(points: np.ndarray) -> bool:
    return int(np.linalg.matrix_rank(points[:, :2] - points[0, :2], tol=1e-6)) == 2


def _check(views: list, taken: int, width: int, height: int) -> None:
    if len(views) < LEAST_VIEWS:
        cure = "is it the board that was printed, sharp and well lit?"
        raise ModelError(
            f"camera calibration: the board is seen in {len(views)} of {taken} pictures, expected {LEAST_VIEWS}; {cure}"
        )
    seen = np.concatenate([pixels for _, pixels in views])
    cover = np.ptp(seen, axis=0) / (width, height)
    if cover.min() < LEAST_COVER:
        raise ModelError(
            f"camera calibration: corners span {cover[0]:.0%} of the width and {cover[1]:.0%} of the height, expected "
            f"{LEAST_COVER:.0%}; hold the board nearer and into all corners of the picture"
        )


def _check_tilt(cv2, turns: Sequence[np.ndarray]) -> None:
    normals = np.array([cv2.Rodrigues(each)[0][:, 2] for each in turns])
    widest = np.degrees(np.arccos(np.clip(normals @ normals.T, -1.0, 1.0))).max()
    if widest < LEAST_TILT:
        raise ModelError(
            f"camera calibration: the board was turned by {widest:.0f}° only, expected {LEAST_TILT:g}° or more; tilt it"
        )
