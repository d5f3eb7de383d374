"""A rank's own joints in nets, which no level eliminates: as one sparse matrix, and what that leaves of the cut ones.

With N those joints, C the cut ones, and this rank's share of A after its levels

    [ N   E ]      ε = 1e-12 of N's mean diagonal, as of nets of one rank (engine/large/net.py)
    [ Eᵀ  C ]

    share     C - Eᵀ (N + ε)⁻¹ E               summed over ranks: the interface's S
    forward   t = (N + ε)⁻¹ n,  c - Eᵀ t        right-hand sides n of N, c the share of C's
    back      t - (N + ε)⁻¹ E x                 x of the interface
    left      n - N y - E x,  c - Eᵀ y - C x    against the matrix itself, which refinement solves for again

N has no copies' rows, so it may be singular only where a rank's own joints imply each other; E is in its range, for
both are of one J M⁻¹ Jᵀ. Factors are SuperLU's on the host, where messages go anyway.
"""

import numpy as np
from scipy.sparse import csr_matrix

from ...engine.large.factor import Factor
from ...engine.large.net import SHIFT, HostSolver, entries

COLUMNS = 64  # of E that are solved for at a time


class Inside:
    """The joints of a factor's core that are not cut. Vectors are joint by joint, n rows each.

    own, cut: columns of both in the plan.
    """

    def __init__(self, factor: Factor, own: np.ndarray, cut: np.ndarray, name: str):
        self.blocks, n = factor, factor.rows
        row, column, self._source = entries(factor.plan, n)
        core = factor.plan.core
        order = np.concatenate([np.searchsorted(core, own), np.searchsorted(core, cut)])
        place = np.empty(n * len(core), np.int64)
        place[(n * order[:, None] + np.arange(n)).ravel()] = np.arange(n * len(core))
        row, column = place[row], place[column]
        self.size, self.cut = n * len(own), n * len(cut)
        m = self.size
        self._parts = [
            _Part(row, column, row_range, column_range)
            for row_range, column_range in (((0, m), (0, m)), ((0, m), (m, m + self.cut)), ((m, m + self.cut),) * 2)
        ]
        net, edge, _ = self._parts
        self._solver = HostSolver(m, net.begin, net.column, name)
        self._used = np.unique(edge.column)
        self.beside = np.unique(edge.column // n)  # cut joints beside the net, by place in `cut`

    def factor(self) -> None:
        """From what the levels have left; StepError where there is none."""
        flat = self.blocks.diagonal.numpy().ravel(), self.blocks.beside.numpy().ravel()
        values = np.where(self._source >= 0, flat[0][np.maximum(self._source, 0)], 0.0)
        below = self._source < 0
        values[below] = flat[1][-1 - self._source[below]]
        self._net, self._edge, self._cut = (part.of(values) for part in self._parts)
        if not self.size:
            return
        diagonal, shifted = self._net.diagonal(), self._parts[0].of(values)
        shifted.setdiag(diagonal + SHIFT * diagonal.mean())
        self._solver.factor_values(shifted.data)

    def _solved(self, right: np.ndarray) -> np.ndarray:
        return self._solver.solved(right) if self.size else right

    def share(self) -> np.ndarray:
        """This rank's share of S [cut row, cut row]."""
        out = self._cut.toarray()
        edge = self._edge.tocsc()
        for begin in range(0, len(self._used), COLUMNS):
            some = self._used[begin : begin + COLUMNS]
            out[:, some] -= self._edge.T @ self._solved(edge[:, some].toarray())
        return 0.5 * (out + out.T)

    def forward(self, net: np.ndarray, cut: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(N + ε)⁻¹ n, and the share of the interface's right-hand side."""
        found = self._solved(net)
        return found, cut - self._edge.T @ found

    def back(self, found: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The net's own from what `forward` found and the interface's x."""
        return found - self._solved(self._edge @ x)

    def left(self, net: np.ndarray, cut: np.ndarray, y: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What y and x leave of both right-hand sides."""
        return net - self._net @ y - self._edge @ x, cut - self._edge.T @ y - self._cut @ x


class _Part:
    """The entries of a block of a matrix, by rows and in each by columns."""

    def __init__(self, row: np.ndarray, column: np.ndarray, rows: tuple[int, int], columns: tuple[int, int]):
        is_in = (row >= rows[0]) & (row < rows[1]) & (column >= columns[0]) & (column < columns[1])
        found = np.flatnonzero(is_in)
        row, column = row[found] - rows[0], column[found] - columns[0]
        order = np.lexsort((column, row))
        self._which, self.column = found[order], column[order].astype(np.int32)
        self._shape = rows[1] - rows[0], columns[1] - columns[0]
        self.begin = np.searchsorted(row[order], np.arange(self._shape[0] + 1)).astype(np.int32)

    def of(self, values: np.ndarray) -> csr_matrix:
        return csr_matrix((values[self._which], self.column, self.begin), shape=self._shape)
