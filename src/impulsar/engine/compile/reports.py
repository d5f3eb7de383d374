"""Stand-ins, while tracing, for what only reports: counts are noted, residuals are left to the generic kernel.

A residual's row is found by comparing all of them, which would make guards of what no step depends on.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..report import report_step, report_substeps, report_velocities
from ..solve.project import report_worst
from ..system.measured import ENDED_BY_LIMIT, MODE_CHANGES, MOST_ITERATIONS, SUB_STEPS, TOTAL_ITERATIONS
from .tracing import stand_in


@dataclass
class Tally:
    """What a step counts, the same each time it goes the same way."""

    iterations: int = 0
    rows: int = 0
    sub_steps: int = 0
    events: int = 0
    ended_by_limit: int = 0

    def added(self) -> tuple[int, ...]:
        """What is added to the rows `ADDED` of a report."""
        return self.iterations, self.sub_steps, self.events, self.ended_by_limit


ADDED = (TOTAL_ITERATIONS, SUB_STEPS, MODE_CHANGES, ENDED_BY_LIMIT)


def count_steps(report: np.ndarray, tallies: Sequence[Tally], counted: np.ndarray) -> None:
    """Add steps that went so many times the ways of these tallies, [3 + way, world], to a report [row, world].

    In the three first rows is what the tallies do not have, of steps that keep loops: iterations, sub-steps, and the
    most iterations of a step.
    """
    used, (iterations, sub_steps, most) = counted[3:], counted[:3]
    if iterations.any():
        report[TOTAL_ITERATIONS] += iterations
        report[SUB_STEPS] += sub_steps
        np.maximum(report[MOST_ITERATIONS], most, out=report[MOST_ITERATIONS])
    if report.shape[1] == 1:  # a few numbers: arrays take ten times as long
        times = used[:, 0].tolist()
        taken = [(n, tally.added()) for n, tally in zip(times, tallies, strict=True) if n]
        for k, row in enumerate(ADDED):
            more = sum(n * each[k] for n, each in taken)
            if more:
                report[row, 0] += more
        if taken:
            report[MOST_ITERATIONS, 0] = max(report.item(MOST_ITERATIONS, 0), max(each[0] for _, each in taken))
        return
    each = np.array([tally.added() for tally in tallies], float)
    report[list(ADDED)] += each.T @ used
    longest = np.where(used > 0, each[:, :1], 0.0).max(axis=0)
    np.maximum(report[MOST_ITERATIONS], longest, out=report[MOST_ITERATIONS])


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
    tally.iterations, tally.sub_steps, tally.events = evaluations, sub_steps, events
    tally.ended_by_limit = int(cut != 0)


@stand_in(report_velocities)
def _velocities(m: Any, s: Any, x: Any, t: Any, w: int) -> None:
    """Left to the generic kernel."""


@stand_in(report_worst)
def _worst(m: Any, x: Any, w: int) -> None:
    """Left to the generic kernel."""
