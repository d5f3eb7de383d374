"""Samples on the device: errors of sensors, the ring that keeps what they gave, and what has come of it by a time.

The host launches these kernels between two launches of steps, a relay launches them between two steps of one
(engine/relay.py): the same kernels, so the same bits. Noise is that of `noise`, number by number.

    x ← x + bias + walk + σ n        x ← quantum ⌊x / quantum⌉        x ← min(max(x, -limit), limit)
"""

import warp as wp

from ..engine.spatial import HALF, ONE, ZERO, f64
from ..engine.state import StateArrays
from .noise import FIRST as FIRST_
from .noise import GAMMA as GAMMA_
from .noise import SECOND as SECOND_
from .noise import SPREAD, STREAMS

MISSING, INFINITE = -1e308, 1e308  # kept for NaN and infinity: a state is finite
WHITE, WALK, LOST = 0, 2, 4  # streams of noise
SAME = 1e-9  # of a period: so near is there [1]
NOTHING = wp.constant(wp.float64(MISSING))
BEYOND = wp.constant(wp.float64(INFINITE))
ENDLESS = wp.constant(wp.float64(1e300))  # of a ray that strikes nothing
GAMMA, FIRST, SECOND = (wp.constant(wp.uint64(int(x))) for x in (GAMMA_, FIRST_, SECOND_))
UNIT = wp.constant(wp.float64(2.0**-53))
TURN = wp.constant(wp.float64(6.283185307179586))
EACH = wp.constant(wp.uint64(STREAMS))
WIDE = wp.constant(wp.uint64(SPREAD))


@wp.struct
class Errors:
    """How one sensor errs, and how it keeps its samples."""

    bias: wp.array(dtype=f64)  # [channel]
    walk: wp.array(dtype=f64)  # [channel] standard deviation of a step of the bias
    sigma: wp.array(dtype=f64)  # [channel]
    quantum: wp.array(dtype=f64)  # [channel] 0: none
    limit: wp.array(dtype=f64)  # [channel]
    key: wp.array(dtype=wp.uint64)  # [world] of the noise
    rate: f64  # [Hz]
    dropout: f64
    latency: f64  # [s]
    near: f64  # a sample that comes so much later has come [s]
    reach: f64  # of distances [m]
    seen: f64  # beyond it a distance is infinite before it errs [m]
    distances: wp.int32  # how many of the channels are such
    is_exact: wp.int32  # 1: what is measured has its errors already
    differs: wp.int32  # 1: the second channel is the difference of two samples of the first
    memory: wp.int32  # numbers that it keeps besides
    depth: wp.int32  # of the ring


@wp.func
def mix(x: wp.uint64) -> wp.uint64:
    y = (x ^ (x >> wp.uint64(30))) * FIRST
    y = (y ^ (y >> wp.uint64(27))) * SECOND
    return y ^ (y >> wp.uint64(31))


@wp.func
def uniform(key: wp.uint64, sample: wp.uint64, stream: int, number: int) -> f64:
    """Between 0 and 1, neither of them."""
    counter = (sample * EACH + wp.uint64(stream)) * WIDE + wp.uint64(number)
    x = mix(mix(key + GAMMA * counter) + GAMMA)
    return (f64(x >> wp.uint64(11)) + HALF) * UNIT


@wp.func
def normal(key: wp.uint64, sample: wp.uint64, stream: int, number: int) -> f64:
    """Of mean 0 and variance 1; takes this stream and the next."""
    u = uniform(key, sample, stream, number)
    v = uniform(key, sample, stream + 1, number)
    return wp.sqrt(f64(-2.0) * wp.log(u)) * wp.cos(TURN * v)


@wp.func
def number_of(e: Errors, t: f64) -> wp.uint64:
    """Which sample is taken at a time [s]."""
    return wp.uint64(wp.int64(wp.rint(t * e.rate)))


@wp.kernel(enable_backward=False)
def err_kernel(
    # model
    e: Errors,
    # state in
    s: StateArrays,
    # out
    value: wp.array2d(dtype=f64),  # [channel, world] what is measured, then the same with errors
    own: wp.array2d(dtype=f64),  # [number, world] what the sensor keeps
):
    """What is measured with errors."""
    c, w = wp.tid()
    k = number_of(e, s.time[0, w])
    if e.walk[c] != ZERO:
        own[1 + c, w] = own[1 + c, w] + e.walk[c] * normal(e.key[w], k, WALK, c)
    if e.is_exact != 0:
        return
    x = value[c, w]
    if c < e.distances and x > e.seen:
        x = f64(wp.inf)
    x = x + e.bias[c] + own[1 + c, w]
    if e.sigma[c] != ZERO:
        x = x + e.sigma[c] * normal(e.key[w], k, WHITE, c)
    if e.quantum[c] > ZERO:
        x = e.quantum[c] * wp.rint(x / e.quantum[c])
    x = wp.min(wp.max(x, -e.limit[c]), e.limit[c])
    if c < e.distances and x > e.reach:
        x = f64(wp.inf)
    value[c, w] = x


@wp.kernel(enable_backward=False)
def keep_kernel(
    # model
    e: Errors,
    valid: wp.array(dtype=f64),  # [world] 1, or 0: there was nothing to give
    # state in
    s: StateArrays,
    value: wp.array2d(dtype=f64),  # [channel, world]
    # out
    own: wp.array2d(dtype=f64),  # [number, world]
):
    """Take a sample into the ring, unless it is lost."""
    w = wp.tid()
    t = s.time[0, w]
    n = value.shape[0]
    if e.differs != 0:
        value[1, w] = ZERO  # of the first there is none
        if own[2 + n, w] > ZERO:
            value[1, w] = (value[0, w] - own[1 + n, w]) * e.rate
        own[1 + n, w] = value[0, w]
        own[2 + n, w] = ONE
    if uniform(e.key[w], number_of(e, t), LOST, 0) < e.dropout:
        return
    at = 1 + n + e.memory + (int(own[0, w]) % e.depth) * (2 + n)
    own[at, w] = valid[w]
    own[at + 1, w] = t
    for c in range(n):
        x = value[c, w]
        if wp.isnan(x):
            own[at + 2 + c, w] = NOTHING
        else:
            own[at + 2 + c, w] = wp.min(wp.max(x, -BEYOND), BEYOND)
    own[0, w] = own[0, w] + ONE


@wp.kernel(enable_backward=False)
def come_kernel(
    # model
    e: Errors,
    first: wp.int32,  # row of the sensor's first channel
    channels: wp.int32,
    # state in
    s: StateArrays,
    own: wp.array2d(dtype=f64),  # [number, world]
    # out
    come: wp.array2d(dtype=f64),  # [channel of all sensors, world]
):
    """What has come of a sensor by now: the newest sample that is old enough; NaN where there is none."""
    w = wp.tid()
    count = int(own[0, w])
    at = int(-1)
    for back in range(wp.min(count, e.depth)):
        place = 1 + channels + e.memory + ((count - 1 - back) % e.depth) * (2 + channels)
        if at < 0 and own[place + 1, w] + e.latency <= s.time[0, w] + e.near:
            at = place
    for c in range(channels):
        x = f64(wp.nan)
        if at >= 0:
            x = own[at + 2 + c, w]
            if x == NOTHING:
                x = f64(wp.nan)
            elif x >= BEYOND:
                x = f64(wp.inf)
        come[first + c, w] = x


@wp.kernel(enable_backward=False)
def copy_kernel(given: wp.array2d(dtype=f64), taken: wp.array2d(dtype=f64)):
    """The rows of a state that another has too."""
    i, w = wp.tid()
    taken[i, w] = given[i, w]
