"""Sines, cosines and angles as compiled text has them, and the numbers that both are made of.

    x = k π/2 + r, |r| <= π/4;  sin r and cos r by their series;  k says which of them, and its sign
    atan2(y, x) by r = min / max of |x| and |y|, or (min - max) / (min + max) beyond tan π/8:  r + r³ P(r²)

π/2 is taken off in three parts. The order of operations is that of the text (`emit_c`), so that the bits are, too: a
guard that is decided by rounding comes out at the sample as it does in the compiled step.
"""

import math
from collections.abc import Sequence

LARGEST = 1e6  # angle up to which the reduction is exact [rad]; beyond, the C library's
MAGIC = 6755399441055744.0  # 3 · 2^51: what is added to it is rounded to a whole number, in its last bits
TO_TURNS = 2.0 / math.pi
LAST = 18  # order of the last term of a series: all that matters below π/4


def _parts_of_half_pi() -> tuple[float, ...]:
    """π/2 as three numbers; the first two have 33 bits, so that small multiples are exact."""
    digits = 1570796326794896619231321691639751442098584699687552910487472296153908203143104499314  # π/2 · 10^84
    scale, parts = 10**84, []
    for bits in (33, 33, 53):
        shift = bits - 1 - math.floor(math.log2(digits / scale))
        whole = (digits << shift) // scale if shift >= 0 else digits // (scale << -shift)
        parts.append(math.ldexp(whole, -shift))
        digits -= whole * scale >> shift if shift >= 0 else whole * (scale << -shift)
    return tuple(parts)


def coefficients(first: int) -> list[float]:
    """± 1 / first!, ± 1 / (first + 2)!, ..."""
    orders = range(first, LAST + 1, 2)
    return [(1.0 if (order // 2) % 2 == 0 else -1.0) / math.factorial(order) for order in orders]


HALF_PI = _parts_of_half_pi()
_ODD, _EVEN = coefficients(3), coefficients(4)


def _sum(terms: Sequence[float], z: float) -> float:
    """Σ terms[k] z^k by Estrin's rule."""
    u = z * z
    pairs = [terms[k] + z * terms[k + 1] if k + 1 < len(terms) else terms[k] for k in range(0, len(terms), 2)]
    fours = [pairs[k] + u * pairs[k + 1] if k + 1 < len(pairs) else pairs[k] for k in range(0, len(pairs), 2)]
    total = fours[-1]
    for four in reversed(fours[:-1]):
        total = four + (u * u) * total
    return total


def sincos(x: float) -> tuple[float, float]:
    """Sine and cosine of an angle."""
    if not abs(x) <= LARGEST:
        return (math.sin(x), math.cos(x)) if math.isfinite(x) else (math.nan, math.nan)
    k = (x * TO_TURNS + MAGIC) - MAGIC
    r = ((x - k * HALF_PI[0]) - k * HALF_PI[1]) - k * HALF_PI[2]
    z = r * r
    half = 0.5 * z
    w = 1.0 - half
    a, b = r + r * z * _sum(_ODD, z), w + (((1.0 - w) - half) + z * z * _sum(_EVEN, z))
    n = int(k) & 3
    s, c = (b, a) if n & 1 else (a, b)
    return -s if n & 2 else s, -c if (n + 1) & 2 else c


def sine(x: float) -> float:
    return sincos(x)[0]


def cosine(x: float) -> float:
    return sincos(x)[1]


# (atan(√z) / √z - 1) / z at Chebyshev's nodes of 0 .. tan² π/8: z times what is left is below 7e-18
ANGLE = (
    *(-0.3333333333333333, 0.1999999999999552, -0.14285714284666542, 0.11111111015256292, -0.09090904578121085),
    *(0.07692183190760651, -0.0666451144646022, 0.05858148904795124, -0.050854496960392584, 0.039231657085083686),
    -0.019176885636589053,
)
STEEP = 0.41421356237309503  # tan π/8
TURNS = ((0.7853981633974483, 3.061616997868383e-17), (1.5707963267948966, 6.123233995736766e-17))  # π/4, π/2 in two
HALF_TURN = (3.141592653589793, 1.2246467991473532e-16)  # π in two
LARGEST_SIDE = 1e300  # beyond, the C library's


def arctangent(y: float, x: float) -> float:
    """atan2(y, x), of which a zero has no sign."""
    a, b = abs(x), abs(y)
    most, least = (b, a) if b > a else (a, b)
    if not most <= LARGEST_SIDE or math.isnan(least):
        return math.atan2(y, x)
    far = least > STEEP * most
    number, of = (least - most, least + most) if far else (least, most)
    r = number / (1.0 if of == 0.0 else of)
    z = r * r
    t = r + r * z * _sum(ANGLE, z)
    if far:
        t = TURNS[0][0] + (t + TURNS[0][1])
    if b > a:
        t = TURNS[1][0] - (t - TURNS[1][1])
    if x < 0.0:
        t = HALF_TURN[0] - (t - HALF_TURN[1])
    return -t if y < 0.0 else t
