"""Projection onto the bilateral rows, in the norm of the mass matrix, by the factor of a direct solve.

positions    q ← q ⊕ M⁻¹ Jᵀ λ     with A λ = -error, repeated with the same factor
velocities   v ← v + M⁻¹ Jᵀ λ     with A λ = -(J v - target)

Motors are rows too, but keep their coordinates while the joints are brought together: they get to their targets
by torques alone. A motor without bound has the velocity of its target, by an impulse whose work is booked, if it is
on it; one with a bound gives no impulse and keeps its velocity.
"""

import warp as wp

from ..constrain import kinds, motor
from ..constrain.frames import measure_loops, place_loops
from ..constrain.locks import reads_turns
from ..coordinates.retract import move_coordinates
from ..coordinates.tree import kinematics, row_velocity
from ..spatial import HALF, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.measured import POSITION_RESIDUAL, POSITION_SLOT
from .direct import apply_multipliers, solve_bilateral

ROUNDS = 4
PASSING = wp.constant(-1)
UNBOOKED = wp.constant(-2)


@wp.func
def load_position_errors(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int) -> f64:
    """Minus the position errors into x.multiplier; returns the largest among rows that can move."""
    worst = ZERO
    for i in range(m.bilateral.shape[0]):
        x.multiplier[i, w] = ZERO
        if x.solved[m.bilateral[i], w] != 0 and not motor.is_motor(x, m.bilateral[i], w):
            error = kinds.error(m, s, x, m.bilateral[i], t, w)
            x.multiplier[i, w] = -error
            worst = wp.max(worst, wp.abs(error))
    return worst


@wp.func
def report_worst(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """The row with the largest of the errors in x.multiplier goes to the report, if it is the worst so far."""
    for i in range(m.bilateral.shape[0]):
        error = wp.abs(x.multiplier[i, w])
        if error > x.report[POSITION_RESIDUAL, w]:
            x.report[POSITION_RESIDUAL, w] = error
            x.report[POSITION_SLOT, w] = f64(m.bilateral[i])


@wp.func
def project_positions(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, enough: f64, w: int
) -> bool:
    """`remove_errors`; False where they do not get as small as `enough` [m, rad]."""
    _, left = remove_errors(m, s, x, t, enough, w)
    return left <= enough


@wp.func(inline=False)
def remove_errors(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, enough: f64, w: int):
    """Remove position errors down to `enough` [m, rad]; geometry must be current, the factor nearly so.

    Returns the largest error found, which also goes to the report, and the largest that is left. Coordinates of loops
    are left as they were, but where rows read them: `measure_loops` is for whoever calls this.
    """
    turning = reads_turns(m)
    worst = load_position_errors(m, s, x, t, w)
    found = worst
    report_worst(m, x, w)
    rounds = int(0)
    while worst > enough and rounds < ROUNDS:
        solve_bilateral(m, x, w)
        for k in range(s.v.shape[0]):
            x.shift[k, w] = ZERO
        apply_multipliers(m, x, x.shift, w)
        move_coordinates(m, s, x.shift, w)
        kinematics(m, s, x, ZERO, w)
        place_loops(m, x, w)
        if turning:
            measure_loops(m, s, x, w)
        before = worst
        worst = load_position_errors(m, s, x, t, w)
        rounds += 1
        if worst > f64(0.5) * before:  # the factor does not help any more
            rounds = ROUNDS
    return found, worst


@wp.func
def velocity_error(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, jump: int, w: int
) -> f64:
    """What a bilateral row's velocity is off; of a motor with a bound, or off its target, 0 unless it jumps."""
    if motor.is_motor(x, r, w) and jump <= 0:
        if jump == PASSING or motor.is_bounded(m, r, w) or x.feedback[r, w] > ZERO:
            return ZERO
    return row_velocity(m, x, s.v, r, w) - kinds.target_rate(m, x, r, t, w)


@wp.func(inline=False)
def project_velocities(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, jump: int, w: int
) -> f64:
    """Make velocities satisfy the rows; x.multiplier holds the impulses. Returns the largest error found.

    jump: 1 where the velocities of targets jump. The work p (u₋ + u₊) / 2 of the motors' impulses is booked, but
    for a state in PASSING, such as a stage, where motors keep their velocities, and UNBOOKED, where the norm is another
    than that of the masses and multipliers are no impulses.
    """
    worst = ZERO
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        x.multiplier[i, w] = ZERO
        if x.solved[r, w] != 0:
            error = velocity_error(m, s, x, r, t, jump, w)
            x.multiplier[i, w] = -error
            worst = wp.max(worst, wp.abs(error))
    solve_bilateral(m, x, w)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if motor.is_motor(x, r, w) and x.multiplier[i, w] != ZERO and jump >= 0:
            mean = row_velocity(m, x, s.v, r, w) - HALF * velocity_error(m, s, x, r, t, jump, w)
            s.work[r, w] = s.work[r, w] + x.multiplier[i, w] * mean
    apply_multipliers(m, x, s.v, w)
    return worst
