"""The step report: what the steps of a launch did, measured."""

import warp as wp

from .constrain import closure, kinds
from .coordinates.tree import row_velocity
from .spatial import UNLIMITED, ZERO, f64
from .state import StateArrays, WorkArrays
from .system import SystemArrays
from .system.measured import (
    BROKEN,
    COARSE,
    ENDED_BY_LIMIT,
    ITERATIONS,
    KINETIC,
    MODE_CHANGES,
    MOST_ITERATIONS,
    NOT_FINITE,
    POSITION_RESIDUAL,
    POSITION_SLOT,
    POTENTIAL,
    ROWS,
    RUNAWAY,
    SUB_STEPS,
    TOTAL_ITERATIONS,
    VELOCITY_RESIDUAL,
    VELOCITY_SLOT,
)

APART = wp.constant(wp.float64(100.0))  # sizes of the mechanism: no joint is open by that much in any motion


@wp.func
def start_report(x: wp.ref[WorkArrays], w: int):
    for k in range(x.report.shape[0]):
        x.report[k, w] = ZERO


@wp.func
def finite_or_infinite(error: f64) -> f64:
    """A residual that is no number is no small one."""
    if wp.isfinite(error):
        return error
    return f64(wp.inf)


@wp.func
def report_step(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    s: wp.ref[StateArrays],
    rows: int,
    iterations: int,
    limit: int,
    w: int,
):
    """Add a step to the report: iterations, what ended it, residuals of the bilateral rows."""
    n = f64(iterations)
    x.report[ITERATIONS, w] = n
    x.report[TOTAL_ITERATIONS, w] = x.report[TOTAL_ITERATIONS, w] + n
    x.report[MOST_ITERATIONS, w] = wp.max(x.report[MOST_ITERATIONS, w], n)
    if iterations >= limit and rows > 0:
        x.report[ENDED_BY_LIMIT, w] = x.report[ENDED_BY_LIMIT, w] + f64(1.0)
    x.report[ROWS, w] = f64(rows)
    position = ZERO
    velocity = ZERO
    for a in range(rows):
        r = x.active[a, w]
        if x.row_low[r, w] <= -UNLIMITED and x.row_softness[r, w] == ZERO:
            error = finite_or_infinite(wp.abs(x.row_error[r, w]))
            if error >= position:
                position = error
                x.report[POSITION_SLOT, w] = f64(r)
            rate = finite_or_infinite(wp.abs(row_velocity(m, x, s.v, r, w) + x.row_bias[r, w]))
            if rate >= velocity:
                velocity = rate
                x.report[VELOCITY_SLOT, w] = f64(r)
    x.report[POSITION_RESIDUAL, w] = position
    x.report[VELOCITY_RESIDUAL, w] = velocity


@wp.func
def report_substeps(
    x: wp.ref[WorkArrays], sub_steps: int, evaluations: int, events: int, cut: int, coarse: f64, w: int
):
    """Add a nominal step of an error-controlled method: evaluations count as iterations."""
    n = f64(evaluations)
    x.report[ITERATIONS, w] = n
    x.report[TOTAL_ITERATIONS, w] = x.report[TOTAL_ITERATIONS, w] + n
    x.report[MOST_ITERATIONS, w] = wp.max(x.report[MOST_ITERATIONS, w], n)
    x.report[SUB_STEPS, w] = x.report[SUB_STEPS, w] + f64(sub_steps)
    x.report[MODE_CHANGES, w] = x.report[MODE_CHANGES, w] + f64(events)
    if cut != 0:
        x.report[ENDED_BY_LIMIT, w] = x.report[ENDED_BY_LIMIT, w] + f64(1.0)
    x.report[COARSE, w] = wp.max(x.report[COARSE, w], coarse)


@wp.func
def report_velocities(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """Worst velocity error of the rows of a direct solve whose J is filled."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if x.solved[r, w] != 0:
            error = wp.abs(row_velocity(m, x, s.v, r, w) - kinds.target_rate(m, x, r, t, w))
            if error > x.report[VELOCITY_RESIDUAL, w]:
                x.report[VELOCITY_RESIDUAL, w] = error
                x.report[VELOCITY_SLOT, w] = f64(r)


@wp.func
def check_state(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """Mark the report once the energy is no longer a number, which stays so, or a joint has flown apart."""
    if not (wp.isfinite(x.energy[KINETIC, w]) and wp.isfinite(x.energy[POTENTIAL, w])):
        x.report[BROKEN, w] = wp.max(x.report[BROKEN, w], f64(NOT_FINITE))
    elif x.report[POSITION_RESIDUAL, w] > APART * m.size[0] and x.report[BROKEN, w] == ZERO:
        if closure.is_length(m, x, int(x.report[POSITION_SLOT, w]), w):
            x.report[BROKEN, w] = f64(RUNAWAY)
