"""Sines, cosines and angles of one world side by side in a register, as those of several worlds are.

Series take some 50 operations each. Those in the same block that do not wait for each other are found here, with the
few operations that they need before, and are computed together: the same bits, since every lane does what one number
alone would.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .graph import CARRIED, INPUT, LEFT, Graph

TURNING, ANGLES = ("sin", "cos"), "atan2"
ROOM = (4, 8)  # numbers side by side
REACH = 40  # operations before a number that are done sooner for its sake
NAMES = re.compile(r"\b(real|mask|TEST|CHOOSE|LANE|ANY|K|SINCOS|F_\w+)\b")


@dataclass
class Found:
    """Numbers of a kind that are computed together."""

    of: list[tuple]  # arguments of each
    nodes: list[list[int]]  # that have them
    before: list[int]  # nodes that have to be there first, in order

    @property
    def room(self) -> int:
        """Lanes of the register."""
        return next(room for room in ROOM if len(self.of) <= room)


def find_beside(graph: Graph, order: Sequence[int], there: Collection[int], done: Collection[object]) -> Found:
    """All that can be computed with the first of these nodes, a sine, cosine or angle.

    order: nodes of a block, of which all before are there; there: of the others those that are, too; done: angles
    whose sine and cosine are there, and loops.
    """
    kind = graph.nodes[order[0]][0] == ANGLES
    waiting = set(order) - set(there)
    found: dict[tuple, list[int]] = {}
    before: set[int] = set()
    for at in order:
        op, *args = graph.nodes[at]
        if at not in waiting or (op != ANGLES if kind else op not in TURNING or args[0] in done):
            continue
        if (given := tuple(args)) in found:
            found[given].append(at)
        elif len(found) < ROOM[-1]:
            needed = _needed(graph, args, waiting - before, done)
            if needed is not None:
                found[given] = [at]
                before |= needed
    return Found(list(found), list(found.values()), sorted(before))


def _needed(graph: Graph, args: Sequence, waiting: Collection[int], done: Collection[object]) -> set[int] | None:
    """Nodes that have to be there before a number; None: they are too many, or one of them is no short operation."""
    needed: set[int] = set()
    stack = [a for a in args if isinstance(a, int)]
    while stack:
        at = stack.pop()
        if at not in waiting or at in needed:
            continue
        op, *inner = graph.nodes[at]
        if op in (INPUT, CARRIED) or (op in (*TURNING, LEFT) and inner[0] in done):
            continue
        if op in (*TURNING, ANGLES, LEFT) or len(needed) == REACH:
            return None
        needed.add(at)
        stack += [a for a in inner if isinstance(a, int)]
    return needed


def renamed(lines: Sequence[str], room: int) -> list[str]:
    """Lines of a text of several worlds in a register, for numbers side by side in the text of one."""
    return [NAMES.sub(rf"\g<1>_{room}", line) for line in lines]
