"""Joints across borders, by the Schur complement of the interface.

A = J M⁻¹ Jᵀ is a sum over bodies, so it is one over ranks, each of which has the share of its own bodies. With I the
joints between bodies of one rank and C those that are cut by a border, in order of ranks r

    S = Σ_r ( C_r - B_rᵀ I_r⁻¹ B_r )          each rank eliminates its own joints, level by level
    S x = Σ_r ( c_r - B_rᵀ I_r⁻¹ b_r )        solved by the same elimination, alike on every rank
    I_r x = b_r - B_r x                       each rank goes back to its own joints

This is the direct solve of one rank in another order: no sweeps, no tolerance. The shares of S (exchange of
constraints) and of the right-hand side (reduction) are gathered on all ranks and summed in the order of ranks.
"""

import numpy as np

from ...author.errors import ModelError
from ...engine.large.borders import Columns
from ...engine.large.factor import Factor
from ...engine.large.plan import make_plan
from .ranks import Ranks


class Interface:
    """The cut joints of all ranks; it solves for those of one factor, which its levels leave.

    numbers: of the cut joints of the world, by place in the core of the plan; of all ranks: `every`, sorted.
    """

    def __init__(self, factor: Factor, numbers: np.ndarray, every: np.ndarray, ranks: Ranks, name: str):
        self.ranks, plan, n = ranks, factor.plan, factor.rows
        own = np.full(plan.nodes, -1)
        own[plan.core] = np.searchsorted(every, numbers)
        inside = np.flatnonzero((own[plan.owner] >= 0) & (own[plan.other] >= 0))
        ends = np.stack([own[plan.owner[inside]], own[plan.other[inside]]], 1)
        self._nodes = self._everybodys(own[plan.core])
        blocks = [one.reshape(-1, 2) for one in self._everybodys(ends.ravel())]
        pairs = np.unique(np.sort(np.concatenate(blocks), 1), axis=0)
        whole = make_plan(len(every), pairs)
        if len(whole.core):
            raise ModelError(f"{name}: {len(whole.core)} joints across borders are in a net, which is not divided yet")
        self.factor_ = Factor(whole, n, "cpu")
        self._columns = [whole.column[one] for one in self._nodes]
        self._places = [_places(whole.column[one], whole.owner, whole.other, len(every)) for one in blocks]
        self._diagonal, self._beside = Columns(factor.diagonal, plan.core), Columns(factor.beside, inside)
        self._b = Columns(factor.b, plan.core)
        self._own_columns = whole.column[own[plan.core]]
        sizes = zip(self._nodes, blocks, strict=True)
        self._sizes = np.array([len(a) * n * (n + 1) // 2 + len(b) * n * n for a, b in sizes])

    def _everybodys(self, mine: np.ndarray) -> list[np.ndarray]:
        counts = np.array(self.ranks.comm.allgather(len(mine)))
        return self.ranks.every(mine.astype(np.int64), counts, "constraints")

    def factor(self) -> None:
        """Sum the shares of S, and factor it."""
        mine = np.concatenate([self._diagonal.take().ravel(), self._beside.take().ravel()])
        n, into = self.factor_.rows, self.factor_
        diagonal = np.zeros((into.plan.nodes, n * (n + 1) // 2))
        beside = np.zeros((len(into.plan.owner), n, n))
        shares = self.ranks.every(mine, self._sizes, "constraints")
        for share, nodes, (blocks, turned) in zip(shares, self._columns, self._places, strict=True):
            split = len(nodes) * n * (n + 1) // 2
            diagonal[nodes] += share[:split].reshape(-1, n * (n + 1) // 2)
            given = share[split:].reshape(-1, n, n)
            beside[blocks] += np.where(turned[:, None, None], given.transpose(0, 2, 1), given)
        into.diagonal.assign(np.ascontiguousarray(diagonal.T))
        into.beside.assign(np.ascontiguousarray(beside.reshape(len(beside), n * n).T))
        into.factor()

    def solve(self) -> None:
        """Sum the shares of the right-hand side, and solve."""
        n = self.factor_.rows
        total = np.zeros((self.factor_.plan.nodes, n))
        shares = self.ranks.every(self._b.take().ravel(), np.array([n * len(one) for one in self._nodes]), "reduction")
        for share, nodes in zip(shares, self._columns, strict=True):
            total[nodes] += share.reshape(-1, n)
        self.factor_.b.assign(np.ascontiguousarray(total.T))
        self.factor_.solve()
        self._b.put(self.factor_.b.numpy().T[self._own_columns])


def _places(ends: np.ndarray, owner: np.ndarray, other: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Which blocks of a plan have these ends [n, 2], and whether the other way round."""
    keys = owner * nodes + other
    if not len(keys):
        return np.zeros(0, np.int64), np.zeros(0, bool)
    straight = np.minimum(np.searchsorted(keys, ends[:, 0] * nodes + ends[:, 1]), len(keys) - 1)
    turned = keys[straight] != ends[:, 0] * nodes + ends[:, 1]
    return np.where(turned, np.searchsorted(keys, ends[:, 1] * nodes + ends[:, 0]), straight), turned
