"""The journal of a session: one file that is only ever appended to, and survives `kill -9` at any moment.

    impulsar journal 2\\n              the first line: format and version
    length  crc  payload             a record: two little-endian uint32, then `length` bytes
    size  JSON  arrays               its payload: uint32 length of the JSON, and raw little-endian arrays

The crc is that of the payload, begun from the crc of the record before, so that a record holds only in its
place. A record is written by one call: a process that is killed leaves whole records and at most one torn
at the end, which is recognised (it reaches beyond the file, or its crc is wrong and nothing follows) and
dropped: opening cuts it off, into a file beside, because a damaged length in the middle looks the same. A
wrong crc with records behind it is damage, and refused.

The first record is the header: versions, machine, and the options of the world. The others are a model, the
first one or as an edit made it, a snapshot of the state, an edit with its step and limit of work, a limit of
work, a hash of the state, samples of callables, a pause, and the moves along the timeline (see `history`).

What is read is bounded by the size of the file alone, because a session may be of any size.
"""

import json
import math
import os
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..inputs import Component, Harmonic, Ramp, Table
from ..io.codec import EDIT, FREE, PROFILE
from ..io.kinds import Callables, FileError, tell, wrong
from ..io.scene_files import parse
from ..methods import METHODS
from ..model import Model
from .data import Edit

try:
    import fcntl
except ImportError:  # Windows, where a file that is open for writing cannot be replaced anyway
    fcntl = None  # type: ignore[assignment]

VERSION = 2
FIRST_LINE = b"impulsar journal %d\n"
FRAME = struct.Struct("<II")
SIZE = struct.Struct("<I")
LONGEST = 2**32 - 1  # bytes of a record
LONGEST_SIDE = 2**31  # of an array
Record = tuple[dict[str, Any], bytes]  # JSON and raw arrays
DTYPES = ("<f8", "<i4", "<i8", "|b1", "|u1")


def from_1(data: dict[str, Any]) -> dict[str, Any]:
    """A record of version 1, which had no reactions, and hashes that did not cover tables."""
    if data["record"] == "hash":
        return data | {"hash": None}
    if data["record"] == "snapshot" and isinstance(data.get("snapshot"), dict):
        return data | {"snapshot": {"reaction": None} | data["snapshot"]}
    return data


MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: from_1}  # by version: to the next one


@dataclass(frozen=True)
class Entry:
    """A record: where it begins, its data and its raw arrays."""

    offset: int
    data: dict[str, Any]
    arrays: bytes

    @property
    def kind(self) -> str:
        return self.data["record"]


class Reader:
    """The whole records of a journal."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.entries: list[Entry] = []
        self.end = 0  # of the last whole record
        self.crc = 0
        self.version = VERSION
        try:
            raw = self.path.read_bytes()
        except OSError as error:
            raise FileError(f"'{path}': cannot be read: {error.strerror or error}; check the name") from error
        self.torn = len(raw)  # bytes behind the last whole record
        try:
            self._read(raw)
        except FileError as error:
            raise FileError(f"'{path}': {error}") from error

    def _read(self, raw: bytes) -> None:
        line = raw[:64].split(b"\n")[0]
        words = line.split()
        if words[:2] != [b"impulsar", b"journal"] or len(words) != 3 or not words[2].isdigit():
            raise FileError("is no journal of impulsar; give another file")
        version = self.version = int(words[2][:9])
        if version > VERSION or (version < VERSION and version not in MIGRATIONS):
            raise FileError(f"is a journal of version {version}; this program reads {VERSION}")
        self.end = len(line) + 1
        while self.end < len(raw):
            entry = self._record(raw, version)
            if entry is None:
                break
            self.entries.append(entry)
        self.torn = len(raw) - self.end
        if not self.entries or self.entries[0].kind != "header":
            raise FileError("has no header; nothing can be replayed")

    def _record(self, raw: bytes, version: int) -> Entry | None:
        """The record at `end`, or None where the file is torn."""
        start = self.end + FRAME.size
        if start > len(raw):
            return None
        length, crc = FRAME.unpack_from(raw, self.end)
        if start + length > len(raw):
            return None
        payload = raw[start : start + length]
        if zlib.crc32(payload, self.crc) != crc:
            if start + length == len(raw):
                return None
            raise FileError(f"record {len(self.entries)} at byte {self.end} is damaged, and records follow; restore it")
        entry = Entry(self.end, *_payload(payload, f"record {len(self.entries)}"))
        self.end, self.crc = start + length, crc
        data = entry.data
        for step in range(version, VERSION):
            data = MIGRATIONS[step](data)
        return Entry(entry.offset, data, entry.arrays)


def _payload(payload: bytes, place: str) -> tuple[dict[str, Any], bytes]:
    size = SIZE.unpack_from(payload)[0] if len(payload) >= SIZE.size else -1
    if not 0 <= size <= len(payload) - SIZE.size:
        raise FileError(f"{place} is not one of a journal")
    data = parse(payload[SIZE.size : SIZE.size + size], most=math.inf)
    if not isinstance(data, dict) or not isinstance(data.get("record"), str):
        raise wrong(place, data, 'an object with "record"')
    return data, payload[SIZE.size + size :]


class Journal:
    """A journal open for appending. One process at a time."""

    def __init__(self, path: str | Path, records: list[Record] | None = None):
        """A new file of these records, or without any an old file, cut after its last whole record."""
        self.path = Path(path)
        self._file = -1
        try:
            if records is None:
                self._resume()
            else:
                self._claim()
                self.replace(records)
        except OSError as error:
            self.close()
            raise FileError(f"'{path}': cannot be opened: {error.strerror or error}; check the name") from error
        except FileError:
            self.close()
            raise

    def _claim(self) -> None:
        """Refuse a file that holds something, or that another session is about to write."""
        if self.path.exists():
            self._open()
            if os.fstat(self._file).st_size > 0:
                raise FileError(f"'{self.path}': is there already; open it with History.open, or give another name")

    def _resume(self) -> None:
        """Go on with an old file."""
        self._open()
        reader = Reader(self.path)
        if reader.torn:
            with self.path.open("rb") as file, self.path.with_name(f"{self.path.name}.torn").open("ab") as beside:
                file.seek(reader.end)
                beside.write(file.read())
            os.ftruncate(self._file, reader.end)
        self.size, self._crc = reader.end, reader.crc
        if reader.version != VERSION:
            self.replace([(entry.data, entry.arrays) for entry in reader.entries])

    def _open(self) -> None:
        self.close()
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
        if fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                self.close()
                raise FileError(f"'{self.path}': is written by another session; give another file") from error

    def replace(self, records: list[Record]) -> None:
        """Put a complete file of these records in the place of the old one, if there is one, at once."""
        parts, crc = [FIRST_LINE % VERSION], 0
        for data, arrays in records:
            parts.append(frame(data, arrays, crc))
            crc = FRAME.unpack_from(parts[-1])[1]
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}.tmp")
        try:
            with beside.open("wb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self.path)
        finally:
            beside.unlink(missing_ok=True)
        self._open()
        self.size, self._crc = sum(map(len, parts)), crc

    def append(self, data: dict[str, Any], arrays: bytes = b"", sync: bool = False) -> None:
        """Write a record; with `sync` it is on the disk when this returns."""
        record = frame(data, arrays, self._crc)
        left = memoryview(record)
        try:
            while left:  # one call takes all that is shorter than 2 GiB
                left = left[os.write(self._file, left) :]
        except OSError:
            os.ftruncate(self._file, self.size)  # take back what is torn
            raise
        self.size += len(record)
        self._crc = FRAME.unpack_from(record)[1]
        if sync:
            os.fsync(self._file)

    def close(self) -> None:
        """Write no more."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def frame(data: dict[str, Any], arrays: bytes, before: int) -> bytes:
    """A record as bytes; `before` is the crc of the record before."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()
    if SIZE.size + len(text) + len(arrays) > LONGEST:
        raise FileError(f"a {data['record']} of {len(text) + len(arrays)} bytes is too long for a journal; keep none")
    payload = SIZE.pack(len(text)) + text + arrays
    return FRAME.pack(len(payload), zlib.crc32(payload, before)) + payload


class Packer:
    """Snapshots as JSON and raw arrays; models stand for their number in the journal."""

    def __init__(self, callables: Callables):
        self.callables = callables
        self.models: list[Model] = []  # the live ones by number, so that the same one is written once

    def pack(self, value: Any, arrays: list[bytes], place: str = "snapshot") -> Any:
        """A value of a snapshot."""
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, np.ndarray):
            raw = np.ascontiguousarray(value)
            dtype = raw.dtype.newbyteorder("<").str
            if dtype not in DTYPES:
                raise wrong(place, value, f"an array of one of {', '.join(DTYPES)}")
            arrays.append(raw.astype(dtype, copy=False).tobytes())
            return {"dtype": dtype, "shape": list(raw.shape)}
        if isinstance(value, Component):
            return {"component": self._write_callable(value), "index": value.index}
        if isinstance(value, Ramp | Harmonic | Table):
            return PROFILE.write(value, place)
        if isinstance(value, Model):
            return {"model": self._number(value)}
        if isinstance(value, Edit):
            return EDIT.write(value, place, self.callables)
        if is_dataclass(value) and type(value) in METHODS.values():
            return write_method(value)
        if isinstance(value, dict):
            return {"dict": {str(key): self.pack(item, arrays, f"{place}.{key}") for key, item in value.items()}}
        if isinstance(value, tuple):
            return {"tuple": [self.pack(item, arrays, f"{place}[{i}]") for i, item in enumerate(value)]}
        if isinstance(value, list):
            return [self.pack(item, arrays, f"{place}[{i}]") for i, item in enumerate(value)]
        return FREE.write(value, place)

    def _number(self, model: Model) -> int:
        for number, known in enumerate(self.models):
            if known is model:
                return number
        raise FileError(f"model '{model.name}': is not in the journal yet")

    def _write_callable(self, component: Component) -> Any:
        if self.callables.write is None:
            raise FileError("a callable cannot be written")
        return self.callables.write(component.function)

    def unpack(self, data: Any, arrays: "Arrays", place: str = "snapshot") -> Any:
        """The value of `pack`."""
        if isinstance(data, list):
            return [self.unpack(item, arrays, f"{place}[{i}]") for i, item in enumerate(data)]
        if not isinstance(data, dict):
            return FREE.read(data, place)
        if "dtype" in data:
            return arrays.take(data, place)
        if "component" in data:
            if self.callables.read is None or not isinstance(data.get("index"), int):
                raise wrong(place, data, "a recorded callable")
            return Component(self.callables.read(data["component"], place), data["index"])
        if "model" in data:
            if not isinstance(data["model"], int) or not 0 <= data["model"] < len(self.models):
                raise wrong(f"{place}.model", data["model"], "the number of a model in the journal")
            return self.models[data["model"]]
        if "edit" in data:
            return EDIT.read(data, place, self.callables)
        if "method" in data:
            return read_method(data, place)
        if isinstance(data.get("dict"), dict):
            return {key: self.unpack(item, arrays, f"{place}.{key}") for key, item in data["dict"].items()}
        if isinstance(data.get("tuple"), list):
            return tuple(self.unpack(item, arrays, f"{place}[{i}]") for i, item in enumerate(data["tuple"]))
        return PROFILE.read(data, place)


class Arrays:
    """The raw arrays of a record, taken one after the other."""

    def __init__(self, raw: bytes):
        self.raw, self.at = raw, 0

    def take(self, data: dict, place: str) -> np.ndarray:
        """The next array."""
        dtype, shape = data.get("dtype"), data.get("shape")
        if dtype not in DTYPES or not isinstance(shape, list) or len(shape) > 8:
            raise wrong(place, data, f"an array of one of {', '.join(DTYPES)}")
        count = 1
        for size in shape:
            if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= LONGEST_SIDE:
                raise wrong(f"{place}.shape", shape, "sizes >= 0")
            count *= size
        bytes_ = count * np.dtype(dtype).itemsize
        if self.at + bytes_ > len(self.raw):
            raise FileError(f"{place}: the record holds less than {tell(shape)} numbers")
        try:
            array = np.frombuffer(self.raw, dtype, count, self.at).reshape(shape).copy()
        except ValueError as error:  # of no numbers, but with sides whose product overflows
            raise wrong(f"{place}.shape", shape, "sizes of an array") from error
        self.at += bytes_
        return array


def write_method(method: Any) -> dict[str, Any]:
    """A method's options object."""
    options = {entry.name: FREE.write(getattr(method, entry.name), entry.name) for entry in fields(method)}
    return {"method": method.name, "options": options}


def read_method(data: Any, place: str) -> Any:
    """The options object of `write_method`."""
    if not isinstance(data, dict) or not isinstance(data.get("method"), str) or data["method"] not in METHODS:
        raise wrong(place, data, f"a method: {', '.join(METHODS)}")
    options = data.get("options", {})
    cls = METHODS[data["method"]]
    known = {entry.name for entry in fields(cls)}
    if not isinstance(options, dict) or not set(options) <= known:
        raise wrong(f"{place}.options", options, f"options of {data['method']}: {', '.join(sorted(known))}")
    try:
        method = cls(**{key: FREE.read(value, f"{place}.{key}") for key, value in options.items()})
        method.check()
    except (ValueError, TypeError) as error:
        raise FileError(f"{place}: {error}") from error
    return method


def write_snapshot(snapshot: Any, packer: Packer) -> Record:
    """A world's snapshot as JSON and raw arrays."""
    arrays: list[bytes] = []
    data = {entry.name: packer.pack(getattr(snapshot, entry.name), arrays, entry.name) for entry in fields(snapshot)}
    return data, b"".join(arrays)


def read_snapshot(cls: type, data: Any, raw: bytes, packer: Packer) -> Any:
    """The snapshot of `write_snapshot`."""
    if not isinstance(data, dict) or set(data) != {entry.name for entry in fields(cls)}:
        raise wrong("snapshot", data, f"an object with {', '.join(entry.name for entry in fields(cls))}")
    arrays = Arrays(raw)
    return cls(**{entry.name: packer.unpack(data[entry.name], arrays, entry.name) for entry in fields(cls)})
