"""leading: sequential impulses whose warm start goes on as impulses went, p + lead (p - p of the step before).

A method of another package. Order 1: semi-implicit Euler, the tree by the articulated-body method. Its own are the
option `lead`, and in the state the impulses of the step before, one for each slot.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import warp as wp

from impulsar.engine.constrain.assemble import assemble
from impulsar.engine.constrain.frames import follow_loops
from impulsar.engine.constrain.reactions import collect_reactions, finish_reactions, start_reactions
from impulsar.engine.constrain.topology import list_rows
from impulsar.engine.coordinates.tree import drift, kick, kinematics
from impulsar.engine.forces.total import total_over
from impulsar.engine.integrate.books import book_forces, book_rows, measure_energy
from impulsar.engine.integrate.clock import advance_clock
from impulsar.engine.methods import Block, Method, own_options
from impulsar.engine.report import check_state, report_step, start_report
from impulsar.engine.solve.cones import share_cone_mass
from impulsar.engine.solve.sweep import start_pseudo, sweep, warm_start
from impulsar.engine.spatial import ONE, ZERO
from impulsar.engine.state import Counts, StateArrays, WorkArrays
from impulsar.engine.system import SystemArrays

Option = own_options("lead")
BEFORE = 0  # number of its block


@dataclass(frozen=True)
class Leading(Method):
    """Options of leading."""

    lead: float = 0.5  # of the last change of impulses that the warm start goes on with, 0 to 1
    epsilon: float = 1e-8  # largest impulse increment of the last sweep [N s, N m s]
    sweeps: int = 2000  # limit in a step

    name = "leading"
    order = 1
    coordinates = ("generalized",)
    places = Option

    @property
    def kernel(self) -> wp.Kernel:
        return leading_kernel

    @property
    def most_work(self) -> int:
        return self.sweeps

    @property
    def longest_step(self) -> float:
        return 0.01

    @staticmethod
    def state_blocks(counts: Counts) -> Sequence[Block]:
        return (Block("before", counts.slots, "slot"),)

    def check(self) -> None:
        if not 0.0 <= self.lead <= 1.0:
            raise ValueError(f"leading: lead is {self.lead!r}, expected a number from 0 to 1")
        if self.sweeps < 1:
            raise ValueError(f"leading: sweeps is {self.sweeps!r}, expected an integer >= 1")

    def options(self, limit: int) -> dict[str, float]:
        return {"limit": limit, "epsilon": self.epsilon, "lead": self.lead}


@wp.func
def go_on(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], w: int):
    """Let impulses go on as they went."""
    for r in range(m.slot_kind.shape[0]):
        at = s.method_at[BEFORE] + r
        p = s.impulse[r, w]
        s.impulse[r, w] = p + m.options[Option.lead] * (p - s.method[at, w])
        s.method[at, w] = p


@wp.func
def step(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], is_last: bool, w: int):
    """One step of one world."""
    h = m.h[0]
    t = s.time[0, w]
    limit = int(m.options[Option.limit])
    rows = int(0)
    iterations = int(0)
    total_over(m, s, x, t, ZERO, h, w)
    book_forces(m, s, x, t, ZERO, h, w)
    start_pseudo(x, w)
    if is_last:
        start_reactions(m, x, h, w)
    kick(m, s, x, h, w)
    if m.live_slots[0] > 0:
        rows = assemble(m, s, x, t, h, w)
        share_cone_mass(x, rows, w)
        go_on(m, s, w)
        warm_start(m, s, x, rows, h, ONE, w)
        iterations = sweep(m, s, x, rows, h, m.options[Option.epsilon], limit, 1, 0, w)
        book_rows(m, s, x, rows, t, h, w)
    if is_last:
        collect_reactions(m, s, x, rows, h, w)
    report_step(m, x, s, rows, iterations, limit, w)
    drift(m, s, x, h, w)
    kinematics(m, s, x, ONE / h, w)
    follow_loops(m, s, x, w)
    if is_last:
        finish_reactions(m, x, h, w)
    book_forces(m, s, x, t, ZERO, h, w)
    advance_clock(m, s, h, w)


@wp.kernel(enable_backward=False)
def leading_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """Many steps of many worlds: a thread runs a world."""
    w = wp.tid()
    start_report(x, w)
    list_rows(m, x, w)
    for k in range(m.steps[0]):
        step(m, s, x, k == m.steps[0] - 1, w)
    measure_energy(m, s, x, w)
    check_state(m, x, w)
