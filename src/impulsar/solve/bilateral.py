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
    for i in range(n):
        r = m.solvable[i]
        start = m.envelope_start[i]
        at = m.envelope_row[i] - start
        for j in range(start, i):
            value = ZERO
            if x.solved[r, w] != 0 and x.factor[m.envelope_row[j] + j - m.envelope_start[j], w] > ZERO:
                value = row_response(m, x, r, m.solvable[j], w)
                other = m.envelope_row[j] - m.envelope_start[j]
                for k in range(wp.max(start, m.envelope_start[j]), j):
                    value -= x.factor[at + k, w] * x.factor[other + k, w]
            x.factor[at + j, w] = value  # L D so far
        full = ZERO
        if x.solved[r, w] != 0:
            full = row_response(m, x, r, r, w)
            if i >= m.bilateral.shape[0]:
                full += x.row_softness[r, w]
        d = full
        for j in range(start, i):
            scaled = x.factor[at + j, w] * x.factor[m.envelope_row[j] + j - m.envelope_start[j], w]
            d -= x.factor[at + j, w] * scaled
            x.factor[at + j, w] = scaled
        x.factor[at + i, w] = ZERO
        if full > ZERO and d > DEPENDENT * full:
            x.factor[at + i, w] = ONE / d


@wp.func
def factor_bilateral(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """LDLᵀ of the bilateral rows marked as solved."""
    factor_rows(m, x, m.bilateral.shape[0], w)


@wp.func(inline=False)
def solve_rows(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], n: int, w: int):
    """Solve A λ = b of n rows in place in x.multiplier: L y = b, z = y / D, Lᵀ λ = z."""
    for i in range(n):
        at = m.envelope_row[i] - m.envelope_start[i]
        value = x.multiplier[i, w]
        for j in range(m.envelope_start[i], i):
            value -= x.factor[at + j, w] * x.multiplier[j, w]
        x.multiplier[i, w] = value
    for i in range(n):
        x.multiplier[i, w] = x.multiplier[i, w] * x.factor[m.envelope_row[i] + i - m.envelope_start[i], w]
    for back in range(n):
        i = n - 1 - back
        at = m.envelope_row[i] - m.envelope_start[i]
        for j in range(m.envelope_start[i], i):
            x.multiplier[j, w] = x.multiplier[j, w] - x.factor[at + j, w] * x.multiplier[i, w]


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
