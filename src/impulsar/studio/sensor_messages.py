"""What the studio tells of sensors: which channels they have, and what has come of them by now."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class SensorChannel:
    """One number that a sensor gives; the signal is sensor.SENSOR.NAME.value, without a name sensor.SENSOR.value."""

    name: str
    unit: str


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What a camera saw, row by row from the top, as bytes in base64: red, green and blue of each pixel, and one for
    its depth, 255 at `near`, 1 at `far` [m], 0 where there is nothing."""

    width: int
    height: int
    colour: str
    depth: str
    near: float | None
    far: float | None


@dataclass(frozen=True, kw_only=True)
class Sensed:
    """The newest that has come of a sensor. `values` are of its first channels, null where there is no number."""

    name: str
    kind: str  # "imu", "lidar", ... of another package its own name
    body: str | None
    time: float | None  # when it was sampled [s]; null: nothing has come yet
    valid: bool
    values: list[float | None]
    eye: list[float] | None  # of what looks along rays, in its body's frame [m]
    points: list[list[float]]  # of a lidar: where its rays ended, in its body's frame [m]
    picture: Picture | None
    said: str  # a word on it: satellites of a receiver, and whether it has a fix


@dataclass(frozen=True, kw_only=True)
class Sensors:
    """All sensors of the model, about four times a second; none where it has none."""

    sensors: list[Sensed]
    type: Literal["sensors"] = "sensors"
