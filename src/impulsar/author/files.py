"""Files written beside and put in place at once: a failure leaves what was there."""

import os
import shutil
from pathlib import Path

from .errors import FileError


def write_file(path: str | Path, data: bytes) -> None:
    """Write a file; raises FileError in words, and then the old one is as it was.

    What is no file, such as /dev/stdout, is written to as it is; of a link what it leads to is replaced.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target = target.resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        _replace(target, data)
    except OSError as error:
        left = "what was there is as it was" if target.is_file() else "nothing is left of it"
        raise FileError(f"'{path}': cannot be written: {error.strerror or error}; {left}") from error


def _replace(target: Path, data: bytes) -> None:
    beside = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        beside.unlink(missing_ok=True)  # of a process that was killed
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)
