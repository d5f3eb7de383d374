"""Ways through a step, found along a run and put together as one tree of branches.

A traced step is one way: straight lines and the guards under which they hold. Here a mechanism is followed from its
state by compiled steps; where no way holds, one more is traced. Two ways agree up to the first guard that comes out
otherwise, so all of them together are a tree: what they share is computed once, and a step takes one path through it.
"""

import ctypes
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...author.errors import ModelError
from ..state import State, WorkArrays
from ..system import System
from .backend import compile_text
from .calls import Call, address, run_of
from .emit_c import COUNTS, emit, parameters_of
from .graph import COMMUTES, INPUT, Guard
from .step import PARAMETER, STATE, TracedStep, trace_step

Ref = int | float  # of a node, or a constant


class Follower:
    """Steps of one world by the ways that are known; nothing is optimised, since no operation is fused or reordered."""

    def __init__(self, system: System, state: State):
        self.system, self.rows = system, state.numpy()
        self.ways: list[TracedStep] = []
        self._functions: list[int] = []
        self._done, self._parameters = np.zeros(1, np.int64), {}  # type: np.ndarray, dict[tuple, int]

    def add(self, way: TracedStep) -> None:
        """One more way."""
        for name in parameters_of(way):
            self._parameters.setdefault(name, len(self._parameters))
        self.ways.append(way)
        self._functions.append(compile_text(emit(way, 1, self._parameters), "step", level=0))

    def go(self, steps: int) -> int:
        """Up to so many steps, as far as guards hold; how many they were."""
        if not self.ways:
            return 0
        places = [getattr(self.system.arrays, name) for _, name, _, _ in self._parameters]
        starts = [a.ptr + p * a.strides[0] + 8 * k for a, (_, _, p, k) in zip(places, self._parameters, strict=True)]
        packed = np.array(starts or [0], np.uint64), np.zeros(max(1, len(starts)), np.int64)
        table, used = np.array(self._functions, np.uint64), np.zeros((COUNTS + len(self.ways), 1), np.int64)
        call = Call(state=address(self.rows), step=address(table), variants=len(table), worlds=1, end=1, steps=steps)
        call.parameter, call.pitch = address(packed[0]), address(packed[1])
        call.done, call.used, call.fresh = address(self._done), address(used), 1
        run_of(self.rows.shape[0], len(self._parameters), 1)(ctypes.addressof(call))
        return int(self._done[0])


@dataclass
class Followed:
    """What was found along a run."""

    ways: list[TracedStep]
    steps: int  # that were taken by them
    asked: int
    ended: str  # why no more steps were, in words; empty: all were


def follow(method: Any, system: System, state: State, work: WorkArrays, steps: int, most: int) -> Followed:
    """Take steps of one world from its state, and trace each way that they go, up to so many."""
    follower, taken = Follower(system, state), 0
    for _ in range(most):
        follower.add(trace_step(method, system, state, work))
        went = follower.go(steps - taken)
        taken += went
        if taken == steps:
            return Followed(follower.ways, taken, steps, "")
        if not went:  # as it was traced it holds: what is compiled has other bits
            raise ModelError(f"export: the compiled step {taken + 1} goes another way than it was traced")
    return Followed(follower.ways, taken, steps, f"the next step goes one more way than {most}")


def kept_rows(ways: Sequence[TracedStep], wanted: Sequence[int]) -> list[int]:
    """Rows of the state that these rows depend on, over any number of steps; guards among what depends."""
    kept = set(wanted)
    while True:
        found = set(kept)
        for way in ways:
            sides = [side for guard in way.guards for side in (guard.left, guard.right)]
            live = set(way.graph.live([*(v for row, v in way.outputs.items() if row in kept), *sides]))
            found |= {name[1] for name, at in way.graph.inputs.items() if name[0] == STATE and at in live}
        if found == kept:
            return sorted(kept)
        kept = found


@dataclass
class Way:
    """A way whose nodes are those of a tree."""

    guards: list[Guard]
    outputs: dict[Any, Ref]


class Tree:
    """Ways through a step with nodes in common. Names of inputs: (STATE, row), (PARAMETER, array, part, component)."""

    def __init__(self, ways: Sequence[TracedStep], rows: Sequence[Any] | None = None):
        self.nodes: list[tuple] = []
        self.names: dict[int, tuple] = {}  # of inputs
        self._table: dict[tuple, int] = {}
        self.ways = [self._taken(way, rows) for way in ways]

    def _taken(self, way: TracedStep, rows: Sequence[Any] | None) -> Way:
        way.graph.refuse_loops("a tree")
        names = {at: name for name, at in way.graph.inputs.items()}
        outputs = {row: value for row, value in way.outputs.items() if rows is None or row in rows}
        sides = [side for guard in way.guards for side in (guard.left, guard.right)]
        mine: dict[int, int] = {}

        def of(a: Ref) -> Ref:
            return mine[a] if isinstance(a, int) else a

        for at in way.graph.live([*outputs.values(), *sides]):
            op, *args = way.graph.nodes[at]
            key = (INPUT, names[at]) if op == INPUT else (op, *self._ordered(op, [of(a) for a in args]))
            if key not in self._table:
                self._table[key] = len(self.nodes)
                self.nodes.append(key)
            mine[at] = self._table[key]
            if op == INPUT:
                self.names[mine[at]] = names[at]
        guards = [Guard(guard.op, of(guard.left), of(guard.right), guard.held) for guard in way.guards]
        return Way(guards, {row: of(value) for row, value in outputs.items()})

    @staticmethod
    def _ordered(op: str, args: list[Ref]) -> list[Ref]:
        return sorted(args, key=lambda a: (isinstance(a, int), a)) if op in COMMUTES else args

    def needed(self, roots: Sequence[Ref], done: set[int]) -> list[int]:
        """Nodes that these need and that are not done, inputs apart, in order."""
        found: set[int] = set()
        stack = [root for root in roots if isinstance(root, int)]
        while stack:
            at = stack.pop()
            if at not in done and at not in found and at not in self.names:
                found.add(at)
                stack += [a for a in self.nodes[at][1:] if isinstance(a, int)]
        return sorted(found)

    def find(self, op: str, *args: Ref) -> int | None:
        """The node of an operation, if there is one."""
        return self._table.get((op, *args))

    def inputs(self, kind: str) -> list[tuple]:
        """Names of the inputs of a kind: STATE or PARAMETER."""
        return [name for name in self.names.values() if name[0] == kind]

    def work(self, way: Way) -> Counter:
        """Operations on a way, by what they are; `compare` of guards."""
        sides = [side for guard in way.guards for side in (guard.left, guard.right)]
        counted = Counter(self.nodes[at][0] for at in self.needed([*way.outputs.values(), *sides], set()))
        counted["compare"] = len(way.guards)
        return counted


def parameters_in(trees: Sequence[Tree]) -> list[tuple]:
    """All parameters that are inputs of trees, each once, in the order of arrays and parts."""
    return sorted({name for tree in trees for name in tree.inputs(PARAMETER)}, key=lambda one: (one[2], *one[1:]))
