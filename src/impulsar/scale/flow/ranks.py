"""Ranks that share a lattice: each has planes of it, and copies of those beside them (Wang 2011 §4.2)."""

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

if TYPE_CHECKING:
    from ...engine.flow.solver import Lattice


class FlowRanks:
    """A communicator of mpi4py. Bodies and points are known to all ranks, cells to one; what is summed over ranks has
    its number from one of them and zeros from the others, so that any number of ranks has the same bits."""

    def __init__(self, comm: Any):
        self.comm, self.rank, self.size = comm, comm.Get_rank(), comm.Get_size()
        self.sent = 0  # so far [B]

    def largest(self, value: float) -> float:
        """Of all ranks; what is no number is larger than any."""
        return max(one if one == one else np.inf for one in self.comm.allgather(value))

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sum over the ranks, of arrays that only one of them has something in at each place."""
        out = np.empty_like(values)
        self.comm.Allreduce(np.ascontiguousarray(values), out)
        self.sent += values.nbytes
        return out

    def planes_of_all(self, values: np.ndarray) -> np.ndarray:
        """What each rank has of its planes [plane, ...], of the whole box."""
        return np.concatenate(self.comm.allgather(values))

    def swap_planes(self, lattice: "Lattice", around: bool) -> None:
        """Populations and velocities of the first and the last plane to the ranks beside; theirs to the copies."""
        plane, n = lattice.cells[1] * lattice.cells[2], lattice.planes
        after, before = self.rank + 1, self.rank - 1
        after = after % self.size if around or after < self.size else None
        before = before % self.size if around or before >= 0 else None
        from mpi4py import MPI

        g, u = lattice.g.numpy(), lattice.L.u.numpy()
        own = {k: np.vstack([g[:, k * plane : (k + 1) * plane], u[k * plane : (k + 1) * plane].T]) for k in (1, n)}
        for to, source, mine, copy in ((after, before, n, 0), (before, after, 1, n + 1)):
            got = np.empty_like(own[mine])
            null = MPI.PROC_NULL
            self.comm.Sendrecv(
                own[mine], null if to is None else to, mine == n, got, null if source is None else source, mine == n
            )
            self.sent += own[mine].nbytes
            if source is not None:
                at = slice(copy * plane, (copy + 1) * plane)
                g[:, at], u[at] = got[:-3], got[-3:].T
        if not wp.get_device(lattice.device).is_cpu:
            lattice.g.assign(g)
            lattice.L.u.assign(u)
