"""Sensors as clients are told of them: as parts with what can be set, and what they have measured by now."""

import base64
import math
from dataclasses import fields
from typing import Any

import numpy as np

from ..author.errors import ModelError
from ..author.rotations import rotate_all
from ..author.sensors import Camera, Gps, Lidar, Sensor, name_of
from ..world.world import World
from . import messages as ms
from .sensor_messages import Picture, Sensed, SensorChannel, Sensors

LISTED = 32  # channels that a client is told of
DRAWN = 2000  # points of a lidar
UNITS = {
    "rate": "Hz",
    "latency": "s",
    "reach": "m",
    "distance": "m",
    "threshold": "N",
    "fov": "rad",
    "latitude": "deg",
    "longitude": "deg",
    "height": "m",
    "heading": "rad",
    "time": "s",
    "mask": "deg",
    "slow": "m",
    "slow_time": "s",
}
PIXELS = ("width", "height")  # of a camera, whose height is no length


def element(world: World, name: str) -> ms.Element:
    """A sensor as a part."""
    part = world.system.model.sensors[name]
    device = world.runner.bench.sensors.devices[name]
    channels = zip(device.channels, device.units, strict=True)
    return ms.Element(
        name=name,
        kind="sensor",
        refers={**part.on},
        parts=[],
        points=[],
        parameters=_parameters(name, part.sensor),
        channels=[SensorChannel(name=channel.name, unit=unit) for channel, unit in channels][:LISTED],
    )


def _parameters(name: str, sensor: Sensor) -> list[ms.Parameter]:
    """Numbers that can be set."""
    found = []
    for entry in fields(sensor):
        value: Any = getattr(sensor, entry.name)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            unit = "px" if isinstance(sensor, Camera) and entry.name in PIXELS else UNITS.get(entry.name, "")
            found.append(ms.Parameter(name=entry.name, value=value, unit=unit, path=f"{name}.{entry.name}"))
    return found


def sensors(world: World) -> Sensors:
    """What has come of all sensors by now, in the first world of a batch."""
    model = world.system.model
    if not model.sensors:
        return Sensors(sensors=[])
    bench = world.runner.bench
    block, found = bench.state.read("sensor"), []
    for name, device in bench.sensors.devices.items():
        values, times, valid = device.newest(world.time, block)
        found.append(_sensed(name, device.sensor, values[:, 0], float(times[0]), bool(valid[0])))
    return Sensors(sensors=found)


def _sensed(name: str, sensor: Sensor, values: np.ndarray, time: float, valid: bool) -> Sensed:
    return Sensed(
        name=name,
        kind=_kind(sensor),
        body=sensor.body or None,
        time=time,
        valid=valid,
        values=values[:LISTED].tolist(),
        eye=list(sensor.at) if isinstance(sensor, Lidar | Camera) else None,
        points=_points(sensor, values) if isinstance(sensor, Lidar) else [],
        picture=_picture(sensor, values) if isinstance(sensor, Camera) and valid else None,
        said=_said(values, valid) if isinstance(sensor, Gps) else "",
    )


def _kind(sensor: Sensor) -> str:
    try:
        return name_of(sensor)
    except ModelError:
        return type(sensor).__name__


def _points(sensor: Lidar, values: np.ndarray) -> list[list[float]]:
    """Where rays ended, in the body's frame; every so many-th where there are too many."""
    step = math.ceil(len(values) / DRAWN)
    values, rays = values[::step], sensor.rays()[::step]
    hit = np.isfinite(values)
    points = np.asarray(sensor.at) + rotate_all(np.asarray(sensor.orientation, float), rays[hit]) * values[hit, None]
    return points.tolist()


def _picture(sensor: Camera, values: np.ndarray) -> Picture:
    depth, packed = values[: sensor.pixels], values[sensor.pixels :].astype(np.uint32)
    colours = np.stack([packed >> 16 & 255, packed >> 8 & 255, packed & 255], axis=-1).astype(np.uint8)
    there = np.isfinite(depth)
    near, far = (float(depth[there].min()), float(depth[there].max())) if there.any() else (math.nan, math.nan)
    share = np.zeros(len(depth))
    share[there] = 255 - 254 * (depth[there] - near) / max(far - near, 1e-12)
    return Picture(
        width=sensor.width,
        height=sensor.height,
        colour=base64.b64encode(colours.tobytes()).decode(),
        depth=base64.b64encode(share.astype(np.uint8).tobytes()).decode(),
        near=near,
        far=far,
    )


def _said(values: np.ndarray, valid: bool) -> str:
    if np.isnan(values[4]):
        return "nothing has come yet"
    return f"{values[4]:.0f} satellites" + ("" if valid else ", no fix")
