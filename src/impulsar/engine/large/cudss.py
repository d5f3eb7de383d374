"""NVIDIA cuDSS, a direct solver of sparse systems on a GPU, by its C interface (cudss.h of version 1).

It is installed by `pip install nvidia-cudss-cu13` (the extra `impulsar[cudss]`) and proprietary, so nothing needs it.
Symmetric positive definite matrices in rows, the lower half read, in its deterministic mode: the same bits every run.
"""

import ctypes
from ctypes import byref, c_int, c_int64, c_size_t, c_void_p
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import warp as wp

from ...author.errors import StepError

MAJOR = 1  # version whose numbers these are
ANALYSIS, FACTOR, REFACTOR, SOLVE = 0b11, 1 << 2, 1 << 3, 0b11_1111_0000  # cudssPhase_t
DETERMINISTIC = 24  # cudssConfigParam_t
POSITIVE, LOWER, FROM_ZERO, BY_COLUMNS = 3, 1, 0, 0  # matrix type and view, index base, layout
REAL, WHOLE = 1, 10  # CUDA_R_64F, CUDA_R_32I
STATUS = (
    "",
    "not initialised",
    "no memory",
    "invalid value",
    "not supported",
    "failed",
    "internal error",
    "refinement",
)


@cache
def find_cudss() -> ctypes.CDLL | None:
    """The library, None where it is not installed or of another version."""
    found = find_spec("nvidia")
    for folder in (found.submodule_search_locations or []) if found else []:
        for path in sorted(Path(folder).glob("cu*/lib/libcudss.so.*")):
            try:
                library = ctypes.CDLL(str(path))
            except OSError:  # a library that it needs is not there
                continue
            if _major(library) == MAJOR:
                return library
    return None


def _major(library: ctypes.CDLL) -> int:
    value = c_int(-1)
    library.cudssGetProperty(c_int(0), byref(value))
    return value.value


class Cudss:
    """A matrix on the present device; its pattern is analysed at the first factor."""

    def __init__(self, size: int, begin: wp.array, column: wp.array, name: str):
        library = find_cudss()
        assert library is not None
        self._library, self._name, self._size = library, name, size
        self._begin, self._column = begin, column  # kept: cuDSS has their addresses
        self._handle, self._config, self._data = c_void_p(), c_void_p(), c_void_p()
        self._matrix, self._right, self._out = c_void_p(), c_void_p(), c_void_p()
        self._call("cudssCreate", byref(self._handle))
        stream = wp.get_stream(begin.device).cuda_stream
        self._call("cudssSetStream", self._handle, c_void_p(stream))
        self._call("cudssConfigCreate", byref(self._config))
        yes = c_int(1)
        self._call("cudssConfigSet", self._config, c_int(DETERMINISTIC), byref(yes), c_size_t(ctypes.sizeof(yes)))
        self._call("cudssDataCreate", self._handle, byref(self._data))
        self._phase = ANALYSIS

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            word = STATUS[status] if status < len(STATUS) else f"status {status}"
            raise StepError(f"{self._name}: {name} of cuDSS: {word}; take fewer joints, or device='cpu'")

    def _dense(self, which: c_void_p, array: wp.array) -> None:
        if which:
            self._call("cudssMatrixSetValues", which, c_void_p(array.ptr))
            return
        size = c_int64(self._size)
        made = (size, c_int64(1), size, c_void_p(array.ptr), c_int(REAL), c_int(BY_COLUMNS))
        self._call("cudssMatrixCreateDn", byref(which), *made)

    def _execute(self, phase: int) -> None:
        given = (self._config, self._data, self._matrix, self._out, self._right)
        self._call("cudssExecute", self._handle, c_int(phase), *given)

    def factor(self, values: wp.array) -> None:
        """From its entries in the order of the pattern."""
        if not self._matrix:
            size, count = c_int64(self._size), c_int64(values.size)
            places = (c_void_p(self._begin.ptr), c_void_p(), c_void_p(self._column.ptr), c_void_p(values.ptr))
            kinds = (c_int(WHOLE), c_int(WHOLE), c_int(REAL), c_int(POSITIVE), c_int(LOWER), c_int(FROM_ZERO))
            self._call("cudssMatrixCreateCsr", byref(self._matrix), size, size, count, *places, *kinds)
            empty = wp.zeros(self._size, wp.float64, device=self._begin.device)
            self._dense(self._right, empty)
            self._dense(self._out, empty)
            self._execute(ANALYSIS)
            self._execute(FACTOR)
            return
        self._call("cudssMatrixSetValues", self._matrix, c_void_p(values.ptr))
        self._execute(REFACTOR)

    def solve(self, right: wp.array, out: wp.array) -> None:
        """out = C⁻¹ right."""
        self._dense(self._right, right)
        self._dense(self._out, out)
        self._execute(SOLVE)

    def __del__(self) -> None:
        for name, which in (
            ("cudssMatrixDestroy", "_matrix"),
            ("cudssMatrixDestroy", "_right"),
            ("cudssMatrixDestroy", "_out"),
        ):
            if getattr(self, which, None):
                getattr(self._library, name)(getattr(self, which))
        if getattr(self, "_data", None):
            self._library.cudssDataDestroy(self._handle, self._data)
        if getattr(self, "_config", None):
            self._library.cudssConfigDestroy(self._config)
        if getattr(self, "_handle", None):
            self._library.cudssDestroy(self._handle)
