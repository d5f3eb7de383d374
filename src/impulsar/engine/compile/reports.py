"""Stand-ins, while tracing, for what only reports: counts are noted, residuals are left to the generic kernel.
Sizes of sub-steps are noted, too, for derivatives that hold them.

A residual's row is found by comparing all of them, which would make guards of what no step depends on.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..integrate.substeps import wished_size
from ..report import report_step, report_substeps, report_velocities
from ..solve.project import report_worst
from ..system.measured import ENDED_BY_LIMIT, MODE_CHANGES, MOST_ITERATIONS, SUB_STEPS, TOTAL_ITERATIONS
from .graph import Scalar
from .tracing import stand_in, translated


@dataclass
class Tally:
    """What a step counts, the same each time it goes the same way."""

    iterations: int = 0
    rows: int = 0
    sub_steps: int = 0
    events: int = 0
    ended_by_limit: int = 0

    def count(self, report: np.ndarray, times: np.ndarray) -> None:
        """Add so many of these steps to the rows of a report [row, world]."""
        if not (self.iterations or self.sub_steps):
            return
        report[TOTAL_ITERATIONS] += times * self.iterations
        most = np.maximum(report[MOST_ITERATIONS], self.iterations)
        report[MOST_ITERATIONS] = np.where(times, most, report[MOST_ITERATIONS])
        report[SUB_STEPS] += times * self.sub_steps
        report[MODE_CHANGES] += times * self.events
        report[ENDED_BY_LIMIT] += times * self.ended_by_limit


_tallies: list[Tally] = []


@contextmanager
def tallying() -> Iterator[Tally]:
    """Note the counts of what is traced meanwhile."""
    _tallies.append(Tally())
    try:
        yield _tallies[-1]
    finally:
        _tallies.pop()


@stand_in(report_step)
def _step(m: Any, x: Any, s: Any, rows: int, iterations: int, limit: int, w: int) -> None:
    _tallies[-1].iterations, _tallies[-1].rows = iterations, rows
    _tallies[-1].ended_by_limit = int(iterations >= limit and rows > 0)


@stand_in(report_substeps)
def _substeps(x: Any, sub_steps: int, evaluations: int, events: int, cut: int, coarse: Any, w: int) -> None:
    tally = _tallies[-1]
    tally.iterations, tally.sub_steps, tally.events, tally.ended_by_limit = (
        evaluations,
        sub_steps,
        events,
        int(cut != 0),
    )


@stand_in(report_velocities)
def _velocities(m: Any, s: Any, x: Any, t: Any, w: int) -> None:
    """Left to the generic kernel."""


@stand_in(report_worst)
def _worst(m: Any, x: Any, w: int) -> None:
    """Left to the generic kernel."""


@stand_in(wished_size)
def _size(m: Any, p: Any, w: int) -> Any:
    """The size of a sub-step, noted as one that derivatives hold."""
    size = translated(wished_size.func)(m, p, w)
    if isinstance(size, Scalar):
        size.graph.held.add(size.at)
    return size
