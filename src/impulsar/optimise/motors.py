"""Motors for a motion: what a drive must give over a cycle, which motor of a table does it, and with what ratio.

The load is the engine's inverse dynamics (`analysis.inverse`): torque τ(t) at speed ω(t) and acceleration α(t) of the
driven coordinate. A motor with rotor inertia J behind a gear of ratio n and efficiency η turns n times as fast:

    T = n J α + τ / (n η)   where it drives (τ ω > 0),       T = n J α + τ η / n   where it is driven

It will do where its rms is within the rated torque (its windings warm up by T² over the cycle), its peak within the
peak torque, and its fastest within its speed. At n* = sqrt(J_load / J) rotor and load are matched: it takes the least
torque to accelerate both.

`balance` takes torque off the drive by springs and counterweights: in stiffnesses and masses the torque of a motion is
linear, so that its derivatives are exact and the least rms over the cycle is found at once.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear, minimize_scalar

from ..analysis import inverse
from ..author.checks import number, show
from ..author.errors import ModelError
from ..author.model import Model
from ..author.variables import find_field, write_field
from .tables import rows_of

COLUMNS = ("name", "rated_torque", "peak_torque", "speed", "rotor_inertia")
RATIOS = (0.1, 1000.0)  # that are looked at
TRIED = 200  # of these
LINEAR = 1e-9  # of the torque: what it may be off a straight line


@dataclass(frozen=True)
class MotorType:
    """A line of a table of motors."""

    name: str
    rated_torque: float  # that it can give for ever [N m]
    peak_torque: float  # for a moment [N m]
    speed: float  # the fastest [rad/s]
    rotor_inertia: float  # [kg m²]

    def __post_init__(self) -> None:
        for what in COLUMNS[1:]:
            value = getattr(self, what)
            if not (isinstance(value, int | float) and 0.0 < value < math.inf):
                raise ModelError(f"motor '{self.name}': {what} is {show(value)}, expected a number > 0 in SI units")
        if self.peak_torque < self.rated_torque:
            raise ModelError(
                f"motor '{self.name}': peak_torque {self.peak_torque:g} is below its rated_torque {self.rated_torque:g}"
            )


def read_motors(path: str | Path) -> list[MotorType]:
    """Motors of a CSV file with the columns name, rated_torque, peak_torque, speed, rotor_inertia [SI units]."""
    (_, names), *lines = [*rows_of(path)] or [(0, [])]
    if missing := [column for column in COLUMNS if column not in names]:
        raise ModelError(f"{path}: there is no column {', '.join(missing)}; expected columns {', '.join(COLUMNS)}")
    found = []
    for k, cells in lines:
        line = dict(zip(names, cells, strict=False))
        if missing := [column for column in COLUMNS if line.get(column) in (None, "")]:
            raise ModelError(f"{path}: line {k} has no {', '.join(missing)}; expected columns {', '.join(COLUMNS)}")
        try:
            numbers = [float(line[column]) for column in COLUMNS[1:]]
        except ValueError as error:
            raise ModelError(f"{path}: line {k}: {error}; expected numbers in SI units") from error
        found.append(MotorType(line["name"], *numbers))
    if not found:
        raise ModelError(f"{path}: no motors; expected a line of names, then one for each")
    return found


@dataclass(frozen=True)
class Load:
    """What a drive must give over a cycle, at the joint."""

    coordinate: str
    times: np.ndarray = field(repr=False)  # [s]
    torque: np.ndarray = field(repr=False)  # [N m, N]
    speed: np.ndarray = field(repr=False)  # [rad/s, m/s]
    acceleration: np.ndarray = field(repr=False)
    inertias: np.ndarray = field(repr=False)  # that the drive feels: what more of an acceleration takes [kg m², kg]

    @property
    def power(self) -> np.ndarray:
        """Over the cycle [W]."""
        return self.torque * self.speed

    @property
    def peak(self) -> float:
        """The largest torque [N m, N]."""
        return float(np.abs(self.torque).max())

    @property
    def rms(self) -> float:
        """Root mean square of the torque over the cycle."""
        return self.mean_square(self.torque) ** 0.5

    @property
    def inertia(self) -> float:
        """Of the load as the drive feels it, mean over the cycle [kg m², kg]."""
        return float(np.trapezoid(self.inertias, self.times) / (self.times[-1] - self.times[0]))

    def mean_square(self, values: np.ndarray) -> float:
        """Over the cycle, by trapezia."""
        return float(np.trapezoid(values**2, self.times) / (self.times[-1] - self.times[0]))

    def motor_torque(self, motor: MotorType, ratio: float, efficiency: float = 1.0) -> np.ndarray:
        """What a motor behind a gear gives over the cycle [N m]."""
        through = np.where(self.power >= 0.0, 1.0 / efficiency, efficiency)
        return ratio * motor.rotor_inertia * self.acceleration + self.torque * through / ratio


@dataclass(frozen=True)
class Choice:
    """A motor with the ratio at which it is warmed least, and how much of what it can give is used."""

    motor: MotorType
    ratio: float  # turns of the motor for one of the joint [1, rad/m]
    rms: float  # of its torque [N m]
    peak: float  # of its torque [N m]
    fastest: float  # [rad/s]
    inertia_ratio: float  # of the load, as the rotor feels it, to the rotor
    why: str  # where it will not do: what is too much; else ""

    @property
    def ok(self) -> bool:
        """Whether it will do."""
        return not self.why

    @property
    def use(self) -> float:
        """The largest of torque rms, peak and speed over what the motor can: 1 is all of it."""
        motor = self.motor
        return max(self.rms / motor.rated_torque, self.peak / motor.peak_torque, self.fastest / motor.speed)


def load_of(
    model: Model, drive: str, motion: Any, duration: float, samples: int = 200, others: Mapping[str, Any] | None = None
) -> Load:
    """What a drive must give so that its coordinate follows a motion: a profile, or a callable t -> (q, q̇, q̈).

    duration: of the cycle [s]. others: motions of other joints that are driven.
    """
    number("load_of", "duration", duration, "seconds > 0", lambda x: 0.0 < x < math.inf)
    times = np.linspace(0.0, duration, samples)
    found = inverse(model, {**(others or {}), drive: motion}, times).sel(coordinate=drive)
    q, speed, acceleration, torque = (
        np.asarray(found[name].values, float)
        for name in ("joint_position", "joint_velocity", "joint_acceleration", "motor_torque")
    )

    def faster(t: float) -> tuple[float, float, float]:
        k = int(np.abs(times - t).argmin())
        return q[k], speed[k], acceleration[k] + 1.0

    more = inverse(model, {**(others or {}), drive: faster}, times).sel(coordinate=drive)
    return Load(drive, times, torque, speed, acceleration, np.asarray(more["motor_torque"].values, float) - torque)


@dataclass(frozen=True)
class Balanced:
    """Springs and weights with which a drive has the least to do."""

    model: Model
    values: dict[str, float]
    load: Load
    before: Load


def balance(
    model: Model,
    drive: str,
    motion: Any,
    duration: float,
    to: Mapping[str, tuple[float, float]],
    samples: int = 60,
    others: Mapping[str, Any] | None = None,
) -> Balanced:
    """Numbers of parts ('spring.stiffness', 'weight.mass') within ranges, for the least rms torque of a drive.

    The torque must be linear in them, as it is in stiffnesses, and in masses whose inertia stays; else it is refused.
    """
    fields = {path: find_field(model, path) for path in to}

    def torque(values: Sequence[float]) -> np.ndarray:
        new = model
        for one, value in zip(fields.values(), values, strict=True):
            new = write_field(new, one, float(value))
        return load_of(new, drive, motion, duration, samples, others).torque

    low, high = (np.array([float(ends[k]) for ends in to.values()]) for k in (0, 1))
    if not fields or not (np.isfinite([low, high]).all() and (low < high).all()):
        raise ModelError(
            f"balance: to is {show(to)}, expected ranges by path, such as {{'spring.stiffness': (0, 500)}}"
        )
    middle = 0.5 * (low + high)
    base = torque(middle)
    slopes = np.array([torque(middle + k) - base for k in np.diag(0.25 * (high - low))]).T / (0.25 * (high - low))
    trial = low + (high - low) * np.linspace(0.2, 0.9, len(low))
    off = np.abs(base + slopes @ (trial - middle) - torque(trial)).max()
    if off > LINEAR * max(np.abs(base).max(), 1e-300):
        raise ModelError(
            f"balance: the torque of '{drive}' is not linear in {', '.join(to)}, off by {off:.3g} N m; take "
            "stiffnesses and masses, or `optimise.tune`"
        )
    weights = np.sqrt(np.gradient(np.linspace(0.0, duration, samples)))  # of trapezia
    weights[[0, -1]] /= math.sqrt(2.0)
    told = lsq_linear(weights[:, None] * slopes, -weights * (base - slopes @ middle), bounds=(low, high))
    new = model
    for one, value in zip(fields.values(), told.x, strict=True):
        new = write_field(new, one, float(value))
    loads = [load_of(each, drive, motion, duration, samples, others) for each in (new, model)]
    return Balanced(new, dict(zip(to, map(float, told.x), strict=True)), *loads)


def choose_motor(
    load: Load,
    motors: "Iterable[MotorType] | str | Path",
    ratios: Sequence[float] | None = None,
    efficiency: float = 1.0,
    margin: float = 1.0,
) -> list[Choice]:
    """The motors of a table for a load, those that will do first, of these the one with the least rated torque.

    ratios: of gears that can be had, None: any. efficiency: of the gear. margin: of all limits, 1.2: 20 % to spare.
    """
    table = read_motors(motors) if isinstance(motors, str | Path) else list(motors)
    if not table or not all(isinstance(motor, MotorType) for motor in table):
        raise ModelError(f"choose_motor: motors are {show(motors)}, expected a CSV file or a list of MotorType")
    if not 0.0 < efficiency <= 1.0 or not margin > 0.0:
        raise ModelError(f"choose_motor: efficiency {efficiency!r} and margin {margin!r}, expected up to 1, and > 0")
    choices = [_best(load, motor, ratios, efficiency, margin) for motor in table]
    return sorted(choices, key=lambda one: (not one.ok, one.motor.rated_torque if one.ok else one.use))


def _best(load: Load, motor: MotorType, ratios: Sequence[float] | None, efficiency: float, margin: float) -> Choice:
    """The ratio at which a motor is used least."""

    def use(ratio: float) -> float:
        return _at(load, motor, ratio, efficiency, margin).use

    if ratios is not None:
        if not len(ratios) or not all(ratio > 0.0 for ratio in ratios):
            raise ModelError(f"choose_motor: ratios are {show(ratios)}, expected numbers > 0")
        return _at(load, motor, min(ratios, key=use), efficiency, margin)
    grid = np.geomspace(*RATIOS, TRIED)
    k = int(np.argmin([use(ratio) for ratio in grid]))
    ends = np.log(grid[max(0, k - 1)]), np.log(grid[min(TRIED - 1, k + 1)])
    told = minimize_scalar(lambda x: use(math.exp(x)), bounds=ends, method="bounded", options={"xatol": 1e-9})
    return _at(load, motor, math.exp(told.x), efficiency, margin)


def _at(load: Load, motor: MotorType, ratio: float, efficiency: float, margin: float) -> Choice:
    torque = load.motor_torque(motor, ratio, efficiency)
    rms, peak = load.mean_square(torque) ** 0.5, float(np.abs(torque).max())
    fastest = ratio * float(np.abs(load.speed).max())
    over = [
        f"{what} {value:.3g} of {most:.3g} {unit}"
        for what, value, most, unit in (
            ("torque rms", rms, motor.rated_torque, "N m"),
            ("peak torque", peak, motor.peak_torque, "N m"),
            ("speed", fastest, motor.speed, "rad/s"),
        )
        if margin * value > most
    ]
    return Choice(motor, ratio, rms, peak, fastest, load.inertia / (ratio**2 * motor.rotor_inertia), ", ".join(over))


def matched_ratio(load: Load, motor: MotorType) -> float:
    """The ratio at which the load's inertia, as the rotor feels it, is the rotor's own; NaN: the load has none."""
    return math.sqrt(load.inertia / motor.rotor_inertia) if load.inertia > 0.0 else math.nan


def torque_speed_picture(path: str, load: Load, choice: Choice, efficiency: float = 1.0) -> None:
    """The motor's cycle in the plane of torque and speed, with what the motor can for ever and for a moment."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    motor = choice.motor
    figure, axes = plt.subplots(figsize=(6, 5))
    for most, style, label in ((motor.rated_torque, "-", "for ever"), (motor.peak_torque, "--", "for a moment")):
        box = ([-motor.speed, motor.speed, motor.speed, -motor.speed, -motor.speed], [most, most, -most, -most, most])
        axes.plot(*box, style, color="0.5", label=label)
    torque = load.motor_torque(motor, choice.ratio, efficiency)
    axes.plot(choice.ratio * load.speed, torque, color="tab:blue", label="cycle")
    for sign in (1.0, -1.0):
        axes.axhline(
            sign * choice.rms, color="tab:red", linewidth=1, label=f"rms {choice.rms:.3g} N m" if sign > 0 else None
        )
    axes.set_xlabel("speed of the motor [rad/s]")
    axes.set_ylabel("torque of the motor [N m]")
    axes.set_title(f"{motor.name}, ratio {choice.ratio:.3g}" + ("" if choice.ok else f": {choice.why}"), fontsize=9)
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
