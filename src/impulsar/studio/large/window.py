"""What one client sees of a large world: which blocks go into its next frame, and the frame's bytes.

Nothing here is done by the session's thread: it leaves a Still, and each client's sender makes frames of it.
"""

import math
import struct
import threading
import time as wall
from dataclasses import dataclass, field

import numpy as np

from ..large_messages import BLOCK, BODY_BYTES, FRAME_BYTES, LARGE_HEADER, LARGE_MAGIC, UNSEEN_SHARE, LargeLook

HEADER = struct.Struct("<" + "".join(code for _, code in LARGE_HEADER))
PLACES = 2**21 - 1  # of a place along one side of a frame's box
TURNS = 2**10 - 1  # of a component of an orientation
LOOKS_EVERY = 0.25  # wall time between two looks where the blocks are [s]
WORD = 2**32


def most_bodies() -> int:
    """That a frame has room for, with blocks that are full."""
    full = BODY_BYTES * BLOCK + 4
    return (FRAME_BYTES - HEADER.size) // full * BLOCK


class Still:
    """All poses at one moment, [body, 7] in the order of the blocks."""

    def __init__(self, number: int, generation: int, time: float, step: int, poses: np.ndarray):
        self.number, self.generation, self.time, self.step, self.poses = number, generation, time, step, poses
        self.wall = wall.monotonic()


class Spheres:
    """A sphere around each block's centres of mass, looked at now and then for all clients together."""

    def __init__(self, starts: np.ndarray, sizes: np.ndarray, reach: np.ndarray):
        self._starts, self._sizes, self._reach = starts, sizes, reach  # reach: of a body of the block [m]
        self._lock = threading.Lock()
        self._at = -math.inf
        self.centres, self.radii = np.zeros((len(starts), 3)), np.full(len(starts), math.inf)

    def look(self, still: Still) -> None:
        """Look again, if the last time is a while ago."""
        with self._lock:
            if still.wall - self._at < LOOKS_EVERY:
                return
            places = still.poses[:, :3]
            centres = np.add.reduceat(places, self._starts, axis=0, dtype=float) / self._sizes[:, None]
            away = np.square(places - np.repeat(centres, self._sizes, axis=0).astype(np.float32)).sum(1)
            radii = np.sqrt(np.maximum.reduceat(away, self._starts)) + self._reach
            self.centres, self.radii, self._at = centres, radii, still.wall

    def seen(self, look: LargeLook | None) -> np.ndarray:
        """Which blocks an eye may see [block]."""
        found = np.ones(len(self._starts), bool)
        for x, y, z, offset in () if look is None else look.planes:
            found &= self.centres @ np.array([x, y, z]) + offset >= -self.radii
        return found

    def distance(self, look: LargeLook | None) -> np.ndarray:
        """How far each is from the eye [m]."""
        if look is None or not look.eye:
            return np.zeros(len(self._starts))
        return np.linalg.norm(self.centres - np.array(look.eye), axis=1)


@dataclass
class Window:
    """One client's: what was sent to it, and what it answered."""

    look: LargeLook | None = None
    number: int = 0  # frames sent
    drawn: int = 0  # of the last one that was answered
    generation: int = -1
    sent: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # [block] still that it was last sent of
    turn: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # [block] frame that it was last sent in

    @property
    def in_flight(self) -> int:
        return self.number - self.drawn

    def begin(self, generation: int, blocks: int) -> None:
        """Another scene: nothing of it was sent."""
        self.generation = generation
        self.sent, self.turn = np.full(blocks, -1, np.int64), np.full(blocks, -1, np.int64)

    def has_all(self, still: Still) -> bool:
        """Whether nothing of a picture is left to be sent."""
        return self.generation == still.generation and bool((self.sent == still.number).all())

    def nothing(self, still: Still) -> bytes:
        """A frame without blocks: of a picture whose world has gone."""
        self.number += 1
        empty = np.zeros(0, np.int64)
        return encoded(still, empty, empty, empty, self.number, 0)

    def frame(self, still: Still, spheres: Spheres, starts: np.ndarray, sizes: np.ndarray) -> bytes:
        """The next frame of a picture; at most FRAME_BYTES."""
        if self.generation != still.generation:
            self.begin(still.generation, len(starts))
        seen = np.ones(len(starts), bool)
        if int(sizes.sum()) > most_bodies():
            spheres.look(still)
            seen = spheres.seen(self.look)
        chosen = self._choose(still.number, seen, spheres.distance(self.look), sizes)
        self.number += 1
        self.sent[chosen], self.turn[chosen] = still.number, self.number
        return encoded(still, chosen, starts, sizes, self.number, int(sizes[seen].sum()))

    def _choose(self, still: int, seen: np.ndarray, distance: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Blocks in the order of their age, the nearest first; what is not seen has its share, and what is left."""
        room = FRAME_BYTES - HEADER.size
        cost = BODY_BYTES * sizes + 4
        waiting = self.sent != still
        order = np.lexsort((distance, self.turn))
        order = order[waiting[order]]
        front, back = order[seen[order]], order[~seen[order]]
        kept = min(int(UNSEEN_SHARE * room), int(cost[back].sum()))
        first = front[np.cumsum(cost[front]) <= room - kept]
        room -= int(cost[first].sum())
        second = back[np.cumsum(cost[back]) <= room]
        return np.sort(np.concatenate([first, second]))


def encoded(still: Still, chosen: np.ndarray, starts: np.ndarray, sizes: np.ndarray, number: int, seen: int) -> bytes:
    """Blocks of a picture as a frame."""
    rows = [still.poses[starts[k] : starts[k] + sizes[k]] for k in chosen]
    poses = np.concatenate(rows) if rows else np.zeros((0, 7), np.float32)
    places = poses[:, :3].astype(float)
    low = places.min(0) if len(places) else np.zeros(3)
    span = places.max(0) - low if len(places) else np.zeros(3)
    head = HEADER.pack(
        LARGE_MAGIC, still.generation, still.time, still.wall, *low, *span,
        still.step % WORD, still.number % WORD, number % WORD, len(chosen), len(poses), seen,
    )  # fmt: skip
    return b"".join(
        (head, chosen.astype("<u4").tobytes(), packed_places(places, low, span), packed_turns(poses[:, 3:]))
    )


def packed_places(places: np.ndarray, low: np.ndarray, span: np.ndarray) -> bytes:
    """Three times 21 bits of each place in a box."""
    share = (places - low) / np.where(span > 0.0, span, 1.0)
    x, y, z = np.rint(np.clip(share, 0.0, 1.0) * PLACES).astype(np.uint64).T
    return (x | y << np.uint64(21) | z << np.uint64(42)).astype("<u8").tobytes()


def packed_turns(q: np.ndarray) -> bytes:
    """Three components of each unit quaternion in 10 bits each, and which is left out in 2."""
    n = len(q)
    out = np.argmax(np.abs(q), axis=1)
    sign = np.where(q[np.arange(n), out] < 0.0, -1.0, 1.0)
    rest = np.where(np.arange(3)[None] < out[:, None], q[:, :3], q[:, 1:]) * sign[:, None]
    share = np.clip(rest * math.sqrt(0.5) + 0.5, 0.0, 1.0)
    a, b, c = np.rint(share * TURNS).astype(np.uint32).T
    return (
        (a | b << np.uint32(10) | c << np.uint32(20) | out.astype(np.uint32) << np.uint32(30)).astype("<u4").tobytes()
    )
