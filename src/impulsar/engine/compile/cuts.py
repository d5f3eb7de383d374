"""Straight lines cut into pieces, where few values are alive: functions that a compiler and its registers can take.

A piece computes some nodes, one after the other. It is given what earlier pieces kept for it, and keeps what later ones
need, in places of an array of its world; a place is used again once nobody needs what is in it. Inputs are read where
they are needed. What is computed for the end is kept to the end: a step that breaks a guard leaves all as it was.

    alive(i)    values that were computed before operation i and are needed from there on
    Σ alive     over the cuts, least, with pieces of `most` / 2 to `most` operations
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from .graph import INPUT, Graph, Guard

Ref = int | float  # of a node, or a constant


@dataclass
class Piece:
    """Operations that belong together."""

    nodes: list[int]  # in order
    guards: list[Guard] = field(default_factory=list)  # of which the last side is computed here
    inputs: list[int] = field(default_factory=list)  # that it reads
    given: dict[int, int] = field(default_factory=dict)  # places of values that earlier pieces kept for it
    kept: dict[int, int] = field(default_factory=dict)  # places of values of its own that are needed later


@dataclass
class Pieces:
    """Straight lines in pieces."""

    pieces: list[Piece]
    places: int  # between pieces, of a world
    ends: dict[int, int]  # places of what is computed for the end


def cut(graph: Graph, ends: Sequence[Ref], guards: Sequence[Guard], most: int) -> Pieces:
    """Pieces of at most so many operations that compute `ends` and what guards compare."""
    order = operations(graph, [*ends, *(a for guard in guards for a in sides(guard))])
    cuts = choose(alive(graph, order, ends, guards), most)
    pieces = [Piece(order[start:end]) for start, end in zip([0, *cuts], [*cuts, len(order)], strict=True)]
    number = {at: k for k, piece in enumerate(pieces) for at in piece.nodes}
    for guard in guards:
        pieces[max((number.get(a, 0) for a in sides(guard)), default=0)].guards.append(guard)
    final = {at for at in ends if isinstance(at, int) and at in number}
    places, where = _connect(graph, pieces, number, final)
    return Pieces(pieces, places, {at: where[at] for at in final})


def operations(graph: Graph, roots: Iterable[Ref]) -> list[int]:
    """What these need, in order, but for inputs; the cosine of an angle beside its sine, since one gives the other."""
    first: dict[int, int] = {}  # of sine and cosine, by the angle
    groups: dict[int, list[int]] = {}
    for at in graph.live(roots):
        op, *args = graph.nodes[at]
        if op == INPUT:
            continue
        lead = first.setdefault(args[0], at) if op in ("sin", "cos") else at
        groups.setdefault(lead, []).append(at)
    return [at for group in groups.values() for at in group]


def arguments(graph: Graph, at: int) -> list[int]:
    """Nodes that a node is made of."""
    op, *args = graph.nodes[at]
    return [] if op == INPUT else [a for a in args if isinstance(a, int)]


def sides(guard: Guard) -> list[int]:
    """Nodes that a guard compares."""
    return [a for a in (guard.left, guard.right) if isinstance(a, int)]


def alive(graph: Graph, order: Sequence[int], ends: Iterable[Ref], guards: Iterable[Guard] = ()) -> np.ndarray:
    """How many values are needed at a place of an order or after it, of those computed before it; [place]."""
    place = {at: k for k, at in enumerate(order)}
    last = {a: k for k, at in enumerate(order) for a in arguments(graph, at) if a in place}
    for guard in guards:
        end = max((place.get(a, 0) for a in sides(guard)), default=0)
        last.update({a: max(end, last.get(a, 0)) for a in sides(guard) if a in place})
    last.update({at: len(order) for at in ends if isinstance(at, int) and at in place})
    change = np.zeros(len(order) + 2, np.int64)
    for at, end in last.items():
        change[place[at] + 1] += 1
        change[end + 1] -= 1
    return np.cumsum(change)[:-1]


def choose(cost: np.ndarray, most: int) -> list[int]:
    """Where to cut so that the costs of the cuts are least and no piece has more than so many operations."""
    count, least = len(cost) - 1, max(1, most // 2)
    best, back = np.full(count + 1, np.inf), np.zeros(count + 1, np.int64)
    best[0] = 0.0
    for end in range(1, count + 1):
        low, high = max(0, end - most), end - (1 if end == count else least)  # the last may be a short one
        if high >= low:
            back[end] = low + int(np.argmin(best[low : high + 1]))
            best[end] = best[back[end]] + cost[end]
    found, at = [], count
    while at > 0:
        at = int(back[at])
        found.append(at)
    return found[-2::-1]


def _connect(graph: Graph, pieces: list[Piece], number: dict[int, int], final: set[int]) -> tuple[int, dict[int, int]]:
    """Give values that are needed by a later piece a place; how many places there are, and where each value is."""
    needed: list[dict[int, None]] = []  # by each piece, of others and of inputs, in order
    last: dict[int, int] = {at: len(pieces) for at in final}  # piece that needs a value last
    for k, piece in enumerate(pieces):
        read = [a for at in piece.nodes for a in arguments(graph, at)] + [a for one in piece.guards for a in sides(one)]
        needed.append(dict.fromkeys(a for a in read if number.get(a) != k))
        last.update({a: max(k, last.get(a, 0)) for a in needed[k] if a in number})
    free: list[int] = []
    where: dict[int, int] = {}
    count = 0
    for k, piece in enumerate(pieces):
        piece.inputs = sorted(a for a in needed[k] if a not in number)
        piece.given = {a: where[a] for a in needed[k] if a in number}
        free += sorted((place for a, place in piece.given.items() if last[a] == k), reverse=True)
        for at in piece.nodes:
            if last.get(at, k) > k:
                if not free:
                    free.append(count)
                    count += 1
                piece.kept[at] = where[at] = free.pop()
    return count, where
