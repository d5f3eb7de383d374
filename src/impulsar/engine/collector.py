"""Python's collector of garbage, paused while thousands of objects are made that stay."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Kernel functions and their hashes stay: looking through them takes 0.45 of the 1.5 s of a start.

    To freeze and thaw them makes them old, so that the first collection behind it does not look through them either.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            if not gc.get_freeze_count():  # what somebody else has frozen stays so
                gc.freeze()
                gc.unfreeze()
            gc.enable()
