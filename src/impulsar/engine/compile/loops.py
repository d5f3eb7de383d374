"""Loops kept while tracing: one round as a piece, instead of all rounds that the sample takes one after the other.

Of a function in `tracing.KEPT` every `while` whose condition is comparisons joined by `and` is written as

    rounds = __rounds__(names, locals())
    while rounds.again():
        names = rounds.enter()
        if not rounds.goes(comparisons): break
        body
        rounds.leave(locals())
    names = rounds.end()

where names are what the body assigns. Rounds are gone through one by one, as Python does, or they are kept. Then the
body is run to see what changes, local numbers and elements of arrays; again with symbols in their places, until
nothing more changes; and the graph has a `Loop`. Whole numbers that change, counts as a rule, are carried as numbers.
Where a round cannot be followed so (a count is an index, an element of a whole array changes, guards of a round break
at the sample), all is put back and the rounds are gone through one by one. Where the first round is unlike the others
it is gone through as a piece of its own, and the others are kept if the sample takes one.

`if a < b: name = value` is a choice between two values there (`pick`), so is `if a < b: return x` before the `return y`
at the end, and `if a != ZERO: ...` without more, which
only saves work where nothing is to be done, is always gone through. `int(a)` of a number of the state is not asked
which number it is before it is an index or a count.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .graph import PICK, Graph, Guard, Loop, Scalar, Untraceable, Whole, refer
from .symbols import Array, Record

MOST_PASSES = 4  # over a body, until nothing more changes
COMPARED = {"<": ("<", False, True), "<=": ("<=", False, True), ">": ("<", True, True), ">=": ("<=", True, True)}
COMPARED |= {"==": ("==", False, True), "!=": ("==", False, False)}  # test, sides exchanged, comes out true

_stages: list[Any] = []  # of what is traced with loops kept: `Tables` of `step`


@contextmanager
def keeping(tables: Any) -> Iterator[None]:
    """Keep loops of what is traced meanwhile."""
    _stages.append(tables)
    try:
        yield
    finally:
        _stages.pop()


def compare(op: str, a: Any, b: Any) -> bool:
    """A comparison in Python; of symbols, a guard."""
    test, exchanged, told = COMPARED[op]
    left, right = (b, a) if exchanged else (a, b)
    return bool((left < right) if test == "<" else (left <= right) if test == "<=" else (left == right)) == told


def saves(a: Any, zero: Any) -> bool:
    """`if a != ZERO`, where all that follows adds multiples of a."""
    return True if _stages and isinstance(a, Scalar) else bool(a != zero)


def may(*tests: tuple[str, Any, Any]) -> bool:
    """False where one of several comparisons that must all hold is known not to; of symbols any may."""
    return all((_stages and isinstance(a - b, Scalar)) or compare(op, a, b) for op, a, b in tests)


def whole(a: Any) -> Any:
    """int(a): of a symbol a whole number, which need not be known to be compared and kept."""
    return Whole(a.graph, a.at) if _stages and isinstance(a, Scalar) else int(a)


def pick(op: str, a: Any, b: Any, new: Any, old: Any) -> Any:
    """new() where a comparison comes out true, else old(): one value that is either, if loops are kept."""
    if not (_stages and any(isinstance(side, Scalar) for side in (a, b))):
        return new() if compare(op, a, b) else old()
    graph: Graph = next(side.graph for side in (a, b) if isinstance(side, Scalar))
    test, exchanged, told = COMPARED[op]
    left, right = (b, a) if exchanged else (a, b)
    made, kept = new(), old()
    if len(leaves(made)) != len(leaves(kept)):
        return made if compare(op, a, b) else kept
    parts = []
    for one, other in zip(leaves(made), leaves(kept), strict=True):
        if not told:
            one, other = other, one
        node = graph.make(PICK + test, *(refer(x) for x in (left, right, one, other)))
        parts.append(Scalar(graph, node) if isinstance(node, int) else node)
    return rebuilt(made, parts)


def leaves(value: Any) -> list[Any]:
    """The numbers in a value."""
    if isinstance(value, Array):
        return list(value.c)
    if isinstance(value, Record):
        return [leaf for one in value.__dict__.values() for leaf in leaves(one)]
    return [value] if isinstance(value, Scalar | float | int) else []


def rebuilt(value: Any, parts: Sequence[Any]) -> Any:
    """The same value with other numbers."""
    if isinstance(value, Array):
        return value.like(parts)
    if isinstance(value, Record):
        made, at = {}, 0
        for name, one in value.__dict__.items():
            size = len(leaves(one))
            made[name] = rebuilt(one, parts[at : at + size])
            at += size
        return Record(made)
    return parts[0] if parts else value


def is_same(a: Any, b: Any) -> bool:
    """Whether two numbers are the same symbol, or the same number."""
    if isinstance(a, Scalar) or isinstance(b, Scalar):
        return isinstance(a, Scalar) and isinstance(b, Scalar) and a.at == b.at
    return bool(a == b)


def _comes_out(op: str, a: Any, b: Any) -> bool:
    """A comparison at the sample, without a guard."""
    return compare(op, *(side.value if isinstance(side, Scalar) else side for side in (a, b)))


class Rounds:
    """The rounds of one `while`, one by one or kept."""

    def __init__(self, names: Sequence[str], found: Mapping[str, Any], after_first: bool):
        self.names = names
        self.values = {name: found[name] for name in names if name in found}
        self.kept: _Kept | None = _Kept(_stages[-1], self.values) if _stages and not after_first else None
        self.ended = False
        self.waits = 1 if _stages and after_first else -1  # rounds that are left before those that are kept

    def again(self) -> bool:
        return not self.ended

    def enter(self) -> list[Any]:
        """What the names are in this round."""
        values = self.kept.begin() if self.kept is not None else self.values
        return [values.get(name) for name in self.names]

    def goes(self, *tests: tuple[str, Any, Any]) -> bool:
        """Whether there is one more round."""
        self.waits -= 1
        if self.waits == -1 and all(_comes_out(*test) for test in tests):
            self.kept = _Kept(_stages[-1], self.values)
        if self.kept is not None:
            self.kept.tests = tests
            return True
        return all(compare(*test) for test in tests)

    def leave(self, found: Mapping[str, Any]) -> None:
        """At the end of a round."""
        values = {name: found[name] for name in self.names if name in found}
        if self.kept is None:
            self.values = values
            return
        try:
            self.ended = self.kept.close(values)
        except Untraceable:
            self.fail()
            return
        if self.ended:
            self.values = self.kept.values

    def fail(self) -> None:
        """A round cannot be kept: all is as before, and rounds are gone through one by one."""
        if self.kept is None:
            raise
        self.kept.put_back()
        self.kept = None

    def end(self) -> list[Any]:
        """What the names are after the last round."""
        return [self.values.get(name) for name in self.names]


class _Kept:
    """Passes over the body of a loop, until all that changes in it is a variable of it."""

    def __init__(self, tables: Any, values: dict[str, Any]):
        self.tables, self.graph, self.values = tables, tables.graph, values
        self.tests: Sequence[tuple[str, Any, Any]] = ()
        self.start = {table: (dict(table.data), dict(table.written)) for table in tables.all}
        self.guards = dict(self.graph._guards)
        self.loop: Loop | None = None
        self.places: list[tuple] = []  # of the variables: (name, part), or (table, index, part)
        self.passes = 0

    def put_back(self) -> None:
        """All arrays and guards as before the loop."""
        for table in self.tables.all:
            data, written = self.start.get(table, ({}, {}))
            table.data, table.written = dict(data), dict(written)
        self.graph._guards = dict(self.guards)

    def begin(self) -> dict[str, Any]:
        """Before a pass: symbols where something changes."""
        self.put_back()
        for table in self.tables.all:
            table.written = {}
        values = dict(self.values)
        if self.passes == 0:
            return values
        self.loop = self.graph.open_loop()
        for place in self.places:
            symbol = self.graph.carry(self.loop, _entry(self._before(place)))
            if len(place) == 2:
                if place[0] in values:
                    values[place[0]] = _with(values[place[0]], place[1], symbol)
            else:
                table, index, part = place
                whole = table.data.get(index, table.read(index, True))
                if leaves(whole):  # else it is written before it is read, and stays unset till then
                    table.data[index] = _with(whole, part, symbol)
        return values

    def _before(self, place: tuple) -> Any:
        """The number at a place before the loop; None: there is none yet."""
        if len(place) == 2:
            parts = leaves(self.values[place[0]]) if place[0] in self.values else []
        else:
            table, index, _ = place
            data = self.start.get(table, ({}, {}))[0]
            parts = leaves(data[index] if index in data else table.read(index, True))
        return parts[place[-1]] if parts else None

    def close(self, values: dict[str, Any]) -> bool:
        """After a pass; True if nothing else changed than what it was for: the loop is there."""
        now = self._changed(values)
        known = set(self.places)
        more = [place for place in now if place not in known]
        self.passes += 1
        if more or self.loop is None:
            if self.passes > MOST_PASSES:
                raise Untraceable("more and more changes in a round")
            self.places += more
            return False
        self._finish(values, now)
        return True

    def _changed(self, values: dict[str, Any]) -> dict[tuple, Any]:
        """Places whose numbers a pass has changed, and what they are now."""
        found: dict[tuple, Any] = {}
        for name, value in values.items():
            for part, leaf in enumerate(leaves(value)):
                if not is_same(leaf, self._before((name, part))):
                    found[name, part] = leaf
        for table in self.tables.all:
            for index in table.written:
                for part, leaf in enumerate(leaves(table.data[index])):
                    before = self._before((table, index, part))
                    if is_same(leaf, before):
                        continue
                    if isinstance(leaf, int) and not isinstance(leaf, bool) and before is not None:
                        raise Untraceable(f"{table.name} changes in a round")
                    found[table, index, part] = leaf
        return found

    def _finish(self, values: dict[str, Any], now: dict[tuple, Any]) -> None:
        """Put what is left after the last round in the places of the variables."""
        loop, graph = self.loop, self.graph
        assert loop is not None
        loop.exits = [refer(now[place]) if place in now else self._unchanged(place, values) for place in self.places]
        for op, a, b in self.tests:
            test, exchanged, told = COMPARED[op]
            loop.tests.append(Guard(test, refer(b if exchanged else a), refer(a if exchanged else b), told))
        self._take_guards(loop)
        if not graph.close_loop(loop):
            raise Untraceable("rounds differ")
        written = {table: dict(table.written) for table in self.tables.all}
        for table in self.tables.all:
            table.written = {**self.start.get(table, ({}, {}))[1], **written[table]}
        after = dict(values)
        for place, left in zip(self.places, loop.lefts, strict=True):
            symbol = Scalar(graph, left)
            if len(place) == 2:
                if place[0] in after:
                    after[place[0]] = _with(after[place[0]], place[1], symbol)
            else:
                table, index, part = place
                table.data[index] = _with(table.data[index], part, symbol)
        self.values = after

    def _unchanged(self, place: tuple, values: dict[str, Any]) -> "int | float":
        """What a variable is at the end of a pass that did not change it."""
        whole = values[place[0]] if len(place) == 2 else place[0].data[place[1]]
        return refer(leaves(whole)[place[-1]])

    def _take_guards(self, loop: Loop) -> None:
        """Guards of a round go into the loop; the others hold for all of them, and stay outside."""
        new = [key for key in self.graph._guards if key not in self.guards]
        sides = [side for key in new for side in (key[0].left, key[0].right) if isinstance(side, int)]
        blocks = self.graph.blocks(self.graph.live([*sides, *loop.symbols]))
        mine = set(blocks.get(loop, ()))
        for key in new:
            if any(isinstance(side, int) and side in mine for side in (key[0].left, key[0].right)):
                loop.guards.append(self.graph._guards.pop(key))


def _entry(value: Any) -> "int | float":
    return 0.0 if value is None else refer(value)


def _with(whole: Any, part: int, value: Any) -> Any:
    """A value with another number in one place."""
    parts = leaves(whole)
    parts[part] = value
    return rebuilt(whole, parts)
