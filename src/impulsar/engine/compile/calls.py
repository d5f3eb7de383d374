"""Calls of compiled steps: what the driver is given, packed once, so that a launch is one call with one pointer."""

import ctypes
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ..threads import RANGES, run_in_threads
from .backend import compile_text
from .emit_c import CHANGED, COUNTS, WIDTHS, WILD, driver

_pointer, _whole = ctypes.c_void_p, ctypes.c_longlong
Run = ctypes.CFUNCTYPE(_whole, _pointer)


class Call(ctypes.Structure):
    """The structure of `emit_c.driver`."""

    _fields_ = [
        *((name, _pointer) for name in ("step", "state", "parameter", "pitch", "done", "used", "before")),
        *((name, _pointer) for name in ("now", "kept", "size", "h")),
        *((name, _whole) for name in ("variants", "worlds", "first", "end", "steps", "arrays", "fresh")),
        ("nominal", ctypes.c_double),
    ]


def run_of(rows: int, parameters: int, width: int) -> Any:
    """The driver of a width, compiled."""
    return Run(compile_text(driver(rows, parameters, width), "run"))


def shares(worlds: int) -> list[tuple[int, int, int]]:
    """Worlds by the width of the code that takes them, the widest first: (width, first, end)."""
    found, at = [], 0
    for width in reversed(WIDTHS):
        end = at + (worlds - at) // width * width
        if end > at:
            found.append((width, at, end))
        at = end
    return found


def in_ranges(share: tuple[int, int, int], threads: int) -> list[tuple[int, int, int]]:
    """A share of the worlds as ranges for threads, each of whole registers."""
    width, first, end = share
    registers = (end - first) // width
    parts = min(registers, RANGES * threads) if threads > 1 else 1
    ends = [first + registers * k // parts * width for k in range(parts + 1)]
    return [(width, *pair) for pair in pairwise(ends)]


def address(array: np.ndarray) -> int:
    """Where an array is."""
    return array.__array_interface__["data"][0]


class Constants:
    """What arrays of the system held when the step was traced."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def keep(self, arrays: Any, names: Sequence[str]) -> None:
        """Take these arrays, too, as they are now."""
        for name in names:
            if name not in self.kept:
                self.kept[name] = _bytes(getattr(arrays, name))

    def hold(self, arrays: Any) -> bool:
        """Whether the arrays are as they were."""
        return all(_bytes(getattr(arrays, name)) == kept for name, kept in self.kept.items())

    def fill(self, call: Call, arrays: Any) -> list:
        """Have a call compare them; returns what has to stay as long as the call."""
        found = {name: getattr(arrays, name) for name, kept in self.kept.items() if kept}
        places = np.array([array.ptr for array in found.values()], np.uint64)
        sizes = np.array([len(self.kept[name]) for name in found], np.int64)
        kept = ctypes.create_string_buffer(b"".join(self.kept[name] for name in found))
        call.now, call.kept, call.size = address(places), ctypes.addressof(kept), address(sizes)
        call.arrays = len(found)
        return [found, places, sizes, kept]


def _bytes(array: Any) -> bytes:
    return ctypes.string_at(array.ptr, array.shape[0] * array.strides[0]) if array.size else b""


class Packed:
    """Calls that together take all worlds; arrays that they point to are kept alive."""

    def __init__(self, rows: int, worlds: int, most_variants: int):
        self.before = np.empty((rows, worlds))
        self.used = np.zeros((COUNTS + most_variants, worlds), np.int64)
        self.done = np.zeros(worlds, np.int64)
        self.calls: list[tuple[Any, Call]] = []
        self.steps = 0
        self.threads, self.least = 1, 1  # and for how many steps they pay
        self._keep: list[Any] = []

    def pack(self, given: Call, parts: Sequence[tuple[Any, np.ndarray, int, int]], keep: Any, threads: int) -> None:
        """parts: driver, addresses of the variants, first world and end. Of many calls the first only compares what is
        constant, so that nothing is done where something is another."""
        self.calls, self.threads, self._keep = [], threads, [keep, *(variants for _, variants, _, _ in parts)]
        if len(parts) > 1:
            self._add(given, parts[0][0], parts[0][1], 0, 0)
        for run, variants, first, end in parts:
            self._add(given, run, variants, first, end)
            if len(parts) > 1:
                self.calls[-1][1].arrays, self.calls[-1][1].h = 0, None
        self._places = [(run, ctypes.addressof(call)) for run, call in self.calls]

    def _add(self, given: Call, run: Any, variants: np.ndarray, first: int, end: int) -> None:
        call = Call()
        ctypes.memmove(ctypes.addressof(call), ctypes.addressof(given), ctypes.sizeof(Call))
        call.done, call.used, call.before = address(self.done), address(self.used), address(self.before)
        call.step, call.variants, call.first, call.end = address(variants), len(variants), first, end
        call.fresh, call.steps = 1, self.steps
        self.calls.append((run, call))

    def go(self) -> int:
        """Take the steps as they are set; how many worlds are short of them, or what else `run` says."""
        run, place = self._places[0]
        code = run(place)
        if code == CHANGED or len(self._places) == 1:
            return code
        if self.threads == 1 or self.steps < self.least:
            codes = [run(place) for run, place in self._places[1:]]
        else:
            codes = []
            run_in_threads((partial(self._note, codes, *one) for one in self._places[1:]), self.threads)
        return sum(code % WILD for code in codes) + (WILD if any(code >= WILD for code in codes) else 0)

    @staticmethod
    def _note(codes: list[int], run: Any, place: int) -> None:
        codes.append(run(place))

    def set(self, steps: int, to_end: bool = True, fresh: bool = True) -> None:
        """How many steps; to_end: the state before the last of them is kept; fresh: nothing is counted yet."""
        self.steps = steps
        for _, call in self.calls:
            call.steps, call.fresh = steps, int(fresh)
            call.before = address(self.before) if to_end else None
