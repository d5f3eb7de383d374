"""Loops and indices of kernels, written so that a compiler sees through them.

Warp counts a loop in a structure whose step may be of either sign, and takes a negative index from an array's end:
every access of a row asks twice for a sign and reads the shape, and no loop has a count that a compiler knows. What is
compiled of the functions behind a twin (shared.py) is therefore

    for k in range(a, b):         ->      k_next, k_end = int(a), b
        x.J[x.at[k, w], w]                while k_next < k_end:
                                              k = k_next
                                              k_next += 1
                                              x.J[wp.max(x.at[k, w], 0), w]

with the worlds, which are indices called `w`, known not to be negative where they are counted (`counted`). What is
computed stays the same to the bit: no function here takes an element from an array's end by an index that is not a
constant, and what is read in vain, by the ground's -1, say, is some element as before. Loops over constants, which Warp
writes out, stay.
"""

import ast
import copy
from typing import Any

import warp as wp

WORLD = "w"  # the index of a world, in all functions


@wp.func_native("return k & 0x7fffffff;")
def counted(k: int) -> int:
    """A count: no compiler has to think of negative ones."""
    return k


_seen: set[int] = set()


def open_up(twin: wp.Kernel) -> None:
    """Rewrite all functions that a kernel calls, each of them once, when it has to be compiled."""
    build = twin.adj.build

    def rewrite_and_build(*given: Any, **named: Any) -> Any:
        rewrite(twin)  # one at a time: Warp writes code under a lock
        return build(*given, **named)

    twin.adj.build = rewrite_and_build


def rewrite(kernel: wp.Kernel) -> None:
    """Rewrite all functions that a kernel calls, now: for who writes code of them in another module."""
    waiting = _called(kernel)
    while waiting:
        function = waiting.pop()
        if id(function) in _seen:
            continue
        _seen.add(id(function))
        waiting += _called(function)
        adjoint = function.adj
        adjoint.tree = _Plain(function).visit(copy.deepcopy(adjoint.tree))
        adjoint._reference_nodes = None  # Warp keeps what it finds in a tree


def _called(caller: Any) -> list[wp.Function]:
    """Functions that are written in Python, by the names that a kernel or function calls."""
    names = caller.func.__globals__
    found = []
    for node in ast.walk(caller.adj.tree):
        if isinstance(node, ast.Call):
            function = _known(node.func, names)
            if isinstance(function, wp.Function) and not function.is_builtin() and function.native_snippet is None:
                found.append(function)
    return found


def _known(node: ast.expr, names: dict[str, Any]) -> Any:
    """What a name, or an attribute of one, stands for outside a function; None where it is none of those."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_known(node.value, names), node.attr, None)
    return None


class _Plain(ast.NodeTransformer):
    """Makes loops plain and indices known of one function."""

    def __init__(self, function: wp.Function):
        self._names = function.func.__globals__
        self._structures = {name: kind.value_type for name, kind in function.adj.arg_types.items() if _is_struct(kind)}
        self._arrays = {name for name, kind in function.adj.arg_types.items() if isinstance(kind, wp.array)}
        self._own = set(function.adj.arg_types)  # names that a function is given or sets
        for node in ast.walk(function.adj.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._own.add(node.id)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and self._is_array(node.value):
                self._arrays.add(node.targets[0].id)
        self._loops = 0

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        call, name = node.iter, node.target
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
            return node
        if len(call.args) > 2 or not isinstance(name, ast.Name) or all(self._is_constant(end) for end in call.args):
            return node
        self._loops += 1
        following, end = f"{name.id}_next{self._loops}", f"{name.id}_end{self._loops}"
        head = f"{end} = 0\n{following} = int(0)\nwhile {following} < {end}:"
        text = f"{head}\n  {name.id} = {following}\n  {following} += 1"
        first, second, loop = _written(text, node)
        first.value = call.args[-1]
        if len(call.args) == 2:
            second.value.args = call.args[:1]
        loop.body += node.body
        return [first, second, loop]

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if self._is_array(node.value):
            if isinstance(node.slice, ast.Tuple):
                node.slice.elts = [self._index(index) for index in node.slice.elts]
            else:
                node.slice = self._index(node.slice)
        return node

    def _index(self, index: ast.expr) -> ast.expr:
        is_world = isinstance(index, ast.Name) and index.id == WORLD
        if isinstance(index, ast.Slice) or is_world or self._is_constant(index):
            return index
        known = _written("wp.max(0, 0)", index)[0].value
        known.args[0] = index
        return known

    def _is_array(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._arrays
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            structure = self._structures.get(node.value.id)
            return structure is not None and isinstance(structure.vars[node.attr].type, wp.array)
        return False

    def _is_constant(self, node: ast.expr) -> bool:
        """Whether a number is known when a function is compiled: no argument and nothing that it sets is in it."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name) and node.id in self._own:
            return False
        if isinstance(node, ast.BinOp):
            return self._is_constant(node.left) and self._is_constant(node.right)
        if isinstance(node, ast.UnaryOp):
            return self._is_constant(node.operand)
        return _known(node, self._names) is not None


def _is_struct(kind: Any) -> bool:
    return hasattr(kind, "value_type") and hasattr(kind.value_type, "vars")


def _written(text: str, where: ast.AST) -> list[Any]:
    """Statements, in the place of what they are made of."""
    statements = ast.parse(text).body
    for statement in statements:
        for node in ast.walk(statement):
            ast.copy_location(node, where)
    return statements
