"""Vectors, matrices and quaternions of symbols, with the formulas of Warp: the same products, summed in the same order.

Python shares what Warp copies (`after = before; after[k] = ...`). `tracing` puts `copied` wherever Warp copies.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from .graph import Scalar, Untraceable, apply, is_number


class Array:
    """Components in a row, of a shape; `kind` tells a quaternion from a vector of four."""

    shape: tuple[int, ...] = (0,)
    kind = "vector"
    whole = False  # of integers
    c: list[Any]

    def __init__(self, *given: Any):
        parts = [part for one in given for part in (one.c if isinstance(one, Array) else [one])]
        size = self.size()
        if not parts:
            parts = [0 if self.whole else 0.0] * size
        elif len(parts) == 1 and size > 1 and self.kind != "quaternion":
            parts = parts * size
        if len(parts) != size:
            raise Untraceable(f"a {self.kind} of {size} numbers is made from {len(parts)}")
        self.c = parts if self.whole else [part if isinstance(part, Scalar) else float(part) for part in parts]

    @classmethod
    def size(cls) -> int:
        """How many components."""
        n = 1
        for length in cls.shape:
            n *= length
        return n

    def like(self, parts: Sequence[Any]) -> "Array":
        new = object.__new__(type(self))
        new.c = list(parts)
        return new

    def _place(self, at: Any) -> int:
        if len(self.shape) == 2:
            i, j = at
            return _within(i, self.shape[0]) * self.shape[1] + _within(j, self.shape[1])
        return _within(at, self.shape[0])

    def __getitem__(self, at: Any) -> Any:
        if len(self.shape) == 2 and not isinstance(at, tuple):
            columns = self.shape[1]
            start = _within(at, self.shape[0]) * columns
            return vector(columns)(*self.c[start : start + columns])
        return self.c[self._place(at)]

    def __setitem__(self, at: Any, value: Any) -> None:
        if not is_number(value):
            raise Untraceable(f"a component of a {self.kind} is set to {type(value).__name__}")
        self.c[self._place(at)] = value

    def __add__(self, b: "Array") -> "Array":
        return self.like([x + y for x, y in zip(self.c, b.c, strict=True)])

    def __sub__(self, b: "Array") -> "Array":
        return self.like([x - y for x, y in zip(self.c, b.c, strict=True)])

    def __neg__(self) -> "Array":
        return self.like([-x for x in self.c])

    def __rmul__(self, s: Any) -> "Array":
        return self.like([s * x for x in self.c])

    def __mul__(self, b: Any) -> "Array":
        if is_number(b):
            return self.like([x * b for x in self.c])
        if isinstance(b, Array):
            return _product(self, b)
        return NotImplemented

    def __truediv__(self, s: Any) -> "Array":
        return self.like([divide(x, s) for x in self.c])


def _within(at: Any, length: int) -> int:
    """An index, which must be one."""
    k = at.__index__()
    if not 0 <= k < length:
        raise Untraceable(f"component {k} of {length}")
    return k


def divide(a: Any, b: Any) -> Any:
    """a / b as C has it: of numbers that are not whole."""
    return a / b if isinstance(a, Scalar) or isinstance(b, Scalar) else apply("/", a, b)


def _product(a: Array, b: Array) -> Array:
    if a.kind == b.kind == "quaternion":
        (x, y, z, w), (i, j, k, r) = a.c, b.c
        return a.like(
            [
                w * i + r * x + y * k - j * z,
                w * j + r * y + z * i - k * x,
                w * k + r * z + x * j - i * y,
                w * r - x * i - y * j - z * k,
            ]
        )
    if a.kind != "matrix" or b.kind == "quaternion" or a.shape[1] != b.shape[0]:
        raise Untraceable(f"a {a.kind} of shape {a.shape} times a {b.kind} of shape {b.shape}")
    rows, inner = a.shape
    columns = b.shape[1] if b.kind == "matrix" else 1
    parts = [
        total([a.c[i * inner + k] * b.c[k * columns + j] for k in range(inner)])
        for i in range(rows)
        for j in range(columns)
    ]
    return matrix(rows, columns)(*parts) if b.kind == "matrix" else vector(rows)(*parts)


def total(terms: Sequence[Any]) -> Any:
    """Their sum, from the first on."""
    out = terms[0]
    for term in terms[1:]:
        out = out + term
    return out


@cache
def vector(length: int, whole: bool = False) -> type[Array]:
    """The type of vectors of a length."""
    return type(f"Vector{length}", (Array,), {"shape": (length,), "whole": whole})


@cache
def matrix(rows: int, columns: int) -> type[Array]:
    """The type of matrices of a shape."""
    return type(f"Matrix{rows}x{columns}", (Array,), {"shape": (rows, columns), "kind": "matrix"})


class Quaternion(Array):
    """x, y, z, w."""

    shape = (4,)
    kind = "quaternion"


class Record:
    """A struct: fields by name."""

    def __init__(self, fields: dict[str, Any]):
        self.__dict__.update(fields)

    def copy(self) -> "Record":
        return Record({name: copied(value) for name, value in self.__dict__.items()})


def copied(a: Any) -> Any:
    """What Warp copies where it is assigned: vectors and structs; arrays of the engine are shared."""
    if isinstance(a, Array):
        return a.like(a.c)
    if isinstance(a, Record):
        return a.copy()
    return a
