"""MJCF looked over before MuJoCo sees it: what it includes, which files it names, how much it asks to be made.

MuJoCo reads any file that an <include> or an asset names, and makes as many bodies as a <replicate> counts.
"""

import os
from pathlib import Path

from ...author.errors import FileError
from .scan import LARGEST_XML, Element, inside, is_file, numbers, read_xml

MOST_FILES = 200  # that are included, all together
MOST_BYTES = 4 * LARGEST_XML
MOST_MADE = 50_000  # elements, those of replicates and composites counted as often as they are made
MOST_PIXELS = 2**26  # of a texture or height field that is made
FOLDERS = ("meshdir", "texturedir", "assetdir")
COUNTED = ("replicate", "composite", "flexcomp")


class Scan:
    """A file and all that it includes."""

    def __init__(self, root: Element, folder: Path | None, allowed: Path | None):
        self.folder, self.allowed = folder, allowed
        self.files, self.bytes = 0, 0
        self.roots: list[tuple[str, Element]] = []  # included files by name, the file itself first
        self.folders = {""}
        self._names: list[tuple[Element, str, Path | None]] = []
        self._take("", root, folder, ())
        made = sum(_made(element, 1) for _, element in self.roots)
        if made > MOST_MADE:
            raise root.wrong(f"asks for {made} elements, more than {MOST_MADE}; replicate less")
        for element, name, base in self._names:
            self._check(element, name, base)

    def _take(self, name: str, root: Element, base: Path | None, above: tuple[Path, ...]) -> None:
        self.roots.append((name, root))
        stack = [root]
        while stack:
            element = stack.pop()
            stack += element.children
            if element.tag == "compiler":
                self.folders |= {element.get(what) for what in FOLDERS if element.get(what)}
            pixels = [element.get(a) for a in ("width", "height")], [element.get(a) for a in ("nrow", "ncol")]
            for sizes in pixels:
                if (
                    all(text.strip().isdigit() for text in sizes)
                    and int(sizes[0][:12]) * int(sizes[1][:12]) > MOST_PIXELS
                ):
                    raise element.wrong(f"<{element.tag}> of {sizes[0][:12]} x {sizes[1][:12]} points is too large")
            if element.tag == "include":
                self._include(element, base, above)
                continue
            for attribute, value in element.attributes.items():
                if attribute.startswith("file") and value.strip():
                    self._names.append((element, value, base))

    def _include(self, element: Element, base: Path | None, above: tuple[Path, ...]) -> None:
        if self.folder is None or self.allowed is None:
            raise element.wrong("<include> in an upload, which is one file; open it from its folder")
        name = element.get("file")
        self.files += 1
        if self.files > MOST_FILES:
            raise element.wrong(f"more than {MOST_FILES} files are included; divide it")
        for start in (self.folder, base or self.folder):
            self._check(element, name, start)
        found = [p for start in (self.folder, base or self.folder) if is_file(p := (start / name).resolve())]
        if not found:
            raise element.wrong(f"includes {name[:80]!r}, which there is not; put it there")
        path = found[0]
        if path in above:
            raise element.wrong(f"includes {name[:80]!r}, which includes itself; break the ring")
        data = path.read_bytes() if path.stat().st_size <= LARGEST_XML else b""
        self.bytes += len(data)
        if not data or self.bytes > MOST_BYTES:
            raise element.wrong(f"includes {name[:80]!r}, which is empty or too large")
        try:
            root = read_xml(data)
        except FileError as error:
            raise FileError(f"line {element.line}: included '{name[:80]}': {error}") from error
        self._take(name, root, path.parent, (*above, path))

    def _check(self, element: Element, name: str, base: Path | None) -> None:
        """See that a file that is named is under the folder, whichever way MuJoCo looks for it."""
        if self.folder is None or self.allowed is None:
            raise element.wrong(
                f"<{element.tag}> names the file {name[:80]!r}; an upload is one file: open it from its folder"
            )
        for start in {self.folder, base or self.folder}:
            for folder in self.folders:
                try:
                    inside(self.allowed, str(start / folder / name))
                except FileError as error:
                    told = f"<{element.tag}> names the file {name[:80]!r}"
                    told += f" in {folder[:80]!r}" if folder else ""
                    cure = f"put it there, or {_wider(self.allowed, start / folder / name)}"
                    raise element.wrong(f"{told}, which is not under the folder of the file; {cure}") from error


def _wider(allowed: Path, path: Path) -> str:
    """How to ask for a folder that has both a model and a file that it names."""
    both = Path(os.path.commonpath([allowed.resolve(), path.resolve()]))
    return "give assets= a folder that has both" if both == Path(both.anchor) else f"give assets='{both}'"


def _made(root: Element, times: int) -> int:
    """How many elements a tree becomes."""
    total, stack = 0, [(root, times)]
    while stack and total <= MOST_MADE:
        element, times = stack.pop()
        if element.tag in COUNTED and element.get("count").strip():
            words = element.get("count").split()
            counts = numbers(element, f"<{element.tag}>", "count", element.get("count"), len(words)).tolist()
            for count in counts:
                times *= max(1, int(min(count, MOST_MADE + 1)))
        total += times
        stack += [(child, times) for child in element.children]
    return total
