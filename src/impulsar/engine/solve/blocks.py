"""Closures of one joint, solved together (Mariti 2012 eq. 22, 23).

    δ = -(J M⁻¹ Jᵀ)⁻¹ (J v + bias)      for the 1 to 6 rows of a joint, by LDLᵀ

The block of a joint at slot r: row r + i keeps L_ij for j < i, and 1/D_i on the diagonal, at
block[6 (r + i) + j]. A row that the others of its joint already hold has 1/D = 0 and gets no impulse.
"""

import warp as wp

from ..coordinates.tree import apply_impulse, row_response, row_velocity
from ..spatial import ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .ldl import factor_dense, solve_dense


@wp.func
def block_size(m: wp.ref[SystemArrays], r: int) -> int:
    """How many closures the block has that begins with row r; 0 where none does."""
    if r >= m.slot_block.shape[0]:
        return 0
    return m.slot_block[r]


@wp.func
def factor_block(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, n: int, w: int):
    """LDLᵀ of the closures r .. r + n - 1."""
    for i in range(n):
        for j in range(i + 1):
            x.block[6 * (r + i) + j, w] = row_response(m, x, r + i, r + j, w)
    factor_dense(x.block, 6 * r, 6, n, w)


@wp.func
def factor_blocks(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """Factor the closures of every joint."""
    for r in range(m.slot_block.shape[0]):
        if m.slot_block[r] > 0:
            factor_block(m, x, r, m.slot_block[r], w)


@wp.func
def push_block(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, n: int, w: int) -> f64:
    """Impulses of one joint; returns the largest increment."""
    for i in range(n):
        x.block_rhs[i, w] = -(row_velocity(m, x, s.v, r + i, w) + x.row_bias[r + i, w])
    solve_dense(x.block, 6 * r, 6, n, x.block_rhs, w)
    worst = ZERO
    for i in range(n):
        step = x.block_rhs[i, w]
        s.impulse[r + i, w] = s.impulse[r + i, w] + step
        apply_impulse(m, x, s.v, r + i, step, w)
        worst = wp.max(worst, wp.abs(step))
    return worst


@wp.func
def push_block_pseudo(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, n: int, h: f64, w: int) -> f64:
    """Pseudo-impulses of one joint; returns the largest increment."""
    for i in range(n):
        x.block_rhs[i, w] = -(row_velocity(m, x, x.v_pseudo, r + i, w) + x.row_error[r + i, w] / h)
    solve_dense(x.block, 6 * r, 6, n, x.block_rhs, w)
    worst = ZERO
    for i in range(n):
        step = x.block_rhs[i, w]
        x.row_pseudo[r + i, w] = x.row_pseudo[r + i, w] + step
        apply_impulse(m, x, x.v_pseudo, r + i, step, w)
        worst = wp.max(worst, wp.abs(step))
    return worst
