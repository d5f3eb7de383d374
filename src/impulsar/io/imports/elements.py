"""What readers of XML share: names that are taken once, and what of a file nobody reads."""

from ...author.imports import ImportReport
from ...author.names import LONGEST_NAME
from .scan import Element

SILENT = ("name", "version")  # attributes whose loss is none


def tell_unread(root: Element, report: ImportReport) -> None:
    """List what no reader has asked for: each element and attribute once, with the first line and how many there are.

    Of an element that is not read, nothing below is told.
    """
    found: dict[str, list[int]] = {}
    waiting = [root]
    while waiting:
        element = waiting.pop()
        for name in element.attributes:
            if name not in element.asked and name not in SILENT and not name.startswith("xmlns"):
                found.setdefault(f"<{element.tag[:60]} {name[:60]}>", []).append(element.line)
        for child in element.children:
            if child.is_asked:
                waiting.append(child)
            else:
                found.setdefault(f"<{child.tag[:60]}>", []).append(child.line)
    for what, lines in sorted(found.items(), key=lambda item: min(item[1])):
        times = f" ({len(lines)} times)" if len(lines) > 1 else ""
        report.add("ignored", what, f"is not read{times}", min(lines))


def below(root: Element, tag: str) -> list[Element]:
    """All elements of a tag, however deep."""
    found, waiting = [], [root]
    while waiting:
        element = waiting.pop()
        waiting += element.children
        found += element.all(tag)
    return found


def name_of(element: Element, kind: str, taken: dict) -> str:
    """The name of a link or joint, which no other has."""
    name = element.get("name").strip()
    if not name:
        raise element.wrong(f"<{element.tag}> has no name; give it one")
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise element.wrong(f"{kind} {name[:40]!r}: its name is long or cannot be printed; give it another")
    if name in taken:
        raise element.wrong(f"{kind} '{name}': a second one of this name; rename it")
    return name
