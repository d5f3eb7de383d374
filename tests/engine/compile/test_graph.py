"""Symbols: what is folded, what is kept, what becomes a guard."""

import math

import pytest

from impulsar.engine.compile.graph import INPUT, Graph, Untraceable, apply
from impulsar.engine.compile.shim import FUNCTIONS, inverse, quat_rotate
from impulsar.engine.compile.symbols import Quaternion, copied, matrix, vector


@pytest.fixture
def graph() -> Graph:
    return Graph()


def test_equal_things_are_one_node(graph) -> None:
    a, b = graph.input("a", 2.0), graph.input("b", 3.0)
    assert (a + b).at == (b + a).at
    assert (a * b).at == (b * a).at
    assert (a - b).at != (b - a).at


def test_what_is_simpler_takes_the_place_of_what_it_equals(graph) -> None:
    a, b = graph.input("a", 2.0), graph.input("b", 3.0)
    assert (a + 0.0).at == a.at and (1.0 * a).at == a.at and apply("neg", -a).at == a.at
    assert (a - a) == 0.0 and 0.0 * a == 0.0
    assert (a - (-b)).at == (a + b).at
    assert ((-a) * (-b)).at == (a * b).at
    assert (a / 4.0).at == (0.25 * a).at
    assert graph.nodes[(a / 3.0).at][0] == "/"  # a third is no number of the machine
    assert not graph.guards


def test_a_branch_leaves_a_guard(graph) -> None:
    """Comparisons are kept in the direction in which they hold for numbers only."""
    a, b = graph.input("a", 2.0), graph.input("b", 3.0)
    assert not a > b
    (guard,) = graph.guards
    assert (guard.op, guard.left, guard.right, guard.held) == ("<", b.at, a.at, False)
    assert not a > b and len(graph.guards) == 1


def test_dead_nodes_are_left_out(graph) -> None:
    a, b = graph.input("a", 2.0), graph.input("b", 3.0)
    kept, _ = a * b, a + b
    assert graph.live([kept.at]) == [a.at, b.at, kept.at]
    assert [graph.nodes[at][0] for at in graph.live([kept.at])] == [INPUT, INPUT, "*"]


def test_the_graph_is_a_function_of_its_inputs(graph) -> None:
    a, b = graph.input("a", 0.3), graph.input("b", 0.7)
    made = apply("sin", a) * apply("sqrt", b) / (a + 2.0) - apply("atan2", a, b)
    expected = math.sin(1.1) * math.sqrt(0.4) / (1.1 + 2.0) - math.atan2(1.1, 0.4)
    assert graph.evaluate({"a": 1.1, "b": 0.4}, [made.at]) == [expected]


@pytest.mark.parametrize("use", [lambda a: range(a), lambda a: [1, 2][a], lambda a: a % 2, lambda a: float(a)])
def test_what_must_be_known_raises(graph, use) -> None:
    with pytest.raises(Untraceable, match="depends on the state"):
        use(graph.input("a", 1.0))


def test_a_whole_number_of_the_state_is_guarded(graph) -> None:
    a = graph.input("a", 3.0)
    assert int(a) == 3
    (guard,) = graph.guards
    assert (guard.op, guard.right, guard.held) == ("==", 3.0, True)
    with pytest.raises(Untraceable, match="an integer"):
        int(graph.input("b", 2.5))


def test_copies_are_their_own(graph) -> None:
    a = vector(3)(1.0, 2.0, 3.0)
    b = copied(a)
    b[0] = graph.input("a", 5.0)
    assert a[0] == 1.0


def test_an_inverse_times_its_matrix_is_one() -> None:
    m = matrix(3, 3)(2.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.5, 1.0, 4.0)
    assert (inverse(m) * m).c == pytest.approx([1, 0, 0, 0, 1, 0, 0, 0, 1], abs=4e-16)


def test_a_rotation_keeps_lengths_and_its_inverse_undoes_it() -> None:
    half = 0.35
    q = Quaternion(math.sin(half) * 0.6, 0.0, math.sin(half) * 0.8, math.cos(half))
    v = vector(3)(0.3, -1.2, 2.0)
    turned = quat_rotate(q, v)
    assert FUNCTIONS["length"](turned) == pytest.approx(FUNCTIONS["length"](v), rel=4e-16)
    assert quat_rotate(FUNCTIONS["quat_inverse"](q), turned).c == pytest.approx(v.c, rel=1e-15)


def test_a_constant_is_not_the_node_of_its_number() -> None:
    """1.0 and 1 have the same hash and are equal in Python."""
    graph = Graph()
    a, b = graph.input("a", 3.0), graph.input("b", 5.0)  # nodes 0 and 1
    assert [(a * b).value, (a + b).value, (b - 0.5).value] == [15.0, 8.0, 4.5]
    assert (graph.input("c", 7.0) + 1.0).value == 8.0 and (b + graph.input("c", 7.0)).value == 12.0
    assert a < 1.0 or len(graph.guards) == 1
    assert a < b and len(graph.guards) == 2
