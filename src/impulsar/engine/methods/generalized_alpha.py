"""generalized_alpha: joints as equations of index 3, solved with the motion by Newton's method, of order 2.

integrate/newmark.py has the equations. The spectral radius says what is left of a vibration that is too fast to be
followed after a step: 1 nothing is taken, 0 all of it. Where Newton's method finds no solution, or a step is off by
more than the tolerance, it is divided (`substepping`); without that a step that has no solution is an error, and the
world stays at the last that had. Against `tolerance` are held

    h² |a₁ - a₀| / 12                   what positions are off [rad, or lengths over the mechanism's size]
    3 |E₁ - E₀ - work| / E_moving       what the step makes or loses of the kinetic and elastic energy there is

since a whip's positions are good enough long before its energy is: the second has no say where nothing moves faster
than the tolerance in a nominal step.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import warp as wp

from ..constrain import kinds
from ..constrain.reactions import instant_reactions
from ..constrain.topology import list_rows
from ..coordinates.inertia import body_mass
from ..integrate.books import book_ends, measure_energy
from ..integrate.clock import advance_clock
from ..integrate.closing import follow_jumps
from ..integrate.control import return_to_start, save_start
from ..integrate.evaluate import evaluate
from ..integrate.newmark import given, keep_powers, newton_rounds, powers, residual, resize, scheme_of
from ..integrate.substeps import refresh_geometry
from ..options import own_options
from ..report import check_state, report_substeps, report_velocities, start_report
from ..spatial import HALF, ONE, TWO, ZERO, f64
from ..state import OF_SYSTEM, Block, Counts, StateArrays, WorkArrays
from ..system import System, SystemArrays
from ..system.channels import just_before, next_knot, snap_to_knot
from ..system.measured import BROKEN, KINETIC, NOT_FINITE, POTENTIAL, UNSOLVED
from .base import Method
from .refusals import refuse_inner_states, refuse_jumps, refuse_weak_motors

Own = own_options("radius", "substepping", "tolerance")
STARTED, SIZE, RATE, SLOPE, FORCE = 0, 1, 2, 3, 4  # blocks of the state
LEAST = wp.constant(wp.float64(1e-6))  # of a nominal step: a sub-step so small has no solution
SHORT = wp.constant(wp.float64(1e-3))  # of a nominal step: energy has no say in sub-steps so small
END = wp.constant(wp.float64(1e-9))  # of a nominal step: so little left is nothing
EASY = wp.constant(wp.float64(0.1))  # of the tolerance: after such an error the next sub-step is twice as long
THREE = wp.constant(wp.float64(3.0))  # so much a step's energy counts more than its positions
TWELVE = wp.constant(wp.float64(12.0))


@dataclass(frozen=True)
class GeneralizedAlpha(Method):
    """Options of the generalized-α method."""

    radius: float = 0.6  # spectral radius at infinite frequency, 0 to 1
    substepping: bool = True  # divide steps that have no solution, or too large an error
    tolerance: float = 3e-4  # error of a step's positions [rad, or over the mechanism's size], and of its energy
    iterations: int = 10**5  # of Newton's method in a nominal step

    name = "generalized_alpha"
    order = 2
    coordinates = ("generalized", "maximal")
    places = Own
    skips_spares = True

    @property
    def kernel(self) -> wp.Kernel:
        return generalized_alpha_kernel

    @property
    def most_work(self) -> int:
        return self.iterations

    @staticmethod
    def state_blocks(counts: Counts) -> Sequence[Block]:
        return (
            Block("started", 1, lasts=OF_SYSTEM),  # 1: the others are set
            Block("size", 2, lasts=OF_SYSTEM),  # sub-step to begin with, and the last one [s]
            Block("rate", counts.dofs, lasts=OF_SYSTEM),  # v̇
            Block("slope", counts.dofs, lasts=OF_SYSTEM),  # (a - v̇) / h
            Block("force", counts.bilaterals, lasts=OF_SYSTEM),  # λ
        )

    @staticmethod
    def unknowns(counts: Counts) -> int:
        """Displacements and multipliers."""
        return counts.dofs + counts.bilaterals

    def check(self) -> None:
        """Raise ValueError at a wrong option."""
        if not 0.0 <= self.radius <= 1.0:
            raise ValueError(f"generalized_alpha: radius is {self.radius!r}, expected a spectral radius from 0 to 1")
        if not self.tolerance > 0.0:
            raise ValueError(f"generalized_alpha: tolerance is {self.tolerance!r}, expected a number > 0")
        if not (isinstance(self.iterations, int) and self.iterations >= 1):
            raise ValueError(f"generalized_alpha: iterations is {self.iterations!r}, expected an integer >= 1")

    def refuse(self, system: System) -> None:
        """Raise ModelError at what acts by jumps."""
        refuse_jumps(self, system)
        refuse_inner_states(self, system)
        refuse_weak_motors(self, system)

    def options(self, limit: int) -> dict[str, float]:
        """What the kernel reads."""
        return {
            "limit": limit,
            "radius": self.radius,
            "substepping": float(self.substepping),
            "tolerance": self.tolerance,
        }


@wp.func
def still(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """Motors are on their targets."""
    for r in range(x.push.shape[0]):
        x.push[r, w] = ZERO
        x.feedback[r, w] = ZERO


@wp.func(inline=False)
def start(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """Accelerations and multipliers to begin with: those of the instant, or of the last step's end."""
    if s.method[s.method_at[STARTED], w] == ZERO:
        still(m, x, w)
        evaluate(m, s, x, t, 0, w)
        if follow_jumps(m, s, x, t, w) != 0:
            evaluate(m, s, x, t, 0, w)
        s.method[s.method_at[STARTED], w] = ONE
        for k in range(s.v.shape[0]):
            s.method[s.method_at[RATE] + k, w] = x.qdd[k, w]
            s.method[s.method_at[SLOPE] + k, w] = ZERO
        keep_forces(m, s, x, w)
    for i in range(m.bilateral.shape[0]):
        x.multiplier[i, w] = s.method[s.method_at[FORCE] + i, w]


@wp.func
def keep_forces(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    for i in range(m.bilateral.shape[0]):
        s.method[s.method_at[FORCE] + i, w] = x.multiplier[i, w]


@wp.func
def keep_end(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], h: f64, w: int):
    """Of a step h: what the next begins with."""
    for k in range(s.v.shape[0]):
        s.method[s.method_at[RATE] + k, w] = x.lag_v[k, w]
        s.method[s.method_at[SLOPE] + k, w] = (x.lag_q[k, w] - x.lag_v[k, w]) / h
    keep_forces(m, s, x, w)


@wp.func
def position_error(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], h: f64, w: int) -> f64:
    """Of a step whose a₁ is in x.lag_q [rad, sizes]."""
    worst = ZERO
    for k in range(s.v.shape[0]):
        change = x.lag_q[k, w] - s.method[s.method_at[RATE] + k, w] - h * s.method[s.method_at[SLOPE] + k, w]
        worst = wp.max(worst, change * change / m.dof_weight[k])
    return h * h * wp.sqrt(worst) / TWELVE


@wp.func(inline=False)
def energy(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """Of the present state, whose geometry is current, hands where they are at time t; and what of it moves [J]."""
    measure_energy(m, s, x, w)
    moving = x.energy[KINETIC, w]
    start = s.time[0, w]
    for r in range(x.row_count[0, w]):
        d = kinds.stretch(m, s, x, r, w) - kinds.target_step(m, s, x, r, start, t - start, w)
        if d != ZERO:
            moving += HALF * kinds.stiffness(m, x, r, w) * d * d
    return moving + x.energy[POTENTIAL, w], moving


@wp.func
def energy_error(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], before: f64, t: f64, h: f64, w: int
) -> f64:
    """Of a step h from an energy to time t, of the energy that moves."""
    if h <= SHORT * m.nominal_h[0]:
        return ZERO
    after, moving = energy(m, s, x, t, w)
    mass = ZERO
    for i in range(m.parent.shape[0]):
        mass += body_mass(m, i, w)
    slow = m.options[Own.tolerance] * m.size[0] / m.nominal_h[0]  # a speed that no position tells from rest
    return wp.abs(after - before - given(m, x, h, w)) / (moving + HALF * mass * slow * slow)


@wp.func
def finite_start(x: wp.ref[WorkArrays], w: int) -> bool:
    """Whether the step began from numbers."""
    sum = ZERO
    for k in range(x.q_start.shape[0]):
        sum += wp.abs(x.q_start[k, w])
    for k in range(x.v_start.shape[0]):
        sum += wp.abs(x.v_start[k, w])
    return wp.isfinite(sum)


@wp.func
def step(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], is_last: bool, w: int):
    """One nominal step of one world."""
    c = scheme_of(m.options[Own.radius])
    nominal = m.nominal_h[0]
    t = snap_to_knot(m, s.time[0, w], END * nominal, w)
    if next_knot(m, t - END * nominal, t + END * nominal, w) < t + END * nominal:
        s.method[s.method_at[STARTED], w] = ZERO  # an input bends or jumps here
    left = nominal
    rounds = int(0)
    sub_steps = int(0)
    divides = m.options[Own.substepping] != ZERO
    start(m, s, x, t, w)
    size = nominal
    if divides and s.method[s.method_at[SIZE], w] > ZERO:
        size = s.method[s.method_at[SIZE], w]
    refresh_geometry(m, s, x, w)
    while left > ZERO:
        h = wp.min(size, left)
        if divides and h < left and h > HALF * left:
            h = HALF * left
        knot = next_knot(m, t, t + h, w)
        if divides:
            h = wp.min(h, knot - t)
        end = just_before(t + h)
        last = s.method[s.method_at[SIZE] + 1, w]
        if last > ZERO and h != last and m.bilateral.shape[0] > 0:
            resize(m, s, x, t, h / last, w)
            start(m, s, x, t, w)
        s.method[s.method_at[SIZE] + 1, w] = h
        for i in range(m.bilateral.shape[0]):
            x.solved[m.bilateral[i], w] = int(m.basis[m.bilateral[i], w] != ZERO or m.spares[0] == 0)
        for k in range(s.v.shape[0]):
            x.lag_v[k, w] = s.method[s.method_at[RATE] + k, w]
        residual(m, s, x, t, ONE, ONE, w)  # for the powers at the start
        powers(m, s, x, w)
        keep_powers(m, x, w)
        save_start(s, x, w)
        before, _ = energy(m, s, x, t, w)
        used = newton_rounds(m, s, x, c, s.method_at[RATE], s.method_at[SLOPE], end, h, w)
        rounds += wp.abs(used)
        error = ZERO
        if used > 0:
            residual(m, s, x, end, ONE, ONE, w)
            powers(m, s, x, w)
            if divides:
                error = wp.max(position_error(m, s, x, h, w), THREE * energy_error(m, s, x, before, end, h, w))
        if used < 0 or error > m.options[Own.tolerance]:
            return_to_start(s, x, w)
            refresh_geometry(m, s, x, w)
            start(m, s, x, t, w)
            size = HALF * h
            if not divides or size < LEAST * nominal or f64(rounds) > m.options[Own.limit]:
                x.report[BROKEN, w] = f64(UNSOLVED)
                if not finite_start(x, w):
                    x.report[BROKEN, w] = f64(NOT_FINITE)
                return
            continue
        book_ends(m, s, x, h, w)
        keep_end(m, s, x, h, w)
        if h >= size or error > EASY * m.options[Own.tolerance]:
            size = h
            if error < EASY * m.options[Own.tolerance]:
                size = wp.min(TWO * h, nominal)
        t += h
        left -= h
        sub_steps += 1
        if left < END * nominal:
            left = ZERO
        elif knot <= t:
            s.method[s.method_at[STARTED], w] = ZERO
            start(m, s, x, t, w)
    s.method[s.method_at[SIZE], w] = size
    report_substeps(x, sub_steps, rounds, 0, 0, ZERO, w)
    if is_last:  # accelerations and forces of the instant where the step ends
        still(m, x, w)
        evaluate(m, s, x, just_before(t), 0, w)
        report_velocities(m, s, x, just_before(t), w)
        instant_reactions(m, s, x, w)


@wp.kernel(enable_backward=False)
def generalized_alpha_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """Many nominal steps of many worlds: a thread runs a world."""
    w = wp.tid()
    start_report(x, w)
    list_rows(m, x, w)
    for k in range(m.steps[0]):
        if x.report[BROKEN, w] == ZERO:
            step(m, s, x, k == m.steps[0] - 1, w)
            advance_clock(m, s, m.nominal_h[0], w)
    refresh_geometry(m, s, x, w)
    measure_energy(m, s, x, w)
    check_state(m, x, w)
