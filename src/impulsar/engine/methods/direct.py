"""direct: all bilateral rows solved at once, sub-steps of order 5 chosen by error control.

    v̇ = M⁻¹ (f + Jᵀ λ)      J v̇ + J̇ v = target's acceleration      λ by LDLᵀ of J M⁻¹ Jᵀ

is integrated by Dormand-Prince 5(4) inside the nominal step, to rtol and atol; after each sub-step positions and
velocities are projected onto the constraints. Where a spring, damper or hand is so fast that stability, not error,
sets the sub-step, a linearly implicit pair of order 3 takes over while that is less work. Friction and limits have
modes that are locked inside a sub-step and changed where they end (see modes.py); where changes crowd sub-steps are
impulsive (see impulsive.py). Under a limit of work the rest of a nominal step is taken at a coarser
tolerance, by impulses only where stiffness is the cause, and the report says how coarse.

Rows that others imply by construction are left out (start/redundancy.py), and so are those that do at this instant, a
singular position (solve/direct.py). Near one, stages are brought onto the joints before they are evaluated, spare
rows take over from those that are weak there, and a sub-step whose stages come too near is not made finer but chosen
anew so that it passes the position between its stages (`aim`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp

from ..constrain.reactions import instant_reactions
from ..constrain.topology import list_rows
from ..integrate.books import measure_energy
from ..integrate.clock import advance_clock
from ..integrate.control import KEPT, Kept
from ..integrate.impulsive import needs_impulses
from ..integrate.pairs import STAGES, tableaux
from ..integrate.substeps import (
    MUST_BE_IMPULSIVE,
    SMOOTH,
    Progress,
    begin,
    by_modes,
    change_pair,
    choose_pair,
    refresh_geometry,
    spend,
    take_impulsive,
    take_smooth,
    wished_size,
)
from ..options import Option
from ..report import check_state, report_substeps, report_velocities, start_report
from ..spatial import ONE, ZERO, f64
from ..start.tyre_steps import longest_tyre_step
from ..state import Block, Counts, StateArrays, WorkArrays
from ..system import System, SystemArrays
from ..system.measured import BROKEN
from ..system.rank import PLAY
from .base import STEP, Method, apart

PAIRS = ("auto", "explicit", "implicit")
RETRY = wp.constant(wp.float64(1.2))  # growth of the wished sub-step while it is too small to be taken


@dataclass(frozen=True)
class Direct(Method):
    """Options of the direct method."""

    rtol: float = 1e-7
    atol: float = 1e-7  # [rad, rad/s], and of the mechanism's size per second: slides
    iterations: int = 10**6  # evaluations in a nominal step: fewer, a limit of work; so many, an error
    substeps: int = 0  # so many impulsive sub-steps of equal size instead of error control
    epsilon: float = 1e-10  # largest impulse increment of an impulsive sub-step's last sweep [N s, N m s]
    impulse_step: float = 0.002  # largest impulsive sub-step [s]
    modes: bool = True  # friction and limits have modes inside smooth sub-steps; else they are left to impulses
    pair: str = "auto"  # of smooth sub-steps: "explicit", "implicit", or the one that is less work
    redundancy: float = PLAY  # how far rows that others imply may be open [rad, or lengths over the mechanism's size]
    max_step: float = 1e9  # sub-steps are chosen inside the nominal step [s]

    name = "direct"
    order = 5
    coordinates = ("generalized", "maximal")
    least_work = STAGES
    dense = STEP
    skips_spares = True

    @property
    def kernel(self) -> wp.Kernel:
        return direct_kernel

    @property
    def touching_kernel(self) -> wp.Kernel:
        from .direct_contact import take_touching_steps  # none of it is loaded where nothing touches

        return apart(take_touching_steps)

    @property
    def tableau(self) -> np.ndarray:
        return tableaux()

    @property
    def most_work(self) -> int:
        return self.iterations

    @property
    def fixed_substeps(self) -> int:
        return self.substeps

    def longest_step_of(self, system: System) -> float:
        return self.substeps * longest_tyre_step(system) if self.substeps else self.longest_step

    @property
    def play(self) -> float:
        return self.redundancy

    @staticmethod
    def state_blocks(counts: Counts) -> Sequence[Block]:
        return KEPT

    def check(self) -> None:
        """Raise ValueError at a wrong option."""
        for name in ("rtol", "atol"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"direct: {name} is {getattr(self, name)!r}, expected a number > 0")
        if not (isinstance(self.substeps, int) and self.substeps >= 0):
            raise ValueError(f"direct: substeps is {self.substeps!r}, expected an integer >= 0")
        if not 1e-12 <= self.redundancy < 0.1:
            raise ValueError(f"direct: redundancy is {self.redundancy!r}, expected rad or sizes from 1e-12 to 0.1")
        if not self.impulse_step > 0.0:
            raise ValueError(f"direct: impulse_step is {self.impulse_step!r}, expected a time > 0 [s]")
        if self.pair not in PAIRS:
            raise ValueError(f"direct: pair is {self.pair!r}, expected one of: {', '.join(PAIRS)}")
        if not (isinstance(self.iterations, int) and self.iterations >= STAGES):
            raise ValueError(f"direct: iterations is {self.iterations!r}, expected an integer >= {STAGES}")

    def options(self, limit: int) -> dict[str, float]:
        """What the kernel reads."""
        return {
            "limit": limit,
            "rtol": self.rtol,
            "atol": self.atol,
            "epsilon": self.epsilon,
            "impulse_step": self.impulse_step,
            "fixed": 1.0 / self.substeps if self.substeps else 0.0,
            "modes": float(self.modes),
            "pair": PAIRS.index(self.pair),
        }


@wp.func
def step(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], is_last: bool, w: int):
    """One nominal step of one world without contact."""
    p = begin(m, s, w)
    if m.live_slots[0] > 0 and m.options[Option.fixed] == ZERO:
        refresh_geometry(m, s, x, w)  # as after a launch, so that step(n) is n times step to the bit
    while p.left > ZERO and p.broken == 0:
        size = ZERO
        impulsive = m.options[Option.fixed] > ZERO
        if not impulsive:
            p = change_pair(m, s, spend(m, x, p, w), w)
            size = wished_size(m, p, w)
            impulsive = p.stiff != 0 or p.mode == MUST_BE_IMPULSIVE
            if not impulsive and not by_modes(m, x, p):
                impulsive = needs_impulses(m, s, x, p.t, size, w)
        if impulsive:
            p = take_impulsive(m, s, x, p, is_last, w)
        else:
            p = take_smooth(m, s, x, p, size, w)
    end_step(m, s, x, p, is_last, w)


@wp.func(inline=False)
def end_step(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], end: Progress, is_last: bool, w: int
):
    """What a nominal step leaves for the next, and for the report."""
    p = end
    if p.broken != 0:
        x.report[BROKEN, w] = f64(p.broken)
        return
    s.method[Kept.crowded, w] = wp.max(f64(p.crowded) - ONE, ZERO)
    s.method[Kept.next_h, w] = p.h
    if p.stiff != 0:
        s.method[Kept.next_h, w] = -RETRY * p.h
    elif m.options[Option.pair] == ZERO:
        s.method[Kept.next_h, w] = choose_pair(m, s, x, p, w)
    report_substeps(x, p.sub_steps, p.evaluations, p.events, p.cut, p.coarse * m.options[Option.rtol], w)
    if is_last and p.mode == SMOOTH:  # accelerations and forces of the instant where the step ends
        p.ready = int(0)
        take_smooth(m, s, x, p, ZERO, w)
        report_velocities(m, s, x, p.t, w)
        instant_reactions(m, s, x, w)


@wp.kernel(enable_backward=False)
def direct_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
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
