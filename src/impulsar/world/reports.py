"""What a step reports: iterations, residuals, and the energy books, read when asked for."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..author.errors import StepError
from ..engine.system import measured as measure
from ..observe.books import Books

if TYPE_CHECKING:
    from .world import World


OUT_OF_BALANCE = 0.01  # of all energy turned over: books that are out by more are trouble
OUT_OF_ORDER_1 = 0.1  # the same of a method of order 1
BY_IMPULSES = 1e100  # a coarser tolerance is none
MOST_TURN = 1.0  # [rad] of a body in a step of order 1: beyond it turns are not resolved
MOST_TURNS = 1e4  # [rad] in a nominal step of free bodies, where joints count their own turns
OPEN = 1e-3  # [rad, or of the mechanism's size]: joints that were open by more before the last correction
WIDE_OPEN = 1e-2  # the same of a method of order 1

CAUSES = {
    measure.NOT_FINITE: ("not finite", "the state is no longer finite", "take a smaller dt"),
    measure.FORCES: (
        "forces",
        "forces or accelerations are no longer finite",
        "check loads, springs, masses and what drives the motors",
    ),
    measure.UNDERFLOW: (
        "underflow",
        "no sub-step is short enough for its tolerance",
        "check for forces out of all proportion, or take a looser rtol and atol",
    ),
    measure.WORK: (
        "work",
        "the step did not end within 10^6 evaluations",
        "take a smaller dt or a looser rtol and atol, or give a budget",
    ),
    measure.TORN: ("torn", "joints cannot be closed", "check masses and inertias, or free the loop that is torn"),
}


@dataclass(frozen=True)
class Trouble:
    """Something about a step that is not right to its tolerance."""

    cause: str  # budget, iterations, open, fast, energy
    part: str | None
    text: str  # what, and what to do about it

    def __str__(self) -> str:
        return self.text


class StepReport:
    """What the steps of one call did; arrays per world in a batch."""

    __slots__ = ("_count", "_raw", "_world", "clamped", "steps")

    def __init__(self, world: "World", count: int, steps: int, raw: np.ndarray | None, clamped: tuple[str, ...] = ()):
        self._world, self._count, self._raw = world, count, raw
        self.steps = steps
        self.clamped = clamped  # what the world's clamps held back, in words

    @property
    def raw(self) -> np.ndarray:
        """The report's rows [row, world]; see measure."""
        if self._raw is None:
            if self._world._count != self._count:
                raise StepError("this report was not read before the world went on; read it first, or keep its values")
            self._raw = self._world._work.report.numpy().copy()
        return self._raw

    def _row(self, row: int):
        return self._world._out(self.raw[row])

    def _count_row(self, row: int):
        counts = self._row(row)
        return int(counts) if self._world.worlds == 1 else counts.astype(int)

    @property
    def iterations(self):
        """Sweeps, or evaluations of `direct`, of all steps of the call."""
        return self._count_row(measure.TOTAL_ITERATIONS)

    @property
    def most_iterations(self):
        """Sweeps or evaluations of the step that took most."""
        return self._count_row(measure.MOST_ITERATIONS)

    @property
    def substeps(self):
        """Sub-steps that `direct` took inside the nominal steps of the call; 0 for other methods."""
        return self._count_row(measure.SUB_STEPS)

    @property
    def rows(self):
        """Active rows in the last impulsive step."""
        return self._count_row(measure.ROWS)

    @property
    def ended_by(self) -> str:
        """ "tolerance", "iterations" or "budget": what ended the step that needed most."""
        if not self.raw[measure.ENDED_BY_LIMIT].any():
            return "tolerance"
        return "budget" if self._world.work_limit < self._world.method.iterations else "iterations"

    @property
    def position_residual(self):
        """Worst bilateral row before the last step's correction [m, rad]."""
        return self._row(measure.POSITION_RESIDUAL)

    @property
    def velocity_residual(self):
        """Worst bilateral row after the last step's solve [m/s, rad/s]."""
        return self._row(measure.VELOCITY_RESIDUAL)

    @property
    def worst_joint(self) -> str | None:
        """Name of the part with the worst position residual; None without bilateral rows."""
        world = int(np.argmax(self.raw[measure.POSITION_RESIDUAL]))
        if self.raw[measure.POSITION_RESIDUAL, world] == 0.0:
            return None
        return self._world.system.slots[int(self.raw[measure.POSITION_SLOT, world])].name

    @property
    def coarsest(self) -> float:
        """Tolerance of what was left of steps that a limit ended; 0 where none was, infinity where by impulses."""
        worst = float(self.raw[measure.COARSE].max())
        return worst if worst < BY_IMPULSES else np.inf

    @property
    def openings(self) -> dict[str, float]:
        """How far rows that are redundant by construction are open, while the world has not gone on [rad, sizes]."""
        if self._world._count != self._count:
            raise StepError("the world went on; read world.openings() or read the report before the next step")
        return self._world.openings()

    @property
    def trouble(self) -> tuple[Trouble, ...]:
        """What is not right to its tolerance: steps cut short, joints that are open, books that do not balance."""
        found = []
        if self.raw[measure.ENDED_BY_LIMIT].any():
            found.append(Trouble(self.ended_by, None, self._limit_text()))
        first_order = self._world.method.order == 1
        open_by = float(np.abs(self.raw[measure.POSITION_RESIDUAL]).max())
        widest = WIDE_OPEN if first_order else OPEN
        if not open_by <= widest * max(1.0, self._world.system.size):
            part = self.worst_joint
            found.append(
                Trouble("open", part, f"joint '{part}' is open by {open_by:.3g}; take a smaller dt or more iterations")
            )
        world = self._world
        turn = float(self.raw[measure.FASTEST].max()) * world._h
        most = MOST_TURN if first_order else MOST_TURNS if world.coordinates == "maximal" else np.inf
        if turn > most:
            text = f"bodies turn by up to {turn:.3g} rad in a step of {world._h:g} s; take a smaller dt"
            found.append(Trouble("fast", None, text))
        out = self.raw[measure.IMBALANCE]
        worst = float(out[np.argmax(np.abs(out))])
        if not abs(worst) <= (OUT_OF_ORDER_1 if first_order else OUT_OF_BALANCE):
            text = f"the energy books are out by {worst:+.1%} of what was turned over; take a smaller dt"
            found.append(Trouble("energy", None, text))
        return tuple(found)

    def _limit_text(self) -> str:
        cut = int(self.raw[measure.ENDED_BY_LIMIT].max())
        told = f"{cut} of {self.steps} steps were ended by the {self.ended_by} limit"
        if self._world.method.order > 1:
            left = "by impulses, of order 1" if np.isinf(self.coarsest) else f"to a tolerance of {self.coarsest:.1g}"
            told += f", the rest of them taken {left}"
        return told + "; raise it or take a smaller dt"

    @property
    def overflows(self) -> tuple[str, ...]:
        """Capacities that were exceeded; rows, hands and loads have slots of their own and never do."""
        return ()

    @property
    def energy(self) -> "Books":
        """The energy books, while the world has not gone on."""
        if self._world._count != self._count:
            raise StepError("the world went on; read world.energy() or read the report before the next step")
        return self._world.energy()

    def check(self, strict: bool) -> None:
        """Raise if a step could not be taken, or, when strict, if there is trouble."""
        if self.raw[measure.BROKEN].any():
            world = int(np.argmax(self.raw[measure.BROKEN]))
            cause, what, cure = CAUSES[int(self.raw[measure.BROKEN, world])]
            where = f" in world {world}" if self._world.worlds > 1 else ""
            body = self._world._guard.go_back()
            good = self._world.time
            error = StepError(
                f"model '{self._world.model.name}': {what}{where} at t = {good + self._world.dt:.6g} s, where body "
                f"'{body}' broke; gone back to t = {good:.6g} s and paused; {cure}",
                body,
                good + self._world.dt,
            )
            error.cause = cause
            raise error
        if strict and self.trouble:
            error = StepError("; ".join(str(one) for one in self.trouble))
            error.cause = self.trouble[0].cause
            raise error

    def __repr__(self) -> str:
        return (
            f"StepReport(steps={self.steps}, iterations={self.iterations}, ended_by={self.ended_by!r}, "
            f"position_residual={self.position_residual:.3g})"
            if self._world.worlds == 1
            else f"StepReport(steps={self.steps}, worlds={self._world.worlds}, ended_by={self.ended_by!r})"
        )
