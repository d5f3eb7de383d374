"""Generic steps of the few worlds in which guards broke, on any device: gathered, stepped together, put back.

The kernel takes them for worlds 0, 1, ...: their state and the parameters that they have of their own are copied side
by side; work arrays are those of the first worlds, but for the few that outlive a step. The host learns how many there
are, and of no world by itself.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import warp as wp

from ..launch import launch
from ..start.consistent import refresh_kernel
from ..state import REPORT_ROWS, State, WorkArrays
from ..system import System, SystemArrays
from ..system.measured import RESIDUALS, SUMS, WORST
from .step import FOLLOWED

OUTLIVE = ("feedback", "push")  # work arrays that the next step reads, where motors are off their targets
LEAST = 64  # worlds that there is room for
ADD, LARGEST, WITH_ABOVE, LAST = 0, 1, 2, 3  # how rows of reports go together


def kinds_of_rows() -> np.ndarray:
    """How each row of two reports, one after the other, becomes one: as `measured.together` has it."""
    kinds = np.full(REPORT_ROWS, LAST, np.int32)
    kinds[SUMS], kinds[WORST] = ADD, LARGEST
    for _, slot in RESIDUALS:
        kinds[slot] = WITH_ABOVE  # its residual is the row above
    return kinds


RESIDUAL_ROWS = [row for row, _ in RESIDUALS]
assert all(slot == row + 1 for row, slot in RESIDUALS)


@wp.kernel(enable_backward=False)
def flag_kernel(done: wp.array(dtype=wp.int32), to: int, flags: wp.array(dtype=wp.int32)):
    """1 where a world is short of its steps."""
    w = wp.tid()
    flags[w] = wp.where(done[w] < to, 1, 0)


@wp.kernel(enable_backward=False)
def list_kernel(flags: wp.array(dtype=wp.int32), upto: wp.array(dtype=wp.int32), listed: wp.array(dtype=wp.int32)):
    """The worlds that are flagged, one after the other; upto: how many there are up to each."""
    w = wp.tid()
    if flags[w] == 1:
        listed[upto[w] - 1] = w


@wp.kernel(enable_backward=False)
def gather_kernel(
    source: wp.array3d(dtype=wp.int32), listed: wp.array(dtype=wp.int32), few: wp.array3d(dtype=wp.int32)
):
    """Words of some worlds side by side, [part, world, word]."""
    part, k, word = wp.tid()
    few[part, k, word] = source[part, listed[k], word]


@wp.kernel(enable_backward=False)
def scatter_kernel(
    few: wp.array2d(dtype=wp.float64), listed: wp.array(dtype=wp.int32), whole: wp.array2d(dtype=wp.float64)
):
    """Rows of some worlds back to where they belong."""
    row, k = wp.tid()
    whole[row, listed[k]] = few[row, k]


@wp.kernel(enable_backward=False)
def keep_last_kernel(
    few: wp.array2d(dtype=wp.float64),
    listed: wp.array(dtype=wp.int32),
    done: wp.array(dtype=wp.int32),
    last: int,
    before: wp.array2d(dtype=wp.float64),
    by_kernel: wp.array(dtype=wp.int32),
):
    """Keep the state before a step that is the last one, and that the generic kernel takes it."""
    k = wp.tid()
    w = listed[k]
    if done[w] == last:
        by_kernel[w] = 1
        for row in range(few.shape[0]):
            before[row, w] = few[row, k]


@wp.func
def join_row(
    kinds: wp.array(dtype=wp.int32),
    row: int,
    a: wp.float64,
    b: wp.float64,
    above_a: wp.float64,
    above_b: wp.float64,
):
    """A row of two reports as that of one; above: of the row above, as it was before that was joined."""
    kind = kinds[row]
    if kind == ADD:
        return a + b
    if kind == LARGEST:
        return wp.max(a, b)
    if kind == WITH_ABOVE:
        return wp.where(above_b > above_a, b, a)
    return b


@wp.kernel(enable_backward=False)
def join_kernel(
    kinds: wp.array(dtype=wp.int32),
    few: wp.array2d(dtype=wp.float64),
    listed: wp.array(dtype=wp.int32),
    whole: wp.array2d(dtype=wp.float64),
    done: wp.array(dtype=wp.int32),
):
    """Add the reports of a step of some worlds to theirs, and count the step."""
    k = wp.tid()
    w = listed[k]
    above_a = wp.float64(0.0)
    above_b = wp.float64(0.0)
    for row in range(whole.shape[0]):
        a = whole[row, w]
        b = few[row, k]
        whole[row, w] = join_row(kinds, row, a, b, above_a, above_b)
        above_a = a
        above_b = b
    done[w] = done[w] + 1


class Stuck:
    """Takes steps of worlds that are short of theirs by the generic kernel."""

    def __init__(self, method: Any, system: System, state: State, work: WorkArrays):
        self.method, self.system, self.state, self.work = method, system, state, work
        self.device, self.worlds = state.array.device, system.counts.worlds
        self.flags, self.upto, self.listed = (
            wp.zeros(self.worlds, dtype=wp.int32, device=self.device) for _ in range(3)
        )
        kinds = kinds_of_rows()
        kinds[RESIDUAL_ROWS] = LARGEST
        self.kinds = wp.array(kinds, dtype=wp.int32, device=self.device)
        self.fell = wp.zeros((REPORT_ROWS, self.worlds), dtype=wp.float64, device=self.device)
        self.few: State | None = None
        self._own: list[tuple[Any, Any]] = []

    def _launch(self, kernel: wp.Kernel, dim: Any, *inputs: Any) -> None:
        wp.launch(kernel, dim, inputs=list(inputs), device=self.device)

    def list(self, done: wp.array, to: int) -> int:
        """Find the worlds that are short of so many steps, and how many there are."""
        self._launch(flag_kernel, self.worlds, done, to, self.flags)
        wp.utils.array_scan(self.flags, self.upto, inclusive=True)
        self._launch(list_kernel, self.worlds, self.flags, self.upto, self.listed)
        return int(self.upto[-1:].numpy()[0])

    def last(self, done: wp.array, count: int) -> tuple[int, int]:
        """Of the worlds listed the one that stopped last: its steps and its number."""
        worlds = self.listed.numpy()[:count]
        steps = done.numpy()[worlds]
        k = int(np.argmax(steps))  # of several the first
        return int(steps[k]), int(worlds[k])

    def rows_of(self, world: int) -> np.ndarray:
        """The state of a world [row]."""
        return self.state.array[:, world : world + 1].numpy()[:, 0].copy()

    def step(self, count: int, done: wp.array, last: int, before: wp.array, by_kernel: wp.array) -> None:
        """One step of the worlds listed; of those for which it is step number `last` the state before it is kept."""
        self._make_room(count)
        assert self.few is not None
        for source, few in [(words(self.state.array), words(self.few.array)), *self._own]:
            self._launch(gather_kernel, (source.shape[0], count, source.shape[2]), source, self.listed, few)
        if last >= 0:
            self._launch(keep_last_kernel, count, self.few.array, self.listed, done, last, before, by_kernel)
        inputs = self._arrays, self.few.arrays, self._work
        for kernel in (refresh_kernel, self.method.kernel):
            launch(kernel, count, inputs, self.device)
        for few, whole in [(self.few.array, self.state.array), *self._back]:
            self._launch(scatter_kernel, (whole.shape[0], count), few, self.listed, whole)
        self._launch(join_kernel, count, self.kinds, self.work.report, self.listed, self.fell, done)

    def _make_room(self, count: int) -> None:
        """Arrays for so many worlds; the system's own where all worlds share them."""
        room = min(self.worlds, max(LEAST, 1 << (count - 1).bit_length()))
        if self.few is not None and self.few.array.shape[1] >= room:
            return
        self.few = self.state.anew(replace(self.system.counts, worlds=room))
        self._arrays, self._own = SystemArrays(), []
        theirs = {*self.system.parameters, *FOLLOWED}
        for name in SystemArrays.vars:  # type: ignore[attr-defined]
            array = getattr(self.system.arrays, name)
            if name in theirs and array.ndim == 2 and array.size and array.strides[1]:
                array = wp.empty((array.shape[0], room), dtype=array.dtype, device=self.device)
                self._own.append((words(getattr(self.system.arrays, name)), words(array)))
            setattr(self._arrays, name, array)
        self._arrays.steps = wp.array([1], dtype=wp.int32, device=self.device)
        self._work, self._back = WorkArrays(), []
        for name in WorkArrays.vars:  # type: ignore[attr-defined]
            array = whole = getattr(self.work, name)
            if name in OUTLIVE and whole.size:
                array = wp.empty((whole.shape[0], room), dtype=whole.dtype, device=self.device)
                self._own.append((words(whole), words(array)))
                self._back.append((array, whole))
            setattr(self._work, name, array)


def words(array: wp.array) -> wp.array:
    """An array [part, world] as whole words [part, world, word]."""
    count = wp.types.type_size_in_bytes(array.dtype) // 4
    shape, strides = (*array.shape, count), (*array.strides, 4)
    return wp.array(ptr=array.ptr, dtype=wp.int32, shape=shape, strides=strides, device=array.device)
