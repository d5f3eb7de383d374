"""Sensors: what each measures, and how it errs.

A sample is  y = limit(quantise(x + bias + walk + noise)):  x what is measured, a constant bias, a bias that walks by
steps of walk √Δt, and white noise of σ² = noise² + density² rate. A sample is lost by chance `dropout`, and comes
`latency` late. Errors are given as one number, as one for each group of channels (an IMU has two), or one for each
channel. Points and directions are in the frame of the body, from its centre of mass.
"""

import math
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from ..plugins import Registry
from .checks import is_number, not_negative, number, positive, show, vector, whole
from .errors import ModelError
from .rotations import unit_quaternion

Each = float | tuple[float, ...]  # for all channels, for each group of them, or for each
Triple = tuple[float, float, float]
Turn = tuple[float, float, float, float]
XYZ = ("x", "y", "z")
MOST_CHANNELS = 100_000
MOST_WAITING = 10_000  # samples that may be on their way
STILL = (0.0, 0.0, 0.0, 1.0)
EACH = ("noise", "density", "bias", "walk", "quantum", "limit")
NO_LIMIT = math.inf


@dataclass(frozen=True)
class Channel:
    """One number that a sensor gives."""

    name: str  # behind the sensor's: "force.x"; empty where it is the only one
    unit: str
    group: int = 0


@dataclass(eq=False, kw_only=True)
class Sensor:
    """What all sensors have: rate [Hz], latency [s], and errors in the units of their channels."""

    rate: float = 100.0
    latency: float = 0.0
    noise: Each = 0.0  # standard deviation of a sample
    density: Each = 0.0  # the same by √Hz: σ = density √rate
    bias: Each = 0.0
    walk: Each = 0.0  # of the bias, by √s
    quantum: Each = 0.0  # samples are whole multiples of it; 0: they are not
    limit: Each = NO_LIMIT  # beyond it, to either side, a sample stays there
    dropout: float = 0.0  # chance that a sample is lost
    seed: int = 0

    body = joint = ""  # where it is, if on one
    memory: ClassVar[int] = 0  # further numbers that it keeps from sample to sample

    def channels(self) -> list[Channel]:
        """What it gives."""
        raise NotImplementedError

    def check(self, owner: str) -> None:
        """Raise `ModelError` at the first wrong field."""
        self.rate = positive(owner, "rate", self.rate, "Hz")
        self.latency = not_negative(owner, "latency", self.latency, "s")
        if self.latency * self.rate > MOST_WAITING:
            told = f"latency is {show(self.latency)} s, {self.latency * self.rate:.3g} samples"
            raise ModelError(f"{owner}: {told}, expected at most {MOST_WAITING}; lower the rate")
        expected = "a chance from 0 to 1"
        self.dropout = number(owner, "dropout", self.dropout, expected, lambda x: 0 <= x <= 1)
        self.seed = whole(owner, "seed", self.seed, 0, 2**63 - 1)
        count = len(self.channels())
        if not 1 <= count <= MOST_CHANNELS:
            raise ModelError(f"{owner}: has {count} channels, expected 1 to {MOST_CHANNELS}")
        for name in EACH:
            self.each(owner, name)

    def each(self, owner: str, name: str) -> np.ndarray:
        """An error for each channel."""
        given, channels = getattr(self, name), self.channels()
        values = list(given) if isinstance(given, tuple | list) else [given]
        groups = 1 + max(channel.group for channel in channels)
        if len(values) not in (1, groups, len(channels)) or not all(map(is_number, values)):
            sizes = " or ".join(map(str, sorted({1, groups, len(channels)})))
            raise ModelError(f"{owner}: {name} is {show(given)}, expected {sizes} numbers")
        numbers = np.array(values, float)
        if np.isnan(numbers).any() or (name != "bias" and numbers.min() < 0):
            raise ModelError(f"{owner}: {name} is {show(given)}, expected numbers >= 0")
        if name != "limit" and np.isinf(numbers).any():
            raise ModelError(f"{owner}: {name} is {show(given)}, expected finite numbers")
        setattr(self, name, float(values[0]) if len(values) == 1 else tuple(map(float, values)))
        if len(values) == groups:
            return numbers[[channel.group for channel in channels]]
        return np.broadcast_to(numbers, len(channels)).copy()

    @property
    def depth(self) -> int:
        """Samples that are kept: those on their way, the one that has come, and the newest."""
        return math.floor(self.latency * self.rate + 1e-9) + 2


@dataclass(eq=False)
class OnBody(Sensor):
    """A sensor at a point of a body, turned by `orientation` (xyzw) in its frame."""

    body: str = ""
    at: Triple = (0.0, 0.0, 0.0)  # [m]
    orientation: Turn = field(default=STILL, kw_only=True)

    def check(self, owner: str) -> None:
        """Raise `ModelError` at the first wrong field."""
        super().check(owner)
        self.at = tuple(vector(owner, "at", self.at, "m").tolist())
        self.orientation = tuple(unit_quaternion(owner, "orientation", self.orientation).tolist())


@dataclass(eq=False)
class Encoder(Sensor):
    """Coordinate of a joint with one freedom [rad, m] and its rate: the difference of two samples, or with `tachometer`
    the rate itself. counts: of a turn or a metre, 0: not counted."""

    joint: str = ""
    coordinate: str = ""  # of a joint with several: "slide"
    counts: int = field(default=0, kw_only=True)
    tachometer: bool = field(default=False, kw_only=True)

    memory: ClassVar[int] = 2  # the sample before, and whether there was one

    def channels(self) -> list[Channel]:
        """Position and velocity."""
        return [Channel("position", "rad"), Channel("velocity", "rad/s", 1)]

    def check(self, owner: str) -> None:
        """Raise `ModelError` at the first wrong field."""
        super().check(owner)
        self.counts = whole(owner, "counts", self.counts, 0, 10**9)
        if self.counts and self.quantum not in (0.0, (0.0, 0.0)):
            raise ModelError(f"{owner}: has counts and a quantum; give one of them")


@dataclass(eq=False)
class Imu(OnBody):
    """Specific force [m/s²] and rate [rad/s] at a point of a body, along its own axes: f = Rᵀ(a - g), with the lever
    arm's ω̇ × r + ω × (ω × r); of accelerations at the instant, with what controllers wrote before."""

    def channels(self) -> list[Channel]:
        """Force, then rate."""
        force = [Channel(f"force.{axis}", "m/s²", 0) for axis in XYZ]
        return force + [Channel(f"rate.{axis}", "rad/s", 1) for axis in XYZ]


@dataclass(eq=False)
class ForceTorque(Sensor):
    """What a joint transmits to its second body, force [N] and torque [N m] at the joint, or at a point of that body
    [m], along its axes, or with frame="world" those of the world; mean over the last step.

    A rigid body has no forces inside: what goes through a cut of one is what a fixed joint there transmits.
    """

    joint: str = ""
    at: Triple | None = field(default=None, kw_only=True)
    frame: str = field(default="body", kw_only=True)

    def channels(self) -> list[Channel]:
        """Force, then torque."""
        force = [Channel(f"force.{axis}", "N", 0) for axis in XYZ]
        return force + [Channel(f"torque.{axis}", "N m", 1) for axis in XYZ]

    def check(self, owner: str) -> None:
        """Raise `ModelError` at the first wrong field."""
        super().check(owner)
        if self.at is not None:
            self.at = tuple(vector(owner, "at", self.at, "m").tolist())
        if self.frame not in ("body", "world"):
            raise ModelError(f"{owner}: frame is {show(self.frame)}, expected 'body' or 'world'")


@dataclass(eq=False)
class Touch(Sensor):
    """A switch: 1 while the contacts of a body push it by more than `threshold` [N] in all, else 0."""

    body: str = ""
    threshold: float = field(default=0.0, kw_only=True)

    def channels(self) -> list[Channel]:
        """On or off."""
        return [Channel("", "1")]

    def check(self, owner: str) -> None:
        """Raise `ModelError` at the first wrong field."""
        super().check(owner)
        self.threshold = not_negative(owner, "threshold", self.threshold, "N")


@dataclass(eq=False)
class Lidar(OnBody):
    """Distances [m] along rays of the sensor's frame: azimuths about z from x [rad], at each of some elevations.

    What lies beyond `reach` [m] or nowhere gives infinity. Shapes of other bodies, of obstacles and of the ground are
    seen, whether they touch or not; those of its own body are not.
    """

    azimuths: tuple[float, ...] = (0.0,)
    elevations: tuple[float, ...] = field(default=(0.0,), kw_only=True)
    reach: float = field(default=100.0, kw_only=True)

    def channels(self) -> list[Channel]:
        """One for each ray, elevation by elevation."""
        count = len(self.azimuths) * len(self.elevations)
        return [Channel("" if count == 1 else str(k), "m") for k in range(count)]

    def check(self, owner: str) -> None:
        """Raise `ModelError` at the first wrong field."""
        for name in ("azimuths", "elevations"):
            given = getattr(self, name)
            given = given.tolist() if isinstance(given, np.ndarray) else given
            if not isinstance(given, tuple | list) or not all(is_number(x) and math.isfinite(x) for x in given):
                raise ModelError(f"{owner}: {name} is {show(given)}, expected angles [rad]")
            setattr(self, name, tuple(map(float, given)))
        super().check(owner)
        self.reach = positive(owner, "reach", self.reach, "m")

    def rays(self) -> np.ndarray:
        """Unit vectors in the sensor's frame [ray, 3]."""
        el, az = (x.ravel() for x in np.meshgrid(self.elevations, self.azimuths, indexing="ij"))
        return np.stack([np.cos(el) * np.cos(az), np.cos(el) * np.sin(az), np.sin(el)], axis=1)


@dataclass(eq=False)
class Camera(OnBody):
    """Depth [m] and colour of a small picture by a pinhole that looks along the sensor's x axis, y to its left and z
    up. fov: the angle that the width spans [rad]; pixels are square, row by row from the top left.

    Depth is along x; what lies beyond `reach` [m] or nowhere is infinitely deep. Errors are those of the depth. The
    shapes of its own body are not seen. A colour is 65536 r + 256 g + b; `world.sensor(name)` gives both as pictures.
    """

    width: int = field(default=64, kw_only=True)
    height: int = field(default=48, kw_only=True)
    fov: float = field(default=1.2, kw_only=True)
    reach: float = field(default=100.0, kw_only=True)
    rate: float = field(default=10.0, kw_only=True)

    @property
    def pixels(self) -> int:
        """How many there are."""
        return self.width * self.height

    @property
    def half_width(self) -> float:
        """Of the picture at a distance of 1."""
        return math.tan(self.fov / 2)

    def channels(self) -> list[Channel]:
        """Depths, then colours."""
        depths = [Channel(f"depth.{k}", "m") for k in range(self.pixels)]
        return depths + [Channel(f"colour.{k}", "1") for k in range(self.pixels)]

    def check(self, owner: str) -> None:
        """Raise `ModelError` at the first wrong field."""
        for name in ("width", "height"):
            setattr(self, name, whole(owner, name, getattr(self, name), 1, MOST_CHANNELS // 2))
        if 2 * self.pixels > MOST_CHANNELS:
            told = f"width and height are {self.width} and {self.height}"
            raise ModelError(f"{owner}: {told}, expected at most {MOST_CHANNELS // 2} pixels")
        super().check(owner)
        self.fov = number(owner, "fov", self.fov, "an angle between 0 and pi [rad]", lambda x: 0 < x < math.pi)
        self.reach = positive(owner, "reach", self.reach, "m")

    def each(self, owner: str, name: str) -> np.ndarray:
        """An error for each channel; colours have none."""
        found = super().each(owner, name)
        found[self.pixels :] = NO_LIMIT if name == "limit" else 0.0
        return found


@dataclass(eq=False)
class Proximity(OnBody):
    """A switch: 1 while something is nearer than `distance` [m] along the sensor's x axis, else 0."""

    distance: float = 0.1

    def channels(self) -> list[Channel]:
        """On or off."""
        return [Channel("", "1")]

    def check(self, owner: str) -> None:
        """Raise `ModelError` at the first wrong field."""
        super().check(owner)
        self.distance = positive(owner, "distance", self.distance, "m")


SATELLITES = 24


@dataclass(eq=False)
class Gps(OnBody):
    """A receiver of the nominal 24 satellites: position [m] in the world, whose origin is at a place of the Earth, x to
    the east, turned by `heading` [rad] towards north, and z up; clock [m]; satellites; dilutions of precision.

    noise: of a pseudo-range [m]; slow: σ of what errs by satellite for about `slow_time` [s]; multipath: share of the
    amplitude that walls reflect. Fewer than four satellites give no fix: the sample is not valid, and NaN.
    """

    latitude: float = field(default=39.98, kw_only=True)  # of the world's origin [deg]
    longitude: float = field(default=116.34, kw_only=True)  # [deg]
    height: float = field(default=0.0, kw_only=True)  # [m]
    heading: float = field(default=0.0, kw_only=True)
    time: float = field(default=0.0, kw_only=True)  # since 1993-07-01 00:00 at the world's time 0 [s]
    mask: float = field(default=5.0, kw_only=True)  # least elevation [deg]
    slow: float = field(default=3.0, kw_only=True)
    slow_time: float = field(default=3600.0, kw_only=True)
    multipath: float = field(default=0.3, kw_only=True)
    clock: bool = field(default=True, kw_only=True)  # whether the receiver's clock wanders
    rate: float = field(default=1.0, kw_only=True)
    noise: Each = field(default=0.6, kw_only=True)

    memory: ClassVar[int] = 2 + SATELLITES  # clock and its drift, and what errs slowly

    def channels(self) -> list[Channel]:
        """Position, clock, count, dilutions."""
        place = [Channel(f"position.{axis}", "m") for axis in XYZ]
        dops = [Channel(name, "1") for name in ("gdop", "pdop", "hdop", "vdop")]
        return [*place, Channel("clock", "m"), Channel("satellites", "1"), *dops]

    def check(self, owner: str) -> None:
        """Raise `ModelError` at the first wrong field."""
        super().check(owner)
        bounds = {"latitude": (-90, 90), "longitude": (-360, 360), "mask": (-90, 90), "multipath": (0, 0.99)}
        for name, (low, high) in bounds.items():
            value = number(owner, name, getattr(self, name), f"a number from {low} to {high}")
            if not low <= value <= high:
                raise ModelError(f"{owner}: {name} is {show(value)}, expected a number from {low} to {high}")
            setattr(self, name, value)
        for name in ("height", "heading", "time"):
            setattr(self, name, number(owner, name, getattr(self, name), "a number"))
        self.slow = not_negative(owner, "slow", self.slow, "m")
        self.slow_time = positive(owner, "slow_time", self.slow_time, "s")


def check_sensor(name: str, cls: Any) -> type[Sensor]:
    """A class of sensors of another package; raises TypeError with what is missing."""
    if not (isinstance(cls, type) and issubclass(cls, Sensor)) or "channels" not in vars(cls):
        raise TypeError(f"is {cls!r:.80}, expected a subclass of impulsar.sensors.Sensor with channels")
    if not callable(getattr(cls, "reader", None)):
        raise TypeError(f"{cls.__name__} has no reader(bench) that returns what reads it at a Moment")
    return cls


SENSORS: Registry[type[Sensor]] = Registry(
    "impulsar.sensors",
    {
        "encoder": Encoder,
        "imu": Imu,
        "force-torque": ForceTorque,
        "touch": Touch,
        "lidar": Lidar,
        "camera": Camera,
        "proximity": Proximity,
        "gps": Gps,
    },
    check_sensor,
)


def name_of(sensor: Sensor) -> str:
    """The name of a sensor's class in files."""
    found = next((name for name, cls in SENSORS.items() if cls is type(sensor)), None)
    if found is None:
        raise ModelError(f"sensor: {type(sensor).__name__} is not known; add it by an entry point impulsar.sensors")
    return found


def field_names(cls: type[Sensor]) -> list[str]:
    """What a sensor of a class is given by."""
    return [entry.name for entry in fields(cls)]
