"""What other packages add, by entry points: methods, scenes, loaders, cases, trackers and sensors.

    [project.entry-points."impulsar.scenes"]
    swing = "playground.swing:build"

A group is read when a name is asked for that is not known, or when all names are, and only once: importing impulsar
imports no other package. One that cannot be used (it does not import, is something else, has a name that is taken) is
left out, and a PluginWarning says why.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS = tuple(f"impulsar.{kind}" for kind in ("methods", "scenes", "loaders", "cases", "trackers", "sensors"))
T = TypeVar("T")


class PluginWarning(UserWarning):
    """Something that another package adds cannot be used."""


def load_group(group: str, check: Callable[[str, Any], T]) -> list[tuple[str, T]]:
    """What the entry points of a group lead to, by name; `check` takes each as it should be, or raises TypeError."""
    from importlib.metadata import entry_points  # 20 ms

    found: dict[str, T] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value)):
        try:
            if entry.name in found:
                raise TypeError("its name is taken by another package's")
            found[entry.name] = check(entry.name, entry.load())
        except Exception as error:  # whatever a stranger's module does while it is imported
            skip(entry, error)
    return list(found.items())


def skip(entry: "EntryPoint", error: Exception) -> None:
    """Say why an entry point is left out."""
    package = entry.dist.name if entry.dist is not None else "a package"
    why = str(error) if isinstance(error, TypeError) else f"{type(error).__name__}: {error}"
    told = f"{entry.group} '{entry.name}' of {package} ({entry.value}) is left out: {why}"
    warnings.warn(" ".join(told.split()), PluginWarning, stacklevel=5)


class Registry(MutableMapping[str, T]):
    """Things by name: those of this package, and when another name is asked for those of entry points.

    What a program puts in itself is checked in the same way.
    """

    def __init__(self, group: str, own: Mapping[str, T], check: Callable[[str, Any], T]):
        self._group, self._check = group, check
        self._items: dict[str, T] = dict(own)
        self._read = False

    def _all(self) -> dict[str, T]:
        if not self._read:
            self._read = True  # also where a plug-in asks while it is loaded
            self._items |= load_group(self._group, self._new)
        return self._items

    def _new(self, name: str, thing: Any) -> T:
        if name in self._items:
            raise TypeError("its name is taken by impulsar's own")
        return self._check(name, thing)

    def __getitem__(self, name: str) -> T:
        return self._items[name] if name in self._items else self._all()[name]

    def __setitem__(self, name: str, thing: T) -> None:
        self._items[name] = self._check(name, thing)

    def __delitem__(self, name: str) -> None:
        del self._items[name]

    def __contains__(self, name: object) -> bool:
        return name in self._items or name in self._all()

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())
