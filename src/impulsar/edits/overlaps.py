"""Bodies that an edit, or an author, has put into each other: pushed apart before time goes on, at a told cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import warp as wp

from ..author.touching import Touching, touching_shapes
from ..engine.launch import launch
from ..engine.methods.base import apart
from ..engine.solve.islands import ContactArrays
from ..engine.start.consistent import refresh
from ..engine.start.contacts import contact_arrays
from ..engine.start.overlaps import LOOK, PUSH, settle_overlaps
from ..engine.state import CONTACT_NUMBERS
from ..engine.state import Contact as At
from ..observe.bench import Bench
from .fit import fit

DEEP = 1e-6  # what overlaps by less is left to steps [m]
CLOSED = 1e-10  # error of joints that may stay [m, rad]
Pair = tuple[str, int, str, int]  # owners of two shapes, and the numbers of these


@dataclass(frozen=True)
class Overlap:
    """Two that were inside each other."""

    first: str  # body or obstacle
    second: str
    depth: float  # how far one had to move [m]
    left: float = 0.0  # how deep they still are [m]


@dataclass(frozen=True)
class Push:
    """What pushing apart did."""

    overlaps: tuple[Overlap, ...]
    energy: np.ndarray  # that it put in [world] [J]
    moved: float  # farthest that a body's centre was moved [m]

    def __str__(self) -> str:
        pairs = [f"'{one.first}' and '{one.second}' overlapped by {one.depth:.3g} m" for one in self.overlaps[:4]]
        more = f" and {len(self.overlaps) - 4} more" if len(self.overlaps) > 4 else ""
        energy = self.energy[int(np.abs(self.energy).argmax())]
        each = " at most" if len(self.energy) > 1 else ""
        left = max(one.left for one in self.overlaps)
        still = f"; {left:.3g} m are left, which joints or others in the way do not let go" if left > DEEP else ""
        return f"{', '.join(pairs)}{more}: pushed apart without speed, which took {energy:.4g} J{each}{still}"


@dataclass
class Contents:
    """What overlaps in a bench."""

    bench: Bench
    contacts: ContactArrays
    shapes: list[Touching] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.shapes = touching_shapes(self.bench.system.model)

    def settle(self, ask: int) -> dict[Pair, float]:
        """Pairs that overlap, and how deep in the world where they do so most, after what is asked was done."""
        system, state, work = self.bench.system, self.bench.state, self.bench.work
        asked = wp.array([ask], dtype=wp.int32, device=system.device)
        report = work.report.numpy().copy()
        inputs = [system.arrays, state.arrays, work, self.contacts, asked]
        launch(apart(settle_overlaps), system.counts.worlds, inputs, system.device)
        work.report.assign(report)  # a step's, not this one's
        found = self.contacts.found
        counts, gaps = found.count.numpy()[0], found.gap.numpy()
        first, second = found.first.numpy(), found.second.numpy()
        deep: dict[Pair, float] = {}
        for w, count in enumerate(counts):
            for i in np.flatnonzero(gaps[:count, w] < 0.0):
                pair = self._pair(first[i, w], second[i, w])
                deep[pair] = max(deep.get(pair, 0.0), -float(gaps[i, w]))
        return deep

    def _pair(self, a: int, b: int) -> Pair:
        first, second = self.shapes[int(a)], self.shapes[int(b)]
        return first.owner, first.index, second.owner, second.index


def push_apart(
    bench: Bench, contacts: "ContactArrays | None", before: Mapping[Pair, float] | None = None
) -> Push | None:
    """Take overlaps away, if there are any that are deeper than before, by the least motion in the norm of the masses;
    bodies keep their velocities as far as the joints allow."""
    if contacts is None:
        return None
    system, state, work = bench.system, bench.state, bench.work
    contents, known = Contents(bench, contacts), before or {}
    deep = contents.settle(LOOK)
    new = {pair: depth for pair, depth in deep.items() if depth > DEEP + known.get(pair, 0.0)}
    if not new:
        return None
    refresh(system, state, work)
    energy = work.energy.numpy().sum(axis=0)
    p, twist = work.p_WB.numpy().copy(), work.twist.numpy().copy()
    left = contents.settle(PUSH)
    refresh(system, state, work)
    if twist.any():
        fit(system, state, work, (work.p_WB.numpy().copy(), work.q_WB.numpy().copy(), twist), CLOSED)
        refresh(system, state, work)
    moved = float(np.linalg.norm(work.p_WB.numpy() - p, axis=-1).max())
    pairs = sorted(new.items(), key=lambda item: -item[1])
    overlaps = tuple(Overlap(pair[0], pair[2], depth, left.get(pair, 0.0)) for pair, depth in pairs)
    return Push(overlaps, work.energy.numpy().sum(axis=0) - energy, moved)


def depths(bench: Bench) -> dict[Pair, float]:
    """How deep the pairs of the last step were in each other, in the world where they were so most [m]."""
    system = bench.system
    if not system.counts.contacts:
        return {}
    shapes = touching_shapes(system.model)
    found: dict[Pair, float] = {}
    for block in bench.state.read("contact").T:
        rows = block[1 : 1 + CONTACT_NUMBERS * int(block[0])].reshape(-1, CONTACT_NUMBERS)
        for row in rows[rows[:, At.gap] < 0.0]:
            a, b = shapes[int(row[At.first])], shapes[int(row[At.second])]
            pair = a.owner, a.index, b.owner, b.index
            found[pair] = max(found.get(pair, 0.0), -float(row[At.gap]))
    return found


def push_carried(old: Bench, new: Bench) -> Push | None:
    """The same of a state that was carried over: what overlapped in the last step is left to the next."""
    return push_apart(new, contact_arrays(new.system), depths(old))
