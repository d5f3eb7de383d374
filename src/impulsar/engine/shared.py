"""Kernels whose threads share the structures that they are given, and which may begin at any world.

A kernel is written `kernel(m: SystemArrays, s: StateArrays, x: WorkArrays)`, and Warp hands a structure over by value.
Who takes its address, as a `wp.ref` does, makes a private copy of all array descriptors in every thread: 17 kB on a
GPU. What is launched is therefore made here of what is written: each structure becomes an array of length 1,

    m: SystemArrays      ->      m: wp.array(dtype=SystemArrays)
    step(m, s, x)        ->      step(m[0], s[0], x[0])
    wp.tid()             ->      counted(wp.tid() + first_thread[0])

and `first_thread` comes last, so that a launch can take some of the worlds. What is computed stays the same to the bit.
`quick` is the same twin compiled without optimisation (stand_ins.py).
A structure to whose fields a kernel itself writes is copied first, as it was by value; functions write to arrays only.
"""

import ast
import ctypes
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import warp as wp

from . import indices

SUFFIX, QUICK = ".shared", ".quick"
FIRST = "first_thread"
COUNTED = "counted_threads"  # name by which a twin calls `indices.counted`
SHARING = "sharing"  # option that twins have
OWN = "_own"  # after the name of a structure that is copied


def is_structure(kind: object) -> bool:
    """Whether a type is a Warp structure."""
    return hasattr(kind, "vars") and not isinstance(kind, wp.array)


def structures_of(kernel: wp.Kernel) -> list[str]:
    """Names of the arguments that are structures."""
    return [name for name, kind in kernel.adj.arg_types.items() if is_structure(kind)]


def shared(kernel: wp.Kernel) -> wp.Kernel:
    """What is launched for a kernel: its twin, or itself where its module knows no structures."""
    return _twins(kernel.module, SUFFIX).get(kernel.key, kernel)


def quick(kernel: wp.Kernel) -> wp.Kernel:
    """The same, compiled without optimisation."""
    return _twins(kernel.module, QUICK).get(kernel.key, kernel)


@cache
def _twins(module: wp.Module, suffix: str) -> dict[str, wp.Kernel]:
    """Of all kernels of a module, so that they are compiled together as they would be."""
    kernels = dict(module.kernels)
    if suffix == SUFFIX and not any(structures_of(kernel) for kernel in kernels.values()):
        return {}
    twin = wp.get_module(module.name + suffix)
    twin.options.update(module.options)
    if suffix == QUICK:
        twin.options["optimization_level"] = 0
    return {key: _twin(kernel, twin) for key, kernel in kernels.items()}


def _twin(kernel: wp.Kernel, module: wp.Module) -> wp.Kernel:
    structures, written = structures_of(kernel), kernel.func
    names = written.__globals__ | {COUNTED: indices.counted}
    code = FunctionType(written.__code__, names, written.__name__, closure=written.__closure__)
    code.__module__, code.__qualname__ = written.__module__, written.__qualname__
    code.__annotations__ = {
        name: wp.array(dtype=kind) if name in structures else kind for name, kind in kernel.adj.arg_types.items()
    }
    sharing = Sharing(structures, kernel.adj.tree)
    if structures and not sharing.counts_several:
        code.__annotations__[FIRST] = wp.array(dtype=wp.int32)
        sharing.begins = True
    options = dict(kernel.options) | {SHARING: _edition()}  # Warp's hash of a kernel is of what is written and of these
    twin = wp.Kernel(code, key=kernel.key, module=module, options=options, code_transformers=[sharing])
    indices.open_up(twin)
    return twin


@cache
def _edition() -> int:
    """Of what makes twins: what it made of a kernel before it was changed is not taken from Warp's cache."""
    return zlib.crc32(Path(__file__).read_bytes() + Path(indices.__file__).read_bytes())


class Sharing(ast.NodeTransformer):
    """Puts the elements of arrays in the place of structures, and the first thread before the others."""

    def __init__(self, structures: Sequence[str], tree: ast.AST):
        nodes = list(ast.walk(tree))
        assigned = [node for node in nodes if isinstance(node, ast.Assign) and _is_tid(node.value)]
        self.counts_several = any(isinstance(target, ast.Tuple) for node in assigned for target in node.targets)
        stored = [node for node in nodes if isinstance(getattr(node, "ctx", None), ast.Store)]
        self.own = [name for name in structures if name in {_owner(node) for node in stored}]
        self.structures = [name for name in structures if name not in self.own]
        self.begins = False  # threads are counted from FIRST on

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.body = [self.visit(statement) for statement in node.body]
        for name in self.own:
            given = ast.copy_location(ast.Name(name, ast.Load()), node.body[0])
            copied = ast.Assign([ast.Name(name + OWN, ast.Store())], _element(given))
            node.body.insert(0, ast.fix_missing_locations(ast.copy_location(copied, node.body[0])))
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.own:
            return ast.copy_location(ast.Name(node.id + OWN, node.ctx), node)
        return _element(node) if node.id in self.structures else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if not self.begins or not _is_tid(node):
            self.generic_visit(node)
            return node
        first = _element(ast.copy_location(ast.Name(FIRST, ast.Load()), node))
        world = ast.copy_location(ast.BinOp(node, ast.Add(), first), node)
        return ast.copy_location(ast.Call(ast.copy_location(ast.Name(COUNTED, ast.Load()), node), [world], []), node)


def _owner(target: ast.AST) -> str | None:
    """Name of the structure that something is stored to, at any depth; an element of an array is none of it."""
    while isinstance(target, ast.Attribute):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def _is_tid(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "tid"


def _element(name: ast.Name) -> ast.expr:
    """The only one of an array of length 1."""
    index = ast.copy_location(ast.Constant(0), name)
    return ast.copy_location(ast.Subscript(name, index, ast.Load()), name)


class Descriptor:
    """A structure as an array of length 1 on a device; `follow` brings it up to date where an array was replaced.

    On the CPU it is the structure's own memory, and always up to date.
    """

    def __init__(self, given: Any, device: str):
        self._given = given  # keeps its memory
        self._own = wp.array(
            ptr=ctypes.addressof(given.__ctype__()), dtype=given._cls, shape=1, device="cpu", copy=False
        )
        self._there = None if wp.get_device(device).is_cpu else wp.empty(1, dtype=given._cls, device=device)
        self._sent = b""
        self.follow()

    @property
    def array(self) -> wp.array:
        """What the kernel is given."""
        return self._own if self._there is None else self._there

    def follow(self) -> None:
        """Take over what has changed."""
        if self._there is not None and (now := bytes(self._given.__ctype__())) != self._sent:
            wp.copy(self._there, self._own)
            self._sent = now
