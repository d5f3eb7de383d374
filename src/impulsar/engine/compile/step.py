"""A method's step of one mechanism as a graph: from the state to the state, for a nominal step.

The step is a function of the state's rows, of parameters that differ between worlds, and of nothing else: work arrays
may not be read before they are written, so that what they hold outlives no step. All that a step keeps is followed,
energy books and warm starts among them. What it only reports is not (`reports`): the last step of a launch is the
generic kernel's, and the counts of those before it are known, since the way through a step is.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import warp as wp

from ..constrain.frames import coordinate, follow_loops
from ..constrain.topology import list_rows
from ..coordinates.tree import kinematics
from ..forces.tyre_law import side_of
from ..freedoms import is_measured
from ..integrate.clock import advance_clock
from ..integrate.impulsive import push_rows, solve_equations, strike
from ..integrate.substeps import pass_by, start_with_impulse, take_smooth, wished_size
from ..methods import direct, simgc
from ..methods.base import refuse_compiling
from ..solve.cones import push_cone
from ..solve.direct import apply_multipliers
from ..solve.ldl import solve_envelope
from ..solve.project import remove_errors
from ..solve.sweep import sweep, warm_start
from ..state import State, WorkArrays
from ..system import System
from . import quiet  # noqa: F401  stand-ins
from .graph import CARRIED, INPUT, LEFT, Graph, Guard, Scalar, Untraceable, refer
from .jumps import Changes, following_changes
from .loops import keeping
from .reports import Tally, tallying
from .shim import type_of
from .symbols import Array
from .tracing import Arrays, Table, Unset, World, keep_loops_of, naming, traced

STATE, PARAMETER = "state", "parameter"  # kinds of inputs: (STATE, row), (PARAMETER, array, part, component)
FOLLOWED = ("channel_a", "channel_b", "channel_c", "channel_d")  # written while a world runs: never constants
# work arrays that a step leaves as it found them, empty; how motors last went back to their targets, of which a step
# that begins depends in nothing, since it chooses anew; the report and a count, which none depends on; and the
# kinds of rows, of which one beyond the last is looked at
EMPTY = ("tau", "wrench", "listed", "feedback", "push", "report", "factors", "row_kind")
keep_loops_of(sweep, push_cone, warm_start, push_rows, solve_equations, strike)
keep_loops_of(remove_errors, apply_multipliers, solve_envelope, start_with_impulse)
keep_loops_of(side_of, wished_size, pass_by, take_smooth)
keep_loops_of(direct.step, after_first=True)  # whose first sub-step evaluates one stage more


@dataclass
class TracedStep:
    """A step as a graph. Inputs are named (STATE, row) and (PARAMETER, array, part, component)."""

    graph: Graph
    outputs: dict[Any, "int | float"]  # row of the state: its value after the step
    tally: Tally
    constants: list[str]  # arrays of the system of which something is in it as a constant
    guards: list[Guard] = field(default_factory=list)
    counts: "tuple[int | float, int | float]" = (0.0, 0.0)  # iterations and sub-steps, where the state decides on them
    changes: Changes | None = None  # of modes, where it is to be differentiated

    def __post_init__(self) -> None:
        self.guards = self.graph.guards

    @property
    def roots(self) -> "list[int | float]":
        """All that has to be computed: new rows of the state, and what guards compare."""
        compared = [side for guard in self.guards for side in (guard.left, guard.right)]
        return [*self.outputs.values(), *compared, *self.counts]

    @property
    def operations(self) -> int:
        """How many a step takes, comparisons apart; of a loop, those of one round."""
        live = self.graph.live(self.roots)
        return sum(self.graph.nodes[at][0] not in (INPUT, CARRIED, LEFT) for at in live)


def take_simgc(m: Any, s: Any, x: Any, w: int) -> None:
    """A step of `simgc` from its state alone."""
    traced(kinematics)(m, s, x, 0.0, w)
    traced(follow_loops)(m, s, x, w)
    traced(simgc.step)(m, s, x, False, w)


def take_direct(m: Any, s: Any, x: Any, w: int) -> None:
    """A nominal step of `direct` from its state alone."""
    traced(kinematics)(m, s, x, 0.0, w)
    traced(follow_loops)(m, s, x, w)
    traced(direct.step)(m, s, x, False, w)
    traced(advance_clock)(m, s, m.nominal_h[0], w)


RECIPES: dict[str, Callable] = {"simgc": take_simgc, "direct": take_direct}


Followed = Mapping[str, Collection[tuple[int, ...]]]  # of arrays of the system, elements that are inputs


def trace_step(
    method: Any,
    system: System,
    state: State,
    work: WorkArrays,
    world: int = 0,
    followed: Followed | None = None,
    keep_loops: bool = False,
    contacts: Any = None,
    differentiated: bool = False,
    prepare: Callable[..., dict[Any, "int | float"]] | None = None,
) -> TracedStep:
    """The step of a mechanism, along the way that it takes from the present state of a world.

    keep_loops: rounds of sweeps and projections are loops, as many as it takes; else as many as from this state.
    contacts: the arrays of a world with contact.
    differentiated: its sizes of sub-steps are held, or move with changes of mode (`jumps`).
    prepare: what comes before it, of graph, system, state, work and world; what that puts out comes to the outputs.
    """
    refuse_compiling(method, system, touching=contacts is not None)
    tables, m, s, x, w = stage(system, state, work, world, followed)
    following = following_changes(tables.graph) if differentiated else nullcontext()
    kept = keeping(tables) if keep_loops else nullcontext()
    with naming(), tallying() as tally, following as changes, kept:
        traced(list_rows)(m, x, w)
        outputs = prepare(tables.graph, m, s, x, w) if prepare is not None else {}
        if contacts is None:
            RECIPES[method.name](m, s, x, w)
        else:
            from .touching import RECIPES as TOUCHING  # none of it is loaded where nothing touches

            TOUCHING[method.name](m, s, x, Arrays("c", contacts, tables.contact), w)
    graph = tables.graph
    for row, value in tables.written():
        given = graph.inputs.get((STATE, row))
        if given is None or refer(value) != given:
            outputs[row] = refer(value)
    counted = tally.iterations, tally.sub_steps
    iterations, sub_steps = (refer(n) if isinstance(n, Scalar) else 0.0 for n in counted)
    tally.iterations, tally.sub_steps = (0 if isinstance(n, Scalar) else n for n in counted)
    constants = [name for name in tables.used if hasattr(system.arrays, name)]
    return TracedStep(graph, outputs, tally, constants, counts=(iterations, sub_steps), changes=changes)


def stage(
    system: System, state: State, work: WorkArrays, world: int = 0, followed: Followed | None = None
) -> "tuple[Tables, Arrays, Arrays, Arrays, World]":
    """What functions of the engine are given while tracing: arrays of the system, the state and the work, a world."""
    tables = Tables(Graph(), state, world, followed or {})
    m = Arrays("m", system.arrays, tables.parameter)
    s = Arrays("s", state.arrays, tables.state)
    x = Arrays("x", work, tables.work)
    starts = system.arrays.dof_start.numpy()
    for body in np.flatnonzero(system.arrays.spins_free.numpy()):
        for k in range(starts[body], starts[body + 1]):
            x.D_inv.data[k,] = 0.0  # of a body alone, which is not articulated: none is ever written
    return tables, m, s, x, World(0)


def trace_poses(system: System, state: State, work: WorkArrays, freedoms: Sequence[tuple]) -> TracedStep:
    """Coordinates of freedoms (joint, code, where, as `coordinate` takes them) and poses of bodies, of a state.

    Outputs are named ("coordinate", k), ("position", body, axis) and ("orientation", body, component).
    """
    tables, m, s, x, w = stage(system, state, work)
    graph = tables.graph
    outputs: dict[Any, int | float] = {}
    with naming():
        traced(kinematics)(m, s, x, 0.0, w)
        of_poses = [traced(is_measured)(code) for _, code, _ in freedoms]
        if any(of_poses[k] and joint >= system.counts.bodies for k, (joint, _, _) in enumerate(freedoms)):
            kept = Arrays("s", state.arrays, Tables(graph, state, 0, {}).state)  # loops keep theirs
            traced(follow_loops)(m, kept, x, w)
        for k, (joint, code, where) in enumerate(freedoms):
            outputs["coordinate", k] = refer(traced(coordinate)(m, s, x, joint, code, where, w))
        for body in range(system.counts.bodies):
            for name, array in (("position", x.p_WB), ("orientation", x.q_WB)):
                for k, value in enumerate(array[body, w].c):
                    outputs[name, body, k] = refer(value)
    return TracedStep(graph, outputs, Tally(), list(tables.used))


class Tables:
    """Makes tables of the engine's arrays: constants, inputs, and work that is empty."""

    def __init__(self, graph: Graph, state: State, world: int, followed: Followed):
        self.graph, self.world, self.followed = graph, world, followed
        self.rows = state.numpy()
        self.start, self.stride = state.array.ptr, state.array.strides[0]
        self.states: list[tuple[int, Table]] = []
        self.all: list[Table] = []  # that may be written
        self.used: dict[str, None] = {}  # arrays of the system of which something is a constant of the graph

    def state(self, name: str, array: wp.array) -> Table:
        """A block of the state: symbols; `method_at` is a constant."""
        if array.dtype is not wp.float64:
            return self.parameter(name, array)
        first = (array.ptr - self.start) // self.stride if array.shape[0] else 0

        def read(index: tuple[int, ...], by_world: bool) -> Any:
            row = first + index[0]
            return self.graph.input((STATE, row), self.rows[row, self.world])

        table = Table(f"s.{name}", array.shape, None, read)
        self.states.append((first, table))
        self.all.append(table)
        return table

    def written(self) -> list[tuple[int, Any]]:
        """Rows of the state that were written, and what they are."""
        return [(first + index[0], table.data[index]) for first, table in self.states for index in table.written]

    def work(self, name: str, array: wp.array) -> Table:
        """A work array: nothing is in it."""
        kind = type_of(array.dtype)

        def read(index: tuple[int, ...], by_world: bool) -> Any:
            if name in EMPTY:
                return kind()
            return Unset(f"x.{name}{list(index)}")

        self.all.append(Table(f"x.{name}", array.shape, kind, read))
        return self.all[-1]

    def contact(self, name: str, array: wp.array) -> Table:
        """An array of contacts: shapes are constants, what is found of a world is work."""
        if array.ndim == 2:
            return self.work(name, array)
        data, kind = array.numpy(), type_of(array.dtype)
        return Table(f"c.{name}", array.shape, kind, lambda index, by_world: _constant(kind, data[index]))

    def parameter(self, name: str, array: wp.array) -> Table:
        """An array of the system: constants, and inputs where worlds differ."""
        data, kind = array.numpy(), type_of(array.dtype)

        def read(index: tuple[int, ...], by_world: bool) -> Any:
            if index in self.followed.get(name, ()):
                return self._inputs(name, index, kind, data[index][self.world] if by_world else data[index])
            if not by_world:
                self.used[name] = None
                return _constant(kind, data[index])
            item = data[index]  # [world, ...]
            mine = item[self.world]
            if name not in FOLLOWED and (array.strides[1] == 0 or not (item != mine).any()):
                self.used[name] = None
                return _constant(kind, mine)
            if np.issubdtype(data.dtype, np.integer):
                raise Untraceable(f"m.{name}{list(index)} is another whole number in some worlds than in others")
            return self._inputs(name, index, kind, mine)

        return Table(f"m.{name}", array.shape, kind, read)

    def _inputs(self, name: str, index: tuple[int, ...], kind: Any, values: np.ndarray) -> Any:
        """Symbols for a parameter that is not known: worlds have it of their own, or it is followed."""
        flat, part = np.ravel(values), index[0] if len(index) == 1 else index
        made = [self.graph.input((PARAMETER, name, part, k), value) for k, value in enumerate(flat)]
        return made[0] if not (isinstance(kind, type) and issubclass(kind, Array)) else kind(*made)


def _constant(kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and issubclass(kind, Array):
        return kind(*np.ravel(value).tolist())
    return kind(np.ravel(value)[0].item())


def sample_outputs(step: TracedStep) -> dict[int, float]:
    """The state's rows after the step, from the sample."""
    return {row: step.graph.value(value) for row, value in step.outputs.items()}
