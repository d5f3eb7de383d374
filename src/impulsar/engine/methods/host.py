"""Steps by SciPy's integrators, from the host: derivatives and projections are kernels, one world.

    y = (q, v, books)        ẏ by `evaluate`        after every accepted step q and v are projected (closing.py)

An integrator that goes on from the derivatives of the step's end is given those of the projected state; one that goes
on from past values (BDF) had them projected when they were its present one, and its backward differences ∇ʲ y change
by as much as y does. Books follow along without a say in the step.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from ..constrain.reactions import instant_reactions
from ..constrain.topology import list_rows
from ..integrate.books import measure_energy
from ..integrate.clock import advance_clock
from ..integrate.closing import close_joints
from ..integrate.evaluate import choose_feedback, evaluate
from ..integrate.substeps import refresh_geometry, start_with_impulse
from ..launch import record_launch
from ..ledger import ledger_size
from ..report import check_state, report_velocities, start_report
from ..state import State, StateArrays, WorkArrays
from ..system import System, SystemArrays
from ..system.measured import BROKEN, ITERATIONS, MOST_ITERATIONS, SUB_STEPS, TOTAL_ITERATIONS, UNDERFLOW
from ..system.slots import CLOSURE, COUPLING

FREE = 1e30  # tolerance of what has no say


@wp.kernel(enable_backward=False)
def begin_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """Motors on their targets, velocities on the rows."""
    w = wp.tid()
    start_report(x, w)
    list_rows(m, x, w)
    x.lock_count[0, w] = int(0)
    refresh_geometry(m, s, x, w)
    choose_feedback(m, s, x, s.time[0, w], True, w)
    weakest = evaluate(m, s, x, s.time[0, w], 0, w)
    if m.bilateral.shape[0] > 0:
        start_with_impulse(m, s, x, s.time[0, w], weakest, w)


@wp.kernel(enable_backward=False)
def rate_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """Derivatives of the present state into the first stage."""
    evaluate(m, s, x, s.time[0, wp.tid()], 0, wp.tid())


@wp.kernel(enable_backward=False)
def close_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """The present state projected onto the joints, and its derivatives."""
    w = wp.tid()
    weakest = evaluate(m, s, x, s.time[0, w], 0, w)
    close_joints(m, s, x, s.time[0, w], weakest, w)
    evaluate(m, s, x, s.time[0, w], 0, w)


@wp.kernel(enable_backward=False)
def end_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """Accelerations, reactions and energies of the instant where a launch ends."""
    w = wp.tid()
    for r in range(x.push.shape[0]):
        x.push[r, w] = wp.float64(0.0)
    evaluate(m, s, x, s.time[0, w], 0, w)
    report_velocities(m, s, x, s.time[0, w], w)
    instant_reactions(m, s, x, w)
    measure_energy(m, s, x, w)
    check_state(m, x, w)


@wp.kernel(enable_backward=False)
def clock_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """The clock and hands at the end of a nominal step."""
    advance_clock(m, s, m.nominal_h[0], wp.tid())


class HostLaunch:
    """Takes m.steps[0] nominal steps; each begins the integrator anew, so that the same state gives the same bits."""

    def __init__(self, stepper: Any, rtol: float, atol: float, system: System, state: State, work: WorkArrays):
        self.stepper, self.rtol, self.atol = stepper, rtol, atol
        self.system, self.state, self.work = system, state, work
        inputs = [system.arrays, state.arrays, work]
        made = {
            kernel: record_launch(kernel, 1, inputs, system.device)
            for kernel in (begin_kernel, rate_kernel, close_kernel, end_kernel, clock_kernel)
        }
        self.begin, self.rate, self.close, self.end, self.tick = made.values()
        n = system.counts
        self.coordinates, self.moving = n.coordinates, n.coordinates + n.dofs
        self.size = self.moving + ledger_size(n.slots, n.loads, n.fluids)
        self.works = np.array([slot.kind not in (CLOSURE, COUPLING) for slot in system.slots], bool)
        self._q, self._v, self._time = (state.read(name)[:, 0] for name in ("q", "v", "time"))
        self._rates = [work.k_q.numpy()[:, 0], work.k_v.numpy()[:, 0], work.k_book.numpy()[:, 0]]

    def __call__(self) -> None:
        evaluations = steps = 0
        self.begin()
        h = float(self.system.arrays.nominal_h.numpy()[0])
        for k in range(int(self.system.arrays.steps.numpy()[0])):
            if k:
                self.begin()
            start = float(self._time[0])
            used, taken, done = self._step(start, start + h)
            evaluations, steps = evaluations + used, steps + taken
            self._time[0] = start
            self.tick()
            if not done:
                break
        report = self.work.report.numpy()[:, 0]
        broken = 0 if done else UNDERFLOW
        self.end()
        report[[ITERATIONS, TOTAL_ITERATIONS, MOST_ITERATIONS]] = used, evaluations, used
        report[SUB_STEPS], report[BROKEN] = steps, max(broken, report[BROKEN])

    def _step(self, t: float, end: float) -> tuple[int, int, bool]:
        """One nominal step: evaluations, steps, whether it came to its end."""
        y = np.concatenate([self._q, self._v, np.zeros(self.size - self.moving)])
        atol = np.concatenate([np.full(self.moving, self.atol), np.full(self.size - self.moving, FREE)])
        with np.errstate(all="ignore"):
            solver = self.stepper(self._derivatives, t, y, end, rtol=self.rtol, atol=atol)
            taken = 0
            while solver.status == "running":
                solver.step()
                if solver.status == "failed" or not np.isfinite(solver.y).all():
                    return solver.nfev, taken, False
                taken += 1
                self._project(solver)
        self._put(solver.t, solver.y)
        self._book(solver.y[self.moving :])
        return solver.nfev, taken, True

    def _put(self, t: float, y: np.ndarray) -> None:
        self._q[:], self._v[:], self._time[0] = y[: self.coordinates], y[self.coordinates : self.moving], t

    def _rate(self) -> np.ndarray:
        q, v, book = self._rates
        return np.concatenate([q[: self.coordinates], v[: self.moving - self.coordinates], self._powers(book)])

    def _powers(self, book: np.ndarray) -> np.ndarray:
        powers, slots = book[: self.size - self.moving].copy(), len(self.works)
        for part in range(3):
            powers[part * slots : (part + 1) * slots][~self.works] = 0.0
        return powers

    def _derivatives(self, t: float, y: np.ndarray) -> np.ndarray:
        self._put(t, y)
        self.rate()
        return self._rate()

    def _project(self, solver: Any) -> None:
        """The integrator goes on from the projected state."""
        self._put(solver.t, solver.y)
        self.close()
        y = np.concatenate([self._q, self._v, solver.y[self.moving :]])
        change = y - solver.y
        solver.y = y
        if hasattr(solver, "f"):
            solver.f = self._rate()
        if hasattr(solver, "n_equal_steps"):  # BDF
            solver.D[: solver.order + 3] += change

    def _book(self, gained: np.ndarray) -> None:
        slots = len(self.works)
        for k, name in enumerate(("work", "loss", "viscous_loss")):
            self.state.read(name)[:, 0] += gained[k * slots : (k + 1) * slots]
        loads = 3 * slots + len(self.state.read("load_work"))
        self.state.read("load_work")[:, 0] += gained[3 * slots : loads]
        self.state.read("fluid_work")[:, 0] += gained[loads:]


def host_launch(name: str, rtol: float, atol: float, system: System, state: State, work: WorkArrays) -> Callable:
    """A launch that SciPy's integrator of that name takes."""
    import scipy.integrate

    return HostLaunch(getattr(scipy.integrate, name), rtol, atol, system, state, work)
