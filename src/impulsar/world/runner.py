"""Runner: a system in use by a method. Its arrays, launches, clock and steps; guards and snapshots work on it.

One nominal step of dt is `substeps` equal parts of h, and a call of `step` is as few launches as the script, the
callables and the wall time that a launch may take allow.
"""

import math
import sys
import time as wall
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from ..author.checks import whole
from ..author.errors import ModelError, StepError
from ..author.model import Model
from ..edits.overlaps import push_apart
from ..engine.launch import record_launch
from ..engine.methods.base import can_compile, touching_kernel
from ..engine.owed import owed, settling
from ..engine.relay import can_relay
from ..engine.start.consistent import project_start, refresh, refresh_kernel
from ..engine.start.locked import refuse_locked_motors
from ..engine.start.redundancy import choose_rows
from ..engine.state import State, WorkArrays, allocate_work, make_room
from ..engine.system import System, measured
from ..engine.system.channels import CALLABLE_STEPS, InputError
from ..engine.system.measured import together
from ..engine.system.rank import PLAY
from ..engine.threads import threads_for
from ..observe.bench import Bench
from .beats import Beats
from .clamps import Clamps
from .guard import Guard
from .options import parts_of_step
from .reports import Facts, StepReport, broken

if TYPE_CHECKING:
    from ..engine.compile.launch import CompiledLaunch, Last
    from ..engine.compile.launch_cuda import DeviceLaunch
    from ..engine.compile.recipe import Recipe
    from .stack import Stack

MOST_STEPS = 2**31 - 1  # of one call
SLICE = 0.1  # wall time that a launch of many steps should take at most [s]
MARGIN = 1e-6  # of a nominal step: what is due so near to its end is due there
FIRST_SLICE, LARGEST_SLICE = 4, 2**20  # sub-steps of a launch, before their cost is known and at most


def play_of(method: Any) -> float:
    """How far rows that others imply may be open by a method [rad, or lengths over the mechanism's size]."""
    return PLAY if method.play is None else method.play


class Runner:
    """A bench, a method and a clock. What a script is due to do it hands to `carry_out`."""

    system: System
    state: State

    def __init__(
        self,
        model: Model,
        method: Any,
        coordinates: str,
        dt: float,
        worlds: int,
        device: str,
        clamps: Clamps,
        script: list,
        carry_out: Callable[[Any], object],
        contacts: int | None = None,
        stack: "Stack | None" = None,
        threads: int | None = None,
    ):
        self.threads = threads_for(worlds, threads) if device == "cpu" else 1
        self.method, self.coordinates = method, coordinates
        self.worlds, self.device, self.clamps = worlds, device, clamps
        self.script, self.carry_out = script, carry_out
        self.strict = self.paused = False
        self.recipe: Recipe | None = None  # of steps compiled for this mechanism: see engine/compile
        self.learns: Recipe | None = None  # where there is always one, which finds its ways by itself: how it begins
        self.about_to: Callable[[], None] | None = None  # called when all is ready for a step
        self.between: Callable[[], None] | None = None  # called between launches; what it raises ends the steps
        self.work_limit = method.most_work
        self.dt = dt
        self._facts: Facts | None = None
        self.edition = 0  # counts edits: what was derived from parameters before one is stale
        self.beats = Beats(self)
        self.start(System(model, worlds, device, coordinates, contacts=contacts), stack)

    def start(self, system: System, stack: "Stack | None" = None) -> None:
        """Take a system into use at its authored pose, with fresh books; of a stack each world at its own."""
        self.method.refuse(system)
        choose_rows(system, self.redundancy)
        state = State(system.counts, self.device, type(self.method))
        bench = Bench(system, state, allocate_work(system.counts, self.device))
        if stack is not None:
            stack.write(system)
        q = np.repeat(system.start_coordinates()[:, None], self.worlds, axis=1) if stack is None else stack.q
        bench.state.write("q", q)
        refuse_locked_motors(system, bench.state, bench.work, ModelError)
        self.start_change = project_start(system, bench.state, bench.work, None if stack is None else stack.twist)
        self.take(bench)
        self.go_to_start()
        self.write_options(self.work_limit)
        self.set_dt(self.dt)
        self.refresh()
        self.state.write("start_energy", self.work.energy.numpy().sum(axis=0, keepdims=True))
        self.start_push = push_apart(self.bench, self.contacts)
        if self.start_push:
            self.state.write("edits", self.start_push.energy[None])
        self.beats.arrive()

    def go_to_start(self) -> None:
        """Set clock, count and script back."""
        self.script_position = 0
        self.clock = 0.0
        self.count = 0
        self.beats.restart()

    def follow(self, script: list) -> None:
        """Take another script: edits by the time at which they are due [s]."""
        self.script = script
        self.forget()

    # arrays and launches --------------------------------------------------------------------------

    @property
    def work(self) -> WorkArrays:
        """What the stages of the last step left."""
        return self.bench.work

    def settle(self) -> None:
        """Bring work arrays and reports up to the state, before something that they depend on is changed."""
        if self._owed.settle is not None:
            self._owed.settle()

    def take(self, bench: Bench) -> None:
        """Take a system with its state into use."""
        self.bench = bench
        self.system, self.state, self._owed = bench.system, bench.state, owed(bench.arrays)
        if self.recipe is not None:
            self.recipe.clear()  # its ways are another system's
        self.coordinates = self.system.coordinates
        self.readout = bench.readout
        self.guard = Guard(self)
        self.contacts = None
        if self.system.counts.contacts:
            from ..engine.start.contacts import contact_arrays  # none of it is loaded where nothing touches

            self.contacts = contact_arrays(self.system)
        self.forget()
        self.equip()

    def equip(self) -> None:
        """Give the system what the method needs, and record its launches."""
        state, tableau = self.state.used_by(type(self.method)), self.method.tableau
        if state is not self.state:
            self.bench = Bench(self.system, state, self.work)
            self.state, self.readout, self.guard = state, self.bench.readout, Guard(self)
        if unknowns := self.method.unknowns(self.system.counts):
            make_room(self.work, self.system.counts, unknowns, self.device)
        if tableau is not None:
            self.system.arrays.tableau = wp.array(tableau, dtype=wp.float64, device=self.device)
        self.system.arrays.spares.fill_(int(self.method.skips_spares and self.system.counts.spares))
        self._record()

    def forget(self) -> None:
        """Forget what was derived from parameters and state before an edit."""
        self.edition += 1
        self._facts = None
        alone = self.device == "cpu" and self.worlds == 1
        busy = self.clamps or self.script or self.system.channels.callables or self.about_to or self.beats
        self._simple = alone and not busy
        self._eager = bool(self.clamps or self.about_to or self.beats)  # they act between steps on what is read
        self._look_again()
        self.guard.at = 0
        self.slice = FIRST_SLICE if self.device == "cpu" else 1000  # what a step costs now may be another

    def _record(self) -> None:
        inputs = [self.system.arrays, self.state.arrays, self.work]
        host = self.method.host_launch(self.system, self.state, self.work)
        if host is not None:
            self.launch = host
        elif self.contacts is None:
            self.launch = record_launch(self.method.kernel, self.worlds, inputs, self.device, self.threads)
        else:
            kernel = touching_kernel(self.method)
            self.launch = record_launch(kernel, self.worlds, [*inputs, self.contacts], self.device, self.threads)
        refresh = record_launch(refresh_kernel, self.worlds, inputs, self.device, self.threads)
        self.refresh = settling(refresh, inputs)
        self._report = self.work.report.numpy()  # on the CPU a view
        if self.recipe is not None and host is None and can_compile(self.method, self.system):
            if self.recipe.learns or self.recipe.samples:
                self.launch = self._compiled(refresh)

    def _compiled(self, refresh: Callable[[], None]) -> "CompiledLaunch | DeviceLaunch":
        """The launch, by steps that are compiled for this mechanism; none of it is loaded where nothing is compiled."""
        if self.device != "cpu":
            return self._compiled_for_device(refresh)
        from ..engine.compile.launch import CompiledLaunch

        assert self.recipe is not None
        bench, size = (self.system, self.state, self.work), lambda: self.h
        more = self.recipe, self.contacts, self.threads
        return CompiledLaunch(self.method, *bench, self.launch, refresh, size, *more)

    def _compiled_for_device(self, refresh: Callable[[], None]) -> "DeviceLaunch":
        """The same, as a GPU has it."""
        from ..engine.compile.launch_cuda import DeviceLaunch

        assert self.recipe is not None
        bench, size = (self.system, self.state, self.work), lambda: self.h
        return DeviceLaunch(
            self.method, *bench, self.launch, refresh, size, self.recipe, lambda: (self._steps, self._size)
        )

    def compile_by(self, recipe: "Recipe | None") -> None:
        """Take steps from now on that are compiled by a recipe; None: by the kernel alone."""
        self.settle()
        self.use_recipe(recipe)
        self._record()
        self.build_ways()

    def use_recipe(self, recipe: "Recipe | None") -> None:
        """Take a recipe into use, or a copy of one that was kept, with the next record of launches."""
        recipe = recipe or self.learns
        self.recipe = None if recipe is None else recipe.copy()

    def build_ways(self) -> None:
        """Have the ways of the recipe ready, before an edit changes what they are made of."""
        if self.recipe is not None and self.recipe.samples and hasattr(self.launch, "build"):
            self.launch.build()

    def _look_again(self) -> None:
        """Something that compiled steps hold as a constant may be another now."""
        if self.recipe is not None and hasattr(self.launch, "look_again"):
            self.launch.look_again()

    def record_later(self) -> None:
        """Arrays were replaced: record the launches anew with the next step, however many edits there are before it."""
        self._look_again()
        self.launch = self._record_and_launch
        self.refresh = self._refresh_anew  # the recorded one reads the arrays that were replaced

    def _record_and_launch(self) -> "Last | None":
        self._record()
        return self.launch()

    def _refresh_anew(self) -> None:
        refresh(self.system, self.state, self.work)

    @property
    def redundancy(self) -> float:
        """How far rows that others imply may be open [rad, or lengths over the mechanism's size]."""
        return play_of(self.method)

    def write_options(self, limit: int) -> None:
        """Give the kernel the method's options, with a limit of work in a nominal step."""
        self.settle()
        self.work_limit = limit
        self.bench.beat = getattr(self.method, "impulse_step", None)
        data = np.zeros(self.system.arrays.options.shape[0])
        for name, value in self.method.options(limit).items():
            data[getattr(self.method.places, name)] = value
        self.system.arrays.options.assign(data)
        self._facts = None
        self._look_again()

    def set_dt(self, dt: float) -> None:
        """Set the nominal step [s]."""
        self.settle()
        self.substeps = parts_of_step(dt, self.method, self.system)
        self.dt = float(dt)
        self.h = self._size = self.dt / self.substeps
        self.system.arrays.h.fill_(self.h)
        self.system.arrays.nominal_h.fill_(self.h)
        self.set_steps(self.substeps)
        self._facts = None
        self._look_again()

    @property
    def steps(self) -> int:
        """Sub-steps that a launch takes."""
        return self._steps

    @property
    def report(self) -> np.ndarray:
        """Rows of the last launch's report [row, world]; on the CPU a view."""
        self.settle()
        return self._report if self.device == "cpu" else self.work.report.numpy()

    def set_steps(self, steps: int) -> None:
        """Set how many sub-steps a launch takes."""
        self._steps = steps
        self.system.arrays.steps.fill_(steps)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self.state.read("time")[0, 0])

    def facts(self) -> Facts:
        """What reports are read by."""
        if self._facts is None:
            limit = "budget" if self.work_limit < self.method.most_work else "iterations"
            self._facts = Facts(self, self.system, self.worlds, self.coordinates, self.method.order, self.h, limit)
        return self._facts

    # stepping -------------------------------------------------------------------------------------

    def step(self, n: int) -> StepReport:
        """Take n nominal steps in as few launches as the script and callables allow."""
        if type(n) is not int or n != 1 or not self._simple or self.substeps > self.slice:
            return self._many_steps(n)
        if self.count >= self.guard.at:
            self.guard.keep()
        if self._steps != self.substeps:
            self.set_steps(self.substeps)
        last = self.launch()
        self.clock += self.dt
        self.count += 1
        raw = self._report.copy() if last is None else last
        report = StepReport(self._facts or self.facts(), self.count, self.substeps, raw)
        if self.strict or (last is None and raw.item(measured.BROKEN)):  # of one world
            self.check(report)
        return report

    def _many_steps(self, n: int) -> StepReport:
        n = whole("step", "n", n, 1, MOST_STEPS)
        raw = last = None
        left = n
        self.clamps.acted.clear()
        self.beats.faults = {}
        while left > 0:
            self._run_script()
            part = min(left, self._steps_to_script(), max(1, self.slice // self.substeps)) if not self.clamps else 1
            splits = False
            if self.beats:
                self.beats.enter(self._can_enter())
                self.beats.depart()
                part, splits = self._up_to_beat(part)
            try:
                self.clamps.before(self)
                if self.system.channels.callables:
                    part = min(part, max(1, CALLABLE_STEPS // self.substeps))
                    steps = part * self.substeps
                    if (steps <= self.slice or part > 1) and not splits:  # pieces sample their own
                        self.system.channels.sample_callables(self.system.arrays, self.time, self.h, steps)
            except InputError as error:
                raise StepError(str(error)) from error
            if self.about_to is not None:
                self.about_to()
            if self.count >= self.guard.at:
                self.guard.keep()
            if splits:
                raw = self._take_split(raw)
            elif self.beats.inside is not None:
                self._timed(part * self.substeps, partial(self.beats.run, part))
            elif part == 1 and self.substeps > self.slice:
                raw = self._take_pieces(raw)
            else:
                last = self._launch_timed(part * self.substeps)
            if self._eager:
                self.settle()
            self.clock += part * self.dt
            self.count += part
            left -= part
            self.clamps.after(self)
            if self.beats:
                self.beats.arrive()
            raw = self._merge(raw) if left or raw is not None else raw
            if raw is not None and self.device == "cpu" and raw[measured.BROKEN].any():
                break  # what would come after it is of no use
            if left:
                self.hear()
        clamped, faults = tuple(self.clamps.acted), self.beats.faults
        unread = raw is None and last is not None and last.report is None
        told = last if raw is None else raw
        report = StepReport(self.facts(), self.count, n * self.substeps, told, clamped, faults)
        if self.device == "cpu" and (self.strict or not unread):
            self.check(report)
        return report

    def _launch_timed(self, steps: int) -> "Last | None":
        """Launch so many sub-steps, and find how many of them make a slice."""
        if self._steps != steps:
            self.set_steps(steps)
        return self._timed(steps, self.launch)

    def _timed(self, steps: int, launch: Callable[[], Any]) -> Any:
        began = wall.perf_counter()
        last = launch()
        if self.device == "cpu":
            each = max(wall.perf_counter() - began, 1e-9) / steps
            self.slice = max(1, min(int(SLICE / each), max(self.slice, 2 * steps), LARGEST_SLICE))
        return last

    def _take_pieces(self, raw: np.ndarray | None) -> np.ndarray | None:
        """A nominal step too long for one launch, in several; as if nothing had been if it is ended on the way."""
        before, left = wp.clone(self.state.array), self.substeps
        try:
            while True:
                part = min(left, self.slice)
                if self.system.channels.callables:
                    self.system.channels.sample_callables(self.system.arrays, self.time, self.h, part)
                self._launch_timed(part)
                left -= part
                if not left:
                    return raw
                raw = self._merge(raw)
                self.hear()
        except BaseException:  # Ctrl-C among them
            self.guard.put(before)
            raise

    def _up_to_beat(self, part: int) -> tuple[int, bool]:
        """How many of so many steps lie before something is due; and whether that is inside the next one."""
        self.guard.at = 0  # what a controller has written cannot be asked for again
        whole = self.beats.whole_steps()
        if whole < 1:
            self.beats.leave()
        return int(max(1, min(self.beats.most_inside(part), whole))), whole < 1

    def _can_enter(self) -> bool:
        """Whether a launch may call controllers: nothing of the host is due in between."""
        busy = self.clamps or self.system.channels.callables or self.about_to or self.substeps > self.slice
        return not busy and can_relay(self.launch, self.device)

    def _take_split(self, raw: np.ndarray | None) -> np.ndarray | None:
        """A nominal step in pieces that end where something is due; as if nothing had been if one is ended."""
        before, end, h = wp.clone(self.state.array), self.time + self.dt, self.h
        try:
            while True:
                left, wait = end - self.time, self.beats.next_in(self.time)
                is_last = wait > left - MARGIN * self.dt
                span = left if is_last else wait
                steps = max(1, math.ceil(span / h * (1.0 - 1e-9)))
                self._set_size(span / steps, steps)
                if self.system.channels.callables:
                    self.system.channels.sample_callables(self.system.arrays, self.time, span / steps, steps)
                self.launch()
                if is_last or (self.device == "cpu" and self.report[measured.BROKEN].any()):
                    return raw
                raw = self._merge(raw)
                self.beats.arrive()
                self.beats.depart()
                self.hear()
        except BaseException:  # Ctrl-C among them
            if before.shape == self.state.array.shape:  # a controller may have had the system built anew
                self.guard.put(before)
            raise
        finally:
            self._set_size(h, self.substeps)

    def _set_size(self, h: float, steps: int) -> None:
        """Let a launch take so many sub-steps of a size [s]."""
        self.settle()
        self._size = h
        arrays = self.system.arrays
        if self.device == "cpu":  # Warp's own takes ten times as long
            arrays.h.numpy()[0] = arrays.nominal_h.numpy()[0] = h
        else:
            arrays.h.fill_(h)
            arrays.nominal_h.fill_(h)
        if steps != self._steps:
            self.set_steps(steps)

    def hear(self) -> None:
        """Let whoever waits for the end of something long speak."""
        if self.between is not None:
            self.between()

    def _merge(self, raw: np.ndarray | None) -> np.ndarray:
        """The report of several launches as that of one."""
        new = self.work.report.numpy().copy()
        return new if raw is None else together([raw, new])

    def _steps_to_script(self) -> int:
        if self.script_position >= len(self.script):
            return sys.maxsize
        due = self.script[self.script_position][0]
        return max(1, math.ceil((due - self.clock) / self.dt - 1e-6))

    def _run_script(self) -> None:
        while self.script_position < len(self.script):
            due, edit = self.script[self.script_position]
            if due > self.clock + 1e-6 * self.dt:
                return
            self.script_position += 1
            self.carry_out(edit)

    def check(self, report: StepReport) -> None:
        """Raise if a step could not be taken, after going back to the last good one, or, when strict, if there is
        trouble."""
        if report.raw[measured.BROKEN].any():
            world = int(np.argmax(report.raw[measured.BROKEN]))
            body = self.guard.go_back()
            raise broken(self.system, report.raw, world, self.worlds, body, self.time, self.dt)
        if self.strict and report.trouble:
            error = StepError("; ".join(str(one) for one in report.trouble))
            error.cause = report.trouble[0].cause
            raise error
