"""The engine's Warp functions as plain Python: the same text with other globals, and arrays as tables of symbols.

A `wp.func` keeps its Python. Its text is read again and changed in four places, where Python is not what Warp makes of
it: assignments copy, parameters that a function writes into are its own, whole numbers divide as in C, and what is
global is replaced (`shim`). What cannot be followed raises `Untraceable` with the function and the line.
"""

import ast
import inspect
import math
import textwrap
import traceback
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

import warp as wp

from .graph import Scalar, Untraceable, Whole
from .loops import Rounds, may, pick, saves, whole
from .shim import SHIM, type_of
from .symbols import copied

COPY, DIVIDE, REMAINDER, QUOTIENT = "__copied__", "__divided__", "__remainder__", "__quotient__"
ROUNDS, PICKED, SAVES, MAY, UNTRACED = (
    "__rounds__",
    "__pick__",
    "__saves__",
    "__may__",
    "__untraceable__",
)  # see `loops`
OPERATIONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
ORIGIN = "impulsar traced: "  # before the name of a function's file in tracebacks


def divided(a: Any, b: Any) -> Any:
    """a / b: of whole numbers towards zero."""
    a, b = (int(one) if isinstance(one, Whole) else one for one in (a, b))
    if isinstance(a, int) and isinstance(b, int):
        return quotient(a, b)
    if isinstance(a, float | int) and isinstance(b, float | int):
        return a / b if b != 0.0 else math.nan if a == 0.0 else math.copysign(math.inf, a)
    return a / b


def quotient(a: Any, b: Any) -> Any:
    if not (isinstance(a, int) and isinstance(b, int)):
        raise Untraceable("a whole quotient of numbers that are not whole")
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: Any, b: Any) -> Any:
    return a - b * quotient(a, b)


class Rewriter(ast.NodeTransformer):
    """Warp's meaning put into words of Python."""

    OPERATORS = ((ast.Div, DIVIDE), (ast.Mod, REMAINDER), (ast.FloorDiv, QUOTIENT))

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        node.value = _copying(node.value)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value is not None:
            node.value = _copying(node.value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        for kind, name in self.OPERATORS:
            if isinstance(node.op, kind):
                return _call(name, node.left, node.right)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        for kind, name in self.OPERATORS:
            if isinstance(node.op, kind):
                read = ast.parse(ast.unparse(node.target), mode="eval").body
                return ast.copy_location(ast.Assign([node.target], _call(name, read, node.value)), node)
        return node


class Keeper(ast.NodeTransformer):
    """Loops, and small branches in them, in words that can keep them: see `loops`."""

    def __init__(self, after_first: bool) -> None:
        self.count, self.after_first = 0, after_first

    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        tests = _comparisons(node.test)
        inside = [one for part in node.body for one in ast.walk(part)]
        if not tests or any(isinstance(one, ast.Break | ast.Continue | ast.Return) for one in inside):
            return node
        counters = {one.target.id for one in inside if isinstance(one, ast.For) and isinstance(one.target, ast.Name)}
        stored = {one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        names = sorted(name for name in stored - counters if not name.startswith("__"))
        self.count += 1
        rounds = f"__rounds{self.count}"
        listed = "".join(f"{name}, " for name in names)
        given = ", ".join(f"({op!r}, {ast.unparse(a)}, {ast.unparse(b)})" for op, a, b in tests)
        text = f"""
{rounds} = {ROUNDS}({names!r}, locals(), {self.after_first})
while {rounds}.again():
    [{listed}] = {rounds}.enter()
    try:
        if not {rounds}.goes({given}): break
    except RuntimeError:
        {rounds}.fail()
    {rounds}.leave(locals())
[{listed}] = {rounds}.end()
"""
        made = ast.parse(text).body
        loop = made[1]
        assert isinstance(loop, ast.While) and isinstance(loop.body[1], ast.Try)
        attempt, leaving = loop.body[1], loop.body[2]
        attempt.body += [*node.body, leaving]
        loop.body.remove(leaving)
        attempt.handlers[0].type = ast.Name(UNTRACED, ast.Load())
        own = {id(one) for one in inside}
        for part in (part for one in made for part in ast.walk(one)):
            if id(part) not in own:
                ast.copy_location(part, node)
        return made

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """`if a < b: return x` before the `return y` at its end is a choice, too."""
        self.generic_visit(node)
        if len(node.body) > 1:
            branch, last = node.body[-2:]
            if isinstance(branch, ast.If) and isinstance(last, ast.Return) and last.value and not branch.orelse:
                (first, *others) = branch.body
                if isinstance(first, ast.Return) and first.value and not others:
                    choice = _choice(branch.test, first.value, last.value)
                    if choice is not None:
                        node.body[-2:] = [ast.copy_location(ast.Return(choice), last)]
        return node

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        tests = _comparisons(node.test)
        if node.orelse:
            return node
        if len(tests) == 1 and tests[0][0] == "!=" and ast.unparse(tests[0][2]) == "ZERO":
            node.test = _call(SAVES, *tests[0][1:])
            return node
        made: list[ast.stmt] = []
        for one in node.body:
            target = one.targets[0] if isinstance(one, ast.Assign) else None
            if not isinstance(one, ast.Assign) or not _can_be_chosen(target, bool(tests)):
                return node
            text = ast.unparse(one.targets[0])
            choice = _choice(node.test, one.value, ast.parse(text, mode="eval").body)
            if choice is None or (len(node.body) > 1 and text in map(ast.unparse, ast.walk(node.test))):
                return node
            made.append(ast.copy_location(ast.Assign(one.targets, choice), one))
            if isinstance(target, ast.Subscript):  # is not touched where it is known not to be meant
                given = ", ".join(f"({op!r}, {ast.unparse(a)}, {ast.unparse(b)})" for op, a, b in tests)
                known = ast.parse(f"{MAY}({given})", mode="eval").body
                made[-1] = ast.copy_location(ast.If(known, [made[-1]], []), node)
        return made


def _can_be_chosen(target: ast.expr | None, by_all: bool) -> bool:
    """Whether what is assigned may be one of two values: a name, a field, or, where all of several comparisons decide,
    an element with an index that is known."""
    if isinstance(target, ast.Subscript):
        return by_all and not any(isinstance(one, ast.Attribute) for one in ast.walk(target.slice))
    return isinstance(target, ast.Name | ast.Attribute)


def _choice(test: ast.expr, new: ast.expr, old: ast.expr) -> ast.expr | None:
    """One of two values by a condition that is made of comparisons; None where it is not."""
    tests = _comparisons(test)
    either = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or)
    if either:
        tests = [found for part in test.values for found in _comparisons(part)[:1]]  # type: ignore[attr-defined]
        if len(tests) != len(test.values):  # type: ignore[attr-defined]
            return None
    if not tests:
        return None
    text = ast.unparse(old) if either else ast.unparse(new)
    for op, a, b in reversed(tests):
        given = f"{op!r}, {ast.unparse(a)}, {ast.unparse(b)}"
        if either:
            text = f"{PICKED}({given}, lambda: {ast.unparse(new)}, lambda: {text})"
        else:
            text = f"{PICKED}({given}, lambda: {text}, lambda: {ast.unparse(old)})"
    return ast.parse(text, mode="eval").body


def _comparisons(test: ast.expr) -> list[tuple[str, ast.expr, ast.expr]]:
    """A condition as comparisons that must all hold; none where it is not made of such."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    found = []
    for part in parts:
        if not isinstance(part, ast.Compare) or len(part.ops) != 1 or type(part.ops[0]) not in OPERATIONS:
            return []
        found.append((OPERATIONS[type(part.ops[0])], part.left, part.comparators[0]))
    return found


def _call(name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def _copying(value: ast.expr) -> ast.expr:
    """An expression that is a thing and not a new value: a copy of it."""
    if isinstance(value, ast.Tuple):
        return ast.Tuple([_copying(part) for part in value.elts], ast.Load())
    if isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.IfExp):
        return _call(COPY, value)
    return value


def _written_parameters(function: ast.FunctionDef) -> list[str]:
    """Parameters into which a function writes, other than the engine's arrays and what is handed on by reference."""
    own = {arg.arg for arg in function.args.args if not _is_shared(arg.annotation)}
    written = set()
    for node in ast.walk(function):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Attribute | ast.Subscript) and isinstance(target.value, ast.Name):
                written.add(target.value.id)
    return sorted(own & written)


def _is_shared(annotation: ast.expr | None) -> bool:
    text = ast.unparse(annotation) if annotation is not None else ""
    return text.startswith(("wp.ref[", "wp.array"))


REPLACED: dict[Any, Callable] = {}  # functions of the engine that have a stand-in of their own, by their Python


def stand_in(function: Any) -> Callable[[Callable], Callable]:
    """Take a Python function for one of the engine while tracing."""

    def keep(own: Callable) -> Callable:
        REPLACED[function.func] = own
        return own

    return keep


KEPT: dict[Any, bool] = {}  # functions of the engine whose loops may be kept, by their Python; after the first round


def keep_loops_of(*functions: Any, after_first: bool = False) -> None:
    """Loops of these functions may be kept; after_first: their first round is a piece of its own."""
    KEPT.update((function.func, after_first) for function in functions)


def traced(function: Any) -> Callable:
    """A Warp function that takes symbols."""
    return REPLACED.get(function.func) or translated(function.func)


@cache
def translated(original: Callable) -> Callable:
    """The Python of a Warp function, Warp's meaning put into it."""
    lines, first = inspect.getsourcelines(original)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    (definition,) = tree.body
    assert isinstance(definition, ast.FunctionDef)
    own = _written_parameters(definition)
    definition.decorator_list, definition.returns = [], None
    if original in KEPT:
        Keeper(KEPT[original]).visit(definition)
    Rewriter().visit(definition)
    for arg in definition.args.args:
        arg.annotation = None
    copies = [ast.Assign([ast.Name(name, ast.Store())], _call(COPY, ast.Name(name, ast.Load()))) for name in own]
    definition.body[:0] = copies
    ast.fix_missing_locations(tree)
    ast.increment_lineno(tree, first - 1)
    space: dict[str, Any] = {COPY: copied, DIVIDE: divided, REMAINDER: remainder, QUOTIENT: quotient}
    space |= {ROUNDS: Rounds, PICKED: pick, SAVES: saves, MAY: may, UNTRACED: Untraceable}
    if original in KEPT:
        space["int"] = whole
    exec(compile(tree, ORIGIN + original.__module__, "exec"), space)
    made = space[definition.name]
    given = {**original.__globals__, **inspect.getclosurevars(original).nonlocals}
    for name in {node.id for node in ast.walk(definition) if isinstance(node, ast.Name)}:
        if name in given and name not in made.__code__.co_varnames:
            space[name] = _replaced(given[name])
    return made


def _replaced(thing: Any) -> Any:
    """What stands for something global."""
    if isinstance(thing, wp.Function):
        return traced(thing)
    if thing is wp:
        return SHIM
    if isinstance(thing, ModuleType):
        return Room(thing)
    if isinstance(thing, wp.float64):
        return float(thing.value)
    if isinstance(thing, wp.int32):
        return int(thing.value)
    kind = type_of(type(thing))
    if kind is not None and hasattr(type(thing), "_shape_"):
        return kind(*[float(part) for part in thing])
    stands = type_of(thing)
    return thing if stands is None else stands


class Room:
    """A module of the engine, its functions traced."""

    def __init__(self, module: ModuleType):
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = _replaced(getattr(self._module, name))
        setattr(self, name, found)
        return found


@contextmanager
def naming():
    """Say in which function and line of the engine something could not be followed."""
    try:
        yield
    except (Untraceable, TypeError, AttributeError, ValueError, IndexError, RecursionError) as error:
        frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename.startswith(ORIGIN)]
        if not frames:
            raise
        at = frames[-1]
        where = f"{at.filename.removeprefix(ORIGIN)}.{at.name}, line {at.lineno}"
        raise Untraceable(f"{where}: cannot be compiled for one mechanism: {error}") from error


class World(int):
    """The index of a world: what is indexed by it is of one world."""


class Unset:
    """What a work array holds before it is written: it may be handed on, but not used."""

    def __init__(self, name: str):
        self._name = name

    def _raise(self, *args: Any) -> Any:
        raise Untraceable(f"{self._name} is used before it is written")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = _raise
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __int__ = __index__ = __getitem__ = __float__ = _raise
    __eq__ = __ne__ = _raise
    __hash__ = None  # type: ignore[assignment]


class Table:
    """An array of the engine while tracing, [part], [part, part] or [part, world].

    read: what an element is before it is written, by its index without the world.
    """

    def __init__(self, name: str, shape: tuple[int, ...], kind: Any, read: Callable[[tuple[int, ...], bool], Any]):
        self.name, self.shape, self.kind, self.read = name, shape, kind, read
        self.data: dict[tuple[int, ...], Any] = {}
        self.written: dict[tuple[int, ...], None] = {}

    def _at(self, at: Any) -> tuple[tuple[int, ...], bool]:
        index = at if isinstance(at, tuple) else (at,)
        index = tuple(int(k) if isinstance(k, Whole) else k for k in index)
        by_world = isinstance(index[-1], World)
        if by_world:
            index = index[:-1]
        for k, length in zip(index, self.shape, strict=False):
            if isinstance(k, Scalar):
                raise Untraceable(f"{self.name} is indexed by a number that depends on the state")
            if not 0 <= k < length:
                raise Untraceable(f"{self.name}[{k}] of {length}")
        return tuple(int(k) for k in index), by_world

    def __getitem__(self, at: Any) -> Any:
        index, by_world = self._at(at)
        if index not in self.data:
            self.data[index] = self.read(index, by_world)
        return copied(self.data[index])

    def __setitem__(self, at: Any, value: Any) -> None:
        index, _ = self._at(at)
        self.data[index] = copied(value)
        self.written[index] = None


class Arrays:
    """A struct of arrays while tracing; a table is made when it is first asked for."""

    def __init__(self, title: str, struct: Any, table: Callable[[str, Any], Table]):
        self._title, self._struct, self._table = title, struct, table

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._struct, name)
        made = self._table(name, value) if isinstance(value, wp.array) else Arrays(name, value, self._table)
        setattr(self, name, made)
        return made
