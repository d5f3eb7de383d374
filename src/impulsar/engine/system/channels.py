"""Input channels: scalar functions of time that motors, loads and hands follow, read in the kernels."""

from collections.abc import Callable, Sequence

import numpy as np
import warp as wp

from ...author.errors import ModelError
from ...author.profiles import Component, Formula, Harmonic, Ramp, Scalar, Smooth, Table
from ..spatial import HALF, ONE, ZERO, f64
from .arrays import SystemArrays

CONSTANT, RAMP, HARMONIC, TABLE, SMOOTH = 0, 1, 2, 3, 4
GAUSS = wp.constant(wp.float64(0.7745966692414834))  # √(3/5): three points are exact up to degree 5
CALLABLE_STEPS = 256  # a callable is sampled ahead for at most so many steps of one launch


@wp.func
def smooth_share(m: wp.ref[SystemArrays], c: int, t: f64, w: int) -> f64:
    """u = (t - t0) / (t1 - t0) of a smooth channel, 0 to 1."""
    t0 = m.channel_c[c, w]
    return wp.clamp((t - t0) / (m.channel_d[c, w] - t0), ZERO, ONE)


@wp.func(inline=False)
def smooth_value(m: wp.ref[SystemArrays], c: int, t: f64, w: int) -> f64:
    """From a to b over c .. d by s = u³ (10 - 15 u + 6 u²)."""
    u = smooth_share(m, c, t, w)
    s = u * u * u * (f64(10.0) - u * (f64(15.0) - f64(6.0) * u))
    return (ONE - s) * m.channel_a[c, w] + s * m.channel_b[c, w]


@wp.func(inline=False)
def smooth_mean(m: wp.ref[SystemArrays], c: int, start: f64, end: f64, w: int) -> f64:
    """Mean of a smooth channel over start .. end, by Gauss's three points between its knots."""
    rise = wp.clamp(m.channel_c[c, w], start, end)
    rest = wp.clamp(m.channel_d[c, w], start, end)
    middle = HALF * (rise + rest)
    off = HALF * GAUSS * (rest - rise)
    inner = f64(5.0) * (smooth_value(m, c, middle - off, w) + smooth_value(m, c, middle + off, w))
    inner = (inner + f64(8.0) * smooth_value(m, c, middle, w)) / f64(18.0)
    total = (rise - start) * m.channel_a[c, w] + (rest - rise) * inner
    return (total + (end - rest) * m.channel_b[c, w]) / (end - start)


@wp.func(inline=False)
def channel(m: wp.ref[SystemArrays], c: int, t: f64, w: int) -> f64:
    """Value of channel c at time t."""
    kind = m.channel_kind[c]
    a = m.channel_a[c, w]
    if kind == RAMP:  # from a to b over c .. d
        t0 = m.channel_c[c, w]
        u = wp.clamp((t - t0) / (m.channel_d[c, w] - t0), ZERO, ONE)
        return (ONE - u) * a + u * m.channel_b[c, w]
    if kind == SMOOTH:
        return smooth_value(m, c, t, w)
    if kind == HARMONIC:  # a + b sin(c t + d)
        return a + m.channel_b[c, w] * wp.sin(m.channel_c[c, w] * t + m.channel_d[c, w])
    if kind == TABLE:
        low = m.table_start[c]
        high = m.table_end[c] - 1
        if t < m.table_time[low]:
            return m.table_value[low]
        if t >= m.table_time[high]:
            return m.table_value[high]
        while high - low > 1:  # time[low] <= t < time[high]
            middle = (low + high) // 2
            if m.table_time[middle] <= t:
                low = middle
            else:
                high = middle
        u = (t - m.table_time[low]) / (m.table_time[high] - m.table_time[low])
        return (ONE - u) * m.table_value[low] + u * m.table_value[high]
    return a


@wp.func
def channel_rate(m: wp.ref[SystemArrays], c: int, t: f64, w: int) -> f64:
    """Rate of change of channel c after time t."""
    kind = m.channel_kind[c]
    if kind == RAMP:
        t0 = m.channel_c[c, w]
        t1 = m.channel_d[c, w]
        if t >= t0 and t < t1:
            return (m.channel_b[c, w] - m.channel_a[c, w]) / (t1 - t0)
    if kind == SMOOTH:
        u = smooth_share(m, c, t, w)
        v = u * (ONE - u)
        return f64(30.0) * v * v * (m.channel_b[c, w] - m.channel_a[c, w]) / (m.channel_d[c, w] - m.channel_c[c, w])
    if kind == HARMONIC:
        omega = m.channel_c[c, w]
        return m.channel_b[c, w] * omega * wp.cos(omega * t + m.channel_d[c, w])
    if kind == TABLE:
        for k in range(m.table_start[c], m.table_end[c] - 1):
            if t >= m.table_time[k] and t < m.table_time[k + 1]:
                return (m.table_value[k + 1] - m.table_value[k]) / (m.table_time[k + 1] - m.table_time[k])
    return ZERO


@wp.func
def channel_acceleration(m: wp.ref[SystemArrays], c: int, t: f64, w: int) -> f64:
    """Second derivative of channel c: that of a harmonic or a smooth way, ramps and tables are pieces of lines."""
    if m.channel_kind[c] == SMOOTH:
        u = smooth_share(m, c, t, w)
        span = m.channel_d[c, w] - m.channel_c[c, w]
        bend = f64(60.0) * u * (ONE - u) * (ONE - f64(2.0) * u)
        return bend * (m.channel_b[c, w] - m.channel_a[c, w]) / (span * span)
    if m.channel_kind[c] == HARMONIC:
        omega = m.channel_c[c, w]
        return -m.channel_b[c, w] * omega * omega * wp.sin(omega * t + m.channel_d[c, w])
    return ZERO


@wp.func
def just_before(t: f64) -> f64:
    """The last instant before t: what bends or jumps at t has its old rate and value there."""
    return t - f64(4e-16) * wp.abs(t)


@wp.func
def table_mean(m: wp.ref[SystemArrays], c: int, start: f64, end: f64) -> f64:
    """Mean of a table over start .. end: each piece of a line has the mean of its middle."""
    first = m.table_start[c]
    last = m.table_end[c] - 1
    at = start
    total = ZERO
    if at < m.table_time[first]:
        stop = wp.min(m.table_time[first], end)
        total += (stop - at) * m.table_value[first]
        at = stop
    for k in range(first, last):
        stop = wp.min(m.table_time[k + 1], end)
        if stop > at:
            u = (HALF * (at + stop) - m.table_time[k]) / (m.table_time[k + 1] - m.table_time[k])
            total += (stop - at) * ((ONE - u) * m.table_value[k] + u * m.table_value[k + 1])
            at = stop
    return (total + (end - at) * m.table_value[last]) / (end - start)


@wp.func(inline=False)
def channel_mean(m: wp.ref[SystemArrays], c: int, t: f64, h: f64, w: int) -> f64:
    """Mean of channel c over t .. t + h, exact across bends and jumps; its value at t where h = 0."""
    kind = m.channel_kind[c]
    a = m.channel_a[c, w]
    end = t + h
    if kind == CONSTANT:
        return a
    if end <= t:
        return channel(m, c, t, w)
    if kind == HARMONIC:
        half = HALF * m.channel_c[c, w] * h
        part = ONE - half * half / f64(6.0)  # sin(half) / half
        if wp.abs(half) > f64(1e-4):
            part = wp.sin(half) / half
        return a + m.channel_b[c, w] * part * wp.sin(m.channel_c[c, w] * (t + HALF * h) + m.channel_d[c, w])
    if kind == RAMP:
        rise = wp.clamp(m.channel_c[c, w], t, end)
        rest = wp.clamp(m.channel_d[c, w], t, end)
        total = (rise - t) * a + (rest - rise) * channel(m, c, HALF * (rise + rest), w)
        return (total + (end - rest) * m.channel_b[c, w]) / (end - t)
    if kind == SMOOTH:
        return smooth_mean(m, c, t, end, w)
    return table_mean(m, c, t, end)


@wp.func(inline=False)
def next_knot(m: wp.ref[SystemArrays], t: f64, end: f64, w: int) -> f64:
    """The first time in (t, end) at which a channel bends or jumps (a smooth one in its jerk), else end."""
    knot = end
    least = t + f64(1e-9) * (end - t)
    for c in range(m.channel_kind.shape[0]):
        kind = m.channel_kind[c]
        if kind == RAMP or kind == SMOOTH:
            for bend in range(2):
                at = m.channel_c[c, w]
                if bend == 1:
                    at = m.channel_d[c, w]
                if at > least and at < knot:
                    knot = at
        elif kind == TABLE:
            for k in range(m.table_start[c], m.table_end[c]):
                at = m.table_time[k]
                if at > least and at < knot:
                    knot = at
    return knot


@wp.func(inline=False)
def snap_to_knot(m: wp.ref[SystemArrays], t: f64, reach: f64, w: int) -> f64:
    """A bend or jump within reach of time t, else t: a summed clock may stop just short of it."""
    knot = next_knot(m, t - reach, t + reach, w)
    if knot < t + reach:
        return knot
    return t


class InputError(ModelError):
    """A callable of time that raised, or gave something else than finite numbers: whose, when and what."""


def encoded(item: Scalar) -> tuple[int, tuple]:
    """Kind of a channel and what its a, b, c, d are, each a number or one per world; of a table none."""
    if isinstance(item, Ramp):
        return RAMP, (item.start, item.end, item.t0, item.t1)
    if isinstance(item, Smooth):
        return SMOOTH, (item.start, item.end, item.t0, item.t1)
    if isinstance(item, Harmonic):
        return HARMONIC, (item.mean, item.amplitude, item.omega, item.phase)
    if isinstance(item, Table | Component | Formula):
        return TABLE, ()
    return CONSTANT, (item,)


class Channels:
    """The channels of a system on the host, written to the device when they change."""

    def __init__(self, items: Sequence[Scalar], worlds: int, device: str, owner: Callable[[int], str]):
        self.items: list[Scalar] = list(items)
        self.owner = owner  # what a channel is of, in words
        self.worlds = worlds
        self.device = device
        self.callables: list[tuple[int, Component]] = []

    def write(self, arrays: SystemArrays) -> None:
        """Encode every channel into fresh device arrays."""
        n = len(self.items)
        kind = np.zeros(n, np.int32)
        start, end = np.zeros(n, np.int32), np.zeros(n, np.int32)
        numbers = np.zeros((4, n, self.worlds))
        times: list[float] = []
        values: list[float] = []
        self.callables = []
        for c, item in enumerate(self.items):
            kind[c], own = encoded(item)
            for k, value in enumerate(own):
                numbers[k, c] = value
            if isinstance(item, Table | Component | Formula):
                start[c] = len(times)
                if not isinstance(item, Table):
                    self.callables.append((c, Component(item, 0, 1) if isinstance(item, Formula) else item))
                    times += [0.0] * (CALLABLE_STEPS + 1)
                    values += [0.0] * (CALLABLE_STEPS + 1)
                else:
                    times += item.times
                    values += [float(value) for value in item.values]  # type: ignore[arg-type]
                end[c] = len(times)
        device = self.device
        arrays.channel_kind = wp.array(kind, dtype=wp.int32, device=device)
        for name, block in zip(("channel_a", "channel_b", "channel_c", "channel_d"), numbers, strict=True):
            setattr(arrays, name, wp.array(block, dtype=f64, device=device))
        arrays.table_start = wp.array(start, dtype=wp.int32, device=device)
        arrays.table_end = wp.array(end, dtype=wp.int32, device=device)
        arrays.table_time = wp.array(np.array(times or [0.0]), dtype=f64, device=device)
        arrays.table_value = wp.array(np.array(values or [0.0]), dtype=f64, device=device)

    def put(self, arrays: SystemArrays, rows: Sequence[int], items: Sequence[Scalar]) -> bool:
        """Set some channels. True: the kernels' arrays were replaced, where one is of another kind than before."""
        new = [encoded(item) for item in items]
        kinds = arrays.channel_kind.numpy()
        for c, item in zip(rows, items, strict=True):
            self.items[c] = item
        if any(kind == TABLE or kind != kinds[c] for c, (kind, _) in zip(rows, new, strict=True)):
            self.write(arrays)
            return True
        most = max(len(numbers) for _, numbers in new)
        for k, name in enumerate(("channel_a", "channel_b", "channel_c", "channel_d")[:most]):
            array = getattr(arrays, name)
            data = array.numpy()
            for c, (_, numbers) in zip(rows, new, strict=True):
                if k < len(numbers):
                    data[c] = numbers[k]
            if not array.device.is_cpu:
                array.assign(data)
        return False

    def sample(self, c: int, function: Component, t: float) -> float:
        """What a channel's callable gives at a time [s], or an InputError that says whose it is."""
        is_formula = isinstance(function.function, Formula)
        told = f"{{}}: its {'formula' if is_formula else 'callable'} {{}} at t = {{:.9g}} s; "
        told += "correct it, or replace or remove it by an edit"
        try:
            given = function.function(float(t))
        except Exception as error:
            raised = str(error) if is_formula else f"raised {type(error).__name__}: {error}"
            raise InputError(told.format(self.owner(c), raised, t)) from error
        try:
            return function.read(given)
        except ValueError as error:
            raise InputError(told.format(self.owner(c), error, t)) from error

    def silence(self, first: int, count: int) -> bool:
        """Put 0 in the place of callables, which nobody is to call any more; True if there was one."""
        found = [c for c in range(first, first + count) if isinstance(self.items[c], Component | Formula)]
        for c in found:
            self.items[c] = 0.0
        return bool(found)

    def sample_callables(self, arrays: SystemArrays, t: float, h: float, steps: int) -> None:
        """Evaluate the callables at the ends of the next steps; between them they are linear."""
        time, value = arrays.table_time.numpy(), arrays.table_value.numpy()
        start = arrays.table_start.numpy()
        # t, t + h, ... added up as the kernel does it; the last sample is held to the end of the table
        at = np.cumsum([t, *[h] * steps])
        if steps > CALLABLE_STEPS:  # one nominal step of very many: evenly spread, the end among them
            at = at[np.linspace(0, steps, CALLABLE_STEPS + 1).astype(int)]
        held = CALLABLE_STEPS + 1 - len(at)
        for c, function in self.callables:
            samples = [self.sample(c, function, ti) for ti in at]
            rows = slice(start[c], start[c] + CALLABLE_STEPS + 1)
            time[rows] = [*at, *[at[-1]] * held]
            value[rows] = [*samples, *[samples[-1]] * held]
        if not arrays.table_time.device.is_cpu:
            arrays.table_time.assign(time)
            arrays.table_value.assign(value)
