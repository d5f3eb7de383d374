"""Rank by geometry: loops that are nearly redundant, positions that are singular, masses and lengths of any size.

Two questions are kept apart. Equations that are too many by construction, or nearly so, must not lock a
mechanism that moves: tilted axes, over-constrained linkages. Equations that become dependent at an instant must
neither kick nor brake nor let it change its branch: flat parallelograms, dead centres.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..analysis import mobility
from ..analysis.bodies import ANGULAR_LOCKS
from ..author.errors import ModelError, StepError
from ..author.model import Model
from ..engine.methods import Direct
from ..scenes import scene
from ..scenes.four_bar import build as build_four_bar
from ..world.world import World
from .case import Case
from .linkages import LINKAGES, TILTED, Parallelogram, driven, scaled, set_rate, size_of, tilt
from .oracle import Oracle

COORDINATES = ("generalized", "maximal")
TILTS = (0.0, 1e-12, 1e-9, 1e-7, 3.7e-6, 1e-5, 1e-4)  # [rad]
WIDER = {1e-4: 3e-4}  # ε beyond the default of World(redundancy=): what the author then states
TOLERANCES = (1e-7, 1e-9, 1e-12)
PEAUCELLIER = 1.86  # energy that the free linkage releases [J]
_notes: list[str] = []


def show() -> None:
    """Print what the last run measured beside its figure."""
    for note in _notes:
        print(f"    {note}")


@cache
def _measured(sweep: Callable[..., object], *arguments: object) -> tuple[object, tuple[str, ...]]:
    """What a sweep found and noted: several cases judge one sweep."""
    _notes.clear()
    return sweep(*arguments), tuple(_notes)


def once(sweep: Callable[..., object], *arguments: object) -> Any:
    """A sweep's result, measured once in a process, its notes put back to be shown."""
    found, notes = _measured(sweep, *arguments)
    _notes[:] = notes
    return found


def world_of(model: Model, coordinates: str, device: str, **options: Any) -> World:
    """A world by `direct`, without the warning that start velocities were made to fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return World(model, "direct", coordinates, device=device, **options)


def opening(world: World) -> float:
    """Largest lock error of a world's joints: angles [rad], and lengths by the mechanism's size."""
    model = world.model
    locks = [code for joint in model.joints.values() for code in joint.kind.locks]
    scale = np.array([1.0 if code in ANGULAR_LOCKS else 1.0 / size_of(model) for code in locks])
    return float(np.abs(scale * world.readout.lock_errors()[:, 0]).max())


def speeds(world: World) -> np.ndarray:
    """Velocities of all centres of mass [m/s]: rods that nothing holds from spinning swing on tilted hinges."""
    return np.ravel([world.body(name).velocity for name in world.model.bodies])


# tilted axes ------------------------------------------------------------------------------------------


def tilted(name: str, epsilon: float, coordinates: str, device: str, seed: int = 0) -> tuple[np.ndarray, int, float]:
    """Speeds after 0.2 s, freedoms at the start, and how far joints are open after 0.2 s."""
    options = {"redundancy": WIDER[epsilon]} if epsilon in WIDER else {}
    world = world_of(tilt(TILTED[name](), epsilon, seed), coordinates, device, dt=0.01, **options)
    freedoms = mobility(world).freedoms
    world.step(20)
    return speeds(world), freedoms, opening(world)


def tilt_misses(
    device: str,
    names: Iterable[str] = tuple(TILTED),
    tilts: Iterable[float] = TILTS,
    coordinates: Sequence[str] = COORDINATES,
) -> tuple[float, float, float]:
    """Worst of the sweep: speed off ε = 0 over its largest, freedoms off those at ε = 0, opening over ε."""
    speed = freed = ratio = 0.0
    for name in names:
        for where in coordinates:
            exact, freedoms, _ = tilted(name, 0.0, where, device)
            for epsilon in tilts:
                if epsilon == 0.0:
                    continue
                try:
                    found, free, gap = tilted(name, epsilon, where, device)
                    off, lost = float(np.abs(found - exact).max() / np.abs(exact).max()), float(free - freedoms)
                    wide = gap / epsilon
                except (StepError, ModelError) as error:
                    off, lost, wide = math.inf, math.inf, math.inf
                    _notes.append(f"{name}, {where}, {epsilon:g}: {error}")
                # what rounding leaves open is no opening
                wide = 0.0 if wide * epsilon < 1e-11 else wide
                speed, freed, ratio = max(speed, off), max(freed, abs(lost)), max(ratio, wide)
                if off > 1e-3 or lost or wide > 3.0:
                    told = f"speed off by {off:.1e}, freedoms {lost:+g}, open by {wide:.2g} ε"
                    _notes.append(f"{name}, {where}, ε = {epsilon:g}: {told}")
    return speed, freed, ratio


def tilt_speed(device: str) -> float:
    """Speed after 0.2 s against that of exact axes, of the largest."""
    return once(tilt_misses, device)[0]


def tilt_freedoms(device: str) -> float:
    """Freedoms that tilts take or give."""
    return once(tilt_misses, device)[1]


def tilt_opening(device: str) -> float:
    """Largest opening over the tilt."""
    return once(tilt_misses, device)[2]


def straight_constraints(device: str) -> float:
    """Constraint error of the mechanisms with exact axes over 0.2 s."""
    worst = 0.0
    _notes.clear()
    for name, build in TILTED.items():
        for coordinates in COORDINATES:
            world = world_of(build(), coordinates, device, dt=0.01)
            error = 0.0
            for _ in range(20):
                world.step()
                error = max(error, float(world.constraint_error()))
            worst = max(worst, error)
            _notes.append(f"{name}, {coordinates}: {error:.1e}")
    return worst


# singular positions -----------------------------------------------------------------------------------


def upright_angles(n: int, times: np.ndarray) -> np.ndarray:
    """A02's angle from the vertical [rad]: θ̈ ((n+1)/3 + n) = g ((n+1)/2 + n) sin θ, θ(0) = 0, θ̇(0) = 1."""
    from scipy.integrate import solve_ivp

    ratio = 9.81 * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)

    def slope(t: float, y: np.ndarray) -> list[float]:
        return [y[1], ratio * math.sin(y[0])]

    return solve_ivp(slope, (0.0, times[-1]), (0.0, 1.0), "DOP853", times, rtol=1e-13, atol=1e-13).y[0]


def a02_miss(n: int, dt: float, rtol: float, coordinates: str, device: str, end: float = 10.0) -> float:
    """Largest distance of the top points from the single pendulum's over the run [m]."""
    times = np.arange(1, round(end / 0.5) + 1) * 0.5
    world = world_of(scene("n-four-bar", n=n), coordinates, device, dt=dt, rtol=rtol, atol=rtol)
    tops = [world.model.bodies[f"upright{k}"].point(np.array([k, 1.0, 0.0])) for k in range(n + 1)]
    worst = 0.0
    try:
        for angle in upright_angles(n, times):
            world.step(round(0.5 / dt))
            for k, top in enumerate(tops):
                exact = np.array([k + math.sin(angle), math.cos(angle), 0.0])
                worst = max(worst, float(np.linalg.norm(world.point(f"upright{k}", top) - exact)))
    except StepError as error:
        _notes.append(f"n = {n}: {error}")
        return math.inf
    return worst


def a02(device: str) -> float:
    """Distance of A02's top points from the exact motion to 10 s, over N, step, tolerance and coordinates [m]."""
    _notes.clear()
    worst = 0.0
    for n in (2, 5, 10):
        for coordinates in COORDINATES:
            for dt in (0.01, 0.001):
                for rtol in TOLERANCES:
                    miss = a02_miss(n, dt, rtol, coordinates, device)
                    worst = max(worst, miss)
                    _notes.append(f"N = {n}, {coordinates}, dt {dt:g}, rtol {rtol:g}: {miss:.1e} m")
    return worst


class Branch:
    """What a parallelogram did over a run: the worst of each, and how often it was flat."""

    def __init__(self, seed: int, is_driven: bool, coordinates: str, device: str, rtol: float = 1e-7):
        self.turn = self.energy = self.torque = 0.0  # of the coupler [rad]; of its scale; of K
        self.flat = 0
        mechanism = Parallelogram(seed, is_driven)
        world = world_of(mechanism.model, coordinates, device, dt=0.01, rtol=rtol, atol=rtol)
        start = world.energy().total
        before = 0.0
        try:
            for _ in range(500):
                world.step()
                turned = float(world.joint("A").position)
                q = world.body("coupler").orientation
                self.turn = max(self.turn, 2.0 * math.hypot(*q[:3]))
                books = world.energy()
                off = books.imbalance if is_driven else books.total - start
                self.energy = max(self.energy, abs(off) / mechanism.energy_scale)
                if is_driven and mechanism.flatness(turned) > 0.1:
                    miss = float(world.joint("A").motor_torque) - mechanism.motor_torque(turned)
                    self.torque = max(self.torque, abs(miss) / mechanism.torque_scale)
                side = math.sin(mechanism.angle + turned - mechanism.line)
                self.flat += side * before < 0.0
                before = side
        except StepError as error:
            self.turn = self.energy = self.torque = math.inf
            _notes.append(f"parallelogram {seed}: {error}")


def parallelograms(
    device: str, is_driven: bool, seeds: Iterable[int] = range(100), coordinates: Sequence[str] = COORDINATES
) -> dict[str, list[Branch]]:
    """Random parallelograms over 5 s at three tolerances in turn, by coordinates."""
    found = {}
    for where in coordinates:
        runs = [Branch(seed, is_driven, where, device, TOLERANCES[seed % 3]) for seed in seeds]
        found[where] = runs
        _notes.append(
            f"{'driven' if is_driven else 'free'}, {where}: {sum(run.turn > 1e-3 for run in runs)} of {len(runs)} left "
            f"their branch, flat {sum(run.flat for run in runs)} times; energy off by {max(r.energy for r in runs):.1e}"
            f", torque by {max(r.torque for r in runs):.1e} of their scales"
        )
    return found


def all_parallelograms(device: str) -> list[Branch]:
    """100 free and 100 driven ones in both coordinates."""
    return [run for is_driven in (False, True) for side in parallelograms(device, is_driven).values() for run in side]


def branches(device: str) -> float:
    """How many of 100 free and 100 driven parallelograms leave their branch, in both coordinates."""
    return sum(run.turn > 1e-3 for run in once(all_parallelograms, device))


def branch_energy(device: str) -> float:
    """Energy that 100 free and 100 driven parallelograms gain or lose, of its scale."""
    return max(run.energy for run in once(all_parallelograms, device))


def branch_torque(device: str) -> float:
    """Torque of a parallelogram's motor against inverse dynamics where it is not flat, of its largest."""
    return max(run.torque for run in once(all_parallelograms, device))


def peaucellier_loss(rtol: float, coordinates: str, device: str, end: float = 10.0) -> float:
    """Largest change of energy of the free linkage, of the 1.86 J that it releases."""
    world = world_of(scene("peaucellier", motor=False), coordinates, device, dt=0.01, rtol=rtol, atol=rtol)
    start, worst = world.energy().total, 0.0
    try:
        for _ in range(round(end / 0.1)):
            world.step(10)
            worst = max(worst, abs(world.energy().total - start) / PEAUCELLIER)
    except StepError as error:
        _notes.append(f"rtol {rtol:g}, {coordinates}: {error}")
        return math.inf
    return worst


def peaucellier_free(device: str) -> float:
    """The free linkage's energy over 10 s at tolerances from 1e-7 to 1e-12."""
    _notes.clear()
    worst = 0.0
    for coordinates in COORDINATES:
        for rtol in (1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12):
            loss = peaucellier_loss(rtol, coordinates, device)
            worst = max(worst, loss)
            _notes.append(f"{coordinates}, rtol {rtol:g}: {loss:.1e}")
    return worst


# over-constrained linkages ----------------------------------------------------------------------------


TURNING = {1.0: 7.0, 6.0: 5.0}  # for how long a linkage is driven at a rate [rad/s]: [s]
SAMPLES = 20


@cache
def linkage_motion(name: str, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Torque and work of the motor at SAMPLES times: at a constant rate the work is the change of m ω²/2 + U."""
    oracle = Oracle(LINKAGES[name]())
    poses = oracle.trace("hinge1", rate * TURNING[rate] * np.arange(1, SAMPLES + 1) / SAMPLES, 0.1)
    torque = np.array([oracle.drive_torque("hinge1", pose, rate) for pose in poses])
    stored = np.array([oracle.reduced("hinge1", pose) for pose in (oracle.start, *poses)]) @ (0.5 * rate**2, 1.0)
    return torque, stored[1:] - stored[0]


def linkage_miss(name: str, rate: float, coordinates: str, device: str) -> tuple[float, float, float]:
    """A driven linkage against inverse dynamics: torque of its largest, work and imbalance of the largest work."""
    exact, work = linkage_motion(name, rate)
    world = world_of(driven(name, rate), coordinates, device, dt=0.01)
    miss = np.zeros(3)
    try:
        for torque, done in zip(exact, work, strict=True):
            world.step(round(TURNING[rate] / SAMPLES / 0.01))
            books = world.energy()
            off = (
                abs(float(world.joint("hinge1").motor_torque) - torque) / np.abs(exact).max(),
                abs(books.work["hinge1 motor"] - done) / np.abs(work).max(),
                abs(books.imbalance) / np.abs(work).max(),
            )
            miss = np.maximum(miss, off)
    except StepError as error:
        _notes.append(f"{name}, {coordinates}: {error}")
        return math.inf, math.inf, math.inf
    return float(miss[0]), float(miss[1]), float(miss[2])


def linkages(device: str) -> list[tuple[float, float, float]]:
    """Every linkage at 1 and 6 rad/s in both coordinates."""
    found = []
    for name in LINKAGES:
        for rate in TURNING:
            for coordinates in COORDINATES:
                found.append(linkage_miss(name, rate, coordinates, device))
                torque, work, imbalance = found[-1]
                told = f"torque {torque:.1e}, work {work:.1e}, imbalance {imbalance:.1e}"
                _notes.append(f"{name} at {rate:g} rad/s, {coordinates}: {told}")
    return found


def linkage_torque(device: str) -> float:
    """Torque and work of motors of over-constrained linkages against inverse dynamics."""
    return max(max(torque, work) for torque, work, _ in once(linkages, device))


def linkage_books(device: str) -> float:
    """Imbalance of driven over-constrained linkages, of the work."""
    return max(imbalance for *_, imbalance in once(linkages, device))


# masses and lengths -----------------------------------------------------------------------------------


def heavy_bar(bar: str, ratio: float, rate: float = 5.0) -> Model:
    """The four-bar with one bar `ratio` times as heavy, set going at the crank [rad/s]."""
    model = build_four_bar()
    body = model.bodies[bar]
    body.mass, body.inertia = ratio * body.mass, ratio * body.inertia
    return set_rate(model, "O", rate)


def mass_ratio_miss(bar: str, ratio: float, device: str, end: float = 1.0) -> tuple[float, float]:
    """Centres of mass against the oracle over a run, and the coordinates against each other [m]."""
    model = heavy_bar(bar, ratio)
    oracle = Oracle(model)
    twist = [(body.velocity, body.angular_velocity) for body in model.bodies.values()]
    times = np.arange(1, 11) * end / 10
    exact = [pose.p for pose, _ in oracle.run(times, np.ravel(twist))]
    worlds = [world_of(model, where, device, dt=0.01, rtol=1e-9, atol=1e-9) for where in COORDINATES]
    miss = apart = 0.0
    try:
        for p in exact:
            found = []
            for world in worlds:
                world.step(round(end / 10 / 0.01))
                found.append(np.array([world.body(name).position for name in oracle.names]))
                miss = max(miss, np.abs(found[-1] - p).max())
            apart = max(apart, np.abs(found[1] - found[0]).max())
    except StepError as error:
        _notes.append(f"{bar} times {ratio:g}: {error}")
        return math.inf, math.inf
    return miss, apart


def loop_mass_ratio(device: str) -> float:
    """The four-bar with any one bar 1e6 times heavier or lighter against the oracle over 1 s [m]."""
    _notes.clear()
    worst = 0.0
    for bar in ("crank", "coupler", "rocker"):
        for ratio in (1e6, 1e-6):
            miss, apart = mass_ratio_miss(bar, ratio, device)
            worst = max(worst, miss, apart)
            _notes.append(f"{bar} times {ratio:g}: {miss:.1e} m off, coordinates {apart:.1e} m apart")
    return worst


def oscillator(amplitude: float, size: float, frequency: float = 100.0) -> Model:
    """A cube of an edge `size` [m] on a slide and a spring, released at an amplitude [m]."""
    model = Model("slide", gravity=(0.0, 0.0, 0.0))
    mass = 1000.0 * size**3
    cube = model.body("cube", mass=mass, inertia=(mass * size**2 / 6,) * 3, position=(amplitude, 0.0, 0.0))
    stiffness = mass * (2 * math.pi * frequency) ** 2
    # the spring rests where the coordinate is -amplitude: the authored pose is coordinate 0
    model.joint(
        "slide", "prismatic", model.ground, cube, at=(amplitude, 0, 0), axis=(1, 0, 0), stiffness=stiffness,
        rest=-amplitude,
    )  # fmt: skip
    return model


def amplitude_miss(amplitude: float, size: float, coordinates: str, device: str) -> float:
    """Change of the amplitude over 1 s, 100 periods, relative."""
    world = world_of(oscillator(amplitude, size), coordinates, device, dt=0.01)
    try:
        world.step(100)
    except StepError as error:
        _notes.append(f"amplitude {amplitude:g} m: {error}")
        return math.inf
    slide = world.joint("slide")
    x, v = float(slide.position) + amplitude, float(slide.velocity) / (2 * math.pi * 100.0)
    return abs(math.hypot(x, v) / amplitude - 1.0)


AMPLITUDES = (1.0, 1e-6, 1e-7, 1e-8)  # [m]


def slide_scales(device: str) -> float:
    """Amplitude lost in 100 periods: of a cube as large as its amplitude, and of one of 1 cm."""
    _notes.clear()
    worst = 0.0
    for coordinates in COORDINATES:
        for amplitude in AMPLITUDES:
            own, fixed = (amplitude_miss(amplitude, size, coordinates, device) for size in (amplitude, 0.01))
            worst = max(worst, own, fixed)
            told = f"amplitude {amplitude:g} m changes by {own:.1e}, of a cube of 1 cm by {fixed:.1e}"
            _notes.append(f"{coordinates}: {told}")
    return worst


def scaled_miss(build: str, scale: float, coordinates: str, device: str) -> float:
    """Angle of the crank of a scaled mechanism after 1 s against the plain one at 1e-12 [rad]."""
    crank = "O" if build == "four-bar" else "bearing"
    exact = World(scaled(build, 1.0), Direct(rtol=1e-12, atol=1e-12), "generalized", dt=0.01, device=device)
    world = world_of(scaled(build, scale), coordinates, device, dt=0.01)
    worst = 0.0
    try:
        for _ in range(10):
            exact.step(10)
            world.step(10)
            worst = max(worst, abs(float(world.joint(crank).position) - float(exact.joint(crank).position)))
    except StepError as error:
        _notes.append(f"{build} times {scale:g}: {error}")
        return math.inf
    return worst


SCALES = (1e-4, 1e-2, 1.0, 1e2, 1e4)


def linkage_scales(device: str) -> float:
    """Worst angle error of a four-bar and a slider-crank from 1e-4 to 1e4 times their size [rad]."""
    _notes.clear()
    worst = 0.0
    for build in ("four-bar", "slider-crank"):
        for coordinates in COORDINATES:
            off = [scaled_miss(build, scale, coordinates, device) for scale in SCALES]
            worst = max(worst, *off)
            told = ", ".join(f"{scale:g}: {miss:.1e}" for scale, miss in zip(SCALES, off, strict=True))
            _notes.append(f"{build}, {coordinates}: {told}")
    return worst


CASES = [
    Case("tilt-speed", "axes tilted by up to 1e-4: same speed after 0.2 s", 1e-3, "1", tilt_speed, True, show),
    Case("tilt-freedoms", "axes tilted by up to 1e-4: same freedoms", 0.0, "1", tilt_freedoms, True, show),
    Case("tilt-opening", "axes tilted by ε: joints open by at most 3 ε", 3.0, "1", tilt_opening, True, show),
    Case("straight-constraints", "exact axes: constraint error", 1e-12, "m, rad", straight_constraints, show=show),
    Case("a02", "A02, N = 2, 5, 10 to 10 s at two steps and three tolerances", 1e-5, "m", a02, True, show),
    Case("branches", "200 flat parallelograms: none changes its branch", 0.0, "1", branches, True, show),
    Case("branch-energy", "the same: energy", 1e-6, "1", branch_energy, True, show),
    Case("branch-torque", "the driven ones: motor torque is inverse dynamics", 0.01, "1", branch_torque, True, show),
    Case("peaucellier-free", "free Peaucellier, 10 s: energy of 1.86 J", 1e-4, "1", peaucellier_free, True, show),
    Case("linkage-torque", "driven Bennett, Bricard, Sarrus, Goldberg", 1e-4, "1", linkage_torque, True, show),
    Case("linkage-books", "the same: imbalance of the work", 1e-6, "1", linkage_books, True, show),
    # rtol 1e-9; a heavy rocker whirls the light crank through dead centres, where a small error grows
    Case("loop-mass-ratio", "four-bar with a bar 1e±6 times as heavy", 1e-6, "m", loop_mass_ratio, True, show),
    # rtol 1e-7 over the 100 periods of some ten sub-steps each
    Case("slide-scales", "a slide's 100 periods at 1 m to 10 nm: amplitude", 1e-4, "1", slide_scales, show=show),
    Case("linkage-scales", "mechanisms of 1e-4 to 1e4 times their size", 1e-5, "rad", linkage_scales, show=show),
]
