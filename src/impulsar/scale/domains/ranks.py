"""The ranks of a job, and the neighbours of each: who speaks to whom, by what, and how much that is.

A neighbour is a rank that has a copy of a body of this one, or of which this one has one. Neighbours are MPI's
distributed graph; it is made anew when they change, and messages between them go by its collectives.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...author.errors import ModelError, StepError


def job() -> Any:
    """The communicator of all ranks; ModelError where there is no MPI."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise ModelError(f"domains: MPI is not there ({error}); pip install 'impulsar[mpi]'") from error
    return MPI.COMM_WORLD


@dataclass
class Tally:
    """What one kind of exchange has cost this rank."""

    calls: int = 0
    sent: int = 0  # [B]
    seconds: float = 0.0  # of wall time, waiting for others among them
    processor: float = 0.0  # of processor time [s]


@dataclass
class Ranks:
    """All ranks of a communicator."""

    comm: Any
    tallies: dict[str, Tally] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rank, self.size = self.comm.Get_rank(), self.comm.Get_size()

    @contextmanager
    def told(self, kind: str, size: int) -> Iterator[None]:
        """Enter an exchange into the tallies."""
        began, processor = time.perf_counter(), time.thread_time()
        yield
        tally = self.tallies.setdefault(kind, Tally())
        tally.calls += 1
        tally.sent += size
        tally.seconds += time.perf_counter() - began
        tally.processor += time.thread_time() - processor

    def largest(self, value: float) -> float:
        """Of all ranks; what is no number is larger than any."""
        from mpi4py import MPI

        found = np.array([value if value == value else math.inf])
        with self.told("reduction", 8):
            self.comm.Allreduce(MPI.IN_PLACE, found, MPI.MAX)
        return float(found[0])

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sums over all ranks, rounded once: the same whoever asks, and in whatever order."""
        mine = np.ascontiguousarray(values, float).ravel()
        every = np.empty((self.size, len(mine)))
        with self.told("reduction", mine.nbytes):
            self.comm.Allgather(mine, every)
        return np.array([math.fsum(column) for column in every.T]).reshape(np.shape(values))

    def every(self, mine: np.ndarray, counts: np.ndarray, kind: str) -> list[np.ndarray]:
        """Arrays of all ranks, in the order of ranks; counts: how many numbers each gives."""
        from mpi4py import MPI

        out = np.empty(int(counts.sum()), mine.dtype)
        with self.told(kind, mine.nbytes):
            what = MPI.DOUBLE if mine.dtype == np.float64 else MPI.INT64_T
            self.comm.Allgatherv([np.ascontiguousarray(mine), what], [out, counts, what])
        return np.split(out, np.cumsum(counts)[:-1])

    def agree(self, trouble: str = "", error: type[Exception] = StepError) -> None:
        """Raise an error in all ranks where one of them has trouble."""
        if self.largest(float(bool(trouble))):
            told = [f"rank {k}: {text}" for k, text in enumerate(self.comm.allgather(trouble)) if text]
            raise error("; ".join(told[:3]))


class Neighbours:
    """The ranks that this one speaks to."""

    def __init__(self, ranks: Ranks):
        self.ranks = ranks
        self.others: tuple[int, ...] = ()
        self._graph: Any = None
        self.made = 0  # graphs, so far

    def reach(self, wanted: set[int]) -> None:
        """Make those ranks neighbours, and those that want this one; all ranks call it."""
        from mpi4py import MPI

        asks = np.zeros(self.ranks.size, np.int8)
        asks[list(wanted)] = 1
        asked = np.empty_like(asks)
        self.ranks.comm.Alltoall(asks, asked)
        others = tuple(int(k) for k in np.flatnonzero(asks | asked) if k != self.ranks.rank)
        changed = np.array([others != self.others or self._graph is None], np.int8)
        self.ranks.comm.Allreduce(MPI.IN_PLACE, changed, MPI.MAX)
        if not changed[0]:
            return
        if self._graph is not None:
            self._graph.Free()
        self.others, self.made = others, self.made + 1
        self._graph = self.ranks.comm.Create_dist_graph_adjacent(list(others), list(others))

    def swap(self, kind: str, parts: list[np.ndarray], counts: list[int]) -> list[np.ndarray]:
        """A table [n, width] to each neighbour, and one of counts[k] rows from each, in the order of ranks."""
        from mpi4py import MPI

        if self._graph is None:
            raise RuntimeError("neighbours are to be reached before anything is sent to them")
        width = parts[0].shape[1] if parts else 1
        out = np.concatenate(parts).ravel() if parts else np.zeros(0)
        sizes = [width * len(part) for part in parts]
        found = np.empty(width * sum(counts))
        with self.ranks.told(kind, out.nbytes):
            self._graph.Neighbor_alltoallv(
                [out, sizes, MPI.DOUBLE], [found, [width * count for count in counts], MPI.DOUBLE]
            )
        return np.split(found.reshape(-1, width), np.cumsum(counts)[:-1]) if counts else []

    def send(self, kind: str, parts: dict[int, np.ndarray], width: int) -> list[np.ndarray]:
        """Tables [n, width] to some neighbours; what each of them sends, in the order of ranks."""
        tables = [parts.get(k, np.zeros((0, width))) for k in self.others]
        counts = np.array([len(one) for one in tables], np.int64)
        theirs = np.empty_like(counts)
        if self._graph is None:
            raise RuntimeError("neighbours are to be reached before anything is sent to them")
        self._graph.Neighbor_alltoall(counts, theirs)
        return self.swap(kind, tables, [int(count) for count in theirs])
