"""linear_implicit: linearly implicit Euler steps of index 2, without iteration (Wang 2011 eq. 9, corrected).

    q₁ = q₀ ⊕ h u₀                                        then, once:  q₁ ← q₁ ⊕ M⁻¹ Jᵀ λ,  J M⁻¹ Jᵀ λ = -Φ(q₁)
    (M - h J_u - h² J_q) Δ = h f(q₁, u₀) + h Jᵀ λ         J (u₀ + Δ) = target's velocity        u₁ = u₀ + Δ

all at q₁: f(q₁, u₀) is the f + h J_q u₀ of the paper, and all of it instead of its linear part. Velocities satisfy the
rows to round-off. Joints open by h/2 ∫ Φ_qq(u, u) without the correction, of first order and for good; with it by order
four, and no more after an hour than after a second. Both sides take J of q₁: with that of q₀ on the one side, as
printed, the multipliers would do work. J_u and J_q are those of springs, dampers, viscous friction and hands, row by
row: stable at any stiffness and damping with -h² J_q (`stiffness`), without it as long as h² k < 4 m + 2 h c. By a
step a vibration changes by √((m + h² k) / (m + h c + h² k)): what is too fast to be followed is not damped by it. What
turning does to forces that are there, and velocity products, stay explicit: they are not stiff.
"""

from dataclasses import dataclass

import numpy as np
import warp as wp

from ..constrain import kinds, motor
from ..constrain.frames import follow_loops
from ..constrain.reactions import instant_reactions
from ..constrain.topology import list_rows
from ..coordinates.retract import move_coordinates
from ..coordinates.tree import accelerate, apply_impulse, articulate, kinematics, row_velocity
from ..forces.total import total
from ..integrate.books import keep_books, measure_energy
from ..integrate.clock import advance_clock
from ..integrate.evaluate import evaluate, factor_equations
from ..integrate.pairs import EXPLICIT, tableaux
from ..integrate.tangent import factor_tangent
from ..ledger import work_entry
from ..options import own_options
from ..report import check_state, report_substeps, report_velocities, start_report
from ..solve.direct import apply_multipliers, factor_bilateral, solve_bilateral, solve_rows
from ..solve.project import load_position_errors, report_worst
from ..solve.saturate import SATURATIONS, saturate_motors
from ..spatial import HALF, ZERO, f64, spatial, zero3
from ..state import StateArrays, WorkArrays
from ..system import System, SystemArrays
from ..system.channels import just_before
from .base import Method
from .refusals import refuse_inner_states, refuse_jumps

Own = own_options("correct", "stiffness")


@dataclass(frozen=True)
class LinearImplicit(Method):
    """Options of the linearly implicit Euler method."""

    correct: bool = True  # one correction of positions before velocities are solved for
    stiffness: bool = True  # -h² J_q in the matrix: stable at any stiffness

    name = "linear_implicit"
    order = 1
    coordinates = ("generalized", "maximal")
    places = Own
    skips_spares = True

    @property
    def kernel(self) -> wp.Kernel:
        return linear_implicit_kernel

    @property
    def most_work(self) -> int:
        return 1

    @property
    def tableau(self) -> np.ndarray:
        return tableaux("euler")

    def refuse(self, system: System) -> None:
        """Raise ModelError at what acts by jumps."""
        refuse_jumps(self, system)
        refuse_inner_states(self, system)

    def options(self, limit: int) -> dict[str, float]:
        """What the kernel reads."""
        return {"limit": limit, "correct": float(self.correct), "stiffness": float(self.stiffness)}


@wp.func
def refresh(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)


@wp.func
def correct_positions(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """One step of Newton's method onto the joints; what was open goes to the report."""
    articulate(m, x, w)
    accelerate(m, x, spatial(zero3(), -m.gravity[0, w]), 1, w)
    factor_equations(m, x, t, w)
    load_position_errors(m, s, x, t, w)
    report_worst(m, x, w)
    if m.options[Own.correct] != ZERO:
        solve_bilateral(m, x, w)
        for k in range(s.v.shape[0]):
            x.shift[k, w] = ZERO
        apply_multipliers(m, x, x.shift, w)
        move_coordinates(m, s, x.shift, w)
        refresh(m, s, x, w)


@wp.func(inline=False)
def solve_velocities(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, h: f64, w: int):
    """Δ / h into x.qdd: one solve of the joints' and compliant rows, again where a motor is too weak."""
    articulate(m, x, w)
    accelerate(m, x, spatial(zero3(), -m.gravity[0, w]), 1, w)
    if m.bilateral.shape[0] > 0:
        factor_equations(m, x, t, w)
    reach = ZERO
    if m.options[Own.stiffness] != ZERO:
        reach = h
    end = just_before(t)
    rounds = int(0)
    while rounds < SATURATIONS:
        if rounds > 0:
            factor_bilateral(m, x, w)
        factor_tangent(m, x, reach, h, w)
        for i in range(m.solvable.shape[0]):
            r = m.solvable[i]
            x.multiplier[i, w] = ZERO
            if x.solved[r, w] != 0:
                x.multiplier[i, w] = -row_velocity(m, x, x.qdd, r, w)
                if i < m.bilateral.shape[0]:
                    miss = row_velocity(m, x, s.v, r, w) - kinds.target_rate(m, x, r, end, w)
                    if motor.is_servo(x, r, w):  # on its target, as far as velocities say, a step later
                        miss += motor.error(m, s, x, r, end, w) / h
                    x.multiplier[i, w] = x.multiplier[i, w] - miss / h
                    if rounds == 0:
                        x.rhs[i, w] = x.multiplier[i, w]
        solve_rows(m, x, m.solvable.shape[0], w)
        rounds += 1
        if saturate_motors(m, x, m.solvable.shape[0], rounds, w) == 0:
            rounds = SATURATIONS
    for i in range(m.solvable.shape[0]):
        force = x.multiplier[i, w]
        if force != ZERO:
            apply_impulse(m, x, x.qdd, m.solvable[i], force, w)


@wp.func
def book_motors(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Forces of the rows, and the powers of motors, at the mean of the velocities before and after."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        force = x.multiplier[i, w]
        if x.row_torque[r, w] != ZERO:
            force = x.row_torque[r, w]
        s.impulse[r, w] = force * m.nominal_h[0]
        if motor.is_motor(x, r, w):
            mean = HALF * (row_velocity(m, x, x.v_old, r, w) + row_velocity(m, x, s.v, r, w))
            x.k_book[work_entry(0, m.slot_kind.shape[0], r), w] = force * mean


@wp.func
def step(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], is_last: bool, w: int):
    """One step of one world."""
    h = m.h[0]
    t = s.time[0, w] + h
    for k in range(s.v.shape[0]):
        x.v_old[k, w] = s.v[k, w]
        x.shift[k, w] = h * s.v[k, w]
    move_coordinates(m, s, x.shift, w)
    refresh(m, s, x, w)
    total(m, s, x, t, 0, w)
    if m.bilateral.shape[0] > 0:
        correct_positions(m, s, x, t, w)
        if m.options[Own.correct] != ZERO:
            total(m, s, x, t, 0, w)
    solve_velocities(m, s, x, t, h, w)
    for k in range(s.v.shape[0]):
        s.v[k, w] = s.v[k, w] + h * x.qdd[k, w]
    kinematics(m, s, x, ZERO, w)
    total(m, s, x, t, 0, w)
    book_motors(m, s, x, w)
    keep_books(m, s, x, EXPLICIT, h, w)
    report_velocities(m, s, x, just_before(t), w)
    report_substeps(x, 1, 1, 0, 0, ZERO, w)
    advance_clock(m, s, h, w)
    if is_last:  # accelerations and forces of the instant where the step ends
        for r in range(x.push.shape[0]):
            x.push[r, w] = ZERO
            x.feedback[r, w] = ZERO
        evaluate(m, s, x, just_before(t), 0, w)
        instant_reactions(m, s, x, w)


@wp.kernel(enable_backward=False)
def linear_implicit_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """Many steps of many worlds: a thread runs a world."""
    w = wp.tid()
    start_report(x, w)
    list_rows(m, x, w)
    for k in range(m.steps[0]):
        step(m, s, x, k == m.steps[0] - 1, w)
    measure_energy(m, s, x, w)
    check_state(m, x, w)
