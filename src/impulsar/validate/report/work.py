"""Work and precision: what an error costs, by every method and by peers, in one run on one machine.

The error of a run is the largest distance of any body's centre of mass from the reference, over the samples [m]. The
reference is `direct` at rtol 1e-13; how far `direct` at rtol 1e-12 in maximal coordinates is from it is its doubt, and
an error below three doubts counts as three doubts. The cost is the processor time of the steps alone, of all threads
together (what else a machine does costs nothing), from start to end in one call, kernels compiled and worlds built, the
best of a few; setting up is left out for all alike.

At an error E a method costs what its lower hull says: of the settings that no other of its own beats in both, the cost
is interpolated linearly in the logarithms; looser than its coarsest setting it costs as much as that, and finer than
its finest it has no cost.
"""

import gc
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

import numpy as np

from ...author.errors import ModelError, StepError
from ...author.model import Model
from ...engine.methods import METHODS
from ...scenes import scene
from ...world.world import World
from ..convergence import pendulum

JUDGED = (1e-3, 1e-5, 1e-7, 1e-9)  # errors at which the fastest is named [m]
FINE = 1e-5  # below this error [m] Impulsar is to be the fastest
OURS = "Impulsar"
LOST = 0.5  # of the reference's way: an error as large is no solution


@dataclass(frozen=True)
class Problem:
    """A mechanism, how long it runs and how often it is looked at."""

    name: str
    build: Callable[[], Model]
    duration: float  # [s]
    samples: int = 20

    @property
    def times(self) -> np.ndarray:
        """Of the samples [s]."""
        return self.duration / self.samples * np.arange(1, self.samples + 1)


PROBLEMS = (
    Problem("pendulum", pendulum, 2.0),
    Problem("four-bar", lambda: scene("four-bar"), 2.0),
    Problem("slider-crank", lambda: scene("slider-crank"), 2.0),
    # released; its first dead centre is at 0.2 s
    Problem("peaucellier", lambda: scene("peaucellier", motor=False), 0.15, 5),
    Problem("cross-lift", lambda: scene("cross-lift"), 0.25, 5),
    Problem("ten-pendula", lambda: scene("ten-pendula", start="30deg"), 2.0),
)


class Passage(Protocol):
    """A contender set up for a problem at one setting."""

    def positions(self) -> np.ndarray:
        """Centres of mass at the problem's times [sample, body, 3] [m], in the model's order."""
        ...

    def spend(self) -> float:
        """Processor time of the steps of a run from start to end [s]."""
        ...


class Contender(Protocol):
    """Who takes part: a method of Impulsar, or a peer with an integrator."""

    @property
    def name(self) -> str:
        """Of the program."""
        ...

    @property
    def variant(self) -> str:
        """Method or integrator."""
        ...

    @property
    def settings(self) -> str:
        """How it is set, in words."""
        ...

    def knobs(self, problem: Problem) -> Sequence[float]:
        """Tolerances or steps, coarse to fine."""
        ...

    def label(self, knob: float) -> str:
        """A setting in words."""
        ...

    def prepare(self, problem: Problem, knob: float) -> Passage:
        """Set up; not timed."""
        ...


@dataclass
class Point:
    """One setting: its error [m] and cost [s]."""

    setting: str
    error: float
    seconds: float


@dataclass
class Curve:
    """A contender on a problem."""

    problem: str
    name: str
    variant: str
    settings: str
    points: list[Point] = field(default_factory=list)
    note: str = ""  # what went wrong, if something did

    @property
    def title(self) -> str:
        return f"{self.name} {self.variant}"

    @property
    def floor(self) -> float:
        """Least error that was reached [m]."""
        return min((point.error for point in self.points), default=math.inf)

    def data(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "problem": self.problem,
            "name": self.name,
            "variant": self.variant,
            "settings": self.settings,
            "note": self.note,
            "points": [vars(point) for point in self.points],
        }


# ours -------------------------------------------------------------------------------------------------

TOLERANCES = tuple(10.0**-k for k in range(3, 13))
PARTS = tuple(2**k for k in range(16))  # fixed steps in an interval between samples
SOLVED = {"epsilon": 1e-11, "iterations": 20_000}  # so that the error is that of the step


@dataclass(frozen=True)
class Ours:
    """A method in one of its coordinates."""

    method: str
    coordinates: str
    options: tuple[tuple[str, Any], ...] = ()
    is_controlled: bool = True  # by a tolerance; else by its step

    name = OURS

    @property
    def variant(self) -> str:
        chosen = [str(value) for key, value in self.options if key not in SOLVED]
        return ", ".join([self.method, *chosen, *([self.coordinates] if self.coordinates == "maximal" else [])])

    @property
    def settings(self) -> str:
        knob = "rtol = atol varied, dt = time between samples" if self.is_controlled else "dt varied"
        given = "".join(f", {key} = {value}" for key, value in self.options)
        return f"{self.coordinates} coordinates, {knob}{given}"

    def knobs(self, problem: Problem) -> Sequence[float]:
        if self.is_controlled:
            return TOLERANCES
        longest = METHODS[self.method](**dict(self.options)).longest_step
        steps = [problem.duration / problem.samples / n for n in PARTS]
        return [h for h in steps if h <= longest]

    def label(self, knob: float) -> str:
        return f"rtol {knob:.0e}" if self.is_controlled else f"h {knob:.3g} s"

    def prepare(self, problem: Problem, knob: float) -> "OurPassage":
        cls: Any = METHODS[self.method]
        options = dict(self.options) | ({"rtol": knob, "atol": knob} if self.is_controlled else {})
        dt = problem.duration / problem.samples if self.is_controlled else knob
        world = World(problem.build(), cls(**options), self.coordinates, dt=dt)
        return OurPassage(world, problem, round(problem.duration / problem.samples / dt))


@dataclass
class OurPassage:
    """A world and its start."""

    world: World
    problem: Problem
    stride: int  # steps between samples

    def __post_init__(self) -> None:
        self.start = self.world.snapshot()

    def positions(self) -> np.ndarray:
        self.world.restore(self.start)
        found = []
        for _ in range(self.problem.samples):
            self.world.step(self.stride)
            found.append([self.world.body(name).position for name in self.world.model.bodies])
        return np.array(found)

    def spend(self) -> float:
        self.world.restore(self.start)
        n = self.stride * self.problem.samples
        begin = time.process_time()
        self.world.step(n)
        return time.process_time() - begin


def ours() -> list[Ours]:
    """Every method of METHODS in the coordinates of its choice, `direct` in both, and over all its integrators."""
    found = []
    for name, cls in METHODS.items():
        known = {entry.name for entry in fields(cls)}  # type: ignore[arg-type]
        chosen = tuple((key, value) for key, value in SOLVED.items() if key in known and "rtol" not in known)
        for integrator in _integrators(cls):
            options = chosen if integrator is None else (("integrator", integrator), *chosen)
            is_controlled = "rtol" in known if integrator is None else integrator not in FIXED
            found += [
                Ours(name, coordinates, options, is_controlled)
                for coordinates in (cls.coordinates if name == "direct" else cls.coordinates[:1])
            ]
    return found


FIXED = ("rk4", "heun")  # integrators of a fixed step; the others have error control
LEFT_OUT = ("euler", "RK45", "Radau", "BDF")  # of order 1, beaten by their kin, or for stiff motion


def _integrators(cls: Any) -> list[str | None]:
    """What a method runs over; None where it says nothing of it."""
    if not hasattr(cls, "integrators"):
        return [None]
    return [name for name in cls.integrators() if name not in LEFT_OUT]


# measuring --------------------------------------------------------------------------------------------


@dataclass
class Reference:
    """Where the bodies are, and how far that may be wrong [m]."""

    positions: np.ndarray
    doubt: float


def reference(problem: Problem) -> Reference:
    """By `direct` at rtol 1e-13, confirmed in maximal coordinates."""
    exact = Ours("direct", "generalized").prepare(problem, 1e-13).positions()
    other = Ours("direct", "maximal").prepare(problem, 1e-12).positions()
    return Reference(exact, distance(exact, other))


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """Largest distance of a body at a sample [m]; infinite where one is not finite."""
    apart = np.linalg.norm(a - b, axis=-1)
    return float(apart.max()) if np.isfinite(apart).all() else math.inf


def measure(problem: Problem, contender: Contender, truth: Reference, patience: float) -> Curve:
    """Errors and costs from coarse to fine, until a run takes longer than `patience` [s] or errors stay at a floor.

    A setting that fails or does not follow the motion is no point, and the note says which was the last such.
    """
    curve = Curve(problem.name, contender.name, contender.variant, contender.settings)
    way = distance(truth.positions, np.broadcast_to(truth.positions[:1], truth.positions.shape))
    for knob in contender.knobs(problem):
        try:
            passage = contender.prepare(problem, knob)
            error = distance(passage.positions(), truth.positions)
        except (StepError, ModelError, RuntimeError, ValueError) as trouble:
            curve.note = f"{contender.label(knob)}: {' '.join(str(trouble).split())[:120]}"
            continue
        if not error < LOST * way:
            curve.note = f"{contender.label(knob)}: does not follow the motion"
            if passage.spend() > patience:
                break
            continue
        seconds = best_time(passage, patience)
        curve.points.append(Point(contender.label(knob), max(error, 3 * truth.doubt), seconds))
        if seconds > patience or is_at_floor(curve.points):
            break
    if curve.points and not curve.note and curve.floor > 100 * max(3 * truth.doubt, 1e-9) and is_at_floor(curve.points):
        curve.note = f"does not come nearer than {curve.floor:.1e} m"
    return curve


def is_at_floor(points: list[Point]) -> bool:
    """Whether the last three settings brought nothing."""
    errors = [point.error for point in points]
    return len(errors) > 4 and min(errors[-3:]) > 0.7 * min(errors[:-3])


def best_time(passage: Passage, patience: float) -> float:
    """Best of up to seven runs, fewer where they are long [s]."""
    gc.collect()
    gc.disable()
    try:
        spent = [passage.spend()]
        while len(spent) < 7 and sum(spent) < min(0.15, patience):
            spent.append(passage.spend())
    finally:
        gc.enable()
    return min(spent)


# judging ----------------------------------------------------------------------------------------------


def hull(points: Sequence[Point]) -> list[Point]:
    """The settings that no other beats in both, coarse to fine."""
    kept: list[Point] = []
    for point in sorted(points, key=lambda one: (one.error, one.seconds)):
        if not kept or point.seconds < kept[-1].seconds:
            kept.append(point)
    return kept[::-1]


def cost_at(points: Sequence[Point], error: float) -> float | None:
    """What an error costs [s]; None where it is not reached."""
    front = hull(points)
    if not front or front[-1].error > error:
        return None
    if front[0].error <= error:
        return front[0].seconds
    x = [-math.log(point.error) for point in front]
    y = [math.log(point.seconds) for point in front]
    return math.exp(float(np.interp(-math.log(error), x, y)))


def costs(curves: Sequence[Curve], error: float) -> dict[str, tuple[float, str]]:
    """The least cost of every program at an error [s], with the method that has it."""
    found: dict[str, tuple[float, str]] = {}
    for curve in curves:
        cost = cost_at(curve.points, error)
        if cost is not None and cost < found.get(curve.name, (math.inf, ""))[0]:
            found[curve.name] = cost, curve.variant
    return found


def judgement(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    """For each error: who is fastest, by which method, and Impulsar's cost over that of every peer."""
    rows = []
    for error in JUDGED:
        found = costs(curves, error)
        if not found:
            continue
        fastest = min(found, key=lambda name: found[name][0])
        row: dict[str, Any] = {"error": error, "fastest": fastest, "by": found[fastest][1]}
        row["costs"] = {name: cost for name, (cost, _) in found.items()}
        if OURS in found:
            row["ratio"] = {name: found[OURS][0] / cost for name, (cost, _) in found.items() if name != OURS}
        rows.append(row)
    return rows


def order_of(curve: Curve, lowest: float) -> float:
    """Slope of log error over log step of a fixed step, of the points above an error [m]."""
    steps = [float(point.setting.split()[1]) for point in curve.points if point.error > lowest]
    errors = [point.error for point in curve.points if point.error > lowest]
    return float(np.polyfit(np.log(steps[-4:]), np.log(errors[-4:]), 1)[0])


def work_order(curve: Curve, lowest: float) -> float:
    """Slope of log error over log cost, from the middle of the curve on: minus the order, where cost is work."""
    chosen = [point for point in hull(curve.points) if point.error > lowest]
    chosen = chosen[len(chosen) // 2 - 1 :]
    return float(np.polyfit(np.log([p.seconds for p in chosen]), np.log([p.error for p in chosen]), 1)[0])
