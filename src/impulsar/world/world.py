"""World: a system, its state and a method. Step it, run it, take hold of it, read it."""

import hashlib
import math
import sys
import threading
import time as wall
import warnings
import weakref
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import count
from threading import get_ident
from typing import Any

import numpy as np
import warp as wp

from .. import edits
from ..author.checks import as_float, flag, is_number, show, whole
from ..author.errors import ModelError, StepError
from ..author.joints import LOCK_NAMES
from ..author.model import Model
from ..author.profiles import Component, Harmonic, Ramp, Scalar, Table
from ..edits.apply import HandsFull, LoadsFull, NoSlot
from ..edits.carry import Places, carry_parameters, slot_map
from ..edits.fit import fit_kernel
from ..edits.present import present_model
from ..edits.rebuild import Rebuilt, momentum, plan_of, rebuild
from ..edits.topology import Plan
from ..engine.device import announce_compilation, check_device, load_kernels
from ..engine.integrate.pairs import STAGES
from ..engine.launch import record_launch
from ..engine.methods import METHODS
from ..engine.start.consistent import project_start, refresh, refresh_kernel
from ..engine.start.locked import refuse_locked_motors
from ..engine.start.redundancy import choose_rows, rows_kernel
from ..engine.state import State, allocate_work
from ..engine.system import TOPOLOGY_OF_EDITS, System
from ..engine.system import measured as measure
from ..engine.system.build import METRES
from ..engine.system.channels import CALLABLE_STEPS, InputError
from ..engine.system.rank import PLAY
from ..engine.system.slots import CLOSURE, HAND, IDLE
from ..observe.bench import Bench
from ..observe.books import Books
from ..observe.least_norm import LeastNorm
from ..observe.readout import constraint_error_kernel
from . import snapshot
from .clamps import Clamps
from .guard import Guard
from .options import LONGEST_STEP, method_of, parts_of_step, script_of
from .reports import StepReport
from .snapshot import Snapshot
from .views import BodyView, Hand, JointView

DEFAULT_METHOD = "direct"
MOST_STEPS = 2**31 - 1  # of one call
MOST_WORLDS = 10**6  # of a batch: a free body alone has then 1 GiB
SLICE = 0.1  # wall time that a launch of many steps should take at most [s]
FIRST_SLICE, LARGEST_SLICE = 4, 2**20  # sub-steps of a launch, before their cost is known and at most
INPUT_ARRAYS = ("parent", "dof_kind", "first", "second", "slot_kind", "slot_part", "slot_code")
MOST_LOCKS = 1500  # beyond so many joint equations the solver's own reactions stand, taken as determinate


class World:
    """A running mechanism, or `worlds` copies of it with their own states and parameters.

    method: a name of METHODS or an options object such as Simgc(epsilon=1e-6); coordinates: "generalized"
    or "maximal", by default the method's own; dt: nominal step [s]; rtol, atol, substeps: of `direct`;
    budget: wall time a step may take [s], turned into a limit of iterations by measuring their cost;
    strict: raise when a step is not right to its tolerance (`StepReport.trouble`); redundancy: how far apart rows
    that others imply may be [rad, or lengths over the mechanism's size], the play of its bearings; max_speed [m/s]
    of bodies and max_hand_force [N] of hands: clamps, off by default, told in `StepReport.clamped`.
    """

    def __init__(
        self,
        model: Model,
        method: object = DEFAULT_METHOD,
        coordinates: str | None = None,
        dt: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        substeps: int | None = None,
        budget: float | None = None,
        worlds: int = 1,
        device: str = "cpu",
        strict: bool = False,
        redundancy: float | None = None,
        max_speed: float | None = None,
        max_hand_force: float | None = None,
    ):
        if not isinstance(model, Model):
            raise ModelError(f"world: model is {show(model)}, expected a Model")
        model = model.copy(parts=True)  # what its author does to it later does not reach a running world
        self.method = method_of(method, rtol=rtol, atol=atol, substeps=substeps, redundancy=redundancy)
        if coordinates is None:
            coordinates = self.method.coordinates[0]
        if not isinstance(coordinates, str) or coordinates not in self.method.coordinates:
            known = ", ".join(self.method.coordinates)
            others = [
                n for n, other in METHODS.items() if isinstance(coordinates, str) and coordinates in other.coordinates
            ]
            hint = f"; for {coordinates} take method {' or '.join(others)}" if others else ""
            raise ModelError(
                f"method '{self.method.name}': no coordinates {show(coordinates)}; it works in: {known}{hint}"
            )
        if not isinstance(worlds, int) or isinstance(worlds, bool) or not 1 <= worlds <= MOST_WORLDS:
            raise ModelError(f"worlds is {show(worlds)}, expected an integer >= 1, at most {MOST_WORLDS}")
        self._door = threading.Lock()  # who steps or edits holds it
        self.coordinates = coordinates
        self.device = check_device(device)
        self.strict = flag("world", "strict", strict)
        self.worlds = worlds
        self._holder: weakref.ref | None = None  # the history that is the only door to it
        self._through = 0  # thread in which that history is at work
        self._script = script_of(model)
        self.paused = False
        self.between: Callable[[], None] | None = None  # called between launches; what it raises ends the steps
        self.clamps = Clamps(max_speed, max_hand_force)
        self.work_limit = self.method.iterations
        self.dt = dt if dt is not None else model.dt or 0.01
        announce_compilation(self.method.kernel, self.device)
        load_kernels(
            [self.method.kernel, fit_kernel, rows_kernel, refresh_kernel, constraint_error_kernel], self.device
        )
        self._start(System(model, worlds, self.device, coordinates))
        if self.start_change:
            told = ", ".join(f"{body} by {change:.3g}" for body, change in self.start_change.items())
            warnings.warn(f"model '{model.name}': start velocities changed to fit the joints: {told} m/s", stacklevel=2)
        self._set_budget(budget)

    def _start(self, system: System) -> None:
        """Take a system into use at its authored pose, with fresh books."""
        choose_rows(system, self.redundancy)
        bench = Bench(system, State(system.counts, self.device), allocate_work(system.counts, self.device))
        bench.state.write("q", np.repeat(system.start_coordinates()[:, None], self.worlds, axis=1))
        refuse_locked_motors(system, bench.state, bench.work, ModelError)
        self.start_change = project_start(system, bench.state, bench.work)
        self._take(bench)
        self._go_to_start()
        self._write_options(self.work_limit)
        self._set_dt(self.dt)
        self._refresh()
        self.state.write("start_energy", self._work.energy.numpy().sum(axis=0, keepdims=True))

    def _go_to_start(self) -> None:
        self._script_position = 0
        self._clock = 0.0
        self._count = 0

    # arrays and launches --------------------------------------------------------------------------

    def _take(self, bench: Bench) -> None:
        """Take a system with its state into use."""
        self._bench = bench
        self.system, self.state, self._work = bench.system, bench.state, bench.work
        self.coordinates = self.system.coordinates
        self.readout = bench.readout
        self._loops = any(slot.kind in (CLOSURE, IDLE) for slot in self.system.slots)
        self._spare = self._spare_locks()
        self._least_norm: LeastNorm | None = None
        self._guard = Guard(self)
        self._forget()
        self._equip()

    def _spare_locks(self) -> list[tuple[str, int, float]]:
        """Names of the rows that are redundant by construction, their place among the locks and scale [1, m]."""
        system = self.system
        holds = system.parameter("basis").min(axis=1)
        spare = {
            (slot.name, slot.code)
            for slot, is_held in zip(system.slots, holds, strict=True)
            if slot.kind == IDLE or (slot.kind == CLOSURE and not is_held)
        }
        return [
            (f"joint '{name}' {LOCK_NAMES[code]}", i, system.size if code in METRES else 1.0)
            for i, (name, code) in enumerate(self.readout.locks if spare else ())
            if (name, code) in spare
        ]

    def _equip(self) -> None:
        """Give the system what the method needs, and record its launches."""
        tableau = getattr(self.method, "tableau", None)
        if tableau is not None:
            self.system.arrays.tableau = wp.array(tableau, dtype=wp.float64, device=self.device)
        self.system.arrays.spares.fill_(int(self.method.name == "direct" and self.system.counts.spares))
        self._record()

    def _forget(self) -> None:
        """Forget what was derived from parameters and state before an edit."""
        self._reactions_at = -1
        self._model: Model | None = None
        self._inputs: bytes | None = None
        self._guard.at = 0
        self._slice = FIRST_SLICE if self.device == "cpu" else 1000  # what a step costs now may be another

    def _record(self) -> None:
        inputs = [self.system.arrays, self.state.arrays, self._work]
        self._launch = record_launch(self.method.kernel, self.worlds, inputs, self.device)
        self._launch_refresh = record_launch(refresh_kernel, self.worlds, inputs, self.device)
        self._report = self._work.report.numpy()  # on the CPU a view
        self._simple = self.device == "cpu" and self.worlds == 1 and not self.clamps

    def _record_and_launch(self) -> None:
        self._record()
        self._launch()

    def _launch_anew(self) -> None:
        refresh(self.system, self.state, self._work)

    def _refresh(self) -> None:
        """Bring poses, twists and energies up to the state."""
        self._launch_refresh()

    @property
    def redundancy(self) -> float:
        """How far rows that others imply may be open [rad, or lengths over the mechanism's size]."""
        return float(getattr(self.method, "redundancy", PLAY))

    @property
    def model(self) -> Model:
        """The model as it is now, with what edits have set; never changed in place."""
        if self._model is None:
            self._model = present_model(self.system)
        return self._model

    def _write_options(self, limit: int) -> None:
        self.work_limit = limit
        options = replace(self.method, iterations=limit).pack()
        data = np.zeros(self.system.arrays.options.shape[0])
        data[: len(options)] = options
        self.system.arrays.options.assign(data)

    def _set_dt(self, dt: float) -> None:
        self._substeps = parts_of_step(dt, self.method)
        self.dt = float(dt)
        self._h = self.dt / self._substeps
        self.system.arrays.h.fill_(self._h)
        self.system.arrays.nominal_h.fill_(self._h)
        self._set_steps(self._substeps)

    def _set_steps(self, steps: int) -> None:
        self._steps = steps
        self.system.arrays.steps.fill_(steps)

    def _set_budget(self, budget: float | None) -> None:
        """Turn wall time into a limit of iterations, from what they cost here [s]."""
        self.budget = budget
        if budget is None:
            return
        if not (is_number(budget) and 0 < budget <= LONGEST_STEP):
            raise ModelError(
                f"budget is {as_float(budget) if is_number(budget) else show(budget)}, expected a time > 0 [s]"
            )
        if self.method.order > 1:
            cost_of_one = self._cost_of_evaluation()
            self._write_options(max(STAGES, min(self.method.iterations, int(budget / cost_of_one))))
            return
        before = self.snapshot()
        cost = {}
        for sweeps in (1, 33):
            method = replace(self.method, epsilon=0.0, iterations=sweeps)
            trial = replace(before, method=method, work_limit=sweeps)
            times = []
            for _ in range(7):
                self.restore(trial)
                start = wall.perf_counter()
                self._launch()
                wp.synchronize_device(self.device)
                times.append(wall.perf_counter() - start)
            cost[sweeps] = float(np.median(times))
        self.restore(before)
        per_sweep = max((cost[33] - cost[1]) / 32, 1e-9)
        self._write_options(max(1, min(self.method.iterations, 1 + int((budget - cost[1]) / per_sweep))))

    def _cost_of_evaluation(self) -> float:
        """Time that an evaluation takes in steps of an error-controlled method here [s]."""
        before = self.snapshot()
        costs = []
        for _ in range(7):
            self.restore(before)
            start = wall.perf_counter()
            self._launch()
            wp.synchronize_device(self.device)
            spent = wall.perf_counter() - start
            costs.append(spent / max(1.0, float(self._work.report.numpy()[measure.ITERATIONS].max())))
        self.restore(before)
        return float(np.median(costs))

    # stepping -------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> StepReport:
        """Take n nominal steps in as few launches as the script and callables allow."""
        if self._holder is not None:
            self._check_free("step")
        if not self._door.acquire(False):  # as `_enter` does, 0.1 us sooner
            raise StepError(self._busy("step"))
        try:
            if self.paused:
                raise edits.EditError("the world is paused; go on by world.apply(im.edits.Pause(False))")
            is_one = type(n) is int and n == 1 and self._simple and self._substeps <= self._slice
            if not is_one or self._script or self.system.channels.callables:
                return self._many_steps(n)
            if self._count >= self._guard.at:
                self._guard.keep()
            if self._steps != self._substeps:
                self._set_steps(self._substeps)
            self._launch()
            self._clock += self.dt
            self._count += 1
            raw = self._report.copy()
            report = StepReport(self, self._count, self._substeps, raw)
            if self.strict or raw.item(measure.BROKEN):  # of one world
                report.check(self.strict)
            return report
        finally:
            self._door.release()

    def _enter(self, what: str) -> None:
        """Take the world's door, or refuse: two threads would write over each other's state."""
        if not self._door.acquire(blocking=False):
            raise edits.EditError(self._busy(what))

    def _busy(self, what: str) -> str:
        return (
            f"model '{self.system.model.name}': {what} while the world is at work, in another thread or in a "
            "callable of its own; let one thread step and edit it, or give each thread a World of its own"
        )

    def __reduce__(self) -> Any:
        """Refuse to be copied or pickled: arrays on a device and recorded launches are not data."""
        raise TypeError(
            f"model '{self.system.model.name}': a World cannot be copied or pickled; keep world.model and "
            "world.snapshot(), which can, then make World(model) and restore(snapshot) there"
        )

    def _many_steps(self, n: int) -> StepReport:
        n = whole("step", "n", n, 1, MOST_STEPS)
        raw = None
        left = n
        self.clamps.acted.clear()
        while left > 0:
            self._run_script()
            part = min(left, self._steps_to_script(), max(1, self._slice // self._substeps)) if not self.clamps else 1
            try:
                self.clamps.before(self)
                if self.system.channels.callables:
                    part = min(part, max(1, CALLABLE_STEPS // self._substeps))
                    steps = part * self._substeps
                    if steps <= self._slice or part > 1:  # pieces sample their own
                        self.system.channels.sample_callables(self.system.arrays, self.time, self._h, steps)
            except InputError as error:
                raise StepError(str(error)) from error
            if self._count >= self._guard.at:
                self._guard.keep()
            if part == 1 and self._substeps > self._slice:
                raw = self._take_pieces(raw)
            else:
                self._launch_timed(part * self._substeps)
            self._clock += part * self.dt
            self._count += part
            left -= part
            self.clamps.after(self)
            raw = self._merge(raw) if left or raw is not None else raw
            if raw is not None and self.device == "cpu" and raw[measure.BROKEN].any():
                break  # what would come after it is of no use
            if left:
                self.hear()
        report = StepReport(self, self._count, n * self._substeps, raw, tuple(self.clamps.acted))
        if self.device == "cpu":
            report.check(self.strict)
        return report

    def _launch_timed(self, steps: int) -> None:
        """Launch so many sub-steps, and find how many of them make a slice."""
        if self._steps != steps:
            self._set_steps(steps)
        began = wall.perf_counter()
        self._launch()
        if self.device == "cpu":
            each = max(wall.perf_counter() - began, 1e-9) / steps
            self._slice = max(1, min(int(SLICE / each), max(self._slice, 2 * steps), LARGEST_SLICE))

    def _take_pieces(self, raw: np.ndarray | None) -> np.ndarray | None:
        """A nominal step too long for one launch, in several; as if nothing had been if it is ended on the way."""
        before, left = wp.clone(self.state.array), self._substeps
        try:
            while True:
                part = min(left, self._slice)
                if self.system.channels.callables:
                    self.system.channels.sample_callables(self.system.arrays, self.time, self._h, part)
                self._launch_timed(part)
                left -= part
                if not left:
                    return raw
                raw = self._merge(raw)
                self.hear()
        except BaseException:  # Ctrl-C among them
            self._guard.put(before)
            raise

    def hear(self) -> None:
        """Let whoever waits for the end of something long speak."""
        if self.between is not None:
            self.between()

    def _merge(self, raw: np.ndarray | None) -> np.ndarray:
        """The report of several launches as that of one."""
        new = self._work.report.numpy().copy()
        if raw is not None:
            for row in (measure.TOTAL_ITERATIONS, measure.SUB_STEPS, measure.ENDED_BY_LIMIT):
                new[row] += raw[row]
            for row in (measure.MOST_ITERATIONS, measure.BROKEN, measure.COARSE):
                new[row] = np.maximum(new[row], raw[row])
            for row, slot in (
                (measure.POSITION_RESIDUAL, measure.POSITION_SLOT),
                (measure.VELOCITY_RESIDUAL, measure.VELOCITY_SLOT),
            ):
                worse = raw[row] > new[row]
                new[row, worse], new[slot, worse] = raw[row, worse], raw[slot, worse]
        return new

    def _steps_to_script(self) -> int:
        if self._script_position >= len(self._script):
            return sys.maxsize
        due = self._script[self._script_position][0]
        return max(1, math.ceil((due - self._clock) / self.dt - 1e-6))

    def _run_script(self) -> None:
        while self._script_position < len(self._script):
            due, edit = self._script[self._script_position]
            if due > self._clock + 1e-6 * self.dt:
                return
            self._script_position += 1
            self._apply(edit)

    def run(self, duration: float, every: float | None = None, progress: bool | None = None):
        """Step for a duration [s], sampling `every` [s] (default: each step); an xarray.Dataset.

        Shows a progress bar in a terminal. Ctrl-C keeps what was computed.
        """
        from ..results import record

        return record(self, duration, every, progress)

    def view(self, width: str = "100%", height: int = 640, origin: str | None = None):
        """Show this world in a notebook, to take hold of; until its `stop()`, the page's session steps it."""
        from ..studio.notebook import view

        return view(self, width, height, origin)

    def snapshot_png(self, width: int = 960, height: int = 720) -> bytes:
        """A picture of this moment as PNG, made without a browser [pixels]."""
        from ..render import pose_now, pose_png

        return pose_png(self.model, pose_now(self), width, height)

    # changing -------------------------------------------------------------------------------------

    def apply(self, edit: Any) -> edits.Answer:
        """Carry out an edit between two steps; raises EditError and changes nothing if it cannot be."""
        self._check_free("apply")
        self._enter("apply")
        try:
            return self._apply(edit)
        finally:
            self._door.release()

    def _apply(self, edit: Any) -> edits.Answer:
        if not isinstance(edit, edits.Edit):
            raise edits.EditError(f"{type(edit).__name__}: not an edit; see impulsar.edits")
        edits.check_values(edit)
        try:
            answer = self._carry_out(edit)
        except edits.EditError:
            raise
        except ModelError as error:
            raise edits.EditError(str(error)) from error
        self._forget()
        return answer

    def _check_free(self, what: str) -> None:
        """Refuse what would go past the history that holds this world, and spoil what it replays."""
        if self._holder is None or self._holder() is None or self._through == get_ident():
            return
        there = f"{what} it there, as history.{what}(...)"
        raise edits.HeldError(
            f"world: a History holds it, or a view shows it; {there}, or end that by history.close() or view.stop()"
        )

    def _carry_out(self, edit: edits.Edit) -> edits.Answer:
        match edit:
            case edits.SetStep():
                before = self.dt
                self._set_dt(edit.dt)
                return edits.Answer(f"step is {self.dt:g} s", inverse=edits.SetStep(before))
            case edits.Pause():
                if not isinstance(edit.paused, bool):
                    raise edits.EditError(f"pause is {edit.paused!r}, expected True or False")
                self.paused, before = edit.paused, self.paused
                return edits.Answer("paused" if edit.paused else "running", inverse=edits.Pause(before))
            case edits.SetMethod():
                return self._set_method(edit)
            case edits.Reset():
                return self._reset()
            case edits.SetParameter():
                try:
                    return self._write(edit)
                except NoSlot as error:
                    return self._add_feature(edit, error)
            case edits.ChangeJoint() | edits.Add() | edits.Remove() | edits.SetMotor() | edits.SetState():
                return self._rebuild(plan_of(edit, self._bench, self.model))
        return self._write(edit)

    def _add_feature(self, edit: edits.SetParameter, refusal: NoSlot) -> edits.Answer:
        """Set a parameter that no array holds yet; of one value per world, first the largest for all."""
        values = edit.value
        if not (isinstance(values, np.ndarray) and values.shape == (self.worlds,) and self.worlds > 1):
            return self._rebuild(plan_of(edit, self._bench, self.model, refusal))
        before = self.snapshot()
        largest = replace(edit, value=float(values[np.argmax(np.abs(values))]))
        answer = self._rebuild(plan_of(largest, self._bench, self.model, refusal))
        try:
            written = self._write(edit)
        except edits.EditError:
            self._restore(before)
            raise
        return replace(answer, text=written.text, energy=answer.energy + written.energy)

    def _write(self, edit: edits.Edit) -> edits.Answer:
        """An edit of arrays. What energy it puts in is booked to edits, but for a hand's own when it lets go."""
        energy = self._work.energy.numpy()
        before = energy.sum(axis=0)
        weighs = isinstance(edit, edits.DragTo) or (isinstance(edit, edits.SetParameter) and _weighs(edit.path))
        momentum_before = momentum(self._bench) if weighs else None
        booked = self.state.read("edits").copy()
        while True:
            try:
                answer = edits.apply(edit, self._bench)
                break
            except HandsFull:
                self._grow(2 * self.system.counts.hands, self.system.counts.loads)
            except LoadsFull:
                self._grow(self.system.counts.hands, max(4, 2 * self.system.counts.loads))
        if answer.arrays_replaced:
            self._launch = self._record_and_launch  # once, however many edits there are before the next step
            self._launch_refresh = self._launch_anew  # the recorded one reads the arrays that were replaced
        self._refresh()
        if isinstance(edit, edits.Release):
            return answer
        if momentum_before is not None:
            gained = momentum(self._bench) - momentum_before
            answer = replace(answer, momentum=self._out(gained[:, 3:]), angular_momentum=self._out(gained[:, :3]))
        added = self._work.energy.numpy().sum(axis=0) - before
        if added.any():
            self.state.write("edits", booked + added)
            return replace(answer, energy=self._out(added))
        return answer

    def _grow(self, hands: int, loads: int) -> None:
        """Double the room for hands or loads and carry the state over."""
        self._swap(rebuild(self._bench, Plan(self.model, ""), self.model, self.coordinates, hands=hands, loads=loads))

    def _rebuild(self, plan: Plan) -> edits.Answer:
        """Build a changed system on the side, carry the state over, and swap."""
        new = rebuild(self._bench, plan, self.model, self.coordinates)
        self._swap(new)
        return new.answer(self._out)

    def _swap(self, new: Rebuilt) -> None:
        self._take(new.bench)
        self._write_options(self.work_limit)
        self._set_dt(self.dt)

    def _set_method(self, edit: edits.SetMethod) -> edits.Answer:
        options = {field.name: getattr(self.method, field.name) for field in fields(self.method)}
        inverse = edits.SetMethod(self.method.name, options)
        edits.known("method", "method", edit.method, METHODS)
        method = method_of(edit.method, **edits.method_options(edit, METHODS))
        parts_of_step(self.dt, method)  # refused while nothing is changed
        coordinates = self.coordinates if self.coordinates in method.coordinates else method.coordinates[0]
        text = f"method is {method.name}, in {coordinates} coordinates"
        answer = edits.Answer(text, inverse=inverse)
        new = None
        redundancy = getattr(method, "redundancy", self.redundancy)
        if coordinates != self.coordinates or redundancy != self.redundancy:
            before, self.system.redundancy = self.system.redundancy, redundancy
            try:
                new = rebuild(self._bench, Plan(self.model, text, inverse), self.model, coordinates)
            finally:
                self.system.redundancy = before
        self.method, self.work_limit = method, method.iterations
        if new is not None:
            self._swap(new)
            answer = new.answer(self._out)
        else:
            self._equip()
            self._write_options(self.work_limit)
            self._set_dt(self.dt)
        self.state.write("last_h", np.zeros((1, self.worlds)))  # its impulses are another method's
        return answer

    def _reset(self) -> edits.Answer:
        """Start again. A model whose joints do not meet at the authored pose any more is assembled."""
        model, before = self.model, self._bench
        energy_before, momentum_before = before.work.energy.numpy().sum(axis=0), momentum(before)
        try:
            model.check()
        except ModelError:
            places = Places(self.worlds)
            for body in model.bodies.values():
                twist = np.concatenate([body.angular_velocity, body.velocity])
                places.put(body.name, body.position, body.orientation, twist)
            new = rebuild(self._bench, Plan(model, "", places=places), model, self.coordinates, fresh=True)
            self._swap(new)
            self._go_to_start()
            moved = new.moved
        else:
            old, moved = self.system, 0.0
            system = System(model, self.worlds, self.device, self.coordinates, checked=True)
            carry_parameters(old, system, slot_map(old, system), model)
            self._start(system)
        gained = momentum(self._bench) - momentum_before
        return edits.Answer(
            "back at the start",
            energy=self._out(self._work.energy.numpy().sum(axis=0) - energy_before),
            momentum=self._out(gained[:, 3:]),
            angular_momentum=self._out(gained[:, :3]),
            moved=moved,
        )

    def set(self, path: str, values: object) -> edits.Answer:
        """Set "part.parameter" to a value, or one per world: world.set("arm.mass", masses)."""
        return self.apply(edits.SetParameter(path, values))

    def grab(self, body: str, at=(0.0, 0.0, 0.0), stiffness: float = 1000.0, damping: float = 1.0, name=None) -> "Hand":
        """Take hold of a point of a body (its own frame, from its centre of mass [m]) by a spring-damper."""
        if name is None:
            model, live = self.system.model, (*self.system.hand_names, *self.system.load_names)
            name = next(n for k in count(1) if (n := f"hand {k}") not in live and model.holder(n) is None)
        self.apply(edits.Grab(name, body, _point(at), stiffness, damping))
        return Hand(self, name)

    def drag(self, body: str, target, at=(0.0, 0.0, 0.0)) -> edits.Answer:
        """With time stopped, bring a point of a body (its own frame [m]) as near to a world point as it goes."""
        return self.apply(edits.DragTo(body, _point(target), _point(at)))

    def change(self, joint: str, frames: str = "present", **changes: object) -> edits.Answer:
        """Change a joint while it moves: world.change("hinge", type="spherical"); see `edits.ChangeJoint`."""
        return self.apply(edits.ChangeJoint(joint, changes, frames))

    def add(self, kind: str, name: str, **options: object) -> edits.Answer:
        """Add a part at the present pose: world.add("joint", "weld", type="fixed", first="a", second="b", at=p)."""
        return self.apply(edits.Add(kind, name, options))

    def remove(self, kind: str, name: str) -> edits.Answer:
        """Remove a part, and with a body everything that holds on to it."""
        return self.apply(edits.Remove(kind, name))

    def snapshot(self) -> Snapshot:
        """Everything needed to go on from here, as data."""
        return snapshot.take(self)

    def restore(self, moment: Snapshot) -> None:
        """Go back to a snapshot, over any edits since: stepping on gives the same bits as it did then."""
        self._check_free("seek")
        self._enter("restore")
        try:
            self._restore(moment)
        finally:
            self._door.release()

    def _restore(self, moment: Snapshot) -> None:
        if not isinstance(moment, Snapshot) or moment.state.shape[1:] != (self.worlds,):
            told = show(moment) if not isinstance(moment, Snapshot) else f"of {moment.state.shape[1]} worlds"
            raise edits.EditError(f"restore: snapshot is {told}, expected one of a world of {self.worlds}")
        snapshot.put_back(self, moment)

    def hash(self) -> str:
        """Digest of the bits of everything that decides the future: state, parameters, inputs and method."""
        digest = hashlib.blake2b(self._input_bits(), digest_size=16)
        digest.update(np.ascontiguousarray(self.state.numpy()).data)
        return digest.hexdigest()

    def _input_bits(self) -> bytes:
        """Digest of all that only edits change."""
        if self._inputs is None:
            digest = hashlib.blake2b(digest_size=16)
            system = self.system
            for name in system.parameters:
                digest.update(system.parameter(name).data)
            for name in (*TOPOLOGY_OF_EDITS, *INPUT_ARRAYS):
                digest.update(np.ascontiguousarray(getattr(system.arrays, name).numpy()).data)
            for item in system.channels.items:
                digest.update(_channel_bits(item, self.worlds))
            options = (self.method, self.work_limit, self.dt, self.coordinates, self._script_position)
            clamps = (self.clamps.max_speed, self.clamps.max_hand_force)
            digest.update(repr((*options, *clamps, system.hand_names, system.load_names)).encode())
            self._inputs = digest.digest()
        return self._inputs

    # reading --------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self.state.read("time")[0, 0])

    def body(self, name: str) -> "BodyView":
        """A body to read from."""
        return BodyView(self, edits.known("world", "body", name, self.system.body_index))

    def joint(self, name: str) -> "JointView":
        """A joint to read from."""
        edits.known("world", "joint", name, self.readout.rows)
        return JointView(self, name)

    def point(self, body: str, at=(0.0, 0.0, 0.0)) -> np.ndarray:
        """World place of a point of a body, given in its own frame [m]."""
        return self.body(body).point(at)

    def energy(self) -> Books:
        """The energy books [J]."""
        return Books.read(self.system, self.state, self._work)

    def openings(self) -> dict[str, Any]:
        """How far the rows that are redundant by construction are open, by name [rad, or lengths over the size].

        They are no rows, because others imply them to within `redundancy`; "joint 'hinge' tilt x": 1.2e-6.
        """
        if not self._spare:
            return {}
        errors = np.abs(self.readout.lock_errors())
        return {name: self._out(errors[i] / scale) for name, i, scale in self._spare}

    def constraint_error(self) -> float | np.ndarray:
        """2-norm over all joints of their position-level equations, from body poses [m and rad]."""
        return self._out(np.linalg.norm(self.readout.lock_errors(), axis=0))

    def _impulse_span(self) -> np.ndarray:
        """The time over which each world's impulses acted [s]."""
        last = self.state.read("last_h")[0]
        return np.where(last > 0.0, last, self._h)

    def motor_torques(self) -> np.ndarray:
        """Torque of each coordinate's motor, mean over the last step [coordinate, world] [N m, N]."""
        impulse = self.state.read("impulse")
        slots = self.readout.motor_slots
        span = self._impulse_span()
        return np.array([impulse[r] / span if r >= 0 else np.zeros(self.worlds) for r in slots])

    def reactions(self) -> tuple[np.ndarray, np.ndarray]:
        """Reactions of all joints in the author's order [joint, world, torque and force], and whether determinate."""
        if self._reactions_at != self._count:
            order = [self.system.joint_index[name] for name in self.model.joints]
            raw = self._work.reaction.numpy()[order]
            self._reactions = raw.copy(), np.ones(raw.shape[:2], bool)
            if self._loops and raw.any() and len(self.readout.lock_names) <= MOST_LOCKS:
                if self._least_norm is None:
                    self._least_norm = LeastNorm(self.system, self._work)
                self._reactions = self._least_norm.reactions(raw, self.readout.lock_errors())
            self._reactions_at = self._count
        return self._reactions

    def hand_forces(self) -> dict[str, np.ndarray]:
        """Force of each hand on its body over the last step [N]."""
        impulse = self.state.read("impulse")
        forces = {}
        for r, slot in enumerate(self.system.slots):
            name = self.system.hand_names[slot.part] if slot.kind == HAND and slot.code == 0 else None
            if name:
                forces[name] = self._out((impulse[r : r + 3] / self._impulse_span()).T)
        return forces

    def _out(self, values: np.ndarray):
        """Values [world, ...]: of one world alone, or of all with the world first."""
        values = np.array(values)
        if self.worlds > 1:
            return values
        return float(values[0]) if values.ndim == 1 else values[0]


def _point(value: Any) -> Any:
    """A list or array as a tuple; what else it is the edit will refuse."""
    is_list = isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim == 1)
    return tuple(value) if is_list else value


def _weighs(path: object) -> bool:
    """Whether a parameter decides how much momentum a body has at its velocity."""
    return str(path).rpartition(".")[2] in ("mass", "inertia")


def _channel_bits(item: Scalar, worlds: int) -> bytes:
    """Bits of what a channel follows; of a callable there are none but which component it is."""
    if isinstance(item, Component):
        return f"Component {item.index}".encode()
    if isinstance(item, Ramp | Harmonic | Table):
        numbers = [np.ravel(getattr(item, entry.name)) for entry in fields(item)]
        return type(item).__name__.encode() + np.concatenate(numbers).astype(float).tobytes()
    return np.broadcast_to(np.ravel(np.asarray(item, float)), worlds).tobytes()
