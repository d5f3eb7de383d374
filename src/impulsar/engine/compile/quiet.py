"""Derivatives where a sample leaves something undone that other states do: stand-ins for what is differentiated.

A part that is 0 is not added, errors within the tolerance are not removed, sweeps end where nothing is left to push.
Values are right without them, derivatives are not: the part, the error and the impulse are others as soon as a cause
changes. Mechanisms at rest are such samples, and those whose causes act across a plane of symmetry.

A ratio or an offset of a coupling opens its row at the start, and the first projection closes it: by a round that is
added here, of errors that are 0 and move as the errors do.
"""

from typing import Any

import numpy as np

from ..constrain import coupling
from ..constrain.frames import measure_loops, place_loops
from ..constrain.locks import reads_turns
from ..coordinates.inertia import body_mass
from ..coordinates.retract import move_coordinates
from ..coordinates.tree import kinematics
from ..integrate.impulsive import push_rows
from ..integrate.inertial import join
from ..solve.direct import apply_multipliers, solve_bilateral
from ..solve.project import remove_errors
from ..spatial import INFINITY, matters
from .graph import INPUT, Graph, Scalar, Untraceable
from .jumps import differentiated
from .shim import SHIM
from .tangent import on_arrays, partials
from .tracing import stand_in, traced, translated

AT_REST = 1e-16  # of the energy that a step of free fall gives: less is no motion
SETTLED = 1e-10  # of the largest derivative of an impulse: a change so small ends the sweeps
SWEEPS = 500


@stand_in(matters)
def _matters(part: Any) -> bool:
    return bool(differentiated() and isinstance(part, Scalar)) or translated(matters.func)(part)


@stand_in(remove_errors)
def _remove(m: Any, s: Any, x: Any, t: Any, enough: Any, w: int) -> Any:
    """One round more where numbers of couplings are causes."""
    told = translated(remove_errors.func)(m, s, x, t, enough, w)
    graph = differentiated()
    if graph is None or not _opens_couplings(m, x, w):
        return told
    for i in range(m.bilateral.shape[0]):
        left = x.multiplier[i, w]
        x.multiplier[i, w] = graph.moving_as(0.0, left.at) if isinstance(left, Scalar) else 0.0
    traced(solve_bilateral)(m, x, w)
    for k in range(s.v.shape[0]):
        x.shift[k, w] = 0.0
    traced(apply_multipliers)(m, x, x.shift, w)
    traced(move_coordinates)(m, s, x.shift, w)
    traced(kinematics)(m, s, x, 0.0, w)
    traced(place_loops)(m, x, w)
    if traced(reads_turns)(m):
        traced(measure_loops)(m, s, x, w)
    return told


def _opens_couplings(m: Any, x: Any, w: int) -> bool:
    """Whether a ratio, an offset or a weight of a coupling is no constant."""
    rows = [m.bilateral[i] for i in range(m.bilateral.shape[0])]
    rows = [r for r in rows if traced(coupling.is_coupling_row)(x, r, w)]
    given = [of(m, r, w) for r in rows for of in map(traced, (coupling.ratio, coupling.offset))]
    given += [m.more_weight[k, w] for k in range(m.more_weight.shape[0])] if rows else []
    return any(isinstance(value, Scalar) for value in given)


@stand_in(join)
def _join(m: Any, s: Any, x: Any, tree: int, strained: Any, h: Any, w: int) -> None:
    """At rest `simgc` scales velocities that are rounding by the root of a quotient that is, too: there, by 1."""
    start, end = (m.tree_body[k] for k in (tree, tree + 1))
    kept = x.carried[2 * start + 1, w]
    gained = m.gravity[0, w] * h
    mass = sum(traced(body_mass)(m, i, w) for i in range(start, end))
    if differentiated() and kept[3] < AT_REST * mass * SHIM.dot(gained, gained):
        kept[3] = float(INFINITY)
        x.carried[2 * start + 1, w] = kept
    translated(join.func)(m, s, x, tree, strained, h, w)


@stand_in(push_rows)
def _push_rows(m: Any, s: Any, x: Any, rows: int, h: Any, epsilon: Any, limit: int, w: int) -> Any:
    """Where one sweep is enough for the impulses, as many as their derivatives take.

    Sweeps of `simgc` stay as they are: its trajectory is that of so many.
    """
    sweeps = translated(push_rows.func)
    told, graph = sweeps(m, s, x, rows, h, epsilon, limit, w), differentiated()
    if graph is None or told != 1 or limit == 1:
        return told
    along, active = Direction(graph), [x.active[a, w] for a in range(rows)]
    before = np.array([along.of(s.impulse[r, w]) for r in active])
    for _ in range(SWEEPS):
        sweeps(m, s, x, rows, h, epsilon, 1, w)
        now = np.array([along.of(s.impulse[r, w]) for r in active])
        if np.abs(now - before).max(initial=0.0) <= SETTLED * np.abs(now).max(initial=0.0):
            return told
        before = now
    raise Untraceable(f"derivatives of impulses have not settled after {SWEEPS} sweeps")


class Direction:
    """Derivatives of nodes, as they are made, along one direction of all inputs."""

    def __init__(self, graph: Graph):
        self.graph, self.rates = graph, np.zeros(0)
        self.random = np.random.default_rng(0)

    def of(self, value: Any) -> float:
        """Of a number."""
        if not isinstance(value, Scalar):
            return 0.0
        if value.at >= len(self.rates):
            self._follow()
        return float(self.rates[value.at])

    def _follow(self) -> None:
        graph, known = self.graph, len(self.rates)
        rates = self.rates = np.concatenate([self.rates, np.zeros(len(graph.nodes) - known)])
        with np.errstate(all="ignore"):
            for at in range(known, len(graph.nodes)):
                op, *args = graph.nodes[at]
                if op == INPUT:
                    rates[at] = self.random.normal()
                elif any(isinstance(a, int) and rates[a] for a in args[op == "as" :]):
                    given = [graph.values[a] if isinstance(a, int) else a for a in args]
                    slopes = partials(op, given, graph.values[at], on_arrays)
                    moved = [rates[a] if isinstance(a, int) else 0.0 for a in args]
                    rates[at] = sum(slope * rate for slope, rate in zip(slopes, moved, strict=True) if rate)
