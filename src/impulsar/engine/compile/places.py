"""A step for a thread of few registers: which values are put aside, where, and when they are fetched again.

A compiler that runs short of registers puts aside twice as much as it has to, all of it in memory. Here the value goes
that is needed last, at most once, and those that are fetched often for the time that they are away have the places that
are fast. A row of the state is fetched where it is needed; its new value is written as soon as no guard is left and the
old one is needed no more. What a loop carries is written and fetched in the same manner, and registers are empty where
a round begins and ends.

Furthest next use first (Belady 1966): fewest fetches, where what is put aside costs nothing. Order and bits are as they
were.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from .cuts import Ref, arguments, sides
from .graph import CARRIED, INPUT, LEFT, Guard, Loop
from .step import STATE, TracedStep

DO, TEST, LEAVE, WRITE, SET = "do", "test", "leave", "write", "set"  # a node, a guard, if one broke, rows, symbols
OPEN, BREAK, CLOSE = "open", "break", "close"  # of a loop: its rounds, where the last one ends, where the others do
KEEP, FETCH = "keep", "fetch"  # a value, in its place and from there


@dataclass(frozen=True)
class Action:
    """One thing to do. needs: values that it takes from registers."""

    way: str
    needs: tuple[int, ...] = ()
    node: int = -1  # that is computed, kept or fetched
    guard: Guard | None = None
    changes: tuple[tuple[int, Ref], ...] = ()  # rows or symbols that are written, and what
    loop: Loop | None = None


@dataclass
class Plan:
    """Actions in order, and the places of values that are put aside: the first of them are the fast ones."""

    actions: list[Action]
    place: dict[int, int] = field(default_factory=dict)  # of a value
    fast: int = 0  # places that are used
    slow: int = 0


def plan(step: TracedStep, order: Sequence[int], room: int, fast: int) -> Plan:
    """For so many values in registers, and so many fast places."""
    lines = Lines(step, order)
    actions, kept = put_aside(lines.all(), set(lines.rows), room)
    return placed(actions, kept, fast)


class Lines:
    """All that a step has to do, in order."""

    def __init__(self, step: TracedStep, order: Sequence[int]):
        self.step, self.graph = step, step.graph
        self.rows = {at: name[1] for name, at in self.graph.inputs.items() if name[0] == STATE}
        self.first = {row: at for at, row in reversed(self.rows.items())}  # of the inputs that are a row
        inputs = [at for at in self.graph.live(step.roots) if self.graph.nodes[at][0] == INPUT]
        self.blocks = self.graph.blocks([*inputs, *order])

    def value(self, a: Ref) -> int | None:
        """What has to be in a register for it: nothing, for a constant and for a parameter."""
        if isinstance(a, float):
            return None
        op = self.graph.nodes[a][0]
        if op == LEFT:
            return self.graph.variable(a)
        return None if op == INPUT and a not in self.rows else a

    def home(self, at: int) -> int:
        """The value whose memory it is in."""
        return self.first[self.rows[at]] if at in self.rows else at

    def values(self, given: Iterable[Ref]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(a for a in map(self.value, given) if a is not None))

    def all(self) -> list[Action]:
        """Of the step."""
        step = self.step
        actions = self.guarded(self.block(self.blocks[None]), step.guards)
        last = max((k for k, one in enumerate(actions) if one.way == TEST), default=-1)
        if last >= 0:
            last = after_loops(actions)[last] + 1
            actions.insert(last, Action(LEAVE))
        changes = dict(step.outputs)
        if self.graph.loops:
            changes.update({-1 - k: value for k, value in enumerate(step.counts)})
        return self.written(WRITE, actions, changes, self.first, last)

    def block(self, order: Sequence[int]) -> list[Action]:
        """Of nodes of a block."""
        found: list[Action] = []
        done: set[Loop] = set()
        for at in order:
            op, *args = self.graph.nodes[at]
            if op == LEFT and args[0] not in done:
                done.add(args[0])
                found += self.rounds(args[0])
            elif op not in (LEFT, INPUT, CARRIED):
                found.append(Action(DO, self.values(arguments(self.graph, at)), at))
        return found

    def rounds(self, loop: Loop) -> list[Action]:
        """Of a loop."""
        body = self.blocks.get(loop, [])
        inside = set(body)
        carried = [k for k, symbol in enumerate(loop.symbols) if symbol in inside]
        entries = [
            Action(SET, self.values([loop.entries[k]]), changes=((loop.symbols[k], loop.entries[k]),)) for k in carried
        ]
        first = self.needed_by(loop, inside)
        before, behind = (self.block([at for at in body if (at in first) == of]) for of in (True, False))
        compared = self.values(side for test in loop.tests for side in (test.left, test.right))
        start = len(before)
        behind = self.guarded(behind, loop.guards)
        actions = [*before, Action(BREAK, compared, loop=loop), *behind]
        changes = {loop.symbols[k]: loop.exits[k] for k in carried}
        actions = self.written(SET, actions, changes, {symbol: symbol for symbol in changes}, start)
        return [*entries, Action(OPEN, loop=loop), *actions, Action(CLOSE, loop=loop)]

    def needed_by(self, loop: Loop, inside: set[int]) -> set[int]:
        """Nodes of a body that its tests need; of a loop among them all that its rounds need."""
        found: set[int] = set()
        wanted: list[Ref] = [side for test in loop.tests for side in (test.left, test.right)]
        while wanted:
            new = (set(self.graph.live(wanted)) & inside) - found
            found |= new
            inner = dict.fromkeys(self.graph.nodes[at][1] for at in new if self.graph.nodes[at][0] == LEFT)
            wanted = [a for one in inner for a in (*one.entries, *one.exits)]
        return found

    def guarded(self, actions: list[Action], guards: Sequence[Guard]) -> list[Action]:
        """With guards, each as soon as what it compares is there."""
        place, behind = made(actions), after_loops(actions)
        due: dict[int, list[Action]] = {}
        for guard in guards:
            needs = self.values(sides(guard))
            k = max((behind[place[a]] for a in needs if a in place), default=-1)
            due.setdefault(k, []).append(Action(TEST, needs, guard=guard))
        return [*due.get(-1, ()), *(one for k, action in enumerate(actions) for one in (action, *due.get(k, ())))]

    def written(
        self, way: str, actions: list[Action], changes: dict[int, Ref], old: dict[int, int], start: int
    ) -> list[Action]:
        """With new values in memory, each as soon as it is there, the old one is not needed, and `start` is over."""
        place, behind = made(actions), after_loops(actions)
        last = {self.home(a): behind[k] for k, action in enumerate(actions) for a in action.needs}
        there = {old[where]: where for where in changes if where in old}
        new = {where: at for where, at in changes.items() if self.value(at) is None or self.value(at) != old.get(where)}
        moved = {where: at for where, at in new.items() if self.value(at) in there}  # what is overwritten itself
        for at in moved.values():
            last[self.home(self.values([at])[0])] = len(actions)
        due: dict[int, list[Action]] = {}
        for where, at in new.items():
            if where not in moved:
                needs = self.values([at])
                k = max([start, last.get(old.get(where, -1), -1), *(behind[place[a]] for a in needs if a in place)])
                due.setdefault(k, []).append(Action(way, needs, changes=((where, at),)))
        ending = [Action(way, self.values(moved.values()), changes=tuple(moved.items()))] if moved else []
        found = [*due.get(-1, ()), *(one for k, action in enumerate(actions) for one in (action, *due.get(k, ())))]
        return [*found, *ending, *due.get(len(actions), ())]


def made(actions: Sequence[Action]) -> dict[int, int]:
    """Where each value is computed, or is set for the last time."""
    found = {action.node: k for k, action in enumerate(actions) if action.way == DO}
    return found | {at: k for k, action in enumerate(actions) if action.way == SET for at, _ in action.changes}


def after_loops(actions: Sequence[Action]) -> list[int]:
    """Of each action, itself, or the end of the outermost loop that it is in."""
    found, depth, end = [0] * len(actions), 0, 0
    for k in range(len(actions) - 1, -1, -1):
        if actions[k].way == CLOSE:
            end = end if depth else k
            depth += 1
        found[k] = end if depth else k
        depth -= actions[k].way == OPEN
    return found


def put_aside(actions: Sequence[Action], there: set[int], room: int) -> tuple[list[Action], set[int]]:
    """The same with values kept and fetched, no more than there is room for in registers; and all that is kept.

    there: values that are in memory already.
    """
    uses: dict[int, list[int]] = {}
    for k in range(len(actions) - 1, -1, -1):
        for a in actions[k].needs:
            uses.setdefault(a, []).append(k)
    held = Held(uses, set(there), room)
    for action in actions:
        if action.way in (OPEN, CLOSE):
            held.clear()
        held.fetch(action.needs)
        if action.way == DO and uses.get(action.node):
            held.make_room(action.needs)
        held.actions.append(action)
        if action.way == DO:
            held.hold(action.node)
        elif action.way == SET:
            for symbol, _ in action.changes:
                held.forget(symbol)
    return held.actions, held.there - there


class Held:
    """Values in registers, by when they are needed next."""

    def __init__(self, uses: dict[int, list[int]], there: set[int], room: int):
        self.uses, self.there, self.room = uses, there, room
        self.actions: list[Action] = []
        self._next: dict[int, int] = {}
        self._heap: list[tuple[int, int]] = []

    def hold(self, a: int) -> None:
        """As long as it is needed."""
        if self.uses.get(a):
            self._next[a] = self.uses[a][-1]
            heapq.heappush(self._heap, (-self._next[a], a))

    def forget(self, symbol: int) -> None:
        """It is another one in memory now."""
        self._next.pop(symbol, None)
        self.there.add(symbol)

    def fetch(self, needs: Sequence[int]) -> None:
        """All that an action needs."""
        for a in needs:
            if a not in self._next:
                self.make_room(needs)
                self.actions.append(Action(FETCH, node=a))
                self.hold(a)
        for a in needs:
            self.uses[a].pop()
            self._next.pop(a)
            self.hold(a)

    def make_room(self, needs: Sequence[int]) -> None:
        """For one more."""
        back = []
        while len(self._next) >= self.room and self._heap:
            when, a = heapq.heappop(self._heap)
            if self._next.get(a) != -when:
                continue
            if a in needs:
                back.append((when, a))
            else:
                self._let_go(a)
        for one in back:
            heapq.heappush(self._heap, one)

    def clear(self) -> None:
        """Have none."""
        for a in list(self._next):
            self._let_go(a)

    def _let_go(self, a: int) -> None:
        del self._next[a]
        if a not in self.there:
            self.there.add(a)
            self.actions.append(Action(KEEP, (a,), a))


def placed(actions: list[Action], kept: set[int], fast: int) -> Plan:
    """Places of what is kept: the fast ones for what is fetched often in a short time."""
    spans: dict[int, list[int]] = {}  # first and last action, and how often it is written or fetched
    behind = after_loops(actions)
    opened = np.cumsum([action.way == OPEN for action in actions])
    for k, action in enumerate(actions):
        touched = [at for at, _ in action.changes] if action.way == SET else [action.node]
        for at in touched if action.way in (SET, KEEP, FETCH) else ():
            if at in kept:
                span = spans.setdefault(at, [k, k, 0])
                span[1] = behind[k] if opened[k] > opened[span[0]] else k
                span[2] += 1
    used = np.zeros(len(actions), np.int64)
    chosen = set()
    for at in sorted(spans, key=lambda at: (spans[at][1] - spans[at][0] + 1) / spans[at][2]):
        first, last, _ = spans[at]
        if used[first : last + 1].max() < fast:
            used[first : last + 1] += 1
            chosen.add(at)
    place: dict[int, int] = {}
    counts = [
        share({at: span for at, span in spans.items() if (at in chosen) == is_fast}, place, 0 if is_fast else fast)
        for is_fast in (True, False)
    ]
    return Plan(actions, place, *counts)


def share(spans: dict[int, list[int]], place: dict[int, int], start: int) -> int:
    """Give values places from `start` on, one after the other in each; how many that are."""
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    count = 0
    for at in sorted(spans, key=lambda at: spans[at][0]):
        while busy and busy[0][0] < spans[at][0]:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free:
            heapq.heappush(free, start + count)
            count += 1
        place[at] = heapq.heappop(free)
        heapq.heappush(busy, (spans[at][1], place[at]))
    return count
