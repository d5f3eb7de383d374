"""Joints across borders, by the Schur complement of the interface.

A = J M⁻¹ Jᵀ is a sum over bodies, so it is one over ranks, each of which has the share of its own bodies. With I the
joints between bodies of one rank and C those that are cut by a border, in order of ranks r

    S = Σ_r ( C_r - B_rᵀ I_r⁻¹ B_r )          each rank eliminates its own joints: levels, then its nets (nets.py)
    S x = Σ_r ( c_r - B_rᵀ I_r⁻¹ b_r )        solved by the same elimination, alike on every rank
    I_r x = b_r - B_r x                       each rank goes back to its own joints

This is the direct solve of one rank in another order: no sweeps, no tolerance. The shares of S (exchange of
constraints) and of the right-hand side (reduction) are gathered on all ranks and summed in the order of ranks. Where
there are nets, whose matrices are shifted, what is left of b is solved for again, as often as on one rank.
"""

import numpy as np

from ...author.errors import StepError
from ...engine.large.borders import Columns
from ...engine.large.factor import Factor
from ...engine.large.net import REFINEMENTS, Net
from ...engine.large.plan import Finder, make_plan
from .nets import Inside
from .ranks import Ranks


class Interface:
    """The cut joints of all ranks, and this rank's nets; it solves for both, which no level eliminates.

    numbers: of the joints of this rank in the world; cut: places of the cut ones; of all ranks: `every`, sorted.
    """

    def __init__(
        self, factor: Factor, numbers: np.ndarray, cut: np.ndarray, every: np.ndarray, ranks: Ranks, name: str
    ):
        self.ranks, self.blocks, plan, n = ranks, factor, factor.plan, factor.rows
        place, mine = np.full(plan.nodes, -1), plan.column[cut]  # of columns among all cut joints, and of which
        place[mine] = np.searchsorted(every, numbers[cut])
        net = np.setdiff1d(plan.core, mine)
        has_nets = ranks.largest(float(len(net))) > 0.0  # of any rank
        self._inside = Inside(factor, net, mine, name) if has_nets else None
        inside = np.flatnonzero((place[plan.owner] >= 0) & (place[plan.other] >= 0))
        self._pairs = np.stack([place[plan.owner[inside]], place[plan.other[inside]]], 1)
        self._own = place[mine]
        if self._inside:
            self._pairs = self._with_net(self._pairs, self._inside.beside)
        self._nodes = self._everybodys(self._own)
        blocks = [one.reshape(-1, 2) for one in self._everybodys(self._pairs.ravel())]
        pairs = np.unique(np.sort(np.concatenate(blocks), 1), axis=0)
        whole = make_plan(len(every), pairs)
        self.factor_ = Factor(whole, n, "cpu")
        if len(whole.core):
            self.factor_.core = Net(self.factor_, name)
        self._columns = [whole.column[one] for one in self._nodes]
        find = Finder(whole.owner, whole.other, len(every))
        self._places = [find(*whole.column[one].T) for one in blocks]
        self._diagonal, self._beside = Columns(factor.diagonal, mine), Columns(factor.beside, inside)
        self._scale = Columns(factor.scale, mine)
        self._b, self._net_b = Columns(factor.b, mine), Columns(factor.b, net)
        self._own_columns = whole.column[self._own]
        sizes = zip(self._nodes, blocks, strict=True)
        self._sizes = np.array([len(a) * n * (n + 3) // 2 + len(b) * n * n for a, b in sizes])

    def _with_net(self, pairs: np.ndarray, beside: np.ndarray) -> np.ndarray:
        """Pairs of cut joints with those that this rank's nets fill in: of all that are beside them."""
        one, two = np.triu_indices(len(beside), 1)
        filled = np.stack([self._own[beside[one]], self._own[beside[two]]], 1)
        return np.unique(np.sort(np.concatenate([pairs, filled]), 1), axis=0)

    def _everybodys(self, mine: np.ndarray) -> list[np.ndarray]:
        counts = np.array(self.ranks.comm.allgather(len(mine)))
        return self.ranks.every(mine.astype(np.int64), counts, "constraints")

    # factor ---------------------------------------------------------------------------------------

    def factor(self) -> None:
        """Sum the shares of S, and factor it."""
        mine = self._share()
        n, into = self.factor_.rows, self.factor_
        diagonal, scale = np.zeros((into.plan.nodes, n * (n + 1) // 2)), np.zeros((into.plan.nodes, n))
        beside = np.zeros((len(into.plan.owner), n, n))
        shares = self.ranks.every(mine, self._sizes, "constraints")
        for share, nodes, (blocks, straight) in zip(shares, self._columns, self._places, strict=True):
            split, end = len(nodes) * n * (n + 1) // 2, len(share) - len(nodes) * n
            diagonal[nodes] += share[:split].reshape(-1, n * (n + 1) // 2)
            scale[nodes] += share[end:].reshape(-1, n)
            given = share[split:end].reshape(-1, n, n)
            beside[blocks] += np.where(straight[:, None, None], given, given.transpose(0, 2, 1))
        into.diagonal.assign(np.ascontiguousarray(diagonal.T))
        into.scale.assign(np.ascontiguousarray(scale.T))
        into.beside.assign(np.ascontiguousarray(beside.reshape(len(beside), n * n).T))
        into.factor()

    def _share(self) -> np.ndarray:
        """This rank's share of S: blocks on the diagonal, those of its pairs, then of the diagonal of A."""
        scale = self._scale.take().ravel()
        if not self._inside:
            return np.concatenate([self._diagonal.take().ravel(), self._beside.take().ravel(), scale])
        trouble = ""
        try:
            self._inside.factor()
        except StepError as error:
            trouble = str(error)
        self.ranks.agree(trouble)
        k, n = len(self._own), self.factor_.rows
        share = self._inside.share().reshape(k, n, k, n)
        low = np.tril_indices(n)
        one, two = np.searchsorted(self._own, self._pairs.T)
        on, off = share[np.arange(k), :, np.arange(k)][:, *low], share[one, :, two]
        return np.concatenate([on.ravel(), off.ravel(), scale])

    # solve ----------------------------------------------------------------------------------------

    def solve(self) -> None:
        """In the place of this rank's cut joints and nets in b."""
        cut = self._b.take().ravel()
        if not self._inside:
            self._b.put(self._summed_solve(cut).reshape(-1, self.factor_.rows))
            return
        net, inside = self._net_b.take().ravel(), self._inside
        self._asked = self._left = net, cut
        y, x = np.zeros_like(net), np.zeros_like(cut)
        for _ in range(1 + REFINEMENTS):
            found, share = inside.forward(*self._left)
            change = self._summed_solve(share)
            x += change
            y += inside.back(found, change)
            self._left = inside.left(*self._asked, y, x)
        self._b.put(x.reshape(-1, self.factor_.rows))
        self._net_b.put(y.reshape(-1, self.factor_.rows))

    def _summed_solve(self, mine: np.ndarray) -> np.ndarray:
        """S⁻¹ of the sum of all ranks' shares, at this rank's cut joints."""
        self.factor_.b.assign(np.ascontiguousarray(self._summed(mine).T))
        self.factor_.solve()
        return self.factor_.b.numpy().T[self._own_columns].ravel()

    def _summed(self, mine: np.ndarray) -> np.ndarray:
        """Shares of rows of the cut joints, summed in the order of ranks [column of the interface, row]."""
        n = self.factor_.rows
        total = np.zeros((self.factor_.plan.nodes, n))
        shares = self.ranks.every(mine, np.array([n * len(one) for one in self._nodes]), "reduction")
        for share, columns in zip(shares, self._columns, strict=True):
            total[columns] += share.reshape(-1, n)
        return total

    @property
    def residual(self) -> float:
        """What the last solve left of its right-hand side, by size; all ranks ask for it."""
        if not self._inside:
            return self.factor_.core.residual if self.factor_.core else 0.0
        sizes = [
            max(float(np.abs(net).max(initial=0.0)), float(np.abs(self._summed(cut)).max(initial=0.0)))
            for net, cut in (self._left, self._asked)
        ]
        left, asked = (self.ranks.largest(size) for size in sizes)
        return left / asked if asked > 0.0 else 0.0
