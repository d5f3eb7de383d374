"""Direct solve of the bilateral rows, all at once: A λ = b with A = J M⁻¹ Jᵀ.

A is positive semidefinite: redundant constraints make it singular. It is factored as LDLᵀ within its
envelope, row by row in the order of the slots; rows that share no tree do not respond to each other, so
a chain of free bodies has a narrow band and costs O(N). A row whose pivot vanishes beside its diagonal
depends on rows before it: it gets 1/D = 0, no multiplier, and is satisfied by the others.

Row i of the factor is at envelope_row[i] .. for columns envelope_start[i] .. i. The linearly implicit pair
appends the compliant rows, whose softness stands on the diagonal beside their response.
"""

import warp as wp

from ..coordinates.generalized import apply_impulse, row_response
from ..spatial import ONE, ZERO, f64
from ..state import WorkArrays
from ..system import SystemArrays

DEPENDENT = wp.constant(wp.float64(1e-10))  # pivot of a dependent row, of its diagonal


@wp.func(inline=False)
def factor_rows(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], n: int, w: int):
    """LDLᵀ of those of the first n rows that are marked as solved, whose J and Y are filled."""
    F = x.factor  # local: the compiler keeps its address in a register
    starts = m.envelope_start
    ends = m.envelope_row
    for i in range(n):
        r = m.solvable[i]
        start = starts[i]
        at = ends[i] - start
        is_solved = x.solved[r, w] != 0
        for j in range(start, i):
            value = ZERO
            if is_solved and F[ends[j + 1] - 1, w] > ZERO:
                value = row_response(m, x, r, m.solvable[j], w)
                other = ends[j] - starts[j]
                for k in range(wp.max(start, starts[j]), j):
                    value -= F[at + k, w] * F[other + k, w]
            F[at + j, w] = value  # L D so far
        full = ZERO
        if is_solved:
            full = row_response(m, x, r, r, w)
            if i >= m.bilateral.shape[0]:
                full += x.row_softness[r, w]
        d = full
        for j in range(start, i):
            value = F[at + j, w]
            scaled = value * F[ends[j + 1] - 1, w]
            d -= value * scaled
            F[at + j, w] = scaled
        F[at + i, w] = ZERO
        if full > ZERO and d > DEPENDENT * full:
            F[at + i, w] = ONE / d


@wp.func
def factor_bilateral(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """LDLᵀ of the bilateral rows marked as solved."""
    factor_rows(m, x, m.bilateral.shape[0], w)


@wp.func(inline=False)
def solve_rows(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], n: int, w: int):
    """Solve A λ = b of n rows in place in x.multiplier: L y = b, z = y / D, Lᵀ λ = z."""
    F = x.factor
    y = x.multiplier
    starts = m.envelope_start
    ends = m.envelope_row
    for i in range(n):
        at = ends[i] - starts[i]
        value = y[i, w]
        for j in range(starts[i], i):
            value -= F[at + j, w] * y[j, w]
        y[i, w] = value
    for i in range(n):
        y[i, w] = y[i, w] * F[ends[i + 1] - 1, w]
    for back in range(n):
        i = n - 1 - back
        at = ends[i] - starts[i]
        value = y[i, w]
        for j in range(starts[i], i):
            y[j, w] = y[j, w] - F[at + j, w] * value


@wp.func
def solve_bilateral(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """Solve A λ = b of the bilateral rows."""
    solve_rows(m, x, m.bilateral.shape[0], w)


@wp.func
def apply_multipliers(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], v: wp.array2d(dtype=f64), w: int):
    """v ← v + M⁻¹ Jᵀ λ of all bilateral rows."""
    for i in range(m.bilateral.shape[0]):
        lam = x.multiplier[i, w]
        if lam != ZERO:
            apply_impulse(m, x, v, m.bilateral[i], lam, w)
