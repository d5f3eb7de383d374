"""Values that are computed again late in a step rather than put aside from early on: the same bits once more.

At a place of an order all that is alive is put aside, at a price, or is made again from inputs and from what is put
aside, for its operations. What costs least is a least cut between a source and a sink:

    source → v          ∞               v is alive there and needed later
    v      → make v     price           it is put aside, unless it is made again
    make v → sink       operations      of v; an input costs a fetch
    make v → a          ∞               it needs its arguments

A price that is too high makes all again, and with it puts aside once more what was aside the first time; so some prices
and places are tried, and what is best by operations and by what goes to memory is taken.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from .cuts import Ref, alive, arguments, sides
from .graph import INPUT, Graph, Guard
from .step import STATE, TracedStep

PRICES = (8, 15)  # of a value that is put aside, in operations
PARTS = 4  # of an order, each of which is tried where most is alive
INFINITE = 1 << 24
LONG = {"sin": 25, "cos": 25, "/": 10, "sqrt": 12, "max": 2, "min": 2, "atan2": 60}
LONG.update(dict.fromkeys(("tan", "asin", "acos", "atan", "exp", "log", "tanh", "pow"), 80))
Priced = Callable[[TracedStep, Sequence[int]], float]  # what a step costs in some order


def cost_of(graph: Graph, at: int) -> int:
    """Of a node, in operations."""
    return LONG.get(graph.nodes[at][0], 1)


def make_again(step: TracedStep, order: Sequence[int], cost: Priced, rounds: int) -> tuple[TracedStep, list[int]]:
    """A step with more operations and their order, which cost less; so many times, as long as they do."""
    least, found = cost(step, order), (step, list(order))
    for _ in range(rounds):
        step, order = found
        last = last_needed(step, order)
        for place in crowded(step, order, last):
            known: list[set[int]] = [set()]
            for price in PRICES:
                again = cheapest(step.graph, order, place, last, price)
                if again not in known:
                    known.append(again)
                    other = copied(step, order, place, again, last)
                    its = cost(*other)
                    if its < least:
                        least, found = its, other
        if found[0] is step:
            break
    return found


def last_needed(step: TracedStep, order: Sequence[int]) -> dict[int, int]:
    """Where in an order values are needed last; new rows, where they can be written."""
    graph = step.graph
    place = {at: k for k, at in enumerate(order)}
    last = {a: k for k, at in enumerate(order) for a in arguments(graph, at)}
    tested = -1
    for guard in step.guards:
        k = max((place.get(a, -1) for a in sides(guard)), default=-1)
        tested = max(tested, k)
        last.update({a: max(k, last.get(a, -1)) for a in sides(guard)})
    before = {name[1]: at for name, at in graph.inputs.items() if name[0] == STATE}
    for row, at in step.outputs.items():
        if isinstance(at, int):
            last[at] = max(tested, last.get(before.get(row, -1), -1), last.get(at, -1))
    return last


def crowded(step: TracedStep, order: Sequence[int], last: dict[int, int]) -> list[int]:
    """Where most is alive, of each part of an order."""
    curve = alive(step.graph, order, [at for at, k in last.items() if k >= len(order) - 1], step.guards)[:-1]
    parts = np.array_split(np.arange(len(curve)), PARTS)
    return sorted({int(part[np.argmax(curve[part])]) for part in parts if len(part)} - {0})


def cheapest(graph: Graph, order: Sequence[int], place: int, last: dict[int, int], price: int) -> set[int]:
    """What is made again from this place on."""
    needed = [at for at in order[:place] if last.get(at, -1) >= place]
    behind = graph.live(needed)
    number = {at: k for k, at in enumerate(behind)}
    source, sink = 2 * len(behind), 2 * len(behind) + 1
    edges = [(source, 2 * number[at], INFINITE) for at in needed]
    for at, k in number.items():
        if graph.nodes[at][0] == INPUT:
            edges.append((2 * k, sink, PRICES[0]))
            continue
        edges += [(2 * k, 2 * k + 1, price), (2 * k + 1, sink, cost_of(graph, at))]
        edges += [(2 * k + 1, 2 * number[a], INFINITE) for a in dict.fromkeys(arguments(graph, at))]
    starts, ends, most = np.array(edges, np.int32).T
    capacity = csr_matrix((most, (starts, ends)), shape=(sink + 1, sink + 1))
    left = capacity - maximum_flow(capacity, source, sink).flow
    left.eliminate_zeros()
    reached = breadth_first_order(left, source, return_predecessors=False)
    return {behind[k // 2] for k in reached if k % 2 == 1 and k < source}


def copied(
    step: TracedStep, order: Sequence[int], place: int, again: set[int], last: dict[int, int]
) -> tuple[TracedStep, list[int]]:
    """The step with copies of these, each before it is needed after that place; and the order."""
    copies = Copies(step.graph, again)
    spot = {at: k for k, at in enumerate(order)}
    due = [max((spot.get(a, -1) for a in sides(guard)), default=-1) for guard in step.guards]
    guards = {k: [guard for guard, its in zip(step.guards, due, strict=True) if its == k] for k in due}
    copies.order = list(order[:place])
    for k in range(-1, len(order)):
        if k >= place:
            copies.take(order[k])
        for guard in guards.get(k, ()):
            pair = (guard.left, guard.right) if k < place else (copies.of(guard.left), copies.of(guard.right))
            copies.graph.keep_guard(Guard(guard.op, *pair, guard.held))
    late = {at for at, k in last.items() if k >= place}
    outputs = {row: copies.of(at) if at in late else at for row, at in step.outputs.items()}
    found = TracedStep(copies.graph, outputs, step.tally, step.constants)
    needed = set(copies.graph.live(found.roots))
    return found, beside(copies.graph, [at for at in copies.order if at in needed])


class Copies:
    """A graph with some nodes once more."""

    def __init__(self, graph: Graph, again: set[int]):
        self.before, self.again = graph, again
        self.graph = Graph()
        self.graph.nodes, self.graph.values, self.graph.inputs = (
            list(graph.nodes),
            list(graph.values),
            dict(graph.inputs),
        )
        self.order: list[int] = []
        self._names = {at: name for name, at in graph.inputs.items() if name[0] == STATE}
        self._made: dict[int, int] = {}
        self._angles: dict[Ref, int] = {}  # an angle has one sine, so that another one is that of a copy

    def take(self, at: int) -> None:
        """A node of the graph, with the copies that it needs."""
        op, *args = self.before.nodes[at]
        self.graph.nodes[at] = (op, *map(self.of, args))
        self.order.append(at)

    def of(self, a: Ref) -> Ref:
        """A node as it is called now; it is computed, and what it needs, if it is not there yet."""
        if isinstance(a, float) or a not in self.again:
            return a
        stack = [a]
        while stack:
            at = stack.pop()
            missing = [b for b in arguments(self.before, at) if b in self.again and b not in self._made]
            if missing:
                stack += [at, *missing]
            elif at not in self._made:
                self._made[at] = self._copy(at)
        return self._made[a]

    def _copy(self, at: int) -> int:
        op, *args = self.before.nodes[at]
        args = [self._read(a) if isinstance(a, int) else a for a in args]
        if op in ("sin", "cos") and args[0] == self.before.nodes[at][1] and isinstance(args[0], int):
            if args[0] not in self._angles:
                self._angles[args[0]] = self._add(("as", args[0], args[0]), args[0])
            args = [self._angles[args[0]]]
        return self._add((op, *args), at)

    def _read(self, a: int) -> int:
        """An input once more, fetched from the state: what is made of it is not seen to be the same, and is made."""
        if a in self._names:
            at = self._new((INPUT, a), a)
            _, row, *_ = self._names.pop(a)
            self.graph.inputs[STATE, row, at] = self._made[a] = at
        return self._made.get(a, a)

    def _add(self, node: tuple, of: int) -> int:
        self.order.append(self._new(node, of))
        return self.order[-1]

    def _new(self, node: tuple, of: int) -> int:
        self.graph.nodes.append(node)
        self.graph.values.append(self.before.values[of])
        return len(self.graph.nodes) - 1


def beside(graph: Graph, order: Sequence[int]) -> list[int]:
    """Cosines beside sines of the same angle."""
    first: dict[int, int] = {}
    groups: dict[int, list[int]] = {}
    for at in order:
        op, *args = graph.nodes[at]
        groups.setdefault(first.setdefault(args[0], at) if op in ("sin", "cos") else at, []).append(at)
    return [at for group in groups.values() for at in group]
