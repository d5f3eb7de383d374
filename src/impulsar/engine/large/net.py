"""Joints that no level eliminates: nets. What the levels leave of A is solved as one sparse matrix.

    C x = b      C the Schur complement in the blocks of the core, symmetric
    on a CPU     SuperLU with minimum degree (scipy)
    on a GPU     cuDSS where it is installed (the extra `impulsar[cudss]`), else as on a CPU, by way of the host

A net may have rows that others imply, and C is singular then. C + ε 1 is factored, ε = 1e-12 of the mean diagonal, and
the remainder b - C x solved for again: that converges to the least x where b is in the range of C, and to what is
nearest to it elsewhere. `residual` is what is left of b in the last solve, by size.
"""

from typing import Protocol

import numpy as np
import warp as wp

from ...author.errors import StepError
from ..spatial import ZERO, f64
from .arrays import table, whole
from .cudss import Cudss, find_cudss
from .factor import Factor
from .plan import Plan

SHIFT = 1e-12  # of the mean diagonal
REFINEMENTS = 2
SHARES = 1024  # threads that sum


class Solver(Protocol):
    """A sparse symmetric matrix with a pattern of its own, factored and solved."""

    def factor(self, values: wp.array) -> None:
        """From its entries in the order of the pattern."""

    def solve(self, right: wp.array, out: wp.array) -> None:
        """out = C⁻¹ right."""


@wp.kernel(enable_backward=False)
def gather_entries(source: whole, diagonal: wp.array(dtype=f64), beside: wp.array(dtype=f64), out: wp.array(dtype=f64)):
    """Entries of C: source k of the diagonal's blocks, or -1 - k of those beside it."""
    at = wp.tid()
    k = source[at]
    if k >= 0:
        out[at] = diagonal[k]
    else:
        out[at] = beside[-1 - k]


@wp.kernel(enable_backward=False)
def sum_diagonal(place: whole, values: wp.array(dtype=f64), sums: wp.array(dtype=f64)):
    """Of the rows share, share + shares, ..."""
    share = wp.tid()
    total = ZERO
    k = share
    while k < place.shape[0]:
        total += values[place[k]]
        k += sums.shape[0]
    sums[share] = total


@wp.kernel(enable_backward=False)
def find_largest(values: wp.array(dtype=f64), largest: wp.array(dtype=f64)):
    """The largest size of the values share, share + shares, ...; no number where one of them is none."""
    share = wp.tid()
    found = ZERO
    k = share
    while k < values.shape[0]:
        size = wp.abs(values[k])
        if not size <= found and found == found:
            found = size
        k += largest.shape[0]
    largest[share] = found


@wp.kernel(enable_backward=False)
def shift_diagonal(place: whole, shift: f64, values: wp.array(dtype=f64)):
    values[place[wp.tid()]] = values[place[wp.tid()]] + shift


@wp.kernel(enable_backward=False)
def take_core(nodes: whole, b: table, out: wp.array(dtype=f64)):
    """Rows of b of the core, joint by joint."""
    at = wp.tid()
    n = b.shape[0]
    out[at] = b[at % n, nodes[at // n]]


@wp.kernel(enable_backward=False)
def put_core(nodes: whole, values: wp.array(dtype=f64), b: table):
    at = wp.tid()
    n = b.shape[0]
    b[at % n, nodes[at // n]] = values[at]


@wp.kernel(enable_backward=False)
def add_to(values: wp.array(dtype=f64), change: wp.array(dtype=f64)):
    at = wp.tid()
    values[at] = values[at] + change[at]


@wp.kernel(enable_backward=False)
def remainder(
    begin: whole,
    column: whole,
    values: wp.array(dtype=f64),
    x: wp.array(dtype=f64),
    b: wp.array(dtype=f64),
    out: wp.array(dtype=f64),
):
    """b - C x."""
    row = wp.tid()
    left = b[row]
    for k in range(begin[row], begin[row + 1]):
        left -= values[k] * x[column[k]]
    out[row] = left


class Net:
    """The core of a factor, as one sparse matrix."""

    def __init__(self, factor: Factor, name: str):
        self.blocks, device, n = factor, factor.device, factor.rows
        plan = factor.plan
        self._nodes = self._whole(plan.core)
        rows, columns, source = entries(plan, n)
        self.size = n * len(plan.core)
        self._begin = self._whole(np.searchsorted(rows, np.arange(self.size + 1)))
        self._column, self._source = self._whole(columns), self._whole(source)
        self._places = self._whole(np.flatnonzero(rows == columns))
        self._values, self._shifted = (wp.zeros(len(rows), f64, device=device) for _ in range(2))
        self._b, self._x, self._rest, self._change = (wp.zeros(self.size, f64, device=device) for _ in range(4))
        self._shares = wp.zeros(SHARES, f64, device=device)
        self._solver = _solver(device, self.size, self._begin, self._column, name)
        self.residual = 0.0

    def _whole(self, values: np.ndarray) -> wp.array:
        return wp.array(np.asarray(values, np.int32), dtype=wp.int32, device=self.blocks.device)

    def _launch(self, kernel: wp.Kernel, threads: int, *inputs: object) -> None:
        wp.launch(kernel, threads, inputs=list(inputs), device=self.blocks.device)

    def factor(self) -> None:
        """From what the levels have left in the blocks of the core."""
        flat = self.blocks.diagonal.flatten(), self.blocks.beside.flatten()
        self._launch(gather_entries, self._values.size, self._source, *flat, self._values)
        wp.copy(self._shifted, self._values)
        self._launch(sum_diagonal, SHARES, self._places, self._values, self._shares)
        mean = float(self._shares.numpy().sum()) / self.size
        self._launch(shift_diagonal, self.size, self._places, SHIFT * mean, self._shifted)
        self._solver.factor(self._shifted)

    def solve(self) -> None:
        """In the place of the core's rows of b."""
        b = self.blocks.b
        self._launch(take_core, self.size, self._nodes, b, self._b)
        self._solver.solve(self._b, self._x)
        for _ in range(REFINEMENTS):
            self._measure()
            self._solver.solve(self._rest, self._change)
            self._launch(add_to, self.size, self._x, self._change)
        self._measure()
        size = self._largest(self._b)
        self.residual = self._largest(self._rest) / size if size > 0.0 else 0.0
        self._launch(put_core, self.size, self._nodes, self._x, b)

    def _largest(self, values: wp.array) -> float:
        self._launch(find_largest, SHARES, values, self._shares)
        return float(self._shares.numpy().max())

    def _measure(self) -> None:
        given = (self._begin, self._column, self._values, self._x, self._b, self._rest)
        self._launch(remainder, self.size, *given)


def entries(plan: Plan, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns and sources of all entries, by rows and in each by columns."""
    core = plan.core
    place = np.full(plan.nodes, -1)
    place[core] = np.arange(len(core))
    i, j = (one.ravel() for one in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    low, high = np.maximum(i, j), np.minimum(i, j)
    at = place[core][:, None] * n
    rows, columns = [at + i], [at + j]
    sources = [(low * (low + 1) // 2 + high) * plan.nodes + core[:, None]]
    inside = np.flatnonzero((place[plan.owner] >= 0) & (place[plan.other] >= 0))
    one, two = place[plan.owner[inside]][:, None] * n, place[plan.other[inside]][:, None] * n
    source = -1 - ((i * n + j) * len(plan.owner) + inside[:, None])
    rows += [one + i, two + j]
    columns += [two + j, one + i]
    sources += [source, source]
    row, column, origin = (np.concatenate([part.ravel() for part in some]) for some in (rows, columns, sources))
    order = np.lexsort((column, row))
    return row[order], column[order], origin[order]


def _solver(device: str, size: int, begin: wp.array, column: wp.array, name: str) -> Solver:
    if device != "cpu" and find_cudss() is not None:
        return Cudss(size, begin, column, name)
    return HostSolver(size, begin.numpy(), column.numpy(), name)


class HostSolver:
    """SuperLU on the host."""

    def __init__(self, size: int, begin: np.ndarray, column: np.ndarray, name: str):
        self._name = name
        self._size, self._begin, self._column = size, begin, column

    def factor(self, values: wp.array) -> None:
        """From its entries in the order of the pattern."""
        self.factor_values(values.numpy())

    def solve(self, right: wp.array, out: wp.array) -> None:
        """out = C⁻¹ right."""
        out.assign(self.solved(right.numpy()))

    def factor_values(self, values: np.ndarray) -> None:
        """The same from an array of the host."""
        from scipy.sparse import csc_matrix
        from scipy.sparse.linalg import splu

        matrix = csc_matrix((values, self._column, self._begin), shape=(self._size, self._size))
        options = {"SymmetricMode": True, "Equil": False}
        try:
            self._factor = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        except RuntimeError as error:  # exactly singular, or no numbers
            raise StepError(f"{self._name}: the matrix of its net has no factor ({error}); shorten dt") from error

    def solved(self, right: np.ndarray) -> np.ndarray:
        """C⁻¹ right, of one or of several columns."""
        return self._factor.solve(right)
