"""Noise by counting: every number follows from a key and a counter, so that a sample has the same noise whenever it is
taken again, and no two sensors or worlds have the same.

SplitMix64 (Steele, Lea, Flood 2014): x = mix(key + γ counter), with the finaliser of MurmurHash3 and γ = 2⁶⁴ / φ, once
more mixed; a normal number is Box's and Muller's of two uniform ones.
"""

import hashlib

import numpy as np

GAMMA, FIRST, SECOND = (np.uint64(x) for x in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
S30, S27, S31, S11 = (np.uint64(x) for x in (30, 27, 31, 11))
STREAMS = 16  # of a sample, each of up to SPREAD numbers
SPREAD = 2**20


def _mix(x: np.ndarray) -> np.ndarray:
    x = (x ^ (x >> S30)) * FIRST
    x = (x ^ (x >> S27)) * SECOND
    return x ^ (x >> S31)


class Noise:
    """The noise of one sensor in all worlds."""

    def __init__(self, seed: int, name: str, worlds: int):
        with np.errstate(over="ignore"):
            start = int.from_bytes(hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest(), "little")
            self.keys = _mix(np.uint64(start) + GAMMA * np.arange(1, worlds + 1, dtype=np.uint64))

    def uniform(self, sample: int, stream: int, count: int) -> np.ndarray:
        """Numbers between 0 and 1, neither of them [number, world]."""
        first = np.uint64((sample * STREAMS + stream) * SPREAD % 2**64)
        with np.errstate(over="ignore"):
            counters = first + np.arange(count, dtype=np.uint64)
            x = _mix(_mix(self.keys + GAMMA * counters[:, None]) + GAMMA)
        return ((x >> S11).astype(float) + 0.5) * 2.0**-53

    def normal(self, sample: int, stream: int, count: int) -> np.ndarray:
        """Numbers of mean 0 and variance 1 [number, world]; takes this stream and the next."""
        u, v = self.uniform(sample, stream, count), self.uniform(sample, stream + 1, count)
        return np.sqrt(-2.0 * np.log(u)) * np.cos(2.0 * np.pi * v)
