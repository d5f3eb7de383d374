"""A graph and its derivatives as a list of operations on arrays, made once and carried out many times."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..engine.compile.adjoint import pull_back
from ..engine.compile.graph import INPUT, Graph, refer
from ..engine.compile.tangent import ARRAYS


class Program:
    """Roots of a graph, and their derivatives by inputs: what `jacobians` finds, without looking at nodes again."""

    def __init__(self, graph: Graph, roots: "Sequence[int | float]", by: Sequence[Any]):
        self.count, self.by = len(roots), len(by)
        slopes: list[int | float] = []
        for root in roots:
            pulled = pull_back(graph, {root: 1.0}, by) if isinstance(root, int) else [0.0] * len(by)
            slopes += [refer(value) for value in pulled]
        self._wanted = [*roots, *slopes]
        order = graph.live(self._wanted)
        self.inputs = [(name, at) for name, at in graph.inputs.items() if at in set(order)]
        slot = {at: k for k, at in enumerate(order)}
        self._constants: list[float] = []

        def place(a: "int | float") -> int:
            if isinstance(a, int):
                return slot[a]
            self._constants.append(a)
            return len(order) + len(self._constants) - 1

        self._steps = []
        for at in order:
            op, *args = graph.nodes[at]
            if op != INPUT:
                self._steps.append((ARRAYS[op], slot[at], tuple(map(place, args))))
        self._from = [(name, slot[at]) for name, at in self.inputs]
        self._roots = [place(a) for a in self._wanted]
        self._size = len(order)

    def run(self, given: Mapping[Any, Any], lanes: int) -> tuple[np.ndarray, np.ndarray]:
        """Values [root, lane] and derivatives [root, by, lane] where inputs have values [lane], or one each."""
        values: list[Any] = [None] * self._size + self._constants
        for name, at in self._from:
            values[at] = given[name]
        with np.errstate(all="ignore"):
            for function, at, args in self._steps:
                values[at] = function(*[values[a] for a in args])
        found = np.empty((len(self._roots), lanes))
        for k, at in enumerate(self._roots):
            found[k] = values[at]
        return found[: self.count], found[self.count :].reshape(self.count, self.by, lanes)
