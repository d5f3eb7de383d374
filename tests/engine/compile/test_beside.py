"""Sines and angles side by side in a register: the bits of one alone, in an order in which all is there when needed."""

import math

import numpy as np
import pytest

from impulsar.engine.compile.beside import REACH, find_beside
from impulsar.engine.compile.emit_c import emit
from impulsar.engine.compile.graph import Graph, apply
from impulsar.engine.compile.reports import Tally
from impulsar.engine.compile.step import STATE, TracedStep

from .test_emit import run


def inputs(graph: Graph, values) -> list:
    return [graph.input((STATE, k), value) for k, value in enumerate(values)]


@pytest.mark.parametrize("n", (1, 2, 4, 5, 8, 9, 19))
def test_any_number_of_sines_has_the_graphs_bits(n) -> None:
    """Full registers and partly filled ones; half angles come between, and an angle that only its cosine needs."""
    graph, rng = Graph(), np.random.default_rng(n)
    values = rng.uniform(-9.0, 9.0, n)
    angles = inputs(graph, values)
    made = []
    for k, a in enumerate(angles):
        half = a * 0.5 + 0.125 * k
        made += [apply("cos", half)] if k == 1 else [apply("sin", half), apply("cos", half)]
    state = np.zeros((n + len(made), 1))
    state[:n, 0] = values
    outputs = {n + k: one.at for k, one in enumerate(made)}
    text = emit(TracedStep(graph, outputs, Tally(), []), 1, {})
    assert text.count("; SINCOS_") == n // 8 + (n % 8 > 1)
    run(graph, outputs, state, 1, 1)
    given = {(STATE, k): value for k, value in enumerate(values)}
    assert state[n:, 0].tolist() == graph.evaluate(given, [one.at for one in made])


def test_what_waits_for_a_sine_comes_after_it() -> None:
    """Sines of sines, angles of sines and sines of those angles; large angles and no numbers among them."""
    graph = Graph()
    values = [0.3, -2.0, 4e7, 1.1, math.inf, -0.4]
    angles = inputs(graph, values)
    first = [apply("sin", a) for a in angles]
    turned = [apply("atan2", s, a + 1.0) for s, a in zip(first, angles, strict=True)]
    second = [apply("cos", s * 3.0 + t) for s, t in zip(first, turned, strict=True)]
    made = [*first, *turned, *second]
    outputs = {6 + k: one.at for k, one in enumerate(made)}
    state = np.zeros((6 + len(made), 1))
    state[:6, 0] = values
    run(graph, outputs, state, 1, 1)
    expected = graph.evaluate({(STATE, k): value for k, value in enumerate(values)}, [one.at for one in made])
    np.testing.assert_array_equal(state[6:, 0], expected)


@pytest.mark.parametrize("breaks", (False, True))
def test_guards_are_tested_where_all_they_compare_is_there(breaks) -> None:
    """A guard between two sines compares what was done sooner for the second with what comes after the first."""
    graph = Graph()
    a, b = inputs(graph, [0.5, 0.7])
    sine = apply("sin", a)
    sooner = b * 2.0
    assert sine < sooner
    other = apply("sin", sooner + 0.25)
    state = np.array([[0.5], [-3.0 if breaks else 0.9], [0.0]])
    done = run(graph, {2: (sine + other).at}, state, 1, 1)
    expected = graph.evaluate({(STATE, 0): 0.5, (STATE, 1): 0.9}, [(sine + other).at])[0]
    assert done.tolist() == [0 if breaks else 1] and state[2, 0] == (0.0 if breaks else expected)


def test_little_is_done_sooner_for_a_number() -> None:
    """What takes more than `REACH` operations before it comes when it is its turn."""
    graph = Graph()
    a, b = inputs(graph, [0.5, 0.7])
    first = apply("sin", a)
    far = b
    for k in range(REACH + 1):
        far = far * far + float(k)
    near = apply("sin", b * 2.0)
    made = [first, apply("sin", far), near]
    found = find_beside(graph, [at for at in graph.live([one.at for one in made]) if at >= first.at], (), ())
    assert found.nodes == [[first.at], [near.at]]
