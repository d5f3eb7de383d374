"""Which rank has which body.

    curve   particles: cells along a space-filling curve (Morton 1966), cut into pieces of as many bodies each
    graph   mechanisms: METIS, few joints across borders

Keys of cells and where the curve is cut are the same on all ranks, so each knows whose a place is.
"""

from dataclasses import dataclass

import numpy as np

from ...author.errors import ModelError
from ...engine.large.bulk import Bulk
from .ranks import Ranks

BITS = 21  # of a cell's number in one direction
SAMPLES = 4096  # of a rank's keys, from which the curve is cut


def morton(cells: np.ndarray) -> np.ndarray:
    """Keys of cells [n, 3]: the bits of the three numbers in turns. Cells that are too far out count as the last."""
    whole = np.clip(cells + 2 ** (BITS - 1), 0, 2**BITS - 1).astype(np.uint64)
    key = np.zeros(len(cells), np.uint64)
    for axis in range(3):
        n = whole[:, axis]
        for shift, mask in (
            (32, 0x1F00000000FFFF),
            (16, 0x1F0000FF0000FF),
            (8, 0x100F00F00F00F00F),
            (4, 0x10C30C30C30C30C3),
            (2, 0x1249249249249249),
        ):
            n = (n | (n << np.uint64(shift))) & np.uint64(mask)
        key |= n << np.uint64(axis)
    return key


@dataclass(frozen=True)
class Curve:
    """Space in pieces of a curve through cells; rank k has the keys cuts[k - 1] .. cuts[k] - 1."""

    edge: float  # of a cell [m]
    cuts: np.ndarray  # [ranks - 1] keys

    def owner(self, positions: np.ndarray) -> np.ndarray:
        """Ranks of places [n, 3]."""
        return np.searchsorted(self.cuts, self.keys(positions), side="right")

    def keys(self, positions: np.ndarray) -> np.ndarray:
        return morton(np.floor(positions / self.edge).astype(np.int64))


def cut_curve(edge: float, positions: np.ndarray, ranks: Ranks) -> Curve:
    """Pieces of as many bodies each, by samples of the bodies of all ranks; all ranks call it."""
    keys = np.sort(Curve(edge, np.zeros(0, np.uint64)).keys(positions))
    stride = max(1, -(-len(keys) // SAMPLES))
    taken = keys[stride // 2 :: stride].astype(np.int64)
    counts = np.array(ranks.comm.allgather(len(taken)))
    strides = np.array(ranks.comm.allgather(stride))
    every = np.concatenate(ranks.every(taken, counts, "reduction"))
    weight = np.repeat(strides, counts)
    order = np.argsort(every, kind="stable")
    behind = np.cumsum(weight[order])
    wanted = np.arange(1, ranks.size) * (behind[-1] / ranks.size)
    return Curve(edge, every[order][np.searchsorted(behind, wanted)].astype(np.uint64))


def by_graph(bulk: Bulk, ranks: Ranks) -> np.ndarray:
    """Ranks of bodies that joints hold together [body]; all ranks call it."""
    if bulk.bodies < ranks.size:
        raise ModelError(f"{bulk.name}: {bulk.bodies} bodies cannot be divided among {ranks.size} ranks; take fewer")
    if ranks.size == 1:
        return np.zeros(bulk.bodies, np.int64)
    try:
        found = _metis(bulk, ranks.size) if ranks.rank == 0 else None
        trouble = ""
    except ModelError as error:
        found, trouble = None, str(error)
    found, trouble = ranks.comm.bcast((found, trouble), root=0)
    if trouble:
        raise ModelError(trouble)
    empty = np.flatnonzero(np.bincount(found, minlength=ranks.size) == 0)
    if len(empty):
        raise ModelError(f"{bulk.name}: METIS leaves rank {empty[0]} of {ranks.size} without bodies; take fewer ranks")
    return found


def _metis(bulk: Bulk, parts: int) -> np.ndarray:
    try:
        import pymetis
    except ImportError as error:
        raise ModelError("domains: METIS is not there; pip install 'impulsar[mpi]'") from error
    joined = (bulk.first >= 0) & (bulk.second >= 0)
    one, two = bulk.first[joined], bulk.second[joined]
    body, other = np.concatenate([one, two]), np.concatenate([two, one])
    keys = np.unique(body * bulk.bodies + other)
    body, other = np.divmod(keys, bulk.bodies)
    first = np.searchsorted(body, np.arange(bulk.bodies + 1))
    found = pymetis.part_graph(parts, xadj=first.tolist(), adjncy=other.tolist())
    return _by_first_body(np.array(found.vertex_part, np.int64), parts)


def _by_first_body(part: np.ndarray, parts: int) -> np.ndarray:
    """The same parts, numbered in the order of their first bodies."""
    kinds, first = np.unique(part, return_index=True)
    order = np.full(parts, -1)
    order[kinds[np.argsort(first)]] = np.arange(len(kinds))
    return order[part]
