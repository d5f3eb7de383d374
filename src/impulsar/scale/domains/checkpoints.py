"""Checkpoints of a world in domains: a folder a step, with a file of each rank; full once all of them are there.

    FOLDER/step-000001200/rank-00003.npz     what that rank needs to go on, to the same bits
    FOLDER/step-000001200/full.json          written last: ranks, step, time, and of which world it is

The last two full sets are kept. Whatever is killed and when, there is a full set from the first one on.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from ...author.errors import FileError
from ...version import __version__

if TYPE_CHECKING:
    from .world import DomainWorld

KEPT_SETS = 2
CURE = "take that folder away to go on from the one before"
OF_BULK = (
    *("position", "orientation", "kind", "mass", "inertia", "twist", "joint_kind", "first", "second"),
    *("p_PF", "q_PF", "p_CM", "q_CM", "length", "radius", "planes", "no_contact"),
)
AS_TEXT = ("types", "friction", "gravity", "shapes", "obstacles", "materials", "surfaces", "slots", "channels")


def key_of(world: "DomainWorld") -> str:
    """Of the world at its start, and how it is stepped."""
    bulk, made = world.bulk, hashlib.sha256()
    for name in OF_BULK:
        made.update(np.ascontiguousarray(getattr(bulk, name)).tobytes())
    rest = [getattr(bulk, name) for name in AS_TEXT]
    rest += [bulk.springs, bulk.loads, world.dt, world.method, world.rounds, world.substeps]
    made.update(repr((*rest, __version__)).encode())
    return made.hexdigest()


def write_set(world: "DomainWorld", folder: Path) -> Path:
    """A checkpoint of all ranks; raises FileError on all where one cannot write."""
    ranks = world.ranks
    place = folder / f"step-{world.count:09d}"
    trouble = ""
    try:
        place.mkdir(parents=True, exist_ok=True)
        _write(place / f"rank-{ranks.rank:05d}.npz", world.arrays())
    except OSError as error:
        trouble = f"'{place}': cannot be written: {error.strerror}; check the place"
    ranks.agree(trouble, FileError)
    if ranks.rank == 0:
        head = {"ranks": ranks.size, "step": world.count, "time": world.time, "key": key_of(world)}
        partial = place / "full.json.part"
        partial.write_text(json.dumps(head))
        os.replace(partial, place / "full.json")
        for old in full_sets(folder)[:-KEPT_SETS]:
            shutil.rmtree(old, ignore_errors=True)
    ranks.comm.Barrier()
    return place


def _write(path: Path, arrays: dict[str, np.ndarray]) -> None:
    partial = path.with_suffix(".part")
    with partial.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)


def full_sets(folder: Path) -> list[Path]:
    """Full checkpoints beneath a folder, the last at the end."""
    return sorted(path.parent for path in folder.glob("step-*/full.json"))


def _head(place: Path) -> dict:
    """Of which world a full set is."""
    try:
        head = json.loads((place / "full.json").read_text())
        return {name: head[name] for name in ("ranks", "key")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(f"'{place / 'full.json'}': cannot be read: {error}; {CURE}") from error


def read_set(world: "DomainWorld", folder: Path) -> None:
    """Go on from the last full set."""
    ranks = world.ranks
    found = full_sets(folder)
    place = ranks.comm.bcast(found[-1] if found else None, root=0)
    if place is None:
        raise FileError(f"'{folder}': has no full checkpoint; start without --resume")
    head = _head(place)
    if head["ranks"] != ranks.size:
        raise FileError(f"'{place}': is of {head['ranks']} ranks, this job has {ranks.size}; start as many as it has")
    if head["key"] != key_of(world):
        raise FileError(f"'{place}': is of another scene, step or version; give the settings that it was made with")
    trouble, kept = "", {}
    try:
        with np.load(place / f"rank-{ranks.rank:05d}.npz") as file:
            kept = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        trouble = f"'{place}': cannot be read: {error}; {CURE}"
    ranks.agree(trouble, FileError)
    world.take_arrays(kept)
