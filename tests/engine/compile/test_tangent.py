"""Partial derivatives of every operation, forward and reverse, beside differences."""

import numpy as np
import pytest

from impulsar.engine.compile.adjoint import pull_back
from impulsar.engine.compile.graph import BINARY, UNARY, Graph, apply
from impulsar.engine.compile.tangent import holding, jacobians, slope_of

POINTS = [(0.3, 0.7), (0.7, 0.3), (0.2, 0.9)]


def value(op: str, a: float, b: float) -> float:
    return BINARY[op](a, b) if op in BINARY else UNARY[op](a)


@pytest.mark.parametrize("op", [op for op in (*BINARY, *UNARY) if op not in ("above", "as")])
def test_partials_are_those_of_the_operation(op: str) -> None:
    """y' by differences of order 2 at 1e-5: off by 1e-10 of third derivatives of order 10."""
    graph = Graph()
    a, b = graph.input("a", 0.3), graph.input("b", 0.7)
    y = apply(op, a, b) if op in BINARY else apply(op, a)
    points = np.array(POINTS)
    given = {"a": points[:, 0], "b": points[:, 1]}
    values, slopes = jacobians(graph, [y.at], given, {"a": {0: 1.0}, "b": {1: 1.0}}, len(points))
    h = 1e-5
    for k, (p, q) in enumerate(POINTS):
        assert values[0, k] == pytest.approx(value(op, p, q), rel=1e-15)
        by_a = (value(op, p + h, q) - value(op, p - h, q)) / (2 * h)
        by_b = (value(op, p, q + h) - value(op, p, q - h)) / (2 * h)
        assert slopes[0, :, k] == pytest.approx([by_a, by_b], rel=1e-7, abs=1e-9)
    pulled = [getattr(one, "at", one) for one in pull_back(graph, {y.at: graph.input("seed", 1.0)}, ["a", "b"])]
    for k, (p, q) in enumerate(POINTS):
        got = graph.evaluate({"a": p, "b": q, "seed": 2.0}, pulled)
        assert got == pytest.approx(2.0 * slopes[0, :, k], rel=1e-14)


def test_a_size_that_is_held_has_no_derivative_and_a_root_of_nothing_none_that_is_infinite() -> None:
    graph = Graph()
    a = graph.input("a", 0.5)
    size = graph.moving_as((a * 3.0).at, 0.0)
    y, root = a * size, apply("sqrt", a * a)
    _, slopes = jacobians(graph, [y.at, root.at], {"a": np.array([0.5, 0.0])}, {"a": {0: 1.0}}, 2)
    assert slopes[0, 0] == pytest.approx([1.5, 0.0])
    assert slopes[1, 0] == pytest.approx([1.0, 0.0])
    assert graph.evaluate({"a": 0.5, "s": 1.0}, _nodes(pull_back(graph, {y.at: graph.input("s", 1.0)}, ["a"]))) == [1.5]


def test_a_value_may_move_as_another_does() -> None:
    """θ where g(θ, a) = θ² - a is 0 moves as -g / g_θ, g_θ held: dθ/da = 1 / 2θ, and d(θ³)/da = 3 θ / 2."""
    graph = Graph()
    a = graph.input("a", 0.49)
    theta = graph.moving_as(0.7, 0.0)
    g = theta * theta - a
    rate = slope_of(graph, g.at, theta.at)
    assert rate.value == pytest.approx(1.4)
    moving = graph.moving_as(theta.at, (-(g / graph.moving_as(rate.at, 0.0))).at)
    y = moving * moving * moving
    values, slopes = jacobians(graph, [y.at], {"a": np.array([0.49])}, {"a": {0: 1.0}}, 1)
    assert (values[0, 0], slopes[0, 0, 0]) == pytest.approx((0.343, 1.05), rel=1e-14)
    pulled = _nodes(pull_back(graph, {y.at: graph.input("s", 1.0)}, ["a"]))
    assert graph.evaluate({"a": 0.49, "s": 1.0}, pulled) == pytest.approx([1.05], rel=1e-14)


def _nodes(symbols: list) -> list:
    return [getattr(one, "at", one) for one in symbols]


def test_guards_are_tested_in_every_lane() -> None:
    graph = Graph()
    a = graph.input("a", 0.5)
    assert a * a < 1.0
    held = holding(graph, graph.guards, {"a": np.array([0.5, 2.0, -0.9, np.nan])}, 4)
    assert held.tolist() == [True, False, True, False]
