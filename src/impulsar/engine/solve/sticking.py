"""Sticking friction rows, solved all at once after a sweep.

A sweep leaves every row an error of the size of its tolerance, and a mechanism held by friction then
creeps. The rows that stick (impulse inside its bound) are solved together, A Δp = -J v with
A = J M⁻¹ Jᵀ, by LDLᵀ; a row whose impulse would leave its bound slides and is taken out.
"""

import warp as wp

from ..constrain import kinds
from ..coordinates.tree import apply_impulse, row_response, row_velocity
from ..spatial import ONE, ZERO
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .cones import clip_cone, cone_bound, cone_impulse
from .ldl import factor_dense, solve_dense

INSIDE = wp.constant(wp.float64(1e-12))  # nearer to its bound than this part of it, a row slides


@wp.func
def collect_sticking(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, w: int) -> int:
    """List the friction rows whose impulse is inside its bound."""
    count = int(0)
    inside = int(0)
    left = int(0)
    for a in range(rows):
        r = x.active[a, w]
        if kinds.can_stick(x, r, w):
            if left == 0:
                left = x.row_group[r, w]
                inside = int(0)
                if cone_impulse(s, x, r, w) < (ONE - INSIDE) * cone_bound(s, x, r, w):
                    inside = int(1)
            left -= 1
            if inside != 0 and x.row_mass[r, w] > ZERO:
                x.sticking[count, w] = r
                count += 1
    return count


@wp.func
def solve_sticking(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], n: int, w: int):
    """Δp of the sticking rows into stick_rhs, by LDLᵀ of their A; dependent rows get none."""
    size = x.sticking.shape[0]
    for i in range(n):
        r = x.sticking[i, w]
        x.stick_rhs[i, w] = -(row_velocity(m, x, s.v, r, w) + x.row_bias[r, w])
        for j in range(i + 1):
            x.stick_matrix[i * size + j, w] = row_response(m, x, r, x.sticking[j, w], w)
    factor_dense(x.stick_matrix, 0, size, n, w)
    solve_dense(x.stick_matrix, 0, size, n, x.stick_rhs, w)


@wp.func
def stick(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, w: int):
    """Solve the sticking friction rows; rows that cannot hold slide, at most one round each."""
    n = collect_sticking(m, s, x, rows, w)
    rounds = n
    while n > 0 and rounds > 0:
        solve_sticking(m, s, x, n, w)
        for i in range(n):
            r = x.sticking[i, w]
            s.impulse[r, w] = s.impulse[r, w] + x.stick_rhs[i, w]
            apply_impulse(m, x, s.v, r, x.stick_rhs[i, w], w)
        slid = clip_sticking(m, s, x, rows, w)
        rounds -= 1
        if slid == 0:
            n = int(0)
        else:
            n = collect_sticking(m, s, x, rows, w)


@wp.func
def clip_sticking(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, w: int) -> int:
    """Bring friction impulses that left their bounds back to them; returns how many did."""
    slid = int(0)
    left = int(0)
    for a in range(rows):
        r = x.active[a, w]
        if kinds.can_stick(x, r, w):
            if left == 0:
                left = x.row_group[r, w]
                if clip_cone(m, s, x, r, w):
                    slid += 1
            left -= 1
    return slid
