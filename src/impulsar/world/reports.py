"""What a step reports: iterations, residuals, and the energy books, read when asked for. A report acts on nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..author.errors import StepError
from ..engine.system import System, measured
from ..engine.system.measured import together
from ..observe.books import Books
from ..observe.openings import Openings
from ..observe.reading import out

if TYPE_CHECKING:
    from ..engine.compile.launch import Last
    from .runner import Runner

OUT_OF_BALANCE = 0.01  # of all energy turned over: books that are out by more are trouble
OUT_OF_ORDER_1 = 0.1  # the same of a method of order 1
BY_IMPULSES = 1e100  # a coarser tolerance is none
MOST_TURN = 1.0  # [rad] of a body in a step of order 1: beyond it turns are not resolved
MOST_TURNS = 1e4  # [rad] in a nominal step of free bodies, where joints count their own turns
OPEN = 1e-3  # [rad, or of the mechanism's size]: joints that were open by more before the last correction
DEEP = 1e-4  # [m, or of the mechanism's size]: shapes that are left overlapping by more
UNSOLVED = 1e-6  # of the largest impulse: contacts that miss Coulomb's law by more are trouble
WIDE_OPEN = 1e-2  # the same of a method of order 1
NONE: Mapping[str, str] = {}

CAUSES = {
    measured.NOT_FINITE: ("not finite", "the state is no longer finite", "take a smaller dt"),
    measured.FORCES: (
        "forces",
        "forces or accelerations are no longer finite",
        "check loads, springs, masses and what drives the motors",
    ),
    measured.UNDERFLOW: (
        "underflow",
        "no sub-step is short enough for its tolerance",
        "check for forces out of all proportion, or take a looser rtol and atol",
    ),
    measured.WORK: (
        "work",
        "the step did not end within 10^6 evaluations",
        "take a smaller dt or a looser rtol and atol, or give a budget",
    ),
    measured.TORN: ("torn", "joints cannot be closed", "check masses and inertias, or free the loop that is torn"),
    measured.UNSOLVED: (
        "unsolved",
        "Newton's method finds no end of the step that the joints allow",
        "take a smaller dt, or method direct near singular positions",
    ),
    measured.RUNAWAY: (
        "runaway",
        "the motion has run away",
        "take another dt (a very short one turns what is left open in joints into speed) or method direct",
    ),
}


@dataclass(frozen=True)
class Trouble:
    """Something about a step that is not right to its tolerance."""

    cause: str  # budget, iterations, open, fast, contacts, overlap, energy, controller
    part: str | None
    text: str  # what, and what to do about it

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Facts:
    """By what the rows of a report are read."""

    runner: "Runner"
    system: System  # as it was then; a changed mechanism is another one
    worlds: int
    coordinates: str
    order: int
    h: float  # [s]
    limit: str  # what ends steps that need too much: "iterations" or "budget"


class StepReport:
    """What the steps of one call did; arrays per world in a batch."""

    __slots__ = ("_count", "_facts", "_raw", "clamped", "faults", "steps")

    def __init__(
        self,
        facts: Facts,
        count: int,
        steps: int,
        raw: "np.ndarray | Last | None",
        clamped: tuple[str, ...] = (),
        faults: Mapping[str, str] = NONE,
    ):
        self._facts = facts
        self._count = count
        self._raw = raw
        self.steps = steps
        self.clamped = clamped  # what the world's clamps held back, in words
        self.faults = faults  # controllers that failed, and the last of it in words

    @classmethod
    def of_all(cls, reports: Sequence["StepReport"]) -> "StepReport":
        """The reports of steps one after the other, in one system, as one."""
        *before, last = reports
        if not before:
            return last
        clamped = tuple(dict.fromkeys(text for report in reports for text in report.clamped))
        steps = sum(report.steps for report in reports)
        faults = {name: told for report in reports for name, told in report.faults.items()}
        return cls(last._facts, last._count, steps, together([report.raw for report in reports]), clamped, faults)

    @property
    def raw(self) -> np.ndarray:
        """The report's rows [row, world]; see engine/system/measured.py."""
        raw = self._raw
        if raw is None:
            raw = self._now("this report was not read before the world went on; read it first, or keep its values")
        elif not isinstance(raw, np.ndarray):
            raw = raw.read()
        self._raw = raw
        return raw

    def _now(self, refusal: str) -> np.ndarray:
        """What is on the device still, while the world has not gone on."""
        if self._facts.runner.count != self._count:
            raise StepError(refusal)
        return self._facts.runner.work.report.numpy().copy()

    def _row(self, row: int):
        return out(self.raw[row], self._facts.worlds)

    def _count_row(self, row: int):
        counts = self._row(row)
        return int(counts) if self._facts.worlds == 1 else counts.astype(int)

    @property
    def iterations(self):
        """Sweeps, or evaluations of `direct`, of all steps of the call."""
        return self._count_row(measured.TOTAL_ITERATIONS)

    @property
    def most_iterations(self):
        """Sweeps or evaluations of the step that took most."""
        return self._count_row(measured.MOST_ITERATIONS)

    @property
    def substeps(self):
        """Sub-steps that `direct` took inside the nominal steps of the call; 0 for other methods."""
        return self._count_row(measured.SUB_STEPS)

    @property
    def mode_changes(self):
        """Changes of mode that `direct` located: friction that sticks or lets go, limits that are met or left."""
        return self._count_row(measured.MODE_CHANGES)

    @property
    def overlap(self):
        """The deepest that shapes were left inside each other in the steps of the call [m]."""
        return self._row(measured.OVERLAP)

    @property
    def contacts(self):
        """Contacts that were found last, also such as may come within a step."""
        return self._count_row(measured.CONTACTS)

    @property
    def rows(self):
        """Active rows in the last impulsive step."""
        return self._count_row(measured.ROWS)

    @property
    def ended_by(self) -> str:
        """ "tolerance", "iterations" or "budget": what ended the step that needed most."""
        if not self.raw[measured.ENDED_BY_LIMIT].any():
            return "tolerance"
        return self._facts.limit

    @property
    def position_residual(self):
        """Worst bilateral row before the last step's correction [m, rad]."""
        return self._row(measured.POSITION_RESIDUAL)

    @property
    def velocity_residual(self):
        """Worst bilateral row after the last step's solve [m/s, rad/s]."""
        return self._row(measured.VELOCITY_RESIDUAL)

    @property
    def worst_joint(self) -> str | None:
        """Name of the part with the worst position residual; None without bilateral rows."""
        world = int(np.argmax(self.raw[measured.POSITION_RESIDUAL]))
        if self.raw[measured.POSITION_RESIDUAL, world] == 0.0:
            return None
        return self._facts.system.slots[int(self.raw[measured.POSITION_SLOT, world])].name

    @property
    def coarsest(self) -> float:
        """Tolerance of what was left of steps that a limit ended; 0 where none was, infinity where by impulses."""
        worst = float(self.raw[measured.COARSE].max())
        return worst if worst < BY_IMPULSES else np.inf

    @property
    def openings(self) -> dict[str, float]:
        """How far rows that are redundant by construction are open, while the world has not gone on [rad, sizes]."""
        self._now("the world went on; read world.openings() or read the report before the next step")
        return Openings(self._facts.runner.bench).read()

    @property
    def trouble(self) -> tuple[Trouble, ...]:
        """What is not right to its tolerance: steps cut short, joints that are open, books that do not balance."""
        found = []
        if self.raw[measured.ENDED_BY_LIMIT].any():
            found.append(Trouble(self.ended_by, None, self._limit_text()))
        facts, first_order = self._facts, self._facts.order == 1
        open_by = float(np.abs(self.raw[measured.POSITION_RESIDUAL]).max())
        widest = WIDE_OPEN if first_order else OPEN
        if not open_by <= widest * max(1.0, facts.system.size):
            part = self.worst_joint
            found.append(
                Trouble("open", part, f"joint '{part}' is open by {open_by:.3g}; take a smaller dt or more iterations")
            )
        found += [Trouble("contacts", None, told) for told in self.overflows]
        off = float(self.raw[measured.CONTACT_RESIDUAL].max())
        if off > UNSOLVED:
            text = f"contacts were solved to {off:.1g} of their largest impulse only; take a smaller dt"
            found.append(Trouble("contacts", None, text))
        deep = float(self.raw[measured.OVERLAP].max())
        if deep > DEEP * max(1.0, facts.system.size):
            text = f"shapes overlap by {deep:.3g} m; they are pushed apart as far as joints and motors let them"
            found.append(Trouble("overlap", None, text))
        turn = float(self.raw[measured.FASTEST].max()) * facts.h
        most = MOST_TURN if first_order else MOST_TURNS if facts.coordinates == "maximal" else np.inf
        if turn > most:
            text = f"bodies turn by up to {turn:.3g} rad in a step of {facts.h:g} s; take a smaller dt"
            found.append(Trouble("fast", None, text))
        out = self.raw[measured.IMBALANCE]
        worst = float(out[np.argmax(np.abs(out))])
        if not abs(worst) <= (OUT_OF_ORDER_1 if first_order else OUT_OF_BALANCE):
            text = f"the energy books are out by {worst:+.1%} of what was turned over; take a smaller dt"
            found.append(Trouble("energy", None, text))
        found += [Trouble("controller", name, told) for name, told in self.faults.items()]
        return tuple(found)

    def _limit_text(self) -> str:
        cut = int(self.raw[measured.ENDED_BY_LIMIT].max())
        told = f"{cut} of {self.steps} steps were ended by the {self.ended_by} limit"
        if self._facts.order > 1:
            left = "by impulses, of order 1" if np.isinf(self.coarsest) else f"to a tolerance of {self.coarsest:.1g}"
            told += f", the rest of them taken {left}"
        return told + "; raise it or take a smaller dt"

    @property
    def overflows(self) -> tuple[str, ...]:
        """Capacities that were exceeded, in words, with what to ask for: rows and contacts that found no room."""
        left_out, counts = self.raw[measured.ROWS_LEFT_OUT], self._facts.system.counts
        room = counts.rows - counts.slots
        rows = tuple(
            f"world {world} has room for {room} rows beyond its slots and needs {room + int(left_out[world])}"
            for world in np.flatnonzero(left_out)
        )
        missed = self.raw[measured.CONTACTS_LEFT_OUT]
        return rows + tuple(self._contact_text(int(world), int(missed[world])) for world in np.flatnonzero(missed))

    def _contact_text(self, world: int, missed: int) -> str:
        room = self._facts.system.counts.contacts
        ask = 1 << (room + missed - 1).bit_length()
        return f"world {world} needs {room + missed} contacts and has room for {room}: World(contacts={ask})"

    @property
    def energy(self) -> "Books":
        """The energy books, while the world has not gone on."""
        self._now("the world went on; read world.energy() or read the report before the next step")
        return Books.read(self._facts.system, self._facts.runner.state, self._facts.runner.work)

    def __repr__(self) -> str:
        return (
            f"StepReport(steps={self.steps}, iterations={self.iterations}, ended_by={self.ended_by!r}, "
            f"position_residual={self.position_residual:.3g})"
            if self._facts.worlds == 1
            else f"StepReport(steps={self.steps}, worlds={self._facts.worlds}, ended_by={self.ended_by!r})"
        )


def broken(
    system: System, raw: np.ndarray, world: int, worlds: int, body: str | None, good: float, dt: float
) -> StepError:
    """The error of a step that could not be taken, from a good time on [s], where a body broke."""
    reason = int(raw[measured.BROKEN, world])
    cause, what, cure = CAUSES[reason]
    where = f" in world {world}" if worlds > 1 else ""
    told = f": {_senseless(system, raw[:, world])}; it began" if reason == measured.RUNAWAY else ""
    error = StepError(
        f"model '{system.model.name}': {what}{where}{told} at t = {good + dt:.6g} s, where body "
        f"'{body}' broke; gone back to t = {good:.6g} s and paused; {cure}",
        body,
        good + dt,
    )
    error.cause = cause
    return error


def _senseless(system: System, raw: np.ndarray) -> str:
    """What about a state that is finite makes no sense."""
    open_by, times = raw[measured.POSITION_RESIDUAL], raw[measured.UNBOOKED]
    joint = system.slots[int(raw[measured.POSITION_SLOT])].name if open_by > 0.0 else None
    told = [f"its energy is {times:.2g} times all that the books account for"] if times > 1.0 else []
    if open_by > system.size:
        told.insert(0, f"joint '{joint}' is open by {open_by:.3g} m, {open_by / system.size:.2g} times the mechanism")
    return " and ".join(told)
