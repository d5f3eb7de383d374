"""Several programs that measure on one machine take turns: who has the lock is alone."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone(lock: Path | None) -> Iterator[None]:
    """Nobody else who has the file locked measures meanwhile."""
    if lock is None:
        yield
        return
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
