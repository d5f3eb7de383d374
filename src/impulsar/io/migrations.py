"""Older versions of scene files, brought up to the present one, one version at a time."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..author.errors import FileError
from ..author.parts import PARTS
from .kinds import tell, wrong

FORMAT = "impulsar scene"
VERSION = 2
KINDS = ("body", "joint", "spring", "load", "coupling", "probe", "hand")  # the first of a name keeps it
NAMED_BY = {  # fields of edits that name a part of a kind
    "joint": ("ChangeJoint", "Drive", "SetMotor"),
    "hand": ("Grab", "Push", "Grip", "Move", "Release"),
    "name": ("ApplyLoad", "RemoveLoad"),  # of a load
}
Names = Mapping[tuple[str, str], str]  # kind and name -> new name, of all kinds that share one


def from_0(data: dict[str, Any]) -> dict[str, Any]:
    """Version 0 had no "format" and kept its parts in objects by name."""
    new = {"format": FORMAT, "version": 1}
    for key, value in data.items():
        if key in ("bodies", "joints", "springs", "loads", "probes", "couplings") and isinstance(value, dict):
            for name, part in value.items():
                if not isinstance(part, dict):
                    raise wrong(f"{key} of name {tell(name)}", part, "an object")
            value = [{"name": name, **part} for name, part in value.items()]
        if key not in ("format", "version"):
            new[key] = value
    return new


def from_1(data: dict[str, Any]) -> dict[str, Any]:
    """In version 1 parts of different kinds could share a name."""
    edits = [item["edit"] for item in _objects(data, "script") if isinstance(item.get("edit"), dict)]
    names = shared_names([data], edits)
    for (kind, name), new in names.items():
        if new != name:
            told = f"{kind} {tell(name)} is called {tell(new)} from now on"
            warnings.warn(f"{told}: names are unique over all kinds", UserWarning, stacklevel=2)
    return rename_model(data, names) | {"version": 2}


MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {0: from_0, 1: from_1}


def migrate(data: Any) -> dict[str, Any]:
    """A scene of any known version as one of the present version."""
    if not isinstance(data, dict):
        raise wrong("scene", data, "an object")
    version = data.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 0:
        raise wrong("version", version, f"an integer from 0 to {VERSION}")
    if version > VERSION:
        raise FileError(f"version is {tell(version)}, but this program reads up to {VERSION}; install a newer one")
    while version < VERSION:
        data = MIGRATIONS[version](data)
        version += 1
    if data.get("format") != FORMAT:
        raise wrong("format", data.get("format"), f"{FORMAT!r}")
    return data


# names that parts of different kinds share ------------------------------------------------------------


def shared_names(models: Iterable[dict[str, Any]], edits: Iterable[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """Names of the parts, loads and hands that share theirs with another kind: "crank joint" beside body "crank"."""
    kinds: dict[str, set[str]] = {}
    for model in models:
        for kind, entry in PARTS.items():
            for part in _objects(model, entry.plural):
                _note(kinds, part.get("name"), kind)
    for edit in edits:
        for kind, name in _named(edit):
            _note(kinds, name, kind)
    new: dict[tuple[str, str], str] = {}
    for name, having in kinds.items():
        first, *others = (kind for kind in KINDS if kind in having)
        for kind in others:
            called, k = f"{name} {kind}", 2
            while called in kinds or called in new.values():
                called, k = f"{name} {kind} {k}", k + 1
            new |= {(first, name): name, (kind, name): called}
    return new


def rename_model(data: dict[str, Any], names: Names) -> dict[str, Any]:
    """A scene with other names of parts, wherever it has them."""
    if not names:
        return data
    new = dict(data)
    for kind, entry in PARTS.items():
        if isinstance(data.get(entry.plural), list):
            refers = {"name": kind, **entry.refers}
            new[entry.plural] = [_renamed(part, refers, names) for part in data[entry.plural]]
    if isinstance(data.get("script"), list):
        new["script"] = [
            item | {"edit": rename_edit(item.get("edit"), names)} if isinstance(item, dict) else item
            for item in data["script"]
        ]
    return new


def rename_edit(edit: Any, names: Names) -> Any:
    """An edit with other names of parts; raises FileError at a parameter that parts of two kinds have."""
    if not names or not isinstance(edit, dict):
        return edit
    new = _renamed(edit, {what: kind for what, kind in _fields(edit)}, names)
    if edit.get("edit") == "SetParameter" and isinstance(edit.get("path"), str):
        new["path"] = _renamed_path(edit["path"], names)
    if edit.get("edit") == "Add" and edit.get("kind") in PARTS:
        new["options"] = _renamed(edit.get("options"), PARTS[edit["kind"]].refers, names)
    return new


def _renamed_path(path: str, names: Names) -> str:
    """The path of a parameter: of the one kind among those that share the name which has it."""
    name, dot, parameter = path.partition(".")
    last = parameter.rpartition(".")[2]
    having = [kind for kind, entry in PARTS.items() if (kind, name) in names and entry.parameter(last) is not None]
    if len(having) > 1:
        raise FileError(f"{tell(path)} is of {' and '.join(having)} called {tell(name)}; rename one of them by hand")
    return names[having[0], name] + dot + parameter if having else path


def _fields(edit: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Fields of an edit that name a part, and its kind."""
    title, kind = edit.get("edit"), edit.get("kind")
    for what, titles in NAMED_BY.items():
        if title in titles:
            yield what, "load" if what == "name" else what
    if title in ("Add", "Remove") and isinstance(kind, str):
        yield "name", kind


def _named(edit: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Kinds and names that an edit brings: of parts that are added, loads and hands."""
    if edit.get("edit") in ("Add", "ApplyLoad", "Grab", "Push"):
        for what, kind in _fields(edit):
            yield kind, edit.get(what)


def _note(kinds: dict[str, set[str]], name: Any, kind: str) -> None:
    if isinstance(name, str) and kind in KINDS:
        kinds.setdefault(name, set()).add(kind)


def _renamed(data: Any, kinds: Mapping[str, str], names: Names) -> Any:
    """An object some of whose fields name parts of these kinds."""
    if not isinstance(data, dict):
        return data
    return {
        key: names.get((kinds[key], value), value) if key in kinds and isinstance(value, str) else value
        for key, value in data.items()
    }


def _objects(data: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects of a list; what else there is will be refused where it is read."""
    items = data.get(key)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
