"""Lens, synthetic pictures, cameras that come and go, and calibration from a board's views."""

import time

import numpy as np
import pytest
from scipy.special import ndtr

from impulsar.ar import camera as cameras
from impulsar.ar.camera import Frame, VideoFile, Webcam
from impulsar.ar.lens import calibrate
from impulsar.ar.optics import Intrinsics, load_intrinsics
from impulsar.ar.patterns import DICTIONARIES, Charuco, Marker
from impulsar.ar.synthetic import INK, PAPER, Renderer, Sheet, SyntheticCamera, box, printed
from impulsar.author.errors import FileError, ModelError
from impulsar.validate.marker_cases import LENS, facing

cv2 = pytest.importorskip("cv2")
BENT = Intrinsics(640, 480, 780.0, 805.0, 330.0, 236.0, (-0.25, 0.06, 1e-3, -8e-4, 0.01))


def test_lens_is_that_of_opencv_and_back():
    """Brown's model as OpenCV has it; `undistort` inverts `distort` to rounding."""
    points = np.random.default_rng(0).uniform((-0.3, -0.25, 0.8), (0.3, 0.25, 1.2), (200, 3))
    theirs, _ = cv2.projectPoints(points, np.zeros(3), np.zeros(3), BENT.matrix, np.array(BENT.distortion))
    np.testing.assert_allclose(BENT.project(points), theirs[:, 0], atol=1e-9)
    ideal = points[:, :2] / points[:, 2:]
    np.testing.assert_allclose(BENT.undistort(BENT.distort(ideal)), ideal, atol=1e-12)


def test_intrinsics_file(tmp_path):
    BENT.save(tmp_path / "lens.json")
    assert load_intrinsics(tmp_path / "lens.json") == BENT
    text = (tmp_path / "lens.json").read_text()
    for broken, told in (
        (text.replace("780.0", "-780.0"), "fx is -780, expected a finite number > 0"),
        (text.replace('"k1"', '"q1"'), "'k1' is missing; calibrate anew"),
        (text.replace("impulsar camera", "recipe"), "its kind is 'recipe'"),
        (text.replace('"version": 1', '"version": 7'), "version 7"),
        (text.replace("780.0", "NaN"), "fx is nan"),
        ("[1, 2]", "its kind is 'list'"),
        ("{", "is no JSON"),
    ):
        (tmp_path / "broken.json").write_text(broken)
        with pytest.raises(FileError, match=r"broken\.json") as error:
            load_intrinsics(tmp_path / "broken.json")
        assert told in str(error.value)


def test_renderer_puts_edges_where_they_are():
    """A half-plane's pixels are the share of paper in each: the mean over a pixel, blurred by a Gaussian.

    The edge is vertical, at x = 0 in front of a straight lens, so column c has Φ((c - cx)/s) of paper, where
    the square of a pixel, of variance 1/12, and 64 rays instead of an integral, change the curve by less than 1 level.
    """
    lens = Intrinsics(64, 48, 100.0, 100.0, 31.73, 23.5)
    sheet = Sheet(np.array([[INK, PAPER]]), 10.0, 10.0)
    image = Renderer(lens, blur=1.5, noise=0.0).render([sheet], facing((0.0, 0.0, 1.0))).astype(float)
    expected = INK + (PAPER - INK) * ndtr((np.arange(64) - lens.cx) / np.sqrt(1.5**2 + 1 / 12))
    assert np.abs(image - expected).max() < 1.0
    assert np.ptp(image, axis=0).max() == 0


def test_renderer_bends_as_the_lens_does():
    """A white dot's centre of grey is where the lens projects its place, far out in the picture too."""
    renderer = Renderer(BENT, blur=1.0, noise=0.0, background=0.0)
    for x, y in ((0.0, 0.0), (0.25, -0.18), (-0.3, 0.2)):
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = np.diag([1.0, -1.0, -1.0]), (x, y, 0.8)
        image = renderer.render([Sheet(np.full((1, 1), 250.0), 0.012, 0.012)], X).astype(float)
        rows, columns = np.mgrid[: BENT.height, : BENT.width]
        centre = np.array([(columns * image).sum(), (rows * image).sum()]) / image.sum()
        np.testing.assert_allclose(centre, BENT.project(np.array([x, y, 0.8])), atol=0.02)


def test_nearer_things_hide_others():
    renderer = Renderer(LENS, noise=0.0)
    X = facing((0.0, 0.0, 0.5))
    up = np.eye(4)
    up[2, 3] = 0.1  # towards the camera
    both = renderer.render([printed(Marker(7)), *box((0.2, 0.2, 0.02), up)], X)
    alone = renderer.render(box((0.2, 0.2, 0.02), up), X)
    np.testing.assert_array_equal(both, alone)


@pytest.mark.parametrize("name", DICTIONARIES)
def test_cells_are_those_of_the_dictionary(name):
    marker = Marker(3, dictionary=name, border=2)
    cells = marker.cells()
    assert cells.shape == (marker.side, marker.side) and not cells[:2].any() and not cells[:, -2:].any()
    _, numbers, _ = cv2.aruco.ArucoDetector(
        cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, DICTIONARIES[name])), _border(2)
    ).detectMarkers(np.kron(np.pad(cells, 2, constant_values=True), np.full((12, 12), 255)).astype(np.uint8))
    assert list(np.ravel(numbers)) == [3]


def _border(cells):
    options = cv2.aruco.DetectorParameters()
    options.markerBorderBits = cells
    return options


@pytest.mark.parametrize("board", [Charuco(), Charuco(6, 9, 0.02, "6x6_250"), Charuco(5, 4, 0.05, "5x5_100")])
def test_board_is_that_of_opencv(board):
    """Cell by cell, drawn by OpenCV at three pixels a cell."""
    ours = np.kron(board.cells(), np.ones((3, 3))) > 0
    theirs = board.board().generateImage(ours.shape[::-1], marginSize=0)
    np.testing.assert_array_equal(ours, theirs > 127)


def test_what_cannot_be_printed_is_refused():
    with pytest.raises(ModelError, match=r"did you mean '4x4_50'"):
        Marker(1, dictionary="4X4_50")
    with pytest.raises(ModelError, match=r"number is 50, expected an integer from 0 to 49"):
        Marker(50)
    with pytest.raises(ModelError, match=r"needs 60 markers, '4x4_50' has 50"):
        Charuco(12, 10)


def views(board, count, renderer, spread=1.0):
    random = np.random.default_rng(3)
    for k in range(count):
        tilt, azimuth = spread * random.uniform(0.3, 0.7), 2 * np.pi * k / count
        place = (*random.uniform((-0.06, -0.04), (0.06, 0.04)), random.uniform(0.28, 0.4))
        yield renderer.render([printed(board)], facing(place, tilt, azimuth, random.uniform(-0.4, 0.4)))


def test_calibration_from_views_of_a_board():
    """Nine views: pixels of points all over the picture are where the true lens has them."""
    lens = calibrate(list(views(Charuco(), 9, Renderer(BENT, seed=4))), Charuco())
    assert lens.rms is not None and lens.rms < 0.2
    rows, columns = np.mgrid[20:470:30, 20:630:30]
    rays = BENT.undistort(np.stack([columns, rows], axis=-1).astype(float))
    off = lens.distort(rays) - BENT.distort(rays)
    off -= off.mean(axis=(0, 1))  # a shift is a turn of the camera
    assert np.sqrt((off**2).sum(axis=-1).mean()) < 0.3
    assert abs(lens.fx / BENT.fx - 1) < 5e-3 and abs(lens.fy / BENT.fy - 1) < 5e-3


def test_views_that_do_not_say_enough_are_refused():
    board, renderer = Charuco(), Renderer(BENT, seed=4)
    good = list(views(board, 7, renderer))
    with pytest.raises(ModelError, match=r"seen in 5 of 6 pictures, expected 6"):
        calibrate([*good[:5], np.zeros_like(good[0])], board)
    with pytest.raises(ModelError, match=r"several sizes"):
        calibrate([good[0], good[1][:100]], board)
    with pytest.raises(ModelError, match=r"turned by \d° only, expected 20°"):
        calibrate(list(views(board, 7, renderer, spread=0.0)), board)
    far = [renderer.render([printed(board)], facing((0, 0, 0.7), 0.5, a)) for a in range(7)]
    with pytest.raises(ModelError, match=r"span \d+% of the width"):
        calibrate(far, board)


class Plugged:
    """A capture device as OpenCV's, which can be unplugged."""

    is_in = True

    def __init__(self, index):
        self._open = Plugged.is_in

    def isOpened(self):  # noqa: N802
        return self._open

    def set(self, key, value):
        pass

    def read(self):
        time.sleep(0.005)
        return (True, np.zeros((480, 640, 3), np.uint8)) if Plugged.is_in else (False, None)

    def release(self):
        pass


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_webcam_unplugged_and_back(monkeypatch):
    """A loss is told once, with the reason; frames go on when it is back."""
    monkeypatch.setattr(cameras, "RETRY", 0.05)
    told = []
    webcam = Webcam(0, LENS, capture=Plugged)
    webcam.watch = told.append
    try:
        assert until(lambda: webcam.read() is not None) and webcam.status.is_ok
        Plugged.is_in = False
        assert until(lambda: webcam.status.state == "lost")
        assert "unplugged" in webcam.status.why
        time.sleep(0.2)
        webcam.read()
        assert webcam.read() is None
        Plugged.is_in = True
        assert until(lambda: webcam.read() is not None) and webcam.status.is_ok
        assert [each.state for each in told if each.state == "lost"] == ["lost"]
    finally:
        Plugged.is_in = True
        webcam.close()
    assert webcam.status.state == "ended"


def test_camera_that_is_not_there_is_lost():
    webcam = Webcam(97)
    try:
        assert until(lambda: webcam.status.state == "lost")
        assert "camera 97: cannot be opened; plug it in" in webcam.status.why and webcam.read() is None
    finally:
        webcam.close()


def test_camera_of_another_size_is_not_used():
    webcam = Webcam(0, Intrinsics(320, 240, 400.0, 400.0, 160.0, 120.0), capture=Plugged)
    try:
        assert until(lambda: webcam.status.state == "lost")
        assert "gives 640 x 480, expected 320 x 240; calibrate" in webcam.status.why
    finally:
        webcam.close()


def test_video_file(tmp_path):
    """Frames in order with the file's times, then its end."""
    path = tmp_path / "clip.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 25.0, (64, 48))
    for k in range(5):
        writer.write(np.full((48, 64, 3), 40 * k, np.uint8))
    writer.release()
    video = VideoFile(path)
    frames = [video.read() for _ in range(5)]
    assert [frame.time for frame in frames] == pytest.approx([0.0, 0.04, 0.08, 0.12, 0.16])
    assert [round(frame.grey.mean() / 40) for frame in frames] == [0, 1, 2, 3, 4]
    assert video.status.is_ok and video.read() is None and video.status.state == "ended"
    with pytest.raises(FileError, match="no such file"):
        VideoFile(tmp_path / "none.avi")
    (tmp_path / "text.avi").write_text("no video")
    with pytest.raises(FileError, match="cannot be read as a video"):
        VideoFile(tmp_path / "text.avi")


def test_synthetic_camera_keeps_its_pace():
    camera = SyntheticCamera(Renderer(Intrinsics(64, 48, 60.0, 60.0, 32.0, 24.0)), [], lambda t: np.eye(4), rate=20.0)
    frames: list[Frame] = []
    until(lambda: len(frames) == 4 or (frame := camera.read()) is None or frames.append(frame))
    assert np.diff([frame.time for frame in frames]) == pytest.approx(
        0.05 * np.diff([frame.number for frame in frames])
    )
    camera.close()
    assert camera.read() is None and camera.status.state == "ended"
