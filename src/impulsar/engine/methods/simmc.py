"""SIMMC: sequential impulses in maximal coordinates (Mariti 2012 §4).

Order 1. Free bodies move tentatively (eq. 14-16, corrected: the old values are added), then impulses
are applied joint by joint, the closures of a joint solved together (eq. 17-23), until no impulse
changes by more than epsilon or the iterations are spent. Position errors are fed back into the
velocities (eq. 27 with the sign corrected, ψ_q q̇ + ψ_t + β/h ψ = 0), or, as an option, removed by split
impulses. Reactions are the accumulated impulses over the step (eq. 24-26).

Beyond the paper: limits, friction, motors, couplings and compliant rows, warm start, and angular
momentum kept exactly between impulses.
"""

from dataclasses import dataclass, replace

import warp as wp

from ..constrain.assemble import assemble, feed_back_errors
from ..constrain.frames import follow_loops
from ..constrain.reactions import collect_reactions, finish_reactions, start_reactions
from ..constrain.topology import list_rows
from ..coordinates.tree import drift, kick, kinematics
from ..forces.total import total_over
from ..integrate.books import book_forces, book_rows, measure_energy
from ..integrate.clock import advance_clock
from ..options import Option
from ..report import check_state, report_step, start_report
from ..solve.blocks import factor_blocks
from ..solve.cones import share_cone_mass
from ..solve.sticking import stick
from ..solve.sweep import start_pseudo, sweep, warm_start
from ..spatial import ONE, ZERO
from ..start.tyre_steps import longest_tyre_step
from ..state import StateArrays, WorkArrays
from ..system import System, SystemArrays
from .base import Method, Trial, apart, sweeps_in


@dataclass(frozen=True)
class Simmc(Method):
    """Options of SIMMC."""

    epsilon: float = 1e-6  # largest impulse increment of the last sweep [N s, N m s]
    iterations: int = 1000  # limit of sweeps in a step
    beta: float = 0.2  # part of the position error fed back per step (eq. 27), 0 to 1
    warm_start: bool = True
    split_impulses: bool = False  # remove position errors by pseudo-velocities instead of beta
    stick: bool = True  # solve sticking friction directly after the sweep
    max_step: float = 0.01  # a longer step is divided [s]

    name = "simmc"
    order = 1
    coordinates = ("maximal",)

    @property
    def kernel(self) -> wp.Kernel:
        return simmc_kernel

    @property
    def touching_kernel(self) -> wp.Kernel:
        from .simmc_contact import take_touching_steps  # none of it is loaded where nothing touches

        return apart(take_touching_steps)

    @property
    def most_work(self) -> int:
        return self.iterations

    @property
    def longest_step(self) -> float:
        return self.max_step

    def longest_step_of(self, system: System) -> float:
        return min(self.max_step, longest_tyre_step(system))

    def check(self) -> None:
        """Raise ValueError at a wrong option."""
        if not self.epsilon >= 0.0:
            raise ValueError(f"simmc: epsilon is {self.epsilon!r}, expected an impulse >= 0 [N s]")
        if not (isinstance(self.iterations, int) and self.iterations >= 1):
            raise ValueError(f"simmc: iterations is {self.iterations!r}, expected an integer >= 1")
        if not 0.0 <= self.beta <= 1.0:
            raise ValueError(f"simmc: beta is {self.beta!r}, expected a number from 0 to 1")
        if not self.max_step > 0.0:
            raise ValueError(f"simmc: max_step is {self.max_step!r}, expected a time > 0 [s]")

    def options(self, limit: int) -> dict[str, float]:
        """What the kernel reads."""
        return {
            "limit": limit,
            "epsilon": self.epsilon,
            "warm_start": self.warm_start,
            "split_impulses": self.split_impulses,
            "stick": self.stick,
            "beta": 0.0 if self.split_impulses else self.beta,
        }

    def work_in(self, budget: float, trial: Trial) -> int:
        """Sweeps in a budget [s]."""
        return sweeps_in(budget, replace(self, epsilon=0.0), trial)


@wp.func
def step(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], is_last: bool, w: int):
    """One step of one world."""
    h = m.h[0]
    t = s.time[0, w]
    limit = int(m.options[Option.limit])
    rows = int(0)
    iterations = int(0)
    book_forces(m, s, x, t, ZERO, h, w)
    total_over(m, s, x, t, ZERO, h, w)
    if is_last:
        start_reactions(m, x, h, w)
    kick(m, s, x, h, w)  # eq. 14, 15
    start_pseudo(x, w)
    if m.live_slots[0] > 0:
        rows = assemble(m, s, x, t, h, w)
        feed_back_errors(x, rows, h, m.options[Option.beta], w)  # eq. 27
        factor_blocks(m, x, w)
        share_cone_mass(x, rows, w)
        warm_start(m, s, x, rows, h, m.options[Option.warm_start], w)
        iterations = sweep(
            m, s, x, rows, h, m.options[Option.epsilon], limit, int(m.options[Option.split_impulses]), 1, w
        )
        if int(m.options[Option.stick]) != 0:
            stick(m, s, x, rows, w)
        book_rows(m, s, x, rows, t, h, w)
    if is_last:
        collect_reactions(m, s, x, rows, h, w)  # eq. 24-26
    report_step(m, x, s, rows, iterations, limit, w)
    drift(m, s, x, h, w)  # eq. 16
    kinematics(m, s, x, ONE / h, w)
    follow_loops(m, s, x, w)
    if is_last:
        finish_reactions(m, x, h, w)
    book_forces(m, s, x, t, ZERO, h, w)
    advance_clock(m, s, h, w)


@wp.kernel(enable_backward=False)
def simmc_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """Many steps of many worlds: a thread runs a world."""
    w = wp.tid()
    start_report(x, w)
    list_rows(m, x, w)
    for k in range(m.steps[0]):
        step(m, s, x, k == m.steps[0] - 1, w)
    measure_energy(m, s, x, w)
    check_state(m, x, w)
