"""Sensors of a bench: sampled when they are due, and what has come of it by a moment.

What they keep is in the block "sensor" of the state (engine/system/sensing.py), so that snapshots, replays and batches
have it; noise follows from seed, name, world and the number of the sample (`noise`). Values that are no numbers are
kept as numbers: a state is finite.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.errors import StepError
from ..author.rotations import conjugate, multiply_all, rotate_all
from ..author.sensing import Mounted
from ..author.sensors import Camera, Channel, Encoder, ForceTorque, Gps, Imu, Lidar, OnBody, Proximity, Sensor, Touch
from ..engine.system.sensing import sensor_rows
from .gps import Receiver
from .moment import Moment
from .noise import Noise
from .pictures import Film

if TYPE_CHECKING:
    from .bench import Bench

MISSING, INFINITE = -1e308, 1e308  # kept for NaN and infinity
WHITE, WALK, LOST = 0, 2, 4  # streams of noise
SAME = 1e-9  # of a period: so near is there [1]
Reader = Callable[[Moment], np.ndarray]  # what is measured [channel, world]


class Device:
    """A sensor in a bench."""

    def __init__(self, bench: "Bench", part: Mounted, rows: slice):
        self.name, self.sensor, self.rows = part.name, part.sensor, rows
        self.channels: list[Channel] = part.sensor.channels()
        self.units = [channel.unit for channel in self.channels]
        self._bench, self._n = bench, len(self.channels)
        worlds, owner = bench.system.counts.worlds, f"sensor '{part.name}'"
        errors = {name: part.sensor.each(owner, name)[:, None] for name in ("bias", "walk", "quantum", "limit")}
        self._bias, self._limit = errors["bias"], errors["limit"]
        self._step = errors["walk"] / math.sqrt(part.sensor.rate)
        noise, density = (part.sensor.each(owner, name)[:, None] for name in ("noise", "density"))
        self._sigma = np.sqrt(noise**2 + density**2 * part.sensor.rate)
        self._quantum = errors["quantum"]
        self._noise = Noise(part.sensor.seed, part.name, worlds)
        self._receiver = Receiver(bench, part.sensor, part.name) if isinstance(part.sensor, Gps) else None
        self._read: Reader | None = None if self._receiver else reader_of(bench, part.sensor)
        if isinstance(part.sensor, Encoder):
            self._count_coordinate(part.sensor)

    def _count_coordinate(self, sensor: Encoder) -> None:
        """Counts and units by whether the coordinate turns or slides."""
        unit = self._bench.readout.coordinate_units[encoder_row(self._bench, sensor)]
        self.units = [unit, f"{unit}/s"]
        if sensor.counts:
            self._quantum[0] = (2.0 * math.pi if unit == "rad" else 1.0) / sensor.counts

    @property
    def period(self) -> float:
        """Between two samples [s]."""
        return 1.0 / self.sensor.rate

    # sampling -------------------------------------------------------------------------------------

    def sample(self, now: Moment, t: float, block: np.ndarray) -> None:
        """Take the sample of a time [s] into the block."""
        own, n, memory = block[self.rows], self._n, self.sensor.memory
        k = round(t * self.sensor.rate)
        walk = own[1 : 1 + n]
        if self._step.any():
            walk += self._step * self._noise.normal(k, WALK, n)
        if self._receiver is not None:
            values, valid = self._receiver.sample(now, k, t, own[1 + n : 1 + n + memory])
        else:
            values, valid = self._err(self._measured(now, t), walk, k), np.ones(block.shape[1], bool)
        if isinstance(self.sensor, Encoder) and not self.sensor.tachometer:
            self._difference(values, own[1 + n : 1 + n + memory])
        kept = self._noise.uniform(k, LOST, 1)[0] >= self.sensor.dropout
        values = np.where(np.isnan(values), MISSING, np.clip(values, -INFINITE, INFINITE))
        ring = own[1 + n + memory :].reshape(self.sensor.depth, 2 + n, -1)
        place, worlds = own[0].astype(int) % self.sensor.depth, np.flatnonzero(kept)
        ring[place[worlds], 0, worlds] = valid[worlds]
        ring[place[worlds], 1, worlds] = t
        ring[place[worlds], 2:, worlds] = values[:, worlds].T
        own[0] += kept

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

    def _err(self, values: np.ndarray, walk: np.ndarray, k: int) -> np.ndarray:
        """What is measured with errors."""
        values = values + self._bias + walk
        if self._sigma.any():
            values = values + self._sigma * self._noise.normal(k, WHITE, self._n)
        if self._quantum.any():
            step = np.where(self._quantum > 0.0, self._quantum, 1.0)
            values = np.where(self._quantum > 0.0, step * np.round(values / step), values)
        if not np.isinf(self._limit).all():
            values = np.clip(values, -self._limit, self._limit)
        if isinstance(self.sensor, Lidar | Camera):
            far = values[: getattr(self.sensor, "pixels", self._n)]
            far[far > self.sensor.reach] = np.inf
        return values

    def _difference(self, values: np.ndarray, memory: np.ndarray) -> None:
        """The rate of a coordinate by its samples; of the first there is none."""
        before = memory[1] > 0.0
        values[1] = np.where(before, (values[0] - memory[0]) * self.sensor.rate, 0.0)
        memory[0], memory[1] = values[0], 1.0

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
        block, now = self._bench.state.read("sensor"), Moment(self._bench)
        for device in due:
            device.sample(now, t, block)
        self._bench.state.write("sensor", block)

    def read(self) -> np.ndarray:
        """What has come of all sensors by now [channel, world]."""
        t, block = float(self._bench.state.read("time")[0, 0]), self._bench.state.read("sensor")
        found = [device.newest(t, block)[0] for device in self.devices.values()]
        return np.concatenate(found) if found else np.zeros((0, self._bench.system.counts.worlds))


# what is measured ---------------------------------------------------------------------------------


def reader_of(bench: "Bench", sensor: Sensor) -> Reader:
    """What reads a sensor's truth; one of another package brings its own."""
    own: Any = getattr(sensor, "reader", None)
    if own is not None:
        return own(bench)
    if type(sensor) not in READERS:
        raise TypeError(f"{type(sensor).__name__}: nothing reads it; give it a reader(bench)")
    return READERS[type(sensor)](bench, sensor)


def encoder_row(bench: "Bench", sensor: Encoder) -> int:
    """The coordinate that an encoder counts."""
    rows = bench.readout.rows[sensor.joint]
    names = [bench.readout.coordinates[row] for row in rows]
    wanted = f"{sensor.joint}.{sensor.coordinate}"
    return rows[names.index(wanted)] if len(rows) > 1 else rows[0]


def _encoder(bench: "Bench", sensor: Encoder) -> Reader:
    row = encoder_row(bench, sensor)
    return lambda now: np.stack([now.freedoms[0][row], now.freedoms[1][row]])


def _pose(bench: "Bench", sensor: OnBody) -> tuple[int, Callable[[], tuple[np.ndarray, np.ndarray, np.ndarray]]]:
    """Body, and what gives the sensor's place [world, 3], its orientation and its arm, in the world."""
    body, at = bench.system.body_index.get(sensor.body, -1), np.asarray(sensor.at, float)
    turn = np.asarray(sensor.orientation, float)
    worlds = bench.system.counts.worlds

    def pose() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if body < 0:
            return np.tile(at, (worlds, 1)), np.tile(turn, (worlds, 1)), np.tile(at, (worlds, 1))
        p, q = bench.read("p_WB")[body], bench.read("q_WB")[body]
        arm = rotate_all(q, at)
        return p + arm, multiply_all(q, turn), arm

    return body, pose


def _imu(bench: "Bench", sensor: Imu) -> Reader:
    body, pose = _pose(bench, sensor)

    def read(now: Moment) -> np.ndarray:
        _, q, r = pose()
        back, g = conjugate(q), bench.system.parameter("gravity")[0]
        if body < 0:
            a, w = np.zeros_like(r), np.zeros_like(r)
        else:
            A, w = now.accelerations[body], bench.read("twist")[body][:, :3]
            a = A[:, 3:] + np.cross(A[:, :3], r) + np.cross(w, np.cross(w, r))
        return np.concatenate([rotate_all(back, a - g).T, rotate_all(back, w).T])

    return read


def _force_torque(bench: "Bench", sensor: ForceTorque) -> Reader:
    joint = bench.system.model.joints[sensor.joint]
    row = list(bench.system.model.joints).index(sensor.joint)
    body = bench.system.body_index.get(joint.second, -1)
    still = np.tile([0.0, 0.0, 0.0, 1.0], (bench.system.counts.worlds, 1))

    def read(now: Moment) -> np.ndarray:
        torque, force = now.reactions[0][row][:, :3], now.reactions[0][row][:, 3:]
        q = still if body < 0 else bench.read("q_WB")[body]
        if sensor.at is not None:  # τ_Q = τ_M + p_QM × f
            torque = torque + np.cross(rotate_all(q, np.asarray(joint.p_CM, float) - sensor.at), force)
        if sensor.frame == "body":
            force, torque = (rotate_all(conjugate(q), x) for x in (force, torque))
        return np.concatenate([force.T, torque.T])

    return read


def _touch(bench: "Bench", sensor: Touch) -> Reader:
    body = bench.system.body_index.get(sensor.body, -1)
    return lambda now: (np.linalg.norm(now.contact_forces[body], axis=-1) > sensor.threshold).astype(float)[None]


def _rays_of(bench: "Bench", sensor: OnBody, rays: np.ndarray) -> Callable[[], np.ndarray]:
    """Distances along rays of the sensor's frame [ray, world]."""
    body, pose = _pose(bench, sensor)
    caster, worlds = bench.rays, bench.system.counts.worlds

    def cast() -> np.ndarray:
        p, q, _ = pose()
        d = np.stack([rotate_all(q, np.tile(ray, (worlds, 1))) for ray in rays]) if worlds > 1 else None
        if d is None:
            d = rotate_all(np.tile(q[0], (len(rays), 1)), rays)[:, None]
        return caster.cast(np.repeat(p[None], len(rays), axis=0), d, body)[0]

    return cast


def _lidar(bench: "Bench", sensor: Lidar) -> Reader:
    cast = _rays_of(bench, sensor, sensor.rays())
    return lambda now: cast()


def _proximity(bench: "Bench", sensor: Proximity) -> Reader:
    cast = _rays_of(bench, sensor, np.array([[1.0, 0.0, 0.0]]))
    return lambda now: (cast() < sensor.distance).astype(float)


def _camera(bench: "Bench", sensor: Camera) -> Reader:
    body, pose = _pose(bench, sensor)
    film = Film(bench, sensor)
    return lambda now: film.expose(body, *pose()[:2])


READERS: dict[type, Callable[[Any, Any], Reader]] = {
    Encoder: _encoder,
    Imu: _imu,
    ForceTorque: _force_torque,
    Touch: _touch,
    Lidar: _lidar,
    Camera: _camera,
    Proximity: _proximity,
}
