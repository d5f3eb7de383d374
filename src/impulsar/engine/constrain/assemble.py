"""Assembly: which slots are rows in this step, and what they respond.

closure      bias 0                                    unbounded, error removed
coupling     J = J_b - ratio J_a - Σ weight J_k        unbounded, error removed
limit        bias gap / h, or -e u where it bounces    impulse ≥ 0, overshoot removed
friction     bias 0                                    |impulse| ≤ h · bound
motor        bias -speed, or -(target - q) / h         |impulse| ≤ h · max torque
compliant    softness 1 / (h (c + h k)), bias k d / (c + h k)      spring, damper, hand
"""

import warp as wp

from ..spatial import ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from . import kinds
from .rows import is_spare, respond


@wp.func(inline=False)
def assemble(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, h: f64, w: int) -> int:
    """Fill all rows with their responses and effective masses (Mikhaylyuk 2017 eq. 3-6); returns how many."""
    count = int(0)
    for r in range(x.row_count[0, w]):
        x.solved[r, w] = int(0)
        if (m.spares[0] != 0 and r < m.basis.shape[0] and is_spare(m, r, w)) or kinds.fill(m, s, x, r, t, h, w) == 0:
            if not kinds.is_force(x, r, w):  # it keeps the impulse of its torque
                s.impulse[r, w] = ZERO
            continue
        if not respond(m, x, r, x.row_softness[r, w], w):
            s.impulse[r, w] = ZERO
            if x.row_group[r, w] == 1:  # rows that are bounded together stay together
                continue
        x.row_pseudo[r, w] = ZERO
        x.active[count, w] = r
        count += 1
    return count


@wp.func(inline=False)
def assemble_bilateral(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], t: f64, spare_too: int, w: int):
    """J, responses and effective masses of the bilateral rows; minus their accelerations into x.rhs."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        x.solved[r, w] = int(0)
        x.row_torque[r, w] = ZERO
        x.rhs[i, w] = ZERO
        if kinds.can_stick(x, r, w) or (spare_too == 0 and is_spare(m, r, w)):
            continue
        x.rhs[i, w] = -kinds.fill_instant(m, x, r, t, w)
        if respond(m, x, r, ZERO, w):
            x.solved[r, w] = int(1)


@wp.func
def feed_back_errors(x: wp.ref[WorkArrays], rows: int, h: f64, beta: f64, w: int):
    """Ask the velocities to remove a part of the position errors: bias += β / h · error."""
    for a in range(rows):
        r = x.active[a, w]
        x.row_bias[r, w] = x.row_bias[r, w] + beta / h * x.row_error[r, w]
