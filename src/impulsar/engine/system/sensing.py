"""Where sensors keep what they remember, in the block "sensor" of the state.

Each has, one after the other: how many samples were kept so far; the walk of each channel's bias; what it remembers
besides; and the last `depth` samples in a ring, each whether it is valid, its time [s], and its channels. Zero means
"nothing yet".
"""

from ...author.model import Model
from ...author.sensors import Sensor


def rows_of(sensor: Sensor) -> int:
    """How many numbers a sensor keeps."""
    count = len(sensor.channels())
    return 1 + count + sensor.memory + sensor.depth * (2 + count)


def sensor_rows(model: Model) -> tuple[dict[str, slice], int]:
    """Where each sensor's numbers are in the block, and how many there are in all."""
    found, at = {}, 0
    for name, part in model.sensors.items():
        size = rows_of(part.sensor)
        found[name] = slice(at, at + size)
        at += size
    return found, at
