"""Loops kept in a graph: the same numbers as round by round, in Python and in C, whatever the number of rounds."""

import math

import numpy as np
import pytest
import warp as wp

from impulsar.engine.compile.adjoint import pull_back
from impulsar.engine.compile.emit_c import WIDTHS
from impulsar.engine.compile.graph import CARRIED, Graph, Guard, Untraceable, apply
from impulsar.engine.compile.loops import keeping
from impulsar.engine.compile.paths import Tree
from impulsar.engine.compile.reports import Tally
from impulsar.engine.compile.step import STATE, TracedStep
from impulsar.engine.compile.tangent import jacobians
from impulsar.engine.compile.tracing import Table, keep_loops_of, traced

from .test_emit import run

f64 = wp.float64
ZERO = wp.constant(wp.float64(0.0))


@wp.func
def root(a: f64, most: int):
    """Newton's iteration for a root, and how many rounds it took."""
    y = a
    rounds = int(0)
    while rounds < most and wp.abs(y * y - a) > f64(1e-13) * a:
        y = f64(0.5) * (y + a / y)
        rounds += 1
    return y, rounds


@wp.func
def nested(a: f64, b: wp.array2d(dtype=f64), w: int):
    """Rounds inside rounds, over an element of an array; a choice in them."""
    outer = int(0)
    while outer < 3:
        b[0, w] = b[0, w] + f64(1.0)
        inner = int(0)
        while b[0, w] < a and inner < 50:
            b[0, w] = b[0, w] + f64(0.25)
            inner += 1
        if b[0, w] > f64(4.0):
            a = a + f64(0.5)
        outer += 1
    return a


@wp.func
def indexed(a: f64, b: wp.array2d(dtype=f64), w: int):
    """Rounds whose count is an index: they cannot be kept."""
    k = int(0)
    while k < 3:
        b[k, w] = a
        k += 1
    return b[2, w]


@wp.func
def note(x: wp.array2d(dtype=f64), value: f64, w: int) -> f64:
    x[0, w] = value
    return value + f64(1.0)


@wp.func
def writes(a: f64, x: wp.array2d(dtype=f64), w: int):
    """A branch whose value comes of a function that writes: no choice, or it would write in any case."""
    b = a
    if a > f64(2.0):
        b = note(x, a, w)
    return b


keep_loops_of(root, nested, indexed, writes)


class Arrays:
    """Stands for `Tables`: a graph, and one array of three numbers, 0.5 at the start."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.all = [Table("b", (3, 1), None, lambda index, by_world: 0.5)]


def build(function, value: float, *more):
    """A graph of a function of one input, and what it returns."""
    graph = Graph()
    a = graph.input((STATE, 0), value)
    tables = Arrays(graph)
    with keeping(tables):
        given = (a, *more) if more else (a, tables.all[0], 0)
        found = traced(function)(*given)
    return graph, found, tables.all[0]


@pytest.mark.parametrize("width", WIDTHS)
def test_one_loop_does_for_all_numbers_of_rounds(width) -> None:
    """Roots of 16 numbers, from a sample that needs another number of rounds than most."""
    graph, (y, rounds), _ = build(root, 2.0, 60)
    assert len(graph.loops) == 1 and not graph.guards
    state = np.zeros((3, 16))
    state[0] = given = np.geomspace(1e-3, 1e6, 16)
    assert run(graph, {1: y.at, 2: rounds.at}, state, 1, width).all()
    expected = [traced(root)(a, 60) for a in given.tolist()]
    assert state[1].tolist() == [y for y, _ in expected] and state[2].tolist() == [n for _, n in expected]
    assert len(set(state[2])) > 3
    assert [graph.evaluate({(STATE, 0): a}, [y.at])[0] for a in given] == [y for y, _ in expected]
    assert y.value == pytest.approx(math.sqrt(2.0), rel=1e-13)


@pytest.mark.parametrize("width", WIDTHS)
def test_loops_inside_loops_and_choices(width) -> None:
    graph, a, table = build(nested, 1.0)
    assert len([node for node in graph.nodes if node[0] == CARRIED]) >= 4
    b = table[0, 0]
    state = np.zeros((3, 16))
    state[0] = given = np.linspace(-3.0, 12.0, 16)
    run(graph, {1: a.at, 2: b.at}, state, 1, width)
    for world, value in enumerate(given.tolist()):
        own = Table("b", (3, 1), None, lambda index, by_world: 0.5)
        assert state[1, world] == traced(nested)(value, own, 0) and state[2, world] == own[0, 0]


@pytest.mark.parametrize("width", WIDTHS)
def test_loops_inside_the_test_of_a_loop(width) -> None:
    """All that the inner rounds need stands before the test, not only what the test compares.

    while y > 0.6, y by rounds of halving x from above 1 and c, from 1.5 z on, the sum beside them: x <- 0.8 x, z <- c.
    """
    graph = Graph()
    a = graph.input((STATE, 0), 7.0)
    outer = graph.open_loop()
    x, z = graph.carry(outer, a.at), graph.carry(outer, 1.0)
    inner = graph.open_loop()
    y, c = graph.carry(inner, x.at), graph.carry(inner, (1.5 * z).at)
    inner.tests.append(Guard("<", 1.0, y.at, True))
    inner.exits += [(0.5 * y).at, (c + 0.5 * y).at]
    assert graph.close_loop(inner)
    outer.tests.append(Guard("<", 0.6, inner.lefts[0], True))
    outer.exits += [(0.8 * x).at, inner.lefts[1]]
    assert graph.close_loop(outer)
    state = np.zeros((2, 16))
    state[0] = given = np.linspace(0.3, 12.0, 16)
    assert run(graph, {1: outer.lefts[1]}, state, 1, width).all()

    def expected(x: float) -> float:
        z = 1.0
        while True:
            y, c = x, 1.5 * z
            while y > 1.0:
                y, c = 0.5 * y, c + 0.5 * y
            if not y > 0.6:
                return z
            x, z = 0.8 * x, c

    assert state[1].tolist() == [expected(x) for x in given.tolist()]


def test_rounds_that_cannot_be_kept_are_gone_through() -> None:
    graph, found, table = build(indexed, 1.5)
    assert found.at == table[0, 0].at == table[2, 0].at
    assert not [at for at in graph.live([found.at]) if graph.nodes[at][0] == CARRIED]


def test_what_a_branch_writes_is_not_written_beside_it() -> None:
    graph, found, table = build(writes, 1.5)
    assert table[0, 0] == 0.5 and found.at == 0 and len(graph.guards) == 1
    graph, found, table = build(writes, 2.5)
    assert table[0, 0].value == 2.5 and len(graph.guards) == 1


def test_a_guard_of_a_round_breaks_in_that_round() -> None:
    """x ← x - 1 while x > 0, a root of x + 2 on the way must not be below 1.1: worlds that come there stop before."""
    graph = Graph()
    x = graph.input((STATE, 0), 3.25)
    loop = graph.open_loop()
    now = graph.carry(loop, x.at)
    loop.exits = [(now - 1.0).at]
    loop.tests = [Guard("<", 0.0, now.at, True)]
    loop.guards = [Guard("<", apply("sqrt", now + 2.0).at, 1.5, False)]
    assert graph.close_loop(loop)
    start = np.array([3.25, 2.5, 0.3, 1.2, 5.4, 0.2, -1.0, 7.26])
    for width in WIDTHS:
        state = start[None].copy()
        done = run(graph, {0: loop.lefts[0]}, state, 1, width)
        assert done.tolist() == [1, 1, 1, 0, 1, 0, 1, 1]
        assert state[0] == pytest.approx(np.where(done, np.where(start > 0, start - np.ceil(start), start), start))


def test_derivatives_and_trees_are_not_made_of_loops() -> None:
    """They want straight lines, and say so."""
    graph, (y, _), _ = build(root, 2.0, 60)
    step = TracedStep(graph, {0: y.at}, Tally(), [])
    for attempt in (
        lambda: jacobians(graph, [y.at], {(STATE, 0): 2.0}, {(STATE, 0): {0: 1.0}}, 1),
        lambda: pull_back(graph, {y.at: 1.0}, [(STATE, 0)]),
        lambda: Tree([step]),
    ):
        with pytest.raises(Untraceable, match="of a graph with loops; trace the step without keeping them"):
            attempt()
