"""What is printed: markers and ChArUco boards as cells, black or white, exact to the cell.

A marker of n x n bits has n + 2 `border` cells a side. In a ChArUco board the margin of a marker inside its square is
one cell, so that squares and markers lie on one grid of cells.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np

from ..author.checks import positive, whole
from ..author.errors import ModelError
from .status import opencv

DICTIONARIES = {
    **{f"{n}x{n}_{count}": f"DICT_{n}X{n}_{count}" for n in (4, 5, 6, 7) for count in (50, 100, 250, 1000)},
    **{f"apriltag_{name}": f"DICT_APRILTAG_{name}" for name in ("16h5", "25h9", "36h10", "36h11")},
    "aruco_original": "DICT_ARUCO_ORIGINAL",
    "aruco_mip_36h12": "DICT_ARUCO_MIP_36h12",
}


@cache
def dictionary(name: str) -> Any:
    """OpenCV's dictionary of a name such as 4x4_50 or apriltag_36h11."""
    if name not in DICTIONARIES:
        close = get_close_matches(name.lower(), DICTIONARIES, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known are: {', '.join(DICTIONARIES)}"
        raise ModelError(f"no dictionary named '{name}'; {hint}")
    aruco = opencv(f"dictionary '{name}'").aruco
    return aruco.getPredefinedDictionary(getattr(aruco, DICTIONARIES[name]))


@dataclass(frozen=True)
class Marker:
    """A square marker: its number in a dictionary, and the side of its black border [m]."""

    number: int
    size: float = 0.08
    dictionary: str = "4x4_50"
    border: int = 1  # cells

    def __post_init__(self) -> None:
        positive(f"marker {self.number}", "size", self.size, "m")
        whole("marker", "number", self.number, 0, len(dictionary(self.dictionary).bytesList) - 1)
        whole(f"marker {self.number}", "border", self.border, 1, 4)

    @property
    def side(self) -> int:
        """Cells a side."""
        return dictionary(self.dictionary).markerSize + 2 * self.border

    def cells(self) -> np.ndarray:
        """True where white [side, side], first row on top."""
        image = dictionary(self.dictionary).generateImageMarker(self.number, self.side, None, self.border)
        return np.asarray(image) > 127

    @property
    def corners(self) -> np.ndarray:
        """Corners in the marker's frame [4, 3]: top left, top right, bottom right, bottom left; +z out of it."""
        h = self.size / 2
        return np.array([[-h, h, 0.0], [h, h, 0.0], [h, -h, 0.0], [-h, -h, 0.0]])


@dataclass(frozen=True)
class Charuco:
    """A chessboard with markers in its white squares: `columns` x `rows` squares of side `square` [m]."""

    columns: int = 7
    rows: int = 5
    square: float = 0.03
    dictionary: str = "4x4_50"

    def __post_init__(self) -> None:
        whole("board", "columns", self.columns, 3, 50)
        whole("board", "rows", self.rows, 3, 50)
        positive("board", "square", self.square, "m")
        held, needed = len(dictionary(self.dictionary).bytesList), self.columns * self.rows // 2
        if held < needed:
            raise ModelError(f"board: needs {needed} markers, '{self.dictionary}' has {held}; take a larger dictionary")

    @property
    def side(self) -> int:
        """Cells of a square's side: the marker's, and a margin of one on either hand."""
        return dictionary(self.dictionary).markerSize + 4

    @property
    def marker_size(self) -> float:
        """Side of the markers [m]."""
        return self.square * (self.side - 2) / self.side

    def board(self) -> Any:
        """OpenCV's board; its frame has the origin in the top left corner, y down and z into the sheet."""
        aruco = opencv("board").aruco
        size = (self.columns, self.rows)
        return aruco.CharucoBoard(size, self.square, self.marker_size, dictionary(self.dictionary))

    def cells(self) -> np.ndarray:
        """True where white [rows side, columns side]."""
        n, number = self.side, 0
        white = np.ones((self.rows * n, self.columns * n), bool)
        for row in range(self.rows):
            for column in range(self.columns):
                square = white[row * n : (row + 1) * n, column * n : (column + 1) * n]
                if (row + column) % 2 == 0:
                    square[:] = False
                else:
                    marker = Marker(number, self.marker_size, self.dictionary)
                    square[1:-1, 1:-1] = marker.cells()
                    number += 1
        return white
