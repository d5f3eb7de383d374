"""The instant: constrained accelerations of a state.

v̇ = M⁻¹ (f + Jᵀ λ)      J v̇ + J̇ v = target's acceleration      λ by LDLᵀ of J M⁻¹ Jᵀ

Friction that slides is among the forces f; friction that sticks and limits that are closed are rows (locked.py).
"""

import warp as wp

from ..constrain import kinds, motor
from ..constrain.assemble import assemble_bilateral
from ..constrain.frames import follow_loops
from ..constrain.motor import GENTLE, OFF_TARGET
from ..coordinates.retract import move_coordinates
from ..coordinates.tree import accelerate, articulate, kinematics, row_velocity
from ..forces.total import total
from ..ledger import ledger_size, work_entry
from ..options import Option
from ..solve.direct import CHOOSE, STRONGER, apply_multipliers, choose_rows, factor_bilateral, solve_bilateral
from ..solve.project import PASSING, load_position_errors, project_velocities
from ..solve.saturate import SATURATIONS, saturate_motors
from ..spatial import ONE, ZERO, f64, spatial, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .control import keep_derivatives
from .locked import apply_locked, hold_locked, open_locked

TWICE = wp.constant(wp.float64(2.0))
CLOSE = wp.constant(wp.float64(1e-15))  # near a singular position a state so near to the joints is on them [m, rad]
FEEDBACK = wp.constant(wp.float64(1.0))  # Option.closing: joints are closed by Baumgarte's feedback alone
BACK_AT_ONCE = wp.constant(wp.float64(20.0))  # rate of a speed motor's way back to its target, per impulse step


@wp.func(inline=False)
def evaluate(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, stage: int, w: int) -> f64:
    """Constrained accelerations, multipliers and powers of the present state at time t, into a stage.

    x.locked and x.at_rest say which rows hold beside the equations. Returns the strength of the weakest equation.
    """
    slots = m.slot_kind.shape[0]
    book = stage * ledger_size(slots, m.load_body.shape[0], m.fluid_channel.shape[0])
    rounds = int(0)
    weakest = ONE
    while rounds < 4:
        kinematics(m, s, x, ZERO, w)
        follow_loops(m, s, x, w)
        total(m, s, x, t, stage, w)
        articulate(m, x, w)
        accelerate(m, x, spatial(zero3(), -m.gravity[0, w]), 1, w)
        rounds += 1
        if m.bilateral.shape[0] > 0:
            weakest = factor_equations(m, x, t, w)
            open_by_choice = m.options[Option.closing] == FEEDBACK
            if weakest >= m.weak[0, w] or stage == 0 or open_by_choice or approach_joints(m, s, x, t, w) <= CLOSE:
                rounds = int(4)
        else:
            rounds = int(4)
    modal = x.locked.shape[0] > 0
    if modal:
        open_locked(m, x, w)
    if m.bilateral.shape[0] > 0 or modal:
        for i in range(m.bilateral.shape[0]):
            x.multiplier[i, w] = ZERO
            if x.solved[m.bilateral[i], w] != 0:
                x.multiplier[i, w] = x.rhs[i, w]
        if m.options[Option.closing] == FEEDBACK:
            feed_back(m, s, x, t, w)
        else:
            steer_motors(m, s, x, t, w)
        rounds = int(0)
        while rounds < SATURATIONS:
            if rounds > 0:
                factor_bilateral(m, x, w)
            if modal:
                hold_locked(m, x, w)
            solve_bilateral(m, x, w)
            rounds += 1
            if saturate_motors(m, x, m.bilateral.shape[0], rounds, w) == 0:
                rounds = SATURATIONS
        apply_multipliers(m, x, x.qdd, w)
        if modal:
            apply_locked(m, x, x.qdd, w)
            for k in range(x.lock_count[0, w]):
                s.impulse[x.locked[k, w], w] = x.lock_force[k, w] * m.nominal_h[0]
        for i in range(m.bilateral.shape[0]):
            r = m.bilateral[i]
            if kinds.can_stick(x, r, w):
                continue
            lam = x.multiplier[i, w]
            if x.row_torque[r, w] != ZERO:
                lam = x.row_torque[r, w]
            s.impulse[r, w] = lam * m.nominal_h[0]
            if motor.is_motor(x, r, w):
                x.k_book[work_entry(book, slots, r), w] = lam * row_velocity(m, x, s.v, r, w)
    keep_derivatives(m, s, x, stage, w)
    return weakest


@wp.func(inline=False)
def factor_equations(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], t: f64, w: int) -> f64:
    """Rows and factor of the accelerations' equations; returns the strength of the weakest row.

    Where those that hold the mechanism elsewhere are weak here, and spare ones would do better, these are chosen.
    """
    assemble_bilateral(m, x, t, 0, w)
    weakest = factor_bilateral(m, x, w)
    if weakest < CHOOSE and x.gram.shape[0] > 0:
        assemble_bilateral(m, x, t, 1, w)
        choose_rows(m, x, w)
        chosen = factor_bilateral(m, x, w)
        if chosen > STRONGER * weakest:
            return chosen
        assemble_bilateral(m, x, t, 0, w)
        factor_bilateral(m, x, w)
    return weakest


@wp.func
def approach_joints(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int) -> f64:
    """Bring the state of a stage onto the joints; returns how far it was off [m, rad and per second].

    A stage is off them by its truncation error. Near a singular position, at a distance s from it, the
    accelerations of such a state are off by that error over s: error control would follow a phantom.
    """
    off = load_position_errors(m, s, x, t, w)
    if off > CLOSE:
        solve_bilateral(m, x, w)
        for k in range(s.v.shape[0]):
            x.shift[k, w] = ZERO
        apply_multipliers(m, x, x.shift, w)
        move_coordinates(m, s, x.shift, w)
    return wp.max(off, project_velocities(m, s, x, t, PASSING, w))


@wp.func(inline=False)
def choose_feedback(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, anew: bool, w: int
) -> int:
    """How motors go back to their targets in a sub-step from time t; returns how many change their way.

    What the integration leaves is removed by an even push, chosen anew where stages are, that has nothing left
    after two nominal steps: feedback from the stages' own errors would cost the pair its order. A motor that is
    off its target, because it was too weak or the target jumped, goes back at a rate α: a speed as fast as can
    be, a position gently, lest it tear the mechanism away, and neither faster than a fixed step is stable for.
    """
    changed = int(0)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if motor.is_motor(x, r, w):
            error, miss = motor.miss(m, s, x, r, t, w)
            rate = ZERO
            slack = OFF_TARGET * (ONE + wp.abs(motor.target_rate(m, x, r, t, w)))
            if wp.abs(miss) > slack or motor.is_off_target(m, s, x, r, t, w):
                rate = BACK_AT_ONCE / m.options[Option.impulse_step]
                if motor.is_servo(x, r, w):
                    rate = GENTLE / m.options[Option.impulse_step]
                if m.options[Option.steady] > ZERO:
                    rate = wp.min(rate, ONE / m.nominal_h[0])
            if rate != x.feedback[r, w]:
                x.feedback[r, w] = rate
                x.push[r, w] = ZERO
                changed += 1
            if anew:
                span = wp.max(m.nominal_h[0], m.options[Option.impulse_step])
                x.push[r, w] = ZERO
                if rate == ZERO:
                    x.push[r, w] = -(error / span + f64(1.5) * miss) / span
    return changed


@wp.func
def steer_motors(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """Motors go back to their targets by their own torque, which is booked and bounded like the rest of it.

    speed   u̇ = ṙ + push - α (u - r)        position   u̇ = r̈ + push - 2 α (u - ṙ) - α² (q - r)
    """
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if motor.is_motor(x, r, w):
            rate = x.feedback[r, w]
            push = x.push[r, w]
            if rate > ZERO:
                error, miss = motor.miss(m, s, x, r, t, w)
                push -= rate * miss
                if motor.is_servo(x, r, w):
                    push -= rate * (miss + rate * error)
            x.multiplier[i, w] = x.multiplier[i, w] + push
            x.rhs[i, w] = x.multiplier[i, w]


@wp.func(inline=False)
def feed_back(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """Φ̈ + 2 α Φ̇ + β² Φ = 0 in place of Φ̈ = 0 (Baumgarte 1972; of Wang 2011 eq. 7): joints and motors alike."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if x.solved[r, w] != 0:
            rate = row_velocity(m, x, s.v, r, w) - kinds.target_rate(m, x, r, t, w)
            push = TWICE * m.options[Option.alpha] * rate + m.options[Option.square] * kinds.error(m, s, x, r, t, w)
            x.multiplier[i, w] = x.multiplier[i, w] - push
            x.rhs[i, w] = x.multiplier[i, w]
