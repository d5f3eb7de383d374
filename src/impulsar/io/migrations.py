"""Older versions of scene files, brought up to the present one, one version at a time."""

from collections.abc import Callable
from typing import Any

from ..author.errors import FileError
from .kinds import tell, wrong

FORMAT = "impulsar scene"
VERSION = 1


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


MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {0: from_0}


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
