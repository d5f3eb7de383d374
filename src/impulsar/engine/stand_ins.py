"""Kernels compiled without optimisation, which stand in for those that another process compiles meanwhile.

Optimised, the kernel of `direct` takes some 13 s of processor time to compile; without, a third of that, and its steps
some fifty times as long. Who looks at a mechanism's first frames need not wait, and who measures must not have it:
worlds with compile="auto" take it, on the CPU. The bits are the same, since the compiler neither joins nor reorders
operations of floating point at any level.

Which of the two is launched is looked up launch by launch, so that recorded launches change over as well.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import warp as wp

from .device import is_compiled, load_kernels, load_quickly
from .shared import quick, shared

Compile = Callable[[Sequence[wp.Kernel]], None]


class StandIn:
    """What is called for a kernel of the CPU."""

    def __init__(self, kernel: wp.Kernel):
        self.stands_in = True
        self._kernel, self.twin = kernel, quick(kernel)
        self._keep: list[Any] = []  # modules that are loaded, as long as somebody may call them
        self.forward = self._load(self.twin)

    def make_way(self) -> None:
        """From the next launch on it is the kernel itself."""
        self.forward = self._load(shared(self._kernel))
        self.stands_in = False

    def _load(self, twin: wp.Kernel) -> Any:
        loaded = twin.module.load("cpu", 1)
        self._keep.append(loaded)
        return loaded.get_kernel_hooks(twin).forward


_standing: dict[wp.Module, dict[wp.Kernel, StandIn]] = {}  # by module, by kernel
_by_twin: dict[wp.Kernel, StandIn] = {}  # those that made way, too
_works: list[threading.Thread] = []
_lock = threading.RLock()


def stands_in_for(kernel: wp.Kernel, device: str) -> wp.Kernel | None:
    """What is to be launched in the place of a kernel, if anything is."""
    if kernel.module not in _standing or device != "cpu":
        return None
    with _lock:
        ones = _standing.get(kernel.module)
        if ones is None:  # it has made way meanwhile
            return None
        if kernel not in ones:
            ones[kernel] = one = StandIn(kernel)
            _by_twin[one.twin] = one
        return ones[kernel].twin


def find(twin: wp.Kernel) -> StandIn | None:
    """By what is launched."""
    return _by_twin.get(twin)


def begin(kernels: Sequence[wp.Kernel], later: Sequence[wp.Kernel], compile_beside: Compile) -> None:
    """Load kernels of the CPU, without optimisation where they are not in the cache.

    In a thread `compile_beside` then has them, and those that are needed later, in the cache when it returns.
    """
    with _lock:
        others = [kernel for kernel in kernels if kernel.module not in _standing]
        missing = [kernel for kernel in others if not is_compiled(kernel, "cpu")]
        load_kernels([kernel for kernel in others if kernel not in missing], "cpu")
        if not missing:
            return
        load_quickly(missing)
        _standing.update({kernel.module: {} for kernel in missing})
        work = threading.Thread(target=_finish, args=([*missing, *later], compile_beside), daemon=True)
        _works.append(work)
        work.start()


def wait() -> None:
    """Wait until nothing stands in any more."""
    for work in _works:
        work.join()


def _finish(kernels: Sequence[wp.Kernel], compile_beside: Compile) -> None:
    compile_beside(kernels)
    load_kernels(kernels, "cpu")  # where nobody could compile them they are compiled here
    with _lock:
        for kernel in kernels:
            for one in _standing.pop(kernel.module, {}).values():
                one.make_way()
