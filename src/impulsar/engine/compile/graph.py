"""Arithmetic as a graph: what a step does to symbols, with constants folded and nothing computed twice.

A node is an operation on nodes and constants. Every symbol carries the value that it has at a sample state. A branch
on a symbol goes the sample's way and leaves a guard: a comparison that must come out the same for the graph to hold.
A loop may be kept (`loops`): what it carries from round to round are symbols of their own, and what depends on them
is its body.

Foldings keep bits: x + 0, 1 x, -(-x), a - (-b) and divisions by powers of two. Two do not keep all of them: 0 x is 0
where x is no number, and zeros have no sign. So a result that was no number may be one; a caller who must know looks
at the state, which then has one that is none.
"""

import math
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...author.errors import ModelError
from .sines import arctangent, cosine, sine


class Untraceable(ModelError):
    """A step that cannot be written out as straight lines."""


class Guard(NamedTuple):
    """A comparison that must come out as it did at the sample: op is <, <= or ==, or `finite` of the first alone."""

    op: str
    left: "int | float"
    right: "int | float"
    held: bool

    def holds(self, values: Callable[["int | float"], float]) -> bool:
        """Whether it comes out as it did, where nodes have these values."""
        a, b = values(self.left), values(self.right)
        return (math.isfinite(a) if self.op == "finite" else TESTS[self.op](a, b)) == self.held


@dataclass(eq=False)
class Loop:
    """Rounds of the same operations, another one while all tests hold.

    Of each variable: what it is before the first round, its symbol in a round, and what it is after that round.
    """

    number: int  # of a graph's loops, those around it first
    entries: "list[int | float]" = field(default_factory=list)
    symbols: list[int] = field(default_factory=list)
    exits: "list[int | float]" = field(default_factory=list)
    lefts: list[int] = field(default_factory=list)  # nodes of what each is after the last round
    tests: list[Guard] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)  # of every round

    def needs(self) -> "list[int | float]":
        """What a round compares."""
        return [side for guard in (*self.tests, *self.guards) for side in (guard.left, guard.right)]


def _divide(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    return math.nan if a == 0.0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _or_nan(function: Callable[..., float]) -> Callable[..., float]:
    """The function, no number where it has no value: as in C."""

    def safe(*args: float) -> float:
        try:
            return function(*args)
        except (ValueError, OverflowError):
            return math.nan

    return safe


def round_away(a: float) -> float:
    """To the nearest whole number, halves away from zero: as in C."""
    whole = float(math.trunc(a))
    return whole + (math.copysign(1.0, a) if abs(a - whole) >= 0.5 else 0.0)


BINARY: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "max": lambda a, b: a if a > b else b,
    "min": lambda a, b: a if a < b else b,
    "atan2": math.atan2,
    "pow": _or_nan(math.pow),
    "above": lambda a, b: 1.0 if a > b else 0.0,  # of derivatives: which side of max and min it is
    "as": lambda a, b: a,  # of derivatives: the value of the one, the derivative of the other
}
UNARY: dict[str, Callable[[float], float]] = {
    "neg": lambda a: -a,
    "abs": abs,
    "sqrt": _or_nan(math.sqrt),
    "sin": _or_nan(math.sin),
    "cos": _or_nan(math.cos),
    "tan": _or_nan(math.tan),
    "asin": _or_nan(math.asin),
    "acos": _or_nan(math.acos),
    "atan": math.atan,
    "exp": _or_nan(math.exp),
    "log": _or_nan(math.log),
    "tanh": math.tanh,
    "floor": _or_nan(lambda a: float(math.floor(a))),
    "round": _or_nan(round_away),
}
SAMPLED: dict[str, Callable[..., float]] = {**BINARY, **UNARY, "sin": sine, "cos": cosine}  # as compiled text has them
SAMPLED["atan2"] = arctangent
COMMUTES = ("+", "*")
PICK = "pick"  # before a test: (pick<, a, b, x, y) is x where a < b, else y
TESTS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
}
PICKS: dict[str, Callable[..., float]] = {
    PICK + op: lambda a, b, x, y, test=test: x if test(a, b) else y for op, test in TESTS.items()
}
SAMPLED.update(PICKS)
MOST_NODES = 200_000  # of a graph: what nobody needs is among them
INPUT, CARRIED, LEFT = "input", "carried", "left"  # (CARRIED or LEFT, loop): in a round, and after the last


class Graph:
    """Nodes in the order in which they were made, so that arguments come first; inputs by name; guards."""

    def __init__(self) -> None:
        self.nodes: list[tuple] = []  # (op, *arguments): an int is a node, a float a constant
        self.values: list[float] = []  # at the sample
        self.inputs: dict[Any, int] = {}  # node of each input, by what the caller calls it
        self._guards: dict[tuple, Guard] = {}  # in order, by themselves and what is a constant in them
        self._table: dict[tuple, int] = {}
        self.loops: list[Loop] = []
        self._lefts: dict[int, int] = {}  # which variable of its loop a node is
        self._symbols: dict[int, int] = {}

    def input(self, name: Any, value: float) -> "Scalar":
        """The symbol of an input; the same one for the same name."""
        if name not in self.inputs:
            self.inputs[name] = self._add((INPUT, len(self.inputs)), value)
        return Scalar(self, self.inputs[name])

    def _add(self, node: tuple, value: float) -> int:
        if len(self.nodes) >= MOST_NODES:
            raise Untraceable(f"its step has more than {MOST_NODES} operations")
        self.nodes.append(node)
        self.values.append(float(value))
        return len(self.nodes) - 1

    def moving_as(self, value: "int | float", other: "int | float") -> "Scalar":
        """A value whose derivative is that of another one; of a constant: none, it is held."""
        return Scalar(self, self._add(("as", value, other), self.value(value)))

    def make(self, op: str, *args: "int | float") -> "int | float":
        """A node for an operation, or what it folds to."""
        if all(isinstance(a, float) for a in args):
            return float((BINARY.get(op) or UNARY.get(op) or PICKS[op])(*args))
        folded = self._fold(op, *args) if op not in PICKS else args[2] if _same(args[2], args[3]) else None
        if folded is not None:
            return folded
        if op in COMMUTES and _later(args[0], args[1]):
            args = (args[1], args[0])
        node = (op, *args)
        key = node, *map(type, args)  # node 2 is not the constant 2.0, which has its hash
        at = self._table.get(key)
        if at is None:
            value = SAMPLED[op](*(self.value(a) for a in args))
            at = self._table[key] = self._add(node, value)
        return at

    def _fold(self, op: str, a: "int | float", b: "int | float" = 0.0) -> "int | float | None":
        """What is simpler than an operation and has the same value; None: nothing is."""
        if op == "+":
            return self._fold_sum(a, b)
        if op == "-":
            return self._fold_difference(a, b)
        if op == "*":
            return self._fold_product(a, b)
        if op == "/":
            if isinstance(a, float) and a == 0.0:
                return 0.0
            if isinstance(b, float) and _is_power_of_two(b):
                return self.make("*", a, 1.0 / b)
        inner = self._negated(a)
        if op == "neg":
            return inner
        if inner is not None and op in ("abs", "cos"):
            return self.make(op, inner)
        if inner is not None and op == "sin":
            return self.make("neg", self.make("sin", inner))
        return None

    def _fold_sum(self, a: "int | float", b: "int | float") -> "int | float | None":
        if _is(a, 0.0):
            return b
        if _is(b, 0.0):
            return a
        negated = self._negated(b)
        if negated is not None:
            return self.make("-", a, negated)
        negated = self._negated(a)
        return None if negated is None else self.make("-", b, negated)

    def _fold_difference(self, a: "int | float", b: "int | float") -> "int | float | None":
        if _is(b, 0.0):
            return a
        if _is(a, 0.0):
            return self.make("neg", b)
        if isinstance(a, int) and isinstance(b, int) and a == b:
            return 0.0
        negated = self._negated(b)
        return None if negated is None else self.make("+", a, negated)

    def _fold_product(self, a: "int | float", b: "int | float") -> "int | float | None":
        for one, other in ((a, b), (b, a)):
            if _is(one, 0.0):
                return 0.0
            if _is(one, 1.0):
                return other
            if isinstance(one, float) and one < 0.0:
                return self.make("neg", self.make("*", -one, other))
            negated = self._negated(one)
            if negated is not None:
                return self.make("neg", self.make("*", negated, other))
        return None

    def _negated(self, a: "int | float") -> "int | None":
        """The node of which this one is the negative."""
        if isinstance(a, int) and self.nodes[a][0] == "neg":
            return self.nodes[a][1]
        return None

    def value(self, a: "int | float") -> float:
        """Of an argument at the sample."""
        return self.values[a] if isinstance(a, int) else a

    def test(self, op: str, a: "int | float", b: "int | float") -> bool:
        """How a comparison comes out at the sample; it becomes a guard."""
        if isinstance(a, int) and a == b and isinstance(b, int):
            return op != "<"
        held = TESTS[op](self.value(a), self.value(b))
        self.keep_guard(Guard(op, a, b, held))
        return held

    @property
    def guards(self) -> list[Guard]:
        """In the order in which they came."""
        return list(self._guards.values())

    def keep_guard(self, guard: Guard) -> None:
        """It must come out as it did."""
        self._guards.setdefault((guard, type(guard.left), type(guard.right)), guard)

    def test_finite(self, a: "int | float") -> bool:
        """Whether a value is a number; that becomes a guard."""
        held = math.isfinite(self.value(a))
        if isinstance(a, int):
            self.keep_guard(Guard("finite", a, 0.0, held))
        return held

    def live(self, roots: "Iterable[int | float]") -> list[int]:
        """The nodes that these need, in order."""
        needed: set[int] = set()
        stack = [root for root in roots if isinstance(root, int)]
        while stack:
            at = stack.pop()
            if at not in needed:
                needed.add(at)
                stack += [a for a in self._arguments(at) if isinstance(a, int)]
        return sorted(needed)

    def _arguments(self, at: int) -> "Sequence[int | float]":
        op, *args = self.nodes[at]
        if op == INPUT:
            return ()
        if op == CARRIED:
            if not args[0].exits:  # a loop around the one that is made
                return ()
            return args[0].entries[self._symbols[at]], args[0].exits[self._symbols[at]]
        if op == LEFT:
            return (args[0].symbols[self._lefts[at]], *args[0].needs())
        return args

    def open_loop(self) -> Loop:
        """A loop whose body is made from here on."""
        self.loops.append(Loop(len(self.loops)))
        return self.loops[-1]

    def carry(self, loop: Loop, entry: "int | float") -> "Scalar":
        """The symbol of one more variable of a loop."""
        at = self._add((CARRIED, loop), self.value(entry))
        self._symbols[at] = len(loop.symbols)
        loop.entries.append(entry)
        loop.symbols.append(at)
        return Scalar(self, at)

    def close_loop(self, loop: Loop) -> bool:
        """Make nodes of what is left after the last round; False where guards of a round break at the sample."""
        order = self.live([*loop.symbols, *loop.needs()])
        held = self._run(loop, self.blocks(order), self.values)
        for k, symbol in enumerate(loop.symbols):
            at = self._add((LEFT, loop), self.values[symbol])
            self._lefts[at] = k
            loop.lefts.append(at)
        return held

    def blocks(self, order: Sequence[int]) -> "dict[Loop | None, list[int]]":
        """Live nodes, in order, by the loop in whose body they are, the innermost; None: in none."""
        inside: dict[int, frozenset[Loop]] = {}
        found: dict[Loop | None, list[int]] = {None: []}
        for at in order:
            op, *args = self.nodes[at]
            if op == CARRIED:
                of = frozenset(args)
            else:
                if op == LEFT:
                    carried = [k for k, symbol in enumerate(args[0].symbols) if symbol in inside]
                    args = [*args[0].needs(), *(a for k in carried for a in (args[0].entries[k], args[0].exits[k]))]
                of = frozenset().union(*(inside[a] for a in args if isinstance(a, int))) if op != INPUT else frozenset()
                of -= frozenset(self.nodes[at][1:2]) if op == LEFT else frozenset()
            inside[at] = of
            found.setdefault(max(of, key=lambda loop: loop.number, default=None), []).append(at)
        return found

    def _run(
        self, loop: Loop, blocks: "dict[Loop | None, list[int]]", values: "MutableMapping[int, float] | list[float]"
    ) -> bool:
        """All rounds of a loop, on values; False where guards break."""
        carried = [k for k, symbol in enumerate(loop.symbols) if symbol in set(blocks.get(loop, ()))]
        for k in carried:
            values[loop.symbols[k]] = _at(values, loop.entries[k])
        while True:
            held = self._compute(blocks.get(loop, ()), blocks, values)
            if not all(test.holds(lambda a: _at(values, a)) for test in loop.tests):
                return True
            if not held or not all(guard.holds(lambda a: _at(values, a)) for guard in loop.guards):
                return False
            new = [_at(values, loop.exits[k]) for k in carried]
            for k, value in zip(carried, new, strict=True):
                values[loop.symbols[k]] = value

    def _compute(self, order: Sequence[int], blocks: "dict[Loop | None, list[int]]", values: Any) -> bool:
        """Values of nodes of one block; False where guards of a loop break."""
        done: set[Loop] = set()
        held = True
        for at in order:
            op, *args = self.nodes[at]
            if op == LEFT:
                if args[0] not in done:
                    held = self._run(args[0], blocks, values) and held
                    done.add(args[0])
                values[at] = values[args[0].symbols[self._lefts[at]]]
            elif op not in (INPUT, CARRIED):
                values[at] = SAMPLED[op](*(values[a] if isinstance(a, int) else a for a in args))
        return held

    def evaluate(self, given: dict, roots: "Sequence[int | float]") -> list[float]:
        """Values of nodes where inputs have other values than at the sample: one by one, for tests and small things."""
        values: dict[int, float] = {self.inputs[name]: float(value) for name, value in given.items()}
        blocks = self.blocks(self.live(roots))
        self._compute(blocks[None], blocks, values)
        return [_at(values, root) for root in roots]

    def refuse_loops(self, what: str) -> None:
        """Raise where loops are kept: for what has to have straight lines."""
        if self.loops:
            raise Untraceable(f"{what} of a graph with loops; trace the step without keeping them")

    def variable(self, left: int) -> int:
        """The symbol in a round of what a node is after the last."""
        return self.nodes[left][1].symbols[self._lefts[left]]


def _at(values: Any, a: "int | float") -> float:
    return values[a] if isinstance(a, int) else a


def _same(a: "int | float", b: "int | float") -> bool:
    return type(a) is type(b) and a == b


def _is(a: "int | float", constant: float) -> bool:
    return isinstance(a, float) and a == constant


def _later(a: "int | float", b: "int | float") -> bool:
    """Whether two arguments that commute are to be exchanged: constants first, then by age."""
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(b, float)
    return a > b


def _is_power_of_two(a: float) -> bool:
    return math.isfinite(a) and abs(math.frexp(a)[0]) == 0.5 and math.isfinite(1.0 / a)


def refer(a: Any) -> "int | float":
    """A symbol or a number as an argument of a node; a zero has no sign."""
    return a.at if isinstance(a, Scalar) else float(a) + 0.0


def apply(op: str, *args: Any) -> Any:
    """An operation on symbols and numbers."""
    graph = next((a.graph for a in args if isinstance(a, Scalar)), None)
    if graph is None:
        return float((BINARY.get(op) or UNARY[op])(*(float(a) for a in args)))
    made = graph.make(op, *(refer(a) for a in args))
    return Scalar(graph, made) if isinstance(made, int) else made


class Scalar:
    """A number that is not known: a node of a graph. What needs to know it becomes a guard, or raises."""

    __slots__ = ("at", "graph")

    def __init__(self, graph: Graph, at: int):
        self.graph, self.at = graph, at

    @property
    def value(self) -> float:
        """At the sample."""
        return self.graph.values[self.at]

    def __add__(self, b: Any) -> Any:
        return apply("+", self, b) if is_number(b) else NotImplemented

    def __radd__(self, b: Any) -> Any:
        return apply("+", b, self)

    def __sub__(self, b: Any) -> Any:
        return apply("-", self, b) if is_number(b) else NotImplemented

    def __rsub__(self, b: Any) -> Any:
        return apply("-", b, self)

    def __mul__(self, b: Any) -> Any:
        return apply("*", self, b) if is_number(b) else NotImplemented

    def __rmul__(self, b: Any) -> Any:
        return apply("*", b, self)

    def __truediv__(self, b: Any) -> Any:
        return apply("/", self, b) if is_number(b) else NotImplemented

    def __rtruediv__(self, b: Any) -> Any:
        return apply("/", b, self)

    def __neg__(self) -> Any:
        return apply("neg", self)

    def _test(self, op: str, a: Any, b: Any) -> bool:
        return self.graph.test(op, refer(a), refer(b))

    def __lt__(self, b: Any) -> bool:
        return self._test("<", self, b)

    def __le__(self, b: Any) -> bool:
        return self._test("<=", self, b)

    def __gt__(self, b: Any) -> bool:
        return self._test("<", b, self)

    def __ge__(self, b: Any) -> bool:
        return self._test("<=", b, self)

    def __eq__(self, b: Any) -> bool:
        return self._test("==", self, b)

    def __ne__(self, b: Any) -> bool:
        return not self._test("==", self, b)

    def __bool__(self) -> bool:
        return not self._test("==", self, 0.0)

    __hash__ = None  # type: ignore[assignment]

    def _refuse(self, what: str) -> Any:
        raise Untraceable(f"a number that depends on the state is used as {what}")

    def __int__(self) -> int:
        """A whole number that the state keeps: that it is this one becomes a guard."""
        if not self.value.is_integer() or not self._test("==", self, self.value):
            return self._refuse("an integer")
        return int(self.value)

    def __index__(self) -> int:
        return self._refuse("an index or a count")

    def __float__(self) -> float:
        return self._refuse("a constant")

    def __mod__(self, b: Any) -> Any:
        return self._refuse("a dividend of a remainder")

    def __floordiv__(self, b: Any) -> Any:
        return self._refuse("a dividend of a whole quotient")


class Whole(Scalar):
    """A whole number that the state keeps: which one it is becomes a guard only where that has to be known."""

    __slots__ = ()

    def __index__(self) -> int:
        return int(self)


def is_number(a: Any) -> bool:
    """A symbol or a number."""
    return isinstance(a, Scalar | int | float)
