"""`impulsar ar`, sheets of paper and `impulsar doctor`."""

import re
import subprocess
import sys
import zlib

import numpy as np
import pytest

from impulsar.ar import command as commands
from impulsar.ar.calibration import cube_corners, load_collimation
from impulsar.ar.command import doctor_lines, pick
from impulsar.ar.optics import load_intrinsics
from impulsar.ar.patterns import Charuco, Marker
from impulsar.ar.printing import PAPERS, POINT, page, sheet
from impulsar.ar.synthetic import Renderer, printed
from impulsar.ar.trackers import TRACKERS, Tip
from impulsar.ar.trackers.pushed import Pointer
from impulsar.author.errors import ModelError
from impulsar.cli import main
from impulsar.validate.marker_cases import LENS, facing

cv2 = pytest.importorskip("cv2")


def black(pdf: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Size of the page and rectangles [n, 4] in metres, as they stand in a PDF."""
    box = np.array(re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf).groups(), float) * POINT
    drawn = re.findall(rb"([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+) re", pdf)
    return box, np.array(drawn, float) * POINT


def scan(pdf: bytes, dots: float = 8000.0) -> np.ndarray:
    """The page as a scanner of `dots` a metre sees it."""
    box, drawn = black(pdf)
    image = np.full(np.rint(box[::-1] * dots).astype(int), 255, np.uint8)
    for x, y, w, h in drawn:
        top = box[1] - y - h
        rows, columns = (slice(*np.rint(np.array(span) * dots).astype(int)) for span in ((top, top + h), (x, x + w)))
        image[rows, columns] = 0
    return image


@pytest.mark.parametrize("paper", PAPERS)
def test_marker_is_printed_to_scale(paper):
    """Found in the page, with sides of 80 mm; the bar is 100 mm."""
    pdf = sheet(Marker(7), paper)
    box, drawn = black(pdf)
    assert sorted(box) == pytest.approx(sorted(PAPERS[paper]), abs=1e-8)
    assert drawn[:, 2].max() == pytest.approx(0.1, abs=1e-8)
    corners, numbers, _ = cv2.aruco.ArucoDetector(
        cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    ).detectMarkers(scan(pdf))
    assert list(np.ravel(numbers)) == [7]
    sides = np.linalg.norm(np.diff(corners[0][0], axis=0, append=corners[0][0][:1]), axis=1)
    assert sides == pytest.approx(0.08 * 8000, abs=2.0)


def test_board_is_printed_to_scale():
    board = Charuco()
    pixels, numbers, _, _ = cv2.aruco.CharucoDetector(board.board()).detectBoard(scan(sheet(board)))
    assert len(numbers) == 6 * 4
    first, last = pixels.reshape(-1, 2)[[0, 5]]
    assert np.linalg.norm(last - first) == pytest.approx(5 * 0.03 * 8000, abs=0.5)


def test_pdf_is_well_formed():
    """Every object is where the table says, the stream as long as it says; it prints unscaled."""
    pdf = sheet(Marker(7))
    start = int(re.search(rb"startxref\n(\d+)\n%%EOF\n$", pdf)[1])
    assert pdf[start:].startswith(b"xref\n0 6\n")
    for number, place in enumerate(re.findall(rb"(\d{10}) 00000 n \n", pdf), 1):
        assert pdf[int(place) :].startswith(b"%d 0 obj\n" % number)
    length = int(re.search(rb"/Length (\d+)", pdf)[1])
    begin = pdf.index(b"stream\n") + 7
    assert pdf[begin + length :].startswith(b"\nendstream")
    assert b"/PrintScaling /None" in pdf and zlib.crc32(pdf) == zlib.crc32(sheet(Marker(7)))


def test_what_does_not_fit_the_paper_is_refused():
    with pytest.raises(ModelError, match="does not fit on a4; take larger paper"):
        page(Marker(7, 0.2))
    with pytest.raises(ModelError, match="no paper named 'b5'"):
        page(Marker(7), "b5")


def test_print_marker(tmp_path, capsys):
    out = tmp_path / "marker.pdf"
    assert main(["ar", "print-marker", "--out", str(out), "--number", "3", "--size", "50"]) == 0
    assert (
        out.read_bytes().startswith(b"%PDF-1.4") and "marker 3 of 4x4_50, black square 50 mm" in capsys.readouterr().out
    )
    assert main(["ar", "print-marker", "--out", str(out), "--dictionary", "9x9"]) == 2
    assert "no dictionary named '9x9'" in capsys.readouterr().err


def test_calibrate_camera(tmp_path, capsys):
    """From pictures in files."""
    random, renderer, paths = np.random.default_rng(3), Renderer(LENS, seed=4), []
    for k in range(7):
        place = (*random.uniform((-0.06, -0.04), (0.06, 0.04)), random.uniform(0.28, 0.4))
        X = facing(place, random.uniform(0.3, 0.7), 2 * np.pi * k / 7, random.uniform(-0.4, 0.4))
        paths.append(str(tmp_path / f"{k}.png"))
        cv2.imwrite(paths[-1], renderer.render([printed(Charuco())], X))
    out = tmp_path / "lens.json"
    assert main(["ar", "calibrate-camera", "--out", str(out), "--pictures", *paths]) == 0
    assert abs(load_intrinsics(out).fx / LENS.fx - 1) < 0.01 and "640 x 480, f = " in capsys.readouterr().out
    assert main(["ar", "calibrate-camera", "--out", str(out), "--pictures", *paths[:2]]) == 2
    assert "seen in 2 of 2 pictures, expected 6" in capsys.readouterr().err


class Hand(Pointer):
    """Touches one point after the other, with the button down for a second at each."""

    def __init__(self, points):
        super().__init__()
        self._todo = [
            Tip(100.0 + k + t, point + 1e-5 * np.sin(1e3 * t), buttons=(0.2 < t < 0.8,))
            for k, point in enumerate(points)
            for t in np.arange(0, 1, 0.01)
        ]

    def poll(self):
        self.set_status("ok")
        return [self._todo.pop(0)] if self._todo else super().poll()


def test_calibrate_tracker(tmp_path, capsys, monkeypatch):
    """Eight corners touched one after the other; checked at one; refused after the base was moved."""
    X, out = np.eye(4), tmp_path / "arm.json"
    X[:3, :3], X[:3, 3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], (0.3, 0.1, -0.2)
    corners = cube_corners() @ X[:3, :3].T + X[:3, 3]
    monkeypatch.setitem(TRACKERS, "hand", lambda where: Hand(corners + (0.003 if where else 0.0)))
    assert main(["ar", "calibrate-tracker", "--out", str(out), "--tracker", "hand"]) == 0
    told = capsys.readouterr().out
    assert "corner 8 of 8: top, left, back" in told and "by the paper's QR" in told
    np.testing.assert_allclose(load_collimation(out).X_WT @ X, np.eye(4), atol=1e-3)
    assert main(["ar", "calibrate-tracker", "--out", str(out), "--tracker", "hand", "--check"]) == 0
    assert main(["ar", "calibrate-tracker", "--out", str(out), "--tracker", "hand:moved", "--check"]) == 2
    assert "5.20 mm off, more than 1 mm" in capsys.readouterr().err


def test_pick_wants_a_still_tip(monkeypatch):
    """A tip that moves while the button is down is no pick, and a tracker that ends is told."""
    monkeypatch.setattr(commands, "PATIENCE", 0.2)
    moving = Hand([np.zeros(3)])
    moving._todo = [Tip(tip.time, tip.position + 0.1 * k, buttons=tip.buttons) for k, tip in enumerate(moving._todo)]
    with pytest.raises(ModelError, match=r"waited 0\.2 s"):
        pick(moving, "it", lambda line: None)
    ended = Hand([])
    ended._todo = []
    ended.poll = list
    ended.close()
    with pytest.raises(ModelError, match="the tracker ended: closed"):
        pick(ended, "it", lambda line: None)


def test_doctor_says_what_is_missing(monkeypatch):
    assert any(line.startswith("ar        OpenCV 5") for line in doctor_lines())
    monkeypatch.setattr(commands, "find_spec", lambda name: None)
    cures = ["pip install 'impulsar[ar]'"] * 2 + ["pip install 'impulsar[spacemouse]'"]
    assert [line.split(": ")[-1] for line in doctor_lines()] == cures


def test_importing_impulsar_imports_no_opencv():
    """Nor does the command's parser."""
    code = (
        "import sys, impulsar, impulsar.cli, impulsar.ar.trackers; impulsar.cli.build_parser()\n"
        "print(sorted({'cv2', 'serial'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch, capsys, tmp_path):
    from impulsar.ar.patterns import dictionary

    dictionary.cache_clear()
    monkeypatch.setitem(sys.modules, "cv2", None)
    assert main(["ar", "print-marker", "--out", str(tmp_path / "x.pdf")]) == 2
    assert "needs opencv-contrib-python-headless, which is not installed; run: pip install 'impulsar[ar]'" in (
        capsys.readouterr().err
    )
