"""variational: a symplectic method of free bodies held by rows, for runs of hours without drift of the energy.

A step of order 2 that is its own adjoint and keeps the symplectic form, RATTLE (integrate/rattle.py: it follows from
the principle of least action with a discrete action, Leyendecker 2008), is composed symmetrically,

    Ψ_h = Φ_{γ_s h} ∘ ... ∘ Φ_{γ_1 h}        γ_{s+1-k} = γ_k,   Σ γ_k = 1

to order 4 (Suzuki 1990, 5 stages), 6 or 8 (Kahan 1997, 9 and 17 stages); what is composed is symplectic and its
own adjoint as well. So the energy of an undamped mechanism is off by a multiple of h^order that goes to and fro and
does not grow, its momenta are kept to rounding, and turning all velocities round brings it back the way it came.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp

from ...author.errors import ModelError
from ...author.joints import BALL_X, BALL_Z
from ..constrain.reactions import instant_reactions
from ..constrain.topology import list_rows
from ..integrate.books import book_powers, measure_energy
from ..integrate.clock import advance_clock
from ..integrate.evaluate import evaluate
from ..integrate.rattle import RATTLE_BLOCKS, ROUNDING, arrive, feel, follow_jumps, has_felt_forces, kept, leave, stand
from ..integrate.turns import begin_turns, end_turns, take_off_turns, turning_blocks
from ..options import own_options
from ..report import check_state, report_substeps, report_velocities, start_report
from ..spatial import HALF, UNLIMITED, ZERO, f64
from ..state import Block, Counts, StateArrays, WorkArrays
from ..system import System, SystemArrays
from ..system.measured import BROKEN, NOT_FINITE, UNSOLVED
from ..system.slots import FRICTION, LIMIT_HIGH, LIMIT_LOW, MOTOR_POSITION, MOTOR_SPEED
from .base import Method
from .refusals import refuse_armature, refuse_fluids, refuse_inner_states

# by order: the first half of the γ, from the outside to the middle one
COMPOSITIONS = {
    2: (1.0,),
    4: (0.41449077179437573714, 0.41449077179437573714, -0.65796308717750294856),  # 1 / (4 - 4^(1/3)), Suzuki 1990
    6: (  # Kahan 1997, s9odr6a
        0.39216144400731413927925056,
        0.33259913678935943859974864,
        -0.70624617255763935980996482,
        0.08221359629355080023149045,
        0.79854399093482996339895035,
    ),
    8: (  # Kahan 1997, s17odr8a
        0.13020248308889008087881763,
        0.56116298177510838456196441,
        -0.38947496264484728640807860,
        0.15884190655515560089621075,
        -0.39590389413323757733623154,
        0.18453964097831570709183254,
        0.25837438768632204729397911,
        0.29501172360931029887096624,
        -0.60550853383003451169892108,
    ),
}
Own = own_options("stages")
CURE = "take it away, or take method direct"
ANGLE, TURNS = RATTLE_BLOCKS, RATTLE_BLOCKS + 1  # blocks of the state
MOST = wp.constant(60)  # iterations of a flight
FEWEST = wp.constant(2)  # whatever the limit of work
LOST = wp.constant(wp.float64(0.01))  # change that is left of a step under a limit of work, at most [rad, sizes]


@dataclass(frozen=True)
class Variational(Method):
    """Options of the variational method."""

    composition: int = 8  # order to which steps are composed: 2, 4, 6 or 8
    iterations: int = 2000  # of Newton's method in a nominal step: fewer, a limit of work
    max_step: float = 0.01  # a longer step is divided [s]

    name = "variational"
    order = 8
    coordinates = ("generalized", "maximal")
    places = Own
    skips_spares = True
    least_work = 34

    @property
    def kernel(self) -> wp.Kernel:
        return variational_kernel

    @property
    def stages(self) -> np.ndarray:
        """Steps of a composition, over the nominal step."""
        half = COMPOSITIONS[self.composition]
        return np.array([*half, *half[-2::-1]])

    @property
    def tableau(self) -> np.ndarray:
        ends = np.cumsum(self.stages)
        ends[-1] = 1.0
        return np.concatenate([self.stages, ends])

    @property
    def most_work(self) -> int:
        return self.iterations

    @property
    def longest_step(self) -> float:
        return self.max_step

    @staticmethod
    def state_blocks(counts: Counts) -> Sequence[Block]:
        return *kept(counts), *turning_blocks(counts)

    def check(self) -> None:
        """Raise ValueError at a wrong option."""
        if self.composition not in COMPOSITIONS or not isinstance(self.composition, int):
            known = ", ".join(str(order) for order in COMPOSITIONS)
            raise ValueError(f"variational: composition is {self.composition!r}, expected an order of {known}")
        if not (isinstance(self.iterations, int) and self.iterations >= self.least_work):
            raise ValueError(
                f"variational: iterations is {self.iterations!r}, expected an integer >= {self.least_work}"
            )
        if not self.max_step > 0.0:
            raise ValueError(f"variational: max_step is {self.max_step!r}, expected a time > 0 [s]")

    def refuse(self, system: System) -> None:
        """Raise ModelError at what acts by jumps, or by a force that does not follow from a position."""
        refuse_fluids(self, system)
        refuse_armature(self, system)
        refuse_inner_states(self, system)
        least = system.parameter("slot_a").min(axis=1)
        most = system.parameter("slot_a").max(axis=1)
        for r, slot in enumerate(system.slots):
            told = ""
            if slot.kind == FRICTION and most[r] > 0.0:
                told = "has dry friction"
            elif slot.kind in (LIMIT_LOW, LIMIT_HIGH) and np.abs(least[r]) < UNLIMITED:
                told = "has limits"
            elif slot.kind in (MOTOR_SPEED, MOTOR_POSITION) and least[r] < UNLIMITED:
                told = f"has a motor that is bounded, by max_torque {least[r]:g}"
            elif slot.kind in (MOTOR_SPEED, MOTOR_POSITION) and BALL_X <= slot.code <= BALL_Z:
                told = "has a motor of given speed or position on a ball"
            if told:
                raise ModelError(f"joint '{slot.name}': {told}, for which variational has no law; {CURE}")
        if system.counts.contacts:
            raise ModelError(f"model '{system.model.name}': has contact, for which variational has no law; {CURE}")

    def options(self, limit: int) -> dict[str, float]:
        """What the kernel reads."""
        return {"limit": limit, "stages": len(self.stages)}


@wp.func
def is_finite(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int) -> bool:
    """Whether velocities and accelerations are numbers."""
    total = ZERO
    for k in range(s.v.shape[0]):
        total += s.v[k, w] + x.qdd[k, w]
    return wp.isfinite(total)


@wp.func
def step(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], felt: bool, is_last: bool, w: int):
    """One step of one world."""
    t = s.time[0, w]
    h = m.nominal_h[0]
    stages = int(m.options[Own.stages])
    limit = int(m.options[Own.limit])
    used = int(0)
    coarse = ZERO
    now = t
    take_off_turns(m, s, s.method_at[TURNS], w)
    follow_jumps(m, s, x, t, w)
    feel(m, s, x, t, w)
    if not is_finite(s, x, w):
        x.report[BROKEN, w] = f64(NOT_FINITE)
        return
    for k in range(stages):
        size = m.tableau[k] * h
        most = wp.clamp(limit - used, FEWEST, MOST)
        book_powers(m, s, x, HALF * size, w)
        rounds, off = leave(m, s, x, now, size, most, w)
        now = t + m.tableau[stages + k] * h
        settled = arrive(m, s, x, now, size, felt, w)
        book_powers(m, s, x, HALF * size, w)
        used += rounds
        if off > ROUNDING and rounds < MOST:
            coarse = wp.max(coarse, off)
        elif not off <= ROUNDING:
            settled = False
        if not settled or coarse > LOST:
            x.report[BROKEN, w] = f64(UNSOLVED)
            return
    report_substeps(x, stages, used, 0, int(coarse > ZERO), coarse, w)
    if is_last:  # accelerations and forces of the instant where the step ends
        clear_feedback(m, x, w)
        evaluate(m, s, x, now, 0, w)
        report_velocities(m, s, x, now, w)
        instant_reactions(m, s, x, w)


@wp.func
def clear_feedback(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """Motors are on their targets."""
    for i in range(m.bilateral.shape[0]):
        x.feedback[m.bilateral[i], w] = ZERO
        x.push[m.bilateral[i], w] = ZERO


@wp.kernel(enable_backward=False)
def variational_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """Many steps of many worlds: a thread runs a world."""
    w = wp.tid()
    start_report(x, w)
    list_rows(m, x, w)
    begin_turns(m, s, s.method_at[ANGLE], s.method_at[TURNS], w)
    felt = has_felt_forces(m, x, w)
    stand(m, s, x, s.time[0, w], w)
    for k in range(m.steps[0]):
        if x.report[BROKEN, w] == ZERO:
            step(m, s, x, felt, k == m.steps[0] - 1, w)
            advance_clock(m, s, m.nominal_h[0], w)
    end_turns(m, s, s.method_at[ANGLE], s.method_at[TURNS], w)
    measure_energy(m, s, x, w)
    check_state(m, x, w)
