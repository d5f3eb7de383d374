"""A x = b by blocks, level by level: kernels for blocks of n rows, a thread a block.

    D_e = L Δ Lᵀ                             factor of a joint that is eliminated
    W_en = L⁻¹ A_en                          in the place of A_en
    D_n -= W_enᵀ Δ⁻¹ W_en,  A_nm -= W_enᵀ Δ⁻¹ W_em
    y_e = L⁻¹ b_e,  b_n -= W_enᵀ Δ⁻¹ y_e     forward
    x_e = L⁻ᵀ (Δ⁻¹ y_e - Σ Δ⁻¹ W_en x_n)     backward, levels in reverse

Every sum is gathered by the thread of its target, in the order of the plan: no atomics, the same bits every run. A row
that others of its joint imply has a pivot that is rounding alone; its 1/Δ is 0 and it gets no multiplier.

    diagonal   [n (n + 1) / 2, joint]   lower triangle by rows: A, then L with 1/Δ on the diagonal
    beside     [n n, block]             by rows: A, then W
    b          [n, joint]
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
import warp as wp

from ..spatial import ONE, ZERO, f64
from .plan import Gather, Plan

REDUNDANT = wp.constant(wp.float64(1e-11))  # of the diagonal before: a pivot that is rounding alone

whole = wp.array(dtype=wp.int32)
table = wp.array2d(dtype=f64)


def make_factor(n: int) -> Callable:
    matrix = wp.types.matrix((n, n), f64)

    def factor(nodes: whole, diagonal: table):
        e = nodes[wp.tid()]
        a = matrix()
        for i in range(n):
            for j in range(i + 1):
                a[i, j] = diagonal[i * (i + 1) // 2 + j, e]
        for j in range(n):
            least = REDUNDANT * a[j, j]
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
                diagonal[i * (i + 1) // 2 + j, e] = a[i, j]
            inverse = ZERO
            if a[i, i] > ZERO:
                inverse = ONE / a[i, i]
            diagonal[i * (i + 1) // 2 + i, e] = inverse

    return factor


def make_reduce(n: int) -> Callable:
    matrix = wp.types.matrix((n, n), f64)

    def reduce(blocks: whole, owner: whole, diagonal: table, beside: table):
        b = blocks[wp.tid()]
        e = owner[b]
        a = matrix()
        for i in range(n):
            for c in range(n):
                a[i, c] = beside[i * n + c, b]
        for i in range(n):
            for k in range(i):
                l = diagonal[i * (i + 1) // 2 + k, e]
                for c in range(n):
                    a[i, c] = a[i, c] - l * a[k, c]
        for i in range(n):
            for c in range(n):
                beside[i * n + c, b] = a[i, c]

    return reduce


def make_update_diagonal(n: int) -> Callable:
    matrix = wp.types.matrix((n, n), f64)

    def update_diagonal(target: whole, first: whole, left: whole, owner: whole, beside: table, diagonal: table):
        t = wp.tid()
        a = matrix()
        for i in range(n):
            for j in range(i + 1):
                a[i, j] = diagonal[i * (i + 1) // 2 + j, target[t]]
        for term in range(first[t], first[t + 1]):
            b = left[term]
            e = owner[b]
            for k in range(n):
                inverse = diagonal[k * (k + 1) // 2 + k, e]
                for i in range(n):
                    scaled = beside[k * n + i, b] * inverse
                    for j in range(i + 1):
                        a[i, j] = a[i, j] - scaled * beside[k * n + j, b]
        for i in range(n):
            for j in range(i + 1):
                diagonal[i * (i + 1) // 2 + j, target[t]] = a[i, j]

    return update_diagonal


def make_update_beside(n: int) -> Callable:
    matrix = wp.types.matrix((n, n), f64)

    def update_beside(
        target: whole, first: whole, left: whole, right: whole, owner: whole, diagonal: table, beside: table
    ):
        t = wp.tid()
        a = matrix()
        for i in range(n):
            for j in range(n):
                a[i, j] = beside[i * n + j, target[t]]
        for term in range(first[t], first[t + 1]):
            b = left[term]
            c = right[term]
            e = owner[b]
            for k in range(n):
                inverse = diagonal[k * (k + 1) // 2 + k, e]
                for i in range(n):
                    scaled = beside[k * n + i, b] * inverse
                    for j in range(n):
                        a[i, j] = a[i, j] - scaled * beside[k * n + j, c]
        for i in range(n):
            for j in range(n):
                beside[i * n + j, target[t]] = a[i, j]

    return update_beside


def make_forward(n: int) -> Callable:
    vector = wp.types.vector(n, f64)

    def forward(nodes: whole, diagonal: table, b: table):
        e = nodes[wp.tid()]
        y = vector()
        for i in range(n):
            y[i] = b[i, e]
            for k in range(i):
                y[i] = y[i] - diagonal[i * (i + 1) // 2 + k, e] * y[k]
        for i in range(n):
            b[i, e] = y[i]

    return forward


def make_hand_on(n: int) -> Callable:
    vector = wp.types.vector(n, f64)

    def hand_on(target: whole, first: whole, left: whole, owner: whole, diagonal: table, beside: table, b: table):
        t = wp.tid()
        y = vector()
        for i in range(n):
            y[i] = b[i, target[t]]
        for term in range(first[t], first[t + 1]):
            block = left[term]
            e = owner[block]
            for k in range(n):
                scaled = b[k, e] * diagonal[k * (k + 1) // 2 + k, e]
                for i in range(n):
                    y[i] = y[i] - beside[k * n + i, block] * scaled
        for i in range(n):
            b[i, target[t]] = y[i]

    return hand_on


def make_backward(n: int) -> Callable:
    vector = wp.types.vector(n, f64)

    def backward(nodes: whole, first: whole, other: whole, diagonal: table, beside: table, b: table):
        e = nodes[wp.tid()]
        y = vector()
        for i in range(n):
            y[i] = b[i, e]
        for block in range(first[e], first[e + 1]):
            m = other[block]
            for k in range(n):
                value = b[k, m]
                for i in range(n):
                    y[i] = y[i] - beside[i * n + k, block] * value
        for i in range(n):
            y[i] = y[i] * diagonal[i * (i + 1) // 2 + i, e]
        for back in range(n):
            i = n - 1 - back
            for k in range(i + 1, n):
                y[i] = y[i] - diagonal[k * (k + 1) // 2 + i, e] * y[k]
        for i in range(n):
            b[i, e] = y[i]

    return backward


MAKERS = (make_factor, make_reduce, make_update_diagonal, make_update_beside, make_forward, make_hand_on, make_backward)


@cache
def kernels(n: int) -> dict[str, wp.Kernel]:
    """Kernels for blocks of n rows, by name."""
    made = [make(n) for make in MAKERS]
    return {one.__name__: wp.kernel(enable_backward=False, module="unique")(one) for one in made}


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
        self.beside = wp.zeros((rows * rows, len(plan.owner)), f64, device=device)
        self.owner, self.other, self.first = (self._whole(a) for a in (plan.owner, plan.other, plan.first))
        self.filled = self._whole(plan.filled)
        self._launches: dict[str, list[Callable[[], None]]] = {"factor": [], "forward": [], "backward": []}
        self.b = wp.zeros((rows, plan.nodes), f64, device=device)
        self._record()

    def _whole(self, values: np.ndarray) -> wp.array:
        return wp.array(np.asarray(values, np.int32), dtype=wp.int32, device=self.device)

    def _record(self) -> None:
        diagonal, beside, owner = self.diagonal, self.beside, self.owner
        for level in self.plan.levels:
            nodes, blocks = self._whole(level.nodes), self._whole(level.blocks)
            self._add("factor", "factor", len(level.nodes), [nodes, diagonal])
            self._add("factor", "reduce", len(level.blocks), [blocks, owner, diagonal, beside])
            on = self._gathered(level.diagonal)
            off = self._gathered(level.beside)
            self._add("factor", "update_diagonal", len(level.diagonal.target), [*on[:3], owner, beside, diagonal])
            self._add("factor", "update_beside", len(level.beside.target), [*off, owner, diagonal, beside])
            self._add("forward", "forward", len(level.nodes), [nodes, diagonal, self.b])
            self._add("forward", "hand_on", len(level.diagonal.target), [*on[:3], owner, diagonal, beside, self.b])
            back = [nodes, self.first, self.other, diagonal, beside, self.b]
            self._add("backward", "backward", len(level.nodes), back)
        self._launches["backward"].reverse()

    def _gathered(self, gather: Gather) -> list[wp.array]:
        return [self._whole(one) for one in (gather.target, gather.first, gather.left, gather.right)]

    def _add(self, stage: str, name: str, threads: int, inputs: Sequence[Any]) -> None:
        if threads:
            kernel = kernels(self.rows)[name]
            command = wp.launch(kernel, threads, inputs=list(inputs), device=self.device, record_cmd=True)
            self._launches[stage].append(command.launch)

    def factor(self) -> None:
        """From the blocks of A, in their place."""
        for launch in self._launches["factor"]:
            launch()
        if self.core:
            self.core.factor()

    def solve(self) -> None:
        """From the right-hand side in `b`, in its place."""
        for launch in self._launches["forward"]:
            launch()
        if self.core:
            self.core.solve()
        for launch in self._launches["backward"]:
            launch()
