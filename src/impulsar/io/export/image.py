"""The memory of some kernels' arguments as one block that can be put anywhere: its words, and which are pointers.

All that depends on how the kernels take their arguments is here: a launch's structure is walked by the types of the
kernel's arguments, so that structures by value, arrays, and arrays of structures come out alike.
"""

import ctypes
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp
from warp._src.codegen import Struct
from warp._src.types import array_t, type_size_in_bytes

WORD = 8  # bytes
LINE = 8  # words: arrays begin at a cache line where the block does


@dataclass(frozen=True)
class Call:
    """A kernel's launch in the block."""

    kernel: wp.Kernel
    bounds: int  # word where its bounds begin
    arguments: int  # and its arguments


@dataclass
class Image:
    """A block of memory."""

    words: np.ndarray  # uint64; pointers are 0
    pointers: list[tuple[int, int]]  # (word, word that it points to)
    calls: list[Call]
    _regions: list[tuple[int, int, int]]  # (first byte in this process, one past its last, word)

    def place(self, array: wp.array) -> int:
        """The word where an array begins."""
        return _word(self._regions, array.ptr)


def take_image(launches: Sequence[Callable], whole: Sequence[wp.array] = ()) -> Image:
    """The memory of launches that `record_launch` made on the CPU, as it is now; arrays that stay whole though launches
    take parts of them."""
    spans = [(array.ptr, array.ptr + array.capacity) for array in whole]
    pointers: list[tuple[int, int]] = []  # addresses: where it is, what it points to
    for launch in launches:
        command, *_, packed = launch.keep  # type: ignore[attr-defined]
        start = ctypes.addressof(packed)
        spans += [_span(packed), _span(command.params[0])]
        for argument, (name, _) in zip(command.kernel.adj.args, packed._fields_, strict=True):
            for at, kind in _arrays(argument.type, start + getattr(type(packed), name).offset):
                _follow(at, kind, spans, pointers)
    regions, size = _placed(spans)
    words = np.zeros(size, np.uint64)
    for first, end, word in regions:
        data = np.frombuffer(ctypes.string_at(first, end - first), np.uint8)
        words.view(np.uint8)[word * WORD : word * WORD + len(data)] = data
    for at, _ in pointers:
        words[_word(regions, at)] = 0
    found = [(_word(regions, at), _word(regions, to)) for at, to in pointers if to]
    calls = [
        Call(
            command.kernel,
            _word(regions, ctypes.addressof(command.params[0])),
            _word(regions, ctypes.addressof(packed)),
        )
        for command, *_, packed in (launch.keep for launch in launches)  # type: ignore[attr-defined]
    ]
    return Image(words, sorted(set(found)), calls, regions)


def _arrays(kind: Any, at: int) -> Iterator[tuple[int, Any]]:
    """Addresses of the array descriptors in a value of a type, with the types of their elements."""
    if isinstance(kind, Struct):
        for name, variable in kind.vars.items():
            yield from _arrays(variable.type, at + getattr(kind.ctype, name).offset)
    elif isinstance(kind, wp.array):
        yield at, kind.dtype


def _follow(at: int, kind: Any, spans: list[tuple[int, int]], pointers: list[tuple[int, int]]) -> None:
    """Note an array's elements and the pointers to them; of structures what they point to as well."""
    array = array_t.from_address(at)
    shape = list(array.shape[: array.ndim])
    empty = 0 in shape or not array.data
    pointers += [(at, 0 if empty else array.data), (at + array_t.grad.offset, 0)]
    if empty:
        return
    size = ctypes.sizeof(kind.ctype) if isinstance(kind, Struct) else type_size_in_bytes(kind)
    extent = sum((n - 1) * stride for n, stride in zip(shape, array.strides[: array.ndim], strict=True)) + size
    spans.append((array.data, array.data + extent))
    if isinstance(kind, Struct):
        for element in range(0, extent, size):
            for inner, of in _arrays(kind, array.data + element):
                _follow(inner, of, spans, pointers)


def _span(thing: ctypes.Structure) -> tuple[int, int]:
    return ctypes.addressof(thing), ctypes.addressof(thing) + ctypes.sizeof(thing)


def _placed(spans: list[tuple[int, int]]) -> tuple[list[tuple[int, int, int]], int]:
    """Spans that overlap as one, each with a word of its own; and the words that all take."""
    merged: list[list[int]] = []  # first, end, and which of the spans came first: no address decides where it goes
    for number, (first, end) in sorted(enumerate(spans), key=lambda one: one[1]):
        if merged and first < merged[-1][1]:
            merged[-1][1:] = max(merged[-1][1], end), min(merged[-1][2], number)
        else:
            merged.append([first, end, number])
    regions, word = [], 0
    for first, end, _ in sorted(merged, key=lambda one: one[2]):
        regions.append((first, end, word))
        word += -(-(end - first) // (WORD * LINE)) * LINE
    return sorted(regions), word


def _word(regions: list[tuple[int, int, int]], address: int) -> int:
    """The word that an address has in the block."""
    first, end, word = regions[bisect_right(regions, address, key=lambda region: region[0]) - 1]
    if not first <= address < end or (address - first) % WORD:
        raise ValueError(f"address {address:#x} is not in the frozen memory")
    return word + (address - first) // WORD
