"""Derivatives of a traced step: partial derivatives of every operation, and Jacobians of many states at a time.

    y = f(a, b)      ẏ = ∂f/∂a ȧ + ∂f/∂b ḃ

A graph is evaluated for many states at once, [lane], which are the steps of a trajectory and the worlds of a batch:
what steps do to each other's derivatives is a product of matrices afterwards. What is held (the sizes of sub-steps)
has no derivative; max, min and abs have that of the side they are on, and none is infinite where a root or an angle is
of nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .graph import INPUT, TESTS, UNARY, Graph, Guard, Scalar, apply

TINY = 1e-300
MOST_NUMBERS = 2**24  # that a pass over a graph keeps at a time

ARRAYS: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "max": lambda a, b: np.where(a > b, a, b),
    "min": lambda a, b: np.where(a < b, a, b),
    "atan2": np.arctan2,
    "pow": np.power,
    "above": lambda a, b: np.where(a > b, 1.0, 0.0),
    "as": lambda a, b: a,
    "neg": np.negative,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "round": lambda a: np.where(np.abs(a) < 2.0**52, np.copysign(np.floor(np.abs(a) + 0.5), a), a),
    **{op: getattr(np, op) for op in ("abs", "sqrt", "sin", "cos", "tan", "exp", "log", "tanh", "floor")},
}
assert not set(UNARY) - set(ARRAYS)


def on_arrays(op: str, *args: Any) -> Any:
    """An operation on numbers of many lanes."""
    return ARRAYS[op](*args)


def partials(op: str, args: Sequence[Any], y: Any, apply: Callable[..., Any]) -> tuple[Any, ...]:
    """∂y/∂a of every argument of an operation, of arrays or of symbols; `apply` carries out operations on them."""
    a = args[0]
    if len(args) == 2:
        return _binary_partials(op, a, args[1], y, apply)
    if op == "neg":
        return (-1.0,)
    if op == "abs":
        return (apply("above", a, 0.0) - apply("above", 0.0, a),)
    if op == "sqrt":
        return (0.5 / apply("max", y, TINY),)
    if op in ("asin", "acos"):
        slope = 1.0 / apply("sqrt", apply("max", 1.0 - a * a, TINY))
        return (slope if op == "asin" else -slope,)
    if op in ("floor", "round"):
        return (0.0,)
    slopes: dict[str, Callable[[], Any]] = {
        "sin": lambda: apply("cos", a),
        "cos": lambda: -apply("sin", a),
        "tan": lambda: 1.0 + y * y,
        "atan": lambda: 1.0 / (1.0 + a * a),
        "exp": lambda: y,
        "log": lambda: 1.0 / a,
        "tanh": lambda: 1.0 - y * y,
    }
    return (slopes[op](),)


def _binary_partials(op: str, a: Any, b: Any, y: Any, apply: Callable[..., Any]) -> tuple[Any, Any]:
    if op == "+":
        return 1.0, 1.0
    if op == "-":
        return 1.0, -1.0
    if op == "*":
        return b, a
    if op == "/":
        inverse = 1.0 / b
        return inverse, -(y * inverse)
    if op in ("max", "min"):
        first = apply("above", a, b) if op == "max" else apply("above", b, a)
        return first, 1.0 - first
    if op == "atan2":
        inverse = 1.0 / apply("max", a * a + b * b, TINY)
        return b * inverse, -(a * inverse)
    if op == "pow":
        of_exponent = 0.0 if isinstance(b, float) else y * apply("log", apply("max", a, TINY))
        return b * apply("pow", a, b - 1.0), of_exponent
    return 0.0, 1.0 if op == "as" else 0.0


Lanes = Mapping[Any, "np.ndarray | float"]  # values of inputs, by name, [lane]


def evaluate(graph: Graph, given: Lanes, order: Sequence[int]) -> dict[int, Any]:
    """Values of live nodes, in order, where inputs are those of many lanes."""
    graph.refuse_loops("derivatives")
    values: dict[int, Any] = {}
    named = {at: name for name, at in graph.inputs.items()}
    with np.errstate(all="ignore"):
        for at in order:
            op, *args = graph.nodes[at]
            if op == INPUT:
                values[at] = np.asarray(given[named[at]], float)
            else:
                values[at] = ARRAYS[op](*[values[a] if isinstance(a, int) else a for a in args])
    return values


def holding(graph: Graph, guards: Sequence[Guard], given: Lanes, lanes: int) -> np.ndarray:
    """The lanes in which all guards hold."""
    order = graph.live([side for guard in guards for side in (guard.left, guard.right)])
    held = np.ones(lanes, bool)
    step = max(1, MOST_NUMBERS // max(len(order), 1))
    for first in range(0, lanes, step):
        part = slice(first, min(first + step, lanes))
        mine = {name: np.broadcast_to(value, lanes)[part] for name, value in given.items()}
        values = evaluate(graph, mine, order)
        for guard in guards:
            left, right = (values[a] if isinstance(a, int) else a for a in (guard.left, guard.right))
            told = np.isfinite(left) if guard.op == "finite" else TESTS[guard.op](left, right)
            held[part] &= np.broadcast_to(told, held[part].shape) == guard.held
    return held


def jacobians(
    graph: Graph, roots: "Sequence[int | float]", given: Lanes, seeds: Mapping[Any, Mapping[int, Any]], lanes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Values of roots [root, lane] and their derivatives along directions [root, direction, lane].

    seeds: how inputs change along directions, by the name of the input and the number of the direction.
    """
    directions = 1 + max((k for of in seeds.values() for k in of), default=-1)
    order = graph.live(roots)
    values = np.zeros((len(roots), lanes))
    slopes = np.zeros((len(roots), directions, lanes))
    step = max(1, MOST_NUMBERS // max(len(order) * (1 + directions), 1))
    for first in range(0, lanes, step):
        part = slice(first, min(first + step, lanes))
        mine = {name: np.broadcast_to(value, lanes)[part] for name, value in given.items()}
        found = evaluate(graph, mine, order)
        moved = _push(graph, order, found, seeds, directions)
        for k, root in enumerate(roots):
            values[k, part] = found[root] if isinstance(root, int) else root
            if isinstance(root, int) and root in moved:
                slopes[k, :, part] = np.broadcast_to(moved[root].T, slopes[k, :, part].T.shape).T
    return values, slopes


def _push(
    graph: Graph, order: Sequence[int], values: dict[int, Any], seeds: Mapping[Any, Mapping[int, Any]], directions: int
) -> dict[int, np.ndarray]:
    """Derivatives of live nodes along directions [direction, lane]; those that have none are left out."""
    named = {at: name for name, at in graph.inputs.items()}
    moved: dict[int, np.ndarray] = {}
    with np.errstate(all="ignore"):
        for at in order:
            op, *args = graph.nodes[at]
            if op == INPUT:
                if named[at] in seeds:
                    moved[at] = np.zeros((directions, 1))
                    for k, value in seeds[named[at]].items():
                        moved[at][k] = value
                continue
            if not any(a in moved for a in args[op == "as" :] if isinstance(a, int)):
                continue
            given = [values[a] if isinstance(a, int) else a for a in args]
            total: Any = None
            for a, slope in zip(args, partials(op, given, values[at], on_arrays), strict=True):
                if isinstance(a, int) and a in moved and not (isinstance(slope, float) and slope == 0.0):
                    term = moved[a] if isinstance(slope, float) and slope == 1.0 else slope * moved[a]
                    total = term if total is None else total + term
            if total is not None:
                moved[at] = total
    return moved


def slope_of(graph: Graph, root: int, by: int) -> Any:
    """∂root/∂node as nodes of the same graph: one direction, from that node on."""
    moved: dict[int, Any] = {by: 1.0}
    for at in graph.live([root]):
        op, *args = graph.nodes[at]
        if at <= by or not any(a in moved for a in args[op == "as" :] if isinstance(a, int)):
            continue
        given = [Scalar(graph, a) if isinstance(a, int) else a for a in args]
        total: Any = 0.0
        for a, slope in zip(args, partials(op, given, Scalar(graph, at), apply), strict=True):
            if isinstance(a, int) and a in moved:
                total = total + slope * moved[a]
        moved[at] = total
    return moved.get(root, 0.0)


def reached(graph: Graph, rows: Mapping[Any, int]) -> dict[int, int]:
    """Which inputs the nodes depend on, as bits; rows: the bit of each input that counts."""
    bits: dict[int, int] = {}
    named = {at: name for name, at in graph.inputs.items()}
    for at, (op, *args) in enumerate(graph.nodes):
        if op == INPUT:
            bits[at] = 1 << rows[named[at]] if named[at] in rows else 0
        else:
            found = 0
            for a in args[op == "as" :]:
                if isinstance(a, int):
                    found |= bits[a]
            bits[at] = found
    return bits
