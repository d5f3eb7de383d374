"""`impulsar ar`: the demo, scenes over a camera's picture, sheets to print, calibration; and what `doctor` says."""

import argparse
import sys
import time as wall
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..author.errors import ModelError
from ..author.files import write_file
from ..author.model import Model
from ..studio.command import add_arguments as add_studio_arguments
from .status import opencv

if TYPE_CHECKING:
    from .patterns import Charuco
    from .trackers import Tip, Tracker

BETWEEN = 1.0  # pictures of a calibration [s]
STILL, STEADY = 0.5e-3, 0.3  # a pick: the tip moves by less [m] for so long [s] while the button is down
MOST_SHARE, MOST_ERROR = 0.01, 1e-9  # of the demo's books [% of the scene's energy], and of its joints
CAMERAS = "synthetic, synthetic:depth, webcam:N, file:VIDEO, page"
PATIENCE = 120.0  # for a pick or a view [s]


def add_arguments(
    parser: argparse.ArgumentParser, seconds: Callable[[str], float], factor: Callable[[str], float]
) -> None:
    """The command's own commands."""
    kinds = parser.add_subparsers(dest="kind", metavar="WHAT", required=True)
    demo = kinds.add_parser("demo", help="clip, pull and release two mechanisms with nothing connected, and film it")
    demo.add_argument("--out", metavar="DIR", type=Path, default=Path("out"), help="folder of the films; default out")
    run = kinds.add_parser("run", help="a scene of the studio over a camera's picture, with a tracker's hand in it")
    add_studio_arguments(run, seconds, factor)
    _add_sight(run)
    marker = kinds.add_parser("print-marker", help="write a marker or a ChArUco board as PDF, to true scale")
    marker.add_argument("--out", metavar="FILE.pdf", type=Path, required=True, help="where to")
    marker.add_argument("--board", action="store_true", help="a ChArUco board, for calibrate-camera")
    marker.add_argument("--number", metavar="N", type=int, default=0, help="of the marker in its dictionary; default 0")
    marker.add_argument("--size", metavar="MM", type=float, default=80.0, help="side of the black square; default 80")
    marker.add_argument("--dictionary", metavar="D", default="4x4_50", help="such as 4x4_50 or apriltag_36h11")
    marker.add_argument("--paper", metavar="P", default="a4", help="a4, a3 or letter; default a4")
    _add_board(marker)
    lens = kinds.add_parser("calibrate-camera", help="find a camera's intrinsics from views of the printed board")
    lens.add_argument("--out", metavar="FILE.json", type=Path, required=True, help="where to")
    lens.add_argument("--camera", metavar="N|VIDEO", default="0", help="number of a webcam, or a video; default 0")
    lens.add_argument("--pictures", metavar="FILE", type=Path, nargs="+", help="pictures instead of a camera")
    lens.add_argument("--views", metavar="N", type=int, default=15, help="views to take; default 15")
    lens.add_argument("--dictionary", metavar="D", default="4x4_50", help="of the board; default 4x4_50")
    _add_board(lens)
    tracker = kinds.add_parser("calibrate-tracker", help="find where a tracker stands, by touching a cube's corners")
    tracker.add_argument("--out", metavar="FILE.json", type=Path, required=True, help="where to")
    tracker.add_argument("--tracker", metavar="KIND:WHERE", required=True, help="such as arm:/dev/ttyUSB0")
    tracker.add_argument("--cube", metavar="MM", type=float, default=80.0, help="side of the cube; default 80")
    tracker.add_argument("--check", action="store_true", help="touch the cube's first corner: does FILE still hold?")
    tracker.add_argument("--self", action="store_true", dest="itself", help="find an arm's own parameters: FILE of it")
    tracker.add_argument("--places", metavar="N", type=int, default=6, help="of the cube, for --self; default 6")
    touch = kinds.add_parser("touch-obstacle", help="enter a real table or box by touching it with the tracker")
    touch.add_argument("--out", metavar="FILE.json", type=Path, required=True, help="where to; one that is there grows")
    touch.add_argument("--tracker", metavar="KIND:WHERE", required=True, help="such as arm:/dev/ttyUSB0")
    touch.add_argument("--collimation", metavar="FILE", type=Path, required=True, help="of calibrate-tracker")
    touch.add_argument("--shape", choices=("plane", "box"), default="plane", help="a plane by points, or a box")
    touch.add_argument("--points", metavar="N", type=int, default=4, help="of a plane; default 4")
    touch.add_argument("--name", metavar="NAME", help="default: table, box")


def _add_sight(parser: argparse.ArgumentParser) -> None:
    """What sees and reaches."""
    parser.add_argument("--camera", metavar="WHAT", default="synthetic", help=f"{CAMERAS}; default synthetic")
    parser.add_argument("--lens", metavar="FILE", type=Path, help="of `impulsar ar calibrate-camera`")
    parser.add_argument("--gamma", metavar="G", type=float, help="of its pictures; default 2.2, of synthetic ones 1")
    parser.add_argument("--marker", metavar="N", type=int, default=0, help="its number; default 0")
    parser.add_argument("--marker-size", metavar="MM", type=float, default=80.0, help="of its black square; default 80")
    parser.add_argument("--dictionary", metavar="D", default="4x4_50", help="of the marker; default 4x4_50")
    parser.add_argument("--at", metavar="X,Y,Z", default="0,0,0", help="the mechanism's origin from the marker's [m]")
    parser.add_argument("--scale", metavar="X", type=float, default=1.0, help="times the mechanism's size")
    parser.add_argument(
        "--cube", metavar="X,Y,Z", help="where a cube stands that hides what is behind it: its foot [m]"
    )
    parser.add_argument("--result", metavar="FILE.nc", type=Path, help="a result of the scene, played over the picture")
    parser.add_argument("--cube-size", metavar="MM", type=float, default=80.0, help="its edge; default 80")
    parser.add_argument("--tracker", metavar="KIND:WHERE", help="such as arm:/dev/ttyUSB0; default: none")
    parser.add_argument("--collimation", metavar="FILE", type=Path, help="of `impulsar ar calibrate-tracker`")
    parser.add_argument("--obstacles", metavar="FILE", type=Path, help="of `impulsar ar touch-obstacle`")
    parser.add_argument("--material", metavar="M", default="wood", help="of the obstacles; default wood")
    parser.add_argument("--push", metavar="MM", type=float, help="push with a sphere of this radius; default: clip")
    parser.add_argument("--turn", action="store_true", help="turn what is held with the tracker")


def _add_board(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--columns", metavar="N", type=int, default=7, help="squares of the board; default 7")
    parser.add_argument("--rows", metavar="N", type=int, default=5, help="squares of the board; default 5")
    parser.add_argument("--square", metavar="MM", type=float, default=30.0, help="side of a square; default 30")


def command(args: argparse.Namespace, make_model: Callable[[], Model]) -> int:
    """Carry one out; make_model is of the scene that is named."""
    if args.kind == "run":
        from .run import serve

        return serve(args, make_model)
    kinds = {
        "demo": show_demo,
        "print-marker": print_marker,
        "calibrate-camera": calibrate_camera,
        "calibrate-tracker": calibrate_tracker,
        "touch-obstacle": touch_obstacle,
    }
    return kinds[args.kind](args)


def show_demo(args: argparse.Namespace) -> int:
    """Play the acts and print what came of them; 1 where the books or joints are out by more than they may."""
    from .demo import ACTS, play

    fine = True
    for act in ACTS:
        done = play(act, args.out / f"ar-{act.scene}.mp4", lambda line: print(line, file=sys.stderr, flush=True))
        fine &= done.held is not None and done.share < MOST_SHARE and done.constraint < MOST_ERROR
        print(f"{done.scene}: held {done.held}; books out by {done.imbalance:.1e} J, {done.share:.1e} %", end="; ")
        print(f"constraint error {done.constraint:.1e}; tip {1e3 * done.tip:.2f} mm rms", end="; ")
        print(f"marker seen in {100 * done.seen:.0f} % of the pictures; wrote {done.video}", flush=True)
    return 0 if fine else 1


def _board(args: argparse.Namespace) -> "Charuco":
    from .patterns import Charuco

    return Charuco(args.columns, args.rows, args.square * 1e-3, args.dictionary)


def print_marker(args: argparse.Namespace) -> int:
    """Write a sheet."""
    from .patterns import Marker
    from .printing import describe, sheet

    what = _board(args) if args.board else Marker(args.number, args.size * 1e-3, args.dictionary)
    write_file(args.out, sheet(what, args.paper))
    print(f"wrote {args.out}: {describe(what)}")
    print("print it at 100 %, measure its bar, and glue it on something flat")
    return 0


def calibrate_camera(args: argparse.Namespace) -> int:
    """Take views of the board, or read them, and write the intrinsics."""
    from .lens import calibrate

    board = _board(args)
    pictures = _read_pictures(args.pictures) if args.pictures else _take_views(args, board)
    lens = calibrate(pictures, board)
    lens.save(args.out)
    print(f"wrote {args.out}: {lens.width} x {lens.height}, f = {lens.fx:.1f}, {lens.fy:.1f} px, {lens.rms:.2f} px rms")
    return 0


def _read_pictures(paths: Iterable[Path]) -> list[np.ndarray]:
    cv2, pictures = opencv("pictures"), []
    for path in paths:
        picture = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
        if picture is None:
            raise ModelError(f"'{path}': cannot be read as a picture")
        pictures.append(picture)
    return pictures


def _take_views(args: argparse.Namespace, board: "Charuco") -> list[np.ndarray]:
    """Views in which the board is seen, a second apart."""
    from .camera import VideoFile, Webcam
    from .lens import LEAST_CORNERS
    from .markers import CharucoFinder

    is_webcam = args.camera.isdecimal()
    camera: Webcam | VideoFile = Webcam(int(args.camera)) if is_webcam else VideoFile(args.camera)
    finder, last = CharucoFinder(None, board), -np.inf
    views: list[np.ndarray] = []
    clock = Clock(PATIENCE)
    print(f"hold the board before the camera, near, far, and tilted to all sides: {args.views} views", flush=True)
    try:
        while len(views) < args.views and camera.status.state != "ended":
            frame = camera.read()
            if frame is None:
                clock.wait(camera.status.why if camera.status.state == "lost" else "")
                continue
            if frame.time - last >= BETWEEN and len(finder.corners(frame.grey)[0]) >= LEAST_CORNERS:
                views.append(frame.grey)
                last, clock = frame.time, Clock(PATIENCE)
                print(f"view {len(views)} of {args.views}", flush=True)
    finally:
        camera.close()
    return views


class Clock:
    """How long a person is waited for."""

    def __init__(self, patience: float):
        self._end, self._patience = wall.monotonic() + patience, patience

    def wait(self, why: str) -> None:
        """A little; raises when it was too long."""
        if wall.monotonic() > self._end:
            raise ModelError(f"calibration: waited {self._patience:g} s{': ' + why if why else ''}")
        wall.sleep(0.01)


def calibrate_tracker(args: argparse.Namespace) -> int:
    """Pick the cube's corners, and write the collimation, or the arm's own parameters; or check one."""
    if args.itself:
        from .self_touches import calibrate

        return calibrate(args)
    from .calibration import collimate, cube_corners, load_collimation
    from .trackers import open_tracker

    corners = cube_corners(args.cube * 1e-3)
    known = load_collimation(args.out) if args.check else None
    tracker = open_tracker(args.tracker)
    try:
        if known is not None:
            off = known.check(corners[0], pick(tracker, "the cube's corner 1: left, in front, at the bottom"))
            print(f"{args.out} holds: {off * 1e3:.2f} mm off at the corner")
            return 0
        names = ("left, front", "right, front", "right, back", "left, back")
        picks = [
            pick(tracker, f"corner {k + 1} of 8: {'top' if k >= 4 else 'bottom'}, {names[k % 4]}") for k in range(8)
        ]
    finally:
        tracker.close()
    found = collimate(corners, np.array(picks))
    found.save(args.out)
    paper = collimate(corners, np.array(picks), "qr")
    print(f"wrote {args.out}: corners are {found.rms * 1e3:.2f} mm rms off ({paper.rms * 1e3:.2f} by the paper's QR)")
    return 0


def touch_obstacle(args: argparse.Namespace) -> int:
    """Pick points of a table or corners of a box, and add them to a file of obstacles."""
    from .calibration import load_collimation
    from .obstacles import box_by_corners, load_obstacles, plane_through, save_obstacles
    from .trackers import open_tracker

    name = args.name or ("table" if args.shape == "plane" else "box")
    known = load_obstacles(args.out) if args.out.exists() else []
    if any(each.name == name for each in known):
        raise ModelError(f"--name {name}: {args.out} has an obstacle of that name; give another")
    collimation, tracker = load_collimation(args.collimation), open_tracker(args.tracker)
    corners = ("bottom, left, front", "bottom, right, front", "bottom, left, back", "top, left, front")
    asked = (
        [f"point {k + 1} of {args.points} of the top of '{name}'" for k in range(args.points)]
        if args.shape == "plane"
        else [f"corner {k + 1} of 4 of '{name}': {where}" for k, where in enumerate(corners)]
    )
    try:
        picks = collimation.to_world(np.array([pick(tracker, where) for where in asked]))
    finally:
        tracker.close()
    found = plane_through(name, picks) if args.shape == "plane" else box_by_corners(name, picks)
    save_obstacles(args.out, [*known, found])
    size = " x ".join(f"{1e3 * value:.0f}" for value in found.size[: 2 if args.shape == "plane" else 3])
    print(f"wrote {args.out}: {args.shape} '{name}', {size} mm, picks {found.rms * 1e3:.2f} mm rms off")
    return 0


def pick(tracker: "Tracker", where: str, tell: Callable[[str], None] | None = None) -> np.ndarray:
    """The tip's mean position while its button is down and it stands still; waits for the button to be up before."""
    (tell or (lambda line: print(line, flush=True)))(f"touch {where}, and hold the button")
    clock, was_up = Clock(PATIENCE), False
    held: list[Tip] = []
    while True:
        found: list[Tip] = tracker.poll()
        if not found:
            if tracker.status.state in ("lost", "ended"):
                held = []
            if tracker.status.state == "ended":
                raise ModelError(f"calibration: the tracker ended: {tracker.status.why}")
            clock.wait(tracker.status.why)
        for tip in found:
            is_down = any(tip.buttons)
            was_up = was_up or not is_down
            held = [*held, tip] if is_down and was_up else []
            held = [each for each in held if np.linalg.norm(each.position - tip.position) < STILL]
            if held and tip.time - held[0].time >= STEADY:
                return np.mean([each.position for each in held], axis=0)


def doctor_lines() -> list[str]:
    """What of AR is installed and connected, and what to do about the rest; says no more than it knows."""
    lines = []
    if find_spec("cv2") is None:
        lines.append("ar        OpenCV is missing, so no markers and cameras: pip install 'impulsar[ar]'")
    else:
        cameras = sorted(Path("/dev").glob("video[0-9]*")) if sys.platform.startswith("linux") else []
        seen = ", ".join(map(str, cameras)) or "no camera found here: plug one in, or use a video or the synthetic one"
        lines.append(f"ar        OpenCV {opencv('doctor').__version__}; {seen}")
    if find_spec("serial") is None:
        lines.append("ar        pyserial is missing, so no digitizer arm: pip install 'impulsar[ar]'")
    else:
        from .trackers.arm import ports

        seen = ", ".join(ports()) or "no serial port found: plug the arm in, or run its simulator"
        lines.append(f"trackers  {seen}")
    if find_spec("hid") is None:
        lines.append("trackers  hidapi is missing, so no SpaceMouse: pip install 'impulsar[spacemouse]'")
    else:
        from .status import need
        from .trackers.spacemouse import found

        mice = [str(each["product_string"]) for each in found(need("hid", "hidapi", "doctor", "spacemouse"))]
        lines.append(f"trackers  {', '.join(mice) or 'no SpaceMouse found'}")
    return lines
