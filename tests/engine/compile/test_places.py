"""What a thread of few registers puts aside and computes again: followed action by action, and at the sample."""

import pytest

from impulsar.engine.compile.adjoint import Adjoint, Places
from impulsar.engine.compile.again import make_again
from impulsar.engine.compile.cuts import alive, operations
from impulsar.engine.compile.emit_cuda import cost
from impulsar.engine.compile.graph import INPUT, SAMPLED, Graph, apply
from impulsar.engine.compile.places import (
    CLOSE,
    DO,
    FETCH,
    KEEP,
    LEAVE,
    OPEN,
    SET,
    TEST,
    WRITE,
    Action,
    plan,
)
from impulsar.engine.compile.reports import Tally
from impulsar.engine.compile.step import STATE, TracedStep

from .stepping import FIXED, traced_step

CASES = [
    ("ten-pendula", "simgc", 1e-3, {"start": "30deg"}, False),
    ("four-bar", FIXED, 1e-3, {}, False),
    ("peaucellier", FIXED, 1e-3, {}, True),
]


def rounds(actions: list[Action], count: int) -> list[Action]:
    """With each loop gone round so many times."""
    found: list[Action] = []
    starts: list[int] = []
    for action in actions:
        if action.way == OPEN:
            starts.append(len(found))
        found.append(action)
        if action.way == CLOSE:
            found += found[starts.pop() :] * (count - 1)
    return found


@pytest.mark.parametrize("room", [24, 108])
@pytest.mark.parametrize("name, method, dt, parameters, loops", CASES)
def test_what_is_needed_is_in_a_register_and_places_hold_what_is_fetched(
    name, method, dt, parameters, loops, room
) -> None:
    """Through two rounds of each loop: never more in registers than there is room for; rows are read before written."""
    step, _ = traced_step(name, method, dt, parameters, loops)
    found = plan(step, operations(step.graph, step.roots), room, 10)
    actions = rounds(found.actions, 2)
    rows = {at: input[1] for input, at in step.graph.inputs.items() if input[0] == STATE}
    held: set[int] = set()
    there: dict[int, int] = {}  # what each place holds
    written: set[int] = set()
    until: list[set[int]] = [set()]  # values that are needed from a register, later
    for action in reversed(actions):
        gone = {action.node} if action.way in (FETCH, DO) else set()
        until.append((set() if action.way in (OPEN, CLOSE) else until[-1] - gone) | set(action.needs))
    for action, later in zip(actions, reversed(until[:-1]), strict=True):
        assert set(action.needs) <= held
        if action.way in (OPEN, CLOSE):
            held = set()
        elif action.way == FETCH:
            assert (
                rows[action.node] not in written
                if action.node in rows
                else there[found.place[action.node]] == action.node
            )
        elif action.way in (KEEP, SET):
            for at in [action.node] if action.way == KEEP else [symbol for symbol, _ in action.changes]:
                there[found.place[at]] = at
        elif action.way == WRITE:
            written |= {row for row, _ in action.changes}
        held = (held | ({action.node} if action.way in (FETCH, DO) else set())) & later
        assert len(held) <= room
    assert written >= {row for row, at in step.outputs.items() if step.graph.inputs.get((STATE, row)) != at}
    ways = [action.way for action in actions]
    assert LEAVE not in ways or (TEST not in ways[ways.index(LEAVE) :] and WRITE not in ways[: ways.index(LEAVE)])
    assert found.fast <= 10 and all(0 <= k < 10 + found.slow for k in found.place.values())


def test_what_is_needed_last_is_put_aside() -> None:
    """Of three values with room for two: one is kept and fetched once, that whose use is farthest."""
    graph = Graph()
    x = graph.input((STATE, 0), 0.5)
    a, b, c = (apply(op, x) for op in ("sqrt", "exp", "floor"))
    ends = [(b * c).at, (a * b).at]
    step = TracedStep(graph, dict(enumerate(ends, start=1)), Tally(), [])
    found = plan(step, operations(graph, step.roots), 2, 1)
    assert [one.node for one in found.actions if one.way == KEEP] == [a.at]
    assert [one.node for one in found.actions if one.way == FETCH].count(a.at) == 1


def test_more_room_means_less_put_aside() -> None:
    step, _ = traced_step("four-bar", FIXED, 1e-3, {})
    order = operations(step.graph, step.roots)
    sizes = [
        sum(one.way in (KEEP, FETCH) for one in plan(step, order, room, 10).actions) for room in (20, 40, 80, 1000)
    ]
    inputs = sum(step.graph.nodes[at][0] == INPUT for at in step.graph.live(step.roots))
    assert sizes == sorted(sizes, reverse=True) and sizes[-1] == inputs


def computed(step: TracedStep, order: list[int]) -> dict[int, float]:
    """Rows of the state after a step at the sample, in some order."""
    graph = step.graph
    value = {at: graph.values[at] for at in graph.live(step.roots) if graph.nodes[at][0] == INPUT}
    for at in order:
        op, *args = graph.nodes[at]
        value[at] = SAMPLED[op](*(value[a] if isinstance(a, int) else a for a in args))
    return {row: value[at] if isinstance(at, int) else at for row, at in step.outputs.items()}


@pytest.mark.parametrize("name, method, dt, parameters", [one[:4] for one in CASES[:2]])
def test_what_is_made_again_is_the_same_and_less_is_alive(name, method, dt, parameters) -> None:
    """To the bit, at less cost, of an adjoint, or of a step with its guards."""
    step, _ = traced_step(name, method, dt, parameters)
    if not step.guards or name == "four-bar":
        adjoint = Adjoint(step, sorted(step.outputs), [])
        step = adjoint.placed(Places(sorted(adjoint.read), [], sorted(step.outputs)))
    order = operations(step.graph, step.roots)
    other, its = make_again(step, order, cost, 1)
    assert computed(other, its) == computed(step, order)
    assert cost(other, its) < cost(step, order) and len(its) > len(order)
    assert alive(other.graph, its, []).sum() / len(its) < alive(step.graph, order, []).sum() / len(order)
    assert len(its) == len(set(its))
    compared = [
        sorted((guard.op, graph.value(guard.left), graph.value(guard.right), guard.held) for guard in graph.guards)
        for graph in (step.graph if step.guards else Graph(), other.graph)
    ]
    assert compared[0] == compared[1]
