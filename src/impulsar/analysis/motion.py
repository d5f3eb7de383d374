"""Constrained accelerations and the forces of the rows, redundant or not.

    M a = f + Jᵀ λ,  J a = -drift        a = L⁻ᵀ (N Nᵀ L⁻¹ f - A⁺ R drift),   A = R J L⁻ᵀ,  N its null space
    R J C = U Σ Vᵀ                       λ = R (U Σ⁻¹ Vᵀ) C (M a - f), the least of all λ in the scale of R

The accelerations are unique; λ is where the rows are independent, else of least norm over all rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..engine.system.rank import NEAR
from .bodies import Balance, Mechanism
from .ranks import Decomposition, geometric_rank


@dataclass(frozen=True)
class Motion:
    """What the forces do at one state, on the manifold of the chosen rows."""

    rows: list[int]
    acceleration: np.ndarray  # [dof] [m/s², rad/s²]
    lam: np.ndarray  # [row] [N, N m]
    Z: np.ndarray  # [dof, freedom] directions that the rows leave free, Zᵀ M Z = 1
    held: list[int]  # those of the rows that are not spare
    velocity_map: Decomposition  # of A
    geometry: Decomposition  # of R J C
    L: np.ndarray  # M = L Lᵀ
    R: np.ndarray

    def velocity(self, rate: np.ndarray) -> np.ndarray:
        """v with J v = rate of the least kinetic energy."""
        return np.linalg.solve(self.L.T, self.velocity_map.solve((self.R * rate)[self.held]))

    @property
    def determinate(self) -> np.ndarray:
        """By row: whether its force is unique."""
        return np.abs(self.geometry.left_null).max(axis=1, initial=0.0) < 1e-7


def solve_motion(mechanism: Mechanism, balance: Balance, rows: Sequence[int]) -> Motion:
    """Accelerations and row forces at a state."""
    rows = list(rows)
    R, C = mechanism.R[rows], mechanism.C
    RJ = R[:, None] * balance.J[rows]
    held = [k for k, i in enumerate(rows) if i not in mechanism.spare]
    rank = geometric_rank(RJ[held] * C, NEAR)
    geometry = Decomposition.of(RJ * C, rank)
    M = balance.M
    if mechanism.has_carriers:  # rows that hold add nothing to what moves: bodies without mass have some in L
        M = M + RJ[held].T @ RJ[held] * (np.trace(M) / np.sum(RJ[held] ** 2))
    L = np.linalg.cholesky(M)
    A = Decomposition.of(np.linalg.solve(L, RJ[held].T).T, rank)
    N = A.null
    y = N @ (N.T @ np.linalg.solve(L, balance.force)) - A.solve((R * balance.drift[rows])[held])
    acceleration = np.linalg.solve(L.T, y)
    lam = R * geometry.solve_transposed(C * (balance.M @ acceleration - balance.force))
    return Motion(rows, acceleration, lam, np.linalg.solve(L.T, N), held, A, geometry, L, R)
