"""Straight lines in pieces: cut where least is alive, and to the bit what they were in one piece."""

import itertools

import numpy as np
import pytest

from impulsar.engine.compile.cuts import alive, arguments, choose, cut, operations, sides
from impulsar.engine.compile.emit_c import WIDTHS, emit
from impulsar.engine.compile.graph import Graph, apply

from .stepping import FIXED, around, take, traced_step


def test_cuts_cost_as_little_as_they_can() -> None:
    """Against all ways of cutting: no piece longer than `most`, none but the last shorter than half of it."""
    rng = np.random.default_rng(1)
    for count, most in itertools.product((1, 5, 11, 12), (2, 4, 5)):
        cost = rng.integers(0, 9, count + 1).astype(float)
        ways = []
        for size in range(count):
            for cuts in itertools.combinations(range(1, count), size):
                lengths = np.diff([0, *cuts, count])
                if (lengths <= most).all() and (lengths[:-1] >= most // 2).all():
                    ways.append(cost[list(cuts)].sum())
        found = choose(cost, most)
        assert max(np.diff([0, *found, count])) <= most
        assert cost[found].sum() == min(ways)


def test_alive_are_values_computed_before_and_needed_later() -> None:
    step, _ = traced_step("four-bar", FIXED, 1e-3, {})
    graph, ends = step.graph, list(step.outputs.values())
    order = operations(graph, step.roots)
    counted = alive(graph, order, ends, step.guards)
    place = {at: k for k, at in enumerate(order)}
    assert all(place[a] < k for k, at in enumerate(order) for a in arguments(graph, at) if a in place)
    for k in (0, 1, len(order) // 3, len(order) - 1, len(order)):
        needed = {a for at in order[k:] for a in arguments(graph, at)} | set(ends)
        for guard in step.guards:
            if max(place.get(a, -1) for a in sides(guard)) >= k:
                needed |= set(sides(guard))
        assert counted[k] == sum(at in needed for at in order[:k])


@pytest.mark.parametrize("most", [7, 60, 400])
def test_a_place_holds_what_a_piece_is_given(most) -> None:
    """Followed through the pieces: what is read from a place was kept there, and nothing is kept over it before."""
    step, _ = traced_step("four-bar", FIXED, 1e-3, {})
    found = cut(step.graph, list(step.outputs.values()), step.guards, most)
    held: dict[int, int] = {}
    for piece in found.pieces:
        assert len(piece.nodes) <= most
        assert all(held[place] == at for at, place in piece.given.items())
        held.update({place: at for at, place in piece.kept.items()})
        there = {*piece.nodes, *piece.given, *piece.inputs}
        assert all(a in there for at in piece.nodes for a in arguments(step.graph, at))
        assert all(a in there for guard in piece.guards for a in sides(guard))
    assert all(held[place] == at for at, place in found.ends.items())
    assert sum(len(piece.guards) for piece in found.pieces) == len(step.guards) > 10
    assert found.places == max(held) + 1


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name, method, parameters", [("chain", "simgc", {"n": 6}), ("four-bar", FIXED, {})])
def test_pieces_do_what_one_piece_does(name, method, parameters, width) -> None:
    """To the bit, with as many steps before a guard breaks in each world."""
    step, start = traced_step(name, method, 1e-3, parameters)
    assert "step_2" in emit(step, width, {}, 150) and "step_0" not in emit(step, width, {})
    states = around(start, 16, 0.02)
    (whole, all_done), (in_pieces, done) = (take(step, states, 40, width, most) for most in (0, 150))
    assert (whole == in_pieces).all() and (all_done == done).all() and (whole != states).any()
    assert (done == 40).all() == (name == "chain")  # the loop's guards break in some worlds


def test_a_sine_goes_with_its_cosine() -> None:
    graph = Graph()
    a = graph.input("a", 0.3)
    first = apply("sin", a)
    last = first * 2.0 + 1.0
    other = apply("cos", a)
    assert operations(graph, [last.at, other.at])[:2] == [first.at, other.at]
