"""Launches by compiled steps, every world as far as the guards of some variant hold.

    compiled steps   all steps of a launch
    generic steps    of a world in which all variants' guards broke, and the first few of all
    readings         the generic kernel takes the last step of a launch again, from the same state: reports, reactions,
                     accelerations and energies are its own, while the state stays that of the compiled step

A step in which guards broke may become one more variant, but only after so many steps since the first (`next_due`), so
that the bits of a state depend on the steps before it and not on the launches in which they were taken.

What the graph holds as constants is compared with the system at every launch; where it is another, all is traced anew.
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..launch import one_world
from ..start.consistent import refresh_kernel
from ..state import State, WorkArrays
from ..system import System
from ..system.measured import together
from .backend import compile_text
from .emit_c import WIDTHS, comparison, driver, emit, parameters_of
from .graph import Untraceable
from .reports import count_steps
from .step import TracedStep, trace_step

MOST_VARIANTS = 8
GENERIC_FIRST = 2  # steps: a start at rest goes a way through the step that is not gone again
DUE = (4, 8, 16, 32, 64, 128, 256, 512)  # steps after which variants are made, then every DUE[-1] steps
LARGEST = 60_000  # operations of a step, beyond which compiling takes minutes

_pointer, _whole = ctypes.c_void_p, ctypes.c_longlong
Run = ctypes.CFUNCTYPE(
    _whole,
    *[_pointer, _whole, _pointer, _whole, _pointer, _pointer],
    *[_whole, _whole, _pointer, _pointer, _pointer, _whole],
)
Compare = ctypes.CFUNCTYPE(_whole, _pointer, _pointer, _pointer, _whole)


def next_due(count: int) -> int:
    """The number of steps, above this one, after which variants are made."""
    return next((due for due in DUE if due > count), (count // DUE[-1] + 1) * DUE[-1])


class Constants:
    """What arrays of the system held when the step was traced."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._kept = b""

    def keep(self, arrays: Any, names: list[str]) -> None:
        """Take these arrays, too, as they are now."""
        for name in names:
            array = getattr(arrays, name)
            if name not in self.names and array.size:
                self.names.append(name)
        found = [getattr(arrays, name) for name in self.names]
        self._sizes = np.array([one.shape[0] * one.strides[0] for one in found], np.int64)
        self._places = np.array([one.ptr for one in found], np.uint64)
        self._kept = b"".join(
            ctypes.string_at(place, size)
            for place, size in zip(self._places.tolist(), self._sizes.tolist(), strict=True)
        )
        self._compare = Compare(compile_text(comparison(), "same"))
        self._given = self._places.ctypes.data, self._kept, self._sizes.ctypes.data, len(found)

    def hold(self) -> bool:
        """Whether the arrays are as they were."""
        return not self._kept or bool(self._compare(*self._given))


class Variant:
    """A way through the step: its graph, and its functions by the number of worlds in a register."""

    def __init__(self, step: TracedStep):
        self.step = step
        self.functions: dict[int, int] = {}


@dataclass(frozen=True)
class Compilation:
    """How steps of a mechanism were compiled."""

    variants: int  # ways through the step
    operations: int  # of the longest of them
    guards: int  # of the one with most
    fallbacks: int  # steps of worlds that the generic kernel took, since no variant's guards held
    refused: str  # why nothing is compiled, in words; empty: it is, or no step was taken yet


class CompiledLaunch:
    """Stands for a recorded launch of a method's kernel on the CPU. Arrays that are replaced need a new one.

    generic: the recorded launch of the kernel; refresh: that of `refresh_kernel`; size: that of a step, as a rule [s].
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
    ):
        self.method, self.system, self.state, self.work = method, system, state, work
        self.generic, self.refresh, self.size = generic, refresh, size
        self.worlds = system.counts.worlds
        self.fallbacks = 0  # steps of worlds that the generic kernel took since guards broke
        self._rows, self._report = state.numpy(), work.report.numpy()
        self._before, self._after = np.empty_like(self._rows), np.empty_like(self._rows)
        self._fell: np.ndarray | None = None
        self._steps, self._h = system.arrays.steps.numpy(), system.arrays.h.numpy()
        inputs = [system.arrays, state.arrays, work]
        self._one, self._one_refresh = (one_world(kernel, inputs) for kernel in (method.kernel, refresh_kernel))
        self._start_over()

    def _start_over(self) -> None:
        """Forget all variants."""
        self.variants: list[Variant] = []
        self.refused = ""  # why the step is not compiled
        self.count = 0  # steps since
        self._constants = Constants()
        self._parameters: dict[tuple, int] = {}
        self._calls: list[tuple[Any, tuple]] = []
        self._broke: tuple[int, int, np.ndarray] | None = (
            None  # step, world and state of the first break since variants
        )

    def told(self) -> Compilation:
        """How the steps were compiled up to now."""
        steps = [variant.step for variant in self.variants]
        operations, guards = (
            max(sizes, default=0) for sizes in ([s.operations for s in steps], [len(s.guards) for s in steps])
        )
        return Compilation(len(steps), operations, guards, self.fallbacks, self.refused)

    def __call__(self) -> None:
        asked = int(self._steps[0])
        if self._h[0] != self.size() or self.system.channels.callables:  # cut short by a beat, say
            self.generic()
            return
        if not self._constants.hold():
            self._start_over()
        if self.refused:
            self.generic()
            return
        try:
            self._take(asked)
        finally:
            self._steps[0] = asked

    def _take(self, steps: int) -> None:
        """So many steps, and the report of all of them."""
        report = self._report
        first = None
        if self.count < GENERIC_FIRST:
            n = min(steps, GENERIC_FIRST - self.count)
            self._take_generic(n)
            self.count += n
            steps -= n
            first = report.copy()
            if self.count == GENERIC_FIRST:
                self._add_variant(0)
        if steps and not self.variants:
            self._take_generic(steps)
        elif steps:
            self._fell = None
            self._advance(steps)
            self._read()
            self._count_used(report)
            if self._fell is not None:
                report[...] = together([self._fell, report])
        if first is not None and steps:
            report[...] = together([first, report])

    def _read(self) -> None:
        """The last step again by the kernel, for all that is read of it."""
        np.copyto(self._after, self._rows)
        np.copyto(self._rows, self._before)
        self.refresh()
        self._take_generic(1)
        np.copyto(self._rows, self._after)

    def _take_generic(self, steps: int) -> None:
        self._steps[0] = steps
        self.generic()

    def _advance(self, steps: int) -> None:
        """So many steps of all worlds, compiled as far as guards hold."""
        while steps:
            due = next_due(self.count)
            part = min(steps, due - self.count)
            self._advance_part(part, part == steps)
            self.count += part
            steps -= part
            if self.count == due and self._broke is not None:
                self._learn()

    def _advance_part(self, steps: int, to_end: bool) -> None:
        """to_end: the state before the last of them is kept, and that step is not counted: the kernel's is."""
        done, before = self._done, self._before.ctypes.data if to_end else None
        done.fill(0)
        while True:
            short = 0
            for run, given in self._calls:
                short += run(*given, before, steps)
            if not short:
                return
            stuck = np.flatnonzero(done < steps)
            for world in stuck.tolist():
                last = to_end and int(done[world]) == steps - 1
                if last:
                    self._before[:, world] = self._rows[:, world]
                self._step_one(world, self.count + int(done[world]), last)
            done[stuck] += 1

    def _step_one(self, world: int, at: int, last: bool) -> None:
        """Step number `at` of a world by the kernel; of the last one the report is read later."""
        self.fallbacks += 1
        if self._broke is None or (at, world) < self._broke[:2]:
            self._broke = at, world, self._rows[:, world].copy()
        self._steps[0] = 1
        self._one_refresh(world)
        self._one(world)
        if not last:
            mine = slice(world, world + 1)
            fell = self._fallen()
            fell[:, mine] = together([fell[:, mine], self._report[:, mine]])

    def _fallen(self) -> np.ndarray:
        """The report of the steps of this launch that fell back."""
        if self._fell is None:
            self._fell = np.zeros_like(self._report)
        return self._fell

    def _count_used(self, report: np.ndarray) -> None:
        """Add the compiled steps since the last time to a report."""
        count_steps(report, self._tallies, self._used)
        self._used.fill(0)

    def _learn(self) -> None:
        """Make a variant of the first step in which guards broke since the last one was made."""
        assert self._broke is not None
        _, world, rows = self._broke
        self._broke = None
        if len(self.variants) < MOST_VARIANTS:
            self._count_used(self._fallen())
            now = self._rows[:, world].copy()
            self._rows[:, world] = rows
            self._add_variant(world)
            self._rows[:, world] = now

    def _add_variant(self, world: int) -> None:
        """The way that the step takes from the present state of a world."""
        try:
            step = trace_step(self.method, self.system, self.state, self.work, world)
            if step.operations > LARGEST:
                raise Untraceable(f"a step of {step.operations} operations is too long to be compiled in one piece")
        except Untraceable as error:
            if not self.variants:
                self.refused = str(error)
            return
        for name in parameters_of(step):
            self._parameters.setdefault(name, len(self._parameters))
        self._constants.keep(self.system.arrays, [name for name in step.constants if name != "steps"])
        self.variants.append(Variant(step))
        self._call_all()

    def _call_all(self) -> None:
        """Pack the calls that take all worlds: drivers, and what they are given but for the number of steps."""
        self._done, self._used = np.zeros(self.worlds, np.int64), np.zeros((len(self.variants), self.worlds), np.int64)
        self._tallies = [variant.step.tally for variant in self.variants]
        self._calls, self._packed = [], list(self._parameter_places())
        for width, first, end in self._shares():
            for variant in self.variants:
                if width not in variant.functions:
                    variant.functions[width] = compile_text(emit(variant.step, width, self._parameters), "step")
            run = Run(compile_text(driver(self._rows.shape[0], len(self._parameters), width), "run"))
            variants = np.array([variant.functions[width] for variant in self.variants], np.uint64)
            self._packed.append(variants)
            starts, pitches, done, used = (one.ctypes.data for one in (*self._packed[:2], self._done, self._used))
            where = self.state.array.ptr, self.worlds, starts, pitches
            self._calls.append((run, (variants.ctypes.data, len(variants), *where, first, end, done, used)))

    def _shares(self) -> list[tuple[int, int, int]]:
        """Worlds by the width of the code that takes them, the widest first: (width, first, end)."""
        found, at = [], 0
        for width in reversed(WIDTHS):
            end = at + (self.worlds - at) // width * width
            if end > at:
                found.append((width, at, end))
            at = end
        return found

    def _parameter_places(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the parameters that worlds have of their own are, and how far it is from one world to the next."""
        found = [(getattr(self.system.arrays, name), part, k) for _, name, part, k in self._parameters]
        starts = [array.ptr + part * array.strides[0] + 8 * k for array, part, k in found]
        pitches = [array.strides[1] // 8 for array, _, _ in found]
        return np.array(starts or [0], np.uint64), np.array(pitches or [0], np.int64)
