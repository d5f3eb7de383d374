"""Threads over the worlds of a batch, on the CPU: each takes a range of worlds, then the next that is left.

No world reads what another writes, so that the bits are those of one thread. A compiled kernel holds no lock of Python
while it runs.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise

LEAST = 32  # worlds for which a thread pays: waiting for threads takes 45 us, a step of a world some 2 to 15
RANGES = 4  # for each thread, since worlds differ in what they cost
MOST = 256
_most = 0  # threads of this process; 0: as many as it has processors


def usable_cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def take_one() -> None:
    """Let worlds of this process take one thread unless they are told: others are at work beside it."""
    global _most
    _most = 1


def threads_for(worlds: int, asked: int | None = None) -> int:
    """Threads for so many worlds: as many as asked for, if they have a world each, or as many as pay."""
    if asked is not None:
        return min(asked, worlds)
    return max(1, min(_most or usable_cores(), worlds // LEAST))


def ranges(worlds: int, threads: int) -> list[tuple[int, int]]:
    """Worlds as ranges: (first, how many)."""
    parts = min(worlds, RANGES * threads)
    ends = [worlds * k // parts for k in range(parts + 1)]
    return [(first, end - first) for first, end in pairwise(ends)]


def run_in_threads(calls: Iterable[Callable[[], object]], threads: int) -> None:
    """Make all calls, and come back when all are made, also where Ctrl-C comes in between: none is left out."""
    left = iter(calls)
    running = [_pool(os.getpid()).submit(_make, left) for _ in range(threads)]
    try:
        wait(running)
    finally:
        wait(running)
    for one in running:
        one.result()


def _make(left: Iterator[Callable[[], object]]) -> None:
    for call in left:
        call()


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of a process: a fork has none of its parent's."""
    return ThreadPoolExecutor(MOST, thread_name_prefix="worlds")
