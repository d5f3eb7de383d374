"""Rows that are locked in a smooth sub-step, friction that sticks and limits that are closed, beside the equations.

With the equations A λ = b of the bilateral rows, J v̇ + bias = 0 of the locked ones and C = A_lb their responses,

    S p = r - C A⁻¹ b        S = A_ll - C A⁻¹ Cᵀ        λ = A⁻¹ (b - Cᵀ p)

S is singular where rows hold what others hold as well: forces are then those that are least, for

    (S + ε D) Δp = r - S p        D its diagonal

repeated has them for a limit, at a factor of ε / eigenvalue each time, and asks for no decision on its rank.
"""

import warp as wp

from ..constrain import friction, kinds
from ..coordinates.tree import apply_impulse, row_response, row_velocity
from ..solve.ldl import factor_dense, solve_dense, solve_envelope
from ..spatial import ONE, ZERO, f64, matters
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .settle import open_row

SOFT = wp.constant(wp.float64(1e-10))  # ε
HELD = wp.constant(wp.float64(1e-12))  # what is left of a row's own response where equations hold it
REPEATS = 3


@wp.func(inline=False)
def list_locked(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """The rows that their modes lock."""
    n = int(0)
    for r in range(x.row_count[0, w]):
        locked = bool(False)
        if kinds.can_stick(x, r, w):
            if friction.bound(m, r, w) > ZERO:
                locked = not friction.slides(s, x, friction.first_of(x, r, w), w)
        elif kinds.is_limit(x, r, w):
            locked = s.mode[r, w] != ZERO
        if locked:
            x.locked[n, w] = r
            n += 1
    x.lock_count[0, w] = n


@wp.func(inline=False)
def open_locked(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """J, responses and biases of the locked rows, at accelerations without them, and of those that may lock."""
    for k in range(x.lock_count[0, w]):
        open_row(m, x, x.locked[k, w], w)
    for r in range(x.row_count[0, w]):
        if x.at_rest[r, w] != 0:
            open_row(m, x, r, w)


@wp.func(inline=False)
def factor_locked(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """S and its factor, with the bilateral rows that are solved."""
    n = x.lock_count[0, w]
    size = x.locked.shape[0]
    rows = m.bilateral.shape[0]
    for k in range(n):
        r = x.locked[k, w]
        for i in range(rows):
            couple = ZERO
            if x.solved[m.bilateral[i], w] != 0:
                couple = row_response(m, x, m.bilateral[i], r, w)
            x.lock_couple[k * rows + i, w] = couple
            x.lock_column[i, w] = couple
        solve_envelope(x.factor, m.envelope_start, m.envelope_row, rows, x.lock_column, w)
        for i in range(rows):
            x.lock_share[k * rows + i, w] = x.lock_column[i, w]
    for k in range(n):
        for j in range(k + 1):
            own = row_response(m, x, x.locked[k, w], x.locked[j, w], w)
            full = own
            for i in range(rows):
                own -= x.lock_couple[k * rows + i, w] * x.lock_share[j * rows + i, w]
            if k == j and own <= HELD * full:
                own = ZERO
            x.lock_matrix[k * size + j, w] = own
            x.lock_matrix[j * size + k, w] = own
    for k in range(n):
        for j in range(k + 1):
            value = x.lock_matrix[k * size + j, w]
            if k == j:
                value *= ONE + SOFT
            x.lock_factor[k * size + j, w] = value
    factor_dense(x.lock_factor, 0, size, n, w)


@wp.func(inline=False)
def solve_locked(x: wp.ref[WorkArrays], w: int):
    """x.lock_force from x.lock_rhs: the least that does."""
    n = x.lock_count[0, w]
    size = x.locked.shape[0]
    for k in range(n):
        x.lock_force[k, w] = ZERO
    for _ in range(REPEATS):
        for k in range(n):
            left = x.lock_rhs[k, w]
            for j in range(n):
                left -= x.lock_matrix[k * size + j, w] * x.lock_force[j, w]
            x.lock_step[k, w] = left
        solve_dense(x.lock_factor, 0, size, n, x.lock_step, w)
        for k in range(n):
            x.lock_force[k, w] = x.lock_force[k, w] + x.lock_step[k, w]


@wp.func(inline=False)
def hold_locked(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """Forces of the locked rows at the accelerations x.qdd; takes what they do off the equations' x.multiplier."""
    n = x.lock_count[0, w]
    rows = m.bilateral.shape[0]
    factor_locked(m, x, w)
    for i in range(rows):
        x.lock_column[i, w] = x.multiplier[i, w]
    solve_envelope(x.factor, m.envelope_start, m.envelope_row, rows, x.lock_column, w)
    for k in range(n):
        r = x.locked[k, w]
        rest = -row_velocity(m, x, x.qdd, r, w) - x.row_bias[r, w]
        for i in range(rows):
            rest -= x.lock_couple[k * rows + i, w] * x.lock_column[i, w]
        x.lock_rhs[k, w] = rest
    solve_locked(x, w)
    for i in range(rows):
        taken = ZERO
        for k in range(n):
            taken += x.lock_couple[k * rows + i, w] * x.lock_force[k, w]
        x.multiplier[i, w] = x.multiplier[i, w] - taken


@wp.func
def apply_locked(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], v: wp.array2d(dtype=f64), w: int):
    """v ← v + M⁻¹ Jᵀ p of the locked rows alone."""
    for k in range(x.lock_count[0, w]):
        if matters(x.lock_force[k, w]):
            apply_impulse(m, x, v, x.locked[k, w], x.lock_force[k, w], w)


@wp.func(inline=False)
def push_locked(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], v: wp.array2d(dtype=f64), w: int):
    """v ← v + M⁻¹ Jᵀ p of the locked rows with what the bilateral ones give for it."""
    rows = m.bilateral.shape[0]
    apply_locked(m, x, v, w)
    for i in range(rows):
        p = ZERO
        for k in range(x.lock_count[0, w]):
            p -= x.lock_share[k * rows + i, w] * x.lock_force[k, w]
        if matters(p):
            apply_impulse(m, x, v, m.bilateral[i], p, w)
