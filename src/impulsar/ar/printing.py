"""Markers and boards on paper, to true scale: PDF of black rectangles, with a bar to be checked with a ruler.

Printers like to fit a page; a marker that is 4 % too small is 4 % too far. Print at 100 %, measure the bar, and give
the measured size where it is not what the sheet says.
"""

from dataclasses import dataclass

import numpy as np

from ..author.errors import ModelError
from .calibration import CUBE
from .patterns import Charuco, Marker

POINT = 0.0254 / 72  # PDF's unit [m]
PAPERS = {"a4": (0.210, 0.297), "a3": (0.297, 0.420), "letter": (0.2159, 0.2794)}  # [m], upright
EDGE = 0.012  # of the page that printers leave white [m]
FOOT = 0.030  # for bar and text [m]
BAR = 0.1  # length of the bar [m]


@dataclass(frozen=True)
class Rectangle:
    """Black, from the page's lower left corner [m]."""

    x: float
    y: float
    width: float
    height: float


def rectangles(cells: np.ndarray, pitch: float, x: float, y: float) -> list[Rectangle]:
    """Black cells, first row on top, as runs along the rows; (x, y) is the lower left corner."""
    rows, found = len(cells), []
    for k, row in enumerate(cells):
        black = np.flatnonzero(np.diff(np.concatenate([[False], ~row, [False]]).astype(int)))
        for first, last in zip(black[::2], black[1::2], strict=True):
            at = y + (rows - 1 - k) * pitch
            found.append(Rectangle(x + first * pitch, at, (last - first) * pitch, pitch))
    return found


def page(what: Marker | Charuco, paper: str = "a4") -> tuple[tuple[float, float], list[Rectangle]]:
    """Size of the page, on its side where it has to be, and what is black on it but the text."""
    if paper not in PAPERS:
        raise ModelError(f"no paper named '{paper}'; known are: {', '.join(PAPERS)}")
    cells = what.cells()
    pitch = what.size / what.side if isinstance(what, Marker) else what.square / what.side
    width, height = cells.shape[1] * pitch, cells.shape[0] * pitch
    margin = pitch if isinstance(what, Marker) else 0.0  # a marker needs white around it
    for size in (PAPERS[paper], PAPERS[paper][::-1]):
        room = (size[0] - 2 * EDGE, size[1] - 2 * EDGE - FOOT)
        if width + 2 * margin <= room[0] + 1e-9 and height + 2 * margin <= room[1] + 1e-9:
            x, y = (size[0] - width) / 2, EDGE + FOOT + (room[1] - height) / 2
            return size, [*rectangles(cells, pitch, x, y), *_bar(size[0])]
    raise ModelError(
        f"a sheet of {(width + 2 * margin) * 1e3:.0f} x {(height + 2 * margin) * 1e3:.0f} mm does not fit on {paper}; "
        "take larger paper or a smaller size"
    )


def _bar(width: float) -> list[Rectangle]:
    """Ten fields of 10 mm, black and white in turn, between two lines."""
    x, y = (width - BAR) / 2, EDGE + 0.008
    fields = [Rectangle(x + k * BAR / 10, y, BAR / 10, 0.004) for k in range(0, 10, 2)]
    return [*fields, Rectangle(x, y, BAR, 0.0003), Rectangle(x, y + 0.0037, BAR, 0.0003)]


def describe(what: Marker | Charuco) -> str:
    """The line under it."""
    if isinstance(what, Marker):
        return f"impulsar: marker {what.number} of {what.dictionary}, black square {what.size * 1e3:g} mm"
    size = f"{what.columns} x {what.rows} squares of {what.square * 1e3:g} mm"
    return f"impulsar: ChArUco board of {what.dictionary}, {size}"


def sheet(what: Marker | Charuco, paper: str = "a4") -> bytes:
    """A PDF of one page."""
    (width, height), black = page(what, paper)
    drawn = [f"{r.x / POINT:.6f} {r.y / POINT:.6f} {r.width / POINT:.6f} {r.height / POINT:.6f} re" for r in black]
    lines = [
        (describe(what), EDGE + 0.018),
        (f"The bar is {BAR * 1e3:g} mm long. Print at 100 %, not fitted to the page, and measure it.", EDGE + 0.002),
    ]
    if isinstance(what, Marker) and abs(what.size - CUBE) < 1e-9:
        lines.append((f"The reference cube of {CUBE * 1e3:g} mm stands exactly on the black square.", EDGE + 0.014))
    text = [f"BT /F1 8 Tf {EDGE / POINT:.3f} {y / POINT:.3f} Td ({line}) Tj ET" for line, y in lines]
    content = "\n".join(["0 g", *drawn, "f", *text]).encode("ascii")
    return _document(width / POINT, height / POINT, content)


def _document(width: float, height: float, content: bytes) -> bytes:
    """A PDF 1.4 file around a page's content, with its table of objects."""
    box = f"[0 0 {width:.6f} {height:.6f}]"
    preferences = "/ViewerPreferences << /PrintScaling /None >>"
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {preferences} >>".encode(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox {box} /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>".encode(),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    data, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return data + end % (count, table, count, len(data))
