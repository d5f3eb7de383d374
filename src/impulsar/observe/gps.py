"""GPS: the nominal 24 satellites, what a receiver sees of them, and its fix.

Circular orbits of radius A at 55°, by the slots of the SPS Performance Standard 2001, table 3-1, from 1993-07-01
00:00 Z on: with u = u0 + n t and λ = Ω - GHA - ω_E t,

    r = A (cos u cos λ - sin u cos i sin λ, cos u sin λ + sin u cos i cos λ, sin u sin i)

A pseudo-range is |s - r| + clock + what errs slowly by satellite (Gauss-Markov) + reflections + noise. The Earth's turn
while the signal travels is in neither truth nor solver. Where a wall reflects a signal, the excess path is δ = L (1 -
e·e'), L the way to the wall along the mirrored direction e'; where the direct ray is blocked too, all of it is error;
else, below half a chip, α δ cos ψ / (1 + α cos ψ) with ψ = 2 π δ / λ + π (Kaplan, Hegarty 2006 ch. 6).
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..author.rotations import rotate_all
from ..author.sensors import SATELLITES, Gps
from .moment import Moment
from .noise import Noise

if TYPE_CHECKING:
    from .bench import Bench

GM, TURN = 3.986005e14, 7.2921151467e-5  # [m³/s²], ω_E [rad/s]
EARTH, FLAT = 6378137.0, 1 / 298.257223563  # WGS 84
E2 = FLAT * (2 - FLAT)
RADIUS, TILT, GHA = 26559.7e3, math.radians(55.0), math.radians(279.06)
PLANES = {"A": 272.847, "B": 332.847, "C": 32.847, "D": 92.847, "E": 152.847, "F": 212.847}
SLOTS = {
    "A": (268.126, 161.786, 11.676, 41.806),
    "B": (80.956, 173.336, 309.976, 204.376),
    "C": (111.876, 11.796, 339.666, 241.556),
    "D": (135.226, 265.446, 35.156, 167.356),
    "E": (197.046, 302.596, 66.066, 333.686),
    "F": (238.886, 345.226, 105.206, 135.346),
}
NAMES = tuple(f"{plane}{k + 1}" for plane in PLANES for k in range(4))
WAVE, HALF_CHIP = 0.1903, 146.5  # of L1, and of the C/A code [m]
CLOCK, DRIFT = 0.095, 0.19  # a crystal's: steps of its bias [m/√s] and of its drift [m/s/√s] (Brown, Hwang)
LEAST = 4  # satellites of a fix
WHITE, SLOW, OF_CLOCK = 6, 8, 10  # streams of noise


def constellation(t: float) -> np.ndarray:
    """Where the satellites are in Earth-fixed axes at a time since the epoch [s]: [satellite, 3] [m]."""
    u = np.radians([x for plane in PLANES for x in SLOTS[plane]]) + math.sqrt(GM / RADIUS**3) * t
    turn = np.repeat(np.radians(list(PLANES.values())), 4) - GHA - TURN * t
    x, y = np.cos(u), np.sin(u) * math.cos(TILT)
    return RADIUS * np.stack(
        [x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn), np.sin(u) * math.sin(TILT)], axis=1
    )


def geodetic(latitude: float, longitude: float, height: float) -> tuple[np.ndarray, np.ndarray]:
    """A place of the Earth [rad, rad, m]: Earth-fixed position [m], and rows east, north and up."""
    sin, cos = math.sin(latitude), math.cos(latitude)
    east, west = math.sin(longitude), math.cos(longitude)
    N = EARTH / math.sqrt(1 - E2 * sin**2)
    place = np.array([(N + height) * cos * west, (N + height) * cos * east, (N * (1 - E2) + height) * sin])
    axes = np.array([[-east, west, 0.0], [-sin * west, -sin * east, cos], [cos * west, cos * east, sin]])
    return place, axes


def geographic(place: np.ndarray) -> tuple[float, float, float]:
    """Latitude, longitude [rad] and height [m] of an Earth-fixed position, by Bowring's start and fixed-point steps."""
    x, y, z = place
    p = math.hypot(x, y)
    latitude = math.atan2(z, p * (1 - E2))
    for _ in range(6):
        N = EARTH / math.sqrt(1 - E2 * math.sin(latitude) ** 2)
        latitude = math.atan2(z + E2 * N * math.sin(latitude), p)
    sin, cos = math.sin(latitude), math.cos(latitude)
    N = EARTH / math.sqrt(1 - E2 * sin**2)
    return latitude, math.atan2(y, x), p * cos + z * sin - N * (1 - E2 * sin**2)


def axes_of(sensor: Gps) -> tuple[np.ndarray, np.ndarray]:
    """Where a receiver's world is: its origin in Earth-fixed axes [m], and rows: its x, y and z."""
    origin, enu = geodetic(math.radians(sensor.latitude), math.radians(sensor.longitude), sensor.height)
    cos, sin = math.cos(sensor.heading), math.sin(sensor.heading)
    return origin, np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]]) @ enu


@dataclass(frozen=True)
class Fix:
    """A place and the receiver's clock, by least squares."""

    place: np.ndarray  # Earth-fixed [m]
    clock: float  # [m]
    dops: np.ndarray  # gdop, pdop, hdop, vdop, along the axes given


def solve(satellites: np.ndarray, ranges: np.ndarray, axes: np.ndarray, start: np.ndarray) -> Fix | None:
    """The fix of pseudo-ranges [m]; None with fewer than four, or where they do not determine it."""
    if len(ranges) < LEAST:
        return None
    place, clock = start.copy(), 0.0
    for _ in range(12):
        way = satellites - place
        far = np.linalg.norm(way, axis=1)
        G = np.hstack([-way / far[:, None], np.ones((len(far), 1))])
        if np.linalg.matrix_rank(G) < LEAST:
            return None
        step = np.linalg.lstsq(G, ranges - far - clock, rcond=None)[0]
        place, clock = place + step[:3], clock + step[3]
        if np.linalg.norm(step[:3]) < 1e-6:
            break
    local = np.hstack([G[:, :3] @ axes.T, G[:, 3:]])
    Q = np.diag(np.linalg.inv(local.T @ local))
    return Fix(place, float(clock), np.sqrt([Q.sum(), Q[:3].sum(), Q[:2].sum(), Q[2]]))


class Receiver:
    """Reads a GPS receiver: its samples are made of pseudo-ranges, which have the noise."""

    def __init__(self, bench: "Bench", sensor: Gps, name: str):
        self._bench, self._sensor = bench, sensor
        self._body = bench.system.body_index.get(sensor.body, -1)
        self._noise = Noise(sensor.seed, name, bench.system.counts.worlds)
        self.origin, self.axes = axes_of(sensor)
        self._rays = bench.rays
        self._walls = self._rays.walls() if sensor.multipath > 0.0 else np.zeros((0, 3))
        self._sigma = float(np.ravel(sensor.noise)[0])

    def antenna(self) -> np.ndarray:
        """Where it is [world, 3] [m]."""
        worlds = self._bench.system.counts.worlds
        if self._body < 0:
            return np.tile(np.asarray(self._sensor.at, float), (worlds, 1))
        p, q = (self._bench.read(name)[self._body] for name in ("p_WB", "q_WB"))
        return p + rotate_all(q, np.asarray(self._sensor.at, float))

    def sight(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """At a time of the world [s]: satellites in the world [world, satellite, 3], which are seen directly, by how
        much a reflection is longer [m] (infinite: there is none), and how far each is [m]."""
        sensor, p = self._sensor, self.antenna()
        at = (constellation(sensor.time + t) - self.origin) @ self.axes.T
        way = at[None] - p[:, None]
        far = np.linalg.norm(way, axis=-1)
        e = way / far[..., None]
        up = e[..., 2] > math.sin(math.radians(sensor.mask))
        starts = np.repeat(p[None], SATELLITES, axis=0)
        free = np.isinf(self._rays.cast(starts, np.moveaxis(e, 1, 0), self._body)[0]).T
        excess = np.full(far.shape, np.inf)
        for n in self._walls:
            excess = np.minimum(excess, self._reflected(starts, e, n))
        return np.broadcast_to(at, (len(p), *at.shape)), up & free, np.where(up, excess, np.inf), far

    def _reflected(self, starts: np.ndarray, e: np.ndarray, n: np.ndarray) -> np.ndarray:
        """Excess path by walls of one normal [world, satellite] [m]."""
        facing = e @ n
        mirrored = e - 2.0 * facing[..., None] * n
        to_wall = np.moveaxis(mirrored, 1, 0)
        length, normal = self._rays.cast(starts, to_wall, self._body)
        strikes = np.isfinite(length) & (normal @ n > 1.0 - 1e-9) & (facing.T > 0.0)
        length = np.where(strikes, length, 0.0)
        point = starts + length[..., None] * to_wall + 1e-6 * n
        free = np.isinf(self._rays.cast(point, np.moveaxis(e, 1, 0), -1)[0])
        longer = length * (1.0 - np.einsum("swk,swk->sw", to_wall, np.moveaxis(e, 1, 0)))
        return np.where(strikes & free, longer, np.inf).T

    def sample(self, now: Moment, k: int, t: float, memory: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Channels [channel, world], NaN without a fix, and whether there is one; memory [number, world] goes on."""
        self._wander(k, memory)
        at, seen, excess, far = self.sight(t)
        worlds, alpha = len(far), self._sensor.multipath
        white = self._sigma * self._noise.normal(k, WHITE, SATELLITES).T
        reflected = np.isfinite(excess)
        longer = np.where(reflected, excess, 0.0)
        share = alpha * np.cos(2.0 * np.pi * longer / WAVE + np.pi)
        mixed = np.where(longer < HALF_CHIP, longer * share / (1.0 + share), 0.0)
        heard = seen | reflected
        late = np.where(seen, mixed, longer)
        ranges = far + memory[0][:, None] + memory[2:].T + late + white
        values, valid = np.full((9, worlds), np.nan), np.zeros(worlds, bool)
        for w in range(worlds):
            values[4, w] = heard[w].sum()
            fix = solve(at[w][heard[w]], ranges[w][heard[w]], np.eye(3), np.zeros(3))
            if fix is not None:
                values[:3, w], values[3, w], values[5:, w] = fix.place, fix.clock, fix.dops
                valid[w] = True
        return values, valid

    def _wander(self, k: int, memory: np.ndarray) -> None:
        """Let the clock and what errs slowly go on by one sample; before the first they are as after a long time."""
        sensor, step = self._sensor, 1.0 / self._sensor.rate
        drawn = self._noise.normal(k, SLOW, SATELLITES)
        keep = math.exp(-step / sensor.slow_time)
        fresh = ~memory[2:].any(axis=0)
        memory[2:] = np.where(
            fresh, sensor.slow * drawn, keep * memory[2:] + sensor.slow * math.sqrt(1.0 - keep**2) * drawn
        )
        if sensor.clock:
            b, d = self._noise.normal(k, OF_CLOCK, 2)
            memory[0] += memory[1] * step + CLOCK * math.sqrt(step) * b
            memory[1] += DRIFT * math.sqrt(step) * d
