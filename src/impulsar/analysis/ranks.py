"""Ranks and least-norm solutions of rows that may be redundant."""

from dataclasses import dataclass

import numpy as np

from ..engine.system.rank import independent

ROUNDING = 1e-16  # of singular values, of the largest
DEPENDENT = 1e-8  # what is left of a unit row that depends on others


@dataclass(frozen=True)
class Decomposition:
    """A = U diag(sigma) Vᵀ with its rank (engine/system/rank.py)."""

    U: np.ndarray
    sigma: np.ndarray
    Vt: np.ndarray
    rank: int
    gap: float  # smallest singular value that counts, over the largest that does not

    @classmethod
    def of(cls, A: np.ndarray, rank: int) -> "Decomposition":
        """Decompose a matrix of known rank."""
        if 0 in A.shape:
            return cls(np.eye(A.shape[0]), np.zeros(0), np.eye(A.shape[1]), 0, np.inf)
        U, sigma, Vt = np.linalg.svd(A)
        floor = np.maximum(sigma, ROUNDING * sigma[0] or 1.0)
        gap = float(floor[rank - 1] / floor[rank]) if 0 < rank < len(sigma) else np.inf
        return cls(U, sigma, Vt, rank, gap)

    @property
    def null(self) -> np.ndarray:
        """Orthonormal columns that span what A maps to nothing."""
        return self.Vt[self.rank :].T

    @property
    def left_null(self) -> np.ndarray:
        """Orthonormal columns that span the dependencies of the rows."""
        return self.U[:, self.rank :]

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Least-norm least-squares solution of A x = b."""
        r = self.rank
        return self.Vt[:r].T @ ((self.U[:, :r].T @ b) / self.sigma[:r])

    def solve_transposed(self, b: np.ndarray) -> np.ndarray:
        """Least-norm least-squares solution of Aᵀ x = b."""
        r = self.rank
        return self.U[:, :r] @ ((self.Vt[:r] @ b) / self.sigma[:r])


def geometric_rank(A: np.ndarray, tolerance: float) -> int:
    """How many rows say something new, each by its own size."""
    size = np.linalg.norm(A, axis=1, keepdims=True)
    return len(independent(np.divide(A, size, out=np.zeros_like(A), where=size > 0.0), tolerance)[0])


def dependent_rows(A: np.ndarray, rank: int) -> list[int]:
    """Rows that depend on rows before them; by pivoting where that is not clear-cut.

    In the order of the author this names the rows that a joint adds to a mechanism already held.
    """
    basis = np.zeros((0, A.shape[1]))
    found = []
    for i, row in enumerate(A):
        left = row - basis.T @ (basis @ row)
        left -= basis.T @ (basis @ left)  # twice is enough
        size = float(np.linalg.norm(left))
        if size <= DEPENDENT * max(float(np.linalg.norm(row)), 1e-300):
            found.append(i)
        else:
            basis = np.vstack([basis, left / size])
    if len(found) == len(A) - rank:
        return found
    from scipy.linalg import qr

    order = qr(A.T, mode="r", pivoting=True)[1]
    return sorted(int(i) for i in order[rank:])


def supports(A: np.ndarray, dependent: list[int]) -> dict[int, list[int]]:
    """For each dependent row the independent rows that it is made of."""
    free = [i for i in range(len(A)) if i not in set(dependent)]
    if not free or not dependent:
        return {i: [] for i in dependent}
    parts = np.linalg.lstsq(A[free].T, A[dependent].T, rcond=None)[0]
    return {
        i: [free[k] for k in np.flatnonzero(np.abs(parts[:, c]) > 1e-6 * np.abs(parts[:, c]).max(initial=0.0))]
        for c, i in enumerate(dependent)
    }
