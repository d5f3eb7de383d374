"""A x = b by blocks, level by level: kernels for blocks of n rows, a thread a joint, a target or a block.

    D_e = L Δ Lᵀ                             factor of a joint that is eliminated
    W_en = L⁻¹ A_en                          in the place of A_en
    D_n -= W_enᵀ Δ⁻¹ W_en,  A_nm -= W_enᵀ Δ⁻¹ W_em
    b_n -= W_enᵀ Δ⁻¹ L⁻¹ b_e                 forward
    x_e = L⁻ᵀ Δ⁻¹ (L⁻¹ b_e - Σ W_en x_n)     backward, levels in reverse

Every sum is gathered by the thread of its target, in the order of the plan: no atomics, the same bits every run. A row
that others of its joint imply has a pivot that is rounding alone; its 1/Δ is 0 and it gets no multiplier. So has a row
that others of a loop imply: eliminating them leaves of it some ε of what it had on the diagonal of A, more where their
pivots were small. Where no loop is no row is implied, and a small pivot is that of a long beam.

Columns are joints in the order of their elimination, so that what the threads of a level read lies side by side; what
a term has is read before any of it is used, so that a GPU waits for it once. The last levels have few joints each: on a
GPU one block of threads takes them all, and waits for itself between two.

    diagonal   [n (n + 1) / 2, column]  lower triangle by rows: A, then L with 1/Δ on the diagonal
    scale      [n, column]              the diagonal of A; 0 where no loop is
    beside     [n n, block]             by rows: A, then W
    b          [n, column]
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
import warp as wp

from ..launch import Launches
from ..spatial import ONE, ZERO, f64
from .plan import Gather, Plan

REDUNDANT = wp.constant(wp.float64(1e-11))  # of the diagonal before: a pivot that is rounding alone
ROUNDING = wp.constant(wp.float64(2e-12))  # of the diagonal of A, in loops; less than R of what is rigid (laws.py)
TAIL = 1024  # joints of the last levels, which one block of threads takes
TAIL_THREADS = 256  # of a block; a CPU has one

whole = wp.array(dtype=wp.int32)
table = wp.array2d(dtype=f64)


@wp.struct
class FactorArrays:
    """Blocks of A, and how they are eliminated: all levels in one list."""

    diagonal: table
    scale: table
    beside: table
    b: table
    owner: whole  # [block] columns
    other: whole
    first: whole  # [column + 1] where its blocks begin in `own`
    own: whole  # [place] block
    # sums: targets, first terms of each (one more than targets), terms
    on_target: whole  # column
    on_first: whole
    on_left: whole  # block
    on_owner: whole  # of the block
    off_target: whole  # block, -1 - block where it begins at zero here: what it was does not count
    off_first: whole
    off_left: whole
    off_right: whole
    off_owner: whole  # of both


# Where a level begins and ends in the lists, [level, place] of spans:
NODES, ON, OFF = wp.constant(0), wp.constant(2), wp.constant(4)


@wp.func_native(
    """
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
"""
)
def wait():
    """Until all threads of a block are here."""
    ...


def make_eliminate(n: int, module: str) -> wp.Function:
    matrix = wp.types.matrix((n, n), f64)

    def eliminate(f: wp.ref[FactorArrays], e: int):
        """L and Δ of a joint, and W of its blocks."""
        a = matrix()
        for i in range(n):
            for j in range(i + 1):
                a[i, j] = f.diagonal[i * (i + 1) // 2 + j, e]
        for j in range(n):
            least = wp.max(REDUNDANT * a[j, j], ROUNDING * f.scale[j, e])
            for k in range(j):
                a[j, j] = a[j, j] - a[j, k] * a[j, k] * a[k, k]
            pivot = a[j, j]
            for i in range(j + 1, n):
                for k in range(j):
                    a[i, j] = a[i, j] - a[i, k] * a[j, k] * a[k, k]
            inverse = ZERO
            if pivot > least:
                inverse = ONE / pivot
            for i in range(j + 1, n):
                a[i, j] = a[i, j] * inverse
            a[j, j] = pivot
            if inverse == ZERO:
                a[j, j] = ZERO
        for i in range(n):
            for j in range(i):
                f.diagonal[i * (i + 1) // 2 + j, e] = a[i, j]
            inverse = ZERO
            if a[i, i] > ZERO:
                inverse = ONE / a[i, i]
            f.diagonal[i * (i + 1) // 2 + i, e] = inverse
        for place in range(f.first[e], f.first[e + 1]):
            block = f.own[place]
            w = matrix()
            for i in range(n):
                for c in range(n):
                    w[i, c] = f.beside[i * n + c, block]
            for i in range(n):
                for k in range(i):
                    for c in range(n):
                        w[i, c] = w[i, c] - a[i, k] * w[k, c]
            for i in range(n):
                for c in range(n):
                    f.beside[i * n + c, block] = w[i, c]

    return wp.func(eliminate, module=module)


def make_update_diagonal(n: int, module: str) -> wp.Function:
    matrix, vector = wp.types.matrix((n, n), f64), wp.types.vector(n, f64)

    def update_diagonal(f: wp.ref[FactorArrays], t: int):
        target = f.on_target[t]
        a = matrix()
        for i in range(n):
            for j in range(i + 1):
                a[i, j] = f.diagonal[i * (i + 1) // 2 + j, target]
        for term in range(f.on_first[t], f.on_first[t + 1]):
            b = f.on_left[term]
            e = f.on_owner[term]
            w = matrix()
            inverse = vector()
            for k in range(n):
                inverse[k] = f.diagonal[k * (k + 1) // 2 + k, e]
                for i in range(n):
                    w[k, i] = f.beside[k * n + i, b]
            for k in range(n):
                for i in range(n):
                    scaled = w[k, i] * inverse[k]
                    for j in range(i + 1):
                        a[i, j] = a[i, j] - scaled * w[k, j]
        for i in range(n):
            for j in range(i + 1):
                f.diagonal[i * (i + 1) // 2 + j, target] = a[i, j]

    return wp.func(update_diagonal, module=module)


def make_update_beside(n: int, module: str) -> wp.Function:
    matrix, vector = wp.types.matrix((n, n), f64), wp.types.vector(n, f64)

    def update_beside(f: wp.ref[FactorArrays], t: int):
        target = f.off_target[t]
        a = matrix()
        if target >= 0:
            for i in range(n):
                for j in range(n):
                    a[i, j] = f.beside[i * n + j, target]
        else:
            target = -1 - target
        for term in range(f.off_first[t], f.off_first[t + 1]):
            b = f.off_left[term]
            c = f.off_right[term]
            e = f.off_owner[term]
            left = matrix()
            right = matrix()
            inverse = vector()
            for k in range(n):
                inverse[k] = f.diagonal[k * (k + 1) // 2 + k, e]
                for i in range(n):
                    left[k, i] = f.beside[k * n + i, b]
                    right[k, i] = f.beside[k * n + i, c]
            for k in range(n):
                for i in range(n):
                    scaled = left[k, i] * inverse[k]
                    for j in range(n):
                        a[i, j] = a[i, j] - scaled * right[k, j]
        for i in range(n):
            for j in range(n):
                f.beside[i * n + j, target] = a[i, j]

    return wp.func(update_beside, module=module)


def make_hand_on(n: int, module: str) -> wp.Function:
    matrix, vector = wp.types.matrix((n, n), f64), wp.types.vector(n, f64)

    def hand_on(f: wp.ref[FactorArrays], t: int):
        """What the joints of a level leave to a target of the right-hand side."""
        target = f.on_target[t]
        x = vector()
        for i in range(n):
            x[i] = f.b[i, target]
        for term in range(f.on_first[t], f.on_first[t + 1]):
            block = f.on_left[term]
            e = f.on_owner[term]
            y = vector()
            lower = matrix()
            w = matrix()
            for k in range(n):
                y[k] = f.b[k, e]
                for i in range(k + 1):
                    lower[k, i] = f.diagonal[k * (k + 1) // 2 + i, e]
                for i in range(n):
                    w[k, i] = f.beside[k * n + i, block]
            for k in range(n):
                for i in range(k):
                    y[k] = y[k] - lower[k, i] * y[i]
            for k in range(n):
                scaled = y[k] * lower[k, k]
                for i in range(n):
                    x[i] = x[i] - w[k, i] * scaled
        for i in range(n):
            f.b[i, target] = x[i]

    return wp.func(hand_on, module=module)


def make_go_back(n: int, module: str) -> wp.Function:
    vector = wp.types.vector(n, f64)

    def go_back(f: wp.ref[FactorArrays], e: int):
        """The solution of a joint, from those that were eliminated after it."""
        y = vector()
        for i in range(n):
            y[i] = f.b[i, e]
            for k in range(i):
                y[i] = y[i] - f.diagonal[i * (i + 1) // 2 + k, e] * y[k]
        for place in range(f.first[e], f.first[e + 1]):
            block = f.own[place]
            m = f.other[block]
            for k in range(n):
                value = f.b[k, m]
                for i in range(n):
                    y[i] = y[i] - f.beside[i * n + k, block] * value
        for i in range(n):
            y[i] = y[i] * f.diagonal[i * (i + 1) // 2 + i, e]
        for back in range(n):
            i = n - 1 - back
            for k in range(i + 1, n):
                y[i] = y[i] - f.diagonal[k * (k + 1) // 2 + i, e] * y[k]
        for i in range(n):
            f.b[i, e] = y[i]

    return wp.func(go_back, module=module)


@cache
def kernels(n: int) -> dict[str, wp.Kernel]:
    """Kernels for blocks of n rows, by name: of a level, and of all levels of a tail."""
    module = f"{__name__}.{n}"
    eliminate_joint, hand_on_to = make_eliminate(n, module), make_hand_on(n, module)
    update_on, update_off = make_update_diagonal(n, module), make_update_beside(n, module)
    go_back_to = make_go_back(n, module)

    def eliminate(f: FactorArrays, begin: int):
        eliminate_joint(f, begin + wp.tid())

    def update(f: FactorArrays, on: int, off: int, many: int):
        t = wp.tid()
        if t < many:
            update_on(f, on + t)
        else:
            update_off(f, off + t - many)

    def hand_on(f: FactorArrays, begin: int):
        hand_on_to(f, begin + wp.tid())

    def go_back(f: FactorArrays, begin: int):
        go_back_to(f, begin + wp.tid())

    def factor_tail(f: FactorArrays, spans: wp.array2d(dtype=wp.int32), threads: int):
        own = wp.tid()
        for level in range(spans.shape[0]):
            at = spans[level, NODES] + own
            while at < spans[level, NODES + 1]:
                eliminate_joint(f, at)
                at += threads
            wait()
            at = spans[level, ON] + own
            while at < spans[level, ON + 1]:
                update_on(f, at)
                at += threads
            at = spans[level, OFF] + own
            while at < spans[level, OFF + 1]:
                update_off(f, at)
                at += threads
            wait()

    def hand_on_tail(f: FactorArrays, spans: wp.array2d(dtype=wp.int32), threads: int):
        own = wp.tid()
        for level in range(spans.shape[0]):
            at = spans[level, ON] + own
            while at < spans[level, ON + 1]:
                hand_on_to(f, at)
                at += threads
            wait()

    def go_back_tail(f: FactorArrays, spans: wp.array2d(dtype=wp.int32), threads: int):
        own = wp.tid()
        for back in range(spans.shape[0]):
            level = spans.shape[0] - 1 - back
            at = spans[level, NODES] + own
            while at < spans[level, NODES + 1]:
                go_back_to(f, at)
                at += threads
            wait()

    made = (eliminate, update, hand_on, go_back, factor_tail, hand_on_tail, go_back_tail)
    return {one.__name__: wp.kernel(enable_backward=False, module=module)(one) for one in made}


class Core(Protocol):
    """Who solves for the joints that no level eliminates."""

    def factor(self) -> None:
        """From what the levels have left of A in the blocks of the core: its Schur complement."""

    def solve(self) -> None:
        """From what they have left of the right-hand side in b, in its place."""

    @property
    def residual(self) -> float:
        """What the last solve left of its right-hand side, by size; 0 where elimination leaves rounding alone."""


class Factor:
    """Blocks of A on a device, and their elimination."""

    core: Core | None = None

    def __init__(self, plan: Plan, rows: int, device: str):
        self.plan, self.rows, self.device = plan, rows, device
        self.diagonal = wp.zeros((rows * (rows + 1) // 2, plan.nodes), f64, device=device)
        self.scale = wp.zeros((rows, plan.nodes), f64, device=device)
        self.beside = wp.zeros((rows * rows, len(plan.owner)), f64, device=device)
        self.b = wp.zeros((rows, plan.nodes), f64, device=device)
        self.column = self._whole(plan.column)
        self.arrays = self._fill()
        self._launches = Launches(device)
        self._stages: dict[str, list[Callable[[], None]]] = {"factor": [], "forward": [], "backward": []}
        self._record()

    def _whole(self, values: np.ndarray) -> wp.array:
        return wp.array(np.asarray(values, np.int32), dtype=wp.int32, device=self.device)

    def _fill(self) -> Any:
        plan, f = self.plan, FactorArrays()
        f.diagonal, f.scale, f.beside, f.b = self.diagonal, self.scale, self.beside, self.b
        f.owner, f.other, f.first, f.own = (self._whole(a) for a in (plan.owner, plan.other, plan.first, plan.own))
        on, off = (_joined([getattr(one, name) for one in plan.levels]) for name in ("diagonal", "beside"))
        f.on_target, f.on_first, f.on_left = (self._whole(a) for a in (on.target, on.first, on.left))
        blocks, begin = np.unique(off.target, return_index=True)  # where each is updated for the first time
        begin = begin[plan.filled[blocks]]
        off.target[begin] = -1 - off.target[begin]
        f.off_target, f.off_first = self._whole(off.target), self._whole(off.first)
        f.off_left, f.off_right = self._whole(off.left), self._whole(off.right)
        f.on_owner, f.off_owner = self._whole(plan.owner[on.left]), self._whole(plan.owner[off.left])
        return f

    def _record(self) -> None:
        spans = spans_of(self.plan)
        left = self.plan.nodes - len(self.plan.core) - spans[:, 0, 0]  # joints that go from a level on
        tail = int(np.searchsorted(-left, -TAIL))
        if len(spans) - tail < 2:
            tail = len(spans)
        for nodes, on, off in spans[:tail]:
            self._add("factor", "eliminate", nodes[1] - nodes[0], nodes[0])
            many = on[1] - on[0]
            self._add("factor", "update", many + off[1] - off[0], on[0], off[0], many)
            self._add("forward", "hand_on", many, on[0])
            self._add("backward", "go_back", nodes[1] - nodes[0], nodes[0])
        if tail < len(spans):
            threads = 1 if wp.get_device(self.device).is_cpu else TAIL_THREADS
            last = self._whole(spans[tail:].reshape(-1, 6))
            self._add("factor", "factor_tail", threads, last, threads)
            self._add("forward", "hand_on_tail", threads, last, threads)
            self._add("backward", "go_back_tail", threads, last, threads)
        self._stages["backward"].reverse()

    def _add(self, stage: str, name: str, threads: int, *inputs: Any) -> None:
        if threads:
            given = [one if isinstance(one, wp.array) else int(one) for one in inputs]
            kernel = kernels(self.rows)[name]
            self._stages[stage].append(self._launches.record(kernel, int(threads), [self.arrays, *given]))

    def factor(self) -> None:
        """From the blocks of A, in their place, and `scale`."""
        for launch in self._stages["factor"]:
            launch()
        if self.core:
            self.core.factor()

    def solve(self) -> None:
        """From the right-hand side in `b`, in its place."""
        for launch in self._stages["forward"]:
            launch()
        if self.core:
            self.core.solve()
        for launch in self._stages["backward"]:
            launch()


def _joined(gathers: Sequence[Gather]) -> Gather:
    """Sums of all levels in one list."""
    none = np.zeros(0, np.int64)
    ends = np.cumsum([0, *(len(one.left) for one in gathers)])
    first = [one.first[:-1] + end for one, end in zip(gathers, ends, strict=False)]
    joined = [np.concatenate([none, *(getattr(one, name) for one in gathers)]) for name in ("target", "left", "right")]
    return Gather(joined[0], np.concatenate([none, *first, ends[-1:]]), joined[1], joined[2])


def spans_of(plan: Plan) -> np.ndarray:
    """Where levels begin and end [level, (nodes, on, off), 2]."""
    sizes = [[len(one.nodes), len(one.diagonal.target), len(one.beside.target)] for one in plan.levels]
    ends = np.cumsum(np.array([[0, 0, 0], *sizes], np.int64), 0)
    return np.stack([ends[:-1], ends[1:]], 2)
