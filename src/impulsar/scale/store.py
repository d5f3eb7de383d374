"""The store of a sweep: a Zarr group, a group in it for each sweep, named by the hash of what was asked.

Arrays are [case], in chunks of one batch. A batch's numbers and errors are written first and its flags `done` last,
each file at once (by renaming), so that whatever is killed when, a batch is done or it is not; one that is not is
computed again, to the same bytes. So is one whose rows are not those that were written: `check` has their sum (CRC 32).
Only the client writes, and holds a lock on the group while it does.
"""

import hashlib
import json
import os
import warnings
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.checks import file_path
from ..author.errors import FileError, ModelError
from ..io import model_to_json
from ..version import __version__
from .cases import Plan, Row
from .identity import identity

if TYPE_CHECKING:
    import xarray as xr

FORMAT = 2
GONE = (OSError, ValueError, KeyError, TypeError, RuntimeError)  # what Zarr raises at files that are damaged


def key_of(plan: Plan, values: np.ndarray) -> str:
    """Hash of model, parameters, measures and options, as hexadecimal digits."""
    from ..author.model import Model

    model = model_to_json(plan.model) if isinstance(plan.model, Model) else identity(plan.model)
    asked = {
        "format": FORMAT,
        "version": __version__,
        "model": model,
        "names": plan.names,
        "values": hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest(),
        "measures": plan.measures.described(),
        "run": [plan.duration, plan.every],
        "options": {name: repr(value) for name, value in sorted(plan.options.items())},
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:32]


def _zarr() -> Any:
    try:
        import zarr
    except ImportError as error:
        raise ModelError("sweep: a store needs zarr; pip install 'impulsar[sweep]'") from error
    return zarr


class Store:
    """Where the rows of one sweep are kept, until `close`."""

    def __init__(self, path: object, plan: Plan, values: np.ndarray, batch: int, units: dict[str, str]):
        self.path = file_path("store", path)
        self.key, self._cases = key_of(plan, values), len(values)
        if self.path.is_file():
            raise ModelError(f"store '{self.path}': is a file; give a folder")
        with self._told():
            self._lock = _locked(self.path / self.key)
        try:
            with self._told():
                self._open(plan, values, batch, units)
        except BaseException:
            self.close()
            raise

    def _open(self, plan: Plan, values: np.ndarray, batch: int, units: dict[str, str]) -> None:
        zarr = _zarr()
        root = zarr.open_group(str(self.path), mode="a")
        is_there = self.key in root and "batch" in root[self.key].attrs
        self._group = root[self.key] if is_there else root.require_group(self.key)
        self.batch = int(self._group.attrs["batch"]) if is_there else batch  # as it was begun
        for k, name in enumerate(plan.names):
            told = {"units": units[name]} if units.get(name) else {}
            given = self._array(name, np.float64, np.nan, told)
            there = _read(given, slice(None)) if is_there else None
            if there is None or not np.array_equal(there, values[:, k]):
                given[:] = values[:, k]
        self._array("error", str, "", {"long_name": "why a case has no numbers"})
        self._array("check", np.uint32, 0, {"long_name": "CRC 32 of the rows of a batch"})
        self._array("done", np.uint8, 0, {"long_name": "1: this case was computed"})
        if not is_there:
            about = {"parameters": list(plan.names), "measures": plan.measures.described(), "version": __version__}
            self._group.attrs.update(about)
            self._group.attrs["batch"] = batch  # last: from here on the group counts

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What the file system or Zarr says, with the store's name and what to do."""
        try:
            yield
        except ModelError:
            raise
        except OSError as error:
            told = error.strerror or str(error)
            cure = "mend that and run the same sweep again: it goes on from what is there"
            raise FileError(f"store '{self.path}': cannot be written: {told}; {cure}") from error
        except GONE as error:
            cure = f"take away '{self.path / self.key}', or give another folder"
            raise FileError(f"store '{self.path}': is damaged, or none of sweeps ({error}); {cure}") from error

    def close(self) -> None:
        """Let others fill the sweep."""
        if self._lock is not None:
            os.close(self._lock)
        self._lock = None

    def _array(self, name: str, dtype: Any, empty: Any, attributes: dict[str, Any]) -> Any:
        if name in self._group:
            return self._group[name]
        return self._group.create_array(
            name,
            shape=(self._cases,),
            chunks=(min(self.batch, self._cases),),
            dtype=dtype,
            fill_value=empty,
            dimension_names=("case",),
            attributes=attributes,
        )

    def done(self) -> np.ndarray:
        """Which cases are computed, to rows that are still what was written [case]."""
        with self._told():
            return whole_rows(self.path, self._group)

    def write(self, first: int, rows: list[Row]) -> None:
        """Keep the rows of a batch that begins at a case: numbers, errors, their sum, then the flags."""
        where = slice(first, first + len(rows))
        names = dict.fromkeys(name for row in rows for name in row.numbers)
        table = {name: np.array([row.numbers.get(name, np.nan) for row in rows]) for name in names}
        errors = np.array([row.error for row in rows], dtype=object)
        with self._told():
            for name, values in table.items():
                self._array(name, np.float64, np.nan, {})[where] = values
            self._group["error"][where] = errors
            self._group["check"][where] = np.full(len(rows), sum_of(table, errors), np.uint32)
            self._group["done"][where] = np.ones(len(rows), np.uint8)


def _locked(folder: Path) -> int | None:
    """A folder, made if need be, as one that this process alone fills; None where there are no such locks."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        return None
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        told = f"store '{folder.parent}': another client is filling this sweep"
        raise ModelError(f"{told}; wait for its end, or give another folder") from None
    except OSError:  # a file system without locks
        os.close(lock)
        return None
    return lock


def sum_of(table: Mapping[str, np.ndarray], errors: np.ndarray) -> int:
    """CRC 32 of the rows of a batch; columns without a number are as if they were not there."""
    found = zlib.crc32("\0".join(map(str, errors)).encode())
    for name in sorted(table):
        if not np.isnan(table[name]).all():
            found = zlib.crc32(name.encode() + table[name].tobytes(), found)
    return found


def _read(array: Any, where: slice) -> np.ndarray | None:
    """A part of an array; None where its file is damaged."""
    with suppress(*GONE):
        return array[where]
    return None


def whole_rows(path: Path, group: Any) -> np.ndarray:
    """Which cases are done [case]: those of batches whose rows are what was written; warns of others."""
    size, batch = group["done"].shape[0], group.attrs["batch"]
    spans = [slice(first, min(first + batch, size)) for first in range(0, size, batch)]
    flags = [_read(group["done"], where) for where in spans]  # first, since it may be filled meanwhile
    names = ("done", "check", "error", *group.attrs["parameters"])
    numbers = {name: array for name, array in group.arrays() if name not in names}
    found, lost = np.zeros(size, bool), 0
    for where, flag in zip(spans, flags, strict=True):
        if flag is not None and not flag.all():
            continue
        table = {name: _read(array, where) for name, array in numbers.items()}
        check, errors = _read(group["check"], where), _read(group["error"], where)
        found[where] = flag is not None and _agree(table, errors, check)
        lost += 0 if found[where].all() else where.stop - where.start
    if lost:
        told = f"store '{path}': files of {lost} cases are damaged; they are as if not done, and the same sweep run"
        warnings.warn(f"{told} again computes them anew", RuntimeWarning, stacklevel=3)
    return found


def _agree(table: Mapping[str, np.ndarray | None], errors: np.ndarray | None, check: np.ndarray | None) -> bool:
    """Whether the rows of a batch could be read and are what was written."""
    read = {name: values for name, values in table.items() if values is not None}
    if errors is None or check is None or len(read) < len(table):
        return False
    return bool((check == sum_of(read, errors)).all())


def open_sweep(store: str | Path, key: str | None = None) -> "xr.Dataset":
    """The sweep of a store as one dataset: numbers, `error` and `done` over `case`, parameters as coordinates.

    key: which, as the attribute `key` of its result has it, or how it begins; not needed where there is only one.
    """
    zarr = _zarr()
    import xarray as xr

    path = file_path("store", store)
    try:
        root = zarr.open_group(str(path), mode="r")
        groups = {name: group for name, group in sorted(root.groups()) if "batch" in group.attrs}  # those begun
    except (OSError, ValueError) as error:
        raise ModelError(f"store '{path}': no store of sweeps is there") from error
    found = [name for name in groups if name.startswith(key or "")]
    if len(found) != 1:
        told = f"it has {', '.join(groups) or 'none'}"
        raise ModelError(f"store '{path}': {len(found)} sweeps{f' named {key}' if key else ''}, expected one; {told}")
    group = groups[found[0]]
    names = [str(name) for name in group.attrs["parameters"]]
    try:
        good = whole_rows(path, group)
        arrays = dict(group.arrays())
        data: dict[str, Any] = {}
        for name in sorted(set(arrays) - {*names, "error", "done", "check"}):
            data[name] = ("case", _good(arrays[name], good, np.nan, float))
        data["error"] = ("case", _good(arrays["error"], good, "", object))
        data["done"] = ("case", good.astype(np.uint8))
        given = {name: ("case", arrays[name][:], dict(arrays[name].attrs)) for name in names}
    except GONE as error:
        cure = "run the same sweep again, or take the folder away"
        raise FileError(f"store '{path / found[0]}': is damaged ({error}); {cure}") from error
    return xr.Dataset(data, given, {**group.attrs, "key": found[0]})


def _good(array: Any, good: np.ndarray, empty: Any, dtype: type) -> np.ndarray:
    """Values of the cases that are done, of the others `empty`."""
    out: np.ndarray = np.full(good.size, empty, dtype)
    for first in range(0, good.size, array.chunks[0]):
        where = slice(first, first + array.chunks[0])
        if good[where].any():
            out[where] = np.where(good[where], array[where], empty)
    return out
