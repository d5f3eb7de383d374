"""Within a nominal step: the world at any time inside the step that it is about to take, or has just taken.

The start of the step is kept. To be at a time τ the start is put back and a step of τ - t is taken by the same method:
a state of the method's own order, with its forces, reactions, contacts, modes and books. A method whose state depends
on the size of its steps (`Method.dense` is CURVE) is taken to the end of the part of the step that τ lies in, and
between the ends t₀ and t₀ + h, s = (τ - t₀) / h,

    q = q₀ + s h (v₀ + v₁)/2 - s (1 - s) h (v₁ - v₀)/2 + σ(s) δ     δ = q₁ - q₀ - h (v₀ + v₁)/2
    v = (1 - s) v₀ + s v₁ + σ'(s) δ / h

with σ = s² (3 - 2 s), the cubic of Hermite. Of a method of order 1 δ is the half step by which its positions run before
its velocities: σ = s there, and v without δ; a falling body is then on the curve of its steps. Both are projected onto
the joints before anything is read (Wang 2011 §3); balls turn along the rotation vector from q₀. Forces and reactions
are then the means of the part. At the end the start is put back, or the whole step taken anew:
the same steps give the same bits, so looking changes none.

A method with a dense output of its own brings another class with these verbs as its attribute `within`.
"""

from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ..author.rotations import conjugate, multiply_all, quaternions, rotation_vectors
from ..edits.carry import CLOSED
from ..edits.fit import fit
from ..engine.freedoms import code_coordinates
from ..engine.methods.base import CURVE
from ..engine.system import measured
from .reports import broken

if TYPE_CHECKING:
    from .runner import Runner

Kept = np.ndarray | wp.array  # a state: of the CPU an array of the host
ROOM = 256  # sub-steps whose ends are noted, to begin with
MEANS = (  # linear in a part of a step
    *("work", "loss", "viscous_loss", "load_work", "fluid_work", "contact_work", "hand_target"),
)


class Within:
    """Reads a runner inside its nominal step."""

    def __init__(self, runner: "Runner"):
        self._runner = runner
        self._start: Kept | None = None
        self.start_time = 0.0  # of the step [s]
        self._clock = 0.0
        self._base: Kept | None = None  # state that steps to a time inside begin from,
        self._base_time = 0.0  # its time [s],
        self._passed = 0  # and how many ends of parts lie before it
        self._ahead: Kept | None = None  # the state at the next of these,
        self._ahead_time = 0.0  # and its time [s]
        self._ends: list[float] = []
        self._span = 0.0  # of the last launch [s]

    # around a step --------------------------------------------------------------------------------

    def begin(self) -> None:
        """Keep the start of a step for which everything is ready."""
        runner = self._runner
        self._start, self.start_time, self._clock = self._state(), runner.time, runner.clock
        self._rest_on([])

    def _rest_on(self, ends: list[float]) -> None:
        """Begin from the start, with so many ends of parts to pass on the way."""
        self._base, self._base_time, self._passed, self._ahead = self._start, self.start_time, 0, None
        self._ends = ends or self._ends_of_parts()

    def _ends_of_parts(self) -> list[float]:
        """Of the equal parts of a nominal step, summed up as the clock is [s]."""
        runner = self._runner
        return list(accumulate([runner.h] * runner.substeps, initial=self.start_time))[1:]

    def trace_ends(self) -> list[float]:
        """Ends of all sub-steps of the step just taken, the last its own end [s]; times inside now rest on them."""
        parts = self._ends_of_parts()
        self._rest_on(parts)
        if self._runner.method.dense == CURVE:
            return parts
        ends: list[float] = []
        for end in parts:
            if len(parts) > 1:
                self._reach_end()
            ends += [*self._trace(self._reach_end if len(parts) > 1 else self.take_again, end), end]
            if len(parts) > 1:
                self._pass_end()
        self._rest_on(ends)
        return ends

    def _trace(self, again: Callable[[], None], end: float) -> list[float]:
        """Ends of the sub-steps of the last launch before its own; where they had no room, it is taken again [s]."""
        work = self._runner.work
        count = int(self._runner.report[measured.SUB_STEPS, 0])
        if count > work.trace.shape[0]:
            self.make_room(2 * count)
            again()
        return [t for t in work.trace.numpy()[: count - 1, 0].tolist() if self._base_time < t < end]

    def leave_out(self, end: float) -> None:
        """Let times inside rest on the ends of sub-steps but this one, to which no step could be taken [s]."""
        self._rest_on([one for one in self._ends if one != end])

    def make_room(self, sub_steps: int = ROOM) -> None:
        """Have the ends of so many sub-steps noted."""
        runner = self._runner
        if runner.work.trace.shape[0] < sub_steps:
            runner.work.trace = wp.zeros((sub_steps, runner.worlds), dtype=wp.float64, device=runner.device)
            runner.record_later()

    def come_back(self) -> None:
        """Be at the start of the step again, everything ready for its launch."""
        self._put(self._start)
        self._set_size(self._runner.h, self._runner.substeps)

    def take_again(self) -> None:
        """Be at the end of the step again: the same bits as if nobody had looked."""
        self.come_back()
        self._runner.launch()
        self._runner.beats.arrive()

    def stay(self) -> None:
        """Let the world go on from where it is now, inside the step."""
        runner = self._runner
        self._set_size(runner.h, runner.substeps)
        last = runner.state.read("last_h").copy()
        runner.state.write("last_h", np.where(last > 0.0, last, self._span))  # by which forces are read
        runner.clock = self._clock + (runner.time - self.start_time)
        runner.forget()

    # a time inside --------------------------------------------------------------------------------

    def go_to(self, time: float) -> None:
        """Bring the world to a time inside the step, to be read [s]."""
        if time < self._base_time:
            self._rest_on(self._ends)
        while self._passed < len(self._ends) - 1 and self._ends[self._passed] < time:
            self._pass_end()
        if self._runner.method.dense == CURVE:
            self._interpolate(time)
        elif time == self._ends[self._passed]:
            self._reach_end()
        elif time > self._base_time:
            self._go_on(time - self._base_time)
        else:
            self._put(self._base)

    def _reach_end(self) -> None:
        """Be at the end of the part that begins at the base; parts of the nominal step are its own to the bit."""
        runner, span = self._runner, self._ends[self._passed] - self._base_time
        self._go_on(runner.h if abs(span - runner.h) < 1e-9 * span else span)
        if self._ahead is None:
            self._ahead, self._ahead_time = self._state(), runner.time

    def _pass_end(self) -> None:
        """Let times inside rest on the end of the part that begins at the base."""
        if self._ahead is None:
            self._reach_end()
        self._base, self._base_time, self._ahead = self._ahead, self._ahead_time, None
        self._passed += 1

    def _go_on(self, span: float) -> None:
        """Take a step of so long from the base [s]."""
        runner = self._runner
        self._put(self._base)
        self._set_size(span, 1)
        runner.launch()
        raw = runner.report
        if raw[measured.BROKEN].any():
            world = int(np.argmax(raw[measured.BROKEN]))
            told = raw.copy()
            self.come_back()
            raise broken(runner.system, told, world, runner.worlds, None, self.start_time, span)

    def _state(self) -> Kept:
        """A copy of the state as it is."""
        state = self._runner.state
        return state.numpy().copy() if state.array.device.is_cpu else wp.clone(state.array)

    def _put(self, state: Kept) -> None:
        if isinstance(state, np.ndarray):  # Warp's own copy takes 50 us
            self._runner.state.numpy()[:] = state
        else:
            wp.copy(self._runner.state.array, state)
        self._runner.refresh()

    def _set_size(self, h: float, steps: int) -> None:
        self._span = h
        arrays, runner = self._runner.system.arrays, self._runner
        if runner.device == "cpu":
            arrays.h.numpy()[0] = arrays.nominal_h.numpy()[0] = h
        else:
            arrays.h.fill_(h)
            arrays.nominal_h.fill_(h)
        if steps != runner.steps:
            runner.set_steps(steps)

    # on a curve -----------------------------------------------------------------------------------

    def _interpolate(self, time: float) -> None:
        """Between the ends of the part of the step that a time lies in."""
        runner = self._runner
        if self._ahead is None:
            self._reach_end()
        start, end = _on_host(self._base), _on_host(self._ahead)
        rows = runner.state.rows
        s = min(max((time - self._base_time) / runner.h, 0.0), 1.0)
        state = end.copy()
        for name in MEANS:
            state[rows[name]] = (1.0 - s) * start[rows[name]] + s * end[rows[name]]
        state[rows["q"]], state[rows["v"]] = self._curve(start, end, s)
        state[rows["hand_turn"]] = _turned(start[rows["hand_turn"]], end[rows["hand_turn"]], s)
        state[rows["time"]] = time
        runner.state.put(state)
        runner.refresh()
        if 0.0 < s < 1.0 and runner.bench.has_rows:
            poses = tuple(getattr(runner.work, name).numpy().copy() for name in ("p_WB", "q_WB", "twist"))
            fit(runner.system, runner.state, runner.work, poses, CLOSED)
            runner.refresh()

    def _curve(self, start: np.ndarray, end: np.ndarray, s: float) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and velocities at the part s of the way between two states [row, world]."""
        runner, h = self._runner, self._runner.h
        of_q, of_v = runner.state.rows["q"], runner.state.rows["v"]
        q0, q1, v0, v1 = start[of_q], end[of_q], start[of_v], end[of_v]
        share, rate = (s, 0.0) if runner.method.order == 1 else (s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s))
        q, v = q1.copy(), (1.0 - s) * v0 + s * v1
        for c, k, size in _coordinates(runner.system.arrays):
            if not size:
                continue
            own = slice(k, k + 1 if size == 1 else k + 3)
            mean, bend = 0.5 * h * (v0[own] + v1[own]), 0.5 * h * (v1[own] - v0[own])
            at = slice(c, c + size)
            way = q1[at] - q0[at] if size == 1 else rotation_vectors(multiply_all(q1[at].T, conjugate(q0[at].T))).T
            off = way - mean
            turn = s * mean - s * (1.0 - s) * bend + share * off
            q[at] = q0[at] + turn if size == 1 else multiply_all(quaternions(turn.T), q0[at].T).T
            v[own] += rate / h * off
        return q, v


def _on_host(state: Kept | None) -> np.ndarray:
    assert state is not None
    return state if isinstance(state, np.ndarray) else state.numpy()


def _turned(start: np.ndarray, end: np.ndarray, s: float) -> np.ndarray:
    """Rotation vectors [3 each, world] at the part s of the way between two, the shorter one."""
    first, last = (quaternions(rows.reshape(-1, 3, rows.shape[1]).swapaxes(1, 2)) for rows in (start, end))
    way = quaternions(s * rotation_vectors(multiply_all(last, conjugate(first))))
    return rotation_vectors(multiply_all(way, first)).swapaxes(1, 2).reshape(start.shape)


def _coordinates(arrays) -> list[tuple[int, int, int]]:
    """Of every freedom: its first coordinate, itself, and how many coordinates it has."""
    kinds, firsts, starts = (getattr(arrays, name).numpy() for name in ("dof_kind", "dof_start", "coordinate_start"))
    found = []
    for body in range(len(arrays.parent.numpy())):
        c = int(starts[body])
        for k in range(firsts[body], firsts[body + 1]):
            size = code_coordinates(int(kinds[k]))
            found.append((c, k, size))
            c += size
    return found


def within(runner: "Runner") -> Within:
    """How a runner is read inside its steps."""
    return getattr(runner.method, "within", Within)(runner)
