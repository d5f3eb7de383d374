"""The fault table: many ways to break a run, and what each method then says.

    python -m impulsar_verification.faults docs/limits.md

Every way is run by every method and coordinates, in this process, with a limit of time. A run must be right, by
the law stated with it, or say that it is not: raise, warn, or tell in its StepReport. One that does neither is
SILENT and a defect. What a report says is `ended_by` other than "tolerance", and what `trouble` lists.
"""

import math
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from impulsar.author.model import Model
from impulsar.engine.methods import METHODS
from impulsar.validate.case import Case
from impulsar.world.reports import StepReport
from impulsar.world.world import World

SETUPS = (("direct", "generalized"), ("direct", "maximal"), ("simgc", "generalized"), ("simmc", "maximal"))
RIGHT = {"direct": 1e-4, "simgc": 0.05, "simmc": 0.05}  # of the scale: error control, and order 1 at a tenth of dt
SECONDS = 20.0  # of processor time that a run may take
CLOSED = {"direct": 1e-6, "simgc": 1e-3, "simmc": 1e-3}  # what joints may be open by and count as closed [m, rad]
FITTED = "start velocities changed to fit"  # said of rounding too: it tells nothing of what comes after
SILENT, SLOW, WARNING = "SILENT", "TOO SLOW", "a warning"


class Overtime(Exception):
    """A run that was stopped."""


@dataclass
class Trial:
    """One way of breaking a run, under one method."""

    method: str
    coordinates: str
    strict: bool = False  # worlds raise what they would report
    said: list[str] = field(default_factory=list)  # by warnings and reports
    miss: float = 0.0  # worst of what was compared, of its scale
    judged: bool = False
    steps: int = 0  # and sub-steps taken
    imbalance: float = 0.0  # of the books at the end [J]
    _world: World | None = None
    _until: float = math.inf

    def world(self, model: Model, dt: float = 0.01, **options: Any) -> World:
        """A world of this trial's method; methods of order 1 take a tenth of dt."""
        self._until = time.process_time() + SECONDS
        self._scale = 1 if METHODS[self.method].order > 1 else 10
        self._world = World(model, self.method, self.coordinates, dt=dt / self._scale, strict=self.strict, **options)
        return self._world

    def step(self, n: int = 1) -> World:
        """n steps of dt, reading every report."""
        assert self._world is not None  # the way builds its world first
        for _ in range(n * self._scale):
            if time.process_time() > self._until:
                raise Overtime
            self.listen(self._world.step())
        self.imbalance = float(self._world.energy().imbalance)
        return self._world

    def listen(self, report: StepReport) -> None:
        """Keep what a report says."""
        self.steps += max(int(report.substeps), report.steps)
        told = [f"ended by {report.ended_by}"] if report.ended_by != "tolerance" else []
        for trouble in getattr(report, "trouble", ()):
            part = f" ({trouble.part})" if trouble.part else ""
            told.append(f"{trouble.cause}{part}")
        self.said += [words for words in told if words not in self.said]

    def expect(self, found: Any, exact: Any, scale: float = 1.0) -> None:
        """Compare with what is right; anything that is not a number is wrong."""
        off = float(np.abs(np.asarray(found, float) - np.asarray(exact, float)).max()) / scale
        self.judged, self.miss = True, max(self.miss, off if math.isfinite(off) else math.inf)

    def expect_closed(self) -> None:
        """Joints must be closed."""
        assert self._world is not None
        if not float(self._world.constraint_error()) < CLOSED[self.method]:
            self.expect(math.inf, 0.0)

    def expect_followed(self, radians: float) -> None:
        """It takes a step each radian at least to follow a swing or turn through so many."""
        if not self.steps >= radians:
            self.expect(math.inf, 0.0)


@dataclass(frozen=True)
class Fault:
    """A way to break a run, and by what law its result would be right ("" where none could be)."""

    name: str
    way: str
    law: str
    run: Callable[[Trial], None]


@dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    verdict: str  # right, raised, reported, SILENT, TOO SLOW
    words: str  # by whom or how far
    message: str = ""  # the first line of what was raised or said

    @property
    def cell(self) -> str:
        """For the table."""
        text = f"{self.verdict}: {self.words}" if self.words else self.verdict
        return f"**{text}**" if self.verdict in (SILENT, SLOW) else text


@cache
def attempt(fault: Fault, method: str, coordinates: str, strict: bool = False) -> Outcome:
    """Run one way under one method and judge it; once in a process."""
    trial = Trial(method, coordinates, strict)
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            fault.run(trial)
        except Overtime:
            return Outcome(SLOW, f"over {SECONDS:g} s")
        except Exception as error:  # whatever a run raises is what the table records
            return Outcome("raised", type(error).__name__, _first_line(error))
    warned = [_first_line(item.message) for item in caught if item.category is UserWarning]
    told = [(WARNING, words) for words in warned if not (trial.judged and FITTED in words)]
    told += [(words, words) for words in trial.said]
    message = told[0][1] if told else ""
    if trial.judged and trial.miss <= RIGHT[method]:
        figure = f"{trial.miss:.0e}" if trial.miss else "exact"
        return Outcome("right", figure + (f", says {told[0][0]}" if told else ""), message)
    if told:
        return Outcome("reported", told[0][0], message)
    books = f", books by {trial.imbalance:.0e} J" if abs(trial.imbalance) > 1e-9 else ""
    return Outcome(SILENT, f"off by {trial.miss:.0e}{books}" if trial.judged else f"accepted{books}")


def _first_line(error: object) -> str:
    return (str(error).strip().splitlines() or [""])[0]


def outcomes() -> dict[str, dict[tuple[str, str], Outcome]]:
    """Every way under every method."""
    from .fault_ways import FAULTS

    return {fault.name: {setup: attempt(fault, *setup) for setup in SETUPS} for fault in FAULTS}


def silent(device: str) -> float:
    """How many runs are wrong and say nothing, or do not end."""
    return sum(found.verdict in (SILENT, SLOW) for row in outcomes().values() for found in row.values())


def show() -> None:
    """Print the runs that are silent."""
    for name, row in outcomes().items():
        for (method, coordinates), found in row.items():
            if found.verdict in (SILENT, SLOW):
                print(f"    {name}, {method} {coordinates}: {found.cell.strip('*')}")


INTRODUCTION = """# Limits

What happens when a run is broken on purpose. This page is generated by
`python -m impulsar_verification.faults docs/limits.md`.

Every row below is a way to ask for too much: loads and speeds beyond reason, springs stiffer than numbers can hold,
masses of very different size, joints that do not meet, motors that fight each other, inputs that are not numbers,
Python functions that fail. Each is run by `direct` in both coordinates and by SIMGC and SIMMC. There are three good
answers:

- **right**: the result is what the law in the last column says, to the figure given (of the scale that the law
  names). `direct` must be within {direct:g}, the methods of order 1, at a tenth of the step, within {first:g}.
- **raised**: the call stops with an error of the name given. The world is as it was before, or has gone back to its
  last good step and is paused. What the error says is in the list below the table.
- **reported**: the run goes on, and `StepReport.trouble`, `StepReport.ended_by` or a warning says that it is not
  right, and why. With `World(strict=True)` it is raised.

**{silent}** would be a run that is wrong and says nothing; there may be none ("off by inf": joints open, not
moving, or not a number). **{slow}** is one that was stopped after {seconds:g} s of processor time.
"""


def page() -> str:
    """docs/limits.md."""
    from .fault_ways import FAULTS

    rows = outcomes()
    text = INTRODUCTION.format(
        direct=RIGHT["direct"], first=RIGHT["simgc"], silent=SILENT, slow=SLOW, seconds=SECONDS
    )  # fmt: skip
    lines = [text, "| | what is done | direct, generalized | direct, maximal | simgc | simmc | right would be |"]
    lines.append("|---|---|---|---|---|---|---|")
    for number, fault in enumerate(FAULTS, 1):
        cells = " | ".join(_escape(rows[fault.name][setup].cell) for setup in SETUPS)
        lines.append(f"| {number} | {_escape(fault.way)} | {cells} | {_escape(fault.law) or '-'} |")
    lines += ["", "## What is said", ""]
    for number, fault in enumerate(FAULTS, 1):
        said = dict.fromkeys(found.message for found in rows[fault.name].values() if found.message)
        lines += [f"{number}. {_escape(fault.way)}"] if said else []
        lines += [f"    - `{message[:300]}`" for message in said]
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write the page; exit status 1 if a run was silent."""
    Path(arguments[0] if arguments else "docs/limits.md").write_text(page(), encoding="utf-8")
    show()
    count = int(silent("cpu"))
    print(f"{count} of {sum(map(len, outcomes().values()))} runs are wrong and silent", file=sys.stderr)
    return 1 if count else 0


CASES = [Case("faults", "ways to break a run: right, raised or reported, none silent", 0.0, "1", silent, True, show)]

if __name__ == "__main__":
    from . import faults  # the module that the list of ways imports from

    sys.exit(faults.main(sys.argv[1:]))
