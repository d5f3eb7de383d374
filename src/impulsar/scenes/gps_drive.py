"""gps-drive: a car with a GPS receiver, through open ground and a street of houses (Wang 2011, Figs. 8 to 10).

The paper gives a place, Beijing, and the shape of its curves; the way and the houses here are ours. The car is the
bicycle model, with its tyres, kept at its speed by the rear wheel: 80 m of open ground with a change of lane, a street
of 160 m, and open ground again with a curve of 30 m about a half circle. Where the car is at a time follows from its
tyres, not from the plan. Houses stand on both sides with gaps between them, of heights that differ, so that the count
of satellites goes up and down; where the fourth two are one house over the street there is no fix.
"""

import math

from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import Motor
from ..author.profiles import Table
from ..author.sensors import Gps
from ..author.shapes import Box
from . import bicycle_model
from .minibaja import BEHIND, MASS, RADIUS, TYRE, WHEELBASE, G
from .parts import above

STREET, END = 80.0, 240.0  # where it begins and ends [m]
HOUSE, GAP, DEEP = 24.0, 8.0, 12.0  # length along the street, between two, and across [m]
HEIGHTS = ((1.0, 0.7, 1.5, 1.7, 0.8), (0.8, 1.2, 1.6, 1.5, 0.6))  # of the houses to the left and right, of `height`
ARCH, CLEAR, OVER = 3, 4.5, 4.0  # the houses that are one over the street, how high above it, and how thick [m]
LANE, CURVE = 3.0, 30.0  # by which the lane is changed, and the radius of the curve [m]
ANTENNA = 1.0  # above the chassis [m]
CLOSEST = 3.0  # half of the narrowest street [m]


def build(
    hour: float = 6.0,
    latitude: float = 39.98,
    longitude: float = 116.34,
    heading: float = 0.0,
    height: float = 10.0,
    width: float = 20.0,
    speed: float = 8.0,
    multipath: float = 0.3,
    seed: int = 0,
) -> Model:
    """A car with a GPS receiver, through open ground and a street of houses.

    hour: of the day, UTC; latitude, longitude of the start [deg]; heading: where the car drives to, from east towards
    north [deg]; height of the houses, about, and width of the street between them [m]; speed [m/s]; multipath: share of
    the amplitude that walls reflect; seed of the noise.
    """
    above("gps-drive", speed=speed, height=height)
    above("gps-drive", 2 * CLOSEST, width=width)
    if not 0.0 <= hour < 24.0:
        raise ModelError(f"scene 'gps-drive': hour is {hour:g}, expected an hour of the day, 0 to 24")
    model = bicycle_model.build(speed, 0.0)
    model.name = "gps drive"
    _drive(model, speed)
    for side, shares in zip((1.0, -1.0), HEIGHTS, strict=True):
        for k, share in enumerate(shares):
            size = (HOUSE, DEEP, share * height)
            at = (STREET + HOUSE / 2 + k * (HOUSE + GAP), side * (width + DEEP) / 2, size[2] / 2)
            model.obstacle(f"house {'left' if side > 0 else 'right'} {k + 1}", Box(size), position=at)
    at = (STREET + HOUSE / 2 + ARCH * (HOUSE + GAP), 0.0, CLEAR + OVER / 2)
    model.obstacle("arch", Box((HOUSE, width, OVER)), position=at)
    receiver = Gps(
        "chassis",
        (0.0, 0.0, ANTENNA),
        latitude=latitude,
        longitude=longitude,
        heading=math.radians(heading),
        time=3600.0 * hour,
        multipath=multipath,
        seed=seed,
    )
    model.sensor("gps", receiver)
    model.duration = round((END + 30.0 + CURVE * math.pi + 20.0) / speed)
    return model


def _drive(model: Model, speed: float) -> None:
    """Keep the speed, and steer: by a lane to the left and back before the street, and round a curve behind it."""
    deep = MASS * G * BEHIND / WHEELBASE / (2 * TYRE)
    model.joints["rear axle"].features["angle"].motor = Motor(speed=speed / (RADIUS - deep))
    swerve = _swerve(10.0 / speed, 30.0 / speed, LANE, speed)
    back = _swerve(45.0 / speed, 30.0 / speed, -LANE, speed)
    turn, ease = WHEELBASE / CURVE, 8.0 / speed
    begin, long = (END + 30.0) / speed, math.pi * CURVE / speed
    curve = [(begin, 0.0), (begin + ease, turn), (begin + long, turn), (begin + long + ease, 0.0)]
    times, angles = zip(*[(0.0, 0.0), *swerve, *back, *curve], strict=True)
    model.joints["steering"].features["angle"].motor = Motor(position=Table(times, angles))
    model.bodies["chassis"].shapes = [
        Box((2.4, 1.1, 0.35), offset=(0.0, 0.0, 0.05)),
        Box((1.1, 0.9, 0.4), offset=(-0.2, 0.0, 0.42)),
        Box((0.12, 0.12, 0.16), offset=(0.0, 0.0, ANTENNA - 0.3)),
    ]
    model.bodies["chassis"].colour = "#c8553d"


def _swerve(start: float, long: float, shift: float, speed: float) -> list[tuple[float, float]]:
    """Steering that shifts the car aside [m] in a time [s]: angles δ, -δ, of which the way aside is the double integral
    of V² δ / L, V² δ T² / (8 L) for two triangles of T / 2 each."""
    angle = 8.0 * WHEELBASE * shift / (speed * long) ** 2
    return [(start, 0.0), (start + long / 4, angle), (start + 3 * long / 4, -angle), (start + long, 0.0)]
