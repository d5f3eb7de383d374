"""Older versions of journals, brought up to the present one.

Records are brought up one version at a time. What a snapshot of version 2 kept of the state is one array, whose rows
only the system of its model tells apart: `blocks_of_2` does, when the snapshot is read.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..author.errors import FileError
from ..engine.state import Counts
from ..io.migrations import rename_edit, rename_model, shared_names

Data = dict[str, Any]
DIRECT = {"pair": 3, "next_h": 1, "reach": 1}  # rows of blocks that are the method's own since version 3


def from_1(data: Data) -> Data:
    """A record of version 1, which had no reactions, and hashes that did not cover tables."""
    if data["record"] == "hash":
        return data | {"hash": None}
    if data["record"] == "snapshot" and isinstance(data.get("snapshot"), dict):
        return data | {"snapshot": {"reaction": None} | data["snapshot"]}
    return data


def from_2(data: Data) -> Data:
    """A record of version 2, whose hashes and snapshots took the state for one array without names."""
    if data["record"] == "hash":
        return data | {"hash": None}
    if data["record"] == "snapshot" and isinstance(data.get("snapshot"), dict):
        return data | {"snapshot": {"methods": None, "slots": None} | data["snapshot"]}
    return data


def from_3(data: Data) -> Data:
    """A record of version 3, whose `direct` left friction and limits to impulses."""
    if data.get("method") == "direct" and isinstance(data.get("options", {}), dict):
        data = data | {"options": {"modes": False} | data.get("options", {})}
    return {key: _each_from_3(value) for key, value in data.items()}


def _each_from_3(value: Any) -> Any:
    if isinstance(value, dict):
        return from_3(value)
    return [_each_from_3(item) for item in value] if isinstance(value, list) else value


MIGRATIONS: dict[int, Callable[[Data], Data]] = {1: from_1, 2: from_2, 3: from_3}  # by version: to the next one


def rename_shared(records: list[Data]) -> list[Data]:
    """Records up to version 2, in which parts of different kinds, hands and loads could share a name."""
    models = [record["model"] for record in records if isinstance(record.get("model"), dict)]
    edits = [record[key] for record in records for key in ("edit", "inverse") if isinstance(record.get(key), dict)]
    scripts = [model.get("script") for model in models if isinstance(model.get("script"), list)]
    edits += [item["edit"] for items in scripts for item in items if _holds_edit(item)]
    names = shared_names(models, edits)
    if not names:
        return records
    renamed = []
    for record in records:
        new = dict(record)
        if isinstance(record.get("model"), dict):
            new["model"] = rename_model(record["model"], names)
        new |= {key: rename_edit(record[key], names) for key in ("edit", "inverse") if key in record}
        if isinstance(record.get("snapshot"), dict):
            new["snapshot"] = dict(record["snapshot"])
            for key, kind in (("hands", "hand"), ("loads", "load")):
                held = record["snapshot"].get(key)
                if isinstance(held, list):
                    of = [names.get((kind, name), name) if isinstance(name, str) else name for name in held]
                    new["snapshot"][key] = of
        renamed.append(new)
    return renamed


def _holds_edit(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("edit"), dict)


def blocks_of_2(state: np.ndarray, n: Counts) -> dict[str, np.ndarray]:
    """The blocks of a state of version 2, in which every world had those of `direct`; the first had no `reach`."""
    sizes = {
        "q": n.coordinates,
        "v": n.dofs,
        "impulse": n.slots,
        "loop_q": n.loop_freedoms,
        "hand_target": 3 * n.hands,
        "work": n.slots,
        "loss": n.slots,
        "viscous_loss": n.slots,
        "load_work": n.loads,
        "past_hands": 2,
        "past_parts": 2,
        "edits": 1,
        "clamped": 1,
        "start_energy": 1,
        "time": 1,
        "last_h": 1,
        **{f"direct.{name}": rows for name, rows in DIRECT.items()},
    }
    rows, least = sum(sizes.values()), sum(sizes.values()) - DIRECT["reach"]
    if state.ndim != 2 or state.shape[0] not in (rows, least):
        raise FileError(f"snapshot: state has shape {state.shape}, expected {rows} rows, or {least}")
    if state.shape[0] == least:
        del sizes["direct.reach"]
    ends = np.cumsum(list(sizes.values()))
    return dict(zip(sizes, np.split(state, ends[:-1]), strict=True))
