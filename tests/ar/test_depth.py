"""Depth beside the picture: what is real and nearer hides what is drawn, pixel by pixel."""

import struct

import numpy as np
import pytest

import impulsar as im
from impulsar.ar import camera as cameras
from impulsar.ar.camera import Frame
from impulsar.ar.composite import Composite
from impulsar.ar.eye import Sight
from impulsar.ar.optics import Intrinsics
from impulsar.ar.patterns import Marker
from impulsar.ar.run import open_camera
from impulsar.ar.show import MOST_DEPTHS, Place, coarser, packed
from impulsar.ar.synthetic import DEPTH_NOISE, Renderer, SyntheticCamera, box, printed
from impulsar.author.errors import ModelError
from impulsar.render import pose_now
from impulsar.studio.ar_messages import DEPTH_UNIT, SIGHT_HEADER
from impulsar.validate.marker_cases import facing

cv2 = pytest.importorskip("cv2")
LENS = Intrinsics(640, 480, 800.0, 795.0, 330.0, 236.0, (-0.25, 0.06, 0.0, 0.0, 0.0))
SHEET = printed(Marker(3, 0.08))


def test_depth_of_a_tilted_plane() -> None:
    """Along the ray (x, y, 1) a plane n·p = d is at z = d / (n·(x, y, 1)); beside the sheet nobody knows."""
    X_KR = facing((0.01, -0.02, 0.5), 0.6, 0.4)
    found = Renderer(LENS).depth([SHEET], X_KR)
    normal, d = X_KR[:3, 2], X_KR[:3, 2] @ X_KR[:3, 3]
    rows, columns = np.nonzero(found)
    ideal = LENS.undistort(np.column_stack([columns, rows]))
    truth = d / (ideal @ normal[:2] + normal[2])
    np.testing.assert_allclose(found[rows, columns], truth, rtol=1e-5)  # rays are means of those of the pixel's corners
    assert 10_000 < len(rows) < 30_000


def test_noise_of_depth_grows_with_its_square() -> None:
    renderer = Renderer(LENS, seed=4)
    for z in (0.5, 1.0):
        X_KR = facing((0.0, 0.0, z))
        off = (renderer.depth([SHEET], X_KR, DEPTH_NOISE) - renderer.depth([SHEET], X_KR))[240 - 20 : 240, 320:340]
        assert off.std() == pytest.approx(DEPTH_NOISE * z**2, rel=0.15)


@pytest.mark.parametrize("shape", [(480, 640), (7, 5), (1081, 1919), (2160, 3840)])
def test_depths_are_sent_at_the_places_that_the_protocol_says(shape: tuple[int, int]) -> None:
    """Element (i, j) of a ramp has the value of the pixel ((j + 1/2) width / columns - 1/2, ...), to half a pixel."""
    rows, columns = shape
    along = 0.2 + np.arange(columns, dtype=np.float32)[None, :] + np.zeros((rows, 1), np.float32)
    down = along[:, :1] * 0 + np.arange(rows, dtype=np.float32)[:, None] + 0.2
    for ramp, axis in ((along, 1), (np.broadcast_to(down, shape), 0)):
        coarse = coarser(ramp)
        assert coarse.size <= 1.01 * MOST_DEPTHS
        n = coarse.shape[axis]
        line = coarse[0] if axis == 1 else coarse[:, 0]
        wanted = (np.arange(n) + 0.5) * shape[axis] / n - 0.5
        assert np.abs(line - 0.2 - wanted).max() <= 0.5 + 1e-3


def test_message_has_depths_in_quarter_millimetres_and_none_where_none_are_known() -> None:
    depth = np.array([[0.5, np.nan], [np.inf, 100.0]], np.float32)
    header = struct.Struct("<" + "".join(code for _, code in SIGHT_HEADER))
    for given, own, shape in ((depth, False, (2, 2)), (None, False, (0, 0)), (depth, True, (0, 0))):
        data = packed(Sight(Frame(0.0, 1, np.zeros((4, 4), np.uint8), given), None), own)
        told = dict(zip((name for name, _ in SIGHT_HEADER), header.unpack_from(data), strict=True))
        assert (told["rows"], told["columns"]) == shape
        values = np.frombuffer(data[header.size :], "<u2")
        assert len(values) == told["rows"] * told["columns"]
        if len(values):
            assert values.tolist() == [round(0.5 / DEPTH_UNIT), 0, 0, 0xFFFF]


def hanging() -> tuple[im.World, np.ndarray]:
    """Pendula that hang 0.3 m above the marker, and a camera that looks at them level: X_KR."""
    X_KR = np.eye(4)
    X_KR[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]  # along +y of the room, its z upwards in the picture
    X_KR[:3, 3] = (0.0, 0.15, 0.6)  # of the room's origin
    return im.World(im.scene("ten-pendula", start="hanging")), X_KR


@pytest.mark.parametrize(("y", "hides"), [(-0.1, True), (0.1, False), (-0.012, True), (-0.005, False)])
def test_a_hand_before_the_mechanism_hides_it_and_one_behind_does_not(y: float, hides: bool) -> None:
    """A block 0.1 m before the links leaves the camera's own pixels there, to the pixel of its outline; behind them, or
    before them by less than the margin of 10 mm, nothing. Its front is at y - 2 mm."""
    world, X_KR = hanging()
    renderer, X_RB = Renderer(LENS, blur=0.0, noise=0.0), np.eye(4)
    X_RB[:3, 3] = (0.0, y, 0.15)
    block = box((0.06, 0.004, 0.06), X_RB)
    image = renderer.render(block, X_KR)
    composite, pose = Composite(LENS, world.model, Place(np.array([0.0, 0.0, 0.4]))), pose_now(world)
    sight = Sight(Frame(0.0, 1, image, renderer.depth(block, X_KR)), X_KR)
    seen, bare = composite.draw(sight, pose), composite.draw(Sight(Frame(0.0, 1, image), X_KR), pose)
    real = cv2.undistort(cv2.cvtColor(image, cv2.COLOR_GRAY2BGR), LENS.matrix, np.array(LENS.distortion))
    coloured = np.ptp(bare.astype(int), axis=2) > 10  # bodies; what the camera sees is grey
    straight = Intrinsics(LENS.width, LENS.height, LENS.fx, LENS.fy, LENS.cx, LENS.cy)
    corners = np.array([[x, y - 0.002, z] for x in (-0.03, 0.03) for z in (0.12, 0.18)]) @ X_KR[:3, :3].T + X_KR[:3, 3]
    pixels = straight.project(corners)
    (left, top), (right, bottom) = np.ceil(pixels.min(axis=0)).astype(int), np.floor(pixels.max(axis=0)).astype(int)
    inside = np.zeros_like(coloured)
    inside[top + 1 : bottom - 1, left + 1 : right - 1] = True
    assert (coloured & inside).sum() > 100
    changed = (seen != bare).any(axis=2)
    assert changed[coloured & inside].mean() == (1.0 if hides else 0.0)
    if hides:
        np.testing.assert_array_equal(seen[inside], real[inside])
    edge = np.zeros_like(coloured)
    edge[top - 2 : bottom + 3, left - 2 : right + 3] = True
    assert not (changed & ~edge).any()  # elsewhere nothing is hidden


def test_cameras_that_measure_depth_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The computed one, and those of other packages, which are given what follows the colon and the lens."""
    camera = open_camera("synthetic:depth", None, Marker(0, 0.08))
    frame = camera.read()
    assert frame is not None
    assert frame.depth is not None
    assert frame.depth.shape == frame.image.shape
    assert 0.02 < (frame.depth > 0).mean() < 0.5
    plain = open_camera("synthetic", None, Marker(0, 0.08)).read()
    assert plain is not None
    assert plain.depth is None
    given = []

    def opener(where: str, lens: Intrinsics | None) -> SyntheticCamera:
        given.append((where, lens))
        return SyntheticCamera(Renderer(LENS), [SHEET], lambda t: np.eye(4))

    monkeypatch.setitem(cameras.OTHER_CAMERAS, "stereo", opener)
    assert isinstance(open_camera("stereo:7", None, Marker(0)), SyntheticCamera)
    assert given == [("7", None)]
    with pytest.raises(ModelError, match="expected one of"):
        open_camera("synthetic:colour", None, Marker(0))
