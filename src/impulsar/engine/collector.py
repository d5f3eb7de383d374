"""Python's collector of garbage, paused while thousands of objects are made that stay."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Kernel functions and their hashes stay: looking through them takes 0.45 of the 1.5 s of a start."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
