"""Scene files: models as readable JSON, read within bounds of time and memory."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from ..author.checks import file_path
from ..author.errors import FileError
from ..author.files import write_file
from ..author.model import Model
from .codec import model_to_json
from .kinds import tell

LARGEST_FILE = 16 * 2**20  # bytes
MOST_VALUES = 400_000
DEEPEST_FILE = 64
WIDTH = 110
# A text, closed or running on to the end: possessive, so that nothing is looked at twice.
STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
DEPTH = np.zeros(256, np.int8)
DEPTH[[ord("["), ord("{")]], DEPTH[[ord("]"), ord("}")]] = 1, -1


def save_model(model: Model, path: str | Path) -> None:
    """Write a model as a scene file; the old file stays until the new one is complete."""
    write_file(file_path("scene file", path), (pretty(model_to_json(model)) + "\n").encode())


def read_bounded(path: Path, largest: int = LARGEST_FILE) -> bytes:
    """The bytes of a file that is not too large."""
    try:
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}; check the name") from error
    if len(data) > largest:
        raise FileError(f"has more than {largest} bytes, too many for a scene; give another file")
    return data


def parse(data: bytes, most: float = MOST_VALUES) -> Any:
    """JSON of bounded nesting and number of values, without duplicate keys or NaN."""
    if data.count(b",") + data.count(b"[") + data.count(b"{") > most:
        raise FileError(f"has more than {most} values, too many for a scene; divide it")
    if data.count(b"[") + data.count(b"{") > DEEPEST_FILE:
        bare = np.frombuffer(STRINGS.sub(b"", data), np.uint8)
        if np.cumsum(DEPTH[bare], dtype=np.int64).max(initial=0) > DEEPEST_FILE:
            raise FileError(f"is nested more than {DEEPEST_FILE} deep; a scene is not")
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except FileError:
        raise
    except UnicodeDecodeError as error:
        raise FileError(f"byte {error.start} is not UTF-8; save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        raise FileError(f"line {error.lineno}, column {error.colno}: {error.msg}; expected JSON") from error
    except ValueError as error:  # an integer of more than 4,300 digits
        raise FileError("holds an integer of thousands of digits; no quantity is that large") from error
    except RecursionError as error:
        raise FileError("is nested too deep; a scene is not") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise FileError(f"the key {tell(key)} is given twice in one object; keep one")
            seen.add(key)
    return found


def _refuse_constant(text: str) -> None:
    raise FileError(f'{text} is no number of JSON; write infinity as "inf"')


def pretty(data: Any, indent: int = 0) -> str:
    """JSON with one line for what fits into it."""
    flat = json.dumps(data, ensure_ascii=False, allow_nan=False)
    if len(flat) + indent <= WIDTH or not isinstance(data, dict | list):
        return flat
    inner = " " * (indent + 2)
    if isinstance(data, dict):
        items = [f"{json.dumps(key, ensure_ascii=False)}: {pretty(item, indent + 2)}" for key, item in data.items()]
        return "{\n" + ",\n".join(inner + item for item in items) + "\n" + " " * indent + "}"
    return "[\n" + ",\n".join(inner + pretty(item, indent + 2) for item in data) + "\n" + " " * indent + "]"
