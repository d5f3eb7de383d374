"""Markers in pictures: what is found, where it is, and the same over time.

    finder = MarkerFinder(lens, "4x4_50")
    follower = Follower(single(Marker(7, size=0.08)))
    seen = follower.update(frame.time, finder.find(frame.grey))
    seen.X_KM                                            # the marker in the camera, or None where it is not seen

OpenCV finds the squares and reads their bits; their sides are fitted in `edges.py`, both poses come from `pose.py`, and
`Follower` decides between them over time, filters and says when the target is lost.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import block_diag

from ..author.checks import positive
from ..author.errors import ModelError
from .edges import Unbent, fit_corners
from .filters import PoseFilter
from .optics import Intrinsics
from .patterns import Charuco, Marker, dictionary
from .pose import Guess, angle_between, poses
from .status import Told, opencv

# windows of OpenCV's adaptive threshold [px] and how much the picture is enlarged, until all that is wanted is found
ATTEMPTS = ((13, 1), (7, 1), (25, 1), (13, 2))
SADDLE = 0.04  # standard deviation of a chessboard's corner [px]
LIKELIER = 12.0  # sum of differences of χ² at which the other pose takes over
FORGET = 0.95  # of that sum at each picture
PATIENCE = 0.25  # without being seen before a target is lost [s]


@dataclass(frozen=True)
class Sighting:
    """A marker in a picture: corners in pixels, their directions (X/Z, Y/Z), and the directions' covariance."""

    number: int
    pixels: np.ndarray  # [4, 2]
    rays: np.ndarray  # [4, 2]
    covariance: np.ndarray  # [8, 8]
    is_fitted: bool = True  # False: by OpenCV's corners, because no sides could be fitted


class MarkerFinder:
    """Finds the markers of one dictionary in the pictures of one lens.

    A lens blurs light, not grey levels: edges are fitted to grey^gamma. 1 is a camera with a linear response, 2.2 one
    that encodes its pictures as screens want them, as most webcams do.
    """

    def __init__(
        self,
        lens: Intrinsics,
        dictionary_name: str = "4x4_50",
        border: int = 1,
        inverted: bool = False,
        gamma: float = 1.0,
    ):
        aruco = opencv("markers").aruco
        self.lens, self.unbent = lens, Unbent(lens)
        self._cells = (dictionary(dictionary_name).markerSize + 2 * border) / border
        positive("markers", "gamma", gamma, "1")
        self._light = 255.0 * (np.arange(256) / 255.0) ** gamma
        self._attempts = []
        for window, scale in ATTEMPTS:
            options = aruco.DetectorParameters()
            options.cornerRefinementMethod = aruco.CORNER_REFINE_SUBPIX
            options.adaptiveThreshWinSizeMin = options.adaptiveThreshWinSizeMax = window
            options.polygonalApproxAccuracyRate = 0.05  # sides are bent by the lens
            options.minDistanceToBorder = 0
            options.markerBorderBits = border
            options.detectInvertedMarker = inverted
            self._attempts.append((aruco.ArucoDetector(dictionary(dictionary_name), options), scale))

    def find(self, grey: np.ndarray, wanted: Iterable[int] | None = None) -> list[Sighting]:
        """Markers in a picture [height, width] of 8 bits; it is searched again until all that is wanted is found."""
        check_size(self.lens, grey)
        cv2 = opencv("markers")
        smooth = cv2.GaussianBlur(grey, (3, 3), 0)
        corners: dict[int, np.ndarray] = {}
        for detector, scale in self._attempts:
            searched = smooth if scale == 1 else cv2.resize(smooth, None, fx=scale, fy=scale)
            quads, numbers, _ = detector.detectMarkers(searched)
            for quad, number in zip(quads, () if numbers is None else np.ravel(numbers), strict=True):
                corners.setdefault(int(number), (quad.reshape(4, 2).astype(float) + 0.5) / scale - 0.5)
            if set(wanted) <= corners.keys() if wanted is not None else corners:
                break
        light = self._light[grey]
        return [self._fit(light, number, quad) for number, quad in sorted(corners.items())]

    def _fit(self, light: np.ndarray, number: int, quad: np.ndarray) -> Sighting:
        guess = self.unbent.ideal(quad)
        found = fit_corners(light, self.unbent, guess, self._cells)
        if found is None:  # bright on dark
            found = fit_corners(255 - light, self.unbent, guess, self._cells)
        corners, covariance = found or (guess, 0.3**2 * np.eye(8))
        scale = np.tile([1 / self.lens.fx, 1 / self.lens.fy], 4)
        return Sighting(
            number,
            self.unbent.seen(corners),
            self.unbent.rays(corners),
            covariance * np.outer(scale, scale),
            found is not None,
        )


def check_size(lens: Intrinsics, grey: np.ndarray) -> None:
    """Raises where a picture is not of the lens's camera."""
    if grey.shape != (lens.height, lens.width):
        found = " x ".join(map(str, grey.shape[1::-1]))
        raise ModelError(f"picture of {found}: the camera's calibration is of {lens.width} x {lens.height}; calibrate")


@dataclass(frozen=True)
class Target:
    """What is looked for: markers, each with its corners [4, 3] in the target's frame."""

    name: str
    corners: Mapping[int, np.ndarray]

    def poses(self, sightings: Sequence[Sighting]) -> list[Guess]:
        """Poses in the camera from those of its markers that were seen, likeliest first; none where none was."""
        mine = [each for each in sightings if each.number in self.corners]
        if any(each.is_fitted for each in mine):
            mine = [each for each in mine if each.is_fitted]
        if not mine:
            return []
        points = np.concatenate([self.corners[each.number] for each in mine])
        rays = np.concatenate([each.rays for each in mine])
        return poses(points, rays, block_diag(*(each.covariance for each in mine)))


def single(marker: Marker) -> Target:
    """One marker as a target."""
    return Target(f"marker {marker.number}", {marker.number: marker.corners})


def several(name: str, placed: Mapping[Marker, np.ndarray]) -> Target:
    """Several markers of one dictionary that are fixed to each other, each with X_BM, its pose in their frame."""
    if len({(marker.dictionary, marker.border) for marker in placed}) > 1:
        raise ModelError(f"board '{name}': its markers are of several dictionaries or borders; take one")
    corners = {marker.number: marker.corners @ X[:3, :3].T + X[:3, 3] for marker, X in placed.items()}
    if len(corners) < len(placed):
        raise ModelError(f"board '{name}': a marker's number is there twice; give each its own")
    return Target(name, corners)


class CharucoFinder:
    """Finds the corners of a ChArUco board, and its pose; its frame is in its middle, x right, y up, z out of it."""

    def __init__(self, lens: Intrinsics | None, board: Charuco):
        aruco = opencv("board").aruco
        self.lens, self.board = lens, board
        options, found = aruco.CharucoParameters(), aruco.DetectorParameters()
        found.minDistanceToBorder = 0
        if lens is not None:
            options.cameraMatrix, options.distCoeffs = lens.matrix, np.array(lens.distortion)
        self._board = board.board()
        self._detector = aruco.CharucoDetector(self._board, options, found)
        corners = np.asarray(self._board.getChessboardCorners(), float)
        middle = np.array([board.columns, board.rows]) * board.square / 2
        self.points = np.column_stack([corners[:, 0] - middle[0], middle[1] - corners[:, 1], 0 * corners[:, 0]])

    def corners(self, grey: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers [n] and pixels [n, 2] of the inner corners that are seen."""
        pixels, numbers, _, _ = self._detector.detectBoard(grey)
        if numbers is None or len(numbers) == 0:
            return np.empty(0, int), np.empty((0, 2))
        return np.ravel(numbers), np.asarray(pixels, float).reshape(-1, 2)

    def poses(self, grey: np.ndarray) -> list[Guess]:
        """Poses in the camera, likeliest first; none where fewer than six corners are seen."""
        if self.lens is None:
            raise ModelError("board: its pose needs the camera's intrinsics; run `impulsar ar calibrate-camera`")
        check_size(self.lens, grey)
        numbers, pixels = self.corners(grey)
        if len(numbers) < 6 or np.linalg.matrix_rank(self.points[numbers] - self.points[numbers[0]], tol=1e-6) < 2:
            return []
        scale = np.tile([SADDLE / self.lens.fx, SADDLE / self.lens.fy], len(numbers))
        return poses(self.points[numbers], self.lens.undistort(pixels), np.diag(scale**2))


@dataclass(frozen=True)
class Seen:
    """A target at a picture: its filtered pose in the camera, the pose of this picture alone, both None if unseen."""

    time: float
    X_KM: np.ndarray | None = None
    measured: Guess | None = None
    other: Guess | None = None  # the plane's second pose


@dataclass
class Follower(Told):
    """A target over time: which of a plane's two poses, filtered, lost and found again.

    The pose that is nearer to the one before is kept. The other takes over when the sum of its advantages in χ², with
    old ones forgotten, is decisive: one noisy picture does not flip a marker, and a wrong start does not last.
    """

    target: Target
    filter: PoseFilter | None = field(default_factory=PoseFilter)  # None: poses of each picture alone
    patience: float = PATIENCE  # [s]

    def __post_init__(self) -> None:
        Told.__init__(self, f"{self.target.name} has not been seen yet")
        self._kept: Guess | None = None
        self._last = -np.inf
        self._doubt = 0.0  # how much likelier the other pose has been, in χ²

    def update(self, time: float, sightings: Sequence[Sighting]) -> Seen:
        """Take a picture's sightings."""
        return self.take(time, self.target.poses(sightings))

    def take(self, time: float, guesses: Sequence[Guess]) -> Seen:
        """Take a picture's poses, likeliest first."""
        if time <= self._last and self._kept is not None:  # a clock that was set back: what was known is worth nothing
            self._forget()
        if not guesses:
            if time - self._last > self.patience:
                if self.status.is_ok:
                    self.set_status("lost", f"{self.target.name} is not in the picture", time)
                self._forget()
            return Seen(time)
        if time - self._last > self.patience:
            self._forget()
        kept, other = self._choose(guesses)
        self._kept, self._last = kept, time
        X_KM = kept.X_KM if self.filter is None else self.filter.update(time, kept)
        self.set_status("ok", time=time)
        return Seen(time, X_KM, kept, other)

    def _choose(self, guesses: Sequence[Guess]) -> tuple[Guess, Guess | None]:
        if len(guesses) == 1:
            return guesses[0], None
        if self._kept is None:
            self._doubt = 0.0
            return guesses[0], guesses[1]
        before = self._kept.X_KM[:3, :3]
        kept, other = sorted(guesses[:2], key=lambda guess: angle_between(guess.X_KM[:3, :3], before))
        self._doubt = max(0.0, FORGET * self._doubt + kept.chi2 - other.chi2)
        if self._doubt > LIKELIER:
            self._doubt = 0.0
            if self.filter is not None:
                self.filter.reset()
            return other, kept
        return kept, other

    def _forget(self) -> None:
        self._kept, self._doubt = None, 0.0
        self._last = -np.inf
        if self.filter is not None:
            self.filter.reset()
