"""`impulsar ar run`: a scene of the studio with a camera that sees for it and a tracker that reaches into it."""

import argparse
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..author.errors import ModelError
from ..author.materials import material_of
from ..author.model import Model
from ..results import check_result, load
from ..studio import command as studio
from ..studio.ar_messages import Device, Occluder
from ..studio.player import motion_of
from ..studio.session import Session
from . import demo, phone_line
from .calibration import load_collimation
from .camera import OTHER_CAMERAS, Camera, VideoFile, Webcam
from .command import CAMERAS
from .eye import Eye
from .markers import single
from .obstacles import Touched, edits_for, load_obstacles
from .optics import load_intrinsics
from .patterns import Marker
from .reach import Grip, Reach
from .show import PageCamera, Place, Show
from .synthetic import Renderer, SyntheticCamera, printed
from .trackers import Tracker, open_tracker
from .trackers.phone import Phone
from .trackers.wand import EyeWand

if TYPE_CHECKING:
    import xarray as xr

log = logging.getLogger(__name__)
WEBCAM_GAMMA = 2.2  # of the pictures of nearly all cameras


class Gear:
    """Camera, marker and tracker of a session."""

    def __init__(
        self, eye: Eye, place: Place, reach: Reach | None, furniture: Sequence[Occluder], motion: Mapping | None
    ):
        self._eye, self._reach, self._furniture = eye, reach, furniture
        self._show = Show(eye, place, self._occluders, self._tracked, motion)
        phone = None if reach is None or not isinstance(reach.tracker, Phone) else reach.tracker
        lines = [] if phone is None else phone_line.routes(phone, self._held)
        self.routes = [*self._show.routes(), *lines]
        self.lends_camera = phone is not None or isinstance(eye.camera, PageCamera)
        self.doors = {} if phone is None else {"On the phone": "/phone"}

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

    def _held(self) -> tuple[str | None, str]:
        reach = self._reach
        return (None, "") if reach is None else (reach.holds, reach.told)

    def _occluders(self) -> list[Occluder]:
        return [*self._furniture, *(self._reach.occluders() if self._reach is not None else ())]

    def _tracked(self) -> tuple[Device | None, str | None, list[float]]:
        reach = self._reach
        if reach is None:
            return None, None, []
        return reach.device, reach.holds, [] if reach.tip_W is None else reach.tip_W.tolist()


def serve(args: argparse.Namespace, make_model: Callable[[], Model]) -> int:
    """The studio over a camera's picture, until Ctrl-C."""
    place = Place(_point("--at", args.at), scale=_positive("--scale", args.scale))
    marker = Marker(args.marker, 1e-3 * args.marker_size, args.dictionary)
    tracker = None if args.tracker is None else open_tracker(args.tracker)
    if isinstance(tracker, Phone):
        tracker.look_for(single(marker), args.dictionary, args.gamma)
    in_room = getattr(tracker, "is_in_room", False)
    if tracker is not None and args.collimation is None and not in_room:
        raise ModelError("--tracker: where does it stand? Add --collimation FILE of `impulsar ar calibrate-tracker`")
    X_RT = load_collimation(args.collimation).X_WT if args.collimation is not None else np.eye(4) if in_room else None
    radius = None if args.push is None else 1e-3 * _positive("--push", args.push)
    grip = Grip(radius=radius, turns=args.turn)
    result = None if args.result is None else load(args.result)
    is_computed = args.camera.partition(":")[0] == "synthetic"
    gamma = args.gamma if args.gamma is not None else 1.0 if is_computed else WEBCAM_GAMMA
    camera = open_camera(args.camera, args.lens, marker)
    eye = Eye(camera, single(marker), args.dictionary, _positive("--gamma", gamma))
    if isinstance(tracker, EyeWand):
        tracker.look_through(eye)

    things = [] if args.obstacles is None else load_obstacles(args.obstacles)
    cubes = [] if args.cube is None else [_cube(_point("--cube", args.cube), 1e-3 * args.cube_size)]
    furniture = [*cubes, *(each.occluder() for each in things)]

    def equip(session: Session) -> Gear:
        furnish(session, things, place, args.material)
        motion = None if result is None else motion_for(session.world.model, result, args.result)
        return Gear(eye, place, _reach(session, tracker, X_RT, place, grip), furniture, motion)

    return studio.serve(args, make_model, equip)


def motion_for(model: Model, result: "xr.Dataset", file: Path) -> dict[str, object]:
    """A result's motion of a model's bodies."""
    check_result(result)
    for what in ("position", "orientation", "velocity", "angular_velocity"):
        if what not in result:
            raise ModelError(f"--result '{file}': has no {what}; keep it when the scene is run")
    missing = [name for name in model.bodies if name not in result["body"].values]
    if missing:
        raise ModelError(f"--result '{file}': has no body '{missing[0]}' of '{model.name}'; name the scene it is of")
    names = list(model.bodies)
    return {"bodies": names, **motion_of(result, names)}


def furnish(session: Session, things: Sequence[Touched], place: Place, material: str) -> None:
    """Put what was touched into a session's world, before it runs; what a journal has already stays as it is."""
    known = session.world.model.obstacles
    for edit in edits_for([each for each in things if each.name not in known], place, material):
        session.history.apply(edit)
    bodies = session.world.model.bodies.values()
    if things and not any(material_of(shape, body) is not None for body in bodies for shape in body.shapes):
        log.warning("no body of the scene has a material, so none meets the obstacles; give them one in the studio")


def _reach(
    session: Session, tracker: Tracker | None, X_RT: np.ndarray | None, place: Place, grip: Grip
) -> Reach | None:
    if tracker is None or X_RT is None:
        return None
    return Reach(session, tracker, X_RT, place, grip=grip)


def open_camera(text: str, lens_file: Path | None, marker: Marker) -> Camera:
    """A camera from WHAT or WHAT:WHERE."""
    kind, _, where = text.partition(":")
    lens = None if lens_file is None else load_intrinsics(lens_file)
    if kind == "synthetic" and where in ("", "depth"):
        renderer, sheet = Renderer(lens or demo.LENS), printed(marker)
        if where == "depth":
            return SyntheticCamera(renderer, lambda t: [sheet, *demo.waving_hand(t)], demo.camera_path, depth=True)
        return SyntheticCamera(renderer, [sheet], demo.camera_path)
    if kind in OTHER_CAMERAS:
        return OTHER_CAMERAS[kind](where, lens)
    if kind not in ("webcam", "file", "page"):
        known = ", ".join((CAMERAS, *OTHER_CAMERAS))
        raise ModelError(f"--camera '{text}': expected one of {known}")
    if lens is None:
        raise ModelError(f"--camera {text}: its lens is not known; add --lens FILE of `impulsar ar calibrate-camera`")
    if kind == "page":
        return PageCamera(lens)
    if kind == "file":
        return VideoFile(where, lens)
    if where and not where.isdigit():
        raise ModelError(f"--camera '{text}': expected a number after 'webcam:', such as webcam:0")
    return Webcam(int(where or 0), lens)


def _cube(foot: np.ndarray, edge: float) -> Occluder:
    """A cube that stands in the room, by the middle of its bottom [m]."""
    edge = _positive("--cube-size", edge)
    return Occluder(name="cube", kind="box", size=[edge] * 3, pose=[*foot[:2], foot[2] + edge / 2, 0.0, 0.0, 0.0, 1.0])


def _point(name: str, text: str) -> np.ndarray:
    try:
        point = np.array([float(part) for part in text.split(",")])
    except ValueError:
        point = np.zeros(0)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise ModelError(f"{name} '{text}': expected three numbers, such as 0,0,0.3")
    return point


def _positive(name: str, value: float) -> float:
    if not (np.isfinite(value) and value > 0):
        raise ModelError(f"{name} is {value}, expected a number > 0")
    return value
