"""XML from anyone: scanned by expat within bounds into elements that know their lines.

A DOCTYPE is refused, and with it entities of a file's own; nothing is fetched.
"""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from ...author.errors import FileError

LARGEST_XML = 16 * 2**20  # bytes
DEEPEST = 100
MOST_ELEMENTS = 200_000
LARGEST_NUMBER = 1e20
NO_BOUND = 1e16  # and beyond: there is none, as SDF has it; URDF, whose readers want bounds of slides, too
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf(?:inity)?", re.IGNORECASE)
INVALID = expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN]
DECLARATION = "take away what is before '<?xml'"


@dataclass
class Element:
    """An element of a file, and its line; it knows what of it a reader has asked for."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list["Element"] = field(default_factory=list)
    text: str = ""
    asked: set[str] = field(default_factory=set)  # attributes that were
    is_asked: bool = False

    def all(self, *tags: str) -> list["Element"]:
        found = [child for child in self.children if child.tag in tags]
        for child in found:
            child.is_asked = True
        return found

    def find(self, *tags: str) -> "Element | None":
        """The first of these tags."""
        found = next((child for child in self.children if child.tag in tags), None)
        if found is not None:
            found.is_asked = True
        return found

    def first(self) -> "Element | None":
        """The first of any tag."""
        return self.find(self.children[0].tag) if self.children else None

    def get(self, name: str, default: str = "") -> str:
        self.asked.add(name)
        return self.attributes.get(name, default)

    def pass_over(self, *tags: str) -> None:
        """Ask for all that is in elements which have no say here."""
        for child in self.all(*tags):
            child.asked.update(child.attributes)
            child.pass_over(*(below.tag for below in child.children))

    def wrong(self, text: str) -> FileError:
        """An error at this element's line."""
        return FileError(f"line {self.line}: {text}")


def read_xml(data: bytes) -> Element:
    """The root of a file; raises FileError."""
    if len(data) > LARGEST_XML:
        raise FileError(f"has more than {LARGEST_XML} bytes, too many for a model; divide it")
    if not data.strip():
        raise FileError("is empty; export it again")
    parser = expat.ParserCreate()
    parser.buffer_text = True
    stack: list[Element] = []
    roots: list[Element] = []
    count = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS or len(stack) >= DEEPEST:
            what = (
                f"more than {MOST_ELEMENTS} elements" if count > MOST_ELEMENTS else f"nested more than {DEEPEST} deep"
            )
            raise FileError(f"line {parser.CurrentLineNumber}: {what}; no model has so many")
        element = Element(tag, attributes, parser.CurrentLineNumber)
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    def words(text: str) -> None:
        if stack:
            stack[-1].text += text

    def refuse(*_: Any) -> None:
        raise FileError(f"line {parser.CurrentLineNumber}: has a DOCTYPE, which is not read; take it away")

    parser.StartElementHandler, parser.CharacterDataHandler = start, words
    parser.EndElementHandler = lambda tag: stack.pop() and None
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise FileError(_told(error, data[parser.ErrorByteIndex : parser.ErrorByteIndex + 1])) from error
    except (ValueError, LookupError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot be decoded: {error!s:.200}; save the file as UTF-8") from error
    return roots[0]


def _told(error: expat.ExpatError, wrong: bytes) -> str:
    """Where XML is broken, by which byte, and what to do."""
    told = expat.errors.messages.get(error.code, "broken XML")
    cure = DECLARATION if "declaration not at start" in told else "correct it there"
    if error.code == INVALID and wrong == b"\0":
        cure = "there is a NUL byte; take it away"
    elif error.code == INVALID and wrong > b"\x7f":
        cure = "a byte that is no UTF-8: save the file as UTF-8, or name its encoding in '<?xml'"
    return f"line {error.lineno}, column {error.offset}: {told}; {cure}"


def numbers(element: Element, owner: str, what: str, text: str, count: int, infinite: bool = False) -> np.ndarray:
    """Finite numbers in a text, so many; infinite ones where they may be."""
    words = text.split()
    if len(words) != count or not all(NUMBER.fullmatch(word) for word in words):
        hint = "; it is xacro that was not expanded: run `xacro` first" if "$" in text else ""
        if "," in text:
            hint = " with blanks between them, and no commas" if count > 1 else " with a point, and no comma"
        expected = f"{count} numbers" if count > 1 else "a number"
        raise element.wrong(f"{owner}: {what} is {text[:80]!r}, expected {expected}{hint}")
    found = np.array([float(word) for word in words])
    if not infinite and not np.isfinite(found).all():
        raise element.wrong(f"{owner}: {what} is {text[:80]!r}, expected finite numbers")
    if (np.abs(found[np.isfinite(found)]) > LARGEST_NUMBER).any():
        raise element.wrong(f"{owner}: {what} is {text[:80]!r}, beyond {LARGEST_NUMBER:g}; check its unit")
    return found


def number(element: Element, owner: str, name: str, default: float, infinite: bool = False) -> float:
    """An attribute that is a number; where it may be infinite, ±1e16 and beyond are."""
    if name not in element.attributes:
        return default
    found = float(numbers(element, owner, name, element.get(name), 1, infinite)[0])
    return math.copysign(math.inf, found) if infinite and abs(found) >= NO_BOUND else found


def child_number(element: Element | None, owner: str, name: str, default: float) -> float:
    """A child element whose text is a number; ±1e16 and beyond are infinite, as SDF has it."""
    child = None if element is None else element.find(name)
    if child is None or not child.text.strip():
        return default
    found = float(numbers(child, owner, name, child.text, 1, infinite=True)[0])
    return math.copysign(math.inf, found) if abs(found) >= NO_BOUND else found


def is_file(path: Path) -> bool:
    """Whether there is a file of a name; there is none where the name is too long for one."""
    try:
        return path.is_file()
    except OSError:
        return False


def inside(folder: Path, name: str) -> Path:
    """A file that another one names, if it is under the folder; links are followed first. Raises FileError."""
    if "\0" in name or not name.strip():
        raise FileError(f"names the file {name[:80]!r}; give a name")
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise FileError(f"names the file {name[:80]!r}, which is not under the folder of the file; put it there")
    return path
