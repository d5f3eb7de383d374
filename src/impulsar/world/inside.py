"""Controllers that are Warp functions, called between the steps of a launch.

    @wp.func
    def servo(time: wp.float64, y: wp.array(dtype=wp.float64), u: wp.array(dtype=wp.float64)):
        u[0] = -K * y[0]

It reads y, writes u, and may have a fourth array of numbers that it keeps from call to call. A kernel of its own is
made of it, some lines that are compiled when it is attached; what gathers its inputs and writes its outputs is the same
for all. A round of a relay (engine/relay.py) is: gather, function, write, step, sample. Where a controller reads or
writes what is of the host, or its times are not those of steps, the host calls the same kernel: the bits are the same.

Sensors whose times are those of steps are sampled there too, behind the step that arrives at their time, but for those
that the host reads (receivers of GPS, sensors of other packages): a launch ends where one of these is due.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import warp as wp

from ..edits import EditError
from ..engine.launch import record_launch
from ..engine.relay import Relay
from ..engine.spatial import f64
from ..engine.state import StateArrays, WorkArrays
from ..engine.system import SystemArrays
from ..engine.system.measured import RESIDUALS, SUMS, WORST
from ..observe.moment import Moment
from ..observe.sensing import Device, needed
from .ports import ChannelOutput, Input, Output

if TYPE_CHECKING:
    from .control import Controller
    from .runner import Runner

MOST_ROUNDS = 4096  # of one launch
MOST_MEMORY = 10_000  # numbers that a function keeps
POSITION, RATE, PLACE, TURN, TWIST, NUMBER, SENSED = 0, 1, 2, 3, 4, 5, 6  # what is gathered
GATHERED = {  # quantity: what, and from which component on
    "coordinate.position": (POSITION, 0),
    "coordinate.velocity": (RATE, 0),
    "body.position": (PLACE, 0),
    "body.orientation": (TURN, 0),
    "body.angular_velocity": (TWIST, 0),
    "body.velocity": (TWIST, 3),
    "parameter.value": (NUMBER, 0),
    "sensor.value": (SENSED, 0),
}
SIGNATURE = "(time: wp.float64, y: wp.array(dtype=wp.float64), u: wp.array(dtype=wp.float64))"
FIRST, EVERY = 0, 1  # of a timing
FIRST_FAULT, LAST_FAULT = 0, 1  # of what is kept of faults, by world


def is_warp(controller: Any) -> bool:
    """Whether a controller is a Warp function, also in the record of a session."""
    return isinstance(function_of(controller), wp.Function)


def function_of(controller: Any) -> Any:
    """A controller, or what a session keeps the record of."""
    return controller.function if hasattr(controller, "kept") else controller


@cache
def function_kernel(function: wp.Function, with_memory: bool) -> wp.Kernel:
    """A kernel that calls a function when it is due."""

    def plain(
        timing: wp.array(dtype=wp.int32),
        done: wp.array(dtype=wp.int32),
        time: wp.array(dtype=f64),
        y: wp.array2d(dtype=f64),
        z: wp.array2d(dtype=f64),
        u: wp.array2d(dtype=f64),
    ):
        w = wp.tid()
        if (done[0] - timing[0]) % timing[1] == 0 and done[0] >= timing[0]:
            function(time[w], y[w], u[w])

    def keeping(
        timing: wp.array(dtype=wp.int32),
        done: wp.array(dtype=wp.int32),
        time: wp.array(dtype=f64),
        y: wp.array2d(dtype=f64),
        z: wp.array2d(dtype=f64),
        u: wp.array2d(dtype=f64),
    ):
        w = wp.tid()
        if (done[0] - timing[0]) % timing[1] == 0 and done[0] >= timing[0]:
            function(time[w], y[w], u[w], z[w])

    return wp.kernel(enable_backward=False, module="unique")(keeping if with_memory else plain)


@wp.func
def is_due(timing: wp.array(dtype=wp.int32), done: wp.array(dtype=wp.int32)) -> bool:
    return done[0] >= timing[FIRST] and (done[0] - timing[FIRST]) % timing[EVERY] == 0


@wp.kernel(enable_backward=False)
def gather_kernel(
    timing: wp.array(dtype=wp.int32),
    done: wp.array(dtype=wp.int32),
    what: wp.array2d(dtype=wp.int32),  # [input, 3]: which array, its row and component
    number: wp.array(dtype=f64),  # [input] of what does not change inside a launch
    position: wp.array2d(dtype=f64),  # [freedom, world]
    rate: wp.array2d(dtype=f64),
    come: wp.array2d(dtype=f64),  # [channel, world] of sensors
    s: StateArrays,
    x: WorkArrays,
    z: wp.array2d(dtype=f64),
    # out
    time: wp.array(dtype=f64),
    y: wp.array2d(dtype=f64),  # [world, input]
    before: wp.array2d(dtype=f64),  # [world, number] memory as it was
):
    """What a controller reads, when it is due."""
    w = wp.tid()
    if not is_due(timing, done):
        return
    time[w] = s.time[0, w]
    for k in range(before.shape[1]):
        before[w, k] = z[w, k]
    for k in range(what.shape[0]):
        row = what[k, 1]
        part = what[k, 2]
        if what[k, 0] == POSITION:
            y[w, k] = position[row, w]
        elif what[k, 0] == RATE:
            y[w, k] = rate[row, w]
        elif what[k, 0] == PLACE:
            y[w, k] = x.p_WB[row, w][part]
        elif what[k, 0] == TURN:
            y[w, k] = x.q_WB[row, w][part]
        elif what[k, 0] == TWIST:
            y[w, k] = x.twist[row, w][part]
        elif what[k, 0] == SENSED:
            y[w, k] = come[row, w]
        else:
            y[w, k] = number[k]


@wp.kernel(enable_backward=False)
def write_kernel(
    timing: wp.array(dtype=wp.int32),
    done: wp.array(dtype=wp.int32),
    zero: wp.array(dtype=wp.int32),  # [1] 1: what is not finite is zero, else what was written last stays
    channel: wp.array(dtype=wp.int32),  # [output]
    u: wp.array2d(dtype=f64),
    before: wp.array2d(dtype=f64),
    # out
    m: SystemArrays,
    z: wp.array2d(dtype=f64),
    failed: wp.array(dtype=wp.int32),  # [call] 1 + which number was not finite, 0: none
    fault: wp.array2d(dtype=wp.int32),  # [2, world] first and last call that failed, -1: none
):
    """Into the channels what a controller gave, or what is held."""
    w = wp.tid()
    if not is_due(timing, done):
        return
    call = (done[0] - timing[FIRST]) // timing[EVERY]
    wrong = int(0)
    for k in range(z.shape[1]):
        if not wp.isfinite(z[w, k]):
            wrong = channel.shape[0] + k + 1
    for k in range(channel.shape[0]):
        if not wp.isfinite(u[w, k]):
            wrong = k + 1
    if wrong > 0:
        failed[call] = wrong
        fault[LAST_FAULT, w] = call
        if fault[FIRST_FAULT, w] < 0:
            fault[FIRST_FAULT, w] = call
        for k in range(z.shape[1]):
            z[w, k] = before[w, k]
        if zero[0] != 0:
            for k in range(channel.shape[0]):
                m.channel_a[channel[k], w] = f64(0.0)
        return
    for k in range(channel.shape[0]):
        m.channel_a[channel[k], w] = u[w, k]


class Program:
    """A Warp function that controls, with its arrays."""

    def __init__(self, owner: str, function: wp.Function, sizes: tuple[int, int, int], worlds: int, device: str):
        inputs, outputs, memory = self.sizes = sizes
        check_function(owner, function, memory)
        self._worlds, self._device = worlds, device
        self.time = wp.zeros(worlds, dtype=f64, device=device)
        self.y, self.u, self.z, self.before = (
            wp.zeros((worlds, size), dtype=f64, device=device) for size in (inputs, outputs, memory, memory)
        )
        self.timing, self.done = ints([0, 1], device), ints([0], device)
        self.kernel = function_kernel(function, memory > 0)
        given = [self.timing, self.done, self.time, self.y, self.z, self.u]
        try:
            self._launch = record_launch(self.kernel, worlds, given, device)
        except Exception as error:  # of Warp, whatever kind
            told = str(error).strip().splitlines() or [type(error).__name__]
            raise EditError(f"{owner}: Warp cannot compile its function: {told[0]}") from error

    def call(self, t: float, given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What it gives for inputs [world, input]: outputs and memory [world, number]; its memory stays."""
        before = self.z.numpy().copy()
        self.time.fill_(t)
        self.y.assign(given)
        self.timing.assign([0, 1])
        self.done.zero_()
        self._launch()
        after = self.u.numpy().copy(), self.z.numpy().copy()
        self.z.assign(before)
        return after

    def recorded(self, done: wp.array) -> Callable[[], None]:
        """Its launch in a relay, whose rounds are counted there."""
        given = [self.timing, done, self.time, self.y, self.z, self.u]
        return record_launch(self.kernel, self._worlds, given, self._device)


def ints(values: Sequence[int] | np.ndarray, device: str) -> wp.array:
    return wp.array(np.array(values, np.int32), dtype=wp.int32, device=device, shape=np.shape(values))


def check_function(owner: str, function: wp.Function, memory: int) -> None:
    """Refuse a function of other arguments."""
    kinds = list(function.input_types.values())
    expected = SIGNATURE if not memory else SIGNATURE[:-1] + ", z: wp.array(dtype=wp.float64))"
    fits = len(kinds) == (4 if memory else 3) and kinds[0] is wp.float64
    if not fits or not all(isinstance(k, wp.array) and k.ndim == 1 and k.dtype is wp.float64 for k in kinds[1:]):
        has = ", ".join(f"{name}: {getattr(kind, '__name__', kind)}" for name, kind in function.input_types.items())
        raise EditError(f"{owner}: its function takes ({has}), expected {expected}")


def gathered(ins: Sequence[Input]) -> list[tuple[int, int, int]] | None:
    """Which array, row and component each input is; None: one of them is read on the host."""
    found = []
    for one in ins:
        if one.quantity.name not in GATHERED or one.is_norm:
            return None
        what, first = GATHERED[one.quantity.name]
        parts = range(len(one.quantity.components) or 1) if one.component is None else [one.component]
        found += [(what, row, first + part) for row in one.rows for part in parts]
    return found


class Inside:
    """Controllers of a runner that its launches call, and sensors that they sample, as the system is now."""

    def __init__(self, runner: "Runner", controllers: Sequence["Controller"], devices: Sequence[Device] = ()):
        self.controllers, self.devices, self._runner = list(controllers), list(devices), runner
        self.launch, self.edition = runner.launch, runner.edition
        device, worlds, bench = runner.device, runner.worlds, runner.bench
        self._done = ints([0], device)
        reading = bench.readout.freedom_reading
        sensed = [row for one in self.controllers for what, row, _ in one.gathers or () if what == SENSED]
        sensors = bench.sensors if sensed else None
        launches = [reading.recorded()] if self.controllers else []
        if sensors is not None:
            launches += [one.recorded() for one in sensors.coming(sensors.owners(sensed))]
        come = sensors.come if sensors is not None else wp.zeros((0, worlds), dtype=f64, device=device)
        self._numbers: list[tuple[wp.array, list[Input]]] = []
        self._faults: list[tuple[wp.array, wp.array]] = []
        for one in self.controllers:
            ins, outs = one.ports(runner)
            program, places = cast(Program, one.program), np.array(one.gathers, np.int32).reshape(-1, 3)
            number = wp.zeros(len(places), dtype=f64, device=device)
            failed = wp.zeros(MOST_ROUNDS, dtype=wp.int32, device=device)
            fault = wp.full((2, worlds), -1, dtype=wp.int32, device=device)
            self._numbers.append((number, ins))
            self._faults.append((failed, fault))
            due = [program.timing, self._done]
            given = [ints(places, device), number, *reading.out, come, runner.state.arrays, bench.work, program.z]
            launches += [
                record_launch(gather_kernel, worlds, [*due, *given, program.time, program.y, program.before], device),
                program.recorded(self._done),
            ]
            channels = [row for out in outs for row in cast(ChannelOutput, out).rows]
            held = [ints([int(one.edit.hold == "zero")], device), ints(channels, device), program.u, program.before]
            written = [runner.system.arrays, program.z, failed, fault]
            launches.append(record_launch(write_kernel, worlds, [*due, *held, *written], device))
        after = self._sampling()
        rows = SUMS, WORST, dict(RESIDUALS)
        self._relay = Relay([*launches, self.launch], bench.work.report, self._done, *rows, after)

    def _sampling(self) -> list[Callable[[], None]]:
        """Launches of samples: what several sensors need, then each of them; and of which sensors each is."""
        self._samples: list[list[int]] = []
        found: list[Callable[[], None]] = []
        for name in needed(self.devices):
            who = [k for k, one in enumerate(self.devices) if one.truth is not None and name in one.truth.needs]
            launches = [one.recorded() for one in getattr(self._runner.bench.sensors.needs, name)]
            found += launches
            self._samples += [who] * len(launches)
        for k, device in enumerate(self.devices):
            launches = [one.recorded() for one in device.readings()]
            found += launches
            self._samples += [[k]] * len(launches)
        return found

    def is_of(self, controllers: Sequence["Controller"], devices: Sequence[Device]) -> bool:
        """Whether it is of these, and nothing that it holds on to was replaced."""
        same = self.controllers == controllers and self.devices == devices
        return same and (self.launch, self.edition) == (self._runner.launch, self._runner.edition)

    def run(
        self, steps: int, timings: Sequence[tuple[int, int]], samples: Sequence[tuple[int, int]] = ()
    ) -> dict[str, str]:
        """Take so many nominal steps; timings: steps to the first call of each, and between two; samples: likewise.

        Returns the last fault of controllers that failed, in words.
        """
        runner, start = self._runner, self._runner.time
        each = math.gcd(steps, *(number for timing in (*timings, *samples) for number in timing))
        runner.set_steps(each * runner.substeps)
        if self.devices:
            runner.bench.sensors.needs.prepare(needed(self.devices))
        now = Moment(runner.bench)
        for one, (first, every), (number, ins), (failed, fault) in zip(
            self.controllers, timings, self._numbers, self._faults, strict=True
        ):
            cast(Program, one.program).timing.assign([first // each, every // each])
            if any(item.quantity.name == "parameter.value" for item in ins):
                number.assign(np.concatenate([item.read(now)[0] for item in ins]))
            failed.zero_()
            fault.fill_(-1)
        memories = [cast(Program, one.program).z.numpy().copy() for one in self.controllers]
        if not self._relay.run(steps // each, [self._when(who, samples, each) for who in self._samples]):
            for one, memory in zip(self.controllers, memories, strict=True):
                cast(Program, one.program).z.assign(memory)  # as the guard brings the state back
            return {}
        told: dict[str, str] = {}
        for one, (first, every), faults in zip(self.controllers, timings, self._faults, strict=True):
            if first < steps:
                self._take_note(one, start, first, every, 1 + (steps - 1 - first) // every)
                found = self._failed(one, start, first, every, *faults)
                told |= {} if found is None else {one.name: found}
        return told

    @staticmethod
    def _when(who: Sequence[int], samples: Sequence[tuple[int, int]], each: int) -> tuple[int, int]:
        """Rounds to the first sample of some sensors, and between two: all their times, and perhaps others."""
        first, every = min(samples[k][0] for k in who), math.gcd(*(samples[k][1] for k in who))
        every = math.gcd(every, *(samples[k][0] - first for k in who))
        return first // each, every // each

    def _take_note(self, one: "Controller", start: float, first: int, every: int, calls: int) -> None:
        """What was written last is what the channels follow, and a session's record has it."""
        runner = self._runner
        one.calls += calls
        outs = one.ports(runner)[1]
        for out in outs:
            cast(ChannelOutput, out).take_note()
        if hasattr(one.edit.controller, "kept"):
            program = cast(Program, one.program)
            values = np.concatenate([*[out.present() for out in outs], program.z.numpy()], axis=1)
            one.edit.controller.keep(start, values.ravel().tolist())

    def _failed(
        self, one: "Controller", start: float, first: int, every: int, failed: wp.array, fault: wp.array
    ) -> str | None:
        """Tell of calls that gave no finite numbers."""
        calls = failed.numpy()
        found = np.flatnonzero(calls)
        if not found.size:
            return None
        outs, runner = one.ports(self._runner)[1], self._runner
        for row, call in ((FIRST_FAULT, found[0]), (LAST_FAULT, found[-1])):
            world = int(np.argmax(fault.numpy()[row] == call))
            one.fail(one.not_finite(outs, calls[call] - 1, world), start + (first + every * call) * runner.dt)
        one.faults += len(found) - 2
        return one.fault


def label(outs: Sequence[Output], names: Sequence[str], number: int) -> str:
    """How a number that a controller gives is called."""
    for out, name in zip(outs, names, strict=True):
        if number < out.size:
            return f"'{name}'" + (f" [{number}]" if out.size > 1 else "")
        number -= out.size
    return f"number {number} of its memory"
