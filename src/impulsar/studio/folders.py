"""Temporary folders for keys, journals and links: for this user only, gone with the process or at the next start."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: folders of killed runs stay until they are cleaned by hand
    fcntl = None  # type: ignore[assignment]

PREFIX = "impulsar-studio-"
LOCK = "running"  # held as long as its process lives


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder of mode 700 that goes at the end; those that killed runs of this user left go first."""
    remove_stale()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = os.open(folder / "new", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        (folder / "new").rename(folder / LOCK)  # nobody sees it unlocked
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_stale() -> None:
    """Remove folders whose process is gone."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # another user's, in use, or removed by another start
            if folder.lstat().st_uid == os.getuid() and not folder.is_symlink():
                _remove_if_free(folder)


def _remove_if_free(folder: Path) -> None:
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def write_private(path: Path, text: str) -> None:
    """A new file that only this user can read."""
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
