"""`impulsar ar run`: a scene of the studio with a camera that sees for it and a tracker that reaches into it."""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..studio import command as studio
from ..studio.ar_messages import Device
from ..studio.session import Session
from . import demo
from .calibration import load_collimation
from .camera import Camera, VideoFile, Webcam
from .command import CAMERAS
from .eye import Eye
from .markers import single
from .optics import load_intrinsics
from .patterns import Marker
from .reach import Grip, Reach
from .show import PageCamera, Place, Show
from .synthetic import Renderer, SyntheticCamera, printed
from .trackers import Tracker, open_tracker

WEBCAM_GAMMA = 2.2  # of the pictures of nearly all cameras


class Gear:
    """Camera, marker and tracker of a session."""

    def __init__(self, session: Session, eye: Eye, place: Place, reach: Reach | None):
        self._eye, self._reach = eye, reach
        self._show = Show(eye, place, tracked=self._tracked)
        self.routes = self._show.routes()
        self.lends_camera = isinstance(eye.camera, PageCamera)

    def start(self) -> None:
        """Look and reach."""
        self._eye.start()
        if self._reach is not None:
            self._reach.warm_up()
            self._reach.start()

    def stop(self) -> None:
        """Give the devices back."""
        if self._reach is not None:
            self._reach.stop()
        self._eye.stop()

    def _tracked(self) -> tuple[Device | None, str | None, list[float]]:
        reach = self._reach
        if reach is None:
            return None, None, []
        return reach.device, reach.holds, [] if reach.tip_W is None else reach.tip_W.tolist()


def serve(args: argparse.Namespace, make_model: Callable[[], Model]) -> int:
    """The studio over a camera's picture, until Ctrl-C."""
    place = Place(_point(args.at), scale=_positive("--scale", args.scale))
    marker = Marker(args.marker, 1e-3 * args.marker_size, args.dictionary)
    tracker = None if args.tracker is None else open_tracker(args.tracker)
    if tracker is not None and args.collimation is None:
        raise ModelError("--tracker: where does it stand? Add --collimation FILE of `impulsar ar calibrate-tracker`")
    X_RT = None if args.collimation is None else load_collimation(args.collimation).X_WT
    is_computed = args.camera == "synthetic"
    gamma = args.gamma if args.gamma is not None else 1.0 if is_computed else WEBCAM_GAMMA
    camera = open_camera(args.camera, args.lens, marker)
    eye = Eye(camera, single(marker), args.dictionary, _positive("--gamma", gamma))

    def equip(session: Session) -> Gear:
        return Gear(session, eye, place, _reach(session, tracker, X_RT, place))

    return studio.serve(args, make_model, equip)


def _reach(session: Session, tracker: Tracker | None, X_RT: np.ndarray | None, place: Place) -> Reach | None:
    if tracker is None or X_RT is None:
        return None
    return Reach(session, tracker, X_RT, place, grip=Grip())


def open_camera(text: str, lens_file: Path | None, marker: Marker) -> Camera:
    """A camera from WHAT or WHAT:WHERE."""
    kind, _, where = text.partition(":")
    lens = None if lens_file is None else load_intrinsics(lens_file)
    if kind == "synthetic":
        return SyntheticCamera(Renderer(lens or demo.LENS), [printed(marker)], demo.camera_path)
    if kind not in ("webcam", "file", "page"):
        raise ModelError(f"--camera '{text}': expected one of {CAMERAS}")
    if lens is None:
        raise ModelError(f"--camera {text}: its lens is not known; add --lens FILE of `impulsar ar calibrate-camera`")
    if kind == "page":
        return PageCamera(lens)
    if kind == "file":
        return VideoFile(where, lens)
    if where and not where.isdigit():
        raise ModelError(f"--camera '{text}': expected a number after 'webcam:', such as webcam:0")
    return Webcam(int(where or 0), lens)


def _point(text: str) -> np.ndarray:
    try:
        point = np.array([float(part) for part in text.split(",")])
    except ValueError:
        point = np.zeros(0)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise ModelError(f"--at '{text}': expected three numbers, such as 0,0,0.3")
    return point


def _positive(name: str, value: float) -> float:
    if not (np.isfinite(value) and value > 0):
        raise ModelError(f"{name} is {value}, expected a number > 0")
    return value
