"""What a method is: the contract of `Method`, and how one that breaks it is refused.

A method of another package is an entry point of the group `impulsar.methods`: the name that it is called by, and the
class of its options, a subclass of `Method`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, ClassVar, Protocol, cast

import numpy as np
import warp as wp

from ...author.errors import ModelError
from ..options import MOST_OPTIONS, Option
from ..state import Block, Counts
from ..system import System

Trial = Callable[[Any, int], tuple[float, float]]  # a method and its limit -> time of a step [s], work done in it
NAME = re.compile(r"[a-z][a-z0-9_-]*")
COORDINATES = ("generalized", "maximal")
STEP, CURVE = "step", "curve"  # Method.dense
FEW, MANY = 1, 33  # sweeps by whose times the cost of one is told


class Method(Protocol):
    """How a step is made. A subclass is a frozen dataclass of options, every one with a default.

    1. Options are numbers, truth values or texts. `check` raises ValueError, in words, at one that is wrong.
    2. `kernel(m: SystemArrays, s: StateArrays, x: WorkArrays)` takes m.steps[0] nominal steps of m.nominal_h[0], of
       which m.h[0] is one part where `longest_step` divides them; a thread runs a world, the one of wp.tid(). Threads
       share the structures: functions write to arrays, never to fields. Same arrays, same bits.
    3. What a step leaves for the next, beyond what there is, is said by name in `state_blocks`. A kernel finds row i
       of the method's k-th block at s.method[s.method_at[k] + i, w]; where all sizes are fixed `state.rows_of` names
       the places. Nothing else outlives a launch: work arrays may hold anything at its start.
    4. Time is s.time, which the kernel advances. It reads no clock, and no options but m.options[Option.name]:
       `options` gives them by name, those of its own from `own_options`.
    5. Forces, rows and impulses come from the shared stages; a method names no kind of row.
    6. It fills the report: how much work it did, and what ended it, which `report` has stages for.
    7. It keeps the energy books with its own quadrature, by the stages of `integrate.books` and `forces.loads`.
    8. After the last step of a launch it leaves accelerations and reactions of the bodies.
    9. Its unit of work is what `limit` limits, evaluations or sweeps: at most `most_work` of a nominal step, at least
       `least_work`. `work_in` says how many fit a budget of time, from trials.
    10. `order` is the power of the step by which its error goes down on smooth motion, `coordinates` what it works in,
       its own choice first.
    11. `dense` is how a time inside a step is reached (world/within.py): STEP, by a shorter step, if that gives a state
       as good as any; CURVE, between the ends of the step, if a state depends on the size of the steps to it.
    """

    name: ClassVar[str]
    order: ClassVar[int]
    coordinates: ClassVar[tuple[str, ...]]
    places: ClassVar[Any] = Option  # of its options: `own_options(...)` where it has some of its own
    least_work: ClassVar[int] = 1
    dense: ClassVar[str] = CURVE
    skips_spares: ClassVar[bool] = False  # whether it leaves rows out that others imply: see engine/start/redundancy.py

    @property
    def kernel(self) -> wp.Kernel:
        """What takes the steps."""
        ...

    @property
    def most_work(self) -> int:
        """Largest limit of work in a nominal step; where it is reached the step has not come to its end."""
        ...

    def check(self) -> None:
        """Raise ValueError at a wrong option."""
        return

    def refuse(self, system: System) -> None:
        """Raise ModelError, in words, at a system with something that it cannot do: when it is built or edited."""
        return

    def options(self, limit: int) -> dict[str, float]:
        """What the kernel reads, by name, under a limit of work."""
        ...

    @property
    def longest_step(self) -> float:
        """A longer nominal step is divided into equal parts [s]."""
        return float("inf")

    def longest_step_of(self, system: System) -> float:
        """The same in a system: shorter where something there is too fast for it [s]."""
        return self.longest_step

    @property
    def fixed_substeps(self) -> int:
        """Sub-steps that each part takes whatever happens, if it is known."""
        return 0

    @property
    def play(self) -> float | None:
        """How far rows that others imply may be open [rad, or lengths over the mechanism's size]; None: as it is."""
        return None

    @property
    def tableau(self) -> np.ndarray | None:
        """Numbers for m.tableau."""
        return None

    @staticmethod
    def state_blocks(counts: Counts) -> Sequence[Block]:
        """What it keeps between steps; the same for all its options."""
        return ()

    def host_launch(self, system: System, state: Any, work: Any) -> Callable[[], None] | None:
        """What takes the steps from the host instead of the kernel, to the same contract; None: the kernel does."""
        return None

    @staticmethod
    def unknowns(counts: Counts) -> int:
        """Of the equations that it solves all at once, with a full matrix; 0: none."""
        return 0

    def work_in(self, budget: float, trial: Trial) -> int:
        """Units of work in a budget [s]. This one takes all of a step's time to be spent on them."""
        spent, done = trial(self, self.most_work)
        return int(budget / (spent / max(1.0, done)))


@cache
def apart(function: Callable) -> wp.Kernel:
    """A kernel in a module of its own, made when it is first asked for: Warp reads all that it calls to name it."""
    return wp.kernel(enable_backward=False, module="unique")(function)


def touching_kernel(method: Any) -> wp.Kernel:
    """The kernel of a method that takes steps of worlds with contact: (m, s, x, c), c: ContactArrays."""
    kernel = getattr(method, "touching_kernel", None)
    if kernel is None:
        raise ModelError(f"method {method.name}: has no contact; take another, or shapes without materials")
    return kernel


COMPILED = ("simgc", "direct")  # methods whose steps engine/compile takes


def can_compile(method: Any, system: System) -> bool:
    """Whether steps can be compiled for one mechanism."""
    return method.name in COMPILED and (system.device == "cpu" or not system.counts.contacts)


def refuse_compiling(method: Any, system: System, touching: bool = True) -> None:
    """Raise ModelError, in words, where steps cannot be compiled for one mechanism; touching: with contacts, if any."""
    if can_compile(method, system) and (touching or not system.counts.contacts):
        return
    if method.name not in COMPILED:
        raise ModelError(
            f"world: compile: method {method.name} is not compiled; take {' or '.join(COMPILED)}, or 'off'"
        )
    where = "" if system.device == "cpu" else f" on {system.device}"
    raise ModelError(f"world: compile: a mechanism with contacts{where} is not compiled; take 'off'")


def sweeps_in(budget: float, endless: Any, trial: Trial) -> int:
    """Sweeps in a budget [s], of a method that ends none before its limit; a step costs something besides."""
    few, many = trial(endless, FEW)[0], trial(endless, MANY)[0]
    return FEW + int((budget - few) / max((many - few) / (MANY - FEW), 1e-9))


def check_method(name: str, cls: Any) -> type[Method]:
    """A class that keeps the contract as far as can be seen; raises TypeError with what is missing."""
    if not isinstance(cls, type) or not is_dataclass(cls) or not _is_frozen(cls):
        raise TypeError(f"is {cls!r:.80}, expected a frozen dataclass of options")
    missing = [what for what in ("kernel", "most_work", "options") if getattr(cls, what, None) is getattr(Method, what)]
    missing += [what for what in REQUIRED if not hasattr(cls, what)]
    if missing:
        raise TypeError(f"{cls.__name__} has no {', '.join(dict.fromkeys(missing))}; subclass impulsar's Method")
    _check_attributes(name, cls)
    try:
        made = cls()
    except TypeError as error:
        raise TypeError(f"{cls.__name__}: every option needs a default ({error})") from error
    wrong = [entry.name for entry in fields(cls) if not isinstance(getattr(made, entry.name), bool | int | float | str)]
    if wrong:
        raise TypeError(f"{cls.__name__}: options {', '.join(wrong)} are no number, truth value or text")
    _check_running(made)
    return cast(type[Method], cls)


def _check_attributes(name: str, cls: Any) -> None:
    """What a method says of itself in its class."""
    if cls.name != name or not NAME.fullmatch(name):
        raise TypeError(f"{cls.__name__} is called {cls.name!r}, expected {name!r}, in small letters, digits, - and _")
    if type(cls.order) is not int or cls.order < 1:
        raise TypeError(f"{cls.__name__}: order is {cls.order!r}, expected an integer >= 1")
    if not cls.coordinates or not set(cls.coordinates) <= set(COORDINATES):
        raise TypeError(f"{cls.__name__}: coordinates are {cls.coordinates!r}, expected some of {COORDINATES}")


REQUIRED = (
    *("name", "order", "coordinates", "places", "kernel", "check", "options", "most_work", "least_work"),
    *(
        "dense",
        "skips_spares",
        "longest_step",
        "fixed_substeps",
        "play",
        "tableau",
        "state_blocks",
        "unknowns",
        *("refuse", "host_launch"),
        "work_in",
    ),
)


def _is_frozen(cls: Any) -> bool:
    return bool(cls.__dataclass_params__.frozen)


def _check_running(made: Any) -> None:
    """What a method says of itself by its defaults."""
    title = type(made).__name__
    try:
        made.check()
    except ValueError as error:
        raise TypeError(f"{title}: refuses its own defaults: {error}") from error
    if not isinstance(made.kernel, wp.Kernel):
        raise TypeError(f"{title}: kernel is {made.kernel!r:.80}, expected a Warp kernel of (m, s, x)")
    if [arg.label for arg in made.kernel.adj.args] != ["m", "s", "x"]:
        raise TypeError(f"{title}: its kernel takes {[arg.label for arg in made.kernel.adj.args]}, expected m, s, x")
    if type(made.most_work) is not int or not 1 <= made.least_work <= made.most_work:
        raise TypeError(f"{title}: least_work and most_work are not integers from 1 on")
    given = made.options(made.most_work)
    if "limit" not in given:
        raise TypeError(f"{title}: options() has no 'limit', by which its work is limited")
    lost = [name for name in given if not 0 <= getattr(made.places, name, -1) < MOST_OPTIONS]
    if lost:
        raise TypeError(f"{title}: options() has {', '.join(lost)}, which have no place; see own_options")
