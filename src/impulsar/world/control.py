"""Controllers in the loop: callables that read quantities and sensors, and write motors, loads and parameters.

A controller acts at the times start + k / rate, where start is when it was attached, whatever the step is: steps are
split there (`beats`). Between two calls what it wrote is held. A call that raises, returns something else than so many
finite numbers, or takes longer than its budget is a fault: it is told in the step's report, the first one also as a
ControlWarning, and what was written last stays or is zero, as the controller was attached. The world goes on.

A callable is not data. A journal keeps what was written at each call, so that a replay needs none. One that is a Warp
function is called inside the launch where it can be (`inside`).
"""

import math
import time as wall
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import edits
from ..author.checks import is_number, show
from ..author.parts import check_name
from ..author.profiles import Profile
from ..observe.moment import Moment
from .inside import MOST_MEMORY, Program, function_of, gathered, is_warp, label
from .ports import ChannelOutput, Input, Output, input_of, output_of

if TYPE_CHECKING:
    from .editing import Editor
    from .runner import Runner

HOLDS = ("last", "zero")
MOST_CONTROLLERS = 1000
MOST_CALLS = 1000  # of a controller or sensor in a nominal step


class ControlWarning(UserWarning):
    """A controller failed; what it wrote last is held, or zero."""


@dataclass(eq=False)
class Controller:
    """A controller that is attached, and how it does."""

    edit: edits.Attach
    start: float  # when it was attached [s]
    calls: int = 0
    faults: int = 0
    fault: str | None = None  # the last one, in words
    slowest: float = 0.0  # call, in wall time [s]
    program: Program | None = field(default=None, repr=False)  # of a Warp function
    gathers: list[tuple[int, int, int]] | None = field(default=None, repr=False)  # what a launch reads for it
    _ports: tuple[int, list[Input], list[Output]] | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """By which it is detached."""
        return self.edit.name

    @property
    def period(self) -> float:
        """Between two calls [s]."""
        return 1.0 / self.edit.rate

    def ports(self, runner: "Runner") -> tuple[list[Input], list[Output]]:
        """What it reads and writes in the present system."""
        if self._ports is None or self._ports[0] != runner.edition:
            owner = f"controller '{self.name}'"
            ins = [input_of(runner.bench, owner, name) for name in self.edit.reads]
            outs = [output_of(runner, owner, name) for name in self.edit.writes]
            replaced = [one.take() for one in outs if isinstance(one, ChannelOutput)]
            if any(replaced):
                runner.record_later()
            self._ports = runner.edition, ins, outs
            if is_warp(self.edit.controller):
                self._make_program(owner, runner, ins, outs)
        return self._ports[1], self._ports[2]

    def _make_program(self, owner: str, runner: "Runner", ins: list[Input], outs: list[Output]) -> None:
        """A Warp function with its arrays, and what it reads inside a launch."""
        sizes = sum(one.size for one in ins), sum(one.size for one in outs), self.edit.memory
        if self.program is None or self.program.sizes != sizes:
            function = function_of(self.edit.controller)
            self.program = Program(owner, function, sizes, runner.worlds, runner.device)
        self.gathers = gathered(ins) if all(isinstance(one, ChannelOutput) for one in outs) else None

    @property
    def edit_is_warp(self) -> bool:
        """Whether it is a Warp function."""
        return is_warp(self.edit.controller)

    def prepare(self, runner: "Runner") -> bool:
        """Find what it reads and writes; False: a part of it is gone."""
        try:
            self.ports(runner)
        except edits.EditError:
            return False
        return True

    @property
    def inside(self) -> bool:
        """Whether a launch can call it: a Warp function that reads and writes nothing that is of the host."""
        return self.program is not None and self.gathers is not None

    @property
    def memory(self) -> np.ndarray | None:
        """Numbers that a Warp function keeps from call to call [world, number]."""
        return None if self.program is None else self.program.z.numpy().copy()

    def act(self, runner: "Runner", now: Moment) -> str | None:
        """Read, call and write; what went wrong, in words."""
        before = self.faults
        try:
            ins, outs = self.ports(runner)
        except edits.EditError as error:  # a part of it is gone
            self.fail(str(error), runner.time)
            return self.fault
        size, memory = sum(one.size for one in outs), self.edit.memory
        t = runner.time

        def compute(function: Callable) -> list[float]:
            if self.program is not None:
                return self._call_program(self.program, t, ins, outs, now, runner.worlds).ravel().tolist()
            return self._call(function, t, ins, outs, now, runner.worlds, size).ravel().tolist()

        kept = getattr(self.edit.controller, "kept", None)  # of a session: what was returned is not asked for again
        given = compute(self.edit.controller) if kept is None else kept(t, compute)
        values = np.asarray(given, float)
        if values.size == runner.worlds * (size + memory):
            at, values = 0, values.reshape(runner.worlds, size + memory)
            if self.program is not None:
                self.program.z.assign(values[:, size:])
            for one in outs:
                try:
                    one.write(values[:, at : at + one.size])
                except edits.EditError as error:
                    self.fail(f"{error}; what it was stays", t)
                at += one.size
        self.calls += 1
        return self.fault if self.faults > before else None

    def _call(
        self, function: Callable, t: float, ins: list[Input], outs: list[Output], now: Moment, worlds: int, size: int
    ) -> np.ndarray:
        """What is to be written [world, number]: what the callable returns, or what is held."""
        given = np.concatenate([one.read(now) for one in ins], axis=1) if ins else np.zeros((worlds, 0))
        began = wall.perf_counter()
        try:
            returned = function(t, given if worlds > 1 else given[0])
            took = wall.perf_counter() - began
            self.slowest = max(self.slowest, took)
            if self.edit.budget is not None and took > self.edit.budget:
                raise _Unfit(f"took {took:.3g} s, more than its budget of {self.edit.budget:g} s; give it more")
            return _numbers(returned, worlds, size)
        except _Unfit as error:
            told = str(error)
        except Exception as error:
            told = f"raised {type(error).__name__}: {error}"
        self.fail(f"{told}; {self._holding}", t)
        return self._held(outs, worlds)

    def _call_program(
        self, program: Program, t: float, ins: list[Input], outs: list[Output], now: Moment, worlds: int
    ) -> np.ndarray:
        """The same of a Warp function called by the host, and the memory behind it; worlds fail one by one."""
        given = np.concatenate([one.read(now) for one in ins], axis=1) if ins else np.zeros((worlds, 0))
        u, z = program.call(t, given)
        values = np.concatenate([u, z], axis=1)
        bad = ~np.isfinite(values).all(axis=1)
        if bad.any():
            world = int(np.argmax(bad))
            wrong = np.flatnonzero(~np.isfinite(values[world]))
            own = wrong[wrong < u.shape[1]]
            self.fail(self.not_finite(outs, int(own[-1] if own.size else wrong[-1]), world), t)
            values[bad] = np.concatenate([self._held(outs, worlds), program.z.numpy()], axis=1)[bad]
        return values

    @property
    def _holding(self) -> str:
        return "what it wrote last is held" if self.edit.hold == "last" else "what it writes is zero"

    def _held(self, outs: list[Output], worlds: int) -> np.ndarray:
        """What is written where a call fails [world, number]."""
        if self.edit.hold == "zero" or not outs:
            return np.zeros((worlds, sum(one.size for one in outs)))
        return np.concatenate([one.present() for one in outs], axis=1)

    def not_finite(self, outs: list[Output], number: int, world: int) -> str:
        """What a Warp function did wrong, in words."""
        where = f" in world {world}" if self.program is not None and self.program.u.shape[0] > 1 else ""
        what = label(outs, self.edit.writes, number)
        return f"gave no finite number for {what}{where}; {self._holding}"

    def fail(self, told: str, t: float) -> None:
        """Take note of a call that failed at a time [s]."""
        self.fault = f"controller '{self.name}' at t = {t:.9g} s: {told}"
        self.faults += 1
        if self.faults == 1:
            warnings.warn(self.fault, ControlWarning, stacklevel=2)


class _Unfit(Exception):
    """What a controller returned cannot be used."""


def _numbers(given: Any, worlds: int, size: int) -> np.ndarray:
    """What a controller returned as [world, number]; the same for all worlds where it is one row."""
    try:
        values = np.asarray([] if given is None else given, float)
    except (TypeError, ValueError) as error:
        raise _Unfit(f"returned {show(given)}, expected {size} numbers") from error
    if values.shape in ((size,), ()) and values.size == size:
        values = np.broadcast_to(values.reshape(1, size), (worlds, size))
    elif values.shape == (worlds,) and size == 1:
        values = values[:, None]
    if values.shape != (worlds, size):
        rows = f"{size} numbers" if worlds == 1 else f"shape {(worlds, size)} or ({size},)"
        raise _Unfit(f"returned {show(given)} of shape {values.shape}, expected {rows}")
    if not np.isfinite(values).all():
        raise _Unfit(f"returned {show(given)}, expected finite numbers")
    return values


# edits --------------------------------------------------------------------------------------------


@edits.carries_out(edits.Attach, tells="acting", writes=False)
def attach(edit: edits.Attach, desk: "Editor") -> edits.Answer:
    """Let a controller act, or exchange the one of that name."""
    runner, owner = desk.runner, f"controller '{check_name('controller', edit.name)}'"
    beats = runner.beats
    check_attached(edit)
    if edit.rate * runner.dt > MOST_CALLS:
        told = f"{edit.rate * runner.dt:.4g} calls in a step of dt = {runner.dt:g} s, more than {MOST_CALLS}"
        raise edits.EditError(f"{owner}: rate is {show(edit.rate)} Hz, {told}; shorten dt by SetStep")
    edit = replace(edit, reads=tuple(edit.reads), writes=tuple(edit.writes), rate=float(edit.rate))
    old = beats.controllers.get(edit.name)
    if old is None and len(beats.controllers) >= MOST_CONTROLLERS:
        raise edits.EditError(f"{owner}: there are {MOST_CONTROLLERS} already; detach one")
    _refuse_shared(owner, edit, beats.controllers)
    new = Controller(edit, runner.time)
    new.ports(runner)
    beats.controllers[edit.name] = new
    inverse = edits.Detach(edit.name) if old is None else old.edit
    return edits.Answer(f"{owner} acts {edit.rate:g} times a second", inverse=inverse)


@edits.carries_out(edits.Detach, tells="acting", writes=False)
def detach(edit: edits.Detach, desk: "Editor") -> edits.Answer:
    """Let a controller act no more."""
    controllers = desk.runner.beats.controllers
    old = edits.known("detach", "controller", edit.name, controllers)
    if old.edit.hold == "zero":
        for one in old.ports(desk.runner)[1]:
            one.write(np.zeros((desk.runner.worlds, one.size)))
    del controllers[edit.name]
    return edits.Answer(f"controller '{edit.name}' acts no more", inverse=old.edit)


def check_attached(edit: edits.Attach) -> None:
    """Refuse a controller by what can be seen of it without a world."""
    owner = f"controller '{check_name('controller', edit.name)}'"
    if not callable(edit.controller) or isinstance(edit.controller, Profile | type):
        expected = "a callable of the time and what it reads"
        raise edits.EditError(f"{owner}: controller is {show(edit.controller)}, expected {expected}")
    if not (is_number(edit.rate) and 0 < edit.rate < math.inf):
        raise edits.EditError(f"{owner}: rate is {show(edit.rate)}, expected a number > 0 [Hz]")
    if edit.hold not in HOLDS:
        raise edits.EditError(f"{owner}: hold is {edit.hold!r}, expected 'last' or 'zero'")
    if edit.budget is not None and not (is_number(edit.budget) and 0 < edit.budget < math.inf):
        raise edits.EditError(f"{owner}: budget is {show(edit.budget)}, expected a time > 0 [s], or None")
    _check_memory(owner, edit)
    for what in ("reads", "writes"):
        names = getattr(edit, what)
        if not isinstance(names, tuple | list):
            raise edits.EditError(f"{owner}: {what} is {names!r}, expected names, such as ('hinge.position',)")


def _check_memory(owner: str, edit: edits.Attach) -> None:
    """Refuse what is for Warp functions, or not for them."""
    if isinstance(edit.memory, bool) or not isinstance(edit.memory, int) or not 0 <= edit.memory <= MOST_MEMORY:
        raise edits.EditError(f"{owner}: memory is {show(edit.memory)}, expected an integer from 0 to {MOST_MEMORY}")
    function = function_of(edit.controller)
    if is_warp(function):
        if edit.budget is not None:
            cure = "a Warp function is called inside a launch; attach it without one"
            raise edits.EditError(f"{owner}: budget is {show(edit.budget)} s, but {cure}")
    elif edit.memory and function is not None:
        cure = "a Python callable keeps its own; leave it out"
        raise edits.EditError(f"{owner}: memory is {edit.memory}, but only Warp functions keep numbers here; {cure}")


def _refuse_shared(owner: str, edit: edits.Attach, others: dict[str, Controller]) -> None:
    """Refuse to write what another writes."""
    twice = next((name for name in edit.writes if edit.writes.count(name) > 1), None)
    if twice is not None:
        raise edits.EditError(f"{owner}: writes '{twice}' twice; name it once")
    for other in others.values():
        shared = sorted(set(other.edit.writes) & set(edit.writes))
        if other.name != edit.name and shared:
            told = f"'{shared[0]}', which controller '{other.name}' writes"
            raise edits.EditError(f"{owner}: writes {told}; detach that one, or attach this under its name")
