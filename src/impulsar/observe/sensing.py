"""Sensors of a bench: sampled when they are due, and what has come of it by a moment.

What they keep is in the block "sensor" of the state (engine/system/sensing.py), so that snapshots, replays and batches
have it; noise follows from seed, name, world and the number of the sample (`noise`). What they measure is found by
kernels (`truths`), and so are errors and rings (`samples`): the host launches them, or a relay between two steps.
Receivers of GPS and sensors of other packages are read on the host.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from ..author.errors import StepError
from ..author.sensing import Mounted
from ..author.sensors import Camera, Channel, Encoder, Gps, Lidar, Sensor
from ..engine.spatial import f64
from ..engine.system.sensing import sensor_rows
from .gps import Receiver
from .moment import Moment
from .noise import Noise
from .rays import FAR
from .reading import Reading
from .samples import INFINITE, MISSING, SAME, Errors, come_kernel, err_kernel, keep_kernel
from .truths import Needs, Truth, encoder_row, truth_of

if TYPE_CHECKING:
    from .bench import Bench

Reader = Callable[[Moment], np.ndarray]  # what is measured [channel, world]


class Device:
    """A sensor in a bench."""

    def __init__(self, bench: "Bench", part: Mounted, rows: slice):
        self.name, self.sensor, self.rows = part.name, part.sensor, rows
        self.channels: list[Channel] = part.sensor.channels()
        self.units = [channel.unit for channel in self.channels]
        self._bench, self._n = bench, len(self.channels)
        worlds, device = bench.system.counts.worlds, bench.system.device
        self._value = wp.zeros((self._n, worlds), dtype=f64, device=device)
        self._valid = wp.full(worlds, 1.0, dtype=f64, device=device)
        own = getattr(part.sensor, "reader", None)
        self._receiver = Receiver(bench, part.sensor, part.name) if isinstance(part.sensor, Gps) else None
        self.truth: Truth | None = None if own else truth_of(bench, part.sensor, self._value)
        self._read: Reader | None = None if self.truth or self._receiver else reader_of(bench, part.sensor)
        self._errors = self._errors_of(bench, part)
        kept = bench.state.view("sensor", rows)
        state = bench.state.arrays
        self._err = Reading(err_kernel, (self._n, worlds), [self._errors, state, self._value], [kept])
        self._keep = Reading(keep_kernel, worlds, [self._errors, self._valid, state, self._value], [kept])

    def _errors_of(self, bench: "Bench", part: Mounted) -> Errors:
        """How it errs, for kernels."""
        sensor, owner = part.sensor, f"sensor '{part.name}'"
        each = {name: sensor.each(owner, name) for name in ("bias", "walk", "quantum", "limit", "noise", "density")}
        if isinstance(sensor, Encoder):
            unit = bench.readout.coordinate_units[encoder_row(bench, sensor)]
            self.units = [unit, f"{unit}/s"]
            if sensor.counts:
                each["quantum"][0] = (2.0 * math.pi if unit == "rad" else 1.0) / sensor.counts
        made, device = Errors(), bench.system.device
        each["walk"] = each["walk"] / math.sqrt(sensor.rate)
        each["sigma"] = np.sqrt(each.pop("noise") ** 2 + each.pop("density") ** 2 * sensor.rate)
        for name, values in each.items():
            setattr(made, name, wp.array(values, dtype=f64, device=device))
        keys = Noise(sensor.seed, part.name, bench.system.counts.worlds).keys
        made.key = wp.array(keys, dtype=wp.uint64, device=device)
        made.rate, made.dropout, made.latency = sensor.rate, sensor.dropout, sensor.latency
        made.near = SAME * self.period
        made.reach = getattr(sensor, "reach", math.inf)
        made.seen = made.reach if isinstance(sensor, Camera) else FAR / 2
        made.distances = {Lidar: self._n, Camera: getattr(sensor, "pixels", 0)}.get(type(sensor), 0)
        made.is_exact = int(self._receiver is not None)
        made.differs = int(isinstance(sensor, Encoder) and not sensor.tachometer)
        made.memory, made.depth = sensor.memory, sensor.depth
        return made

    @property
    def period(self) -> float:
        """Between two samples [s]."""
        return 1.0 / self.sensor.rate

    # sampling -------------------------------------------------------------------------------------

    def readings(self) -> list[Reading]:
        """Launches of a sample, for a relay, behind those of what it needs; of one that the device measures."""
        assert self.truth is not None
        return [*self.truth.readings, self._err, self._keep]

    def come(self, first: int, out: wp.array) -> Reading:
        """What finds what has come by now [channel of all sensors, world], from a row on."""
        given = [self._errors, first, self._n, self._bench.state.arrays, self._bench.state.view("sensor", self.rows)]
        return Reading(come_kernel, out.shape[1], given, [out])

    def sample(self, now: Moment, t: float) -> None:
        """Take the sample of a time [s]; what it needs was launched."""
        if self.truth is not None:
            for reading in self.readings():
                reading.launch()
            return
        if self._receiver is not None:
            block, n = self._bench.state.read("sensor"), self._n
            memory = block[self.rows][1 + n : 1 + n + self.sensor.memory]
            values, valid = self._receiver.sample(now, round(t * self.sensor.rate), t, memory)
            self._bench.state.write("sensor", block)
            self._valid.assign(valid.astype(float))
        else:
            values = self._measured(now, t)
        self._value.assign(values)
        self._err.launch()
        self._keep.launch()

    def _measured(self, now: Moment, t: float) -> np.ndarray:
        """What is measured [channel, world], or a StepError that names the sensor: another package may read it."""
        assert self._read is not None
        shape = (self._n, self._bench.system.counts.worlds)
        try:
            values = np.array(self._read(now), float)
        except Exception as error:
            told = f"its reader raised {type(error).__name__}: {error}"
            raise StepError(f"sensor '{self.name}': {told} (at t = {t:.9g} s); correct it, or remove it") from error
        if values.shape != shape or np.isnan(values).any():
            told = f"its reader gave shape {values.shape}, or NaN, expected numbers of shape {shape}"
            raise StepError(f"sensor '{self.name}': {told} (at t = {t:.9g} s); correct it, or remove it")
        return values

    # reading --------------------------------------------------------------------------------------

    def newest(self, t: float, block: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What has come by a time [s]: values [channel, world], when they were sampled [s] and whether they are valid.

        NaN where nothing has come yet, or there is nothing to give.
        """
        own, n = block[self.rows], self._n
        depth, count = self.sensor.depth, own[0].astype(int)
        ring = own[1 + n + self.sensor.memory :].reshape(depth, 2 + n, -1)
        order = (count - 1 - np.arange(depth)[:, None]) % depth  # newest first [place, world]
        there = np.arange(depth)[:, None] < np.minimum(count, depth)
        worlds = np.arange(len(count))
        times = ring[order, 1, worlds]
        come = there & (times + self.sensor.latency <= t + SAME * self.period)
        first = np.argmax(come, axis=0)
        any_come = come.any(axis=0)
        at = order[first, worlds]
        values = ring[at, 2:, worlds].T
        values = np.where(values == MISSING, np.nan, np.where(values >= INFINITE, np.inf, values))
        values = np.where(any_come, values, np.nan)
        return values, np.where(any_come, times[first, worlds], np.nan), any_come & (ring[at, 0, worlds] > 0.0)


class Sensors:
    """All sensors of a bench."""

    def __init__(self, bench: "Bench"):
        rows, self.size = sensor_rows(bench.system.model)
        self._bench = bench
        self.devices = {name: Device(bench, part, rows[name]) for name, part in bench.system.model.sensors.items()}
        self.rows: dict[str, int] = {}  # of all channels together, by name
        self.units: list[str] = []
        for name, device in self.devices.items():
            for channel, unit in zip(device.channels, device.units, strict=True):
                self.rows[f"{name}.{channel.name}" if channel.name else name] = len(self.rows)
                self.units.append(unit)

    def sample(self, due: Sequence[Device], t: float) -> None:
        """Let some sensors sample at a time [s]."""
        names = needed(due)
        self.needs.prepare(names)
        for name in names:
            for reading in getattr(self.needs, name):
                reading.launch()
        now = Moment(self._bench)
        for device in due:
            device.sample(now, t)

    @cached_property
    def needs(self) -> Needs:
        """What several of them need."""
        return Needs(self._bench)

    @cached_property
    def come(self) -> wp.array:
        """What has come of all sensors [channel, world], where a launch asks for it."""
        return wp.zeros((len(self.rows), self._bench.system.counts.worlds), dtype=f64, device=self._bench.system.device)

    def coming(self, names: Iterable[str]) -> list[Reading]:
        """What finds it, of some sensors."""
        sizes = [len(device.channels) for device in self.devices.values()]
        first = dict(zip(self.devices, np.cumsum([0, *sizes]).tolist(), strict=False))
        return [self.devices[name].come(first[name], self.come) for name in names]

    def owners(self, rows: Iterable[int]) -> list[str]:
        """Whose channels these rows are, each once."""
        all_of = [name for name, device in self.devices.items() for _ in device.channels]
        return list(dict.fromkeys(all_of[row] for row in rows))

    def read(self) -> np.ndarray:
        """What has come of all sensors by now [channel, world]."""
        t, block = float(self._bench.state.read("time")[0, 0]), self._bench.state.read("sensor")
        found = [device.newest(t, block)[0] for device in self.devices.values()]
        return np.concatenate(found) if found else np.zeros((0, self._bench.system.counts.worlds))


def needed(devices: Iterable[Device]) -> list[str]:
    """What some sensors need, each once."""
    return list(dict.fromkeys(name for one in devices if one.truth is not None for name in one.truth.needs))


def reader_of(bench: "Bench", sensor: Sensor) -> Reader:
    """What reads the truth of a sensor of another package."""
    own: Any = getattr(sensor, "reader", None)
    if own is None:
        raise TypeError(f"{type(sensor).__name__}: nothing reads it; give it a reader(bench)")
    return own(bench)
