"""Sequential impulses: projected Gauss-Seidel over the rows (Mikhaylyuk 2017 eq. 3, 8, clipping).

    Δp = -(J v + bias + softness p) m_eff      p ← clip(p + Δp)      v ← v + M⁻¹ Jᵀ Δp

and the same for pseudo-impulses, which move positions only. Rows that are bounded together are pushed together: see
cones.py.
"""

import warp as wp

from ..coordinates.tree import apply_impulse, row_velocity
from ..spatial import INFINITY, UNLIMITED, ZERO, f64, matters
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .blocks import block_size, push_block, push_block_pseudo
from .cones import bounds, push_cone


@wp.func
def warm_start(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, h: f64, keep: f64, w: int
):
    """Apply the last step's accumulated impulses, scaled to this step, within this step's bounds."""
    scale = ZERO
    if s.last_h[0, w] > ZERO:
        scale = keep * h / s.last_h[0, w]
    for a in range(rows):
        r = x.active[a, w]
        low, high = bounds(s, x, r, w)
        p = wp.clamp(scale * s.impulse[r, w], low, high)
        s.impulse[r, w] = p
        if matters(p):
            apply_impulse(m, x, s.v, r, p, w)
    s.last_h[0, w] = h


@wp.func
def start_pseudo(x: wp.ref[WorkArrays], w: int):
    """Pseudo-velocities start at zero."""
    for k in range(x.v_pseudo.shape[0]):
        x.v_pseudo[k, w] = ZERO


@wp.func
def push(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """One row's impulse within its bounds; returns its increment."""
    p = s.impulse[r, w]
    u = row_velocity(m, x, s.v, r, w) + x.row_bias[r, w] + x.row_softness[r, w] * p
    low, high = bounds(s, x, r, w)
    new = wp.clamp(p - u * x.row_mass[r, w], low, high)
    s.impulse[r, w] = new
    apply_impulse(m, x, s.v, r, new - p, w)
    return new - p


@wp.func
def push_pseudo(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, h: f64, w: int) -> f64:
    """One row's pseudo-impulse; returns its increment."""
    low = ZERO
    if x.row_low[r, w] < ZERO:
        low = -INFINITY
    p = x.row_pseudo[r, w]
    u = row_velocity(m, x, x.v_pseudo, r, w) + x.row_error[r, w] / h
    new = wp.max(p - u * x.row_mass[r, w], low)
    x.row_pseudo[r, w] = new
    apply_impulse(m, x, x.v_pseudo, r, new - p, w)
    return new - p


@wp.func
def corrects(x: wp.ref[WorkArrays], r: int, w: int) -> int:
    """1 where a row corrects positions: bilateral rigid rows, and limits that were passed."""
    if x.row_softness[r, w] != ZERO:
        return 0
    if x.row_low[r, w] <= -UNLIMITED and x.row_high[r, w] >= UNLIMITED:
        return 1
    if x.row_low[r, w] == ZERO:
        return 1
    return 0


@wp.func(inline=False)
def sweep_once(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    rows: int,
    h: f64,
    correct: int,  # 1: remove position errors by pseudo-impulses
    blocks: int,  # 1: solve the closures of a joint together
    w: int,
) -> f64:
    """Push every row once, but for those that a direct solve takes; returns the largest increment."""
    worst = ZERO
    skip = int(0)  # rows done together with the one before
    for a in range(rows):
        r = x.active[a, w]
        if skip > 0:
            skip -= 1
        elif x.solved[r, w] != 0:
            skip = 0
        elif x.row_group[r, w] > 1:
            worst = wp.max(worst, push_cone(m, s, x, r, w))
            skip = x.row_group[r, w] - 1
        elif blocks != 0 and block_size(m, r) > 0:
            worst = wp.max(worst, push_block(m, s, x, r, m.slot_block[r], w))
            if correct != 0:
                worst = wp.max(worst, push_block_pseudo(m, x, r, m.slot_block[r], h, w))
            skip = m.slot_block[r] - 1
        else:
            worst = wp.max(worst, wp.abs(push(m, s, x, r, w)))
            if correct != 0 and corrects(x, r, w) != 0:
                worst = wp.max(worst, wp.abs(push_pseudo(m, x, r, h, w)))
    return worst


@wp.func
def sweep(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    rows: int,
    h: f64,
    epsilon: f64,
    limit: int,
    correct: int,
    blocks: int,
    w: int,
) -> int:
    """Sweep until no increment exceeds epsilon [N s, N m s] or the limit is reached; returns iterations."""
    iterations = int(0)
    worst = INFINITY
    while iterations < limit and worst > epsilon:
        worst = sweep_once(m, s, x, rows, h, correct, blocks, w)
        iterations += 1
    return iterations
