"""Launches by compiled steps on a GPU: what `launch` does on the CPU, with all arrays where they are.

    compiled steps   one kernel takes all steps of all worlds, the state in registers (`emit_cuda`)
    generic steps    worlds in which all variants' guards broke, gathered and taken together (`stuck`); whether there
                     are any is the only number that the host waits for, and only where there are guards
    readings         when somebody asks, the generic kernel takes the last step again, from the state before it: that
                     was kept, or is some plain steps from one that was

Constants of the graph are compared with the system after each edit. All of it runs on the CPU, too, where the same text
is taken one thread after the other: so it is tested, and nobody uses it there.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from ..owed import owed
from ..state import State, WorkArrays
from ..system import System
from ..system.measured import MOST_ITERATIONS
from .emit_c import parameters_of
from .emit_cuda import can_break, is_plain, rows_of, run_text
from .graph import Untraceable
from .launch import AHEAD, Compilation
from .nvrtc import Bound, kernel_on
from .recipe import MOST_VARIANTS, Recipe, Sample
from .reports import ADDED
from .step import TracedStep, trace_step
from .stuck import Stuck, join_row
from .ways import COUNTERS

MOST_AGAIN = 32  # steps that are taken again for a reading, so that short launches need not keep a state each
BEFORE, TO, FRESH = 6, 10, 11  # arguments of the kernel that change from launch to launch
FUSE = True  # products and sums: a quarter to nine tenths faster on an H200, and no guard broke more often


@wp.kernel(enable_backward=False)
def before_kernel(
    before: wp.array2d(dtype=wp.float64),
    changed: wp.array(dtype=wp.int32),
    by_kernel: wp.array(dtype=wp.int32),
    state: wp.array2d(dtype=wp.float64),
):
    """The state before the last step: rows that compiled steps change; all of a world whose last step was generic."""
    row, w = wp.tid()
    if changed[row] == 1 or by_kernel[w] == 1:
        state[row, w] = before[row, w]


@wp.kernel(enable_backward=False)
def report_kernel(
    kinds: wp.array(dtype=wp.int32),
    added: wp.array(dtype=wp.int32),
    tallies: wp.array2d(dtype=wp.float64),
    used: wp.array2d(dtype=wp.int32),
    fell: wp.array2d(dtype=wp.float64),
    has_fallen: int,
    report: wp.array2d(dtype=wp.float64),
):
    """The report of a launch: counts of all its steps, the rest of the last step and of those that fell back."""
    w = wp.tid()
    most = wp.float64(used[2, w])
    for k in range(added.shape[0]):
        total = wp.float64(0.0)
        if k < 2:  # what the tallies do not have, of steps that keep loops
            total = wp.float64(used[k, w])
        for v in range(tallies.shape[0]):
            total += wp.float64(used[3 + v, w]) * tallies[v, k]
            if k == 0 and used[3 + v, w] > 0:
                most = wp.max(most, tallies[v, k])
        report[added[k], w] = total
    report[MOST_ITERATIONS, w] = most
    if has_fallen == 1:
        above_a = wp.float64(0.0)
        above_b = wp.float64(0.0)
        for row in range(report.shape[0]):
            a = fell[row, w]
            b = report[row, w]
            report[row, w] = join_row(kinds, row, a, b, above_a, above_b)
            above_a = a
            above_b = b


class SampledState:
    """A state whose rows on the host are those of a sample in its world."""

    def __init__(self, state: State, sample: Sample):
        self.array, self.arrays = state.array, state.arrays
        self._rows = state.numpy().copy()
        self._rows[:, sample.world] = sample.numbers

    def numpy(self) -> np.ndarray:
        return self._rows


class DeviceLaunch:
    """Stands for a recorded launch of a method's kernel. Arrays that are replaced need a new one.

    generic: the recorded launch of the kernel; refresh: that of `refresh_kernel`; size: that of a step, as a rule [s];
    asked: steps of this launch and their size [s], where the host knows them; else they are read from the device.
    """

    def __init__(
        self,
        method: Any,
        system: System,
        state: State,
        work: WorkArrays,
        generic: Callable[[], None],
        refresh: Callable[[], None],
        size: Callable[[], float],
        recipe: Recipe,
        asked: Callable[[], tuple[int, float]] | None = None,
    ):
        self.method, self.system, self.state, self.work = method, system, state, work
        self.generic, self.refresh, self.size, self.recipe = generic, refresh, size, recipe
        self.asked = asked or self._read_asked
        self.worlds, self.device = system.counts.worlds, str(state.array.device)
        self.fuse = FUSE
        self.fallbacks = 0  # steps of worlds that the generic kernel took since guards broke
        self._owed = owed(work)
        self._before, self._again = wp.zeros_like(state.array), 0  # and how many steps before the last one that is
        self._done, self._by_kernel = (self._whole(self.worlds) for _ in range(2))
        self._used, self._missing = self._whole((3 + MOST_VARIANTS, self.worlds)), self._whole(1)
        self._told = wp.zeros(1, dtype=wp.int32, device="cpu", pinned=state.array.device.is_cuda)
        self._short = self._told.numpy()
        self._stuck: Stuck | None = None
        self._forget()

    def _whole(self, shape: Any) -> wp.array:
        return wp.zeros(shape, dtype=wp.int32, device=self.device)

    def _read_asked(self) -> tuple[int, float]:
        return int(self.system.arrays.steps.numpy()[0]), float(self.system.arrays.h.numpy()[0])

    def _forget(self) -> None:
        """No way is built."""
        self.ways: list[TracedStep] = []
        self.refused = ""  # why the step is not compiled
        self._built = self._behind = self._has_fallen = False
        self._blocked = bool(self.system.channels.callables)
        self._places: dict[tuple, int] = {}  # of parameters that worlds have of their own
        self._constants: dict[str, bytes] = {}
        self._go: Bound | None = None
        self._used.zero_()

    def told(self) -> Compilation:
        """How the steps were compiled up to now."""
        operations, guards = (
            max(sizes, default=0) for sizes in ([w.operations for w in self.ways], [len(w.guards) for w in self.ways])
        )
        return Compilation(len(self.ways), operations, guards, self.fallbacks, self.refused)

    def look_again(self) -> None:
        """Something was edited: ways of what is no more are dropped."""
        self._stuck, self.state.touched = None, True
        self._blocked = bool(self.system.channels.callables)
        if self._built and not self._holds():
            self.recipe.clear()
        if not self.recipe.samples:
            self._forget()

    def _holds(self) -> bool:
        """Whether the system has what the ways were made of."""
        return all(bytes_of(getattr(self.system.arrays, name)) == kept for name, kept in self._constants.items())

    # launches -------------------------------------------------------------------------------------

    def __call__(self) -> None:
        steps, h = self.asked()
        if not self._built and h == self.size():
            self.build()
        if self._blocked or not self.ways or h != self.size():
            self._take_generic()
            return
        self._clear_fallen()
        self._run(steps, self._keeps(steps))
        recipe = self.recipe
        learns = recipe.learns and recipe.broke is not None and recipe.count + steps >= recipe.due
        if self._can_break and (self._is_short() or learns):
            self._catch_up(steps)
        else:
            recipe.advance(steps)
        self._behind, self._steps = True, steps
        self._owed.settle = self.settle

    def _take_generic(self) -> None:
        """The launch by the kernel."""
        if self._behind:
            self.settle()
            self.refresh()  # the kernel's end of the step is not that of the state, by rounding
            self._behind = False
        self._owed.impulses = None
        self.generic()

    def _clear_fallen(self) -> None:
        """Nothing of this launch has fallen back yet."""
        if self._has_fallen:
            if self._stuck is not None:
                self._stuck.fell.zero_()
            self._by_kernel.zero_()
            self._has_fallen = False

    def _keeps(self, steps: int) -> bool:
        """Whether a launch is to keep the state before its last step; if not, that is found from the last one kept."""
        again = self._again + steps
        follows = self._behind and self._owed.settle is not None and not self.state.touched
        if self._is_plain and follows and again <= MOST_AGAIN:
            self._again = again
            return False
        self._again, self.state.touched = 0, False
        return True

    def _run(self, steps: int, keep: bool, fresh: bool = True) -> None:
        """Steps of all worlds up to so many; keep: the state before the last of them; fresh: none is counted."""
        assert self._go is not None
        for place, value in ((BEFORE, self._before.ptr if keep else 0), (TO, steps), (FRESH, int(fresh))):
            self._go.set(place, value)
        self._go()

    def _is_short(self) -> bool:
        """Whether some world stopped before its last step."""
        wp.copy(self._told, self._missing)
        wp.synchronize_stream(self.device)
        return bool(self._short[0])

    def _catch_up(self, steps: int) -> None:
        """The steps of worlds that stopped. They wait where variants are made, till all have come so far."""
        if self._stuck is None:
            self._stuck = Stuck(self.method, self.system, self.state, self.work)
        recipe, begun, at = self.recipe, self.recipe.count, 0
        while at < steps:
            upto = min(steps, recipe.due - begun) if recipe.learns else steps
            count = self._stuck.list(self._done, upto)
            if count:
                self._fall_back(count, steps, begun)
                self._run(steps, True, False)
                continue
            due = begun + upto == recipe.due
            recipe.advance(upto - at)
            at = upto
            if recipe.learns and due and recipe.broke is not None:
                self._learn()
                self._run(steps, True, False)
        self._missing.zero_()

    def _fall_back(self, count: int, steps: int, begun: int) -> None:
        """The next step of the worlds listed, by the generic kernel; begun: number of the first of these steps."""
        stuck, recipe = self._stuck, self.recipe
        assert stuck is not None
        if recipe.learns and len(recipe.samples) < MOST_VARIANTS:
            done, world = stuck.last(self._done, count)
            if begun + done >= AHEAD and recipe.is_later(begun + done, world):
                recipe.broke = begun + done, Sample(world, stuck.rows_of(world).tobytes())
        stuck.step(count, self._done, steps - 1, self._before, self._by_kernel)
        self._has_fallen = True
        self.fallbacks += count

    # readings -------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Bring work arrays and the report up to the state."""
        self._owed.settle = None
        if not self._behind:
            return
        arrays = self.system.arrays
        kept = [(array, array.numpy().copy()) for array in (arrays.steps, arrays.h, arrays.nominal_h)]
        after = wp.clone(self.state.array)
        given = self._before, self._changed, self._by_kernel, self.state.array
        wp.launch(before_kernel, self.state.array.shape, inputs=list(given), device=self.device)
        if self._again:
            self._run(self._again, False)
        try:
            arrays.steps.fill_(1)
            arrays.h.fill_(self.size())
            arrays.nominal_h.fill_(self.size())
            self.refresh()
            self.generic()
            told = self.state.read("impulse").copy()
        finally:
            wp.copy(self.state.array, after)
            for array, values in kept:
                array.assign(values)
        self._owed.impulses = self.state.read("impulse").copy(), told
        if self._is_plain:
            self._used[3].fill_(self._steps)
        stuck = self._stuck or Stuck(self.method, self.system, self.state, self.work)
        counted = self._added, self._tallies, self._used, stuck.fell, int(self._has_fallen), self.work.report
        wp.launch(report_kernel, self.worlds, inputs=[stuck.kinds, *counted], device=self.device)

    # ways -----------------------------------------------------------------------------------------

    def build(self) -> None:
        """Have all ways of the recipe; of one that learns the first, too."""
        self._built = True
        recipe = self.recipe
        try:
            if recipe.learns and not recipe.samples and not self._blocked:
                recipe.samples.append(self._ahead())
            for sample in recipe.samples:
                self._add(sample)
        except Untraceable as error:
            self.refused = str(error)
            self.ways = []
        if self.ways:
            self._compile()

    def _ahead(self) -> Sample:
        """Where the first world is some steps from here; it stays here."""
        arrays, rows = self.system.arrays, wp.clone(self.state.array)
        steps = arrays.steps.numpy().copy()
        try:
            arrays.steps.fill_(AHEAD)
            self.refresh()
            self.generic()
            ahead = self.state.numpy()
            sample = Sample.of(ahead if np.isfinite(ahead).all() else rows.numpy(), 0)
        finally:
            wp.copy(self.state.array, rows)
            arrays.steps.assign(steps)
            self.refresh()
        return sample

    def trace(self, sample: Sample, keep_loops: bool) -> TracedStep:
        """The way that a step goes from a sample."""
        state: Any = SampledState(self.state, sample)
        return trace_step(self.method, self.system, state, self.work, sample.world, keep_loops=keep_loops)

    def _add(self, sample: Sample) -> None:
        """The way of a sample."""
        step = self.trace(sample, keep_loops=True)
        if step.operations > self.recipe.largest:
            raise Untraceable(f"a step of {step.operations} operations is too long to be compiled")
        for name in parameters_of(step):
            self._places.setdefault(name, len(self._places))
        for array in (*step.constants, "h", "nominal_h"):
            if array not in COUNTERS and array not in self._constants:
                self._constants[array] = bytes_of(getattr(self.system.arrays, array))
        self.ways = [*self.ways, step]

    def _learn(self) -> None:
        """Make a variant of the last step in which guards broke since the last one was made."""
        recipe = self.recipe
        assert recipe.broke is not None
        sample, recipe.broke = recipe.broke[1], None
        if len(recipe.samples) >= MOST_VARIANTS:
            return
        try:
            self._add(sample)
        except Untraceable:
            recipe.refuse()
            return
        recipe.samples.append(sample)
        self._compile()

    def _compile(self) -> None:
        """One kernel of all ways, and what it is given."""
        self._can_break, self._is_plain = any(map(can_break, self.ways)), all(map(is_plain, self.ways))
        kernel = kernel_on(self.device, run_text(self.ways, self._places), "run", self.fuse)
        found = [(getattr(self.system.arrays, name), part, k) for _, name, part, k in self._places]
        self._read = [array for array, _, _ in found]  # by their addresses: they stay where readings are owed
        starts = [array.ptr + part * array.strides[0] + 8 * k for array, part, k in found]
        pitches = [array.strides[1] // 8 for array, _, _ in found]
        self._starts, self._pitches = (
            wp.array(np.array(values or [0], kind), dtype=dtype, device=self.device)
            for values, kind, dtype in ((starts, np.uint64, wp.uint64), (pitches, np.int64, wp.int64))
        )
        arrays = self.state.array, self._starts, self._pitches, self._done, self._used, self._missing
        self._go = kernel.bind(self.worlds, *(one.ptr for one in arrays), 0, 0, 0, self.worlds, 0, 0)
        changed = np.zeros(self.state.array.shape[0], np.int32)
        changed[rows_of(self.ways)[1]] = 1
        self._changed = wp.array(changed, dtype=wp.int32, device=self.device)
        self._added = wp.array(np.array(ADDED, np.int32), dtype=wp.int32, device=self.device)
        tallies = np.array([way.tally.added() for way in self.ways], float)
        self._tallies = wp.array(tallies, dtype=wp.float64, device=self.device)


def bytes_of(array: wp.array) -> bytes:
    """What an array holds, on the host; once where all worlds share it."""
    shared = array.ndim == 2 and array.size and array.strides[1] == 0
    return (array[:, :1] if shared else array).numpy().tobytes()
