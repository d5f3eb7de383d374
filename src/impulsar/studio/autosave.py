"""Journals of sessions that nobody asked to be kept: kept all the same, and offered again where work was left in them.

They are in the user's state folder (XDG_STATE_HOME, else ~/.local/state), for this user only. One that ends with
nothing to lose goes with its session; of those that are left, the last few stay.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ..author.errors import FileError
from ..history.journal import Journal, Reader

KEPT = 5  # journals that were left
LARGEST = 128 * 2**20  # bytes of one that is looked into
PASSING = ("Grab", "Push", "Grip", "Move", "Release", "DragTo", "Pause", "Reset")  # edits that are no work


@dataclass(frozen=True)
class Left:
    """A session that ended with work in it."""

    path: Path
    scene: str
    edits: int  # that are work
    ended: float  # seconds since 1970

    def __str__(self) -> str:
        when = datetime.fromtimestamp(self.ended).strftime("%d %b %H:%M")
        return f"'{self.scene}', {self.edits} change{'s' if self.edits > 1 else ''}, {when}"


def state_folder() -> Path:
    """Where journals are kept that nobody gave a name."""
    base = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    folder = (Path(base) if base else Path.home() / ".local" / "state") / "impulsar" / "sessions"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def new_journal() -> Path:
    """A name for the journal of this process."""
    return state_folder() / f"session-{datetime.now():%Y%m%d-%H%M%S}-{os.getpid()}.journal"


def find_left() -> Left | None:
    """The last session that ended with work in it; what holds none, and more than a few, goes."""
    found: list[Left] = []
    for path in sorted(state_folder().glob("session-*.journal"), key=_age):
        try:
            left = _look_into(path)
        except (FileError, OSError):  # in use, or no journal: not ours to remove
            continue
        if left is not None and len(found) < KEPT:
            found.append(left)
        else:
            path.unlink(missing_ok=True)
    return found[0] if found else None


def _age(path: Path) -> float:
    with suppress(OSError):
        return -path.stat().st_mtime
    return 0.0


def _look_into(path: Path) -> Left | None:
    """What is in a journal that no process holds; None: no work."""
    stat = path.stat()
    if stat.st_size > LARGEST:
        return Left(path, "a large session", 1, stat.st_mtime)
    Journal(path, cut=False).close()  # refused while another session writes it
    entries = Reader(path).entries
    made = [entry.data.get("edit") for entry in entries if entry.kind == "edit"]
    work = sum(1 for edit in made if isinstance(edit, dict) and edit.get("edit") not in PASSING)
    models = [entry.data.get("model") for entry in entries if entry.kind == "model"]
    name = models[-1].get("name") if models and isinstance(models[-1], dict) else None
    return Left(path, str(name)[:60], work, stat.st_mtime) if work else None


def tidy(path: Path, has_work: bool) -> None:
    """At the end of a session: keep its journal where there is work in it."""
    if not has_work:
        path.unlink(missing_ok=True)
    for n in range(1, 6):  # scenes before it
        path.with_name(f"{path.name}.{n}").unlink(missing_ok=True)
