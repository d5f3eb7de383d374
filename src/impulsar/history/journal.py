"""The journal of a session: one file that is only ever appended to, and survives `kill -9` at any moment.

    impulsar journal 3\\n              the first line: format and version
    length  crc  payload             a record: two little-endian uint32, then `length` bytes
    size  JSON  arrays               its payload: uint32 length of the JSON, and raw little-endian arrays

The crc is that of the payload, begun from the crc of the record before, so that a record holds only in its
place. A record is written by one call: a process that is killed leaves whole records and at most one torn
at the end, which is recognised (it reaches beyond the file, or its crc is wrong and nothing follows) and
dropped: opening cuts it off, into a file of its own, and says how much that was, and whether whole records
are in it: a damaged length in the middle looks the same. A wrong crc with bytes behind it is damage, and
refused; with `recover` all before it is kept, and the rest put aside likewise.

The first record is the header: versions, machine, and the options of the world. The others are a model, the
first one or as an edit made it, a snapshot of the state (`kept`), an edit with its step and limit of work, a limit of
work, a hash of the state, samples of callables, a pause, and the moves along the timeline (see `history`).

What is read is bounded by the size of the file alone, because a session may be of any size.
"""

import json
import math
import os
import stat
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from errno import EACCES, EEXIST, EMLINK, ENOENT, ENOSYS, ENOTSUP, EPERM
from pathlib import Path
from typing import Any

import numpy as np

from ..author.errors import FileError
from ..author.model import Model
from ..author.profiles import Component, Profile
from ..edits.data import Edit, SetMethod
from ..edits.refusal import method_options
from ..engine.methods import METHODS
from ..io.codec import EDIT, FREE, PROFILE
from ..io.kinds import Callables, tell, wrong
from ..io.scene_files import parse
from ..world.options import is_method
from .migrations import MIGRATIONS, rename_shared

try:
    import fcntl
except ImportError:  # Windows, where a file that is open for writing cannot be replaced anyway
    fcntl = None  # type: ignore[assignment]

VERSION = 4
FIRST_LINE = b"impulsar journal %d\n"
FRAME = struct.Struct("<II")
SIZE = struct.Struct("<I")
LONGEST = 2**32 - 1  # bytes of a record
LONGEST_SIDE = 2**31  # of an array
Record = tuple[dict[str, Any], bytes]  # JSON and raw arrays
DTYPES = ("<f8", "<i4", "<i8", "|b1", "|u1")
LARGEST_FILE = 2**32  # bytes
BEGIN = b'{"record":'  # of a record's JSON
OPEN = os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
OWNER_ONLY = 0o600  # mode of a new file: a session is nobody else's to read
MOST_ASIDE = 1000  # files of what was cut off


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
    """The whole records of a journal; with `recover` those before a damaged place."""

    def __init__(self, path: str | Path, recover: bool = False):
        self.path, self.recover = Path(path), recover
        self.entries: list[Entry] = []
        self.end = 0  # of the last whole record
        self.crc = 0
        self.version = VERSION
        try:
            self.rest = _read_file(self.path)  # behind the last whole record
            self.behind = 0  # whole records in it
            self._read(self.rest)
        except OSError as error:
            raise FileError(f"'{path}': cannot be read: {error.strerror or error}; check the name") from error
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
        self.end = min(len(line) + 1, len(raw))
        while self.end < len(raw):
            entry = self._record(raw, version)
            if entry is None:
                self.behind = records_behind(raw, self.end)
                break
            self.entries.append(entry)
        self.rest = raw[self.end :]
        if not self.entries or self.entries[0].kind != "header":
            raise FileError("has no header; nothing can be replayed")
        if version < 3:
            renamed = rename_shared([entry.data for entry in self.entries])
            self.entries = [Entry(e.offset, data, e.arrays) for e, data in zip(self.entries, renamed, strict=True)]

    @property
    def torn(self) -> int:
        """Bytes behind the last whole record."""
        return len(self.rest)

    def _record(self, raw: bytes, version: int) -> Entry | None:
        """The record at `end`, or None where the file is torn or, to be recovered, damaged."""
        start = self.end + FRAME.size
        if start > len(raw):
            return None
        length, crc = FRAME.unpack_from(raw, self.end)
        if start + length > len(raw):
            return None
        payload = raw[start : start + length]
        if zlib.crc32(payload, self.crc) != crc:
            if start + length == len(raw) or self.recover:
                return None
            place = f"record {len(self.entries)} at byte {self.end} of {len(raw)} is damaged"
            follow = f"{records_behind(raw, self.end)} whole records follow it"
            raise FileError(f"{place}, and {follow}; keep what is before it by `impulsar replay FILE --recover`")
        entry = Entry(self.end, *_payload(payload, f"record {len(self.entries)}"))
        self.end, self.crc = start + length, crc
        data = entry.data
        for step in range(version, VERSION):
            data = MIGRATIONS[step](data)
        return Entry(entry.offset, data, entry.arrays)


def _read_file(path: Path) -> bytes:
    """The bytes of a file that is one: a pipe would never end."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_FILE:
        raise FileError(f"is no file of at most {LARGEST_FILE} bytes; give a journal")
    return path.read_bytes()


def records_behind(raw: bytes, damaged: int) -> int:
    """Whole records behind a damaged one, found by what a record begins with.

    The first of them cannot be checked, as the crc before it is not known; it counts if the next one, whose
    crc begins from its, holds, or if it ends where the file does.
    """
    count, left = 0, 4 * len(raw)  # bytes to look at, so that a hostile file takes no more than linear time
    at = damaged + FRAME.size + SIZE.size + 1
    while left > 0 and (at := raw.find(BEGIN, at)) >= 0:
        begin, chain = at - SIZE.size - FRAME.size, 0
        end, crc = _frame_at(raw, begin)
        while begin < end:
            chain += 1
            begin, before = end, crc
            end, crc = _frame_at(raw, begin)
            left -= end - begin
            if zlib.crc32(raw[begin + FRAME.size : end], before) != crc:
                break
        if chain > 1 or (chain == 1 and begin == len(raw)):
            count += chain
            at = begin
        at += 1
    return count


def _frame_at(raw: bytes, begin: int) -> tuple[int, int]:
    """Where a record that begins here would end, and its crc; if there is none, where it begins, and 0."""
    if begin + FRAME.size > len(raw):
        return begin, 0
    length, crc = FRAME.unpack_from(raw, begin)
    end = begin + FRAME.size + length
    return (end, crc) if length >= SIZE.size and end <= len(raw) else (begin, 0)


def _payload(payload: bytes, place: str) -> tuple[dict[str, Any], bytes]:
    size = SIZE.unpack_from(payload)[0] if len(payload) >= SIZE.size else -1
    if not 0 <= size <= len(payload) - SIZE.size:
        raise FileError(f"{place} is not one of a journal")
    data = parse(payload[SIZE.size : SIZE.size + size], most=math.inf)
    if not isinstance(data, dict) or not isinstance(data.get("record"), str):
        raise wrong(place, data, 'an object with "record"')
    return data, payload[SIZE.size + size :]


@dataclass(frozen=True)
class Aside:
    """What was cut off a journal, and the file that it is in."""

    path: Path
    bytes: int
    records: int  # whole ones among them, which no longer join the ones before

    def __str__(self) -> str:
        whole = f", with {self.records} whole records in them" if self.records else ""
        return f"{self.bytes} bytes at the end could not be read{whole}; they are put aside in '{self.path}'"


class Journal:
    """A journal open for appending. One process at a time: its file is locked before it can be found."""

    def __init__(self, path: str | Path, records: list[Record] | None = None, recover: bool = False, cut: bool = True):
        """A new file of these records, or without any an old file, cut after its last whole record.

        recover: cut where it is damaged, too. cut=False leaves that to a call of `cut`.
        """
        self.path = Path(path)
        self.aside: Aside | None = None  # what was cut off
        self.snapshots: list[int] = []  # where those that were written here begin
        self._file = -1
        try:
            if records is None:
                self._open()
                self.reader = Reader(self.path, recover)
                self.size, self._crc = self.reader.end, self.reader.crc
                if cut:
                    self.cut()
            else:
                self._begin(records)
        except OSError as error:
            self.close()
            raise FileError(f"'{path}': cannot be opened: {error.strerror or error}; check the name") from error
        except FileError:
            self.close()
            raise

    def _begin(self, records: list[Record]) -> None:
        """Take the name; refuse a file that holds something, or that another session is about to write.

        The name is given to a complete file, so that a session killed meanwhile leaves none. Where there is an empty
        one already, or no second name for a file, it is locked, then replaced.
        """
        try:
            self.replace(records, _name)
            return
        except OSError as error:
            if error.errno not in (EEXIST, EPERM, ENOTSUP, ENOSYS, EMLINK, EACCES):
                raise
        self._open(os.O_CREAT)
        if os.fstat(self._file).st_size > 0:
            raise FileError(f"'{self.path}': is there already; open it with History.open, or give another name")
        try:
            self.replace(records)
        except BaseException:
            if self.is_there:  # claimed, and nothing to show for it
                self.path.unlink()
            raise

    def _open(self, flags: int = 0) -> None:
        """Open the file of this name and lock it: the one that has the name once the lock is held."""
        while True:
            self.close()
            self._file = os.open(self.path, OPEN | flags, OWNER_ONLY)
            self._lock(self._file)
            if self.is_there:
                return

    def _lock(self, file: int) -> None:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise FileError(f"'{self.path}': is written by another session; give another file") from error

    @property
    def is_there(self) -> bool:
        """Whether the file still has its name: neither deleted nor renamed nor replaced since it was opened."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._file))
        except FileNotFoundError:
            return False

    def cut(self) -> None:
        """Cut off what is behind the last whole record, into a file of its own."""
        reader = self.reader
        if reader.torn:
            self.aside = Aside(put_aside(self.path, reader.rest), reader.torn, reader.behind)
            os.ftruncate(self._file, reader.end)

    def replace(self, records: list[Record], put: Callable[[Path, Path], None] = os.replace) -> None:
        """Put a complete file of these records, locked already, in the place of the old one at once."""
        parts, crc = [FIRST_LINE % VERSION], 0
        size, snapshots = len(parts[0]), []
        for data, arrays in records:
            if data["record"] == "snapshot":
                snapshots.append(size)
            parts.append(frame(data, arrays, crc))
            crc = FRAME.unpack_from(parts[-1])[1]
            size += len(parts[-1])
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}.tmp")
        beside.unlink(missing_ok=True)  # of a session that was killed
        file = os.open(beside, OPEN | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        try:
            self._lock(file)
            _write_all(file, b"".join(parts))
            os.fsync(file)
            put(beside, self.path)
        except BaseException:
            os.close(file)
            beside.unlink(missing_ok=True)
            raise
        self.close()
        self._file = file
        self.size, self._crc, self.snapshots = size, crc, snapshots

    def read(self, offset: int) -> Entry:
        """The record that begins at a byte of the file."""
        length, _ = FRAME.unpack(os.pread(self._file, FRAME.size, offset))
        return Entry(offset, *_payload(os.pread(self._file, length, offset + FRAME.size), f"record at byte {offset}"))

    def append(self, data: dict[str, Any], arrays: bytes = b"", sync: bool = False) -> None:
        """Write a record; with `sync` it is on the disk when this returns."""
        record = frame(data, arrays, self._crc)
        if not self.is_there:
            raise FileNotFoundError(ENOENT, "the file was deleted or renamed", str(self.path))
        try:
            _write_all(self._file, record)
        except OSError:
            os.ftruncate(self._file, self.size)  # take back what is torn
            raise
        if data["record"] == "snapshot":
            self.snapshots.append(self.size)
        self.size += len(record)
        self._crc = FRAME.unpack_from(record)[1]
        if sync:
            os.fsync(self._file)

    def close(self) -> None:
        """Write no more."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _write_all(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:  # one call takes all that is shorter than 2 GiB
        left = left[os.write(file, left) :]


def _name(file: Path, path: Path) -> None:
    """Give a file another name, which nobody may have."""
    os.link(file, path, follow_symlinks=False)
    file.unlink()


def put_aside(path: Path, data: bytes) -> Path:
    """Write what was cut off a journal to a new file beside it, never through a link nor into an old file."""
    for n in range(MOST_ASIDE):
        beside = path.with_name(f"{path.name}.torn{f'.{n}' if n else ''}")
        try:
            file = os.open(beside, OPEN | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        except FileExistsError:
            continue
        try:
            _write_all(file, data)
            os.fsync(file)
        except OSError:
            beside.unlink()
            raise
        finally:
            os.close(file)
        return beside
    raise FileError(f"'{path}.torn' and {MOST_ASIDE - 1} more are there already; move them away")


def frame(data: dict[str, Any], arrays: bytes, before: int) -> bytes:
    """A record as bytes; `before` is the crc of the record before."""
    try:
        text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()
    except ValueError as error:  # what a callable returned; half of a character pair
        raise FileError(f"a {data['record']} cannot be written: {error}") from error
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
        if isinstance(value, Profile):
            return PROFILE.write(value, place)
        if isinstance(value, Model):
            return {"model": self._number(value)}
        if isinstance(value, Edit):
            return EDIT.write(value, place, self.callables)
        if is_method(value):
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
    cls: Any = METHODS[data["method"]]
    known = {entry.name for entry in fields(cls)}
    if not isinstance(options, dict) or not set(options) <= known:
        raise wrong(f"{place}.options", options, f"options of {data['method']}: {', '.join(sorted(known))}")
    given = {key: FREE.read(value, f"{place}.{key}") for key, value in options.items()}
    try:
        finite = {key: value for key, value in given.items() if value != math.inf}  # max_step may be that
        method_options(SetMethod(data["method"], finite), METHODS)
        method = cls(**given)
        method.check()
    except (ValueError, TypeError) as error:
        raise FileError(f"{place}: {error}") from error
    return method
