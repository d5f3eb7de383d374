"""Files that others' readers read in a process of its own (`child`): what they are, or a FileError."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from ...author.errors import FileError
from . import child

WAIT = 180  # [s] of wall time
LARGEST_ANSWER = 512 * 2**20  # bytes of JSON


def read_apart(kind: str, program: str, path: str, data: bytes, missing: str) -> dict[str, Any]:
    """What `program` makes of a file, by KIND_child.py; "refusal" among it where it will not have it."""
    command = [sys.executable, "-P", str(Path(child.__file__)), kind, path]
    with tempfile.TemporaryDirectory() as empty:  # nothing is found or written where it is
        try:
            done = subprocess.run(command, input=data, capture_output=True, timeout=WAIT, cwd=empty, check=False)
        except subprocess.TimeoutExpired as error:
            raise FileError(f"takes {program} more than {WAIT} s to read; make it smaller") from error
    if len(done.stdout) > LARGEST_ANSWER:
        raise FileError(f"is too large when {program} has read it; make it smaller")
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        told = f"more than {child.MOST_SECONDS} s of time or {child.MOST_MEMORY // 2**20} MiB, or it crashed"
        raise FileError(f"could not be read by {program}: it took {told} (status {done.returncode})") from error
    if "missing" in found:
        raise FileError(missing)
    if "fault" in found:
        raise FileError(f"cannot be read as {kind}: {found['fault']}")
    return found
