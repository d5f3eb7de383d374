"""Sizes of sub-steps in derivatives: held, but where a sub-step ends at a change of mode.

Between two changes of mode the state follows a smooth flow, x' = f(x, p, t). At the time T at which a distance
g(x, p, t) falls through 0 (integrate/modes.py), it goes over to x₊ = R(x₋, p), and from there on along f₊. Derivatives
are of the state at fixed times, and T is not fixed, so

    dT  = -(g_x dx₋ + g_p dp) / (g_x f₋ + g_t)                 the time of the event
    dx₊ = R_x dx₋ + R_p dp + (R_x f₋ - f₊) dT                  the jump of derivatives

(Hiskens 2000). R is what the engine does at such an
instant: impulses of a limit, friction that lets go or holds. The last term is what comes of a sub-step that is dT
longer before the event and one that is dT shorter behind it, so nothing of it is written here. All that is needed is
that the size of the sub-step that ends at the event has its derivative; sizes behind it have theirs by the rest of
the nominal step that they share.

The engine finds the event as a part θ of a trial sub-step of size h, on its dense output (integrate/events.py), by a
search whose result is a number, not a formula. With its own functions traced once more at that number,

    g(θ; x, p) = 0      dθ = -(g_x dx + g_p dp) / g_θ

which is put into the graph as a value θ that moves as -g / g_θ does, with g_θ held. Other sizes are held: with them
free, derivatives would be those of the error control.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..integrate.control import set_within
from ..integrate.evaluate import evaluate
from ..integrate.events import locate
from ..integrate.modes import settle_modes, watch, watched
from ..integrate.substeps import TINY_STEP, change_modes, wished_size
from ..ledger import STAGES
from .graph import Graph, Scalar, refer
from .symbols import Array
from .tangent import slope_of
from .tracing import Arrays, Table, World, stand_in, traced, translated


@dataclass
class Changes:
    """Changes of mode that a traced step ends sub-steps at."""

    graph: Graph
    is_alone: bool = False  # of one state: what was searched for is a constant in it
    rows: list[int] = field(default_factory=list)  # of the system's slots
    times: list[Any] = field(default_factory=list)  # [s], symbols
    found: list[int] = field(default_factory=list)  # rows that change where the last search ended
    trouble: str = ""  # why one of them has no derivative
    strikes: bool = False  # a limit is met at the very start of the step, where no sub-step ends
    settles: bool = False  # or a mode is another one there than at the end of the step before


_following: list[Changes] = []


def differentiated() -> Graph | None:
    """The graph of what is traced, if that is to be differentiated."""
    return _following[-1].graph if _following else None


@contextmanager
def following_changes(graph: Graph) -> Iterator[Changes]:
    """What is traced meanwhile is to be differentiated."""
    _following.append(Changes(graph))
    try:
        yield _following[-1]
    finally:
        _following.pop()


def at_sample(a: Any) -> Any:
    """A number, or several of them, without symbols."""
    if isinstance(a, Array):
        return a.like([at_sample(part) for part in a.c])
    return a.value if isinstance(a, Scalar) else a


class Sampled:
    """Arrays of the engine while tracing, as numbers; what is written stays here."""

    def __init__(self, arrays: Arrays):
        self._arrays = arrays

    def __getattr__(self, name: str) -> Any:
        table = getattr(self._arrays, name)
        made: Any = Sampled(table)
        if isinstance(table, Table):

            def read(at: tuple[int, ...], by_world: bool) -> Any:
                return at_sample(table[(*at, World(0)) if by_world else at])

            made = Table(table.name, table.shape, table.kind, read)
        setattr(self, name, made)
        return made


@stand_in(wished_size)
def _size(m: Any, p: Any, w: int) -> Any:
    """The size of a sub-step; what error control wishes is held, what is left of the nominal step is not."""
    if _following and isinstance(p.h, Scalar):
        p.h = p.h.graph.moving_as(p.h.at, 0.0)
    return translated(wished_size.func)(m, p, w)


@stand_in(locate)
def _locate(m: Any, s: Any, x: Any, t: Any, size: Any, seen: Any, modal: bool, w: int) -> Any:
    """The part of a sub-step at which a mode changes, moving with the state as the change does.

    The search is of numbers, of this state alone: the way that is traced holds for no other (`is_alone`).
    """
    if not _following:
        return translated(locate.func)(m, s, x, t, size, seen, modal, w)
    changes = _following[-1]
    changes.is_alone = True
    work = Sampled(x)
    search = translated(locate.func)
    part = search(Sampled(m), Sampled(s), work, at_sample(t), at_sample(size), at_sample(seen), modal, w)
    count = traced(watched)(x, w)
    for r in range(count):
        x.crossing[r, w], x.watch_end[r, w] = work.crossing[r, w], work.watch_end[r, w]
    if part == 0.0:
        return part
    rows = changes.found = [r for r in range(count) if x.crossing[r, w] != 0 and x.watch_end[r, w] < 0.0]
    graph = changes.graph
    at = graph.moving_as(part, 0.0)
    traced(set_within)(m, s, x, at, size, w)
    traced(evaluate)(m, s, x, t + at * size, int(STAGES), w)
    traced(watch)(m, s, x, x.watch_try, t + at * size, modal, w)
    distance = x.watch_try[rows[0], w]
    rate = slope_of(graph, distance.at, at.at)
    return graph.moving_as(at.at, refer(-(distance / graph.moving_as(refer(rate), 0.0))))


@stand_in(settle_modes)
def _settle(m: Any, s: Any, x: Any, w: int) -> bool:
    """Note what changes before the first sub-step: its time is that of the step, whatever the state is."""
    strikes = any(x.at_rest[r, w] == 2 for r in range(x.row_count[0, w]))
    fits = translated(settle_modes.func)(m, s, x, w)
    if _following and not fits and not _following[-1].rows:
        _following[-1].strikes |= strikes
        _following[-1].settles = True
    return fits


@stand_in(change_modes)
def _change(m: Any, s: Any, x: Any, start: Any, w: int) -> Any:
    """Note the change, and whether it is one that moves smoothly with the state."""
    p = translated(change_modes.func)(m, s, x, start, w)
    if _following and p.events > start.events:
        changes = _following[-1]
        if start.landing <= float(TINY_STEP) * m.nominal_h[0]:
            changes.trouble = "a change of mode falls onto the start of a sub-step"
        elif len(changes.found) > 1:
            changes.trouble = f"{len(changes.found)} rows change their modes at one instant"
        changes.rows.append(changes.found[0])
        changes.times.append(p.t)
    return p
