"""SIMGC: sequential impulses in generalized coordinates (Mikhaylyuk 2017, algorithm of eight steps).

Order 1: semi-implicit Euler (eq. 7, 9). The tree by the articulated-body method, everything else by
impulses. Where we depart from the paper: effective masses come before the warm start (they do not
depend on velocities); responses M⁻¹Jᵀ are computed once a step and reused (the result is the same);
spherical and free joints are native, by quaternion; friction rows that stick are solved directly after
the sweep, because a sweep alone creeps; velocity products are left out and the bodies' momenta carried
over the drift instead (`engine/integrate/inertial.py`), but for planar trees without rows in fine steps.
"""

from dataclasses import dataclass, replace

import warp as wp

from ..constrain.assemble import assemble
from ..constrain.frames import follow_loops
from ..constrain.reactions import collect_reactions, finish_reactions, start_reactions
from ..constrain.topology import list_rows
from ..coordinates.tree import drift, kick, kinematics
from ..forces.total import total_over
from ..integrate.books import book_forces, book_rows, measure_energy
from ..integrate.clock import advance_clock
from ..integrate.inertial import before_drift, drift_carefully, leave_out_products
from ..options import Option
from ..report import check_state, report_step, start_report
from ..solve.cones import share_cone_mass
from ..solve.sticking import stick
from ..solve.sweep import start_pseudo, sweep, warm_start
from ..spatial import ONE, ZERO
from ..start.tyre_steps import longest_tyre_step
from ..state import StateArrays, WorkArrays
from ..system import System, SystemArrays
from .base import Method, Trial, apart, sweeps_in


@dataclass(frozen=True)
class Simgc(Method):
    """Options of SIMGC."""

    epsilon: float = 1e-6  # largest impulse increment of the last sweep [N s, N m s]
    iterations: int = 1000  # limit of sweeps in a step
    warm_start: bool = True
    split_impulses: bool = True  # remove position errors by pseudo-velocities
    stick: bool = True  # solve sticking friction directly after the sweep
    max_step: float = 0.01  # a longer step is divided [s]

    name = "simgc"
    order = 1
    coordinates = ("generalized",)

    @property
    def kernel(self) -> wp.Kernel:
        return simgc_kernel

    @property
    def touching_kernel(self) -> wp.Kernel:
        from .simgc_contact import take_touching_steps  # none of it is loaded where nothing touches

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
            raise ValueError(f"simgc: epsilon is {self.epsilon!r}, expected an impulse >= 0 [N s]")
        if not (isinstance(self.iterations, int) and self.iterations >= 1):
            raise ValueError(f"simgc: iterations is {self.iterations!r}, expected an integer >= 1")
        if not self.max_step > 0.0:
            raise ValueError(f"simgc: max_step is {self.max_step!r}, expected a time > 0 [s]")

    def options(self, limit: int) -> dict[str, float]:
        """What the kernel reads."""
        return {
            "limit": limit,
            "epsilon": self.epsilon,
            "warm_start": self.warm_start,
            "split_impulses": self.split_impulses,
            "stick": self.stick,
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
    leave_out_products(m, x, ONE, w)
    kick(m, s, x, h, w)  # 1-3
    leave_out_products(m, x, -ONE, w)
    start_pseudo(x, w)  # 6
    if m.live_slots[0] > 0:
        rows = assemble(m, s, x, t, h, w)  # 5
        share_cone_mass(x, rows, w)
        warm_start(m, s, x, rows, h, m.options[Option.warm_start], w)  # 4
        iterations = sweep(
            m, s, x, rows, h, m.options[Option.epsilon], limit, int(m.options[Option.split_impulses]), 0, w
        )  # 7
        if int(m.options[Option.stick]) != 0:
            stick(m, s, x, rows, w)
        book_rows(m, s, x, rows, t, h, w)
    if is_last:
        collect_reactions(m, s, x, rows, h, w)
    report_step(m, x, s, rows, iterations, limit, w)
    if before_drift(m, s, x, rows, h, w):
        drift_carefully(m, s, x, rows, h, w)  # 8
    else:
        drift(m, s, x, h, w)
        kinematics(m, s, x, ONE / h, w)
    follow_loops(m, s, x, w)
    if is_last:
        finish_reactions(m, x, h, w)
    book_forces(m, s, x, t, ZERO, h, w)
    advance_clock(m, s, h, w)


@wp.kernel(enable_backward=False)
def simgc_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """Many steps of many worlds: a thread runs a world."""
    w = wp.tid()
    start_report(x, w)
    list_rows(m, x, w)
    for k in range(m.steps[0]):
        step(m, s, x, k == m.steps[0] - 1, w)
    measure_energy(m, s, x, w)
    check_state(m, x, w)
