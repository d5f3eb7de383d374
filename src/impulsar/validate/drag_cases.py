"""Kinematic dragging: joints stay closed, branches are kept, and the point goes as near as can be.

Closed forms of what can be reached, from the scenes' lengths:

    four-bar      the crank's tip on its circle; the rocker's tip on the arc between the dead centres, at which
                  crank and coupler are in line: |OB| = coupler ± crank
    Peaucellier   the output point on the line x = 0.2625, |y| ≤ √(0.35² - x²), at which the rhombus is flat
    cross-lift    the plate's height up to 2 l, at which the links are upright
    chain         the tip within a ball of radius N l

At the ends of the last three branches cross. A drag keeps off such a pose by about 1e-4 rad, so that the
mechanism knows its branch when it comes back; the point is then up to 1e-7 m off, in a mechanism of 0.5 m. At a smooth
dead centre, as the rocker's, it is off by 1e-12 m.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from ..author.model import Model
from ..scenes import scene
from ..scenes.cross_lift import LENGTH, WIDTH
from ..scenes.four_bar import COUPLER, CRANK, GROUND, ROCKER
from ..scenes.parts import LENGTH as LINK
from ..scenes.peaucellier import ARM, LINE, SIDE
from ..world.world import World
from .case import Case

BOTH = ("generalized", "maximal")
CROSSING = 1e-7  # what keeping off a crossing of branches costs at most [m]


@dataclass(frozen=True)
class Pull:
    """A point that is dragged along a path, the branch to be kept, and the distance that must be left."""

    name: str
    model: Callable[[], Model]
    body: str
    at: tuple[float, float, float]
    path: Callable[[], np.ndarray]  # [step, 3]
    branch: Callable[[World], np.ndarray]  # whose signs must not change
    distance: Callable[[np.ndarray], float] | None = None  # from a target to what can be reached [m]
    freedoms: int = 1

    def drag(self, world: World) -> Iterator[np.ndarray]:
        """Drag along the path and back again; yields each target once the world is there."""
        way = self.path()
        for target in [*way, *way[::-1]]:
            world.drag(self.body, target, self.at)
            yield target


def circle(radius: float, turns: float, steps: int, centre=(0.0, 0.0, 0.0), start=0.0) -> np.ndarray:
    """In the x-y plane."""
    angle = start + np.linspace(0.0, 2 * math.pi * turns, steps)
    return np.asarray(centre) + radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)


def four_bar_branch(world: World) -> np.ndarray:
    """On which side of the line from the crank's tip to the rocker's pivot their common pin is."""
    A, B = world.point("crank", (0, 0, CRANK / 2)), world.point("coupler", (0, 0, COUPLER / 2))
    return np.cross(np.array([GROUND, 0.0, 0.0]) - A, B - A)[2:]


def rocker_distance(target: np.ndarray) -> float:
    """To the arc of the rocker's tip."""
    from_line = [
        math.acos((GROUND**2 + ROCKER**2 - far**2) / (2 * GROUND * ROCKER))
        for far in (COUPLER - CRANK, COUPLER + CRANK)
    ]
    low, high = math.pi - from_line[1], math.pi - from_line[0]
    d = target - np.array([GROUND, 0.0, 0.0])
    angle = float(np.clip(math.atan2(d[1], d[0]), low, high))
    tip = ROCKER * np.array([math.cos(angle), math.sin(angle), 0.0])
    return float(np.linalg.norm(d - tip))


def peaucellier_branch(world: World) -> np.ndarray:
    """On which sides of the line from O to D the pins A and C are."""
    A, C, D = world.point("OA", (0, 0, ARM / 2)), world.point("OC", (0, 0, ARM / 2)), output_point(world)
    return np.array([np.cross(D, A)[2], -np.cross(D, C)[2]])


def output_point(world: World) -> np.ndarray:
    """D."""
    return world.point("CD", (0, 0, SIDE / 2))


def segment_distance(target: np.ndarray) -> float:
    """To the segment that the output point can reach."""
    end = math.sqrt((ARM + SIDE) ** 2 - LINE**2)
    near = np.array([LINE, np.clip(target[1], -end, end), 0.0])
    return float(np.linalg.norm(target - near))


def lift_branch(world: World) -> np.ndarray:
    """Which way the links of both stages and sides lean, and that both stages are as high as each other."""
    plate, slots = world.body("plate").position[2], []
    for side in "AB":
        stage = world.point(f"link1{side}", (0, 0, LENGTH / 2))
        slots += [world.point(f"link2{side}", (0, 0, -LENGTH / 2))[0], stage[0], 1e-3 - abs(plate - 2 * stage[2])]
    return np.array(slots)


def lift_path() -> np.ndarray:
    """Up past the top, where the links are upright, and low, out of its plane and to the side."""
    t = np.linspace(0.0, 4 * math.pi, 90)
    z = 0.38 + 0.35 * np.sin(t)
    return np.stack([0.2 * np.sin(3 * t), WIDTH / 2 + 0.1 * np.sin(2 * t), np.maximum(z, 0.05)], axis=1)


def lift_distance(target: np.ndarray) -> float:
    """To the line on which the plate goes up and down."""
    near = np.array([0.0, WIDTH / 2, min(target[2], 2 * LENGTH)])
    return float(np.linalg.norm(target - near))


def chain_path() -> np.ndarray:
    """Round the chain's ball, in and out of it."""
    t = np.linspace(0.0, 4 * math.pi, 60)
    radius = 10 * LINK * (1.0 + 0.6 * np.sin(2.5 * t))
    return radius[:, None] * np.stack([0.3 * np.sin(t), np.sin(1.5 * t), -np.cos(1.5 * t)], axis=1)


def ball_distance(target: np.ndarray) -> float:
    """To the ball of the chain's tip."""
    return max(0.0, float(np.linalg.norm(target)) - 10 * LINK)


FOUR_BAR, LINKAGE = partial(scene, "four-bar"), partial(scene, "peaucellier", motor=False)
TIP = (0.0, 0.0, SIDE / 2)
PULLS = (
    Pull(
        "crank far outside",
        FOUR_BAR,
        "crank",
        (0, 0, CRANK / 2),
        lambda: circle(0.35, 2.0, 80, start=1.0),
        four_bar_branch,
        lambda target: abs(float(np.linalg.norm(target)) - CRANK),
    ),
    Pull(
        "crank about its pivot",
        FOUR_BAR,
        "crank",
        (0, 0, CRANK / 2),
        lambda: circle(0.06, 2.0, 80, (0.02, 0.01, 0.0), start=1.0),
        four_bar_branch,
        lambda target: abs(float(np.linalg.norm(target)) - CRANK),
    ),
    Pull(
        "rocker past its dead centres",
        FOUR_BAR,
        "rocker",
        (0, 0, ROCKER / 2),
        lambda: np.concatenate(
            [
                circle(0.4, part, 30, (GROUND, 0, 0), start)
                for start, part in ((2.0, 0.2), (3.2566, -0.47), (0.3035, 0.3))
            ]
        ),
        four_bar_branch,
        rocker_distance,
    ),
    Pull(
        "coupler across everything",
        FOUR_BAR,
        "coupler",
        (0.02, 0, 0.03),
        lambda: np.stack([0.6 * np.cos(t := np.linspace(0, 12.0, 90)), 0.5 * np.sin(1.7 * t), 0.1 * t], axis=1),
        four_bar_branch,
    ),
    Pull(
        "output point past the flat rhombus",
        LINKAGE,
        "CD",
        TIP,
        lambda: np.stack([LINE + 0.2 * np.sin(t := np.linspace(0, 12.0, 90)), 0.5 * np.sin(0.9 * t), 0 * t], axis=1),
        peaucellier_branch,
        segment_distance,
    ),
    Pull("output point on a circle", LINKAGE, "CD", TIP, lambda: circle(1.0, 1.5, 80), peaucellier_branch),
    Pull(
        "plate up, down and aside",
        lambda: scene("cross-lift"),
        "plate",
        (0, 0, 0),
        lift_path,
        lift_branch,
        lift_distance,
    ),
    Pull(
        "tip of ten pendula",
        lambda: scene("ten-pendula", start="30deg"),
        "link10",
        (0, 0, -LINK / 2),
        chain_path,
        lambda world: np.ones(1),
        ball_distance,
        freedoms=12,
    ),
)


@dataclass
class Figures:
    """What all paths came to."""

    error: float = 0.0  # largest constraint error at any hand position [m, rad]
    changes: int = 0  # signs of branches that changed
    excess: float = 0.0  # how much farther from the target a point was than it could be [m]
    astray: float = 0.0  # how far a body of a one-freedom mechanism is off when the hand is home again [m]


@cache
def figures(device: str) -> Figures:
    """Drag along all paths and back, in both coordinates."""
    found = Figures()
    for pull in PULLS:
        for coordinates in BOTH:
            world = World(pull.model(), coordinates=coordinates, device=device)
            branch, home, before = np.sign(pull.branch(world)), world.point(pull.body, pull.at), marks(world)
            for target in pull.drag(world):
                found.error = max(found.error, float(world.constraint_error()))
                found.changes += int((np.sign(pull.branch(world)) != branch).sum())
                if pull.distance is not None:
                    left = float(np.linalg.norm(world.point(pull.body, pull.at) - target))
                    found.excess = max(found.excess, left - pull.distance(target))
            world.drag(pull.body, home, pull.at)
            if pull.freedoms == 1:
                found.astray = max(found.astray, float(np.linalg.norm(marks(world) - before, axis=1).max()))
    return found


def marks(world: World) -> np.ndarray:
    """A point of every body but the cross-lift's rods, which may spin."""
    names = [name for name in world.model.bodies if not name.startswith("rod")]
    return np.array([world.point(name, (0.0, 0.0, 0.01)) for name in names])


def at_rest(device: str) -> float:
    """How many bits of the state change when a drag is repeated with the hand where it was: none."""
    changed = 0
    for pull in PULLS:
        world = World(pull.model(), device=device)
        for k, target in enumerate(pull.drag(world)):
            if k % 7 == 0:
                before = world.hash()
                world.drag(pull.body, target, pull.at)
                changed += world.hash() != before
    return float(changed)


CASES = [
    Case(
        "drag-closed",
        "a drag leaves the joints closed wherever the hand goes",
        1e-9,
        "m, rad",
        lambda device: figures(device).error,
    ),
    Case(
        "drag-branch",
        "a drag keeps a mechanism on its branch, at dead centres and toggle points",
        0,
        "1",
        lambda device: figures(device).changes,
    ),
    Case(
        "drag-nearest",
        "the dragged point stops where it is nearest to the hand",
        CROSSING,
        "m",
        lambda device: figures(device).excess,
    ),
    Case(
        "drag-return",
        "when the hand comes back, so does the mechanism",
        1e-8,
        "m",
        lambda device: figures(device).astray,
    ),
    Case("drag-rest", "a drag to where the hand was changes no bit of the state", 0, "1", at_rest),
]
