"""`impulsar ar demo`: Mariti 2012 end to end, with nothing connected, in the paper's five steps.

    define the mechanism           ten pendula, and the two-stage lift
    collimate real and virtual     a marker by a computed camera, a digitizer arm by touching a cube's corners
    acquire the user's intent      the arm, simulated by a process of its own on a pseudo-terminal, follows a hand
    solve                          a session of the studio steps by the clock
    render                         over the camera's pictures, into a video file

The program knows neither where the camera nor where the arm is: it finds both as it would with real ones.
"""

import json
import subprocess
import sys
import tempfile
import time as wall
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ..author.errors import ModelError
from ..author.files import write_file
from ..author.model import Model
from ..history.history import History
from ..render import Pose, pose_now
from ..scenes import scene as make_scene
from ..studio.ar_messages import Occluder
from ..studio.session import Session
from ..world.world import World
from .calibration import CUBE, Collimation, collimate, cube_corners
from .composite import Composite
from .eye import Eye
from .markers import single
from .optics import Intrinsics
from .patterns import Marker
from .reach import Grip, Reach
from .show import Place
from .status import opencv
from .synthetic import Renderer, Sheet, SyntheticCamera, box, printed
from .trackers import Tip
from .trackers.arm import open_arm
from .trackers.kinematics import EXAMPLE, reach, tips
from .trackers.recorded import KIND, VERSION
from .trackers.simulator import HOME

LENS = Intrinsics(640, 480, 800.0, 800.0, 319.5, 239.5, (-0.25, 0.06, 0.0, 0.0, 0.0))
MARKER = Marker(7, size=0.08)
RATE = 24.0  # pictures a second
PATIENCE = 30.0  # for the simulated arm to begin [s]
TOUCHES = 10  # of each corner, averaged as a person holds the stylus there
HAND_RATE = 100.0  # of the scripted hand [1/s]
P_RCUBE = np.array([0.14, -0.10, 0.0])  # where the cube stands in the room, its bottom's middle [m]
P_RMIDDLE = P_RCUBE + np.array([0.0, 0.0, CUBE / 2])
X_RT = np.array([[0.0, -1.0, 0.0, 0.05], [1.0, 0.0, 0.0, -0.42], [0.0, 0.0, 1.0, -0.02], [0.0, 0.0, 0.0, 1.0]])


@dataclass(frozen=True)
class Act:
    """A scene, where it stands, and what the hand does: way points (time [s], place in the mechanism's world [m]) with
    the button down from `clip` to `release` [s]."""

    scene: str
    options: dict[str, object]
    place: Place
    way: tuple[tuple[float, tuple[float, float, float]], ...]
    clip: float
    release: float
    duration: float
    grip: Grip
    reference: float  # energy that the imbalance is told of [J]


ACTS = (
    Act(
        "ten-pendula", {"start": "hanging"}, Place(np.array([0.0, 0.0, 0.53])),
        ((0.0, (0.0, -0.06, -0.42)), (0.8, (0.0, -0.005, -0.50)), (1.2, (0.0, -0.005, -0.50)),
         (2.4, (0.08, 0.16, -0.30)), (3.4, (0.08, 0.16, -0.30)), (3.6, (0.08, 0.16, -0.25)),
         (5.0, (0.08, 0.16, -0.25))),
        1.0, 3.5, 5.0, Grip(1000.0, 1.0, 0.03), 2.4525,
    ),
    Act(
        "cross-lift", {}, Place(np.array([-0.06, -0.09, 0.01]), scale=0.6),
        ((0.0, (0.10, 0.175, 0.50)), (0.8, (0.1149, 0.175, 0.392)), (1.2, (0.1149, 0.175, 0.392)),
         (2.2, (0.1149, 0.175, 0.300)), (3.2, (0.1149, 0.175, 0.300)), (3.4, (0.1149, 0.175, 0.45)),
         (5.0, (0.1149, 0.175, 0.45))),
        1.0, 3.3, 5.0, Grip(1000.0, 10.0, 0.06), 2.27,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What an act came to."""

    scene: str
    held: str | None  # the body that was clipped
    imbalance: float  # largest of the books' [J]
    share: float  # the same in per cent of the reference energy
    constraint: float  # largest constraint error
    tip: float  # rms of the tip's place, found against true [m]
    seen: float  # share of the pictures in which the marker was found
    video: Path | None


def camera_path(t: float) -> np.ndarray:
    """A camera in somebody's hand: X_KR."""
    angle = 0.25 * np.sin(0.7 * t)
    eye = np.array([1.0 * np.sin(angle) + 0.05, -1.0 * np.cos(angle), 0.68 + 0.02 * np.sin(1.3 * t)])
    ahead = np.array([0.02, 0.0, 0.24]) - eye
    z = ahead / np.linalg.norm(ahead)
    x = np.cross(z, [0.0, 0.0, 1.0])
    x /= np.linalg.norm(x)
    X = np.eye(4)
    X[:3, :3] = [x, np.cross(z, x), z]
    X[:3, 3] = -X[:3, :3] @ eye
    return X


def furniture() -> list[Sheet]:
    """What the camera sees of the room: the marker and the cube."""
    X_RB = np.eye(4)
    X_RB[:3, 3] = P_RMIDDLE
    return [printed(MARKER), *box((CUBE, CUBE, CUBE), X_RB)]


def waving_hand(t: float) -> list[Sheet]:
    """A flat hand of five fingers that goes to and fro before the mechanism, for cameras that measure depth."""
    palm = np.eye(4)
    palm[:3, 3] = 0.10 * np.sin(0.9 * t), -0.12, 0.26
    sides = box((0.09, 0.025, 0.10), palm, 150.0)
    for k in range(5):
        finger = palm.copy()
        finger[:3, 3] += (-0.038 + 0.019 * k, 0.0, 0.05 + 0.035)
        sides += box((0.015, 0.018, 0.07), finger, 150.0)
    return sides


def touch_cube(seed: int = 0) -> Collimation:
    """Collimate the arm: its stylus touches the cube's corners, some millimetres apart by the hand's own tremor."""
    corners_R = P_RCUBE + cube_corners(CUBE)
    random, X_TR = np.random.default_rng(seed), np.linalg.inv(X_RT)
    picks = []
    for corner in corners_R:
        target = X_TR[:3, :3] @ corner + X_TR[:3, 3]
        starts = HOME + random.uniform(-0.5, 0.5, (TOUCHES, 5))
        angles, off = reach(EXAMPLE, starts, np.tile(target, (TOUCHES, 1)))
        shown = EXAMPLE.angles(EXAMPLE.encode(angles[off < 1e-6]))
        if len(shown) == 0:
            raise ModelError(f"demo: the arm does not reach the cube's corner {np.round(corner, 3)}")
        picks.append(tips(EXAMPLE.array, shown).mean(axis=0))
    return collimate(corners_R, np.array(picks))


def scripted_hand(act: Act) -> list[Tip]:
    """What the person does, in the arm's frame."""
    times = np.arange(0.0, act.duration, 1 / HAND_RATE)
    knots, points = np.array([t for t, _ in act.way]), np.array([p for _, p in act.way])
    share = _eased(times, knots)
    p_W = np.array([np.interp(share, knots, column) for column in points.T]).T
    p_R = act.place.position + act.place.scale * p_W
    X_TR = np.linalg.inv(X_RT)
    p_T = p_R @ X_TR[:3, :3].T + X_TR[:3, 3]
    down = (times >= act.clip) & (times < act.release)
    return [Tip(float(t), p, buttons=(bool(on),)) for t, p, on in zip(times, p_T, down, strict=True)]


def _eased(times: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Times between knots, slow at both ends as a hand is."""
    k = np.clip(np.searchsorted(knots, times, side="right") - 1, 0, len(knots) - 2)
    u = np.clip((times - knots[k]) / (knots[k + 1] - knots[k]), 0.0, 1.0)
    return knots[k] + (knots[k + 1] - knots[k]) * u * u * u * (10 - u * (15 - 6 * u))


def play(act: Act, video: Path | None, say: Callable[[str], None] = lambda text: None) -> Outcome:
    """One act from end to end, by the clock; the film is developed after it, so that no picture is missed."""
    # define
    world = World(make_scene(act.scene, **act.options))
    session = Session(History(world), scene=act.scene)
    # collimate
    found = touch_cube()
    say(f"{act.scene}: touching the cube places the arm, residual {1000 * found.rms:.3f} mm")
    notes: list[Note] = []
    with tempfile.TemporaryDirectory() as folder, arm_on_terminal(scripted_hand(act), Path(folder)) as port:
        # acquire
        hand = Reach(session, open_arm(port), found.X_WT, act.place, grip=act.grip)
        hand.warm_up()
        session.start()
        hand.start()
        try:
            say(f"{act.scene}: {act.duration:g} s by the clock, the arm on {port}")
            began = first_tip(hand)
            while (t := wall.monotonic() - began) < act.duration:  # solve: the session steps by itself
                notes.append(session.call(partial(take_note, world, hand, t)).result())
                wall.sleep(0.5 / RATE)
        finally:
            hand.stop()
            session.stop()
    # render
    eye = Eye(SyntheticCamera(Renderer(LENS), furniture(), camera_path, RATE, pace=False), single(MARKER))
    seen = develop(act, world.model, notes, eye, video, say)
    worst = max(abs(note.imbalance) for note in notes)
    return Outcome(
        scene=act.scene,
        held=next((note.holds for note in notes if note.holds), None),
        imbalance=worst,
        share=100 * worst / act.reference,
        constraint=max(note.constraint for note in notes),
        tip=tip_error(act, found),
        seen=seen,
        video=video,
    )


def first_tip(hand: Reach) -> float:
    """Wait until the arm sends; the time then [s]."""
    end = wall.monotonic() + PATIENCE
    while hand.tip_W is None:
        if wall.monotonic() > end:
            raise ModelError(f"demo: the simulated arm sends nothing: {hand.status.why}")
        wall.sleep(0.005)
    return wall.monotonic()


@dataclass(frozen=True)
class Note:
    """A moment of an act."""

    time: float  # since it began, by the clock [s]
    pose: Pose
    hand: tuple[np.ndarray, np.ndarray] | None  # the tip and the point it holds, or the tip twice
    holds: str | None
    imbalance: float  # [J]
    constraint: float


def take_note(world: World, hand: Reach, t: float) -> Note:
    """In the session's thread."""
    pose, tip = pose_now(world), hand.tip_W
    held = hand.held_point(pose)
    ends = None if tip is None else (tip, tip if held is None else held)
    return Note(t, pose, ends, hand.holds, float(world.energy().imbalance), float(world.constraint_error()))


def develop(
    act: Act, model: Model, notes: list[Note], eye: Eye, video: Path | None, say: Callable[[str], None]
) -> float:
    """Draw every picture of the camera with the mechanism as it was then; the share in which the marker was found."""
    cube = Occluder(name="cube", kind="box", size=[CUBE] * 3, pose=[*P_RMIDDLE, 0.0, 0.0, 0.0, 1.0])
    composite = Composite(LENS, model, act.place, [cube])
    writer, found, count = None if video is None else _writer(video), 0, int(act.duration * RATE)
    times = np.array([note.time for note in notes])
    for k in range(count):
        sight = eye.look()
        assert sight is not None
        note = notes[int(np.argmin(np.abs(times - k / RATE)))]
        found += sight.X_KR is not None
        if writer is not None:
            writer.write(composite.draw(sight, note.pose, note.hand))
        if (k + 1) % (count // 4) == 0:
            say(f"{act.scene}: picture {k + 1} of {count}")
    if writer is not None:
        writer.release()
    return found / count


@contextmanager
def arm_on_terminal(hand: list[Tip], folder: Path) -> Iterator[str]:
    """The simulated arm in a process of its own, which follows a hand; gives the name of its port."""
    lines = [{"kind": KIND, "version": VERSION}, *(tip.data() for tip in hand)]
    file = folder / "hand.jsonl"
    write_file(file, "".join(f"{json.dumps(line)}\n" for line in lines).encode())
    command = [sys.executable, "-m", "impulsar.ar.trackers.simulator", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        if not (port := process.stdout.readline().strip()):
            raise ModelError("demo: the simulated arm did not start")
        yield port
    finally:
        process.terminate()
        process.wait()


def _writer(path: Path):
    cv2 = opencv("video")
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"mp4v"), RATE, (LENS.width, LENS.height))
    if not writer.isOpened():
        raise ModelError(f"video '{path}': OpenCV cannot write it; name a file that ends in .mp4")
    return writer


def tip_error(act: Act, found: Collimation) -> float:
    """Rms distance of the tip, by the encoders and the collimation that was found, from where it is [m]."""
    hand = scripted_hand(act)[:: int(HAND_RATE / 10)]
    p_T = np.array([tip.position for tip in hand])
    angles, _ = reach(EXAMPLE, np.tile(HOME, (len(p_T), 1)), p_T)
    shown = tips(EXAMPLE.array, EXAMPLE.angles(EXAMPLE.encode(angles)))
    off = found.to_world(shown) - (p_T @ X_RT[:3, :3].T + X_RT[:3, 3])
    return float(np.sqrt((off**2).sum(axis=1).mean()))
