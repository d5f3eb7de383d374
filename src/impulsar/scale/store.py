"""The store of a sweep: a Zarr group, a group in it for each sweep, named by the hash of what was asked.

Arrays are [case], in chunks of one batch. A batch's numbers and errors are written first and its flags `done` last,
each file at once (by renaming), so that whatever is killed when, a batch is done or it is not; one that is not is
computed again, to the same bytes. Only the client writes.
"""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.checks import file_path
from ..author.errors import ModelError
from ..io import model_to_json
from ..version import __version__
from .cases import Plan, Row
from .measures import identity

if TYPE_CHECKING:
    import xarray as xr

FORMAT = 1


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
    """Where the rows of one sweep are kept."""

    def __init__(self, path: object, plan: Plan, values: np.ndarray, batch: int, units: dict[str, str]):
        zarr = _zarr()
        self.path = file_path("store", path)
        self.key, self._cases = key_of(plan, values), len(values)
        if self.path.is_file():
            raise ModelError(f"store '{self.path}': is a file; give a folder")
        root = zarr.open_group(str(self.path), mode="a")
        if self.key in root and "batch" in root[self.key].attrs:
            self._group = root[self.key]
            self.batch = int(self._group.attrs["batch"])  # as it was begun
            return
        self.batch = batch
        self._group = root.require_group(self.key)
        for k, name in enumerate(plan.names):
            self._array(name, np.float64, np.nan, {"units": units[name]} if units.get(name) else {})[:] = values[:, k]
        self._array("error", str, "", {"long_name": "why a case has no numbers"})
        self._array("done", np.uint8, 0, {"long_name": "1: this case was computed"})
        about = {"parameters": list(plan.names), "measures": plan.measures.described(), "version": __version__}
        self._group.attrs.update(about)
        self._group.attrs["batch"] = batch  # last: from here on the group counts

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
        """Which cases are computed [case]."""
        return self._group["done"][:] != 0

    def write(self, first: int, rows: list[Row]) -> None:
        """Keep the rows of a batch that begins at a case: numbers, errors, then the flags."""
        where = slice(first, first + len(rows))
        for name in dict.fromkeys(name for row in rows for name in row.numbers):
            values = [row.numbers.get(name, np.nan) for row in rows]
            self._array(name, np.float64, np.nan, {})[where] = np.array(values)
        self._group["error"][where] = np.array([row.error for row in rows], dtype=object)
        self._group["done"][where] = np.ones(len(rows), np.uint8)


def open_sweep(store: str | Path, key: str | None = None) -> "xr.Dataset":
    """The sweep of a store as one dataset: numbers, `error` and `done` over `case`, parameters as coordinates.

    key: which, as the attribute `key` of its result has it, or how it begins; not needed where there is only one.
    """
    zarr = _zarr()
    import xarray as xr

    path = file_path("store", store)
    try:
        root = zarr.open_group(str(path), mode="r")
    except (FileNotFoundError, ValueError) as error:
        raise ModelError(f"store '{path}': no store of sweeps is there") from error
    found = [name for name in sorted(root.group_keys()) if name.startswith(key or "")]
    if len(found) != 1:
        told = f"it has {', '.join(sorted(root.group_keys())) or 'none'}"
        raise ModelError(f"store '{path}': {len(found)} sweeps{f' named {key}' if key else ''}, expected one; {told}")
    data = xr.open_zarr(str(path), group=found[0], consolidated=False).load()
    names = [str(name) for name in data.attrs.get("parameters", [])]
    data["error"] = data["error"].astype(object)
    measured = sorted(str(name) for name in data.data_vars if name not in (*names, "error", "done"))
    return data.set_coords(names)[[*measured, "error", "done"]].assign_attrs(key=found[0])
