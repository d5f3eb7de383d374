"""Launches by compiled steps, every world as far as the guards of some variant hold.

    compiled steps   all steps of a launch
    generic steps    of a world in which all variants' guards broke
    readings         when somebody asks for them, the generic kernel takes the last step of a launch again, from the
                     same state: reports, reactions, accelerations and energies are its own, while the state stays that
                     of the compiled step (`engine/owed`)

Which variants there are a `Recipe` says. One that learns takes up steps in which all guards broke, but only after so
many steps since the first, so that the bits of a state depend on the steps before it and not on the launches in which
they were taken.

What the graph holds as constants is compared with the system at every launch; where it is another, the recipe begins
anew: one that learns from the present state, another one when it is given samples.
"""

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from sys import getrefcount
from typing import Any

import numpy as np

from ..launch import one_world
from ..methods.base import touching_kernel
from ..owed import owed
from ..start.consistent import refresh_kernel
from ..state import State, WorkArrays
from ..system import System
from ..system.measured import BROKEN, together
from .calls import Call, Packed, address, in_ranges, run_of, shares
from .emit_c import CHANGED, COUNTS, WILD
from .graph import Untraceable
from .recipe import MOST_VARIANTS, Recipe, Sample
from .reports import count_steps
from .ways import Way, way_of

AHEAD = 2  # steps from a start to the first sample: one at rest goes a way that is not gone again
LEAST_WORK = 10**7  # operations of a launch, some 0.2 ms, for which threads pay
SPARE = 3  # readings whose memory is used again


@dataclass(frozen=True)
class Compilation:
    """How steps of a mechanism were compiled."""

    variants: int  # ways through the step
    operations: int  # of the longest of them
    guards: int  # of the one with most
    fallbacks: int  # steps of worlds that the generic kernel took, since no variant's guards held
    refused: str  # why nothing is compiled, in words; empty: it is, or no step was taken yet


def _holders(those: list, k: int) -> int:
    """How many hold one of those, as far as they can be told from another call of this."""
    one = those[k]
    return getrefcount(one)


NOBODY = _holders([object()], 0)


class Last(Packed):
    """The last step of a launch, from which its report is made when it is asked for."""

    def __init__(self, launch: "CompiledLaunch", rows: int, worlds: int):
        super().__init__(rows, worlds, MOST_VARIANTS)
        self.launch = launch
        self.ways = launch.ways
        self.fell: np.ndarray | None = None  # report of steps before it that fell back
        self.report: np.ndarray | None = None  # once it is known

    def read(self) -> np.ndarray:
        """The report of the launch [row, world]."""
        if self.report is None:
            self.launch.settle()
        assert self.report is not None
        return self.report


class CompiledLaunch:
    """Stands for a recorded launch of a method's kernel on the CPU. Arrays that are replaced need a new one.

    generic: the recorded launch of the kernel; refresh: that of `refresh_kernel`; size: that of a step, as a rule [s];
    contacts: arrays of a world with contact; threads: among which worlds are shared out. A call returns its `Last`, or
    None where the report is there at once.
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
        contacts: Any = None,
        threads: int = 1,
    ):
        self.method, self.system, self.state, self.work = method, system, state, work
        self.generic, self.refresh, self.size, self.recipe = generic, refresh, size, recipe
        self.contacts, self.threads = contacts, threads
        self.worlds = system.counts.worlds
        self.fallbacks = 0  # steps of worlds that the generic kernel took since guards broke
        self._rows, self._report = state.numpy(), work.report.numpy()
        self._after = np.empty_like(self._rows)
        self._steps, self._h = system.arrays.steps.numpy(), system.arrays.h.numpy()
        self._nominal = system.arrays.nominal_h.numpy()
        self._owed = owed(work)
        inputs = [system.arrays, state.arrays, work]
        kernel, given = method.kernel, inputs
        if contacts is not None:
            kernel, given = touching_kernel(method), [*inputs, contacts]
        self._one, self._one_refresh = one_world(kernel, given), one_world(refresh_kernel, inputs)
        self._forget()

    def _forget(self) -> None:
        """No way is built."""
        self.ways: list[Way] = []
        self.refused = ""  # why the step is not compiled
        self._built = False
        self._places: dict[tuple, int] = {}
        self._spare: list[Last] = []
        self._others: list[weakref.ref[Last]] = []  # beyond the spare ones, which somebody may hold
        self._living = SPARE  # of them, when they were last looked through
        self._last: Last | None = None  # of which the work arrays are behind

    def told(self) -> Compilation:
        """How the steps were compiled up to now."""
        operations, guards = (
            max(sizes, default=0) for sizes in ([w.operations for w in self.ways], [w.guards for w in self.ways])
        )
        return Compilation(len(self.ways), operations, guards, self.fallbacks, self.refused)

    def look_again(self) -> None:
        """Something was edited: ways of what is no more are dropped."""
        if self._built and not self.recipe.constants.hold(self.system.arrays):
            self.recipe.clear()
        if not self.recipe.samples:
            self._forget()
        self._blocked = bool(self.system.channels.callables)

    # launches -------------------------------------------------------------------------------------

    def __call__(self) -> Last | None:
        if not self._built:
            self.build()
        steps, recipe = self._steps.item(0), self.recipe
        if self._blocked or not self.ways or (recipe.learns and recipe.count + steps >= recipe.due and self._may_learn):
            return self._take(steps)
        last = self._fresh()
        if last.steps != steps:
            last.set(steps)
        code = last.go()
        if code:
            return self._take(steps, last, code)
        recipe.advance(steps)
        self._last = last
        self._owed.settle = self.settle
        return last

    @property
    def _may_learn(self) -> bool:
        """Whether a launch is to stop where variants are made: one world that stops where guards break need not."""
        return self.worlds > 1 or self.recipe.broke is not None

    def _take(self, steps: int, last: Last | None = None, code: int = 0) -> Last | None:
        """So many steps, where not all of it is one call; last: of one call that ended with a code."""
        if code == CHANGED or last is None:
            if self._h[0] != self.size() or self._blocked or not self._holds():
                self._take_generic()
                return None
            last, code = self._fresh(), -1
        try:
            code = self._advance(last, steps, code)
        finally:
            self._steps[0] = steps
        self._last = last
        self._owed.settle = self.settle
        if not code:
            return last
        self.settle()  # something is not as it should be, which the kernel has a word for
        return None

    def _take_generic(self) -> None:
        """The launch by the kernel."""
        if self._last is not None:
            self.settle()
            self.refresh()  # the kernel's end of the step is not that of the state, by rounding
            self._last = None
        self._owed.impulses = None
        self.generic()

    def _holds(self) -> bool:
        """Whether there are ways, made of what the system holds now."""
        if not self.recipe.constants.hold(self.system.arrays):
            self.look_again()
            self.build()
        return bool(self.ways)

    def _fresh(self) -> Last:
        """Room for a launch: of one whose report nobody can ask for any more, if there is one."""
        self._last = None
        for k in range(len(self._spare)):
            if _holders(self._spare, k) == NOBODY:
                last = self._spare[k]
                last.report = last.fell = None
                return last
        last = Last(self, *self._rows.shape)
        self._pack(last)
        self._spare.insert(0, last)
        if len(self._spare) > SPARE:
            self._let_go(self._spare.pop())
        return last

    def _let_go(self, last: Last) -> None:
        """Keep one in mind that somebody may hold."""
        if len(self._others) > 2 * self._living:  # most of them are gone
            self._others = [one for one in self._others if one() is not None]
            self._living = max(SPARE, len(self._others))
        if last.report is None:
            self._others.append(weakref.ref(last))

    def _advance(self, last: Last, steps: int, code: int) -> int:
        """So many steps of all worlds, compiled as far as guards hold; what was not as it should be, 0: nothing.

        code: of a call that has taken them as far as guards held; -1: none has.
        """
        wrong, fresh, recipe = 0, True, self.recipe
        if code > 0 and self.worlds == 1:  # it may have gone on past steps at which variants are made
            wrong, fresh, taken = code & WILD, False, last.done.item(0)
            recipe.advance(taken)
            steps, code = steps - taken, -1
        while steps:
            part = min(steps, recipe.due - recipe.count) if recipe.learns else steps
            wrong |= self._advance_part(last, part, part == steps, fresh, code)
            due = recipe.count + part == recipe.due
            recipe.advance(part)
            steps -= part
            fresh, code = False, -1
            if recipe.learns and due and recipe.broke is not None:
                self._learn(last)
        return wrong

    def _advance_part(self, last: Last, steps: int, to_end: bool, fresh: bool, code: int) -> int:
        """to_end: the state before the last of them is kept, and that step is not counted: the kernel's is."""
        done, wrong = last.done, 0
        if code < 0:
            last.set(steps, to_end, fresh)
            if not fresh:
                done.fill(0)
            code = last.go()
        while True:
            wrong |= code & WILD
            if not code % WILD:
                last.set(steps)  # as the next launch will have it
                return wrong
            stuck = np.flatnonzero(done < steps)
            for world in stuck.tolist():
                is_last = to_end and int(done[world]) == steps - 1
                if is_last:
                    last.before[:, world] = self._rows[:, world]
                wrong |= self._step_one(last, world, self.recipe.count + int(done[world]), is_last)
            done[stuck] += 1
            last.set(steps, to_end, False)
            code = last.go()

    def _step_one(self, last: Last, world: int, at: int, is_last: bool) -> int:
        """Step number `at` of a world by the kernel; of the last one the report is read later."""
        self.fallbacks += 1
        recipe = self.recipe
        if not (recipe.learns and at < AHEAD) and recipe.is_later(at, world):
            recipe.broke = at, Sample.of(self._rows, world)
        self._steps[0] = 1
        self._one_refresh(world)
        self._one(world)
        if not is_last:
            mine = slice(world, world + 1)
            if last.fell is None:
                last.fell = np.zeros_like(self._report)
            last.fell[:, mine] = together([last.fell[:, mine], self._report[:, mine]])
        return int(self._report[BROKEN, world] != 0.0)

    # readings -------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Bring work arrays and reports up to the state."""
        self._owed.settle = None
        if self._last is None:
            return
        steps, h, nominal = self._steps.item(0), self._h.item(0), self._nominal.item(0)
        np.copyto(self._after, self._rows)
        try:
            self._steps[0], self._h[0], self._nominal[0] = 1, self.size(), self.size()
            for last in [*self._held(), self._last]:
                if last.report is None:
                    self._read(last)
            block = self.state.rows["impulse"]
            self._owed.impulses = self._after[block].copy(), self._rows[block].copy()
        finally:
            np.copyto(self._rows, self._after)
            self._steps[0], self._h[0], self._nominal[0] = steps, h, nominal

    def _held(self) -> list[Last]:
        """Earlier ones that somebody may ask for."""
        found = [one for last in self._others if (one := last()) is not None]
        held = [k for k in range(len(self._spare)) if _holders(self._spare, k) > NOBODY]
        found += [self._spare[k] for k in reversed(held) if self._spare[k] is not self._last]
        self._others.clear()
        return found

    def _read(self, last: Last) -> None:
        """A last step again by the kernel, for all that is read of it."""
        np.copyto(self._rows, last.before)
        self.refresh()
        self.generic()
        report = self._report
        count_steps(report, [way.tally for way in last.ways], last.used[: COUNTS + len(last.ways)])
        if last.fell is not None:
            report[...] = together([last.fell, report])
        last.report = report.copy()

    # ways -----------------------------------------------------------------------------------------

    def build(self) -> None:
        """Have all ways of the recipe; of one that learns the first, too."""
        self._built = True
        self._blocked = bool(self.system.channels.callables)
        try:
            if self.recipe.learns and not self.recipe.samples and not self._blocked:
                self.recipe.samples.append(self._ahead())
            for k in range(len(self.recipe.samples)):
                self._add(self.recipe.samples[: k + 1])
            self._parts = self._functions() if self.ways else []
        except Untraceable as error:
            self.refused = str(error)
            self.ways = []

    def _ahead(self) -> Sample:
        """Where the first world is some steps from here; it stays here."""
        rows, steps = self._rows.copy(), self._steps.item(0)
        try:
            self._steps[0] = AHEAD
            self.refresh()
            self.generic()
            ahead = Sample.of(self._rows if np.isfinite(self._rows).all() else rows, 0)
        finally:
            self._rows[...] = rows
            self._steps[0] = steps
            self.refresh()
        return ahead

    def _add(self, samples: list[Sample]) -> None:
        """The way of the last of these samples."""
        places, bench = dict(self._places), (self.system, self.state, self.work)
        way = way_of(self.method, *bench, samples, places, self.contacts)
        if way.operations > self.recipe.largest:
            told = f"a step of {way.operations} operations takes long to compile"
            raise Untraceable(f"{told}; ask for it by compile='now'")
        self.recipe.constants.keep(self.system.arrays, [*way.constants, "h", "nominal_h"])
        self.ways, self._places = [*self.ways, way], places

    def _learn(self, last: Last) -> None:
        """Make a variant of the last step in which guards broke since the last one was made."""
        recipe = self.recipe
        assert recipe.broke is not None
        sample, recipe.broke = recipe.broke[1], None
        if len(recipe.samples) >= MOST_VARIANTS:
            return
        before = self.ways, self._places
        try:
            self._add([*recipe.samples, sample])
            self._parts = self._functions()
        except Untraceable:
            self.ways, self._places = before
            recipe.refuse()
            return
        recipe.samples.append(sample)
        for one in self._spare:
            if one is not last:
                self._let_go(one)
        self._spare = [last]
        last.ways = self.ways
        self._pack(last)

    def _functions(self) -> list[tuple[Any, np.ndarray, int, int]]:
        """Drivers, variants and worlds of the calls that take all."""
        rows, parameters = self._rows.shape[0], len(self._places)
        found = []
        for share in shares(self.worlds):
            run = run_of(rows, parameters, share[0])
            variants = np.array([way.function(share[0]) for way in self.ways], np.uint64)
            found += [(run, variants, first, end) for _, first, end in in_ranges(share, self.threads)]
        return found

    def _pack(self, last: Last) -> None:
        """Give a launch's calls what they need."""
        starts, pitches = self._parameter_places()
        given = Call(state=self.state.array.ptr, worlds=self.worlds, nominal=self.size())
        given.parameter, given.pitch, given.h = address(starts), address(pitches), self.system.arrays.h.ptr
        kept = self.recipe.constants.fill(given, self.system.arrays)
        last.pack(given, self._parts, (starts, pitches, kept), self.threads)
        work = self.worlds * max(way.operations for way in self.ways)
        last.least = LEAST_WORK // work  # threads take 50 us to begin and end

    def _parameter_places(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the parameters that worlds have of their own are, and how far it is from one world to the next."""
        found = [(getattr(self.system.arrays, name), part, k) for _, name, part, k in self._places]
        starts = [array.ptr + part * array.strides[0] + 8 * k for array, part, k in found]
        pitches = [array.strides[1] // 8 for array, _, _ in found]
        return np.array(starts or [0], np.uint64), np.array(pitches or [0], np.int64)
