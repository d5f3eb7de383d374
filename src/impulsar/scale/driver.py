"""Sweeps: a model over many values of its parameters, and what is measured of each; on any executor, resumable."""

import inspect
import sys
import time as wall
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.checks import flag, positive, show, whole
from ..author.errors import ModelError
from ..author.events import Event
from ..author.model import Model
from ..world.world import World
from .cases import Plan, Row, closed, packed, run_batch, run_cases
from .designs import make_design
from .executors import deaf_to_interrupts, local_processes, workers_of
from .measures import Measures, measures_of
from .store import Store

if TYPE_CHECKING:
    import xarray as xr

BATCH = 64  # cases in one launch
AHEAD = 2  # tasks that wait, for each that is worked at
SUSPECT = 2  # times that a piece was there when a worker died: then it runs alone
GUILTY = 3  # times that a case killed its worker while it was alone
TRIES = 16  # cases of a builder, of which the first that can be built is what batches are like
Measure = str | Event | Callable[..., Any]


def sweep(
    model: Model | Callable[..., Model],
    parameters: Mapping[str, Sequence[float]],
    measure: Measure | Mapping[str, Measure],
    executor: Executor | None = None,
    store: str | Path | None = None,
    *,
    design: str = "grid",
    samples: int | None = None,
    seed: int = 0,
    duration: float | None = None,
    every: float | None = None,
    batch: int = BATCH,
    workers: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> "xr.Dataset":
    """Run a model for many values of its parameters and measure each; an xarray.Dataset over `case`.

    model: a Model, or a function of the parameters that builds one. parameters: values by name, of a parameter of the
    model ("a") or of what a path leads to ("crank.length", "arm.mass", in SI units); of a sampled design the range.
    measure: "max body.rocker.position.x" (final, min, max, mean, rms of a signal), an `Event` (its first time [s]), a
    callable of the result that returns a number or numbers by name; or several of them by name.
    design: "grid", "cases" (lists side by side); "random", "latin", "sobol" with `samples` and a `seed`.
    duration, every: of the run and between its samples [s], by default the model's and about 500 samples.
    executor: any of concurrent.futures; None: so many `workers`, processes of this machine (0: in this process), for
    which a script needs `if __name__ == "__main__":`. batch: cases in one launch. options: of World.
    store: a folder in which rows are kept as they come; the same sweep again goes on where it ended.
    A case that breaks is NaN, and `error` says why.
    """
    names, values = make_design(parameters, design, samples, seed)
    plan = _plan(model, names, values, measure, duration, every, options)
    batch = whole("sweep", "batch", batch, 1, 10**6)
    workers = workers if workers is None else whole("sweep", "workers", workers, 0, 10**6)
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ModelError(f"sweep: executor is {show(executor)}, expected one of concurrent.futures, or None")
    units = {name: own.unit for name, own in model.parameters.items()} if isinstance(model, Model) else {}
    if store is None:
        rows = _fill(None, plan, values, batch, executor, workers, progress)
        return _dataset(names, values, [row for first in sorted(rows) for row in rows[first]], units)
    from .store import open_sweep

    with closing(Store(store, plan, values, batch, units)) as kept:
        _fill(kept, plan, values, kept.batch, executor, workers, progress)
    return open_sweep(kept.path, kept.key)


def _fill(
    kept: Store | None,
    plan: Plan,
    values: np.ndarray,
    batch: int,
    executor: Executor | None,
    workers: int | None,
    progress: bool | None,
) -> dict[int, list[Row]]:
    """Run what is not done, into the store; without one the rows, by the first case of their batch."""
    done = np.zeros(len(values), bool) if kept is None else kept.done()
    todo = [first for first in range(0, len(values), batch) if not done[first : first + batch].all()]
    rows: dict[int, list[Row]] = {}
    with _bar(len(values), int(done.sum()), progress) as tell:

        def keep(first: int, found: list[Row]) -> None:
            if kept is None:
                rows[first] = found
            else:
                kept.write(first, found)
            tell(len(found), sum(bool(row.error) for row in found))

        pieces = [Piece(first, np.arange(first, min(first + batch, len(values)))) for first in todo]
        if executor is None and workers == 0:
            for piece in pieces:
                keep(piece.first, run_cases(plan, values[piece.cases]))
        elif pieces:
            Driver(packed(plan), values, pieces, executor, workers, keep).run()
    return rows


def _plan(
    model: Any,
    names: tuple[str, ...],
    values: np.ndarray,
    measure: Any,
    duration: float | None,
    every: float | None,
    options: dict[str, Any],
) -> Plan:
    """What is asked, checked on the nominal model, so that a mistake is told before anything runs."""
    measures = measures_of(measure)
    if not isinstance(model, Model) and not callable(model):
        raise ModelError(f"sweep: model is {show(model)}, expected a Model or a function that builds one")
    if taken := [name for name in names if name in (*(take.name for take in measures.takes), "error", "done", "case")]:
        raise ModelError(f"sweep: '{taken[0]}' is a parameter and a result; name the measure otherwise")
    if "worlds" in options:
        raise ModelError("sweep: worlds is for a World; a sweep has batch=, cases in one launch")
    nominal = model if isinstance(model, Model) else _built(model, names, values, duration is None)
    length = duration if duration is not None else getattr(nominal, "duration", None)
    if length is None:
        raise ModelError("sweep: the model states no duration; give duration= [s]")
    length = positive("sweep", "duration", length, "s")
    plan = Plan(model, nominal, names, measures, length, every, options)
    if nominal is not None:
        _check(plan, nominal, values)
    return plan


def _built(model: Callable[..., Model], names: tuple[str, ...], values: np.ndarray, needed: bool) -> Model | None:
    """The model of the first case that can be built; needed: there has to be one."""
    try:
        inspect.signature(model).bind(**dict.fromkeys(names))
    except TypeError as error:
        raise ModelError(f"sweep: the builder does not take {', '.join(names)}: {error}") from error
    except ValueError:  # of one whose arguments are not known
        pass
    trial = Plan(model, None, names, Measures((), (), ()), 1.0, None)
    refusal: Exception | None = None
    for own in values[:TRIES]:
        try:
            return closed(trial.case(own))
        except Exception as error:  # of a user's builder: that case will be a row with its error
            refusal = error
    if len(values) <= TRIES and not needed:
        return None
    raise ModelError(f"sweep: of the first {TRIES} cases none can be built: {refusal}") from refusal


def _check(plan: Plan, nominal: Model, values: np.ndarray) -> None:
    from ..author.variables import find_field

    if isinstance(plan.model, Model):
        for name in plan.names:
            if name not in plan.model.parameters:
                if "." not in name:
                    plan.model.with_parameters(**{name: 0.0})  # says which there are
                find_field(plan.model, name)
    world = World(nominal, **plan.options)
    plan.measures.check(world.runner.bench)
    from ..results import steps_and_stride

    steps_and_stride(plan.duration, plan.every, world.dt)


# driving ------------------------------------------------------------------------------------------


@dataclass
class Piece:
    """Cases that a worker is given together: a batch, or a part of one whose worker died."""

    first: int  # case at which its batch begins
    cases: np.ndarray
    strikes: int = 0  # times that a worker died while it was out
    alone: bool = False  # whether nothing else may be out with it


@dataclass
class Driver:
    """Hands pieces to an executor, and takes care of those whose workers die.

    A pool of processes breaks as a whole when one of them dies: it is made anew, and all pieces that were out go out
    again. Which of them it was is not told, so a piece that was there twice runs alone; if it is there again it is
    halved, down to the case, which is a row with an error once it has killed three workers.
    """

    data: bytes
    values: np.ndarray
    pieces: list[Piece]
    executor: Executor | None
    workers: int | None
    keep: Callable[[int, list[Row]], None]
    parts: dict[int, dict[int, Row]] = field(default_factory=dict)  # rows of batches that came in pieces

    def run(self) -> None:
        """Until every piece is done."""
        is_own = self.executor is None
        pool = self.executor or local_processes(self.workers)
        self._sizes = {piece.first: len(piece.cases) for piece in self.pieces}
        waiting, out = deque(self.pieces), dict[Future, Piece]()
        room = (1 + AHEAD) * workers_of(pool)
        try:
            while waiting or out:
                is_broken = self._hand_out(pool, waiting, out, room)
                finished, _ = wait(out, return_when=FIRST_COMPLETED) if out else (set(), set())
                lost: list[Piece] = []
                for future in finished:
                    is_broken |= self._take(future, out.pop(future), lost, waiting)
                if is_broken:
                    lost += [piece for future, piece in out.items() if not self._still_good(future, piece)]
                    out.clear()
                    if not is_own:
                        raise ModelError(
                            "sweep: the executor is broken, a worker died; what was computed is in the store, if there "
                            "is one: run the sweep again with a new executor"
                        )
                    pool.shutdown(wait=True, cancel_futures=True)
                    pool = local_processes(self.workers)
                    for piece in lost:
                        self._strike(piece, waiting)
        finally:
            for future in out:
                future.cancel()
            if is_own:
                pool.shutdown(wait=False, cancel_futures=True)

    def _hand_out(self, pool: Executor, waiting: deque[Piece], out: dict[Future, Piece], room: int) -> bool:
        """Submit as much as there is room for; True: the pool is broken."""
        while waiting and len(out) < room and not any(piece.alone for piece in out.values()):
            if waiting[0].alone and out:
                return False
            try:
                with deaf_to_interrupts() if self.executor is None else nullcontext():
                    future = pool.submit(run_batch, self.data, self.values[waiting[0].cases])
            except BrokenExecutor:
                return True
            out[future] = waiting.popleft()
        return False

    def _take(self, future: Future, piece: Piece, lost: list[Piece], waiting: deque[Piece]) -> bool:
        """Take what a future brought; True: its pool is broken."""
        try:
            self._bring(piece, future.result())
        except BrokenExecutor:
            lost.append(piece)
            return True
        except Exception as error:
            if type(error).__name__ != "KilledWorker":  # of Dask: so many workers died of this one
                raise
            self._halve(piece, waiting, str(error))
        return False

    def _still_good(self, future: Future, piece: Piece) -> bool:
        """Whether a future of a broken pool has brought its rows all the same."""
        try:
            self._bring(piece, future.result())
        except Exception:  # whatever a broken pool says: the piece goes out again
            return False
        return True

    def _strike(self, piece: Piece, waiting: deque[Piece]) -> None:
        """A worker died while this was out."""
        piece.strikes += 1
        if not piece.alone:
            piece.alone = piece.strikes >= SUSPECT
            (waiting.append if piece.alone else waiting.appendleft)(piece)
        elif len(piece.cases) > 1:
            self._halve(piece, waiting, "")
        elif piece.strikes < SUSPECT + GUILTY:
            waiting.append(piece)
        else:
            self._bring(piece, [Row({}, "its worker died, each time it was run")])

    def _halve(self, piece: Piece, waiting: deque[Piece], told: str) -> None:
        if len(piece.cases) == 1:
            self._bring(piece, [Row({}, f"its worker died, each time it was run: {told}"[:500])])
            return
        half = len(piece.cases) // 2
        for cases in (piece.cases[:half], piece.cases[half:]):
            waiting.append(Piece(piece.first, cases, SUSPECT, True))

    def _bring(self, piece: Piece, rows: list[Row]) -> None:
        """Take the rows of a piece; a batch is kept when it is whole."""
        own = self.parts.setdefault(piece.first, {})
        own.update(zip(piece.cases.tolist(), rows, strict=True))
        if len(own) == self._sizes[piece.first]:
            self.keep(piece.first, [own[case] for case in sorted(own)])
            del self.parts[piece.first]


# results ------------------------------------------------------------------------------------------


def _dataset(names: tuple[str, ...], values: np.ndarray, rows: list[Row], units: dict[str, str]) -> "xr.Dataset":
    """Rows as a dataset, as a store has them."""
    import xarray as xr

    measured = dict.fromkeys(name for row in rows for name in row.numbers)
    data: dict[str, Any] = {
        name: ("case", np.array([row.numbers.get(name, np.nan) for row in rows])) for name in measured
    }
    data["error"] = ("case", np.array([row.error for row in rows], dtype=object))
    data["done"] = ("case", np.ones(len(rows), np.uint8))
    given = {
        name: ("case", values[:, k], {"units": units[name]} if units.get(name) else {}) for k, name in enumerate(names)
    }
    return xr.Dataset(data, given)


@contextmanager
def _bar(total: int, done: int, wanted: bool | None) -> Iterator[Callable[[int, int], None]]:
    """A bar with cases, errors and the time left; yields what to tell how many more there are."""
    if wanted is not None:
        wanted = flag("sweep", "progress", wanted)
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield lambda more, failed: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("sweep"),
        BarColumn(),
        TextColumn("{task.completed} of {task.total} cases{task.fields[told]}"),
        TimeRemainingColumn(),
    )
    errors, shown = 0, 0.0
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False) as bar:
        task = bar.add_task("sweep", total=total, completed=done, told="")

        def tell(more: int, failed: int) -> None:
            nonlocal errors, shown
            errors += failed
            bar.update(task, advance=more, told=f", {errors} broke" if errors else "")
            if wall.perf_counter() - shown > 0.1 or bar.tasks[0].finished:
                shown = wall.perf_counter()
                bar.refresh()

        yield tell
